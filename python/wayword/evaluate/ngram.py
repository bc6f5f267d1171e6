"""BLEU, chrF and TER as sacrebleu has them, and NIST.

How: sacrebleu keeps statistics of sentences for its own tests, but behind names with an
underscore; ``SacreMetric`` is the one place that touches them, and a test holds the result
against sacrebleu's public ``corpus_score``. NIST (Doddington, 2002) is ours: see
``docs/decisions/own-metrics.md``.
Cost: BLEU and NIST some 30 µs a sentence and reference, chrF 100 µs; TER's search for shifts is in
the core, and ``threads`` share it.

>>> from wayword.evaluate import Gold, Output, Options
>>> gold = Gold(refs=[["the cat sat on the mat"]])
>>> Nist(gold, Options()).corpus_score(Output("base", ["the cat sat on mat"]))
2.29038...
"""

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from wayword import _core
from wayword.errors import ArgumentError
from wayword.evaluate.gold import Gold, Output
from wayword.evaluate.metric import Matrix, Metric, Options, ratio, signature

__all__ = ["Bleu", "ChrF", "Nist", "Ter", "tokenized"]

#: Tokenizers of BLEU that do not split Chinese characters; with the others TER does as well.
WESTERN = ("13a", "intl")


def _sacre_bleu(options: Options, refs: Any = None) -> Any:
    from sacrebleu.metrics.bleu import BLEU

    _check_tokenizer(options)
    try:
        return BLEU(
            lowercase=options.lowercase,
            tokenize=options.tokenize,
            smooth_method=options.smooth,
            force=True,  # without it sacrebleu warns about tokenized text
            references=refs,
        )
    except (ImportError, RuntimeError) as wrong:
        why = " ".join(str(wrong).split())
        raise ArgumentError(f"tokenize: `{options.tokenize}` cannot be used here: {why}") from None


def _check_tokenizer(options: Options) -> None:
    """Refuse a tokenizer that sacrebleu does not have."""
    from sacrebleu.metrics.bleu import BLEU

    if options.tokenize not in BLEU.TOKENIZERS:
        known = ", ".join(BLEU.TOKENIZERS)
        raise ArgumentError(f"tokenize: found `{options.tokenize}`; expected one of {known}")


def tokenized(lines: Sequence[str], options: Options, *, lowercase: bool) -> list[list[str]]:
    """Return lines as lists of words, by the tokenizer of the options."""
    if options.tokenize != "none":
        lines = list(map(_sacre_bleu(options).tokenizer, lines))
    return [(line.lower() if lowercase else line).split() for line in lines]


class SacreMetric(Metric):
    """A metric of sacrebleu; ``self.sacre`` is sacrebleu's own object with cached references."""

    def __init__(self, gold: Gold, options: Options) -> None:
        super().__init__(gold, options)
        self.sacre: Any = self.make([list(ref) for ref in gold.refs])

    @abstractmethod
    def make(self, refs: list[list[str]]) -> Any:
        """The metric of sacrebleu for these references."""

    def statistics(self, output: Output) -> Matrix:
        """The rows that sacrebleu resamples itself."""
        rows = self.sacre._extract_corpus_statistics(list(output.lines), None)
        return np.array(rows, dtype=np.float64)

    def score(self, sums: Matrix) -> Matrix:
        """Sacrebleu's own formula, sum by sum."""
        score = self.sacre._compute_score_from_stats
        rows = sums.reshape(-1, sums.shape[-1])
        return np.array([score(row).score for row in rows.tolist()]).reshape(sums.shape[:-1])

    def signature(self) -> str:
        """Sacrebleu's own signature."""
        return f"{self.name}|{self.sacre.get_signature()}"


class Bleu(SacreMetric):
    """N-gram precision with a brevity penalty (Papineni et al., 2002)."""

    name = "BLEU"
    meaning = "n-gram precision and length"

    def make(self, refs: list[list[str]]) -> Any:
        """BLEU with the tokenizer, case and smoothing of the options."""
        return _sacre_bleu(self.options, refs)


class ChrF(SacreMetric):
    """F-score of character n-grams (Popović, 2015)."""

    name = "chrF"
    meaning = "character n-grams"

    def make(self, refs: list[list[str]]) -> Any:
        """Sacrebleu's defaults: chrF2."""
        from sacrebleu.metrics.chrf import CHRF

        return CHRF(lowercase=self.options.lowercase, references=refs)


class Ter(SacreMetric):
    """Edits and shifts of blocks for each reference word (Snover et al., 2006)."""

    name = "TER"
    meaning = "edits and block shifts a reference word; an error rate"
    higher_is_better = False

    def make(self, refs: list[list[str]]) -> Any:
        """Sacrebleu's TER, which ignores case; text that is not tokenized is normalized first.

        The words of sacrebleu's TER are either separated by white space or made by its own
        normalization (Tercom's). It takes no tokenizer of BLEU.
        """
        from sacrebleu.metrics.ter import TER

        _check_tokenizer(self.options)
        is_raw = self.options.tokenize != "none"
        is_asian = is_raw and self.options.tokenize not in WESTERN
        return TER(normalized=is_raw, asian_support=is_asian, references=refs)

    def statistics(self, output: Output) -> Matrix:
        """Least edits over the references and their mean length, as sacrebleu counts them.

        The search for shifts is in the core, where it takes a hundredth of the time.
        """
        refs = [words["ref_words"] for words in self.sacre._ref_cache]
        texts = [" ".join(self.sacre._preprocess_segment(line).split()) for line in output.lines]
        joined = [[" ".join(words) for words in of_line] for of_line in refs]
        edits = _core.ter_edits(texts, joined, self.options.threads)
        lengths = [sum(map(len, of_line)) / len(of_line) for of_line in refs]
        return np.array([edits, lengths], dtype=np.float64).T.reshape(-1, 2)


class Nist(Metric):
    """N-gram precision where rare n-grams weigh more (Doddington, 2002); orders 1 to 5.

    Columns: for each order the information matched and the number of n-grams; then the length
    and the mean length of the references.
    """

    name = "NIST"
    meaning = "information of matched n-grams; open at the top"
    scale = 1.0
    order = 5
    beta = math.log(0.5) / math.log(1.5) ** 2

    def __init__(self, gold: Gold, options: Options) -> None:
        super().__init__(gold, options)
        self._refs = [self._words(ref) for ref in gold.refs]
        self._info = self._information()

    def _words(self, lines: Sequence[str]) -> list[list[str]]:
        return tokenized(lines, self.options, lowercase=self.options.lowercase)

    def _information(self) -> dict[tuple[str, ...], float]:
        """How many bits the last word of each n-gram adds to those before it."""
        counts: Counter[tuple[str, ...]] = Counter()
        for words in (words for ref in self._refs for words in ref):
            counts.update(self._ngrams(words))
            counts[()] += len(words)
        return {
            ngram: math.log2(counts[ngram[:-1]] / count) for ngram, count in counts.items() if ngram
        }

    def _ngrams(self, words: Sequence[str]) -> Counter[tuple[str, ...]]:
        orders = range(1, self.order + 1)
        return Counter(tuple(words[k : k + n]) for n in orders for k in range(len(words) - n + 1))

    def statistics(self, output: Output) -> Matrix:
        """Matches are clipped by the largest count in any one reference of the sentence."""
        hyps = self._words(output.lines)
        rows = np.zeros((len(hyps), 2 * self.order + 2))
        for row, hyp, *refs in zip(rows, hyps, *self._refs, strict=True):
            allowed: Counter[tuple[str, ...]] = Counter()
            for ref in refs:
                allowed |= self._ngrams(ref)
            for ngram, count in self._ngrams(hyp).items():
                matched = min(count, allowed[ngram])
                row[2 * len(ngram) - 2] += matched * self._info[ngram] if matched else 0.0
                row[2 * len(ngram) - 1] += count
            row[-2:] = len(hyp), sum(map(len, refs)) / len(refs)
        return rows

    def score(self, sums: Matrix) -> Matrix:
        """Mean information of each order, added up, times the penalty for short text."""
        total = ratio(sums[..., 0:-2:2], sums[..., 1:-2:2]).sum(axis=-1)
        length = np.minimum(ratio(sums[..., -2], sums[..., -1]), 1.0)
        logs = np.log(length, out=np.full(length.shape, -np.inf), where=length > 0)
        scores: Matrix = total * np.exp(self.beta * logs**2)
        return scores

    def signature(self) -> str:
        """Variant, case and tokenizer."""
        case = "lc" if self.options.lowercase else "mixed"
        facts = {"case": case, "tok": self.options.tokenize, "order": self.order}
        return signature(self.name, self.gold, **facts, length="mean")
