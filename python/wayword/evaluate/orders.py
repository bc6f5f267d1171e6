"""How near orders of the source come to those that links imply.

In: orders, and the ranks of linked words (``Corpus.ranks("linked")``). Out: four measures, in
percent, with intervals:

* ``tau``: pairs of linked words that are not out of order, mean over sentences
* ``frs``: fuzzy reordering score (Talbot et al., 2011): places, both ends of the sentence
  included, after which the word comes that comes next in the reference, mean over sentences
* ``exact``: sentences without a pair out of order
* ``precision``, ``recall``, ``f1`` of reversed pairs: of those that were turned round and of those
  that the links turn round, how many are both; pooled over the text

Only linked words count; words of one place, such as a compound's parts, may come in any order.
How: every sentence gives numbers that add up, so that intervals come from resampled sentences.
Cost: O(n²) a sentence with numpy.

>>> scores = evaluate_orders([[1, 0, 2]], [np.array([1, 0, 2])])
>>> scores.tau, scores.frs, scores.exact, scores.f1
(100.0, 100.0, 100.0, 100.0)
>>> evaluate_orders([[0, 1, 2]], [np.array([1, 0, 2])]).frs  # only the end follows what it should
25.0
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from wayword.evaluate.metric import Matrix, share
from wayword.evaluate.significance import bootstrap
from wayword.reorder.corpus import Corpus
from wayword.reorder.lop import linked_bleu
from wayword.reorder.order import share_in_order

__all__ = [
    "OrderScores",
    "PreorderScores",
    "evaluate_orders",
    "evaluate_preorder",
    "order_statistics",
]

Numbers = npt.NDArray[Any]
MEASURES = ("tau", "frs", "exact", "precision", "recall", "f1")


@dataclass(frozen=True)
class OrderScores:
    """Scores in percent; ``intervals`` by name of the score."""

    tau: float
    frs: float
    exact: float
    precision: float
    recall: float
    f1: float
    sentences: int
    intervals: dict[str, tuple[float, float]]

    def to_dict(self) -> dict[str, Any]:
        """The scores as plain values, for JSON."""
        return dict(vars(self))


def order_statistics(orders: Sequence[Sequence[int] | Numbers], ranks: Sequence[Numbers]) -> Matrix:
    """Numbers of each sentence, which add up; all are 0 where fewer than two words are linked.

    Columns: tau, frs, exact, 1; pairs turned round rightly, turned round, to be turned round.
    """
    pairs = zip(orders, ranks, strict=True)
    rows = [_sentence(np.asarray(order, dtype=np.intp), of) for order, of in pairs]
    return np.array(rows, dtype=np.float64).reshape(len(rows), 7)


def _sentence(order: Numbers, ranks: Numbers) -> tuple[float, ...]:
    linked = order[ranks[order] >= 0]
    size = len(linked)
    if size < 2:
        return (0.0,) * 7
    found = ranks[linked]
    upper = np.triu(np.ones((size, size), dtype=bool), 1)
    ends = np.concatenate(([-1], found, [found.max() + 1]))
    steps = np.diff(ends)
    breaks = np.count_nonzero((steps != 0) & (steps != 1))
    turned = upper & (linked[:, None] > linked)
    right = turned & (found[:, None] < found)
    judged = turned & (found[:, None] != found)
    source = ranks[np.sort(linked)]
    wanted = upper & (source[:, None] > source)
    tau = share_in_order(found)
    return (
        tau,
        1 - breaks / (size + 1),
        float(tau == 1),
        1.0,
        right.sum(),
        judged.sum(),
        wanted.sum(),
    )


def _measures(sums: Matrix) -> dict[str, Matrix]:
    """The scores of sums of rows."""
    sentences, right, turned, wanted = (sums[..., at] for at in range(3, 7))
    means = {name: 100 * share(sums[..., at], sentences) for at, name in enumerate(MEASURES[:3])}
    return {
        **means,
        "precision": 100 * share(right, turned),
        "recall": 100 * share(right, wanted),
        "f1": 100 * share(2 * right, turned + wanted),
    }


def _measure(name: str, sums: Matrix) -> Matrix:
    return _measures(sums)[name]


#: One function a measure, for intervals and tests of significance.
SCORES = [partial(_measure, name) for name in MEASURES]


def evaluate_orders(
    orders: Sequence[Sequence[int] | Numbers],
    ranks: Sequence[Numbers],
    *,
    resamples: int = 1000,
    seed: int = 1,
) -> OrderScores:
    """Scores of orders, with 95 % intervals by resampling sentences."""
    rows = order_statistics(orders, ranks)
    values = {name: float(value) for name, value in _measures(rows.sum(axis=0)).items()}
    intervals = bootstrap(SCORES, [rows] * len(MEASURES), rounds=resamples, seed=seed)
    named = dict(zip(MEASURES, intervals, strict=True))
    return OrderScores(**values, sentences=int(rows[:, 3].sum()), intervals=named)


@dataclass(frozen=True)
class PreorderScores:
    """How near the orders of a preorderer come to those of the links."""

    #: BLEU of the order of linked words, and its precisions
    bleu: float
    precisions: tuple[float, ...]
    orders: OrderScores

    def to_dict(self) -> dict[str, Any]:
        """The scores as plain values, for JSON."""
        return {"bleu": self.bleu, "precisions": self.precisions, **self.orders.to_dict()}


def evaluate_preorder(
    corpus: Corpus, orders: Mapping[str, Sequence[Numbers]]
) -> dict[str, PreorderScores]:
    """Scores of orders of a corpus by name, source order first."""
    words, ranks = corpus.sentences(), corpus.ranks("linked")
    same = [np.arange(len(sentence)) for sentence in words]
    scores = {}
    for name, of_corpus in {"source order": same, **orders}.items():
        bleu, precisions = linked_bleu(words, of_corpus, ranks)
        scores[name] = PreorderScores(bleu, precisions, evaluate_orders(of_corpus, ranks))
    return scores
