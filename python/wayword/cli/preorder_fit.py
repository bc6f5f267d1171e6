"""The action `wayword preorder fit`."""

import argparse
import sys
from typing import TYPE_CHECKING

from wayword.cli.terminal import add_json, add_seed, add_threads, bar, chosen, print_json
from wayword.cli.waw_train import add_bitext

if TYPE_CHECKING:
    from wayword.reorder.lop import Pass

OPTIONS = (
    *(
        "model",
        "reference",
        "unlinked",
        "sentences",
        "passes",
        "patience",
        "stop",
        "bits",
        "batch",
        "min_count",
    ),
    *("strictness", "rate", "prior", "choice"),
)


def configure_fit(fit: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_bitext(fit)
    add = fit.add_argument
    add("-o", "--out", required=True, metavar="FILE", help="the model")
    files = ("SRC", "TGT", "LINKS")
    add("--dev", nargs=3, metavar=files, help="what decides when to stop (held out)")
    add("--model", help="joint (default); lop, pairs alone; neural, pairs by a network")
    add("--reference", help="what words without links want: attach, leftmost, linked (nothing)")
    add("--unlinked", type=float, metavar="W", help="how much that counts; joint only (0.05)")
    add("--sentences", type=int, metavar="N", help="learn from the first N (all)")
    add("--passes", type=int, metavar="N", help="passes over the text at most (14)")
    add("--patience", type=int, metavar="N", help="passes without a better dev score (2)")
    add("--stop", help="that score: tau (default), pairs of linked words in order, or bleu")
    add("--bits", type=int, metavar="B", help="the table has 2^B weights (24)")
    add("--batch", type=int, metavar="N", help="sentences between two updates (lop 1, joint 32)")
    add("--min-count", type=int, metavar="N", help="drop rarer features; lop only (1)")
    add("--strictness", type=float, metavar="K", help="what contradicting a pair costs; joint only")
    add("--rate", type=float, metavar="R", help="size of the steps; joint only")
    add("--prior", type=float, metavar="P", help="pulls weights towards 0; joint only (0)")
    add("--choice", help="how orders are chosen: best or expected; joint only")
    add_seed(fit)
    add_threads(fit)
    add_json(fit)
    fit.set_defaults(action=run_fit)


def run_fit(args: argparse.Namespace) -> None:
    """Learn and say what was learned from."""
    from wayword.reorder import lop
    from wayword.reorder.preorder import held_out
    from wayword.report.table import listing

    given = {name: value for name, value in chosen(args, *OPTIONS).items() if value is not None}
    lop.Options(**given)  # before anything is read
    with bar("preorder: read", " lines") as progress:
        corpus = lop.Corpus.read(args.src, args.tgt, args.links, progress=progress)
    if args.dev:
        dev = lop.Corpus.read(*args.dev)
    else:
        corpus, dev = corpus.split(len(corpus) - held_out(len(corpus)))
    with bar("preorder: learn", " lines") as progress:
        model = lop.fit(
            corpus,
            dev,
            seed=args.seed,
            threads=args.threads,
            progress=progress,
            watch=tell,
            **given,
        )
    model.save(args.out)
    assert model.summary is not None
    if args.json:
        print_json({**model.recipe, **model.summary.to_dict()})
        return
    summary = model.summary
    [best] = [one for one in summary.passes if one.number == summary.best]
    rows = {
        "model": model.recipe["model"],
        "sentences": summary.sentences,
        "words": summary.words,
        "best pass": summary.best,
        "tau of the dev set": f"{best.tau:.2f} (source order {summary.tau_before:.2f})",
        "BLEU of its order": f"{best.bleu:.2f} (source order {summary.bleu_before:.2f})",
        "weights": model.used,
        "MB": f"{model.size / 1e6:.1f}",
    }
    print(listing(rows.items()))


def tell(one: "Pass") -> None:
    """A line a pass, for people who wait."""
    scores = f"tau of the dev set {one.tau:.2f}, BLEU of its order {one.bleu:.2f}"
    print(f"pass {one.number}: {scores}", file=sys.stderr)
