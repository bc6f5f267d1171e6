"""Finds the pairs of words that spell each other, among pairs of words that are linked.

In: a bitext and its links; then word pairs. Out: the pairs that are linked one to one; for each
the probability that one is the other written by its sound, and not a translation of another kind.
How: EM for a mixture of two models (Sajjad, Fraser and Schmid, 2012). In the one, both words are
made together, letter by letter: a letter of each, or a letter of one of them alone. In the other,
the letters of the two words have nothing to do with each other. Both are asked for the letters when
the lengths are known: long words tend to have long translations, and that says nothing of spelling.
Cost: word pairs times the product of their lengths, in arrays of all pairs of a block; about a
second a pass over 25,000 pairs. The order of the pairs changes no result.
Not: several letters that stand for one, which models that are learned from these pairs see.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wayword.types import Progress

__all__ = ["linked_words", "spelling_posteriors"]

WordPair = tuple[str, str]
Numbers = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

PASSES = 20
BLOCK = 2048  # word pairs that are worked on at a time
#: The first guess: shares of two letters together, of one of the source, of one of the target.
TOGETHER, SRC_ALONE, TGT_ALONE = 0.6, 0.2, 0.2
LEAST = 1e-300  # keeps a division by a likelihood that is too small for a number


def linked_words(sentences: Iterable[tuple[str, str, str]]) -> Counter[WordPair]:
    """Words that are linked to one word alone, which is linked to no other, with their counts.

    Sentences are lines of source words, of target words, and of links such as ``0-0 1-2``.

    >>> linked_words([("das haus", "the house", "0-0 1-1"), ("im haus", "in the house", "0-0 0-1")])
    Counter({('das', 'the'): 1, ('haus', 'house'): 1})
    """
    counts: Counter[WordPair] = Counter()
    for src_line, tgt_line, link_line in sentences:
        src, tgt = src_line.split(), tgt_line.split()
        links = [tuple(map(int, link.split("-"))) for link in link_line.split()]
        links_of_src = Counter(link[0] for link in links)
        links_of_tgt = Counter(link[1] for link in links)
        for at, there in links:
            if links_of_src[at] == links_of_tgt[there] == 1:
                counts[src[at], tgt[there]] += 1
    return counts


@dataclass(frozen=True)
class _Letters:
    """How likely each letter pair, source letter and target letter is; number 0 is no letter."""

    both: Numbers
    src: Numbers
    tgt: Numbers

    def of_lengths(self, longest: tuple[int, int]) -> Numbers:
        """The probability of all word pairs of each two lengths together."""
        both, src, tgt = self.both.sum(), self.src.sum(), self.tgt.sum()
        mass = np.zeros((longest[0] + 1, longest[1] + 1))
        mass[0, 0] = 1.0
        for i in range(longest[0] + 1):
            for j in range(longest[1] + 1):
                if i:
                    mass[i, j] += mass[i - 1, j] * src
                if j:
                    mass[i, j] += mass[i, j - 1] * tgt
                if i and j:
                    mass[i, j] += mass[i - 1, j - 1] * both
        return mass


@dataclass(frozen=True)
class _Block:
    """Word pairs of similar lengths: a column for each, letters as numbers, 0 behind the last."""

    places: Ids
    src: Ids
    tgt: Ids
    #: log probability of the letters by themselves
    apart: Numbers

    @property
    def lengths(self) -> tuple[Ids, Ids]:
        """Letters of each source word and of each target word."""
        return (self.src > 0).sum(axis=0), (self.tgt > 0).sum(axis=0)


def spelling_posteriors(
    pairs: Sequence[WordPair], *, passes: int = PASSES, progress: Progress | None = None
) -> Numbers:
    """For each of these different word pairs the probability that the words spell each other."""
    if not pairs:
        return np.zeros(0)
    src, src_letters = _numbered([pair[0] for pair in pairs])
    tgt, tgt_letters = _numbered([pair[1] for pair in pairs])
    blocks = _blocks(src, tgt, (src_letters, tgt_letters))
    letters = _Letters(
        TOGETHER * np.outer(src_letters, tgt_letters),
        SRC_ALONE * src_letters,
        TGT_ALONE * tgt_letters,
    )
    longest = max(map(len, src)), max(map(len, tgt))
    share, posteriors = 0.5, np.zeros(len(pairs))
    for number in range(passes):
        if progress is not None:
            progress(number, passes)
        mass = letters.of_lengths(longest)
        counts = _Letters(*(np.zeros_like(part) for part in vars(letters).values()))
        for block in blocks:
            posteriors[block.places] = _expect(block, letters, mass, share, counts)
        share = float(posteriors.mean())
        total = sum(part.sum() for part in vars(counts).values())
        if not total:
            break  # no pair is left that spells
        letters = _Letters(*(part / total for part in vars(counts).values()))
    return posteriors


def _numbered(words: Sequence[str]) -> tuple[list[list[int]], Numbers]:
    """Words as numbers of letters, from 1 on, and how frequent each letter is."""
    counts = Counter(letter for word in words for letter in word)
    numbers = {letter: number for number, letter in enumerate(sorted(counts), 1)}
    total = sum(counts.values())
    shares = np.array([0.0, *(counts[letter] / total for letter in numbers)])
    return [[numbers[letter] for letter in word] for word in words], shares


def _blocks(
    src: Sequence[Sequence[int]], tgt: Sequence[Sequence[int]], shares: tuple[Numbers, Numbers]
) -> list[_Block]:
    order = sorted(range(len(src)), key=lambda place: (len(src[place]), len(tgt[place]), place))
    blocks = []
    for start in range(0, len(order), BLOCK):
        places = order[start : start + BLOCK]
        columns = [_columns([words[place] for place in places]) for words in (src, tgt)]
        apart = [
            np.log(np.where(words > 0, of_letter[words], 1.0)).sum(axis=0)
            for words, of_letter in zip(columns, shares, strict=True)
        ]
        blocks.append(_Block(np.array(places), columns[0], columns[1], apart[0] + apart[1]))
    return blocks


def _columns(words: Sequence[Sequence[int]]) -> Ids:
    columns = np.zeros((max(map(len, words)), len(words)), dtype=np.int64)
    for number, word in enumerate(words):
        columns[: len(word), number] = word
    return columns


def _expect(
    block: _Block, letters: _Letters, mass: Numbers, share: float, counts: _Letters
) -> Numbers:
    """The posteriors of a block; adds to ``counts`` how often each letter was expected."""
    src, tgt = letters.src[block.src], letters.tgt[block.tgt]
    numbers = block.src[:, None] * letters.both.shape[1] + block.tgt[None]
    both = letters.both.ravel()[numbers]
    ends = (*block.lengths, np.arange(len(block.places)))
    before, after = _before(both, src, tgt), _after(both, src, tgt, ends)
    whole = before[ends]
    together = share * whole / mass[ends[:2]]
    posteriors: Numbers = together / (together + (1 - share) * np.exp(block.apart))
    scale = posteriors / np.maximum(whole, LEAST)
    for sums, which, expected in (
        (counts.both, numbers, before[:-1, :-1] * both * after[1:, 1:] * scale),
        (counts.src, block.src, (before[:-1] * src[:, None] * after[1:] * scale).sum(axis=1)),
        (counts.tgt, block.tgt, (before[:, :-1] * tgt[None] * after[:, 1:] * scale).sum(axis=0)),
    ):
        added = np.bincount(which.ravel(), weights=expected.ravel(), minlength=sums.size)
        sums[...] += added.reshape(sums.shape)
    return posteriors


def _before(both: Numbers, src: Numbers, tgt: Numbers) -> Numbers:
    """The probability of the first so many letters of each word, for each pair of a block."""
    rows, columns, pairs = len(src), len(tgt), src.shape[1]
    total = np.zeros((rows + 1, columns + 1, pairs))
    total[0, 0] = 1.0
    for i in range(rows + 1):
        for j in range(columns + 1):
            if i:
                total[i, j] += total[i - 1, j] * src[i - 1]
            if j:
                total[i, j] += total[i, j - 1] * tgt[j - 1]
            if i and j:
                total[i, j] += total[i - 1, j - 1] * both[i - 1, j - 1]
    return total


def _after(both: Numbers, src: Numbers, tgt: Numbers, ends: tuple[Ids, ...]) -> Numbers:
    """The probability of what follows the first so many letters, to the end of each word."""
    rows, columns, pairs = len(src), len(tgt), src.shape[1]
    total = np.zeros((rows + 1, columns + 1, pairs))
    total[ends] = 1.0
    for i in range(rows, -1, -1):
        for j in range(columns, -1, -1):
            if i < rows:
                total[i, j] += total[i + 1, j] * src[i]
            if j < columns:
                total[i, j] += total[i, j + 1] * tgt[j]
            if i < rows and j < columns:
                total[i, j] += total[i + 1, j + 1] * both[i, j]
    return total
