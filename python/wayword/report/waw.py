"""Models of the next word in tables: telling right steps from wrong ones, ranking, pruning.

The first two have the shapes of Tables 3 and 4 of Bisazza and Federico (2013); the third shows
what pruning would leave of the right orders.
"""

import math
from collections.abc import Mapping, Sequence

from wayword.reorder.waw_evaluation import Evaluation, Ranking, Reach
from wayword.report.table import Table

__all__ = ["describe", "describe_reach"]

SURE = ["model", "features", "precision", "recall", "F"]
RANKED = ["model", "DL", "DL-err", "Top-1", "Top-3", "Top-3-long back", "forw."]
GAINS = ["gain in Top-1", "in Top-3"]
REACH = ["model", "space", "words a step", "right kept", "long back", "forw.", "whole orders"]
NOTE = "gain: over distance; ± is half of the 95 % interval, over sentences."


def describe(evaluations: Mapping[str, tuple[str, Evaluation]]) -> str:
    """Both tables, in percent, for models by name with their templates."""
    shares: list[list[object]] = []
    for name, (templates, evaluation) in evaluations.items():
        c = evaluation.classification
        shares.append([name, templates, *map(_percent, (c.precision, c.recall, c.f1))])
    distance = next(iter(evaluations.values()))[1].distance
    rows = [_row("distance", row) for row in distance]
    for name, (_, evaluation) in evaluations.items():
        for row, gain in zip(evaluation.ranking, evaluation.gains, strict=True):
            rows.append([*_row(name, row), _signed(gain.top1, gain.top1_margin)])
            rows[-1].append(_signed(gain.top3, gain.top3_margin))
    rows = [row + [""] * (len(RANKED + GAINS) - len(row)) for row in rows]
    return f"{Table(SURE, shares).text()}\n\n{Table(RANKED + GAINS, rows).text()}\n\n{NOTE}"


def describe_reach(reaches: Mapping[str, Sequence[Reach]]) -> str:
    """What pruning by each model would leave of the right orders; shares in percent."""
    rows: list[list[object]] = []
    for name, of_model in reaches.items():
        for row in of_model:
            shares = (row.right, row.right_back, row.right_forward, row.reachable)
            width = "–" if math.isnan(row.width) else f"{row.width:.1f}"
            rows.append([name, row.space, width, *map(_percent, shares)])
    return Table(REACH, rows).text()


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else f"{100 * share:.1f}"


def _signed(gain: float, margin: float) -> str:
    return f"{100 * gain:+.1f}" if math.isnan(margin) else f"{100 * gain:+.1f} ±{100 * margin:.1f}"


def _row(name: str, row: Ranking) -> list[object]:
    shares = (row.dl_err, row.top1, row.top3, row.top3_long_back, row.top3_long_forward)
    return [name, row.limit, *map(_percent, shares)]
