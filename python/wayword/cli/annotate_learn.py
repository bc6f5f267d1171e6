"""The actions of ``wayword annotate`` that learn, score and check."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wayword.cli.terminal import add_json, add_seed, add_threads, bar, chosen, print_json

if TYPE_CHECKING:
    from wayword.corpus.annotate import Annotator

__all__ = ["configure_check", "configure_classes", "configure_fit", "configure_score"]

LARGE_SHARE = 0.01  # of words split or spelled otherwise: worth a warning


def configure_fit(parser: argparse.ArgumentParser) -> None:
    """Declare the options of learning a tagger."""
    _add_treebank(parser)
    add = parser.add_argument
    add("-o", "--out", required=True, metavar="FILE", help="the tagger")
    _add_tags(parser)
    add("--chunks", default="auto", help="auto (default), column, tree or none")
    _add_spelling(parser)
    add("--dev", metavar="FILE", help="a treebank to score the tagger on")
    add("--epochs", type=int, default=8, metavar="N", help="default 8")
    add_threads(parser)
    add_seed(parser)
    add_json(parser)
    parser.set_defaults(action=run_fit)


def configure_classes(parser: argparse.ArgumentParser) -> None:
    """Declare the options of learning word classes."""
    add = parser.add_argument
    add("text", metavar="TEXT", nargs="?", default="-", help="default stdin")
    add("-o", "--out", required=True, metavar="FILE", help="the classes")
    add("--classes", type=int, default=100, metavar="N", help="default 100")
    add(
        "--min-count",
        type=int,
        default=2,
        metavar="N",
        help="rarer words go by form",
    )
    add("--rounds", type=int, default=20, metavar="N", help="at most (default 20)")
    add_threads(parser)
    add_seed(parser)
    add_json(parser)
    parser.set_defaults(action=run_classes)


def configure_score(parser: argparse.ArgumentParser) -> None:
    """Declare the options of scoring."""
    parser.add_argument("annotator", metavar="NAME", help="see above")
    _add_treebank(parser)
    _add_tags(parser)
    _add_spelling(parser)
    add_threads(parser)
    add_json(parser)
    parser.set_defaults(action=run_score)


def configure_check(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the comparison."""
    parser.add_argument("treebank", metavar="TREEBANK", help="FILE.conllu")
    parser.add_argument("text", metavar="TEXT", help="one sentence per line")
    _add_spelling(parser)
    add_json(parser)
    parser.set_defaults(action=run_check)


def _add_treebank(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("treebank", metavar="TREEBANK", help="FILE.conllu, or factored text")


def _add_tags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tags", default="upos", help="upos (default) or xpos")


def _add_spelling(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--spelling", default="kept", help="of the treebank's words: kept, lower or unmarked"
    )


def run_fit(args: argparse.Namespace) -> None:
    """Learn, save, and score on the treebank held out."""
    from wayword.corpus import annotate

    treebank = annotate.read_treebank(args.treebank, **chosen(args, "tags", "chunks", "spelling"))
    with bar("fit", " sentences") as progress:
        options = chosen(args, "epochs", "seed", "threads")
        tagger = annotate.Tagger.fit(treebank, **options, progress=progress)
    tagger.save(args.out)
    types = tagger.chunk_types
    facts: dict[str, Any] = {"sentences": len(treebank), "tags": tagger.tags, "chunks": types}
    if args.dev:
        facts["dev"] = _score(tagger, args.dev, args)
    if args.json:
        print_json(facts)
        return
    print(f"{len(treebank)} sentences, {len(tagger.tags)} tags, chunks: {' '.join(types or ['-'])}")
    if args.dev:
        _print_score(facts["dev"])


def run_classes(args: argparse.Namespace) -> None:
    """Cluster and say how likely the text has become."""
    from wayword.corpus import annotate
    from wayword.corpus.files import spooled
    from wayword.report.table import Table

    with spooled(args.text) as text, bar("classes", " words") as progress:
        options = chosen(args, "classes", "min_count", "rounds", "seed", "threads")
        classes, summary = annotate.Classes.fit(text, **options, progress=progress)
    classes.save(args.out)
    if args.json:
        print_json(summary.to_dict())
        return
    print(f"{summary.words} words, {summary.units} different, {len(summary.moved)} rounds")
    likelihoods = [summary.likelihood, summary.by_frequency, summary.random]
    names = ["these classes", "by frequency", "by chance"]
    rows = [(name, f"{value:.4f}") for name, value in zip(names, likelihoods, strict=True)]
    print(Table(["classes", "log likelihood a word"], rows).text())


def run_score(args: argparse.Namespace) -> None:
    """Annotate a treebank's words and compare."""
    from wayword.corpus import annotate

    score = _score(annotate.open_annotator(args.annotator), args.treebank, args)
    print_json(score) if args.json else _print_score(score)


def _score(annotator: "Annotator", treebank: str, args: argparse.Namespace) -> dict[str, Any]:
    from wayword.corpus import annotate

    gold = annotate.read_treebank(treebank, tags=args.tags, spelling=args.spelling)
    annotated = annotator.annotate((sentence.words for sentence in gold), threads=args.threads)
    return annotate.score(annotated, gold).to_dict()


def _print_score(score: dict[str, Any]) -> None:
    from wayword.report.table import listing

    names = {"tag accuracy": "accuracy", "chunk F1": "f1", "head accuracy": "head_accuracy"}
    shares = [(name, f"{score[key]:.4f}") for name, key in names.items()]
    print(listing([("words", score["words"]), *shares]))


def run_check(args: argparse.Namespace) -> None:
    """Compare the words of text and treebank."""
    from wayword.corpus import annotate
    from wayword.report.table import Table

    mismatch = annotate.compare_tokens(args.treebank, args.text, spelling=args.spelling)
    if args.json:
        print_json(mismatch.to_dict())
        return
    expected = f"{mismatch.expected:.1%} expected for text like the treebank's"
    print(f"{mismatch.words} words, {mismatch.share:.1%} unknown to the treebank ({expected})")
    rows: Sequence[Sequence[object]] = [
        (reason, count, f"{count / max(mismatch.words, 1):.2%}", " ".join(examples))
        for reason, (count, examples) in mismatch.reasons.items()
        if count
    ]
    if rows:
        print(Table(["reason", "words", "share", "such as"], rows).text())
    if mismatch.explained > LARGE_SHARE:
        hint = "write the text as the treebank is, or fit the tagger with another --spelling"
        share = f"{mismatch.explained:.1%} of the words are split or spelled otherwise"
        print(f"wayword: {share}; {hint}", file=sys.stderr)
