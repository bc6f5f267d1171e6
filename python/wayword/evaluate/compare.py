"""Systems side by side: scores, intervals, p-values, and scores by sentence length.

In: a gold standard, the outputs of one or more systems (the first is the baseline) and names of
metrics. Out: a ``Comparison``, for people (``table``), for programs (``to_dict``), for code.
How: statistics of every sentence are taken once; everything else is sums of them.

>>> gold = Gold(refs=[["a b c d e", "f g h i j"]])
>>> outputs = [Output("base", ["a b c", "f g i"]), Output("new", ["a b c d e", "f g h i j"])]
>>> result = compare(gold, outputs, ["bleu"], rounds=100)
>>> print(f"{result.score('new', 'bleu').value:.1f}", result.score("new", "bleu").mark or "no mark")
100.0 no mark
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from wayword.errors import ArgumentError
from wayword.evaluate import significance
from wayword.evaluate.gold import Gold, Output
from wayword.evaluate.linked import KrsLinked, KrsVLinked, Reversals, ReversalsV
from wayword.evaluate.meteor import Meteor
from wayword.evaluate.metric import AUTO, LEVELS, Matrix, Metric, Options
from wayword.evaluate.ngram import Bleu, ChrF, Nist, Ter
from wayword.evaluate.order import Krs, KrsV, Ribes
from wayword.evaluate.spelling import Cer, Unseen, Words
from wayword.evaluate.tokenizer import settle_tokenizer

__all__ = [
    "METRICS",
    "ORDER",
    "Bin",
    "Comparison",
    "Score",
    "compare",
    "default_metrics",
    "make_metric",
    "statistics_of",
]

#: Every metric, by the name of the option.
METRICS: dict[str, type[Metric]] = {
    metric.name.lower(): metric
    for metric in (
        *(Bleu, ChrF, Ter, Nist, Meteor),
        *(KrsLinked, KrsVLinked, Reversals, ReversalsV),
        *(Krs, KrsV, Ribes),
        *(Cer, Words, Unseen),
    )
}
#: The metrics of word order that tables show unless told otherwise, for all words.
ORDER = ("krs-linked", "reversals")
DEFAULT = ("bleu", "chrf", "ter", "nist", "meteor", *ORDER, "krs-v-linked", "reversals-v")
BINS = (10, 20, 30, 40)
#: A metric of word order that judges a smaller share of the words is warned about.
LEAST_JUDGED = 60.0

#: Better and worse than the baseline, at the two levels.
MARKS = (("▲", "▼"), ("△", "▽"))


@dataclass(frozen=True)
class Score:
    """A score with its interval; ``p_value`` of the difference from the baseline.

    The value is NaN where there is nothing to judge. ``details`` are what else the metric tells, in
    percent: for those of word order the share of words that are ``judged``.
    """

    system: str
    metric: str
    value: float
    low: float
    high: float
    p_value: float | None = None
    is_better: bool | None = None
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def mark(self) -> str:
        """A triangle that points up for better, filled at p ≤ .05, hollow at p ≤ .10."""
        for level, (better, worse) in zip(LEVELS, MARKS, strict=True):
            if self.p_value is not None and self.p_value <= level and self.is_better is not None:
                return better if self.is_better else worse
        return ""


@dataclass(frozen=True)
class Bin:
    """Scores of the sentences of a length from ``low`` to ``high`` words (None: no end)."""

    low: int
    high: int | None
    sentences: int
    scores: dict[str, dict[str, float]]

    @property
    def name(self) -> str:
        """The lengths, for people."""
        return f"{self.low}+" if self.high is None else f"{self.low}-{self.high}"


@dataclass(frozen=True)
class Comparison:
    """What ``compare`` found; the first system is the baseline."""

    systems: tuple[str, ...]
    metrics: tuple[str, ...]
    sentences: int
    scores: tuple[Score, ...]
    bins: tuple[Bin, ...]
    signatures: dict[str, str]
    recipe: str
    notes: tuple[str, ...]

    def score(self, system: str, metric: str) -> Score:
        """One cell of the table."""
        return next(s for s in self.scores if (s.system, s.metric) == (system, metric))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        marked = [{**asdict(score), "mark": score.mark} for score in self.scores]
        return {**asdict(self), "scores": marked}


def default_metrics(gold: Gold) -> list[str]:
    """The usual metrics that the given layers allow."""
    has = {"links": gold.ref_links is not None, "weights": gold.weights is not None}
    return [name for name in DEFAULT if all(has[need] for need in METRICS[name].needs)]


def make_metric(name: str, gold: Gold, options: Options | None = None) -> Metric:
    """The metric of this name, for a gold standard."""
    if name.lower() not in METRICS:
        raise ArgumentError(f"metrics: found `{name}`; expected some of {', '.join(METRICS)}")
    metric = METRICS[name.lower()]
    if "known" in metric.needs and (gold.known is None or gold.src is None):
        what = "the source and the words of its training text"
        raise ArgumentError(f"metrics: {name} without {what}; expected --src and --seen")
    if "links" in metric.needs and gold.ref_links is None:
        what = "links of source and references"
        expected = "the source (--src) and links (--ref-links), or --aligner, which makes them"
        raise ArgumentError(f"metrics: {name} without {what}; expected {expected}")
    if "weights" in metric.needs and gold.weights is None:
        raise ArgumentError(f"metrics: {name} without weights; expected POS tags or weights")
    options = options or Options()
    if options.tokenize == AUTO:
        expected = "expected a tokenizer of sacrebleu, or `none`"
        raise ArgumentError(f"tokenize: found `{AUTO}`, which only `compare` takes; {expected}")
    if metric.needs and gold.texts is not None:
        options = replace(options, tokenize="none")  # words that links lead to are tokenized
    return metric(gold if metric.needs else gold.plain, options)


def statistics_of(metric: Metric, output: Output) -> Matrix:
    """Return the statistics of an output in the form, words or plain text, that a metric takes."""
    return metric.statistics(output if metric.needs else output.plain)


def compare(
    gold: Gold,
    outputs: Sequence[Output],
    metrics: Sequence[str] | None = None,
    *,
    options: Options | None = None,
    test: str = "randomization",
    rounds: int = 10_000,
    resamples: int = 1000,
    seed: int = 1,
    bins: Sequence[int] = BINS,
    lines: Sequence[int] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Comparison:
    """Score systems; intervals from ``resamples`` of the sentences, p-values from ``rounds``.

    ``test`` is ``randomization`` or (paired) ``bootstrap``. ``bins`` are the longest lengths of
    all length bins but the last; lengths are those of the source, or of the first reference.
    ``lines`` are the sentences to score, by their number from 0; by default all. A tokenizer
    ``auto`` in the options is chosen by the texts, and a note states the choice.
    """
    if test not in significance.TESTS:
        raise ArgumentError(
            f"test: found `{test}`; expected {' or '.join(map(repr, significance.TESTS))}"
        )
    _check_outputs(gold, outputs)
    if list(bins) != sorted(set(bins)) or any(edge < 1 for edge in bins):
        raise ArgumentError(f"bins: found {list(bins)}; expected rising lengths from 1 up")
    options, note = settle_tokenizer(options or Options(), gold, outputs)
    measures = [make_metric(name, gold, options) for name in metrics or default_metrics(gold)]
    if len({metric.name for metric in measures}) != len(measures):
        raise ArgumentError("metrics: found one twice; expected each once")
    chosen = _chosen(lines, gold)
    statistics = [
        [matrix[chosen] for matrix in matrices]
        for matrices in _statistics(measures, outputs, progress)
    ]
    scores: list[Score] = []
    for output, matrices in zip(outputs, statistics, strict=True):
        p_values = None
        if output is not outputs[0]:
            p_values = _p_values(test, measures, statistics[0], matrices, rounds=rounds, seed=seed)
        scores += _scores(
            output.name,
            measures,
            statistics[0],
            matrices,
            p_values=p_values,
            resamples=resamples,
            seed=seed,
        )
    recipe = f"interval:95%|resamples:{resamples}|seed:{seed}"
    if len(outputs) > 1:
        recipe += f"|test:{test}|rounds:{rounds}"
    return Comparison(
        systems=tuple(output.name for output in outputs),
        metrics=tuple(metric.name.lower() for metric in measures),
        sentences=len(chosen),
        scores=tuple(scores),
        bins=tuple(_bins(_lengths(gold)[chosen], outputs, measures, statistics, bins)),
        signatures={metric.name.lower(): metric.signature() for metric in measures},
        recipe=recipe,
        notes=(*_notes(outputs), *_judged_notes(scores), *([note] if note else [])),
    )


def _check_outputs(gold: Gold, outputs: Sequence[Output]) -> None:
    names = [output.name for output in outputs]
    if not names:
        raise ArgumentError("outputs: found none; expected at least one system")
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"outputs: two systems are called {name}; expected other names")
    for output in outputs:
        output.check(gold)


def _statistics(
    metrics: Sequence[Metric],
    outputs: Sequence[Output],
    progress: Callable[[int, int], object] | None,
) -> list[list[Matrix]]:
    """A matrix for each output and metric."""
    table: list[list[Matrix]] = []
    for output in outputs:
        table.append([])
        for metric in metrics:
            table[-1].append(statistics_of(metric, output))
            if progress:
                done = (len(table) - 1) * len(metrics) + len(table[-1])
                progress(done, len(outputs) * len(metrics))
    return table


def _p_values(
    test: str,
    metrics: Sequence[Metric],
    first: list[Matrix],
    second: list[Matrix],
    *,
    rounds: int,
    seed: int,
) -> list[float]:
    functions, scales = [metric.score for metric in metrics], [metric.scale for metric in metrics]
    return significance.p_values(
        test, functions, first, second, scales=scales, rounds=rounds, seed=seed
    )


def _scores(
    system: str,
    metrics: Sequence[Metric],
    first: list[Matrix],
    matrices: list[Matrix],
    *,
    p_values: list[float] | None,
    resamples: int,
    seed: int,
) -> list[Score]:
    functions = [metric.score for metric in metrics]
    intervals = significance.bootstrap(functions, matrices, rounds=resamples, seed=seed)
    scores = []
    for at, metric in enumerate(metrics):
        sums = matrices[at].sum(axis=0)
        value, base = float(metric.score(sums)), float(metric.score(first[at].sum(axis=0)))
        p_value = None if p_values is None or math.isnan(p_values[at]) else p_values[at]
        is_better = None
        if value != base and not math.isnan(value - base):
            is_better = (value > base) == metric.higher_is_better
        name, details = metric.name.lower(), metric.details(sums)
        scores.append(Score(system, name, value, *intervals[at], p_value, is_better, details))
    return scores


def _chosen(lines: Sequence[int] | None, gold: Gold) -> npt.NDArray[np.int64]:
    """The sentences to score."""
    if lines is None:
        return np.arange(len(gold))
    if not len(lines) or min(lines) < 0 or max(lines) >= len(gold) or len({*lines}) < len(lines):
        expected = f"some of the {len(gold)} sentences, each once"
        raise ArgumentError(f"lines: found {_shown(lines)}; expected {expected}")
    return np.array(sorted(lines))


def _shown(lines: Sequence[int]) -> str:
    return f"{len(lines)} numbers from {min(lines)} to {max(lines)}" if len(lines) else "none"


def _lengths(gold: Gold) -> npt.NDArray[np.int64]:
    return np.array(gold.ref_lengths[0] if gold.src is None else gold.src_lengths)


def _bins(
    lengths: npt.NDArray[np.int64],
    outputs: Sequence[Output],
    metrics: Sequence[Metric],
    statistics: list[list[Matrix]],
    edges: Sequence[int],
) -> list[Bin]:
    """Scores by length; bins without sentences are left out."""
    filled = []
    for low, high in zip([0, *edges], [*edges, None], strict=True):
        is_in = (lengths > low) if high is None else (lengths > low) & (lengths <= high)
        if low == 0:
            is_in |= lengths == 0
        if not is_in.any():
            continue
        scores = {
            output.name: {
                metric.name.lower(): float(metric.score(rows[is_in].sum(axis=0)))
                for metric, rows in zip(metrics, matrices, strict=True)
            }
            for output, matrices in zip(outputs, statistics, strict=True)
        }
        filled.append(Bin(low + 1, high, int(is_in.sum()), scores))
    return filled


def _notes(outputs: Sequence[Output]) -> list[str]:
    """What a reader of the scores should know."""
    notes = []
    for output in outputs:
        empty = [number for number, length in enumerate(output.lengths, 1) if length == 0]
        if empty:
            what = f"{len(empty)} of {len(output)} lines are empty, the first is line {empty[0]}"
            notes.append(f"{output.name}: {what}; they count as wrong")
    return notes


def _judged_notes(scores: Sequence[Score]) -> list[str]:
    """A warning for each system whose order is hardly known."""
    few: dict[str, list[Score]] = {}
    for score in scores:
        # NaN, which no words at all give, is few
        if not score.details.get("judged", 100.0) >= LEAST_JUDGED:
            few.setdefault(score.system, []).append(score)
    notes = []
    for system, of_system in few.items():
        names = ", ".join(METRICS[score.metric].name for score in of_system)
        least = min(np.nan_to_num(score.details["judged"]) for score in of_system)
        what = f"only {least:.0f} % of the words are judged by {names}"
        notes.append(f"{system}: {what}; below {LEAST_JUDGED:.0f} % scores say little of the order")
    return notes
