"""The order oracle: how near a space comes to the orders of a text, from links alone.

In: links of a text (the gold order of each sentence follows from them), and spaces. Out: for each
space and length of sentence how many gold orders are in it, how many pairs of words its nearest
orders put differently, and how many of the pairs that gold reverses they reverse too.
How: definitions i.7; the nearest order is exact. Sentences for which it would take too long are
left out and counted as unsolved.
Cost: some tens of microseconds a sentence, in the core.

>>> links = Links.from_lists([[(0, 0), (1, 3), (2, 1), (3, 2)], [(0, 1), (1, 0)]])
>>> rows = order_oracle(links, ["mono", "mj1"])
>>> [(row.reached, round(row.wrong, 3), round(row.kept, 3)) for row in rows]
[(0.0, 0.429, 0.0), (0.5, 0.143, 0.667)]
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from wayword import _core
from wayword.align import Links
from wayword.oracle.lengths import length_bins
from wayword.oracle.space import Space
from wayword.reorder.order import Heuristic
from wayword.types import Progress

__all__ = ["BINS", "PLACES", "SPACES", "OrderRow", "order_oracle"]


#: The spaces that are compared when none are named.
SPACES = ("mono", "mj1", "mj2", "ibm:2", "ibm:4", "dl:6", "itg:5", "itg:10", "itg")
#: The longest lengths of all bins but the last.
BINS = (10, 20, 30, 40)
#: Places looked at for one sentence, at most.
PLACES = 200_000


@dataclass(frozen=True)
class OrderRow:
    """What a space can do for sentences of some lengths; shares are from 0 to 1."""

    space: str
    lengths: str
    sentences: int
    #: sentences whose gold order is in the space
    reached: float
    #: pairs of words that the nearest order puts differently from gold
    wrong: float
    #: pairs that gold reverses and the nearest order too
    kept: float
    #: sentences that took too long
    unsolved: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def order_oracle(
    links: Links,
    spaces: Sequence[str] = SPACES,
    *,
    lengths: Sequence[int] | None = None,
    heuristic: Heuristic = "mean",
    bins: Sequence[int] = (),
    most: int = PLACES,
    threads: int = 0,
    progress: Progress | None = None,
) -> list[OrderRow]:
    """Measure spaces on the orders that links imply; a row for each space and bin.

    ``lengths`` are those of the source sentences; without them a sentence ends with its last
    linked word. ``progress`` counts sentences, space after space.
    """
    words = _lengths(links) if lengths is None else list(lengths)
    names = [Space(space).name for space in spaces]  # complain before the work
    parts = length_bins(words, bins)
    rows = []
    for name in names:
        view = _core.oracle_distances(
            name, links._core, words, heuristic, most=most, threads=threads, progress=progress
        )
        distances = np.asarray(view)
        rows += [_row(name, label, distances[chosen]) for label, chosen in parts]
    return rows


def _lengths(links: Links) -> list[int]:
    """One more than the last linked source position of each sentence."""
    return [int(of_pair[:, 0].max()) + 1 if len(of_pair) else 0 for of_pair in links]


def _row(space: str, label: str, distances: Any) -> OrderRow:
    solved = distances[distances[:, 3] >= 0]
    length, gold, nearest, wrong = solved.sum(axis=0).tolist() if len(solved) else (0, 0, 0, 0)
    pairs = int((solved[:, 0] * (solved[:, 0] - 1) // 2).sum())
    both = (gold + nearest - wrong) / 2  # wrong = gold + nearest - 2 both
    return OrderRow(
        space,
        label,
        len(distances),
        reached=float((solved[:, 3] == 0).mean()) if length else float("nan"),
        wrong=wrong / pairs if pairs else 0.0,
        kept=both / gold if gold else float("nan"),
        unsolved=len(distances) - len(solved),
    )
