"""A tree of what is near to what, as SVG.

In: names of the leaves, and the joins of a clustering: two nodes and the distance between them, as
``scipy.cluster.hierarchy.linkage`` numbers them. Out: the tree on its side, leaves to the right.

>>> tree(["de", "ja", "hi"], [(1, 2, 0.1), (0, 3, 0.4)], title="pairs").count("<path")
2
"""

from collections.abc import Sequence

from wayword.picture.axis import columns, label, ticks
from wayword.picture.chart import LETTER, ROW, WIDTH, svg
from wayword.picture.element import Markup, element

__all__ = ["leaves_in_order", "tree"]

Joins = Sequence[tuple[int, int, float]]


def leaves_in_order(count: int, joins: Joins) -> list[int]:
    """The leaves as the tree shows them, from top to bottom."""
    members = {at: [at] for at in range(count)}
    for number, (first, second, _) in enumerate(joins):
        members[count + number] = members.pop(first) + members.pop(second)
    return [leaf for group in members.values() for leaf in group]


def tree(names: Sequence[str], joins: Joins, *, title: str) -> Markup:
    """The tree; the further left two branches meet, the further apart they are."""
    order = leaves_in_order(len(names), joins)
    right = WIDTH - LETTER * max(map(columns, names), default=0) - 10
    far = max((distance for *_, distance in joins), default=1.0) or 1.0

    def place(distance: float) -> float:
        return right - (right - 10) * distance / far

    places: dict[int, tuple[float, float]] = {
        leaf: (right, ROW * (at + 0.7)) for at, leaf in enumerate(order)
    }
    shapes = [element("text", names[leaf], x=right + 6, y=places[leaf][1] + 4) for leaf in order]
    for number, (first, second, distance) in enumerate(joins):
        x = place(distance)
        (x1, y1), (x2, y2) = places[first], places[second]
        path = f"M{x1:g} {y1:g}H{x:.1f}V{y2:g}H{x2:g}"
        tip = element("title", f"{distance:.3f}")
        shapes.append(element("path", tip, d=path, class_="line s0"))
        places[len(names) + number] = (round(x, 1), (y1 + y2) / 2)
    bottom = ROW * len(names) + 10
    for value in ticks(0, far, 4):
        x = place(value)
        shapes.append(element("line", x1=x, x2=x, y1=bottom, y2=bottom + 4, class_="rule"))
        shapes.append(element("text", label(value), x=x, y=bottom + 17, text_anchor="middle"))
    return svg(WIDTH, bottom + 24, title, *shapes)
