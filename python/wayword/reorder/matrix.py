"""What a model of word order says of a sentence: an array that shows itself in a notebook.

In: numbers, and the words they are about. Out: an ``OrderMatrix``, in every way a numpy array.
How: a matrix with one row more than columns tells of steps, row 0 being the start; a square one of
pairs of words. Whatever numpy makes of it keeps the words only while the shape fits them.

>>> matrix = OrderMatrix.of(np.eye(2), ("er", "trinkt"))
>>> matrix.words, (matrix + 1).words, matrix[0].words
(('er', 'trinkt'), ('er', 'trinkt'), ())
>>> "<svg" in matrix._repr_html_()
True
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from wayword.picture.matrix import heat
from wayword.picture.page import fragment, wide

__all__ = ["OrderMatrix"]

#: Longer sentences are not drawn, but shown as numbers.
LONGEST = 60


class OrderMatrix(np.ndarray[Any, np.dtype[np.float64]]):
    """Numbers about the words of a sentence."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, values: npt.ArrayLike, words: Sequence[str]) -> "OrderMatrix":
        """The numbers with the words of their columns."""
        matrix = np.asarray(values, dtype=np.float64).view(cls)
        matrix.words = tuple(words)
        return matrix

    def __array_finalize__(self, made_of: Any) -> None:
        """Keep the words of an array of the same shape."""
        words = getattr(made_of, "words", ())
        same = made_of is not None and getattr(made_of, "shape", None) == self.shape
        self.words = words if same else ()

    def _repr_html_(self) -> str | None:
        count = len(self.words)
        if self.shape not in {(count, count), (count + 1, count)} or not 0 < count <= LONGEST:
            return None
        is_step = len(self) == len(self.words) + 1
        rows = ("<s>", *self.words) if is_step else self.words
        cells = [
            [None if np.isnan(value) else float(value) for value in row] for row in np.asarray(self)
        ]
        title = f"word order of {' '.join(self.words)}"
        return fragment(wide(heat(rows, self.words, cells, title=title), title))
