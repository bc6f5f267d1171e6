"""Run benches: `python bench/run.py` for all stages, `python bench/run.py corpus` for one.

A stage's bench is `bench/STAGE.py` with a function `rows()` that measures and returns one
dictionary per row; it raises when an answer is wrong, so that a fast wrong run fails. What got
slower or faster since the last result in the repository is told after each stage.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

STAGES = (
    *(
        "corpus",
        "annotate",
        "align",
        "align-scale",
        "extract",
        "lm",
        "waw",
        "neural",
        "decode",
        "tune",
    ),
    *("evaluate", "order-metrics", "audit", "preorder", "oracle", "kill", "normalise"),
    *("tune-cost", "tune-memory", "unseen", "startup", "serve", "ter", "demo", "papers"),
    *("untuned", "misalignment", "decode-growth", "growth", "threads", "cluster", "cluster-losses"),
)
#: Those that make their text themselves.
ALONE = (
    *("corpus", "kill", "normalise", "tune-memory", "startup", "serve", "ter", "demo", "papers"),
)


def main(names: Sequence[str]) -> int:
    """Measure, print and write; return 1 if a stage asked for by name could not be measured."""
    from bench import compare, measure

    missing = []
    for stage in names or STAGES:
        if stage not in ALONE and not measure.SHARED.is_dir():
            missing.append(stage)
            continue
        last, before = compare.last_rows(stage)
        rows = import_module(f"bench.{stage.replace('-', '_')}").rows()
        print(f"\n## {stage}")
        measure.show(rows)
        print(f"written to {measure.write_result(stage, rows).relative_to(measure.ROOT)}")
        if changed := compare.changes(before, rows):
            print(f"\ncosts that changed by a tenth or more since {last}:")
            measure.show(changed)
        elif before:
            print(f"no cost changed by a tenth or more since {last}")
    if missing:
        print(f"not measured, as the real data folder ../shared is missing: {', '.join(missing)}")
    return 1 if names and missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
