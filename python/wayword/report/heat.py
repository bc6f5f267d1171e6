"""Draws a word-after-word matrix: how likely each word is to come right after each other.

In: the words of a sentence, the matrix, and if known the order in which they were translated and
the reordering space. Out: lines for a terminal, or an HTML table for a notebook or a page.
How: a row is the word translated last, a column the word that may come next; the darker, the
likelier. Along an order, the step taken is marked ``●``; words that early pruning would not have
tried ``×``; words that are translated already or out of reach stay empty.

>>> matrix = [[.9, .1, .1], [0, .2, .7], [.1, 0, .1], [.1, .8, 0]]
>>> print(draw(("er", "Tee", "trinkt"), matrix, order=(0, 2, 1), space="dl:6+waw(top=1,zone=0)"))
                er Tee trinkt
1 <s>           ●█ ×░  ×░
2 er               ░   ●▓
4 Tee
3 trinkt           ●█
"""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from wayword import _core
from wayword.report.table import fit, width

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["draw"]

#: Probability and mark.
Cell = tuple[float, str]

SHADES = " ░▒▓█"
TAKEN, PRUNED = "●", "×"
STYLE = (
    "border-collapse:collapse;font:13px sans-serif;text-align:center",
    "padding:2px 6px;border:1px solid #ddd;min-width:2.6em",
)


def draw(
    words: Sequence[str],
    matrix: "ArrayLike",
    *,
    order: Sequence[int] | None = None,
    space: str = "dl:-1",
    html: bool = False,
) -> str:
    """The matrix in a terminal, or as an HTML table.

    Numbers before the rows tell when each word was translated. In HTML probabilities show when
    the pointer rests on a cell.
    """
    cells = _cells(len(words), matrix, order, space)
    turns = _turns(len(words), order)
    return _html(words, cells, turns) if html else _text(words, cells, turns)


def _text(words: Sequence[str], cells: list[list[Cell]], turns: list[str]) -> str:
    names = [f"{turn} {word}".strip() for turn, word in zip(turns, ("<s>", *words), strict=True)]
    margin = max(14, *map(width, names)) + 2
    widths = [max(2, width(word)) for word in words]
    lines = [" " * margin + " ".join(map(fit, words, widths))]
    for name, row in zip(names, cells, strict=True):
        shown = (
            fit(mark + _shade(p, mark), columns)
            for (p, mark), columns in zip(row, widths, strict=True)
        )
        lines.append((fit(name, margin) + " ".join(shown)).rstrip())
    return "\n".join(lines)


def _html(words: Sequence[str], cells: list[list[Cell]], turns: list[str]) -> str:
    head = "".join(f"<th>{escape(word)}</th>" for word in words)
    rows = [f"<tr><th></th><th></th>{head}</tr>"]
    for turn, word, row in zip(turns, ("<s>", *words), cells, strict=True):
        shown = "".join(_html_cell(p, mark) for p, mark in row)
        rows.append(f"<tr><td>{turn}</td><th>{escape(word)}</th>{shown}</tr>")
    return f'<table style="{STYLE[0]}">{"".join(rows)}</table>'


def _html_cell(p: float, mark: str) -> str:
    if np.isnan(p):
        return f'<td style="{STYLE[1]}"></td>'
    text = "#fff" if p > 0.6 else "#333"
    look = f"{STYLE[1]};background:rgba(31,89,153,{p:.2f});color:{text}"
    return f'<td style="{look}" title="{p:.3f}">{mark}</td>'


def _cells(
    length: int, matrix: "ArrayLike", order: Sequence[int] | None, space: str
) -> list[list[Cell]]:
    """Probability and mark of each cell; no number where a step is impossible."""
    given: NDArray[np.float64] = np.asarray(matrix, dtype=np.float64).reshape(length + 1, length)
    if order is None:
        is_itself = np.arange(length + 1)[:, None] == np.arange(1, length + 1)
        shown = np.where(is_itself, np.nan, given)
        return [[(float(p), "") for p in row] for row in shown]
    rows: list[list[Cell]] = [[(np.nan, "")] * length for _ in range(length + 1)]
    covered, last = [False] * length, 0
    for step in order:
        with np.errstate(divide="ignore"):
            scores = np.log(given[last]).tolist()
        choices = _core.waw_options(space, covered, last, scores)
        for at, choice in enumerate(choices):
            mark = TAKEN if at == step else PRUNED if choice == "x" else ""
            if choice in "ox" or at == step:
                rows[last][at] = (float(given[last, at]), mark)
        covered[step], last = True, step + 1
    return rows


def _turns(length: int, order: Sequence[int] | None) -> list[str]:
    """When each row has its turn, the start first; empty without an order."""
    turns = [""] * (length + 1)
    if order is not None:
        turns[0] = "1"
        for turn, at in enumerate(order, 2):
            turns[at + 1] = str(turn)
    return turns


def _shade(p: float, mark: str) -> str:
    if np.isnan(p):
        return ""
    shade = SHADES[sum(p >= least for least in (0.05, 0.25, 0.5, 0.75))]
    return shade if mark or shade != SHADES[0] else "·"
