"""Learn which source word is translated right after which, and test the model.

SRC is tokenised text, best annotated: `word|POS` or `word|POS|chunk`; without tags the model has
word features only. LINKS are lines such as `0-0 1-2`, as `wayword align` prints them.
A decoder uses the model as a feature and to leave out jumps that are not worth trying:
`wayword translate SYSTEM --space 'dl:18+waw(top=3,threshold=0.1,zone=5)'`.

example: wayword waw train train.de train.en train.links -o de.waw
         wayword waw evaluate de.waw test.de test.en test.links --grid
         wayword waw show de.waw 'er|PRON hat|AUX Tee|NOUN getrunken|VERB'
         wayword waw grid system --dev dev.de dev.en
"""

import argparse

from wayword.cli.terminal import add_json, add_threads, bar, print_json
from wayword.cli.waw_grid import add_pruning, configure_grid
from wayword.cli.waw_train import add_bitext, configure_train


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands and their options."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    configure_train(actions.add_parser("train", help="learn a model from a linked bitext"))
    test = actions.add_parser("evaluate", help="compare models with plain distance")
    test.add_argument("models", metavar="MODEL", nargs="+", help="one or more trained models")
    add_bitext(test)
    test.add_argument(
        "--dl", type=int, nargs="+", default=[10, 18], metavar="K", help="distortion limits (10 18)"
    )
    test.add_argument(
        "--space",
        nargs="+",
        default=[],
        metavar="SPACE",
        help="also what these leave of the right orders: dl:8 'dl:18+waw(top=3)'",
    )
    test.add_argument(
        "--grid", action="store_true", help="the same for a grid of pruning at the largest limit"
    )
    add_pruning(test, top=[3, 5, 8], threshold=[0.25, 0.1, 0.05, 0.02], zone=[-1, 0, 1, 3, 5])
    add_threads(test)
    add_json(test)
    test.set_defaults(action=run_evaluate)
    show = actions.add_parser("show", help="draw the matrix of a sentence")
    show.add_argument("model", metavar="MODEL", help="a trained model")
    show.add_argument("sentence", metavar="SENTENCE", help="words as the model was trained on")
    show.add_argument("--order", metavar="ORDER", help="positions from 0 as translated: '0 1 3 2'")
    show.add_argument("--space", default="dl:-1", help="mark what pruning leaves out on the way")
    show.add_argument("--html", action="store_true", help="an HTML table")
    show.set_defaults(action=run_show)
    configure_grid(actions.add_parser("grid", help="choose the parameters of early pruning"))
    text = actions.add_parser("text", help="write a model as text")
    text.add_argument("model", metavar="MODEL", help="a trained model")
    text.add_argument("-o", "--out", required=True, metavar="FILE", help="features and weights")
    text.set_defaults(action=run_text)


def run(args: argparse.Namespace) -> None:
    """Do what the action asks for."""
    args.action(args)


def run_evaluate(args: argparse.Namespace) -> None:
    """Evaluate and print the tables."""
    from wayword.reorder import waw
    from wayword.reorder.judge import load_judge
    from wayword.report.waw import describe, describe_reach

    corpus = waw.Corpus.read(args.src, args.tgt, args.links)
    spaces = [*args.space, *(_grid(args) if args.grid else ())]
    evaluations, reaches = {}, {}
    for path in args.models:
        model = load_judge(path)
        with bar(f"waw: {path}", " lines") as progress:
            room = {"threads": args.threads, "progress": progress}
            evaluation = waw.evaluate(model, corpus, limits=args.dl, **room)
            reaches[path] = waw.reach(model, corpus, spaces, **room) if spaces else []
        evaluations[path] = (model.described, evaluation)
    if args.json:
        print_json(
            {
                path: {
                    "features": kind,
                    **evaluation.to_dict(),
                    "reach": [row.to_dict() for row in reaches[path]],
                }
                for path, (kind, evaluation) in evaluations.items()
            }
        )
        return
    print(describe(evaluations))
    if spaces:
        print(f"\n{describe_reach(reaches)}")


def _grid(args: argparse.Namespace) -> list[str]:
    """Spaces of a grid, and those without pruning."""
    from wayword.tune.grid import prunings

    limit = f"dl:{max(args.dl)}"
    grid = prunings(args.top, args.threshold, args.zone)
    return [*(f"dl:{limit}" for limit in args.dl), *(one.space(limit) for one in grid)]


def run_show(args: argparse.Namespace) -> None:
    """Draw the matrix of a sentence."""
    from wayword.corpus.annotate import parse_factored
    from wayword.errors import ArgumentError
    from wayword.reorder.judge import load_judge
    from wayword.report import heat

    model = load_judge(args.model)
    source = parse_factored(args.sentence)
    order = None
    if args.order:
        numbers = args.order.split()
        order = [int(at) for at in numbers if at.isdecimal()]
        if sorted(order) != list(range(len(source))) or len(numbers) != len(order):
            raise ArgumentError(f"order: found `{args.order}`; expected each position once, from 0")
    matrix = model.matrix(source)
    print(heat.draw(source.words, matrix, order=order, space=args.space, html=args.html))


def run_text(args: argparse.Namespace) -> None:
    """Write features and weights."""
    from wayword.reorder import waw

    waw.WawModel.load(args.model).write_text(args.out)
