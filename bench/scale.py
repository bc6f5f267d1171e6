"""What a training run of any size costs, computed from measured costs per unit.

In: CPU ms, bytes kept and bytes moved per sentence pair of 25 words. Out:
tables for 1 M to 1 B pairs: CPU hours, wall hours on some cores, memory, disk and network of each
stage, as Markdown. How: CPU, disk and network are linear in the pairs, as the growth bench finds;
memory is the limit that is given plus the vocabulary, which grows by Heaps' law.

    python bench/scale.py                 the tables of docs/scale.md
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
SIZES = {"1 M": 10**6, "10 M": 10**7, "100 M": 10**8, "1 B": 10**9}
CORES = {"1 M": 2, "10 M": 8, "100 M": 64, "1 B": 512}
WORDS = 25  # of a side of a pair
BYTES_A_WORD = 100  # in memory: letters, numbers, counts, hash
HEAPS = (40, 0.55)  # different words of n words: 40 · n^0.55, a guess
GB, HOUR = 10**9, 3600


@dataclass(frozen=True)
class Unit:
    """What a stage costs per pair."""

    stage: str
    cpu_ms: float
    #: bytes of its result that stay, of temporary files at the same time, and that move between
    #: machines when shards are counted apart
    kept: int
    spilled: int
    moved: int
    #: the share of the work that any number of machines do at the same time
    shared: float


UNITS = (
    # CPU of all: cluster bench, local run; text is 300 bytes a pair, digests go to disk
    Unit("doctor", 0.0041, 300, 40, 300, 0.95),
    Unit("prepare", 0.224, 300, 0, 300, 1.0),
    # the text as numbers, 4 bytes a word, goes to a temporary file
    Unit("align", 0.339, 105, 200, 405, 0.98),
    # a table of 100,000 pairs has 476 MB, counts of 30,000 have 69 MB; three such at a time on disk
    Unit("extract", 0.236, 4760, 6900, 2290, 0.75),
    # 26 windows of 24 bytes and 59 n-grams of 80 bytes in three lists
    Unit("lm", 0.030, 1390, 5300, 620, 0.75),
)
#: Tuning sees only the dev set: CPU hours, whatever the size of the corpus.
TUNE_HOURS = 2.0


def vocabulary(pairs: int) -> float:
    """Different words of one side."""
    factor, exponent = HEAPS
    return float(factor * (pairs * WORDS) ** exponent)


def row(unit: Unit, name: str, limit: float) -> list[str]:
    """One stage at one size."""
    pairs = SIZES[name]
    cpu = unit.cpu_ms * pairs / 1000 / HOUR
    wall = cpu * (1 - unit.shared) + cpu * unit.shared / CORES[name]
    memory = limit + 2 * vocabulary(pairs) * BYTES_A_WORD / GB
    disk, moved = (unit.kept + unit.spilled) * pairs / GB, unit.moved * pairs / GB
    numbers = (
        f"{cpu:,.2g}" if cpu < 10 else f"{cpu:,.0f}",
        f"{wall:,.2g}" if wall < 10 else f"{wall:,.0f}",
    )
    return [unit.stage, *numbers, f"{memory:.1f}", f"{disk:,.0f}", f"{moved:,.0f}"]


def predicted(stage: str, pairs: int, memory: str) -> float | None:
    """CPU ms a pair at a size by that of the size before it; the stages are linear."""
    like = (stage, memory)
    rows = [
        row for row in growth() if (row["stage"], row["memory"]) == like and row["pairs"] < pairs
    ]
    return max(rows, key=lambda row: row["pairs"])["CPU ms a pair"] if rows else None


def growth() -> list[dict[str, Any]]:
    """The rows of the newest result of the growth bench."""
    newest = max(RESULTS.glob("growth-*.json"))
    return list(json.loads(newest.read_text())["rows"])


def main() -> None:
    """Print the tables."""
    print("| stage | memory | pairs | CPU ms a pair | predicted | peak MB |")
    print("|---|---|---|---|---|---|")
    stages = {unit.stage for unit in UNITS}
    for known in (row for row in growth() if row["stage"] in stages):
        stage, pairs, memory = str(known["stage"]), int(known["pairs"]), str(known["memory"])
        guess = predicted(stage, pairs, memory)
        shown = [f"{known['CPU ms a pair']:.4f}", "" if guess is None else f"{guess:.4f}"]
        print(f"| {stage} | {memory} | {pairs:,} | {' | '.join(shown)} | {known['peak MB']:,} |")
    for name in SIZES:
        print(f"\n{name} pairs, {CORES[name]} cores\n")
        print("| stage | CPU h | wall h | memory GB | disk GB | network GB |")
        print("|---|---|---|---|---|---|")
        for unit in UNITS:
            print(f"| {' | '.join(row(unit, name, 2.0))} |")
        print(f"| tune | {TUNE_HOURS:.0f} | {TUNE_HOURS / 2:.0f} | 1.0 | 1 | 0 |")


if __name__ == "__main__":
    main()
