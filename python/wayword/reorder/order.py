"""From a word alignment to an order of the source words.

In: links ``(source, target)`` of a sentence. Out: its ``order``: ``order[t]`` is the source
position translated t-th. The inverse of an order is a ``rank``: ``rank[j]`` is when word j comes.
All positions count from 0.
How: every source word gets a sort key; positions are sorted by key, equal keys in source order.

* ``mean``: the mean of the word's target positions; an unaligned word lies half-way between
  the nearest aligned words on its two sides, or with the one there is.
* ``leftmost``: its first target position; unaligned words go to the front.
* ``attach``: its first target position; an unaligned word follows the aligned word before it.

Cost: O(n log n) a sentence, in the core.

>>> links = [(0, 2), (1, 0), (2, 1), (4, 4), (5, 3)]
>>> order_from_links(6, links)
[1, 2, 0, 3, 5, 4]
>>> rank_of([1, 2, 0, 3, 5, 4])
[2, 0, 1, 3, 5, 4]
>>> kendall_distance([0, 1, 2, 3, 4, 5], [1, 2, 0, 3, 5, 4])
0.2
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from wayword import _core

__all__ = [
    "Heuristic",
    "kendall_distance",
    "order_from_links",
    "order_of",
    "rank_of",
    "share_in_order",
]

Heuristic = Literal["mean", "leftmost", "attach"]


def order_from_links(
    length: int, links: Iterable[tuple[int, int]], heuristic: Heuristic = "mean"
) -> list[int]:
    """The order of ``length`` source words that their links imply."""
    return _core.order_from_links(length, list(links), heuristic)


def rank_of(order: Sequence[int]) -> list[int]:
    """When each source word is translated."""
    return _core.inverse(list(order))


def order_of(rank: Sequence[int]) -> list[int]:
    """The source words in the order they are translated."""
    return _core.inverse(list(rank))


def kendall_distance(first: Sequence[int], second: Sequence[int]) -> float:
    """The share of pairs of words that two orders put differently: 0 equal, 1 reversed."""
    return _core.kendall_distance(list(first), list(second))


def share_in_order(ranks: npt.NDArray[Any]) -> float:
    """The share of pairs that are not out of order; pairs of equal ranks never are.

    >>> share_in_order(np.array([0, 2, 1, 3, 3]))
    0.9
    """
    size = len(ranks)
    if size < 2:
        return 1.0
    wrong = int(np.count_nonzero(np.triu(ranks[:, None] > ranks, 1)))
    return 1 - 2 * wrong / (size * (size - 1))
