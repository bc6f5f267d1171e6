"""Batch k-best MIRA: small corrections, sentence by sentence, then the average of all of them.

In: a pool, a space, a point to start from. Out: a new point.
How (Cherry and Foster, 2012): among the candidates of a sentence *hope* is good by the model and
by the metric, *fear* good by the model and bad by the metric. Where the model does not prefer hope
by as much as the metric does, the weights move just as far as is needed, at most ``step``; a weight
that would leave its limits is put back to the nearest one (a projected step). The
metric of one sentence is taken together with that of the sentences before (the background), which
fades by ``decay``, and counts by the reference words of both (Chiang et al., 2008). After each
pass over the sentences the average of all weights so far is tried; the best pass wins.
Cost: O(candidates) a pass, in numpy; some seconds for a pool of a hundred thousand.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wayword.errors import ArgumentError
from wayword.tune.ngrams import Numbers
from wayword.tune.notes import Notes
from wayword.tune.pool import Pool, Seed, Vector
from wayword.tune.space import Space

__all__ = ["Mira"]


@dataclass(frozen=True, kw_only=True)
class Mira:
    """``step`` is the longest correction (often called C).

    Passes end early when the last ``patience`` of them were no better than one before.
    """

    step: float = 0.01
    passes: int = 60
    patience: int = 10
    decay: float = 0.999

    takes_sparse: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if (
            not 0 < self.step < np.inf
            or min(self.passes, self.patience) < 1
            or not 0 < self.decay <= 1
        ):
            found = f"step {self.step}, {self.passes} passes, decay {self.decay}"
            wanted = "a step above 0, at least one pass, a decay up to 1"
            raise ArgumentError(f"mira: found {found}; expected {wanted}")

    def optimise(
        self,
        pool: Pool,
        space: Space,
        points: Sequence[Vector],
        seed: Seed,
        notes: Notes | None = None,  # noqa: ARG002  passes build on each other
    ) -> Vector:
        """The averaged weights of the pass that does best on the pool."""
        draw = np.random.default_rng(list(seed))
        point = space.inside(points[0])
        learner = _Learner(pool, space, point, self)
        best, best_score = point, -np.inf
        idle = 0
        for _ in range(self.passes):
            learner.run(draw.permutation(len(pool.offsets) - 1))
            mean = space.inside(learner.average())
            score = pool.score(mean)
            idle += 1
            if score > best_score:
                best, best_score, idle = mean, score, 0
            if not learner.has_moved or idle == self.patience:
                break
        return best


class _Learner:
    """The weights as they move, and the background."""

    def __init__(self, pool: Pool, space: Space, point: Vector, options: Mira) -> None:
        self._pool, self._options = pool, options
        self._features = pool.features
        self._offsets = pool.offsets.tolist()
        self._lengths = np.maximum(pool.measured.objective.gold.ref_lengths[0], 1)
        self._score = pool.measured.objective.score
        self._is_free = np.ones(len(point), dtype=bool)
        self._is_free[: len(space.names)] = space.is_free
        self._floor, self._ceiling = space.bounds(len(point))
        self._background = np.ones(pool.statistics(slice(0, 1)).shape[1])
        self._length = 1.0
        self._weights = point.copy()
        self._late = np.zeros(len(point))  # corrections, each times the steps before it
        self._steps = 0
        self.has_moved = False

    def run(self, order: "np.typing.NDArray[np.int64]") -> None:
        """One pass over the sentences."""
        self.has_moved = False
        for sentence in order.tolist():
            self._learn(sentence)
            self._steps += 1

    def average(self) -> Vector:
        """The mean of the weights after each step."""
        return self._weights - self._late / max(self._steps, 1)

    def _learn(self, sentence: int) -> None:
        start, end = self._offsets[sentence : sentence + 2]
        model = self._model(start, end)
        length = float(self._length + self._lengths[sentence])
        rows = self._pool.statistics(slice(start, end))
        gains = self._score(self._background + rows) / 100 * length
        hope, fear = int((model + gains).argmax()), int((model - gains).argmax())
        gain = float(gains[hope] - gains[fear])
        if hope != fear and gain > 0:
            self._correct(start + hope, start + fear, gain)
        fade = self._options.decay
        self._background = fade * self._background + rows[hope]
        self._length = fade * self._length + float(self._lengths[sentence])

    def _correct(self, hope: int, fear: int, gain: float) -> None:
        columns, values = self._difference(hope, fear)
        free = self._is_free[columns]
        loss = gain - float(values @ self._weights[columns])
        columns, values = columns[free], values[free]
        size = float(values @ values)
        if loss > 0 and size > 0:
            before = self._weights[columns]
            move = min(self._options.step, loss / size) * values
            after = np.clip(before + move, self._floor[columns], self._ceiling[columns])
            move = np.where(after == before + move, move, after - before)
            self._weights[columns] = after
            self._late[columns] += self._steps * move
            self.has_moved |= bool(move.any())

    def _difference(self, first: int, second: int) -> tuple[Numbers, Vector]:
        """Columns and values of the features of one candidate minus those of another."""
        dense = self._features[first].astype(np.float64) - self._features[second]
        columns = np.arange(self._pool.dense)
        if self._pool.sparse is None:
            return columns, dense
        sparse = dict(self._pool.sparse[first])
        for column, value in self._pool.sparse[second].items():
            sparse[column] = sparse.get(column, 0.0) - value
        more = np.fromiter(sparse, dtype=np.int64, count=len(sparse))
        return np.concatenate([columns, more]), np.concatenate([dense, list(sparse.values())])

    def _model(self, start: int, end: int) -> Vector:
        scores: Vector = self._features[start:end] @ self._weights[: self._pool.dense]
        if self._pool.sparse is not None:
            for at in range(start, end):
                features = self._pool.sparse[at]
                scores[at - start] += sum(self._weights[c] * value for c, value in features.items())
        return scores
