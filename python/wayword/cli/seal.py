"""Accept changes that you made to a system by hand: its manifest, a lexicon, a truecaser.

A system folder is checked as it is read, and a changed byte is an error that names the file. After
you edited weights or settings in `system.toml`, or a text file such as `lexicon`, this command
reads the system, so that a mistake is an error, and notes the checksums of the files as they are.

example: wayword seal system
"""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("system", metavar="SYSTEM", help="a system folder")
    add("--trust", action="store_true", help="let the system run annotators of others, as spaCy")


def run(args: argparse.Namespace) -> None:
    """Seal the folder and print which files had changed."""
    from wayword.seal import seal
    from wayword.store import locked
    from wayword.system import System

    System.open(args.system, trust=args.trust, accept=True)  # fail before the folder is locked
    with locked(args.system):
        changed = seal(args.system, trust=args.trust)
    shown = f"accepted changes of {', '.join(changed)}" if changed else "no file had changed"
    print(f"{args.system}: {shown}")
