"""Write a system as one file, to send or upload; or put such a file back into a folder.

`wayword translate` and `wayword.load` open the file directly: the first time they unpack it into
your cache (WAYWORD_CACHE, or ~/.cache/wayword) and compare every byte with its manifest.

example: wayword pack system -o de-en.wayword
         wayword translate de-en.wayword < input.txt
         wayword pack de-en.wayword -o folder
"""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("system", metavar="SYSTEM", help="a system folder, or a packed file to unpack")
    add("-o", "--out", metavar="PATH", help="the file (SYSTEM.wayword), or the new folder")


def run(args: argparse.Namespace) -> None:
    """Pack a folder, or unpack a file."""
    from pathlib import Path

    from wayword.cli.terminal import bar
    from wayword.errors import ArgumentError
    from wayword.pack import SUFFIX, pack, unpack

    system = Path(args.system)
    with bar("pack", ""):
        if system.is_file():
            if not args.out:
                raise ArgumentError("pack: found no -o; expected the name of a new folder")
            unpack(system, args.out)
            told = f"unpacked to {args.out}"
        else:
            out = Path(args.out or f"{system.resolve().name}{SUFFIX}")
            told = f"{out}: {pack(system, out):,} bytes; `wayword translate {out}` opens it"
    print(told)
