"""Further text for the language model: in one model, in models of their own, as a linear mixture.

    python -m bench.mix OUT [--only hi-en]

The two small pairs of `bench/long.py`, with its dev and test lines, and English of two other kinds
beside their own: parliament and encyclopedia, 100,000 lines each. Each row is tuned from the same
start. Perplexities are those of the dev set's references.
"""

import argparse
from math import exp
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.experiments import watch
from bench.long import BASE, corpora
from bench.measure import SHARED, write_result
from wayword import experiment, lm
from wayword.corpus.files import open_text
from wayword.experiment import Experiment
from wayword.report.experiment import plain

PAIRS = ("hi-en", "ar-en")
FIRST = "training text"


def described(corpus: dict[str, Any], texts: list[str]) -> Experiment:
    """The rows of a pair."""
    variants: list[dict[str, Any]] = [{"name": FIRST}]
    variants += [
        {"name": mix, "start": FIRST, "lm": {"text": texts, "mix": mix}}
        for mix in ("one", "each", "linear")
    ]
    # Tuned as often as the others.
    variants.append({"name": f"{FIRST}, again", "start": FIRST})
    base = {**BASE, "search": {"pop_limit": 400, "distortion": "early", "space": "dl:8"}}
    values: dict[str, Any] = {
        "name": "Further text",
        "base": base,
        "variant": variants,
        "corpus": [corpus],
    }
    values |= {"baseline": f"{FIRST}, again", "metrics": ["bleu", "chrf", "krs-linked"]}
    return Experiment.from_dict({**values, "each_run": True}, Path())


def perplexities(own: str, texts: list[str], dev: str) -> dict[str, Any]:
    """How well each way of using the texts predicts the words of the dev set that ``own`` has.

    Further text knows more words; all ways are compared on the same ones.
    """
    models = [lm.train(path) for path in (own, *texts)]
    together = lm.train(line for path in (own, *texts) for line in open_text(path))
    mixture = lm.mixture_of(models, dev)
    ways = {FIRST: models[0], "one": together, "linear": lm.mix(models, mixture.weights)}
    known = [not word.is_unknown for line in open_text(dev) for word in models[0].word_scores(line)]
    result: dict[str, Any] = {"words": sum(known)}
    for name, model in ways.items():
        scores = [word.score for line in open_text(dev) for word in model.word_scores(line)]
        mean = fmean(score for score, is_known in zip(scores, known, strict=True) if is_known)
        result[f"perplexity, {name}"] = round(exp(-mean), 1)
    return {**result, "weights": [round(weight, 3) for weight in mixture.weights]}


def main() -> None:
    """Measure the pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", nargs="+", default=PAIRS, choices=PAIRS)
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()
    if not SHARED.is_dir():
        parser.exit(1, "the real data folder ../shared is not there\n")
    texts = [str(SHARED / "data" / "align" / name / "bitext.en.xz") for name in ("de-en", "ja-en")]
    rows: list[dict[str, Any]] = []
    for pair in corpora(args.out / "text"):
        corpus = pair["corpus"]
        if corpus["name"] not in args.only:
            continue
        corpus = {key: value for key, value in corpus.items() if key != "subset"}
        found = experiment.run(
            described(corpus, texts), args.out / f"mix-{corpus['name']}", watch=watch
        )
        print(plain(found), flush=True)
        predicted = perplexities(corpus["tgt"], texts, corpus["dev"][1])
        print(predicted, flush=True)
        rows += [{"case": f"{corpus['name']} perplexity", **predicted}]
        rows += found.to_dict()["rows"]
    print(f"written to {write_result('mix', rows)}")


if __name__ == "__main__":
    main()
