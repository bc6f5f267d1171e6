"""The lattice of a space: its orders as paths through the smallest layered automaton.

In: states layer by layer, and arcs that each take an item. Out: the number of paths, all of them in
lexicographic order, or some at random.
Cost: counting is one addition of large numbers an arc.

>>> lattice = Lattice((1, 2, 1), ((0, 0, 1), (0, 1, 2), (1, 1, 3), (2, 0, 3)))
>>> lattice.count, list(lattice.orders())
(2, [[0, 1], [1, 0]])
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

__all__ = ["Lattice"]


@dataclass(frozen=True)
class Lattice:
    """States with so many items taken, layer by layer, and arcs ``(from, item, to)``."""

    layers: tuple[int, ...]
    arcs: tuple[tuple[int, int, int], ...]

    @property
    def states(self) -> int:
        """Number of states."""
        return sum(self.layers)

    @property
    def length(self) -> int:
        """Number of items of an order."""
        return len(self.layers) - 1

    @cached_property
    def _ways(self) -> list[list[tuple[int, int]]]:
        """For each state the items that may come next, and where they lead."""
        ways: list[list[tuple[int, int]]] = [[] for _ in range(self.states)]
        for start, item, end in self.arcs:
            ways[start].append((item, end))
        return ways

    @cached_property
    def _counts(self) -> list[int]:
        """For each state the number of ways to the last one."""
        counts = [0] * self.states
        counts[-1] = 1
        for start, _, end in reversed(self.arcs):
            counts[start] += counts[end]
        return counts

    @property
    def count(self) -> int:
        """Number of orders."""
        return self._counts[0]

    def orders(self) -> Iterator[list[int]]:
        """All orders, lexicographically."""
        order: list[int] = []
        open_ways = [iter(self._ways[0])]
        if not self.length:
            yield []
        while open_ways and self.length:
            step = next(open_ways[-1], None)
            if step is None:
                open_ways.pop()
                if order:
                    order.pop()
                continue
            order.append(step[0])
            if len(order) == self.length:
                yield order.copy()
                order.pop()
            else:
                open_ways.append(iter(self._ways[step[1]]))

    def draw(self, rng: random.Random) -> list[int]:
        """One order, each as likely as any other."""
        order, state = [], 0
        for _ in range(self.length):
            left = rng.randrange(self._counts[state])
            ways = iter(self._ways[state])
            while left >= 0:
                item, state = next(ways)
                left -= self._counts[state]
            order.append(item)
        return order
