"""Taggers on every treebank at hand, and word classes of a large text.

Published figures are UDPipe 1.2's for gold tokens, from the README of its models for UD 2.3; those
were trained on the whole treebanks, which for Arabic, German, Hindi and Japanese are several times
larger than the ones here, and in other versions. Speed is words per CPU second on one thread, from
a list of words to `Sentence` objects.
"""

import json
import lzma
import re
import tempfile
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, SHARED, measure, show, write_result

__all__ = ["main", "rows"]

#: treebank → UPOS accuracy of UDPipe 1.2
PUBLISHED = {
    "Arabic-PADT": "95.4",
    "Chinese-GSD-simplified": "92.1 (traditional script)",
    "English-EWT": "94.4",
    "German-mixed": "91.9 (GSD)",
    "Hindi-HDTB": "95.8",
    "Japanese-GSD": "97.0",
}

TAGGER = r"""
import json, sys, time
from wayword.corpus import annotate

train, test = (annotate.read_treebank(path) for path in sys.argv[1:])
start = time.process_time()
tagger = annotate.Tagger.fit(train, threads=2)
training = time.process_time() - start
words = [sentence.words for sentence in test]
seconds = []
for turn in range(3):
    start = time.process_time()
    found = list(tagger.annotate(words, threads=1))
    seconds.append(time.process_time() - start)
score = annotate.score(found, test)
print(json.dumps({
    **score.to_dict(), "training": training, "speed": score.words / min(seconds),
    "train_words": sum(map(len, train)),
}))
"""

CLASSES = 1000
TEXT = "data/de-en/train.en.xz"


def _tagger(name: str) -> dict[str, Any]:
    folder = SHARED / "data" / "ud" / name
    files = [folder / "train.conllu.xz", folder / "test.conllu.xz"]
    answer = json.loads(measure([PYTHON, "-c", TAGGER, *files]).answer)
    if answer["accuracy"] < 0.9 or answer["f1"] < 0.8:
        raise SystemExit(f"bench: {name} is annotated worse than it was: {answer}")
    return {
        "treebank": name,
        "training words": answer["train_words"],
        "UPOS": f"{answer['accuracy']:.2%}",
        "UDPipe 1.2, published": PUBLISHED[name],
        "chunk F1": f"{answer['f1']:.2%}",
        "heads": f"{answer['head_accuracy']:.2%}",
        "words/CPU s": round(answer["speed"], -2),
        "training CPU s": round(answer["training"], 1),
    }


def _classes() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        path, out = Path(name, "text"), Path(name, "classes")
        with (
            lzma.open(SHARED / TEXT, "rt", encoding="utf-8", newline="\n") as lines,
            path.open("w", encoding="utf-8") as file,
        ):
            for line in lines:
                file.write(re.sub(r"(\w+|[^\w\s])", r"\1 ", line))
        command: list[str | Path] = [PYTHON, "-m", "wayword", "annotate", "classes", path]
        cost = measure([*command, "-o", out, "--classes", str(CLASSES), "--threads", "2", "--json"])
    answer = json.loads(cost.answer)
    if not answer["likelihood"] > max(answer["random"], answer["by_frequency"]) + 0.3:
        raise SystemExit("bench: classes hardly better than chance")
    return {
        "case": f"{CLASSES} classes, {TEXT}",
        "words": answer["words"],
        "different": answer["units"],
        "rounds": len(answer["moved"]),
        "log likelihood a word": round(answer["likelihood"], 4),
        "by frequency": round(answer["by_frequency"], 4),
        "by chance": round(answer["random"], 4),
        "CPU s": round(cost.cpu_seconds, 1),
        "MB": round(cost.peak_mb),
    }


def rows() -> list[dict[str, Any]]:
    """Measure everything; a poor tagger stops the run."""
    return [*map(_tagger, PUBLISHED), _classes()]


def main() -> None:
    """Measure, print and write."""
    measured = rows()
    show(measured[:-1])
    show(measured[-1:])
    print(f"written to {write_result('annotate', measured)}")


if __name__ == "__main__":
    main()
