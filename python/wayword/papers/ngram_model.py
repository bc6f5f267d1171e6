"""A back-off n-gram language model in plain Python, for the decoder of the papers.

``wayword.lm`` estimates modified Kneser-Ney models and looks n-grams up in constant time.

>>> lm = NgramModel.estimate([["the", "white", "house"], ["the", "house"]], order=2)
>>> round(exp(lm.log_prob(["the"], "white")), 3)  # (1 + 2 * p(white)) / (2 + 2)
0.332
>>> vocabulary = ["the", "white", "house", "</s>", "<unk>"]
>>> round(sum(exp(lm.log_prob(["the"], word)) for word in vocabulary), 9)
1.0
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import exp, inf, log

__all__ = ["NgramModel"]


class NgramModel:
    """A back-off n-gram model: natural log probability and back-off weight by n-gram."""

    def __init__(self, ngrams: dict[tuple[str, ...], tuple[float, float]], order: int) -> None:
        self.ngrams = ngrams
        self.order = order

    @classmethod
    def estimate(cls, sentences: Iterable[Sequence[str]], order: int = 3) -> "NgramModel":
        """Estimate a Witten-Bell model: p(w|h) = (c(hw) + T(h) p(w|h')) / (c(h) + T(h)).

        T(h) is the number of distinct words after h; unigrams interpolate with the uniform
        distribution over the vocabulary, ``<unk>`` included.
        """
        counts: Counter[tuple[str, ...]] = Counter({("<unk>",): 0})
        for sentence in sentences:
            words = ["<s>", *sentence, "</s>"]
            for end in range(1, len(words)):
                counts.update(tuple(words[end - n : end + 1]) for n in range(min(order, end + 1)))
        totals: Counter[tuple[str, ...]] = Counter()
        types: Counter[tuple[str, ...]] = Counter()
        for ngram, count in counts.items():
            totals[ngram[:-1]] += count
            types[ngram[:-1]] += count > 0
        model = cls({}, order)
        uniform = -log(sum(len(ngram) == 1 for ngram in counts))
        for ngram in sorted(counts, key=len):
            *history, word = ngram
            lower = model.log_prob(history[1:], word) if history else uniform
            total, distinct = totals[ngram[:-1]], types[ngram[:-1]]
            log_prob = log((counts[ngram] + distinct * exp(lower)) / (total + distinct))
            backoff = log(types[ngram] / (totals[ngram] + types[ngram])) if totals[ngram] else 0.0
            model.ngrams[ngram] = (log_prob, backoff)
        distinct, total = types[("<s>",)], totals[("<s>",)]
        model.ngrams[("<s>",)] = (-inf, log(distinct / (total + distinct)) if total else 0.0)
        return model

    @classmethod
    def from_arpa(cls, text: str) -> "NgramModel":
        r"""Read a model in ARPA format; its base-10 logarithms become natural ones.

        >>> arpa = "\\1-grams:\n-1\t<s>\t-0.5\n-0.3\ta\n\n\\2-grams:\n-0.1\t<s> a\n\\end\\"
        >>> round(NgramModel.from_arpa(arpa).log_prob(["<s>"], "a"), 4)
        -0.2303
        """
        ngrams: dict[tuple[str, ...], tuple[float, float]] = {}
        for line in text.splitlines():
            fields = line.split("\t")
            if len(fields) > 1:
                log_prob, backoff = float(fields[0]), float(fields[2]) if len(fields) > 2 else 0.0
                ngrams[tuple(fields[1].split(" "))] = (log_prob * log(10), backoff * log(10))
        return cls(ngrams, max(map(len, ngrams)))

    def log_prob(self, history: Sequence[str], word: str) -> float:
        """Return ln p(word | history), by the longest matching n-gram (definitions l.2).

        Words outside the vocabulary are ``<unk>``; a model without it gives them 10^-100.
        """
        *known, word = (w if (w,) in self.ngrams else "<unk>" for w in (*history, word))
        context = tuple(known)[max(len(known) - self.order + 1, 0) :]
        backoff = 0.0
        while context and (*context, word) not in self.ngrams:
            backoff += self.ngrams.get(context, (0.0, 0.0))[1]
            context = context[1:]
        return backoff + self.ngrams.get((*context, word), (-100 * log(10), 0.0))[0]
