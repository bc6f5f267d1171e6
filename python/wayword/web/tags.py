"""Translates HTML: text between the tags, and the tags where the words went.

In: a piece of HTML. Out: what is to be translated, and the same HTML around the translations.
How: tags of paragraphs, lists and tables part text; tags within a sentence, such as ``<b>``, are
taken out and put around the words that those they stood around became, by the links of the
translation. Words that came from both sides of a tag follow the greater part; a tag around words
that left no trace stands where they would. ``translate="no"``, scripts, styles and code stay.
Cost: linear.
Not: a check of the HTML; what is no tag is text.

>>> document = parse("<p>Das ist ein <b>gutes</b> Buch.</p>")
>>> [segment.text for segment in document.segments]
['Das ist ein gutes Buch.']
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape, unescape

from wayword.corpus.offsets import locate
from wayword.corpus.subwords import MARK, join_pieces
from wayword.decode import Translation

__all__ = ["Document", "Segment", "parse", "place"]

#: No tag goes on behind the next ``<``: so the work is linear, whatever the text.
_TAG = re.compile(r"""(<[!?/]?[A-Za-z](?:[^<>"']|"[^"<]*"|'[^'<]*')*>)""")
_NAME = re.compile(r"</?\s*([A-Za-z][A-Za-z0-9:-]*)")
_KEPT = re.compile(r"""\stranslate\s*=\s*["']?no\b|\sclass\s*=\s*["'][^"']*\bnotranslate\b""")
INLINE = frozenset(
    (
        *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn"),
        *("em", "font", "i", "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span"),
        *("strike", "strong", "sub", "sup", "time", "tt", "u", "var"),
    )
)
#: Tags within a sentence that hold nothing.
EMPTY = frozenset(("img", "wbr", "input"))
#: Elements whose content is no text to translate.
VERBATIM = frozenset(("script", "style", "code", "pre", "textarea", "svg", "math", "noscript"))


@dataclass(eq=False)
class Mark:
    """A tag within a sentence: what stands before and behind the characters it holds."""

    start: int
    end: int
    opening: str
    closing: str
    #: whether the element began in an earlier segment
    is_carried: bool = False


@dataclass
class Segment:
    """Text to translate, without its tags, and what stood in it."""

    text: str = ""
    marks: list[Mark] = field(default_factory=list)
    #: words that stay as they are, and where they start
    kept: list[tuple[int, str]] = field(default_factory=list)

    def part(self, start: int, end: int, after: int) -> list[Mark]:
        """The tags of a sentence of the text, with places counted from its start.

        The next one starts at ``after``: tags in the gap between stand at the end of this one.
        """
        inside = []
        last = after if after < len(self.text) else after + 1
        for mark in self.marks:
            holds_words = mark.start < end and mark.end > start
            is_between = mark.start >= start and mark.end <= last and mark.start < last
            if holds_words or is_between:
                low, high = max(mark.start, start) - start, min(mark.end, end) - start
                low = min(low, end - start)
                inside.append(Mark(low, max(low, high), mark.opening, mark.closing))
        return inside


@dataclass
class Document:
    """HTML in pieces: strings stay, segments are translated."""

    pieces: list[str | Segment]

    @property
    def segments(self) -> list[Segment]:
        """What is to be translated."""
        return [piece for piece in self.pieces if isinstance(piece, Segment)]

    def filled(self, texts: Sequence[str]) -> str:
        """The HTML with the translations of its segments."""
        rest = iter(texts)
        return "".join(piece if isinstance(piece, str) else next(rest) for piece in self.pieces)


def parse(html: str) -> Document:
    """Take HTML apart."""
    return _Reader(_tokens(html)).read()


class _Reader:
    """Goes through text and tags once, and gathers segments."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = tokens
        self.at = 0
        self.pieces: list[str | Segment] = []
        self.segment = Segment()
        #: elements within a sentence that are open
        self.open: list[Mark] = []

    def read(self) -> Document:
        while self.at < len(self.tokens):
            token, is_tag = self.tokens[self.at], self.at % 2 == 1
            self.at += 1
            if is_tag:
                self._read_tag(token)
            else:
                self.segment.text += unescape(token)
        self._finish()
        return Document(self.pieces)

    def _read_tag(self, token: str) -> None:
        name = match[1].lower() if (match := _NAME.match(token)) else ""
        is_closing, here = token.startswith("</"), len(self.segment.text)
        if not is_closing and (name in VERBATIM or _KEPT.search(token)):
            self._keep(token, name)
        elif name in EMPTY and not is_closing:
            self.segment.marks.append(Mark(here, here, token, ""))
        elif name in INLINE and not token.endswith("/>"):
            if is_closing:
                self._close(name)
            else:
                mark = Mark(here, here, token, f"</{name}>")
                self.segment.marks.append(mark)
                self.open.append(mark)
        else:
            self._finish()
            self.pieces.append(token)

    def _keep(self, token: str, name: str) -> None:
        """An element that is not translated."""
        content, closing, self.at = _element(self.tokens, self.at, name)
        if name not in INLINE:
            self._finish()
            self.pieces.append(token + content + closing)
            return
        words = unescape(_TAG.sub("", content))
        start = len(self.segment.text)
        self.segment.text += words
        self.segment.marks.append(Mark(start, start + len(words), token, f"</{name}>"))
        self.segment.kept += [(start, words.strip())] if words.strip() else []

    def _close(self, name: str) -> None:
        opened = next((mark for mark in reversed(self.open) if mark.closing[2:-1] == name), None)
        if opened is not None:
            opened.end = len(self.segment.text)
            self.open.remove(opened)

    def _finish(self) -> None:
        """End a segment; what is open goes on in the next one."""
        segment = self.segment
        for mark in self.open:
            mark.end = len(segment.text)
        segment.marks = [
            mark
            for mark in segment.marks
            if mark.start < mark.end or not (mark.is_carried or mark in self.open)
        ]
        if segment.text.strip():
            self.pieces.append(segment)
        elif segment.text or segment.marks:
            self.pieces.append(_bare(segment))
        self.open = [Mark(0, 0, mark.opening, mark.closing, True) for mark in self.open]
        self.segment = Segment(marks=list(self.open))


def _tokens(html: str) -> list[str]:
    """Text and tags by turns, text first; a comment is a tag."""
    tokens, start = [""], 0
    while start < len(html):
        at = html.find("<!--", start)
        end = html.find("-->", at + 4) if at >= 0 else -1
        head = html[start : at if end >= 0 else len(html)]
        first, *rest = _TAG.split(head)
        tokens[-1] += first
        tokens += rest
        if end < 0:
            break
        start = end + 3
        tokens += [html[at:start], ""]
    return tokens


def _element(tokens: Sequence[str], at: int, name: str) -> tuple[str, str, int]:
    """What an element that was opened holds, its end, and where the tokens go on behind it."""
    depth = 1
    content: list[str] = []
    while at < len(tokens):
        token = tokens[at]
        match = _NAME.match(token) if at % 2 else None
        at += 1
        if match and match[1].lower() == name and not token.endswith("/>"):
            depth += -1 if token.startswith("</") else 1
            if depth == 0:
                return "".join(content), token, at
        content.append(token)
    return "".join(content), "", at


def _bare(segment: Segment) -> str:
    """A segment without words, as it was."""
    return _emitted(segment.text, [[] for _ in segment.text], segment.marks)


def place(text: str, marks: Sequence[Mark], translation: Translation) -> str:
    """The translation of a text as HTML, with the tags of the text.

    >>> from wayword.decode import Phrase
    >>> done = Translation(("gutes", "Buch"), ("good", "book"), "good book", 0.0, {}, (),
    ...                    ((0, 0), (1, 1)), offsets=((0, 5), (6, 10)))
    >>> place("gutes Buch", [Mark(6, 10, "<i>", "</i>")], done)
    'good <i>book</i>'
    """
    if not marks:
        return escape(translation.text, quote=False)
    spans = _target_spans(translation)
    holds = _held(text, marks, translation)
    cells: list[list[int]] = [[] for _ in translation.text]
    before: tuple[int, set[int]] | None = None
    points: dict[int, int] = {}
    for token, span in enumerate(spans):
        if span is None:
            continue
        mine = holds[token]
        for at in range(*span):
            cells[at] = sorted(mine)
        if before is not None:
            for at in range(before[0], span[0]):
                cells[at] = sorted(before[1] & mine)
        before = span[1], mine
    used = {mark for cell in cells for mark in cell}
    for number, mark in enumerate(marks):
        if number not in used:  # nothing became of its words, or it holds none
            points[number] = _point(text, mark, translation, spans)
    return _emitted(translation.text, cells, marks, points)


def _target_spans(translation: Translation) -> Sequence[tuple[int, int] | None]:
    """Where in the text each target token stands."""
    is_pieces = any(token.startswith(MARK) for token in translation.tokens)
    tokens = translation.tokens
    if is_pieces and " ".join(join_pieces(tokens)) != " ".join(tokens):
        tokens = tuple(token.removeprefix(MARK) for token in tokens)
    return locate(tokens, translation.text)


def _held(text: str, marks: Sequence[Mark], translation: Translation) -> list[set[int]]:
    """By target token the tags around it: those around most of the words it comes from."""
    offsets = translation.offsets or locate(translation.source, text)
    of_source: list[set[int]] = []
    for span in offsets:
        middle = None if span is None else (span[0] + span[1] - 1) / 2
        of_source.append(
            {
                number
                for number, mark in enumerate(marks)
                if middle is not None and mark.start <= middle < mark.end
            }
        )
    linked: list[list[int]] = [[] for _ in translation.tokens]
    for i, j in translation.links:
        linked[j].append(i)
    held: list[set[int] | None] = []
    for sources in linked:
        if not sources:
            held.append(None)
            continue
        every = [number for i in sources for number in of_source[i]]
        held.append({number for number in set(every) if 2 * every.count(number) > len(sources)})
    return [_between(held, at) if mine is None else mine for at, mine in enumerate(held)]


def _between(held: Sequence[set[int] | None], at: int) -> set[int]:
    """What a token without links is held by: what its linked neighbours share."""
    left = next((mine for mine in reversed(held[:at]) if mine is not None), set())
    right = next((mine for mine in held[at + 1 :] if mine is not None), set())
    return left & right


def _point(
    text: str,
    mark: Mark,
    translation: Translation,
    spans: Sequence[tuple[int, int] | None],
) -> int:
    """Where a tag stands that holds nothing: before what the word behind it became."""
    offsets = translation.offsets or locate(translation.source, text)
    behind = [i for i, span in enumerate(offsets) if span is not None and span[0] >= mark.start]
    for source in behind:
        places = [spans[j] for i, j in translation.links if i == source]
        starts = [place_[0] for place_ in places if place_ is not None]
        if starts:
            return min(starts)
    return len(translation.text)


def _emitted(
    text: str,
    cells: Sequence[Sequence[int]],
    marks: Sequence[Mark],
    points: Mapping[int, int] | None = None,
) -> str:
    """Text with tags around runs of characters; outer tags have lower numbers."""
    at_point: dict[int, list[int]] = {}
    if points is None:
        points = {number: mark.start for number, mark in enumerate(marks)}
    for number, place_ in points.items():
        at_point.setdefault(place_, []).append(number)
    out: list[str] = []
    is_open: list[int] = []

    def close(down_to: int) -> None:
        while len(is_open) > down_to:
            out.append(marks[is_open.pop()].closing)

    for at in range(len(text) + 1):
        wanted = list(cells[at]) if at < len(text) else []
        shared = 0
        while shared < min(len(is_open), len(wanted)) and is_open[shared] == wanted[shared]:
            shared += 1
        close(shared)
        out += [marks[number].opening + marks[number].closing for number in at_point.get(at, ())]
        for number in wanted[shared:]:
            out.append(marks[number].opening)
            is_open.append(number)
        if at < len(text):
            out.append(escape(text[at], quote=False))
    return "".join(out)
