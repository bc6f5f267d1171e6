"""Tells whether a tuned system works at all, by its output for some sentences of the dev set.

In: a function that translates, the prepared sources and references of the dev set. Out: a
``UsabilityCheck`` with BLEU, the share of empty outputs and the share of copied words.
How: up to ``SENTENCES`` sentences at equal steps are translated, whichever metric was tuned.
A BLEU under ``POOR`` is worth a warning; under ``UNUSABLE``, or with most outputs empty, the
commands ``train`` and ``tune`` end with exit code 1. The system is written in either case.
Cost: a small part of one round of tuning.

>>> check = UsabilityCheck(100, bleu=0.31, empty=0.02, copied=0.4)
>>> check.verdict
'unusable'
>>> print(check.warning("system"))
system: found BLEU 0.31 on 100 sentences of the dev set, 2 % of the outputs empty and 40 % of the \
words copied from the source; expected a BLEU of at least 5; likely reasons are files that are not \
parallel, a wrong language, too little training text, or a dev set of another kind; try `wayword \
doctor` on both files and on the dev set
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wayword.corpus.pieces import evenly
from wayword.corpus.subwords import whole_words
from wayword.evaluate.compare import compare
from wayword.evaluate.gold import Gold, Output

__all__ = ["UsabilityCheck", "check_usability"]

#: Sentences that are translated, at most.
SENTENCES = 100
#: BLEU below which output is poor, or of no use.
POOR, UNUSABLE = 5.0, 1.0
#: Share of empty outputs above which they are of no use.
MOSTLY = 0.5


@dataclass(frozen=True)
class UsabilityCheck:
    """Output of a system for some sentences of its dev set; shares are from 0 to 1."""

    sentences: int
    bleu: float
    empty: float
    copied: float

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "UsabilityCheck":
        """Return the result that ``to_dict`` described."""
        return cls(**{name: values[name] for name in cls.__dataclass_fields__})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, with the verdict."""
        return {**asdict(self), "verdict": self.verdict}

    @property
    def verdict(self) -> str:
        """``usable``, ``poor`` or ``unusable``."""
        if self.bleu < UNUSABLE or self.empty > MOSTLY:
            return "unusable"
        return "poor" if self.bleu < POOR else "usable"

    def warning(self, place: object) -> str:
        """Return a sentence about a system that hardly works; empty for a usable one."""
        if self.verdict == "usable":
            return ""
        found = (
            f"found BLEU {self.bleu:.2f} on {self.sentences} sentences of the dev set, "
            f"{self.empty:.0%} of the outputs empty and {self.copied:.0%} of the words copied "
            "from the source"
        ).replace("%", " %")
        reasons = (
            "likely reasons are files that are not parallel, a wrong language, too little "
            "training text, or a dev set of another kind"
        )
        advice = "try `wayword doctor` on both files and on the dev set"
        return f"{place}: {found}; expected a BLEU of at least {POOR:g}; {reasons}; {advice}"


def check_usability(
    translate: Callable[[Sequence[str]], Sequence[Sequence[str]]],
    sources: Sequence[str],
    gold: Gold,
    *,
    has_subwords: bool = False,
) -> UsabilityCheck:
    """Translate some prepared sentences, and compare the output with source and references.

    ``translate`` returns the tokens of each translation.
    """
    chosen = list(evenly(range(len(sources)), len(sources), SENTENCES))
    inputs = [sources[number] for number in chosen]
    outputs = [" ".join(tokens) for tokens in translate(inputs)]
    refs = [[ref[number] for number in chosen] for ref in gold.refs]
    if has_subwords:
        inputs, outputs = list(whole_words(inputs)), list(whole_words(outputs))
        refs = [list(whole_words(ref)) for ref in refs]
    compared = compare(Gold(refs=refs), [Output("system", outputs)], ["bleu"])
    words = [
        (word, set(source.split()))
        for source, output in zip(inputs, outputs, strict=True)
        for word in output.split()
        if any(map(str.isalpha, word))
    ]
    copied = sum(word in source for word, source in words) / max(len(words), 1)
    empty = sum(not output for output in outputs) / max(len(outputs), 1)
    bleu = compared.score("system", "bleu").value
    return UsabilityCheck(len(chosen), round(bleu, 4), round(empty, 4), round(copied, 4))
