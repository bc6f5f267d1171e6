"""Finds where in a line the tokens stand that were made of it.

In: a line and its tokens, which may be composed, recased and without invisible characters.
Out: for each token its first character and the one after its last; None for a token that cannot
be found, such as one that stands for other signs.
How: both are walked side by side, character by character, in a form that is the same for all
spellings of a letter: decomposed, in lower case. Where they part, the longest common stretches
decide (difflib).
Cost: linear; quadratic in lines whose tokens hold other characters than the line.

>>> locate(["das", "Haus", "."], "Das  Haus.")
((0, 3), (5, 9), (9, 10))
>>> locate(["10", "@", "%"], "10 %")
((0, 2), None, (3, 4))
"""

import unicodedata
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import NamedTuple

from wayword.corpus.source import Offsets

__all__ = ["Character", "folded", "locate", "locate_in"]

#: What case and composition leave of a letter: Turkish i with and without its dot are one.
_SAME = {"ı": "i", "\u0307": ""}


class Character(NamedTuple):
    """A character of a text, and where it is written: first sign, after the last."""

    text: str
    start: int
    end: int


class _Letter(NamedTuple):
    """A letter in the form that is compared, and the place of the character it comes from."""

    text: str
    place: int


def locate(tokens: Sequence[str], line: str) -> Offsets:
    """Where each token stands in the line it was made of."""
    near = _as_written(tokens, line)
    if near is not None:
        return near
    return locate_in(tokens, [Character(text, at, at + 1) for at, text in enumerate(line)])


def _as_written(tokens: Sequence[str], line: str) -> Offsets | None:
    """The places of tokens that stand in the line as they are, but for the case."""
    places, at = [], 0
    for token in tokens:
        while at < len(line) and line[at].isspace():
            at += 1
        end = at + len(token)
        if line[at:end] != token and line[at:end].lower() != token.lower():
            return None
        places.append((at, end))
        at = end
    return tuple(places) if not line[at:].strip() else None


def locate_in(tokens: Sequence[str], characters: Sequence[Character]) -> Offsets:
    """The same for a line whose characters are written in some other way, such as ``&lt;``."""
    shown = [place for place, one in enumerate(characters) if not one.text.isspace()]
    letters = _letters((characters[place].text, place) for place in shown)
    wanted = [_letters((sign, 0) for sign in token) for token in tokens]
    places = _matched([one.text for token in wanted for one in token], letters)
    offsets: list[tuple[int, int] | None] = []
    at = 0
    for token in wanted:
        its = places[at : at + len(token)]
        at += len(token)
        offsets.append(_span(its, characters))
    return tuple(offsets)


def folded(text: str) -> str:
    """Text in the form that is compared: no case, no spaces, all letters decomposed."""
    return "".join(one.text for one in _letters((sign, 0) for sign in text if not sign.isspace()))


def _letters(signs: Iterable[tuple[str, int]]) -> list[_Letter]:
    """Signs in the form that is compared, marks of one letter in canonical order."""
    letters = []
    for sign, place in signs:
        if unicodedata.category(sign) in {"Cc", "Cf"}:  # most tokenizers drop what nobody sees
            continue
        for letter in unicodedata.normalize("NFD", unicodedata.normalize("NFD", sign).casefold()):
            text = _SAME.get(letter, letter)
            letters += [_Letter(text, place)] if text else []
    ordered: list[_Letter] = []
    for is_mark, run in groupby(letters, key=lambda one: unicodedata.combining(one.text) != 0):
        letters_of_run = list(run)
        if is_mark:
            letters_of_run.sort(key=lambda one: unicodedata.combining(one.text))
        ordered += letters_of_run
    return ordered


def _matched(wanted: Sequence[str], letters: Sequence[_Letter]) -> list[int | None]:
    """For each wanted letter the place of the character it comes from."""
    if [one.text for one in letters] == list(wanted):
        return [one.place for one in letters]
    found: list[int | None] = [None] * len(wanted)
    matcher = SequenceMatcher(None, wanted, [one.text for one in letters], autojunk=False)
    for first, other, size in matcher.get_matching_blocks():
        for step in range(size):
            found[first + step] = letters[other + step].place
    return found


def _span(places: Sequence[int | None], characters: Sequence[Character]) -> tuple[int, int] | None:
    """From the first of a token's characters to its last, if nothing else is between."""
    known = [place for place in places if place is not None]
    if not known or len(known) < len(places):
        return None
    first, last = min(known), max(known)
    while last + 1 < len(characters) and unicodedata.combining(characters[last + 1].text):
        last += 1  # a mark that is not compared still belongs to its letter
    own = set(known)
    for place in range(first, last + 1):
        text = characters[place].text
        if text.isspace() or (place not in own and folded(text)):
            return None
    return characters[first].start, characters[last].end
