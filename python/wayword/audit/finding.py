"""What an audit finds, and the candidates it judges.

A ``Candidate`` is a place that a detector thought odd, with features; ``wayword.audit.calibration``
turns the features into a probability, and candidates over the threshold become findings.
"""

from dataclasses import dataclass
from typing import Any

__all__ = ["KINDS", "Candidate", "Finding"]

#: What can be found, and what it means.
KINDS = {
    "left-out": "words of the source that the translation does not have",
    "added": "words of the translation that the source does not have",
    "number": "numbers that differ by value",
    "name": "names that are missing or spelled differently",
    "term": "a term translated differently than elsewhere in the text",
    "glossary": "a term that the glossary wants translated otherwise",
    "order": "parts of the sentence in an order that this text hardly ever has",
}


@dataclass(frozen=True)
class Candidate:
    """An odd place: line from 0, positions of words from 0 on each side, features of its kind."""

    line: int
    kind: str
    src: tuple[int, ...]
    tgt: tuple[int, ...]
    features: tuple[float, ...]
    note: str = ""
    #: which calibration judges it, where a kind has several
    model: str = ""


@dataclass(frozen=True)
class Finding:
    """A place that is probably wrong: line and word numbers from 1, as editors count."""

    line: int
    kind: str
    #: the words concerned, and where they stand
    src_words: tuple[str, ...]
    tgt_words: tuple[str, ...]
    src: tuple[int, ...]
    tgt: tuple[int, ...]
    #: probability that this is an error, at one error of the kind in ten lines
    score: float
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "line": self.line,
            "kind": self.kind,
            "src_words": list(self.src_words),
            "tgt_words": list(self.tgt_words),
            "src": list(self.src),
            "tgt": list(self.tgt),
            "score": round(self.score, 4),
            "note": self.note,
        }
