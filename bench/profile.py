"""Bench of profiles: what the report card of a linked text costs, and what it advises.

Text is the tokenised training text of the alignment packs, with links of our own aligner.
``python -m bench.profile FOLDER [PAIR ...]`` keeps text and links (``PAIR.src``, ``PAIR.tgt``,
``PAIR.links``) in a folder and starts from there again. The cost is that of the whole command, from
files to page, in CPU seconds of all threads; text of a pack that is not there is an error.
"""

import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, SHARED, measure, show, write_result
from wayword import align
from wayword.corpus import Bitext
from wayword.corpus.files import new_file, open_text

PAIRS = ("de-en", "ja-en", "zh-en", "hi-en")
MOST = 100_000
#: CPU seconds that 100,000 linked pairs may take.
PROMISED = 60


def prepare(pair: str, folder: Path) -> list[Path]:
    """Text and links of a pair."""
    paths = [folder / f"{pair}.{name}" for name in ("src", "tgt", "links")]
    if not all(path.is_file() for path in paths):
        folder.mkdir(parents=True, exist_ok=True)
        for lang, path in zip(pair.split("-"), paths[:2], strict=True):
            text = open_text(SHARED / "data" / "align" / pair / f"bitext.{lang}.xz")
            with new_file(path) as file:
                file.writelines(f"{line}\n" for line in islice(text, MOST))
        bitext = Bitext.read(paths[0], paths[1])
        align.fit(bitext).align(bitext).write(paths[2])
    return paths


def row(pair: str, folder: Path) -> dict[str, Any]:
    """The cost of a page and its figures."""
    text = prepare(pair, folder)
    page = folder / f"{pair}.html"
    cost = measure([PYTHON, "-m", "wayword", "profile", *text, "--html", page, "--json"])
    told = json.loads(cost.answer)
    if told["sentences"] == MOST and cost.cpu_seconds > PROMISED:
        print(f"bench: {pair} took {cost.cpu_seconds} CPU s; {PROMISED} are promised")
    shares = {name: f"{100 * told[name]:.1f}" for name in ("linked", "monotone", "reversed")}
    return {
        "pair": pair,
        "sentences": told["sentences"],
        **shares,
        "D word": _percent(told, "word"),
        "D phrase": _percent(told, "phrase"),
        "D hierarchical": _percent(told, "hierarchical"),
        "beyond 6, 10, 18": ", ".join(f"{100 * told['beyond'][k]:.1f}" for k in ("6", "10", "18")),
        "advised": ", ".join(one["value"] or "none" for one in told["advice"]),
        "CPU s": cost.cpu_seconds,
        "peak MB": cost.peak_mb,
        "page KB": round(page.stat().st_size / 1000),
    }


def _percent(told: dict[str, Any], model: str) -> str:
    return f"{100 * told['orientation'][model]['D']:.1f}"


if __name__ == "__main__":
    rows = [row(pair, Path(sys.argv[1])) for pair in sys.argv[2:] or PAIRS]
    show(rows)
    print(write_result("profile", rows))
