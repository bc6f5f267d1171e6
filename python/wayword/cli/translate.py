"""Translate text, line by line.

Reads standard input when no file is given, and answers as soon as a line is complete; blank
lines stay blank. The sentences of a line are translated one by one, unless the text is prepared.
Settings given here replace those of the system. The output is the same for any number of threads.

example: wayword translate system < input.txt
         wayword translate system input.txt --space dl:12 --nbest 5 --json
         wayword translate system marked.txt --markup exclusive
         echo 'das ist ein haus' | wayword translate system --prepared --trace
"""

import argparse
import os
import stat
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from wayword.cli.terminal import add_threads, bar, print_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wayword.decode import Translation

SETTINGS = ("space", "search", "pop_limit", "stack_size", "threshold", "options_per_span", "oov")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("system", metavar="SYSTEM", help="a system folder or a packed system")
    add("file", nargs="?", default="-", metavar="FILE", help="text (default: -)")
    add("--prepared", action="store_true", help="the text is tokenised; so is the output")
    add("--no-split", action="store_true", help="take each line for one sentence")
    add("--markup", metavar="MODE", help="obey tags: exclusive, inclusive or ignore translations")
    add("--nbest", type=int, default=1, metavar="N", help="the N best translations")
    add("--distinct", action="store_true", help="equal translations once")
    add("--moses", action="store_true", help="n-best lists as Moses writes them")
    add("--trace", action="store_true", help="add which source words became which target words")
    add("--draw", action="store_true", help="draw each derivation")
    add("--stats", action="store_true", help="with --json, what the search did")
    add("--graph", action="store_true", help="with --json, the search graph")
    add("--space", help="reordering space: mono, dl:K, ibm:K, mj1, mj2, itg, dl:K+waw(…)")
    add("--search", help="cube or stack")
    add("--pop-limit", type=int, metavar="N", help="hypotheses made per word (0: all)")
    add("--stack-size", type=int, metavar="N", help="hypotheses kept per word in stack search")
    add(
        "--threshold",
        type=float,
        metavar="P",
        help="drop what is less likely than this share of the best (0: none)",
    )
    add("--options-per-span", type=int, metavar="N", help="translations tried (0: all)")
    add("--oov", help="words without a translation: copy or drop")
    add("--verify", action="store_true", help="check every byte of the system first")
    add("--trust", action="store_true", help="let the system run modules that it names")
    add("--json", action="store_true", help="one JSON object per line")
    add_threads(parser)


def run(args: argparse.Namespace) -> None:
    """Translate batch by batch and print each as soon as it is done."""
    from wayword.corpus.files import batches
    from wayword.errors import ArgumentError
    from wayword.system import System

    if (args.graph or args.stats) and not args.json:
        raise ArgumentError("--graph and --stats need --json")
    given = {name: getattr(args, name) for name in SETTINGS if getattr(args, name) is not None}
    system = System.open(args.system, trust=args.trust).with_settings(**given)
    if args.verify:
        system.verify()
    options = {
        "split": not args.no_split,
        "markup": False if args.markup is None else args.markup,
        "nbest": args.nbest,
        "distinct": args.distinct,
        "graph": args.graph,
        "threads": args.threads,
    }
    number = 0
    with _shown(args.file) as progress:
        for lines in batches(args.file):
            options["origin"] = ("stdin" if args.file == "-" else args.file, number + 1)
            for translation in system.translate(lines, prepared=args.prepared, **options):
                _print(translation, number, args)
                number += 1
            print(end="", flush=True)
            progress(number, 0)


@contextmanager
def _shown(file: str) -> "Iterator[Callable[[int, int], object]]":
    """Tell how far it is, unless people see the output itself or we may wait for theirs."""
    is_whole = file != "-" or stat.S_ISREG(os.fstat(sys.stdin.fileno()).st_mode)
    if is_whole and not sys.stdout.isatty():
        with bar("translate", "lines") as progress:
            yield progress
    else:
        yield lambda _done, _total: None


def _print(translation: "Translation", number: int, args: argparse.Namespace) -> None:
    every = translation.nbest or (translation,)
    if args.json:
        shown = translation.to_dict()
        if not args.stats:
            shown.pop("statistics", None)
        print_json(shown)
    elif args.moses:
        print(*(other.moses_line(number) for other in every), sep="\n")
    else:
        for other in every:
            rank = f"{number}\t{other.score:.4f}\t" if args.nbest > 1 else ""
            print(f"{rank}{other.text}{_trace(other) if args.trace else ''}")
            if args.draw:
                print(other.draw())


def _trace(translation: "Translation") -> str:
    """The fields of a trace; further ones only where there is something to tell."""
    fields = [translation.trace(), translation.word_trace()]
    if translation.offsets is not None:  # raw text: which words do positions speak of?
        fields.append(f"source: {' '.join(translation.source)}")
        places = [f"{at[0]}-{at[1]}" if at else "-" for at in translation.offsets]
        fields.append(f"offsets: {' '.join(places)}")
    if translation.unknown:
        fields.append(f"unknown: {' '.join(map(str, translation.unknown))}")
    if translation.spelled:
        fields.append(f"spelled: {' '.join(map(str, translation.spelled))}")
    return "".join(f"\t{field}" for field in fields)
