"""What every part of a system promises: saved, loaded, pickled the same; damage is told."""

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import nearness, systems

from wayword import align
from wayword.corpus import Bitext
from wayword.corpus.annotate import Sentence, Tagger
from wayword.corpus.source import Source
from wayword.errors import WaywordError
from wayword.learn import Lesson, write_lessons
from wayword.parts.part import KINDS, Part, entry, kind_of, open_part
from wayword.system import System

WORDS = ("ich", "habe", "Tee", "getrunken")
TAGGED = Sentence(WORDS, ("PRON", "AUX", "NOUN", "VERB"))
#: Kinds that prepare sentences and give the decoder nothing.
PREPARING = ("annotator", "lexicon", "speller", "preorder")


def uniform(source: Source) -> Any:
    """A scorer for parts of kind ``python``."""
    length = len(source.words)
    return np.full((length + 1, length), 0.5)


def matrix(folder: Path) -> dict[str, Any]:
    row = {"words": WORDS, "matrix": np.full((5, 4), 0.5).tolist()}
    (folder / "matrix").write_text(json.dumps(row) + "\n", encoding="utf-8")
    return entry("matrix", "matrix", file="matrix")


def near(folder: Path) -> dict[str, Any]:
    (folder / "near").write_text('{"1": 3, "-1": 1}')
    return entry(nearness.KIND, "near", file="near")


def lexicon(folder: Path) -> dict[str, Any]:
    text = '# wayword lexicon, format 1, 1 words\nich habe Tee getrunken\ti drank "tea" & <milk>\n'
    (folder / "lexicon").write_text(text, encoding="utf-8")
    return entry("lexicon", "lexicon", file="lexicon")


def aligner(folder: Path) -> dict[str, Any]:
    align.fit(Bitext.from_pairs([(" ".join(WORDS), "i drank tea")] * 3)).save(folder / "aligner")
    return entry("aligner", "aligner", file="aligner")


def learned(folder: Path) -> dict[str, Any]:
    lessons = [
        Lesson.pair(WORDS, ("i", "drank", "tea"), [(0, 0), (3, 1), (2, 2)]),
        Lesson.term(("Tee",), ("rooibos",)),
    ]
    write_lessons(folder / "learned", lessons)
    return entry("learned", "learned", file="learned")


#: For every kind, how its entry is made; files of the first ones are in the toy system.
ENTRIES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "phrase-table": lambda _: entry("phrase-table", "phrase-table", file="phrase-table"),
    "lm": lambda _: entry("lm", "lm", file="lm"),
    "annotator": lambda folder: entry(
        "annotator", "annotator", annotator=Tagger.load(folder / "tagger").to_manifest()
    ),
    "waw": lambda _: entry("waw", "waw", file="waw"),
    "neural": lambda _: entry("neural", "neural", file="neural"),
    "lop": lambda _: entry("lop", "lop", file="lop"),
    "preorder": lambda _: entry("preorder", "preorder", file="lop", orders=3, order_weight=0.1),
    "lexicon": lexicon,
    "speller": lambda _: entry(
        "speller", "speller", file="phrase-table", lm="lm", nbest=2, pairs=50
    ),
    "matrix": matrix,
    "python": lambda _: entry("python", "even", object=f"{__name__}:uniform"),
    nearness.KIND: near,
    "aligner": aligner,
    "learned": learned,
}


@pytest.fixture(scope="module")
def models(toy_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "system"
    shutil.copytree(toy_folder / "system", folder)
    systems.add_waw(folder, toy_folder / "corpus")
    systems.add_neural(folder, toy_folder / "corpus")
    systems.add_lop(folder, toy_folder / "corpus")
    return folder


@pytest.fixture
def folder(models: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(models, tmp_path / "system"))


def reads_tags(kind: str) -> bool:
    part = kind_of(kind)
    return part.reads_tags(part.Options() if part.Options is not None else None)


def given(part: Part) -> list[Any]:
    """What a part gives, comparable."""
    sources = part.prepare([Source(TAGGED if reads_tags(part.kind) else Sentence(WORDS))])
    feature, phrases, model = part.feature(), part.phrases(), part.language_model()
    said = feature.matrices(sources) if feature is not None else None
    linking = part.aligner()
    return [
        [(source.words, source.sentence.pos) for source in sources],
        None if feature is None else (feature.name, feature.layers),
        None if said is None else np.asarray(said[0]).tolist(),
        None if phrases is None else [option.tgt for option in phrases[0]["ich"]],
        None if model is None else model.score("i have"),
        None if linking is None else linking.align_pair(WORDS, "i drank tea"),
        part.lessons() or None,
    ]


def test_every_kind_is_tried() -> None:
    assert {*KINDS, nearness.KIND} == ENTRIES.keys()


@pytest.mark.parametrize("kind", ENTRIES)
def test_a_part_is_the_same_after_saving_and_pickling(kind: str, folder: Path) -> None:
    values = ENTRIES[kind](folder)
    part = open_part(values, folder)
    assert isinstance(part, kind_of(kind))
    assert part.entry == values
    assert any(thing is not None for thing in given(part)[1:]) or kind in PREPARING
    assert given(pickle.loads(pickle.dumps(part))) == given(part)
    assert given(open_part(json.loads(json.dumps(part.entry)), folder)) == given(part)
    if kind == "annotator":
        assert given(part)[0][0][1] is not None


@pytest.mark.parametrize("kind", ENTRIES)
def test_a_missing_file_is_named(kind: str, folder: Path) -> None:
    values = ENTRIES[kind](folder)
    for name in open_part(values, folder).files:
        (folder / name).unlink()
        with pytest.raises(FileNotFoundError, match=name):
            given(open_part(values, folder))


@pytest.mark.parametrize("kind", [kind for kind in ENTRIES if kind != nearness.KIND])
def test_a_damaged_file_is_refused(kind: str, folder: Path) -> None:
    values = ENTRIES[kind](folder)
    for name in open_part(values, folder).files:
        data = (folder / name).read_bytes()
        for damaged in (b"", data[: len(data) // 3], b"\xff" * len(data)):
            (folder / name).write_bytes(damaged)
            with pytest.raises(WaywordError, match=name):
                given(open_part(values, folder))


#: An annotator is named by path and digest; a scorer in Python is a function.
WITHOUT_FILE = {"annotator", "python"}


@pytest.mark.parametrize("kind", [kind for kind in ENTRIES if kind not in WITHOUT_FILE])
def test_a_file_outside_the_folder_is_refused(kind: str, folder: Path) -> None:
    values = ENTRIES[kind](folder)
    with pytest.raises(WaywordError, match="expected a name without folders"):
        open_part({**values, "file": f"../system/{values['file']}"}, folder)


@pytest.mark.parametrize("kind", [kind for kind in ENTRIES if kind not in {"phrase-table", "lm"}])
def test_a_system_can_hold_it(kind: str, models: Path, folder: Path, tmp_path: Path) -> None:
    bare = [part for part in System.open(models).parts if part.kind in {"phrase-table", "lm"}]
    system = System([*bare, open_part(ENTRIES[kind](folder), folder)])
    if reads_tags(kind):
        system = System([*bare, open_part(ENTRIES["annotator"](folder), folder), system.parts[-1]])
    weights = dict.fromkeys(system.weights, 0.5)
    saved = system.with_weights(weights).save(tmp_path / "saved")
    again = System.open(tmp_path / "saved")
    again.verify()
    line = " ".join(WORDS)
    for other in (saved, again, pickle.loads(pickle.dumps(again))):
        assert other.translate(line) == system.with_weights(weights).translate(line)
        assert [part.entry for part in other.parts] == [part.entry for part in system.parts]


def test_unknown_kinds_are_refused(folder: Path) -> None:
    with pytest.raises(WaywordError, match="found kind `wow`; expected one of phrase-table"):
        open_part(entry("wow", "wow"), folder)
    with pytest.raises(WaywordError, match="no `name`"):
        open_part({"kind": "lm"}, folder)
    with pytest.raises(WaywordError, match="is no kind of part"):
        open_part(entry("python:os:getcwd", "x"), folder)
