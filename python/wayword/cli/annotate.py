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
from typing import TYPE_CHECKING, Any

from wayword.cli.annotate_learn import (
    configure_check,
    configure_classes,
    configure_fit,
    configure_score,
)
from wayword.cli.terminal import add_threads

if TYPE_CHECKING:
    from wayword.corpus.annotate import Sentence


#: What can be done; the first needs no word.
ACTIONS = ("file", "fit", "classes", "score", "check")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the actions; without one, a file is annotated."""
    parser.usage = "wayword annotate [FILE] --with NAME | wayword annotate ACTION ..."
    actions = parser.add_subparsers(
        title="actions", metavar="ACTION", required=True, prog="wayword annotate"
    )
    _configure_file(actions.add_parser("file", help="annotate text; this word can be left out"))
    configure_fit(actions.add_parser("fit", help="learn a tagger from a treebank"))
    configure_classes(actions.add_parser("classes", help="learn word classes from plain text"))
    configure_score(actions.add_parser("score", help="score an annotator on a treebank"))
    configure_check(
        actions.add_parser("check", help="is a text split into words as a treebank is?")
    )
    _let_file_be_left_out(parser)


def _configure_file(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "text", metavar="FILE", nargs="?", default="-", help="one sentence per line (default stdin)"
    )
    add("--with", dest="annotator", required=True, metavar="NAME", help="see above")
    add("--factors", type=int, metavar="N", help="2 for tags alone, 3 with chunks, 4 with heads")
    add("--conllu", action="store_true", help="write CoNLL-U instead")
    add_threads(parser)
    parser.set_defaults(action=run_file)


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
    from wayword.corpus.files import batches

    annotator = annotate.open_annotator(args.annotator)
    for batch in batches(args.text):
        for sentence in annotator.annotate(batch, threads=args.threads):
            print(_line(sentence, args.factors, args.conllu))
        sys.stdout.flush()


def _line(sentence: "Sentence", factors: int | None, is_conllu: bool) -> str:
    """A sentence as it is printed, with all factors that are known unless told otherwise."""
    from wayword.corpus import annotate

    if not sentence.words:
        return ""
    if is_conllu:
        return "\n".join(annotate.conllu_lines(sentence))
    known = 1 + (sentence.pos is not None) + 2 * (sentence.chunks is not None)
    return annotate.factored(sentence, factors=known if factors is None else factors)
