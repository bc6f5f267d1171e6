"""How the cost of each stage grows with the corpus: CPU time a pair and peak memory.

The text is the German pack: pairs of at most `LONGEST` words on either side, repeated as often as
needed and varied. In copy c of the text a share c^β − (c−1)^β of all word types gets an ending of
its own, the same wherever the type occurs, so that the vocabulary grows by Heaps' law (β = 0.6) and
phrases with such words are new, while the others are seen again, as in real text. Links are those
that the aligner gives the pairs once; a copy has the links of its original.

    python bench/run.py growth                      all stages at 100,000 and 1,000,000 pairs
    SIZES="10000000" ONLY="extract lm" python bench/run.py growth
    SIZES="1000000" ONLY=train python bench/run.py growth

Every stage is a command of its own with one thread; all get `MEMORY` (2G). Disk is what the
stage's temporary files and results took at most, looked at twice a second. `train` is one
`wayword train` of the raw text: a row for each of its stages, as its log tells, and one for all.
It takes out repeated pairs as it does for anyone, so that the stages after `doctor` get fewer:
`pairs` are those that a stage gets, `of` those of the text. `SET` adds options of the
configuration, such as `doctor.allow=["duplicate"]` to keep them, and `GROUP` names the folder of a
control group that it runs in: a limit that the system enforces, with pages of mapped files.
"""

import hashlib
import json
import lzma
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, SHARED, measure
from wayword.corpus.text import Preparation

LONGEST = 14
BETA = 0.6
STAGES = ("doctor", "prepare", "align", "extract", "lm")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
#: Pairs of the pack's dev set that `train` is tuned with.
DEV = 200


def rows() -> list[dict[str, Any]]:
    """Measure each stage at each size."""
    sizes = [int(size) for size in os.environ.get("SIZES", "100000 1000000").split()]
    only = os.environ.get("ONLY", " ".join(STAGES)).split()
    memory = os.environ.get("MEMORY", "2G")
    result = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("ROOM")) as name:
        folder = Path(name)
        pairs = list(_short_pairs())
        links = _links(pairs, folder)
        for size in sizes:
            _write(folder, pairs, links, size)
            for row in _size_rows(folder, size, memory, only):
                print(row, flush=True)
                result.append(row)
    return result


def _size_rows(folder: Path, size: int, memory: str, only: list[str]) -> Iterator[dict[str, Any]]:
    """The rows of a text that is written."""
    for stage in (stage for stage in STAGES if stage in only):
        cost = _cost(stage, folder, size, memory)
        yield {"stage": stage, "pairs": size, "memory": memory, **cost}
    if "train" in only:
        yield from _train_rows(folder, size, memory)


def _train_rows(folder: Path, size: int, memory: str) -> Iterator[dict[str, Any]]:
    """One training run of the raw text, stage by stage and as a whole."""
    dev = [_dev(folder, lang) for lang in ("de", "en")]
    out = folder / f"system-{size}"
    command: list[str | Path] = [PYTHON, "-m", "wayword", "train"]
    command += [folder / "raw.de", folder / "raw.en", "-o", out, "--dev", *dev]
    command += ["--memory", memory, "--threads", "1", "--set", "tune.runs=1", "tune.rounds=2"]
    command += os.environ.get("SET", "").split()
    with Disk(folder) as disk:
        cost = measure(_inside_group(command))
    stages = list(stage_rows(out / "work" / "log.jsonl", size, memory))
    yield from stages
    yield {
        "stage": "train",
        "pairs": size,
        "of": size,
        "memory": memory,
        "CPU ms a pair": round(1000 * cost.cpu_seconds / size, 4),
        "CPU s": round(cost.cpu_seconds),
        "wall s": round(cost.wall_seconds),
        # each stage has the system measure anew, so that the process knows only the last peak
        "peak MB": max(round(cost.peak_mb), *(row["peak MB"] for row in stages)),
        "disk MB": round(disk.most / 1e6),
    }


def _inside_group(command: list[str | Path]) -> list[str | Path]:
    """The command in the control group that `GROUP` names, whose limit the system enforces."""
    group = os.environ.get("GROUP")
    if group is None:
        return command
    return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', f"{group}/cgroup.procs", *command]


def stage_rows(log: Path, size: int, memory: str) -> Iterator[dict[str, Any]]:
    """What the log of a training run says of its stages."""
    pairs = size
    for line in log.read_text().splitlines():
        stage = json.loads(line)
        yield {
            "stage": f"train: {stage['stage']}",
            "pairs": pairs,
            "of": size,
            "memory": memory,
            "CPU ms a pair": round(1000 * stage["cpu"] / pairs, 4),
            "CPU s": round(stage["cpu"]),
            "wall s": round(stage["seconds"]),
            "peak MB": round(stage["memory"]),
        }
        if stage["stage"] in ("doctor", "prepare"):
            pairs = stage["facts"]["clean" if stage["stage"] == "doctor" else "pairs"]


def _dev(folder: Path, lang: str) -> Path:
    """A dev set that is tuned with in little time."""
    path = folder / f"dev.{lang}"
    with lzma.open(SHARED / "data" / "de-en" / f"dev.{lang}.xz", "rt") as lines:
        path.write_text("".join(islice(lines, DEV)))
    return path


def _cost(stage: str, folder: Path, size: int, memory: str) -> dict[str, Any]:
    room: list[str | Path] = ["--memory", memory, "--temp-dir", folder, "--json"]
    prepared = [folder / "de", folder / "en"]
    raw = [folder / "raw.de", folder / "raw.en"]
    commands: dict[str, list[str | Path]] = {
        "doctor": ["doctor", *raw, "-o", folder / "clean", *room],
        "prepare": [
            *("prepare", raw[0], "--lang", "de", "--case", "truecase"),
            *("--truecaser", folder / "truecaser", "--learn", *room[:-1]),
        ],
        "align": ["align", *prepared, "--threads", "1", *room[:-1]],
        "extract": [
            "extract",
            *prepared,
            *(folder / "links", "-o", folder / "table"),
            *("--models", "hierarchical", "--threads", "1"),
            *room,
        ],
        "lm": ["lm", "train", folder / "en", "-o", folder / "lm", "--threads", "1", *room],
    }
    with Disk(folder) as disk:
        cost = measure([PYTHON, "-m", "wayword", *commands[stage]])
    made = {"extract": "table", "lm": "lm"}.get(stage)
    row: dict[str, Any] = {
        "CPU ms a pair": round(1000 * cost.cpu_seconds / size, 4),
        "wall s": round(cost.wall_seconds),
        "peak MB": round(cost.peak_mb),
        "disk MB": round(disk.most / 1e6),
    }
    if made:
        row["bytes a pair"] = round((folder / made).stat().st_size / size)
    return row


class Disk:
    """The most bytes that a folder gained while a command ran."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.most = folder, 0
        self._before = self._bytes()
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._watch)

    def __enter__(self) -> "Disk":
        self._watcher.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._over.wait(0.5):
            self.most = max(self.most, self._bytes() - self._before)

    def _bytes(self) -> int:
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return sum(path.stat().st_blocks * 512 for path in files if path.exists())


def _short_pairs() -> Iterator[tuple[str, str]]:
    """The pairs of the pack with few words."""
    folder = SHARED / "data" / "de-en"
    with (
        lzma.open(folder / "train.de.xz", "rt") as src_lines,
        lzma.open(folder / "train.en.xz", "rt") as tgt_lines,
    ):
        for pair in zip(src_lines, tgt_lines, strict=True):
            src, tgt = (line.strip() for line in pair)
            if 0 < len(src.split()) <= LONGEST and 0 < len(tgt.split()) <= LONGEST:
                yield src, tgt


def _links(pairs: list[tuple[str, str]], folder: Path) -> list[str]:
    """The links of the pairs as they are, once."""
    _write(folder, pairs, [""] * len(pairs), len(pairs))
    cost = measure(
        [PYTHON, "-m", "wayword", "align", folder / "de", folder / "en", "--threads", "1"]
    )
    return cost.answer.splitlines()


def _write(folder: Path, pairs: list[tuple[str, str]], links: list[str], size: int) -> None:
    """Write `size` pairs: raw, prepared and lower-cased, and their links."""
    names = ("raw.de", "raw.en", "de", "en")
    lines = [(*raw, *tokens) for raw, tokens in zip(pairs, _prepared(pairs), strict=True)]
    texts = [[line.split() for line in text] for text in zip(*lines, strict=True)]
    words = {word for text in texts for line in text for word in line}
    with ExitStack() as opened:
        files = [opened.enter_context((folder / name).open("w")) for name in (*names, "links")]
        for copy in range(1, -(-size // len(pairs)) + 1):
            count = size - (copy - 1) * len(pairs)
            form = {word: _form(word, copy) for word in words}.__getitem__
            for file, text in zip(files, texts, strict=False):
                file.writelines(" ".join(map(form, line)) + "\n" for line in text[:count])
            files[-1].writelines(f"{linked}\n" for linked in links[:count])


def _prepared(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    src, tgt = Preparation("de", case="lower"), Preparation("en", case="lower")
    return [(" ".join(src.prepare(one)), " ".join(tgt.prepare(other))) for one, other in pairs]


def _form(word: str, copy: int) -> str:
    """A word as it is written in a copy of the text."""
    if copy == 1 or not word.isalpha():
        return word
    digest = hashlib.blake2b(f"{copy} {word.lower()}".encode(), digest_size=4).digest()
    share = copy**BETA - (copy - 1) ** BETA
    if int.from_bytes(digest, "big") >= share * 2**32:
        return word
    ending, number = "", copy
    while number:
        number, letter = divmod(number, 26)
        ending += LETTERS[letter]
    return f"{word}q{ending}"
