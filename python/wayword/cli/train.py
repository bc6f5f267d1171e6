"""Train a translation system from two line-aligned text files, one sentence a line.

Everything is done in one go: bad lines are taken out, text is tokenised, words are linked, phrases
and a language model are learned, weights are tuned. Run the same command again after an
interruption, and it goes on where it was; change a setting, and only what depends on it is done
again. Without --dev some lines are held out for tuning.

example: wayword train train.de train.en --dev dev.de dev.en -o system
         wayword translate system < input.txt
"""

import argparse
import sys

from wayword.cli.terminal import add_json, add_threads, bar, print_json

HELP = "train a system from two text files"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("src", metavar="SRC", help="source text, its name ending in the language: train.de")
    add("tgt", metavar="TGT", help="target text, line by line the same")
    add("-o", "--out", required=True, metavar="SYSTEM", help="the system folder")
    add("--dev", nargs="+", default=[], metavar="FILE", help="a source and its references")
    add("--config", metavar="FILE", help="choices in TOML; configs/default.toml explains them")
    add("--set", nargs="+", default=[], metavar="KEY=VALUE", help="single choices: lm.order=4")
    add_threads(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Train, telling each stage, and end with a table of what it took."""
    from wayword.config import Config, merged, read_toml, with_choices
    from wayword.pipeline import train
    from wayword.report.table import Table
    from wayword.store import Stage

    values = read_toml(args.config) if args.config else {}
    config = Config.from_dict(merged(values, with_choices(args.set)))
    stages: list[Stage] = []

    def watch(name: str, stage: Stage | None) -> None:
        if stage is not None:
            stages.append(stage)
            took = "as before" if stage.reused else f"{stage.cost.seconds:.0f} s"
            print(f"wayword: {name}: {took}", file=sys.stderr)

    with bar("train", " units") as progress:
        options = {"threads": args.threads, "progress": progress, "watch": watch}
        system = train(args.src, args.tgt, args.out, dev=args.dev, config=config, **options)
    if args.json:
        print_json([{"stage": s.name, **vars(s.cost), **s.facts} for s in stages])
        return
    rows = [(s.name, s.cost.seconds, s.cost.cpu, s.cost.memory) for s in stages]
    print(Table(["stage", "seconds", "CPU s", "MB"], rows).text())
    made = system.recipe.made
    held = "; the dev set was held out of the training text" if made["held_out"] else ""
    print(f"dev {made['dev']['metric']} {made['dev']['score']:.2f}{held}")
    print(f"translate with: wayword translate {args.out} < input.txt")
