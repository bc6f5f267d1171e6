"""Shifted and unrelated files: how often they are found, where, and false alarms on good text.

    python bench/run.py misalignment

Good text: the beginning, the middle and the end of each real corpus and of the toy corpora, as they
are, with 10 and 30 % of the target lines replaced by lines from elsewhere, and with half of the
pairs replaced by twenty that repeat. Bad text: a shift of the whole file, a shift from a random
line on, a dropped line, two changes, and the target of other lines. A row is a size; ``located``
is the median distance between the reported and the true line, ``far`` the largest.
"""

import lzma
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from bench.measure import SHARED
from wayword.align.misalignment import AlignmentCheck, find_misalignment
from wayword.corpus import toy

PAIRS = ("de-en", "ja-en", "zh-en", "ar-en", "hi-en")
TOYS = ("de-en", "ar-en", "ja-en", "old-de", "ur-en")
SIZES = (200, 500, 1000, 2000, 20_000)
TOY_SIZES = (200, 2000)
#: A change is made so far from the ends, in lines and as a share: shorter parts are not reported.
MARGIN = (60, 0.15)

Text = tuple[list[str], list[str]]


def texts() -> Iterator[tuple[str, Text]]:
    """All corpora, whole."""
    for name in PAIRS:
        folder = SHARED / "data" / name
        yield name, _sides([folder / f"train.{lang}.xz" for lang in name.split("-")])
    for name in TOYS:
        with tempfile.TemporaryDirectory() as made:
            toy.write(name, max(SIZES), made, seed=1)
            files = [Path(made, f"train.{lang}") for lang in name.split("-")]
            yield f"toy {name}", _sides(files)


def _sides(paths: Sequence[Path]) -> Text:
    data = [path.read_bytes() for path in paths]
    if paths[0].suffix == ".xz":
        data = list(map(lzma.decompress, data))
    src, tgt = (raw.decode().split("\n")[:-1] for raw in data)
    return src, tgt


def check(text: Text) -> AlignmentCheck:
    """Test two texts as files."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, side) for side in ("src", "tgt")]
        for path, lines in zip(files, text, strict=True):
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return find_misalignment(*files)


def noisy(text: Text, share: float, other: Sequence[str], draw: random.Random) -> Text:
    """Replace a share of the target lines by lines from elsewhere."""
    return text[0], [draw.choice(other) if draw.random() < share else line for line in text[1]]


def repetitive(text: Text, draw: random.Random) -> Text:
    """Replace half of the pairs by twenty that repeat."""
    pairs = list(zip(*text, strict=True))
    few = pairs[:20]
    mixed = [draw.choice(few) if draw.random() < 0.5 else pair for pair in pairs]
    return [src for src, _ in mixed], [tgt for _, tgt in mixed]


def shifted(text: Text, at: int, shift: int, other: Sequence[str]) -> Text:
    """Add lines to one side at a line: to the target for a shift above 0, else to the source."""
    sides = list(text)
    side = 1 if shift > 0 else 0
    inserted = list(other[: abs(shift)])
    sides[side] = [*sides[side][:at], *inserted, *sides[side][at:]]
    size = min(map(len, sides))
    return sides[0][:size], sides[1][:size]


class _Tally:
    """What was found of what was made."""

    def __init__(self) -> None:
        self.made = self.alarms = self.right = self.untested = 0
        self.distances: list[int] = []

    def add(self, found: AlignmentCheck, truth: Sequence[tuple[int, int | None]]) -> None:
        self.made += 1
        self.alarms += found.is_misaligned
        self.untested += found.status == "untested"
        if [shift.shift for shift in found.shifts] == [shift for _, shift in truth]:
            self.right += 1
            self.distances += [
                abs(shift.line - line)
                for shift, (line, _) in zip(found.shifts, truth, strict=True)
                if line > 1
            ]

    def row(self) -> dict[str, Any]:
        row: dict[str, Any] = {
            "files": self.made,
            "alarms": self.alarms,
            "not tested": self.untested,
        }
        row |= {"named as made": self.right}
        if self.distances:
            row |= {"located": median(self.distances), "far": max(self.distances)}
        return row


def measured(name: str, text: Text, size: int) -> dict[str, _Tally]:
    """Every kind of file from one corpus and size."""
    draw = random.Random(f"{name} {size}")
    tallies: dict[str, _Tally] = {}

    def add(kind: str, made: Text, truth: Sequence[tuple[int, int | None]] = ()) -> None:
        tallies.setdefault(kind, _Tally()).add(check(made), truth)

    total = len(text[0])
    size = min(size, total)
    margin = max(MARGIN[0], int(MARGIN[1] * size))
    for start in (0, (total - size) // 2, total - size) if size < total else (0,):
        part: Text = text[0][start : start + size], text[1][start : start + size]
        add("good", part)
        add("good, 10 % noise", noisy(part, 0.1, text[1], draw))
        add("good, 30 % noise", noisy(part, 0.3, text[1], draw))
        add("good, half repeated", repetitive(part, draw))
        other = [draw.choice(text[1]) for _ in range(20)]
        if "old" in name or start == 0:
            other = [draw.choice(text[0]) for _ in range(20)]
        shift = draw.choice([-1, 1]) * draw.randint(1, 10)
        add("shifted from the start", shifted(part, 0, shift, other), [(1, shift)])
        at = draw.randint(margin, size - margin)
        shift = draw.choice([-1, 1]) * draw.randint(1, 10)
        add("shifted from a line", shifted(part, at, shift, other), [(at + 1, shift)])
        at = draw.randint(margin, size - margin)
        dropped = part[0][:-1], [*part[1][:at], *part[1][at + 1 :]]
        add("one line dropped", dropped, [(at + 1, -1)])
        if size >= 500:
            first, second = size // 4, 5 * size // 8
            twice = shifted(shifted(part, second, 2, other), first, -5, other)
            add("two changes", twice, [(first + 1, -5), (second + 6, -3)])
        shuffled = draw.sample(part[1], len(part[1]))
        add("unrelated", (part[0], shuffled), [(1, None)])
    return tallies


def rows() -> list[dict[str, Any]]:
    """Measure all corpora and sizes."""
    table: dict[tuple[str, str, int], list[_Tally]] = {}
    costs: dict[tuple[bool, int], list[float]] = {}
    for name, text in texts():
        for size in TOY_SIZES if name.startswith("toy") else SIZES:
            clock = time.process_time()
            tallies = measured(name, text, size)
            made = sum(tally.made for tally in tallies.values())
            seconds = (time.process_time() - clock) / made
            print(f"{name} {size}: {seconds:.2f} CPU s a file", flush=True)
            costs.setdefault((name.startswith("toy"), size), []).append(seconds)
            source = "toy" if name.startswith("toy") else "real"
            for kind, tally in tallies.items():
                table.setdefault((source, kind, size), []).append(tally)
                if kind.startswith("good") and tally.alarms:
                    print(f"false alarm: {name}, {size} lines, {kind}", flush=True)
                if not kind.startswith("good") and tally.right < tally.made:
                    print(f"missed: {name}, {size}, {kind}: {vars(tally)}", flush=True)
    found = []
    for (source, kind, size), parts in sorted(table.items()):
        whole = _Tally()
        for part in parts:
            whole.made += part.made
            whole.alarms += part.alarms
            whole.right += part.right
            whole.untested += part.untested
            whole.distances += part.distances
        cost = fmean(costs[source == "toy", size])
        row = {"text": source, "kind": kind, "lines": size, **whole.row()}
        found.append({**row, "CPU s a file, all kinds": round(cost, 2)})
    return found
