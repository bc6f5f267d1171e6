"""Make a toy corpus: real word-order problems, and everything about them known.

Writes train, dev and test, each as PART.de PART.en PART.links PART.order PART.factored.de
(and so on for the other pairs). The pair old-de is one of spellings: German as it might have been
written four hundred years ago, and as it is written today. The pair ur-en is full of names that
no other text has, written with the letters of Urdu and of English.

example: wayword toy de-en -n 10000 -o toy/
         wayword toy old-de -n 5000 -o spelling/
"""

import argparse

from wayword.cli.terminal import add_json, add_seed, print_json


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("pair", metavar="PAIR", help="de-en, ar-en, ja-en, old-de or ur-en")
    parser.add_argument(
        "-n", type=int, default=10_000, metavar="N", help="training pairs (default 10000)"
    )
    parser.add_argument("-o", "--out", required=True, metavar="DIR", help="folder to write to")
    add_seed(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Generate and say what was written."""
    from wayword.corpus import toy

    paths = toy.write(args.pair, args.n, args.out, seed=args.seed)
    if args.json:
        names = [str(path) for path in paths]
        print_json({"pair": args.pair, "seed": args.seed, "files": names})
        return
    for path in paths:
        print(path)
