"""The lattice of a space as a picture: states in layers, an arc for each item that may come next.

In: states of each layer, arcs, and names for the items. Out: an SVG that needs nothing else, like
Figure 1 of Dreyer, Hall and Khudanpur (2007). Source order runs along the top.
Cost: linear in arcs; beyond a few hundred nobody can read it.

>>> picture = draw((1, 2, 1), [(0, 0, 1), (0, 1, 2), (1, 1, 3), (2, 0, 3)], title="mj1, 2 items")
>>> picture.count("<circle"), picture.count("<path")
(4, 4)
"""

from collections.abc import Iterator, Sequence
from html import escape

__all__ = ["draw"]

STEP, RISE, MARGIN, RADIUS = 118, 64, 30, 11
#: Where on its arc a name may stand, the best place first, and the room it takes.
SHARES = (0.42, 0.3, 0.55, 0.2, 0.68, 0.8)
LETTER, LINE = 6.4, 12
STYLE = (
    "text{font:12px system-ui,sans-serif;text-anchor:middle;fill:#1b1f24}"
    ".item{font-size:11px;fill:#0b5394;paint-order:stroke;stroke:#fff;stroke-width:4px}"
    "circle{fill:#f6f8fa;stroke:#57606a}"
    "path{fill:none;stroke:#8c959f;stroke-width:1.2}"
)

Arc = tuple[int, int, int]
Point = tuple[float, float]


def draw(
    layers: Sequence[int], arcs: Sequence[Arc], items: Sequence[str] = (), *, title: str = ""
) -> str:
    """The picture; items are numbered from 1 where they have no names."""
    names = list(items) or [str(number) for number in range(1, len(layers))]
    places = _places(layers, arcs)
    width = (len(layers) - 1) * STEP + 2 * MARGIN
    height = (max(layers) - 1) * RISE + 2 * MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f'<rect x="0" y="0" width="{width}" height="{height}" style="fill:#fff"/>',
        *(_curve(places[start], places[end]) for start, _, end in arcs),
        *_labels([(places[start], places[end], names[item]) for start, item, end in arcs]),
        *(_state(place, number) for number, place in enumerate(places)),
    ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _places(layers: Sequence[int], arcs: Sequence[Arc]) -> list[Point]:
    """States of a layer stand in the order of where their arcs come from, from the top."""
    into: dict[int, list[float]] = {}
    heights: dict[int, float] = {}
    by_end: dict[int, list[Arc]] = {}
    for arc in arcs:
        by_end.setdefault(arc[2], []).append(arc)
    first = 0
    places: list[Point] = []
    for column, count in enumerate(layers):
        states = range(first, first + count)
        for state in states:
            above = [heights[start] + item / 1000 for start, item, _ in by_end.get(state, [])]
            into[state] = above or [0.0]
        ranked = sorted(states, key=lambda state: sum(into[state]) / len(into[state]))
        heights |= {state: float(row) for row, state in enumerate(ranked)}
        places += [(MARGIN + column * STEP, MARGIN + heights[state] * RISE) for state in states]
        first += count
    return places


def _curve(start: Point, end: Point) -> str:
    bend = STEP / 2
    return (
        f'<path d="M{start[0]:g} {start[1]:g}C{start[0] + bend:g} {start[1]:g} '
        f'{end[0] - bend:g} {end[1]:g} {end[0]:g} {end[1]:g}"/>'
    )


def _labels(arcs: Sequence[tuple[Point, Point, str]]) -> Iterator[str]:
    """Names on their arcs, each where it covers no other if there is such a place."""
    taken: list[tuple[float, float, float]] = []
    for start, end, name in arcs:
        half = LETTER * len(name) / 2
        spots = [_on_curve(start, end, share) for share in SHARES]

        def covered(spot: Point, half: float = half) -> int:
            near = [
                abs(spot[0] - x) < half + other for x, y, other in taken if abs(spot[1] - y) < LINE
            ]
            return sum(near)

        x, y = min(spots, key=covered)
        taken.append((x, y, half))
        yield f'<text class="item" x="{x:.1f}" y="{y + 4:.1f}">{escape(name)}</text>'


def _on_curve(start: Point, end: Point, share: float) -> Point:
    """A point on an arc; ``share`` of the curve's parameter is behind it."""
    left = 1 - share
    bend = STEP / 2
    # The two inner control points of the curve, see `_curve`.
    weights = (left**3, 3 * left**2 * share, 3 * left * share**2, share**3)
    across = (start[0], start[0] + bend, end[0] - bend, end[0])
    risen = weights[2] + weights[3]
    x = sum(weight * place for weight, place in zip(weights, across, strict=True))
    return x, start[1] + risen * (end[1] - start[1])


def _state(place: Point, number: int) -> str:
    x, y = place
    return (
        f'<circle cx="{x:g}" cy="{y:g}" r="{RADIUS}"/><text x="{x:g}" y="{y + 4:g}">{number}</text>'
    )
