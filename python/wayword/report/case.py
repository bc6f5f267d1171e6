"""Draws a sentence whose words are in the wrong order, so that a person sees what went wrong.

In: a ``Case`` of ``evaluate.drill``. Out: lines for a terminal: the texts, and the source words in
the order the system gave them, with arcs to where they belong.
Cost: O(n²) characters.

>>> from wayword.evaluate import Gold, Output
>>> from wayword.evaluate.drill import worst
>>> gold = Gold(refs=[["he has read the book"]], src=["er hat das buch gelesen"],
...             ref_links=[[[(0, 0), (1, 1), (2, 3), (3, 4), (4, 2)]]], weights=[[0, 1, 0, 0, 1]])
>>> output = Output("base", ["he has the book read"],
...                 [[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]])
>>> print(draw(worst(gold, output, 1)[0]))
line 1: KRS-V-linked 50.0
source: er hat das buch gelesen
output: he has the book read
reference: he has read the book
         ╭─────────────╮
         ▼             │
 er [hat] das buch [gelesen]
"""

from collections.abc import Sequence

import numpy as np

from wayword.evaluate.drill import Case
from wayword.report.table import width

__all__ = ["draw"]

# Lines that meet in one character cell, and the character that shows them.
UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
BOXES = " ╵╷│╴╯╮┤╶╰╭├─┴┬┼"


def draw(case: Case) -> str:
    """The case as lines of text; weighted words stand in brackets, those not judged in ( )."""
    shown = [
        f"[{word}]" if weighted and judged else word if judged else f"({word})"
        for word, weighted, judged in zip(case.words, case.is_weighted, case.is_judged, strict=True)
    ]
    head = [
        f"line {case.line}: {case.metric} {case.score:.1f}",
        *(f"{name}: {text}" for name, text in _texts(case)),
    ]
    starts = np.cumsum([1, *(width(word) + 1 for word in shown)])
    centres = [int(start) + width(word) // 2 for start, word in zip(starts, shown, strict=False)]
    ends = [(centres[arc.word], int(starts[arc.gap]) - 1) for arc in case.arcs]
    return "\n".join([*head, *_draw_arcs(ends), " " + " ".join(shown)])


def _texts(case: Case) -> Sequence[tuple[str, str]]:
    return (("source", case.src), ("output", case.hyp), ("reference", case.ref))


def _draw_arcs(ends: Sequence[tuple[int, int]]) -> list[str]:
    """Rows of box characters; an arc that spans another is drawn above it."""
    if not ends:
        return []
    levels: list[int] = []
    placed: list[tuple[int, int]] = []
    for arc in sorted(ends, key=lambda arc: (abs(arc[0] - arc[1]), arc)):
        low, high = min(arc), max(arc)
        below = [
            level
            for level, other in zip(levels, placed, strict=True)
            if min(other) <= high and low <= max(other)
        ]
        levels.append(max(below, default=0) + 1)
        placed.append(arc)
    rows = [[0] * (max(map(max, ends)) + 1) for _ in range(max(levels))]
    for level, (word, gap) in zip(levels, placed, strict=True):
        low, high = min(word, gap), max(word, gap)
        row = rows[-level]
        for at in range(low, high + 1):
            row[at] |= (LEFT if at > low else 0) | (RIGHT if at < high else 0)
        for end in {low, high}:
            row[end] |= DOWN
            for under in rows[len(rows) - level + 1 :]:
                under[end] |= UP | DOWN
    feet = [" "] * len(rows[0])
    for word, gap in placed:
        feet[word] = "│" if feet[word] == " " else feet[word]
        feet[gap] = "▼"
    return ["".join(BOXES[cell] for cell in row).rstrip() for row in rows] + [
        "".join(feet).rstrip()
    ]
