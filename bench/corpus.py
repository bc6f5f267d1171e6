"""Reading a million sentence pairs into ids, beside a plain Python loop that does the same."""

import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, measure

PAIRS = 1_000_000
SHARDS = 10

#: Prints pairs, words, distinct words and a checksum of the ids: both ways must agree.
ANSWER = (
    "print(len(src_at) - 1, len(src) + len(tgt), size, int(sum(src[::97])), int(sum(tgt[::89])))"
)

CORE = f"""
import sys
from wayword import Bitext
bitext = Bitext.read(*sys.argv[1:])
src, tgt, src_at, size = bitext.src.ids, bitext.tgt.ids, bitext.src.offsets, len(bitext.vocab)
{ANSWER}
"""

LOOP = f"""
import sys
from array import array
vocab, src, tgt, src_at, tgt_at = {{}}, array("I"), array("I"), array("Q", [0]), array("Q", [0])
src_file, tgt_file = (open(name, encoding="utf-8") for name in sys.argv[1:])
for src_line, tgt_line in zip(src_file, tgt_file, strict=True):
    for line, ids, offsets in ((src_line, src, src_at), (tgt_line, tgt, tgt_at)):
        ids.extend([vocab.setdefault(word, len(vocab)) for word in line.split()])
        offsets.append(len(ids))
size = len(vocab)
{ANSWER}
"""


def _write_shard(job: tuple[Path, int]) -> None:
    from wayword.corpus import toy

    path, seed = job
    with (
        path.with_suffix(".de").open("w", encoding="utf-8") as src,
        path.with_suffix(".en").open("w", encoding="utf-8") as tgt,
    ):
        for pair in toy.generate("de-en", PAIRS // SHARDS, seed=seed):
            src.write(" ".join(pair.src) + "\n")
            tgt.write(" ".join(pair.tgt) + "\n")


def _write_toy(folder: Path) -> tuple[Path, Path]:
    shards = [folder / f"shard{seed}" for seed in range(SHARDS)]
    with ProcessPoolExecutor() as pool:
        list(pool.map(_write_shard, zip(shards, range(SHARDS), strict=True)))
    sides = folder / "toy.de", folder / "toy.en"
    for side in sides:
        with side.open("wb") as out:
            for shard in shards:
                out.write(shard.with_suffix(side.suffix).read_bytes())
    return sides


def rows() -> list[dict[str, Any]]:
    """Measure both ways on the same files."""
    with tempfile.TemporaryDirectory() as name:
        src, tgt = _write_toy(Path(name))
        core = measure([PYTHON, "-c", CORE, src, tgt])
        loop = measure([PYTHON, "-c", LOOP, src, tgt])
        if core.answer != loop.answer:
            raise SystemExit(f"bench: the core read {core.answer}, the loop {loop.answer}")
    words = int(core.answer.split()[1])
    return [
        {
            "way": name,
            "pairs": PAIRS,
            "words": words,
            "CPU s": cost.cpu_seconds,
            "pairs/s": round(PAIRS / cost.cpu_seconds),
            "peak MB": cost.peak_mb,
            "speed": round(loop.cpu_seconds / cost.cpu_seconds, 2),
        }
        for name, cost in (("wayword", core), ("plain Python loop", loop))
    ]
