"""The word-after-word model on real text: what it knows, and what training costs as it grows.

Links come from `wayword align`, tags from a lexicon of the language's treebank: the most frequent
tag of a word, or of its ending. The last lines of each bitext are held out. Growth rows put the
bitexts one after the other and learn from as many samples as the row says; a step is one pass
over all samples, which is what an iteration of the optimiser costs.
"""

import json
import lzma
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, SHARED, measure

PAIRS = {"de-en": "de", "ja-en": "ja", "zh-en": "zh", "hi-en": "hi"}
TREEBANKS = {
    "de": "German-mixed",
    "ja": "Japanese-GSD",
    "zh": "Chinese-GSD-simplified",
    "hi": "Hindi-HDTB",
}
HELD_OUT = 2_000
#: Samples wanted, and the sentences to take for them.
SIZES = {"1M": 5_000, "10M": 50_000, "100M": 0}

LEARN = """
import json, sys
from wayword.reorder import waw
model = waw.train(waw.Corpus.read(*sys.argv[1:4]), templates=sys.argv[4], threads=2)
found = waw.evaluate(model, waw.Corpus.read(*sys.argv[5:8]), threads=2)
print(json.dumps({**model.summary.to_dict(), "size": model.size, **found.to_dict()}))
"""

GROW = """
import json, os, sys
from wayword import _core
from wayword.reorder import waw
corpus = waw.Corpus.read(*sys.argv[1:4])
def cpu():
    times = os.times()
    return times.user + times.system
start = cpu()
trainer = _core.WawTrainer(corpus._core, templates=None, window=int(sys.argv[4]), inclusive=False,
    between_anchor="j", min_count=20, memory=2 << 30, temp_dir=None, threads=2, progress=None)
written = cpu()
zero = bytes(8 * (trainer.features + 1))
for _ in range(3):
    trainer.slope(zero, prior=1.0, threads=2)
done = cpu()
print(json.dumps({"samples": trainer.samples, "features": trainer.features,
    "bytes": sum(trainer.bytes), "write": written - start, "step": (done - written) / 3}))
"""


def rows() -> list[dict[str, Any]]:
    """What the model knows, pair by pair; then growth."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for pair in PAIRS:
            prepare(pair, folder)
        return [*(row for pair in PAIRS for row in known(pair, folder)), *grown(folder)]


def prepare(pair: str, folder: Path) -> None:
    """Write tagged source, target and links of a pair, training and held-out part."""
    from wayword import Bitext, align

    src, tgt = (folder / f"{pair}.{lang}" for lang in pair.split("-"))
    for path in (src, tgt):
        packed = SHARED / "data" / "align" / pair / f"bitext{path.suffix}.xz"
        path.write_bytes(lzma.decompress(packed.read_bytes()))
    links = folder / f"{pair}.links"
    if not links.exists():
        bitext = Bitext.read(src, tgt)
        align.fit(bitext, threads=2).align(bitext, threads=2).write(links)
    tagged = folder / f"{pair}.tagged"
    tag = lexicon(PAIRS[pair])
    with src.open(encoding="utf-8") as lines, tagged.open("w", encoding="utf-8") as out:
        for line in lines:
            words = line.replace("|", "&#124;").split()
            print(*(f"{word}|{tag(word)}" for word in words), file=out)
    for name, path in (("src", tagged), ("tgt", tgt), ("links", links)):
        lines_ = path.read_text(encoding="utf-8").splitlines(keepends=True)
        for part, some in (("train", lines_[:-HELD_OUT]), ("test", lines_[-HELD_OUT:])):
            (folder / f"{pair}.{part}.{name}").write_text("".join(some), encoding="utf-8")


def lexicon(lang: str) -> Any:
    """A function from a word to its tag, by the word itself or its last letters."""
    from wayword.corpus.annotate import read_conllu

    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    (path,) = (SHARED / "data" / "ud" / TREEBANKS[lang]).glob("train.conllu*")
    for sentence in read_conllu(path):
        for word, own in zip(sentence.words, sentence.pos or (), strict=True):
            lower = word.lower()
            counts[lower][own] += 1
            for size in (1, 2, 3):
                counts[f"\0{lower[-size:]}"][own] += 1
    best = {key: tags.most_common(1)[0][0] for key, tags in counts.items()}

    def tag_of(word: str) -> str:
        keys = (word.lower(), *(f"\0{word[-size:].lower()}" for size in (3, 2, 1)))
        return next((best[key] for key in keys if key in best), "X")

    return tag_of


def known(pair: str, folder: Path) -> list[dict[str, Any]]:
    """Rows of a pair: words alone, and words and tags, at a distortion limit of 18."""
    result = []
    for templates in ("W", "P", "WP"):
        files = [folder / f"{pair}.{part}.{what}" for part in ("train", "test") for what in PARTS]
        cost = measure([PYTHON, "-c", LEARN, *files[:3], templates, *files[3:]])
        found = json.loads(cost.answer)
        sure, rank, plain = found["classification"], found["ranking"][1], found["distance"][1]
        beaten = rank["top1"] <= plain["top1"] or rank["top3"] <= plain["top3"]
        if templates == "WP" and beaten:
            raise SystemExit(f"bench: {pair}: plain distance ranks better: {rank} {plain}")
        result.append(
            {
                "case": f"{pair} {templates}",
                "samples": found["samples"],
                "features": found["features"],
                "CPU s": round(cost.cpu_seconds),
                "peak MB": round(cost.peak_mb),
                **{name: _percent(sure[key]) for name, key in SURE.items()},
                **{name: _percent(rank[key]) for name, key in RANK.items()},
                **{f"distance {name}": _percent(plain[key]) for name, key in RANK.items()},
            }
        )
    return result


PARTS = ("src", "tgt", "links")
SURE = {"precision": "precision", "recall": "recall", "F": "f1"}
RANK = {
    "Top-1": "top1",
    "Top-3": "top3",
    "long back": "top3_long_back",
    "long forw.": "top3_long_forward",
}


def grown(folder: Path) -> list[dict[str, Any]]:
    """Cost of training by number of samples."""
    result = []
    for name, size in SIZES.items():
        files = []
        for what in PARTS:
            files.append(folder / f"grown.{what}")
            lines = (_head(folder / f"{pair}.train.{what}", size) for pair in _pairs(size))
            files[-1].write_text("".join(lines), encoding="utf-8")
        cost = measure([PYTHON, "-c", GROW, *files, "10" if size else "18"])
        found = json.loads(cost.answer)
        samples = found["samples"]
        result.append(
            {
                "case": f"growth to {name} samples",
                "samples": samples,
                "features": found["features"],
                "bytes a sample": round(found["bytes"] / samples, 1),
                "CPU µs a sample, writing down": round(1e6 * found["write"] / samples, 2),
                "CPU µs a sample and step": round(1e6 * found["step"] / samples, 3),
                "peak MB": round(cost.peak_mb),
            }
        )
    return result


def _pairs(size: int) -> list[str]:
    return ["de-en"] if size else list(PAIRS)


def _head(path: Path, size: int) -> str:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(lines[:size] if size else lines)


def _percent(share: float) -> float:
    return round(100 * share, 1)
