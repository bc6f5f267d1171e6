"""Pairs of source words, and what two translations do with their order.

In: for each source word its place in an output and in a reference (``Keys``). Out: ``PairCounts``,
a row a sentence; from them Kendall's score of each sentence.
How: the core counts, for all sentences in one call. Only words that have a key on both sides
count; ``attached`` gives every word one.
Cost: some microseconds a sentence, most of them for reading its links.

>>> output, reference = np.array([0, 1, 2, 3, 4], np.uint32), np.array([0, 1, 3, 4, 2], np.uint32)
>>> counts = count_pairs(output, reference, [5])  # `gelesen` stands behind `das` and `buch`
>>> counts.linked.tolist(), counts.wrong.tolist()
([5.0], [2.0])
>>> kendall(counts.linked, counts.wrong)  # 1 - √(2 / 10)
array([0.5527864])
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wayword import _core
from wayword.evaluate.gold import UNLINKED, Keys
from wayword.evaluate.metric import Matrix, ratio

__all__ = ["BINS", "PairCounts", "attached", "count_pairs", "kendall", "linked_words"]

#: How far apart the two words of a pair stand in the source.
BINS = ("1-2", "3-5", "6-10", ">10")
#: Linked words, their weight, wrong pairs, their weight; then reversed pairs.
HEAD = 4


@dataclass(frozen=True, eq=False)
class PairCounts:
    """A number a sentence, of the words that are linked on both sides."""

    linked: Matrix
    #: their weights together
    weight: Matrix
    #: pairs that one side alone reverses, and the weights of their words together
    wrong: Matrix
    wrong_weight: Matrix
    #: pairs reversed by both, the output, the reference: a row for each of ``BINS``
    reversed: Matrix
    #: those with a word that has weight
    weighted: Matrix


def count_pairs(
    hyp: Keys, ref: Keys, lengths: Sequence[int], weights: Matrix | None = None
) -> PairCounts:
    """The counts of all sentences, given by the numbers of their words."""
    given = None if weights is None else weights.tobytes()
    counts = _core.pair_counts(hyp.tobytes(), ref.tobytes(), list(lengths), given)
    table: Matrix = np.asarray(counts)
    if not len(lengths):
        table = np.empty((0, HEAD + 6 * len(BINS)))
    of_bins = table[:, HEAD:].reshape(len(lengths), 2, len(BINS), 3)
    linked, weight, wrong, wrong_weight = table[:, :HEAD].T
    return PairCounts(linked, weight, wrong, wrong_weight, of_bins[:, 0], of_bins[:, 1])


def kendall(words: Matrix, wrong: Matrix, weight: Matrix | None = None) -> Matrix:
    """``1 - √K`` of each sentence; K divides by all pairs, or by the weight of all pairs.

    ``weight`` is that of all words together. A sentence of fewer than two words is in order, and
    so is one without weight: to leave them out is up to the caller.
    """
    pairs = words * (words - 1) / 2 if weight is None else (words - 1) * weight
    values: Matrix = 1 - np.sqrt(ratio(wrong, pairs))
    return values


def attached(keys: Keys, lengths: Sequence[int]) -> Keys:
    """A word without links takes the key of the one before it, at the beginning 0.

    >>> attached(np.array([UNLINKED, 6, 1, UNLINKED, 4], np.uint32), [3, 2]).tolist()
    [0, 7, 2, 0, 5]
    """
    places = np.arange(len(keys))
    counts = np.array(lengths, np.int64)
    starts = (np.cumsum(counts) - counts)[counts > 0]
    has_key = keys != UNLINKED
    has_key[starts] = True
    nearest = np.maximum.accumulate(np.where(has_key, places, 0))
    shifted: Keys = keys + np.uint32(1)  # from 1; UNLINKED becomes 0
    return shifted[nearest]


def linked_words(hyp: Keys, ref: Keys, lengths: Sequence[int]) -> Matrix:
    """How many words of each sentence are linked on both sides."""
    linked = (hyp != UNLINKED) & (ref != UNLINKED)
    ends = np.cumsum(np.array(lengths, np.int64))
    until = np.concatenate([[0], np.cumsum(linked)])
    counts: Matrix = (until[ends] - until[ends - lengths]).astype(np.float64)
    return counts
