"""Systems that were tuned several times: scores that know how much luck tuning is.

In: a gold standard and, for each system, the outputs of all its tuning runs; the first system is
the baseline. Out: for each metric the scores of all runs, their mean and spread, and a p-value.
How: stratified approximate randomisation (Clark et al., 2011): if two systems were alike, any run
of either could have made any of the translations of a sentence. So the translations of each
sentence, of all runs of both, are dealt out to the runs anew, again and again, and the means over
runs are compared; ``p = (1 + times the difference was as large) / (1 + R)``. A system whose runs
differ much needs a larger lead.
Not: a test with few runs can't know how an unlucky run looks; so tables print the spread as well.

>>> gold = Gold(refs=[["a b c d e", "f g h i j"] * 4])
>>> good, bad = ["a b c d e", "f g h i j"] * 4, ["a b c", "f g i"] * 4
>>> outputs = {"base": [Output("1", bad), Output("2", bad)], "new": [Output("1", good)]}
>>> tuned = compare_runs(gold, outputs, ["bleu"], rounds=999)
>>> round(tuned["new"]["bleu"].mean), tuned["new"]["bleu"].p_value < 0.05
(100, True)
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

import numpy as np
import numpy.typing as npt

from wayword.errors import ArgumentError
from wayword.evaluate.compare import make_metric, statistics_of
from wayword.evaluate.gold import Gold, Output
from wayword.evaluate.metric import Matrix, Metric, Options
from wayword.evaluate.significance import p_value

__all__ = ["RunScores", "compare_runs"]

Deal = npt.NDArray[np.signedinteger[Any]]

BLOCK = 100  # rounds at a time: 5 MB for 1,000 sentences and six runs


@dataclass(frozen=True)
class RunScores:
    """What the runs of a system score by one metric; ``p_value`` beside the baseline."""

    scores: tuple[float, ...]
    p_value: float | None = None

    @property
    def mean(self) -> float:
        """The mean over runs."""
        return fmean(self.scores)

    @property
    def spread(self) -> float:
        """Their standard deviation; 0 for a single run."""
        return stdev(self.scores) if len(self.scores) > 1 else 0.0


def compare_runs(
    gold: Gold,
    outputs: Mapping[str, Sequence[Output]],
    metrics: Sequence[str],
    *,
    options: Options | None = None,
    rounds: int = 10_000,
    seed: int = 1,
) -> dict[str, dict[str, RunScores]]:
    """Scores of each system, by its name and that of the metric; the first is the baseline."""
    if not outputs or not all(outputs.values()):
        raise ArgumentError("runs: found a system without output; expected one run at least")
    if rounds < 1:
        raise ArgumentError(f"rounds: found {rounds}; expected at least 1")
    for runs in outputs.values():
        for output in runs:
            output.check(gold)
    measures = [make_metric(name, gold, options) for name in metrics]
    # by system and metric: a matrix of statistics for each run
    statistics = {
        name: [np.stack([statistics_of(metric, run) for run in runs]) for metric in measures]
        for name, runs in outputs.items()
    }
    base, *_ = statistics
    result: dict[str, dict[str, RunScores]] = {}
    for name, own in statistics.items():
        chance: Sequence[float | None] = [None] * len(measures)
        if name != base:
            chance = _p_values(measures, statistics[base], own, rounds, seed)
        result[name] = {
            metric.name.lower(): RunScores(_scores(metric, runs), p)
            for metric, runs, p in zip(measures, own, chance, strict=True)
        }
    return result


def _scores(metric: Metric, runs: Matrix) -> tuple[float, ...]:
    return tuple(float(metric.score(sums)) for sums in runs.sum(axis=1))


def _p_values(
    metrics: Sequence[Metric], first: list[Matrix], second: list[Matrix], rounds: int, seed: int
) -> list[float]:
    """p-values of the differences of the means, for all metrics by the same deals."""
    mine, widths = len(first[0]), np.cumsum([matrix.shape[2] for matrix in first])[:-1]
    # All metrics side by side, so that one product serves them all.
    pooled = np.concatenate([np.concatenate(first, axis=2), np.concatenate(second, axis=2)])

    def differences(sums: Matrix) -> list[Matrix]:
        parts = np.split(sums, widths, axis=2)
        return [_difference(m, part, mine) for m, part in zip(metrics, parts, strict=True)]

    runs, sentences, _ = pooled.shape
    blocks = [differences(_sums(deal, pooled)) for deal in _deals(runs, sentences, rounds, seed)]
    observed = differences(pooled.sum(axis=1)[None])
    return [
        p_value(np.concatenate([block[at] for block in blocks]), abs(float(seen[0])), metric.scale)
        for at, (metric, seen) in enumerate(zip(metrics, observed, strict=True))
    ]


def _deals(runs: int, sentences: int, rounds: int, seed: int) -> Iterator[Deal]:
    """Whose translation each run has: a block of rounds, then sentences, then runs."""
    for number, start in enumerate(range(0, rounds, BLOCK)):
        random = np.random.default_rng([seed, number])
        size = min(BLOCK, rounds - start)
        yield random.random((size, sentences, runs), dtype=np.float32).argsort(axis=2)


def _sums(dealt: Deal, runs: Matrix) -> Matrix:
    """Statistics summed over sentences: round, run, statistic."""
    summed = np.zeros((len(dealt), len(runs), runs.shape[2]))
    for to in range(len(runs)):
        for source, own in enumerate(runs):
            summed[:, to] += (dealt[:, :, to] == source).astype(np.float64) @ own
    return summed


def _difference(metric: Metric, sums: Matrix, mine: int) -> Matrix:
    """The mean of the second system's runs less that of the first's, for each round."""
    scores = metric.score(sums)
    return np.asarray(scores[:, mine:].mean(axis=1) - scores[:, :mine].mean(axis=1))
