"""Run many variants of a system on the same text and compare them.

The file names corpora, a baseline and variants; see docs/experiment.md. Run again after an
interruption, and it continues. The table goes to standard output and, as Markdown, LaTeX, CSV and
JSON, to the folder, with the system of each variant (systems) and its output (outputs).

example: wayword experiment limits.toml -o limits --best system --html limits.html
"""

import argparse
import sys

from wayword.cli.terminal import add_json, add_runner, add_threads, print_json


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE", help="the experiment, in TOML")
    parser.add_argument("-o", "--out", required=True, metavar="FOLDER", help="results and work")
    parser.add_argument("--best", metavar="SYSTEM", help="copy the system of the best variant here")
    parser.add_argument(
        "--html", metavar="FILE", help="write tables, plots and sentences as a page"
    )
    add_runner(parser)
    add_threads(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Run and print the table."""
    from wayword import experiment
    from wayword.cli.display import StageDisplay
    from wayword.report.experiment import plain

    described = experiment.Experiment.read(args.file)
    with StageDisplay(names=experiment.stage_names(described)) as display:
        result = experiment.run(
            described,
            args.out,
            runner=args.runner,
            storage=args.storage,
            threads=args.threads,
            progress=display.progress,
            watch=display.watch,
        )
    print_json(result.to_dict()) if args.json else print(plain(result))
    if args.html:
        from wayword.corpus.files import new_file
        from wayword.overview.experiment import texts_of
        from wayword.report.experiment_page import page_of

        with new_file(args.html) as file:
            file.write(page_of(result, texts_of(described, args.out)))
        print(f"wayword: {args.html} is written", file=sys.stderr)
    if args.best:
        row = experiment.keep_best(described, result, args.out, args.best)
        metric = result.metrics[0]
        said = f"{row.variant} has the best {metric}, {row.scores[metric][0]:.2f}"
        print(f"wayword: {said}; its system is {args.best}", file=sys.stderr)
