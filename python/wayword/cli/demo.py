"""Show what wayword does on text it makes itself: toy corpora whose word order is known.

example: wayword demo
"""

import argparse

from wayword.cli.terminal import add_seed


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "-o", "--out", default="demo", metavar="DIR", help="folder to write to (default: demo)"
    )
    parser.add_argument("-n", type=int, default=2000, metavar="N", help="training pairs of each")
    add_seed(parser)


def run(args: argparse.Namespace) -> None:
    """Print as it goes."""
    from wayword.cli.display import Display
    from wayword.demo import demonstrate

    with Display("demo") as display:
        for line in demonstrate(args.out, size=args.n, seed=args.seed):
            display.hand_out(line)
