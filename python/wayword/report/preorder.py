"""Orders of the source beside each other in a table; pairs that were turned round, and why.

The columns of BLEU have the shape of Table 2 of Tromble and Eisner (2009).
"""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from wayword.evaluate.orders import PreorderScores
from wayword.report.table import Table, fit, width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wayword.corpus.annotate import Sentence
    from wayword.reorder.lop import LopModel

__all__ = ["describe", "draw", "explained"]

HEADER = ["order", "BLEU", "p2", "p3", "p4", "tau", "FRS", "exact", "P", "R", "F1"]
NOTE = (
    "Over linked words alone. BLEU, p2-p4: against the order of the links; tau: pairs in order;\n"
    "FRS: fuzzy reordering score; exact: sentences all in order; P, R, F1: of reversed pairs.\n"
    "± is half of the 95 % interval."
)
SHADES = " ░▒▓█"


def describe(evaluations: Mapping[str, PreorderScores]) -> str:
    """The table, in percent."""
    return f"{table(evaluations).text()}\n\n{NOTE}"


def table(evaluations: Mapping[str, PreorderScores]) -> Table:
    """The scores of orders by name."""
    rows: list[list[object]] = []
    for name, scores in evaluations.items():
        measured = scores.orders
        cells = [f"{scores.bleu:.2f}", *(f"{share:.1f}" for share in scores.precisions[1:])]
        for measure in ("tau", "frs", "exact"):
            low, high = measured.intervals[measure]
            cells.append(f"{getattr(measured, measure):.2f} ±{(high - low) / 2:.2f}")
        cells += [_percent(getattr(measured, name)) for name in ("precision", "recall", "f1")]
        rows.append([name, *cells])
    return Table(HEADER, rows)


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1f}"


def explained(model: "LopModel", source: "Sentence", *, choice: str, features: int) -> str:
    """The sentence in its new order, its matrix, and the pairs that were turned round."""
    order = model.order(source, choice=choice)
    matrix = model.matrix(source)
    lines = [" ".join(source.words[place] for place in order), "", draw(source.words, matrix)]
    rank = np.argsort(order)
    for left, right in zip(*np.triu_indices(len(source), 1), strict=True):
        if rank[left] < rank[right]:
            continue
        pair = f"{source.words[left]} … {source.words[right]}"
        lines += ["", f"{pair}: reversed; worth {matrix[left, right]:+.2f} in source order"]
        if model.recipe["model"] == "neural":
            continue  # a network has no features with names
        reasons = model.explain(source, int(left), int(right))[:features]
        lines += [f"  {weight:+.3f}  {name}" for name, weight in reasons if weight]
    return "\n".join(lines)


def draw(words: Sequence[str], matrix: "NDArray[np.float64]", *, html: bool = False) -> str:
    """The matrix: the darker a cell, the more the row's word wants to follow the column's.

    >>> print(draw(["Tee", "trinkt"], np.array([[0.0, -3.0], [0.0, 0.0]])))
           Tee trinkt
    Tee        █
    trinkt
    """
    return _html(words, matrix) if html else _text(words, matrix)


def _text(words: Sequence[str], matrix: "NDArray[np.float64]") -> str:
    margin = max(map(width, words), default=0) + 1
    widths = [max(1, width(word)) for word in words]
    lines = [" " * margin + " ".join(map(fit, words, widths))]
    for left, word in enumerate(words):
        cells = [
            _shade(float(matrix[left, right])) if right > left else ""
            for right in range(len(words))
        ]
        lines.append((fit(word, margin) + " ".join(map(fit, cells, widths))).rstrip())
    return "\n".join(lines)


def _turned(worth: float) -> float:
    """How much a pair wants to be turned round, from 0 to 1."""
    return 1 / (1 + math.exp(min(50.0, max(-50.0, worth))))


def _shade(worth: float) -> str:
    share = _turned(worth)
    return SHADES[sum(share >= least for least in (0.2, 0.4, 0.6, 0.8))].replace(" ", "·")


def _html(words: Sequence[str], matrix: "NDArray[np.float64]") -> str:
    cell = "padding:2px 6px;border:1px solid #ddd;min-width:2em"
    head = "".join(f"<th>{escape(word)}</th>" for word in words)
    rows = [f"<tr><th></th>{head}</tr>"]
    for left, word in enumerate(words):
        shown = []
        for right in range(len(words)):
            worth = float(matrix[left, right])
            share = _turned(worth)
            look = f"{cell};background:rgba(176,58,46,{share:.2f})" if right > left else cell
            told = f' title="{worth:+.2f}"' if right > left else ""
            shown.append(f'<td style="{look}"{told}></td>')
        rows.append(f'<tr><th scope="row">{escape(word)}</th>{"".join(shown)}</tr>')
    style = "border-collapse:collapse;font:13px sans-serif;text-align:center"
    return f'<table style="{style}">{"".join(rows)}</table>'
