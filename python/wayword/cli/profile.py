"""Describe the word order of a language pair: what moves, how far, and which settings suit it.

Raw text is tokenised and aligned on the way; text that comes with links is tokenised already.
--html writes a page that needs nothing else; --many compares pairs by what --json printed of each.

example: wayword profile train.de train.en --html de-en.html
         wayword profile train.de train.en train.links --pos train.pos
         wayword profile train.ja train.en --json > ja-en.json
         wayword profile --many de-en.json ja-en.json hi-en.json --html pairs.html
"""

import argparse
import sys
from typing import TYPE_CHECKING

from wayword.cli.terminal import add_bitext, add_json, add_threads, bar, print_json

if TYPE_CHECKING:
    from wayword.report.profile import Profile
    from wayword.report.profiles import Many


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add_bitext(parser, nargs="*")
    add("--prepared", action="store_true", help="the text is tokenised already")
    add("--tagger", metavar="NAME", default="", help="tags the source; as in annotate")
    add("--pos", metavar="FILE", default="", help="source tags: word|POS, or tags alone")
    add(
        "--oracle",
        type=int,
        metavar="N",
        help="sentences that spaces are measured on (20000; 0: all)",
    )
    add("--features", nargs="*", default=[], metavar="NAME", help="advice for a system with waw, …")
    add("--many", nargs="+", default=[], metavar="FILE", help="compare pairs by their JSON files")
    add("--html", metavar="FILE", help="write a page")
    add_threads(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Measure and print, or write the page."""
    from wayword.errors import ArgumentError

    if args.many and args.text:
        raise ArgumentError("--many: found beside text; expected JSON files alone")
    if not args.many and not args.text:
        raise ArgumentError("text: found none; expected SRC TGT [LINKS], or --many FILES")
    card: Profile | Many = _compare(args) if args.many else _measure(args)
    if args.html:
        from wayword.corpus.files import new_file

        with new_file(args.html) as file:
            file.write(card.to_html())
        print(f"wayword: {args.html} is written", file=sys.stderr)
    if args.json:
        print_json(card.to_dict())
    elif not args.html:
        print(card)


def _compare(args: argparse.Namespace) -> "Many":
    from wayword.profile.many import compare
    from wayword.report.profile import load_profile

    return compare([load_profile(path) for path in args.many])


def _measure(args: argparse.Namespace) -> "Profile":
    from wayword.profile.measure import ORACLE, profile
    from wayword.profile.read import read_text, tags_of

    langs = args.src_lang, args.tgt_lang
    with bar("profile: read and link", " pairs") as progress:
        text = read_text(
            args.text,
            langs,
            prepared=args.prepared,
            columns=args.columns,
            threads=args.threads,
            progress=progress,
        )
        tags = tags_of(text.bitext, args.tagger, args.pos)
    with bar("profile", " sentences") as progress:
        return profile(
            text.bitext,
            text.links,
            name=text.name,
            tags=tags,
            oracle=ORACLE if args.oracle is None else args.oracle,
            features=args.features,
            threads=args.threads,
            progress=progress,
        )
