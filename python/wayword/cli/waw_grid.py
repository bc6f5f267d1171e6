"""`wayword waw grid`: how much early pruning costs no quality on a dev set."""

import argparse
import math

from wayword.cli.terminal import add_json, add_threads, chosen, print_json

HEAD = ["work/word", "left out/word", "CPU ms/word", "reused", ""]


def configure_grid(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("system", metavar="SYSTEM", help="a system folder with a word-after-word model")
    add("--dev", metavar="FILE", nargs="+", required=True, help="source, then its references")
    add("--prepared", action="store_true", help="the dev set is tokenised already")
    add("--limit", default="dl:18", metavar="SPACE", help="what is pruned (dl:18)")
    add(
        "--top",
        type=int,
        nargs="+",
        default=[1, 2, 3, 4, 5],
        metavar="N",
        help="words that stay; 0: any number (1 2 3 4 5)",
    )
    least = "least share of the best word's probability (0.5 0.25 0.1)"
    add("--threshold", type=float, nargs="+", default=[0.5, 0.25, 0.1], metavar="T", help=least)
    near = "phrases so near stay anyway; -1: none (1 3 5)"
    add("--zone", type=int, nargs="+", default=[1, 3, 5], metavar="Z", help=near)
    add("--metric", default="bleu", help="a metric, or shares: bleu=0.5,krs-linked=0.5 (bleu)")
    add("--ref-links", metavar="FILE", action="append", default=[], help="with source, per REF")
    add("--aligner", metavar="PATH", help="a saved aligner makes those links")
    add("--pos", metavar="FILE", help="source tags, for metrics of verbs")
    add("--tolerance", type=float, default=0.1, metavar="D", help="of the best score (0.1)")
    add_threads(parser)
    add_json(parser)
    parser.set_defaults(action=run_grid)


def run_grid(args: argparse.Namespace) -> None:
    """Try all settings and say which one to take."""
    from wayword.report.table import Table
    from wayword.system import System
    from wayword.tune.dev import read_dev
    from wayword.tune.grid import prune_grid

    system = System.open(args.system)
    texts = chosen(args, "prepared", "ref_links", "aligner", "pos")
    src, gold = read_dev(system, args.dev, **texts)
    pruning = {"tops": args.top, "thresholds": args.threshold, "zones": args.zone}
    options = chosen(args, "limit", "metric", "tolerance", "threads")
    grid = prune_grid(system, src, gold, **pruning, **options)
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
    print(f"\nleast work within {args.tolerance:g} of the best {grid.signature}: {grid.chosen}")
