"""Extraction to the finished table against Moses, its growth, its size, and orientation shares.

Moses' figures are those of `docs/other-tools.md`, from a machine of the same kind: compare the
ratio and not the last digit. Growth and shares are on the real packs, with links by
`wayword align`; everything runs with one thread.

    PACKS="zh-en" python bench/run.py extract

measures growth and shares of some packs alone.
"""

import json
import lzma
import os
import tempfile
from collections.abc import Iterable
from itertools import islice
from math import exp
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, SHARED, Cost, measure
from wayword.extract import MODELS, PhraseTable

#: CPU seconds of Moses from links to both tables, and bytes of its phrase table as text and gzip
MOSES = {"de-en": (54.0, 148_000_000, 27_000_000), "ja-en": (43.0, 112_000_000, 21_000_000)}

#: Ways to make the table that are measured against Moses.
WAYS: dict[str, list[str]] = {
    "three models": [],
    "hierarchical only": ["--models", "hierarchical"],
    "packed": ["--packed"],
    "memory 16M": ["--memory", "16M"],
    "significance a+e": ["--significance", "a+e"],
}

#: The packs whose orientations are counted, with how many of their pairs.
PACKS = {"de-en": 200_000, "ja-en": 50_000, "zh-en": 100_000, "ar-en": 42_780}
#: Segmenters of languages without spaces.
SEGMENTERS = {"ja": "fugashi", "zh": "jieba"}
GROWTH = (10_000, 50_000, 200_000)


def rows() -> list[dict[str, Any]]:
    """Measure everything, table after table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if wanted := os.environ.get("PACKS", "").split():
            return _packs(folder, {pair: PACKS[pair] for pair in wanted})
        return [*_against_moses(folder), *_packing_loss(folder), *_packs(folder, PACKS)]


def _extract(*words: str | Path) -> tuple[Cost, dict[str, Any]]:
    cost = measure(
        [PYTHON, "-m", "wayword", "extract", *words, "--models", ",".join(MODELS), "--json"]
    )
    return cost, json.loads(cost.answer)


def _against_moses(folder: Path) -> list[dict[str, Any]]:
    result = []
    for pair, (moses, text, gz) in MOSES.items():
        reference = SHARED / "reference" / pair
        files = [reference / f"train.{end}.xz" for end in (pair[:2], "en", "links")]
        for way, options in WAYS.items():
            cost, summary = _extract(*files, "-o", folder / f"{pair} {way}", *options)
            row = _row(f"{pair}, {way}", cost, summary)
            row["Moses / CPU s"] = round(moses / cost.cpu_seconds, 1)
            row["bytes a pair"] = round(summary["bytes"] / summary["pairs"], 1)
            row["Moses' text, gz"] = " / ".join(
                f"{size / summary['extracted']:.0f}" for size in (text, gz)
            )
            result.append(row)
    return result


def _packing_loss(folder: Path) -> list[dict[str, Any]]:
    """Largest and mean error of packed scores, over every 50th source phrase."""
    result = []
    for pair in MOSES:
        exact = PhraseTable.open(folder / f"{pair} three models")
        packed = PhraseTable.open(folder / f"{pair} packed")
        errors = [
            abs(a - b)
            for number, phrase in enumerate(exact)
            if number % 50 == 0
            for option, other in zip(exact[phrase], packed[phrase], strict=True)
            for a, b in zip(option.scores, other.scores, strict=True)
        ]
        factor, mean = exp(max(errors)), sum(errors) / len(errors)
        result.append(
            {"case": f"{pair}, packed", "largest factor": factor, "mean loss": round(mean, 5)}
        )
    return result


def _packs(folder: Path, packs: dict[str, int]) -> list[dict[str, Any]]:
    """Growth on the German pack, and the shares of M, S and D on all of them."""
    result, shares = [], []
    for pair, size in packs.items():
        files = _aligned_pack(pair, size, folder)
        sizes = GROWTH if pair == "de-en" else (size,)
        for part in sizes:
            heads = [_head(path, part) for path in files]
            cost, summary = _extract(*heads, "-o", folder / "part.table", "--memory", "256M")
            row = _row(f"{pair} pack, {part} pairs", cost, summary)
            row["µs an occurrence"] = round(1e6 * cost.cpu_seconds / summary["occurrences"], 2)
            result.append(row)
        shares += _shares(pair, summary["orientations"])
    return result + shares


def _shares(pair: str, orientations: dict[str, Any]) -> list[dict[str, Any]]:
    result = []
    for model in MODELS:
        row = {"case": f"{pair}, {model}"}
        for direction in ("prev", "next"):
            m, s, left, right = orientations[model][direction]
            total = (m + s + left + right) / 100
            parts = (m / total, s / total, (left + right) / total)
            row[f"{direction} M / S / D %"] = " / ".join(f"{part:.1f}" for part in parts)
        result.append(row)
    return result


def _aligned_pack(pair: str, size: int, folder: Path) -> list[Path]:
    """A pack, lower-cased and tokenised, and its links."""
    from wayword.corpus.text import Preparation

    sides = []
    for lang in pair.split("-"):
        tokenizer = SEGMENTERS.get(lang, "unicode")
        preparation = Preparation(lang, tokenizer=tokenizer, case="lower")
        sides.append(folder / f"{pair}.{lang}")
        with lzma.open(SHARED / "data" / pair / f"train.{lang}.xz", "rt", encoding="utf-8") as text:
            lines = (" ".join(preparation.prepare(line)) for line in islice(text, size))
            _write(sides[-1], (f"{line}\n" for line in lines))
    links = folder / f"{pair}.links"
    cost = measure([PYTHON, "-m", "wayword", "align", *sides, "--threads", "1"])
    links.write_text(cost.answer)
    return [*sides, links]


def _head(path: Path, lines: int) -> Path:
    part = path.with_name(f"part.{path.name}")
    with path.open(encoding="utf-8", newline="\n") as text:
        _write(part, islice(text, lines))
    return part


def _write(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(lines)


def _row(name: str, cost: Cost, summary: dict[str, Any]) -> dict[str, Any]:
    return {
        "case": name,
        "CPU s": round(cost.cpu_seconds, 1),
        "peak MB": round(cost.peak_mb),
        "phrase pairs": summary["pairs"],
    }
