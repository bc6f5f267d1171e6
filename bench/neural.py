"""Models of the next word side by side: what each ranks, keeps, and costs.

The same 40,000 pairs, links, tags and held-out lines for all (`bench/waw.py` makes them): plain
distance; the word-after-word model as in the paper, with one choice a step, with what is translated
around a word, with both; the network with words alone, and with what is translated. Then what
pruning by the first and the last leaves of the right orders, without decoding.

    python bench/run.py neural                 all pairs and models
    PAIRS="ja-en de-en" MODELS="max-ent;network" SENTENCES=4000 FOLDER=x python bench/run.py neural

measures some of them, on fewer sentences, and keeps texts and finished rows in a folder.
"""

import json
import os
import tempfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, measure
from bench.waw import PAIRS, PARTS, SOME, prepare

#: Kind of model, and its options.
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "max-ent": ("waw", {}),
    "max-ent, choice": ("waw", {"objective": "choice"}),
    "max-ent, coverage": ("waw", {"coverage": True}),
    "max-ent, choice, coverage": ("waw", {"objective": "choice", "coverage": True}),
    "network": ("neural", {"coverage": False}),
    "network, coverage": ("neural", {}),
    "network, coverage, tags": ("neural", {"tags": True}),
}
#: Pairs to learn from.
SENTENCES = int(os.environ.get("SENTENCES", SOME))
#: Those that pruning is tried with, and the settings; `n` stands for the feature.
PRUNED = ("max-ent", "network, coverage")
SPACES = (
    *("dl:8", "dl:18"),
    "dl:18+n(top=3,threshold=0.1,zone=5)",
    "dl:18+n(top=2,threshold=0.25,zone=1)",
    "dl:18+n(top=5,threshold=0.25,zone=0)",
    "dl:18+n(top=5,threshold=0.1,zone=0)",
    "dl:18+n(top=8,threshold=0.05,zone=0)",
    "dl:18+n(top=8,threshold=0.02,zone=-1)",
)

LEARN = """
import json, os, sys
from importlib import import_module
from wayword.reorder import waw
kind, options = import_module(f"wayword.reorder.{sys.argv[7]}"), json.loads(sys.argv[8])
def cpu():
    times = os.times()
    return times.user + times.system
corpus, test = waw.Corpus.read(*sys.argv[1:4]), waw.Corpus.read(*sys.argv[4:7])
corpus, _ = corpus.split(int(sys.argv[10]))
start = cpu()
model = kind.train(corpus, threads=2, **options)
learned = cpu() - start
found = waw.evaluate(model, test, limits=[10, 18], threads=2)
start = cpu()
waw.reach(model, test, ["dl:18+n(top=5,threshold=0.1,zone=0)"], threads=1)
rated = cpu() - start
rows = [row.to_dict() for row in waw.reach(model, test, json.loads(sys.argv[9]), threads=2)]
print(json.dumps({"learned": learned, "rated": 1e6 * rated / test.words, "size": model.size,
    "reach": rows, **found.to_dict()}))
"""

RANK = {
    "Top-1": "top1",
    "Top-3": "top3",
    "long back": "top3_long_back",
    "long forw.": "top3_long_forward",
}


def rows() -> list[dict[str, Any]]:
    """All models of each pair."""
    pairs = os.environ.get("PAIRS", "").split() or list(PAIRS)
    kept = os.environ.get("FOLDER")
    with nullcontext(kept) if kept else tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own: what is measured later would start with the memory of this one.
        with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
            for pair in pairs:
                if not (folder / f"{pair}.test.links").exists():
                    pool.submit(prepare, pair, folder).result()
        return [row for pair in pairs for row in of_pair(pair, folder)]


def of_pair(pair: str, folder: Path) -> list[dict[str, Any]]:
    """Rows of a pair: distance, all models, then pruning."""
    files = [folder / f"{pair}.{text}.{what}" for text in ("some", "test") for what in PARTS]
    wanted = os.environ.get("MODELS", "")
    ranked: list[dict[str, Any]] = []
    pruned: list[dict[str, Any]] = []
    for name, (kind, options) in MODELS.items():
        if wanted and name not in wanted.split(";"):
            continue
        known = folder / f"{pair}.{SENTENCES}.{name}.json"
        answer = answered(known, files, (kind, options), name in PRUNED)
        far = answer["ranking"][-1]
        if name == PRUNED[0]:
            for plain, own in zip(answer["distance"], answer["ranking"], strict=True):
                at = f", dl:{plain['limit']}" if plain["limit"] != far["limit"] else ""
                missed = {"DL-err": _percent(plain["dl_err"])}
                ranked.append({"case": f"{pair} distance{at}", **_ranks(plain), **missed})
                if at:
                    ranked.append({"case": f"{pair} {name}{at}", **_ranks(own)})
        ranked.append(
            {
                "case": f"{pair} {name}",
                "pairs": SENTENCES,
                **_ranks(far),
                "training, CPU s": round(answer["learned"]),
                "µs a word": round(answer["rated"], 1),
                "MB": round(answer["size"] / 1e6, 1),
                "peak MB": round(answer["peak MB"]),
            }
        )
        pruned += [
            {
                "case": f"{pair} {name}, {row['space']}",
                "words a step": round(row["width"], 1),
                "right kept": _percent(row["right"]),
                "long back kept": _percent(row["right_back"]),
                "long forw. kept": _percent(row["right_forward"]),
                "whole orders": _percent(row["reachable"]),
            }
            for row in answer["reach"]
        ]
    places = {row["case"]: row["Top-1"] for row in ranked}
    first, best = (places.get(f"{pair} {name}") for name in PRUNED)
    if first is not None and best is not None and best <= first:
        raise SystemExit(f"bench: {pair}: the network ranks no better: {best} and {first}")
    return [*ranked, *pruned]


def answered(
    known: Path, files: list[Path], model: tuple[str, dict[str, Any]], is_pruned: bool
) -> dict[str, Any]:
    """What a model was measured to be, now or by an earlier run in the same folder."""
    if not known.exists():
        kind, options = model
        spaces = json.dumps(SPACES if is_pruned else [])
        chosen = [kind, json.dumps(options), spaces, str(SENTENCES)]
        cost = measure([PYTHON, "-c", LEARN, *files, *chosen])
        answer = {**json.loads(cost.answer), "peak MB": cost.peak_mb}
        known.write_text(json.dumps(answer), encoding="utf-8")
    answer = json.loads(known.read_text(encoding="utf-8"))
    assert isinstance(answer, dict)
    return answer


def _ranks(ranking: dict[str, Any]) -> dict[str, float]:
    return {name: _percent(ranking[key]) for name, key in RANK.items()}


def _percent(share: float) -> float:
    return round(100 * share, 1)
