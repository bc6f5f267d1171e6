"""Show what a system is made of, how good it is and where it fails, as a page.

Text of a test set is raw, and prepared as the system does it. Metrics of word order and alignment
samples need the system's aligner, tuning curves its `work` folder. --other puts a second system
beside it.

example: wayword report system --test test.de test.en --html system.html
         wayword report baseline --other system --test test.de test.en --html both.html
"""

import argparse
import sys

from wayword.cli.terminal import add_json, add_threads, bar, print_json


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("system", metavar="SYSTEM", help="a system folder, or a file of `wayword pack`")
    add("--other", metavar="SYSTEM", help="a second system, side by side")
    add("--test", nargs="+", default=[], metavar="FILE", help="a source and its references")
    add("--prepared", action="store_true", help="the test set is tokenised already")
    add(
        "--oracle",
        type=int,
        default=100,
        metavar="N",
        help="sentences for the phrase oracle (100; 0: none)",
    )
    add("--html", metavar="FILE", help="write a page")
    add_threads(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Gather and print, or write the page."""
    from wayword.overview import report
    from wayword.stages import check_evaluation

    check_evaluation(args.test, "--test")
    with bar("report", " sentences") as progress:
        told = report(
            args.system,
            args.other,
            test=args.test,
            prepared=args.prepared,
            oracle=args.oracle,
            threads=args.threads,
            progress=progress,
        )
    if args.html:
        from wayword.corpus.files import new_file

        with new_file(args.html) as file:
            file.write(told.to_html())
        print(f"wayword: {args.html} is written", file=sys.stderr)
    if args.json:
        print_json(told.to_dict())
    elif not args.html:
        print(told)
