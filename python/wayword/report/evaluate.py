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

from wayword.evaluate import METRICS, Comparison, Score
from wayword.report.table import Table

__all__ = ["describe"]


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
            [system, *(f"{result.score(system, m).p_value:.4f}" for m in result.metrics)]
            for system in others
        ]
        legend = f"▲▼ better, worse than {base} at p ≤ .05; △▽ at p ≤ .10"
        parts += [legend, Table(["p", *names], p_values).text()]
    if len(result.bins) > 1:
        parts.append(Table(["words", "lines", "system", *names], _bin_rows(result)).text())
    if result.notes:
        parts.append("\n".join(result.notes))
    parts.append("\n".join([*result.signatures.values(), result.recipe]))
    return "\n\n".join(parts)


def _cell(score: Score) -> str:
    return f"{score.value:.2f} ±{(score.high - score.low) / 2:.2f}{score.mark and ' ' + score.mark}"


def _bin_rows(result: Comparison) -> list[list[str]]:
    return [
        [
            length_bin.name if system == result.systems[0] else "",
            f"{length_bin.sentences}" if system == result.systems[0] else "",
            system,
            *(f"{length_bin.scores[system][metric]:.2f}" for metric in result.metrics),
        ]
        for length_bin in result.bins
        for system in result.systems
    ]
