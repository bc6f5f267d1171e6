"""Sentences whose verbs are ordered worst, and what would have to move where.

In: a gold standard with links and an output with links; weights say which words matter (without
them all do). Out: ``Case`` objects, the worst first; ``report.case`` draws them.
How: the source words are put into the order the system gave them. From each weighted word that
stands wrongly an arc leads to the place where the fewest words would stand on its wrong side,
which is where the closest reference has it. Where no weighted word would stand better elsewhere,
because others moved around it, the arcs are those of the others.
Cost: one KRS a sentence and reference, and O(n²) for the arcs of a case.

>>> gold = Gold(refs=[["he has read the book"]], src=["er hat das buch gelesen"],
...             ref_links=[[[(0, 0), (1, 1), (2, 3), (3, 4), (4, 2)]]], weights=[[0, 1, 0, 0, 1]])
>>> output = Output("base", ["he has the book read"],
...                 [[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]])
>>> worst(gold, output, 1)[0].arcs  # `gelesen` belongs before `das`
(Arc(word=4, gap=2),)
"""

from dataclasses import dataclass

import numpy as np

from wayword.evaluate.gold import Gold, Output, Ranks
from wayword.evaluate.metric import Matrix, Options, brevity
from wayword.evaluate.order import Krs, KrsV

__all__ = ["Arc", "Case", "worst"]

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
    arcs: tuple[Arc, ...]


def worst(gold: Gold, output: Output, count: int, options: Options | None = None) -> list[Case]:
    """The ``count`` sentences with the lowest KRS-V (KRS without weights) before brevity.

    Sentences in the right order are never among them; equal scores keep the order of the text.
    """
    options = options or Options()
    output.check(gold)
    metric = Krs(gold, options) if gold.weights is None else KrsV(gold, options)
    hyp_ranks = output.ranks(gold)
    table = np.array(
        [
            [metric.value(rank, ranks[number], number) for number, rank in enumerate(hyp_ranks)]
            for ranks in gold.ref_ranks
        ]
    )
    best = np.where(np.isnan(table), 1.0, table).max(axis=0)
    lines = [int(line) for line in np.argsort(best, kind="stable")[:count] if best[line] < 1]
    refs = table.argmax(axis=0)
    return [_case(metric, output, hyp_ranks[line], line, int(refs[line])) for line in lines]


def _case(metric: Krs | KrsV, output: Output, hyp_rank: Ranks, line: int, ref: int) -> Case:
    gold = metric.gold
    ref_rank = gold.ref_ranks[ref][line]
    value = metric.value(hyp_rank, ref_rank, line)
    value *= brevity(output.lengths[line], gold.ref_lengths[ref][line])
    src = gold.src[line] if gold.src else ""
    words, order = src.split(), np.argsort(hyp_rank)
    weights = np.array(gold.weights[line]) if gold.weights else np.ones(len(words))
    return Case(
        line=line + 1,
        metric=metric.name,
        score=100 * value,
        src=src,
        hyp=output.lines[line],
        ref=gold.refs[ref][line],
        words=tuple(words[at] for at in order),
        is_weighted=tuple(bool(gold.weights and weights[at]) for at in order),
        arcs=_arcs(ref_rank[order], weights[order]) or _arcs(ref_rank[order], np.ones(len(words))),
    )


def _arcs(ranks: Ranks, weights: Matrix) -> tuple[Arc, ...]:
    """Where weighted words belong; ``ranks`` are the reference's, in the output's order."""
    misplaced = []
    for at in np.flatnonzero(weights):
        others = np.delete(ranks, at)
        # wrong[g]: words on the wrong side if this one stood before the g-th of the others
        wrong = np.concatenate([[0], np.cumsum(others > ranks[at])])
        wrong += np.concatenate([np.cumsum((others < ranks[at])[::-1])[::-1], [0]])
        places = np.flatnonzero(wrong == wrong.min())
        gap = int(places[np.abs(places - at).argmin()])
        if wrong[at] > wrong[gap]:
            arc = Arc(int(at), gap if gap < at else gap + 1)
            misplaced.append((int(wrong[gap] - wrong[at]), arc))
    kept = sorted(misplaced, key=lambda pair: pair[0])[:MOST_ARCS]
    return tuple(sorted((arc for _, arc in kept), key=lambda arc: arc.word))
