"""How much faster two threads are than one, beside the most that this machine gives.

Each command runs with one thread, then with two; then twice at the same time with one thread each,
which shares memory and caches but no work: 2 · (time alone) / (time of both) is what two threads
could reach at best. Wall time, so the machine must be idle. The text is the German alignment pack,
with the links and the system that the commands make of it; tuning is of Moses' German model on its
dev set, two runs of four rounds from flat weights.

    python bench/run.py threads
"""

import lzma
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, SHARED
from bench.tune import systems

LANGS = ("de", "en")
Command = list[str | Path]


def rows() -> list[dict[str, Any]]:
    """A row for each command."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for lang in LANGS:
            packed = SHARED / "data" / "align" / "de-en" / f"bitext.{lang}.xz"
            (folder / lang).write_bytes(lzma.decompress(packed.read_bytes()))
        reference = SHARED / "reference" / "de-en"
        test = (reference / "test.de").read_text(encoding="utf-8")
        (folder / "text").write_text(test * 3, encoding="utf-8")
        systems(folder, "de-en", "moses.hier.dl6.ini")
        for number in (1, 2, 3, 4):  # a system is tuned by one process at a time
            shutil.copytree(folder / "dev", folder / f"dev{number}")
        return [_row(folder, stage) for stage in ("align", "extract", "lm", "translate", "tune")]


def _command(folder: Path, stage: str, number: int) -> Command:
    text: Command = [folder / "de", folder / "en"]
    commands: dict[str, Command] = {
        "align": ["align", *text, "-o", folder / f"links{number}"],
        "extract": ["extract", *text, folder / "links1", "-o", folder / f"table{number}"],
        "lm": ["lm", "train", folder / "en", "-o", folder / f"lm{number}"],
        "translate": ["translate", folder / "test", folder / "text", "--prepared"],
        "tune": [
            *("tune", folder / f"dev{number}", "--dry-run", "--dev"),
            *[SHARED / "reference" / "de-en" / f"dev.{lang}" for lang in LANGS],
            *("--prepared", "--start", "flat", "--runs", "2", "--rounds", "4"),
        ],
    }
    return commands[stage]


def _row(folder: Path, stage: str) -> dict[str, Any]:
    times = [_seconds([[*_command(folder, stage, n), "--threads", str(n)]]) for n in (1, 2)]
    both = [[*_command(folder, stage, n), "--threads", "1"] for n in (3, 4)]
    together = _seconds(both)
    return {
        "command": stage,
        "wall s, one thread": round(times[0], 1),
        "two": round(times[1], 1),
        "times as fast": round(times[0] / times[1], 2),
        "at best": round(2 * times[0] / together, 2),
    }


def _seconds(commands: list[Command]) -> float:
    start = time.monotonic()
    children = [_start(command) for command in commands]
    for child in children:
        if child.wait():
            raise SystemExit(f"bench: {child.args!r} left with {child.returncode}")
    return time.monotonic() - start


def _start(command: Command) -> "subprocess.Popen[bytes]":
    quiet = subprocess.DEVNULL
    return subprocess.Popen([PYTHON, "-m", "wayword", *command], stdout=quiet, stderr=quiet)
