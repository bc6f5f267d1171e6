"""`wayword oracle order`: how near spaces come to the orders of a text."""

import argparse

from wayword.cli.terminal import add_json, add_threads, bar, chosen, print_json

FORMS = ("text", "markdown", "latex", "csv")


def configure_order(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("files", metavar="FILE", nargs="+", help="LINKS, or SRC TGT LINKS")
    add("--space", nargs="+", metavar="SPACE", help="spaces to compare")
    add(
        "--heuristic",
        default="mean",
        metavar="NAME",
        help="the order of words with several links or none: mean, leftmost or attach (mean)",
    )
    add("--bins", type=int, nargs="*", default=[], metavar="N", help="longest lengths of bins")
    add("--most", type=int, default=200_000, metavar="N", help="places searched a sentence")
    add("--form", default="text", choices=FORMS, help=", ".join(FORMS))
    add_threads(parser)
    add_json(parser)
    parser.set_defaults(action=run_order)


def run_order(args: argparse.Namespace) -> None:
    """Measure and print the table."""
    from wayword.oracle.order import SPACES, order_oracle
    from wayword.oracle.read import read_linked
    from wayword.report.oracle import order_table

    links, lengths = read_linked(args.files)
    with bar("oracle order", " lines") as progress:
        rows = order_oracle(
            links,
            args.space or SPACES,
            lengths=None if lengths is None else [src for src, _ in lengths],
            progress=progress,
            **chosen(args, "heuristic", "bins", "most", "threads"),
        )
    found = [row.to_dict() for row in rows]
    if args.json:
        print_json(found)
        return
    print(getattr(order_table(found), args.form)().rstrip("\n"))
