"""Print every setting of `wayword train` with its default and what it means.

Put those you change into a file for `wayword train --config`, or give them one by one with --set.

example: wayword config > my.toml
         wayword config --explain search.space
"""

import argparse

from wayword.cli.terminal import add_json, print_json


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--explain", metavar="KEY", help="one key, such as lm.order, or a section")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Print the file, or what it says of a key."""
    from wayword.config import Config, default_text, explain

    if args.explain:
        print(explain(args.explain))
    elif args.json:
        print_json(Config().to_dict())
    else:
        print(default_text(), end="")
