"""Which weights may move, and how far.

In: names of features with their weights; names held fixed; ranges; names of features whose weight
is at least 0 by definition. Out: a ``Space`` that draws
random points, keeps points inside, and brings them to a common size: the absolute values of the
dense weights add up to 1, so that weights of different runs can be compared and averaged.
Not: a weight that is held fixed at something other than 0 would change its meaning then, so with
one of those weights keep their size. ``oov`` is always held unless freed: unknown words cost the
same in nearly all translations of a sentence, and its weight is large on purpose.

>>> space = Space.of({"lm": 1.0, "wp": -1.0, "oov": 100.0})
>>> space.normalised(np.array([3.0, -1.0, 100.0])).tolist()
[0.75, -0.25, 100.0]
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wayword.errors import ArgumentError
from wayword.tune.pool import Vector

__all__ = ["HELD", "Space", "average", "flat", "usual"]

#: Held unless freed.
HELD = ("oov",)


@dataclass(frozen=True)
class Space:
    """The weights of one tuning."""

    names: tuple[str, ...]
    is_free: npt.NDArray[np.bool_]
    #: Where random points lie.
    low: Vector
    high: Vector
    #: The limits of each weight; those of a held one are infinite.
    floor: Vector
    ceiling: Vector
    is_normalised: bool

    @classmethod
    def of(
        cls,
        weights: Mapping[str, float],
        *,
        fixed: Iterable[str] = (),
        free: Iterable[str] = (),
        ranges: Mapping[str, tuple[float, float]] | None = None,
        nonnegative: Iterable[str] = (),
    ) -> "Space":
        """Return the space around ``weights``: ``fixed`` names are held, ``free`` ones let go.

        A weight of ``nonnegative`` stays at 0 or above unless ``ranges`` names other limits.
        """
        names, ranges = tuple(weights), dict(ranges or {})
        for name, weight in weights.items():
            if not math.isfinite(weight):
                wanted = "a finite number; try --start flat"
                raise ArgumentError(f"weight {name}: found {weight}; expected {wanted}")
        for kind, given in (("fixed", fixed), ("free", free), ("ranges", ranges)):
            for name in given:
                if name not in weights:
                    known = ", ".join(names)
                    raise ArgumentError(f"{kind}: found `{name}`; expected some of {known}")
        for name, (low, high) in ranges.items():
            if not low < high:
                raise ArgumentError(
                    f"ranges: found {name} {low} to {high}; expected low below high"
                )
        held = (set(HELD) - set(free)) | set(fixed)
        is_free = np.array([name not in held for name in names])
        if not is_free.any():
            raise ArgumentError("fixed: found all weights; expected one that may move")
        limits = dict.fromkeys(nonnegative, (0.0, np.inf)) | ranges
        unlimited = -np.inf, np.inf
        bounds = [unlimited if name in held else limits.get(name, unlimited) for name in names]
        return cls(
            names,
            is_free,
            np.array([-1.0 if low == -np.inf else low for low, _ in bounds]),
            np.array([1.0 if high == np.inf else high for _, high in bounds]),
            np.array([low for low, _ in bounds]),
            np.array([high for _, high in bounds]),
            not any(weights[name] for name in held & set(names) - set(HELD)),
        )

    def inside(self, point: Vector) -> Vector:
        """The nearest point within the ranges; held weights stay as they are."""
        width = len(self.names)
        inside = point.copy()
        inside[:width] = np.clip(point[:width], self.floor, self.ceiling)
        return inside

    def bounds(self, width: int) -> tuple[Vector, Vector]:
        """Return the limits of ``width`` weights; those of sparse ones are infinite."""
        more = np.full(width - len(self.names), np.inf)
        return np.concatenate([self.floor, -more]), np.concatenate([self.ceiling, more])

    def at_bound(self, weights: Mapping[str, float]) -> list[str]:
        """Return the names of the weights that stand at one of their limits."""
        limits = zip(self.names, self.floor, self.ceiling, strict=True)
        return [name for name, *ends in limits if weights[name] in ends]

    def normalised(self, point: Vector) -> Vector:
        """The same direction with absolute values that add up to 1, then put inside.

        Held weights are left alone; sparse weights, after the dense ones, are scaled alike.
        """
        size = float(np.abs(point[: len(self.names)][self.is_free]).sum())
        if not self.is_normalised or size == 0.0:
            return self.inside(point)
        scaled = point / size
        held = np.flatnonzero(~self.is_free)
        scaled[held] = point[held]
        return self.inside(scaled)

    def random(
        self, around: Vector, moves: npt.NDArray[np.bool_], draw: np.random.Generator
    ) -> Vector:
        """A random point; weights that are held or make no difference stay as in ``around``."""
        point = around.copy()
        drawn = self.low + (self.high - self.low) * draw.random(len(self.names))
        point[self.is_free & moves] = drawn[self.is_free & moves]
        return self.normalised(point)


def flat(weights: Mapping[str, float]) -> dict[str, float]:
    """All weights of one size, as if nothing were known; only that words are better than none.

    >>> flat({"lm": 0.7, "wp": 0.1, "oov": 100.0})
    {'lm': 0.5, 'wp': -0.5, 'oov': 100.0}
    """
    share = 1 / max(1, sum(name not in HELD for name in weights))
    signs = {"wp": -share}
    return {n: value if n in HELD else signs.get(n, share) for n, value in weights.items()}


#: Weights that serve many systems, by the kind of feature; docs/tune.md says what they reach.
USUAL = {"lm": 0.5, "wp": -0.8, "pp": 0.1, "tm": 0.25, "d": 0.05, "lr": 0.3}
#: The weight of further models of word order.
OTHER = 0.05


def usual(weights: Mapping[str, float]) -> dict[str, float]:
    """Default weights of these features, for a system that is not tuned; their sizes add up to 1.

    >>> usual({"lm": 0.0, "wp": 0.0, "pp": 0.0, "lr.prev.m": 0.0, "lr.next.m": 0.0, "oov": 100.0})
    {'lm': 0.25, 'wp': -0.4, 'pp': 0.05, 'lr.prev.m': 0.15, 'lr.next.m': 0.15, 'oov': 100.0}
    """
    chosen = {n: USUAL.get(n.rstrip("0123456789").partition(".")[0], OTHER) for n in weights}
    size = sum(abs(value) for name, value in chosen.items() if name not in HELD)
    return {n: weights[n] if n in HELD else value / size for n, value in chosen.items()}


def average(points: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of weights, name by name; a name that is missing somewhere counts as 0 there."""
    names = dict.fromkeys(name for point in points for name in point)
    return {n: sum(point.get(n, 0.0) for point in points) / len(points) for n in names}
