"""Quality against time: the curves of `bench/long.py` as a table and as pictures.

    python bench/curves.py                        # prints the tables
    python bench/curves.py --draw docs/pictures   # and draws long-PAIR-METRIC.svg

The *lead* of a row is its least distance, over all pop limits, from the best that the baseline
reaches in no more time at any pop limit: above 0 the whole curve is above that of the baseline.
"""

import argparse
import json
import sys
from itertools import groupby
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench.measure import ROOT
from wayword.corpus.files import new_file
from wayword.picture.chart import Point, curves
from wayword.report.table import Table

BASELINE = "dl:8"
METRICS = {"bleu": "BLEU", "reversals": "reversal F1", "krs-linked": "KRS over linked words"}
DRAWN = (BASELINE, "dl:18", "network, coverage, chosen", "network, coverage, chosen, pops kept")
STYLE = """<style>
text { font: 12px sans-serif; fill: #57606a } .rule { stroke: #d0d7de }
.s0 { fill: #2f77b0; stroke: #2f77b0 } .s1 { fill: #c0582b; stroke: #c0582b }
.s2 { fill: #3d8b52; stroke: #3d8b52 } .s3 { fill: #7c4fa0; stroke: #7c4fa0 }
.line { fill: none; stroke-width: 2 } rect { stroke: none }
</style>"""

Rows = list[dict[str, Any]]


def lead(rows: Rows, variant: str, metric: str) -> float:
    """The least distance of a row's curve from what the baseline reaches in the same time."""
    base = [(row["ms"], row[metric]) for row in rows if row["variant"] == BASELINE]
    distances: list[float] = []
    for row in rows:
        if row["variant"] == variant:
            reached = [score for time, score in base if time <= row["ms"]]
            # Quicker than any point of the baseline: compared with its quickest.
            distances.append(row[metric] - max(reached, default=min(base)[1]))
    return min(distances)


def by_pair(rows: Rows) -> list[tuple[str, Rows]]:
    """The rows of each pair."""
    return [(pair, list(of)) for pair, of in groupby(rows, lambda row: str(row["corpus"]))]


def leads(rows: Rows) -> Table:
    """The leads of all rows, and how their time compares with the baseline's at equal pops."""
    lines = []
    for pair, own in by_pair(rows):
        for variant in dict.fromkeys(row["variant"] for row in own):
            if variant == BASELINE:
                continue
            ratios = [row["to dl:8"] for row in own if row["variant"] == variant]
            distances = [f"{lead(own, variant, metric):+.2f}" for metric in METRICS]
            shown = " ".join(f"{ratio:.2f}" for ratio in ratios)
            lines.append([pair, variant, *distances, shown])
    pops = " ".join(str(pops) for pops in dict.fromkeys(row["pops"] for row in rows))
    header = ["pair", "variant", *(f"lead, {name}" for name in METRICS.values())]
    return Table([*header, f"time beside {BASELINE} at {pops} pops"], lines)


def points(rows: Rows) -> Table:
    """BLEU, reversal F1 and CPU ms a word of the rows that are drawn."""
    lines = []
    for pair, own in by_pair(rows):
        for at, (pops, here) in enumerate(groupby(own, lambda row: row["pops"])):
            known = {row["variant"]: row for row in here}
            cells = [
                f"{row['bleu']:.2f} / {row['reversals']:.1f} / {row['ms']:.3f}"
                for row in (known[variant] for variant in DRAWN)
            ]
            lines.append([pair if at == 0 else "", str(pops), *cells])
    return Table(["pair", "pops", *DRAWN], lines)


def draw(rows: Rows, folder: Path) -> None:
    """A picture a pair and metric."""
    for pair, own in by_pair(rows):
        for metric in ("bleu", "reversals"):
            series = {
                variant: [Point(row["ms"], row[metric]) for row in own if row["variant"] == variant]
                for variant in DRAWN
            }
            title = f"{METRICS[metric]} of {pair} against CPU time a word"
            picture = curves(series, title=title, x="CPU ms a word", y=METRICS[metric], by_log=True)
            name = f"long-{pair.replace(' ', '-')}-{metric}.svg"
            with new_file(folder / name) as file:
                file.write(picture.replace("</title>", f"</title>{STYLE}", 1))


def main() -> None:
    """Print, and draw if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", type=Path, metavar="FOLDER", help="write pictures there")
    args = parser.parse_args()
    newest = max((ROOT / "bench" / "results").glob("long-curves-*.json"))
    found = json.loads(newest.read_text(encoding="utf-8"))
    print(points(found["rows"]).markdown(), leads(found["rows"]).markdown(), sep="\n\n")
    if args.draw:
        draw(found["rows"], args.draw)


if __name__ == "__main__":
    main()
