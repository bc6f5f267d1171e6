"""Bench of advice: the advised space beside the best of a small grid, by translation quality.

For each pair a system is trained and tuned once (at ``dl:8``), and the test set is translated in
every space of a grid with the same weights. The advised space should be within 0.1 BLEU of the best
one, and its word order (KRS over linked words) not worse.

    python -m bench.advice FOLDER --pairs de-en hi-en --runs 2 --rounds 8

FOLDER has tokenised text: ``PAIR/train.src``, ``train.tgt``, ``dev.src``, ``dev.tgt``, ``test.src``
and ``test.tgt``. Results go to ``FOLDER/advice.json`` and to standard output. Stages are kept in
``FOLDER/PAIR/out`` and used again.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from wayword import experiment
from wayword.corpus.files import new_file
from wayword.report.profile import Advice
from wayword.store import Store

#: What the advised space is compared with.
GRID = ("mono", "dl:4", "dl:6", "dl:8", "dl:10", "dl:14", "dl:18", "ibm:4", "itg")
TUNED = "dl:8"
NEAR = 0.1


def described(folder: Path, pair: str, args: argparse.Namespace) -> experiment.Experiment:
    """The experiment of a pair: the grid, and the space that training would choose."""
    src, tgt = pair.split("-")
    text = {f"{name}_{side}": str(folder / f"{name}.{side}") for name in ("train", "dev", "test")
            for side in ("src", "tgt")}  # fmt: skip
    return experiment.Experiment.from_dict(
        {
            "name": f"advice, {pair}",
            "baseline": TUNED,
            "metrics": ["bleu", "krs-linked", "reversals"],
            "rounds": 2000,
            "corpus": [
                {
                    "name": pair,
                    "src": text["train_src"],
                    "tgt": text["train_tgt"],
                    "dev": [text["dev_src"], text["dev_tgt"]],
                    "test": [text["test_src"], text["test_tgt"]],
                }
            ],
            "base": {
                "text": {
                    "src": src,
                    "tgt": tgt,
                    "src_tokenizer": "none",
                    "tgt_tokenizer": "none",
                    "case": "keep",
                },
                "search": {"pop_limit": args.pop_limit, "space": TUNED},
                "tune": {"runs": args.runs, "rounds": args.rounds},
            },
            "variant": [
                {"name": TUNED},
                *(
                    {"name": space, "weights": TUNED, "search": {"space": space}}
                    for space in (*GRID, "auto")
                    if space != TUNED
                ),
            ],
        },
        folder,
    )


def advice_of(planned: experiment.Experiment, out: Path) -> list[Advice]:
    """What the profile of the training text says."""
    plan = planned.plans(planned.corpora[0])["auto"]
    assert plan.profile is not None, "its space is open"
    with Store(out / "work") as store:
        [result] = store.run([plan.profile])
    return [Advice(**one) for one in result.facts["advice"]]


def verdict(rows: dict[str, Any]) -> dict[str, Any]:
    """The advised space beside the best of the grid."""
    grid = {name: row for name, row in rows.items() if name != "auto"}
    best = max(grid, key=lambda name: float(grid[name]["bleu"]))
    lost = rows[best]["bleu"] - rows["auto"]["bleu"]
    order = rows["auto"]["krs-linked"] - rows[best]["krs-linked"]
    return {"best": best, "bleu_lost": round(lost, 3), "order_gained": round(order, 3),
            "near": lost <= NEAR, "order_not_worse": order >= 0}  # fmt: skip


def measure(folder: Path, pair: str, args: argparse.Namespace) -> dict[str, Any]:
    """Run the grid of a pair."""
    planned = described(folder / pair, pair, args)
    out = folder / pair / "out"
    result = experiment.run(planned, out, threads=args.threads)
    rows = {
        row.variant: {metric: row.scores[metric][0] for metric in result.metrics} | {"ms": row.ms}
        for row in result.rows
    }
    advice = advice_of(planned, out)
    told = {"advised": advice[0].value, "why": advice[0].why, **verdict(rows), "rows": rows}
    print(pair, {name: told[name] for name in told if name not in {"rows", "why"}}, flush=True)
    return told


def main() -> None:
    """Measure every pair that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", nargs="+", default=["de-en", "ja-en", "zh-en", "hi-en"])
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--pop-limit", type=int, default=400)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    told = {pair: measure(args.folder, pair, args) for pair in args.pairs}
    with new_file(args.folder / "advice.json") as file:
        json.dump(told, file, ensure_ascii=False, indent=1)


if __name__ == "__main__":
    main()
