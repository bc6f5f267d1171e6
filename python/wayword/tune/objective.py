"""What tuning makes as good as it can: a metric of ``wayword.evaluate``, or a mix of some.

In: a gold standard, and names of metrics with their shares. Out: statistics of candidates, which
add up, and from their sums one number, higher is better. Error rates count as 100 minus the rate.
How: a mix has the statistics of its metrics side by side. BLEU, chrF and TER have scores of many
sums at once here; ``exact`` is what ``wayword evaluate`` prints. What is n/a there counts as 0.

>>> objective = Objective({"bleu": 0.5, "ter": 0.5}, Gold(refs=[["the cat sat on the mat"]]))
>>> rows = objective.rows([0, 0], ["the cat sat on the mat", "the cat sat on mat"])
>>> [round(float(score), 2) for score in objective.score(rows)]
[100.0, 70.61]
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from wayword.errors import ArgumentError
from wayword.evaluate import Gold, Metric, Options, Output, make_metric
from wayword.evaluate.gold import Links
from wayword.evaluate.metric import Matrix, ratio
from wayword.tune import ngrams
from wayword.tune.ngrams import Numbers

__all__ = ["Objective", "check_dev", "parse_metric"]

CHRF_BETA = 2


def parse_metric(text: str) -> dict[str, float]:
    """Names with shares, from ``bleu`` or ``bleu=0.7,krs=0.3``.

    >>> parse_metric("bleu=0.7,krs=0.3")
    {'bleu': 0.7, 'krs': 0.3}
    """
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, share = part.partition("=")
        try:
            shares[name.strip()] = float(share or 1)
        except ValueError:
            raise _wrong_metric(text) from None
    if not all(0 < share < math.inf for share in shares.values()):
        raise _wrong_metric(text)
    return shares


def _wrong_metric(text: str) -> ArgumentError:
    return ArgumentError(
        f"metric: found `{text}`; expected a name, or shares as in bleu=0.7,krs=0.3"
    )


def check_dev(src: Sequence[object], gold: Gold) -> None:
    """Refuse a dev set whose sides differ in length."""
    if len(src) != len(gold):
        found = f"found {len(src)} lines for {len(gold)} of the reference"
        raise ArgumentError(f"dev: {found}; do both come from the same corpus?")


class Objective:
    """A metric or a mix of metrics, bound to a gold standard. Shares need not add up to 1."""

    def __init__(
        self, metric: str | Mapping[str, float], gold: Gold, options: Options | None = None
    ) -> None:
        self.gold, self.options = gold, options or Options()
        shares = parse_metric(metric) if isinstance(metric, str) else dict(metric)
        total = sum(shares.values())
        self.parts: list[tuple[float, Metric]] = [
            (share / total, make_metric(name, gold, self.options)) for name, share in shares.items()
        ]
        self.needs_links = any("links" in metric.needs for _, metric in self.parts)
        self._counter = ngrams.NgramCounter(gold.refs, self.options)
        self._widths = [part.shape[1] for part in self._of_rows([0], [""], [()])]

    # --- statistics ------------------------------------------------------------------------------

    def rows(
        self,
        sentences: Sequence[int] | Numbers,
        lines: Sequence[str],
        links: Sequence[Links] | None = None,
    ) -> Matrix:
        """Statistics of candidates: ``lines[k]`` is one for sentence ``sentences[k]``."""
        if links is None and self.needs_links:
            names = ", ".join(metric.name for _, metric in self.parts if metric.needs)
            what = "candidates with links to the source, for a metric of word order"
            raise ArgumentError(f"metric: {names} without links; expected {what}")
        return np.concatenate(self._of_rows(sentences, lines, links), axis=1)

    def _of_rows(
        self,
        sentences: Sequence[int] | Numbers,
        lines: Sequence[str],
        links: Sequence[Links] | None,
    ) -> list[Matrix]:
        return [
            self._counter.rows(sentences, lines)
            if metric.name == "BLEU"
            else self._layers(metric, np.asarray(sentences), lines, links)
            for _, metric in self.parts
        ]

    def _layers(
        self,
        metric: Metric,
        sentences: Numbers,
        lines: Sequence[str],
        links: Sequence[Links] | None,
    ) -> Matrix:
        """Statistics by whole outputs: the first candidate of each sentence, then the second.

        A sentence without any more candidates has an empty line.
        """
        rows: Matrix | None = None
        layer = _occurrence(sentences)
        for number in range(int(layer.max(initial=-1)) + 1):
            in_layer = np.flatnonzero(layer == number)
            texts, its_links = [""] * len(self.gold), [()] * len(self.gold)  # type: list[str], list[Links]
            for at in in_layer.tolist():
                texts[sentences[at]] = lines[at]
                if links is not None:
                    its_links[sentences[at]] = links[at]
            output = Output("candidates", texts, its_links if metric.needs else None)
            part = metric.statistics(output)[:, : metric.score_columns]
            if rows is None:
                rows = np.empty((len(lines), part.shape[1]))
            rows[in_layer] = part[sentences[in_layer]]
        return np.empty((0, 0)) if rows is None else rows

    # --- scores ----------------------------------------------------------------------------------

    def score(self, sums: Matrix) -> Matrix:
        """The score of each sum of rows, 0 to 100 for most metrics; the last axis goes away."""
        return self._mix(sums, [self._quick(metric) for _, metric in self.parts])

    def exact(self, sums: Matrix) -> float:
        """The same by ``wayword.evaluate``'s own formula, which may differ in the last digits."""
        return float(self._mix(sums, [metric.score for _, metric in self.parts]))

    def sentence(self, rows: Matrix) -> Matrix:
        """How good single candidates are, 0 to 1 for most metrics; BLEU is smoothed by adding 1."""
        scores = [self._of_sentence(metric) for _, metric in self.parts]
        return self._mix(rows, scores) / 100

    def _of_sentence(self, metric: Metric) -> ngrams.ScoreFunction:
        if metric.name == "BLEU":
            return lambda part: 100 * ngrams.sentence_bleu(part)
        quick = self._quick(metric)
        return metric.sentence_score if quick == metric.score else quick

    def _mix(self, sums: Matrix, scores: Sequence[ngrams.ScoreFunction]) -> Matrix:
        mixed: Matrix = np.zeros(sums.shape[:-1])
        start = 0
        for (share, metric), width, score in zip(self.parts, self._widths, scores, strict=True):
            value = np.nan_to_num(score(sums[..., start : start + width]))
            mixed = mixed + share * (value if metric.higher_is_better else 100 - value)
            start += width
        return mixed

    def _quick(self, metric: Metric) -> ngrams.ScoreFunction:
        if metric.name == "BLEU":
            return lambda sums: ngrams.bleu(sums, self.options.smooth)
        return {"chrF": _chrf, "TER": _ter}.get(metric.name, metric.score)

    @property
    def signature(self) -> str:
        """The signatures of the metrics, with their shares when there are several."""
        if len(self.parts) == 1:
            return self.parts[0][1].signature()
        return " + ".join(f"{share:g} × {metric.signature()}" for share, metric in self.parts)


def _occurrence(sentences: Numbers) -> Numbers:
    """How many earlier places hold the same number.

    >>> _occurrence(np.array([0, 1, 0, 0, 1])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(sentences, kind="stable")
    ranked = sentences[order]
    starts = np.searchsorted(ranked, ranked)
    counts = np.empty_like(order)
    counts[order] = np.arange(len(order)) - starts
    return counts


def _chrf(sums: Matrix) -> Matrix:
    """The chrF of many sums: mean precision and recall over orders that both sides have."""
    hyp, ref, match = sums[..., 0::3], sums[..., 1::3], sums[..., 2::3]
    counts = (hyp > 0) & (ref > 0)
    orders = counts.sum(axis=-1)
    precision = ratio(np.where(counts, ratio(match, hyp), 0.0).sum(axis=-1), orders)
    recall = ratio(np.where(counts, ratio(match, ref), 0.0).sum(axis=-1), orders)
    factor = CHRF_BETA**2
    return 100 * ratio((1 + factor) * precision * recall, factor * precision + recall)


def _ter(sums: Matrix) -> Matrix:
    """TER of many sums; edits without any reference word are all wrong."""
    edits, length = sums[..., 0], sums[..., 1]
    return 100 * np.where(length > 0, ratio(edits, length), np.minimum(edits, 1.0))
