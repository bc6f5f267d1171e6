"""METEOR by its first formula (Banerjee and Lavie, 2005), with stated stages.

In: hypothesis and references as words. Out: matches, lengths and chunks of the best reference.
How: words are matched one to one, first those that are equal, then those with one Porter stem.
A stage makes as many matches as it can; among those ways it takes the one with the fewest crossing
matches, then the fewest chunks (runs of matches that are adjacent on both sides). Only words that
one side has more often leave a choice; a search from left to right, over the sets of positions
used, finds the best.
``F = 10PR / (R + 9P)``, penalty ``0.5 (chunks / matches)³``, score ``F (1 - penalty)``.
Cost: some 0.3 ms for a sentence of 15 words and a reference.
Not: an exact search where more than ``BEAM`` sets are alive (the best are kept, which changes one
chunk in ten thousand); synonyms; later METEORs with tuned weights and paraphrases.

>>> match("the cat sat on mat".split(), "the cat sat on the mat".split())
[(0, 0), (1, 1), (2, 2), (3, 3), (4, 5)]
>>> match(["walking", "cats"], ["cat", "walked"])
[(0, 1), (1, 0)]
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from wayword.evaluate.gold import Gold, Output
from wayword.evaluate.metric import Matrix, Metric, Options, ratio, signature
from wayword.evaluate.ngram import tokenized

__all__ = ["Meteor", "chunks", "match", "stem"]

Match = tuple[int, int]
#: matches made so far, the last one first
Chain: TypeAlias = "tuple[Match, Chain] | None"
#: crossings, minus adjacent matches, and the matches
State: TypeAlias = "tuple[int, int, Chain]"
#: the reference position that would continue a chunk, and all positions used, as bits
Key = tuple[int, int]
BEAM = 128  # partial matchings kept after each word


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of an English word by Porter's algorithm.

    >>> stem("relational"), stem("cats")
    ('relat', 'cat')
    """
    return str(_stemmer().stemWord(word))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("porter")


def match(hyp: Sequence[str], ref: Sequence[str]) -> list[Match]:
    """Pairs of positions of words that are matched, by hypothesis position."""
    matches = _match_equal(hyp, ref, {})
    if len(matches) < min(len(hyp), len(ref)):
        matches = _match_equal([stem(word) for word in hyp], [stem(word) for word in ref], matches)
    return sorted(matches.items())


def chunks(matches: Sequence[Match]) -> int:
    """How many runs of matches are adjacent on both sides.

    >>> chunks([(0, 0), (1, 1), (2, 3)])
    2
    """
    follows = sum(
        (second[0] - first[0], second[1] - first[1]) == (1, 1)
        for first, second in pairwise(matches)
    )
    return len(matches) - follows


def _match_equal(hyp: Sequence[str], ref: Sequence[str], fixed: dict[int, int]) -> dict[int, int]:
    """Match equal words that are free, beside the matches that are ``fixed``."""
    taken = set(fixed.values())
    free: dict[str, list[int]] = defaultdict(list)  # reference positions of each word
    for at, word in enumerate(ref):
        if at not in taken:
            free[word].append(at)
    places: dict[str, list[int]] = defaultdict(list)  # hypothesis positions of each word
    for at, word in enumerate(hyp):
        if at not in fixed and word in free:
            places[word].append(at)
    forced, choice = dict(fixed), {}
    for word, positions in places.items():
        if len(positions) == len(free[word]):  # in order: to cross equal words never helps
            forced.update(zip(positions, free[word], strict=True))
        else:
            choice.update(dict.fromkeys(positions, word))
    if not choice:
        return forced
    steps = _steps(forced, choice, places, free)
    quick = _search(steps, 4, (0, 0, None), len(hyp) ** 2)
    best = _search(steps, BEAM, quick, quick[0])
    return {**forced, **dict(_unchain(best[2]))}


@dataclass(frozen=True)
class Step:
    """A word that leaves a choice: where it stands, and what each choice costs by itself.

    ``costs`` of a reference position are crossings with the forced matches, and minus the forced
    matches beside it. ``bits`` are the positions of its kind, ``wanted`` how many of them must be
    used when no word is left after this one, ``later`` how many of its kind follow, ``least`` the
    crossings it adds in any case.
    """

    at: int
    free: Sequence[int]
    costs: dict[int, tuple[int, int]]
    bits: int
    wanted: int
    later: int
    least: int


def _steps(
    forced: dict[int, int],
    choice: dict[int, str],
    places: dict[str, list[int]],
    free: dict[str, list[int]],
) -> list[Step]:
    """The words that leave a choice, from left to right."""
    steps = []
    for at, word in sorted(choice.items()):
        costs = {}
        for tgt in free[word]:
            crossings = sum((i - at) * (j - tgt) < 0 for i, j in forced.items())
            beside = (forced.get(at - 1) == tgt - 1) + (forced.get(at + 1) == tgt + 1)
            costs[tgt] = (crossings, -beside)
        bits = sum(1 << tgt for tgt in free[word])
        later = len(places[word]) - bisect_right(places[word], at)
        wanted = min(len(places[word]), len(free[word]))
        must = wanted == len(places[word])
        least = min(crossings for crossings, _ in costs.values()) if must else 0
        steps.append(Step(at, free[word], costs, bits, wanted, later, least))
    return steps


def _search(steps: Sequence[Step], beam: int, known: State, bound: int) -> State:
    """The state with the fewest crossings, then the fewest chunks, up to ``bound`` crossings.

    Where the ``beam`` loses all of these, it is the one that is ``known``.
    Equal words are matched in order, and exactly as many as possible, so the positions used alone
    say which of them are left to match.
    """
    states: dict[Key, State] = {(0, 0): (0, 0, None)}
    bound -= sum(step.least for step in steps)
    for step, after in zip(steps, [*(step.at for step in steps[1:]), -1], strict=True):
        bound += step.least
        grown: dict[Key, State] = {}
        for (following, used), (crossings, beside, chain) in states.items():
            done = used & step.bits
            left = step.wanted - done.bit_count()
            if step.later >= left:  # others of its kind suffice
                _keep(grown, (0, used), (crossings, beside, chain))
            # after the last one used, and leaving room for the others
            start = bisect_left(step.free, done.bit_length())
            for tgt in step.free[start : len(step.free) - left + 1] if left else ():
                cost = crossings + step.costs[tgt][0] + (used >> (tgt + 1)).bit_count()
                if cost > bound:
                    continue
                adjacent = step.costs[tgt][1] - (following == 1 << tgt)
                key = (2 << tgt if after == step.at + 1 else 0, used | 1 << tgt)
                _keep(grown, key, (cost, beside + adjacent, ((step.at, tgt), chain)))
        if len(grown) > beam:
            best = sorted(grown.items(), key=lambda item: item[1][:2])
            grown = dict(best[:beam])
        states = grown
    return min(states.values(), key=lambda state: state[:2], default=known)


def _keep(states: dict[Key, State], key: Key, state: State) -> None:
    """Keep the cheaper of two states with the same future; the first found wins a tie."""
    if key not in states or state[:2] < states[key][:2]:
        states[key] = state


def _unchain(chain: Chain) -> Iterator[Match]:
    while chain is not None:
        pair, chain = chain
        yield pair


class Meteor(Metric):
    """Columns: matches, words, words of the best reference, chunks. Case is ignored."""

    name = "METEOR"
    meaning = "unigrams with stems, and how they hang together"

    def __init__(self, gold: Gold, options: Options) -> None:
        super().__init__(gold, options)
        self._refs = [tokenized(ref, options, lowercase=True) for ref in gold.refs]

    def statistics(self, output: Output) -> Matrix:
        """Rows of the reference that gives the sentence the best score; the first of equals."""
        rows = np.zeros((len(output), len(self._refs), 4))
        hyps = tokenized(output.lines, self.options, lowercase=True)
        for number, (hyp, *refs) in enumerate(zip(hyps, *self._refs, strict=True)):
            for row, ref in zip(rows[number], refs, strict=True):
                matches = match(hyp, ref)
                row[:] = len(matches), len(hyp), len(ref), chunks(matches)
        best = self.score(rows).argmax(axis=1)
        chosen: Matrix = rows[np.arange(len(rows)), best]
        return chosen

    def score(self, sums: Matrix) -> Matrix:
        """``F (1 - penalty)`` of pooled counts."""
        matches, hyp_length, ref_length, runs = np.moveaxis(sums, -1, 0)
        precision, recall = ratio(matches, hyp_length), ratio(matches, ref_length)
        mean = ratio(10 * precision * recall, recall + 9 * precision)
        scores: Matrix = 100 * mean * (1 - 0.5 * ratio(runs, matches) ** 3)
        return scores

    def signature(self) -> str:
        """Variant, stages and tokenizer."""
        facts = {"variant": "2005", "stages": "exact+porter", "case": "lc"}
        return signature(self.name, self.gold, **facts, tok=self.options.tokenize)
