"""Look for errors in a translation: words left out or added, numbers, names, terms, order.

Works for any translation, human or machine, without a reference. An aligner knows which words
translate each other: a saved one, that of a system folder, or one learned now from a bitext. Each
finding has a score, the probability that it is an error.

example: wayword audit text.de text.en --langs de en --aligner de-en.aligner
         wayword audit text.de text.en system --html report.html
         wayword audit text.de text.en --langs de en --align-on train.de train.en --json
"""

import argparse
from typing import TYPE_CHECKING

from wayword.cli.terminal import add_json, add_threads, bar, print_json
from wayword.errors import ArgumentError
from wayword.options import check_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wayword.align import Aligner
    from wayword.corpus.text import Preparation


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("src", metavar="SRC", help="source text, one sentence per line (.gz .xz .zst)")
    add("tgt", metavar="TGT", help="its translation, line by line")
    add("system", metavar="SYSTEM", nargs="?", help="a system folder: its aligner and preparation")
    add("--aligner", metavar="FILE", help="a saved aligner")
    add("--align-on", metavar="FILE", nargs=2, help="learn an aligner from this bitext first")
    add("--langs", metavar="LANG", nargs=2, help="both texts are raw: their languages")
    add("--prepared", action="store_true", help="both texts are tokens with spaces between them")
    add("--case", choices=("lower", "keep"), default="lower", help="of the aligner's words (lower)")
    add("--glossary", metavar="FILE", help="term, tab, translations with | between them")
    add("--threshold", type=float, metavar="P", help="least score of a finding (default: see docs)")
    add("--html", metavar="FILE", help="write one page with all findings in their sentences")
    add_threads(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Audit and print."""
    from wayword.audit import THRESHOLD, audit, read_glossary, read_text
    from wayword.corpus.files import new_file
    from wayword.report.audit import describe, to_html

    threshold = THRESHOLD if args.threshold is None else args.threshold
    check_range("threshold", threshold, 0, 1)  # before an aligner is learned
    glossary = read_glossary(args.glossary) if args.glossary else []
    lowercase = args.case == "lower" and not args.system
    with bar("audit", ""):
        aligner, preparations = _tools(args)
        text = read_text(args.src, args.tgt, preparations, lowercase=lowercase)
        result = audit(text, aligner, glossary=glossary, threshold=threshold, threads=args.threads)
    if args.html:
        with new_file(args.html) as file:
            file.write(to_html(result))
    if args.json:
        for finding in result.findings:
            print_json(finding.to_dict())
    else:
        print(describe(result))


def _tools(args: argparse.Namespace) -> "tuple[Aligner, Sequence[Preparation] | None]":
    """The aligner, and how raw text is prepared; None for tokens."""
    from wayword.align import Aligner, fit
    from wayword.audit import read_text
    from wayword.corpus.text import Preparation

    if sum(map(bool, (args.system, args.aligner, args.align_on))) != 1:
        raise ArgumentError("aligner: expected one of SYSTEM, --aligner FILE, --align-on SRC TGT")
    if args.system:
        if args.langs:
            raise ArgumentError("langs: found with a system, which knows its own; leave them out")
        aligner, preparations = _of_system(args.system)
        return aligner, None if args.prepared else preparations
    if bool(args.langs) == args.prepared:
        raise ArgumentError("langs: expected either --langs SRC TGT for raw text, or --prepared")
    chosen = [Preparation(lang) for lang in args.langs] if args.langs else None
    if args.aligner:
        return Aligner.load(args.aligner), chosen
    src, tgt = args.align_on
    learned_from = read_text(src, tgt, chosen, lowercase=args.case == "lower").bitext
    return fit(learned_from, threads=args.threads), chosen


def _of_system(folder: str) -> "tuple[Aligner, Sequence[Preparation] | None]":
    """Return the aligner and the text preparation of a system."""
    from wayword.system import System

    system = System.open(folder)
    text = system.text
    if text is not None and any(side.subwords is not None for side in text):
        found = "it splits words into subwords, and an audit is about words"
        advice = "try --align-on SRC TGT --langs SRC TGT"
        raise ArgumentError(f"{folder}: {found}; {advice}")
    if (aligner := system.aligner) is None:
        expected = "expected a system made by `wayword train`"
        raise ArgumentError(f"{folder}: the system has no aligner; {expected}; try --aligner FILE")
    return aligner, text
