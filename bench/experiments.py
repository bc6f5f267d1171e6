"""The experiments of docs/results.md, on the real data beside the repository.

    python bench/experiments.py distortion -o OUT     # when a jump is charged (Figure 2)
    python bench/experiments.py orientation -o OUT    # which orientation model
    python bench/experiments.py waw -o OUT            # word after word, and early pruning (Table 5)
    python bench/experiments.py preorder -o OUT       # the source reordered first (Table 3)
    python bench/experiments.py preorder-more -o OUT  # other ways to learn and use the models
    python bench/experiments.py moves -o OUT          # where its gain comes from, when it is done
    python bench/experiments.py speed -o OUT          # rows of `waw`, timed in turns
    python bench/experiments.py train -o OUT          # text to tuned system, beside Moses

The first three print tables of `wayword experiment` and write all of their numbers to
bench/results; each can be stopped and started again, and shares what it can with the others in
OUT. The corpora are the two of 100,000 pairs that Moses2 was measured on, and the Chinese pack, or
for `waw` the Hindi one; its tags are of taggers learned from the treebanks.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

from wayword import experiment, pipeline
from wayword.config import Config, merged
from wayword.corpus.annotate import Tagger, factored, read_treebank
from wayword.corpus.files import new_file, open_text
from wayword.corpus.text import Preparation
from wayword.evaluate import Gold, Options, Output, make_metric
from wayword.experiment import Experiment
from wayword.report.experiment import plain
from wayword.stage import Result, Stage

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench.measure import write_result

SHARED = Path(__file__).resolve().parents[2] / "shared"
#: Pairs at the start of the aligned bitexts that are gold sentences for aligners.
GOLD = {"de-en": 100, "ja-en": 1232}
PARTS = ("train", "dev", "test")
TOKENISED = {"src_tokenizer": "none", "tgt_tokenizer": "none", "case": "keep"}
#: Lines of the dev sets of whole packs that are tuned on; the others have 600.
DEV = 800
LIMITS = (4, 6, 8, 10, 18)
#: Orientation models by the name people know them by.
ORIENTATIONS = {
    "none": "",
    "word": "word-msd-bidirectional",
    "phrase": "phrase-msd-bidirectional",
    "hierarchical": "hier-mslr-bidirectional",
}


def tagged_corpora(folder: Path) -> list[dict[str, Any]]:
    """The two large pairs and Hindi, with taggers and tagged test sets."""
    where, base = SHARED / "data" / "hi-en", {"text": TOKENISED}
    files = {}
    for part in PARTS:
        refs = ("en", "en1", "en2", "en3") if part == "test" else ("en",)
        for lang in ("hi", *refs):
            preparation = Preparation(lang[:2], case="lower")
            files[part, lang] = str(folder / "hi-en" / f"{part}.{lang}")
            lines = islice(open_text(where / f"{part}.{lang}.xz"), 600 if part == "dev" else None)
            _write(Path(files[part, lang]), (" ".join(preparation.prepare(one)) for one in lines))
    sides = {part: [path for (own, _), path in files.items() if own == part] for part in PARTS}
    hindi = {"name": "hi-en", "src": sides["train"][0], "tgt": sides["train"][1], "base": base}
    found = [*corpora(folder)[:2], {**hindi, "dev": sides["dev"], "test": sides["test"]}]
    for corpus in found:
        lang = corpus["name"][:2]
        tagger = _tagger(lang, folder / f"{lang}.tagger")
        corpus["base"] = {**corpus["base"], "annotate": {"annotator": str(tagger)}}
        corpus["test_tags"] = str(folder / f"test.tagged.{lang}")
        sentences = Tagger.load(tagger).annotate(open_text(corpus["test"][0]))
        _write(Path(corpus["test_tags"]), map(factored, sentences))
    return found


def _tagger(lang: str, path: Path) -> Path:
    """A tagger learned from the language's treebank, for text in lower case."""
    if not path.exists():
        treebank = SHARED / "data" / "ud" / TREEBANKS[lang] / "train.conllu.xz"
        spelling = "lower" if lang == "de" else "kept"
        Tagger.fit(read_treebank(treebank, spelling=spelling)).save(path)
    return path


def _write(path: Path, lines: Iterable[str]) -> None:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_file(path) as file:
            file.writelines(f"{line}\n" for line in lines)


def _first(path: Path, target: Path, lines: int) -> Path:
    """The first lines of a file, in a file of their own."""
    _write(target, islice(open_text(path), lines))
    return target


def corpora(folder: Path) -> list[dict[str, Any]]:
    """The three corpora; the gold sentences of aligners are left out."""
    found = []
    for name, gold in GOLD.items():
        where = SHARED / "data" / "align" / name
        langs = name.split("-")
        for lang in langs:
            target = folder / name / f"train.{lang}"
            _write(target, islice(open_text(where / f"bitext.{lang}.xz"), gold, None))
        files = {
            part: [str(where / f"{part}.{lang}.xz") for lang in langs] for part in ("dev", "test")
        }
        train = [str(folder / name / f"train.{lang}") for lang in langs]
        space = {"de-en": "dl:6", "ja-en": "dl:12"}[name]
        base = {"text": TOKENISED, "search": {"space": space}}
        found.append({"name": name, "src": train[0], "tgt": train[1], **files, "base": base})
    where = SHARED / "data" / "zh-en"
    pack = {part: [str(where / f"{part}.{lang}.xz") for lang in ("zh", "en")] for part in PARTS}
    pack["dev"] = [
        str(_first(Path(path), folder / "zh-en" / f"dev.{lang}", DEV))
        for path, lang in zip(pack["dev"], ("zh", "en"), strict=True)
    ]
    base = {"text": {"src": "zh", "tgt": "en", "case": "lower"}, "search": {"space": "dl:8"}}
    dev_test = {"dev": pack["dev"], "test": pack["test"]}
    found.append(
        {
            "name": "zh-en",
            "src": pack["train"][0],
            "tgt": pack["train"][1],
            **dev_test,
            "base": base,
        }
    )
    return found


def distortion(_corpus: str) -> dict[str, Any]:
    """Standard and early distortion at five limits; each kind is tuned at dl:8."""
    variants: list[dict[str, Any]] = []
    for kind in ("distance", "early"):
        for limit in LIMITS:
            name = f"{kind} dl:{limit}"
            search = {"space": f"dl:{limit}", "distortion": kind}
            weights = {} if limit == 8 else {"weights": f"{kind} dl:8"}
            variants.append({"name": name, **weights, "search": search})
    still = {"space": "mono", "distortion": "early"}
    variants.append({"name": "mono", "weights": "early dl:8", "search": still})
    return {"name": "Standard and early distortion", "variant": variants}


def orientation(_corpus: str) -> dict[str, Any]:
    """No orientation, word, phrase and hierarchical, all else equal, each tuned; and no jumps."""
    search = {"distortion": "distance"}
    variants = [
        {"name": name, "model": {"orientation": own}, "search": search}
        for name, own in ORIENTATIONS.items()
    ]
    variants.append({"name": "mono", "search": {"space": "mono"}})
    base = merged(BASE, {"tune": {"runs": 2}})
    return {"name": "Orientation models", "variant": variants, "base": base}


def waw(corpus: str) -> dict[str, Any]:
    """Three limits: hierarchical orientation and early distortion, the model, and pruning by it.

    All rows are tuned from the weights of one first tuning, so that they differ by no luck of the
    start.
    """
    first = {"name": "first tuning", "search": {"space": "dl:8", "distortion": "early"}}
    rows = {
        "mono": ("mono", False),
        "dl:5": ("dl:5", False),
        "dl:8": ("dl:8", False),
        "dl:8 + waw": ("dl:8", True),
        "dl:8 + waw + pruning": (f"dl:8+{PRUNING[corpus]}", True),
        "dl:18": ("dl:18", False),
        "dl:18 + waw": ("dl:18", True),
        "dl:18 + waw + pruning": (f"dl:18+{PRUNING[corpus]}", True),
        "dl:18 + waw + the paper's pruning": (f"dl:18+{PAPER}", True),
    }
    variants: list[dict[str, Any]] = [first]
    for name, (space, has_model) in rows.items():
        search = {"space": space, "distortion": "early"}
        model = {"features": ["waw"] if has_model else []}
        variants.append({"name": name, "start": first["name"], "search": search, "model": model})
    return {"name": "Word after word", "variant": variants}


JOINT = {"preorder": "joint", "orientation": ORIENTATIONS["hierarchical"]}


def preorder(_corpus: str) -> dict[str, Any]:
    """Distance alone and lexicalised orientation, as the source is and preordered (Table 3)."""
    hier = ORIENTATIONS["hierarchical"]
    return _preordered(
        "Preordering",
        {
            "distance": {"model": {"orientation": ""}},
            "preordered, distance": {"model": {**JOINT, "orientation": ""}},
            "preordered, lexicalised": {"model": JOINT},
            "preordered, 10 best orders": {
                "model": JOINT,
                "preorder": {"orders": 10, "order_weight": 0.1},
                "weights": "preordered, lexicalised",
            },
            "mono": {"model": {"orientation": hier}, "search": {"space": "mono"}},
        },
    )


def preorder_more(corpus: str) -> dict[str, Any]:
    """Other ways to use the models; links move with their words.

    On Japanese, where half of the words have no link, also one that has no opinion about them.
    """
    moved = {"realign": False}
    far = {"space": f"dl:18+{PAPER}", "distortion": "early"}
    hier = ORIENTATIONS["hierarchical"]
    rows: dict[str, dict[str, Any]] = {
        "lop in the decoder": {"model": {"orientation": hier, "features": ["lop"]}},
        "links moved": {"model": JOINT, "preorder": moved},
        "links moved, waw pruning": {
            "model": {**JOINT, "features": ["waw"]},
            "preorder": moved,
            "search": far,
        },
    }
    if corpus == "ja-en":
        linked = {**moved, "reference": "linked"}
        rows["links moved, linked"] = {"model": JOINT, "preorder": linked}
    return _preordered("Preordering: choices", rows)


def _preordered(name: str, rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Rows beside the lexicalised one, whose weights their tuning starts with."""
    search = {"search": {"space": "dl:8", "distortion": "distance"}}
    first = {"name": "lexicalised", "model": {"orientation": ORIENTATIONS["hierarchical"]}}
    variants: list[dict[str, Any]] = [merged(search, first)]
    for row, choices in rows.items():
        start = {} if "weights" in choices else {"start": "lexicalised"}
        variants.append({"name": row, **start, **merged(search, choices)})
    learning = {"sentences": 40_000, "passes": 2, "patience": 1}
    base = {"preorder": learning, "lop": learning, "tune": {"runs": 2}}
    return {"name": name, "variant": variants, "base": merged(BASE, base)}


EXPERIMENTS = {
    "distortion": distortion,
    "orientation": orientation,
    "waw": waw,
    "preorder": preorder,
    "preorder-more": preorder_more,
}
#: The rows that others are compared with.
BASELINES = {
    "distortion": ("distance dl:8",),
    "orientation": ("word",),
    "waw": ("dl:8", "dl:18"),
    "preorder": ("lexicalised", "distance"),
    "preorder-more": ("lexicalised",),
}
METRICS = ["bleu", "krs-linked", "reversals", "krs"]
#: Further metrics, of experiments whose corpora are tagged.
EXTRA = {"waw": ["meteor", "krs-v-linked", "reversals-v"], "preorder": ["meteor", "ter"]}
EXTRA["preorder-more"] = EXTRA["preorder"]
#: Rows of `waw` that `speed` times, the first as the measure of the others, and how often.
TIMED = ("dl:8", "dl:18", "dl:18 + waw", "dl:18 + waw + pruning")
ROUNDS = 5
#: Words that move further than that move far.
FAR = 6
#: The setting that Bisazza and Federico (2013) chose.
PAPER = "waw(top=3,threshold=0.1,zone=5)"
#: What a grid search on the dev set chose: the highest KRS among those within 0.1 of the best BLEU.
PRUNING = {
    "de-en": "waw(top=2,threshold=0.25,zone=1)",
    "ja-en": "waw(top=5,threshold=0.25,zone=0)",
    "hi-en": "waw(top=2,threshold=0.25,zone=1)",
}
TREEBANKS = {"de": "German-mixed", "ja": "Japanese-GSD", "hi": "Hindi-HDTB"}
BASE = {
    "extract": {"models": ["word", "phrase", "hierarchical"]},
    "search": {"pop_limit": 400},
    "tune": {"runs": 4, "pop_limit": 200, "rounds": 8, "restarts": 4, "patience": 3},
}


#: Tuning of the rows that stand beside Moses: its one run has six rounds.
TRAIN = {"runs": 4, "pop_limit": 400, "rounds": 10, "restarts": 8, "patience": 4}


def watch(stage: Stage, result: Result | None) -> None:
    """Say what is done."""
    if result is not None and not result.reused:
        print(f"{stage.name}: {result.cost}", file=sys.stderr, flush=True)


def compare_variants(name: str, out: Path, only: list[str], threads: int) -> None:
    """Run an experiment, print its tables and keep its numbers; each corpus has its own folder."""
    known = tagged_corpora if name in EXTRA else corpora
    extra = EXTRA.get(name, [])
    rows: list[dict[str, Any]] = []
    for corpus in known(out / "text"):
        if only and corpus["name"] not in only:
            continue
        for baseline in BASELINES[name]:
            values = {"base": BASE, **EXPERIMENTS[name](corpus["name"]), "baseline": baseline}
            values = {**values, "metrics": METRICS + extra, "corpus": [corpus]}
            where = out / corpus["name"]
            described = Experiment.from_dict(values, Path())
            found = experiment.run(described, where, watch=watch, threads=threads)
            print(plain(found), flush=True)
            rows += [{"baseline": baseline, **row} for row in found.to_dict()["rows"]]
    print(f"written to {write_result(f'experiment-{name}', rows)}")


def moves(out: Path, only: list[str]) -> None:
    """What sentences in which a word moves far bring to the gain of preordering in BLEU."""
    rows = []
    for corpus in tagged_corpora(out / "text")[:2]:
        name = corpus["name"]
        if only and name not in only:
            continue
        values = {"base": BASE, **preorder(name), "corpus": [corpus]}
        described = Experiment.from_dict(values, Path())
        lines, ref = (list(open_text(path)) for path in corpus["test"])
        opened = [
            experiment.open_variant(described, out / name, 0, row)
            for row in ("lexicalised", "preordered, lexicalised")
        ]
        plain, moved = ([" ".join(one.tokens) for one in s.translate(lines)] for s in opened)
        orders = [source.order or () for source in opened[1].sources(lines)]
        is_far = [any(abs(at - place) > FAR for at, place in enumerate(o)) for o in orders]
        mixed = [b if far else a for a, b, far in zip(plain, moved, is_far, strict=True)]
        metric = make_metric("bleu", Gold(refs=[ref]), Options())
        base, far, full = (metric.corpus_score(Output("", o)) for o in (plain, mixed, moved))
        row = {"case": name, "sentences": len(lines), f"moves over {FAR}": sum(is_far)}
        row |= {"lexicalised": round(base, 2), "preordered": round(full, 2)}
        row |= {"preordered where a word moves far": round(far, 2)}
        rows.append(row | {"share of the gain, %": round(100 * (far - base) / (full - base), 1)})
        print(json.dumps(rows[-1]), flush=True)
    write_result("preorder-moves", rows)


def speed(out: Path, only: list[str]) -> None:
    """Time rows of a finished `waw` in turns, and print their CPU ms a word and the ratios.

    What else the machine does changes from minute to minute; rounds side by side share it.
    """
    for corpus in tagged_corpora(out / "text"):
        name = corpus["name"]
        if only and name not in only:
            continue
        described = Experiment.from_dict({**waw(name), "base": BASE, "corpus": [corpus]}, Path())
        opened = {row: experiment.open_variant(described, out / name, 0, row) for row in TIMED}
        lines = list(open_text(corpus["test"][0]))
        words = sum(len(line.split()) for line in lines)
        times: dict[str, list[float]] = {row: [] for row in TIMED}
        for _ in range(ROUNDS):
            for row, system in opened.items():
                # A new decoder has met no phrase yet.
                fresh = system.with_settings(space=system.settings.space)
                start = time.process_time()
                fresh.translate(lines, prepared=True, threads=1)
                times[row].append(1000 * (time.process_time() - start) / words)
        against = times[TIMED[0]]
        for row, own in times.items():
            ratios = [a / b for a, b in zip(own, against, strict=True)]
            found = {"ms a word": median(own), f"to {TIMED[0]}": median(ratios)}
            rounded = {key: round(value, 3) for key, value in found.items()}
            ratios = [round(ratio, 2) for ratio in ratios]
            print(json.dumps({"case": f"{name} {row}", **rounded, "rounds": ratios}), flush=True)


def train(out: Path, only: list[str], threads: int) -> None:
    """Train on each text as Moses was, and print BLEU, time and memory."""
    for corpus in [*reference(), *corpora(out / "text")[:2], pack(out / "text")]:
        if only and corpus["name"] not in only:
            continue
        values = merged(corpus["base"], {"tune": TRAIN})
        if corpus["name"] == "de-en":
            values = merged(values, {"search": {"space": "dl:8"}})
        stages: list[Result] = []

        def keep(stage: Stage, result: Result | None, stages: list[Result] = stages) -> None:
            watch(stage, result)
            stages += [result] if result is not None else []

        where = out / corpus["name"]
        system = pipeline.train(
            corpus["src"],
            corpus["tgt"],
            where,
            dev=corpus["dev"],
            config=Config.from_dict(values),
            threads=threads,
            watch=keep,
        )
        src, ref = (list(open_text(path)) for path in corpus["test"])
        found = system.translate(src)
        is_raw = corpus["name"] == "de-en raw"
        lines = [one.text if is_raw else " ".join(one.tokens) for one in found]
        options = Options(tokenize="13a" if is_raw else "none")
        score = make_metric("bleu", Gold(refs=[ref]), options).corpus_score(Output("own", lines))
        row = {
            "corpus": corpus["name"],
            "bleu": round(score, 2),
            "dev": system.made["dev"]["score"],
            "spread": system.made["dev"]["spread"],
            "stages": {s.name: [s.cost.cpu, s.cost.memory] for s in stages},
        }
        print(json.dumps(row), flush=True)


def reference() -> list[dict[str, Any]]:
    """The two small pairs that Moses was tuned on."""
    found = []
    for name, space in (("de-en", "dl:6"), ("ja-en", "dl:12")):
        where, langs = SHARED / "reference" / name, name.split("-")
        train_files = [str(where / f"train.{lang}.xz") for lang in langs]
        files = {
            part: [str(where / f"{part}.{lang}") for lang in langs] for part in ("dev", "test")
        }
        base = {"text": TOKENISED, "search": {"space": space}}
        row = {"name": f"reference {name}", "src": train_files[0], "tgt": train_files[1]}
        found.append({**row, **files, "base": base})
    return found


def pack(folder: Path) -> dict[str, Any]:
    """The whole German pack, raw text."""
    where = SHARED / "data" / "de-en"
    files = {part: [str(where / f"{part}.{lang}.xz") for lang in ("de", "en")] for part in PARTS}
    files["dev"] = [
        str(_first(Path(path), folder / "de-en raw" / f"dev.{lang}", DEV))
        for path, lang in zip(files["dev"], ("de", "en"), strict=True)
    ]
    return {
        "name": "de-en raw",
        "src": files["train"][0],
        "tgt": files["train"][1],
        "dev": files["dev"],
        "test": files["test"],
        "base": {"search": {"space": "dl:8"}},
    }


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=[*EXPERIMENTS, "moves", "speed", "train"])
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=[], help="names of corpora")
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()
    if not SHARED.is_dir():
        parser.exit(1, "the real data folder ../shared is not there\n")
    if args.name == "train":
        train(args.out, args.only, args.threads)
    elif args.name == "moves":
        moves(args.out, args.only)
    elif args.name == "speed":
        speed(args.out, args.only)
    else:
        compare_variants(args.name, args.out, args.only, args.threads)


if __name__ == "__main__":
    main()
