"""Heat maps and grids of links as SVG.

In: names of rows and columns, and a number for each cell; or the words of a pair and its links.
Out: SVG whose cells have tooltips, wide ones in a box that scrolls.
How: a cell's opacity tells its value, so that light and dark pages share one picture.

>>> picture = heat(["a"], ["x", "y"], [[0.5, None]], title="t")
>>> picture.count("<rect")  # no number, no cell
1
>>> links = {(0, 0): 1.0, (1, 1): 0.5}
>>> grid(["das", "haus"], ["the", "house"], links, title="links").count("<rect")
6
"""

from collections.abc import Mapping, Sequence

from wayword.picture.axis import columns, cut
from wayword.picture.chart import svg
from wayword.picture.element import Markup, element

__all__ = ["grid", "heat"]

CELL = 30
LONGEST = 14  # columns of a name
WIDE = 8.6  # units of a column, where a word may be of wide letters


def heat(
    rows: Sequence[str],
    names: Sequence[str],
    cells: Sequence[Sequence[float | None]],
    *,
    title: str,
    most: float | None = None,
    form: str = ".2f",
    marks: Mapping[tuple[int, int], str] | None = None,
    written: bool = False,
) -> Markup:
    """A square a number, darker with its size; ``most`` is the darkest. None leaves it empty.

    ``marks`` are letters in cells; ``written`` numbers stand in the cells.
    """
    marks = marks or {}
    known = [abs(value) for row in cells for value in row if value is not None]
    top = most or max(known, default=1.0) or 1.0
    left, above = _margins(rows, names)
    shapes = _names(rows, names, left, above)
    for at, row in enumerate(cells):
        for column, value in enumerate(row):
            if value is None:
                continue
            x, y = left + CELL * column, above + CELL * at
            tip = element("title", f"{rows[at]}, {names[column]}: {value:{form}}")
            strong = min(abs(value) / top, 1.0)
            kind = "heat" if value >= 0 else "heat below"
            shapes.append(
                element(
                    "rect",
                    tip,
                    x=x,
                    y=y,
                    width=CELL - 1,
                    height=CELL - 1,
                    class_=kind,
                    fill_opacity=0.06 + 0.94 * strong,
                )
            )
            text = marks.get((at, column), f"{value:{form}}" if written else "")
            if text:
                look = "on small" if strong > 0.55 else "small"
                shapes.append(_middle(x, y, text, look))
    width, height = left + CELL * len(names) + 2, above + CELL * len(rows) + 2
    return svg(width, height, title, *shapes, fixed=True)


def grid(
    src: Sequence[str],
    tgt: Sequence[str],
    links: Mapping[tuple[int, int], float],
    *,
    title: str,
) -> Markup:
    """The links of a pair: source words down, target words across, darker where surer."""
    cells: list[list[float | None]] = [[None] * len(tgt) for _ in src]
    left, above = _margins(src, tgt)
    empty = [
        element(
            "rect",
            x=left + CELL * column,
            y=above + CELL * row,
            width=CELL - 1,
            height=CELL - 1,
            class_="cell",
        )
        for row in range(len(src))
        for column in range(len(tgt))
    ]
    for (row, column), value in links.items():
        cells[row][column] = value
    drawn = heat(src, tgt, cells, title=title, most=1.0)
    head, body = drawn.split("</title>", 1)
    return Markup(f"{head}</title>{''.join(empty)}{body}")


def _margins(rows: Sequence[str], names: Sequence[str]) -> tuple[float, float]:
    longest = [min(max(map(columns, side), default=0), LONGEST) for side in (rows, names)]
    return WIDE * longest[0] + 14, WIDE * longest[1] + 14


def _names(rows: Sequence[str], names: Sequence[str], left: float, above: float) -> list[Markup]:
    shapes = [
        element(
            "text", cut(name, LONGEST), x=left - 6, y=above + CELL * (at + 0.65), text_anchor="end"
        )
        for at, name in enumerate(rows)
    ]
    for at, name in enumerate(names):
        x, y = left + CELL * (at + 0.62), above - 6
        turn = f"rotate(-90 {x:g} {y:g})"
        shapes.append(element("text", cut(name, LONGEST), x=x, y=y, transform=turn))
    return shapes


def _middle(x: float, y: float, text: str, look: str) -> Markup:
    place = {"x": x + CELL / 2 - 0.5, "y": y + CELL * 0.62}
    return element("text", text, **place, text_anchor="middle", class_=look)
