"""Whether a text is split into words as a treebank is.

In: a treebank in CoNLL-U and a text, one sentence a line. Out: ``Mismatch``: how many words of the
text the treebank does not know, how many that would be for text like its own, and why they are
unknown, where their form tells. How: the expected share is that of words seen once (Good and
Turing); a word is explained by the first of ``REASONS`` that fits it.
Cost: one pass over each; the treebank's vocabulary in memory.

A tagger learned from the treebank knows little of words that are split otherwise: of *zum* where
the treebank has *zu* and *dem*, or of *don't* where it has *do* and *n't*.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from wayword.corpus.annotate.conllu import read_conllu, read_multiword
from wayword.corpus.annotate.treebank import respelled
from wayword.corpus.files import open_text
from wayword.types import FilePath

__all__ = ["REASONS", "Mismatch", "compare_tokens"]

#: Why a word may be unknown, in the order they are tried.
REASONS = {
    "multiword": "the treebank splits it into several words",
    "escape": "it is written with an escape, such as &apos; or @-@",
    "joined": "punctuation is joined to it",
    "pieces": "it is a word of the treebank and a short form, such as n't, in one",
    "case": "the treebank has it in another case",
    "marks": "the treebank has it with other marks or vowel signs",
}
EXAMPLES = 5
APOSTROPHE = re.compile("['’]")
ESCAPE = re.compile(r"&(?:[a-z]+|#[0-9]+);|@[^@]@")


@dataclass(frozen=True)
class Mismatch:
    """Counts of running words; ``reasons`` has counts and the most frequent examples."""

    words: int
    unknown: int
    #: Share of unknown words to expect in text like the treebank's.
    expected: float
    reasons: dict[str, tuple[int, tuple[str, ...]]]

    @property
    def share(self) -> float:
        """Share of the text's words that the treebank does not have."""
        return self.unknown / self.words if self.words else 0.0

    @property
    def explained(self) -> float:
        """Share of the text's words that are unknown for one of the reasons."""
        explained = sum(count for count, _ in self.reasons.values())
        return explained / self.words if self.words else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Counts and shares as plain values, for JSON."""
        return {**vars(self), "share": self.share, "explained": self.explained}


def compare_tokens(treebank: FilePath, text: FilePath, *, spelling: str = "kept") -> Mismatch:
    """Compare the words of a text with those of a treebank, respelled as for ``read_treebank``."""
    words = (word for sentence in read_conllu(treebank) for word in sentence.words)
    known = Counter(respelled(word, spelling) for word in words)
    counts = Counter(word for line in open_text(text) for word in line.split())
    tests = _tests(known, read_multiword(treebank))
    unknown = {word: count for word, count in counts.items() if word not in known}
    reasons: dict[str, Counter[str]] = {reason: Counter() for reason in REASONS}
    for word, count in unknown.items():
        for reason, fits in tests.items():
            if fits(word):
                reasons[reason][word] += count
                break
    once = sum(count == 1 for count in known.values())
    return Mismatch(
        words=counts.total(),
        unknown=sum(unknown.values()),
        expected=once / known.total() if known else 0.0,
        reasons={
            reason: (words.total(), tuple(word for word, _ in words.most_common(EXAMPLES)))
            for reason, words in reasons.items()
        },
    )


def _tests(known: Counter[str], multiword: Iterable[str]) -> dict[str, Callable[[str], bool]]:
    """A test for each reason."""
    split = {form.lower() for form in multiword}
    lower = {word.lower() for word in known}
    bare = {_bare(word) for word in known}

    clitics = {word.lower() for word in known if len(word) > 1 and APOSTROPHE.search(word[:2])}
    common = {word.lower() for word, count in known.items() if count > 1}

    def is_pieces(word: str) -> bool:
        cuts = ((word[:at].lower(), word[at:].lower()) for at in range(1, len(word)))
        return any(
            (left in common and right in clitics) or (left in clitics and right in common)
            for left, right in cuts
        )

    return {
        "multiword": lambda word: word.lower() in split,
        "escape": lambda word: ESCAPE.search(word) is not None,
        "joined": lambda word: _is_joined(word, lower),
        "pieces": is_pieces,
        "case": lambda word: word.lower() in lower,
        "marks": lambda word: _bare(word) in bare,
    }


def _is_joined(word: str, lower: set[str]) -> bool:
    """Whether a known word is left when punctuation at both ends is taken off."""
    inside = word
    while inside and unicodedata.category(inside[0])[0] == "P":
        inside = inside[1:]
    while inside and unicodedata.category(inside[-1])[0] == "P":
        inside = inside[:-1]
    return inside != word and bool(inside) and inside.lower() in lower


def _bare(word: str) -> str:
    """The word in lower case without marks: accents, vowel signs, the Arabic stretcher."""
    letters = unicodedata.normalize("NFD", word.lower())
    return "".join(letter for letter in letters if unicodedata.category(letter) not in {"Mn", "Lm"})
