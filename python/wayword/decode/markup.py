"""Tags in the text that say how to translate it, as Moses' users know them.

In: lines such as ``das <n translation="dwelling">haus</n> <wall/> <zone> ... </zone>``.
Out: sentences for the decoder, which holds to given translations, walls and zones.
How: the core reads the tags. ``exclusive`` uses nothing but the given translations for their
words, ``inclusive`` lets them compete with the table, ``ignore`` leaves them out; walls and zones
hold in all of them. ``&lt;`` and other entities stand for signs.
Not: Moses' ``constraint`` mode.

>>> [sentence] = read_markup(["a <n translation='x'>b c</n>"], "exclusive")
>>> sentence.words
['a', 'b', 'c']
>>> read_markup(["fine", "<zone> never closed"], True)
Traceback (most recent call last):
...
wayword.errors.FormatError: text:2: `<zone>` at character 1 is never closed; expected `</zone>` \
before the end of the line; write &lt; where no tag is meant
>>> prepare_markup("Das <n translation='x'>Haus</n>R&amp;D.", lambda text: text.replace(".", " ."))
"Das <n translation='x'> Haus </n> R&amp;D ."
"""

import re
from collections.abc import Callable, Sequence
from xml.sax.saxutils import escape, unescape

from wayword._core import MarkedSentence

__all__ = ["MODES", "prepare_markup", "read_markup"]

#: what becomes of given translations
MODES = {
    "exclusive": "nothing else is used for their words",
    "inclusive": "they compete with the table",
    "ignore": "they are left out; walls and zones hold",
}

_TAG = re.compile(r"""(<(?:[^<>"']|"[^"]*"|'[^']*')*>)""")
_SIGNS = {"&quot;": '"', "&apos;": "'"}


def read_markup(
    lines: Sequence[str], markup: bool | str, origin: tuple[str, int] = ("text", 1)
) -> list[MarkedSentence]:
    """Read marked-up lines; ``markup`` is a mode, or true for ``exclusive``."""
    mode = "exclusive" if markup is True else str(markup)
    file, first = origin
    return [
        MarkedSentence(line, mode=mode, file=file, number=number)
        for number, line in enumerate(lines, first)
    ]


def prepare_markup(line: str, prepare: Callable[[str], str]) -> str:
    """A line whose text was prepared piece by piece, with its tags as they are."""
    pieces = _TAG.split(line)
    for at in range(0, len(pieces), 2):  # tags stand between pieces of text
        if "<" not in pieces[at]:  # a broken tag is for the reader to tell
            pieces[at] = escape(prepare(unescape(pieces[at], _SIGNS))).replace("&gt;", ">")
    return " ".join(piece for piece in pieces if piece)
