"""Bench of interruptions: a training killed at thirty random moments, beside an undisturbed one.

One training of a toy corpus, tuning included, runs to its end. Another gets a SIGKILL at thirty
random moments of that time and is started again after each; it must end in the same bytes. Work is
the CPU time of all processes, killed ones too.
"""

import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, measure
from wayword.corpus import toy

PAIRS, KILLS, SEED = 3000, 30, 1
#: Times the work of an undisturbed training that a disturbed one should take at most.
PROMISED = 1.2
#: More rounds than a toy needs, so that most of the time goes into tuning, as with real text.
CHOICES = ("tune.runs=4", "tune.rounds=25", "tune.patience=25")


def rows() -> list[dict[str, Any]]:
    """Both trainings."""
    # Python keeps compiled modules unless it is told not to; a start costs what it does for users.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        toy.write("de-en", PAIRS, folder, seed=SEED)
        measure([PYTHON, "-m", "wayword", "train", "--help"])  # compiles what is new
        calm = measure(command(folder, "calm"))
        moments = random.Random(SEED)
        times = sorted(moments.uniform(0, calm.wall_seconds) for _ in range(KILLS))
        spent, kills = 0.0, 0
        for start, end in zip([0.0, *times], times, strict=False):
            cpu, was_killed = disturbed(command(folder, "disturbed"), end - start)
            spent, kills = spent + cpu, kills + was_killed
        spent += measure(command(folder, "disturbed")).cpu_seconds
        assert contents(folder / "calm") == contents(folder / "disturbed"), "other bytes"
        more = spent / calm.cpu_seconds
        if more > PROMISED:
            print(f"kill: {more:.2f} times the work; {PROMISED} was promised")
        return [
            {
                "what": f"toy de-en, {PAIRS} pairs, {', '.join(CHOICES)}",
                "kills": kills,
                "CPU s, undisturbed": round(calm.cpu_seconds),
                "CPU s, killed": round(spent),
                "times the work": round(more, 3),
                "CPU s a kill": round((spent - calm.cpu_seconds) / kills, 2),
                "same bytes": True,
            }
        ]


def command(folder: Path, out: str) -> list[str]:
    """The training, started or going on."""
    files = [folder / f"train.{lang}" for lang in ("de", "en")]
    dev = [folder / f"dev.{lang}" for lang in ("de", "en")]
    words = ["train", *files, "--dev", *dev, "-o", folder / out, "--threads", 2, "--set", *CHOICES]
    return [PYTHON, "-m", "wayword", *map(str, words)]


def disturbed(words: list[str], seconds: float) -> tuple[float, bool]:
    """CPU time of a process that is killed after so many seconds, and whether that was needed."""
    quiet = subprocess.DEVNULL
    child = subprocess.Popen(words, stdout=quiet, stderr=quiet)
    time.sleep(seconds)
    child.send_signal(signal.SIGKILL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, child.returncode == -signal.SIGKILL


def contents(system: Path) -> dict[str, bytes]:
    """Every file of a system but its work."""
    return {path.name: path.read_bytes() for path in system.iterdir() if path.is_file()}
