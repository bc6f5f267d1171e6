"""Tokenise text before training, or join translated tokens to text again.

Reads standard input when no file is given. Settings are the same in both directions.

example: wayword prepare --lang de train.raw.de > train.de
         wayword prepare --lang en --restore < output.en
         wayword prepare --lang de train.raw.de --subwords de.pieces --learn > train.pieces.de
"""

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from wayword.cli.terminal import print_json

if TYPE_CHECKING:
    from pathlib import Path

    from wayword.corpus.text import Preparation


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="text (default: -)")
    parser.add_argument("--lang", required=True, help="language code, such as de")
    parser.add_argument(
        "--tokenizer", default="auto", help="auto, moses, unicode, jieba, fugashi or none"
    )
    parser.add_argument("--case", default="keep", help="keep, lower or truecase")
    parser.add_argument("--truecaser", metavar="TABLE", help="how words are written; see --learn")
    parser.add_argument(
        "--learn",
        action="store_true",
        help="learn the truecaser and the pieces that are named from FILE first, and keep them",
    )
    parser.add_argument("--subwords", metavar="MODEL", help="split words into pieces; see --learn")
    parser.add_argument("--kind", default="bpe", help="of pieces that are learned: bpe or unigram")
    parser.add_argument(
        "--vocabulary", type=int, default=8000, metavar="N", help="most pieces (default 8000)"
    )
    lines = "most lines that pieces are learned from, at equal steps; 0 for all (1000000)"
    parser.add_argument("--sentences", type=int, default=1_000_000, metavar="N", help=lines)
    parser.add_argument(
        "--memory", default="1G", metavar="SIZE", help="that learning keeps to (default 1G)"
    )
    parser.add_argument("--temp-dir", metavar="DIR", help="where what exceeds it goes")
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
    files.size_in_bytes(args.memory)
    with files.spooled(args.file) as path, files.temp_folder() as folder:
        if args.truecaser:
            preparation = _with_truecaser(preparation, args, path, folder)
        if args.subwords:
            preparation = _with_subwords(preparation, args, path)
        lines = files.open_text(path)
        if args.check:
            print_json(vars(text.round_trip(preparation, lines)))
            return
        for line in lines:
            restored = preparation.restore(line.split()) if args.restore else None
            print(restored if restored is not None else " ".join(preparation.prepare(line)))


def _with_truecaser(
    preparation: "Preparation", args: argparse.Namespace, path: "Path", folder: "Path"
) -> "Preparation":
    """The preparation with a truecaser that is learned and kept, or was kept before."""
    from wayword.corpus import files
    from wayword.corpus.truecase import Truecaser

    if not args.learn:
        return replace(preparation, truecaser=Truecaser.load(args.truecaser))
    room = {"memory": args.memory, "temp_dir": args.temp_dir or folder}
    learned = preparation.learn(files.open_text(path), folder / "truecaser", **room)
    if learned.truecaser is not None:
        with files.new_file(args.truecaser) as table:
            table.writelines(f"{line}\n" for line in files.open_text(folder / "truecaser"))
    return learned


def _with_subwords(
    preparation: "Preparation", args: argparse.Namespace, path: "Path"
) -> "Preparation":
    """The preparation with pieces that are learned and kept, or were kept before."""
    from wayword.corpus import files
    from wayword.corpus.pieces import evenly
    from wayword.corpus.subwords import Options, Subwords

    if not args.learn:
        return replace(preparation, subwords=Subwords.load(args.subwords))
    options = Options(kind=args.kind, vocabulary=args.vocabulary, sentences=args.sentences)
    lines = evenly(files.open_text(path), files.count_lines(path), options.sentences)
    learned = Subwords.fit(map(preparation.words, lines), options)
    learned.save(args.subwords)
    return replace(preparation, subwords=learned)
