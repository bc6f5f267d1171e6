"""Run many variants of a system on the same text and compare them.

The file names corpora, a baseline and variants; see docs/experiment.md. Run again after an
interruption, and it goes on. The table goes to standard output and, as Markdown, LaTeX, CSV and
JSON, to the folder.

example: wayword experiment limits.toml -o limits
"""

import argparse
import sys

from wayword.cli.terminal import add_json, add_threads, bar, print_json

HELP = "compare many variants of a system"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", help="the experiment, in TOML")
    parser.add_argument("-o", "--out", required=True, metavar="FOLDER", help="results and work")
    add_threads(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Run and print the table."""
    from wayword import experiment
    from wayword.report.experiment import plain
    from wayword.stage import Result, Stage

    def watch(stage: Stage, result: Result | None) -> None:
        if result is not None and not result.reused:
            print(f"wayword: {stage.name}: {result.cost.seconds:.0f} s", file=sys.stderr)

    described = experiment.Experiment.read(args.file)
    with bar("experiment", " units") as progress:
        options = {"threads": args.threads, "progress": progress, "watch": watch}
        result = experiment.run(described, args.out, **options)
    print_json(result.to_dict()) if args.json else print(plain(result))
