"""`wayword oracle lag`: how long a simultaneous translator must wait."""

import argparse
import sys
from typing import TYPE_CHECKING

from wayword.cli.terminal import add_json, add_threads, bar, print_json

if TYPE_CHECKING:
    from wayword.align import Links


def configure_lag(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("src", metavar="SRC", help="source text")
    add("tgt", metavar="TGT", help="target text")
    add("links", metavar="LINKS", help="lines such as `0-0 1-2`")
    add("--wait", type=int, nargs="+", metavar="K", help="links ahead at these k (1 3 5 7 9)")
    add("--labels", metavar="FILE", help="write R and W for every word, one line per sentence")
    add("--bound", type=float, metavar="LAG", help="with --rewrite: the most average lagging")
    add("--rewrite", metavar="FILE", help="write the target text in the nearest order within it")
    add_threads(parser)
    add_json(parser)
    parser.set_defaults(action=run_lag)


def run_lag(args: argparse.Namespace) -> None:
    """Measure, print, and write what is asked for."""
    from wayword.corpus.files import new_file
    from wayword.errors import ArgumentError
    from wayword.oracle.lag import WAITS, labels, lag_oracle
    from wayword.oracle.read import read_linked
    from wayword.report.table import listing

    if (args.bound is None) != (args.rewrite is None):
        raise ArgumentError("--bound and --rewrite go together; expected both or none")
    links, lengths = read_linked([args.src, args.tgt, args.links])
    assert lengths is not None
    found = lag_oracle(links, lengths, waits=args.wait or WAITS)
    if args.labels:
        with new_file(args.labels) as file:
            file.writelines(f"{line}\n" for line in labels(links, lengths))
    told = found.to_dict()
    if args.rewrite:
        told["rewrite"] = _rewrite(args, links, lengths)
    if args.json:
        print_json(told)
        return
    rows: list[tuple[str, object]] = [
        ("sentences", found.sentences),
        ("average lagging", f"{found.lagging:.2f}"),
        ("average proportion", f"{found.proportion:.3f}"),
        *((f"wait-k for {share:.0%}", found.wait_at(share)) for share in (0.5, 0.9, 1.0)),
        *((f"links ahead at k={k}", f"{100 * share:.1f} %") for k, share in found.ahead.items()),
    ]
    rows += [(f"rewritten: {name}", value) for name, value in told.get("rewrite", {}).items()]
    print(listing(rows))


def _rewrite(
    args: argparse.Namespace, links: "Links", lengths: list[tuple[int, int]]
) -> dict[str, object]:
    """Write the rewritten text; what became of it."""
    from wayword.corpus.files import new_file
    from wayword.evaluate.read import read_lines
    from wayword.oracle.lag import rewrites

    with bar("oracle lag", " lines") as progress:
        every = rewrites(links, lengths, args.bound, threads=args.threads, progress=progress)
    with new_file(args.rewrite) as file:
        for line, rewrite in zip(read_lines(args.tgt), every, strict=True):
            words = line.split()
            print(*(words[at] for at in rewrite.order), file=file)
    late = sum(not rewrite.kept for rewrite in every)
    if late:
        print(f"wayword: {late} sentence(s) cannot keep the bound: source order", file=sys.stderr)
    return {
        "changed": sum(rewrite.moved > 0 for rewrite in every),
        "pairs moved": sum(rewrite.moved for rewrite in every),
        "average lagging": round(sum(rewrite.lagging for rewrite in every) / len(every), 4),
        "out of bound": late,
        "not exact": sum(not rewrite.exact for rewrite in every),
    }
