"""Word alignments of many sentence pairs.

In: Pharaoh lines (``0-0 1-2``, source first, from 0), or lists of pairs. Out: ``Links``, which
numpy sees without a copy: sentence k is ``flat[offsets[k]:offsets[k + 1]]``, two columns.
Within a sentence links are sorted by source, then target, each once.
Every link read is checked to lie inside its sentence.

>>> links = Links.from_lists([[(1, 0), (0, 1)], []])
>>> links[0].tolist()
[[0, 1], [1, 0]]
>>> list(links.lines())
['0-1 1-0', '']
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from wayword import _core
from wayword.corpus import Bitext
from wayword.corpus.files import new_file
from wayword.picture.element import Markup, element
from wayword.picture.matrix import grid
from wayword.picture.page import figure, fragment
from wayword.types import FilePath

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Links"]

BATCH = 10_000
#: Sentences that a notebook shows, and the most words of a side.
SHOWN, LONGEST = 3, 40


class Links:
    """The links of many sentence pairs."""

    def __init__(self, core: _core.Links) -> None:
        self._core = core

    @classmethod
    def read(cls, path: FilePath, bitext: Bitext) -> "Links":
        """Read Pharaoh lines that belong to a bitext."""
        return cls(_core.Links.read(path, bitext._core))

    @classmethod
    def from_lists(cls, sentences: Iterable[Iterable[tuple[int, int]]]) -> "Links":
        """Links from pairs of positions, one list a sentence."""
        return cls(_core.Links.from_lists([list(links) for links in sentences]))

    @property
    def flat(self) -> "npt.NDArray[np.uint32]":
        """All links, source and target column, one sentence after the other (a view)."""
        import numpy as np

        return np.asarray(self._core.flat)

    @property
    def offsets(self) -> "npt.NDArray[np.uint64]":
        """Where each sentence's links start in ``flat``, and the end (a view)."""
        import numpy as np

        return np.asarray(self._core.offsets)

    def __len__(self) -> int:
        return len(self._core)

    def __getitem__(self, number: int) -> "npt.NDArray[np.uint32]":
        if not -len(self) <= number < len(self):
            raise IndexError(f"sentence {number} of {len(self)}")
        number %= len(self)
        start, end = self.offsets[number : number + 2]
        return self.flat[int(start) : int(end)]

    def __iter__(self) -> "Iterator[npt.NDArray[np.uint32]]":
        return map(self.__getitem__, range(len(self)))

    def __eq__(self, other: object) -> bool:
        import numpy as np

        if not isinstance(other, Links):
            return NotImplemented
        same_offsets = np.array_equal(self.offsets, other.offsets)
        return same_offsets and np.array_equal(self.flat, other.flat)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Links({len(self)} sentences, {len(self.flat)} links)"

    def _repr_html_(self) -> str:
        shown = [
            figure(_grid(number, self[number].tolist()), f"sentence {number + 1}")
            for number in range(min(len(self), SHOWN))
        ]
        told = element("p", element("small", repr(self)))
        return fragment(told, element("div", *shown, class_="pictures"))

    def lines(self, posteriors: "npt.NDArray[np.float32] | None" = None) -> Iterator[str]:
        """The links as Pharaoh lines; with the posterior of each, ``0-0:0.9812``."""
        if posteriors is None:
            for start in range(0, len(self), BATCH):
                yield from self._core.lines(start, min(start + BATCH, len(self)))
            return
        for start, end in pairwise(self.offsets.tolist()):
            rows = zip(self.flat[start:end].tolist(), posteriors[start:end].tolist(), strict=True)
            yield " ".join(f"{src}-{tgt}:{value:.4f}" for (src, tgt), value in rows)

    def write(self, path: FilePath) -> None:
        """Write Pharaoh lines; ``.gz`` is compressed."""
        with new_file(path) as file:
            file.writelines(f"{line}\n" for line in self.lines())


def _grid(number: int, links: list[list[int]]) -> Markup:
    """The links of a sentence by positions: source down, target across."""
    near = {(i, j): 1.0 for i, j in links if i < LONGEST and j < LONGEST}
    sizes = [1 + max((link[side] for link in near), default=0) for side in (0, 1)]
    src, tgt = ([str(at) for at in range(size)] for size in sizes)
    return grid(src, tgt, near, title=f"links of sentence {number + 1}")
