"""Interpolated modified Kneser-Ney, slow and obvious: definitions l word by word.

N-grams are tuples of words, counts are dictionaries, probabilities are computed when asked for.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

Gram = tuple[str, ...]

FALLBACK = (0.5, 1.0, 1.5)


class KneserNey:
    """A model of ``order`` estimated from lines of words."""

    def __init__(self, lines: Sequence[str], order: int, prune: Sequence[int] = ()) -> None:
        sentences = [["<s>", *line.split(), "</s>"] for line in lines]
        self.order = min(order, max(map(len, sentences)))
        thresholds = [*prune, *[prune[-1] if prune else 0] * order]
        self.vocab = {"<unk>", "</s>"}.union(*(sentence[1:] for sentence in sentences))
        raw: Counter[Gram] = Counter()
        for sentence in sentences:
            for end in range(1, len(sentence)):
                for start in range(max(0, end + 1 - self.order), end + 1):
                    raw[tuple(sentence[start : end + 1])] += 1
        before: Counter[Gram] = Counter(gram[1:] for gram in raw if len(gram) > 1)
        is_raw = {gram: len(gram) == self.order or gram[0] == "<s>" for gram in raw}
        self.counts = {gram: raw[gram] if is_raw[gram] else before[gram] for gram in raw}
        self.pruned = {gram for gram in raw if raw[gram] <= thresholds[len(gram) - 1]}
        self.discounts = [self._discounts(k) for k in range(1, self.order + 1)]
        self.after: dict[Gram, list[str]] = {}
        for gram in self.counts:
            self.after.setdefault(gram[:-1], []).append(gram[-1])

    def _discounts(self, k: int) -> tuple[float, ...]:
        of_counts = Counter(count for gram, count in self.counts.items() if len(gram) == k)
        n = [of_counts[count] for count in range(5)]
        if 0 in n[1:4]:
            return FALLBACK
        y = n[1] / (n[1] + 2 * n[2])
        amounts = tuple(c - (c + 1) * y * n[c + 1] / n[c] for c in (1, 2, 3))
        fits = all(0 < amount <= c for c, amount in enumerate(amounts, start=1))
        return amounts if fits else FALLBACK

    def discount(self, gram: Gram) -> float:
        """What is taken from the count of an n-gram; all of it when it is pruned."""
        count = self.counts[gram]
        if gram in self.pruned:
            return count
        return self.discounts[len(gram) - 1][min(count, 3) - 1]

    def left_over(self, context: Gram) -> float:
        """The share of a context's mass that goes to the shorter context."""
        words = self.after.get(context, [])
        if not words:
            return 1.0
        total = sum(self.counts[(*context, word)] for word in words)
        return sum(self.discount((*context, word)) for word in words) / total

    def prob(self, word: str, context: Gram) -> float:
        """The probability of a word after a context of any length."""
        context = context[-(self.order - 1) :] if self.order > 1 else ()
        word = word if word in self.vocab else "<unk>"
        words = self.after.get(context, [])
        shorter = self.prob(word, context[1:]) if context else 1 / len(self.vocab)
        direct = 0.0
        if (*context, word) in self.counts:
            total = sum(self.counts[(*context, other)] for other in words)
            gram = (*context, word)
            direct = (self.counts[gram] - self.discount(gram)) / total
        return direct + self.left_over(context) * shorter

    def score(self, line: str) -> float:
        """The natural logarithm of a sentence's probability."""
        words = [*line.split(), "</s>"]
        history = ["<s>", *words]
        return sum(
            math.log(self.prob(word, tuple(history[: at + 1]))) for at, word in enumerate(words)
        )


def backed_off(grams: dict[Gram, tuple[float, float]], words: Gram) -> float:
    """The score of the last of some words in an ARPA model: definitions l.2, by the book."""
    if words in grams:
        return grams[words][0]
    if len(words) == 1:
        return grams.get(("<unk>",), (-100.0, 0.0))[0]
    return grams.get(words[:-1], (0.0, 0.0))[1] + backed_off(grams, words[1:])


def estimate_discounts(
    grams: Mapping[Gram, tuple[float, float]], twin: KneserNey
) -> list[list[float]]:
    """Recover the discounts of each order from an ARPA model and the counts of its text.

    Unigrams: total * p(w) = c - D(c) + total * p(<unk>). Higher orders, least squares over the
    contexts h: total(h) * backoff(h) = D(1) N1(h) + D(2) N2(h) + D(3) N3+(h).
    """
    words = [gram for gram in twin.counts if len(gram) == 1]
    total = sum(twin.counts[gram] for gram in words)
    amounts: list[list[float]] = [[], [], []]
    for gram in words:
        gained = total * (10 ** grams[gram][0] - 10 ** grams["<unk>",][0])
        amounts[min(twin.counts[gram], 3) - 1].append(twin.counts[gram] - gained)
    discounts = [[float(np.mean(values)) for values in amounts]]
    for order in range(2, twin.order + 1):
        rows, masses = [], []
        for context, following in twin.after.items():
            if len(context) == order - 1:
                counts = [twin.counts[(*context, word)] for word in following]
                rows.append(np.bincount([min(count, 3) for count in counts], minlength=4)[1:])
                masses.append(sum(counts) * 10 ** grams[context][1])
        solved = np.linalg.lstsq(np.array(rows, dtype=float), np.array(masses), rcond=None)
        discounts.append(solved[0].tolist())
    return discounts
