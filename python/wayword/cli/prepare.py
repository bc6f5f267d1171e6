"""Tokenise text before training, or put translated tokens together again.

Reads standard input when no file is given. Settings are the same in both directions.

example: wayword prepare --lang de train.raw.de > train.de
         wayword prepare --lang en --restore < output.en
"""

import argparse

from wayword.cli.terminal import print_json

HELP = "tokenise text, or restore it from tokens"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="text (default: -)")
    parser.add_argument("--lang", required=True, help="language code, such as de")
    parser.add_argument(
        "--tokenizer", default="auto", help="auto, moses, unicode, jieba, fugashi or none"
    )
    parser.add_argument("--case", default="keep", help="keep or lower")
    parser.add_argument("--no-nfc", action="store_true", help="leave Unicode forms as they are")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--restore", action="store_true", help="tokens in, text out")
    mode.add_argument(
        "--check", action="store_true", help="print how many lines come back exactly, as JSON"
    )


def run(args: argparse.Namespace) -> None:
    """Prepare or restore line by line."""
    from wayword.corpus import files, text

    preparation = text.Preparation(
        lang=args.lang, tokenizer=args.tokenizer, case=args.case, nfc=not args.no_nfc
    )
    with files.spooled(args.file) as path:
        lines = files.open_text(path)
        if args.check:
            print_json(vars(text.round_trip(preparation, lines)))
            return
        for line in lines:
            restored = preparation.restore(line.split()) if args.restore else None
            print(restored if restored is not None else " ".join(preparation.prepare(line)))
