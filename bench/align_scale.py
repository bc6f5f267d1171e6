"""Aligning by a sample, scores as a filter, and memory: how they do and how they grow.

Text is that of the alignment packs (their first lines have gold links), and for more than they
hold the German-English packs joined and varied: in copy c of the text, one word type in twenty gets
the mark `~c`, on both sides alike, so that words and pairs of words go on growing. Every row is a
child process with one thread.

    ONLY="filter growth" python bench/run.py align-scale      some of: samples many filter growth
"""

import json
import lzma
import os
import random
import tempfile
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, SHARED, measure

PAIRS = ("de-en", "zh-en", "ja-en")
#: Pairs of a spoiled text.
SPOILED = 20_000
#: Pairs of a text that is larger than one wants to train on, and of a sample of it.
MANY, SAMPLED = 2_000_000, 200_000
#: Pairs, `memory`, passes of the model without memory and of the HMM. Memory is highest in the
#: first pass, so that large texts need no more.
GROWTH = (
    (100_000, "2G", 6, 4),
    (200_000, "2G", 6, 4),
    (1_000_000, "4G", 1, 0),
    (1_000_000, "1G", 1, 0),
    (1_000_000, "500M", 1, 0),
)

SAMPLE = """
import json, sys, time
from pathlib import Path
from wayword import align
from wayword.align import stream
from wayword.corpus.files import open_text, temp_folder
src, tgt, count, gold, limit = sys.argv[1:6]
with temp_folder() as folder:
    drawn = folder / "src", folder / "tgt"
    stream.draw_lines([(src, tgt)], drawn, int(count), 1)
    aligner = align.fit_files([drawn], threads=1)
gold = align.read_gold(gold)
pairs = zip(open_text(src), open_text(tgt))
start, done, first = time.process_time(), 0, []
for aligned in stream.align_pairs(aligner, pairs, threads=1):
    done += len(aligned.links)
    first += [links.tolist() for links in aligned.links] if len(first) < len(gold) else []
    if done >= int(limit):
        break
score = align.score_links(first, gold)
took = time.process_time() - start
print(json.dumps({"aer": score.aer, "pairs": done, "linking": took}))
"""

FIT = """
import json, sys
from wayword import align
src, tgt, memory, lexical, order = sys.argv[1:6]
aligner = align.fit_files(
    [(src, tgt)], memory=memory, lexical_iterations=int(lexical), order_iterations=int(order),
    threads=1,
)
print(json.dumps(vars(aligner.summary)))
"""

SCORE = """
import json, sys
import numpy as np
from wayword import Bitext, align
src, tgt = ([line.rstrip("\\n") for line in open(path)] for path in sys.argv[1:3])
pairs = list(zip(src, tgt))
text = Bitext.from_pairs(pairs)
aligner = align.fit(text, threads=1).calibrate(pairs, threads=1)
np.save(sys.argv[3], aligner.score(text, threads=1))
"""


def rows() -> list[dict[str, Any]]:
    """Samples against all, the score as a filter, memory as text grows."""
    parts = {
        "samples": lambda: list(chain.from_iterable(map(_sample_rows, PAIRS))),
        "many": _many_rows,
        "filter": _filter_rows,
        "growth": _growth_rows,
    }
    only = os.environ.get("ONLY", " ".join(parts)).split()
    return [row for part in only for row in parts[part]()]


def _text(pair: str) -> list[tuple[str, str]]:
    folder = SHARED / "data" / "align" / pair
    sides = []
    for lang in pair.split("-"):
        with lzma.open(folder / f"bitext.{lang}.xz", "rt", encoding="utf-8") as file:
            sides.append([line.rstrip("\n") for line in file])
    return list(zip(*sides, strict=True))


def _write(pairs: Iterator[tuple[str, str]], folder: Path, name: str) -> tuple[Path, Path]:
    files = folder / f"{name}.src", folder / f"{name}.tgt"
    with files[0].open("w") as src, files[1].open("w") as tgt:
        for pair in pairs:
            src.write(pair[0] + "\n")
            tgt.write(pair[1] + "\n")
    return files


def _sample_rows(pair: str) -> list[dict[str, Any]]:
    result = []
    gold = SHARED / "data" / "align" / pair / "gold.txt"
    with tempfile.TemporaryDirectory() as name:
        text = _text(pair)
        files = _write(iter(text), Path(name), "text")
        for share in (1, 10):
            command: list[str | Path] = [
                PYTHON,
                "-c",
                SAMPLE,
                *files,
                str(len(text) // share),
                gold,
                "10000000",
            ]
            result.append(_sample_row(f"{pair}, 1 in {share}", measure(command)))
    return result


def _sample_row(case: str, cost: Any) -> dict[str, Any]:
    answer = json.loads(cost.answer)
    return {
        "case": case,
        "pairs": answer["pairs"],
        "AER": round(answer["aer"], 4),
        "CPU s": round(cost.cpu_seconds, 1),
        "linked a second": round(answer["pairs"] / answer["linking"]),
        "peak MB": round(cost.peak_mb),
    }


def varied(pairs: list[tuple[str, str]], count: int) -> Iterator[tuple[str, str]]:
    """So many pairs: the text, then copies of it with marked words."""
    for number in range(count):
        copy, at = divmod(number, len(pairs))
        yield pairs[at] if copy == 0 else _marked(pairs[at], copy)


def _marked(pair: tuple[str, str], copy: int) -> tuple[str, str]:
    def mark(word: str) -> str:
        return f"{word}~{copy}" if zlib.crc32(f"{word} {copy}".encode()) % 20 == 0 else word

    src, tgt = (" ".join(map(mark, side.split())) for side in pair)
    return src, tgt


def joined() -> list[tuple[str, str]]:
    """The alignment pack, then the training pack prepared like it: lower case, split."""
    from wayword.corpus.text import Preparation

    sides = []
    for lang in ("de", "en"):
        preparation = Preparation(lang, tokenizer="unicode", case="lower")
        with lzma.open(SHARED / "data" / "de-en" / f"train.{lang}.xz", "rt") as file:
            sides.append([" ".join(preparation.prepare(line)) for line in file])
    return [*_text("de-en"), *zip(*sides, strict=True)]


def _many_rows() -> list[dict[str, Any]]:
    """A text of `MANY` pairs by all of it and by a sample; AER on the gold set at its start."""
    gold = SHARED / "data" / "align" / "de-en" / "gold.txt"
    with tempfile.TemporaryDirectory() as name:
        files = _write(varied(joined(), MANY), Path(name), "text")
        return [many_row(files, sample, gold) for sample in (MANY, SAMPLED)]


def many_row(files: tuple[Path, Path], sample: int, gold: Path) -> dict[str, Any]:
    """What learning from a sample of a large text gives."""
    command: list[str | Path] = [PYTHON, "-c", SAMPLE, *files, str(sample), gold, str(MANY)]
    return _sample_row(f"de-en varied, {sample:,} of {MANY:,}", measure(command))


def _growth_rows() -> list[dict[str, Any]]:
    result = []
    text = joined()
    with tempfile.TemporaryDirectory() as name:
        for size, memory, lexical, order in GROWTH:
            files = _write(varied(text, size), Path(name), str(size))
            cost = measure([PYTHON, "-c", FIT, *files, memory, str(lexical), str(order)])
            answer = json.loads(cost.answer)
            result.append(
                {
                    "case": f"{size} pairs, memory {memory}, {lexical} + {order} passes",
                    "CPU s": round(cost.cpu_seconds, 1),
                    "ms a pair": round(1000 * cost.cpu_seconds / size, 3),
                    "peak MB": round(cost.peak_mb),
                    "pairs of words left out": answer["no_room"],
                }
            )
    return result


def _filter_rows() -> list[dict[str, Any]]:
    import numpy as np

    result = []
    for pair in PAIRS:
        text = _text(pair)[:SPOILED]
        foreign = [tgt for tgt, _ in _text("zh-en" if pair == "de-en" else "de-en")[:SPOILED]]
        pairs, kinds = spoil(text, foreign, 7)
        with tempfile.TemporaryDirectory() as name:
            files = _write(iter(pairs), Path(name), "text")
            cost = measure([PYTHON, "-c", SCORE, *files, Path(name) / "scores.npy"])
            by_aligner = np.load(Path(name) / "scores.npy")
        by_length, by_model_1 = length_scores(pairs), model_1_scores(pairs)
        good = np.array([kind == "" for kind in kinds])
        for kind in ("shifted", "truncated", "language", "all"):
            bad = np.array([k == kind or (kind == "all" and k != "") for k in kinds])
            result.append(
                {
                    "case": f"{pair}, {kind}",
                    "AUC score": round(area(by_aligner[good], by_aligner[bad]), 3),
                    "AUC IBM 1": round(area(by_model_1[good], by_model_1[bad]), 3),
                    "AUC length ratio": round(area(by_length[good], by_length[bad]), 3),
                    "bad below .2": round(float((by_aligner[bad] < 0.2).mean()), 3),
                    "good below .2": round(float((by_aligner[good] < 0.2).mean()), 3),
                    "bad below .5": round(float((by_aligner[bad] < 0.5).mean()), 3),
                    "good below .5": round(float((by_aligner[good] < 0.5).mean()), 3),
                    "CPU s": round(cost.cpu_seconds, 1),
                }
            )
    return result


def spoil(
    pairs: list[tuple[str, str]], foreign: list[str], seed: int
) -> tuple[list[tuple[str, str]], list[str]]:
    """The text with a fifth of its pairs spoiled, and how each was; empty for good pairs.

    Shifted: the target is that of one of the five pairs after it. Truncated: a side keeps 20 to
    80 % of its words. Language: the target is the source, another source, or in a third language.
    """
    draw = random.Random(seed)
    bad = draw.sample(range(len(pairs)), len(pairs) // 5)
    kinds = [""] * len(pairs)
    result = list(pairs)
    for number, k in enumerate(bad):
        src, tgt = pairs[k]
        kinds[k] = ("shifted", "truncated", "language")[number % 3]
        if kinds[k] == "shifted":
            result[k] = src, pairs[(k + draw.randint(1, 5)) % len(pairs)][1]
        elif kinds[k] == "truncated":
            sides, side = [src.split(), tgt.split()], draw.randrange(2)
            sides[side] = sides[side][: max(1, int(draw.uniform(0.2, 0.8) * len(sides[side])))]
            result[k] = " ".join(sides[0]), " ".join(sides[1])
        else:
            others = [src, draw.choice(pairs)[0], draw.choice(foreign)]
            result[k] = src, others[draw.randrange(3)]
    return result, kinds


def area(good: Any, bad: Any) -> float:
    """Area under the curve: how often a good pair has more than a bad one; equals count half."""
    import numpy as np

    _, places, counts = np.unique(
        np.concatenate([good, bad]), return_inverse=True, return_counts=True
    )
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    above = ranks[: len(good)].sum() - len(good) * (len(good) + 1) / 2
    return float(above / (len(good) * len(bad)))


def length_scores(pairs: list[tuple[str, str]]) -> Any:
    """Minus the distance of the log-ratio of lengths from its median."""
    import numpy as np

    lengths = np.array([[max(1, len(side.split())) for side in pair] for pair in pairs])
    ratio = np.log(lengths[:, 0] / lengths[:, 1])
    return -np.abs(ratio - np.median(ratio))


def model_1_scores(pairs: list[tuple[str, str]], iterations: int = 5) -> Any:
    """Mean log-probability per word of both directions under plain IBM Model 1 with NULL."""
    return sum(
        _model_1([(pair[side], pair[1 - side]) for pair in pairs], iterations) for side in (0, 1)
    )


def _model_1(pairs: list[tuple[str, str]], iterations: int) -> Any:
    import numpy as np

    ids: dict[str, int] = {"": 0}
    texts = [
        [[ids.setdefault(word, len(ids)) for word in side.split()] for side in pair]
        for pair in pairs
    ]
    src, tgt, place, of_pair = [], [], [], []
    places = 0
    for number, (src_words, tgt_words) in enumerate(texts):
        for word in tgt_words:
            src += [0, *src_words]
            tgt += [word] * (len(src_words) + 1)
            place += [places] * (len(src_words) + 1)
            of_pair.append(number)
            places += 1
    keys, cells = np.unique(np.array(src) * len(ids) + np.array(tgt), return_inverse=True)
    given, place_of = keys // len(ids), np.array(place)
    probs = np.ones(len(keys))
    for _ in range(iterations):
        share = probs[cells]
        share /= np.bincount(place_of, share)[place_of]
        counts = np.bincount(cells, share)
        probs = counts / np.bincount(given, counts)[given]
    totals = np.bincount(place_of, probs[cells]) / np.bincount(place_of)
    lengths = np.maximum(1, np.bincount(of_pair, minlength=len(pairs)))
    return np.bincount(of_pair, np.log(totals), minlength=len(pairs)) / lengths
