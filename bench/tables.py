"""Print the tables of docs/results.md from the results of bench/experiments.py and bench/long.py.

    python bench/tables.py waw                   # marks compare with the first baseline
    python bench/tables.py waw --baseline dl:18
    python bench/tables.py long-table --runs     # the tuning runs by themselves
    python bench/tables.py long-table --subset   # the subset of the test set

A cell is a score and a mark: better or worse than the baseline at p ≤ .05 (▲▼) or .10 (△▽). Of
tuning runs it is the mean, in brackets the standard deviation, and the mark is that of all runs.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench.measure import ROOT
from wayword.evaluate import METRICS
from wayword.evaluate.compare import MARKS
from wayword.evaluate.metric import LEVELS
from wayword.report.table import Table

#: Variants that other rows start from and that say nothing by themselves.
HIDDEN = ("first tuning",)


def newest(name: str) -> dict[str, Any]:
    """The newest results of an experiment."""
    results = ROOT / "bench" / "results"
    files = sorted(results.glob(f"experiment-{name}-*.json"))
    files = files or sorted(results.glob(f"{name}-*.json"))
    if not files:
        raise SystemExit(f"tables: no results of `{name}`; run bench/experiments.py {name}")
    found: dict[str, Any] = json.loads(files[-1].read_text(encoding="utf-8"))
    return found


Rows = list[dict[str, Any]]


def table(rows: Rows) -> Table:
    """A line a row, with time, dev score and, where they were counted, long jumps."""
    far = list(rows[0].get("jumps", {}))

    def more(row: dict[str, Any]) -> list[str]:
        dev = f"{row['dev']:.2f} ({row['spread']:.2f})"
        return [f"{row['ms']:.3f}", dev, *(str(row["jumps"][limit]) for limit in far)]

    return lined(rows, cell, more, ["ms", "dev", *(f"jumps > {limit}" for limit in far)])


def lined(
    rows: Rows,
    cell_of: Callable[[dict[str, Any], str], str],
    more: Callable[[dict[str, Any]], list[str]] = lambda _: [],
    further: Sequence[str] = (),
) -> Table:
    """A line a row; a corpus is named once."""
    metrics = list(rows[0]["scores"])
    header = ["pair", "variant", *(METRICS[metric].name for metric in metrics), *further]
    lines, last = [], ""
    for row in rows:
        name = row["corpus"] if row["corpus"] != last else ""
        last = row["corpus"]
        lines.append([name, row["variant"], *(cell_of(row, one) for one in metrics), *more(row)])
    return Table(header, lines)


def runs_cell(row: dict[str, Any], metric: str) -> str:
    """The mean of all tuning runs, their standard deviation and a mark."""
    scores, p_value = row["each"][metric]
    value, base = fmean(scores), row["base means"][metric]
    mark = ""
    if p_value is not None and p_value <= LEVELS[-1]:
        better, worse = MARKS[0] if p_value <= LEVELS[0] else MARKS[1]
        mark = better if value > base else worse
    return f"{value:.2f} ({stdev(scores):.2f}) {mark}".strip()


def subset_cell(row: dict[str, Any], metric: str) -> str:
    """The score of the subset and its mark."""
    value, _, _, mark = row["subset"][metric]
    return "–" if value is None else f"{value:.2f} {mark}".strip()


def cell(row: dict[str, Any], metric: str) -> str:
    """A score, its mark, and precision and recall if it has them."""
    value, _, _, mark = row["scores"][metric]
    if value is None:
        return "–"
    details = row["details"][metric]
    shares = [details.get(name) for name in ("precision", "recall")]
    told = " ({:.0f} / {:.0f})".format(*shares) if None not in shares else ""
    return f"{value:.2f}{told} {mark}".strip()


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--baseline", help="the row that marks compare with")
    parser.add_argument("--runs", action="store_true", help="tuning runs by themselves")
    parser.add_argument("--subset", action="store_true", help="the subset of the test set")
    args = parser.parse_args()
    found = newest(args.name)
    rows = [row for row in found["rows"] if row["variant"] not in HIDDEN]
    baseline = args.baseline or rows[0]["baseline"]
    rows = [row for row in rows if row["baseline"] == baseline]
    if args.runs:
        bases = {row["corpus"]: row for row in rows if row["variant"] == baseline}
        for row in rows:
            each = bases[row["corpus"]]["each"]
            row["base means"] = {metric: fmean(scores) for metric, (scores, _) in each.items()}
        shown = lined(rows, runs_cell)
    elif args.subset:
        shown = lined([row for row in rows if row["subset"]], subset_cell)
    else:
        shown = table(rows)
    print(shown.markdown())
    print(f"\nMarks compare with {baseline}; made at commit {found['commit']}.")


if __name__ == "__main__":
    main()
