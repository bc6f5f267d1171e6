"""Finds where in a line the tokens stand that were made of it.

In: a line and its tokens, which may be composed, recased and without invisible characters.
Out: for each token its first character and the one after its last; None for a token that cannot
be found, such as one that stands for other signs.
How: both are walked side by side in a form that is the same for all spellings of a letter:
decomposed, in lower case. Where they part, as many letters as possible are found.
Cost: linear; where they part, letters times tokens.

>>> locate(["das", "Haus", "."], "Das  Haus.")
((0, 3), (5, 9), (9, 10))
>>> locate(["10", "@", "%"], "10 %")
((0, 2), None, (3, 4))
"""

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from wayword.corpus.source import Offsets

__all__ = ["Character", "folded", "locate", "locate_in"]

#: What case and composition leave of a letter: Turkish i with and without its dot are one.
_SAME = {"ı": "i", "\u0307": ""}


#: A stretch of so many letters times tokens is looked through.
MOST = 1 << 20


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
        same = line[at:end]
        if same != token and (len(same) < len(token) or same.lower() != token.lower()):
            return None
        if not token:
            return None
        places.append((at, end))
        at = end
    return tuple(places) if not line[at:].strip() else None


def locate_in(tokens: Sequence[str], characters: Sequence[Character]) -> Offsets:
    """The same for a line whose characters are written in some other way, such as ``&lt;``."""
    shown = [place for place, character in enumerate(characters) if not character.text.isspace()]
    letters = _letters((characters[place].text, place) for place in shown)
    wanted = [folded(token) for token in tokens]
    starts = _aligned(wanted, "".join(letter.text for letter in letters))
    return tuple(
        None if at is None else _span(letters[at : at + len(token)], characters)
        for token, at in zip(wanted, starts, strict=True)
    )


def folded(text: str) -> str:
    """Text in the form that is compared: no case, no spaces, all letters decomposed."""
    return "".join(
        letter.text for letter in _letters((sign, 0) for sign in text if not sign.isspace())
    )


def _letters(signs: Iterable[tuple[str, int]]) -> list[_Letter]:
    """Signs in the form that is compared, marks of one letter in canonical order."""
    letters = []
    for sign, place in signs:
        if unicodedata.category(sign) in {"Cc", "Cf"}:  # most tokenizers drop what nobody sees
            continue
        for part in unicodedata.normalize("NFD", unicodedata.normalize("NFD", sign).casefold()):
            text = _SAME.get(part, part)
            letters += [_Letter(text, place)] if text else []
    ordered: list[_Letter] = []
    for is_mark, run in groupby(
        letters, key=lambda letter: unicodedata.combining(letter.text) != 0
    ):
        letters_of_run = list(run)
        if is_mark:
            letters_of_run.sort(key=lambda letter: unicodedata.combining(letter.text))
        ordered += letters_of_run
    return ordered


def _aligned(tokens: Sequence[str], text: str) -> list[int | None]:
    """Where in the text each token starts; from both ends as far as nothing is missing."""
    first, at, last, end = 0, 0, len(tokens), len(text)
    starts: list[int | None] = [None] * len(tokens)
    while first < last and text.startswith(tokens[first], at):
        starts[first] = at if tokens[first] else None
        at += len(tokens[first])
        first += 1
    while (
        first < last
        and at <= end - len(tokens[last - 1])
        and text.endswith(tokens[last - 1], at, end)
    ):
        last -= 1
        end -= len(tokens[last])
        starts[last] = end if tokens[last] else None
    if (last - first) * (end - at) <= MOST:
        starts[first:last] = _best(tokens[first:last], text, at, end)
    return starts


def _best(tokens: Sequence[str], text: str, at: int, end: int) -> list[int | None]:
    """The places in a stretch of the text that find as many letters of the tokens as possible."""
    width = end - at + 1
    rows = [[0] * width]  # by number of tokens left: letters found from each place on
    for token in reversed(tokens):
        below, row = rows[-1], [0] * width
        for place in reversed(range(width)):
            row[place] = max(below[place], row[place + 1] if place + 1 < width else 0)
            if token and text.startswith(token, at + place, end):
                row[place] = max(row[place], len(token) + below[place + len(token)])
        rows.append(row)
    rows.reverse()
    starts: list[int | None] = []
    place = 0
    for number, token in enumerate(tokens):
        row, below = rows[number], rows[number + 1]
        while place + 1 < width and row[place + 1] == row[place] > below[place]:
            place += 1
        if row[place] == below[place]:
            starts.append(None)
            continue
        starts.append(at + place)
        place += len(token)
    return starts


def _span(letters: Sequence[_Letter], characters: Sequence[Character]) -> tuple[int, int] | None:
    """From the first of a token's characters to its last, if nothing else is between."""
    places = {letter.place for letter in letters}
    first, last = min(places), max(places)
    while last + 1 < len(characters) and unicodedata.combining(characters[last + 1].text):
        if folded(characters[last + 1].text):
            return None  # the letter has a mark that the token does not have
        last += 1
    for place in range(first, last + 1):
        text = characters[place].text
        if text.isspace() or (place not in places and folded(text)):
            return None
    return characters[first].start, characters[last].end
