"""Files whose lines do not belong together are refused, and good text is not."""

import json
import random
from pathlib import Path

import pytest

from wayword.align.line_windows import read_windows
from wayword.align.misalignment import LEAST_LINES, find_misalignment
from wayword.cli import main
from wayword.corpus import toy
from wayword.evaluate.usability import UsabilityCheck
from wayword.manifest import read_manifest

SIZE = 600
QUICK = ["--set", "lm.order=3", "tune.runs=1", "tune.rounds=1", "tune.nbest=10"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("misalignment")
    toy.write("de-en", SIZE, folder, seed=3)
    return folder


@pytest.fixture(scope="module")
def text(corpus: Path) -> tuple[list[str], list[str]]:
    return _lines(corpus / "train.de"), _lines(corpus / "train.en")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def _write(folder: Path, src: list[str], tgt: list[str]) -> tuple[Path, Path]:
    files = folder / "text.de", folder / "text.en"
    for path, lines in zip(files, (src, tgt), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return files


@pytest.mark.parametrize("pair", toy.pairs())
def test_good_text_is_parallel(pair: str, tmp_path: Path) -> None:
    toy.write(pair, 300, tmp_path, seed=2)
    files = [tmp_path / f"train.{lang}" for lang in pair.split("-")]
    assert find_misalignment(*files).status == "parallel"


@pytest.mark.parametrize("shift", [-10, -1, 1, 7])
def test_a_shift_of_the_whole_file_is_named(
    shift: int, text: tuple[list[str], list[str]], tmp_path: Path
) -> None:
    src, tgt = text
    src, tgt = (src, tgt[-shift:]) if shift < 0 else (src[shift:], tgt)
    check = find_misalignment(*_write(tmp_path, src, tgt))
    assert [(part.line, part.shift) for part in check.shifts] == [(1, shift)]


def test_a_dropped_line_is_located(text: tuple[list[str], list[str]], tmp_path: Path) -> None:
    src, tgt = text
    check = find_misalignment(*_write(tmp_path, src, tgt[:400] + tgt[401:]))
    [part] = check.shifts
    assert part.shift == -1
    assert abs(part.line - 401) <= 5


def test_changes_between_the_windows_of_a_long_file_are_located(
    text: tuple[list[str], list[str]], tmp_path: Path
) -> None:
    src, tgt = (side * 20 for side in text)
    tgt = [*tgt[:4321], "a line of its own .", "another one .", *tgt[4321:]]
    src = [*src[:9000], "drei", "neue", "zeilen", *src[9000:]]
    check = find_misalignment(*_write(tmp_path, src, tgt))
    assert [part.shift for part in check.shifts] == [2, -1]
    assert abs(check.shifts[0].line - 4322) <= 5
    assert abs(check.shifts[1].line - 9001) <= 5
    assert check.sampled < 4000 < check.lines


def test_unrelated_files_fit_at_no_shift(text: tuple[list[str], list[str]], tmp_path: Path) -> None:
    src, tgt = text
    check = find_misalignment(*_write(tmp_path, src, random.Random(1).sample(tgt, len(tgt))))
    assert check.status == "unrelated"


def test_a_part_that_fits_at_no_shift_is_located(
    text: tuple[list[str], list[str]], tmp_path: Path
) -> None:
    src, tgt = text
    mixed = tgt[:300] + random.Random(1).sample(tgt[300:], len(tgt) - 300)
    [part] = find_misalignment(*_write(tmp_path, src, mixed)).shifts
    assert part.shift is None
    assert abs(part.line - 301) <= 20


def test_noise_and_repeated_pairs_are_no_alarm(
    text: tuple[list[str], list[str]], tmp_path: Path
) -> None:
    src, tgt = text
    draw = random.Random(4)
    noisy = [draw.choice(tgt) if draw.random() < 0.3 else line for line in tgt]
    assert find_misalignment(*_write(tmp_path, src, noisy)).status == "parallel"
    few = list(zip(src[:5], tgt[:5], strict=True)) * 100
    repeated = [list(side) for side in zip(*few, strict=True)]
    assert not find_misalignment(*_write(tmp_path, *repeated)).is_misaligned
    same = find_misalignment(*_write(tmp_path, src[:1] * 500, tgt[:1] * 500))
    assert not same.is_misaligned


def test_a_list_of_single_words_is_not_called_unrelated(tmp_path: Path) -> None:
    src = [f"w{number:05}x" for number in range(1000)]
    tgt = [f"v{number * 7:05}y" for number in range(1000)]
    check = find_misalignment(*_write(tmp_path, src, tgt))
    assert check.status == "untested"
    assert check.reason


def test_a_glossary_of_rare_words_beside_sentences_is_no_alarm(
    text: tuple[list[str], list[str]], tmp_path: Path
) -> None:
    draw = random.Random(5)
    words = sorted({word for line in text[0] for word in line.split() if len(word) > 3})
    src = [draw.choice(words) for _ in range(200)]
    tgt = [f"{draw.getrandbits(40):x} {draw.choice(text[1]).split()[0]}" for _ in src]
    for sides in [(text[0] + src, text[1] + tgt), (src + text[0], tgt + text[1])]:
        assert find_misalignment(*_write(tmp_path, *sides)).status == "parallel"


def test_bytes_that_are_no_text_are_no_alarm(tmp_path: Path) -> None:
    files = tmp_path / "text.de", tmp_path / "text.en"
    for path in files:
        path.write_bytes("ein haus\n".encode("utf-16-le") * 500)
    assert find_misalignment(*files).status == "untested"


def test_little_text_is_told_to_be_untested(
    text: tuple[list[str], list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = LEAST_LINES - 1
    src, tgt = _write(tmp_path, text[0][:few], text[1][:few])
    assert main(["doctor", str(src), str(tgt)]) == 0
    assert "not tested whether they belong together: found 99 lines" in capsys.readouterr().out


def test_windows_are_the_lines_of_the_file_whatever_the_blocks(tmp_path: Path) -> None:
    lines = [f"w{number} " + "x " * (number % 700) for number in range(3000)]
    files = _write(tmp_path, lines, lines)
    spans = [(0, 5), (1234, 1240), (2990, 3000)]
    for window in read_windows(*files, spans):
        assert [line[0] for line in window.src] == [
            f"w{number}" for number in range(window.start, window.end)
        ]
        there = [line[0] for line in window.tgt if line]
        first, last = max(window.start - 10, 0), min(window.end + 10, 3000)
        assert there == [f"w{number}" for number in range(first, last)]


@pytest.fixture
def shifted(text: tuple[list[str], list[str]], tmp_path: Path) -> list[str]:
    src, tgt = text
    return [str(path) for path in _write(tmp_path, src[:-1], tgt[1:])]


def test_the_doctor_stops_with_one_sentence_and_tells_programs_too(
    shifted: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", *shifted, "-o", str(tmp_path / "clean")]) == 1
    said = capsys.readouterr()
    assert "from line 2 on, line n of text.de belongs to line n-1 of text.en" in said.err
    assert said.out == ""
    assert not (tmp_path / "clean").exists()
    assert main(["doctor", *shifted, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["alignment"]["shifts"] == [{"line": 1, "shift": -1}]
    assert main(["doctor", *shifted, "--allow", "misaligned"]) == 0


def test_training_refuses_shifted_text_unless_that_is_allowed(
    shifted: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "system"
    assert main(["train", *shifted, "-o", str(out), *QUICK]) == 1
    said = capsys.readouterr().err
    assert "line n of text.de belongs to line n-1 of text.en" in said
    assert "--set 'doctor.allow=[\"misaligned\"]'" in said
    assert not list((out / "work").glob("prepare-*"))
    # Allowed, it trains a system of no use, and says so.
    allowed = [*QUICK, 'doctor.allow=["misaligned"]']
    assert main(["train", *shifted, "-o", str(out), *allowed]) == 1
    said = capsys.readouterr().err
    assert "found BLEU" in said
    assert "files that are not parallel" in said
    assert read_manifest(out).made["usability"]["verdict"] == "unusable"


@pytest.mark.parametrize("part", ["dev", "test"])
def test_a_shifted_dev_or_test_set_is_refused_before_words_are_linked(
    part: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train = [str(corpus / f"train.{lang}") for lang in ("de", "en")]
    sets = {}
    for name in ("dev", "test"):
        toy.write("de-en", 150, tmp_path / name, seed=9)
        sets[name] = [str(tmp_path / name / f"train.{lang}") for lang in ("de", "en")]
    refs = _lines(Path(sets[part][1]))
    wrong = tmp_path / "wrong.en"
    wrong.write_text("\n".join([*refs[3:], *refs[:3]]) + "\n", encoding="utf-8")
    sets[part][1] = str(wrong)
    out = tmp_path / "system"
    command = ["train", *train, "--dev", *sets["dev"], "--test", *sets["test"], "-o", str(out)]
    assert main([*command, *QUICK]) == 1
    assert "line n-3 of wrong.en" in capsys.readouterr().err
    assert not list((out / "work").glob("align-*"))


def test_a_verdict_follows_bleu_and_empty_outputs() -> None:
    verdicts = [
        UsabilityCheck(100, bleu, empty, 0.1).verdict
        for bleu, empty in [(30.0, 0.0), (4.0, 0.0), (0.3, 0.0), (30.0, 0.6)]
    ]
    assert verdicts == ["usable", "poor", "unusable", "unusable"]


@pytest.mark.parametrize("pair", toy.pairs())
@pytest.mark.parametrize("size", [100, 120, 140, 200])
def test_small_parallel_text_is_never_called_unrelated(
    pair: str, size: int, tmp_path: Path
) -> None:
    items = list(toy.generate(pair, size, seed=1))
    files = [tmp_path / "src", tmp_path / "tgt"]
    for path, lines in zip(files, zip(*((i.src, i.tgt) for i in items), strict=True), strict=True):
        path.write_text("".join(f"{' '.join(words)}\n" for words in lines), encoding="utf-8")
    assert find_misalignment(*files).status in {"parallel", "untested"}
