"""Print the tables of docs/results.md from the results of bench/experiments.py.

    python bench/tables.py waw                 # marks compare with the first baseline
    python bench/tables.py waw --baseline dl:18

A cell is a score and a mark: better or worse than the baseline at p ≤ .05 (▲▼) or .10 (△▽).
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench.measure import ROOT
from wayword.evaluate import METRICS
from wayword.report.table import Table

#: Variants that other rows start from and that say nothing by themselves.
HIDDEN = ("first tuning",)


def newest(name: str) -> dict[str, Any]:
    """The newest results of an experiment."""
    files = sorted((ROOT / "bench" / "results").glob(f"experiment-{name}-*.json"))
    if not files:
        raise SystemExit(f"tables: no results of `{name}`; run bench/experiments.py {name}")
    found: dict[str, Any] = json.loads(files[-1].read_text(encoding="utf-8"))
    return found


def table(rows: list[dict[str, Any]]) -> Table:
    """A line a row; a corpus is named once."""
    metrics = list(rows[0]["scores"])
    header = ["pair", "variant", *(METRICS[metric].name for metric in metrics), "ms", "dev"]
    lines, last = [], ""
    for row in rows:
        name = row["corpus"] if row["corpus"] != last else ""
        last = row["corpus"]
        cells = [cell(row, metric) for metric in metrics]
        dev = f"{row['dev']:.2f} ({row['spread']:.2f})"
        lines.append([name, row["variant"], *cells, f"{row['ms']:.3f}", dev])
    return Table(header, lines)


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
    args = parser.parse_args()
    found = newest(args.name)
    rows = [row for row in found["rows"] if row["variant"] not in HIDDEN]
    baseline = args.baseline or rows[0]["baseline"]
    print(table([row for row in rows if row["baseline"] == baseline]).markdown())
    print(f"\nMarks compare with {baseline}; made at commit {found['commit']}.")


if __name__ == "__main__":
    main()
