"""Linear ordering on real text: how near orders come to links, and what they cost.

The text is that of the preorderer in docs/other-tools.md: the two bitexts of 100,000 pairs
(Japanese with, German without the lines that have gold links), links of `wayword align` over all
of it, tags of taggers learned from the treebanks. Training: the first pairs of at most 60 source
words; test: the first 1,000 such pairs of the last 2,000; the 1,000 pairs before the last 2,000
decide when to stop. ``python -m bench.preorder FOLDER`` keeps text, models and rows in a folder,
and starts from there again.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, SHARED, measure, show, write_result

PAIRS = {"ja-en": ("Japanese-GSD", "kept"), "de-en": ("German-mixed", "lower")}
#: Lines at the head of the German bitext that are left out.
GOLD = {"ja-en": 0, "de-en": 100}
SIZES = (10_000, 40_000)
LONGEST, HELD_OUT, TEST, DEV = 60, 2_000, 1_000, 1_000
PARTS = ("src", "tgt", "links", "scored")
#: What is learned, by the name of the row.
MODELS: dict[str, dict[str, Any]] = {
    "log-odds": {"model": "lop", "reference": "linked", "passes": 0},
    "lop, leftmost": {"model": "lop", "reference": "leftmost"},
    "lop, attach": {"model": "lop", "reference": "attach"},
    "lop, linked": {"model": "lop", "reference": "linked"},
    "joint": {"model": "joint", "passes": 2},
    "joint, linked": {"model": "joint", "reference": "linked", "passes": 5},
    "neural": {"model": "neural", "passes": 4},
    "neural, linked": {"model": "neural", "reference": "linked", "passes": 4},
}
#: Rows of the smaller training set (Japanese), the second with links that weigh as much as they are
#: sure.
SMALL = {"joint, linked": "links", "joint, linked, posteriors": "scored"}
SMALL_PASSES = 3
#: tau, FRS and exact matches of the beam parser on the same 40,000 pairs (docs/other-tools.md).
RIVAL = {"ja-en": (81.81, 51.78, 10.6), "de-en": (93.14, 76.68, 23.5)}
LENGTHS = (25, 50, 100, 200)

LEARN = """
import json, sys, time
from wayword.evaluate.orders import evaluate_preorder
from wayword.reorder import lop
options = json.loads(sys.argv[11])
train, dev, test = (lop.Corpus.read(*sys.argv[at:at + 3]) for at in (1, 4, 7))
start = time.process_time()
model = lop.fit(train, dev, threads=2, **options)
learned = time.process_time() - start
choices = ("expected", "best") if options["model"] == "joint" else ("expected",)
orders, times = {}, {}
for choice in choices:
    start = time.process_time()
    orders[choice] = model.corpus_orders(test, choice=choice, threads=1)
    times[choice] = (time.process_time() - start) / len(test)
model.save(sys.argv[10])
scores = evaluate_preorder(test, orders)
print(json.dumps({"scores": {name: score.to_dict() for name, score in scores.items()},
    "order": times, "learn": learned, "passes": [one.number for one in model.summary.passes][-1],
    "best": model.recipe["passes"], "size": model.size}))
"""

GROW = """
import json, sys, time
from wayword.corpus.annotate import Sentence, parse_factored
from wayword.reorder.lop import LopModel
lines = [parse_factored(line) for line in open(sys.argv[2], encoding="utf-8")]
words = [word for line in lines for word in line.words]
tags = [tag for line in lines for tag in line.pos]
model = LopModel.load(sys.argv[1])
found = {}
for length in map(int, sys.argv[3:]):
    starts = range(0, min(len(words), 6000) - length, length)
    long = [Sentence(tuple(words[at:at + length]), tuple(tags[at:at + length])) for at in starts]
    start = time.process_time()
    model.orders(long, threads=1)
    found[length] = 1000 * (time.process_time() - start) / len(long)
print(json.dumps(found))
"""

OPTIMA = """
import itertools, json, sys
from wayword.corpus.annotate import parse_factored
from wayword.reorder import lop
model = lop.LopModel.load(sys.argv[1])
lines = [parse_factored(line) for line in open(sys.argv[2], encoding="utf-8")]
short = [line for line in lines if 4 <= len(line) <= 16]
longer = [line for line in lines if 17 <= len(line) <= 25][:40]
def score(matrix, order):
    return sum(matrix[a, b] for a, b in itertools.combinations(order, 2))
def reached(sentences, solver):
    found = {"step": 0, "climb": 0}
    for sentence in sentences:
        matrix, start = model.matrix(sentence), range(len(sentence))
        best = score(matrix, lop.best_order(matrix, solver=solver))
        for name in found:
            order = lop.step(matrix, start, climb=name == "climb")
            found[name] += score(matrix, order) > best - 1e-6
    return {"sentences": len(sentences), **{n: c / len(sentences) for n, c in found.items()}}
print(json.dumps({"4 to 16 words, sets": reached(short, "sets"),
    "17 to 25 words, integer programme": reached(longer, "ilp")}))
"""


def rows(kept: Path | None = None) -> list[dict[str, Any]]:
    """Every model on every pair, then growth with the length of a sentence."""
    result = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = kept or Path(scratch)
        for pair in PAIRS:
            prepare(pair, folder)
            small, large = SIZES
            for name, links in SMALL.items() if pair == "ja-en" else ():
                options = {**MODELS["joint, linked"], "passes": SMALL_PASSES}
                result += learned(f"{pair} {small} {name}", options, folder, links)
            for name, options in MODELS.items():
                result += learned(f"{pair} {large} {name}", options, folder)
        for model in ("lop, linked", "joint"):
            result.append(grown(model, folder))
        result += optima(folder)
    for pair in PAIRS:
        check(result, pair)
    return result


def prepare(pair: str, folder: Path) -> None:
    """Write tagged source, target and links of a pair: training sets, dev and test."""
    from wayword import Bitext, align
    from wayword.corpus.annotate import Tagger, factored, read_treebank

    if (folder / f"{pair}.test.src").exists():
        return
    langs = pair.split("-")
    for lang in langs:
        lines = islice(_lines(pair, lang), GOLD[pair], None)
        _write(folder / f"{pair}.{lang}", lines)
    bitext = Bitext.read(*(folder / f"{pair}.{lang}" for lang in langs))
    links, posteriors = align.fit(bitext, threads=2).align_with_posteriors(bitext, threads=2)
    treebank, spelling = PAIRS[pair]
    known = read_treebank(SHARED / "data" / "ud" / treebank / "train.conllu.xz", spelling=spelling)
    tagger = Tagger.fit(known)
    tagged = map(factored, tagger.annotate(_read(folder / f"{pair}.{langs[0]}")))
    target = _read(folder / f"{pair}.{langs[1]}")
    texts = zip(tagged, target, links.lines(), links.lines(posteriors), strict=True)
    all_pairs = list(texts)
    head = [text for text in all_pairs[:-HELD_OUT] if _is_short(text)]
    test = [text for text in all_pairs[-HELD_OUT:] if _is_short(text)][:TEST]
    for name, part in {
        **{str(size): head[:size] for size in SIZES},
        "dev": head[-DEV:],
        "test": test,
    }.items():
        for at, what in enumerate(PARTS):
            _write(folder / f"{pair}.{name}.{what}", (text[at] for text in part))


def _is_short(text: tuple[str, ...]) -> bool:
    return 0 < len(text[0].split()) <= LONGEST


def _lines(pair: str, lang: str) -> Iterator[str]:
    from wayword.corpus.files import open_text

    return open_text(SHARED / "data" / "align" / pair / f"bitext.{lang}.xz")


def _read(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def _write(path: Path, lines: Iterator[str]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def learned(
    case: str, options: dict[str, Any], folder: Path, links: str = "links"
) -> list[dict[str, Any]]:
    """Learn a case (pair, sentences, model), and test on what is held out, for every choice."""
    known = folder / f"{case}.json"
    if known.exists():
        measured: list[dict[str, Any]] = json.loads(known.read_text())
        return measured
    pair, size, name = case.split(" ", 2)
    train, dev, test = (
        [folder / f"{pair}.{part}.{what}" for what in ("src", "tgt", last)]
        for part, last in ((size, links), ("dev", "links"), ("test", "links"))
    )
    model = folder / f"{pair}.{size}.{name}.model"
    cost = measure([PYTHON, "-c", LEARN, *train, *dev, *test, model, json.dumps(options)])
    answer = json.loads(cost.answer)
    rows_of_case = [{"case": case, **_scores(answer["scores"]["expected"])}]
    if "best" in answer["scores"]:
        rows_of_case.append({"case": f"{case}, best", **_scores(answer["scores"]["best"])})
    for row, ms in zip(rows_of_case, answer["order"].values(), strict=True):
        row["ms a sentence"] = round(1000 * ms, 3)
    passes = max(1, answer["passes"])
    rows_of_case[0] |= {
        "source order": _scores(answer["scores"]["source order"]),
        "passes": answer["best"],
        "training CPU s": round(answer["learn"]),
        "training sentences a CPU second": round(int(size) * passes / answer["learn"]),
        "peak MB": round(cost.peak_mb),
        "file MB": round(answer["size"] / 1e6, 1),
    }
    known.write_text(json.dumps(rows_of_case))
    for row in rows_of_case:
        print(json.dumps(row), flush=True)
    return rows_of_case


def _scores(found: dict[str, Any]) -> dict[str, Any]:
    names = ("bleu", "tau", "frs", "exact", "precision", "recall", "f1")
    scores = {name: round(found[name], 2) for name in names if found[name] == found[name]}
    precisions = [round(share, 1) for share in found["precisions"]]
    return {**scores, "p2-p4": precisions[1:], "intervals": found["intervals"]}


def grown(model: str, folder: Path) -> dict[str, Any]:
    """Milliseconds a sentence, by its length."""
    path = folder / f"de-en.40000.{model}.model"
    cost = measure([PYTHON, "-c", GROW, path, folder / "de-en.test.src", *map(str, LENGTHS)])
    times = {int(length): ms for length, ms in json.loads(cost.answer).items()}
    row: dict[str, Any] = {"case": f"growth of {model}"}
    row |= {f"ms at {length} words": round(ms, 3) for length, ms in times.items()}
    # Cubic is a factor of 8 for twice the length.
    if times[200] > 9 * times[100]:
        raise SystemExit(f"bench: worse than cubic: {row}")
    return row


def optima(folder: Path) -> list[dict[str, Any]]:
    """How often one step, and steps until nothing is gained, find the best order of all."""
    path = folder / "de-en.40000.lop, linked.model"
    cost = measure([PYTHON, "-c", OPTIMA, path, folder / "de-en.test.src"])
    found = json.loads(cost.answer)
    return [
        {
            "case": f"optima, {name}",
            "sentences": row["sentences"],
            "one step, %": round(100 * row["step"], 1),
            "climbing, %": round(100 * row["climb"], 1),
        }
        for name, row in found.items()
    ]


def check(result: list[dict[str, Any]], pair: str) -> None:
    """Say where the joint model is not ahead of the beam parser."""
    [row] = [row for row in result if row["case"] == f"{pair} {SIZES[-1]} joint, linked"]
    for name, rival in zip(("tau", "frs", "exact"), RIVAL[pair], strict=True):
        if row[name] <= rival:
            print(f"preorder: {row['case']}: {name} {row[name]}, beam parser {rival}")


if __name__ == "__main__":
    all_rows = rows(Path(sys.argv[1]))
    show(all_rows)
    print(write_result("preorder", all_rows))
