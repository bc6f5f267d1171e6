"""Annotation that somebody has made already: the toy corpora's gold, or another program's.

In: a factored or CoNLL-U file. Out: an annotator that finds each sentence by its words.
Cost: the whole file in memory.
Not: a guess; a sentence that is not in the file is an error.

>>> gold = Gold([Sentence(("die", "Katze"), ("DET", "NOUN"))])
>>> next(gold.annotate(["die Katze"])).pos
('DET', 'NOUN')
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from wayword.corpus.annotate.annotator import batches, file_manifest
from wayword.corpus.annotate.sentence import Sentence
from wayword.corpus.annotate.treebank import read_annotated
from wayword.errors import MismatchError
from wayword.types import FilePath

__all__ = ["Gold"]


class Gold:
    """Sentences by their words; of several with the same words the first counts."""

    def __init__(self, sentences: Iterable[Sentence], path: Path | None = None) -> None:
        self._known: dict[tuple[str, ...], Sentence] = {}
        for sentence in sentences:
            self._known.setdefault(sentence.words, sentence)
        self._path = path

    @classmethod
    def load(cls, path: FilePath) -> "Gold":
        """Read CoNLL-U (``.conllu``, perhaps compressed) or factored text (any other name)."""
        return cls(read_annotated(path), Path(path))

    def annotate(
        self,
        sentences: Iterable[str | Sequence[str]],
        *,
        threads: int = 0,  # noqa: ARG002  nothing to compute
    ) -> Iterator[Sentence]:
        """Find the annotation of each sentence."""
        number = 0
        for batch in batches(sentences):
            for words in batch:
                number += 1
                sentence = self._known.get(tuple(words)) if words else Sentence((), (), ())
                if sentence is None:
                    raise MismatchError(
                        f"sentence {number} (`{' '.join(words[:5])}` …): not among the gold "
                        "sentences; is this the text they were made for?"
                    )
                yield sentence

    def to_manifest(self) -> dict[str, Any]:
        """Kind, file and checksum."""
        return file_manifest("gold", self._path)
