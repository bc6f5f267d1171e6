r"""Reads windows of consecutive lines from two files, as sets of word types.

In: two files of any bytes and the first lines of the windows. Out: ``LineWindow`` objects: the
types of ``size`` source lines, and of the same target lines with ``MAX_SHIFT`` more on either side.
How: a type is a lower-cased word cut to its first letters, which joins most inflected forms in any
language; in scripts without spaces it is a character, or two adjacent ones.
Cost: one pass over each file that only counts line ends outside the windows; the first
``MAX_CHARS`` characters of each line of a window in memory.
Not: lines that are not UTF-8 text; they have no types.

>>> word_types("Die Häuser, die Häuser")
['die', 'häuser', ',']
>>> word_types("東京 2026")
['東', '京', '東京', '2026']
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wayword.corpus.files import BLOCK, BYTE_ORDER_MARK, open_bytes
from wayword.corpus.split import CJK, split_unicode
from wayword.types import FilePath

__all__ = ["MAX_SHIFT", "LineWindow", "read_windows", "word_types"]

#: Longest shift that is tested, in lines.
MAX_SHIFT = 10
#: Characters of a line and types of a line that are used, and letters of a type.
MAX_CHARS, MAX_TYPES, PREFIX = 600, 60, 6
MAX_BYTES = 4 * MAX_CHARS
UNSPACED = re.compile(f"[{CJK}]")


@dataclass(frozen=True)
class LineWindow:
    """Types of the source lines from ``start`` (from 0), and of the target lines around them.

    ``tgt[i + MAX_SHIFT]`` is the line with the number of ``src[i]``; lines before the first and
    after the last of the file have no types.
    """

    start: int
    src: list[list[str]]
    tgt: list[list[str]]

    @property
    def end(self) -> int:
        """The line after the last source line."""
        return self.start + len(self.src)


def word_types(line: str) -> list[str]:
    """Return the distinct types of a line, in the order of the text."""
    types: list[str] = []
    before = ""
    for token in split_unicode(line[:MAX_CHARS].lower(), ""):
        if not UNSPACED.match(token):
            types.append(token[:PREFIX])
            before = ""
            continue
        types += [token, before + token] if before else [token]
        before = token
    return list(dict.fromkeys(types))[:MAX_TYPES]


def read_windows(
    src: FilePath, tgt: FilePath, spans: Sequence[tuple[int, int]]
) -> list[LineWindow]:
    """Read the windows of these lines (first, and the one after the last), in ascending order."""
    wide = [(max(start - MAX_SHIFT, 0), end + MAX_SHIFT) for start, end in spans]
    src_lines, tgt_lines = _read_types(src, spans), _read_types(tgt, wide)
    return [
        LineWindow(
            start,
            [src_lines.get(number, []) for number in range(start, end)],
            [tgt_lines.get(number, []) for number in range(start - MAX_SHIFT, end + MAX_SHIFT)],
        )
        for start, end in spans
    ]


def _read_types(path: FilePath, spans: Sequence[tuple[int, int]]) -> dict[int, list[str]]:
    return {number: _types_of(raw, number) for number, raw in _read_lines(path, spans)}


def _types_of(raw: bytes, number: int) -> list[str]:
    if number == 0:
        raw = raw.removeprefix(BYTE_ORDER_MARK)
    is_cut = len(raw) >= MAX_BYTES
    try:
        # A character at the cut may be incomplete.
        text = raw[:MAX_BYTES].decode("utf-8", errors="ignore" if is_cut else "strict")
    except UnicodeDecodeError:
        return []
    return [] if "\0" in text else word_types(text)


def _read_lines(path: FilePath, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, bytes]]:
    """Yield the numbers and the first bytes of the lines of all spans, which may overlap."""
    wanted = _merged(spans)
    number, line = 0, bytearray()  # the line that the next block continues
    with open_bytes(path) as file:
        while wanted and (block := file.read(BLOCK)):
            ends = block.count(b"\n")
            if number + ends < wanted[0][0]:
                number += ends
                line.clear()
                continue
            *whole, rest = block.split(b"\n")
            for part in whole:
                if wanted and number >= wanted[0][0]:
                    yield number, bytes((line + part)[:MAX_BYTES])
                line.clear()
                number += 1
                if wanted and number >= wanted[0][1]:
                    wanted.pop(0)
            line = (line + rest)[:MAX_BYTES]
    if wanted and number >= wanted[0][0] and line:
        yield number, bytes(line)


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join spans that touch.

    >>> _merged([(0, 5), (4, 9), (20, 22)])
    [(0, 9), (20, 22)]
    """
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start <= merged[-1][1]:
            first, last = merged.pop()
            merged.append((first, max(last, end)))
        else:
            merged.append((start, end))
    return merged
