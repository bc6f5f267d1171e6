"""How good tags and chunks are, against gold.

In: sentences of an annotator and gold sentences of the same words. Out: ``Score``, whose counts
add up. How: accuracy of tags; precision, recall and F1 of chunks, where a chunk is right when its
type and both its ends are; accuracy of heads over chunks that are right.

>>> from wayword.corpus.annotate.sentence import Chunk
>>> gold = Sentence(("the", "cat", "sat"), ("DET", "NOUN", "VERB"), (Chunk("NP", 0, 1, 1),))
>>> found = Sentence(("the", "cat", "sat"), ("DET", "NOUN", "NOUN"), (Chunk("NP", 0, 1, 0),))
>>> score([found], [gold])
Score(words=3, right_tags=2, chunks=1, gold_chunks=1, right_chunks=1, right_heads=0)
>>> round(score([found], [gold]).accuracy, 2), score([found], [gold]).f1
(0.67, 1.0)
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from wayword.corpus.annotate.sentence import Chunk, Sentence
from wayword.errors import MismatchError

__all__ = ["Score", "score"]


@dataclass(frozen=True)
class Score:
    """Counts, and what follows from them."""

    words: int = 0
    right_tags: int = 0
    chunks: int = 0
    gold_chunks: int = 0
    right_chunks: int = 0
    right_heads: int = 0

    def __add__(self, other: "Score") -> "Score":
        return Score(*(getattr(self, name) + getattr(other, name) for name in vars(self)))

    @property
    def accuracy(self) -> float:
        """Share of words with the right tag."""
        return self.right_tags / self.words if self.words else 0.0

    @property
    def precision(self) -> float:
        """Share of the chunks found that are right."""
        return self.right_chunks / self.chunks if self.chunks else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold chunks that were found."""
        return self.right_chunks / self.gold_chunks if self.gold_chunks else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        both = self.chunks + self.gold_chunks
        return 2 * self.right_chunks / both if both else 0.0

    @property
    def head_accuracy(self) -> float:
        """Share of the right chunks whose head is right as well."""
        return self.right_heads / self.right_chunks if self.right_chunks else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Counts and shares as plain values, for JSON."""
        shares = ("accuracy", "precision", "recall", "f1", "head_accuracy")
        return {**vars(self), **{name: getattr(self, name) for name in shares}}


def score(annotated: Iterable[Sentence], gold: Iterable[Sentence]) -> Score:
    """Compare annotated sentences with gold ones."""
    total = Score()
    for number, (sentence, right) in enumerate(zip_longest(annotated, gold), 1):
        if sentence is None or right is None or sentence.words != right.words:
            raise MismatchError(
                f"sentence {number}: not the words of the gold sentence; annotate the gold text"
            )
        total += _compare(sentence, right)
    return total


def _compare(sentence: Sentence, right: Sentence) -> Score:
    tags = zip(sentence.pos or (), right.pos or (), strict=False)
    heads = {_span(chunk): sentence.head_of(chunk) for chunk in sentence.chunks or ()}
    gold_heads = {_span(chunk): right.head_of(chunk) for chunk in right.chunks or ()}
    both = heads.keys() & gold_heads.keys()
    return Score(
        words=len(right),
        right_tags=sum(tag == gold for tag, gold in tags),
        chunks=len(heads),
        gold_chunks=len(gold_heads),
        right_chunks=len(both),
        right_heads=sum(heads[span] == gold_heads[span] for span in both),
    )


def _span(chunk: Chunk) -> tuple[str, int, int]:
    return chunk.type, chunk.start, chunk.end
