"""Learn the weights of a system from a dev set.

Decodes the dev set round by round and looks for the weights that score best: by MERT (the
default), PRO or k-best MIRA. Of several runs with different seeds, the weights of the best run are
taken, or the mean of the best runs where it has a better dev score. The new weights are written
into the system, unless --dry-run. What was done is kept in SYSTEM/tune, so that --resume continues
after an interruption, with the same result.

example: wayword tune system --dev dev.de dev.en
         wayword tune system --dev dev.de ref1.en ref2.en --method mira --runs 1
         wayword tune system --dev dev.de dev.en --metric bleu=0.5,krs-linked=0.5
             --ref-links dev.links
"""

import argparse
from typing import Any

from wayword.cli.terminal import add_json, add_seed, add_threads, print_json, tell_usability
from wayword.errors import ArgumentError

PLAN = (
    *("metric", "runs", "rounds", "nbest", "distinct", "start", "fixed", "free"),
    *("keep", "patience", "choose", "seed"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("system", metavar="SYSTEM", help="a system folder")
    add("--dev", metavar="FILE", nargs="+", required=True, help="source, then its references")
    add("--prepared", action="store_true", help="the dev set is tokenised already")
    add("--method", default="mert", help="mert, pro or mira (mert)")
    add("--option", metavar="NAME=N", action="append", default=[], help="such as restarts=50")
    add("--metric", default="bleu", help="a metric, or shares such as bleu=0.7,ter=0.3 (bleu)")
    add(
        "--runs",
        type=int,
        default=4,
        metavar="N",
        help="with different seeds; the best run, or the mean of the best (4)",
    )
    add("--rounds", type=int, default=25, metavar="N", help="of a run at most (25)")
    add("--nbest", type=int, default=100, metavar="N", help="candidates a sentence (100)")
    add("--distinct", action="store_true", help="n-best lists without equal texts")
    add("--start", default="current", help="current weights, or flat (current)")
    add("--fixed", nargs="+", default=[], metavar="NAME", help="weights that stay as they are")
    add("--free", nargs="+", default=[], metavar="NAME", help="tune these too: oov")
    add("--range", action="append", default=[], metavar="NAME=LOW:HIGH", help="limits of a weight")
    add("--keep", type=float, default=0.5, metavar="SHARE", help="of the best weights so far (0.5)")
    add("--patience", type=int, default=6, metavar="N", help="rounds without a better score (6)")
    add("--choose", default="best", help="which weights of a run count: best or last (best)")
    add("--ref-links", metavar="FILE", action="append", default=[], help="with source, per REF")
    add("--aligner", metavar="PATH", help="a saved aligner makes those links")
    add("--pos", metavar="FILE", help="source tags, for metrics of verbs")
    add("--folder", metavar="DIR", help="where the rounds are kept (SYSTEM/tune)")
    add("--resume", action="store_true", help="continue what was begun there")
    add("--dry-run", action="store_true", help="leave the system as it is")
    add_threads(parser)
    add_seed(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Tune, write the weights and say what they are worth."""
    from pathlib import Path

    from wayword.cli.display import StageDisplay
    from wayword.system import System
    from wayword.tune import make_tuner
    from wayword.tune.dev import read_dev, tune_system

    if Path(args.system).is_file():
        advice = f"unpack it with `wayword pack {args.system} -o FOLDER`"
        raise ArgumentError(f"{args.system}: a packed system does not change; {advice}")
    system = System.open(args.system)
    src, gold = read_dev(
        *(system, args.dev),
        **{name: getattr(args, name) for name in ("prepared", "ref_links", "aligner", "pos")},
    )
    with StageDisplay("tune", "sentences") as display:
        display.expect_rounds(args.runs, args.rounds)
        tuning = tune_system(
            *(system, src, gold),
            method=make_tuner(args.method, args.threads, **_options(args.option)),
            ranges=dict(map(_range, args.range)),
            folder=args.folder or Path(args.system, "tune"),
            write=not args.dry_run,
            **{name: getattr(args, name) for name in (*PLAN, "resume", "threads")},
            progress=display.progress,
        )
    if args.json:
        print_json(tuning.to_dict())
    else:
        print(tuning.describe())
    assert tuning.usability is not None, "a system was tuned"
    tell_usability(tuning.usability, args.system)


def _options(pairs: list[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        try:
            options[name] = int(value) if value.lstrip("-").isdecimal() else float(value)
        except ValueError:
            raise ArgumentError(f"option: found `{pair}`; expected NAME=NUMBER") from None
    return options


def _range(text: str) -> tuple[str, tuple[float, float]]:
    name, _, ends = text.partition("=")
    low, _, high = ends.partition(":")
    try:
        return name, (float(low or "-inf"), float(high or "inf"))
    except ValueError:
        wanted = "NAME=LOW:HIGH, one of the two may be missing"
        raise ArgumentError(f"range: found `{text}`; expected {wanted}") from None
