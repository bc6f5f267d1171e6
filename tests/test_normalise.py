"""Old spelling to new: exact characters, known words looked up, the others searched."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayword
from wayword.cli import main
from wayword.config import Config, preset, presets
from wayword.corpus import toy
from wayword.corpus.toy.spelling import HABITS, Writer
from wayword.errors import ArgumentError
from wayword.evaluate import Gold, Output, make_metric
from wayword.evaluate.spelling import edits
from wayword.pipeline import train
from wayword.system import System

QUICK = {"lm": {"order": 5}, "tune": {"runs": 1, "rounds": 2, "nbest": 20}}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spelling")
    toy.write("old-de", 1000, folder, seed=1)
    return folder


@pytest.fixture(scope="module")
def system(corpus: Path) -> System:
    config = Config.from_dict({**preset("normalise"), **QUICK})
    dev = (corpus / "dev.old", corpus / "dev.de")
    return train(corpus / "train.old", corpus / "train.de", corpus / "out", dev=dev, config=config)


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


# --- the toy corpus -------------------------------------------------------------------------------


def test_old_and_new_spelling_belong_together_word_by_word(corpus: Path) -> None:
    parts = {}
    for part in ("train", "dev", "test"):
        old, new = lines(corpus / f"{part}.old"), lines(corpus / f"{part}.de")
        assert [len(line.split()) for line in old] == [len(line.split()) for line in new]
        assert sum(a != b for a, b in zip(old, new, strict=True)) > len(old) / 2
        parts[part] = set(new)
    assert not parts["train"] & (parts["dev"] | parts["test"])
    assert not parts["dev"] & parts["test"]


def test_a_writer_without_habits_writes_as_today() -> None:
    pair = next(toy.generate("old-de", 1))
    modern = Writer([0.0] * len(HABITS))
    assert [modern.spell(word, None) for word in pair.tgt] == list(pair.tgt)  # type: ignore[arg-type]


# --- a system -------------------------------------------------------------------------------------


def test_it_beats_copying_and_looking_up(corpus: Path, system: System) -> None:
    src, ref = lines(corpus / "test.old"), lines(corpus / "test.de")
    usual: dict[str, str] = {}
    for old, new in zip(lines(corpus / "train.old"), lines(corpus / "train.de"), strict=True):
        usual |= dict(zip(old.split(), new.split(), strict=True))
    outputs = {
        "copy": src,
        "lookup": [" ".join(usual.get(word, word) for word in line.split()) for line in src],
        "system": [translation.text for translation in system.translate(src)],
    }
    known = frozenset(word for line in lines(corpus / "train.old") for word in line.split())
    gold = Gold(refs=[ref], src=src, known=known)
    scores = {
        name: [
            make_metric(kind, gold).corpus_score(Output(name, text)) for kind in ("words", "cer")
        ]
        for name, text in outputs.items()
    }
    assert scores["system"][0] > scores["lookup"][0] + 3
    assert scores["lookup"][0] > scores["copy"][0] + 3
    assert scores["system"][1] < 0.7 * scores["lookup"][1]
    assert make_metric("unseen", gold).corpus_score(Output("x", outputs["system"])) > 50


def test_known_words_are_looked_up_and_spaces_come_back(corpus: Path, system: System) -> None:
    spellings = system.part("lexicon").spellings  # type: ignore[attr-defined]
    assert spellings["v n d"] == "u n d"
    source = system.sources(["vnd Xylofon"])[0]
    assert source.markup is not None
    assert not source.markup.is_empty
    assert str(system.translate("vnd  vnd ")) == "und  und "
    assert wayword.load(corpus / "out").translate("vnd").text == "und"
    facts = {stage.name: stage for stage in (corpus / "out" / "work").iterdir()}
    assert any(name.startswith("lexicon-") for name in facts)


def test_signs_of_markup_in_the_text_are_text(system: System) -> None:
    found = str(system.translate('vnd <vnd> & "vnd"'))
    assert found.startswith("und <")
    assert [sign for sign in found if not sign.isalnum()] == list(' <> & ""')


# --- choices --------------------------------------------------------------------------------------


def test_a_lexicon_needs_characters() -> None:
    with pytest.raises(ArgumentError) as caught:
        Config.from_dict({"model": {"lexicon": True}})
    assert str(caught.value) == (
        "config: model.lexicon: text is split by auto; choose `characters` for both sides, "
        "or --preset normalise"
    )


@pytest.mark.parametrize("name", presets())
def test_every_preset_is_a_configuration(name: str) -> None:
    assert Config.from_dict(preset(name)) != Config()


def test_an_unknown_preset_is_refused_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "system"
    assert main(["train", "a.old", "a.de", "-o", str(out), "--preset", "normalize"]) == 2
    known = ", ".join(presets())
    assert capsys.readouterr().err == (
        f"wayword: preset: found `normalize`; expected one of {known}\n"
    )
    assert not out.exists()


# --- the metrics ----------------------------------------------------------------------------------


def slow_edits(first: str, second: str) -> int:
    """The textbook's table."""
    row = list(range(len(second) + 1))
    for at, char in enumerate(first, 1):
        before, row[0] = row[0], at
        for place, other in enumerate(second, 1):
            before, row[place] = (
                row[place],
                min(row[place] + 1, row[place - 1] + 1, before + (char != other)),
            )
    return row[-1]


@given(st.text("abä ", max_size=80), st.text("abä ", max_size=80))
def test_edits_are_those_of_the_textbook(first: str, second: str) -> None:
    assert edits(first, second) == slow_edits(first, second)


@pytest.mark.parametrize(
    ("output", "words", "cer"),
    [
        ("und auf der Tür", 100.0, 0.0),
        ("und auff der Tür", 75.0, 100 / 15),
        ("und der Tür", 75.0, 400 / 15),  # a word is missing, the others are still right
        ("", 0.0, 100.0),
    ],
)
def test_words_and_characters_that_are_right(output: str, words: float, cer: float) -> None:
    gold = Gold(refs=[["und auf der Tür"]])
    measured = [
        make_metric(name, gold).corpus_score(Output("x", [output])) for name in ("words", "cer")
    ]
    assert measured == pytest.approx([words, cer])


def test_of_several_references_the_nearest_counts() -> None:
    gold = Gold(refs=[["auf der Tür"], ["auf einer Tür"]])
    output = Output("x", ["auf einer Tür"])
    assert make_metric("words", gold).corpus_score(output) == 100
    assert make_metric("cer", gold).corpus_score(output) == 0


def test_unseen_words_need_the_words_that_were_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts: dict[str, Any] = {"out": "und auff", "ref": "und auf", "src": "vnd auff", "seen": "vnd"}
    for name, text in texts.items():
        (tmp_path / name).write_text(f"{text}\n")
    paths = [str(tmp_path / name) for name in ("out", "ref")]
    assert main(["evaluate", *paths, "--metrics", "unseen"]) == 2
    assert capsys.readouterr().err == (
        "wayword: metrics: unseen without the source and the words of its training text; "
        "expected --src and --seen\n"
    )
    options = ["--src", str(tmp_path / "src"), "--seen", str(tmp_path / "seen")]
    assert main(["evaluate", *paths, "--metrics", "words,unseen", *options]) == 0
    shown = capsys.readouterr().out.splitlines()[1].split()
    assert (shown[1], shown[3]) == ("50.00", "0.00")
