"""A comparison for people: scores with marks, scores by length, p-values and signatures.

>>> from wayword.evaluate import Gold, Output, compare
>>> gold = Gold(refs=[["the cat sat on the mat"]])
>>> print(describe(compare(gold, [Output("base", ["the cat sat on mat"])], ["meteor"])))
system  METEOR
base    82.03 ±0.00
<BLANKLINE>
METEOR|nrefs:1|variant:2005|stages:exact+porter|case:lc|tok:none|version:wayword-...
interval:95%|resamples:1000|seed:1
"""

import math

from wayword.evaluate import METRICS, Comparison, Score
from wayword.evaluate.pairs import BINS
from wayword.report.table import Table

__all__ = ["describe"]

#: What stands where there is nothing to judge.
NONE = "–"


def describe(result: Comparison) -> str:
    """All tables, one after the other."""
    names = [METRICS[metric].name for metric in result.metrics]
    rows = [
        [system, *(_cell(result.score(system, metric)) for metric in result.metrics)]
        for system in result.systems
    ]
    parts = [Table(["system", *names], rows).text()]
    if len(result.systems) > 1:
        base, *others = result.systems
        p_values = [
            [system, *(_number(result.score(system, m).p_value, 4) for m in result.metrics)]
            for system in others
        ]
        legend = f"▲▼ better, worse than {base} at p ≤ .05; △▽ at p ≤ .10"
        parts += [legend, Table(["p", *names], p_values).text()]
    parts += _order_tables(result)
    if len(result.bins) > 1:
        parts.append(Table(["words", "lines", "system", *names], _bin_rows(result)).text())
    if result.notes:
        parts.append("\n".join(result.notes))
    parts.append("\n".join([*result.signatures.values(), result.recipe]))
    return "\n\n".join(parts)


def _cell(score: Score) -> str:
    if math.isnan(score.value):
        return NONE
    return f"{score.value:.2f} ±{(score.high - score.low) / 2:.2f}{score.mark and ' ' + score.mark}"


def _number(value: float | None, digits: int) -> str:
    return NONE if value is None or math.isnan(value) else f"{value:.{digits}f}"


def _order_tables(result: Comparison) -> list[str]:
    """How many words metrics of word order judge; precision and recall of reversals."""
    details = {(score.system, score.metric): score.details for score in result.scores}
    judging = [m for m in result.metrics if "judged" in details[result.systems[0], m]]
    if not judging:
        return []
    rows = [
        [system, *(_number(details[system, metric]["judged"], 1) for metric in judging)]
        for system in result.systems
    ]
    tables = [Table(["judged, %", *(METRICS[metric].name for metric in judging)], rows).text()]
    for metric in judging:
        if "recall" not in details[result.systems[0], metric]:
            continue
        rows = []
        for bin_name in ("", *(f" {name}" for name in BINS)):
            for system in result.systems:
                of_system = details[system, metric]
                f1 = of_system.get(f"f1{bin_name}", result.score(system, metric).value)
                shares = [of_system[f"{part}{bin_name}"] for part in ("precision", "recall")]
                pairs = f"{of_system[f'pairs{bin_name}']:.0f}"
                first = bin_name.strip() or "all" if system == result.systems[0] else ""
                rows.append([first, system, pairs, *(_number(n, 1) for n in (*shares, f1))])
        head = [METRICS[metric].name, "system", "pairs", "precision", "recall", "F1"]
        tables.append(Table(head, rows).text())
    return tables


def _bin_rows(result: Comparison) -> list[list[str]]:
    return [
        [
            length_bin.name if system == result.systems[0] else "",
            f"{length_bin.sentences}" if system == result.systems[0] else "",
            system,
            *(_number(length_bin.scores[system][metric], 2) for metric in result.metrics),
        ]
        for length_bin in result.bins
        for system in result.systems
    ]
