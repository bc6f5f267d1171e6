"""The experiment of each paper on every toy pair: `python bench/run.py papers`.

The pages under docs/papers show the means. Rows of Bisazza and Federico are those of
`bench/demo.py`, with the sizes of the other papers.
"""

from typing import Any

from wayword.corpus import toy
from wayword.paper_experiments import PAPERS, run_paper_experiment

PAIRS = 2000
TEXTS = 3


def rows() -> list[dict[str, Any]]:
    """Run every experiment; one row per pair and setting, with the scores of each text."""
    return [
        {"case": f"{paper} {pair} {row.setting}"}
        | {metric: round(row.mean(metric), 1) for metric in row.scores}
        | {
            f"{metric} of each text": [round(score, 1) for score in scores]
            for metric, scores in row.scores.items()
        }
        for paper in PAPERS
        for pair in toy.pairs()
        for row in run_paper_experiment(paper, pair, size=PAIRS, texts=TEXTS).rows
    ]
