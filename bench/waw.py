"""The word-after-word model on real text: what it knows, and what training costs as it grows.

Links come from `wayword align`, tags and chunks from taggers that are learned from the treebanks.
The last lines of each bitext are held out. Settings are those of `wayword train`: wrong answers up
to 18 words away, AdaGrad. Growth rows put the bitexts one after the other and learn from as many
samples as the row says; a step is one pass over all samples, which is what an iteration of the
optimiser costs.
"""

import json
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, SHARED, measure

#: Pair, treebank of its source, and how the treebank's words must be spelled to be like the text.
PAIRS = {
    "de-en": ("German-mixed", "lower"),
    "ja-en": ("Japanese-GSD", "kept"),
    "zh-en": ("Chinese-GSD-simplified", "kept"),
    "ar-en": ("Arabic-PADT", "unmarked"),
    "hi-en": ("Hindi-HDTB", "kept"),
}
HELD_OUT = 2_000
LIMITS = (10, 18)
#: The prior for all of a long text; docs/waw.md says what it does.
PRIOR = 10.0
#: Pairs of a bitext, and those that the sets of templates are compared on.
MOST, SOME = 100_000, 40_000
SETS = ("W", "P", "WP", "WPC")
#: Samples wanted, and the sentences to take for them.
SIZES = {"1M": 3_000, "10M": 30_000, "100M": 0}

LEARN = """
import json, sys
from wayword.reorder import waw
model = waw.train(waw.Corpus.read(*sys.argv[1:4]), templates=sys.argv[7], prior=float(sys.argv[8]),
    threads=2, window=18, inclusive=True, optimiser="adagrad")
found = waw.evaluate(model, waw.Corpus.read(*sys.argv[4:7]), threads=2)
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
looks = {"templates": None, "window": int(sys.argv[4]), "inclusive": False, "min_count": 20,
    "between_anchor": "j", "objective": "each", "coverage": False}
room = 2 << 30, None
trainer = _core.WawTrainer(corpus._core, looks, room=room, threads=2, progress=None)
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
        # In a process of its own: what is measured later would start with the memory of this one.
        with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
            for pair in PAIRS:
                pool.submit(prepare, pair, folder).result()
        return [*(row for pair in PAIRS for row in known(pair, folder)), *grown(folder)]


def prepare(pair: str, folder: Path) -> None:
    """Write tagged source, target and links of a pair, training and held-out part."""
    from wayword import Bitext, align
    from wayword.corpus.annotate import Tagger, factored, read_treebank

    src, tgt = (folder / f"{pair}.{lang}" for lang in pair.split("-"))
    for path in (src, tgt):
        lines = list(_bitext(pair, path.suffix[1:]))
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    bitext = Bitext.read(src, tgt)
    links = folder / f"{pair}.links"
    align.fit(bitext, threads=2).align(bitext, symmetrise="threshold", threads=2).write(links)
    treebank, spelling = PAIRS[pair]
    known = read_treebank(SHARED / "data" / "ud" / treebank / "train.conllu.xz", spelling=spelling)
    tagged = folder / f"{pair}.tagged"
    with src.open(encoding="utf-8") as plain, tagged.open("w", encoding="utf-8") as out:
        for sentence in Tagger.fit(known).annotate(plain):
            print(factored(sentence), file=out)
    for name, path in (("src", tagged), ("tgt", tgt), ("links", links)):
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]
        train, test = lines[:-HELD_OUT], lines[-HELD_OUT:]
        for part, pairs in (("train", train), ("some", train[:SOME]), ("test", test)):
            text = "".join(f"{line}\n" for line in pairs)
            (folder / f"{pair}.{part}.{name}").write_text(text, encoding="utf-8")


def _bitext(pair: str, lang: str) -> Iterator[str]:
    """Lines of tokens in lower case: the bitext with gold links, or the pack, prepared."""
    from wayword.corpus.files import open_text
    from wayword.corpus.text import Preparation

    tokenised = SHARED / "data" / "align" / pair / f"bitext.{lang}.xz"
    if tokenised.exists():
        yield from islice(open_text(tokenised), MOST)
        return
    preparation = Preparation(lang, case="lower")
    for line in islice(open_text(SHARED / "data" / pair / f"train.{lang}.xz"), MOST):
        yield " ".join(preparation.prepare(line))


def known(pair: str, folder: Path) -> list[dict[str, Any]]:
    """Rows of a pair: every set of templates, then all of the text if there is much more.

    All are ranked at both distortion limits; the last must beat plain distance beyond doubt.
    """
    result = [learned(f"{pair} {templates}", pair, folder, templates) for templates in SETS]
    pairs = sum(1 for _ in (folder / f"{pair}.train.src").open(encoding="utf-8"))
    if pairs > 2 * SOME:
        case = f"{pair} {SETS[-1]}, {pairs // 1000}k pairs"
        result.append(learned(case, pair, folder, SETS[-1], part="train", prior=PRIOR))
    for name in ("Top-1", "Top-3"):
        for limit in LIMITS:
            gain, margin = result[-1][f"gain in {name} at {limit}"].split(" ±")
            if float(gain) <= float(margin):
                raise SystemExit(f"bench: {pair}: no clear gain in {name}: {result[-1]}")
    return result


def learned(
    case: str, pair: str, folder: Path, templates: str, *, part: str = "some", prior: float = 1.0
) -> dict[str, Any]:
    """Learn from a part of a pair, and test on what is held out."""
    files = [folder / f"{pair}.{text}.{what}" for text in (part, "test") for what in PARTS]
    cost = measure([PYTHON, "-c", LEARN, *files, templates, str(prior)])
    answer = json.loads(cost.answer)
    row: dict[str, Any] = {
        "case": case,
        "samples": answer["samples"],
        "features": answer["features"],
        "prior": prior,
        "CPU s": round(cost.cpu_seconds),
        "peak MB": round(cost.peak_mb),
        **{name: _percent(answer["classification"][key]) for name, key in SURE.items()},
    }
    for rank, plain, gain in zip(
        answer["ranking"], answer["distance"], answer["gains"], strict=True
    ):
        for name, key in RANK.items():
            label = f"{name} at {rank['limit']}"
            row[label] = f"{_percent(rank[key])} ({_percent(plain[key])})"
            if key in gain:
                margin = _percent(gain[f"{key}_margin"])
                row[f"gain in {label}"] = f"{_percent(gain[key])} ±{margin}"
    return row


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
            with files[-1].open("w", encoding="utf-8") as out:
                for pair in ["de-en"] if size else PAIRS:
                    with (folder / f"{pair}.train.{what}").open(encoding="utf-8") as lines:
                        out.writelines(islice(lines, size or None))
        cost = measure([PYTHON, "-c", GROW, *files, "18" if size else "30"])
        answer = json.loads(cost.answer)
        samples = answer["samples"]
        result.append(
            {
                "case": f"growth to {name} samples",
                "samples": samples,
                "features": answer["features"],
                "bytes a sample": round(answer["bytes"] / samples, 1),
                "CPU µs a sample, writing down": round(1e6 * answer["write"] / samples, 2),
                "CPU µs a sample and step": round(1e6 * answer["step"] / samples, 3),
                "peak MB": round(cost.peak_mb),
            }
        )
    return result


def _percent(share: float) -> float:
    return round(100 * share, 1)
