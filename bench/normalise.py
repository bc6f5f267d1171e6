"""Bench of spelling normalisation: the toy old-spelling corpus, beside copying and looking up.

``copy`` leaves every word as it is; ``lookup`` gives each known word its most frequent spelling and
copies the others. The two systems are ``--preset normalise`` and the same without its lexicon.
"""

import json
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, measure
from wayword.corpus import toy

PAIRS, SEED = 2000, 1


def rows() -> list[dict[str, Any]]:
    """Every way, on the same test set."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        toy.write("old-de", PAIRS, folder, seed=SEED)
        lookup(folder)
        costs = {
            "preset": system(folder, "preset"),
            "preset, no lexicon": system(folder, "preset, no lexicon", "model.lexicon=false"),
        }
        outputs = {"copy": folder / "test.old", "lookup": folder / "lookup"}
        outputs |= {name: folder / f"{name}.txt" for name in costs}
        scores = evaluate(folder, outputs)
        assert scores["preset"]["words"] > scores["lookup"]["words"] > scores["copy"]["words"]
        return [{"what": name, **scores[name], **costs.get(name, {})} for name in outputs]


def lookup(folder: Path) -> None:
    """Write the test set with each known word in its most frequent spelling."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    sides = [(folder / f"train.{side}").read_text().splitlines() for side in ("old", "de")]
    for old, new in zip(*sides, strict=True):
        for word, spelling in zip(old.split(), new.split(), strict=True):
            counts[word][spelling] += 1
    usual = {word: found.most_common(1)[0][0] for word, found in counts.items()}
    lines = (folder / "test.old").read_text().splitlines()
    spelled = (" ".join(usual.get(word, word) for word in line.split()) for line in lines)
    (folder / "lookup").write_text("".join(f"{line}\n" for line in spelled))


def system(folder: Path, name: str, *choices: str) -> dict[str, Any]:
    """Train and translate; what both cost."""
    train = ["train", "train.old", "train.de", "--dev", "dev.old", "dev.de", "-o", name]
    train += ["--preset", "normalise", "--threads", "2", *(["--set", *choices] if choices else [])]
    trained = measure([PYTHON, "-m", "wayword", *train], folder)
    translate = [PYTHON, "-m", "wayword", "translate", name, "test.old", "--threads", "1"]
    done = measure(translate, folder)
    (folder / f"{name}.txt").write_text(done.answer)
    words = len((folder / "test.old").read_text().split())
    return {
        "CPU s to train": round(trained.cpu_seconds),
        "peak MB": round(trained.peak_mb),
        "words a CPU second": round(words / done.cpu_seconds),
    }


def evaluate(folder: Path, outputs: dict[str, Path]) -> dict[str, dict[str, float]]:
    """Words right, unseen words right and the character error rate of each output."""
    (first, path), *others = outputs.items()
    command = [PYTHON, "-m", "wayword", "evaluate", str(path), "test.de", "--name", first]
    command += ["--metrics", "words,unseen,cer", "--src", "test.old", "--seen", "train.old"]
    command += ["--json", "--rounds", "10"]
    for name, path in others:
        command += ["--system", f"{name}={path}"]
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    for score in json.loads(measure(command, folder).answer)["scores"]:
        scores[score["system"]][score["metric"]] = round(score["value"], 2)
    return scores
