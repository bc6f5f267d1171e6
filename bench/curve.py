"""A small picture: score against cost, one panel beside the other, as SVG.

The cost has a logarithmic scale. Points of a line are joined and carry a label each.
"""

import math
from dataclasses import dataclass
from xml.sax.saxutils import escape

__all__ = ["Panel", "Point", "draw"]

WIDTH, HEIGHT, MARGIN = 430, 300, 60
COLOURS = ("#1b6e9c", "#c1501f", "#777777", "#3a8f3a")


@dataclass(frozen=True)
class Point:
    """A cost and the score it bought."""

    cost: float
    score: float
    label: str


@dataclass(frozen=True)
class Panel:
    """Lines by name."""

    title: str
    lines: dict[str, list[Point]]


def draw(panels: list[Panel]) -> str:
    """The panels side by side."""
    body = "\n".join(
        f'<g transform="translate({number * WIDTH},0)">\n{_panel(panel)}\n</g>'
        for number, panel in enumerate(panels)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH * len(panels)} {HEIGHT}" '
        f'font-family="sans-serif" font-size="11">\n'
        f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
    )


def _panel(panel: Panel) -> str:
    points = [point for line in panel.lines.values() for point in line]
    costs = [math.log10(point.cost) for point in points]
    scores = [point.score for point in points]
    low, high = min(scores), max(scores)
    left, right = min(costs) - 0.08, max(costs) + 0.12
    low, high = low - 0.06 * (high - low), high + 0.08 * (high - low)

    def place(cost: float, score: float) -> tuple[float, float]:
        x = MARGIN + (math.log10(cost) - left) / (right - left) * (WIDTH - MARGIN - 15)
        y = 30 + (high - score) / (high - low) * (HEIGHT - 30 - MARGIN)
        return round(x, 1), round(y, 1)

    base = HEIGHT - MARGIN
    parts = [
        f'<text x="{MARGIN}" y="18" font-weight="bold">{escape(panel.title)}</text>',
        f'<path d="M{MARGIN},30V{base}H{WIDTH - 15}" fill="none" stroke="#999"/>',
        f'<text x="{WIDTH // 2}" y="{HEIGHT - 26}">CPU ms a source word</text>',
        f'<text transform="translate(12,{HEIGHT // 2 + 40}) rotate(-90)">mean model score</text>',
    ]
    for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20):
        if left <= math.log10(tick) <= right:
            x, _ = place(tick, low)
            parts.append(f'<text x="{x}" y="{base + 16}" text-anchor="middle">{tick:g}</text>')
            parts.append(f'<path d="M{x},{base}v4" stroke="#999"/>')
    for step in range(5):
        score = low + (high - low) * step / 4
        y = place(points[0].cost, score)[1]
        text = f'<text x="{MARGIN - 5}" y="{y + 4}" text-anchor="end">{score:.3f}</text>'
        parts.append(text)
    for number, (name, line) in enumerate(panel.lines.items()):
        parts += _line(name, [(*place(p.cost, p.score), p.label) for p in line], number)
    return "\n".join(parts)


def _line(name: str, points: list[tuple[float, float, str]], number: int) -> list[str]:
    colour = COLOURS[number % len(COLOURS)]
    path = " ".join(f"{x},{y}" for x, y, _ in points)
    key = 90 * number + MARGIN
    parts = [
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>',
        f'<circle cx="{key}" cy="{HEIGHT - 10}" r="4" fill="{colour}"/>',
        f'<text x="{key + 8}" y="{HEIGHT - 6}">{escape(name)}</text>',
    ]
    for x, y, label in points:
        parts.append(f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>')
        parts.append(f'<text x="{x + 5}" y="{y + 12}" fill="{colour}">{escape(label)}</text>')
    return parts
