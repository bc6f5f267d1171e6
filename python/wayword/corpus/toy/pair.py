"""One sentence pair of the toy world, and the pairs of languages it comes in.

In: a root clause. Out: `ToyPair`.
How: a table from pair name to source realiser; the target is always English.
Cost: linear in the length of the sentence.
Not: drawing clauses (`world`) or many of them (`stream`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from wayword.corpus.toy import arabic, english, german, japanese
from wayword.corpus.toy.gold import find_links, find_order
from wayword.corpus.toy.tokens import Token
from wayword.corpus.toy.tree import Clause
from wayword.errors import ArgumentError

Realiser = Callable[[Clause], list[Token]]

REALISERS: dict[str, Realiser] = {
    "de-en": german.realise,
    "ar-en": arabic.realise,
    "ja-en": japanese.realise,
}
#: Pairs of an old and the modern spelling, and how the modern side is said (``spelling``).
SPELLINGS: dict[str, Realiser] = {"old-de": german.realise}
#: Pairs with names that nobody has heard, and how the source is said (``names``).
NAMES: dict[str, Realiser] = {"ur-en": arabic.realise}


@dataclass(frozen=True, slots=True)
class ToyPair:
    """A sentence in two languages with its gold standard; positions count from 0.

    `links` are (source, target), sorted. `order[t]` is the source position translated t-th.
    `pos` (universal tags) and `chunks` (IOB2) describe the source words.
    """

    src: tuple[str, ...]
    tgt: tuple[str, ...]
    links: tuple[tuple[int, int], ...]
    order: tuple[int, ...]
    pos: tuple[str, ...]
    chunks: tuple[str, ...]


def pairs() -> tuple[str, ...]:
    """The names of the language pairs.

    >>> pairs()
    ('de-en', 'ar-en', 'ja-en')
    """
    return tuple(REALISERS)


def realiser_of(pair: str) -> Realiser:
    """The source side of a pair, or a helpful error."""
    realiser = {**REALISERS, **SPELLINGS, **NAMES}.get(pair)
    if realiser is None:
        known = ", ".join((*REALISERS, *SPELLINGS, *NAMES))
        raise ArgumentError(f"unknown toy pair {pair!r}; the known pairs are {known}")
    return realiser


def make_pair(src: list[Token], root: Clause) -> ToyPair:
    """Say the clause in English and read off the gold standard."""
    tgt = english.realise(root)
    links = find_links(src, tgt)
    return ToyPair(
        src=tuple([token.form for token in src]),
        tgt=tuple([token.form for token in tgt]),
        links=links,
        order=find_order(src, links),
        pos=tuple([token.pos for token in src]),
        chunks=tuple([token.chunk for token in src]),
    )
