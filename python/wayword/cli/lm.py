"""Train n-gram language models and score text with them.

A model is estimated by interpolated modified Kneser-Ney smoothing from text of any size, down to
a few lines or characters, and saved in a form that opens at once, or as ARPA for other tools.
Scores are natural logarithms.

example: wayword lm train train.en -o en.lm
         wayword lm train memory.tmx news.jsonl --column en -o en.lm
         wayword lm score en.lm test.en
         wayword lm convert other.arpa.gz -o other.lm
         wayword lm mix news.lm talks.lm --dev dev.en -o mixed.lm
"""

import argparse

from wayword.cli.lm_mix import configure_mix
from wayword.cli.lm_train import configure_train, goes_to_arpa
from wayword.cli.terminal import add_json, bar, print_json


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands and their options."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    configure_train(actions.add_parser("train", help="estimate a model from text"))
    score = actions.add_parser("score", help="perplexity of a text, or a score for each line")
    score.add_argument("model", metavar="MODEL", help="a saved model or an ARPA file")
    score.add_argument(
        "text", metavar="TEXT", nargs="?", default="-", help="one sentence per line (default stdin)"
    )
    score.add_argument("--lines", action="store_true", help="print the score of each line")
    score.add_argument("--verify", action="store_true", help="check every byte of the model first")
    add_json(score)
    score.set_defaults(action=run_score)
    convert = actions.add_parser("convert", help="write a model in another form")
    convert.add_argument("model", metavar="MODEL", help="a saved model or an ARPA file")
    convert.add_argument(
        "-o", "--out", required=True, metavar="FILE", help="the new file; a name in .arpa: as ARPA"
    )
    convert.add_argument("--arpa", action="store_true", help="write ARPA, whatever the name")
    convert.set_defaults(action=run_convert)
    configure_mix(actions.add_parser("mix", help="several models as one, by weights"))


def run(args: argparse.Namespace) -> None:
    """Do what the action asks for."""
    args.action(args)


def run_score(args: argparse.Namespace) -> None:
    """Score and print."""
    from wayword import lm
    from wayword.corpus.files import spooled
    from wayword.report.table import listing

    model = lm.LanguageModel.load(args.model, verify=args.verify)
    with spooled(args.text) as text, bar("lm", " lines") as progress:
        if args.lines:
            scores = model.score_lines(text).tolist()
            print_json(scores) if args.json else print(*(f"{s:.6f}" for s in scores), sep="\n")
            return
        perplexity = model.perplexity(text, progress=progress)
    if args.json:
        print_json(perplexity.to_dict())
        return
    rows = {
        "sentences": perplexity.sentences,
        "words and sentence ends": perplexity.tokens,
        "unknown words": perplexity.unknown,
        "perplexity": f"{perplexity.with_unknown:.4f}",
        "perplexity without unknown": f"{perplexity.without_unknown:.4f}",
    }
    print(listing(rows.items()))


def run_convert(args: argparse.Namespace) -> None:
    """Read and write."""
    from wayword import lm

    is_arpa = goes_to_arpa(args)
    with bar("lm", " lines") as progress:
        model = lm.LanguageModel.load(args.model, verify=True, progress=progress)
        if is_arpa:
            model.write_arpa(args.out, progress=progress)
        else:
            model.save(args.out)
