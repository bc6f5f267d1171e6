"""The action `wayword lm mix`."""

import argparse

from wayword.cli.lm_train import goes_to_arpa
from wayword.cli.terminal import add_json, bar, print_json


def configure_mix(mix: argparse.ArgumentParser) -> None:
    """Declare the options."""
    mix.add_argument("models", metavar="MODEL", nargs="+", help="saved models or ARPA files")
    mix.add_argument(
        "-o", "--out", required=True, metavar="FILE", help="the mixture; a name in .arpa: as ARPA"
    )
    how = mix.add_mutually_exclusive_group(required=True)
    how.add_argument("--dev", metavar="TEXT", help="text that the mixture is to predict best")
    how.add_argument(
        "--weights", type=float, nargs="+", metavar="W", help="of the models; they sum to 1"
    )
    mix.add_argument("--arpa", action="store_true", help="write ARPA, whatever the name")
    mix.add_argument(
        "--memory", default="1G", metavar="SIZE", help="for sorting; more goes to disk (default 1G)"
    )
    mix.add_argument("--temp-dir", metavar="DIR", help="where that is (default the system's)")
    add_json(mix)
    mix.set_defaults(action=run_mix)


def run_mix(args: argparse.Namespace) -> None:
    """Find the weights, mix, and say what each model counts for."""
    from wayword import lm
    from wayword.corpus.files import spooled
    from wayword.report.table import Table

    is_arpa = goes_to_arpa(args)
    models = [lm.LanguageModel.load(path) for path in args.models]
    mixture = None
    with bar("lm", " lines") as progress:
        if args.dev is not None:
            with spooled(args.dev) as text:
                mixture = lm.mixture_of(models, text)
        weights = list(args.weights) if mixture is None else list(mixture.weights)
        room = {"memory": args.memory, "temp_dir": args.temp_dir, "progress": progress}
        (lm.mix_arpa if is_arpa else lm.mix)(models, weights, args.out, **room)
    if args.json:
        found = {} if mixture is None else {**vars(mixture)}
        print_json({"models": args.models, **found, "weights": weights})
        return
    rows = [(f"{weight:.4f}", name) for weight, name in zip(weights, args.models, strict=True)]
    print(Table(["weight", "model"], rows).text())
    if mixture is not None:
        words = f"{mixture.tokens} words and sentence ends; {mixture.unknown} that no model knows"
        print(f"perplexity of the mixture {mixture.perplexity:.4f} ({words} left out)")
