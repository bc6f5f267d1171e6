"""How good a spelling is: characters and words that are right.

In: outputs and references; for words that were never seen, the source text and the words known.
Out: three metrics. CER is the least number of characters to put in, take out or replace, for each
character of the reference. ``words`` is the share of reference words that stand in the output where
they should; ``unseen`` is the same for words whose source word is not among those known.
How: words of two lines belong together in order, so that as many as possible agree; source and
reference words one to one where there are as many of both, else by the likeness of their letters.
Of several references the one with the fewest edits counts.
Cost: an operation on whole numbers of as many bits as there are characters, for each character
(Myers, 1999, as Hyyrö, 2001, put it): some 0.1 ms a line.

>>> from wayword.evaluate import Gold, Output, Options
>>> gold = Gold(refs=[["und auf der Tür"]], src=["vnd auff der Thür"], known=frozenset({"der"}))
>>> output = Output("mine", ["und auff der Tür"])
>>> [round(kind(gold, Options()).corpus_score(output), 1) for kind in (Cer, Words, Unseen)]
[6.7, 75.0, 66.7]
"""

from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np

from wayword.errors import ArgumentError
from wayword.evaluate.gold import Output
from wayword.evaluate.metric import Matrix, Metric, share, signature

__all__ = ["Cer", "Unseen", "Words", "edits"]


def edits(first: str, second: str) -> int:
    """How many characters have to be put in, taken out or replaced.

    >>> edits("vnd", "und"), edits("auff", "auf"), edits("", "abc"), edits("kitten", "sitting")
    (1, 1, 3, 3)
    """
    if not first:
        return len(second)
    places: dict[str, int] = {}
    for at, char in enumerate(first):
        places[char] = places.get(char, 0) | 1 << at
    mask, last = (1 << len(first)) - 1, 1 << len(first) - 1
    up, down, distance = mask, 0, len(first)
    for char in second:
        match = places.get(char, 0)
        same = (((match & up) + up) ^ up) | match | down
        rising, falling = down | ~(same | up) & mask, up & same
        distance += bool(rising & last) - bool(falling & last)
        rising = rising << 1 | 1
        up = (falling << 1 | ~((match | down) | rising)) & mask
        down = rising & (match | down) & mask
    return distance


class Cer(Metric):
    """The character error rate."""

    name = "CER"
    meaning = "edits a reference character; an error rate"
    higher_is_better = False

    def statistics(self, output: Output) -> Matrix:
        """Columns: edits, and characters of the reference that needs fewest."""
        rows = []
        for line, *refs in zip(output.lines, *self.gold.refs, strict=True):
            counts = [(edits(self._seen(line), self._seen(ref)), len(self._seen(ref)))
                      for ref in refs]  # fmt: skip
            rows.append(min(counts))
        return np.array(rows, dtype=np.float64)

    def _seen(self, line: str) -> str:
        return line.lower() if self.options.lowercase else line

    def score(self, sums: Matrix) -> Matrix:
        """Edits of a hundred characters."""
        return 100 * share(sums[..., 0], sums[..., 1])

    def signature(self) -> str:
        """The name and the case."""
        case = "lc" if self.options.lowercase else "mixed"
        return signature(self.name, self.gold, case=case)


class Words(Cer):
    """The share of words that are right."""

    name = "Words"
    meaning = "words that are right and where they should be"
    higher_is_better = True

    def statistics(self, output: Output) -> Matrix:
        """Columns: words that are right, and words that count."""
        refs = [list(map(self._seen, ref)) for ref in self.gold.refs]
        rows = []
        for number, line in enumerate(map(self._seen, output.lines)):
            ref = min((ref[number] for ref in refs), key=lambda text: edits(line, text))
            rows.append(self._row(number, line.split(), ref.split()))
        return np.array(rows, dtype=np.float64)

    def _row(self, _number: int, words: list[str], ref: list[str]) -> tuple[int, int]:
        return len(_right(words, ref)), len(ref)

    def score(self, sums: Matrix) -> Matrix:
        """The share in percent."""
        return 100 * share(sums[..., 0], sums[..., 1])


class Unseen(Words):
    """The share of words that are right among those whose source word is not known."""

    name = "Unseen"
    meaning = "the same for words that were never seen in training"
    needs = ("known",)

    def _row(self, number: int, words: list[str], ref: list[str]) -> tuple[int, int]:
        if self.gold.src is None or self.gold.known is None:
            raise ArgumentError("metrics: unseen without src and known; expected both")
        src = self.gold.src[number].split()
        partner = _partners(src, ref)
        counts = {at for at, place in enumerate(partner) if src[place] not in self.gold.known}
        return len(counts & _right(words, ref)), len(counts)


def _right(words: Sequence[str], ref: Sequence[str]) -> set[int]:
    """The places of reference words that the output has.

    >>> sorted(_right("a c d".split(), "a b c e".split()))
    [0, 2]
    """
    if len(words) == len(ref):
        return {at for at, (word, wanted) in enumerate(zip(words, ref, strict=True))
                if word == wanted}  # fmt: skip
    blocks = SequenceMatcher(None, words, ref, autojunk=False).get_matching_blocks()
    return {at for block in blocks for at in range(block.b, block.b + block.size)}


def _partners(src: Sequence[str], ref: Sequence[str]) -> list[int]:
    """The source word that each reference word belongs to.

    >>> _partners("vnd auff gehn".split(), "und auf zu gehen".split())
    [0, 1, 1, 2]
    """
    if not src or len(src) == len(ref):
        return list(range(min(len(src), len(ref))))
    cost = np.array([[edits(a, b) / max(len(a), len(b)) for a in src] for b in ref])
    total = np.full(cost.shape, np.inf)
    total[0] = cost[0]
    for row in range(1, len(ref)):  # never back, from one reference word to the next
        total[row] = cost[row] + np.minimum.accumulate(total[row - 1])
    partners = [int(total[-1].argmin())]
    for row in range(len(ref) - 2, -1, -1):
        partners.append(int(total[row][: partners[-1] + 1].argmin()))
    return partners[::-1]
