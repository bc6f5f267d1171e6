"""From text to a system without tuned weights: what each stage of `wayword train` takes.

The two bitexts of 100,000 pairs that the aligners are measured on, tokenised already, without the
gold sentences at their beginning; one thread. Tuning, which comes after it, gets a line to be done
with soon, and does not count. Theirs, on the same text, are the figures of
`docs/other-tools.md`: eflomal, Moses' extraction and tables, lmplz.

    python bench/run.py untuned
"""

import lzma
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

from bench.experiments import GOLD, TOKENISED
from bench.growth import stage_rows
from bench.measure import PYTHON, SHARED, measure

#: CPU s of Moses' tools.
MOSES = {"de-en": 714, "ja-en": 689}
MEMORY = "2G"
#: The first line and the one after the last.
Cut = tuple[int, int | None]


def rows() -> list[dict[str, Any]]:
    """The stages of each pair, and all of it."""
    result = []
    for pair, theirs in MOSES.items():
        with tempfile.TemporaryDirectory() as name:
            result += _rows(pair, theirs, Path(name))
    return result


def _rows(pair: str, theirs: int, folder: Path) -> list[dict[str, Any]]:
    packs = SHARED / "data" / "align" / pair
    parts: dict[str, Cut] = {"bitext": (GOLD[pair], None), "dev": (0, 1)}
    texts = {
        part: [_written(packs, part, lang, folder, cut) for lang in pair.split("-")]
        for part, cut in parts.items()
    }
    command: list[str | Path] = [PYTHON, "-m", "wayword", "train", *texts["bitext"]]
    command += ["-o", folder / "system", "--dev", *texts["dev"], "--threads", "1"]
    command += ["--memory", MEMORY, "--set", "tune.runs=1", "tune.rounds=1"]
    command += [f'text.{key}="{value}"' for key, value in TOKENISED.items()]
    measure(command)
    size = sum(1 for _ in texts["bitext"][0].open(encoding="utf-8"))
    stages = list(stage_rows(folder / "system" / "work" / "log.jsonl", size, MEMORY))
    before = [stage for stage in stages if stage["stage"] != "train: tune"]
    seconds = sum(stage["CPU s"] for stage in before)
    whole = {"stage": "all", "pairs": size, "memory": MEMORY, "CPU s": seconds}
    whole |= {"CPU s of Moses' tools, on another day": theirs}
    return [{"pair": pair, **row} for row in (*before, whole)]


def _written(packs: Path, part: str, lang: str, folder: Path, cut: Cut) -> Path:
    """Some lines of a pack as a file."""
    text = folder / f"{part}.{lang}"
    with lzma.open(packs / f"{part}.{lang}.xz", "rt", encoding="utf-8") as lines:
        text.write_text("".join(islice(lines, *cut)), encoding="utf-8")
    return text
