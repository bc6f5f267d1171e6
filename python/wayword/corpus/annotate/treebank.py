"""Sentences to learn from: a treebank's, with the chunks it has or those of its trees.

In: CoNLL-U (``.conllu``, perhaps compressed) or factored text (any other name). Out: sentences
with tags and, all of them or none, chunks.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from wayword.corpus.annotate.chunks import derive_chunks
from wayword.corpus.annotate.conllu import read_conllu
from wayword.corpus.annotate.factored import read_factored
from wayword.corpus.annotate.sentence import Sentence
from wayword.corpus.files import COMPRESSION
from wayword.errors import ArgumentError, FormatError
from wayword.types import FilePath

__all__ = ["CHUNKS", "SPELLINGS", "is_conllu", "read_annotated", "read_treebank", "respelled"]

#: Where chunks come from: the first of the others that is there; the IOB column; trees; nowhere.
CHUNKS = ("auto", "column", "tree", "none")


#: How words are spelled: as they are, in lower case, or without vowel signs and other marks.
SPELLINGS = ("kept", "lower", "unmarked")
STRETCHER = "\u0640"  # lengthens an Arabic word and says nothing


def respelled(word: str, spelling: str) -> str:
    """A word in one of ``SPELLINGS``; one that would be empty stays as it is.

    >>> respelled("كَتَبَ", "unmarked"), respelled("Haus", "lower")
    ('كتب', 'haus')
    """
    if spelling not in SPELLINGS:
        raise ArgumentError(f"spelling: found `{spelling}`; expected one of {', '.join(SPELLINGS)}")
    if spelling == "lower":
        return word.lower()
    if spelling == "unmarked":
        kept = (c for c in word if c != STRETCHER and unicodedata.category(c) != "Mn")
        return "".join(kept) or word
    return word


def is_conllu(path: FilePath) -> bool:
    """Whether a file's name is that of CoNLL-U, compressed or not."""
    name = Path(path).name
    for ending in COMPRESSION:
        name = name.removesuffix(ending)
    return name.endswith(".conllu")


def read_annotated(path: FilePath) -> Iterator[Sentence]:
    """Read CoNLL-U or factored text, told by the name."""
    return read_conllu(path) if is_conllu(path) else read_factored(path)


def read_treebank(
    path: FilePath, *, tags: str = "upos", chunks: str = "auto", spelling: str = "kept"
) -> list[Sentence]:
    """Read sentences with tags (``upos`` or ``xpos``) and chunks (one of ``CHUNKS``).

    A ``spelling`` other than that of the treebank (one of ``SPELLINGS``) is for text that is
    written so: in lower case, or without the vowel signs of a treebank that has them.
    """
    if chunks not in CHUNKS:
        raise ArgumentError(f"chunks: found `{chunks}`; expected one of {', '.join(CHUNKS)}")
    sentences = [sentence for sentence in read_annotated(path) if sentence.words]
    if not sentences or any(sentence.pos is None for sentence in sentences):
        raise FormatError(
            f"{path}: sentences without tags, or none at all; expected a tagged treebank; "
            "a name in `.conllu` is read as CoNLL-U, any other as factored text"
        )
    if chunks == "auto":
        chunks = _kind_of_chunks(sentences)
    if chunks == "column" and any(sentence.chunks is None for sentence in sentences):
        sentences = [replace(sentence, chunks=sentence.chunks or ()) for sentence in sentences]
    if chunks == "tree":
        sentences = [derive_chunks(sentence) for sentence in sentences]
    if chunks == "none":
        sentences = [replace(sentence, chunks=None) for sentence in sentences]
    if spelling != "kept":
        sentences = [
            replace(sentence, words=tuple(respelled(word, spelling) for word in sentence.words))
            for sentence in sentences
        ]
    if tags == "upos":
        return sentences
    fine = read_conllu(path, tags=tags)
    return [
        replace(sentence, pos=fine_sentence.pos)
        for sentence, fine_sentence in zip(sentences, fine, strict=True)
    ]


def _kind_of_chunks(sentences: list[Sentence]) -> str:
    """A column where any sentence has one, else trees where all have them, else none."""
    if any(sentence.chunks for sentence in sentences):
        return "column"
    have_heads = all(sentence.heads is not None for sentence in sentences)
    is_told = any(sentence.relations is not None for sentence in sentences)
    return "tree" if have_heads and is_told else "none"
