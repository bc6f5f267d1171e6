"""Find the lines of a bitext that would do harm.

Looks for wrong encoding, empty lines, control and zero-width characters, lines without a
partner, odd lengths, wrong writing, identical sides and duplicates. With -o the clean pair
and quarantine.tsv (line, reasons, source, target) are written to a folder; every input line
is in exactly one of the two.

example: wayword doctor train.de train.en -o clean/
"""

import argparse

from wayword.cli.terminal import add_json, bar, chosen, print_json

HELP = "find bad lines in a bitext, and take them out"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "src", metavar="SRC", help="source text, one sentence a line (.gz .xz .zst)"
    )
    parser.add_argument("tgt", metavar="TGT", help="target text, line by line its translation")
    parser.add_argument(
        "-o", "--out", metavar="DIR", help="write the clean pair and quarantine.tsv"
    )
    parser.add_argument(
        "--max-length",
        type=int,
        default=200,
        metavar="N",
        help="longest side in words (default 200)",
    )
    parser.add_argument(
        "--max-ratio",
        type=float,
        default=9.0,
        metavar="R",
        help="longest side to shortest (default 9)",
    )
    parser.add_argument(
        "--factors", type=int, metavar="N", help="source words are `word|POS|…` with N factors"
    )
    parser.add_argument(
        "--nfc", action="store_true", help="bring kept lines to Unicode's composed form"
    )
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="KIND",
        help="do not look for this kind; may be repeated",
    )
    parser.add_argument(
        "--examples",
        type=int,
        default=5,
        metavar="N",
        help="findings shown of each kind (default 5)",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Examine and print."""
    from wayword.corpus import doctor
    from wayword.report.doctor import describe

    with bar("doctor", " lines") as progress:
        options = chosen(args, "max_length", "max_ratio", "factors", "nfc", "allow", "examples")
        report = doctor.examine(args.src, args.tgt, args.out, **options, progress=progress)
    if args.json:
        print_json(report.to_dict())
        return
    print(describe(report))
