"""Bench of advice: the advised space beside the best of a small grid, by translation quality.

For each pair a system is trained and tuned once (at ``dl:8``), and the test set is translated in
every space of a grid with the same weights. The advised space should be within 0.1 BLEU of the best
one, and its word order (KRS over linked words) not worse.

    python -m bench.advice FOLDER --pairs de-en hi-en --runs 2 --rounds 8

Texts are those of `bench/long.py`, and the Chinese one with lines held out in the same way; they
are made in ``FOLDER/text`` when they are missing. Stages stay in ``FOLDER/PAIR``, to be used again.
"""

import argparse
from pathlib import Path
from typing import Any

from bench.long import corpora
from bench.measure import SHARED, write_result
from wayword import experiment
from wayword.corpus.files import new_file, open_text
from wayword.report.profile import Advice
from wayword.store import Store

#: What the advised space is compared with.
GRID = ("mono", "dl:4", "dl:6", "dl:8", "dl:10", "dl:14", "dl:18", "ibm:4", "itg")
TUNED = "dl:8"
NEAR = 0.1


#: Sentences with gold links, with which the Chinese text begins.
GOLD = 450
PARTS = ("train", "dev", "test")

Files = dict[str, list[str]]


def texts(folder: Path, pairs: list[str]) -> dict[str, Files]:
    """Source and target of each part of the pairs."""
    known = {pair["corpus"]["name"]: pair["corpus"] for pair in corpora(folder)}
    return {
        name: {"train": [known[name]["src"], known[name]["tgt"]]}
        | {part: known[name][part] for part in PARTS[1:]}
        if name in known
        else held_out(folder / name, name)
        for name in pairs
    }


def held_out(folder: Path, name: str) -> Files:
    """Dev and test lines are spread evenly; lines that say the same are not trained on."""
    langs = name.split("-")
    files = {part: [str(folder / f"{part}.{lang}") for lang in langs] for part in PARTS}
    if not Path(files["test"][-1]).exists():
        folder.mkdir(parents=True, exist_ok=True)
        where = SHARED / "data" / "align" / name
        sides = (open_text(where / f"bitext.{lang}.xz") for lang in langs)
        pairs = [pair for pair in list(zip(*sides, strict=True))[GOLD:] if all(pair)]
        spread = pairs[30::64]
        parts = {"dev": spread[1::2][:700], "test": spread[::2][:800]}
        taken = {line for part in parts.values() for pair in part for line in pair}
        parts["train"] = [pair for pair in pairs if taken.isdisjoint(pair)]
        for part, chosen in parts.items():
            for side, path in enumerate(files[part]):
                with new_file(path) as file:
                    file.writelines(f"{pair[side]}\n" for pair in chosen)
    return files


def described(files: Files, pair: str, args: argparse.Namespace) -> experiment.Experiment:
    """The experiment of a pair: the grid, and the space that training would choose."""
    src, tgt = pair.split("-")
    return experiment.Experiment.from_dict(
        {
            "name": f"advice, {pair}",
            "baseline": TUNED,
            "metrics": ["bleu", "krs-linked", "reversals"],
            "rounds": 2000,
            "corpus": [
                {
                    "name": pair,
                    "src": files["train"][0],
                    "tgt": files["train"][1],
                    "dev": files["dev"],
                    "test": files["test"],
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
        Path(),
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


def measure(files: Files, pair: str, args: argparse.Namespace) -> dict[str, Any]:
    """Run the grid of a pair."""
    planned = described(files, pair, args)
    out = args.folder / pair
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
    if not SHARED.is_dir():
        parser.exit(1, "the real data folder ../shared is not there\n")
    files = texts(args.folder / "text", args.pairs)
    rows = [{"pair": pair, **measure(files[pair], pair, args)} for pair in args.pairs]
    print(f"written to {write_result('advice', rows)}")


if __name__ == "__main__":
    main()
