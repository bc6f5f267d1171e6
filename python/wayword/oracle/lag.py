"""The lag oracle: how long a simultaneous translator must wait to write the reference's order.

In: links of a bitext and its lengths. Out: average lagging and proportion, the least k at which a
wait-k translator never has to guess, links ahead at given k; reading and writing as labels; and
references in the nearest order that keeps a bound on lag.
How: definitions p. A target word can be written when the last source word it is linked to is read,
and so are those of the words before it.
Cost: linear, in the core; bounded orders are a search, exact unless ``Rewrite.exact`` is false.

>>> links = Links.from_lists([[(0, 0), (1, 1), (4, 2), (2, 3), (3, 4)]])  # he has drunk the tea
>>> found = lag_oracle(links, [(5, 5)], waits=(1, 3))
>>> round(found.lagging, 7), round(found.proportion, 2), found.waits, found.ahead
(1.6666667, 0.72, (3,), {1: 0.2, 3: 0.0})
>>> labels(links, [(5, 5)])
['R W R W R R R W W W']
>>> rewrites(links, [(5, 5)], lagging=1.5)[0].order
(0, 1, 3, 2, 4)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wayword import _core
from wayword.align import Links
from wayword.errors import ArgumentError
from wayword.types import Progress

__all__ = ["WAITS", "Lag", "Rewrite", "labels", "lag_oracle", "rewrites"]

Lengths = Sequence[tuple[int, int]]

#: The k that links ahead are counted for.
WAITS = (1, 3, 5, 7, 9)
#: Partial orders looked at for one sentence, at most.
PLACES = 200_000
#: Columns before those of the waits.
FIXED = 4


@dataclass(frozen=True)
class Lag:
    """What a text asks of a simultaneous translator."""

    sentences: int
    #: means over sentences
    lagging: float
    proportion: float
    #: for each sentence the least k at which no link lies ahead
    waits: tuple[int, ...]
    #: by k the share of links ahead
    ahead: dict[int, float]
    #: average lagging of each sentence
    laggings: tuple[float, ...]

    def wait_at(self, share: float) -> int:
        """The least k that is enough for so many of the sentences.

        >>> Lag(4, 0, 0, (1, 1, 2, 9), {}, ()).wait_at(0.75)
        2
        """
        ranked = sorted(self.waits)
        return ranked[min(int(np.ceil(share * len(ranked))), len(ranked)) - 1]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; sentences apart."""
        return {
            "sentences": self.sentences,
            "lagging": self.lagging,
            "proportion": self.proportion,
            "wait": {share: self.wait_at(share) for share in (0.5, 0.9, 1.0)},
            "ahead": self.ahead,
        }


@dataclass(frozen=True)
class Rewrite:
    """A reference in another order: ``order[t]`` is the word written t-th."""

    order: tuple[int, ...]
    #: pairs of words that stand differently
    moved: int
    lagging: float
    #: whether the bound is kept; if not, the order is the source's, which waits least
    kept: bool
    #: whether no order that keeps the bound is nearer
    exact: bool


def lag_oracle(links: Links, lengths: Lengths, *, waits: Sequence[int] = WAITS) -> Lag:
    """The lag of a text; ``lengths`` are source and target words of each pair."""
    if not len(links):
        raise ArgumentError("links: found no sentence; expected at least one")
    if any(wait < 1 for wait in waits):
        raise ArgumentError(f"waits: found {list(waits)}; expected 1 or more")
    cells = np.asarray(_core.oracle_lag(links._core, list(lengths), list(waits)))
    rows = cells.reshape(-1, FIXED + len(waits))
    count = max(float(rows[:, 3].sum()), 1.0)
    ahead = {wait: float(rows[:, FIXED + at].sum()) / count for at, wait in enumerate(waits)}
    return Lag(
        len(rows),
        float(rows[:, 0].mean()),
        float(rows[:, 1].mean()),
        tuple(rows[:, 2].astype(int).tolist()),
        ahead,
        tuple(rows[:, 0].tolist()),
    )


def labels(links: Links, lengths: Lengths) -> list[str]:
    """For each pair an ``R`` for every source word and a ``W`` for every target word.

    Each word is written as soon as it can be.
    """
    return _core.oracle_labels(links._core, list(lengths))


def rewrites(
    links: Links,
    lengths: Lengths,
    lagging: float,
    *,
    most: int = PLACES,
    threads: int = 0,
    progress: Progress | None = None,
) -> list[Rewrite]:
    """The target words of each pair in the nearest order of at most this average lagging."""
    if math.isnan(lagging):
        raise ArgumentError("lagging: found nan; expected a number")
    found = _core.oracle_rewrites(
        links._core, list(lengths), lagging, most=most, threads=threads, progress=progress
    )
    return [
        Rewrite(tuple(order), moved, lag, kept, exact) for order, moved, lag, kept, exact in found
    ]
