"""Train a translation system from two line-aligned text files, or from any text with both sides.

Everything is done in one go: bad lines are removed, text is tokenised, words are linked, phrases
and a language model are learned, weights are tuned. Run the same command again after an
interruption, and it continues where it was; change a setting, and only what depends on it is done
again. Tuning takes longest: the system can be used before it begins, with default weights. Without
--dev some lines are held out for tuning. --plan says what would be done, and why. Files whose lines
do not belong together are refused; a system whose dev output is of no use ends with exit code 1.

example: wayword train train.de train.en --dev dev.de dev.en -o system
         wayword train memory.tmx --src-lang de --tgt-lang en --glossary terms.tsv -o system
         wayword train --corpus news:2 news.de news.en --corpus web web.tsv -o system
         wayword train train.de train.en -o system --set lm.order=4 --plan
         wayword train train.de train.en -o system --memory 4G
         wayword train train.old train.de -o system --preset normalise
         wayword train train.de train.en -o system --runner ray:10.0.0.1:6379
         wayword translate system < input.txt
"""

import argparse
from typing import TYPE_CHECKING, Any

from wayword.cli.terminal import (
    add_bitext,
    add_json,
    add_runner,
    add_threads,
    print_json,
    tell_usability,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wayword.pipeline import Plan
    from wayword.stage import Result, Stage
    from wayword.store import Store


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add_bitext(parser, nargs="*")
    add(
        "--corpus",
        nargs="+",
        action="append",
        default=[],
        metavar=("NAME[:WEIGHT]", "TEXT"),
        help="text under a name, counted WEIGHT times (1); may be repeated",
    )
    add(
        "--glossary", nargs="+", default=[], metavar="TEXT", help="pairs of terms, as more evidence"
    )
    add("--glossary-weight", type=int, default=1, metavar="N", help="how often they count (1)")
    add("-o", "--out", required=True, metavar="SYSTEM", help="the system folder")
    add("--dev", nargs="+", default=[], metavar="FILE", help="a source and its references")
    add("--test", nargs="+", default=[], metavar="FILE", help="the same, to measure it at the end")
    add("--config", metavar="FILE", help="choices in TOML; `wayword config` prints them all")
    add("--preset", metavar="NAME", help="ready-made choices: normalise, for spelling")
    add(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="KEY=VALUE",
        help="single choices: lm.order=4",
    )
    add("--memory", metavar="SIZE", help="what each stage keeps to, such as 4G (1G, aligning 2G)")
    add_runner(parser)
    add("--plan", action="store_true", help="only say what would run, what is kept, and why")
    add_threads(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Train, telling each stage, and end with a table of what it took."""
    from pathlib import Path

    from wayword.cli.display import Display, StageDisplay
    from wayword.cli.train_text import collection_of, with_languages
    from wayword.cluster import open_runner
    from wayword.config import chosen_config, preset
    from wayword.corpus.files import size_in_bytes
    from wayword.evaluate.usability import UsabilityCheck
    from wayword.manifest import read_manifest
    from wayword.pipeline import assemble, measure, plan
    from wayword.stages import check_evaluation
    from wayword.store import Store

    base = preset(args.preset) if args.preset else {}
    choices = args.set
    if args.memory is not None:
        size_in_bytes(args.memory)
        choices = [f'memory="{args.memory}"', *choices]
    config = with_languages(chosen_config(args.config, choices, base=base), args)
    work, display = Path(args.out) / "work", StageDisplay()

    def watch(stage: "Stage", result: "Result | None") -> None:
        is_tuning = result is None and stage is planned.weights
        if is_tuning and not read_manifest(Path(args.out)).made["tuned"]:
            display.say(f"{args.out} is there, untuned: it can be used while its weights are tuned")
        display.watch(stage, result)

    room = {"threads": args.threads, "progress": display.progress, "watch": watch}
    runner = open_runner(args.runner, work, storage=args.storage, **room)
    with Display("look at the text"):  # which is read once to know it again
        planned = plan(collection_of(args, config), None, config, dev=args.dev)
        check_evaluation(args.test, "--test")
        _ = planned.stages
    if args.plan:
        _print_plan(planned, Store(work), args)
        return
    with display, runner as store:
        if args.test:
            store.run([planned.test_stage(args.test)])  # refuse a wrong one before long work
        made = assemble(args.out, planned, store).made
        if args.test:
            display.begin("test")
            made = measure(args.out, planned, args.test).made
    _print_results(args, display.results, made)
    tell_usability(UsabilityCheck.from_dict(made["usability"]), args.out)


def _print_results(
    args: argparse.Namespace, results: "Sequence[Result]", made: "Mapping[str, Any]"
) -> None:
    from wayword.report.table import Table
    from wayword.report.tuning import weights_taken

    if args.json:
        print_json([{"stage": r.name, **vars(r.cost), **r.facts} for r in results])
        return
    rows = [(r.name, r.cost.seconds, r.cost.cpu, r.cost.memory) for r in results]
    print(Table(["stage", "seconds", "CPU s", "MB"], rows).text())
    for one in made.get("advice", ())[:1]:
        print(f"{one['key']} {one['value']}, as advised: {one['why']}")
    held = "; the dev set was held out of the training text" if made["held_out"] else ""
    dev = made["dev"]
    print(f"weights: {weights_taken(dev['averaged'], dev['runs'])}")
    print(f"dev {dev['metric']} {dev['score']:.2f} on prepared text{held}  {dev['signature']}")
    for metric, facts in made.get("test", {}).get("scores", {}).items():
        print(f"test {metric} {facts['score']:.2f}  {facts['signature']}")
    print(f"translate with: wayword translate {args.out} < input.txt")


def _print_plan(planned: "Plan", store: "Store", args: argparse.Namespace) -> None:
    steps = store.plan(planned.stages)
    if args.json:
        shown = [(s.stage, "kept" if s.is_kept else "run", s.why) for s in steps]
        print_json(
            [{"stage": s.name, "key": s.key, "does": does, "why": why} for s, does, why in shown]
        )
        return
    rows = [(s.stage.name, "kept" if s.is_kept else "runs", s.why) for s in steps]
    from wayword.report.table import Table

    print(Table(["stage", "does", "why"], rows).text())
