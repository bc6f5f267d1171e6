"""Draws how a translation came about: which phrases, and how the decoder jumped between them.

In: a ``Translation``. Out: lines for a terminal, or an SVG for a notebook or a page.
How: in the terminal, phrases stand in source order with the number of their turn; every jump is
an arc, forward above the sentence and backward below. In the SVG, phrases of a colour belong
together and curves join them.

>>> from wayword.decode import Phrase, Translation
>>> print(draw(Translation(("ich", "habe", "Tee", "getrunken"), ("I", "have", "drunk", "tea"),
...     "I have drunk tea", -2.5, {}, (
...     Phrase((0, 2), (0, 2), "ich habe", "I have"), Phrase((3, 4), (2, 3), "getrunken", "drunk"),
...     Phrase((2, 3), (3, 4), "Tee", "tea")), ())))
                  ╭────────▶
        1[ich habe] 3[Tee] 2[getrunken]
                      ◀───────────────╯
target  1[I have] 2[drunk] 3[tea]
score   -2.5000
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

from wayword.picture.chart import SERIES, svg
from wayword.picture.element import Markup, element
from wayword.picture.page import fragment, wide
from wayword.report.table import width

__all__ = ["draw", "to_html", "to_svg"]

MARGIN = "        "


class _Phrase(Protocol):
    """What a drawing shows of a phrase."""

    @property
    def src(self) -> tuple[int, int]: ...
    @property
    def tgt(self) -> tuple[int, int]: ...
    @property
    def source(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def runs(self) -> Sequence[tuple[int, int]]: ...


class _Translation(Protocol):
    """What a drawing shows of a translation; the decoder, which makes it, comes later."""

    @property
    def source(self) -> Sequence[str]: ...
    @property
    def tokens(self) -> Sequence[str]: ...
    @property
    def text(self) -> str: ...
    @property
    def score(self) -> float: ...
    @property
    def phrases(self) -> Sequence[_Phrase]: ...
    @property
    def spelled(self) -> Sequence[int]: ...


def draw(translation: _Translation) -> str:
    """The derivation in a terminal."""
    if not translation.phrases:
        return "(empty)"
    turns = {phrase.src: turn for turn, phrase in enumerate(translation.phrases, 1)}
    cells, places, at = [], {}, 0
    for phrase in sorted(translation.phrases, key=lambda phrase: phrase.src):
        cell = f"{turns[phrase.src]}[{phrase.source}]"
        places[phrase.src] = (at, at + width(cell))
        cells.append(cell)
        at += width(cell) + 1
    above, below = _arcs(translation.phrases, places)
    target = " ".join(f"{turn}[{p.target}]" for turn, p in enumerate(translation.phrases, 1))
    lines = [*(MARGIN + arc for arc in above), MARGIN + " ".join(cells)]
    lines += [*(MARGIN + arc for arc in below), f"target  {target}"]
    guesses = [p for p in translation.phrases if p.src[0] in translation.spelled]
    if guesses:
        lines.append(f"spelled {' '.join(f'{p.source}={p.target}' for p in guesses)}")
    lines.append(f"score   {translation.score:.4f}")
    return "\n".join(lines)


def _arcs(
    phrases: Sequence[_Phrase], places: dict[tuple[int, int], tuple[int, int]]
) -> tuple[list[str], list[str]]:
    """One line for each jump: the long ones furthest from the sentence."""
    above, below = [], []
    for phrase, following in pairwise(phrases):
        if following.src[0] == phrase.src[1]:
            continue
        start, end = places[phrase.src], places[following.src]
        if following.src[0] > phrase.src[1]:
            above.append(_arc(start[1] - 1, end[0], "╭", "▶"))
        else:
            below.append(_arc(end[0] + 2, start[1] - 1, "◀", "╯"))
    above.sort(key=len, reverse=True)
    below.sort(key=len)
    return above, below


def _arc(start: int, end: int, left: str, right: str) -> str:
    return " " * start + left + "─" * max(0, end - start - 1) + right


def to_svg(translation: _Translation) -> Markup:
    """The derivation as an SVG: source above, target below, a colour for each phrase."""
    source = _places(translation.source)
    target = _places(translation.tokens)
    length = max([10.0, *(right for _, right in (*source, *target))]) + 10
    shapes: list[Markup] = []
    for turn, phrase in enumerate(translation.phrases):
        colour = f"s{turn % SERIES}"
        top, bottom = _ends(source, phrase.src), _ends(target, phrase.tgt)
        shapes += [_box(_ends(source, run), 6, colour) for run in phrase.runs]
        shapes.append(_box(bottom, 100, colour))
        a, b = sum(top) / 2, sum(bottom) / 2
        tip = element("title", f"{turn + 1}: {phrase.source} → {phrase.target}")
        path = f"M{a:.0f} 32C{a:.0f} 70 {b:.0f} 62 {b:.0f} 99"
        shapes.append(element("path", tip, d=path, class_=f"line {colour}"))
    shapes += _words(translation.source, source, 24) + _words(translation.tokens, target, 118)
    title = f"{' '.join(translation.source)} → {translation.text}"
    score = element("text", f"score {translation.score:.4f}", x=10, y=146, class_="name")
    return svg(length, 152, title, *shapes, score, fixed=True)


def to_html(translation: _Translation) -> str:
    """The same for a notebook."""
    return fragment(wide(to_svg(translation), "derivation"))


def _places(words: Sequence[str]) -> list[tuple[float, float]]:
    """From where to where each word goes; glyphs are guessed at 8.5 units a column."""
    places, at = [], 10.0
    for word in words:
        length = 8.5 * width(word) + 14
        places.append((at, at + length))
        at += length + 8
    return places


def _ends(places: Sequence[tuple[float, float]], span: tuple[int, int]) -> tuple[float, float]:
    if span[0] == span[1]:
        at = places[span[0]][0] if span[0] < len(places) else 10.0
        return at, at
    return places[span[0]][0], places[span[1] - 1][1]


def _box(ends: tuple[float, float], y: int, colour: str) -> Markup:
    left, right = ends
    place = {"x": left, "y": y, "width": right - left, "height": 26, "rx": 5}
    return element("rect", **place, class_=f"box {colour}")


def _words(words: Sequence[str], places: Sequence[tuple[float, float]], y: int) -> list[Markup]:
    return [
        element("text", word, x=(left + right) / 2, y=y, text_anchor="middle", class_="word")
        for word, (left, right) in zip(words, places, strict=True)
    ]
