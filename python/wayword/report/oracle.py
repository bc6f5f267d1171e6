"""What oracles found, for people: tables by length of sentence, and a curve a space.

In: rows of numbers. Out: tables in the shape of Tables 2 and 3 of Dreyer, Hall and Khudanpur
(2007), and their Figure 6 as an SVG that needs nothing else.

>>> rows = [LengthRow("1-5", 3, {"itg": (48.2, 5.35), "mono": (48.1, 5.3)})]
>>> result = BleuResult(("itg", "mono"), tuple(rows), {"itg": 1.5, "mono": 0.1})
>>> print(bleu_table(result).text())
length  sentences  itg           mono
1-5             3  48.20 (5.35)  48.10 (5.30)
CPU s              1.5           0.1
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from wayword.corpus.files import new_file
from wayword.report.table import Table
from wayword.types import FilePath

__all__ = ["BleuResult", "LengthRow", "bleu_table", "curves", "order_table", "reach_table"]

WIDTH, HEIGHT, EDGE, LEGEND = 560, 340, 46, 96
COLOURS = ("#1b6ca8", "#c0582b", "#3d8b52", "#7c4fa0", "#b8860b", "#57606a", "#a03060", "#2a9d8f")
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1b1f24}"
    ".axis{stroke:#8c959f;stroke-width:1}.grid{stroke:#eaeef2;stroke-width:1}"
    "polyline{fill:none;stroke-width:2}"
)


@dataclass(frozen=True)
class LengthRow:
    """BLEU and NIST by space, for sentences of some lengths."""

    lengths: str
    sentences: int
    scores: Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class BleuResult:
    """The best BLEU of several spaces."""

    spaces: tuple[str, ...]
    rows: tuple[LengthRow, ...]
    #: CPU seconds by space
    seconds: Mapping[str, float]
    #: share of sentences whose answer is exact, by space
    exact: Mapping[str, float] = field(default_factory=dict)
    signatures: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    def write(self, folder: FilePath) -> list[Path]:
        """Write the table in all its forms and the curves; their paths."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name, form in FORMS.items():
            paths.append(folder / name)
            with new_file(paths[-1]) as file:
                file.write(form(self))
        return paths


def bleu_table(result: BleuResult) -> Table:
    """BLEU with NIST in brackets, lengths down, spaces across; the last row is time."""
    rows: list[list[object]] = [
        [row.lengths, row.sentences, *(_scores(row, space) for space in result.spaces)]
        for row in result.rows
    ]
    rows.append(["CPU s", "", *(f"{result.seconds[space]:.1f}" for space in result.spaces)])
    return Table(["length", "sentences", *result.spaces], rows)


def _scores(row: LengthRow, space: str) -> str:
    bleu, nist = row.scores[space]
    return f"{bleu:.2f} ({nist:.2f})"


def _numbers(result: BleuResult) -> Table:
    """A row for each length and space, for spreadsheets."""
    rows = [
        [row.lengths, row.sentences, space, *row.scores[space], result.seconds[space]]
        for row in result.rows
        for space in result.spaces
    ]
    return Table(["length", "sentences", "space", "bleu", "nist", "cpu_seconds"], rows)


def curves(result: BleuResult) -> str:
    """BLEU by length, a curve a space, the paper's Figure 6; the row of all sentences is left out.

    >>> rows = [LengthRow(name, 1, {"itg": (40 - at, 5)}) for at, name in enumerate(["1-5", "6+"])]
    >>> picture = curves(BleuResult(("itg",), tuple(rows), {"itg": 1}))
    >>> picture.count("<polyline"), "6+" in picture
    (1, True)
    """
    rows = [row for row in result.rows if row.lengths != "all"]
    scores = [row.scores[space][0] for row in rows for space in result.spaces]
    low, high = 5 * math.floor(min(scores) / 5), 5 * math.ceil(max(scores) / 5 + 0.01)
    right, bottom = WIDTH - LEGEND, HEIGHT - EDGE
    steps = max(len(rows) - 1, 1)
    xs = [EDGE + (right - EDGE) * at / steps for at in range(len(rows))]

    def height(score: float) -> float:
        return bottom - (bottom - 30) * (score - low) / (high - low)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img">',
        f"<title>best BLEU by sentence length</title><style>{STYLE}</style>",
        f'<rect x="0" y="0" width="{WIDTH}" height="{HEIGHT}" style="fill:#fff"/>',
    ]
    for score in range(low, high + 1, 5):
        y = height(score)
        lines.append(f'<line class="grid" x1="{EDGE}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(f'<text x="{EDGE - 8}" y="{y + 4:.1f}" text-anchor="end">{score}</text>')
    lines.append(f'<line class="axis" x1="{EDGE}" x2="{right}" y1="{bottom}" y2="{bottom}"/>')
    for x, row in zip(xs, rows, strict=True):
        name = escape(row.lengths)
        lines.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{name}</text>')
    middle = (EDGE + right) / 2
    words = "source words"
    lines.append(f'<text x="{EDGE - 8}" y="12" text-anchor="end">BLEU</text>')
    lines.append(f'<text x="{middle:g}" y="{HEIGHT - 8}" text-anchor="middle">{words}</text>')
    for at, space in enumerate(result.spaces):
        lines += _curve(space, [row.scores[space][0] for row in rows], xs, at, height)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _curve(
    space: str, scores: Sequence[float], xs: Sequence[float], at: int, height: Callable[..., float]
) -> list[str]:
    colour = COLOURS[at % len(COLOURS)]
    points = " ".join(f"{x:.1f},{height(score):.1f}" for x, score in zip(xs, scores, strict=True))
    x, y = WIDTH - LEGEND + 14, 26 + 18 * at
    return [
        f'<polyline points="{points}" style="stroke:{colour}"/>',
        f'<line x1="{x}" x2="{x + 16}" y1="{y - 4}" y2="{y - 4}" '
        f'style="stroke:{colour};stroke-width:3"/>',
        f'<text x="{x + 22}" y="{y}">{escape(space)}</text>',
    ]


def order_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rows of the order oracle, in percent."""
    names = ["space", "length", "sentences", "in the space", "pairs wrong", "reversals kept"]
    cells: list[list[object]] = [
        [
            *(row["space"], row["lengths"], row["sentences"]),
            *(_percent(row[name]) for name in ("reached", "wrong", "kept")),
        ]
        for row in rows
    ]
    if any(row["unsolved"] for row in rows):
        names.append("unsolved")
        cells = [[*line, row["unsolved"]] for line, row in zip(cells, rows, strict=True)]
    return Table(names, cells)


def reach_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Rows of the phrase oracle: BLEU of what is and what could be, and what is lost between."""
    scores = ("output", "reached", "any_order", "by_model", "by_space", "by_table")
    names = ["output", "in the space", "any order", "lost: model", "space", "table"]
    header = ["length", "sentences", *names, "words missing", "reachable"]
    cells: list[list[object]] = [
        [
            *(row["lengths"], row["sentences"]),
            *(f"{row[name]:.2f}" for name in scores),
            *(_percent(row[name]) for name in ("missing", "exact")),
        ]
        for row in rows
    ]
    return Table(header, cells)


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else f"{100 * share:.1f}"


def _markdown(result: BleuResult) -> str:
    recipes = "\n".join(f"- `{text}`" for text in result.signatures)
    return f"{bleu_table(result).markdown()}\n\nBLEU (NIST) of the best order.\n\n{recipes}\n"


FORMS: dict[str, Callable[[BleuResult], str]] = {
    "table.md": _markdown,
    "table.tex": lambda result: bleu_table(result).latex(),
    "table.csv": lambda result: _numbers(result).csv(),
    "table.json": lambda result: json.dumps(result.to_dict(), ensure_ascii=False, indent=1) + "\n",
    "curves.svg": curves,
}
