"""An endless stream of sentence pairs from a seed.

In: pair name, number, seed. Out: an iterator of `ToyPair`.
How: draw a clause, say it, and draw again when the source is too short or too long.
Cost: a fraction of a millisecond per pair; memory does not grow.
Not: removing repeats; short sentences do come back, as in real text.

>>> first = next(generate("de-en", 1, seed=1))
>>> len(first.src) == len(first.order)
True
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from wayword.corpus.toy.names import new_names
from wayword.corpus.toy.pair import NAMES, SPELLINGS, Realiser, ToyPair, make_pair, realiser_of
from wayword.corpus.toy.sampling import Draw
from wayword.corpus.toy.spelling import old_spelling
from wayword.corpus.toy.world import draw_sentence
from wayword.errors import ArgumentError

SHORTEST = 4
LONGEST = 40


def generate(pair: str, n: int, *, seed: int = 1) -> Iterator[ToyPair]:
    """The first `n` pairs of the stream that belongs to `pair` and `seed`."""
    realiser_of(pair)
    if n < 0:
        raise ArgumentError(f"n is {n}; the number of pairs cannot be negative")
    return islice(endless(pair, seed), n)


def endless(pair: str, seed: int) -> Iterator[ToyPair]:
    """The whole stream."""
    drawn = _endless(realiser_of(pair), seed)
    if pair in NAMES:
        return new_names(drawn, seed)
    return old_spelling(drawn, seed) if pair in SPELLINGS else drawn


def _endless(realise: Realiser, seed: int) -> Iterator[ToyPair]:
    draw = Draw(seed)
    while True:
        root = draw_sentence(draw)
        src = realise(root)
        if SHORTEST <= len(src) <= LONGEST:
            yield make_pair(src, root)
