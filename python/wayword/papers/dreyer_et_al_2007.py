"""Reordering constraints compared by oracle BLEU, after Dreyer, Hall and Khudanpur (2007).

In: the phrases of a monotone translation in source order, references, and a constraint.
Out: the permitted order of the phrases with the highest approximate BLEU, and its BLEU.
How: Markus Dreyer, Keith Hall, Sanjeev Khudanpur. 2007. Comparing Reordering Constraints for SMT
Using Efficient BLEU Oracle Computation. Proc. of SSST, NAACL-HLT 2007 / AMTA Workshop on Syntax and
Structure in Statistical Translation, pages 103-110. ``wayword.oracle`` is the fast implementation.
Cost: arcs of the lattice, or O(n^3) splits of n phrases, times the distinct boundary words.
Not: corpus BLEU, NIST and length bins (Table 2); lattices as input (footnote 1); the accumulating
oracle of footnote 5 (Zens and Ney, 2005); the baseline system of Section 4 (definitions m, Q-36).

* Sections 2.1 to 2.3: ``Constraint``, ``permutation_lattice`` (Figure 1), ``itg_forest`` (Figure 2)
* Figures 3 and 4: ``lexical_constituent``, ``update_ngrams``; Equation 2: ``approximate_bleu``
* Equation 1: ``dijkstra_bleu_decoder``; Equations 3 and 4, Figure 5: ``itg_bleu_decoder``
* Section 3.3: ``sentence_bleu``, ``compare_with_brute_force``; Section 5: ``oracle_translation``

Table 1; the sentence printed there for IBM(2) is not the best one (definitions m, Q-33):

>>> phrases = ["if", "you", "to me", "that", "explain", "could"]
>>> references = ["if you could explain that to me"]
>>> for model in [("MJ", 1), ("MJ", 2), ("IBM", 2), ("IBM", 4), ("ITG",)]:
...     text = oracle_translation(Constraint(*model), [phrases], references)
...     bleu = 100 * sentence_bleu(text, references)
...     print(f"{len(Constraint(*model).orders(6)):3} {text} {bleu:.2f}")
 13 if you that to me could explain 0.00
 52 to me if you could explain that 70.71
 32 if you that to me could explain 0.00
384 if you could explain that to me 100.00
394 if you could explain that to me 100.00
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import permutations, product
from math import exp, inf, prod
from typing import Literal, NamedTuple

__all__ = [
    "Constituent", "Constraint", "approximate_bleu", "compare_with_brute_force",
    "dijkstra_bleu_decoder", "itg_bleu_decoder", "itg_forest", "lexical_constituent", "ngrams",
    "oracle_translation", "permutation_lattice", "recombine", "sentence_bleu", "update_ngrams",
]  # fmt: skip

Order = tuple[int, ...]
Span = tuple[int, int]
Words = tuple[str, ...]
Lines = Sequence[str]  #: phrases or sentences, with spaces between words
EPSILON = 1e-10  #: replaces zero precisions; footnote 3 prints "1-10" (definitions m, Q-25)


class Constraint(NamedTuple):
    """A reordering constraint, Section 2: a set of orders of phrases.

    * MJ-1 and MJ-2 (``bound`` 1 and 2): a row of blocks of at most ``bound`` + 1 neighbors, each in
      any order. A bound on displacements instead would permit *cadb* (definitions i.1).
    * IBM(``bound``): the next phrase is among the first ``bound`` uncovered phrases. MJ-2 is a
      subset of IBM(3) but not of IBM(2) (definitions m, Q-32).
    * ITG: binary trees; an inverted node has at most ``bound`` phrases (rho of Section 3.2).

    >>> Constraint("MJ", 1).orders(3)  # abc, acb, bac
    [(0, 1, 2), (0, 2, 1), (1, 0, 2)]
    >>> models = Constraint("MJ", 2), Constraint("IBM", 3), Constraint("ITG")
    >>> [(len(model.orders(3)), model.contains((2, 0, 3, 1))) for model in models]  # cadb
    [(6, False), (6, True), (6, False)]
    """

    family: Literal["MJ", "IBM", "ITG"]
    bound: float = inf

    def next_phrases(self, prefix: Order, n: int) -> Order:
        """Return the phrases, of ``n``, that may follow the prefix of an MJ or IBM order."""
        uncovered = tuple(p for p in range(n) if p not in prefix)
        if self.family == "IBM":
            return tuple(p for rank, p in enumerate(uncovered) if rank < self.bound)
        start = max(t for t in range(len(prefix) + 1) if set(prefix[:t]) == set(range(t)))
        return tuple(p for p in uncovered if p <= start + self.bound)  # the open block

    def contains(self, order: Order) -> bool:
        """Return whether the constraint permits the order."""
        if self.family != "ITG":
            return all(p in self.next_phrases(order[:t], len(order)) for t, p in enumerate(order))
        for x, y in ((order[:t], order[t:]) for t in range(1, len(order))):
            if max(x) < min(y) or (max(y) < min(x) and len(order) <= self.bound):
                return self.contains(x) and self.contains(y)  # any other split gives the same
        return len(order) <= 1

    def orders(self, n: int) -> list[Order]:
        """Return the permitted orders of ``n`` phrases, in lexicographic order."""
        return [order for order in permutations(range(n)) if self.contains(order)]


def permutation_lattice(constraint: Constraint, n: int) -> dict[Hashable, dict[int, Hashable]]:
    """Return the lattice of Figure 1: for each state its arcs, from a phrase to the next state.

    The paths are the MJ or IBM orders; a state is a coverage with the phrases that may come next.

    >>> [len(permutation_lattice(Constraint("MJ", jump), 6)) for jump in (1, 2)]  # 1b and 1c
    [12, 23]
    """
    lattice: dict[Hashable, dict[int, Hashable]] = {}
    agenda: list[Order] = [()]
    for prefix in agenda:  # grows below, layer by layer
        state = (frozenset(prefix), constraint.next_phrases(prefix, n))
        if state not in lattice:
            longer = [(*prefix, p) for p in state[1]]
            lattice[state] = {o[-1]: (frozenset(o), constraint.next_phrases(o, n)) for o in longer}
            agenda += longer
    return lattice


def itg_forest(constraint: Constraint, n: int) -> dict[Span, list[tuple[Span, Span]]]:
    """Return the pairs of spans, in target order, that make up each span [i, k].

    ITG is not finite-state (Section 2.3): its lattice grows exponentially, to 107 states for 6
    phrases and 4645 for 10 (IBM(4): 57 and 386), the forest to n (n - 1) / 2 spans.

    >>> itg_forest(Constraint("ITG"), 2)
    {(0, 1): [((0, 0), (1, 1)), ((1, 1), (0, 0))]}
    """
    forest = {}
    for i, k in ((i, i + size) for size in range(1, n) for i in range(n - size)):
        straight = [((i, j), (j + 1, k)) for j in range(i, k)]
        forest[i, k] = straight + [(y, x) for x, y in straight if k - i + 1 <= constraint.bound]
    return forest


def ngrams(*sentences: str) -> list[Words]:
    """Return the 1- to 4-grams of sentences; a set of them has no counts to clip with.

    >>> ngrams("a b a")
    [('a',), ('b',), ('a',), ('a', 'b'), ('b', 'a'), ('a', 'b', 'a')]
    """
    lines = [tuple(sentence.split()) for sentence in sentences]
    return [w[t : t + n] for n in range(1, 5) for w in lines for t in range(len(w) - n + 1)]


def approximate_bleu(matches: Sequence[int], length: int, epsilon: float = EPSILON) -> float:
    """Return exp(1/4 sum_n log(matches_n / (length - n + 1))), n = 1 to 4, Equation 2.

    ``length`` includes the new word (definitions m, Q-25). All orders of given phrases are equally
    long and have the same brevity penalty, which is left out (footnote 4).

    >>> round(approximate_bleu((7, 5, 3, 2), 7), 4), round(approximate_bleu((7, 4, 1, 0), 7), 10)
    (0.7071, 0.0019108856)
    """
    precisions = (m / (length - n + 1) if m else epsilon for n, m in enumerate(matches, 1))
    return prod(precisions) ** 0.25


class Constituent(NamedTuple):
    """A subpath of the lattice or a constituent of the chart, with its matches.

    >>> Constituent((1, 0), ("to", "me"), (2, 1, 0, 0), approximate_bleu((2, 1, 0, 0), 2)).score
    1e-05
    """

    order: Order = ()
    words: Words = ()
    matches: tuple[int, ...] = (0, 0, 0, 0)
    score: float = EPSILON  #: approximate BLEU


def lexical_constituent(p: int, phrase: str, grams: set[Words]) -> Constituent:
    """Return phrase ``p`` with its precomputed matches (Section 3.2).

    >>> lexical_constituent(2, "to me", set(ngrams("explain that to me"))).matches
    (2, 1, 0, 0)
    """
    orders = [len(gram) for gram in ngrams(phrase) if gram in grams]
    matches = tuple(orders.count(n) for n in range(1, 5))
    words = tuple(phrase.split())
    return Constituent((p,), words, matches, approximate_bleu(matches, len(words)))


def update_ngrams(x: Constituent, y: Constituent, grams: set[Words]) -> Constituent:
    """Append ``y`` to ``x``: the matches of both and those across the junction, Figures 3 to 5.

    Only the last three words of ``x`` and the first three of ``y`` matter (definitions i.4).

    >>> path, grams = Constituent(), set(ngrams("if you could explain that to me"))
    >>> for phrase in ("to me", "if", "you", "could", "explain", "that"):
    ...     path = update_ngrams(path, lexical_constituent(0, phrase, grams), grams)
    ...     print(*path.matches, sep="/", end=" ")
    2/1/0/0 3/1/0/0 4/2/0/0 5/3/1/0 6/4/2/1 7/5/3/2
    """
    matches = [mx + my for mx, my in zip(x.matches, y.matches, strict=True)]
    window, junction = x.words[-3:] + y.words[:3], len(x.words[-3:])
    for start in range(junction):
        for end in range(junction + 1, min(start + 4, len(window)) + 1):
            matches[end - start - 1] += window[start:end] in grams
    words = x.words + y.words
    score = approximate_bleu(matches, len(words))
    return Constituent(x.order + y.order, words, tuple(matches), score)


def recombine(cell: list[Constituent], left: int, beam: float) -> list[Constituent]:
    """Return the best for each ``left`` first and three last words; of equals the first order.

    >>> words = ("a", "b", "c")
    >>> cell = [Constituent((0,), ("x", *words), score=0.5), Constituent((1,), words)]
    >>> [x.order for x in recombine(cell, left=0, beam=0.0)]
    [(0,)]
    """
    best: dict[Words, Constituent] = {}
    for x in sorted(cell, key=lambda x: (-x.score, x.order)):
        best.setdefault(x.words[:left] + x.words[-3:], x)
    return [x for x in best.values() if x.score >= beam * next(iter(best.values())).score]


def dijkstra_bleu_decoder(
    constraint: Constraint, phrases: Lines, references: Lines, beam: float = 0.0
) -> Constituent:
    """Return the best path of the lattice, Section 3.1, Equation 1, by layers (definitions i.3).

    gamma([0, k, len + 1, w2, w3, wnew]) = max over w1 of get_bleu([0, j, len, w1, w2, w3], [j, k,
    wnew]): of the subpaths to a state with the same last three words only the best is extended.
    The paper's arcs are words; here an arc is a phrase, and subpaths recombine at its end.

    >>> dijkstra_bleu_decoder(Constraint("MJ", 1), ["b", "a", "c"], ["a b c"]).order
    (1, 0, 2)
    """
    lattice, grams = permutation_lattice(constraint, len(phrases)), set(ngrams(*references))
    cells = defaultdict(list, {next(iter(lattice)): [Constituent()]})
    for state, arcs in lattice.items():
        cells[state] = recombine(cells[state], 0, beam)
        for x, (p, end) in product(cells[state], arcs.items()):
            cells[end].append(update_ngrams(x, lexical_constituent(p, phrases[p], grams), grams))
    return cells[state][0]  # the last state is the final state


def itg_bleu_decoder(
    constraint: Constraint, phrases: Lines, references: Lines, beam: float = 0.0
) -> Constituent:
    """Return the best tree, Section 3.2, Equations 3 and 4; ``beam`` is 1e-4 in the paper.

    gamma([i, k, (wa, wb, wc), (wx, wy, wz)]) = max(gamma_straight, gamma_inverted), each the best
    over splits j and inner words: get_bleu([i, j], [j, k]) if straight, ([j, k], [i, j]) inverted.
    The paper's spans end before k; those of ``itg_forest`` include it.

    >>> itg_bleu_decoder(Constraint("ITG"), ["d", "b", "c", "a"], ["a b c d"]).order
    (3, 1, 2, 0)
    """
    chart, grams = {}, set(ngrams(*references))
    for p, phrase in enumerate(phrases):
        chart[p, p] = [lexical_constituent(p, phrase, grams)]
    for span, rules in itg_forest(constraint, len(phrases)).items():
        pairs = [pair for first, second in rules for pair in product(chart[first], chart[second])]
        cell = [update_ngrams(x, y, grams) for x, y in pairs]
        chart[span] = recombine(cell, 3, beam)
    return chart[0, len(phrases) - 1][0]


def sentence_bleu(text: str, references: Lines, epsilon: float = 0.0) -> float:
    """Return original BLEU: clipped matches, and brevity penalty by the closest reference length.

    >>> round(sentence_bleu("a b c d d d", ["a b c d"]), 4)  # (4/6 3/5 2/4 1/3) ** (1 / 4)
    0.5081
    """
    length, clip = len(text.split()), Counter[Words]()
    for line in references:
        clip |= Counter(ngrams(line))
    orders = [len(gram) for gram in (Counter(ngrams(text)) & clip).elements()]
    closest = min(map(len, map(str.split, references)), key=lambda r: (abs(r - length), r))
    penalty = exp(min(0.0, 1 - closest / length))
    return penalty * approximate_bleu([orders.count(n) for n in range(1, 5)], length, epsilon)


def oracle_translation(
    constraint: Constraint, candidates: Iterable[Lines], references: Lines, beam: float = 0.0
) -> str:
    """Return the best oracle order of the 10 candidates with the best BLEU, Sections 4 and 5.

    The paper takes the best by BLEU; the fast version by approximate BLEU (definitions i.6).

    >>> oracle_translation(Constraint("MJ", 1), [["b", "a x"], ["c", "a b"]], ["a b c"])
    'a b c'
    """
    decoder = itg_bleu_decoder if constraint.family == "ITG" else dijkstra_bleu_decoder
    best = sorted(candidates, key=lambda c: -sentence_bleu(" ".join(c), references, EPSILON))[:10]
    texts = [" ".join(decoder(constraint, c, references, beam).words) for c in best]
    return max(texts, key=lambda text: sentence_bleu(text, references, EPSILON))


def compare_with_brute_force(
    constraint: Constraint, phrases: Lines, references: Lines, beam: float = 0.0
) -> list[tuple[str, float, float]]:
    """Return the sentence of the decoder, and the best by approximate BLEU and by BLEU.

    Each comes with both scores. Recombination and beam lose the difference of the first two rows,
    matches that are not clipped that of the last two (Section 3.3).

    >>> phrases, mj2 = ["a b", "c", "d", "x y z", "u v w"], Constraint("MJ", 2)
    >>> refs = ["x y z u v w", "a b c", "d c", "c a", "b x"]
    >>> [(row[0][:7], round(row[1], 4)) for row in compare_with_brute_force(mj2, phrases, refs)]
    [('a b c d', 0.6756), ('d c a b', 0.6804), ('d c a b', 0.6804)]
    """
    orders, grams = constraint.orders(len(phrases)), set(ngrams(*references))
    texts = [" ".join(phrases[p] for p in order) for order in orders]
    whole = {text: lexical_constituent(0, text, grams) for text in texts}
    exact = {text: sentence_bleu(text, references, EPSILON) for text in texts}
    found = oracle_translation(constraint, [phrases], references, beam)
    rows = found, max(texts, key=lambda text: whole[text].score), max(texts, key=exact.__getitem__)
    return [(text, whole[text].score, exact[text]) for text in rows]
