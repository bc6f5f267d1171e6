r"""Takes pairs out of a clean bitext whose sides are hardly translations of each other.

In: the clean pair and ``quarantine.tsv`` that ``wayword.corpus.doctor`` wrote, and an aligner.
Out: the report with what was found; with ``out`` also the three files again, where pairs with a low
score (``wayword.align.quality``) have moved from the clean pair to the quarantine, with the reason
``translation``. Every line of the input is still in exactly one of them.
How: an aligner without calibration is calibrated on a sample of the text.
Cost: as much as aligning; a few batches in memory.

>>> _escape("a\tb\\c" + chr(7))
'a\\tb\\\\c\\x07'
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace

from wayword.align import quality
from wayword.align.aligner import Aligner
from wayword.align.stream import align_pairs, draw_lines
from wayword.corpus.doctor import TRANSLATION, Finding, Report
from wayword.corpus.files import new_file, open_text, temp_folder
from wayword.errors import ArgumentError
from wayword.types import FilePath, Progress

__all__ = ["MIN_SCORE", "screen"]

Pair = tuple[str, str]
Tokens = Callable[[str, str], tuple[list[str], list[str]]]
#: Clean source, clean target, quarantine.
Files = tuple[FilePath, FilePath, FilePath]

#: Pairs below this are taken out.
MIN_SCORE = 0.5


def screen(
    report: Report,
    files: Files,
    aligner: Aligner,
    *,
    out: Files | None = None,
    tokens: Tokens | None = None,
    min_score: float = MIN_SCORE,
    examples: int = 5,
    seed: int = 1,
    threads: int = 0,
    progress: Progress | None = None,
) -> Report:
    """Look for pairs below ``min_score`` in clean files; with ``out``, write files without them.

    ``tokens`` makes words of the text as the aligner knows them; without it, words are what
    whitespace separates.
    """
    if not 0 <= min_score <= 1:
        raise ArgumentError(f"min_score: found {min_score:g}; expected a number from 0 to 1")
    src, tgt, _ = files
    if not aligner.is_calibrated:
        aligner = _calibrated(aligner, (src, tgt), tokens, seed, threads)
    pairs = _prepared(zip(open_text(src), open_text(tgt), strict=True), tokens)
    scores = (
        float(score)
        for aligned in align_pairs(aligner, pairs, score=True, threads=threads, progress=progress)
        for score in (() if aligned.scores is None else aligned.scores)
    )
    shown: list[Finding] = []
    taken = 0
    for finding in _split(files, scores, min_score, out):
        taken += 1
        if len(shown) < examples:
            shown.append(finding)
    return replace(
        report,
        clean=report.clean - taken,
        quarantined=report.quarantined + taken,
        counts={**report.counts, TRANSLATION[0]: taken},
        examples=(*report.examples, *shown),
    )


def _calibrated(
    aligner: Aligner,
    files: tuple[FilePath, FilePath],
    tokens: Tokens | None,
    seed: int,
    threads: int,
) -> Aligner:
    with temp_folder() as folder:
        drawn = folder / "src", folder / "tgt"
        draw_lines([files], drawn, quality.SAMPLE, seed)
        pairs = _prepared(zip(*map(open_text, drawn), strict=True), tokens)
        return aligner.calibrate(list(pairs), seed=seed, threads=threads)


def _prepared(pairs: Iterable[Pair], tokens: Tokens | None) -> Iterator[Pair]:
    if tokens is None:
        yield from pairs
        return
    for pair in pairs:
        src, tgt = tokens(*pair)
        yield " ".join(src), " ".join(tgt)


def _split(
    files: Files, scores: Iterator[float], min_score: float, out: Files | None
) -> Iterator[Finding]:
    """Write pairs to where they belong, in the order of the input; what goes to quarantine."""
    with ExitStack() as stack:
        paths = [os.devnull] * 3 if out is None else out
        src, tgt, quarantine = (stack.enter_context(new_file(path)) for path in paths)
        rows = open_text(files[2])
        row, number = next(rows, None), 0
        pairs = zip(open_text(files[0]), open_text(files[1]), strict=True)
        for score, pair in zip(scores, pairs, strict=True):
            number += 1
            while row is not None and _number(row) == number:
                print(row, file=quarantine)
                row, number = next(rows, None), number + 1
            if score >= min_score:
                print(pair[0], file=src)
                print(pair[1], file=tgt)
                continue
            print(number, TRANSLATION[0], *map(_escape, pair), sep="\t", file=quarantine)
            yield Finding(number, TRANSLATION[0], "both", f"score {score:.2f}")
        while row is not None:
            print(row, file=quarantine)
            row = next(rows, None)


def _number(row: str) -> int:
    return int(row.partition("\t")[0])


def _escape(text: str) -> str:
    plain = {"\\": "\\\\", "\t": "\\t", "\r": "\\r"}
    return "".join(plain.get(char) or (char if char.isprintable() else _hex(char)) for char in text)


def _hex(char: str) -> str:
    """Control characters of a byte as the doctor writes them; others stay."""
    return f"\\x{ord(char):02x}" if ord(char) < ord(" ") or ord(char) == 0x7F else char
