"""The action `wayword lm train`."""

import argparse
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from wayword.cli.terminal import add_json, bar, chosen, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator


def configure_train(train: argparse.ArgumentParser) -> None:
    """Declare the options."""
    train.add_argument(
        "text",
        metavar="TEXT",
        nargs="*",
        help="one sentence per line (stdin); also .tsv .jsonl .tmx .po .parquet, and folders",
    )
    train.add_argument(
        "--column", default="", metavar="NAME", help="the text in such files: tgt, en"
    )
    train.add_argument(
        "-o", "--out", required=True, metavar="FILE", help="the model; a name in .arpa: as ARPA"
    )
    train.add_argument(
        "--order", type=int, default=5, metavar="N", help="longest n-gram (default 5)"
    )
    train.add_argument("--arpa", action="store_true", help="write ARPA, whatever the name")
    train.add_argument(
        "--prune",
        type=int,
        nargs="+",
        default=[],
        metavar="C",
        help="per order from 1, drop n-grams that occur up to C times; the first must be 0",
    )
    train.add_argument(
        "--memory", default="1G", metavar="SIZE", help="for sorting; more goes to disk (default 1G)"
    )
    train.add_argument("--temp-dir", metavar="DIR", help="where that is (default the system's)")
    train.add_argument(
        "--threads", type=int, default=0, metavar="N", help="0 for all (default); changes no result"
    )
    add_json(train)
    train.set_defaults(action=run_train)


def run_train(args: argparse.Namespace) -> None:
    """Train and say what was counted."""
    from wayword import lm
    from wayword.report.table import Table

    is_arpa = goes_to_arpa(args)
    options = chosen(args, "order", "prune", "memory", "temp_dir", "threads")
    with _lines(args) as text, bar("lm", " lines") as progress:
        if is_arpa:
            summary = lm.train_arpa(text, args.out, **options, progress=progress)
        else:
            trained = lm.train(text, args.out, **options, progress=progress).summary
            assert trained is not None
            summary = trained
    for note in summary.notes:
        print(f"wayword: {note}", file=sys.stderr)
    if args.json:
        print_json(summary.to_dict())
        return
    rows = [
        (order, count, pruned, " ".join(f"{amount:.4f}" for amount in amounts))
        for order, (count, pruned, amounts) in enumerate(
            zip(summary.counts, summary.pruned, summary.discounts, strict=True), start=1
        )
    ]
    print(f"{summary.sentences} sentences, {summary.words} words")
    print(Table(["order", "n-grams", "pruned", "discounts"], rows).text())


@contextmanager
def _lines(args: argparse.Namespace) -> "Iterator[Path | Iterator[str]]":
    """The text: a file, or lines of several files and other formats."""
    from wayword.corpus.collection import read_sides
    from wayword.corpus.files import spooled
    from wayword.corpus.formats import format_of

    paths = args.text or ["-"]
    if len(paths) == 1 and format_of(paths[0]) == "pipes" and not Path(paths[0]).is_dir():
        with spooled(paths[0]) as text:
            yield text
    else:
        yield read_sides(paths, args.column)


def goes_to_arpa(args: argparse.Namespace) -> bool:
    """Whether the model goes to a text file: when asked for, or when its name says so."""
    from wayword.corpus.files import COMPRESSION
    from wayword.errors import ArgumentError

    path = Path(args.out)
    if path.suffix in COMPRESSION:
        advice = f"write {path.with_suffix('')} and compress it"
        raise ArgumentError(f"out: cannot write `{path.suffix}`; expected a plain name; {advice}")
    return args.arpa or path.suffix == ".arpa"
