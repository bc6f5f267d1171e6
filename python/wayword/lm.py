"""N-gram language models: how likely a word is after the words before it.

In: text (a file, or any iterable of lines), an ARPA file, or a model saved before.
Out: a ``LanguageModel`` that scores sentences; several of them as one (``mix``).
How: interpolated modified Kneser-Ney (Chen and Goodman, 1998), in the core; queries go to a
mapped file. Scores are natural logarithms.
Cost: training sorts the text within ``memory`` bytes; opening a saved model takes milliseconds.
Not: tokenisation; words are what whitespace separates.

>>> lm = train(["a b c a b", "a b d", "c a b c", "b a"], order=3)
>>> lm.order, lm.counts
(3, (7, 12, 11))
>>> round(lm.score("a b c"), 3)
-3.417
>>> [round(word.score, 2) for word in lm.word_scores(["a", "x"])]
[-1.08, -3.58, -1.34]
>>> lm.perplexity(["a b", "b x"]).unknown
1
"""

import logging
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from wayword import _core
from wayword.corpus.files import size_in_bytes
from wayword.errors import ArgumentError
from wayword.handle import Handle
from wayword.options import check_range
from wayword.types import Progress

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "LanguageModel",
    "Mixture",
    "Options",
    "Perplexity",
    "Summary",
    "WordScore",
    "count",
    "merge",
    "mix",
    "mix_arpa",
    "mixture_of",
    "train",
    "train_arpa",
]

LOG = logging.getLogger(__name__)

Path = str | os.PathLike[str]
#: A file, or lines; a line is a string of words or a sequence of them.
Text = Path | Iterable[str | Sequence[str]]

BATCH = 10_000
#: The longest n-grams there may be.
MAX_ORDER = 8
#: The search for weights of a mixture ends when none moves by more, or after so many rounds.
STILL, ROUNDS = 1e-7, 2000


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a model is estimated."""

    #: longest n-gram
    order: int = 5
    #: per order from 1, n-grams that occur up to so many times are dropped; the first is 0
    prune: tuple[int, ...] = ()
    #: for sorting; more goes to disk
    memory: str = "1G"

    def __post_init__(self) -> None:
        """Refuse what makes no sense, before any counting."""
        check_range("order", self.order, 1, MAX_ORDER)
        size_in_bytes(self.memory)
        falls = any(later < earlier for earlier, later in pairwise(self.prune))
        if self.prune and (self.prune[0] != 0 or falls or len(self.prune) > self.order):
            shown = " ".join(map(str, self.prune))
            expected = f"up to {self.order} numbers that begin with 0 and never fall"
            raise ArgumentError(f"prune: found {shown}; expected {expected}")


@dataclass(frozen=True)
class Summary:
    """What was counted in training; lists go by order, from 1 up."""

    order: int
    sentences: int
    words: int
    counts: tuple[int, ...]
    pruned: tuple[int, ...]
    discounts: tuple[tuple[float, float, float], ...]
    #: What a careful user wants to know, such as discounts that could not be estimated.
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain values, for JSON."""
        return dict(vars(self))


class WordScore(NamedTuple):
    """The score of one word, the length of the n-gram found, and whether it is unknown."""

    score: float
    order: int
    is_unknown: bool


@dataclass(frozen=True)
class Perplexity:
    """How surprised a model is by a text. ``</s>`` counts as a word, ``<s>`` does not."""

    sentences: int
    tokens: int
    unknown: int
    #: Natural logarithm of the probability of the text.
    score: float
    #: The same without the words that the model does not know.
    known_score: float

    @property
    def with_unknown(self) -> float:
        """Perplexity over all words."""
        return _perplexity(self.score, self.tokens)

    @property
    def without_unknown(self) -> float:
        """Perplexity over the words that the model knows."""
        return _perplexity(self.known_score, self.tokens - self.unknown)

    def to_dict(self) -> dict[str, Any]:
        """The numbers as plain values, for JSON."""
        both = {"with_unknown": self.with_unknown, "without_unknown": self.without_unknown}
        return {**vars(self), **both}


def _perplexity(score: float, tokens: int) -> float:
    return math.exp(-score / tokens) if tokens else math.nan


class LanguageModel(Handle):
    """An n-gram model. Threads may share it; it pickles as path and digest, or whole.

    ``summary`` is what training counted; a model that was loaded has none.
    """

    _core: _core.LanguageModel
    summary: Summary | None

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        verify: bool = False,
        in_memory: bool = False,
        progress: Progress | None = None,
    ) -> "LanguageModel":
        """Map a saved model, or read an ARPA file (``.gz``, ``.xz``, ``.zst`` as well).

        The header of a saved model is always checked; ``verify`` checks every byte. With
        ``in_memory`` all of it is read now instead of when it is needed, which makes opening
        slower and queries quicker. An ARPA file is always read whole.
        """
        return cls(
            _core.LanguageModel.load(path, verify=verify, in_memory=in_memory, progress=progress)
        )

    def save(self, path: Path) -> None:
        """Write the model as a file that ``load`` maps."""
        self._core.save(path)

    def write_arpa(self, path: Path, *, progress: Progress | None = None) -> None:
        """Write the model as an ARPA file, which other tools read."""
        self._core.write_arpa(path, progress=progress)

    @property
    def order(self) -> int:
        """Length of the longest n-grams."""
        return len(self._core.counts)

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of n-grams by order; the first is the number of words."""
        return tuple(self._core.counts)

    @property
    def size(self) -> int:
        """Bytes of the model, as a file or in memory."""
        return self._core.size

    def __contains__(self, word: str) -> bool:
        return self._core.knows(word)

    def score(self, tokens: str | Sequence[str], *, bos: bool = True, eos: bool = True) -> float:
        """The logarithm of a sentence's probability.

        Without ``bos`` the first word has no history; without ``eos`` the sentence is open.
        """
        return self._core.score_line(_line(tokens), bos, eos)[0]

    def word_scores(
        self, tokens: str | Sequence[str], *, bos: bool = True, eos: bool = True
    ) -> list[WordScore]:
        """The score of each word and, with ``eos``, of the end of the sentence."""
        words = tokens.split() if isinstance(tokens, str) else list(tokens)
        return [WordScore(*score) for score in self._core.word_scores(words, bos, eos)]

    def score_lines(
        self,
        text: Text,
        *,
        bos: bool = True,
        eos: bool = True,
        progress: Progress | None = None,
    ) -> "npt.NDArray[np.float64]":
        """The score of each line of a file or iterable; quicker than one by one."""
        import numpy as np

        parts = [rows[:, 0] for rows in self._rows(text, bos, eos, progress)]
        return np.concatenate(parts) if parts else np.empty(0)

    def perplexity(self, text: Text, *, progress: Progress | None = None) -> Perplexity:
        """How well the model predicts a text: a file or lines."""
        sentences, sums = 0, [0.0, 0.0, 0.0, 0.0]
        for rows in self._rows(text, True, True, progress):
            sentences += len(rows)
            sums = [before + more for before, more in zip(sums, rows.sum(axis=0), strict=True)]
        score, known_score, tokens, unknown = sums
        return Perplexity(sentences, int(tokens), int(unknown), float(score), float(known_score))

    def _rows(
        self, text: Text, bos: bool, eos: bool, progress: Progress | None
    ) -> "Iterator[npt.NDArray[np.float64]]":
        """Score, score of known words, words and unknown words of each line, in batches."""
        import numpy as np

        if isinstance(text, str | os.PathLike):
            yield np.asarray(self._core.score_file(text, bos, eos, progress=progress))
            return
        for batch in _batches(text):
            yield np.asarray(self._core.score_lines(batch, bos, eos))

    def __repr__(self) -> str:
        return f"LanguageModel(order {self.order}, {self.counts[0]} words)"


def train(
    text: Text,
    out: Path | None = None,
    *,
    order: int = Options.order,
    prune: Sequence[int] = Options.prune,
    memory: int | str = Options.memory,
    temp_dir: Path | None = None,
    threads: int = 0,
    progress: Progress | None = None,
) -> LanguageModel:
    """Estimate a model from a file or from lines; with ``out`` it is also saved there.

    N-grams of order k that occur no more than ``prune[k - 1]`` times are dropped; the last
    number counts for all further orders, and the first must be 0. What does not fit into
    ``memory`` (bytes, or text such as ``"2G"``) while sorting goes to ``temp_dir``. ``threads``, 0
    for all, change no byte of it.
    """
    check_range("threads", threads, 0)
    trainer = _trainer(text, memory, temp_dir, threads, progress)
    core, summary = trainer.finish(
        order=order, prune=list(prune), out=out, arpa=False, threads=threads, progress=progress
    )
    assert core is not None
    return LanguageModel(core, _summary(summary))


def train_arpa(
    text: Text,
    out: Path,
    *,
    order: int = Options.order,
    prune: Sequence[int] = Options.prune,
    memory: int | str = Options.memory,
    temp_dir: Path | None = None,
    threads: int = 0,
    progress: Progress | None = None,
) -> Summary:
    """Estimate a model and write it as an ARPA file; for the options see ``train``."""
    check_range("threads", threads, 0)
    trainer = _trainer(text, memory, temp_dir, threads, progress)
    _, summary = trainer.finish(
        order=order, prune=list(prune), out=out, arpa=True, threads=threads, progress=progress
    )
    return _summary(summary)


def count(
    text: Text,
    out: Path,
    *,
    order: int = Options.order,
    memory: int | str = Options.memory,
    temp_dir: Path | None = None,
    progress: Progress | None = None,
) -> int:
    """Count the n-grams of a part of a text, for ``merge``; gives the number of its sentences.

    Parts may be counted by different processes, at the same time.
    """
    check_range("order", order, 1, MAX_ORDER)
    return _trainer(text, memory, temp_dir, 1, progress).write_counts(out, order)


def merge(
    counts: Sequence[Path],
    out: Path | None = None,
    *,
    prune: Sequence[int] = Options.prune,
    memory: int | str = Options.memory,
    temp_dir: Path | None = None,
    threads: int = 0,
    progress: Progress | None = None,
) -> LanguageModel:
    """Estimate a model from what ``count`` wrote of all parts of a text, given in its order.

    It is the model that ``train`` makes of the whole text, byte for byte.

    >>> from wayword.corpus.files import temp_folder
    >>> lines = ["a b c a b", "a b d", "c a b c", "b a"]
    >>> with temp_folder() as folder:
    ...     parts = [folder / "1", folder / "2"]
    ...     sentences = count(lines[:3], parts[0], order=3) + count(lines[3:], parts[1], order=3)
    ...     merged = merge(parts)
    >>> sentences, merged.score("a b c") == train(lines, order=3).score("a b c")
    (4, True)
    """
    check_range("threads", threads, 0)
    core, summary = _core.estimate_language_model(
        list(counts),
        prune=list(prune),
        memory=size_in_bytes(memory),
        out=out,
        threads=threads,
        temp_dir=temp_dir,
        progress=progress,
    )
    return LanguageModel(core, _summary(summary))


@dataclass(frozen=True)
class Mixture:
    """How much each of several models counts, and how well they predict a text together.

    ``tokens`` are words and sentence ends that some model knows; ``unknown`` are the others, which
    tell nothing about the weights.
    """

    weights: tuple[float, ...]
    perplexity: float
    tokens: int
    unknown: int


def mixture_of(models: Sequence[LanguageModel], text: Text) -> Mixture:
    """The weights under which a linear mixture of models predicts a text best.

    Found by expectation maximisation: a model's weight is its mean share of the probability that
    the words get. There is one best answer, up to models that say the same.

    >>> news, talk = train(["a b c d", "a b d"], order=2), train(["d c", "d c b"], order=2)
    >>> mixture = mixture_of([news, talk], ["a b c", "d c b", "d c"])
    >>> [round(weight, 3) for weight in mixture.weights]
    [0.205, 0.795]
    """
    import numpy as np

    probs = _word_probs(models, text)
    known = probs.any(axis=1)
    unknown, probs = int((~known).sum()), probs[known]
    if not len(probs):
        what = "text with words that some model knows"
        raise ArgumentError(f"dev: found {unknown} words that no model knows; expected {what}")
    weights = np.full(len(models), 1 / len(models))
    for _ in range(ROUNDS):
        shares = probs * weights
        shares /= shares.sum(axis=1, keepdims=True)
        before, weights = weights, shares.mean(axis=0)
        if np.abs(weights - before).max() < STILL:
            break
    weights /= weights.sum()
    perplexity = float(np.exp(-np.log(probs @ weights).mean()))
    return Mixture(tuple(weights.tolist()), perplexity, len(probs), unknown)


def _word_probs(models: Sequence[LanguageModel], text: Text) -> "npt.NDArray[np.float64]":
    """For each word of a text and each sentence end its probability in each model; 0: unknown."""
    import numpy as np

    from wayword.corpus.files import open_text

    lines = open_text(text) if isinstance(text, str | os.PathLike) else text
    rows: list[list[float]] = []
    for line in lines:
        scores = [model.word_scores(line) for model in models]
        rows += [
            [0.0 if word.is_unknown else math.exp(word.score) for word in of_word]
            for of_word in zip(*scores, strict=True)
        ]
    return np.array(rows).reshape(-1, len(models))


def mix(
    models: Sequence[LanguageModel],
    weights: Sequence[float],
    out: Path | None = None,
    *,
    memory: int | str = Options.memory,
    temp_dir: Path | None = None,
    progress: Progress | None = None,
) -> LanguageModel:
    """One model of several: a linear mixture of their probabilities, as a back-off model.

    It has the n-grams of all models; each gets the sum of what they say, times their weights, which
    sum to 1. A word that a model does not know counts as impossible there, and ``<unk>`` stands for
    words that none knows; so every history still gives a distribution. For ``memory`` and
    ``temp_dir`` see ``train``.

    >>> news, talk = train(["a b c d", "a b d"], order=2), train(["d c", "d c b"], order=2)
    >>> both = mix([news, talk], [0.25, 0.75])
    >>> parts = [math.exp(lm.word_scores("d c")[1].score) for lm in (news, talk, both)]
    >>> abs(0.25 * parts[0] + 0.75 * parts[1] - parts[2]) < 1e-6
    True
    """
    options: dict[str, Any] = {"memory": memory, "temp_dir": temp_dir, "progress": progress}
    core = _mixed(models, weights, out, arpa=False, **options)
    assert core is not None
    return LanguageModel(core, None)


def mix_arpa(
    models: Sequence[LanguageModel],
    weights: Sequence[float],
    out: Path,
    *,
    memory: int | str = Options.memory,
    temp_dir: Path | None = None,
    progress: Progress | None = None,
) -> None:
    """The same as an ARPA file."""
    options: dict[str, Any] = {"memory": memory, "temp_dir": temp_dir, "progress": progress}
    _mixed(models, weights, out, arpa=True, **options)


def _mixed(
    models: Sequence[LanguageModel],
    weights: Sequence[float],
    out: Path | None,
    *,
    arpa: bool,
    memory: int | str,
    **options: Any,
) -> _core.LanguageModel | None:
    cores, room = [model._core for model in models], size_in_bytes(memory)
    return _core.mix_language_models(
        cores, list(weights), out=out, arpa=arpa, memory=room, **options
    )


def _trainer(
    text: Text,
    memory: int | str,
    temp_dir: Path | None,
    threads: int,
    progress: Progress | None,
) -> _core.LanguageModelTrainer:
    trainer = _core.LanguageModelTrainer(memory=size_in_bytes(memory), temp_dir=temp_dir)
    if isinstance(text, str | os.PathLike):
        trainer.read(text, threads=threads, progress=progress)
    else:
        for batch in _batches(text):
            trainer.extend(batch)
    return trainer


def _summary(facts: dict[str, Any]) -> Summary:
    lists = {name: tuple(facts[name]) for name in ("counts", "pruned", "notes")}
    discounts = tuple(tuple(amounts) for amounts in facts["discounts"])
    for note in lists["notes"]:
        LOG.info("%s", note)
    return Summary(**{**facts, **lists, "discounts": discounts})


def _line(tokens: str | Sequence[str]) -> str:
    return tokens if isinstance(tokens, str) else " ".join(tokens)


def _batches(lines: Iterable[str | Sequence[str]]) -> Iterator[list[str]]:
    rest = map(_line, lines)
    while batch := list(islice(rest, BATCH)):
        yield batch
