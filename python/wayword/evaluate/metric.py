"""What a metric is: statistics of sentences that add up, and one function from sum to score.

In: a ``Gold`` standard and ``Options`` when it is made, then the ``Output`` of any number of
systems. Out: a matrix with one row a sentence; the score of any sum of rows; a signature.
How: because rows add up, a bootstrap sample is a weighted sum of rows, a randomisation a sum with
rows of another system, a length bin a sum over some rows (``significance``, ``compare``).
Not: metrics that see the whole text at once, and sentence scores of metrics that have none.

A metric of your own is a subclass with three methods, entered in ``METRICS``.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from wayword.errors import ArgumentError
from wayword.evaluate.gold import Gold, Output

__all__ = ["AUTO", "LEVELS", "Matrix", "Metric", "Options", "signature"]

Matrix = npt.NDArray[np.float64]

#: The tokenizer that ``compare`` chooses by the texts.
AUTO = "auto"
#: Options that have a fixed list of values.
CHOICES = {
    "smooth": ("none", "floor", "add-k", "exp"),
    "refchoice": ("closest", "average"),
    "norm": ("weights", "literal"),
}
#: Differences with a p-value up to these are marked.
LEVELS = (0.05, 0.10)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Choices that change scores; every one of them is in the signatures it matters to.

    ``tokenize`` is one of sacrebleu's tokenizers, for BLEU, NIST, METEOR and RIBES; with all but
    ``none`` (text is tokenized already) TER normalizes text by sacrebleu's own rules of TER.
    ``auto`` is for ``compare``, which chooses one. ``lowercase`` is for BLEU, chrF and NIST; the
    others ignore case in any event. ``smooth`` is BLEU's. ``refchoice`` and ``norm`` are those of
    KRS and KRS-V. ``threads`` never changes a score.
    """

    tokenize: str = "none"
    lowercase: bool = False
    smooth: str = "exp"
    refchoice: str = "closest"
    norm: str = "weights"
    threads: int = 1

    def __post_init__(self) -> None:
        """Refuse what no metric understands."""
        for name, known in CHOICES.items():
            if getattr(self, name) not in known:
                wanted = ", ".join(f"`{value}`" for value in known)
                raise ArgumentError(f"{name}: found `{getattr(self, name)}`; expected {wanted}")
        if self.threads < 1:
            raise ArgumentError(f"threads: found {self.threads}; expected at least 1")


class Metric(ABC):
    """A way to measure, bound to a gold standard."""

    #: the name for people; the option is its lower-case form
    name: ClassVar[str]
    #: what it is about, for tables of metrics
    meaning: ClassVar[str]
    #: what it needs beyond text: ``links``, ``weights``
    needs: ClassVar[tuple[str, ...]] = ()
    #: False for error rates
    higher_is_better: ClassVar[bool] = True
    #: the order of magnitude of scores, which tolerances refer to
    scale: ClassVar[float] = 100.0
    #: the first columns of statistics, if ``score`` needs no more
    score_columns: ClassVar[int | None] = None

    def __init__(self, gold: Gold, options: Options) -> None:
        self.gold = gold
        self.options = options

    @abstractmethod
    def statistics(self, output: Output) -> Matrix:
        """One row a sentence; rows add up."""

    @abstractmethod
    def score(self, sums: Matrix) -> Matrix:
        """The score of each sum of rows: the last axis is taken away.

        NaN where there is nothing to judge: n/a in tables, null in JSON.
        """

    def sentence_score(self, rows: Matrix) -> Matrix:
        """How good single sentences are, for tuning; never NaN."""
        return np.nan_to_num(self.score(rows))

    def details(self, sums: Matrix) -> dict[str, float]:  # noqa: ARG002
        """What else a reader should see, in percent; ``judged``: words that decide the score."""
        return {}

    @abstractmethod
    def signature(self) -> str:
        """Everything needed to get the same score again, with ``|`` between."""

    def corpus_score(self, output: Output) -> float:
        """The score of a whole output."""
        return float(self.score(self.statistics(output).sum(axis=0)))


class MeanMetric(Metric):
    """A metric whose score is 100 times the mean of sentence values; NaN leaves one out."""

    @abstractmethod
    def values(self, output: Output) -> Matrix:
        """One value a sentence, 1 the best."""

    def statistics(self, output: Output) -> Matrix:
        """Columns: the value, and 1 for a sentence that counts."""
        values = self.values(output)
        counts = ~np.isnan(values)
        return np.stack([np.where(counts, values, 0.0), counts.astype(float)], axis=1)

    def score(self, sums: Matrix) -> Matrix:
        """The mean; n/a where no sentence counts."""
        return 100 * share(sums[..., 0], sums[..., 1])


def ratio(above: Matrix, below: Matrix) -> Matrix:
    """A quotient that is 0 where there is nothing to divide by."""
    above, below = np.broadcast_arrays(above, below)
    return np.divide(above, below, out=np.zeros(above.shape), where=below > 0)


def share(above: Matrix, below: Matrix) -> Matrix:
    """A quotient that is NaN where there is nothing to divide by.

    >>> share(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    above, below = np.broadcast_arrays(above, below)
    unknown: Matrix = np.full(above.shape, np.nan)
    return np.divide(above, below, out=unknown, where=below > 0)


def brevity(hyp_length: float, ref_length: float) -> float:
    """BLEU's penalty for one sentence: 1 unless it is shorter than its reference.

    >>> round(brevity(6, 8), 10), brevity(0, 0)
    (0.7165313106, 0.0)
    """
    if hyp_length == 0:
        return 0.0
    return float(np.exp(min(0.0, 1 - ref_length / hyp_length)))


def signature(name: str, gold: Gold, **facts: object) -> str:
    """A signature in sacrebleu's form."""
    from wayword import __version__

    facts = {"nrefs": len(gold.refs), **facts, "version": f"wayword-{__version__}"}
    return "|".join([name, *(f"{key}:{value}" for key, value in facts.items())])
