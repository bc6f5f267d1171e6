"""Make what a system has learned since its training part of it, and empty its journal.

Corrections and terms that `wayword serve` or `system.learn(…, save=True)` took in are in the
journal `learned.jsonl` of the system's folder. The system uses them already; merged, they are
packed and copied with it. No translation changes. A server that has the system open goes on as
before.

example: wayword merge system
"""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("system", metavar="SYSTEM", help="a system folder")
    add("--trust", action="store_true", help="let the system run annotators of others, as spaCy")


def run(args: argparse.Namespace) -> None:
    """Merge and say how much."""
    from wayword.store import locked
    from wayword.system import System

    System.open(args.system, trust=args.trust)  # complains before anything is locked
    with locked(args.system):
        system = System.open(args.system, trust=True)
        fresh = len(system.learned.fresh)
        if fresh:
            system = system.merge()
    whole = len(system.learned.merged)
    pairs = sum(lesson.kind == "pair" for lesson in system.learned.merged)
    print(f"{args.system}: {fresh} merged; it has learned {pairs} pairs and {whole - pairs} terms")
