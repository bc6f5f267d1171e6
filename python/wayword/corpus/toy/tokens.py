"""A word of a realised sentence, with what it expresses.

In: built by the realisers. Out: `Token`, the common currency of realisers and gold standard.
How: `refs` are numbers of parts of the clause tree; two words are linked when they share one.
Cost: one small object per word.
Not: text. Joining, escaping and files are in `files`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wayword.corpus.toy.entries import Cell

Refs = tuple[int, ...]


@dataclass(slots=True, eq=False)
class Token:
    """One word; without `refs` it stays unaligned and keeps beside its `anchor`."""

    form: str
    pos: str
    refs: Refs = ()
    anchor: Token | None = None
    chunk: str = "O"


def cell_tokens(cell: Cell, ref: int, chunk: str = "") -> list[Token]:
    """The words of a lexicon cell as tokens of node `ref`, and as one chunk if there is a name."""
    tokens = [
        Token(word.form, word.pos, tuple([ref + mark for mark in word.marks])) for word in cell
    ]
    if chunk:
        mark_chunk(tokens, chunk)
    return tokens


def mark_chunk(tokens: Sequence[Token], kind: str) -> None:
    """Label consecutive words as one IOB2 chunk, replacing what they carried before."""
    inside = "I-" + kind
    for token in tokens:
        token.chunk = inside
    if tokens:
        tokens[0].chunk = "B-" + kind


def capitalise(tokens: Sequence[Token]) -> None:
    """Give the sentence its capital letter."""
    first = tokens[0]
    first.form = first.form[:1].upper() + first.form[1:]
