"""Hierarchical phrase orientation: the reordering models of Galley and Manning (2008).

In: word-aligned sentence pairs to train; source spans of phrases in target order to decode.
Out: the orientation of each phrase, p(o | phrase pair), weighted features for the decoder.
How: Michel Galley and Christopher D. Manning (2008), A Simple and Effective Hierarchical Phrase
Reordering Model, Proceedings of EMNLP, pages 848-856; exact rules in definitions e and f.2.
Cost: extraction tries all pairs of spans, O(I^2 J^2) for I target and J source words.
Not: the other features of Equation 2; probabilities given the source phrase alone.

* Equations 1 and 2 -> ``phrase_decoder.decode``, which maximizes over derivations
* Equation 3 -> ``log_probability``
* Section 2, conditions on o_i -> ``span_orientation``; f_m, f_s, f_d -> ``OrientationFeature``
* Section 3, phrase-extract -> ``is_consistent``, ``extract_blocks``
* Section 3 and Figure 2, the three orientation models -> ``neighbors``, ``orientation``
* Section 3 and Table 1, relative frequencies -> ``count_orientations``, ``estimate``
* Section 1 and Figure 1, decoding by definitions e.6, e.7 -> ``shift_reduce``, ``next_orientation``

``prev`` is the orientation towards the phrases before, as in the equations; ``next`` is that of
the phrases after (definitions m, Q-14). In Figure 1(b), "of the region" swaps with two phrases:

>>> stack = shift_reduce((START, (3, 3)), (4, 5))  # the development | and progress
>>> stack, span_orientation(stack[-1], (0, 2)), span_orientation((4, 5), (0, 2))
(((-1, -1), (3, 5)), 'S', 'DL')
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any, NamedTuple

from wayword.papers.phrase_decoder import (
    Hypothesis,
    PathFeature,
    TranslationOption,
    score_derivation,
)

__all__ = [
    "MSD", "MSLR", "START", "OrientationFeature", "SentencePair", "count_orientations", "estimate",
    "extract_blocks", "is_consistent", "log_probability", "neighbors", "next_orientation",
    "orientation", "shift_reduce", "span_orientation",
]  # fmt: skip

#: The classes of the equations, and those that split D into left and right (end of section 3).
MSD, MSLR = ("M", "S", "D"), ("M", "S", "DL", "DR")
Span = tuple[int, int]
#: Target words s ... t and source words u ... v, the symbols of section 3.
Block = tuple[int, int, int, int]
PhrasePair = tuple[tuple[str, ...], tuple[str, ...]]
OrientationTable = Mapping[PhrasePair, Mapping[str, float]]
#: The source span before the sentence, at the bottom of a stack.
START: Span = (-1, -1)


class SentencePair(NamedTuple):
    """Source words f, target words e, and alignment links (source, target).

    >>> SentencePair(["das", "haus"], ["the", "house"], [(0, 0), (1, 1)]).f
    ['das', 'haus']
    """

    f: Sequence[str]
    e: Sequence[str]
    alignment: Collection[tuple[int, int]]


def is_consistent(block: Block, alignment: Iterable[tuple[int, int]]) -> bool:
    """Return whether ``block`` holds a link and no link has one end inside only (definitions e.2).

    >>> links = [(0, 0), (1, 1), (2, 2), (4, 3)]  # das haus ist ja klein, the house is small
    >>> is_consistent((2, 2, 2, 3), links), is_consistent((3, 3, 3, 3), links)
    (True, False)
    """
    s, t, u, v = block
    inside = [(s <= i <= t, u <= j <= v) for j, i in alignment]
    return (True, True) in inside and all(target == source for target, source in inside)


def extract_blocks(pair: SentencePair, max_length: int | None = 7) -> list[Block]:
    """Return the consistent blocks up to ``max_length`` words a side; None is no constraint.

    The phrase-extract algorithm of section 3, by trying all blocks (definitions f.2).

    >>> pair = SentencePair("dhijk", "this", [(0, 0), (1, 1), (2, 2), (4, 3)])
    >>> [len(extract_blocks(pair, max_length)) for max_length in (1, 2, 3, 7)]
    [4, 8, 11, 14]
    """

    def spans(n: int) -> list[Span]:
        return [(a, b) for a in range(n) for b in range(a, min(a + (max_length or n), n))]

    blocks = [(*tgt, *src) for tgt in spans(len(pair.e)) for src in spans(len(pair.f))]
    return [block for block in blocks if is_consistent(block, pair.alignment)]


def neighbors(pair: SentencePair, model: str, max_length: int = 7) -> list[Block]:
    """Return the neighbors that a model knows (section 3): links, phrase pairs, or all blocks.

    An isolated link is no phrase pair, so M and S exclude each other (definitions m, Q-15). Blocks
    before and after the sentence settle its edges, which the paper leaves open (definitions e.2).

    >>> pair = SentencePair("abc", "xyz", [(0, 2), (1, 0), (2, 1)])
    >>> [len(neighbors(pair, model, 1)) for model in ("word", "phrase", "hierarchical")]
    [5, 5, 7]
    """
    edges = [(-1, -1, -1, -1), (len(pair.e), len(pair.e), len(pair.f), len(pair.f))]
    if model == "word":
        return edges + [(i, i, j, j) for j, i in pair.alignment]
    return edges + extract_blocks(pair, max_length if model == "phrase" else None)


def orientation(block: Block, known: Iterable[Block], direction: str = "prev") -> str:
    """Return the class of ``block`` towards the neighbors ``known`` (section 3, Figure 2).

    M if a neighbor has the corner (s-1, u-1) and none has (s-1, v+1), S for the reverse, else D:
    DL if all neighbors at s-1 reach beyond v, else DR (definitions e.2; neighbors of one row
    overlap, so one of them begins behind v+1). ``next`` is ``prev`` after a half turn of the
    alignment grid: (t+1, v+1) for M, (t+1, u-1) for S.

    >>> pair = SentencePair("abcdef", "uvwxyz", [(0, 0), (3, 1), (4, 2), (1, 3), (2, 4), (5, 5)])
    >>> [orientation((3, 4, 1, 2), neighbors(pair, model, max_length=1))
    ...  for model in ("word", "phrase", "hierarchical")]
    ['DL', 'DL', 'S']
    """
    s, t, u, v = block
    if direction == "next":
        return orientation((-t, -s, -v, -u), [(-t, -s, -v, -u) for s, t, u, v in known])
    before = [(first, last) for _, end, first, last in known if end == s - 1]
    is_monotone = any(last == u - 1 for _, last in before)
    is_swap = any(first == v + 1 for first, _ in before)
    if is_monotone != is_swap:
        return "M" if is_monotone else "S"
    return "DL" if before and all(last > v for _, last in before) else "DR"


def count_orientations(
    corpus: Iterable[SentencePair], model: str, direction: str = "prev", max_length: int = 7
) -> dict[PhrasePair, Counter[str]]:
    """Count M, S, DL and DR of each phrase pair over all its occurrences (section 3).

    >>> pair = SentencePair("ab", "xy", [(0, 1), (1, 0)])
    >>> count_orientations([pair, pair], "hierarchical")[("a",), ("y",)]
    Counter({'S': 2})
    """
    counts: dict[PhrasePair, Counter[str]] = {}
    for pair in corpus:
        known = neighbors(pair, model, max_length)
        for s, t, u, v in extract_blocks(pair, max_length):
            row = counts.setdefault((tuple(pair.f[u : v + 1]), tuple(pair.e[s : t + 1])), Counter())
            row[orientation((s, t, u, v), known, direction)] += 1
    return counts


def estimate(
    counts: Mapping[str, int], classes: Sequence[str] = MSD, smoothing: float = 0.5
) -> dict[str, float]:
    """Return p(o) = (c(o) + smoothing) / (sum of c + smoothing * number of classes).

    Section 3 names relative frequencies; 0.5 keeps unseen classes possible (definitions e.4).
    The counts of all phrase pairs together, without smoothing, give a row of Table 1.

    >>> {o: round(p, 6) for o, p in estimate({"M": 2, "DL": 3, "DR": 2}).items()}
    {'M': 0.294118, 'S': 0.058824, 'D': 0.647059}
    """
    merged = {**counts, "D": sum(counts.get(o, 0) for o in ("D", "DL", "DR"))}
    total = sum(counts.values()) + smoothing * len(classes)
    return {o: (merged.get(o, 0) + smoothing) / total for o in classes}


def span_orientation(last: Span, span: Span) -> str:
    """Return the orientation that the conditions of Equation 3 allow for ``span`` after ``last``.

    M for a_i - a_{i-1} = 1, S for a_i - a_{i-1} = -1, else D: DR to the right, DL to the left.

    >>> [span_orientation((3, 4), span) for span in ((5, 5), (1, 2), (6, 6), (0, 1))]
    ['M', 'S', 'DR', 'DL']
    """
    if span[0] == last[1] + 1:
        return "M"
    if span[1] == last[0] - 1:
        return "S"
    return "DR" if span[0] > last[1] else "DL"


def next_orientation(last: Span, span: Span, covered: Collection[int], model: str) -> str:
    """Return how ``span`` lies towards ``last``, as far as the partial translation tells.

    The block after ``last`` is not complete yet. The hierarchical model takes D only when it is
    certain: when a word between the two spans is covered (definitions e.7; m, Q-17).

    >>> [next_orientation((2, 2), (at, at), {2, 4}, "hierarchical") for at in (6, 3, 0)]
    ['DR', 'M', 'S']
    """
    gap = range(last[1] + 1, span[0]) if span[0] > last[1] else range(span[1] + 1, last[0])
    if model == "hierarchical" and not any(at in covered for at in gap):
        return "M" if span[0] > last[1] else "S"
    return span_orientation(last, span)


def shift_reduce(stack: tuple[Span, ...], span: Span, binary: bool = False) -> tuple[Span, ...]:
    """Shift ``span``, then join the smallest contiguous group at the top until there is none.

    Section 1 speaks of binary trees; groups of any size are the default, because only they give
    the orientations of training (definitions e.6; m, Q-16).

    >>> shift_reduce(((0, 0), (3, 4)), (1, 2))
    ((0, 4),)
    >>> shift_reduce(((1, 1), (3, 3), (0, 0)), (2, 2), binary=True)
    ((1, 1), (3, 3), (0, 0), (2, 2))
    """
    stack = (*stack, span)
    for size in range(2, min(2 if binary else len(stack), len(stack)) + 1):
        group = stack[-size:]
        low, high = min(a for a, _ in group), max(b for _, b in group)
        if high - low + 1 == sum(b - a + 1 for a, b in group):
            return shift_reduce(stack[:-size], (low, high), binary)
    return stack


@dataclass(frozen=True)
class OrientationFeature(PathFeature):
    """The features f_m, f_s and f_d of section 2, as ``o`` says; each has a weight of its own.

    f_o is the sum of log p(o_i = o | ...) over the phrases with orientation ``o``; all other
    phrases add 0. Without ``o`` all phrases count. A phrase pair that the table lacks adds nothing
    (definitions e.4). The state is the stack, or the last phrase (definitions e.8).

    >>> table = {(("b",), ("x",)): {"M": 0.2, "S": 0.7, "D": 0.1}}
    >>> option = TranslationOption(1, 1, ("x",))
    >>> [round(OrientationFeature(table, "ab", o=o).value(option, "S"), 3) for o in MSD]
    [0.0, -0.357, 0.0]
    """

    table: OrientationTable
    f: Sequence[str]
    direction: str = "prev"
    model: str = "hierarchical"
    o: str | None = None
    binary: bool = False
    initial_state = (START,)

    def value(self, option: TranslationOption, o: str) -> float:
        """Return log p(o | phrase pair) if the feature counts the orientation ``o``."""
        row = self.table.get((tuple(self.f[option.start : option.end + 1]), option.target), {})
        o = o if o in row else "D"
        return log(row[o]) if row and self.o in {o, None} else 0.0

    def extend(self, hyp: Hypothesis, state: Any, option: TranslationOption) -> tuple[float, Any]:
        """Score ``prev`` of ``option``, or ``next`` of the phrase before it."""
        span = (option.start, option.end)
        if self.direction == "prev":
            stack = state if self.model == "hierarchical" else ()
            value = self.value(option, span_orientation(state[-1], span))
            return value, shift_reduce(stack, span, self.binary)
        last = hyp.option or TranslationOption(*START, ())  # no table has a row for the start
        o = next_orientation((last.start, last.end), span, hyp.coverage, self.model)
        return self.value(last, o), option

    def finish(self, hyp: Hypothesis, state: Any, length: int) -> float:
        """Score ``next`` of the last phrase, which training counts (definitions m, Q-18)."""
        end = TranslationOption(length, length, ())
        return self.extend(hyp, state, end)[0] if self.direction == "next" else 0.0


def log_probability(derivation: list[TranslationOption], feature: OrientationFeature) -> float:
    """Return log p(o | e, f), Equation 3: the product over phrases of p(o_i | e_i, f_{a_i}, ...).

    >>> counts = count_orientations([SentencePair("ab", "xy", [(0, 1), (1, 0)])], "hierarchical")
    >>> table = {pair: estimate(row) for pair, row in counts.items()}
    >>> derivation = [TranslationOption(1, 1, ("x",)), TranslationOption(0, 0, ("y",))]
    >>> round(log_probability(derivation, OrientationFeature(table, "ab")), 4)  # 2 log 0.6: D, S
    -1.0217
    """
    return score_derivation(derivation, [(1.0, feature)], len(feature.f))
