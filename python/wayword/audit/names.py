"""Names that are missing, or spelled in another way.

In: words and links of a line. Out: candidates.
How: two cases that can be told from the text alone. A word of Latin letters with a capital, in a
line of another script, is expected as it is on the other side. And where both sides use one
script, two words with a capital that are much alike and not the same, neither of them linked nor
found unchanged on the other side, are one name spelled in two ways.
Cost: O(names of the source · names of the target) per line.
Not: names that are translated or written in another script; the aligner knows those, or nobody.

>>> find_pairs(["sagte", "Herr", "Schüssel"], ["said", "Mr", "Schüsel"], set(), set())
[(2, 2, 0.933...)]
"""

from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher

from wayword.audit.evidence import Evidence
from wayword.audit.finding import Candidate
from wayword.audit.text import AuditText

__all__ = ["find_names", "find_pairs"]

ALIKE = 0.7  # share of letters in common, from which two names may be one
LONG = 4  # letters of a name that may be spelled in two ways


def find_names(text: AuditText, evidence: Evidence) -> Iterator[Candidate]:
    """Candidates of all lines."""
    for line, (src, tgt) in enumerate(zip(text.src, text.tgt, strict=True)):
        links = evidence.links[line]
        linked = set(links.src.tolist()), set(links.tgt.tolist())
        if not _is_latin(src) and tgt:
            yield from _missing(line, src, tgt, len(linked[1]) / len(tgt))
            continue
        src_rates = evidence.src.line(evidence.src.rate, line)
        tgt_rates = evidence.tgt.line(evidence.tgt.rate, line)
        for at, other, alike in find_pairs(src, tgt, *linked):
            rates = float(src_rates[at]), float(tgt_rates[other])
            features = (0.0, alike, float(len(src[at])), 0.0, *rates)
            yield Candidate(line, "name", (at,), (other,), features, "two spellings")


def find_pairs(
    src: Sequence[str], tgt: Sequence[str], src_linked: Collection[int], tgt_linked: Collection[int]
) -> list[tuple[int, int, float]]:
    """Pairs of words that seem to be one name: their places, and how much they are alike."""
    everything = {word.lower() for word in (*src, *tgt)}
    both = everything & {w.lower() for w in src} & {w.lower() for w in tgt}
    names = [
        [
            at
            for at, word in enumerate(words)
            if at not in linked
            and _is_name(word)
            and len(word) >= LONG
            and word.lower() not in both
        ]
        for words, linked in ((src, src_linked), (tgt, tgt_linked))
    ]
    pairs = []
    for at in names[0]:
        scored = [
            (SequenceMatcher(None, _letters(src[at]), _letters(tgt[other])).ratio(), -other)
            for other in names[1]
        ]
        alike, other = max(scored, default=(0.0, 0))
        if ALIKE <= alike < 1:
            pairs.append((at, -other, alike))
    return pairs


def _missing(
    line: int, src: Sequence[str], tgt: Sequence[str], linked: float
) -> Iterator[Candidate]:
    """Latin names of a line in another script that the target does not have."""
    whole = " ".join(tgt).lower()
    squeezed = whole.replace(" ", "")
    for at, word in enumerate(src):
        if _is_name(word) and len(word) > 1 and word.lower() not in squeezed:
            parts = [part for part in word.lower().replace("-", " ").split() if part in whole]
            if not parts:
                yield Candidate(
                    line,
                    "name",
                    (at,),
                    (),
                    (1.0, 0.0, float(len(word)), linked, 0.0, 0.0),
                    "missing",
                )


def _is_name(word: str) -> bool:
    """Latin letters with a capital among them."""
    return (
        any(map(str.isupper, word))
        and all(char.isalpha() or char in "-'’." for char in word)
        and all(ord(char) < 0x250 or char == "’" for char in word)
    )


def _letters(word: str) -> str:
    """The word without case and hyphens."""
    return word.lower().replace("-", "")


def _is_latin(words: Sequence[str]) -> bool:
    """Whether most letters of a line are Latin."""
    letters = [char for word in words for char in word if char.isalpha()]
    return sum(ord(char) < 0x250 for char in letters) * 2 > len(letters)
