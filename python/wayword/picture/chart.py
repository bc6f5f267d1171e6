"""Bars, histograms, curves and points as SVG.

In: names and numbers. Out: SVG elements that take their colours from the page (``page.css``), with
a text for those who cannot see them and a tooltip on every mark.
How: charts are drawn 360 units wide, so that their letters can be read on a phone without zooming;
on wider screens several stand side by side.
Not: interaction; numbers behind a chart go into a table beside it (``page.figure``).

>>> picture = bars([("dl:4", 62.5), ("dl:8", 81.0)], title="sentences in reach", unit="%")
>>> picture.count("<rect"), "81" in picture
(2, True)
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from wayword.picture.axis import columns, cut, label, ticks
from wayword.picture.element import Markup, element

__all__ = ["Point", "bars", "curves", "histogram", "shares", "svg"]

WIDTH = 360
ROW, BAR = 24, 14
LETTER = 7  # units of a column of text
CAPITAL = 8.6  # the same in a name that may be all capitals
NUMBER = 58  # room for a number beside a bar
SERIES = 8  # colours in the style sheet


def svg(width: float, height: float, title: str, *shapes: Markup, fixed: bool = False) -> Markup:
    """A picture; ``fixed`` ones keep their size and scroll, others fill their column."""
    return element(
        "svg",
        element("title", title),
        *shapes,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        role="img",
        aria_label=title,
        class_="fixed" if fixed else "chart",
    )


def _text(
    x: float, y: float, text: str, anchor: str = "start", class_: str | None = None
) -> Markup:
    return element("text", text, x=x, y=y, text_anchor=anchor, class_=class_)


def _margin(names: Sequence[str]) -> float:
    """Room for names to the left of bars."""
    letters = [CAPITAL if name.isupper() else LETTER for name in names]
    return max((c * columns(name) for c, name in zip(letters, names, strict=True)), default=0) + 10


def _top(values: Sequence[float]) -> float:
    """The end of an axis that begins at 0."""
    return max([value for value in values if math.isfinite(value)], default=0.0) or 1.0


def bars(
    rows: Sequence[tuple[str, float]],
    *,
    title: str,
    unit: str = "",
    most: float | None = None,
    form: str = ".1f",
    notes: Mapping[str, str] | None = None,
) -> Markup:
    """A bar a row, to the right of zero, with its number; ``most`` is the end of the axis.

    Numbers below 0 have bars of another color to the left of a zero line. ``notes`` are texts
    beside the numbers of some rows, by their names.

    >>> picture = bars([("lm", 0.5), ("wp", -0.25)], title="weights", form=".2f")
    >>> picture.count("<rect"), picture.count("<line"), "−0.25" in picture
    (2, 1, True)
    """
    names = [cut(name, 18) for name, _ in rows]
    shown = [_number(value, form, unit, (notes or {}).get(name, "")) for name, value in rows]
    left = _margin(names)
    values = [value if math.isfinite(value) else 0.0 for _, value in rows]
    below, above = most or _top([-value for value in values]), most or _top(values)
    has_negative = min(values, default=0.0) < 0
    margin = LETTER * max(map(columns, shown), default=0) + 10 if notes else NUMBER
    room = WIDTH - left - margin - (NUMBER if has_negative else 0)
    scale = room / (above + below if has_negative else above)
    zero = left + NUMBER + scale * below if has_negative else left
    shapes = []
    for at, ((full, _), value) in enumerate(zip(rows, values, strict=True)):
        y, length = ROW * at, scale * min(abs(value), below if value < 0 else above)
        text = zero - length - 5 if value < 0 else zero + length + 5
        shapes += [
            _text(left - 6, y + 16, names[at], "end"),
            element(
                "rect",
                element("title", f"{full}: {shown[at]}"),
                x=zero - length if value < 0 else zero,
                y=y + 5,
                width=max(length, 0.5),
                height=BAR,
                class_="s1" if value < 0 else "s0",
            ),
            _text(text, y + 16, shown[at], "end" if value < 0 else "start", "number"),
        ]
    height = ROW * len(rows) + 4
    if has_negative:
        shapes.append(element("line", x1=zero, x2=zero, y1=0, y2=height, class_="rule"))
    return svg(WIDTH, height, title, *shapes)


def _number(value: float, form: str, unit: str, note: str) -> str:
    """Return a number with its unit and a note, as a chart shows them."""
    if not math.isfinite(value):
        return "n/a"
    number = f"{value:{form}}".replace("-", "−")
    return f"{number}{f' {unit}' if unit else ''}{f', {note}' if note else ''}"


def shares(rows: Sequence[tuple[str, Mapping[str, float]]], *, title: str) -> Markup:
    """A bar of parts a row: each row's parts add up to 1; a legend names them.

    >>> shares([("word", {"M": 0.2, "D": 0.8})], title="orientation").count("<rect")
    4
    """
    left = _margin([name for name, _ in rows])
    room = WIDTH - left - 4
    names = list(rows[0][1]) if rows else []
    top = 8 + 18 * _legend_lines(names, left)
    shapes = []
    for at, (name, parts) in enumerate(rows):
        x, y = float(left), top + ROW * at
        shapes.append(_text(left - 6, y + 16, name, "end"))
        for series, (part, share) in enumerate(parts.items()):
            length = room * share
            tip = element("title", f"{name}, {part}: {100 * share:.1f} %")
            shapes.append(
                element("rect", tip, x=x, y=y + 3, width=length, height=18, class_=f"s{series}")
            )
            if length > 40:
                middle = x + length / 2
                shapes.append(_text(middle, y + 16, f"{100 * share:.1f}", "middle", "on"))
            x += length
    shapes += _legend(names, left, 0)
    return svg(WIDTH, top + 4 + ROW * len(rows), title, *shapes)


def _legend(names: Sequence[str], left: float, y: float) -> list[Markup]:
    """Names with their colours, in lines no wider than a chart."""
    shapes, x = [], left
    for series, name in enumerate(names):
        length = LETTER * columns(name) + 24
        if x + length > WIDTH and x > left:
            x, y = left, y + 18
        shapes.append(
            element("rect", x=x, y=y + 4, width=11, height=11, class_=f"s{series % SERIES}")
        )
        shapes.append(_text(x + 15, y + 14, name))
        x += length
    return shapes


def _legend_lines(names: Sequence[str], left: float) -> int:
    """Lines that a legend takes."""
    lines, x = 1, left
    for name in names:
        length = LETTER * columns(name) + 24
        if x + length > WIDTH and x > left:
            lines, x = lines + 1, left
        x += length
    return lines


def histogram(
    rows: Sequence[tuple[str, float]], *, title: str, x: str, unit: str = "%", marked: int = -1
) -> Markup:
    """A bar a bin, upright; every label that fits is shown. ``marked`` stands out."""
    left, right, top, bottom, height = 40, 4, 10, 40, 190
    room = WIDTH - left - right
    high = _top([value for _, value in rows])
    step = room / max(len(rows), 1)

    def place(value: float) -> float:
        return height - bottom - (height - bottom - top) * value / high

    shapes = _rules(ticks(0, high, 4), place, left, WIDTH - right, unit)
    every = max(
        1, math.ceil(max((LETTER * columns(name) + 4 for name, _ in rows), default=1) / step)
    )
    for at, (name, value) in enumerate(rows):
        start = left + at * step
        y = place(value)
        tip = element("title", f"{name}: {label(round(value, 2))} {unit}")
        shapes.append(
            element(
                "rect",
                tip,
                x=start + step * 0.08,
                y=y,
                width=step * 0.84,
                height=max(height - bottom - y, 0.5),
                class_="s1" if at == marked else "s0",
            )
        )
        if at % every == 0:
            shapes.append(_text(start + step / 2, height - bottom + 18, name, "middle"))
    shapes.append(_text(left + room / 2, height - 6, x, "middle", "name"))
    return svg(WIDTH, height, title, *shapes)


def _rules(
    values: Sequence[float], place: Callable[[float], float], left: float, right: float, unit: str
) -> list[Markup]:
    shapes = []
    for at, value in enumerate(values):
        y = place(value)
        last = unit if unit and at == len(values) - 1 else ""
        shapes.append(element("line", x1=left, x2=right, y1=y, y2=y, class_="rule"))
        shapes.append(_text(left - 5, y + 4, f"{label(value)}{last}", "end"))
    return shapes


@dataclass(frozen=True)
class Point:
    """A point of a curve, with the ends of its interval where they are known."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    name: str = ""


class Place:
    """From values to places on an axis, straight or by logarithms."""

    def __init__(
        self, values: tuple[float, float], places: tuple[float, float], *, by_log: bool = False
    ) -> None:
        low, high = values
        self.low, self.high = (low, high) if high > low else (low - 0.5, low + 0.5)
        self.places = places
        self.by_log = by_log and self.low > 0

    def __call__(self, value: float) -> float:
        if self.by_log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.places[0] + (self.places[1] - self.places[0]) * share

    def ticks(self, most: int = 5) -> list[float]:
        """Round numbers along it."""
        if not self.by_log:
            return ticks(self.low, self.high, most)
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        every = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
        inside = [value for value in every if self.low <= value <= self.high]
        return inside if len(inside) > 1 else [self.low, self.high]


def curves(
    series: Mapping[str, Sequence[Point]],
    *,
    title: str,
    x: str,
    y: str,
    joined: bool = True,
    by_log: bool = False,
    from_zero: bool = False,
) -> Markup:
    """A curve a series, or points that are not ``joined``; intervals as upright lines.

    >>> points = [Point(1, 20), Point(2, 22, 21, 23)]
    >>> picture = curves({"dl:6": points}, title="t", x="round", y="BLEU")
    >>> picture.count("<polyline"), picture.count("<circle")
    (1, 2)
    """
    every = [point for points in series.values() for point in points]
    left, bottom, lines = 44, 40, _legend_lines(list(series), 44) if len(series) > 1 else 0
    top, height = 22 + 18 * lines, 200 + 18 * lines
    heights = [
        value for point in every for value in (point.y, point.low, point.high) if value is not None
    ]
    low, high = min(heights, default=0.0), max(heights, default=1.0)
    margin = (high - low) * 0.08
    over = Place((0 if from_zero else low - margin, high + margin), (height - bottom, top))
    xs = [point.x for point in every]
    along = Place((min(xs, default=0), max(xs, default=1)), (left + 10, WIDTH - 14), by_log=by_log)
    shapes = _rules(over.ticks(), over, left, WIDTH - 4, "")
    shapes += [
        _text(along(value), height - bottom + 15, label(value), "middle") for value in along.ticks()
    ]
    shapes.append(_text(left + (WIDTH - left) / 2, height - 6, x, "middle", "name"))
    shapes.append(_text(4, 18 * lines + 12, y, "start", "name"))
    for at, (name, points) in enumerate(series.items()):
        shapes += _series(name, points, at % SERIES, (along, over), joined=joined)
    if len(series) > 1:
        shapes += _legend([cut(name, 40) for name in series], left, 0)
    return svg(WIDTH, height, title, *shapes)


def _series(
    name: str, points: Sequence[Point], colour: int, places: tuple[Place, Place], *, joined: bool
) -> list[Markup]:
    along, over = places
    shapes = []
    if joined and len(points) > 1:
        path = " ".join(f"{along(point.x):.1f},{over(point.y):.1f}" for point in points)
        shapes.append(element("polyline", points=path, class_=f"line s{colour}"))
    for point in points:
        at, height = along(point.x), over(point.y)
        if point.low is not None and point.high is not None:
            ends = {"y1": over(point.low), "y2": over(point.high)}
            shapes.append(element("line", x1=at, x2=at, **ends, class_=f"line s{colour}"))
        told = f"{point.name or name}: {label(round(point.y, 2))} at {label(round(point.x, 3))}"
        dot = element("title", told)
        shapes.append(element("circle", dot, cx=at, cy=height, r=3.5, class_=f"s{colour}"))
    return shapes
