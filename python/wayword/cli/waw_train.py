"""The action `wayword waw train`."""

import argparse

from wayword.cli.terminal import add_json, add_threads, bar, chosen, print_json

OPTIONS = (
    *("templates", "window", "inclusive", "between_anchor", "min_count", "objective"),
    *("coverage", "prior"),
    *("optimiser", "iterations", "tolerance", "memory", "temp_dir", "threads"),
)


def add_bitext(parser: argparse.ArgumentParser) -> None:
    """Declare the three files."""
    parser.add_argument("src", metavar="SRC", help="source text, words or word|POS|chunk")
    parser.add_argument("tgt", metavar="TGT", help="target text, line by line")
    parser.add_argument("links", metavar="LINKS", help="links, line by line")


def configure_train(train: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_bitext(train)
    add = train.add_argument
    add("-o", "--out", required=True, metavar="FILE", help="the model")
    add("--templates", help="W, P, WP or WPC (default: all that the text has layers for)")
    add("--window", type=int, metavar="N", help="how far away wrong answers may be (18)")
    inclusive = argparse.BooleanOptionalAction
    add("--inclusive", action=inclusive, default=None, help="that distance included (yes)")
    add("--between-anchor", metavar="A", help="beside the words between: j (default) or ij")
    add("--min-count", type=int, metavar="N", help="drop rarer features (20)")
    add(
        "--objective",
        help="each: every word is right or wrong (default); choice: one of them is chosen",
    )
    add("--coverage", action=inclusive, default=None, help="look at what is translated (no)")
    add("--prior", type=float, metavar="P", help="precision of the prior (1)")
    add("--optimiser", help="adagrad (default), lbfgs or cg")
    add("--iterations", type=int, metavar="N", help="steps at most (100; passes of adagrad: 5)")
    add("--tolerance", type=float, metavar="T", help="stop when gains are less (1e-5)")
    add("--memory", metavar="SIZE", help="for samples; more goes to disk (1G)")
    add("--temp-dir", metavar="DIR", help="where that is (default the system's)")
    add_threads(train)
    add_json(train)
    train.set_defaults(action=run_train)


def run_train(args: argparse.Namespace) -> None:
    """Train and say what was learned from."""
    from wayword.reorder import waw
    from wayword.report.table import listing

    with bar("waw: read", " lines") as progress:
        corpus = waw.Corpus.read(args.src, args.tgt, args.links, progress=progress)
    with bar("waw: train", "") as progress:
        given = chosen(args, *OPTIONS)
        options = {name: value for name, value in given.items() if value is not None}
        model = waw.train(corpus, **options, progress=progress)
    model.save(args.out)
    assert model.summary is not None
    shown = {"templates": model.recipe["templates"], **model.summary.to_dict()}
    if args.json:
        print_json(shown)
        return
    rows = ((n, f"{v:.4f}" if isinstance(v, float) else v) for n, v in shown.items())
    print(listing(rows))
