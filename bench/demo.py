"""The settings of `wayword demo` with the scores of each text: `python bench/run.py demo`.

Distortion limit, word-after-word feature and pruning vary one at a time; each setting is tuned by
itself on each of three texts of each language pair. README shows the means.
"""

from collections import defaultdict
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from wayword import experiment
from wayword.corpus import toy
from wayword.demo import VARIANTS, ToyCorpus
from wayword.experiment import Row

SEEDS = (1, 2, 3)
PAIRS = 2000


def rows() -> list[dict[str, Any]]:
    """Train, tune and test every setting on every text."""
    return [row for pair in toy.pairs() for row in _pair_rows(pair)]


def _pair_rows(pair: str) -> list[dict[str, Any]]:
    results: dict[str, list[Row]] = defaultdict(list)
    with TemporaryDirectory() as folder:
        for seed in SEEDS:
            corpus = ToyCorpus(Path(folder), pair, seed)
            corpus.write(PAIRS)
            for row in experiment.run(corpus.experiment(), corpus.folder).rows:
                results[row.variant].append(row)
    return [
        {
            "case": f"{pair} {setting}",
            "BLEU": round(fmean(_scores(results[setting], "bleu")), 1),
            "BLEU of each text": [round(score, 1) for score in _scores(results[setting], "bleu")],
            "reversal F1": round(fmean(_scores(results[setting], "reversals")), 1),
            "CPU ms a word": round(fmean(row.ms for row in results[setting]), 3),
        }
        for setting in VARIANTS
    ]


def _scores(of_texts: list[Row], metric: str) -> list[float]:
    return [row.scores[metric][0] or 0.0 for row in of_texts]
