"""Find out how good the word order could be, whatever the models say.

`count` and `draw` show a space of orders; `order` measures spaces on links alone; `bleu` finds the
best BLEU that each space makes of monotone translations; `phrase` says what a system could reach
and where the rest is lost.
SPACE is mono, mj1, mj2, ibm:K, itg, itg:K (exchanges of at most K items) or dl:K (-1: no limit).

example: wayword oracle count itg 6
         wayword oracle draw mj2 6 --items 'if you to-me that explain could' -o mj2.svg
         wayword oracle order train.de train.en train.links
         wayword oracle bleu system test.de test.en -o report
         wayword oracle phrase system test.de test.en --worst 10
"""

import argparse
import sys

from wayword.cli.oracle_bleu import configure_bleu
from wayword.cli.oracle_order import configure_order
from wayword.cli.oracle_phrase import configure_phrase
from wayword.cli.terminal import add_json, add_seed, print_json


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the actions and their options."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    count = actions.add_parser("count", help="the number of orders in a space")
    _add_space(count)
    count.add_argument("--list", action="store_true", help="all of them, positions from 0")
    count.add_argument("--sample", type=int, default=0, metavar="K", help="K of them at random")
    add_seed(count)
    add_json(count)
    count.set_defaults(action=run_count)
    draw = actions.add_parser("draw", help="the lattice of a space as a picture (SVG)")
    _add_space(draw)
    draw.add_argument("--items", metavar="WORDS", help="names for the items, with spaces between")
    draw.add_argument("-o", "--out", metavar="FILE", help="default: standard output")
    draw.set_defaults(action=run_draw)
    configure_order(actions.add_parser("order", help="how near spaces come to gold orders"))
    configure_bleu(actions.add_parser("bleu", help="the best BLEU that spaces allow"))
    configure_phrase(actions.add_parser("phrase", help="what a system could reach"))


def _add_space(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("space", metavar="SPACE", help="such as itg, itg:5, ibm:4, mj2, dl:6")
    parser.add_argument("length", metavar="N", type=int, help="number of items")


def run(args: argparse.Namespace) -> None:
    """Do what the action asks for."""
    args.action(args)


def run_count(args: argparse.Namespace) -> None:
    """Print the number of orders, or orders."""
    from wayword.errors import ArgumentError
    from wayword.oracle import Space

    if args.sample < 0:
        raise ArgumentError(f"--sample: found {args.sample}; expected a number above 0")
    space = Space(args.space)
    orders = space.orders(args.length) if args.list else iter(())
    if args.sample:
        orders = iter(space.sample(args.length, args.sample, seed=args.seed))
    if args.json:
        shown = {"orders": list(orders)} if args.list or args.sample else {}
        count = space.count(args.length)
        print_json({"space": space.name, "length": args.length, "count": count, **shown})
        return
    if not args.list and not args.sample:
        print(space.count(args.length))
    for order in orders:
        print(*order)


def run_draw(args: argparse.Namespace) -> None:
    """Draw the lattice."""
    from wayword.corpus.files import new_file
    from wayword.errors import ArgumentError
    from wayword.oracle import Space
    from wayword.report.lattice import draw

    items = args.items.split() if args.items else []
    if items and len(items) != args.length:
        raise ArgumentError(f"--items: found {len(items)} names; expected {args.length}")
    lattice = Space(args.space).lattice(args.length)
    title = f"{args.space}: {lattice.count} orders of {args.length} items, {lattice.states} states"
    picture = draw(lattice.layers, lattice.arcs, items, title=title)
    if args.out is None:
        print(picture, end="")
        return
    with new_file(args.out) as file:
        file.write(picture)
    print(f"wayword: {title}", file=sys.stderr)
