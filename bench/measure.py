"""What benches share: the cost of a command, and result files that say where they come from.

Costs are CPU seconds and peak memory of a child process, because wall time on a shared machine
says little. A result file holds the machine, the commit, and every row measured in one run.
"""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

__all__ = ["PYTHON", "ROOT", "SHARED", "Cost", "measure", "show", "write_result"]

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
PYTHON = sys.executable
#: Runs a command and says what it cost. Linux counts the memory of the process that starts another
#: as the other's own, so a small one starts the command.
WITNESS = """
import json, os, resource, sys
code = os.spawnvp(os.P_WAIT, sys.argv[2], sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seen = [code, used.ru_utime + used.ru_stime, used.ru_maxrss]
os.write(int(sys.argv[1]), json.dumps(seen).encode())
"""


@dataclass(frozen=True)
class Cost:
    """What a command cost, and what it printed."""

    cpu_seconds: float
    wall_seconds: float
    peak_mb: float
    answer: str


def measure(command: Sequence[str | Path], folder: Path = ROOT) -> Cost:
    """Run a command to its end in a folder and take its cost; a failing one is an error."""
    start = time.monotonic()
    told, tells = os.pipe()
    with os.fdopen(told) as costs:
        witness = [PYTHON, "-I", "-S", "-c", WITNESS, str(tells), *command]
        child = subprocess.Popen(
            witness, stdout=subprocess.PIPE, text=True, cwd=folder, pass_fds=[tells]
        )
        os.close(tells)
        answer, _ = child.communicate()
        code, cpu_seconds, peak = json.loads(costs.read() or "[1, 0, 0]")
    if code:
        raise SystemExit(f"bench: {' '.join(map(str, command))} left with {code}")
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10  # bytes there, kilobytes here
    return Cost(
        round(cpu_seconds, 3),
        round(time.monotonic() - start, 3),
        round(peak / unit, 1),
        answer,
    )


def write_result(stage: str, rows: list[dict[str, Any]]) -> Path:
    """Write a dated result file; the newest is the one that docs quote."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    result = {
        "stage": stage,
        "date": date.today().isoformat(),
        "commit": commit,
        "machine": {"cpu": _cpu(), "cores": os.cpu_count(), "python": platform.python_version()},
        "rows": rows,
    }
    path = ROOT / "bench" / "results" / f"{stage}-{result['date']}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    return path


def show(rows: list[dict[str, Any]]) -> None:
    """Print rows as a Markdown table, ready for the docs."""
    header = list(dict.fromkeys(name for row in rows for name in row))
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(str(row.get(name, "")) for name in header) + " |")


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor()
