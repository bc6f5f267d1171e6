"""Errors made in good translations, one a line, so that an audit can be measured.

In: words and links of a text. Out: ``Mistake`` by line: the new words and the places concerned.
A clause is what stands between punctuation marks, four words at least. Content words are those
outside the 150 commonest of the text; a term is one of them whose source word occurs three times.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

__all__ = ["MISTAKES", "Mistake", "make_mistakes"]

MARKS = re.compile(r"[\W_]+")
Words = tuple[list[list[str]], list[list[str]]]


@dataclass(frozen=True)
class Mistake:
    """A line with an error: both sides, and which words the error concerns."""

    src: list[str]
    tgt: list[str]
    src_places: frozenset[int] = frozenset()
    tgt_places: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Line:
    """A line before the error, and the text it stands in."""

    src: list[str]
    tgt: list[str]
    links: list[tuple[int, int]]
    rng: random.Random
    content: list[str]
    common: frozenset[str]
    terms: frozenset[str]

    def sources(self, tgt: Sequence[int]) -> frozenset[int]:
        """Source words whose links all go to these target words."""
        inside = {s for s, t in self.links if t in tgt}
        return frozenset(inside - {s for s, t in self.links if t not in tgt})


def make_mistakes(
    kind: str, words: Words, links: Sequence[Any], most: int, rng: random.Random
) -> dict[int, Mistake]:
    """Errors in up to ``most`` lines drawn from the text."""
    counts = Counter(word.lower() for line in words[1] for word in line)
    common = frozenset(word for word, _ in counts.most_common(150))
    content = [
        word
        for line in words[1]
        for word in line
        if word.isalpha() and len(word) > 3 and word.lower() not in common
    ]
    src_counts = Counter(word.lower() for line in words[0] for word in line)
    terms = frozenset(w for w, n in src_counts.items() if n >= 3 and w.isalpha())
    mistakes: dict[int, Mistake] = {}
    for number in rng.sample(range(len(words[0])), len(words[0])):
        pairs = list(zip(links[number].src.tolist(), links[number].tgt.tolist(), strict=True))
        src, tgt = words[0][number], words[1][number]
        mistake = MISTAKES[kind](Line(src, tgt, pairs, rng, content, common, terms))
        if mistake is not None:
            mistakes[number] = mistake
        if len(mistakes) == most:
            break
    return mistakes


def clauses(words: Sequence[str], least: int = 4) -> list[tuple[int, int]]:
    """Spans between punctuation marks with at least so many words."""
    edges = [-1, *(at for at, word in enumerate(words) if MARKS.fullmatch(word)), len(words)]
    spans = [(low + 1, high) for low, high in pairwise(edges)]
    return [(low, high) for low, high in spans if high - low >= least]


def drop_clause(line: Line) -> Mistake | None:
    """Take a clause out of the target, with the mark after it."""
    spans = clauses(line.tgt)
    if not spans or len(line.tgt) < 10:
        return None
    low, high = line.rng.choice(spans)
    if len(line.tgt) - (high - low) < 5:
        return None
    end = high + 1 if high < len(line.tgt) - 1 else high
    places = line.sources(range(low, high))
    return Mistake(line.src, line.tgt[:low] + line.tgt[end:], places) if places else None


def drop_source_clause(line: Line) -> Mistake | None:
    """Take a clause out of the source: the target then has it too much."""
    spans = clauses(line.src)
    if not spans or len(line.src) < 10:
        return None
    low, high = line.rng.choice(spans)
    if len(line.src) - (high - low) < 5:
        return None
    end = high + 1 if high < len(line.src) - 1 else high
    inside = {t for s, t in line.links if low <= s < high}
    places = inside - {t for s, t in line.links if not low <= s < high}
    if not places:
        return None
    return Mistake(line.src[:low] + line.src[end:], line.tgt, tgt_places=frozenset(places))


def drop_word(line: Line) -> Mistake | None:
    """Take a content word out of the target."""
    at = _content_place(line)
    if at is None:
        return None
    return Mistake(line.src, line.tgt[:at] + line.tgt[at + 1 :], line.sources([at]))


def add_word(line: Line) -> Mistake | None:
    """Put a content word of the text somewhere into the target."""
    word = line.rng.choice(line.content)
    if len(line.tgt) < 4 or word in line.tgt:
        return None
    at = line.rng.randrange(1, len(line.tgt))
    return Mistake(line.src, [*line.tgt[:at], word, *line.tgt[at:]], tgt_places=frozenset([at]))


def change_number(line: Line) -> Mistake | None:
    """Change a digit, exchange two, leave one out or write another number."""
    places = [at for at, word in enumerate(line.tgt) if re.match(r"\d", word)]
    if not places:
        return None
    at = line.rng.choice(places)
    old = line.tgt[at]
    where = [k for k, char in enumerate(old) if char.isdecimal()]
    for _ in range(20):
        chars, k = list(old), line.rng.choice(where)
        way = line.rng.randrange(4)
        if way == 0 or len(where) == 1:
            chars[k] = str(line.rng.randrange(10))
        elif way == 1:
            other = line.rng.choice(where)
            chars[k], chars[other] = chars[other], chars[k]
        elif way == 2:
            del chars[k]
        else:
            for digit in where:
                chars[digit] = str(line.rng.randrange(1, 10))
        new = "".join(chars)
        if new.lstrip("0") != old.lstrip("0"):
            tgt = [*line.tgt[:at], new, *line.tgt[at + 1 :]]
            return Mistake(line.src, tgt, line.sources([at]), frozenset([at]))
    return None


def exchange_term(line: Line) -> Mistake | None:
    """Write another content word of the text for a term."""
    at = _content_place(line, needs_term=True)
    word = line.rng.choice(line.content)
    if at is None or word.lower()[:4] in {w.lower()[:4] for w in line.tgt}:
        return None
    tgt = [*line.tgt[:at], word, *line.tgt[at + 1 :]]
    return Mistake(line.src, tgt, line.sources([at]), frozenset([at]))


def exchange_clauses(line: Line) -> Mistake | None:
    """Let two neighbouring clauses of the target change places."""
    spans = clauses(line.tgt, 3)
    pairs = [(a, b) for a, b in pairwise(spans) if b[0] - a[1] == 1]
    if not pairs:
        return None
    (low, middle), (start, end) = line.rng.choice(pairs)
    tgt = line.tgt
    moved = [*tgt[:low], *tgt[start:end], *tgt[middle:start], *tgt[low:middle], *tgt[end:]]
    return Mistake(line.src, moved, tgt_places=frozenset(range(low, end)))


def misspell_name(line: Line) -> Mistake | None:
    """Change a letter of a word that both sides spell alike and with a capital."""
    src = {word for word in line.src if word[0].isupper() and len(word) > 4 and word.isascii()}
    places = [at for at, word in enumerate(line.tgt) if word in src and word.isalpha()]
    if not places:
        return None
    at = line.rng.choice(places)
    word = line.tgt[at]
    k = line.rng.randrange(1, len(word))
    new = word[:k] + line.rng.choice("aeiounrst") + word[k + 1 :]
    if new.lower() == word.lower() or SequenceMatcher(None, new, word).ratio() == 1:
        return None
    tgt = [*line.tgt[:at], new, *line.tgt[at + 1 :]]
    where = frozenset(k for k, w in enumerate(line.src) if w == word)
    return Mistake(line.src, tgt, where, frozenset([at]))


def _content_place(line: Line, *, needs_term: bool = False) -> int | None:
    """A linked content word of the target, if there is one."""
    places = [
        at
        for at, word in enumerate(line.tgt)
        if word.isalpha() and len(word) > 3 and word.lower() not in line.common
    ]
    linked = []
    for at in places:
        sources = line.sources([at])
        is_term = any(line.src[s].lower() in line.terms for s in sources)
        if sources and (is_term or not needs_term):
            linked.append(at)
    return line.rng.choice(linked) if linked else None


#: The errors that can be made.
MISTAKES: dict[str, Callable[[Line], Mistake | None]] = {
    "clause dropped": drop_clause,
    "source clause dropped": drop_source_clause,
    "word dropped": drop_word,
    "word added": add_word,
    "number changed": change_number,
    "term exchanged": exchange_term,
    "clauses exchanged": exchange_clauses,
    "name misspelled": misspell_name,
}
