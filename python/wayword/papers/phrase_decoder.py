"""A phrase-based stack decoder in plain Python, shared by the modules of the papers.

In: translation options of a sentence and a list of weighted path features.
Out: the best ``Hypothesis``: a derivation with its score.
How: hypotheses with equally many covered source words share a stack (Koehn et al., 2003).
Hypotheses that no feature can tell apart are recombined. Without ``stack_size`` the search is
exact; with it each stack keeps the hypotheses with the best score plus future cost.
Cost: exponential in the sentence length without a distortion limit. ``wayword.decode`` is the
fast implementation of the same definitions.
Not: cube pruning, n-best lists, unknown words.

Source positions count from 0. A span ``[start, end]`` includes both ends, as in the papers. The
position before the first word is -1.

>>> options = [TranslationOption(0, 0, ("the",)), TranslationOption(1, 1, ("house",)),
...            TranslationOption(2, 2, ("white",))]
>>> from wayword.papers.ngram_model import NgramModel
>>> lm = NgramModel.estimate([["the", "white", "house"]], order=2)
>>> features = [(1.0, LanguageModelFeature(lm)), (0.1, DistanceCost())]
>>> " ".join(decode(3, options, features, distortion_limit=2).target())
'the white house'
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from typing import Any

from wayword.papers.ngram_model import NgramModel

__all__ = [
    "DistanceCost",
    "Hypothesis",
    "LanguageModelFeature",
    "PathFeature",
    "TranslationOption",
    "admissible_options",
    "decode",
    "distance",
    "future_costs",
    "score_derivation",
]


def distance(i: int, j: int) -> int:
    """Return D(i, j) = |j - i - 1|, the number of words skipped between positions ``i`` and ``j``.

    >>> distance(-1, 0), distance(3, 8), distance(3, 0)
    (0, 4, 4)
    """
    return abs(j - i - 1)


@dataclass(frozen=True)
class TranslationOption:
    """A phrase pair that translates the source span ``[start, end]``."""

    start: int
    end: int
    target: tuple[str, ...]
    #: weighted sum of the phrase features
    score: float = 0.0
    #: links (source offset, target offset) inside the phrase pair
    alignment: tuple[tuple[int, int], ...] = ()

    def positions(self) -> range:
        """Return the source positions of the phrase."""
        return range(self.start, self.end + 1)


@dataclass(frozen=True)
class Hypothesis:
    """A partial translation: its last phrase, the hypothesis before it, and the search state."""

    coverage: frozenset[int] = frozenset()
    option: TranslationOption | None = None
    previous: "Hypothesis | None" = None
    score: float = 0.0
    #: one state for each path feature
    states: tuple[Hashable, ...] = ()

    @property
    def end(self) -> int:
        """The last source position of the last phrase; -1 before the first phrase."""
        return self.option.end if self.option else -1

    def first_gap(self) -> int:
        """Return the first source position that is not covered."""
        return next(j for j in range(len(self.coverage) + 1) if j not in self.coverage)

    def derivation(self) -> list[TranslationOption]:
        """Return the phrases in target order."""
        before = self.previous.derivation() if self.previous else []
        return [*before, self.option] if self.option else before

    def target(self) -> list[str]:
        """Return the words of the translation."""
        return [word for option in self.derivation() for word in option.target]


class PathFeature:
    """A feature whose value depends on the path; it keeps a state along the derivation."""

    #: state of the empty hypothesis
    initial_state: Any = None

    def extend(self, hyp: Hypothesis, state: Any, option: TranslationOption) -> tuple[float, Any]:
        """Return the value of adding ``option`` to ``hyp``, and the next (hashable) state."""
        raise NotImplementedError

    def finish(self, hyp: Hypothesis, state: Any, length: int) -> float:
        """Return the value of ending a derivation that covers all ``length`` words."""
        return 0.0

    def estimate(self, option: TranslationOption) -> float:
        """Return a value for the future cost, without the path."""
        return 0.0


class DistanceCost(PathFeature):
    """The distance-based cost: -D(end of the last phrase, start of the next), definitions d.2.

    ``final_jump`` adds the jump from the last phrase to the end of the sentence.
    """

    def __init__(self, final_jump: bool = True) -> None:
        self.final_jump = final_jump

    def extend(self, hyp: Hypothesis, state: Any, option: TranslationOption) -> tuple[float, Any]:
        """Return minus the distance; the hypothesis itself has the end of the last phrase."""
        return -distance(hyp.end, option.start), None

    def finish(self, hyp: Hypothesis, state: Any, length: int) -> float:
        """Return minus the distance to the position after the last word."""
        return -float(distance(hyp.end, length)) if self.final_jump else 0.0


class LanguageModelFeature(PathFeature):
    """The log probability of the target words; the state is the last ``order`` - 1 words."""

    initial_state = ("<s>",)

    def __init__(self, lm: NgramModel) -> None:
        self.lm = lm

    def extend(self, hyp: Hypothesis, state: Any, option: TranslationOption) -> tuple[float, Any]:
        """Score the words of the option after the words of the state."""
        total = 0.0
        for word in option.target:
            total += self.lm.log_prob(state, word)
            state = (*state, word)[-(self.lm.order - 1) :] if self.lm.order > 1 else ()
        return total, state

    def finish(self, hyp: Hypothesis, state: Any, length: int) -> float:
        """Score the end of the sentence."""
        return self.lm.log_prob(state, "</s>")

    def estimate(self, option: TranslationOption) -> float:
        """Score the words of the option without their history."""
        return self.extend(Hypothesis(), (), option)[0]


Features = Sequence[tuple[float, PathFeature]]


def future_costs(
    length: int, options: Iterable[TranslationOption], features: Features
) -> dict[tuple[int, int], float]:
    """Return the best score of each span by itself (definitions g.3).

    An option counts its own score and the estimates of the path features; a span takes its best
    option or its best split into two spans.
    """
    best = {(u, v): -inf for u in range(length) for v in range(u, length)}
    for option in options:
        estimate = option.score + sum(weight * f.estimate(option) for weight, f in features)
        span = (option.start, option.end)
        best[span] = max(best[span], estimate)
    for size in range(2, length + 1):
        for u in range(length - size + 1):
            v = u + size - 1
            splits = (best[u, m] + best[m + 1, v] for m in range(u, v))
            best[u, v] = max(best[u, v], *splits)
    return best


def admissible_options(
    hyp: Hypothesis, options: Iterable[TranslationOption], distortion_limit: int | None
) -> list[TranslationOption]:
    """Return the options that may follow ``hyp``: uncovered, within the limit, no dead end.

    Definitions d.1: D(end, start) is at most the limit, and after the option the first gap is
    still within the limit.
    """
    gap = hyp.first_gap()
    free = [o for o in options if hyp.coverage.isdisjoint(o.positions())]
    if distortion_limit is None:
        return free
    return [
        o
        for o in free
        if distance(hyp.end, o.start) <= distortion_limit
        and (o.start == gap or distance(o.end, gap) <= distortion_limit)
    ]


def extend(hyp: Hypothesis, option: TranslationOption, features: Features) -> Hypothesis:
    """Return ``hyp`` extended by ``option``."""
    results = [f.extend(hyp, s, option) for (_, f), s in zip(features, hyp.states, strict=True)]
    value = sum(weight * v for (weight, _), (v, _) in zip(features, results, strict=True))
    return Hypothesis(
        hyp.coverage | set(option.positions()),
        option,
        hyp,
        hyp.score + option.score + value,
        tuple(state for _, state in results),
    )


def finish(hyp: Hypothesis, features: Features, length: int) -> Hypothesis:
    """Return ``hyp`` with the value of ending the sentence."""
    values = (w * f.finish(hyp, s, length) for (w, f), s in zip(features, hyp.states, strict=True))
    return replace(hyp, score=hyp.score + sum(values))


def start(features: Features) -> Hypothesis:
    """Return the empty hypothesis."""
    return Hypothesis(states=tuple(f.initial_state for _, f in features))


def score_derivation(
    derivation: Iterable[TranslationOption], features: Features, length: int
) -> float:
    """Return the score of a complete derivation, without a search."""
    hyp = start(features)
    for option in derivation:
        hyp = extend(hyp, option, features)
    return finish(hyp, features, length).score


ExpansionFilter = Callable[[Hypothesis, list[TranslationOption]], list[TranslationOption]]


def decode(
    length: int,
    options: Sequence[TranslationOption],
    features: Features,
    *,
    distortion_limit: int | None = None,
    stack_size: int | None = None,
    expansion_filter: ExpansionFilter | None = None,
) -> Hypothesis:
    """Return the best complete hypothesis; ``ValueError`` if no derivation covers the sentence.

    ``expansion_filter`` chooses among the admissible options of each hypothesis, as early
    reordering pruning does. Recombined hypotheses share their future, so the filter may depend on
    coverage, the end of the last phrase and the states only. Ties keep the first hypothesis.
    """
    future = future_costs(length, options, features)
    stacks: list[dict[Hashable, Hypothesis]] = [{} for _ in range(length + 1)]
    empty = start(features)
    stacks[0][empty.states] = empty
    for stack in stacks[:-1]:
        for hyp in prune(stack.values(), future, length, stack_size):
            expansions = admissible_options(hyp, options, distortion_limit)
            if expansion_filter:
                expansions = expansion_filter(hyp, expansions)
            for option in expansions:
                new = extend(hyp, option, features)
                # The end of the last phrase decides what is within the distortion limit.
                key = (new.coverage, new.end, new.states)
                others = stacks[len(new.coverage)]
                if key not in others or others[key].score < new.score:
                    others[key] = new
    complete = [finish(hyp, features, length) for hyp in stacks[-1].values()]
    if not complete:
        raise ValueError(f"no derivation covers all {length} words")
    return max(complete, key=lambda hyp: hyp.score)


def prune(
    hyps: Iterable[Hypothesis],
    future: dict[tuple[int, int], float],
    length: int,
    stack_size: int | None,
) -> list[Hypothesis]:
    """Return the ``stack_size`` hypotheses with the best score plus future cost, best first."""
    if stack_size is None:
        return list(hyps)

    def total(hyp: Hypothesis) -> float:
        borders = [-1, *sorted(hyp.coverage), length]
        gaps = [(a + 1, b - 1) for a, b in pairwise(borders) if b - a > 1]
        return hyp.score + sum(future[gap] for gap in gaps)

    return sorted(hyps, key=total, reverse=True)[:stack_size]
