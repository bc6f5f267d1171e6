"""Compares links with a gold alignment made by people.

In: links, and gold lines of sure (``i-j``) and possible (``i?j``) links. Out: ``LinkScore``.
How: Och and Ney (2003). Precision counts a link as right when it is at least possible, recall
asks for the sure ones; AER = 1 - (|A∩S| + |A∩P|) / (|A| + |S|), where S is part of P.
Links of lines beyond the gold are not looked at: gold sentences come first in a corpus.

>>> gold = [Gold(sure=frozenset({(0, 0), (1, 1)}), possible=frozenset({(0, 0), (1, 1), (2, 1)}))]
>>> score_links([{(0, 0), (2, 1), (3, 3)}], gold)
LinkScore(precision=0.6667, recall=0.5000, aer=0.4000, f1=0.4000, sentences=1)
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from wayword.corpus.files import open_text
from wayword.errors import FormatError, MismatchError
from wayword.types import FilePath

__all__ = ["Gold", "LinkScore", "parse_links", "read_gold", "read_links", "score_links"]

LinkSet = Iterable[tuple[int, int]]

POSITION = re.compile("[0-9]{1,9}")


class Gold(NamedTuple):
    """The gold links of a sentence; sure links are possible too."""

    sure: frozenset[tuple[int, int]]
    possible: frozenset[tuple[int, int]]


@dataclass(frozen=True, repr=False)
class LinkScore:
    """Precision, recall, alignment error rate, and F1 against the sure links."""

    precision: float
    recall: float
    aer: float
    f1: float
    sentences: int

    def __repr__(self) -> str:
        values = ", ".join(
            f"{name}={getattr(self, name):.4f}" for name in ("precision", "recall", "aer", "f1")
        )
        return f"LinkScore({values}, sentences={self.sentences})"


def score_links(links: Iterable[LinkSet], gold: Iterable[Gold]) -> LinkScore:
    """Score links against gold, sentence by sentence; ``links`` may go on after the gold."""
    proposed_count = sure = right_sure = right_possible = sentences = 0
    lines = iter(links)
    for expected in gold:
        proposed = next(lines, None)
        if proposed is None:
            raise MismatchError(
                f"links: only {sentences} lines; expected one for each gold sentence; "
                "do links and gold come from the same corpus?"
            )
        pairs = {(int(src), int(tgt)) for src, tgt in proposed}
        proposed_count += len(pairs)
        sure += len(expected.sure)
        right_sure += len(pairs & expected.sure)
        right_possible += len(pairs & expected.possible)
        sentences += 1
    return LinkScore(
        precision=_share(right_possible, proposed_count),
        recall=_share(right_sure, sure),
        aer=1 - _share(right_sure + right_possible, proposed_count + sure),
        f1=_share(2 * right_sure, proposed_count + sure),
        sentences=sentences,
    )


def read_gold(path: FilePath) -> list[Gold]:
    """Read gold lines of ``i-j`` (sure) and ``i?j`` (possible)."""
    gold = []
    for number, line in enumerate(open_text(path), 1):
        place = f"{path}:{number}"
        words = line.split()
        sure = parse_links(" ".join(word for word in words if "?" not in word), place)
        other = parse_links(" ".join(word for word in words if "?" in word), place, "?")
        gold.append(Gold(frozenset(sure), frozenset(sure + other)))
    return gold


def read_links(path: FilePath) -> list[list[tuple[int, int]]]:
    """Read Pharaoh lines without the text they belong to."""
    return [parse_links(line, f"{path}:{number}") for number, line in enumerate(open_text(path), 1)]


def parse_links(line: str, place: str, between: str = "-") -> list[tuple[int, int]]:
    """The links of a line; ``place`` is for complaints.

    >>> parse_links("0-0 1-2", "train.links:1")
    [(0, 0), (1, 2)]
    """
    links = []
    for word in line.split():
        src, _, tgt = word.partition(between)
        if not (POSITION.fullmatch(src) and POSITION.fullmatch(tgt)):
            wanted = f"links such as `0{between}0 1{between}2`"
            advice = "positions count from 0, the source comes first"
            raise FormatError(f"{place}: `{word[:40]}`; expected {wanted}; {advice}")
        links.append((int(src), int(tgt)))
    return links


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
