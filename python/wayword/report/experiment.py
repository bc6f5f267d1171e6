"""The table of an experiment in the forms people need: Markdown, LaTeX, CSV, JSON, a terminal."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from wayword.corpus.files import new_file
from wayword.evaluate import METRICS
from wayword.report.table import Table, in_markdown
from wayword.types import FilePath

__all__ = [
    "FORMS",
    "SHOWN",
    "TUNED",
    "Cell",
    "Result",
    "Row",
    "averaged_runs",
    "load_result",
    "markdown",
    "plain",
    "verdicts",
]

#: Score, half of the 95 % interval, p-value against the baseline and mark; None: nothing to judge.
Cell = tuple[float | None, float | None, float | None, str]
#: What tables show beside a score, where the metric tells it.
SHOWN = ("judged", "precision", "recall")
NONE = "–"
#: The columns of tuning.
TUNED = (
    "dev: score of the weights in tuning, on prepared text; spread: standard deviation of the "
    "runs; averaged: best runs whose mean the weights are (1: the weights of the best run)."
)


@dataclass(frozen=True)
class Row:
    """One variant on one corpus."""

    corpus: str
    variant: str
    #: by metric
    scores: Mapping[str, Cell]
    #: milliseconds of CPU a source word, one thread
    ms: float
    dev: float
    spread: float
    runs: tuple[float, ...]
    #: of how many runs, the best ones, the weights are the mean; 0: not known
    averaged: int = 0
    #: some of ``SHOWN``, in percent, by metric
    details: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    #: jumps on the test set over more words than this
    jumps: Mapping[str, int] = field(default_factory=dict)
    #: scores of a subset of the test set, by metric, where one was named
    subset: Mapping[str, Cell] = field(default_factory=dict)
    #: scores of every tuning run and the p-value of their mean, by metric, where asked for
    each: Mapping[str, tuple[tuple[float, ...], float | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """All rows, and the recipes of their numbers."""

    name: str
    baseline: str
    metrics: tuple[str, ...]
    rows: tuple[Row, ...]
    signatures: Mapping[str, str]
    recipe: str
    #: what a reader of the scores should know
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    def _repr_html_(self) -> str:
        from wayword.report.experiment_page import fragment_of

        return fragment_of(self)

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
    tuples = {name: tuple(values.get(name, ())) for name in ("metrics", "notes")}
    return Result(**{**values, "rows": rows, **tuples})


def _table(result: Result) -> Table:
    names = []
    for metric in result.metrics:
        names.append(METRICS[metric].name)
        if _has(result, metric, "recall"):
            names.append("P / R")
    judged = ["judged, %"] if _judging(result) else []
    tuned = ["dev", "spread", "averaged"]
    header = ["corpus", "variant", *names, *judged, "CPU ms/word", *tuned]
    return Table(header, [_cells(result, row) for row in result.rows])


def _has(result: Result, metric: str, name: str) -> bool:
    return any(name in row.details.get(metric, {}) for row in result.rows)


def _judging(result: Result) -> list[str]:
    """The metrics that do not judge every word."""
    return [metric for metric in result.metrics if _has(result, metric, "judged")]


def _cells(result: Result, row: Row) -> list[str]:
    shown = []
    for metric in result.metrics:
        shown.append(_cell(row.scores[metric]))
        if _has(result, metric, "recall"):
            details = row.details[metric]
            shown.append(f"{_percent(details['precision'])} / {_percent(details['recall'])}")
    if judging := _judging(result):
        least = min((row.details[metric]["judged"] or 0.0 for metric in judging), default=0.0)
        shown.append(_percent(least))
    tuned = [f"{row.dev:.2f}", f"{row.spread:.2f}", averaged_runs(row)]
    return [row.corpus, row.variant, *shown, f"{row.ms:.3f}", *tuned]


def averaged_runs(row: Row) -> str:
    """Return how many tuning runs, of how many, the weights of a variant come from."""
    return f"{row.averaged} of {len(row.runs)}" if row.averaged else NONE


def _percent(value: float | None) -> str:
    return NONE if value is None else f"{value:.1f}"


def _legend(result: Result) -> str:
    judged = " judged: source words that decide a score of word order." if _judging(result) else ""
    notes = "".join(f"\n\n{note}" for note in result.notes)
    return (
        f"▲▼ better, worse than {result.baseline} at p ≤ .05; △▽ at p ≤ .10. ± is half of the 95 % "
        f"interval. {TUNED}{judged}{notes}"
    )


REAL = 0.05


def verdicts(result: Result) -> str:
    """Which differences from the baseline are real, one sentence a corpus and metric."""
    lines = []
    for corpus in dict.fromkeys(row.corpus for row in result.rows):
        rows = {row.variant: row for row in result.rows if row.corpus == corpus}
        others = [row for row in rows.values() if row.variant != result.baseline]
        for metric in result.metrics:
            said = [
                (row, *_difference(row.scores[metric], rows[result.baseline].scores[metric]))
                for row in others
            ]
            real = [f"{row.variant} {text}" for row, p, text in said if p is not None and p <= REAL]
            rest = [f"{row.variant} {text}" for row, p, text in said if p is not None and p > REAL]
            found = f"real: {', '.join(real)}" if real else "no real difference"
            chance = f"; may be chance: {', '.join(rest)}" if rest else ""
            lines.append(f"{corpus}, {METRICS[metric].name}: {found}{chance}")
    head = f"Differences from {result.baseline}:"
    return "\n".join([head, *lines]) if lines and len(result.rows) > 1 else ""


def _difference(cell: Cell, base: Cell) -> tuple[float | None, str]:
    """The p-value of a difference, and the difference in words."""
    value, _, p_value, _ = cell
    if value is None or base[0] is None or p_value is None:
        return None, ""
    return p_value, f"{value - base[0]:+.2f} (p {_spelled(p_value)})"


def markdown(result: Result) -> str:
    """A Markdown table with its recipes."""
    recipes = "\n".join(f"- `{text}`" for text in (*result.signatures.values(), result.recipe))
    first, *rows = verdicts(result).split("\n")
    told = "\n".join(f"- {in_markdown(row)}" for row in rows)
    told = f"\n\n{first}\n\n{told}" if rows else ""
    further = "".join(
        f"\n\n{in_markdown(head)}\n\n{table.markdown()}" for head, table in _further(result)
    )
    table = f"{_table(result).markdown()}\n\n{_legend(result)}"
    return f"# {in_markdown(result.name)}\n\n{table}{told}{further}\n\n{recipes}\n"


def plain(result: Result) -> str:
    """The table for a terminal."""
    further = [f"{head}\n{table.text()}" for head, table in _further(result)]
    recipes = "\n".join([*result.signatures.values(), result.recipe])
    parts = [_table(result).text(), _legend(result), verdicts(result), *further, recipes]
    return "\n\n".join(part for part in parts if part)


def _further(result: Result) -> list[tuple[str, Table]]:
    """Scores of the subset and of tuning runs, each under a headline, where there are any."""
    names = [METRICS[metric].name for metric in result.metrics]
    tables = []
    if any(row.subset for row in result.rows):
        rows = [
            [row.corpus, row.variant, *(_cell(row.subset[metric]) for metric in result.metrics)]
            for row in result.rows
            if row.subset
        ]
        tables.append(
            ("On the subset of the test set:", Table(["corpus", "variant", *names], rows))
        )
    if any(row.each for row in result.rows):
        rows = [
            [row.corpus, row.variant, *(_runs(row, metric) for metric in result.metrics)]
            for row in result.rows
        ]
        head = (
            f"Tuning runs by themselves: mean (spread) on the test set, p beside {result.baseline}:"
        )
        tables.append((head, Table(["corpus", "variant", *names], rows)))
    return tables


def _cell(cell: Cell) -> str:
    value, half, _, mark = cell
    marked = f" {mark}" if mark else ""
    return NONE if value is None else f"{value:.2f} ±{half or 0.0:.2f}{marked}"


def _runs(row: Row, metric: str) -> str:
    scores, p_value = row.each[metric]
    spread = stdev(scores) if len(scores) > 1 else 0.0
    told = "" if p_value is None else f" p {_spelled(p_value)}"
    return f"{fmean(scores):.2f} ({spread:.2f}){told}"


def _spelled(p_value: float) -> str:
    return "< .001" if p_value < 0.001 else f"= {p_value:.3f}".replace("0.", ".")


def latex(result: Result) -> str:
    """A LaTeX tabular, its numbers to the right."""
    table = _table(result)
    return table.latex("ll" + "r" * (len(table.header) - 2))


def as_csv(result: Result) -> str:
    """Numbers for a spreadsheet."""
    told = [
        (metric, name) for metric in result.metrics for name in SHOWN if _has(result, metric, name)
    ]
    names = [f"{metric}{part}" for metric in result.metrics for part in ("", "_half", "_p")]
    names += [f"{metric}_{name}" for metric, name in told]
    rows = []
    for row in result.rows:
        numbers = [number for metric in result.metrics for number in row.scores[metric][:3]]
        numbers += [row.details[metric][name] for metric, name in told]
        tuned = [row.dev, row.spread, row.averaged or None, len(row.runs)]
        rows.append([row.corpus, row.variant, *numbers, row.ms, *tuned])
    header = ["corpus", "variant", *names, "ms", "dev", "spread", "averaged", "runs"]
    return Table(header, rows).csv()


def as_json(result: Result) -> str:
    """Everything, for programs."""
    return json.dumps(result.to_dict(), ensure_ascii=False, indent=1) + "\n"


FORMS: dict[str, Callable[[Result], str]] = {
    "md": markdown,
    "tex": latex,
    "csv": as_csv,
    "json": as_json,
}
