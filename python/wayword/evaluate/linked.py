"""Word order of linked words alone: reversals, and KRS over linked words.

In: links of source and output, and of source and reference. Out: metrics.
How: only source words that are linked on both sides are judged (definitions j.5 and j.6). Links
are never complete; where the order of a word is not known, to guess it pulls towards the order of
the source, and an output that reorders nothing wins (``docs/decisions/order-metric.md``).

* ``reversals``: of the word pairs that the reference puts the other way round than the source, how
  many does the output (recall); of those that the output does, how many does the reference
  (precision); the score is their F1. Also for pairs with a weighted word, and by distance.
* ``krs-linked``, ``krs-v-linked``: the formulas of KRS and KRS-V.

Cost: that of ``pairs``, for each reference.

>>> gold = Gold(refs=[["he has drunk the tea"]], src=["er hat den Tee getrunken"],
...             ref_links=[[[(0, 0), (1, 1), (4, 2), (2, 3), (3, 4)]]])
>>> output = Output("short", ["he has drunk tea"], [[(0, 0), (1, 1), (4, 2), (3, 3)]])
>>> KrsLinked(gold, Options()).corpus_score(output)  # in order, but short: exp(1 - 5 / 4)
77.880078...
>>> metric = Reversals(gold, Options())
>>> details = metric.details(metric.statistics(output).sum(axis=0))
>>> details["precision"], details["recall"], details["judged"]  # 4 of 5 words
(100.0, 100.0, 80.0)
"""

from typing import ClassVar

import numpy as np

from wayword.errors import ArgumentError
from wayword.evaluate.gold import Gold, Output
from wayword.evaluate.metric import Matrix, Metric, Options, share, signature
from wayword.evaluate.order import Choice, OfLinks, penalties
from wayword.evaluate.pairs import BINS, PairCounts, count_pairs, kendall

__all__ = ["KrsLinked", "KrsVLinked", "Reversals", "ReversalsV"]


def _counts(gold: Gold, output: Output) -> list[PairCounts]:
    """The counts of each reference."""
    keys = output.keys(gold)
    return [count_pairs(keys, ref, gold.src_lengths, gold.flat_weights) for ref in gold.ref_keys]


def _krs(counts: PairCounts) -> Matrix:
    """KRS over linked words, before its penalty; NaN where no word is linked."""
    return np.where(counts.linked > 0, kendall(counts.linked, counts.wrong), np.nan)


class KrsLinked(OfLinks):
    """Kendall reordering score of the words that are linked on both sides."""

    name = "KRS-linked"
    meaning = "KRS over words linked on both sides"
    null: ClassVar[str] = "left-out"

    def table(self, output: Output) -> Matrix:
        """NaN for a sentence without such words, which leaves it out."""
        return np.array([_krs(counts) for counts in _counts(self.gold, output)])


class KrsVLinked(KrsLinked):
    """KRS-V of the words that are linked on both sides."""

    name = "KRS-V-linked"
    meaning = "KRS-V over words linked on both sides"
    needs = ("links", "weights")

    def table(self, output: Output) -> Matrix:
        """NaN for a sentence without such words, or with none of them that has weight."""
        return np.array([self._values(counts) for counts in _counts(self.gold, output)])

    def _values(self, counts: PairCounts) -> Matrix:
        if self.options.norm == "literal":
            values, counted = kendall(counts.linked, counts.wrong_weight), counts.linked > 0
        else:
            values = kendall(counts.linked, counts.wrong_weight, counts.weight)
            counted = counts.weight > 0
        return np.where(counted, values, np.nan)

    def facts(self) -> dict[str, object]:
        """Also the normalisation."""
        return {**super().facts(), "norm": self.options.norm}


class Reversals(Metric):
    """F1 of reversed word pairs.

    Columns: pairs reversed by both, by the output, by the reference; judged words, words; then
    the first three for each distance.
    """

    name = "reversals"
    meaning = "F1 of word pairs that the reference reverses"
    needs: ClassVar[tuple[str, ...]] = ("links",)
    score_columns = 3

    def statistics(self, output: Output) -> Matrix:
        """The counts of the reference with the highest KRS over linked words."""
        every = _counts(self.gold, output)
        refs = self._choice(output, every).refs
        lines = np.arange(len(output))
        pairs = np.array([self.pairs(counts) for counts in every])[refs, lines]
        judged = np.array([counts.linked for counts in every])[refs, lines]
        words = np.array(self.gold.src_lengths, np.float64)
        by_distance = pairs.reshape(len(output), -1)
        ends = [judged[:, None], words[:, None], by_distance]
        return np.concatenate([pairs.sum(axis=1), *ends], axis=1)

    def pairs(self, counts: PairCounts) -> Matrix:
        """The pairs that count, by sentence and distance."""
        return counts.reversed

    def sentences(self, output: Output) -> Choice:
        """The F1 of each sentence from 0 to 1, and the reference it is from."""
        values = self.score(self.statistics(output)) / 100
        return Choice(values, self._choice(output, _counts(self.gold, output)).refs)

    def _choice(self, output: Output, every: list[PairCounts]) -> Choice:
        table = np.array([_krs(counts) for counts in every])
        return Choice.best(table * penalties(self.gold, output))

    def score(self, sums: Matrix) -> Matrix:
        """F1 in percent; n/a where neither side reverses anything."""
        return 100 * share(2 * sums[..., 0], sums[..., 1] + sums[..., 2])

    def sentence_score(self, rows: Matrix) -> Matrix:
        """F1 with one more pair that is right: to reverse nothing where nothing is, is best."""
        scores: Matrix = 100 * (2 * rows[..., 0] + 1) / (rows[..., 1] + rows[..., 2] + 1)
        return scores

    def details(self, sums: Matrix) -> dict[str, float]:
        """Precision and recall, also by distance, with the number of pairs of the reference."""
        by_distance = sums[5:].reshape(len(BINS), 3)
        numbers = {"judged": 100 * float(share(sums[3], sums[4])), **_shares(sums[:3], "")}
        for name, of_bin in zip(BINS, by_distance, strict=True):
            numbers |= {f"f1 {name}": float(self.score(of_bin)), **_shares(of_bin, f" {name}")}
        return numbers

    def signature(self) -> str:
        """How references, unaligned words and equal places are treated."""
        facts = {"refs": "closest", "null": "left-out", "ties": "kept"}
        return signature(self.name, self.gold, **facts)


def _shares(counts: Matrix, suffix: str) -> dict[str, float]:
    both, hyp, ref = counts
    return {
        f"precision{suffix}": 100 * float(share(both, hyp)),
        f"recall{suffix}": 100 * float(share(both, ref)),
        f"pairs{suffix}": float(ref),
    }


class ReversalsV(Reversals):
    """F1 of reversed word pairs with a weighted word, by default a verb."""

    name = "reversals-V"
    meaning = "reversals with a weighted word, by default a verb"
    needs = ("links", "weights")

    def __init__(self, gold: Gold, options: Options) -> None:
        super().__init__(gold, options)
        if gold.weights is None:
            raise ArgumentError("weights: found none; expected the weights of source words")

    def pairs(self, counts: PairCounts) -> Matrix:
        """Those with a word that has weight."""
        return counts.weighted
