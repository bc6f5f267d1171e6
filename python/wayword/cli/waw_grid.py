"""`wayword waw grid`: how much early pruning costs no quality on a dev set."""

import argparse
import math

from wayword.cli.terminal import add_json, add_threads, bar, chosen, print_json

HEAD = ["work/word", "left out/word", "CPU ms/word", "reused", ""]


def configure_grid(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("system", metavar="SYSTEM", help="a system folder with such a feature")
    add("--dev", metavar="FILE", nargs="+", required=True, help="source, then its references")
    add("--prepared", action="store_true", help="the dev set is tokenised already")
    add("--limit", default="dl:18", metavar="SPACE", help="what is pruned (dl:18)")
    add("--feature", default="waw", metavar="NAME", help="the feature that prunes (waw)")
    add_pruning(parser, top=[3, 5, 8], threshold=[0.25, 0.1, 0.05, 0.02], zone=[-1, 0, 1, 3, 5])
    orders = "decode only what no other setting beats on these: source, target, links"
    add("--orders", nargs=3, metavar="FILE", help=orders)
    add("--metric", default="bleu", help="a metric, or shares: bleu=0.5,krs-linked=0.5 (bleu)")
    add("--ref-links", metavar="FILE", action="append", default=[], help="with source, per REF")
    add("--aligner", metavar="PATH", help="a saved aligner makes those links")
    add("--pos", metavar="FILE", help="source tags, for metrics of verbs")
    add(
        "--tolerance",
        type=float,
        default=0.1,
        metavar="D",
        help="how far from the best score is good enough (0.1)",
    )
    add_threads(parser)
    add_json(parser)
    parser.set_defaults(action=run_grid)


def add_pruning(
    parser: argparse.ArgumentParser, *, top: list[int], threshold: list[float], zone: list[int]
) -> None:
    """Declare the parameters of early pruning."""
    add = parser.add_argument

    def shown(values: list[int] | list[float]) -> str:
        return " ".join(map(str, values))

    stay = f"words that stay; 0: any number ({shown(top)})"
    add("--top", type=int, nargs="+", default=top, metavar="N", help=stay)
    least = f"least share of the best word's probability ({shown(threshold)})"
    add("--threshold", type=float, nargs="+", default=threshold, metavar="T", help=least)
    near = f"phrases at most this far away stay anyway; -1: none ({shown(zone)})"
    add("--zone", type=int, nargs="+", default=zone, metavar="Z", help=near)


def run_grid(args: argparse.Namespace) -> None:
    """Try all settings and say which one to take."""
    from wayword.report.table import Table
    from wayword.system import System
    from wayword.tune.dev import read_dev
    from wayword.tune.grid import prune_grid, prunings, worth_decoding

    system = System.open(args.system)
    texts = chosen(args, "prepared", "ref_links", "aligner", "pos")
    src, gold = read_dev(system, args.dev, **texts)
    grid_of = prunings(args.top, args.threshold, args.zone)
    if args.orders:
        grid_of = worth_decoding(system, args.orders, grid_of, args.feature, args.limit)
    options = chosen(args, "limit", "feature", "metric", "tolerance", "threads")
    with bar("waw grid", ""):
        grid = prune_grid(system, src, gold, prunings=grid_of, **options)
    if args.json:
        print_json(grid.to_dict())
        return
    rows = [
        [
            *(point.space, f"{point.score:.2f}"),
            *("–" if math.isnan(score) else f"{score:.2f}" for score in point.order.values()),
            *(f"{point.work:.0f}", f"{point.narrowed:.0f}"),
            *(f"{point.cpu_ms:.3f}", point.reused, "<-" if point.space == grid.chosen else ""),
        ]
        for point in grid.tried
    ]
    print(Table(["space", "score", *grid.tried[0].order, *HEAD], rows).text())
    best = sorted(grid.tried[:-1], key=lambda point: -point.score)[:3]
    print(f"\nbest {grid.signature}: {', '.join(point.space for point in best)}")
    print(f"least work within {args.tolerance:g} of it: {grid.chosen}")
