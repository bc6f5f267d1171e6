"""Sentences whose order is unlikely: two parts stand the other way round than this text has it.

In: links. Out: at most one candidate a line.
How: the linked source positions, in the order of the target, are cut at every pair of places into
two neighbouring blocks; the cut with the most reversed pairs between its blocks, less those in
order, tells which parts look exchanged. Beside it stand the share of all pairs that is reversed
and the mean length of jumps, each compared with the other lines of the text, so that a Japanese
text is judged as Japanese.
Cost: O(n²) per line, in numpy.
Not: the order inside a phrase; lines with fewer than ``FEWEST`` links.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wayword.audit.evidence import Evidence, LineLinks
from wayword.audit.finding import Candidate
from wayword.audit.text import AuditText

__all__ = ["Exchange", "exchange", "find_orders"]

FEWEST = 6
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Exchange:
    """Two neighbouring blocks of a permutation, ``start:middle`` and ``middle:end``."""

    start: int
    middle: int
    end: int
    #: reversed pairs less pairs in order, between the blocks
    gain: int


def find_orders(text: AuditText, evidence: Evidence) -> Iterator[Candidate]:
    """The lines with enough links whose order may be wrong."""
    measured = []
    for line in range(len(text)):
        places, targets = _in_target_order(evidence.links[line])
        if len(places) < FEWEST:
            continue
        swap = exchange(places)
        pairs = len(places) * (len(places) - 1) / 2
        measured.append(
            (
                line,
                swap,
                targets,
                swap.gain / pairs,
                float(np.sum(np.triu(places[:, None] > places, 1))) / pairs,
                float(np.log1p(np.abs(np.diff(places) - 1)).mean()),
                float(evidence.links[line].posterior.mean()),
            )
        )
    if not measured:
        return
    scores = [_scores(np.array([row[3 + k] for row in measured])) for k in range(3)]
    for number, (line, swap, targets, share, *_rest, posterior) in enumerate(measured):
        if swap.gain <= 0:
            continue
        shorter = min(swap.middle - swap.start, swap.end - swap.middle)
        whole = (swap.end - swap.start) / len(targets)
        features = (
            share,
            *(float(of_lines[number]) for of_lines in scores),
            float(np.log(shorter)),
            whole,
            posterior,
        )
        tgt = tuple(range(int(targets[swap.start]), int(targets[swap.end - 1]) + 1))
        note = f"before and after word {int(targets[swap.middle]) + 1}"
        yield Candidate(line, "order", (), tgt, features, note)


def exchange(places: Ints) -> Exchange:
    """The two neighbouring blocks with the most reversed pairs between them.

    >>> exchange(np.array([3, 4, 5, 0, 1, 2, 6]))
    Exchange(start=0, middle=3, end=6, gain=9)
    """
    size = len(places)
    signs = np.sign(places[:, None] - places)  # 1 where the earlier word stands later in the source
    best = Exchange(0, 0, 0, 0)
    for middle in range(1, size):
        # Sums over the rows from each start to the middle, and the columns from there to each end.
        block = signs[:middle, middle:][::-1].cumsum(axis=0).cumsum(axis=1)
        row, column = np.unravel_index(int(block.argmax()), block.shape)
        if block[row, column] > best.gain:
            start, end = middle - int(row) - 1, middle + int(column) + 1
            best = Exchange(start, middle, end, int(block[row, column]))
    return best


def _in_target_order(links: LineLinks) -> tuple[Ints, Ints]:
    """Mean source positions, ranked, of the linked target words, and these words' positions."""
    targets, inverse = np.unique(links.tgt, return_inverse=True)
    sums = np.bincount(inverse, weights=links.src)
    means = sums / np.maximum(np.bincount(inverse), 1)
    _, ranks = np.unique(means, return_inverse=True)
    return ranks.astype(np.int64), targets


def _scores(values: Floats) -> Floats:
    """Deviations from the text's median, as if 20 lines of a usual text had come before.

    Medians, so that the errors looked for do not count as usual.
    """
    middle = (np.median(values) * len(values) + 20 * 0.1) / (len(values) + 20)
    spread = np.median(np.abs(values - middle))
    deviation = 1.5 * (spread * len(values) + 20 * 0.1) / (len(values) + 20) + 0.01
    scores: Floats = np.clip((values - middle) / deviation, -10, 10)
    return scores
