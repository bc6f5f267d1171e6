"""Learn a network that says which source word is translated right after which.

SRC is tokenised text, or `word|POS` for `--tags`. LINKS are lines such as `0-0 1-2`, as
`wayword align` prints them. It answers the same question as the model of `wayword waw`:
`waw evaluate`, `waw show` and `waw grid` take both kinds.
A decoder uses the model as a feature and to leave out jumps that are not worth trying:
`wayword translate SYSTEM --space 'dl:18+neural(top=5,threshold=0.25,zone=0)'`.

example: wayword neural train train.ja train.en train.links -o ja.neural
         wayword waw evaluate ja.neural test.ja test.en test.links --grid
"""

import argparse
from pathlib import Path

from wayword.cli.terminal import add_json, add_threads, bar, chosen, print_json
from wayword.cli.waw_train import add_bitext

OPTIONS = (
    *("coverage", "tags", "window", "epochs", "batch", "rate", "dropout", "embedding"),
    *("hidden", "key", "min_count", "vocabulary", "seed", "threads"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand and its options."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    train = actions.add_parser("train", help="learn a network from a linked bitext")
    add_bitext(train)
    add = train.add_argument
    add("-o", "--out", required=True, metavar="FILE", help="the model")
    yes_no = argparse.BooleanOptionalAction
    add("--coverage", action=yes_no, default=None, help="look at what is translated (yes)")
    add("--tags", action=yes_no, default=None, help="look at tags (no)")
    add("--window", type=int, metavar="N", help="how far away wrong answers may be (18)")
    add("--epochs", type=int, metavar="N", help="passes over the text (2)")
    add("--batch", type=int, metavar="N", help="sentences between two steps (32)")
    add("--rate", type=float, metavar="R", help="the longest step (0.003)")
    add("--dropout", type=float, metavar="S", help="share of words hidden in training (0.05)")
    add("--embedding", type=int, metavar="N", help="size of the vector of a word (64)")
    add("--hidden", type=int, metavar="N", help="size of the state in each direction (96)")
    add("--key", type=int, metavar="N", help="size of the vectors that compare two words (64)")
    add("--min-count", type=int, metavar="N", help="rarer words are unknown (2)")
    add("--vocabulary", type=int, metavar="N", help="known words at most (20000)")
    add("--seed", type=int, metavar="N", help="of the random numbers it starts with (1)")
    told = "keep each pass there, and continue from it after an interruption"
    add("--state", metavar="FILE", help=told)
    add_threads(train)
    add_json(train)
    train.set_defaults(action=run_train)


def run(args: argparse.Namespace) -> None:
    """Do what the action asks for."""
    args.action(args)


def run_train(args: argparse.Namespace) -> None:
    """Train and say what was learned from."""
    from wayword.reorder import neural
    from wayword.report.table import listing

    with bar("neural: read", " lines") as progress:
        corpus = neural.Corpus.read(args.src, args.tgt, args.links, progress=progress)
    with bar("neural: train", " sentences") as progress:
        given = chosen(args, *OPTIONS)
        options = {name: value for name, value in given.items() if value is not None}
        model = neural.train(corpus, **options, state=args.state, progress=progress)
    model.save(args.out)
    if args.state:
        Path(args.state).unlink(missing_ok=True)
    assert model.summary is not None
    shown = {**model.summary.to_dict(), "bytes": model.size}
    if args.json:
        print_json(shown)
        return
    shown["likelihoods"] = " ".join(f"{value:.4f}" for value in model.summary.likelihoods)
    print(listing(shown.items()))
