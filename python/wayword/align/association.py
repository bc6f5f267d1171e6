"""Measures how well lines of two languages belong together, by words that occur together.

In: windows of lines (``wayword.align.line_windows``) and, for each, the shift at which its lines
are taken for translations. Out: for each window a matrix of scores: source line by target line.
How: one iteration of IBM Model 1 (Brown et al., 1993) from a uniform start, so that the counts of a
window can be taken off exactly: a window is scored by what the others teach. The score of two
lines is the mean log-likelihood ratio of the words of each side, given the other side, against
their frequency in the sample. Words that are spelled alike support each other.
Cost: a dense table of ``VOCABULARY`` by ``VOCABULARY`` counts (25 MB); linear in the lines. No
matrix product is used: small ones wait for the threads of the BLAS library on a busy machine.
Not: word order, and fertility; this is a test for lines, not a word aligner.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wayword.align.line_windows import MAX_SHIFT, LineWindow

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]
    Ids = npt.NDArray[np.int64]

__all__ = ["EncodedWindow", "LineAssociation", "LineTypes"]

#: Types of a side that are counted, the most frequent.
VOCABULARY = 2500
#: Shares of the translation model and of equal spelling in the probability of a word; the
#: frequency of the word in the sample has the rest.
LEXICAL, COPIED = 0.5, 0.1
#: Counts of an unseen partner, which keep rare words from high probabilities.
SMOOTHING = 2.0


@dataclass(frozen=True)
class LineTypes:
    """The types of lines as numbers, line after line.

    ``ids`` are the distinct types, ascending; ``places`` holds the places in ``ids`` of the types
    of all lines; line k has ``sizes[k]`` of them, from ``starts[k]`` on.
    """

    ids: "Ids"
    places: "Ids"
    starts: "Ids"
    sizes: "Ids"

    @classmethod
    def of_lines(cls, lines: Sequence[Sequence[str]], numbers: dict[str, int]) -> "LineTypes":
        """Look up the types of lines; unknown ones are left out."""
        import numpy as np

        known = [[numbers[word] for word in line if word in numbers] for line in lines]
        flat = np.array([number for line in known for number in line], dtype=np.int64)
        ids, places = np.unique(flat, return_inverse=True)
        sizes = np.array([len(line) for line in known], dtype=np.int64)
        return cls(ids, places.reshape(-1), np.cumsum(sizes) - sizes, sizes)

    def __len__(self) -> int:
        return len(self.sizes)

    def line(self, number: int) -> "Ids":
        """Return the places of the types of a line."""
        return self.places[self.starts[number] : self.starts[number] + self.sizes[number]]

    def means(self, rows: "Matrix") -> "Matrix":
        """Return for each line the mean of the rows of its types; 0 for a line without any."""
        import numpy as np

        padded = np.concatenate([rows[self.places], np.zeros((1, rows.shape[1]), rows.dtype)])
        sums = np.add.reduceat(padded, self.starts, axis=0)
        sums[self.sizes == 0] = 0
        means: Matrix = np.divide(sums, np.maximum(self.sizes, 1)[:, None], dtype=np.float32)
        return means

    def count_below(self, limit: int) -> "Ids":
        """Return for each line how many types have a lower number."""
        import numpy as np

        line_of_type = np.repeat(np.arange(len(self)), self.sizes)
        is_below = self.ids[self.places] < limit
        return np.bincount(line_of_type[is_below], minlength=len(self))


@dataclass(frozen=True)
class EncodedWindow:
    """A window with numbers for types; ``tgt`` has ``MAX_SHIFT`` more lines on either side."""

    start: int
    src: LineTypes
    tgt: LineTypes

    def __len__(self) -> int:
        return len(self.src)


class LineAssociation:
    """Counts of types that occur in lines taken for translations."""

    def __init__(self, windows: Sequence[LineWindow]) -> None:
        import numpy as np

        src = Counter(word for window in windows for line in window.src for word in line)
        tgt = Counter(word for window in windows for line in _own(window) for word in line)
        shared = [word for word in src if word in tgt]
        self._src, self._tgt = _numbered(src, shared), _numbered(tgt, shared)
        self._src_size, self._tgt_size = _counted(src), _counted(tgt)
        self._src_share, self._tgt_share = _shares(src, self._src), _shares(tgt, self._tgt)
        #: by source number, the target number of the same spelling; -1: none
        self._equal = np.full(len(self._src), -1, dtype=np.int64)
        for word in shared:
            self._equal[self._src[word]] = self._tgt[word]
        self._counts = np.zeros((self._src_size, self._tgt_size), dtype=np.float32)

    def encode(self, window: LineWindow) -> EncodedWindow:
        """Look up the types of a window."""
        src = LineTypes.of_lines(window.src, self._src)
        return EncodedWindow(window.start, src, LineTypes.of_lines(window.tgt, self._tgt))

    def learn(self, windows: Sequence[EncodedWindow], shifts: Sequence[int]) -> None:
        """Count anew: each window at its shift."""
        import numpy as np

        self._counts[:] = 0
        for window, shift in zip(windows, shifts, strict=True):
            counts = self._window_counts(window, shift)
            src, tgt = counts.shape
            self._counts[np.ix_(window.src.ids[:src], window.tgt.ids[:tgt])] += counts
        self._src_sums = self._counts.sum(axis=1)
        self._tgt_sums = self._counts.sum(axis=0)

    def scores(self, window: EncodedWindow, shift: int | None) -> "Matrix":
        """Score every source line with every target line of a window.

        ``shift`` is the one at which ``learn`` counted the window, whose counts are taken off;
        None for a window that was not counted.
        """
        import numpy as np

        src, tgt = self._known(window)
        src_ids, tgt_ids = window.src.ids, window.tgt.ids
        counts = self._counts[np.ix_(src_ids[:src], tgt_ids[:tgt])]
        src_sums, tgt_sums = self._src_sums[src_ids[:src]], self._tgt_sums[tgt_ids[:tgt]]
        if shift is not None:
            own = self._window_counts(window, shift)
            counts = np.maximum(counts - own, 0)
            src_sums = np.maximum(src_sums - own.sum(axis=1), 0)
            tgt_sums = np.maximum(tgt_sums - own.sum(axis=0), 0)
        forward = COPIED * self._equal_words(window)
        reverse = forward.T.copy()
        forward[:src, :tgt] += LEXICAL * counts / (src_sums + SMOOTHING)[:, None]
        reverse[:tgt, :src] += LEXICAL * counts.T / (tgt_sums + SMOOTHING)[:, None]
        tgt_given_src = _log_ratios(window.src, window.tgt, forward, self._tgt_share[tgt_ids])
        src_given_tgt = _log_ratios(window.tgt, window.src, reverse, self._src_share[src_ids])
        return (tgt_given_src.T + src_given_tgt) * np.float32(0.5)

    def testable_lines(
        self, window: EncodedWindow, least: int
    ) -> "Iterator[tuple[bytes, bytes] | None]":
        """Yield the types of each pair; None for fewer counted types than ``least`` on a side."""
        src = window.src.count_below(self._src_size)
        tgt = window.tgt.count_below(self._tgt_size)
        for number in range(len(window)):
            other = number + MAX_SHIFT
            if src[number] >= least and tgt[other] >= least:
                src_types = window.src.ids[window.src.line(number)]
                yield src_types.tobytes(), window.tgt.ids[window.tgt.line(other)].tobytes()
            else:
                yield None

    def _known(self, window: EncodedWindow) -> tuple[int, int]:
        """Return how many types of each side are counted; they come first."""
        import numpy as np

        src = np.searchsorted(window.src.ids, self._src_size)
        return int(src), int(np.searchsorted(window.tgt.ids, self._tgt_size))

    def _window_counts(self, window: EncodedWindow, shift: int) -> "Matrix":
        """Return expected counts: each target word is linked to all source words alike."""
        import numpy as np

        src, tgt = self._known(window)
        cells, weights = [], []
        for number in range(len(window)):
            src_types = window.src.line(number)
            tgt_types = window.tgt.line(number + MAX_SHIFT + shift)
            src_types, tgt_types = src_types[src_types < src], tgt_types[tgt_types < tgt]
            pairs = np.add.outer(src_types * tgt, tgt_types).reshape(-1)
            cells.append(pairs)
            weights.append(np.full(len(pairs), 1 / (len(src_types) + 1)))  # 1: the empty word
        counts = np.bincount(np.concatenate(cells), np.concatenate(weights), src * tgt)
        return counts.reshape(src, tgt).astype(np.float32)

    def _equal_words(self, window: EncodedWindow) -> "Matrix":
        """Return 1 where a source type and a target type of a window are spelled alike."""
        import numpy as np

        src_ids, tgt_ids = window.src.ids, window.tgt.ids
        equal = np.zeros((len(src_ids), len(tgt_ids)), dtype=np.float32)
        _, rows, columns = np.intersect1d(self._equal[src_ids], tgt_ids, return_indices=True)
        equal[rows, columns] = 1
        return equal


def _own(window: LineWindow) -> list[list[str]]:
    return window.tgt[MAX_SHIFT : MAX_SHIFT + len(window.src)]


def _counted(counts: Counter[str]) -> int:
    """Return how many types have a row in the table: those that occur twice, up to a limit."""
    return min(sum(count > 1 for count in counts.values()), VOCABULARY)


def _numbered(counts: Counter[str], shared: Sequence[str]) -> dict[str, int]:
    """Number the counted types, the most frequent first, and then those of both sides."""
    numbers = {word: place for place, (word, _) in enumerate(counts.most_common(_counted(counts)))}
    for word in shared:
        numbers.setdefault(word, len(numbers))
    return numbers


def _shares(counts: Counter[str], numbers: dict[str, int]) -> "Matrix":
    import numpy as np

    total = max(counts.total(), 1)
    return np.array([counts[word] / total for word in numbers], dtype=np.float32)


def _log_ratios(given: LineTypes, lines: LineTypes, table: "Matrix", shares: "Matrix") -> "Matrix":
    """Return the mean log-likelihood ratio of the words of a line (row) given another (column)."""
    import numpy as np

    ratios = np.log(1 - LEXICAL - COPIED + given.means(table) / shares[None, :])
    return lines.means(np.ascontiguousarray(ratios.T))
