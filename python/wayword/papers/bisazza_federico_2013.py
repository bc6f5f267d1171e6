"""The word-after-word (WaW) reordering model and early reordering pruning.

In: word-aligned source sentences with POS tags and chunks; the translation options of a sentence.
Out: a classifier and its accuracy; path features and an expansion filter for ``phrase_decoder``;
KRS and KRS-V.
How: Arianna Bisazza and Marcello Federico. 2013. Dynamically Shaping the Reordering Search Space
of Phrase-Based Statistical Machine Translation. Transactions of the ACL, 1:327-340.
Cost: a dense matrix of samples and features; ``wayword.reorder.waw`` is the fast implementation.
Not: annotation, tuning, significance tests; Figures 2 and 3 and Table 5 are results.

* Sect. 2.1, distortion cost -> ``phrase_decoder.DistanceCost``; Sect. 2.2, distortion limit DL ->
  ``phrase_decoder.admissible_options``
* Sect. 3, classifier -> ``log_probs``, ``log_likelihood``, ``train``; Sect. 3.1, Table 1 ->
  ``TABLE_1``, ``features``; Sect. 3.2, Table 2 -> (a) ``permutation``, (b) ``training_samples``;
  Sect. 3.3, Figure 1 -> ``WawFeature``
* Sect. 4, pruning -> ``early_reordering_pruning``; footnote 5, aligned word -> ``entry_word``
* Sect. 5.1, Table 3 -> ``TEMPLATE_SETS``, ``classification_accuracy``; Table 4 ->
  ``ranking_accuracy``, ``rank_jumps``, ``distortion_table``
* Sect. 5.2, early distortion cost -> ``EarlyDistortionCost``; hierarchical orientation model ->
  ``wayword.papers.galley_manning_2008``; Sect. 5.3, KRS and KRS-V -> ``alignment_ranks``, ``krs``

>>> german = {"w": "er hat Tee getrunken".split(), "p": ["PRON", "AUX", "NOUN", "VERB"]}
>>> links, templates = [(0, 0), (1, 1), (2, 3), (3, 2)], TEMPLATE_SETS["W,P"]  # he has drunk tea
>>> table = log_probs(german, train([(german, links)] * 5, templates, min_count=1), templates)
>>> [round(exp(table[1, j]), 1) for j in (2, 3)]  # after "hat": "Tee", "getrunken"
[0.0, 1.0]
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import exp, log, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import fmin_l_bfgs_b

from wayword.papers.phrase_decoder import Hypothesis, PathFeature, TranslationOption, distance

__all__ = ["TABLE_1", "TEMPLATE_SETS", "EarlyDistortionCost", "WawFeature", "alignment_ranks",
           "classification_accuracy", "distortion_table", "early_reordering_pruning", "entry_word",
           "features", "krs", "log_likelihood", "log_probs", "permutation", "rank_jumps",
           "ranking_accuracy", "train", "training_samples"]  # fmt: skip

Floats = NDArray[np.float64]
Numbers = Sequence[float]
Links = Collection[tuple[int, int]]
Sentence = Mapping[str, Sequence[Any]]  # layers: w(ord), p(os), c(hunk type), h(ead), chunk (id)
Corpus = Iterable[tuple[Sentence, Links]]
Templates = Collection[int]
Feature = tuple[Any, ...]  # number of the template, values
Weights = dict[Feature, float]
LogProbs = dict[tuple[int, int], float]  # ln P(R_ij = 1) by (i, j); i = -1 is the start
TestSet = Iterable[tuple[LogProbs, Sequence[int]]]  # the table and the permutation of each sentence

TABLE_1 = """
   i-2 i-1 i i+1 b j-1 j j+1     i-2 i-1 i i+1 b j-1 j j+1     i-2 i-1 i i+1 b j-1 j j+1
 1  .   .  w  .  .  .  w  .    8  .   .  p  .  .  .  p  .   15  .   .  .  .  p+ p  p  .
 2  .   w  w  .  .  .  w  .    9  .   p  p  .  .  .  p  .   16  .   .  w  .  .  .  p  .
 3  w   w  w  .  .  .  w  .   10  p   p  p  .  .  .  p  .   17  .   .  p  .  .  .  w  .
 4  .   w  w  .  .  .  w  w   11  .   p  p  .  .  .  p  p   18  .   .  c  .  .  .  c  .
 5  .   .  w  w  .  w  w  .   12  .   .  p  p  .  p  p  .   19  .   c  c  c  .  c  c  c
 6  .   .  .  .  w  w  w  .   13  .   p  p  p  .  p  p  p   20  .   .  h  .  .  .  h  .
 7  .   .  .  .  w+ w  w  .   14  .   .  .  .  p  p  p  .   21  .   .  .  .  .  .  =  .
"""  # + concatenates all b; = tests whether i and j belong to the same chunk
COLUMNS, *LINES = [line.split() for line in TABLE_1.strip().splitlines()]
ROWS = sorted((int(line[k]), line[k + 1 : k + 9]) for line in LINES for k in (0, 9, 18))
TEMPLATE_SETS = {"W": range(1, 8), "P": range(8, 16), "W,P": range(1, 18), "W,P,C": range(1, 22)}
BIAS: Feature = (0,)


def permutation(positions: range, links: Links) -> list[int]:
    """Return sigma: positions sorted by the mean of their target positions (Table 2a, Sect. 3.3).

    An unaligned word takes the mean over the nearest aligned word on each side, as its neighbors
    may be unaligned too (definitions m, Q-01), or over one side; ties keep source order (Q-02).

    >>> permutation(range(6), [(0, 2), (1, 0), (2, 1), (4, 4), (5, 3)])  # word 3: (1 + 4) / 2
    [1, 2, 0, 3, 5, 4]
    """
    targets = {k: {t for s, t in links if positions[s] == k} for k in positions}
    means = {k: Fraction(sum(ts), len(ts)) for k, ts in targets.items() if ts}
    keys: dict[int, Fraction] = {}
    for k in positions:
        near = [means[a] for a in means if a <= k][-1:] + [means[a] for a in means if a >= k][:1]
        keys[k] = sum(near, Fraction()) / max(len(near), 1)
    return sorted(positions, key=keys.__getitem__)


def training_samples(sigma: Sequence[int], delta: int = 10) -> list[tuple[int, int, int]]:
    """Return the samples (i, j, R_ij) of decoding in the order sigma (Table 2b).

    R = 1 for i = sigma_t and j = sigma_t+1, R = 0 for i and other uncovered u in the window,
    i - delta + 1 < u < i + delta + 1, strict as printed (definitions m, Q-04). The first i is -1,
    so that J words give J decisions (Q-03).

    >>> training_samples([1, 2, 0], delta=2)
    [(-1, 1, 1), (-1, 0, 0), (1, 2, 1), (2, 0, 1)]
    """
    samples = []
    for t, (i, j) in enumerate(pairwise([-1, *sigma])):
        window = [u for u in sorted(sigma[t + 1 :]) if i - delta + 1 < u < i + delta + 1]
        samples += [(i, j, 1), *((i, u, 0) for u in window)]
    return samples


def features(sentence: Sentence, i: int, j: int, templates: Templates) -> list[Feature]:
    """Return the binary features of translating ``j`` right after ``i`` (Table 1).

    Positions b have the orientation, F or B. If there are none, their templates do not fire, as an
    empty value would state the jump length (definitions m, Q-05); columns as printed (Q-06).

    >>> features({"w": "a b c d".split()}, 0, 3, [2, 6])
    [(2, '<s>', 'a', 'd'), (6, ('F', 'b'), 'c', 'd'), (6, ('F', 'c'), 'c', 'd')]
    """

    def values(column: str, layer: str) -> list[Any]:
        if column == "b":
            words = sentence[layer[0]][min(i, j) + 1 : max(i, j)]
            groups = [words][: len(words)] if layer[1:] else [[word] for word in words]
            return list(dict.fromkeys(("F" if j > i else "B", *group) for group in groups))
        if layer == "=":
            return [i >= 0 and sentence["chunk"][i] == sentence["chunk"][j]]
        k = {"i": i, "j": j}[column[0]] + int(column[1:] or 0)
        return ["<s>" if k < 0 else "</s>" if k >= len(sentence["w"]) else sentence[layer][k]]

    fired: list[Feature] = []
    for number, row in ROWS:
        cells = [cell for cell in zip(COLUMNS[:8], row, strict=True) if cell[1] != "."]
        if number in templates:
            fired += [(number, *choice) for choice in product(*(values(*cell) for cell in cells))]
    return fired


def log_probs(sentence: Sentence, weights: Weights, templates: Templates) -> LogProbs:
    """Return ln P(R_ij = 1) = ln [exp(sum_m lambda_m h_m(1)) / sum_Y exp(sum_m lambda_m h_m(Y))].

    h_m(0) = 0, so P = 1 / (1 + exp(-sum_m lambda_m h_m(1))), Sect. 3. Pairs beyond the distortion
    limit are included: they occur inside phrases (definitions m, Q-09).

    >>> round(exp(log_probs({"w": ["sfyr"]}, {(1, "<s>", "sfyr"): 0.5052400863}, [1])[-1, 0]), 8)
    0.62368998
    """
    words, table = range(len(sentence["w"])), {}
    for i, j in product([-1, *words], words):
        fired = [BIAS, *features(sentence, i, j, templates)]
        table[i, j] = -float(np.logaddexp(0, -sum(weights.get(f, 0) for f in fired)))
    return table


def log_likelihood(x: Floats, h: Floats, y: Floats, prior: float = 1) -> tuple[float, Floats]:
    """Return L = sum_s ln P(R = y_s) - prior / 2 |x|^2 and its gradient at x = lambda; y = 1 or -1.

    >>> value, slope = log_likelihood(np.array([0.50524]), np.ones((4, 1)), np.array([1, 1, 1, -1]))
    >>> round(value, 8), round(slope[0].item(), 5)  # definitions b.4
    (-2.52128131, 0.0)
    """
    margins = y * (h @ x)
    value = -np.logaddexp(0, -margins).sum() - prior / 2 * x @ x
    return float(value), h.T @ (y * np.exp(-np.logaddexp(0, margins))) - prior * x


def train(corpus: Corpus, templates: Templates, delta: int = 10, min_count: int = 20) -> Weights:
    """Maximize L in 100 iterations, with the prior of MegaM (Sect. 5.1; definitions m, Q-08).

    >>> weights = train([({"w": ["a", "b"]}, [(0, 1), (1, 0)])], [1], min_count=1)
    >>> weights[1, "<s>", "b"] > 0 > weights[1, "<s>", "a"]
    True
    """
    samples = [
        ({BIAS, *features(sentence, i, j, templates)}, 2 * outcome - 1)
        for sentence, links in corpus
        for i, j, outcome in training_samples(permutation(range(len(sentence["w"])), links), delta)
    ]
    counts = Counter(feature for fired, _ in samples for feature in fired)
    kept = [feature for feature in counts if counts[feature] >= min_count or feature == BIAS]
    h = np.array([[float(feature in fired) for feature in kept] for fired, _ in samples])
    y = np.array([outcome for _, outcome in samples])
    best = fmin_l_bfgs_b(lambda x: [-v for v in log_likelihood(x, h, y)], 0 * h[0], maxiter=100)
    return dict(zip(kept, best[0].tolist(), strict=True))


class WawFeature(PathFeature):
    """The WaW score, ln P of J steps; the state is the last translated word (Sect. 3.3, Figure 1).

    >>> phrase = TranslationOption(0, 1, ("x", "y"), alignment=((0, 1), (1, 0)))
    >>> WawFeature({(-1, 1): -0.5, (1, 0): -1.0}).extend(Hypothesis(), -1, phrase)
    (-1.5, 0)
    """

    initial_state = -1

    def __init__(self, table: LogProbs) -> None:
        self.table = table

    def extend(self, hyp: Hypothesis, state: Any, option: TranslationOption) -> tuple[float, Any]:
        """Return the sum over the steps from the last word through the phrase."""
        order = permutation(option.positions(), option.alignment)
        return sum(self.table[step] for step in pairwise([state, *order])), order[-1]


def entry_word(option: TranslationOption) -> int:
    """Return the first aligned word of a phrase, where the jump to the phrase ends (footnote 5).

    First means first in translation order, as for the WaW score of the phrase (definitions m,
    Q-10); in a phrase without links, the leftmost word.

    >>> links = ((1, 1), (2, 0))  # word 4 is unaligned, word 6 is translated before word 5
    >>> entry_word(TranslationOption(4, 6, ("x", "y"), alignment=links))
    6
    """
    aligned = {option.start + source for source, _ in option.alignment}
    order = permutation(option.positions(), option.alignment)
    return next((k for k in order if k in aligned), option.start)


def early_reordering_pruning(
    table: LogProbs, histogram: int | None = 3, threshold: float = 0.1, zone: int = 5
) -> Callable[[Hypothesis, list[TranslationOption]], list[TranslationOption]]:
    """Return an ``expansion_filter`` that prunes by the WaW score alone (Sect. 4).

    The score of an option is ln P from the last translated word to its ``entry_word``. All
    reachable words are ranked (definitions m, Q-11): the best ``histogram`` with P >= ``threshold``
    * best P stay, and so do options with D <= ``zone`` from the end of the last phrase, as for DL
    (Q-12). The search needs ``WawFeature`` to keep the last word in the state.

    >>> prune = early_reordering_pruning({(-1, 0): -3, (-1, 1): -1, (-1, 2): -2}, 2, zone=-1)
    >>> [o.start for o in prune(Hypothesis(), [TranslationOption(k, k, ()) for k in range(3)])]
    [1, 2]
    """

    def prune(hyp: Hypothesis, admissible: list[TranslationOption]) -> list[TranslationOption]:
        last = permutation(hyp.option.positions(), hyp.option.alignment)[-1] if hyp.option else -1
        entry = {o: entry_word(o) for o in admissible}
        score = {k: table[last, k] for k in entry.values()}
        ranked = sorted(score, key=lambda k: (-score[k], distance(hyp.end, k), k))[:histogram]
        kept = [k for k in ranked if exp(score[k] - score[ranked[0]]) >= threshold]
        return [o for o in admissible if entry[o] in kept or distance(hyp.end, o.start) <= zone]

    return prune


def percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else nan


def classification_accuracy(test_set: TestSet, delta: int = 10) -> tuple[float, float, float]:
    """Return precision, recall and F of the class R = 1 in percent, over test samples (Table 3).

    A pair is classified as R = 1 if P >= 0.5 (definitions b.6).

    >>> table = {(-1, 0): log(0.6), (-1, 1): log(0.5), (1, 0): log(0.2)}
    >>> classification_accuracy([(table, [1, 0])])  # (-1, 0) is wrong, (1, 0) is missed
    (50.0, 50.0, 50.0)
    """
    counts = Counter(
        (outcome, table[i, j] >= log(0.5))
        for table, sigma in test_set
        for i, j, outcome in training_samples(sigma, delta)
    )
    right, missed, wrong = counts[1, True], counts[1, False], counts[0, True]
    f = percent(2 * right, 2 * right + wrong + missed)
    return percent(right, right + wrong), percent(right, right + missed), f


def distortion_table(length: int) -> LogProbs:
    """Return ln d = -D(i, j), by which standard distortion ranks jumps: the baseline of Table 4.

    >>> distortion_table(3)[0, 1], distortion_table(3)[2, 0]
    (0, -3)
    """
    return {(i, j): -distance(i, j) for i, j in product(range(-1, length), range(length))}


def rank_jumps(table: LogProbs, i: int, positions: Iterable[int]) -> list[int]:
    """Return positions by score, best first; ties: smaller D, then forward (definitions b.6).

    >>> rank_jumps(distortion_table(6), 2, [0, 1, 4, 5])  # D = 3, 2, 1, 2
    [4, 5, 1, 0]
    """
    return sorted(positions, key=lambda j: (-table[i, j], distance(i, j), j < i, j))


def ranking_accuracy(test_set: TestSet, limit: int) -> dict[str, float]:
    """Return Table 4 in percent: how often the correct jump is ranked first or among the top 3.

    At each step along sigma the uncovered words with D <= ``limit`` are ranked. A correct jump
    beyond the limit is a failure; DL-err is the share of these. The long jumps are those with D > 7
    (back) or D > 6 (forward) within the limit; there only words that the decoder can reach are
    ranked, because then the columns fall as DL rises, as in the paper (definitions m, Q-39).

    >>> sigma = [*range(1, 9), 0, *range(9, 20)]  # the verb, word 0, follows a long subject
    >>> list(ranking_accuracy([(distortion_table(20), sigma)], 18).values())
    [0.0, 90.0, 95.0, 0.0, 100.0]
    """
    names = ("DL-err", "Top-1", "Top-3", "Top-3-long back", "Top-3-long forw.")
    events: dict[str, list[bool]] = {name: [] for name in names}
    for table, sigma in test_set:
        for t, (i, j) in enumerate(pairwise([-1, *sigma])):
            gap = min(sigma[t:])
            ranked = rank_jumps(table, i, [u for u in sigma[t:] if distance(i, u) <= limit])
            events["DL-err"].append(j not in ranked)
            events["Top-1"].append(j in ranked[:1])
            events["Top-3"].append(j in ranked[:3])
            if (7 if j < i else 6) < distance(i, j) <= limit:
                reachable = [u for u in ranked if u == gap or distance(u, gap) <= limit]
                events[names[3 if j < i else 4]].append(j in reachable[:3])
    return {name: percent(sum(of), len(of)) for name, of in events.items()}


class EarlyDistortionCost(PathFeature):
    """Minus the distortion cost, charged as soon as it is certain (Moore and Quirk, 2007).

    Cost of L words [s, t]: 0 if s = p + 1; 2 L if t < e; else 2 (s - max(e, p) - 1 + L), see
    definitions d.3. The total is that of ``DistanceCost`` with the final jump (m, Q-13).

    >>> EarlyDistortionCost().extend(Hypothesis(), None, TranslationOption(1, 3, ()))
    (-8, None)
    """

    def extend(self, hyp: Hypothesis, state: Any, option: TranslationOption) -> tuple[float, Any]:
        """Return minus the cost; p is the end of the covered prefix, e of the last phrase."""
        s, t, e, p = option.start, option.end, hyp.end, hyp.first_gap() - 1
        cost = 0 if s == p + 1 else 2 * (t - s + 1) if t < e else 2 * (t - max(e, p))
        return -cost, None


def alignment_ranks(length: int, links: Links) -> list[int]:
    """Return ranks by leftmost link, unaligned words attached, as Birch does (definitions m, Q-27).

    >>> alignment_ranks(7, [(1, 6), (1, 7), (2, 1), (4, 4), (5, 3), (5, 4)])
    [0, 6, 1, 2, 5, 3, 4]
    """
    keys = [-1]
    for k in range(length):
        keys.append(min((t for s, t in links if s == k), default=keys[-1]))
    order = sorted(range(length), key=keys[1:].__getitem__)
    return [order.index(k) for k in range(length)]


def krs(
    pi: Numbers,
    sigma: Numbers,
    weights: Numbers = (),
    lengths: Numbers = (1, 1),
    literal: bool = False,
) -> float:
    """Return KRS = (1 - sqrt(K)) BP, or KRS-V with ``weights`` lambda of the words (Sect. 5.3).

    K = sum_ij d(i, j) / sum_i<j (lambda_i + lambda_j); d(i, j) = lambda_i + lambda_j if pi_i < pi_j
    and sigma_i > sigma_j, else 0; without weights lambda_i + lambda_j is 1. For KRS-V the paper
    prints the divisor n (n - 1) / 2 (``literal``), which lets K exceed 1 (definitions m, Q-28).
    ``lengths`` of output and reference give BP. NaN if all weights are 0, unless ``literal``.

    >>> order = [3, 0, 1, 2, 4, 5]  # 3 of 15 pairs are discordant; of 5 pairs with word 0, 3
    >>> round(krs(range(6), order), 6), round(krs(range(6), order, [1, 0, 0, 0, 0, 0]), 6)
    (0.552786, 0.225403)
    >>> round(krs(range(6), range(5, -1, -1), [1] * 6, literal=True), 6)
    -0.414214
    """
    if weights and not any(weights) and not literal:
        return nan
    weight, (hyp, ref) = weights or [0.5] * len(pi), lengths
    pairs = [(i, j) for i, j in product(range(len(pi)), repeat=2) if pi[i] < pi[j]]
    total = len(pairs) if literal else sum(weight[i] + weight[j] for i, j in pairs)
    wrong = sum(weight[i] + weight[j] for i, j in pairs if sigma[i] > sigma[j])
    bp = exp(min(0.0, 1 - ref / hyp)) if hyp else 0.0
    return (1 - sqrt(wrong / total if wrong else 0)) * bp
