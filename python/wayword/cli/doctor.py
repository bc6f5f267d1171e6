"""Find the lines of a bitext that would do harm.

Looks for wrong encoding, empty lines, control and zero-width characters, lines without a
partner, odd lengths, wrong writing, identical sides and duplicates. With -o the clean pair
and quarantine.tsv (line, reasons, source, target) are written to a folder; every input line
is in exactly one of the two. With --aligner, pairs whose sides are hardly translations of each
other are bad as well; it may be a saved aligner, for text that is tokenised like its own, or a
system, for raw text. Files whose lines do not belong together, or are shifted by up to ten lines
from some line on, are an error; --allow misaligned leaves this test out.

example: wayword doctor train.de train.en -o clean/
         wayword doctor train.de train.en --aligner system -o clean/
"""

import argparse
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wayword.cli.terminal import add_bitext, add_json, add_threads, bar, chosen, print_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wayword.align.misalignment import AlignmentCheck
    from wayword.corpus.doctor import Report

OPTIONS = ("max_length", "max_ratio", "factors", "nfc", "allow", "examples", "memory", "temp_dir")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_bitext(parser)
    add = parser.add_argument
    add("-o", "--out", metavar="DIR", help="write the clean pair and quarantine.tsv")
    add("--max-length", type=int, default=200, metavar="N", help="longest side in words (200)")
    add("--max-ratio", type=float, default=9.0, metavar="R", help="longest side to shortest (9)")
    add("--factors", type=int, metavar="N", help="source words are `word|POS|…` with N factors")
    add("--nfc", action="store_true", help="bring kept lines to Unicode's composed form")
    allow = "do not look for this kind; may be repeated"
    add("--allow", action="append", default=[], metavar="KIND", help=allow)
    add("--examples", type=int, default=5, metavar="N", help="findings shown of each kind (5)")
    add("--aligner", metavar="MODEL", help="score pairs with a saved aligner, or with a system's")
    least = "least score of a pair, 0 to 1, with --aligner (default 0.5)"
    add("--min-score", type=float, metavar="P", help=least)
    add("--memory", default="1G", metavar="SIZE", help="memory to keep to (default 1G)")
    add("--temp-dir", metavar="DIR", help="where what exceeds it goes")
    add_threads(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Examine and print."""
    from wayword.corpus import doctor
    from wayword.errors import ArgumentError, MismatchError
    from wayword.report.doctor import describe

    if args.min_score is not None and not args.aligner:
        raise ArgumentError("min-score: found without --aligner, which gives scores; expected both")
    options = chosen(args, *OPTIONS)
    with bar("doctor", " lines") as progress, _two_files(args, progress) as (src, tgt):
        check = _checked(args, (src, tgt))
        if check.is_misaligned:
            if args.json:
                report = doctor.examine(src, tgt, **options, progress=progress)
                print_json({**report.to_dict(), "alignment": check.to_dict()})
            source, target = (src, tgt) if src in args.text else args.text[:1] * 2
            raise MismatchError(check.message(source, target, f"--allow {doctor.MISALIGNED[0]}"))
        if args.aligner:
            report = _screened(args, (src, tgt), options, progress)
        else:
            report = doctor.examine(src, tgt, args.out, **options, progress=progress)
    if args.json:
        print_json({**report.to_dict(), "alignment": check.to_dict()})
        return
    print(describe(report, check))


def _checked(args: argparse.Namespace, files: tuple[str, str]) -> "AlignmentCheck":
    """Test whether the lines belong together, unless that is allowed."""
    from wayword.align.misalignment import AlignmentCheck, find_misalignment
    from wayword.corpus.doctor import MISALIGNED

    if MISALIGNED[0] in args.allow:
        return AlignmentCheck("untested", 0, 0, reason=f"--allow {MISALIGNED[0]}")
    return find_misalignment(*files)


def _screened(
    args: argparse.Namespace,
    files: tuple[str, str],
    options: dict[str, Any],
    progress: "Callable[[int, int], object]",
) -> "Report":
    """Examine, and then let an aligner look at what is clean."""
    from pathlib import Path

    from wayword.align import Aligner
    from wayword.align.screen import MIN_SCORE, screen
    from wayword.corpus import doctor
    from wayword.corpus.files import temp_folder
    from wayword.errors import ArgumentError

    aligner, tokens = None, None
    if Path(args.aligner).is_dir() or Path(args.aligner).suffix == ".wayword":
        from wayword.system import System

        system = System.open(args.aligner)
        aligner, tokens = system.aligner, system.tokens
        if aligner is None:
            raise ArgumentError(
                f"aligner: the system {args.aligner} keeps none; expected one with `model.aligner`"
            )
    else:
        aligner = Aligner.load(args.aligner)
    src, tgt = map(Path, files)
    out = doctor.clean_files(src, tgt, Path(args.out)) if args.out else None
    with temp_folder() as folder:
        report = doctor.examine(src, tgt, folder, **options, progress=progress)
        return screen(
            report,
            doctor.clean_files(src, tgt, folder),
            aligner,
            out=out,
            tokens=tokens,
            min_score=MIN_SCORE if args.min_score is None else args.min_score,
            examples=args.examples,
            threads=args.threads,
            progress=progress,
        )


@contextmanager
def _two_files(
    args: argparse.Namespace, progress: "Callable[[int, int], object]"
) -> "Iterator[tuple[str, str]]":
    """The text as two line files: those that were named, or what other formats hold, for a while.

    Then the clean files are called by the first file and the languages.
    """
    from pathlib import Path

    from wayword.corpus.collection import find_pieces
    from wayword.corpus.files import temp_folder
    from wayword.gather import write_pieces

    langs = args.src_lang, args.tgt_lang
    pieces = find_pieces(args.text, langs)
    if len(pieces) == 1 and pieces[0].tgt is not None:
        yield pieces[0].src, pieces[0].tgt
        return
    stem = Path(pieces[0].src).name.partition(".")[0]
    names = [f"{stem}.{lang or side}" for lang, side in zip(langs, ("src", "tgt"), strict=True)]
    with temp_folder() as folder:
        src, tgt = (str(folder / name) for name in names)
        skipped = write_pieces(pieces, (src, tgt), langs, args.columns, progress=progress)
        if skipped:
            print(f"wayword: {skipped} units had no pair to give", file=sys.stderr)
        yield src, tgt
