"""Features of the decoder that depend on the path through the source, and matrices from outside.

In: a trained model, a Python function, or a file of matrices. Out: a ``Feature`` for
``Decoder(features=[…])``, three kinds of one thing: it has a name, which its weight goes by and
which early pruning may name (``space="dl:18+NAME(top=3)"``), and says what it reads of a sentence.
How: a model is asked in the core; a ``Given`` feature gets a matrix for each sentence from a
callable, from a mapping by words, or with the sentence itself.
Cost: a matrix has a number for each pair of words of a sentence.

>>> import numpy as np
>>> half = Given("half", lambda source: np.full((len(source) + 1, len(source)), 0.5))
>>> half.matrices([Source.of("a b")])
[array([[0.5, 0.5],
       [0.5, 0.5],
       [0.5, 0.5]])]
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from wayword import _core
from wayword.corpus.files import open_text
from wayword.corpus.source import Source
from wayword.errors import FormatError, MismatchError
from wayword.types import FilePath

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Feature", "Given", "Scorer", "log_matrix", "read_matrices"]

Words = tuple[str, ...]
#: Gives P(next | last) of a sentence: a row for the start and one for each word.
Scorer: TypeAlias = Callable[[Source], "ArrayLike"] | Mapping[Words, "ArrayLike"]
#: The log of what is not possible.
LEAST = -100.0


class Feature(Protocol):
    """A path feature of the decoder."""

    @property
    def name(self) -> str:
        """What its weight goes by."""
        ...

    @property
    def layers(self) -> frozenset[str]:
        """What it reads of a ``Sentence`` besides its words: ``pos``, ``chunks``."""
        ...

    @property
    def _core(self) -> _core.PathFeature:
        """Its seat in the core."""
        ...

    def matrices(self, sources: Sequence[Source]) -> "list[NDArray[np.float64]] | None":
        """What Python says about each sentence; None when the core knows by itself."""
        ...


@dataclass(frozen=True)
class Given:
    """A feature whose numbers come from outside: P that one word comes right after another.

    The scorer is a function of a ``Source``, or a mapping by words such as ``read_matrices``
    gives; it is asked for sentences that bring no matrix of that name themselves.
    """

    name: str
    scorer: Scorer | None = None

    @property
    def layers(self) -> frozenset[str]:
        """Nothing: the scorer sees the whole sentence and may take what is there."""
        return frozenset()

    @property
    def _core(self) -> _core.PathFeature:
        return _core.PathFeature.given(self.name)

    def matrices(self, sources: Sequence[Source]) -> "list[NDArray[np.float64]]":
        """The matrix of each sentence."""
        return [self._matrix(source) for source in sources]

    def _matrix(self, source: Source) -> "NDArray[np.float64]":
        import numpy as np

        if self.name in source.matrices:
            return source.matrices[self.name]
        if isinstance(self.scorer, Mapping):
            matrix = self.scorer.get(source.words)
        else:
            matrix = self.scorer(source) if self.scorer is not None else None
        if matrix is None:
            found = f"matrix: none for `{' '.join(source.words)}`"
            raise MismatchError(f"{found}; expected one a sentence for feature `{self.name}`")
        return np.asarray(matrix, dtype=np.float64)


def log_matrix(matrix: "ArrayLike", words: int) -> bytes:
    """A matrix of probabilities as the core takes it: logs, row by row, the start first."""
    import numpy as np

    given = np.asarray(matrix, dtype=np.float64)
    if given.shape != (words + 1, words):
        found = "×".join(map(str, given.shape))
        raise MismatchError(
            f"matrix: {found} numbers for {words} words; expected {words + 1}×{words}, "
            "a row for the start and one for each word"
        )
    inside = given[np.arange(words + 1)[:, None] != np.arange(1, words + 1)]
    if not np.all((inside >= 0) & (inside <= 1)):
        raise MismatchError("matrix: a number outside 0 to 1; expected probabilities")
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(given)
    floored: NDArray[np.float64] = np.maximum(np.nan_to_num(logs, nan=LEAST), LEAST)
    return floored.astype(np.float32).tobytes()


def read_matrices(path: FilePath) -> "Mapping[Words, NDArray[np.float64]]":
    """Matrices by sentence from JSON lines ``{"words": […], "matrix": [[…], …]}``.

    What comes back is a scorer: ``Given("neural", read_matrices("matrices.jsonl"))``.
    """
    import numpy as np

    matrices: dict[Words, NDArray[np.float64]] = {}
    number = 0
    try:
        for number, line in enumerate(open_text(path), 1):  # noqa: B007
            row = json.loads(line)
            words = tuple(map(str, row["words"]))
            matrices[words] = np.asarray(row["matrix"], dtype=np.float64)
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, FormatError):
            raise
        found = f"{path}:{number}: no matrix"
        expected = '`{"words": […], "matrix": [[…], …]}`'
        raise FormatError(f"{found}; expected {expected}; one sentence a line") from None
    return matrices
