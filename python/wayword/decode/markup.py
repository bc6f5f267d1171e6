"""Tags in the text that say how to translate it, as Moses' users know them.

In: a line such as ``das <n translation="dwelling">haus</n> <wall/> <zone> ... </zone>``.
Out: a ``Source`` for the decoder, which holds to given translations, walls and zones.
How: the core reads the tags. ``exclusive`` uses nothing but the given translations for their
words, ``inclusive`` lets them compete with the table, ``ignore`` leaves them out; walls and zones
hold in all of them. ``&lt;`` and other entities stand for signs. Raw text is prepared piece by
piece, between the tags.
Not: Moses' ``constraint`` mode.

>>> read_markup("a <n translation='x'>b c</n>", "exclusive").words
('a', 'b', 'c')
>>> read_markup("<zone> never closed", "exclusive", ("text", 2))
Traceback (most recent call last):
...
wayword.errors.FormatError: text:2: `<zone>` at character 1 is never closed; expected `</zone>` \
before the end of the line; write &lt; where no tag is meant
>>> line = "Das <n translation='x'>Haus</n>R&amp;D."
>>> source = read_markup(line, "exclusive", prepare=lambda text: text.replace(".", " ."))
>>> source.words, source.offsets
(('Das', 'Haus', 'R&D', '.'), ((0, 3), (23, 27), (31, 38), (38, 39)))
"""

import re
from collections.abc import Callable, Sequence
from xml.sax.saxutils import escape, unescape

from wayword import _core
from wayword.corpus.annotate import Sentence
from wayword.corpus.offsets import Character, locate_in
from wayword.corpus.source import Source

__all__ = ["MODES", "read_markup"]

#: what becomes of given translations
MODES = {
    "exclusive": "nothing else is used for their words",
    "inclusive": "they compete with the table",
    "ignore": "they are left out; walls and zones hold",
}

_TAG = re.compile(r"""(<(?:[^<>"']|"[^"]*"|'[^']*')*>)""")
_SIGNS = {"&quot;": '"', "&apos;": "'"}
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos);|.", re.DOTALL)
#: White space to Python, but not to the core.
_SPACES = dict.fromkeys(range(0x1C, 0x20), " ")


def read_markup(
    line: str,
    mode: bool | str = "exclusive",
    place: tuple[str, int] = ("text", 1),
    prepare: Callable[[str], str | Sequence[str]] | None = None,
) -> Source:
    """Read a marked-up line; ``mode`` is one of ``MODES``, or true for ``exclusive``.

    ``place`` is the file and the line's number, for messages. ``prepare`` makes tokens of raw
    text; without it the text is tokenised already.
    """
    text = line if prepare is None else _prepared(line, prepare)
    mode = "exclusive" if mode is True else str(mode)
    markup = _core.Markup(text.translate(_SPACES), mode, *place)
    words = tuple(markup.words)
    offsets = locate_in(words, _characters(line)) if prepare is not None else None
    return Source(Sentence(words), markup=markup, raw=line, offsets=offsets)


def _prepared(line: str, prepare: Callable[[str], str | Sequence[str]]) -> str:
    """A line whose text was prepared piece by piece, with its tags as they are."""
    pieces = _TAG.split(line)
    for at in range(0, len(pieces), 2):  # tags stand between pieces of text
        if "<" not in pieces[at]:  # a broken tag is for the reader to tell
            tokens = prepare(unescape(pieces[at], _SIGNS))
            text = tokens if isinstance(tokens, str) else " ".join(tokens)
            pieces[at] = escape(text).replace("&gt;", ">")
    return " ".join(piece for piece in pieces if piece)


def _characters(line: str) -> list[Character]:
    """What stands between the tags, with the places where it is written."""
    characters, at = [], 0
    for number, piece in enumerate(_TAG.split(line)):
        if number % 2:  # a tag parts words
            characters.append(Character(" ", at, at + len(piece)))
        else:
            characters += [
                Character(unescape(sign[0], _SIGNS), at + sign.start(), at + sign.end())
                for sign in _ENTITY.finditer(piece)
            ]
        at += len(piece)
    return characters
