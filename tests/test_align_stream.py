"""Aligning text of any size: within memory, by a sample, part by part, and with scores."""

import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from wayword import Bitext, align
from wayword.align import quality, stream
from wayword.cli import main
from wayword.corpus import toy
from wayword.errors import ArgumentError

PAIRS = [(" ".join(pair.src), " ".join(pair.tgt)) for pair in toy.generate("de-en", 1200, seed=3)]


def write(folder: Path, pairs: list[tuple[str, str]], stem: str = "train") -> tuple[Path, Path]:
    files = folder / f"{stem}.de", folder / f"{stem}.en"
    for side, path in enumerate(files):
        path.write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    return files


@pytest.fixture(scope="module")
def aligner() -> align.Aligner:
    return align.fit(Bitext.from_pairs(PAIRS), threads=1)


def test_files_and_bitexts_teach_the_same(aligner: align.Aligner, tmp_path: Path) -> None:
    halves = [write(tmp_path, PAIRS[:500], "a"), write(tmp_path, PAIRS[500:], "b")]
    aligner.save(tmp_path / "whole")
    align.fit_files(halves, threads=2).save(tmp_path / "files")
    assert (tmp_path / "files").read_bytes() == (tmp_path / "whole").read_bytes()


def test_memory_that_suffices_changes_nothing(tmp_path: Path) -> None:
    files = write(tmp_path, [*PAIRS, ("", "x"), ("a " * 1001, "b")])
    small = align.fit_files([files], memory="100M", threads=1)
    large = align.fit_files([files], memory="3G", threads=1)
    assert small.summary == large.summary
    assert small.summary is not None
    assert (small.summary.blank, small.summary.too_long, small.summary.no_room) == (1, 1, 0)
    for name, learned in (("small", small), ("large", large)):
        learned.save(tmp_path / name)
    assert (tmp_path / "small").read_bytes() == (tmp_path / "large").read_bytes()


def test_little_memory_leaves_out_pairs_of_words_and_says_so(tmp_path: Path) -> None:
    draw = random.Random(5)
    words = [f"w{n}" for n in range(30_000)]
    pairs = [
        (" ".join(draw.choices(words, k=30)), " ".join(draw.choices(words, k=30)))
        for _ in range(2500)
    ]
    learned = align.fit_files(
        [write(tmp_path, pairs)], memory="90M", lexical_iterations=1, order_iterations=0, threads=1
    )
    assert learned.summary is not None
    assert learned.summary.no_room > 0
    note = r"no room for [\d,]+ pairs of words that hardly ever occur together \(see `memory`\)"
    assert re.fullmatch(note, learned.summary.note())


def test_too_little_memory_is_refused(tmp_path: Path) -> None:
    expected = "memory: found 20 MB; expected at least [0-9]+ MB for a text of such words"
    with pytest.raises(ArgumentError, match=expected):
        align.fit_files([write(tmp_path, PAIRS[:50])], memory="20M")


def test_streamed_links_are_those_of_the_whole(aligner: align.Aligner) -> None:
    whole = list(aligner.align(Bitext.from_pairs(PAIRS[:300])).lines())
    batches = list(stream.align_pairs(aligner, PAIRS[:300], batch=77, threads=2))
    assert [line for aligned in batches for line in stream.lines_of(aligned)] == whole
    assert len(batches) == 4


def test_a_sample_is_drawn_in_order_and_by_seed(tmp_path: Path) -> None:
    files = write(tmp_path, [(f"s{n}", f"t{n}") for n in range(40)])
    more = write(tmp_path, [(f"s{n}", f"t{n}") for n in range(40, 60)], "more")
    drawn = []
    for seed in (1, 1, 2):
        out = tmp_path / "x.src", tmp_path / "x.tgt"
        assert stream.draw_lines([files, more], out, 12, seed) == 60
        src, tgt = ([int(line[1:]) for line in path.read_text().split()] for path in out)
        assert src == tgt == sorted(src)
        drawn.append(src)
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(set(drawn[0])) == 12


def test_a_killed_run_goes_on_with_its_parts(aligner: align.Aligner, tmp_path: Path) -> None:
    whole = [f"{line}\n" for line in aligner.align(Bitext.from_pairs(PAIRS[:250])).lines()]
    out = tmp_path / "links"

    def broken() -> Iterator[tuple[str, str]]:
        yield from PAIRS[:170]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stream.Parts(out, {"text": 1}).write(aligner, broken(), size=50)
    parts = stream.Parts(out, {"text": 1})
    assert parts.finished == 3
    assert not out.exists()
    kept = (parts.folder / "000000.links").stat().st_mtime_ns
    with pytest.raises(ArgumentError, match=r"links.parts: found parts of a run with other text"):
        stream.Parts(out, {"text": 2})
    assert (parts.folder / "000000.links").stat().st_mtime_ns == kept
    parts.write(aligner, PAIRS[:250], size=50)
    assert out.read_text() == "".join(whole)
    assert not parts.folder.exists()


def test_the_command_learns_from_a_sample_and_aligns_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = write(tmp_path, PAIRS[:400], "a"), write(tmp_path, PAIRS[400:700], "b")
    text = [str(path) for path in (*first, *second)]
    assert main(["align", *text, "--sample", "300", "--save", str(tmp_path / "model")]) == 0
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) == 700
    assert main(["align", *text, "--sample", "300", "-o", str(tmp_path / "links")]) == 0
    assert (tmp_path / "links").read_text() == printed
    assert main(["align", *text, "--load", str(tmp_path / "model")]) == 0
    assert capsys.readouterr().out == printed
    assert main(["align", *text, "--load", str(tmp_path / "model"), "--sample", "9"]) == 2
    assert "sample: found with --load" in capsys.readouterr().err


def test_pipes_are_read_once(tmp_path: Path) -> None:
    src, tgt = write(tmp_path, PAIRS[:60])
    command = f"{sys.executable} -m wayword align <(cat {src}) <(cat {tgt})"
    piped = subprocess.run(["bash", "-c", command], capture_output=True, check=True)
    plain = [sys.executable, "-m", "wayword", "align", str(src), str(tgt)]
    assert piped.stdout == subprocess.run(plain, capture_output=True, check=True).stdout


def area_under_curve(good: "np.ndarray", bad: "np.ndarray") -> float:
    return float((good[:, None] > bad[None, :]).mean())


@pytest.fixture(scope="module")
def scoring(aligner: align.Aligner) -> align.Aligner:
    return aligner.calibrate(PAIRS, threads=1)


def test_scores_tell_good_pairs_from_bad_ones(scoring: align.Aligner) -> None:
    text = [(" ".join(p.src), " ".join(p.tgt)) for p in toy.generate("de-en", 300, seed=9)]
    good = scoring.score(Bitext.from_pairs(text))
    for kind in range(3):
        spoiled = list(quality.spoiled(text, 4))[kind::3]
        bad = scoring.score(Bitext.from_pairs(spoiled))
        assert area_under_curve(good, bad) > 0.9
    assert ((good >= 0) & (good <= 1)).all()
    assert (good > 0.5).mean() > 0.8


def test_blank_and_long_pairs_have_score_0(scoring: align.Aligner) -> None:
    text = Bitext.from_pairs([("", "a"), ("a", ""), ("a " * 1001, "b"), PAIRS[0]])
    scores = scoring.score(text)
    assert scores[:3].tolist() == [0, 0, 0]
    assert scores[3] > 0


def test_a_calibration_is_saved_with_the_aligner(scoring: align.Aligner, tmp_path: Path) -> None:
    scoring.save(tmp_path / "aligner")
    text = Bitext.from_pairs(PAIRS[:50])
    again = align.Aligner.load(tmp_path / "aligner")
    assert again.is_calibrated
    assert again.score(text).tolist() == scoring.score(text, threads=2).tolist()


def test_scores_need_a_calibration_and_a_calibration_needs_text(aligner: align.Aligner) -> None:
    with pytest.raises(ArgumentError, match="aligner: it was not calibrated"):
        aligner.score(Bitext.from_pairs(PAIRS[:1]))
    with pytest.raises(ArgumentError, match="score: found 3 pairs to learn from; expected at lea"):
        aligner.calibrate(PAIRS[:3])


def test_the_command_prints_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = [str(path) for path in write(tmp_path, PAIRS[:200])]
    assert main(["align", *text]) == 0
    links = capsys.readouterr().out.splitlines()
    assert main(["align", *text, "--score"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [row[1] for row in rows] == links
    assert all(re.fullmatch(r"[01]\.\d{4}", row[0]) for row in rows)
    assert main(["align", "--score", "one"]) == 2
    assert "score: found 1 file; expected LINKS and GOLD" in capsys.readouterr().err


def test_the_doctor_takes_out_what_the_aligner_finds_no_translation(
    scoring: align.Aligner, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = [(" ".join(p.src), " ".join(p.tgt)) for p in toy.generate("de-en", 90, seed=21)]
    pairs = [
        (src, good[(number + 31) % len(good)][1]) if number % 9 == 4 else (src, tgt)
        for number, (src, tgt) in enumerate(good)
    ]
    pairs[2] = ("", "nothing")
    src, tgt = map(str, write(tmp_path, pairs))
    scoring.save(tmp_path / "model")
    doctor = ["doctor", src, tgt, "--aligner", str(tmp_path / "model"), "--allow", "duplicate"]
    assert main([*doctor, "-o", str(tmp_path / "clean")]) == 0
    report = capsys.readouterr().out
    rows = [
        row.split("\t") for row in (tmp_path / "clean" / "quarantine.tsv").read_text().splitlines()
    ]
    taken = {int(row[0]): row[1] for row in rows}
    assert list(taken) == sorted(taken)
    assert taken[3] == "empty"
    unlikely = {number for number, reason in taken.items() if reason == "translation"}
    shifted = {number + 1 for number in range(90) if number % 9 == 4}
    assert len(unlikely & shifted) >= 8
    assert len(unlikely - shifted) <= 3
    kept = [pair for number, pair in enumerate(pairs, 1) if number not in taken]
    clean = [
        (tmp_path / "clean" / name).read_text().splitlines() for name in ("train.de", "train.en")
    ]
    assert list(zip(*clean, strict=True)) == kept
    assert f"translation  {len(unlikely):>5}  hardly a translation" in report
    assert main(doctor) == 0
    assert capsys.readouterr().out == report
    assert main([*doctor[:3], "--min-score", "0.5"]) == 2
    assert "min-score: found without --aligner" in capsys.readouterr().err
