"""Words split into pieces: exact restoring, and systems that translate pieces."""

import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayword
from wayword.cli import main
from wayword.config import Config
from wayword.corpus import toy
from wayword.corpus.subwords import KINDS, MARK, Options, Subwords, join_pieces, whole_words
from wayword.corpus.text import Preparation
from wayword.decode.markup import read_markup
from wayword.errors import ArgumentError, FormatError, MismatchError
from wayword.experiment import Experiment, run
from wayword.pipeline import train
from wayword.system import System

pytest.importorskip("sentencepiece", reason="pip install 'wayword[subwords]'")

PIECES_TEXT = ["Das Haus ist klein.", "Die Haustür ist offen.", "Häuser und Türen"] * 3


@pytest.fixture(scope="module")
def pieces() -> Subwords:
    lines = map(Preparation("de").words, PIECES_TEXT)
    return Subwords.fit(lines, Options(kind="bpe", vocabulary=100))


@given(st.lists(st.text(min_size=1).filter(lambda text: not re.search(r"\s", text)), max_size=5))
def test_words_come_back_from_pieces_exactly(pieces: Subwords, words: list[str]) -> None:
    tokens = pieces.split(words)
    assert join_pieces(tokens) == words
    assert all(token and not re.search(r"\s", token) for token in tokens)
    assert sum(token.startswith(MARK) for token in tokens) == len(words)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_text_gives_the_same_model(kind: str) -> None:
    options = Options(kind=kind, vocabulary=100)
    models = [Subwords.fit(map(str.split, PIECES_TEXT), options).model for _ in range(2)]
    assert models[0] == models[1]


def test_pieces_are_located_restored_and_pickled(pieces: Subwords) -> None:
    german = Preparation("de", case="lower", subwords=pieces)
    line = "Haustürhaus (klein)."
    tokens, offsets = german.prepare_with_offsets(line)
    assert len(tokens) > 4
    assert [line[slice(*place)].lower() for place in offsets if place] == [
        token.removeprefix(MARK) for token in tokens
    ]
    assert german.restore(tokens) == line.lower()
    again = pickle.loads(pickle.dumps(german))
    assert again.prepare(line) == tokens
    assert again.words(line) == ["haustürhaus", "(", "klein", ")", "."]
    assert Preparation.from_dict(german.to_dict(), subwords=pieces).prepare(line) == tokens


def test_a_damaged_model_and_a_text_without_words_are_refused(tmp_path: Path) -> None:
    (tmp_path / "pieces").write_bytes(b"no model")
    with pytest.raises(FormatError) as damaged:
        Subwords.load(tmp_path / "pieces")
    assert str(damaged.value) == (
        f"{tmp_path / 'pieces'}: damaged; expected a model of SentencePiece"
    )
    with pytest.raises(MismatchError) as empty:
        Subwords.fit([[], []], Options(kind="bpe"))
    assert str(empty.value) == "subwords: no words to learn from; expected some text"


def test_text_of_characters_has_no_subwords(pieces: Subwords) -> None:
    with pytest.raises(ArgumentError) as caught:
        Preparation("de", "characters", subwords=pieces)
    assert str(caught.value) == (
        "subwords: found text of characters; choose another tokenizer, or no subwords"
    )


def test_prepare_learns_pieces_uses_them_and_puts_words_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, model = tmp_path / "text", str(tmp_path / "model")
    text.write_text("".join(f"{line}\n" for line in PIECES_TEXT))
    options = ["--lang", "de", "--subwords", model]
    learn = ["--learn", "--kind", "unigram", "--vocabulary", "100"]
    assert main(["prepare", str(text), *options, *learn]) == 0
    tokens = capsys.readouterr().out
    assert MARK in tokens
    (tmp_path / "tokens").write_text(tokens)
    assert main(["prepare", str(tmp_path / "tokens"), *options, "--restore"]) == 0
    assert capsys.readouterr().out == text.read_text()


# --- a system -------------------------------------------------------------------------------------


QUICK: dict[str, Any] = {
    "subwords": {"kind": "bpe", "vocabulary": 300},
    "lm": {"order": 3},
    "search": {"pop_limit": 30},
    "tune": {"runs": 1, "rounds": 1, "nbest": 10},
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("subwords")
    toy.write("de-en", 300, folder, seed=1)
    return folder


@pytest.fixture(scope="module")
def system(corpus: Path) -> System:
    dev = (corpus / "dev.de", corpus / "dev.en")
    return train(corpus / "train.de", corpus / "train.en", corpus / "out", dev=dev, config=QUICK)


def test_output_is_words_and_positions_speak_of_pieces(system: System) -> None:
    line = "Der Xylofonist ist gut."
    translation = system.translate(line)
    assert MARK not in translation.text
    assert join_pieces(translation.source) == ["der", "Xylofonist", "ist", "gut", "."]
    assert len(translation.source) > 5
    assert translation.offsets is not None
    for piece, place in zip(translation.source, translation.offsets, strict=True):
        assert place is not None
        assert line[slice(*place)].lower() == piece.removeprefix(MARK).lower()
    assert {at for at, _ in translation.links} <= set(range(len(translation.source)))


def test_the_models_are_in_the_system_and_summed(corpus: Path, system: System) -> None:
    again = wayword.load(corpus / "out")
    again.verify()
    assert again.translate("Der Tee ist gut.").text == system.translate("Der Tee ist gut.").text
    manifest = (corpus / "out" / "system.toml").read_text(encoding="utf-8")
    for name in ("subwords.src", "subwords.tgt"):
        assert f'[file."{name}"]' in manifest
        assert Subwords.load(corpus / "out" / name).model == (corpus / "out" / name).read_bytes()


def test_the_dev_set_is_measured_in_words(corpus: Path, system: System) -> None:
    from wayword.evaluate import Gold, Output, make_metric

    [dev] = (corpus / "out" / "work").glob("dev-*")
    sides = [
        (dev / name).read_text(encoding="utf-8").splitlines() for name in ("dev.src", "dev.ref0")
    ]
    output = [" ".join(one.tokens) for one in system.translate(sides[0], prepared=True)]
    gold = Gold(refs=[list(whole_words(sides[1]))])
    score = make_metric("bleu", gold).corpus_score(Output("x", list(whole_words(output))))
    assert system.made["dev"]["score"] == pytest.approx(score, abs=0.01)


def test_given_translations_are_split_as_the_text_was(system: System) -> None:
    for mode in ("exclusive", "inclusive"):
        line = "Der <n translation='green xylo||x' prob='0.9||0.1'>Tee</n> ist gut."
        text = system.translate(line, markup=mode, space="mono").text
        assert mode == "inclusive" or "green xylo" in text or " x " in text
    marked = read_markup("<n translation='a|b &amp; &lt;c>'>x</n>", True, ("t", 1), str.split, list)
    assert marked.words == ("x",)


def test_pieces_of_both_sides_together_are_one_model(corpus: Path, tmp_path: Path) -> None:
    from wayword.pipeline import plan
    from wayword.store import Store

    config = {**QUICK, "subwords": {"kind": "unigram", "vocabulary": 300, "joint": True}}
    planned = plan(corpus / "train.de", corpus / "train.en", config)
    with Store(tmp_path) as store:
        [text] = store.run([planned.text])
    src, tgt = ((text / f"subwords.{side}").read_bytes() for side in ("src", "tgt"))
    assert src == tgt
    assert MARK in (text / "train.src").read_text(encoding="utf-8")


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"model": {"speller": True}},
            "config: model.speller: subwords leave no word unknown; choose one of the two",
        ),
        (
            {"text": {"src_tokenizer": "characters", "case": "keep"}},
            "config: subwords.kind: text is split into characters; choose another tokenizer, or no "
            "subwords",
        ),
        (
            {"model": {"features": ["waw"]}, "annotate": {"annotator": "spacy:x"}},
            "config: annotate.annotator: `spacy:x` tags words, and text is split into subwords; "
            "leave it empty for word classes, or choose no subwords",
        ),
    ],
)
def test_what_needs_whole_words_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        Config.from_dict({"subwords": {"kind": "bpe"}, **values})
    assert str(caught.value) == message


def test_without_the_library_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(ArgumentError) as caught:
        Options(kind="bpe")
    assert str(caught.value) == (
        "subwords: needs sentencepiece, which is not installed; run `pip install wayword[subwords]`"
    )


def test_an_audit_refuses_such_a_system(
    corpus: Path, system: System, capsys: pytest.CaptureFixture[str]
) -> None:
    assert system.folder == corpus / "out"
    files = [str(corpus / "test.de"), str(corpus / "test.en")]
    assert main(["audit", *files, str(corpus / "out")]) == 2
    assert capsys.readouterr().err == (
        f"wayword: {corpus / 'out'}: it splits words into subwords, and an audit is about words; "
        "try --align-on SRC TGT --langs SRC TGT\n"
    )


def test_an_experiment_refuses_them(corpus: Path, tmp_path: Path) -> None:
    files = {"src": "train.de", "tgt": "train.en", "dev": ["dev.de", "dev.en"]}
    values = {
        "name": "pieces",
        "corpus": [{"name": "toy", **files, "test": ["test.de", "test.en"]}],
        "variant": [{"name": "words"}, {"name": "pieces", "subwords": {"kind": "bpe"}}],
    }
    experiment = Experiment.from_dict(values, corpus)
    with pytest.raises(ArgumentError) as caught:
        run(experiment, tmp_path / "out")
    assert str(caught.value) == (
        "experiment: variant `pieces` splits words into subwords, and all are measured on one "
        "text; compare such systems with `wayword evaluate`"
    )
