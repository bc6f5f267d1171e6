"""How the cost of decoding grows with the length of a sentence, the pop limit, the jump, threads.

Text is the German test set of the reference models, joined and cut to sentences of equal length;
the system is Moses' model, imported. Costs are CPU ms a source word of the search and what
belongs to it, start-up not counted; for threads also wall seconds, and the output must be the same.
"""

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.measure import SHARED

__all__ = ["rows"]

MODEL = SHARED / "reference" / "de-en"
WORDS = 6000  # measured for each row
LENGTHS = (10, 25, 50, 100, 200)
POP_LIMITS = (50, 100, 200, 400, 1000, 2000, 4000)
LIMITS = (0, 3, 6, 12, 18, 30)


def rows() -> list[dict[str, Any]]:
    """Measure everything."""
    from wayword.moses import import_moses

    text = (MODEL / "test.de").read_text(encoding="utf-8").split()
    with tempfile.TemporaryDirectory() as name:
        system = import_moses(MODEL / "moses.hier.dl6.ini", Path(name) / "system")
        measured = [
            {"what": "words a sentence", "value": length, **_cost(system, text, length)}
            for length in LENGTHS
        ]
        for pop_limit in POP_LIMITS:
            cost = _cost(system, text, 25, pop_limit=pop_limit)
            measured.append({"what": "pop limit", "value": pop_limit, **cost})
        for limit in LIMITS:
            cost = _cost(system, text, 50, space=f"dl:{limit}" if limit else "mono")
            measured.append({"what": "jump limit", "value": limit, **cost})
        return measured + _threads(system, text)


def _cost(system: Any, text: list[str], length: int, **settings: Any) -> dict[str, Any]:
    """CPU ms a word, and the hypotheses made for each."""
    lines = _sentences(text, length)
    tuned = system.with_settings(**{"pop_limit": 400, "space": "dl:6", **settings})
    start = time.process_time()
    tuned.translate(lines, prepared=True, threads=1)
    cpu = time.process_time() - start
    return {"CPU ms a word": round(cpu * 1e3 / (length * len(lines)), 4)}


def _threads(system: Any, text: list[str]) -> list[dict[str, Any]]:
    lines = _sentences(text * 4, 25, words=4 * WORDS)
    measured: list[dict[str, Any]] = []
    outputs: list[list[str]] = []
    for threads in range(1, (os.cpu_count() or 1) + 1):
        tuned = system.with_settings(pop_limit=400, space="dl:6")
        wall, cpu = time.perf_counter(), time.process_time()
        found = tuned.translate(lines, prepared=True, threads=threads)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        outputs.append([translation.text for translation in found])
        row = {"what": "threads", "value": threads, "wall s": round(wall, 2)}
        measured.append(row | {"CPU ms a word": round(cpu * 1e3 / 4 / WORDS, 4)})
        if outputs[-1] != outputs[0]:
            raise SystemExit(f"bench: {threads} threads gave other translations than one")
    for row in measured:
        row["times one thread"] = round(measured[0]["wall s"] / row["wall s"], 2)
    return measured


def _sentences(text: list[str], length: int, words: int = WORDS) -> list[str]:
    """Sentences of so many words each."""
    starts = range(0, words - length + 1, length)
    return [" ".join(text[start : start + length]) for start in starts]
