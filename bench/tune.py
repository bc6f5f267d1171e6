"""Bench of tuning: Moses' own models, from flat weights, beside Moses' MERT.

Each row is one call of ``wayword tune`` on the dev set (four runs for MERT, one of ten rounds for
PRO and MIRA), its scores on the dev set, and BLEU of the test set with the weights found. The first
row of each model is what Moses' own tuned weights reach in the same decoder; ``dev/test of Moses``
is what was recorded for Moses' MERT and decoder. Another row compares the search along a line with
a twin in numpy.
"""

import json
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import SHARED, measure
from wayword import _core
from wayword.evaluate import Gold, Output, make_metric
from wayword.moses import import_moses
from wayword.system import System

#: Folder, configuration, and what Moses' MERT reached on dev and test.
MODELS = (
    ("ja-en", "moses.hier.dl6.ini", "30.8 / 26.9"),
    ("ja-en", "moses.hier.dl12.ini", "36.9 / 33.2"),
    ("de-en", "moses.hier.dl6.ini", "41.3 / 40.0"),
)
#: Runs of each method, and rounds of a run at most.
RUNS = {"mert": 4, "pro": 1, "mira": 1}
ROUNDS = {"mert": 25, "pro": 10, "mira": 10}


def rows() -> list[dict[str, Any]]:
    """Every model with its own weights and tuned by every method."""
    measured = [kernel_row()]
    for folder, ini, moses in MODELS:
        with tempfile.TemporaryDirectory() as name:
            opened = systems(Path(name), folder, ini)
            measured.append(untuned_row(*opened, folder, ini, moses))
            measured += [tuned_row(*opened, folder, ini, method) for method in RUNS]
    return measured


def systems(work: Path, folder: str, ini: str) -> tuple[System, System]:
    """The model with the tables of the dev set, and with those of the test set."""
    for path in (SHARED / "reference" / folder).glob("*.gz"):
        (work / path.name).symlink_to(path)
    text = (SHARED / "reference" / folder / ini).read_text()
    opened = []
    for part in ("dev", "test"):
        (work / f"{part}.ini").write_text(re.sub(r"\.test\.gz", f".{part}.gz", text))
        opened.append(import_moses(work / f"{part}.ini", work / part))
    return opened[0], opened[1]


def bleu(system: System, folder: str, part: str) -> float:
    """BLEU of the dev or test set."""
    base = SHARED / "reference" / folder / part
    src, ref = (
        base.with_suffix(f".{lang}").read_text(encoding="utf-8").splitlines()
        for lang in folder.split("-")
    )
    lines = [nbest.texts[0] for nbest in system.nbest(src, size=1, distinct=False, threads=2)]
    score = make_metric("bleu", Gold(refs=[ref])).corpus_score(Output("x", lines))
    return round(score, 2)


def untuned_row(dev: System, test: System, folder: str, ini: str, moses: str) -> dict[str, Any]:
    """The weights of Moses' MERT in our decoder."""
    scores = bleu(dev, folder, "dev"), bleu(test, folder, "test")
    row = {"what": f"{folder} {dev.settings.space}, Moses' weights", "dev": scores[0]}
    return {**row, "test": scores[1], "dev/test of Moses": moses, "ini": ini}


def tuned_row(dev: System, test: System, folder: str, ini: str, method: str) -> dict[str, Any]:
    """One call of the command."""
    files = [SHARED / "reference" / folder / f"dev.{lang}" for lang in folder.split("-")]
    command = [sys.executable, "-m", "wayword", "tune", dev.folder, "--dev", *files]
    command += ["--start=flat", f"--method={method}", f"--runs={RUNS[method]}"]
    command += [f"--rounds={ROUNDS[method]}", "--threads=2"]
    cost = measure([*map(str, command), "--dry-run", "--json", f"--folder={dev.folder}.{method}"])
    answer = json.loads(cost.answer)
    assert answer["after"] > answer["before"] + 1, (answer["before"], answer["after"])
    seconds = [record["seconds"] for record in answer["rounds"]]
    each = [bleu(test.with_weights(run["weights"]), folder, "test") for run in answer["runs"]]
    return {
        "what": f"{folder} {dev.settings.space}, {method}",
        "flat": round(answer["before"], 2),
        "dev": round(answer["after"], 2),
        "dev of runs": [round(run["score"], 2) for run in answer["runs"]],
        "pool": [round(record["pool_score"], 2) for record in answer["rounds"] if record["stop"]],
        "test": bleu(test.with_weights(answer["weights"]), folder, "test"),
        "test of runs": each,
        "rounds": len(seconds),
        "CPU s": round(cost.cpu_seconds),
        "CPU s a round": round(cost.cpu_seconds / len(seconds), 1),
        "wall s a round: decode, optimise": [
            round(float(np.mean([record[name] for record in seconds])), 1)
            for name in ("decode", "optimise")
        ],
        "peak MB": round(cost.peak_mb),
        "ini": ini,
    }


# --- the line search, beside numpy ---------------------------------------------------------------


def kernel_row(sentences: int = 500, size: int = 300, features: int = 16) -> dict[str, Any]:
    """CPU time of one search along an axis, by the core and by numpy alone."""
    draw = np.random.default_rng(1)
    values = draw.normal(size=(sentences * size, features))
    offsets = np.arange(0, sentences * size + 1, size)
    values = values.astype(np.float32).astype(np.float64)  # as the core keeps them
    columns = np.ascontiguousarray(values.T, dtype=np.float32)
    pool = _core.CandidatePool(features)
    pool.add(columns.tobytes(), np.diff(offsets).astype(np.uint32).tobytes())
    weights = draw.normal(size=features)
    point = pool.point(weights.tolist())
    axis = np.eye(features)[0].tolist()
    place = np.arange(len(values), dtype=np.uint32)
    statistics = _core.CandidateStatistics(place.tobytes(), 4, 1, place.tobytes())
    start = time.process_time()
    for _ in range(20):
        steps, _ = point.search(axis, 0.0, statistics)
    ours = (time.process_time() - start) / 20
    start = time.process_time()
    twin = in_numpy(values[:, 0], values @ weights, offsets)
    theirs = time.process_time() - start
    assert np.allclose(np.sort(twin), np.asarray(steps)), "the twins differ"
    return {
        "what": f"one line, {sentences * size} candidates",
        "core ms": round(1e3 * ours, 1),
        "numpy ms": round(1e3 * theirs, 1),
        "ratio": round(theirs / ours, 1),
    }


def in_numpy(slopes: Any, heights: Any, offsets: Any) -> Any:
    """Where the best candidate changes: all sentences go to their next change at once."""
    starts, counts = offsets[:-1], np.diff(offsets)
    rank = np.lexsort((-heights, slopes, np.repeat(np.arange(len(counts)), counts)))
    best = rank[starts]
    steps: list[float] = []
    while True:
        mine = np.repeat(best, counts)
        steeper = slopes > slopes[mine]
        with np.errstate(all="ignore"):
            meet = (heights[mine] - heights) / (slopes - slopes[mine])
        meet = np.where(steeper, meet, np.inf)
        first = np.minimum.reduceat(meet, starts)
        moves = np.isfinite(first)
        if not moves.any():
            return np.array(steps)
        steps += first[moves].tolist()
        is_next = np.flatnonzero((meet == np.repeat(first, counts)) & steeper)
        best = np.where(
            moves, is_next[np.minimum(np.searchsorted(is_next, starts), len(is_next) - 1)], best
        )
