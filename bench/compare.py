"""What got slower: rows measured now beside those of the last result in the repository.

Rows are the same when all their words and whole numbers are (the case, the pair, the limit). Of
such rows every number is compared whose column names a cost: CPU, seconds, milliseconds,
instructions, megabytes. A machine that does other work makes times longer, so a ratio is only told
from a tenth on.
"""

import json
import re
import subprocess
from typing import Any, TypeGuard

from bench.measure import ROOT

__all__ = ["changes", "last_rows"]

#: Columns that name a cost.
COST = re.compile(r"\b(CPU|s|ms|µs|seconds|instructions|MB|bytes)\b")
TELL = 1.1

Row = dict[str, Any]


def last_rows(stage: str) -> tuple[str, list[Row]]:
    """The newest result of a stage that is committed: its file's name and its rows."""
    tracked = subprocess.run(
        ["git", "ls-files", "bench/results"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    named = re.compile(rf"bench/results/{re.escape(stage)}-\d{{4}}-\d\d-\d\d\.json")
    names = sorted(name for name in tracked if named.fullmatch(name))
    if not names:
        return "", []
    committed = subprocess.run(
        ["git", "show", f"HEAD:{names[-1]}"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout
    return names[-1], json.loads(committed)["rows"] if committed else []


def changes(before: list[Row], now: list[Row]) -> list[Row]:
    """Costs that changed by a tenth or more, largest growth first.

    >>> old = [{"case": "de", "CPU s": 2.0, "AER": 0.2}, {"case": "ja", "CPU s": 1.0}]
    >>> new = [{"case": "de", "CPU s": 3.0, "AER": 0.4}, {"case": "ja", "CPU s": 1.05}]
    >>> changes(old, new)
    [{'row': 'de', 'cost': 'CPU s', 'before': 2.0, 'now': 3.0, 'ratio': 1.5}]
    """
    known = {_name(row): row for row in before}
    found = []
    for row in now:
        old = known.get(_name(row), {})
        for column, value in row.items():
            former = old.get(column)
            if not (COST.search(column) and _is_number(value) and _is_number(former)):
                continue
            ratio = value / former if former else 1.0
            if not 1 / TELL < ratio < TELL:
                shown = {"cost": column, "before": former, "now": value, "ratio": round(ratio, 2)}
                found.append({"row": _name(row), **shown})
    return sorted(found, key=lambda change: -change["ratio"])


def _name(row: Row) -> str:
    """Its words, and whole numbers that are no cost: limits, sizes."""
    is_part = {
        column: isinstance(value, str) or (isinstance(value, int) and not COST.search(column))
        for column, value in row.items()
    }
    return ", ".join(str(value) for column, value in row.items() if is_part[column])


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
