# ruff: noqa: E741, N803, N806
"""Learn how much each pair of source words prefers its order, and search the best permutation.

In: tagged source sentences with word alignments, or a matrix B of pairwise preferences.
Out: weights theta, the matrix B of a sentence, a permutation of its words, a decoder feature.
How: Roy Tromble and Jason Eisner. 2009. Learning Linear Ordering Problems for Better Translation.
In Proceedings of EMNLP, pages 1007-1016.
Cost: O(n^3) for a step of local search over n words, O(n! n^2) for all permutations.
Not: table 3 and figure 4, the translation experiments; ``docs/papers`` has one on toy text.

* equation (1) -> ``preference_matrix``; table 1 -> ``TABLE_1``, ``features``
* equation (2) -> ``score``; equation (3) -> ``probabilities``; equation (4) -> ``best_permutation``
* equations (5), (6) -> ``swap_benefits``; figure 1, N(pi) -> ``neighborhood``
* figures 2, 3 -> ``local_search_step``; section 3, until a local maximum -> ``local_search``
* section 5 -> ``reference_permutation`` (German'), ``averaged_perceptron``, ``train``, ``reorder``
* equation (7) -> ``log_odds``; table 2, precision and recall of pairs -> ``ordering_scores``
* section 6, inside a decoder -> ``LinearOrderingFeature``

Tokens count from 0. As in the paper, i, j and k are borders between the places of a permutation:
S(i,k) covers ``pi[i:k]``, and its first token pi_{i+1} is ``pi[i]``.

>>> gain, pi = local_search_step(EXAMPLE_B, range(6))
>>> score(EXAMPLE_B, range(6)), gain, " ".join(EXAMPLE[token][0] for token in pi)
(-8.0, 15.0, 'die Frau hat gekauft die Katze')
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, combinations, compress, cycle, permutations, product
from math import exp, inf, log, nan, prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from wayword.papers.phrase_decoder import Hypothesis, PathFeature, TranslationOption

__all__ = [
    "EXAMPLE", "EXAMPLE_B", "TABLE_1", "LinearOrderingFeature", "averaged_perceptron",
    "best_permutation", "features", "local_search", "local_search_step", "log_odds",
    "neighborhood", "ordering_scores", "preference_matrix", "probabilities",
    "reference_permutation", "reorder", "score", "swap_benefits", "train",
]  # fmt: skip

Matrix: TypeAlias = npt.NDArray[np.float64]
Permutation: TypeAlias = Sequence[int]
Links: TypeAlias = Sequence[tuple[int, int]]  # pairs of source and target position
TaggedSentence: TypeAlias = Sequence[tuple[str, str]]  # words with part-of-speech tags
Corpus: TypeAlias = Sequence[tuple[TaggedSentence, Permutation]]  # with reference permutations
Feature: TypeAlias = tuple[str, ...]  # number of the template, its values, maybe the distance
Theta: TypeAlias = dict[Feature, float]

#: the example of the paper, with the matrix of definitions h.4
EXAMPLE = [("die", "ART"), ("Katze", "NN"), ("hat", "VAFIN"), ("die", "ART"), ("Frau", "NN"),
           ("gekauft", "VVPP")]  # fmt: skip
EXAMPLE_B: Matrix = np.zeros((6, 6))
EXAMPLE_B[np.triu_indices(6, 1)] = [2, -2, -1, -1, -1, -2, -1, -3, -1, -1, -2, 1, 2, 1, 1]

#: The printed row 7 repeats row 4; read as w[l] t[r], the mirror of row 8 (definitions m, Q-21).
TABLE_1 = """
t[l-1] w[l] t[l] t[l+1] t[b] t[r-1] w[r] t[r] t[r+1]
  .     x    x     .     .     .     x    x     .
  .     x    x     .     .     .     x    .     .
  .     x    .     .     .     .     x    x     .
  .     x    x     .     .     .     .    x     .
  .     .    x     .     .     .     x    x     .
  .     x    .     .     .     .     x    .     .
  .     x    .     .     .     .     .    x     .
  .     .    x     .     .     .     x    .     .
  .     .    x     .     x     .     .    x     .
  .     .    x     x     .     x     .    x     .
  .     .    x     x     .     .     .    x     x
  x     .    x     .     .     .     .    x     x
  x     .    x     .     .     .     .    x     .
  x     .    x     .     .     x     .    x     .
  .     .    x     .     .     x     .    x     .
"""


def features(sentence: TaggedSentence, l: int, r: int) -> list[Feature]:
    """Return the binary features of tokens l < r: table 1, each plain and with the distance r - l.

    The bins ">5" and ">10" are 6 to 10 and above, so that a pair has one bin (definitions m, Q-22).

    >>> [feature for feature in features(EXAMPLE, 0, 2) if feature[0] == "09"]
    [('09', 'ART', 'NN', 'VAFIN'), ('09', 'ART', 'NN', 'VAFIN', 'd=2')]
    """
    w = [word for word, _ in sentence]
    t = dict(enumerate(["<s>", *(tag for _, tag in sentence), "</s>"], start=-1))
    distance = "d=" + (str(r - l) if r - l <= 5 else ">5" if r - l <= 10 else ">10")
    fired: dict[Feature, None] = {}  # an ordered set: a tag t[b] that occurs twice fires once
    for number, row in enumerate(TABLE_1.strip().splitlines()[1:], start=1):
        marks = [cell == "x" for cell in row.split()]
        for b in range(l + 1, r) if marks[4] else [l]:
            values = [t[l - 1], w[l], t[l], t[l + 1], t[b], t[r - 1], w[r], t[r], t[r + 1]]
            feature = (f"{number:02}", *compress(values, marks))
            fired |= {feature: None, (*feature, distance): None}
    return list(fired)


def preference_matrix(theta: Theta, sentence: TaggedSentence) -> Matrix:
    """Return B[l, r] = theta . phi(w, l, r) for l < r, equation (1); 0 for l > r, footnote 1.

    Values are multiples of 2^-30: sums are exact, and ties remain ties (definitions h.1).

    >>> preference_matrix({("08", "VAFIN", "gekauft"): 1.5}, EXAMPLE)[2].tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.5]
    """
    B = np.zeros((len(sentence), len(sentence)))
    for l, r in combinations(range(len(sentence)), 2):
        value = sum(theta.get(feature, 0.0) for feature in features(sentence, l, r))
        B[l, r] = round(value * 2**30) / 2**30
    return B


def score(B: Matrix, pi: Permutation) -> float:
    """Return the sum of B[pi_i, pi_j] over i < j, equation (2).

    >>> score(EXAMPLE_B, [3, 4, 2, 5, 0, 1])
    7.0
    """
    return float(sum(B[first, second] for first, second in combinations(pi, 2)))


def probabilities(B: Matrix, gamma: float = 1.0) -> dict[tuple[int, ...], float]:
    """Return p(pi) = exp(gamma score(pi)) / Z of each of the n! permutations, equation (3).

    >>> [round(p, 6) for p in probabilities(np.array([[0, -log(3)], [0, 0]])).values()]
    [0.25, 0.75]
    """
    values = {pi: gamma * score(B, pi) for pi in permutations(range(len(B)))}
    best = max(values.values())  # subtracted, so that exp cannot overflow
    Z = sum(exp(value - best) for value in values.values())
    return {pi: exp(value - best) / Z for pi, value in values.items()}


def best_permutation(B: Matrix) -> list[int]:
    """Return the permutation with the best score among all n!, equation (4); NP-hard.

    >>> best_permutation(EXAMPLE_B)
    [3, 4, 2, 5, 0, 1]
    """
    return [*max(permutations(range(len(B))), key=lambda pi: score(B, pi))]


def swap_benefits(B: Matrix, pi: Permutation) -> dict[tuple[int, int, int], float]:
    """Return Delta(i,j,k), the benefit of swapping ``pi[i:j]`` and ``pi[j:k]``, for all i < j < k.

    Equation (5): the sum of B[pi_r, pi_l] - B[pi_l, pi_r] over i < l <= j < r <= k.
    Equation (6): Delta(i,j,k) = Delta(i,j,k-1) + Delta(i+1,j,k) - Delta(i+1,j,k-1)
    + B[pi_k, pi_{i+1}] - B[pi_{i+1}, pi_k], where Delta is 0 if i = j or j = k.

    >>> swap_benefits(EXAMPLE_B, range(6))[0, 2, 6]  # "die Katze" and the words after it
    12.0
    """
    delta: defaultdict[tuple[int, int, int], float] = defaultdict(float)
    for i in reversed(range(len(pi))):
        for j, k in combinations(range(i + 1, len(pi) + 1), 2):
            inner = delta[i, j, k - 1] + delta[i + 1, j, k] - delta[i + 1, j, k - 1]
            delta[i, j, k] = inner + float(B[pi[k - 1], pi[i]] - B[pi[i], pi[k - 1]])
    return delta


def neighborhood(pi: Permutation) -> set[tuple[int, ...]]:
    """Return N(pi), section 3: all permutations that nested swaps of adjacent substrings reach.

    As in figure 1, pi is split in two; neighbors of the parts are joined in both orders.

    >>> [len(neighborhood(range(n))) for n in range(1, 7)]  # large Schroeder numbers
    [1, 2, 6, 22, 90, 394]
    >>> max(neighborhood([0, 3, 4, 5, 2, 1]), key=lambda pi: score(EXAMPLE_B, pi))
    (3, 4, 2, 5, 0, 1)
    """
    if len(pi) < 2:
        return {tuple(pi)}
    splits = (product(neighborhood(pi[:j]), neighborhood(pi[j:])) for j in range(1, len(pi)))
    return {joined for x, y in chain(*splits) for joined in (x + y, y + x)}


def local_search_step(B: Matrix, pi: Permutation) -> tuple[float, list[int]]:
    """Return the gain beta(0,n) of the best permutation in N(pi), and the permutation, figure 3.

    beta(i,i+1) = 0; beta(i,k) = max over j of beta(i,j) + beta(j,k) + max(0, Delta(i,j,k)).
    Ties: no swap, the smallest j (definitions h.3).

    >>> local_search_step(EXAMPLE_B, [0, 3, 4, 5, 2, 1])  # figure 2: from alphabetical order
    (6.0, [3, 4, 2, 5, 0, 1])
    """
    n, delta = len(pi), swap_benefits(B, pi)
    beta = {(i, i + 1): 0.0 for i in range(n)}
    best = {(i, i + 1): [pi[i]] for i in range(n)}  # instead of back pointers
    for i, k in ((i, i + w) for w in range(2, n + 1) for i in range(n - w + 1)):
        beta[i, k] = -inf
        for j in range(i + 1, k):
            value = beta[i, j] + beta[j, k] + max(0.0, delta[i, j, k])
            if value > beta[i, k]:
                left, right = best[i, j], best[j, k]
                beta[i, k] = value
                best[i, k] = right + left if delta[i, j, k] > 0 else left + right
    return (beta[0, n], best[0, n]) if n else (0.0, [])


def local_search(B: Matrix) -> list[int]:
    """Repeat the step from the identity permutation until a local maximum, section 3.

    >>> B = np.triu(np.random.default_rng(12).integers(-9, 10, (7, 7)), 1)
    >>> found = local_search_step(B, range(7))[1], local_search(B), best_permutation(B)
    >>> [score(B, pi) for pi in found]  # one step, local maximum, optimum
    [40.0, 43.0, 47.0]
    """
    gain, pi = local_search_step(B, range(len(B)))
    while gain > 1e-12:  # a smaller gain may be a rounding error
        gain, pi = local_search_step(B, pi)
    return pi


def reference_permutation(n: int, links: Links) -> list[int]:
    """Return German', section 5: a stable sort by leftmost target position, unaligned tokens first.

    >>> reference_permutation(6, [(0, 2), (1, 0), (2, 1), (4, 4), (5, 3)])  # definitions a.2
    [3, 1, 2, 0, 5, 4]
    """
    return sorted(range(n), key=lambda l: min((t for s, t in links if s == l), default=-1))


def reversed_pairs(pi: Permutation) -> set[tuple[int, int]]:
    """Return the pairs l < r of tokens that ``pi`` reverses."""
    return {(l, r) for r, l in combinations(pi, 2) if l < r}


def log_odds(corpus: Corpus) -> Theta:
    """Return theta_m = log(stay_m + 1/2) - log(reverse_m + 1/2), equation (7).

    Feature m fires for stay_m pairs of tokens that stay in order and reverse_m that reverse it.

    >>> corpus = [(EXAMPLE[:2], [0, 1])] * 3 + [(EXAMPLE[:2], [1, 0])] * 7
    >>> round(log_odds(corpus)["06", "die", "Katze"], 6)
    -0.76214
    """
    stay, reverse = Counter[Feature](), Counter[Feature]()
    for sentence, pi in corpus:
        for l, r in combinations(range(len(pi)), 2):
            fired = features(sentence, l, r)
            (reverse if (l, r) in reversed_pairs(pi) else stay).update(fired)
    return {m: log(stay[m] + 0.5) - log(reverse[m] + 0.5) for m in stay | reverse}


def averaged_perceptron(corpus: Corpus) -> Iterator[Theta]:
    """Yield the log-odds, then the averaged theta after each pass over the corpus, section 5.

    A pair that only the prediction reverses adds 1 to its features, a pair that only the reference
    reverses subtracts 1. The average is over theta before the first and after every sentence
    (definitions m, Q-23): after t sentences, a change by sentence s is in t + 1 - s of t + 1.

    >>> thetas = averaged_perceptron([(EXAMPLE[:2], [0, 1]), (EXAMPLE[:2], [1, 0])])
    >>> [round(next(thetas)["06", "die", "Katze"], 3) for _ in range(2)]  # of 0; of 0, 0, -1
    [0.0, -0.333]
    """
    theta, late = log_odds(corpus), Counter[Feature]()
    yield dict(theta)
    for t, (sentence, reference) in enumerate(cycle(corpus), start=1):
        wanted = reversed_pairs(reference)
        predicted = reversed_pairs(local_search(preference_matrix(theta, sentence)))
        for l, r in wanted ^ predicted:
            change = 1 if (l, r) in predicted else -1
            for m in features(sentence, l, r):
                theta[m] += change
                late[m] += change * t
        if t % len(corpus) == 0:
            yield {m: theta[m] - late[m] / (t + 1) for m in theta}


def reorder(theta: Theta, sentence: TaggedSentence) -> list[int]:
    """Return the predicted permutation: one step of local search from the identity, section 5.

    >>> reorder({("06", "Frau", "gekauft"): -1.5}, EXAMPLE)
    [0, 1, 2, 3, 5, 4]
    """
    return local_search_step(preference_matrix(theta, sentence), range(len(sentence)))[1]


def ordering_scores(corpus: Corpus, predicted: Sequence[Permutation]) -> dict[str, float]:
    """Return the scores of table 2, and precision and recall of reversed pairs, in percent.

    BLEU is the geometric mean of p1 ... p4: references and predictions have the same words, so that
    p1 is 100 and the brevity penalty 1. A score with nothing to divide by is NaN (definitions j.5).

    >>> scores = ordering_scores([(EXAMPLE, [3, 4, 2, 5, 0, 1])], [[3, 4, 2, 0, 1, 5]])
    >>> {name: round(value) for name, value in scores.items()}
    {'p1': 100, 'p2': 60, 'p3': 25, 'p4': 0, 'precision': 100, 'recall': 80, 'BLEU': 0}
    """
    match, total = Counter[str](), Counter[str]()
    for (sentence, reference), pi in zip(corpus, predicted, strict=True):
        texts = [[sentence[token][0] for token in order] for order in (reference, pi)]
        for n in range(1, 5):
            starts = range(len(pi) - n + 1)
            wanted, found = (Counter(tuple(w[at : at + n]) for at in starts) for w in texts)
            match[f"p{n}"] += (wanted & found).total()
            total[f"p{n}"] += found.total()
        gold, guess = reversed_pairs(reference), reversed_pairs(pi)
        match.update(precision=len(gold & guess), recall=len(gold & guess))
        total.update(precision=len(guess), recall=len(gold))
    names = ("p1", "p2", "p3", "p4", "precision", "recall")
    percent = {name: 100 * match[name] / total[name] if total[name] else nan for name in names}
    return percent | {"BLEU": prod(percent[name] for name in names[:4]) ** 0.25}


def train(corpus: Corpus, dev: Corpus, patience: int = 2) -> tuple[Theta, list[float]]:
    """Return theta of the pass with the best BLEU on ``dev``, and BLEU of every pass, section 5.

    Training stops when BLEU failed to improve for ``patience`` consecutive passes. Pass 0 is the
    log-odds. The paper does not say which pass it keeps (definitions h.5).

    >>> subject_first = [EXAMPLE[token] for token in (3, 4, 2, 0, 1, 5)], [0, 1, 2, 5, 3, 4]
    >>> dev = [(EXAMPLE, [3, 4, 2, 5, 0, 1])]  # object first, the rarer order
    >>> [round(value, 1) for value in train([*dev, subject_first, subject_first], dev)[1]]
    [0.0, 56.2, 100.0, 100.0, 100.0]
    """
    kept, best, values = 0, dict[Feature, float](), list[float]()
    for number, theta in enumerate(averaged_perceptron(corpus)):
        predicted = [reorder(theta, sentence) for sentence, _ in dev]
        values.append(ordering_scores(dev, predicted)["BLEU"])
        if number == 0 or values[number] > values[kept]:
            kept, best = number, theta
        elif number - kept == patience:
            break
    return best, values


class LinearOrderingFeature(PathFeature):
    """The score of B inside a decoder, section 6: stateless, given the coverage.

    The phrase [i, j] adds the sum of B[l, r] over i <= l < r <= j, and the sum over l in [i, j] and
    r in U, the tokens that remain uncovered. A derivation has the score of its token order, source
    order inside phrases (definitions m, Q-24). The paper gives no future cost; the estimate of a
    phrase is the first sum, which does not depend on the coverage.

    >>> from wayword.papers.phrase_decoder import score_derivation
    >>> options = [TranslationOption(*span, ()) for span in [(3, 4), (2, 2), (5, 5), (0, 1)]]
    >>> score_derivation(options, [(1.0, LinearOrderingFeature(EXAMPLE_B))], length=6)
    7.0
    """

    def __init__(self, B: Matrix) -> None:
        self.B = B

    def extend(self, hyp: Hypothesis, state: Any, option: TranslationOption) -> tuple[float, Any]:
        """Return the sum inside the phrase plus the sum before the uncovered words."""
        U = set(range(len(self.B))) - hyp.coverage - set(option.positions())
        before = sum(self.B[l, r] for l in option.positions() for r in U)
        return self.estimate(option) + float(before), None

    def estimate(self, option: TranslationOption) -> float:
        """Return the sum inside the phrase."""
        return score(self.B, option.positions())
