"""Minimum error rate training: the weights with the best metric on the pool.

In: a pool, a space, a point to start from. Out: the best point found.
How (Och, 2003): along a line through the space the best candidate of a sentence changes at few
places, which the core finds exactly; the statistics between two places are sums, which the core
adds up, so the metric is known on the whole line; only its part inside the limits of all weights
is searched. From each start the search goes along one axis
after the other, in random order, until none leads higher; further starts are earlier points and
random ones. Where a climb ended is noted, so that no interruption costs more than one of them.
Cost: O(candidates) a line; 8 bytes a candidate for each thread, and a copy of the statistics.
Not: sparse features.

>>> steps, sums = np.array([-1.5, 0.25, 1.0, 2.0]), np.array([[4.0], [7], [8], [6], [3]])
>>> best_step(steps, sums, lambda sums: sums[..., 0])
(0.625, 8.0)
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from wayword import _core
from wayword.evaluate.metric import Matrix
from wayword.options import check_range
from wayword.tune.ngrams import ScoreFunction
from wayword.tune.notes import Notes
from wayword.tune.pool import Pool, Seed, Vector
from wayword.tune.space import Space

__all__ = ["Mert", "best_step"]

#: Changes of one sentence closer than this are one.
GAP = 1e-4
#: Steps shorter than this are none.
SHORTEST = 1.5e-4
#: How far past the outermost change a step goes.
BEYOND = 0.1
#: Scores that differ by less are equal.
TOLERANCE = 1e-9
#: How many points of earlier rounds are started from again: the best on the pool.
EARLIER = 3
#: No search goes on for longer; none has come near it.
MAX_SWEEPS = 50


def best_step(
    steps: Vector,
    sums: Matrix,
    score: ScoreFunction,
    low: float = -np.inf,
    high: float = np.inf,
) -> tuple[float, float]:
    """Return the step to the middle of the best interval inside the limits, and the score there.

    ``steps`` lie between the intervals, from left to right; ``sums`` has a row of statistics for
    each interval, whose part between ``low`` and ``high`` counts. Of equally good intervals the one
    nearest to 0 is taken. Past the outermost change the step goes ``BEYOND`` further, or half-way
    to a limit that is nearer.
    """
    scores = score(sums)
    edges = np.concatenate([[-np.inf], steps, [np.inf]])
    left, right = np.maximum(edges[:-1], low), np.minimum(edges[1:], high)
    scores = np.where(left < right, scores, -np.inf)
    is_best = np.flatnonzero(scores >= scores.max() - TOLERANCE)
    away = np.maximum(np.maximum(left[is_best], -right[is_best]), 0.0)
    at = int(is_best[away.argmin()])
    first, last = float(left[at]), float(right[at])
    if not len(steps):
        return min(max(0.0, low), high), float(scores[at])
    if at == 0:
        first = max(first, last - 2 * BEYOND)
    elif at == len(steps):
        last = min(last, first + 2 * BEYOND)
    return (first + last) / 2, float(scores[at])


@dataclass(frozen=True, kw_only=True)
class Mert:
    """``restarts`` random starts; ``directions`` random lines beside the axes for each start."""

    restarts: int = 20
    directions: int = 0
    threads: int = 1

    takes_sparse: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        check_range("restarts", self.restarts, 0)
        check_range("directions", self.directions, 0)

    def optimise(
        self,
        pool: Pool,
        space: Space,
        points: Sequence[Vector],
        seed: Seed,
        notes: Notes | None = None,
    ) -> Vector:
        """The best point of all searches; the first of equally good ones."""
        point, *others = map(space.inside, points)
        draw = np.random.default_rng(list(seed))
        moves = pool.varies()
        starts = [point, *sorted(others, key=pool.score, reverse=True)[:EARLIER]]
        starts += [space.random(point, moves, draw) for _ in range(self.restarts)]
        seeds = draw.integers(1 << 62, size=len(starts)).tolist()
        search = _Search(pool, space, moves, self.directions, notes or Notes())
        with ThreadPoolExecutor(self.threads or os.cpu_count()) as workers:
            try:
                ends = list(workers.map(search.end, range(len(starts)), starts, seeds))
            except BaseException:
                workers.shutdown(cancel_futures=True)
                raise
        best = max(range(len(ends)), key=lambda at: (round(ends[at][1], 9), -at))
        return ends[best][0]


class _Search:
    """Searches over one pool, from many starts."""

    def __init__(
        self,
        pool: Pool,
        space: Space,
        moves: npt.NDArray[np.bool_],
        directions: int,
        notes: Notes,
    ) -> None:
        self._notes = notes
        self._pool, self._space, self._directions = pool, space, directions
        self._axes = np.flatnonzero(space.is_free & moves)
        self._score = pool.measured.objective.score
        self._statistics, self._width = pool.core_statistics()

    def end(self, number: int, start: Vector, seed: int) -> tuple[Vector, float]:
        """Where the climb from a start ends, and how high; it may be noted already."""
        name = f"start {number}"
        known = self._notes.get(name)
        if known is None:
            point, score = self.climb(start, seed)
            known = {"point": point.tolist(), "score": score}
            self._notes.put(name, known)
        return np.array(known["point"]), float(known["score"])

    def climb(self, start: Vector, seed: int) -> tuple[Vector, float]:
        """Go along lines until none leads higher; where that is, and how high."""
        point = self._pool.core.point(start.tolist())
        lines = self._lines(np.random.default_rng(seed))
        score, idle = self._height(point), 0
        for at in range(MAX_SWEEPS * len(lines)):
            if idle == len(lines):
                break
            line = lines[at % len(lines)]
            step, reached = self._look(point, line)
            idle += 1
            if abs(step) >= SHORTEST and reached > score + TOLERANCE:
                point.step(line.tolist(), step)
                score, idle = reached, 0
        # Rounding may have left a limit by a last digit.
        return self._space.inside(np.array(point.weights)), self._height(point)

    def _lines(self, draw: np.random.Generator) -> list[Vector]:
        lines = list(np.eye(len(self._space.names))[draw.permutation(self._axes)])
        for _ in range(self._directions):
            line = np.zeros(len(self._space.names))
            line[self._axes] = draw.standard_normal(len(self._axes))
            lines.append(line / max(np.abs(line).sum(), 1e-300))
        return lines

    def _look(self, point: _core.WeightPoint, line: Vector) -> tuple[float, float]:
        found = point.search(line.tolist(), GAP, self._statistics)
        steps, sums = map(np.asarray, found)
        low, high = self._limits(np.array(point.weights), line)
        return best_step(steps, sums.reshape(self._width, -1).T, self._score, low, high)

    def _limits(self, weights: Vector, line: Vector) -> tuple[float, float]:
        """How far a step may go before some weight leaves its range."""
        at = np.flatnonzero(line)
        ends = [
            (bound[at] - weights[at]) / line[at]
            for bound in (self._space.floor, self._space.ceiling)
        ]
        low = np.minimum(*ends).max(initial=-np.inf)
        high = np.maximum(*ends).min(initial=np.inf)
        return min(float(low), 0.0), max(float(high), 0.0)

    def _height(self, point: _core.WeightPoint) -> float:
        sums = self._pool.statistics(np.asarray(point.best())).sum(axis=0)
        return float(self._score(sums))
