"""Phrase tables for people: what was extracted, and the options of a phrase.

>>> from wayword.extract import Summary
>>> orientations = {"word": {"prev": (3, 1, 0, 0), "next": (4, 0, 0, 0)}}
>>> print(describe(Summary(1, 4, 4, 3, {"top": 1}, 900, orientations)))
sentence pairs  1
phrase pairs    4 (4 occurrences)
in the table    3 (1 dropped, 900 bytes)
word            M 75.0 %  S 25.0 %  D 0.0 %
"""

from math import exp

from wayword.extract import CLASSES, COLUMNS, DIRECTIONS, MODELS, PhraseTable, Summary
from wayword.report.table import Table, listing

__all__ = ["describe", "describe_options"]


def describe(summary: Summary) -> str:
    """What was counted and what is in the table."""
    dropped = sum(summary.dropped.values())
    rows = [
        ("sentence pairs", f"{summary.sentences}"),
        ("phrase pairs", f"{summary.extracted} ({summary.occurrences} occurrences)"),
        ("in the table", f"{summary.pairs} ({dropped} dropped, {summary.bytes} bytes)"),
    ]
    for model in summary.orientations:
        shares = summary.shares(model).items()
        rows.append((model, "  ".join(f"{name} {100 * share:.1f} %" for name, share in shares)))
    return listing(rows)


def describe_options(table: PhraseTable, phrase: str) -> str:
    """The options of a source phrase: probabilities, the likeliest first."""
    options = sorted(table.options(phrase), key=lambda option: -option.scores.phi_ef)
    if not options:
        return f"`{phrase}` is not in the table"
    models = [model for model in MODELS if model in table.info["models"]]
    classes = "mslr" if table.info["mslr"] else "msd"
    columns = [(model, direction) for model in models for direction in DIRECTIONS]
    header = ["target", *COLUMNS, "count", "links"]
    header += [f"{model} {direction} {' '.join(CLASSES[classes])}" for model, direction in columns]
    rows = []
    for option in options:
        row: list[object] = [option.tgt, *(f"{exp(score):.4g}" for score in option.scores)]
        row.append("" if option.counts is None else option.counts.pair)
        row.append(" ".join(f"{i}-{j}" for i, j in option.links))
        for model, direction in columns:
            scores = option.orientation(model, direction, classes) or {}
            row.append(" ".join(f"{exp(score):.2f}" for score in scores.values()))
        rows.append(row)
    return Table(header, rows).text()
