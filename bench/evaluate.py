"""Bench of evaluation: two systems, 2,000 sentences, 4 references, 10,000 randomisations.

Text is the Hindi-English data beside the repository. As no system's output comes with
it, two are made from the references by replacing, dropping and moving words; links and weights are
made by rule. The rival is sacrebleu's own paired randomisation, for the three metrics it has.
"""

import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.measure import SHARED, measure

PARTS = ("dev", "devtest", "test")
SENTENCES, ROUNDS = 2000, 10_000
FEW = 200  # sentences for TER, whose statistics take most of its time
SIX = "bleu,chrf,nist,meteor,krs,krs-v"


def rows() -> list[dict[str, Any]]:
    """The costs of each command in turn; with ``slow`` also TER of all sentences."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder, SENTENCES)
        links = ["--links=base.links", "--links=new.links"]
        links += [f"--ref-links=ref{number}.links" for number in range(4)]
        order = ["--src=src", "--weights=weights", *links]
        measured = [
            row(f"wayword {SIX}", folder, [*ours(SIX), *order]),
            row("wayword bleu,chrf", folder, [*ours("bleu,chrf")]),
            row("sacrebleu bleu,chrf", folder, [*theirs("bleu", "chrf")]),
        ]
        make_files(folder, FEW)
        measured += [
            row(f"wayword ter, {FEW} sentences", folder, [*ours("ter")]),
            row(f"sacrebleu ter, {FEW} sentences", folder, [*theirs("ter")]),
        ]
    for first, second in ((-4, -3), (-2, -1)):  # a fast wrong run fails
        assert measured[first]["answer"] == measured[second]["answer"], measured
    return measured


def ours(metrics: str) -> list[str]:
    """Our command for two systems; without intervals, which the rival does not give."""
    command = [sys.executable, "-m", "wayword", "evaluate", "base", "ref0", "ref1", "ref2", "ref3"]
    command += ["--system=new=new", f"--metrics={metrics}", f"--rounds={ROUNDS}", "--resamples=1"]
    return [*command, "--threads=1", "--bins=", "--json"]


def theirs(*metrics: str) -> list[str]:
    """The rival's command."""
    command = [sys.executable, "-m", "sacrebleu", "ref0", "ref1", "ref2", "ref3"]
    command += ["-i", "base", "new", "-m", *metrics, "--tokenize", "none", "--force"]
    return [*command, "--paired-ar", "--paired-ar-n", str(ROUNDS), "-f", "json", "-w", "4"]


def summary(answer: str) -> list[str]:
    """The scores of the new system, rounded."""
    scores = json.loads(answer)
    if isinstance(scores, dict):
        values = [s["value"] for s in scores["scores"] if s["system"] == "new"]
    else:
        values = [cell["score"] for cell in scores[1].values() if isinstance(cell, dict)]
    return [f"{value:.2f}" for value in values]


def row(what: str, folder: Path, command: list[str]) -> dict[str, Any]:
    """Costs of a command, and the scores it found."""
    cost = measure(command, folder)
    return {
        "what": what,
        "CPU s": round(cost.cpu_seconds, 1),
        "wall s": round(cost.wall_seconds, 1),
        "peak MB": round(cost.peak_mb),
        "answer": summary(cost.answer),
    }


# --- text ----------------------------------------------------------------------------------------


def make_files(folder: Path, count: int) -> None:
    """References, two systems, the source with weights, and links of everything with it."""
    source = random.Random(1)
    texts = {
        side: [line for part in PARTS for line in read(part, side)][:count]
        for side in ("hi", "en", "en1", "en2", "en3")
    }
    src, *refs = (texts[side] for side in ("hi", "en", "en1", "en2", "en3"))
    words = [word for line in refs[0] for word in line.split()]
    pool = {"src": src, **{f"ref{number}": ref for number, ref in enumerate(refs)}}
    for name, noise in (("base", 0.45), ("new", 0.42)):
        lines = zip(*refs, strict=True)
        pool[name] = [" ".join(spoil(source, ref[k % 4], words, noise)) for k, ref in
                      enumerate(lines)]  # fmt: skip
    for name, lines_of in pool.items():
        write(folder / name, lines_of)
        if name != "src":
            pairs = zip(src, lines_of, strict=True)
            write(folder / f"{name}.links", [link(source, *pair) for pair in pairs])
    write(folder / "weights", [" ".join(str(int(len(w) % 4 == 0)) for w in s.split()) for s in src])


def read(part: str, side: str) -> Iterator[str]:
    """The lines of one file."""
    import lzma

    with lzma.open(SHARED / "data" / "hi-en" / f"{part}.{side}.xz", "rt", encoding="utf-8") as file:
        for line in file:
            yield line.rstrip("\n")


def spoil(source: random.Random, line: str, words: list[str], noise: float) -> Iterator[str]:
    """Replace, drop and move words."""
    tokens = line.split()
    places = [at + source.uniform(0, 6 * noise) for at in range(len(tokens))]
    for at in sorted(range(len(tokens)), key=places.__getitem__):
        if source.random() > noise / 4:
            yield source.choice(words) if source.random() < noise / 2 else tokens[at]


def link(source: random.Random, src: str, tgt: str) -> str:
    """One link a source word, near the diagonal."""
    rows, columns = len(src.split()), len(tgt.split())
    if not columns:
        return ""
    places = (at * columns / rows + source.gauss(0, 2) for at in range(rows))
    return " ".join(f"{k}-{min(max(int(at), 0), columns - 1)}" for k, at in enumerate(places))


def write(path: Path, lines: list[str]) -> None:
    """Lines of text."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
