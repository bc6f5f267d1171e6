"""Scores for anybody's output: raw text in, the same words on all sides."""

import json
import re
from pathlib import Path

import pytest
import sacrebleu

from wayword import align
from wayword.cli import main
from wayword.corpus import Bitext, toy
from wayword.corpus.annotate import Tagger, read_factored
from wayword.errors import ArgumentError, MismatchError
from wayword.evaluate.raw import Sides, compare_raw, learn_aligner
from wayword.evaluate.tokenizer import choose_tokenizer, is_tokenized


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Toy text with its signs at the words, as people write."""
    folder = tmp_path_factory.mktemp("raw")
    toy.write("de-en", 300, folder, seed=1)
    for part in ("train", "test"):
        for lang in ("de", "en"):
            text = (folder / f"{part}.{lang}").read_text(encoding="utf-8").splitlines()
            glued = [re.sub(r" (?=[.,?!])", "", line) for line in text]
            (folder / f"raw.{part}.{lang}").write_text("\n".join(glued) + "\n", encoding="utf-8")
    lines = (folder / "raw.test.en").read_text(encoding="utf-8").splitlines()
    worse = [" ".join(reversed(line.split())) if at % 2 else line for at, line in enumerate(lines)]
    (folder / "worse.en").write_text("\n".join(worse) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def sides() -> Sides:
    return Sides.of("de", "en")


@pytest.fixture(scope="module")
def aligner(corpus: Path, sides: Sides) -> align.Aligner:
    return learn_aligner([corpus / "raw.train.de", corpus / "raw.train.en"], sides)


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_raw_and_tokenised_text_are_told_apart(corpus: Path) -> None:
    assert is_tokenized(lines(corpus / "test.en")) is True
    assert is_tokenized(lines(corpus / "raw.test.en")) is False
    assert is_tokenized(["", "."]) is None
    assert choose_tokenizer({"a": ["ja ."], "b": ["nein ."]}) == ("none", "")
    assert choose_tokenizer({"a": ["是。"]})[0] == "zh"
    assert choose_tokenizer({"a": ["ja."]}) == (
        "13a",
        "text is raw: all are split as by `sacrebleu --tokenize 13a --ter-normalized`",
    )


def test_bleu_is_the_number_that_sacrebleu_prints(
    corpus: Path, sides: Sides, aligner: align.Aligner
) -> None:
    src, ref, hyp = (lines(corpus / name) for name in ("raw.test.de", "raw.test.en", "worse.en"))
    judged = compare_raw(src, [ref], {"worse": hyp}, sides=sides, aligner=aligner, rounds=10)
    assert judged.result.score("worse", "bleu").value == pytest.approx(
        sacrebleu.corpus_bleu(hyp, [ref]).score
    )
    assert judged.result.score("worse", "chrf").value == pytest.approx(
        sacrebleu.corpus_chrf(hyp, [ref]).score
    )
    assert 0 < judged.result.score("worse", "krs-linked").value < 100
    assert judged.gold.refs[0][0].endswith(" .")
    assert len(judged.result.bins) > 1
    for part in judged.result.bins:
        assert part.scores["worse"].keys() == set(judged.result.metrics)


def test_a_tokenised_reference_changes_no_score(
    corpus: Path, sides: Sides, aligner: align.Aligner
) -> None:
    src, hyp = lines(corpus / "raw.test.de"), lines(corpus / "worse.en")
    scores = []
    for name in ("raw.test.en", "test.en"):
        judged = compare_raw(
            src, [lines(corpus / name)], {"worse": hyp}, sides=sides, aligner=aligner, rounds=10
        )
        scores.append(
            [judged.result.score("worse", metric).value for metric in ("bleu", "krs-linked")]
        )
    assert scores[0] == pytest.approx(scores[1])


def test_a_tagger_brings_verbs(corpus: Path, sides: Sides, aligner: align.Aligner) -> None:
    tagger = Tagger.fit(list(read_factored(corpus / "train.factored.de")))
    src, ref, hyp = (lines(corpus / name) for name in ("raw.test.de", "raw.test.en", "worse.en"))
    judged = compare_raw(
        src, [ref], {"worse": hyp}, sides=sides, aligner=aligner, annotator=tagger, rounds=10
    )
    assert "krs-v-linked" in judged.result.metrics


def test_texts_that_do_not_fit_are_named(
    corpus: Path, sides: Sides, aligner: align.Aligner, tmp_path: Path
) -> None:
    src, ref = lines(corpus / "raw.test.de"), lines(corpus / "raw.test.en")
    with pytest.raises(MismatchError, match="mine: 1 lines, but the source has"):
        compare_raw(src, [ref], {"mine": ref[:1]}, sides=sides, aligner=aligner)
    with pytest.raises(ArgumentError, match="metrics: found `blue`"):
        compare_raw(src, [ref], {"x": ref}, sides=sides, aligner=aligner, metrics=["blue"])
    (tmp_path / "short.en").write_text("one\n")
    with pytest.raises(MismatchError, match=r"short\.en has 1; do both come from the same corpus"):
        learn_aligner([corpus / "raw.train.de", tmp_path / "short.en"], sides)


def test_one_command_does_it_all(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["evaluate", "--src", f"{corpus}/raw.test.de", "--ref", f"{corpus}/test.en"]
    command += ["--hyp", f"{corpus}/worse.en", f"{corpus}/raw.test.en", "--rounds", "50"]
    on = ["--align-on", f"{corpus}/raw.train.de", f"{corpus}/raw.train.en"]
    assert main([*command, "--langs", "de", "en", *on, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["systems"] == ["worse.en", "raw.test.en"]
    scores = {(s["system"], s["metric"]): s for s in result["scores"]}
    assert scores["raw.test.en", "bleu"]["value"] == pytest.approx(100)
    assert scores["raw.test.en", "krs-linked"]["mark"] == "▲"
    [note] = [note for note in result["notes"] if "13a" in note]
    assert note.startswith("worse.en, raw.test.en are raw and reference 1 is tokenized")
    # The same without word order: text that is tokenised differently is told, and compared right.
    assert main(["evaluate", f"{corpus}/raw.test.en", f"{corpus}/test.en", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["scores"][0]["value"] == pytest.approx(100)
    assert any("raw.test.en is raw and reference 1 is tokenized" in note for note in plain["notes"])
    assert main([*command, "--langs", "de", "en"]) == 2
    assert "expected --align-on, --aligner or --like" in capsys.readouterr().err
    assert main(["evaluate", f"{corpus}/test.en", "--tagger", "x"]) == 2
    assert "expected HYP REF…, or --hyp and --ref" in capsys.readouterr().err


def test_a_saved_aligner_serves_too(corpus: Path, aligner: align.Aligner, tmp_path: Path) -> None:
    aligner.save(tmp_path / "aligner")
    text = Bitext.from_pairs([("ich habe", "i have")])
    assert len(align.Aligner.load(tmp_path / "aligner").align(text)) == 1
    command = ["evaluate", "--src", f"{corpus}/raw.test.de", "--ref", f"{corpus}/raw.test.en"]
    command += ["--hyp", f"{corpus}/worse.en", "--langs", "de", "en", "--metrics", "krs"]
    assert main([*command, "--aligner", str(tmp_path / "aligner")]) == 0
