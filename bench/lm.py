"""Language models: estimation beside lmplz's figures, look-ups beside the kenlm package.

lmplz is not on PyPI, so its CPU seconds are those of `docs/other-tools.md` for the same
texts on a machine of the same kind. The kenlm package is measured in the same run, turn by
turn with ours, and must give the same totals.
"""

import json
import lzma
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, SHARED, measure, show, write_result

__all__ = ["main", "rows"]

#: text → lmplz's CPU seconds for order 5
TEXTS: dict[str, float | None] = {
    "reference/de-en/train.en": 1.3,
    "reference/ja-en/train.en": 0.8,
    "data/align/de-en/bitext.en": 7.7,
    "data/align/ja-en/bitext.en": 8.0,
    "data/de-en/train.en": None,
}

QUERY = r"""
import json, sys, time
import kenlm
from wayword.lm import LanguageModel

arpa, image, text = sys.argv[1:]

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def timed(work, clock=time.process_time):
    start = clock()
    answer = work()
    return clock() - start, answer

lines = open(text, encoding="utf-8").read().splitlines()
tokens = sum(len(line.split()) + 1 for line in lines)
before = resident()
theirs = kenlm.Model(arpa)
kenlm_bytes = resident() - before
mapped = LanguageModel.load(image)
opening, _ = min(timed(lambda: LanguageModel.load(image), time.perf_counter) for _ in range(20))
ways = {
    "kenlm, score() per line": lambda: [theirs.score(line) for line in lines],
    "mapped, score() per line": lambda: [mapped.score(line) for line in lines],
    "mapped, score_lines()": lambda: mapped.score_lines(lines).tolist(),
}
in_memory = LanguageModel.load(image, in_memory=True)
ways["in memory, score() per line"] = lambda: [in_memory.score(line) for line in lines]
ways["in memory, score_lines()"] = lambda: in_memory.score_lines(lines).tolist()
best, answers = {}, {}
for turn in range(9):
    for name, work in ways.items():
        seconds, answers[name] = timed(work)
        best[name] = min(seconds, best.get(name, seconds))
expected = answers["kenlm, score() per line"]
worst = max(
    abs(own / 2.302585092994046 - other)
    for name, found in answers.items() if "kenlm" not in name
    for own, other in zip(found, expected, strict=True)
)
print(json.dumps({
    "tokens": tokens, "best": best, "worst": worst, "opening": opening,
    "kenlm_bytes": kenlm_bytes, "bytes": mapped.size, "ngrams": sum(mapped.counts),
    "query_bytes": mapped.size - 4 * sum(mapped.counts[1:]),
}))
"""


@contextmanager
def _texts() -> Iterator[dict[str, Path]]:
    """The texts as plain files; the raw one lower-cased and split at punctuation.

    Line by line, because a child's peak memory counts what its parent had when it started.
    """
    with tempfile.TemporaryDirectory() as name:
        paths = {text: Path(name) / f"{number}.txt" for number, text in enumerate(TEXTS)}
        for text, path in paths.items():
            is_raw = text == "data/de-en/train.en"
            with path.open("w", encoding="utf-8") as out:
                for line in _lines(f"{text}.xz"):
                    out.write(re.sub(r"(\w+|[^\w\s])", r"\1 ", line.lower()) if is_raw else line)
        yield paths


def _lines(name: str) -> Iterator[str]:
    with lzma.open(SHARED / name, "rt", encoding="utf-8", newline="\n") as lines:
        yield from lines


def _estimation(text: str, path: Path) -> list[dict[str, Any]]:
    rows = []
    for form, options in (("ARPA", ["--arpa"]), ("mapped", []), ("ARPA in 64M", ["--arpa"])):
        memory = "64M" if "64M" in form else "1G"
        out = path.with_suffix(".arpa" if "ARPA" in form else ".lm")
        command: list[str | Path] = [PYTHON, "-m", "wayword", "lm", "train", path, "-o", out]
        cost = measure([*command, "--memory", memory, "--json", *options])
        theirs = TEXTS[text]
        rows.append(
            {
                "case": f"estimate {text}, {form}",
                "ours": f"{cost.cpu_seconds:.2f} CPU s, {cost.peak_mb:.0f} MB",
                "peer": f"{theirs} CPU s (lmplz)" if theirs else "",
                "ratio": "",  # lmplz was timed on another day
                "ngrams": sum(json.loads(cost.answer)["counts"]),
            }
        )
    return rows


def _queries(name: str, model: Path, test: Path) -> list[dict[str, Any]]:
    files: list[str | Path] = [model.with_suffix(".arpa"), model.with_suffix(".lm"), test]
    answer = json.loads(measure([PYTHON, "-c", QUERY, *files]).answer)
    if answer["worst"] > 1e-4:
        raise SystemExit(f"bench: totals differ from kenlm's by {answer['worst']}")
    speeds = {way: answer["tokens"] / seconds for way, seconds in answer["best"].items()}
    kenlm = speeds.pop("kenlm, score() per line")
    rows = [
        {
            "case": f"query {name}, {way}",
            "ours": f"{speed / 1e6:.2f} M tokens/CPU s",
            "peer": f"{kenlm / 1e6:.2f} M tokens/CPU s (kenlm, score())",
            "ratio": round(speed / kenlm, 2),
            "ngrams": answer["ngrams"],
        }
        for way, speed in speeds.items()
    ]
    ours, theirs, in_file = (
        answer[name] / answer["ngrams"] for name in ("query_bytes", "kenlm_bytes", "bytes")
    )
    rows.append(
        {
            "case": f"memory {name}",
            "ours": f"{ours:.1f} bytes an n-gram, {in_file:.1f} in the file",
            "peer": f"{theirs:.1f} bytes an n-gram (kenlm, from ARPA)",
            "ratio": round(theirs / ours, 2),
            "ngrams": answer["ngrams"],
        }
    )
    opening = {"case": f"open {name}", "ours": f"{answer['opening'] * 1e3:.2f} ms"}
    return [*rows, {**opening, "peer": "", "ratio": "", "ngrams": answer["ngrams"]}]


def rows() -> list[dict[str, Any]]:
    """Measure everything; a wrong total stops the run."""
    measured: list[dict[str, Any]] = []
    with _texts() as texts:
        for text, path in texts.items():
            measured += _estimation(text, path)
        large = texts["data/align/de-en/bitext.en"]
        test = large.with_suffix(".test")
        test.write_text("".join(_lines("data/align/de-en/test.en.xz")) * 4, encoding="utf-8")
        measured += _queries("new text (de-en test)", large, test)
        sample = islice(_lines("data/align/de-en/bitext.en.xz"), 0, 40_000, 2)
        test.write_text("".join(sample), encoding="utf-8")
        measured += _queries("training text (de-en)", large, test)
    return measured


def main() -> None:
    """Measure, print and write."""
    measured = rows()
    show(measured)
    print(f"written to {write_result('lm', measured)}")


if __name__ == "__main__":
    main()
