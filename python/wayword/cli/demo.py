"""Compare reordering settings on toy corpora: distortion limit, feature and pruning, each tuned.

example: wayword demo
"""

import argparse
import os

from wayword.cli.terminal import add_seed


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "-o", "--out", default="demo", metavar="DIR", help="folder to write to (default: demo)"
    )
    parser.add_argument("-n", type=int, default=2000, metavar="N", help="training pairs of each")
    parser.add_argument(
        "--texts", type=int, default=3, metavar="N", help="texts of each language pair (default: 3)"
    )
    add_seed(parser)


def run(args: argparse.Namespace) -> None:
    """Print the report as it is made."""
    from wayword.cli.display import Display
    from wayword.demo import demonstrate

    processes = os.cpu_count() or 1
    lines = demonstrate(
        args.out, size=args.n, seed=args.seed, texts=args.texts, processes=processes
    )
    with Display("demo") as display:
        for line in lines:
            display.hand_out(line)
