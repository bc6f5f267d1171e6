"""Bench of the memory that tuning's candidates take: 1,000 lines, 25 rounds, 100-best lists.

No candidate comes twice and every second one has a text of its own, which is more than decoding
gives: of the candidates of real rounds about half are known already. Growth is that of the resident
memory of the process, without the lists of a round, which are gone when it is over; the peak is the
most that it ever was, the lists of a round and the search of the last one included.
"""

import gc
import time
from pathlib import Path
from typing import Any

import numpy as np

from wayword.evaluate import Gold
from wayword.tune.mert import Mert
from wayword.tune.objective import Objective
from wayword.tune.pool import Candidates, Measured, Pool, give_back
from wayword.tune.space import Space

LINES, ROUNDS, NBEST, WORDS = 1000, 25, 100, 12
NAMES = ("lm", "wp", "pp", "tm0", "tm1", "tm2", "tm3", "d", *(f"lr{k}" for k in range(8)), "oov")
PROMISED_MB = 300


def rows() -> list[dict[str, Any]]:
    """The pool after all rounds, and a search in it."""
    draw = np.random.default_rng(1)
    refs = [" ".join(f"w{word}" for word in draw.integers(500, size=WORDS)) for _ in range(LINES)]
    pool = Pool(NAMES, Measured(Objective("bleu", Gold(refs=[refs]))))
    pool.add(lists_of(refs, draw, 0, 1))  # what is needed once is there now
    gc.collect()
    before = resident("VmRSS")
    forget_peak()
    clock = time.process_time()
    for number in range(1, ROUNDS + 1):
        pool.add(lists_of(refs, draw, number, NBEST))
        give_back()  # as tuning does
    gc.collect()
    growth, added = resident("VmRSS") - before, time.process_time() - clock
    point = np.full(len(NAMES), 1 / len(NAMES))
    Mert(restarts=1, threads=2).optimise(pool, Space.of(dict.fromkeys(NAMES, 1.0)), [point], (1,))
    if growth > PROMISED_MB:
        print(f"tune-memory: {growth:.0f} MB; {PROMISED_MB} were promised")
    return [
        {
            "what": f"{LINES} lines, {ROUNDS} rounds, {NBEST}-best, {len(NAMES)} features",
            "candidates": len(pool),
            "texts": len(pool.measured),
            "growth MB": round(growth),
            "bytes a candidate": round(growth * 2**20 / len(pool)),
            "peak growth MB, search included": round(resident("VmHWM") - before),
            "CPU s to add": round(added, 1),
        }
    ]


def lists_of(refs: list[str], draw: Any, number: int, size: int) -> list[Candidates]:
    """New candidates of every line: the reference with another word or two."""
    lists = []
    for ref in refs:
        words = ref.split()
        tails = [f"{' '.join(words[: 4 + k % 6])} r{number} c{k // 2}" for k in range(0, size, 2)]
        texts = [text for text in tails for _ in range(2)][:size]
        features = draw.normal(size=(size, len(NAMES))).astype(np.float32)
        lists.append(Candidates(tuple(texts), features))
    return lists


def resident(what: str) -> float:
    """Resident memory in MB: ``VmRSS`` now, ``VmHWM`` at most."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{what}:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("tune-memory: this system does not tell the memory of a process")


def forget_peak() -> None:
    """Let the system measure the peak anew."""
    Path("/proc/self/clear_refs").write_text("5")
