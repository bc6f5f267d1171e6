"""Metrics of word order: KRS, KRS-V and RIBES.

In: links of source and output, and of source and reference; RIBES needs the two texts alone.
Out: one value a sentence, 1 for the order of the reference.
How: links give each source word a rank on either side (``attach``: a word without links follows
the one before it), and two ranks are compared.

* KRS (Birch et al., 2010): ``1 - √K``, K the share of word pairs in the wrong order, times a
  brevity penalty.
* KRS-V (Bisazza and Federico, 2013): a pair counts by the weights of its two words.
* RIBES (Isozaki et al., 2010): Kendall's tau over words found in both texts, times powers of
  precision and brevity.

With several references the best counts, each with its own links and length.
Cost: O(n²) a sentence with numpy, some 20 µs.

>>> krs([0, 1, 2, 3, 4, 5], [2, 0, 1, 3, 5, 4])  # 3 of 15 pairs: 1 - √0.2
0.55278...
>>> krs_v([0, 1, 2, 3, 4, 5], [3, 0, 1, 2, 4, 5], [1, 0, 0, 0, 0, 0])  # 1 - √(3 / 5)
0.22540...
>>> ribes("bob hit john yesterday".split(), "john hit bob yesterday".split())
0.5
"""

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wayword.errors import ArgumentError
from wayword.evaluate.gold import Gold, Output, Ranks
from wayword.evaluate.metric import Matrix, MeanMetric, Options, brevity, share, signature
from wayword.evaluate.ngram import tokenized
from wayword.evaluate.pairs import PairCounts, attached, count_pairs, kendall, linked_words

__all__ = [
    "Choice",
    "Krs",
    "KrsV",
    "OfLinks",
    "Ribes",
    "krs",
    "krs_v",
    "penalties",
    "ribes",
]


# --- one sentence --------------------------------------------------------------------------------


def krs(hyp_rank: Sequence[int], ref_rank: Sequence[int]) -> float:
    """Kendall reordering score without its brevity penalty: 1 for equal ranks, 0 reversed."""
    return krs_v(hyp_rank, ref_rank, np.ones(len(hyp_rank))) if len(hyp_rank) else 1.0


def krs_v(
    hyp_rank: Sequence[int],
    ref_rank: Sequence[int],
    weights: Sequence[float] | Matrix,
    norm: str = "weights",
) -> float:
    """KRS where a discordant pair counts the sum of its weights; NaN when nothing has weight.

    ``weights`` divides by the sum over all pairs, so the score stays between 0 and 1; ``literal``
    by the number of pairs, as the paper prints it: it may then fall below 0.
    """
    return _krs_v(*_same_length(hyp_rank, ref_rank, weights), norm)


def _krs_v(hyp_rank: Ranks, ref_rank: Ranks, weights: Matrix, norm: str) -> float:
    if norm == "weights" and not weights.any():
        return math.nan
    length = len(weights)
    if length < 2:
        return 1.0
    total = float(weights.sum()) if norm == "weights" else length / 2
    return 1 - math.sqrt(float(weights @ discordant(hyp_rank, ref_rank)) / ((length - 1) * total))


def discordant(hyp_rank: Ranks, ref_rank: Ranks) -> Ranks:
    """For each word, how many others stand on its other side in the reference.

    >>> discordant(np.array([0, 1, 2]), np.array([2, 0, 1])).tolist()
    [2, 1, 1]
    """
    before = hyp_rank[:, None] < hyp_rank
    wrong = before & (ref_rank[:, None] > ref_rank)
    counts: Ranks = wrong.sum(axis=0) + wrong.sum(axis=1)
    return counts


def _same_length(
    hyp_rank: Sequence[int], ref_rank: Sequence[int], weights: Sequence[float] | Matrix
) -> tuple[Ranks, Ranks, Matrix]:
    if not len(hyp_rank) == len(ref_rank) == len(weights):
        lengths = f"{len(hyp_rank)}, {len(ref_rank)} and {len(weights)}"
        raise ArgumentError(f"ranks: found lengths {lengths}; expected ranks of one sentence")
    return np.asarray(hyp_rank), np.asarray(ref_rank), np.asarray(weights, dtype=np.float64)


def ribes(
    hyp: Sequence[str], ref: Sequence[str], *, alpha: float = 0.25, beta: float = 0.10
) -> float:
    """Normalised Kendall's tau × precision^alpha × brevity^beta of one sentence."""
    return _ribes(hyp, ref, alpha, beta)[0]


def _ribes(
    hyp: Sequence[str], ref: Sequence[str], alpha: float = 0.25, beta: float = 0.10
) -> tuple[float, int]:
    """The value, and how many words have a place in the reference."""
    places = unique_places(hyp, ref)
    if len(places) < 2 and not (len(places) == len(ref) == 1):
        return 0.0, len(places)  # one word has no order
    ranks = np.array(places)
    pairs = len(places) * (len(places) - 1) / 2
    rising = np.triu(ranks[:, None] < ranks, 1).sum() / pairs if pairs else 1.0
    precision = len(places) / len(hyp)
    value = float(rising * precision**alpha * brevity(len(hyp), len(ref)) ** beta)
    return value, len(places)


def unique_places(hyp: Sequence[str], ref: Sequence[str]) -> list[int]:
    """Where each hypothesis word stands in the reference; words that stay ambiguous are left out.

    A word that is repeated is told by its context: by the words before it, or else after it, as
    many as are needed for the sequence to occur exactly once on either side.

    >>> unique_places("the cat sees the dog".split(), "the dog sees the cat".split())
    [3, 4, 2, 3, 1]

    The second *the* is told by *sees* before it, as context to the left is looked at first.
    """
    places = (_place(at, hyp, ref) for at in range(len(hyp)))
    return [place for place in places if place is not None]


def _place(at: int, hyp: Sequence[str], ref: Sequence[str]) -> int | None:
    """Narrow the places of a word down, by context of growing size, until one is left."""
    places = [[k for k, word in enumerate(side) if word == hyp[at]] for side in (hyp, ref)]
    if len(places[0]) == len(places[1]) == 1:
        return places[1][0]
    before, after = places, places
    for size in range(1, len(hyp)):
        if not (before[1] or after[1]):
            return None
        before = _with_context(before, (hyp, ref), at, -size)
        if len(before[0]) == len(before[1]) == 1:
            return before[1][0]
        after = _with_context(after, (hyp, ref), at, size)
        if len(after[0]) == len(after[1]) == 1:
            return after[1][0]
    return None


def _with_context(
    places: list[list[int]], sides: tuple[Sequence[str], Sequence[str]], at: int, shift: int
) -> list[list[int]]:
    """The places that have the same word as ``at`` so many positions away."""
    if not 0 <= at + shift < len(sides[0]):
        return [[], []]
    word = sides[0][at + shift]
    return [
        [k for k in of_side if 0 <= k + shift < len(side) and side[k + shift] == word]
        for of_side, side in zip(places, sides, strict=True)
    ]


# --- metrics -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Choice:
    """A value a sentence, and the number of the reference that it is from."""

    values: Matrix
    refs: Ranks

    @classmethod
    def best(cls, table: Matrix) -> "Choice":
        """The highest value of each column, the first of equal ones; NaN where all are NaN."""
        refs = np.where(np.isnan(table), -np.inf, table).argmax(axis=0)
        return cls(table[refs, np.arange(table.shape[1])], refs)


def penalties(gold: Gold, output: Output) -> Matrix:
    """The brevity penalty of each sentence, a row a reference."""
    return np.array(
        [
            [
                1.0 if hyp >= ref and hyp else brevity(hyp, ref)
                for hyp, ref in zip(output.lengths, lengths, strict=True)
            ]
            for lengths in gold.ref_lengths
        ]
    )


class OfLinks(MeanMetric):
    """A metric that compares the order of source words on both sides.

    Columns: the value, 1 for a sentence that counts; words linked on both sides, words.
    """

    needs: ClassVar[tuple[str, ...]] = ("links",)
    score_columns = 2
    #: what becomes of words without links
    null: ClassVar[str] = "attach"

    @abstractmethod
    def table(self, output: Output) -> Matrix:
        """The value of each sentence before any penalty; NaN leaves it out. A row a reference."""

    def sentences(self, output: Output) -> Choice:
        """The best value of each sentence before any penalty, and the reference it is from."""
        return Choice.best(self.table(output))

    def values(self, output: Output) -> Matrix:
        """The best or the mean over the references."""
        return self._measured(output)[0]

    def statistics(self, output: Output) -> Matrix:
        """Also how many words are linked on both sides."""
        values, judged = self._measured(output)
        counts = ~np.isnan(values)
        words = np.array(self.gold.src_lengths, np.float64)
        return np.stack([np.where(counts, values, 0.0), counts, judged, words], axis=1)

    def _measured(self, output: Output) -> tuple[Matrix, Matrix]:
        """Values and judged words."""
        keys, lengths = output.keys(self.gold), self.gold.src_lengths
        linked = np.array([linked_words(keys, ref, lengths) for ref in self.gold.ref_keys])
        table = self.table(output) * penalties(self.gold, output)
        if self.options.refchoice == "average":
            counts = ~np.isnan(table)
            values = share(np.where(counts, table, 0.0).sum(axis=0), counts.sum(axis=0))
            return values, linked.mean(axis=0)
        choice = Choice.best(table)
        return choice.values, linked[choice.refs, np.arange(len(output))]

    def details(self, sums: Matrix) -> dict[str, float]:
        """The share of source words that are linked on both sides."""
        return {"judged": 100 * float(share(sums[2], sums[3]))}

    def signature(self) -> str:
        """How references, unaligned words and short output are treated."""
        return signature(self.name, self.gold, **self.facts())

    def facts(self) -> dict[str, object]:
        """The parts of the signature that are its own."""
        return {"refs": self.options.refchoice, "null": self.null, "bp": "sentence"}


class Krs(OfLinks):
    """Kendall reordering score."""

    name = "KRS"
    meaning = "pairs of source words in the order of the reference"

    def table(self, output: Output) -> Matrix:
        """One minus the root of the share of pairs put wrongly."""
        return np.array([kendall(of.linked, of.wrong) for of in self.counts(output)])

    def counts(self, output: Output) -> Iterator[PairCounts]:
        """What becomes of all pairs of words, for each reference."""
        lengths = self.gold.src_lengths
        keys = attached(output.keys(self.gold), lengths)
        for ref in self.gold.ref_keys:
            yield count_pairs(keys, attached(ref, lengths), lengths, self.gold.flat_weights)


class KrsV(Krs):
    """Kendall reordering score of weighted words, by default verbs."""

    name = "KRS-V"
    meaning = "KRS of weighted words, by default verbs"
    needs = ("links", "weights")

    def __init__(self, gold: Gold, options: Options) -> None:
        super().__init__(gold, options)
        if gold.weights is None:
            raise ArgumentError("weights: found none; expected the weights of source words")

    def table(self, output: Output) -> Matrix:
        """NaN for a sentence without weights, which leaves it out, unless ``norm`` is literal."""
        if self.options.norm == "literal":
            rows = [kendall(of.linked, of.wrong_weight) for of in self.counts(output)]
        else:
            rows = [
                np.where(of.weight > 0, kendall(of.linked, of.wrong_weight, of.weight), np.nan)
                for of in self.counts(output)
            ]
        return np.array(rows)

    def facts(self) -> dict[str, object]:
        """Also the normalisation, and how many sentences count."""
        counted = sum(map(any, self.gold.weights or ()))
        return {**super().facts(), "norm": self.options.norm, "sentences": counted}


class Ribes(MeanMetric):
    """Rank correlation of words found in both texts. Case is ignored."""

    name = "RIBES"
    meaning = "rank correlation of words found in both texts"
    alpha, beta = 0.25, 0.10
    score_columns = 2

    def __init__(self, gold: Gold, options: Options) -> None:
        super().__init__(gold, options)
        self._refs = [tokenized(ref, options, lowercase=True) for ref in gold.refs]

    def values(self, output: Output) -> Matrix:
        """The best over the references."""
        return self._measured(output)[:, 0]

    def statistics(self, output: Output) -> Matrix:
        """Also how many words have a place in the reference, and how many there are."""
        values, judged, words = self._measured(output).T
        return np.stack([values, np.ones(len(values)), judged, words], axis=1)

    def _measured(self, output: Output) -> Matrix:
        """Value, words with a place, words."""
        hyps = tokenized(output.lines, self.options, lowercase=True)
        rows = zip(hyps, *self._refs, strict=True)
        return np.array(
            [
                (*max((_ribes(hyp, ref) for ref in refs), key=lambda pair: pair[0]), len(hyp))
                for hyp, *refs in rows
            ],
            np.float64,
        )

    def details(self, sums: Matrix) -> dict[str, float]:
        """The share of its words that have a place in the reference."""
        return {"judged": 100 * float(share(sums[2], sums[3]))}

    def signature(self) -> str:
        """The two powers, case and tokeniser."""
        facts = {"alpha": self.alpha, "beta": self.beta, "case": "lc"}
        return signature(self.name, self.gold, **facts, tok=self.options.tokenize)
