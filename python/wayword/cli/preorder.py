"""Put source words in the order of their translation, in front of any translation system.

SRC is tokenised text, best annotated: `word|POS` (see `wayword annotate`; word classes will do).
LINKS are lines such as `0-0 1-2`, as `wayword align` prints them. `apply` reads the same kind of
text and writes it reordered; `restore` maps links, traces or tokens back to the original
words.

example: wayword preorder fit train.de train.en train.links -o de.preorder
         wayword preorder apply de.preorder test.de --orders test.orders > test.reordered.de
         wayword preorder restore test.orders output.links > output.restored.links
         wayword preorder evaluate de.preorder test.de test.en test.links
         wayword preorder explain de.preorder 'er|PRON hat|AUX Tee|NOUN getrunken|VERB'
"""

import argparse

from wayword.cli.preorder_fit import configure_fit
from wayword.cli.terminal import add_json, add_threads, bar, print_json
from wayword.cli.waw_train import add_bitext


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands and their options."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    configure_fit(actions.add_parser("fit", help="learn a model from a linked bitext"))
    apply = actions.add_parser("apply", help="reorder text")
    apply.add_argument("model", metavar="MODEL", help="a trained model")
    apply.add_argument(
        "file", metavar="FILE", nargs="?", default="-", help="text like SRC of `fit`"
    )
    apply.add_argument("--orders", metavar="FILE", help="write where each word came from")
    apply.add_argument("--nbest", type=int, default=0, metavar="N", help="write the N best orders")
    _add_choice(apply)
    add_threads(apply)
    apply.set_defaults(action=run_apply)
    restore = actions.add_parser("restore", help="map links, traces or tokens back to the source")
    restore.add_argument("orders", metavar="ORDERS", help="what `apply --orders` wrote")
    restore.add_argument("file", metavar="FILE", nargs="?", default="-", help="lines to restore")
    restore.add_argument(
        "--what",
        default="links",
        choices=["links", "traces", "tokens"],
        help="links (default), traces or tokens",
    )
    restore.set_defaults(action=run_restore)
    test = actions.add_parser("evaluate", help="compare models with source order")
    test.add_argument("models", metavar="MODEL", nargs="+", help="one or more trained models")
    add_bitext(test)
    _add_choice(test)
    add_threads(test)
    add_json(test)
    test.set_defaults(action=run_evaluate)
    explain = actions.add_parser("explain", help="say why words of a sentence change places")
    explain.add_argument("model", metavar="MODEL", help="a trained model")
    explain.add_argument("sentence", metavar="SENTENCE", help="words as the model was trained on")
    explain.add_argument("--features", type=int, default=3, metavar="N", help="for each pair (3)")
    explain.add_argument("--html", action="store_true", help="the matrix as an HTML table")
    _add_choice(explain)
    explain.set_defaults(action=run_explain)


def _add_choice(parser: argparse.ArgumentParser) -> None:
    from wayword.reorder.lop import CHOICES, Options

    told = f"of a joint model: the best bracketing, or most pairs right ({Options.choice})"
    parser.add_argument("--choice", default=Options.choice, choices=CHOICES, help=told)


def run(args: argparse.Namespace) -> None:
    """Do what the action asks for."""
    args.action(args)


def run_apply(args: argparse.Namespace) -> None:
    """Reorder lines, a block at a time."""
    from wayword.corpus.files import new_file
    from wayword.reorder.lop import LopModel
    from wayword.reorder.preorder import nbest_lines, reordered_lines

    model = LopModel.load(args.model)
    if args.nbest:
        for line in nbest_lines(model, args.file, args.nbest):
            print(line)
        return
    lines = reordered_lines(model, args.file, choice=args.choice, threads=args.threads)
    if args.orders is None:
        for text, _ in lines:
            print(text)
        return
    with new_file(args.orders) as orders:
        for text, order in lines:
            print(text)
            print(*order, file=orders)


def run_restore(args: argparse.Namespace) -> None:
    """Restore lines."""
    from wayword.reorder.preorder import restored_lines

    for line in restored_lines(args.orders, args.file, args.what):
        print(line)


def run_evaluate(args: argparse.Namespace) -> None:
    """Evaluate and print the tables."""
    from wayword.evaluate.orders import evaluate_preorder
    from wayword.reorder import lop
    from wayword.report.preorder import describe

    corpus = lop.Corpus.read(args.src, args.tgt, args.links)
    orders = {}
    for path in args.models:
        model = lop.LopModel.load(path)
        with bar(f"preorder: {path}", " lines") as progress:
            orders[path] = model.corpus_orders(
                corpus, choice=args.choice, threads=args.threads, progress=progress
            )
    evaluations = evaluate_preorder(corpus, orders)
    if args.json:
        print_json({name: evaluation.to_dict() for name, evaluation in evaluations.items()})
        return
    print(describe(evaluations))


def run_explain(args: argparse.Namespace) -> None:
    """Say which pairs were turned round, and why."""
    from wayword.corpus.annotate import parse_factored
    from wayword.reorder.lop import LopModel
    from wayword.report.preorder import draw, explained

    model, source = LopModel.load(args.model), parse_factored(args.sentence)
    if args.html:
        print(draw(source.words, model.matrix(source), html=True))
        return
    print(explained(model, source, choice=args.choice, features=args.features))
