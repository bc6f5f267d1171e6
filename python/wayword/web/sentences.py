r"""Splits text into sentences, and keeps what stands between them.

In: text of any length. Out: sentences, each with the white space behind it; put together they are
the text again.
How: a line never goes on in the next one. Within a line a sentence ends behind ``. ! ?`` (and
closing quotes) before white space and something that may begin one, unless a number or a single
letter stands before the dot; behind ``。！？`` it always ends.
Cost: linear.
Not: abbreviations of several letters.

>>> split("Er kam am 3. Mai. Wer? „Ich.“\n\nGut")
[('Er kam am 3. Mai.', ' '), ('Wer?', ' '), ('„Ich.“', '\n\n'), ('Gut', '')]
>>> split("今日は。明日も")
[('今日は。', ''), ('明日も', '')]
"""

import re

__all__ = ["split"]

_LINE = re.compile(r"[^\r\n\v\f\x85\u2028\u2029]+|[\r\n\v\f\x85\u2028\u2029]+")
_END = re.compile(r"[.!?…؟।۔]+[\"'”’»“)\]]*(?=\s)|[。！？]+[」』”’）]*")
#: What a full stop does not end a sentence behind.
_NO_END = re.compile(r"(?:^|[\s(„“\"])(?:\d+|[^\W\d_])\.$")


def split(text: str) -> list[tuple[str, str]]:
    """The sentences of a text with the white space behind each; leading space stands alone."""
    pieces: list[tuple[str, str]] = []
    for line in _LINE.findall(text):
        if line.isspace():
            _add_gap(pieces, line)
            continue
        start = 0
        for end in _ends(line):
            _add(pieces, line[start:end])
            start = end
        _add(pieces, line[start:])
    return pieces


def _ends(line: str) -> list[int]:
    ends = []
    for match in _END.finditer(line):
        rest = line[match.end() :].lstrip()
        begins = rest[:1].upper() == rest[:1] or not rest[:1].isalpha()
        if begins and not _NO_END.search(line[max(match.end() - 24, 0) : match.end()]):
            ends.append(match.end())
    return ends


def _add(pieces: list[tuple[str, str]], text: str) -> None:
    sentence = text.strip()
    if not sentence:
        _add_gap(pieces, text)
        return
    start = text.index(sentence)
    _add_gap(pieces, text[:start])
    pieces.append((sentence, text[start + len(sentence) :]))


def _add_gap(pieces: list[tuple[str, str]], gap: str) -> None:
    if gap and pieces:
        pieces[-1] = pieces[-1][0], pieces[-1][1] + gap
    elif gap:
        pieces.append(("", gap))
