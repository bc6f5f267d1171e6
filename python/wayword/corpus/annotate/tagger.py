"""A tagger and chunker learned from a treebank.

In: sentences with tags and perhaps chunks. Out: a ``Tagger`` that gives tags, and chunks with heads
if it learned from some. How: a greedy averaged perceptron, in the core, over words, their first and
last letters, their shape and their neighbours; the label of a chunk's head is marked, so that heads
are learned as well.
Cost: two to four CPU seconds of training per 10,000 words with chunks; some 50,000 words a second
after.

>>> treebank = [
...     Sentence(("the", "cat", "sleeps"), ("DET", "NOUN", "VERB")),
...     Sentence(("a", "dog", "barks"), ("DET", "NOUN", "VERB")),
... ] * 5
>>> tagger = Tagger.fit(treebank)
>>> next(tagger.annotate(["the dog sleeps"])).pos
('DET', 'NOUN', 'VERB')
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from wayword import _core
from wayword.corpus.annotate.annotator import batches, file_manifest
from wayword.corpus.annotate.sentence import OUTSIDE, Chunk, Sentence
from wayword.errors import ArgumentError, MismatchError
from wayword.types import FilePath

__all__ = ["Tagger"]

HEAD = "*"  # ends the label of a chunk's head


class Tagger:
    """Gives tags, and chunks where it knows them. Threads may share it; it pickles."""

    def __init__(self, core: _core.Tagger, path: Path | None = None) -> None:
        self._core = core
        self._path = path
        self._tags = core.tags
        self._chunks = core.chunks

    @classmethod
    def fit(
        cls,
        treebank: Iterable[Sentence],
        *,
        epochs: int = 8,
        parts: int = 5,
        seed: int = 1,
        threads: int = 0,
        progress: Callable[[int, int], object] | None = None,
    ) -> "Tagger":
        """Learn from sentences that all have tags, and chunks all or none.

        Training goes ``epochs`` times through the treebank. Chunks are learned from tags as the
        tagger gives them: the treebank is cut into ``parts``, each tagged from the others.
        """
        examples = [_example(number, sentence) for number, sentence in enumerate(treebank, 1)]
        if len({chunks is None for _, _, chunks in examples}) > 1:
            raise ArgumentError("treebank: chunks in some sentences only; expected all or none")
        core = _core.Tagger.fit(
            examples, epochs=epochs, parts=parts, seed=seed, threads=threads, progress=progress
        )
        return cls(core)

    @classmethod
    def load(cls, path: FilePath) -> "Tagger":
        """Open a saved tagger."""
        return cls(_core.Tagger.load(path), Path(path))

    def save(self, path: FilePath) -> None:
        """Write the tagger to a file."""
        self._core.save(path)
        self._path = Path(path)

    @property
    def tags(self) -> tuple[str, ...]:
        """All tags it can give."""
        return tuple(self._tags)

    @property
    def chunk_types(self) -> tuple[str, ...] | None:
        """All types of chunks it can give; None when it knows no chunks."""
        if self._chunks is None:
            return None
        types = (label.partition("-")[2].rstrip(HEAD) for label in self._chunks)
        return tuple(dict.fromkeys(filter(None, types)))

    def annotate(
        self, sentences: Iterable[str | Sequence[str]], *, threads: int = 0
    ) -> Iterator[Sentence]:
        """Annotate sentences, each words or a line of them."""
        for batch in batches(sentences):
            tagged = self._core.tag(batch, threads)
            for words, (tags, labels) in zip(batch, tagged, strict=True):
                pos = tuple([self._tags[tag] for tag in tags])
                chunks = None if labels is None else self._read_chunks(labels)
                yield Sentence(tuple(words), pos, chunks)

    def _read_chunks(self, labels: Sequence[int]) -> tuple[Chunk, ...]:
        """Chunks from labels; of several heads the first counts."""
        assert self._chunks is not None
        chunks: list[Chunk] = []
        for at, number in enumerate(labels):
            label = self._chunks[number]
            if label == OUTSIDE:
                continue
            kind, head = label[2:], None
            if label.endswith(HEAD):
                kind, head = label[2:-1], at
            if label[0] == "B":
                chunks.append(Chunk(kind, at, at, head))
            else:
                last = chunks[-1]
                chunks[-1] = Chunk(kind, last.start, at, head if last.head is None else last.head)
        return tuple(chunks)

    def to_manifest(self) -> dict[str, Any]:
        """Kind, file and checksum."""
        return file_manifest("tagger", self._path)

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_bytes, (self._core.to_bytes(), self._path)

    def __repr__(self) -> str:
        chunks = "no chunks" if self.chunk_types is None else f"chunks {' '.join(self.chunk_types)}"
        return f"Tagger({len(self._tags)} tags, {chunks}, {self._core.features} features)"


def _from_bytes(data: bytes, path: Path | None) -> Tagger:
    return Tagger(_core.Tagger.from_bytes(data), path)


def _example(number: int, sentence: Sentence) -> tuple[list[str], list[str], list[str] | None]:
    """Words, tags and labels of chunks, with the heads marked."""
    if sentence.pos is None:
        raise MismatchError(f"sentence {number}: no tags; a tagger learns from tagged sentences")
    if sentence.chunks is None:
        return list(sentence.words), list(sentence.pos), None
    for chunk in sentence.chunks:
        if chunk.type.endswith(HEAD):
            found = f"sentence {number}: chunk type `{chunk.type}`"
            raise ArgumentError(f"{found}; expected none that ends in `{HEAD}`; rename it")
    heads = {sentence.head_of(chunk) for chunk in sentence.chunks}
    labels = [
        label + HEAD if at in heads else label for at, label in enumerate(sentence.chunk_tags())
    ]
    return list(sentence.words), list(sentence.pos), labels
