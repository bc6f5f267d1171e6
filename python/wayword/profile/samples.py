"""The commonest patterns of reordering, each with a sentence that shows it well.

In: the orders of a text. Out: patterns with their shares, and for the most frequent ones the number
of a telling sentence.
How: neighbours that stay neighbours are one block; the pattern of a sentence is the order of its
blocks, such as ``1 3 2``. A sentence is telling when it is short, and most of its words have links.
Cost: linear; a tuple a sentence of few blocks.

>>> flat = np.array([0, 1, 4, 2, 3,  1, 0], dtype=np.uint32)
>>> [(pattern.blocks, pattern.sentences) for pattern in patterns(flat, np.array([5, 2]))]
[((1, 3, 2), (0,)), ((2, 1), (1,))]
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wayword.profile.orders import Ints

__all__ = ["Pattern", "patterns", "telling"]

#: Sentences of more blocks have patterns that hardly come twice.
BLOCKS = 6
#: Words of a telling sentence, and the share of them with links.
WORDS = (5, 16)
LINKED = 0.7


@dataclass(frozen=True)
class Pattern:
    """An order of blocks, numbered from 1 in source order, and the sentences that have it."""

    blocks: tuple[int, ...]
    sentences: tuple[int, ...]


def patterns(flat: npt.NDArray[np.uint32], lengths: Ints) -> list[Pattern]:
    """Patterns of at least two and at most ``BLOCKS`` blocks, the most frequent first."""
    items = flat.astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    is_start = np.ones(len(items), dtype=bool)
    is_start[1:] = items[1:] != items[:-1] + 1
    is_start[starts[:-1][lengths > 0]] = True
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    counts = np.bincount(sentence[is_start], minlength=len(lengths))
    heads, ends = items[is_start], np.concatenate([[0], np.cumsum(counts)])
    found: dict[tuple[int, ...], list[int]] = {}
    for number in np.flatnonzero((counts >= 2) & (counts <= BLOCKS)).tolist():
        block = heads[ends[number] : ends[number + 1]]
        ranks = (np.argsort(np.argsort(block)) + 1).tolist()
        found.setdefault(tuple(ranks), []).append(number)
    ordered = sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [Pattern(blocks, tuple(numbers)) for blocks, numbers in ordered]


def telling(
    found: Sequence[Pattern], lengths: Ints, linked: npt.NDArray[np.float64], count: int
) -> list[tuple[Pattern, int]]:
    """For the most frequent patterns a sentence each; patterns without a good one are passed over.

    ``linked`` is the share of words with links of each sentence. Of equally good sentences the
    first is taken.
    """
    chosen = []
    for pattern in found:
        numbers = np.asarray(pattern.sentences)
        words = lengths[numbers]
        is_good = (words >= WORDS[0]) & (words <= WORDS[1]) & (linked[numbers] >= LINKED)
        if is_good.any():
            value = np.where(is_good, linked[numbers] - 0.01 * np.abs(words - 9), -1.0)
            chosen.append((pattern, int(numbers[int(np.argmax(value))])))
        if len(chosen) == count:
            break
    return chosen
