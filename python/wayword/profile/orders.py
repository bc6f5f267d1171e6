"""Jumps, reversals and limits of many sentences at once.

In: links of a text and the lengths of its source sentences. Out: counts over the whole text, and
what single words do.
How: sentences of one length are the rows of a matrix; a loop runs over lengths and over distances
between words, never over words. The gold order of a sentence is that of definitions a (``mean``);
reversed pairs are those of definitions j.5, over linked words alone.
Cost: O(n²) a sentence, one comparison of bytes each: a second for 100,000 sentences of 25 words.

>>> links = Links.from_lists([[(0, 0), (1, 1), (2, 3), (3, 4), (4, 2)]])  # er hat den Tee getrunken
>>> orders = Orders.of(links, [5])
>>> orders.order(0).tolist(), orders.limits.tolist()
([0, 1, 4, 2, 3], [3])
>>> orders.jumps[0, [JUMP + 2, JUMP - 3]].tolist()  # to `getrunken`, and back
[1, 1]
>>> pairs = reversals(links, [5])
>>> pairs.reversed[:3].tolist(), pairs.rightward.tolist(), pairs.leftward.tolist()
([0, 1, 1], [0, 0, 1, 1, 0], [0, 0, 0, 0, 2])
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wayword import _core
from wayword.align import Links

__all__ = ["JUMP", "PARTS", "Orders", "Reversals", "reversals"]

Ints = npt.NDArray[np.int64]

#: The longest jump with a bin of its own; longer ones share the last bin on each side.
JUMP = 40
#: Parts of the text that are counted apart, so that intervals can be had without the text.
PARTS = 40
#: The longest distance of two words that is counted by itself.
FURTHEST = 60


def by_length(lengths: Ints) -> Iterator[tuple[int, Ints, Ints]]:
    """Each length of 1 or more, its sentences, and where their words stand, a row a sentence."""
    starts = np.concatenate([[0], np.cumsum(lengths)])[:-1]
    for length in np.unique(lengths):
        if length:
            numbers = np.flatnonzero(lengths == length)
            yield int(length), numbers, starts[numbers, None] + np.arange(length)


@dataclass(frozen=True)
class Orders:
    """The gold orders of a text."""

    lengths: Ints
    #: all orders, one after the other
    flat: npt.NDArray[np.uint32]
    #: signed jumps between words, a row a part of the text; step ``+0`` stands at ``JUMP``
    jumps: Ints
    #: for each sentence the least distortion limit that allows its order word by word
    limits: Ints

    @classmethod
    def of(cls, links: Links, lengths: Sequence[int], *, threads: int = 0) -> "Orders":
        """The orders that links imply."""
        sizes = np.asarray(lengths, dtype=np.int64)
        view = _core.orders_from_links(links._core, sizes.tolist(), "mean", threads=threads)
        flat = np.asarray(view)
        jumps = np.zeros((PARTS, 2 * JUMP + 1), dtype=np.int64)
        limits = np.zeros(len(sizes), dtype=np.int64)
        for _, numbers, places in by_length(sizes):
            order = flat[places].astype(np.int64)
            before = np.concatenate([np.full((len(order), 1), -1), order[:, :-1]], axis=1)
            steps = order - before - 1
            bins = np.clip(steps, -JUMP, JUMP) + JUMP
            flat_bins = (numbers % PARTS)[:, None] * (2 * JUMP + 1) + bins
            jumps += np.bincount(flat_bins.ravel(), minlength=jumps.size).reshape(jumps.shape)
            limits[numbers] = _limits(order, steps)
        return cls(sizes, flat, jumps, limits)

    def order(self, number: int) -> npt.NDArray[np.uint32]:
        """The order of one sentence."""
        start = int(self.lengths[:number].sum())
        return self.flat[start : start + int(self.lengths[number])]


def _limits(order: Ints, steps: Ints) -> Ints:
    """The least K of ``dl:K`` for each row: every jump, and the way back to the first gap.

    Definitions d.1: before word s is taken, the first word that is left is g; unless s is g, the
    way from s back to g is a jump over s + 1 - g words.
    """
    # What is left before each step is what the order still has: its least item is the first gap.
    gaps = np.minimum.accumulate(order[:, ::-1], axis=1)[:, ::-1]
    back = np.where(order == gaps, 0, order + 1 - gaps)
    least: Ints = np.maximum(np.abs(steps), back).max(axis=1)
    return least


@dataclass(frozen=True)
class Reversals:
    """Pairs of linked source words, and which of them the target has the other way round."""

    #: by distance between the words; 0 is empty, the last is that and more
    pairs: Ints
    reversed: Ints
    #: for each word of the text how many later words come before it in the target, and how many
    #: earlier ones after it
    rightward: Ints
    leftward: Ints
    #: whether it changes places with the linked word before it in its sentence
    turned: npt.NDArray[np.bool_]
    #: whether it has a link
    linked: npt.NDArray[np.bool_]
    #: for each sentence: pairs of linked words, and those of them that are reversed
    of_sentences: Ints

    @property
    def share(self) -> float:
        """The share of all pairs that is reversed."""
        return float(self.reversed.sum()) / max(int(self.pairs.sum()), 1)


def reversals(links: Links, lengths: Sequence[int]) -> Reversals:
    """Count the reversed pairs of linked words; a word's key is its first target position."""
    sizes = np.asarray(lengths, dtype=np.int64)
    keys = first_positions(links, sizes)
    pairs, turned = (np.zeros(FURTHEST + 1, dtype=np.int64) for _ in range(2))
    rightward, leftward = (np.zeros(len(keys), dtype=np.int64) for _ in range(2))
    of_sentences = np.zeros((len(sizes), 2), dtype=np.int64)
    for length, numbers, places in by_length(sizes):
        rows: Any = keys[places]
        has = rows >= 0
        right, left = (np.zeros(rows.shape, dtype=np.int64) for _ in range(2))
        for distance in range(1, length):
            both = has[:, :-distance] & has[:, distance:]
            is_turned = both & (rows[:, :-distance] > rows[:, distance:])
            at = min(distance, FURTHEST)
            pairs[at] += both.sum()
            turned[at] += is_turned.sum()
            right[:, :-distance] += is_turned
            left[:, distance:] += is_turned
            of_sentences[numbers, 0] += both.sum(axis=1)
            of_sentences[numbers, 1] += is_turned.sum(axis=1)
        rightward[places], leftward[places] = right, left
    around = _turned(keys, sizes)
    return Reversals(pairs, turned, rightward, leftward, around, keys >= 0, of_sentences)


def _turned(keys: Ints, lengths: Ints) -> npt.NDArray[np.bool_]:
    """Whether each word comes before the linked word that stands before it."""
    turned = np.zeros(len(keys), dtype=bool)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    linked = np.flatnonzero(keys >= 0)
    before, after = linked[:-1], linked[1:]
    turned[after] = (keys[before] > keys[after]) & (sentence[before] == sentence[after])
    return turned


def first_positions(links: Links, lengths: Ints) -> Ints:
    """For each source word of the text the first target word it is linked to; -1 for none."""
    keys = np.full(int(lengths.sum()), -1, dtype=np.int64)
    flat, offsets = links.flat, links.offsets.astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])[:-1]
    places = np.repeat(starts, np.diff(offsets)) + flat[:, 0]
    is_first = np.ones(len(places), dtype=bool)
    is_first[1:] = places[1:] != places[:-1]  # links are sorted by source, then target
    keys[places[is_first]] = flat[is_first, 1]
    return keys
