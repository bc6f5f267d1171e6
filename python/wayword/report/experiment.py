"""The table of an experiment in the forms people need: Markdown, LaTeX, CSV, JSON, a terminal."""

import csv
import io
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from wayword.evaluate import METRICS

if TYPE_CHECKING:
    from wayword.experiment import Result, Row

__all__ = ["FORMS", "markdown", "plain"]

LATEX_MARKS = {"▲": r"$\blacktriangle$", "▼": r"$\blacktriangledown$"}
LATEX_MARKS |= {"△": r"$\vartriangle$", "▽": r"$\triangledown$", "": ""}


def _header(result: "Result") -> list[str]:
    names = [METRICS[metric].name for metric in result.metrics]
    return ["corpus", "variant", *names, "CPU ms/word", "dev", "spread"]


def _cells(result: "Result", row: "Row") -> list[str]:
    shown = []
    for metric in result.metrics:
        value, half, _, mark = row.scores[metric]
        shown.append(f"{value:.2f} ±{half:.2f}{' ' + mark if mark else ''}")
    return [row.corpus, row.variant, *shown, f"{row.ms:.3f}", f"{row.dev:.2f}", f"{row.spread:.2f}"]


def _legend(result: "Result") -> str:
    runs = len(result.rows[0].runs)
    return (
        f"▲▼ better, worse than {result.baseline} at p ≤ .05; △▽ at p ≤ .10. ± is half of the 95 % "
        f"interval. dev: mean weights of {runs} tuning run{'s' * (runs != 1)}; spread: standard "
        "deviation of the runs."
    )


def markdown(result: "Result") -> str:
    """A Markdown table with its recipes."""
    lines: list[Sequence[str]] = [_header(result), ["---"] * len(_header(result))]
    lines += [_cells(result, row) for row in result.rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    recipes = "\n".join(f"- `{text}`" for text in (*result.signatures.values(), result.recipe))
    return f"# {result.name}\n\n{table}\n\n{_legend(result)}\n\n{recipes}\n"


def plain(result: "Result") -> str:
    """The table for a terminal."""
    from wayword.cli.terminal import table

    rows = [_cells(result, row) for row in result.rows]
    return f"{table(_header(result), rows)}\n\n{_legend(result)}"


def latex(result: "Result") -> str:
    """A LaTeX tabular."""
    columns = "ll" + "r" * (len(_header(result)) - 2)
    rows = [_header(result), *(_cells(result, row) for row in result.rows)]
    lines = " \\\\\n".join(" & ".join(_escaped(cell) for cell in row) for row in rows)
    return f"\\begin{{tabular}}{{{columns}}}\n{lines} \\\\\n\\end{{tabular}}\n"


def _escaped(cell: str) -> str:
    for char in "\\&%$#_{}":
        cell = cell.replace(char, f"\\{char}")
    for mark, text in LATEX_MARKS.items():
        cell = cell.replace(mark, text) if mark else cell
    return cell.replace("±", r"$\pm$")


def as_csv(result: "Result") -> str:
    """Numbers for a spreadsheet."""
    out = io.StringIO()
    names = [f"{metric}{part}" for metric in result.metrics for part in ("", "_half", "_p")]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["corpus", "variant", *names, "ms", "dev", "spread"])
    for row in result.rows:
        cells: list[object] = []
        for metric in result.metrics:
            value, half, p_value, _ = row.scores[metric]
            cells += [value, half, "" if p_value is None else p_value]
        writer.writerow([row.corpus, row.variant, *cells, row.ms, row.dev, row.spread])
    return out.getvalue()


def as_json(result: "Result") -> str:
    """Everything, for programs."""
    return json.dumps(result.to_dict(), ensure_ascii=False, indent=1) + "\n"


FORMS: dict[str, Callable[["Result"], str]] = {
    "md": markdown,
    "tex": latex,
    "csv": as_csv,
    "json": as_json,
}
