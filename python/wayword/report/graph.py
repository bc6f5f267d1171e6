"""Draws steps and what goes into them, as SVG: the stages of a run, the way of a sentence.

In: nodes (name, a line about each, the names of what goes in), inputs first. Out: an SVG picture.
How: a node stands one row below the lowest of its inputs; rows are centred, and nodes of a row
stand in the order of their inputs, so that few lines cross.
Cost: linear in nodes and lines.

>>> nodes = [Node("text", "two files"), Node("align", "links", ("text",))]
>>> picture = draw(nodes, title="a run")
>>> picture.startswith("<svg"), "align" in picture
(True, True)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from wayword.stage import File, Stage, in_order

__all__ = ["Node", "draw", "stage_nodes"]

WIDTH, HEIGHT, GAP, RISE, MARGIN = 168, 46, 22, 44, 16
STYLE = (
    "text{font:13px system-ui,sans-serif;text-anchor:middle;fill:#1b1f24}"
    ".note{font-size:11px;fill:#57606a}"
    "rect{fill:#f6f8fa;stroke:#8c959f;rx:8px}"
    ".file rect{fill:#fff8e6}"
    "path{fill:none;stroke:#8c959f;stroke-width:1.4;marker-end:url(#tip)}"
)
TIP = (
    '<marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto"><path d="M0 0L8 4L0 8z" style="fill:#8c959f;stroke:none"/></marker>'
)


@dataclass(frozen=True)
class Node:
    """A step: its name, a line about it, and the names of what goes in."""

    name: str
    note: str = ""
    inputs: tuple[str, ...] = ()
    #: drawn as something given, not made
    is_given: bool = False


def stage_nodes(stages: Sequence[Stage], notes: Mapping[str, str] | None = None) -> list[Node]:
    """The nodes of stages and of all that goes into them; ``notes`` say what each does."""
    notes = notes or {}
    nodes: dict[str, Node] = {}
    for stage in in_order(stages):
        inputs = []
        for role, part in stage.inputs.items():
            for leaf in part if isinstance(part, Sequence) else [part]:
                if isinstance(leaf, Stage):
                    inputs.append(leaf.name)
                elif isinstance(leaf, File):
                    name = f"{stage.name} files" if role == "files" else role
                    nodes.setdefault(name, Node(name, "given", is_given=True))
                    inputs.append(name)
        seen = tuple(dict.fromkeys(inputs))
        nodes[stage.name] = Node(stage.name, notes.get(stage.name, ""), seen)
    return list(nodes.values())


def draw(nodes: Sequence[Node], *, title: str) -> str:
    """The picture; ``title`` is for those who cannot see it."""
    rows = _rows(nodes)
    most = max(len(row) for row in rows)
    width = most * WIDTH + (most - 1) * GAP + 2 * MARGIN
    height = len(rows) * HEIGHT + (len(rows) - 1) * RISE + 2 * MARGIN
    places: dict[str, tuple[float, float]] = {}
    for number, row in enumerate(rows):
        left = (width - len(row) * WIDTH - (len(row) - 1) * GAP) / 2
        for at, node in enumerate(row):
            top = MARGIN + number * (HEIGHT + RISE)
            places[node.name] = (left + at * (WIDTH + GAP), top)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style><defs>{TIP}</defs>",
        f'<rect x="0" y="0" width="{width}" height="{height}" style="fill:#fff;stroke:none"/>',
    ]
    for node in nodes:
        lines += [_line(places[name], places[node.name]) for name in node.inputs]
    lines += [_box(node, *places[node.name]) for node in nodes]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _rows(nodes: Sequence[Node]) -> list[list[Node]]:
    depth: dict[str, int] = {}
    for node in nodes:
        depth[node.name] = 1 + max((depth[name] for name in node.inputs), default=-1)
    rows: list[list[Node]] = [[] for _ in range(max(depth.values()) + 1)]
    for node in nodes:
        rows[depth[node.name]].append(node)
    places: dict[str, float] = {}
    for row in rows:
        row.sort(key=lambda node: _mean([places[name] for name in node.inputs]))
        places |= {node.name: (at + 0.5) / len(row) for at, node in enumerate(row)}
    return rows


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _line(start: tuple[float, float], end: tuple[float, float]) -> str:
    x, y = start[0] + WIDTH / 2, start[1] + HEIGHT
    to_x, to_y = end[0] + WIDTH / 2, end[1]
    bend = (to_y - y) / 2
    return f'<path d="M{x:g} {y:g}C{x:g} {y + bend:g} {to_x:g} {to_y - bend:g} {to_x:g} {to_y:g}"/>'


def _box(node: Node, x: float, y: float) -> str:
    middle, kind = x + WIDTH / 2, ' class="file"' if node.is_given else ""
    return (
        f'<g{kind}><rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}"/>'
        f'<text x="{middle:g}" y="{y + 19:g}">{escape(node.name)}</text>'
        f'<text class="note" x="{middle:g}" y="{y + 36:g}">{escape(node.note)}</text></g>'
    )
