"""The parts of a node's meaning: numbers that, added to its `ref`, name each of them.

In: the `ref` of a node of the tree. Out: the parts that a word expresses. Words of two languages
are linked when they express the same part.
"""

from __future__ import annotations

# 1 to 3 are the marks of lexicon cells.
DETERMINER = 4
OWNER = 5
NEGATION = 6
TENSE = 7
MODAL = 8
TO = 9
CONJUNCTION = 10
COMMA = 11
END = 12
THERE = 13
PREPOSITION = 14
RELATIVE = 15
SUPPORT = 16
QUESTION = 17
STEP = 32


def whole(ref: int) -> tuple[int, int, int]:
    """All marks of a lexicon cell: what one word expresses that says all of a node's sense."""
    return ref + 1, ref + 2, ref + 3
