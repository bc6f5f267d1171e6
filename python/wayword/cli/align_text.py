"""The steps of `wayword align`: the text it reads, and the aligner it uses.

In: the options of the command. Out: pairs of line files, what the links follow from, and an
aligner: the one that was named, the one an interrupted run has learned, or a new one.
Not: linking itself; see ``wayword.align.stream``.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from wayword.cli.terminal import bar

if TYPE_CHECKING:
    from wayword.align import Aligner
    from wayword.corpus.collection import Piece

__all__ = ["aligner", "line_files", "recipe"]

Files = list[tuple[str, str]]


@contextmanager
def line_files(args: argparse.Namespace, pieces: Sequence["Piece"]) -> Iterator[Files]:
    """The text as pairs of line files that can be read again: those named, or a copy."""
    from pathlib import Path

    from wayword.corpus.files import check_line_counts, temp_folder
    from wayword.gather import write_pieces

    named = [(piece.src, piece.tgt) for piece in pieces if piece.tgt is not None]
    if len(named) == len(pieces) and all(Path(path).is_file() for pair in named for path in pair):
        for pair in named:
            check_line_counts(pair)
        yield named
        return
    with temp_folder() as folder:
        copy = str(folder / "src"), str(folder / "tgt")
        with bar("read", " pairs") as progress:
            langs = args.src_lang, args.tgt_lang
            skipped = write_pieces(pieces, copy, langs, args.columns, progress=progress)
        if skipped:
            print(f"wayword: {skipped} units had no pair to give", file=sys.stderr)
        yield [copy]


def recipe(args: argparse.Namespace, files: Files) -> dict[str, Any]:
    """What the links follow from."""
    from wayword.corpus.files import sha256

    names = ("model", "sample", "symmetrise", "threshold", "posteriors", "memory", "seed")
    return {
        **{name: getattr(args, name) for name in names},
        "score": args.score is not None,
        "text": [[sha256(path) for path in pair] for pair in files],
        "aligner": sha256(args.load) if args.load else None,
    }


def aligner(args: argparse.Namespace, files: Files, parts: Any) -> "Aligner":
    """The aligner that was named, that an earlier run has learned, or a new one."""
    from wayword import align
    from wayword.align import quality
    from wayword.align.stream import draw_lines
    from wayword.corpus.files import temp_folder

    if parts and parts.aligner.exists():
        told = f"{parts.finished:,} parts are done"
        print(f"wayword: going on with {parts.folder}: {told}", file=sys.stderr)
        return align.Aligner.load(parts.aligner)
    with temp_folder() as folder:
        if args.load:
            model = align.Aligner.load(args.load)
        else:
            taken = files
            if args.sample is not None:
                taken = [(str(folder / "src"), str(folder / "tgt"))]
                draw_lines(files, taken[0], args.sample, args.seed)
            model = _learned(args, taken)
        wants_scores = args.save or args.score is not None
        if wants_scores and not model.is_calibrated:
            drawn = str(folder / "some.src"), str(folder / "some.tgt")
            draw_lines(files, drawn, quality.SAMPLE, args.seed)
            model = _calibrated(model, drawn, args)
    for path in (args.save, parts.aligner if parts else None):
        if path:
            model.save(path)
    return model


def _learned(args: argparse.Namespace, files: Files) -> "Aligner":
    from wayword import align

    with bar("align: learn", " pairs") as progress:
        learned = align.fit_files(
            files,
            model=args.model,
            memory=args.memory,
            temp_dir=args.temp_dir,
            threads=args.threads,
            progress=progress,
        )
    if learned.summary and learned.summary.note():
        print(f"wayword: {learned.summary.note()}", file=sys.stderr)
    return learned


def _calibrated(model: "Aligner", drawn: tuple[str, str], args: argparse.Namespace) -> "Aligner":
    """The aligner with scores; without, if the text is too small for them and none are wanted."""
    from wayword.corpus.files import open_text
    from wayword.errors import ArgumentError

    pairs = list(zip(*map(open_text, drawn), strict=True))
    try:
        return model.calibrate(pairs, seed=args.seed, threads=args.threads)
    except ArgumentError:
        if args.score is not None:
            raise
        return model
