"""Sentences whose words are ordered worst, and what would have to move where.

In: a gold standard with links and an output with links; weights say which words matter (without
them all do); a metric of word order. Out: ``Case`` objects, the worst first; ``report.case`` draws
them.
How: the source words are put into the order the system gave them. From each weighted word that
stands wrongly an arc leads to the place where the fewest words would stand on its wrong side,
which is where the closest reference has it. Where no weighted word would stand better elsewhere,
because others moved around it, the arcs are those of the others. Metrics of linked words judge
these alone, so arcs neither leave other words nor count them.
Cost: one value a sentence and reference, and O(n²) for the arcs of a case.

>>> gold = Gold(refs=[["he has read the book"]], src=["er hat das buch gelesen"],
...             ref_links=[[[(0, 0), (1, 1), (2, 3), (3, 4), (4, 2)]]], weights=[[0, 1, 0, 0, 1]])
>>> output = Output("base", ["he has the book read"],
...                 [[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]])
>>> worst(gold, output, 1)[0].arcs  # `gelesen` belongs before `das`
(Arc(word=4, gap=2),)
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wayword.errors import ArgumentError
from wayword.evaluate.compare import METRICS, make_metric
from wayword.evaluate.gold import UNLINKED, Gold, Output, Ranks
from wayword.evaluate.linked import KrsLinked, Reversals
from wayword.evaluate.metric import Matrix, Options, brevity
from wayword.evaluate.order import Choice, OfLinks

__all__ = ["Arc", "Case", "worst"]

#: A metric that has a value for each sentence, and knows which reference it is from.
OrderMetric = OfLinks | Reversals

MOST_ARCS = 6  # in one drawing; those that mend most


@dataclass(frozen=True)
class Arc:
    """A word at ``word`` of the output's order that belongs before the word at ``gap``."""

    word: int
    gap: int


@dataclass(frozen=True)
class Case:
    """One sentence: its texts, the source words in the output's order, and what to move."""

    line: int
    metric: str
    score: float
    src: str
    hyp: str
    ref: str
    words: tuple[str, ...]
    is_weighted: tuple[bool, ...]
    #: whether the metric knows where the word belongs
    is_judged: tuple[bool, ...]
    arcs: tuple[Arc, ...]


def worst(
    gold: Gold,
    output: Output,
    count: int,
    options: Options | None = None,
    metric: str | None = None,
) -> list[Case]:
    """The ``count`` sentences with the lowest value of a metric before brevity.

    By default it is KRS-V over linked words, or KRS without weights. Sentences in the right order,
    or with nothing to judge, are never among them; equal scores keep the order of the text.
    """
    output.check(gold)
    measure = _order_metric(metric, gold, options)
    ranks, choice = output.ranks(gold), measure.sentences(output)
    values = np.where(np.isnan(choice.values), 1.0, choice.values)
    lines = [int(line) for line in np.argsort(values, kind="stable")[:count] if values[line] < 1]
    return [_case(measure, output, choice, ranks[line], line) for line in lines]


def _order_metric(name: str | None, gold: Gold, options: Options | None) -> OrderMetric:
    name = name or ("krs-linked" if gold.weights is None else "krs-v-linked")
    metric = make_metric(name, gold, options)
    if not isinstance(metric, OfLinks | Reversals):
        known = [n for n, known in METRICS.items() if issubclass(known, OfLinks | Reversals)]
        raise ArgumentError(f"worst_by: found `{name}`; expected one of {', '.join(known)}")
    return metric


def _case(metric: OrderMetric, output: Output, choice: Choice, hyp_rank: Ranks, line: int) -> Case:
    gold, ref, value = metric.gold, int(choice.refs[line]), float(choice.values[line])
    if isinstance(metric, OfLinks):
        value *= brevity(output.lengths[line], gold.ref_lengths[ref][line])
    src = gold.src[line] if gold.src else ""
    words, order = src.split(), np.argsort(hyp_rank)
    weights = np.array(gold.weights[line]) if gold.weights else np.ones(len(words))
    judged = np.ones(len(words), dtype=bool)
    if isinstance(metric, KrsLinked | Reversals):
        start = sum(gold.src_lengths[:line])
        keys = (output.keys(gold), gold.ref_keys[ref])
        judged = np.all([side[start : start + len(words)] != UNLINKED for side in keys], axis=0)
    ranks, judged = gold.ref_ranks[ref][line][order], judged[order]
    every = np.ones(len(words))
    return Case(
        line=line + 1,
        metric=metric.name,
        score=100 * value,
        src=src,
        hyp=output.lines[line],
        ref=gold.refs[ref][line],
        words=tuple(words[at] for at in order),
        is_weighted=tuple(bool(gold.weights and weights[at]) for at in order),
        is_judged=tuple(judged.tolist()),
        arcs=_arcs(ranks, weights[order], judged) or _arcs(ranks, every, judged),
    )


def _arcs(ranks: Ranks, weights: Matrix, judged: npt.NDArray[np.bool_]) -> tuple[Arc, ...]:
    """Where weighted words belong; ``ranks`` are the reference's, in the output's order."""
    misplaced = []
    for at in np.flatnonzero((weights > 0) & judged):
        others, count = np.delete(ranks, at), np.delete(judged, at)
        # wrong[g]: words on the wrong side if this one stood before the g-th of the others
        wrong = np.concatenate([[0], np.cumsum((others > ranks[at]) & count)])
        wrong += np.concatenate([np.cumsum(((others < ranks[at]) & count)[::-1])[::-1], [0]])
        places = np.flatnonzero(wrong == wrong.min())
        gap = int(places[np.abs(places - at).argmin()])
        if wrong[at] > wrong[gap]:
            arc = Arc(int(at), gap if gap < at else gap + 1)
            misplaced.append((int(wrong[gap] - wrong[at]), arc))
    kept = sorted(misplaced, key=lambda pair: pair[0])[:MOST_ARCS]
    return tuple(sorted((arc for _, arc in kept), key=lambda arc: arc.word))
