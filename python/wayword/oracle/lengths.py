"""Sentences by length: the bins that tables of oracles have.

>>> [(name, chosen.tolist()) for name, chosen in length_bins([3, 12, 7], (5, 10))]
[('1-5', [0]), ('6-10', [2]), ('11+', [1]), ('all', [0, 1, 2])]
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from wayword.corpus import Bitext
from wayword.errors import ArgumentError

__all__ = ["length_bins", "pair_lengths"]

Numbers = npt.NDArray[np.intp]


def length_bins(lengths: Sequence[int], edges: Sequence[int]) -> list[tuple[str, Numbers]]:
    """The numbers of the sentences of each bin that has any, by name; the last bin is ``all``.

    ``edges`` are the longest lengths of all bins but the last.
    """
    if list(edges) != sorted(set(edges)) or any(edge < 1 for edge in edges):
        raise ArgumentError(f"bins: found {list(edges)}; expected rising lengths from 1 up")
    words = np.asarray(lengths, dtype=np.int64)
    places = np.searchsorted(np.asarray(edges, dtype=np.int64), words)
    lows = [1, *(edge + 1 for edge in edges)]
    names = [f"{low}-{high}" for low, high in zip(lows, edges, strict=False)]
    names.append(f"{lows[-1]}+" if edges else "all")
    bins = [(name, np.flatnonzero(places == at)) for at, name in enumerate(names)]
    filled = [(name, numbers) for name, numbers in bins if len(numbers)]
    return [*filled, ("all", np.arange(len(words)))] if edges else filled


def pair_lengths(bitext: Bitext) -> list[tuple[int, int]]:
    """Source and target words of each pair.

    >>> pair_lengths(Bitext.from_pairs([("a b", "x"), ("c", "y z")]))
    [(2, 1), (1, 2)]
    """
    sides = [np.diff(side.offsets.astype(np.int64)).tolist() for side in (bitext.src, bitext.tgt)]
    return list(zip(*sides, strict=True))
