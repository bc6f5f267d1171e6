"""Pairwise ranking: weights that put the better of two candidates first.

In: a pool, a space, a point to start from. Out: a new point.
How (Hopkins and May, 2011): of ``samples`` random pairs of candidates a sentence, those whose
sentence scores differ by at least ``least`` are kept, and of these the ``pairs`` that differ most;
a logistic regression on the differences of their features then tells better from worse, with each
weight inside its limits, by SciPy's L-BFGS-B. An L2 penalty draws the weights towards the point
before, so that a feature that tells nothing keeps its weight.
Cost: O(sentences · samples) and some hundred passes over the pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wayword.errors import ArgumentError
from wayword.evaluate.metric import Matrix
from wayword.tune.ngrams import Numbers
from wayword.tune.notes import Notes
from wayword.tune.pool import Pool, Seed, Vector
from wayword.tune.space import Space

__all__ = ["Pro"]

#: How strongly weights are drawn to those before, beside one pair's pull of at most 1.
PRIOR = 1.0
#: When the optimizer ends: iterations, and the largest entry of the projected gradient.
MAX_ITERATIONS, GRADIENT_TOLERANCE = 200, 1e-6


@dataclass(frozen=True, kw_only=True)
class Pro:
    """Options of the sampling."""

    samples: int = 5000
    pairs: int = 50
    least: float = 0.05

    takes_sparse: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.samples < 1 or self.pairs < 1 or not 0 <= self.least < 1:
            found = f"{self.samples} samples, {self.pairs} pairs, {self.least} least"
            wanted = "at least one of each, and a difference from 0 to 1"
            raise ArgumentError(f"pro: found {found}; expected {wanted}")

    def optimise(
        self,
        pool: Pool,
        space: Space,
        points: Sequence[Vector],
        seed: Seed,
        notes: Notes | None = None,  # noqa: ARG002  one regression has no steps
    ) -> Vector:
        """The point of the regression; the first one when no two candidates differ enough."""
        point, draw = space.inside(points[0]), np.random.default_rng(list(seed))
        better, worse = self.sample(pool, draw)
        if not len(better):
            return point
        design = _Differences(pool, better, worse)
        is_free = np.ones(len(point), dtype=bool)
        is_free[: len(space.names)] = space.is_free
        return space.inside(_regression(design, point, is_free, space.bounds(len(point))))

    def sample(self, pool: Pool, draw: np.random.Generator) -> tuple[Numbers, Numbers]:
        """The better and the worse candidates of the pairs to learn from."""
        offsets = pool.offsets
        sampled = []
        for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            gains = pool.measured.objective.sentence(pool.statistics(slice(start, end)))
            first, second = draw.integers(start, end, size=(2, self.samples))
            gap = gains[first - start] - gains[second - start]
            large = np.flatnonzero(np.abs(gap) >= max(self.least, 1e-12))
            top = large[np.argsort(-np.abs(gap[large]), kind="stable")[: self.pairs]]
            is_first = gap[top] > 0
            pairs = np.stack([first[top], second[top]])
            sampled.append(np.where(is_first, pairs, pairs[::-1]))
        better, worse = np.concatenate(sampled, axis=1)
        return better, worse


class _Differences:
    """Feature differences of pairs: a dense matrix, and sparse entries beside it."""

    def __init__(self, pool: Pool, better: Numbers, worse: Numbers) -> None:
        values_of = [pool.column(feature).astype(np.float64) for feature in range(pool.dense)]
        self.dense: Matrix = np.stack([of[better] - of[worse] for of in values_of], axis=1)
        self.width = len(pool.names)
        rows: list[int] = []
        columns: list[int] = []
        values: list[float] = []
        for row, (plus, minus) in enumerate(zip(better.tolist(), worse.tolist(), strict=True)):
            for sign, at in ((1.0, plus), (-1.0, minus)):
                features = pool.sparse[at] if pool.sparse is not None else {}
                rows += [row] * len(features)
                columns += features
                values += [sign * value for value in features.values()]
        self._rows, self._columns = (
            np.array(rows, dtype=np.int64),
            np.array(columns, dtype=np.int64),
        )
        self._values = np.array(values)

    def scores(self, weights: Vector) -> Vector:
        """How much better the better one of each pair is by the weights."""
        dense: Vector = self.dense @ weights[: self.dense.shape[1]]
        if not len(self._rows):
            return dense
        more = self._values * weights[self._columns]
        return dense + np.bincount(self._rows, more, minlength=len(dense))

    def gather(self, pulls: Vector) -> Vector:
        """The sum of the differences, each as often as its pair pulls."""
        total = np.zeros(self.width)
        total[: self.dense.shape[1]] = pulls @ self.dense
        if len(self._rows):
            more = self._values * pulls[self._rows]
            total += np.bincount(self._columns, more, minlength=self.width)
        return total

    def sizes(self) -> Vector:
        """The typical size of each feature's differences; 1 for those that are all 0."""
        squares = np.zeros(self.width)
        squares[: self.dense.shape[1]] = np.square(self.dense).sum(axis=0)
        if len(self._rows):
            squares += np.bincount(self._columns, self._values**2, minlength=self.width)
        return np.sqrt(np.where(squares > 0, squares / len(self.dense), 1.0))


def _regression(
    design: _Differences,
    point: Vector,
    is_free: "np.typing.NDArray[np.bool_]",
    bounds: tuple[Vector, Vector],
) -> Vector:
    """Logistic regression, on features brought to one size; weights not free stay.

    The others stay inside their bounds, which ``point`` does too.
    """
    sizes = design.sizes()

    def loss(moved: Vector) -> tuple[float, Vector]:
        scores = design.scores(point + moved / sizes)
        value = float(np.logaddexp(0.0, -scores).sum()) + PRIOR / 2 * float(moved @ moved)
        wrong = np.exp(-np.logaddexp(0.0, scores))  # how sure it is of the opposite
        slope = -design.gather(wrong) / sizes + PRIOR * moved
        return value, np.where(is_free, slope, 0.0)

    from scipy.optimize import Bounds, minimize

    limits = Bounds(*((bound - point) * sizes for bound in bounds))
    options = {"maxiter": MAX_ITERATIONS, "gtol": GRADIENT_TOLERANCE, "ftol": 0.0}
    start = np.zeros(len(point))
    best = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=limits, options=options)
    moved: Vector = best.x
    return point + moved / sizes
