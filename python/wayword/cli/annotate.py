"""Tag words, find chunks and their heads, or learn to.

Text in, factored text out: word|POS|chunk|head, where the head is the position of the chunk's head
word, from 0. An annotator is a file that `fit` or `classes` wrote, or gold:FILE, spacy:MODEL,
stanza:LANG, udpipe:FILE.

example: wayword annotate fit de.conllu -o de.tagger
         wayword annotate train.de --with de.tagger > train.factored.de
         wayword annotate classes train.de -o de.classes --classes 200
         wayword annotate score de.tagger test.conllu
         wayword annotate check de.conllu train.de
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from wayword.cli.terminal import add_json, add_seed, add_threads, bar, print_json, table

HELP = "tag words and find chunks, or learn to"

LARGE_SHARE = 0.01  # of words split otherwise: worth a warning
#: What can be done; the first needs no word.
ACTIONS = ("file", "fit", "classes", "score", "check")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the actions; without one, a file is annotated."""
    parser.usage = "wayword annotate [FILE] --with NAME | wayword annotate ACTION ..."
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    file = actions.add_parser("file", help="annotate text; this word can be left out")
    file.add_argument(
        "text", metavar="FILE", nargs="?", default="-", help="one sentence a line (default stdin)"
    )
    file.add_argument("--with", dest="annotator", required=True, metavar="NAME", help="see above")
    file.add_argument(
        "--factors", type=int, metavar="N", help="2 for tags alone, 3 with chunks, 4 with heads"
    )
    file.add_argument("--conllu", action="store_true", help="write CoNLL-U instead")
    add_threads(file)
    file.set_defaults(action=run_file)
    fit = actions.add_parser("fit", help="learn a tagger from a treebank")
    fit.add_argument("treebank", metavar="TREEBANK", help="FILE.conllu, or factored text")
    fit.add_argument("-o", "--out", required=True, metavar="FILE", help="the tagger")
    fit.add_argument("--tags", default="upos", help="upos (default) or xpos")
    fit.add_argument("--chunks", default="auto", help="auto (default), column, tree or none")
    fit.add_argument("--dev", metavar="FILE", help="a treebank to score the tagger on")
    fit.add_argument("--epochs", type=int, default=8, metavar="N", help="default 8")
    add_threads(fit)
    add_seed(fit)
    add_json(fit)
    fit.set_defaults(action=run_fit)
    classes = actions.add_parser("classes", help="learn word classes from plain text")
    classes.add_argument("text", metavar="TEXT", nargs="?", default="-", help="default stdin")
    classes.add_argument("-o", "--out", required=True, metavar="FILE", help="the classes")
    classes.add_argument("--classes", type=int, default=100, metavar="N", help="default 100")
    classes.add_argument(
        "--min-count", type=int, default=2, metavar="N", help="rarer words go by their looks"
    )
    classes.add_argument("--rounds", type=int, default=20, metavar="N", help="at most (default 20)")
    add_threads(classes)
    add_seed(classes)
    add_json(classes)
    classes.set_defaults(action=run_classes)
    score = actions.add_parser("score", help="score an annotator on a treebank")
    score.add_argument("annotator", metavar="NAME", help="see above")
    score.add_argument("treebank", metavar="TREEBANK", help="FILE.conllu, or factored text")
    score.add_argument("--tags", default="upos", help="upos (default) or xpos")
    add_threads(score)
    add_json(score)
    score.set_defaults(action=run_score)
    check = actions.add_parser("check", help="is a text split into words as a treebank is?")
    check.add_argument("treebank", metavar="TREEBANK", help="FILE.conllu")
    check.add_argument("text", metavar="TEXT", help="one sentence a line")
    add_json(check)
    check.set_defaults(action=run_check)
    _let_file_be_left_out(parser)


def _let_file_be_left_out(parser: argparse.ArgumentParser) -> None:
    parse = parser.parse_known_args

    def parse_with_action(args: Any = None, namespace: Any = None) -> Any:
        words = list(args or ())
        if not words or words[0] not in (*ACTIONS, "-h", "--help"):
            words.insert(0, "file")
        return parse(words, namespace)

    parser.parse_known_args = parse_with_action  # type: ignore[method-assign]


def run(args: argparse.Namespace) -> None:
    """Do what the action asks for."""
    args.action(args)


def run_file(args: argparse.Namespace) -> None:
    """Annotate line by line."""
    from wayword.corpus import annotate
    from wayword.corpus.files import open_text, stdin_text

    annotator = annotate.open_annotator(args.annotator)
    lines: Iterator[str] = stdin_text() if args.text == "-" else open_text(args.text)
    for sentence in annotator.annotate(lines, threads=args.threads):
        if args.conllu:
            print("\n".join(annotate.conllu_lines(sentence)) if sentence.words else "", end="\n")
        elif sentence.words:
            most = 1 + (sentence.pos is not None) + 2 * (sentence.chunks is not None)
            print(annotate.factored(sentence, factors=args.factors or most))
        else:
            print()


def run_fit(args: argparse.Namespace) -> None:
    """Learn, save, and score on the treebank held out."""
    from wayword.corpus import annotate

    treebank = annotate.read_treebank(args.treebank, tags=args.tags, chunks=args.chunks)
    with bar("fit", " sentences") as progress:
        tagger = annotate.Tagger.fit(
            treebank, epochs=args.epochs, seed=args.seed, threads=args.threads, progress=progress
        )
    tagger.save(args.out)
    types = tagger.chunk_types
    found: dict[str, Any] = {"sentences": len(treebank), "tags": tagger.tags, "chunks": types}
    if args.dev:
        found["dev"] = _score(tagger, args.dev, args.tags, args.threads)
    if args.json:
        print_json(found)
        return
    print(f"{len(treebank)} sentences, {len(tagger.tags)} tags, chunks: {' '.join(types or ['-'])}")
    if args.dev:
        _print_score(found["dev"])


def run_classes(args: argparse.Namespace) -> None:
    """Cluster and say how likely the text has become."""
    from wayword.corpus import annotate
    from wayword.corpus.files import spooled

    with spooled(args.text) as text, bar("classes", " words") as progress:
        classes, summary = annotate.Classes.fit(
            text,
            classes=args.classes,
            min_count=args.min_count,
            rounds=args.rounds,
            seed=args.seed,
            threads=args.threads,
            progress=progress,
        )
    classes.save(args.out)
    if args.json:
        print_json(summary.to_dict())
        return
    print(f"{summary.words} words, {summary.units} different, {len(summary.moved)} rounds")
    likelihoods = [summary.likelihood, summary.by_frequency, summary.random]
    names = ["these classes", "by frequency", "by chance"]
    rows = [(name, f"{value:.4f}") for name, value in zip(names, likelihoods, strict=True)]
    print(table(["classes", "log likelihood a word"], rows))


def run_score(args: argparse.Namespace) -> None:
    """Annotate a treebank's words and compare."""
    from wayword.corpus import annotate

    found = _score(annotate.open_annotator(args.annotator), args.treebank, args.tags, args.threads)
    print_json(found) if args.json else _print_score(found)


def _score(annotator: Any, treebank: str, tags: str, threads: int) -> dict[str, Any]:
    from wayword.corpus import annotate

    gold = annotate.read_treebank(treebank, tags=tags)
    found = annotator.annotate((sentence.words for sentence in gold), threads=threads)
    return annotate.score(found, gold).to_dict()


def _print_score(found: dict[str, Any]) -> None:
    print(f"words          {found['words']}")
    print(f"tag accuracy   {found['accuracy']:.4f}")
    print(f"chunk F1       {found['f1']:.4f}")
    print(f"head accuracy  {found['head_accuracy']:.4f}")


def run_check(args: argparse.Namespace) -> None:
    """Compare the words of text and treebank."""
    from wayword.corpus import annotate

    found = annotate.compare_tokens(args.treebank, args.text)
    if args.json:
        print_json(found.to_dict())
        return
    expected = f"{found.expected:.1%} expected for text like the treebank's"
    print(f"{found.words} words, {found.share:.1%} unknown to the treebank ({expected})")
    rows: Sequence[Sequence[object]] = [
        (reason, count, f"{count / max(found.words, 1):.2%}", " ".join(examples))
        for reason, (count, examples) in found.reasons.items()
        if count
    ]
    if rows:
        print(table(["reason", "words", "share", "such as"], rows))
    if found.explained > LARGE_SHARE:
        hint = "split the text as the treebank does, or fit on a treebank split as the text is"
        print(
            f"wayword: {found.explained:.1%} of the words are split otherwise; {hint}",
            file=sys.stderr,
        )
