"""Bench of one round of tuning: MERT's search beside decoding, and the statistics of metrics.

The pool is made of the 100-best lists that five sets of weights give for the dev set of Moses'
Japanese model (500 lines); then MERT searches it from all of its starts. For the statistics the
best candidate of each line stands for the reference, with its links.
"""

import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import SHARED
from bench.tune import systems
from wayword.decode import NbestList
from wayword.evaluate import Gold
from wayword.tune.mert import Mert
from wayword.tune.objective import Objective
from wayword.tune.pool import Measured, Pool
from wayword.tune.space import Space, flat

FOLDER, INI = "ja-en", "moses.hier.dl6.ini"
METRICS = ("bleu", "krs", "krs-linked", "reversals", "ter")


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
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        lists = system.nbest(src, size=100, distinct=False, links=True, threads=1)
    return [
        {
            "what": f"{FOLDER} dl:6, one round of MERT, one thread",
            "candidates": len(pool),
            "pool BLEU": round(pool.score(best), 4),
            "CPU s to decode": round((decoded - clock) / 5, 2),
            "CPU s to search": round(searched - decoded, 2),
            "peak MB": round(peak),
        },
        *(_statistics_row(metric, src, lists) for metric in METRICS),
    ]


def _statistics_row(metric: str, src: list[str], lists: list[NbestList]) -> dict[str, Any]:
    """The CPU time of a metric's statistics."""
    every = [nbest.links or () for nbest in lists]
    refs, ref_links = [nbest.texts[0] for nbest in lists], [links[0] for links in every]
    objective = Objective(metric, Gold(refs=[refs], src=src, ref_links=[ref_links]))
    sentences = [k for k, nbest in enumerate(lists) for _ in nbest.texts]
    texts = [text for nbest in lists for text in nbest.texts]
    start = time.process_time()
    objective.rows(sentences, texts, [one for links in every for one in links])
    took = time.process_time() - start
    return {"what": f"statistics of {metric}", "µs a candidate": round(1e6 * took / len(texts), 2)}
