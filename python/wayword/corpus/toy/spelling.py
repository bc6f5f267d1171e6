"""German of the toy world as it might have been written four hundred years ago.

In: German sentences of the toy world, a seed. Out: pairs of the old and the modern spelling, word
by word.
How: every sentence has a writer of its own. A writer knows some of the habits of the time
(``vnd``, ``auff``, ``Thür``) and follows each of them often or now and then, so one word comes in
many spellings and one spelling may stand for several words. Compounds are made of two nouns, so
that many words of a test set were never seen.
Cost: some tens of microseconds a word.
Not: the language of any real century or place.

>>> writer = Writer([1.0] * len(HABITS))
>>> [writer.spell(word, Draw(1)) for word in ("und", "auf", "Tür", "denken", "weiß")]
['vndt', 'auff', 'Thuer', 'denckenn', 'weyss']
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from wayword.corpus.toy.entries import nouns
from wayword.corpus.toy.pair import ToyPair
from wayword.corpus.toy.sampling import Draw, zipf

#: What is written otherwise: where, what for it, and what share of writers have the habit.
HABITS: tuple[tuple[re.Pattern[str], str, float], ...] = tuple(
    (re.compile(pattern), instead, share)
    for pattern, instead, share in (
        (r"nd$", "ndt", 0.3),
        (r"^u", "v", 0.8),
        (r"^U", "V", 0.8),
        (r"(?<=[a-zäöü])v", "u", 0.5),
        (r"ei", "ey", 0.7),
        (r"(?<=[lnr])k", "ck", 0.7),
        (r"(?<=[lnr])z", "tz", 0.6),
        (r"(?<=[aeiouäöü])f$", "ff", 0.8),
        (r"^t(?=[aeiouäöü])", "th", 0.5),
        (r"^T(?=[aeiouäöü])", "Th", 0.5),
        (r"(?<=[aeiouäöü])h(?=[lmnr])", "", 0.5),
        (r"(?<=[a-z])ie(?=[a-z])", "i", 0.4),
        (r"^j", "i", 0.5),
        (r"^J", "I", 0.5),
        (r"(?<=[aeiou])n$", "nn", 0.3),
        (r"(?<=[aeiou])m(?=[aeiou])", "mm", 0.2),
        (r"ß", "ss", 0.5),
        (r"ä", "e", 0.5),
        (r"ö", "oe", 0.4),
        (r"ü", "ue", 0.4),
        (r"^s(?=[a-z])", "ſ", 0.3),
    )
)
#: How often a writer follows a habit, and a noun becomes a compound or is written small.
OFTEN, SELDOM, COMPOUND, SMALL = 0.9, 0.4, 0.35, 0.3


class Writer:
    """Somebody who follows each habit as often as ``shares`` say."""

    def __init__(self, shares: Sequence[float]) -> None:
        self._shares = shares

    @classmethod
    def drawn(cls, draw: Draw) -> Writer:
        """A writer with some habits."""
        often = [OFTEN if draw.chance(0.5) else SELDOM for _ in HABITS]
        has = [draw.chance(share) for _, _, share in HABITS]
        return cls([how if known else 0.0 for how, known in zip(often, has, strict=True)])

    def spell(self, word: str, draw: Draw) -> str:
        """The word as this writer puts it on paper, this time."""
        for (pattern, instead, _), share in zip(HABITS, self._shares, strict=True):
            if share and pattern.search(word) and draw.chance(share):
                word = pattern.sub(instead, word)
        return word


def old_spelling(modern: Iterator[ToyPair], seed: int) -> Iterator[ToyPair]:
    """Pairs of old and modern spelling of the source sides of ``modern``."""
    draw = Draw(seed)
    first = zipf([_as_first_part(noun.de[0].form) for noun in nouns()])
    for pair in modern:
        writer = Writer.drawn(draw)
        small = draw.chance(SMALL)
        new = tuple(
            draw.pick(first) + word.lower() if pos == "NOUN" and draw.chance(COMPOUND) else word
            for word, pos in zip(pair.src, pair.pos, strict=True)
        )
        old = tuple(
            writer.spell(word.lower() if small and pos == "NOUN" else word, draw)
            for word, pos in zip(new, pair.pos, strict=True)
        )
        places = tuple(range(len(new)))
        yield replace(pair, src=old, tgt=new, links=tuple(zip(places, places, strict=True)),
                      order=places)  # fmt: skip


def _as_first_part(noun: str) -> str:
    """A noun as the first half of a compound.

    >>> _as_first_part("Schule"), _as_first_part("Zeitung"), _as_first_part("Haus")
    ('Schulen', 'Zeitungs', 'Haus')
    """
    return noun + ("n" if noun.endswith("e") else "s" if noun.endswith("ung") else "")
