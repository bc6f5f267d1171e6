"""Find which words of the two sides of a tokenised text mean the same.

Prints one line of links a sentence pair: `0-0 1-2`, source position first, from 0. A trained
aligner is kept with --save and used on other text with --load.

example: wayword align train.de train.en --save de-en.aligner > train.links
         wayword align new.de new.en --load de-en.aligner > new.links
         wayword align --score train.links gold.txt
"""

import argparse
import sys

from wayword.cli.terminal import add_bitext, add_json, add_threads, bar, print_json

SCORES = ("precision", "recall", "f1", "aer")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_bitext(parser, nargs="*")
    parser.add_argument("--model", default="hmm", help="hmm, diagonal, eflomal or fast_align")
    parser.add_argument("--save", metavar="FILE", help="keep the trained aligner")
    parser.add_argument("--load", metavar="FILE", help="use a kept aligner, learn nothing")
    parser.add_argument("--symmetrise", metavar="HOW", help="threshold, intersect, union, grow, …")
    parser.add_argument("--threshold", type=float, metavar="P", help="least posterior of a link")
    parser.add_argument(
        "--posteriors", action="store_true", help="print links as 0-0:0.98, with their posteriors"
    )
    parser.add_argument(
        "--score", nargs=2, metavar=("LINKS", "GOLD"), help="compare links with gold ones"
    )
    add_threads(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Score links, or make them."""
    from wayword.errors import ArgumentError

    if args.score:
        _print_score(*args.score, as_json=args.json)
    elif not args.text:
        raise ArgumentError("align: found no text; expected two files, or --score")
    else:
        _align(args)


def _align(args: argparse.Namespace) -> None:
    from wayword import align
    from wayword.corpus.collection import find_pieces, read_bitext

    langs = args.src_lang, args.tgt_lang
    with bar("read", " pairs"):
        bitext = read_bitext(find_pieces(args.text, langs), langs, args.columns)
    if args.model in align.EXTERNAL and not args.load:
        _refuse_for_external(args)
        how = args.symmetrise or "grow-diag-final-and"
        forward, reverse = align.run_external(args.model, bitext)
        for line in align.symmetrise(forward, reverse, bitext, how).lines():
            print(line)
        return
    if args.load:
        aligner = align.Aligner.load(args.load)
    else:
        with bar("align: learn", " pairs") as progress:
            aligner = align.fit(bitext, model=args.model, threads=args.threads, progress=progress)
        if aligner.summary and aligner.summary.note():
            print(f"wayword: {aligner.summary.note()}", file=sys.stderr)
    if args.save:
        aligner.save(args.save)
    with bar("align: link", " pairs") as progress:
        links, posteriors = aligner.align_with_posteriors(
            bitext,
            symmetrise=args.symmetrise or "threshold",
            threshold=args.threshold,
            threads=args.threads,
            progress=progress,
        )
    for line in links.lines(posteriors if args.posteriors else None):
        print(line)


def _refuse_for_external(args: argparse.Namespace) -> None:
    from wayword.errors import ArgumentError

    for name in ("save", "posteriors", "threshold"):
        if getattr(args, name):
            raise ArgumentError(f"{name}: `{args.model}` has none; expected a built-in model")


def _print_score(links: str, gold: str, *, as_json: bool) -> None:
    from wayword import align
    from wayword.report.table import listing

    score = align.score_links(align.read_links(links), align.read_gold(gold))
    if as_json:
        print_json(vars(score))
        return
    shares = [(name, f"{getattr(score, name):.4f}") for name in SCORES]
    print(listing([*shares, ("sentences", score.sentences)]))
