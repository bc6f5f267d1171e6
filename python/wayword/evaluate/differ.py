"""Where two systems order the words of a sentence differently, by the reference's order.

In: the links of one source sentence with its reference and with the outputs of systems.
Out: for each source word how many others stand on its wrong side (``wrong_pairs``); for two systems
how many pairs of words each puts as the reference does, and how far apart the words are on which
they disagree (``difference``).
How: a word's place is the first position it is linked to. Only words that are linked on all sides
are looked at, so a missing link is never taken for a mistake. Two words are reversed when the one
that stands first in the source comes later; words of the same place are not.
Cost: O(n²) a sentence with numpy.

>>> ref = places(5, [(0, 0), (1, 1), (4, 2), (2, 3), (3, 4)])  # he has drunk the tea
>>> hyp = places(5, [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)])  # he has the tea drunk
>>> wrong_pairs(ref, hyp).tolist()  # getrunken stands wrongly to den and to Tee
[0, 0, 1, 1, 2]
>>> difference(ref, hyp, ref)
Difference(first=8, second=10, pairs=10, apart=2, distances=1, weighted=0)
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wayword.evaluate.gold import Links, Ranks

__all__ = ["DISTANCES", "Difference", "closest", "difference", "places", "wrong_pairs"]

#: The longest distance of each bin but the last: 1–2, 3–5, 6–10, over 10 words.
DISTANCES = (2, 5, 10)

Pairs = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Difference:
    """How two systems order the words that both of them and the reference have.

    ``first`` and ``second`` of the ``pairs`` stand as in the reference, ``apart`` are ordered in
    two ways. Bit b of ``distances`` is set when one of these has its words at a distance of bin b
    in the source; of ``weighted``, when one that touches a weighted word has.
    """

    first: int
    second: int
    pairs: int
    apart: int
    distances: int
    weighted: int


def places(length: int, links: Links) -> Ranks:
    """The first position that each of ``length`` source words is linked to; -1 for none.

    >>> places(3, [(0, 4), (0, 2), (2, 0)]).tolist()
    [2, -1, 0]
    """
    firsts = np.full(length, -1, dtype=np.int64)
    for src, tgt in sorted(links, reverse=True):
        firsts[src] = tgt
    return firsts


def wrong_pairs(ref: Ranks, hyp: Ranks) -> Ranks:
    """For each source word, with how many others it stands wrongly; -1 if that is not known."""
    is_wrong = (_reversed(ref) != _reversed(hyp)) & _pairs(ref, hyp)
    counts: Ranks = is_wrong.sum(axis=0) + is_wrong.sum(axis=1)
    return np.where((ref >= 0) & (hyp >= 0), counts, -1)


def difference(
    ref: Ranks, first: Ranks, second: Ranks, weights: Sequence[float] | None = None
) -> Difference:
    """Compare two systems by the places of their words; ``second`` may be the reference."""
    pairs = _pairs(ref, first, second)
    agrees = [_reversed(hyp) == _reversed(ref) for hyp in (first, second)]
    apart = (agrees[0] != agrees[1]) & pairs
    has_weight = np.array(weights if weights is not None else np.zeros(len(ref))) > 0
    return Difference(
        first=int((agrees[0] & pairs).sum()),
        second=int((agrees[1] & pairs).sum()),
        pairs=int(pairs.sum()),
        apart=int(apart.sum()),
        distances=_bins(apart),
        weighted=_bins(apart & (has_weight[:, None] | has_weight)),
    )


def closest(refs: Sequence[Ranks], hyps: Sequence[Ranks]) -> int:
    """The reference whose order all systems together come closest to; the first among equals.

    >>> swapped, straight = np.array([1, 0]), np.array([0, 1])
    >>> closest([swapped, straight], [straight])
    1
    """
    shares = []
    for ref in refs:
        both = [_pairs(ref, hyp) for hyp in hyps]
        right = [
            (_reversed(ref) == _reversed(hyp)) & pairs
            for hyp, pairs in zip(hyps, both, strict=True)
        ]
        count = sum(int(pairs.sum()) for pairs in both)
        shares.append(sum(int(pairs.sum()) for pairs in right) / count if count else 0.0)
    return int(np.argmax(shares))


def _reversed(where: Ranks) -> Pairs:
    """For words i < j: whether j comes before i."""
    flipped: Pairs = where[:, None] > where
    return flipped


def _pairs(*sides: Ranks) -> Pairs:
    """All i < j that are linked on all sides."""
    is_linked = np.all([side >= 0 for side in sides], axis=0)
    return np.triu(is_linked[:, None] & is_linked, 1)


def _bins(pairs: Pairs) -> int:
    """A bit for each bin of distances that some of these pairs lie in."""
    rows, columns = np.nonzero(pairs)
    return sum(1 << int(at) for at in np.unique(np.searchsorted(DISTANCES, columns - rows)))
