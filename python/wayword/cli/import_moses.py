"""Make a system folder of a Moses configuration, its text tables and ARPA language models.

Weights, limits and orientation are taken over, and translations get the scores that Moses gives
them. What has no counterpart is refused.

example: wayword import-moses model/moses.ini -o system
"""

import argparse

from wayword.cli.terminal import add_json, bar, print_json


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("ini", metavar="INI", help="the configuration, moses.ini")
    parser.add_argument("-o", "--out", required=True, metavar="SYSTEM", help="the new folder")
    parser.add_argument("--packed", action="store_true", help="table scores of 16 bits")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Import and say what came over."""
    from wayword.moses import import_moses

    with bar("import", " pairs") as progress:
        system = import_moses(args.ini, args.out, packed=args.packed, progress=progress)
    if args.json:
        print_json({"settings": system.settings.to_dict(), "weights": system.weights})
        return
    print(f"{args.out}: {len(system.weights)} features, space {system.settings.space}")
