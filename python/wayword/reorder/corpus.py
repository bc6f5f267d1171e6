"""Annotated source sentences with the links to their translations: what models of order learn from.

In: files of source text (words, ``word|POS`` or ``word|POS|chunk``), target text and links; or
sentences and links in memory. Out: a ``Corpus`` that the core trains and tests models on.
Cost: one pass; text and links stay in the core.

>>> corpus = Corpus.from_sentences([["er", "trinkt", "Tee"]], [[(0, 0), (2, 1)]])
>>> corpus
Corpus(1 sentences, 3 words, W)
>>> corpus.ranks("linked")  # a word without links has no rank
[array([ 0, -1,  1], dtype=int32)]
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from wayword import _core
from wayword.corpus.annotate import Sentence
from wayword.types import FilePath, Progress

__all__ = ["Corpus", "Words", "layers_of"]

#: Words, or words with tags and chunks.
Words: TypeAlias = Sentence | Sequence[str]
Ranks = npt.NDArray[np.int32]


class Corpus:
    """Annotated source sentences with the links to their translations."""

    def __init__(self, core: _core.LinkedText) -> None:
        self._core = core

    @classmethod
    def read(
        cls, src: FilePath, tgt: FilePath, links: FilePath, *, progress: Progress | None = None
    ) -> "Corpus":
        """Read source text as words, ``word|POS`` or ``word|POS|chunk``, target text and links."""
        return cls(_core.LinkedText.read(src, tgt, links, progress=progress))

    @classmethod
    def from_sentences(
        cls, sentences: Iterable[Words], links: Iterable[Iterable[tuple[int, int]]]
    ) -> "Corpus":
        """Sentences, and for each its links (source, target), from 0."""
        pairs = [
            (layers_of(sentence), [(int(i), int(j)) for i, j in of_sentence])
            for sentence, of_sentence in zip(sentences, links, strict=True)
        ]
        return cls(_core.LinkedText.from_lists(pairs))

    @property
    def words(self) -> int:
        """Number of words."""
        return self._core.words

    @property
    def layers(self) -> str:
        """What the words have: ``W`` words alone, ``WP`` tags too, ``WPC`` also chunks."""
        return "WPC" if self._core.has_chunks else "WP" if self._core.has_tags else "W"

    def split(self, at: int) -> tuple["Corpus", "Corpus"]:
        """The sentences before a number, from 0, and those from it on."""
        return Corpus(self._core.part(0, at)), Corpus(self._core.part(at, len(self)))

    def sentences(self) -> list[list[str]]:
        """The words of every sentence."""
        return self._core.sentences()

    def ranks(self, reference: str = "linked") -> list[Ranks]:
        """When each word comes by the links of its sentence, as a model learns it.

        ``linked``: -1 for words without links, equal ranks for equal places; ``attach`` and
        ``leftmost``: every word has a rank of its own (see ``wayword.reorder.order``).
        """
        return self.by_sentence(np.asarray(self._core.ranks(reference)))

    def by_sentence(self, flat: npt.NDArray[np.int32]) -> list[Ranks]:
        """Numbers of all words, one after the other, as an array a sentence."""
        return np.split(flat, np.cumsum(self._core.lengths)[:-1]) if len(self) else []

    def __len__(self) -> int:
        return len(self._core)

    def __repr__(self) -> str:
        return f"Corpus({len(self)} sentences, {self.words} words, {self.layers})"


def layers_of(source: Words) -> "_core._Layers":
    """A sentence as it crosses to the core: words, tags, chunks."""
    if not isinstance(source, Sentence):
        return list(source), None, None
    tags = list(source.pos) if source.pos is not None else None
    if source.chunks is None or tags is None:
        return list(source.words), tags, None
    starts = list(source.chunk_starts())
    chunks = (list(source.chunk_types()), list(source.chunk_heads()), starts)
    return list(source.words), tags, chunks
