"""The table of an experiment in the forms people need: Markdown, LaTeX, CSV, JSON, a terminal."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wayword.corpus.files import FilePath, new_file
from wayword.evaluate import METRICS
from wayword.report.table import Table

__all__ = ["FORMS", "Result", "Row", "load_result", "markdown", "plain"]


@dataclass(frozen=True)
class Row:
    """One variant on one corpus."""

    corpus: str
    variant: str
    #: score, half of the 95 % interval, p-value against the baseline and mark, by metric
    scores: Mapping[str, tuple[float, float, float | None, str]]
    #: milliseconds of CPU a source word, one thread
    ms: float
    dev: float
    spread: float
    runs: tuple[float, ...]


@dataclass(frozen=True)
class Result:
    """All rows, and the recipes of their numbers."""

    name: str
    baseline: str
    metrics: tuple[str, ...]
    rows: tuple[Row, ...]
    signatures: Mapping[str, str]
    recipe: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    def write(self, folder: FilePath) -> list[Path]:
        """Write the table in all its forms; their paths."""
        folder = Path(folder)
        paths = []
        for suffix, form in FORMS.items():
            paths.append(folder / f"table.{suffix}")
            with new_file(paths[-1]) as file:
                file.write(form(self))
        return paths


def load_result(path: FilePath) -> Result:
    """The result that ``table.json`` holds."""
    values = json.loads(Path(path).read_text(encoding="utf-8"))
    rows = tuple(Row(**{**row, "runs": tuple(row["runs"])}) for row in values["rows"])
    return Result(**{**values, "rows": rows, "metrics": tuple(values["metrics"])})


def _table(result: Result) -> Table:
    names = [METRICS[metric].name for metric in result.metrics]
    header = ["corpus", "variant", *names, "CPU ms/word", "dev", "spread"]
    return Table(header, [_cells(result, row) for row in result.rows])


def _cells(result: Result, row: Row) -> list[str]:
    shown = []
    for metric in result.metrics:
        value, half, _, mark = row.scores[metric]
        shown.append(f"{value:.2f} ±{half:.2f}{' ' + mark if mark else ''}")
    return [row.corpus, row.variant, *shown, f"{row.ms:.3f}", f"{row.dev:.2f}", f"{row.spread:.2f}"]


def _legend(result: Result) -> str:
    runs = len(result.rows[0].runs)
    return (
        f"▲▼ better, worse than {result.baseline} at p ≤ .05; △▽ at p ≤ .10. ± is half of the 95 % "
        f"interval. dev: mean weights of {runs} tuning run{'s' * (runs != 1)}; spread: standard "
        "deviation of the runs."
    )


def markdown(result: Result) -> str:
    """A Markdown table with its recipes."""
    recipes = "\n".join(f"- `{text}`" for text in (*result.signatures.values(), result.recipe))
    return f"# {result.name}\n\n{_table(result).markdown()}\n\n{_legend(result)}\n\n{recipes}\n"


def plain(result: Result) -> str:
    """The table for a terminal."""
    return f"{_table(result).text()}\n\n{_legend(result)}"


def latex(result: Result) -> str:
    """A LaTeX tabular, its numbers to the right."""
    table = _table(result)
    return table.latex("ll" + "r" * (len(table.header) - 2))


def as_csv(result: Result) -> str:
    """Numbers for a spreadsheet."""
    names = [f"{metric}{part}" for metric in result.metrics for part in ("", "_half", "_p")]
    rows = []
    for row in result.rows:
        numbers = [number for metric in result.metrics for number in row.scores[metric][:3]]
        rows.append([row.corpus, row.variant, *numbers, row.ms, row.dev, row.spread])
    return Table(["corpus", "variant", *names, "ms", "dev", "spread"], rows).csv()


def as_json(result: Result) -> str:
    """Everything, for programs."""
    return json.dumps(result.to_dict(), ensure_ascii=False, indent=1) + "\n"


FORMS: dict[str, Callable[[Result], str]] = {
    "md": markdown,
    "tex": latex,
    "csv": as_csv,
    "json": as_json,
}
