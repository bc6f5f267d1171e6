"""How well a word-after-word model tells which word comes next, beside plain distance.

In: counts from the core. Out: shares from 0 to 1, and what a model gains with its
interval. Decisions of one sentence depend on each other, so intervals are over sentences.
"""

import math
from dataclasses import dataclass
from typing import Any

__all__ = ["Classification", "Evaluation", "Gain", "Ranking", "Reach"]


@dataclass(frozen=True)
class Classification:
    """How well right jumps are told from wrong ones at P >= 0.5."""

    found: int
    missed: int
    wrong: int
    refused: int

    @property
    def precision(self) -> float:
        """Share of jumps taken for right that are."""
        return _share(self.found, self.found + self.wrong)

    @property
    def recall(self) -> float:
        """Share of right jumps that are found."""
        return _share(self.found, self.found + self.missed)

    @property
    def f1(self) -> float:
        """Their harmonic mean."""
        return _share(2 * self.found, 2 * self.found + self.wrong + self.missed)

    def to_dict(self) -> dict[str, Any]:
        """Counts and shares as plain values."""
        shares = {name: getattr(self, name) for name in ("precision", "recall", "f1")}
        return {**vars(self), **shares}


@dataclass(frozen=True)
class Ranking:
    """Where the right next word stands among all within a distortion limit."""

    limit: int
    decisions: int
    beyond: int
    first: int
    among_three: int
    long_back: int
    long_back_among_three: int
    long_forward: int
    long_forward_among_three: int

    @property
    def dl_err(self) -> float:
        """Share of decisions whose right word is beyond the limit; they count as failures."""
        return _share(self.beyond, self.decisions)

    @property
    def top1(self) -> float:
        """Share of decisions whose right word comes first."""
        return _share(self.first, self.decisions)

    @property
    def top3(self) -> float:
        """Share of decisions whose right word is among the first three."""
        return _share(self.among_three, self.decisions)

    @property
    def top3_long_back(self) -> float:
        """The same for jumps backward over more than 7 words, of those within the limit."""
        return _share(self.long_back_among_three, self.long_back)

    @property
    def top3_long_forward(self) -> float:
        """The same for jumps forward over more than 6 words, of those within the limit."""
        return _share(self.long_forward_among_three, self.long_forward)

    def to_dict(self) -> dict[str, Any]:
        """Counts and shares as plain values."""
        names = ("dl_err", "top1", "top3", "top3_long_back", "top3_long_forward")
        return {**vars(self), **{name: getattr(self, name) for name in names}}


@dataclass(frozen=True)
class Gain:
    """By how much a model ranks better than plain distance, with half of the 95 % interval.

    Decisions of one sentence depend on each other, so the interval is that of a mean over
    sentences.
    """

    limit: int
    top1: float
    top1_margin: float
    top3: float
    top3_margin: float


@dataclass(frozen=True)
class Reach:
    """What a space leaves of the right orders; long jumps are those beyond the limit, too."""

    space: str
    steps: int
    kept: int
    candidates: int
    long_back: int
    long_back_kept: int
    long_forward: int
    long_forward_kept: int
    sentences: int
    whole: int

    @property
    def width(self) -> float:
        """Words that may come next, at a step."""
        return _share(self.candidates, self.steps)

    @property
    def right(self) -> float:
        """Share of steps whose right word may come next."""
        return _share(self.kept, self.steps)

    @property
    def right_back(self) -> float:
        """The same for jumps backward over more than 7 words."""
        return _share(self.long_back_kept, self.long_back)

    @property
    def right_forward(self) -> float:
        """The same for jumps forward over more than 6 words."""
        return _share(self.long_forward_kept, self.long_forward)

    @property
    def reachable(self) -> float:
        """Share of sentences whose whole order can be walked."""
        return _share(self.whole, self.sentences)

    def to_dict(self) -> dict[str, Any]:
        """Counts and shares as plain values."""
        names = ("width", "right", "right_back", "right_forward", "reachable")
        return {**vars(self), **{name: getattr(self, name) for name in names}}


@dataclass(frozen=True)
class Evaluation:
    """A model beside plain distance: which classifies nothing and ranks the nearest word first."""

    classification: Classification
    ranking: tuple[Ranking, ...]
    distance: tuple[Ranking, ...]
    gains: tuple[Gain, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return {
            "classification": self.classification.to_dict(),
            "ranking": [row.to_dict() for row in self.ranking],
            "distance": [row.to_dict() for row in self.distance],
            "gains": [vars(row) for row in self.gains],
        }


def _share(some: float, all_: int) -> float:
    return some / all_ if all_ else math.nan


def ranking_of(limit: int, counts: Any) -> Ranking:
    """A ranking from the core's counts."""
    (decisions, first, three), beyond, (back, _, back_three), (forward, _, forward_three) = counts
    return Ranking(limit, decisions, beyond, first, three, back, back_three, forward, forward_three)


def reach_of(space: str, counts: Any) -> Reach:
    """What a space leaves, from the core's counts."""
    (steps, kept), candidates, (back, back_kept), (forward, forward_kept), *sums = counts
    long = (back, back_kept, forward, forward_kept)
    return Reach(space, steps, kept, candidates, *long, sentences=sums[0], whole=sums[1])


def gain_of(ranking: Ranking, distance: Ranking, squares: tuple[int, int], sentences: int) -> Gain:
    """The gain, from sums over sentences of how often more the right word was found."""
    more = (ranking.first - distance.first, ranking.among_three - distance.among_three)
    top1, top3 = (_share(count, ranking.decisions) for count in more)
    errors = (_error(*sums, sentences) for sums in zip(more, squares, strict=True))
    margin1, margin3 = (_share(1.96 * error, ranking.decisions) for error in errors)
    return Gain(ranking.limit, top1, margin1, top3, margin3)


def _error(total: int, squares: int, count: int) -> float:
    """The standard error of a total, from the sum of the squares of its parts."""
    if count < 2:
        return math.nan
    return math.sqrt((squares - total * total / count) * count / (count - 1))
