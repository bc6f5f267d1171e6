"""A space as a thing: a set of orders that can be counted, listed, drawn from and measured against.

In: the name of a space: ``mono``, ``mj1``, ``mj2``, ``ibm:K``, ``itg``, ``dl:K`` as the decoder has
them, and ``itg:K``, trees that exchange two pieces only when they have at most K items together.
Out: whether an order is in it, how many there are, all of them, some at random, the nearest to
another order, and its lattice.
How: definitions i.1. Trees are counted by their blocks: an order is a row of blocks that are not
rows themselves, and a block of m > 1 items is inverted, one of half of all separable orders of m
items; ``mj1`` is ``itg:2``, ``mj2`` is ``itg:3``. In ``ibm:K`` every step has the same choices.
The distortion limit is counted along its lattice. All numbers are exact.
Cost: counting is O(n·K) for trees and O(1) for ``ibm:K``; lattices grow with the space.

>>> Space("ibm:4").count(20)
103079215104
>>> Space("itg").contains([1, 3, 0, 2]), Space("ibm:3").contains([1, 3, 0, 2])
(False, True)
>>> Space("mj1").nearest([2, 1, 0])
[1, 0, 2]
>>> Space("mj2").lattice(6).states
23
"""

import random
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from math import factorial

from wayword import _core
from wayword.errors import ArgumentError
from wayword.oracle.lattice import Lattice
from wayword.types import Progress

__all__ = ["STATES", "Space"]


#: States of a lattice, and places looked at for a nearest order, at most.
STATES = 2_000_000
#: Trees with no bound.
ANY_WIDTH = 1 << 32


class Space:
    """A set of orders, known by its name."""

    def __init__(self, name: str) -> None:
        #: the name as it is shown
        self.name = _core.oracle_space(name)

    def __repr__(self) -> str:
        return f"Space({self.name!r})"

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return self.name == other.name if isinstance(other, Space) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def _kind(self) -> str:
        return self.name.partition(":")[0]

    @property
    def _number(self) -> int:
        return int(self.name.partition(":")[2] or 0)

    @property
    def widest(self) -> int | None:
        """The most items under an inverted node, for spaces that are trees; else None.

        >>> Space("mj2").widest, Space("ibm:4").widest
        (3, None)
        """
        bounds = {"mono": 1, "mj1": 2, "mj2": 3}
        if self._kind == "itg":
            return self._number if ":" in self.name else ANY_WIDTH
        return bounds.get(self._kind)

    def contains(self, order: Sequence[int]) -> bool:
        """Whether an order is in the space."""
        return _core.oracle_contains(self.name, list(order))

    def count(self, length: int) -> int:
        """Number of orders of so many items, exactly."""
        _check_length(length)
        if self.widest is not None:
            return _rows_of_blocks(length, self.widest)[length]
        if self.name == "dl:-1":
            return factorial(length)
        if self._kind == "ibm":
            choices = min(self._number, length)
            return factorial(choices) * int(choices ** (length - choices))
        return self.lattice(length).count

    def orders(self, length: int) -> Iterator[list[int]]:
        """All orders of so many items, lexicographically.

        >>> list(Space("mj1").orders(3))
        [[0, 1, 2], [0, 2, 1], [1, 0, 2]]
        """
        return self.lattice(length).orders()

    def sample(self, length: int, count: int = 1, *, seed: int = 1) -> list[list[int]]:
        """Orders of so many items at random, each as likely as any other.

        >>> Space("itg").sample(6, 2, seed=4)
        [[2, 0, 1, 5, 3, 4], [0, 2, 3, 5, 4, 1]]
        """
        _check_length(length)
        rng = random.Random(seed)
        return [self._draw(length, rng) for _ in range(count)]

    def _draw(self, length: int, rng: random.Random) -> list[int]:
        if self.widest is not None:
            return _draw_tree(length, self.widest, rng)
        if self._kind == "ibm" or self.name == "dl:-1":
            left = list(range(length))
            choices = self._number if self._kind == "ibm" else length
            return [left.pop(rng.randrange(min(choices, len(left)))) for _ in range(length)]
        return self.lattice(length).draw(rng)

    def nearest(self, order: Sequence[int]) -> list[int]:
        """The order of the space that puts the fewest pairs of items differently."""
        [nearest] = self.all_nearest([order], threads=1)
        if nearest is None:
            found = f"an order of {len(order)} items, {STATES} places looked at"
            raise ArgumentError(f"{self.name}: found {found}; expected a shorter one")
        return nearest

    def all_nearest(
        self,
        orders: Sequence[Sequence[int]],
        *,
        most: int = STATES,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> list[list[int] | None]:
        """The nearest order to each; None where more than ``most`` places had to be looked at."""
        given = [list(order) for order in orders]
        return _core.oracle_nearest(self.name, given, most=most, threads=threads, progress=progress)

    def lattice(self, length: int) -> Lattice:
        """The smallest automaton whose paths are the orders of so many items."""
        _check_length(length)
        return _lattice(self.name, length)


@lru_cache(maxsize=8)
def _lattice(name: str, length: int) -> Lattice:
    layers, arcs = _core.oracle_lattice(name, length, STATES)
    return Lattice(tuple(layers), tuple(arcs))


def _check_length(length: int) -> None:
    if length < 0:
        raise ArgumentError(f"length: found {length}; expected 0 items or more")


def _separable(length: int) -> list[int]:
    """The number of separable orders of 0, 1, 2, … items: the large Schröder numbers.

    >>> _separable(8)
    [1, 1, 2, 6, 22, 90, 394, 1806, 8558]
    """
    counts = [1, 1, 2]
    for n in range(2, length):
        counts.append((3 * (2 * n - 1) * counts[n] - (n - 2) * counts[n - 1]) // (n + 1))
    return counts[: length + 1]


@lru_cache(maxsize=16)
def _blocks(length: int) -> list[int]:
    """The number of orders of m items that are no row of shorter ones, by m."""
    return [0, 1, *(count // 2 for count in _separable(length)[2:])][: length + 1]


@lru_cache(maxsize=16)
def _rows_of_blocks(length: int, widest: int) -> list[int]:
    """The number of orders of 0, 1, 2, … items with blocks of at most so many."""
    blocks = _blocks(length)
    rows = [1]
    for n in range(1, length + 1):
        sizes = range(1, min(n, max(widest, 1)) + 1)
        rows.append(sum(blocks[size] * rows[n - size] for size in sizes))
    return rows


def _draw_tree(length: int, widest: int, rng: random.Random) -> list[int]:
    """One order of trees, block by block; what is left to do waits on a stack."""
    rows, blocks, separable = _rows_of_blocks(length, widest), _blocks(length), _separable(length)
    order: list[int] = []
    low = 0
    while low < length:
        left = length - low
        sizes = range(1, min(left, max(widest, 1)) + 1)
        size = _pick(sizes, [blocks[m] * rows[left - m] for m in sizes], rng)
        # (first item, items, whether the pieces are inverted; None for either)
        waiting: list[tuple[int, int, bool | None]] = [(low, size, True)]
        while waiting:
            start, items, turned = waiting.pop()
            if items == 1:
                order.append(start)
                continue
            if turned is None:
                turned = bool(rng.randrange(2))
            parts = range(1, items)
            part = _pick(parts, [blocks[m] * separable[items - m] for m in parts], rng)
            rest = items - part
            first = start + rest if turned else start
            waiting.append((start if turned else start + part, rest, None))
            waiting.append((first, part, not turned))
        low += size
    return order


def _pick(values: Sequence[int], weights: Sequence[int], rng: random.Random) -> int:
    """One of the values by whole-number weights of any size."""
    sums = list(accumulate(weights))
    at = rng.randrange(sums[-1])
    return next(value for value, end in zip(values, sums, strict=True) if at < end)
