"""Huge input gives an answer or a sentence, never a crash or all of the memory."""

import time
from pathlib import Path

import pytest

import wayword
from wayword.cli import main
from wayword.corpus.source import Source
from wayword.corpus.split import LONGEST, pieces, split_fugashi, split_jieba
from wayword.decode import Settings
from wayword.errors import ArgumentError, LimitError

LONG = "das haus ist klein . " * 700  # 3,500 words


@pytest.fixture
def folder(toy_folder: Path) -> Path:
    return toy_folder / "system"


def test_a_long_line_is_translated_piece_by_piece(folder: Path) -> None:
    system = wayword.load(folder)
    fast = {"space": "mono", "pop_limit": 5}
    whole = system.translate(LONG, prepared=True, **fast)
    assert len(whole.source) == 3500
    sentence = system.translate("das haus ist klein .", prepared=True, **fast)
    assert whole.tokens[: len(sentence.tokens)] == sentence.tokens
    covered = sorted(place for phrase in whole.phrases for place in phrase.covered)
    assert covered == list(range(3500))
    assert whole.phrases[-1].tgt[1] == len(whole.tokens)
    shown = sum(whole.features[name] * weight for name, weight in system.weights.items())
    assert whole.score == pytest.approx(shown, rel=1e-4)


def test_pieces_end_after_sentences_where_they_can() -> None:
    assert [len(piece) for piece in Source.of(LONG).cut(2000)] == [2000, 1500]
    assert [len(piece) for piece in Source.of("a " * 12 + ", b . " + "c " * 9).cut(16)] == [15, 9]
    assert [len(piece) for piece in Source.of("a " * 25).cut(10)] == [10, 10, 5]
    raw = Source.of("a . b . c").cut(4)
    assert [" ".join(piece.words) for piece in raw] == ["a . b .", "c"]
    with pytest.raises(LimitError, match="a sentence of 5 words with tags or demands; the limit"):
        Source.of("a|X b|X c|X d|X e|X").with_factors().cut(4)


def test_the_decoder_itself_refuses_a_long_sentence(folder: Path) -> None:
    system = wayword.load(folder)
    with pytest.raises(LimitError, match="3500 words; the limit is 2000 words a sentence"):
        system.decoder.translate([Source.of(LONG)])
    with pytest.raises(LimitError, match="a sentence of 3500 words; the limit is 2000"):
        system.nbest([LONG])


def test_a_list_of_a_million_is_refused(folder: Path) -> None:
    system = wayword.load(folder)
    with pytest.raises(ArgumentError, match="nbest: found 1000000; expected at most 100000"):
        system.translate("das haus", prepared=True, nbest=1_000_000)


def test_a_window_beyond_the_sentence_costs_nothing(folder: Path) -> None:
    system = wayword.load(folder)
    line = "das haus ist klein"
    begun = time.monotonic()
    huge = system.translate(line, prepared=True, space="ibm:4294967295")
    assert huge.text == system.translate(line, prepared=True, space="ibm:4").text
    assert time.monotonic() - begun < 30
    assert Settings(space="ibm:4294967295").space == "ibm:4294967295"


@pytest.mark.parametrize("text", ["漢" * 12_000, "私は本を読む。" * 2_000, "a" * 30_000])
@pytest.mark.parametrize(("package", "split"), [("fugashi", split_fugashi), ("jieba", split_jieba)])
def test_segmenters_get_long_lines_in_pieces(text: str, package: str, split: object) -> None:
    pytest.importorskip(package, reason="pip install 'wayword[ja,zh]'")
    tokens = split(text, "")  # type: ignore[operator]
    assert "".join(tokens) == text
    assert max(map(len, pieces(text))) <= LONGEST


@pytest.mark.parametrize("value", ["-1", "-7", str(10**30), "4294967296000"])
@pytest.mark.parametrize("option", ["--nbest", "--pop-limit", "--stack-size", "--options-per-span"])
def test_numbers_out_of_range_are_wrong_usage(
    folder: Path,
    tmp_path: Path,
    option: str,
    value: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "text").write_text("das haus\n", encoding="utf-8")
    code = main(["translate", str(folder), str(tmp_path / "text"), f"{option}={value}"])
    said = capsys.readouterr().err
    assert "internal error" not in said
    assert code in {0, 2}, said
    assert code == 2 or not value.startswith("-")
