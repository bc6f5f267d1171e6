"""A changed byte of a system is an error that names the file, until `wayword seal` accepts it."""

import json
import pickle
import random
import re
import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import nearness, systems

import wayword
from wayword import align, extract, lm
from wayword.cli import main
from wayword.corpus import Bitext, toy
from wayword.errors import MismatchError, WaywordError
from wayword.learn import JOURNAL
from wayword.manifest import CARD, MANIFEST
from wayword.pack import pack
from wayword.parts.part import Part, entry, open_part
from wayword.pipeline import train
from wayword.seal import seal
from wayword.system import System

#: A system with as many components as one configuration allows, learned in seconds.
CONFIG: dict[str, Any] = {
    "subwords": {"kind": "bpe", "vocabulary": 300},
    "lm": {"order": 3},
    "search": {"pop_limit": 30},
    "tune": {"runs": 1, "rounds": 1, "nbest": 10},
    "model": {"features": ["waw", "lop", "neural"], "preorder": "joint"},
    "waw": {"templates": "W", "iterations": 1},
    "lop": {"passes": 1, "bits": 10},
    "preorder": {"passes": 1, "bits": 10},
    "neural": {"epochs": 1, "embedding": 8, "hidden": 8, "key": 8},
}
LOOKED_UP = "Der Hund schläft ."
LINES = [
    "Ich habe gestern den Tee getrunken.",
    "Der Quarkus ist gut.",
    "Die Katze ist im Haus.",
    LOOKED_UP,
]
#: Flipped bits of each file.
FLIPS = 20
#: Files that a translation does not read, or of which it reads only the blocks that it needs.
UNREAD = (CARD, "aligner", "phrase-table", "speller")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A system that was trained, with a speller, a lexicon, merged lessons and a journal."""
    folder = tmp_path_factory.mktemp("trained")
    toy.write("de-en", 300, folder, seed=1)
    dev = (folder / "dev.de", folder / "dev.en")
    system = train(folder / "train.de", folder / "train.en", folder / "out", dev=dev, config=CONFIG)
    shutil.rmtree(folder / "out" / "work")
    parts = [lexicon(system, folder), *system.parts, speller(folder)]
    values: dict[str, Any] = {
        "weights": system.weights,
        "settings": system.settings,
        "text": system.text,
    }
    System(parts, **values, made=system.made).save(folder / "system")
    opened = System.open(folder / "system").learn("Der Tee ist alt.", "The tea is old.", save=True)
    opened.merge().glossary({"Katze": "feline"}, save=True)
    return folder / "system"


def lexicon(system: System, folder: Path) -> Part:
    assert system.text is not None
    words = " ".join(system.text[0].prepare(LOOKED_UP))
    text = f"# wayword lexicon, format 1, 1 words\n{words}\t▁dogs ▁sleep\n"
    (folder / "lexicon").write_text(text, encoding="utf-8")
    return open_part(entry("lexicon", "lexicon", file="lexicon"), folder)


def speller(folder: Path) -> Part:
    words = sorted(set((folder / "train.de").read_text(encoding="utf-8").split()))
    pieces = [piece for word in words for piece in (word, f"▁{word}")]
    spaced = [" ".join(["<", *piece, ">"]) for piece in pieces]
    bitext = Bitext.from_pairs([(word, word) for word in spaced])
    extract.extract(bitext, align.fit(bitext).align(bitext), folder / "speller", models=())
    lm.train(spaced, folder / "speller.lm", order=3)
    values: dict[str, Any] = {
        "file": "speller",
        "lm": "speller.lm",
        "nbest": 2,
        "pairs": len(spaced),
    }
    return open_part(entry("speller", "speller", **values), folder)


@pytest.fixture(scope="module")
def given(toy_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A system with a tagger, given matrices and a part of a class of this package."""
    folder = tmp_path_factory.mktemp("given") / "system"
    shutil.copytree(toy_folder / "system", folder)
    system = systems.add_waw(folder, toy_folder / "corpus")
    rows = (
        {"words": words, "matrix": np.full((len(words) + 1, len(words)), 0.5).tolist()}
        for words in map(str.split, LINES)
    )
    (folder / "matrix").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "near").write_text('{"1": 3, "-1": 1}')
    more = (entry("matrix", "matrix", file="matrix"), entry(nearness.KIND, "near", file="near"))
    parts = [*system.parts, *(open_part(values, folder) for values in more)]
    values: dict[str, Any] = {
        "weights": {**system.weights, "matrix": 0.2, "near": 0.2},
        "text": system.text,
    }
    System(parts, **values, folder=folder).save()
    return folder


def texts(folder: Path) -> list[str]:
    return [translation.text for translation in wayword.load(folder).translate(LINES)]


def flipped(whole: bytes, flips: int) -> Iterator[bytes]:
    """Return copies with one flipped bit each: at both ends, and at places in between."""
    chance = random.Random(len(whole))
    ends = [0, 1, len(whole) - 1]
    for at in [*ends, *(chance.randrange(len(whole)) for _ in range(flips - len(ends)))]:
        data = bytearray(whole)
        data[at] ^= 1 << chance.randrange(8)
        yield bytes(data)


def noticed(folder: Path, name: str, clean: Sequence[str], flips: int = FLIPS) -> int:
    """Count the flips that are errors; each of them names the file, the others change nothing."""
    path = folder / name
    whole = path.read_bytes()
    errors = 0
    for number, data in enumerate(flipped(whole, flips)):
        path.write_bytes(data)
        try:
            assert texts(folder) == clean, f"flip {number} of {name} changes a translation"
        except (WaywordError, OSError) as error:
            assert name in str(error), f"flip {number} of {name}: {error}"  # noqa: PT017
            errors += 1
    path.write_bytes(whole)
    return errors


@pytest.mark.parametrize("kind", ["trained", "given"])
def test_a_flipped_bit_of_any_file_is_an_error_or_changes_no_translation(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "system"
    shutil.copytree(request.getfixturevalue(kind), folder)
    names = {path.name for path in folder.iterdir()}
    clean = texts(folder)
    found = {name: noticed(folder, name, clean) for name in sorted(names)}
    expected = {name: FLIPS for name in names if name not in UNREAD}
    assert {name: found[name] for name in expected} == expected
    assert texts(folder) == clean


def test_the_systems_of_these_tests_hold_every_kind_of_file(trained: Path, given: Path) -> None:
    names = {path.name.partition("-")[0] for path in trained.iterdir()}
    sides = {f"{name}.{side}" for name in ("truecaser", "subwords") for side in ("src", "tgt")}
    models = {"phrase", "lm", "waw", "lop", "neural", "preorder", "speller", "speller.lm"}
    texts = {"annotator", "lexicon", "learned", JOURNAL}
    assert names == sides | models | texts | {MANIFEST, CARD, "aligner"}
    assert {"tagger", "matrix", "near"} <= {path.name for path in given.iterdir()}


def test_a_damaged_pack_is_an_error_that_names_it(
    toy_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack(toy_folder / "system", tmp_path / "x.wayword")
    clean = texts(toy_folder / "system")
    whole = (tmp_path / "x.wayword").read_bytes()
    for number, data in enumerate(flipped(whole, 40)):
        monkeypatch.setenv("WAYWORD_CACHE", str(tmp_path / f"cache-{number}"))
        (tmp_path / "x.wayword").write_bytes(data)
        try:
            assert texts(tmp_path / "x.wayword") == clean
        except (WaywordError, OSError) as error:
            assert "x.wayword" in str(error), error  # noqa: PT017


def test_what_a_pickle_opens_is_compared_too(given: Path, tmp_path: Path) -> None:
    shutil.copytree(given, tmp_path / "system")
    pickled = pickle.dumps(wayword.load(tmp_path / "system"))
    (tmp_path / "system" / "near").write_text('{"1": 1, "-1": 3}')
    with pytest.raises(MismatchError, match="near: another SHA-256 than noted"):
        pickle.loads(pickled)


@pytest.fixture
def folder(trained: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trained, tmp_path / "system"))


def test_a_change_by_hand_is_refused_and_then_accepted_by_the_command(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    systems.edit(folder / MANIFEST, 'space = "dl:6"', 'space = "mono"')
    systems.edit(folder / "lexicon", "dogs", "hounds")
    advice = rf"another SHA-256 than noted; `wayword seal {re.escape(str(folder))}` accepts"
    with pytest.raises(MismatchError, match=rf"system\.toml: {advice}"):
        wayword.load(folder)
    assert main(["seal", str(folder)]) == 0
    assert "accepted changes of system.toml, lexicon" in capsys.readouterr().out
    system = wayword.load(folder)
    system.verify()
    assert system.settings.space == "mono"
    assert system.translate(LOOKED_UP).text == "Hounds sleep"
    assert main(["seal", str(folder)]) == 0
    assert "no file had changed" in capsys.readouterr().out


def test_a_changed_text_file_is_refused_until_it_is_accepted(folder: Path) -> None:
    with (folder / "truecaser.tgt").open("a", encoding="utf-8") as file:
        print("zZZ", 3, 3, sep="\t", file=file)
    with pytest.raises(MismatchError, match=r"truecaser\.tgt: .* `wayword seal"):
        wayword.load(folder)
    assert seal(folder) == ["truecaser.tgt"]
    wayword.load(folder).verify()


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (MANIFEST, "\nlm = ", "\nlmm = ", "weight: found `lmm`"),
        ("lexicon", "1 words", "2 words", "lexicon:1: found"),
    ],
)
def test_a_mistake_by_hand_is_not_accepted(
    folder: Path, name: str, old: str, new: str, message: str
) -> None:
    systems.edit(folder / name, old, new)
    before = (folder / MANIFEST).read_bytes()
    with pytest.raises(WaywordError, match=message):
        seal(folder)
    assert (folder / MANIFEST).read_bytes() == before


def test_a_damaged_model_is_not_accepted(folder: Path) -> None:
    data = bytearray((folder / "phrase-table").read_bytes())
    data[len(data) // 2] ^= 1
    (folder / "phrase-table").write_bytes(data)
    with pytest.raises(MismatchError, match=r"phrase-table: .*a model cannot be edited; copy or"):
        seal(folder)


def test_a_manifest_without_a_seal_is_read_as_earlier_releases_wrote_it(folder: Path) -> None:
    clean = texts(folder)
    _, _, unsealed = (folder / MANIFEST).read_text(encoding="utf-8").partition("\n")
    (folder / MANIFEST).write_text(unsealed, encoding="utf-8")
    assert texts(folder) == clean
    assert seal(folder) == [MANIFEST]
    assert (folder / MANIFEST).read_text(encoding="utf-8").startswith('seal = "')


def test_a_training_in_the_folder_of_a_changed_system_writes_it_anew(tmp_path: Path) -> None:
    toy.write("de-en", 100, tmp_path, seed=1)
    quick: dict[str, Any] = {"lm": {"order": 2}, "tune": CONFIG["tune"]}
    run = partial(
        train, tmp_path / "train.de", tmp_path / "train.en", tmp_path / "out", config=quick
    )
    run()
    whole = (tmp_path / "out" / MANIFEST).read_bytes()
    (tmp_path / "out" / MANIFEST).write_bytes(whole[:-1])
    with pytest.raises(MismatchError, match=r"system\.toml: another SHA-256"):
        wayword.load(tmp_path / "out")
    run()
    assert (tmp_path / "out" / MANIFEST).read_bytes() == whole
