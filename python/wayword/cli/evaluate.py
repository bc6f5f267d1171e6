"""Score translations, and their word order, with intervals and significance.

BLEU, chrF, TER, NIST, METEOR and RIBES need text alone. KRS, KRS-V, FRS and LRscore need the
source and its links with each output (--links) and each reference (--ref-links), or a saved
aligner that makes them. The first system is the baseline that others are compared with.

example: wayword evaluate out.en ref.en
         wayword evaluate base.en ref1.en ref2.en --system new=new.en --metrics bleu,chrf
         wayword evaluate out.en ref.en --src test.de --links out.links --ref-links ref.links
             --pos test.pos --worst 5
"""

import argparse
import os
from dataclasses import asdict

from wayword.cli.terminal import add_json, add_seed, bar, print_json
from wayword.errors import ArgumentError

HELP = "score translations and their word order, with significance"
OPTIONS = ("tokenize", "lowercase", "smooth", "refchoice", "norm", "alpha", "threads")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("hyp", metavar="HYP", help="output of the first system, one sentence a line; - is stdin")
    add("refs", metavar="REF", nargs="+", help="references, line by line")
    add("--system", metavar="NAME=FILE", action="append", default=[], help="another system")
    add("--name", metavar="NAME", help="what to call the first system (default: its file's name)")
    add("--metrics", metavar="LIST", help="such as bleu,krs,ribes (default: all the usual ones)")
    add("--src", metavar="FILE", help="source text; word order needs it")
    add("--links", metavar="FILE", action="append", default=[], help="source-output, per system")
    add(
        "--ref-links", metavar="FILE", action="append", default=[], help="source-reference, per REF"
    )
    add("--aligner", metavar="PATH", help="a saved aligner makes the links that are not given")
    add("--pos", metavar="FILE", help="source tags for KRS-V: word|POS, or tags alone")
    add(
        "--verbs", metavar="LIST", default="VERB,AUX", help="tags that count (default VERB,AUX; V*)"
    )
    add("--weights", metavar="FILE", help="instead of tags, a number for each source word")
    add("--tokenize", metavar="NAME", default="none", help="a tokeniser of sacrebleu (none)")
    add("--lowercase", action="store_true", help="ignore case in BLEU, chrF and NIST too")
    add("--smooth", metavar="NAME", default="exp", help="of BLEU: none, floor, add-k, exp (exp)")
    add("--refchoice", metavar="HOW", default="closest", help="of KRS: closest, average (closest)")
    add("--norm", metavar="HOW", default="weights", help="of KRS-V: weights, literal (weights)")
    add("--alpha", type=float, default=0.5, metavar="A", help="share of KRS in LRscore (0.5)")
    add("--test", metavar="NAME", default="randomization", help="or bootstrap (randomization)")
    add("--rounds", type=int, default=10_000, metavar="N", help="of the test (10000)")
    add("--resamples", type=int, default=1000, metavar="N", help="for intervals (1000)")
    add("--bins", metavar="LIST", default="10,20,30,40", help="ends of length bins (10,20,30,40)")
    add("--worst", type=int, default=0, metavar="N", help="draw the N sentences ordered worst")
    add("--threads", type=int, default=os.cpu_count() or 1, metavar="N", help="processes for TER")
    add_seed(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Measure and print."""
    from wayword.evaluate import Options, compare, drill, read
    from wayword.report.case import draw
    from wayword.report.evaluate import describe

    gold = read.read_gold(
        args.refs,
        args.src,
        ref_links=args.ref_links,
        aligner=args.aligner,
        pos=args.pos,
        verbs=args.verbs.split(","),
        weights=args.weights,
    )
    outputs = read.read_outputs(
        [(args.name, args.hyp), *map(_named, args.system)], gold, args.links, args.aligner
    )
    options = Options(**{name: getattr(args, name) for name in OPTIONS})
    with bar("evaluate", " scores") as progress:
        result = compare(
            gold,
            outputs,
            args.metrics and args.metrics.split(","),
            options=options,
            test=args.test,
            rounds=args.rounds,
            resamples=args.resamples,
            seed=args.seed,
            bins=_lengths(args.bins),
            progress=progress,
        )
    cases = {o.name: drill.worst(gold, o, args.worst, options) for o in outputs if args.worst}
    if args.json:
        worst = {name: list(map(asdict, of_system)) for name, of_system in cases.items()}
        print_json({**result.to_dict(), "worst": worst})
        return
    print(describe(result))
    for name, of_system in cases.items():
        print(f"\n{name}: ordered worst", *map(draw, of_system), sep="\n\n")


def _named(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise ArgumentError(f"system: found `{text}`; expected NAME=FILE")
    return name, path


def _lengths(text: str) -> list[int]:
    try:
        return [int(edge) for edge in text.split(",") if edge]
    except ValueError:
        wanted = "numbers of words such as 10,20,30"
        raise ArgumentError(f"bins: found `{text}`; expected {wanted}") from None
