"""Write a system as a Moses configuration with text tables and ARPA language models.

example: wayword export-moses system -o model
"""

import argparse

from wayword.cli.terminal import bar


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("system", metavar="SYSTEM", help="a system folder")
    parser.add_argument("-o", "--out", required=True, metavar="FOLDER", help="the new folder")


def run(args: argparse.Namespace) -> None:
    """Export and say where."""
    from wayword.moses import export_moses
    from wayword.system import System

    with bar("export", " pairs") as progress:
        print(export_moses(System.open(args.system), args.out, progress=progress))
