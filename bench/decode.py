"""Decoding beside Moses and Moses2, on the very models that they were measured on.

Theirs are the figures of `docs/decode.md`: BLEU, mean model score and CPU ms a source word, one
thread, on a machine of the same kind. Ours are those of `wayword translate` on the same models,
imported, with Moses' ways, in one thread; start-up is measured with no input and taken off. Time
and memory are those of plain output, scores those of n-best lines. Instructions are those of
callgrind for the first 50 sentences, without the first: what is done once, such as comparing files
with their checksums, counts as start-up. A model that scores differently from theirs stops the run.
The curve of score against time goes to `docs/decode.svg`.
"""

import os
import re
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sacrebleu.metrics.bleu import BLEU

from bench.curve import Panel, Point, draw
from bench.measure import PYTHON, ROOT, SHARED, Cost, measure, show, write_result

__all__ = ["main", "rows"]

REFERENCE = SHARED / "reference"
POP_LIMITS = (100, 200, 400, 1000, 2000)
MORE = (1.05, 1.1, 1.2, 1.5, 2.0)  # times the pop limit, where a setting falls short
SENTENCES = 50  # that instructions are counted on

#: BLEU, mean score, CPU ms a word; the score of the word-msd model was not noted
Peer = tuple[float, float | None, float]


@dataclass(frozen=True)
class Case:
    """A model at a setting; pop limit 0 is stack search."""

    pair: str
    ini: str
    limit: int
    pop_limit: int
    moses2: Peer | None = None
    moses: Peer | None = None

    @property
    def name(self) -> str:
        """What it is called in tables."""
        search = f"cube {self.pop_limit}" if self.pop_limit else "stack 200"
        return f"{self.pair} {self.ini.removeprefix('moses.').removesuffix('.ini')}, {search}"


JA12, JA6, WORD = "moses.hier.dl12.ini", "moses.hier.dl6.ini", "moses.word-msd.dl12.ini"
PEERS = (
    Case("ja-en", JA12, 12, 400, (32.90, -11.0609, 0.92)),
    Case("ja-en", JA12, 12, 1000, (33.21, -11.0508, 2.13), (33.25, -11.0514, 7.5)),
    Case("ja-en", JA12, 12, 0, (33.99, -11.0415, 12.0)),
    Case("ja-en", JA12, 6, 1000, (26.95, -11.3106, 1.25)),
    Case("ja-en", JA12, 10, 1000, (32.62, -11.0843, 2.44)),
    Case("ja-en", JA12, 18, 1000, (33.63, -11.0296, 3.13)),
    Case("ja-en", JA6, 6, 400, (26.74, -10.7217, 0.47)),
    Case("ja-en", JA6, 10, 400, (30.55, -10.2903, 0.85)),
    Case("ja-en", JA6, 18, 400, (29.44, -10.1506, 1.44)),
    Case("ja-en", JA6, 6, 1000, (26.40, -10.7004, 1.05), (26.90, -10.6989, 3.66)),
    Case("ja-en", JA6, 10, 1000, (30.70, -10.2441, 2.46), (31.15, -10.2443, 6.0)),
    Case("ja-en", JA6, 18, 1000, (29.41, -10.0989, 3.59), (29.39, -10.1004, 8.8)),
    Case("ja-en", WORD, 12, 1000, (30.69, None, 1.7)),
    Case("ja-en", WORD, 18, 1000, (31.06, None, 2.2)),
    Case("de-en", JA6, 6, 400, (39.99, -37.7607, 0.43)),
    Case("de-en", JA6, 10, 400, (40.01, -37.7617, 0.75)),
    Case("de-en", JA6, 18, 400, (40.07, -37.7716, 1.23)),
    Case("de-en", JA6, 6, 1000, (39.97, -37.7586, 1.00), (39.94, -37.7594, 4.1)),
    Case("de-en", JA6, 10, 1000, (39.98, -37.7585, 1.68), (40.00, -37.7591, 5.5)),
    Case("de-en", JA6, 18, 1000, (40.06, -37.7615, 2.85), (40.06, -37.7620, 7.9)),
    Case("de-en", JA6, 6, 0, None, (39.97, -37.7582, 14.0)),
)
#: what the curve is drawn for
CURVES = (("ja-en", JA12, 12), ("de-en", JA6, 6))
#: Moses2's instructions a source word by pair, jump limit and pop limit, start-up taken off
INSTRUCTIONS = {
    ("ja-en", 12, 400): 3.98e6,
    ("ja-en", 12, 1000): 7.7e6,
    ("de-en", 6, 400): 2.14e6,
    ("de-en", 6, 1000): 4.78e6,
    ("de-en", 18, 400): 4.30e6,
}

LOAD = """
import sys, time
from wayword.system import System
start = time.perf_counter()
System.open(sys.argv[1])
print(time.perf_counter() - start)
"""


@dataclass(frozen=True)
class Answer:
    """What a run of ours gave and cost."""

    bleu: float
    score: float
    ms: float
    peak_mb: float


class Bench:
    """Imported systems in a folder, and what starting on them costs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.empty = folder / "empty"
        self.empty.touch()
        self.start_up: dict[Path, float] = {}

    def system(self, pair: str, ini: str) -> Path:
        """The system of a Moses configuration; imported when it is first asked for."""
        system = self.folder / f"{pair}-{ini}"
        if not system.exists():
            measure([PYTHON, "-m", "wayword", "import-moses", REFERENCE / pair / ini, "-o", system])
            costs = [self.translate(system, self.empty, []).cpu_seconds for _ in range(3)]
            self.start_up[system] = min(costs)
        return system

    def translate(self, system: Path, text: Path, options: list[str]) -> Cost:
        """Translate a file in one thread."""
        return measure([*self.command(system, text), *options])

    def command(self, system: Path, text: Path) -> list[str | Path]:
        """The command and what all runs have in common."""
        fixed = ["--prepared", "--threads", "1"]
        return [PYTHON, "-m", "wayword", "translate", system, text, *fixed]

    def run(self, case: Case) -> Answer:
        """Translate the test set."""
        system = self.system(case.pair, case.ini)
        text = test_set(case.pair, 0)
        cost = self.translate(system, text, options_of(case))
        scored = self.translate(system, text, ["--moses", *options_of(case)])
        lines = [line.split(" ||| ") for line in scored.answer.splitlines()]
        references = test_set(case.pair, 1).read_text(encoding="utf-8").splitlines()
        outputs = cost.answer.splitlines()
        bleu = BLEU(tokenize="none", force=True).corpus_score(outputs, [references]).score
        score = sum(float(line[3]) for line in lines) / len(lines)
        seconds = cost.cpu_seconds - self.start_up[system]
        return Answer(bleu, score, seconds * 1e3 / words_of(text), cost.peak_mb)

    def instructions(self, case: Case) -> float | None:
        """Instructions a source word; none where valgrind is not installed."""
        if shutil.which("valgrind") is None:
            return None
        lines = test_set(case.pair, 0).read_text(encoding="utf-8").splitlines()
        system = self.system(case.pair, case.ini)
        counts, words = [], []
        for sentences in (1, SENTENCES):
            text = self.folder / "head"
            text.write_text("".join(f"{line}\n" for line in lines[:sentences]), encoding="utf-8")
            words.append(words_of(text))
            log = self.folder / "callgrind"
            tool = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={log}"]
            measure([*tool, *self.command(system, text), *options_of(case)])
            totals = re.search(r"^(?:totals|summary): (\d+)", log.read_text(), re.MULTILINE)
            assert totals is not None
            counts.append(int(totals.group(1)))
        return (counts[1] - counts[0]) / (words[1] - words[0])


def test_set(pair: str, side: int) -> Path:
    """The text of one side."""
    return REFERENCE / pair / f"test.{pair.split('-')[side]}"


def words_of(text: Path) -> int:
    """Number of words of a file."""
    return len(text.read_text(encoding="utf-8").split())


def options_of(case: Case) -> list[str]:
    """A setting as options of the command."""
    space = ["--space", f"dl:{case.limit}"]
    if case.pop_limit:
        return [*space, "--pop-limit", str(case.pop_limit)]
    return [*space, "--search", "stack", "--stack-size", "200"]


def _row(case: Case, answer: Answer) -> dict[str, Any]:
    theirs = case.moses2 or case.moses
    row: dict[str, Any] = {
        "case": case.name,
        "DL": case.limit,
        "BLEU": round(answer.bleu, 2),
        "score": round(answer.score, 4),
        "CPU ms a word": round(answer.ms, 3),
        "peak MB": answer.peak_mb,
    }
    for name, peer in (("Moses2", case.moses2), ("Moses", case.moses)):
        if peer:
            shown = (f"{peer[0]:.2f}", "–" if peer[1] is None else str(peer[1]), str(peer[2]))
            row[name] = " / ".join(shown)
    # Times of another day give no ratio; scores of the same model compare exactly.
    if theirs and theirs[1] is not None and not -0.01 < answer.score - theirs[1] < 0.1:
        raise SystemExit(f"bench: {case}: score {answer.score}; another model than theirs?")
    return row


def _falls_short(case: Case, answer: Answer) -> bool:
    """Whether the score is below Moses2's, or BLEU by more than 0.2 below Moses'."""
    score = case.moses2[1] if case.moses2 else None
    is_lower = score is not None and round(answer.score, 4) < score
    return is_lower or (case.moses is not None and answer.bleu < case.moses[0] - 0.2)


def _rows(bench: Bench, case: Case) -> list[dict[str, Any]]:
    """A setting; where it falls short, also the lowest pop limit tried that does not."""
    answer = bench.run(case)
    measured = [_row(case, answer)]
    for more in MORE if case.pop_limit and _falls_short(case, answer) else ():
        wider = replace(case, pop_limit=round(case.pop_limit * more))
        answer = bench.run(wider)
        if not _falls_short(case, answer):
            return [*measured, _row(wider, answer)]
    return measured


def _curve(bench: Bench, pair: str, ini: str, limit: int) -> tuple[list[dict[str, Any]], Panel]:
    """Our scores at all pop limits, and the picture beside the peers' points."""
    rows, points = [], []
    known = {
        case.pop_limit: case
        for case in PEERS
        if (case.pair, case.ini, case.limit) == (pair, ini, limit)
    }
    for pop_limit in POP_LIMITS:
        case = known.get(pop_limit, Case(pair, ini, limit, pop_limit))
        measured = _rows(bench, case)
        rows += measured
        points.append(Point(measured[0]["CPU ms a word"], measured[0]["score"], str(pop_limit)))
    lines = {"wayword": points}
    for name in ("moses2", "moses"):
        peers = [(case, getattr(case, name)) for case in known.values() if case.pop_limit]
        lines[name.capitalize()] = [
            Point(peer[2], peer[1], str(case.pop_limit)) for case, peer in peers if peer
        ]
    return rows, Panel(f"{pair}, dl:{limit}", lines)


def rows() -> list[dict[str, Any]]:
    """Measure everything; a wrong score stops the run."""
    os.environ["PYTHONHASHSEED"] = "0"  # the same instructions in each run
    measured: list[dict[str, Any]] = []
    panels = []
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name))
        for pair, ini, limit in CURVES:
            of_curve, panel = _curve(bench, pair, ini, limit)
            measured += of_curve
            panels.append(panel)
        done = {(row["case"], row["DL"]) for row in measured}
        for case in PEERS:
            if (case.name, case.limit) not in done:
                measured += _rows(bench, case)
        for (pair, limit, pop_limit), theirs in INSTRUCTIONS.items():
            ini = next(ini for curve, ini, _ in CURVES if curve == pair)
            case = Case(pair, ini, limit, pop_limit)
            count = bench.instructions(case)
            if count is not None:
                measured.append(
                    {
                        "case": f"instructions, {case.name}",
                        "DL": limit,
                        "M instructions a word": round(count / 1e6, 3),
                        "Moses2": f"{theirs / 1e6} M",
                        "times as fast": round(theirs / count, 2),
                    }
                )
        for pair, ini, _ in CURVES:
            system = bench.system(pair, ini)
            seconds = min(float(measure([PYTHON, "-c", LOAD, system]).answer) for _ in range(5))
            measured.append({"case": f"load {pair}", "load ms": round(seconds * 1e3, 1)})
    (ROOT / "docs" / "decode.svg").write_text(draw(panels), encoding="utf-8")
    return measured


def main() -> None:
    """Measure, print and write."""
    measured = rows()
    show(measured)
    print(f"written to {write_result('decode', measured)}")


if __name__ == "__main__":
    main()
