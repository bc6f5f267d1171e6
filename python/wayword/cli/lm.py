"""Train n-gram language models and score text with them.

A model is estimated by interpolated modified Kneser-Ney smoothing from text of any size, down to
a few lines or characters, and saved in a form that opens at once, or as ARPA for other tools.
Scores are natural logarithms.

example: wayword lm train train.en -o en.lm
         wayword lm train memory.tmx news.jsonl --column en -o en.lm
         wayword lm score en.lm test.en
         wayword lm convert other.arpa.gz -o other.lm
"""

import argparse
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from wayword.cli.terminal import add_json, bar, chosen, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

HELP = "train a language model, or score text with one"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands and their options."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    train = actions.add_parser("train", help="estimate a model from text")
    train.add_argument(
        "text",
        metavar="TEXT",
        nargs="*",
        help="one sentence a line (default stdin); also .tsv .jsonl .tmx .po .parquet, and folders",
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
    add_json(train)
    train.set_defaults(action=run_train)
    score = actions.add_parser("score", help="perplexity of a text, or a score for each line")
    score.add_argument("model", metavar="MODEL", help="a saved model or an ARPA file")
    score.add_argument(
        "text", metavar="TEXT", nargs="?", default="-", help="one sentence a line (default stdin)"
    )
    score.add_argument("--lines", action="store_true", help="print the score of each line")
    score.add_argument("--verify", action="store_true", help="check every byte of the model first")
    add_json(score)
    score.set_defaults(action=run_score)
    convert = actions.add_parser("convert", help="write a model in another form")
    convert.add_argument("model", metavar="MODEL", help="a saved model or an ARPA file")
    convert.add_argument(
        "-o", "--out", required=True, metavar="FILE", help="the new file; a name in .arpa: as ARPA"
    )
    convert.add_argument("--arpa", action="store_true", help="write ARPA, whatever the name")
    convert.set_defaults(action=run_convert)


def run(args: argparse.Namespace) -> None:
    """Do what the action asks for."""
    args.action(args)


def run_train(args: argparse.Namespace) -> None:
    """Train and say what was counted."""
    from wayword import lm
    from wayword.report.table import Table

    is_arpa = _is_arpa(args)
    options = chosen(args, "order", "prune", "memory", "temp_dir")
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


def _is_arpa(args: argparse.Namespace) -> bool:
    """Whether the model goes to a text file: when asked for, or when its name says so."""
    from wayword.corpus.files import COMPRESSION
    from wayword.errors import ArgumentError

    path = Path(args.out)
    if path.suffix in COMPRESSION:
        advice = f"write {path.with_suffix('')} and compress it"
        raise ArgumentError(f"out: cannot write `{path.suffix}`; expected a plain name; {advice}")
    return args.arpa or path.suffix == ".arpa"


def run_score(args: argparse.Namespace) -> None:
    """Score and print."""
    from wayword import lm
    from wayword.corpus.files import spooled
    from wayword.report.table import listing

    model = lm.LanguageModel.load(args.model, verify=args.verify)
    with spooled(args.text) as text, bar("lm", " lines") as progress:
        if args.lines:
            scores = model.score_lines(text).tolist()
            print_json(scores) if args.json else print(*(f"{s:.6f}" for s in scores), sep="\n")
            return
        perplexity = model.perplexity(text, progress=progress)
    if args.json:
        print_json(perplexity.to_dict())
        return
    rows = {
        "sentences": perplexity.sentences,
        "words and sentence ends": perplexity.tokens,
        "unknown words": perplexity.unknown,
        "perplexity": f"{perplexity.with_unknown:.4f}",
        "perplexity without unknown": f"{perplexity.without_unknown:.4f}",
    }
    print(listing(rows.items()))


def run_convert(args: argparse.Namespace) -> None:
    """Read and write."""
    from wayword import lm

    is_arpa = _is_arpa(args)
    with bar("lm", " lines") as progress:
        model = lm.LanguageModel.load(args.model, verify=True, progress=progress)
        if is_arpa:
            model.write_arpa(args.out, progress=progress)
        else:
            model.save(args.out)
