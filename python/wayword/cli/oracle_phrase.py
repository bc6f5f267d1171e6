"""`wayword oracle phrase`: what a system could reach, and where the rest is lost."""

import argparse
from dataclasses import asdict

from wayword.cli.terminal import add_json, add_threads, bar, chosen, print_json


def configure_phrase(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("system", metavar="SYSTEM", help="a system folder")
    add("src", metavar="SRC", help="source text")
    add("refs", metavar="REF", nargs="+", help="one or more references")
    add("--prepared", action="store_true", help="the text is tokenised already")
    add("--space", metavar="SPACE", help="the system's own unless given: mono, dl:K, ibm:K, mj1, …")
    add("--bins", type=int, nargs="*", metavar="N", help="longest lengths of bins (10 20 30 40)")
    add("--pop-limit", type=int, default=400, metavar="N", help="of the search (400; 0: all)")
    add("--options-per-span", type=int, default=100, metavar="N", help="translations tried (100)")
    add("--nbest", type=int, default=100, metavar="N", help="strings compared by BLEU (100)")
    add("--worst", type=int, default=0, metavar="N", help="show N sentences that lack most words")
    add_threads(parser)
    add_json(parser)
    parser.set_defaults(action=run_phrase)


def run_phrase(args: argparse.Namespace) -> None:
    """Measure and print the losses."""
    from wayword.oracle.phrase import BINS, phrase_oracle
    from wayword.report.oracle import reach_table
    from wayword.system import System
    from wayword.tune.dev import read_dev

    system = System.open(args.system)
    src, gold = read_dev(system, [args.src, *args.refs], prepared=args.prepared)
    with bar("oracle phrase", " lines") as progress:
        reach = phrase_oracle(
            system,
            src,
            gold,
            bins=BINS if args.bins is None else args.bins,
            progress=progress,
            **chosen(args, "space", "pop_limit", "options_per_span", "nbest", "threads"),
        )
    numbered = list(enumerate(reach.sentences, 1))
    worst = sorted(numbered, key=lambda pair: -len(pair[1].missing))[: args.worst]
    rows = [row.to_dict() for row in reach.rows]
    if args.json:
        shown = [{"line": number, **asdict(sentence)} for number, sentence in worst]
        print_json({"space": reach.space, "rows": rows, "worst": shown})
        return
    print(reach_table(rows).text())
    print(f"\nBLEU in {reach.space}: {reach.signature}")
    for number, sentence in worst:
        print(f"\nline {number}: no phrase for {' '.join(sentence.missing) or 'nothing'}")
        print(f"  output   {sentence.output}\n  reached  {sentence.reached}")
        print(f"  any order {sentence.any_order}")
