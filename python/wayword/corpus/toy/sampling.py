"""Random choice with word-like frequencies, the same on every machine.

In: a seed and lists of entries in order of frequency. Out: draws, and numbers for tree nodes.
How: the weight of the r-th entry of a class is 1 / (r + SHIFT), Zipf's law with a softened head;
a draw is one `random()` and a bisection of the running sum. `Random.random` is the one method
whose sequence Python promises to keep, so nothing else is called.
Cost: O(log n) per draw.
Not: shuffling, or any distribution but this.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from random import Random
from typing import Generic, TypeVar

from wayword.corpus.toy.marks import STEP

Item = TypeVar("Item")

SHIFT = 2


class Table(Generic[Item]):
    """Entries with weights, ready to be drawn from."""

    def __init__(self, weighted: Iterable[tuple[Item, float]]) -> None:
        pairs = list(weighted)
        self.items: tuple[Item, ...] = tuple(item for item, _ in pairs)
        self.bounds: list[float] = list(accumulate(weight for _, weight in pairs))
        self.total: float = self.bounds[-1] if self.bounds else 0.0

    def __bool__(self) -> bool:
        return bool(self.items)


def zipf(ranked: Sequence[Item]) -> Table[Item]:
    """A table whose weights fall with the position in the list."""
    return Table((entry, 1 / (rank + SHIFT)) for rank, entry in enumerate(ranked))


class Draw:
    """A seeded source of choices; every method uses exactly one random number."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed).random
        self._ref = 0

    def restart(self) -> None:
        """Begin a sentence: node numbers start again."""
        self._ref = 0

    def ref(self) -> int:
        """A fresh node number (takes no random number)."""
        self._ref += STEP
        return self._ref

    def chance(self, probability: float) -> bool:
        """True in this share of calls."""
        return self.random() < probability

    def pick(self, table: Table[Item]) -> Item:
        """One entry, by weight."""
        at = bisect_right(table.bounds, self.random() * table.total)
        return table.items[min(at, len(table.items) - 1)]
