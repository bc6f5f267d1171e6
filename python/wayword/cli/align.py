"""Find which words of the two sides of a tokenised text mean the same.

Prints one line of links a sentence pair: `0-0 1-2`, source position first, from 0. A trained
aligner is kept with --save and used on other text with --load; --sample learns from a part of a
large text. With --score each line begins with a score between 0 and 1, how likely the pair is a
translation, and a tab; with two files, --score compares links with gold ones instead.

example: wayword align train.de train.en --save de-en.aligner > train.links
         wayword align new.de new.en --load de-en.aligner --score > new.links
         wayword align big.de big.en --sample 200000 -o big.links
         wayword align --score train.links gold.txt
"""

import argparse
from typing import TYPE_CHECKING, Any

from wayword.cli import align_text
from wayword.cli.terminal import add_bitext, add_json, add_seed, add_threads, bar, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wayword.corpus.collection import Piece

SCORES = ("precision", "recall", "f1", "aer")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_bitext(parser, nargs="*")
    add = parser.add_argument
    add("-o", "--out", metavar="FILE", help="write there, in parts: a killed run goes on")
    add("--model", default="hmm", help="hmm, diagonal, eflomal or fast_align")
    add("--sample", type=int, metavar="N", help="learn from N pairs, then align all")
    add("--save", metavar="FILE", help="keep the trained aligner")
    add("--load", metavar="FILE", help="use a kept aligner, learn nothing")
    add("--symmetrise", metavar="HOW", help="threshold, intersect, union, grow, …")
    add("--threshold", type=float, metavar="P", help="least posterior of a link")
    add("--posteriors", action="store_true", help="print links as 0-0:0.98, with their posteriors")
    add(
        "--score",
        nargs="*",
        metavar="FILE",
        help="how likely each pair is a translation; or compare LINKS with GOLD links",
    )
    add("--memory", default="2G", metavar="SIZE", help="for learning (default 2G)")
    add("--temp-dir", metavar="DIR", help="where text goes that does not fit")
    add_seed(parser)
    add_threads(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Score links, or make them."""
    from wayword.errors import ArgumentError

    if args.score:
        if len(args.score) != 2:
            raise ArgumentError(f"score: found {len(args.score)} file; expected LINKS and GOLD")
        _print_score(*args.score, as_json=args.json)
    elif not args.text:
        raise ArgumentError("align: found no text; expected two files, or --score")
    else:
        _align(args)


def _align(args: argparse.Namespace) -> None:
    from wayword import align
    from wayword.align import stream
    from wayword.corpus.collection import find_pieces
    from wayword.corpus.files import open_text

    pieces = find_pieces(args.text, (args.src_lang, args.tgt_lang))
    if args.model in align.EXTERNAL and not args.load:
        _align_elsewhere(args, pieces)
        return
    _check(args)
    with align_text.line_files(args, pieces) as files:
        parts = stream.Parts(args.out, align_text.recipe(args, files)) if args.out else None
        aligner = align_text.aligner(args, files, parts)
        pairs = (
            pair for src, tgt in files for pair in zip(open_text(src), open_text(tgt), strict=True)
        )
        options: dict[str, Any] = {
            "symmetrise": args.symmetrise or "threshold",
            "threshold": args.threshold,
            "score": args.score is not None,
            "threads": args.threads,
        }
        with bar("align: link", " pairs") as progress:
            if parts:
                options |= {"posteriors": args.posteriors, "progress": progress}
                parts.write(aligner, pairs, **options)
                return
            for aligned in stream.align_pairs(aligner, pairs, progress=progress, **options):
                for line in stream.lines_of(aligned, posteriors=args.posteriors):
                    print(line)


def _check(args: argparse.Namespace) -> None:
    """Refuse what makes no sense, before anything is read."""
    from wayword.align import Options
    from wayword.errors import ArgumentError
    from wayword.options import check_range

    Options(model=args.model, symmetrise=args.symmetrise or "threshold", memory=args.memory)
    if args.sample is not None:
        check_range("sample", args.sample, 1)
        if args.load:
            raise ArgumentError("sample: found with --load, which learns nothing; expected one")


def _align_elsewhere(args: argparse.Namespace, pieces: "Sequence[Piece]") -> None:
    from wayword import align
    from wayword.corpus.collection import read_bitext
    from wayword.errors import ArgumentError

    for name in ("save", "posteriors", "threshold", "sample", "out"):
        if getattr(args, name):
            raise ArgumentError(f"{name}: `{args.model}` has none; expected a built-in model")
    if args.score is not None:
        raise ArgumentError(f"score: `{args.model}` has none; expected a built-in model")
    with bar("read", " pairs"):
        bitext = read_bitext(pieces, (args.src_lang, args.tgt_lang), args.columns)
    forward, reverse = align.run_external(args.model, bitext)
    how = args.symmetrise or "grow-diag-final-and"
    for line in align.symmetrise(forward, reverse, bitext, how).lines():
        print(line)


def _print_score(links: str, gold: str, *, as_json: bool) -> None:
    from wayword import align
    from wayword.report.table import listing

    score = align.score_links(align.read_links(links), align.read_gold(gold))
    if as_json:
        print_json(vars(score))
        return
    shares = [(name, f"{getattr(score, name):.4f}") for name in SCORES]
    print(listing([*shares, ("sentences", score.sentences)]))
