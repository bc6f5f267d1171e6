"""Long jumps on five pairs: limits of 5, 8 and 18 words, and models of the next word that prune.

    python -m bench.long choose OUT      # tune each model with loose pruning, then try a grid
    python -m bench.long table OUT       # tune what the grid chose; Table 5 of docs/results.md
    python -m bench.long curves OUT      # quality against time over pop limits, rows in turns

Each step can be stopped and started again, and for some pairs alone (`--only de-en`). Pairs: the
two of 100,000 pairs that Moses2 was measured on, the small Japanese one, and the Arabic and Hindi
packs. Test and dev lines of those two are held out from the same text, as the given ones are of
another kind. From every text some more lines are held out, on which pruning is chosen: neither
tuning nor the test sees them.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench.experiments import GOLD, TOKENISED, watch
from bench.measure import SHARED, write_result
from wayword import experiment
from wayword.align import Aligner
from wayword.corpus import Bitext
from wayword.corpus.annotate import Tagger, factored, read_treebank
from wayword.corpus.files import new_file, open_text
from wayword.corpus.text import Preparation
from wayword.evaluate import Gold, Options, Output, make_metric
from wayword.evaluate.read import read_gold
from wayword.experiment import Experiment
from wayword.report.experiment import plain
from wayword.store import Store
from wayword.system import System, load
from wayword.tune.grid import Pruning, prune_grid, prunings, worth_decoding

#: Pair, treebank of its source, and how the treebank's words must be spelled to be like the text.
PAIRS = {
    "de-en": ("German-mixed", "lower"),
    "ja-en": ("Japanese-GSD", "kept"),
    "ja-en small": ("Japanese-GSD", "kept"),
    "ar-en": ("Arabic-PADT", "unmarked"),
    "hi-en": ("Hindi-HDTB", "kept"),
}
#: Languages whose sentences with the verb before its subject are scored by themselves, too.
VERB_FIRST = ("ar",)
#: Lines held out to choose on; and as dev and test sets where the given ones are of another kind.
CHOOSE, DEV, TEST = 500, 800, 1_000
BASE = {
    "extract": {"models": ["hierarchical"]},
    "model": {"orientation": "hier-mslr-bidirectional"},
    "search": {"pop_limit": 400, "distortion": "early"},
    "tune": {"runs": 3, "pop_limit": 400, "rounds": 7, "restarts": 4, "patience": 3},
}
#: Tuning runs of pairs that take long.
RUNS = {"de-en": 2}
#: Models of the next word, by the name of their rows: the feature, and its options.
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "max-ent": ("waw", {}),
    "network": ("neural", {"coverage": False}),
    "network, coverage": ("neural", {}),
}
#: Models whose pruning is chosen; the other one is pruned loosely.
CHOSEN = ("max-ent", "network, coverage")
LOOSE = Pruning(top=8, threshold=0.02, zone=0)
GRID = prunings([3, 5, 8], [0.25, 0.1, 0.05, 0.02], [-1, 0, 1, 3, 5])
#: What settings are chosen by: both in points, so one of BLEU weighs as much as four of reversals.
CHOICE = {"bleu": 0.8, "reversals": 0.2}
METRICS = ["bleu", "krs-linked", "reversals", "meteor", "krs-v-linked", "reversals-v"]
BASELINES = ("dl:8", "dl:18", "dl:5")
POPS = (50, 100, 200, 400, 1000)
TIMED = (
    "dl:8",
    "dl:18",
    "max-ent, chosen",
    "network, coverage, loose",
    "network, coverage, chosen",
)
TURNS = 2


Pairs = list[tuple[str, str]]


def corpora(folder: Path) -> Iterator[dict[str, Any]]:
    """Each pair as an experiment names it, and the lines to choose on (`choose`)."""
    for name, (treebank, spelling) in PAIRS.items():
        where, lang = folder / name.replace(" ", "-"), name[:2]
        where.mkdir(parents=True, exist_ok=True)
        if not (where / "choose.en").exists():
            _split(name, where, lang)
        tagger = folder / f"{lang}.tagger"
        if not tagger.exists():
            path = SHARED / "data" / "ud" / treebank / "train.conllu.xz"
            Tagger.fit(read_treebank(path, spelling=spelling)).save(tagger)
        tagged = {part: where / f"{part}.tagged.{lang}" for part in ("test", "choose")}
        for part, path in tagged.items():
            if not path.exists():
                sentences = Tagger.load(tagger).annotate(open_text(where / f"{part}.{lang}"))
                _write(path, list(map(factored, sentences)))
        sides = {
            part: [str(where / f"{part}.{side}") for side in (lang, "en")]
            for part in ("train", "dev", "test", "choose")
        }
        if lang in VERB_FIRST:
            numbers = [n for n, line in enumerate(open_text(tagged["test"]), 1) if is_vs(line)]
            _write(where / "verb-first", list(map(str, numbers)))
        base: dict[str, Any] = {"text": TOKENISED, "annotate": {"annotator": str(tagger)}}
        if name in RUNS:
            base["tune"] = {"runs": RUNS[name]}
        yield {
            "corpus": {
                "name": name,
                "src": sides["train"][0],
                "tgt": sides["train"][1],
                "dev": sides["dev"],
                "test": sides["test"],
                "test_tags": str(tagged["test"]),
                "base": base,
                **({"subset": str(where / "verb-first")} if lang in VERB_FIRST else {}),
            },
            "choose": sides["choose"],
            "choose tagged": str(tagged["choose"]),
        }


def is_vs(line: str) -> bool:
    """Whether the first verb stands before the first noun or pronoun, which is then its subject.

    A shallow look, as that of Bisazza and Federico (2013), whose `vs-09` is such a subset.
    """
    tags = [token.split("|")[1] for token in line.split()]
    first = next((tag for tag in tags if tag in ("VERB", "NOUN", "PROPN", "PRON")), "")
    return first == "VERB" and any(tag in ("NOUN", "PROPN", "PRON") for tag in tags)


def _split(name: str, where: Path, lang: str) -> None:
    """Write the parts of a pair. Lines that say what a held-out line says are not trained on."""
    pairs, given = _texts(name, lang)
    sizes = {"choose": CHOOSE} if given else {"choose": CHOOSE, "dev": DEV, "test": TEST}
    parts: dict[str, Pairs] = dict(given)
    step = len(pairs) // sum(sizes.values())
    spread = pairs[step - 1 :: step]
    for part, size in sizes.items():
        parts[part] = spread[:: len(spread) // size][:size]
        taken = set(parts[part])
        spread = [pair for pair in spread if pair not in taken]
    held = [pair for part in sizes for pair in parts[part]]
    sides = [{pair[side] for pair in held} for side in (0, 1)]
    parts["train"] = [p for p in pairs if p[0] not in sides[0] and p[1] not in sides[1]]
    for part, chosen in parts.items():
        for side, suffix in enumerate((lang, "en")):
            _write(where / f"{part}.{suffix}", [pair[side] for pair in chosen])


def _texts(name: str, lang: str) -> tuple[Pairs, dict[str, Pairs]]:
    """All training pairs, tokenised, and the dev and test set where they are of the same kind."""

    def read(paths: Sequence[Path]) -> Pairs:
        return list(zip(*map(open_text, paths), strict=True))

    if name in GOLD:
        where = SHARED / "data" / "align" / name
        pairs = read([where / f"bitext.{side}.xz" for side in (lang, "en")])[GOLD[name] :]
        parts = ("dev", "test")
        return pairs, {
            part: read([where / f"{part}.{s}.xz" for s in (lang, "en")]) for part in parts
        }
    if name == "ja-en small":
        where = SHARED / "reference" / "ja-en"
        pairs = read([where / f"train.{side}.xz" for side in (lang, "en")])
        parts = ("dev", "test")
        return pairs, {part: read([where / f"{part}.{s}" for s in (lang, "en")]) for part in parts}
    source, target = Preparation(lang, case="lower"), Preparation("en", case="lower")
    where = SHARED / "data" / name
    raw = read([where / f"train.{side}.xz" for side in (lang, "en")])
    return [(" ".join(source.prepare(a)), " ".join(target.prepare(b))) for a, b in raw], {}


def _write(path: Path, lines: Sequence[str]) -> None:
    with new_file(path) as file:
        file.writelines(f"{line}\n" for line in lines)


def described(corpus: dict[str, Any], chosen: dict[str, str], baseline: str) -> Experiment:
    """The rows: limits alone, each model with loose pruning, with what was chosen, and with none.

    The last on small pairs alone. All are tuned from the weights of one first tuning, so that they
    differ by no luck of the start.
    """
    first = "first tuning"
    variants: list[dict[str, Any]] = [{"name": first, "search": {"space": "dl:8"}}]
    variants += [
        {"name": limit, "start": first, "search": {"space": limit}}
        for limit in ("dl:5", "dl:8", "dl:18")
    ]
    for row, (feature, options) in MODELS.items():
        spaces = {"loose": LOOSE.space("dl:18", feature)}
        if row in chosen and chosen[row] != spaces["loose"]:
            spaces["chosen"] = chosen[row]
        if row == "network, coverage" and corpus["name"] not in GOLD:
            spaces["unpruned"] = "dl:18"
        for kind, space in spaces.items():
            own = {"search": {"space": space}, "model": {"features": [feature]}, feature: options}
            variants.append({"name": f"{row}, {kind}", "start": first, **own})
    values: dict[str, Any] = {
        "name": "Long jumps",
        "base": BASE,
        "variant": variants,
        "baseline": baseline,
    }
    values = {**values, "metrics": METRICS, "each_run": True, "corpus": [corpus]}
    return Experiment.from_dict(values, Path())


def choose(pair: dict[str, Any], out: Path, threads: int) -> dict[str, Any]:
    """Tune models with loose pruning, and try the grid with their weights on the lines held out."""
    rows = described(pair["corpus"], {}, BASELINES[0])
    plans = rows.plans(rows.corpora[0])
    result: dict[str, Any] = {}
    for row in CHOSEN:
        feature = MODELS[row][0]
        system, links = _opened(rows, plans, f"{row}, loose", out, threads)
        src, gold = list(open_text(pair["choose"][0])), _gold(pair["choose"], links)
        orders = [pair["choose tagged"], pair["choose"][1], out / "choose.links"]
        aligned = Aligner.load(links / "aligner").align(
            Bitext.read(*pair["choose"]), threads=threads
        )
        aligned.write(orders[-1])
        worth = worth_decoding(system, orders, GRID, feature)
        grid = prune_grid(
            system,
            src,
            gold,
            prunings=worth if LOOSE in worth else [*worth, LOOSE],
            feature=feature,
            metric=CHOICE,
            threads=threads,
        )
        *pruned, _ = grid.tried
        best = max(pruned, key=lambda tried: tried.score)
        result[row] = {"chosen": best.space, "least work": grid.chosen, "grid": grid.to_dict()}
        print(json.dumps({"pair": pair["corpus"]["name"], "model": row, "chosen": best.space}))
    return result


def _opened(rows: Experiment, plans: Any, row: str, out: Path, threads: int) -> tuple[System, Path]:
    """A tuned row, made if it is missing, and the folder of the pair's aligner."""
    with Store(out / "work", threads=threads, watch=watch) as store:
        _, links = store.run([rows.weights(plans)[row], plans[row].links])
    return experiment.open_variant(rows, out, 0, row), links.path


def _gold(files: Sequence[str], links: Path) -> Gold:
    return read_gold(files[1:], files[0], aligner=links / "aligner")


def table(pair: dict[str, Any], out: Path, threads: int) -> list[dict[str, Any]]:
    """All rows on the test set, beside each baseline."""
    chosen = _chosen(out)
    result = []
    for baseline in BASELINES:
        rows = described(pair["corpus"], chosen, baseline)
        found = experiment.run(rows, out, watch=watch, threads=threads)
        print(plain(found), flush=True)
        result += [{"baseline": baseline, **row} for row in found.to_dict()["rows"]]
    for row in result:
        row["space"] = next(v for v in rows.variants if v.name == row["variant"]).choices["search"][
            "space"
        ]
    return result


def _chosen(out: Path) -> dict[str, str]:
    found = json.loads((out / "chosen.json").read_text(encoding="utf-8"))
    return {row: found[row]["chosen"] for row in CHOSEN}


def curves(pair: dict[str, Any], out: Path) -> list[dict[str, Any]]:
    """BLEU, reversal F1 and CPU time a word of the test set over pop limits, rows in turns."""
    [aligner] = (out / "work").glob("align-*/aligner")  # All rows share it.
    gold = read_gold(pair["corpus"]["test"][1:], pair["corpus"]["test"][0], aligner=aligner)
    lines = list(open_text(pair["corpus"]["test"][0]))
    words = sum(len(line.split()) for line in lines)
    metrics = {name: make_metric(name, gold, Options(tokenize="none")) for name in METRICS[:3]}
    opened = dict(_timed(out / "systems"))
    result = []
    for pops in POPS:
        times: dict[str, list[float]] = {name: [] for name in opened}
        outputs: dict[str, Output] = {}
        for _ in range(TURNS):
            for name, system in opened.items():
                # A new decoder has met no phrase yet.
                fresh = system.with_settings(pop_limit=pops)
                start = time.process_time()
                found = fresh.translate(lines, prepared=True, threads=1)
                times[name].append(1000 * (time.process_time() - start) / words)
                texts = [" ".join(one.tokens) for one in found]
                outputs[name] = Output(name, texts, [one.links for one in found])
        for name, own in times.items():
            scores = {
                m: round(metric.corpus_score(outputs[name]), 2) for m, metric in metrics.items()
            }
            ratios = [a / b for a, b in zip(own, times["dl:8"], strict=True)]
            cost = {"ms": round(median(own), 4), "to dl:8": round(median(ratios), 3)}
            result.append(
                {"corpus": pair["corpus"]["name"], "variant": name, "pops": pops, **scores, **cost}
            )
            print(json.dumps(result[-1]), flush=True)
    return result


def _timed(systems: Path) -> Iterator[tuple[str, System]]:
    """The tuned systems of a table; pruned ones also with pops for the edges that are kept."""
    for name in TIMED:
        system = load(systems / experiment.folder_name(name))
        yield name, system
        space = system.settings.space
        if space.endswith(")"):
            yield f"{name}, pops kept", system.with_settings(space=f"{space[:-1]},pops=kept)")


def main() -> None:
    """Run the step that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("choose", "table", "curves"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", nargs="+", default=[], help="names of pairs")
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()
    if not SHARED.is_dir():
        parser.exit(1, "the real data folder ../shared is not there\n")
    rows: list[dict[str, Any]] = []
    for pair in corpora(args.out / "text"):
        name = pair["corpus"]["name"]
        if args.only and name not in args.only:
            continue
        out = args.out / name.replace(" ", "-")
        if args.step == "choose":
            found = choose(pair, out, args.threads)
            with new_file(out / "chosen.json") as file:
                json.dump(found, file)
            rows += [{"corpus": name, "model": row, **what} for row, what in found.items()]
        else:
            rows += table(pair, out, args.threads) if args.step == "table" else curves(pair, out)
    print(f"written to {write_result(f'long-{args.step}', rows)}")


if __name__ == "__main__":
    main()
