"""Bench of one round of tuning: memory and CPU time of MERT's search beside decoding.

The pool is made of the 100-best lists that five sets of weights give for the dev set of Moses'
Japanese model (500 lines); then MERT searches it from all of its starts. Nothing here needs this
version's pool: the same file measures older ones.
"""

import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import SHARED
from bench.tune import systems
from wayword.evaluate import Gold
from wayword.tune.mert import Mert
from wayword.tune.objective import Objective
from wayword.tune.pool import Measured, Pool
from wayword.tune.space import Space, flat

FOLDER, INI = "ja-en", "moses.hier.dl6.ini"


def rows() -> list[dict[str, Any]]:
    """One round."""
    base = SHARED / "reference" / FOLDER
    src, ref = ((base / f"dev.{lang}").read_text().splitlines() for lang in FOLDER.split("-"))
    with tempfile.TemporaryDirectory() as name:
        system, _ = systems(Path(name), FOLDER, INI)
        tuned = np.array(list(system.weights.values()))
        start = np.array(list(flat(system.weights).values()))
        pool = Pool(list(system.weights), Measured(Objective("bleu", Gold(refs=[ref]))))
        clock = time.process_time()
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            point = dict(zip(system.weights, share * tuned + (1 - share) * start, strict=True))
            other = system.with_weights(point)
            pool.add(other.nbest(src, size=100, distinct=False, threads=1))
        decoded = time.process_time()
        best = Mert(threads=1).optimise(pool, Space.of(system.weights), [tuned], (1, 1))
        searched = time.process_time()
        assert pool.score(best) >= pool.score(tuned)
    return [
        {
            "what": f"{FOLDER} dl:6, one round of MERT, one thread",
            "candidates": len(pool),
            "pool BLEU": round(pool.score(best), 4),
            "CPU s to decode": round((decoded - clock) / 5, 2),
            "CPU s to search": round(searched - decoded, 2),
            "peak MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        }
    ]
