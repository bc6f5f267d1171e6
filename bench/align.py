"""Word alignment on real text: error rate, CPU time and memory, and how they grow.

The figures of peers on the same files, measured with one thread on a machine of the same kind, are
those of `docs/other-tools.md`; eflomal's time is taken in the same run where `eflomal-align` is on
the path. Every row is one child process with one thread.
"""

import json
import lzma
import shutil
import tempfile
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, SHARED, Cost, measure

#: AER, CPU seconds and peak MB of fast_align and of eflomal, grow-diag-final-and.
PEERS = {
    "de-en": {"fast_align": (0.215, 333, 1300), "eflomal": (0.179, 327, 640)},
    "ja-en": {"fast_align": (0.512, 351, 1670), "eflomal": (0.488, 359, 640)},
    "zh-en": {"fast_align": (0.357, 173, 870), "eflomal": (0.279, 162, 470)},
    "hi-en": {"fast_align": (0.573, 22, 210), "eflomal": (0.429, 37, 110)},
}

#: Pairs of the growth rows, from the German-English pack.
SIZES = (10_000, 50_000, 200_000)

ALIGN = """
import json, sys
from wayword import Bitext, align
src, tgt, model, gold = sys.argv[1:5]
bitext = Bitext.read(src, tgt)
links = align.fit(bitext, model=model, threads=1).align(bitext, threads=1)
score = vars(align.score_links(links, align.read_gold(gold))) if gold else {}
print(json.dumps({"pairs": len(bitext), "links": len(links.flat), **score}))
"""


def rows() -> list[dict[str, Any]]:
    """Error rates of both models on four gold sets, then growth of the default."""
    return [*_gold_rows(), *_growth_rows()]


def _gold_rows() -> list[dict[str, Any]]:
    result = []
    for pair, peers in PEERS.items():
        folder = SHARED / "data" / "align" / pair
        src, tgt = (folder / f"bitext.{lang}.xz" for lang in pair.split("-"))
        seconds, source = _eflomal_seconds(src, tgt, peers["eflomal"][1])
        for model in ("hmm", "diagonal"):
            cost = measure([PYTHON, "-c", ALIGN, src, tgt, model, folder / "gold.txt"])
            answer = json.loads(cost.answer)
            result.append(
                {
                    **_row(f"{pair} {model}", cost),
                    "AER": round(answer["aer"], 3),
                    "P": round(answer["precision"], 2),
                    "R": round(answer["recall"], 2),
                    "AER eflomal": peers["eflomal"][0],
                    "AER fast_align": peers["fast_align"][0],
                    "CPU / eflomal": round(cost.cpu_seconds / seconds, 2),
                    "CPU s eflomal": round(seconds),
                    "eflomal's time": source,
                }
            )
            if model == "hmm" and answer["aer"] >= peers["fast_align"][0]:
                raise SystemExit(f"bench: {pair}: AER {answer['aer']} is not below fast_align's")
    return result


def _eflomal_seconds(src: Path, tgt: Path, known: float) -> tuple[float, str]:
    """CPU seconds of eflomal with one thread, and where they come from."""
    program = shutil.which("eflomal-align")
    if program is None:
        return known, "other-tools.md"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for packed, side in ((src, "src"), (tgt, "tgt")):
            (folder / side).write_bytes(lzma.decompress(packed.read_bytes()))
        files: list[str | Path] = ["-s", folder / "src", "-t", folder / "tgt"]
        links: list[str | Path] = ["-f", folder / "forward", "-r", folder / "reverse"]
        command: list[str | Path] = ["env", "OMP_NUM_THREADS=1", program, "-m", "3", *files, *links]
        return measure(command).cpu_seconds, "this run"


def _growth_rows() -> list[dict[str, Any]]:
    result = []
    with tempfile.TemporaryDirectory() as name:
        for size in SIZES:
            sides = [_head(lang, size, Path(name)) for lang in ("de", "en")]
            cost = measure([PYTHON, "-c", ALIGN, *sides, "hmm", ""])
            result.append(_row(f"growth, {size} pairs", cost))
    return result


def _head(lang: str, lines: int, folder: Path) -> Path:
    """The first lines of the German-English pack, lower-cased and split at punctuation."""
    from wayword.corpus.text import Preparation

    preparation = Preparation(lang, tokenizer="unicode", case="lower")
    path = folder / f"{lines}.{lang}"
    with (
        lzma.open(SHARED / "data" / "de-en" / f"train.{lang}.xz", "rt", encoding="utf-8") as text,
        path.open("w", encoding="utf-8") as out,
    ):
        for _ in range(lines):
            out.write(" ".join(preparation.prepare(text.readline())) + "\n")
    return path


def _row(name: str, cost: Cost) -> dict[str, Any]:
    answer = json.loads(cost.answer)
    return {
        "case": name,
        "pairs": answer["pairs"],
        "CPU s": round(cost.cpu_seconds, 1),
        "ms a pair": round(1000 * cost.cpu_seconds / answer["pairs"], 3),
        "peak MB": round(cost.peak_mb),
    }
