"""Concatenates translations: of the sentences of a line, or of the pieces of a long sentence.

In: translations in the order of the text, each with the n-best list, statistics and graph of its
own search. Out: one ``Translation`` of the whole.
How: positions count on from part to part; scores, features and the counts of the searches add up.
The n-best list holds the best combinations by sum of scores: lists are combined from left to right,
and a heap yields the sums of two lists best first (Huang and Chiang, 2005, algorithm 3). The graphs
are put in series: the end of each is the start of the next.
Cost: linear in the words for each translation of the list, plus n log n comparisons for each part;
with ``distinct`` n² at most, when most combinations are equal.
Not: stacks, which belong to one search.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import islice, zip_longest
from types import MappingProxyType

from wayword.decode.translation import Arc, Phrase, SegmentSpans, Statistics, Translation

__all__ = ["best_combinations", "concatenate"]

Parts = Sequence[Translation]
JoinTexts = Callable[[Sequence[str]], str]


def concatenate(
    parts: Parts, join: JoinTexts = " ".join, *, nbest: int = 1, distinct: bool = False
) -> Translation:
    """Return the translation of a text from those of its parts.

    ``join`` makes the text of the whole from the texts of the parts. ``nbest`` is the size of the
    list of others, in which ``distinct`` token sequences stand once; 1 for no list.
    """
    if len(parts) == 1:
        return parts[0]
    whole = _concatenated(parts, join)
    if nbest > 1:
        lists = [part.nbest or (part,) for part in parts]
        best = best_combinations(lists, nbest, distinct=distinct)
        listed = tuple(_concatenated(combination, join) for combination in best)
        whole = replace(whole, nbest=listed)
    return replace(whole, statistics=_summed(parts), graph=_in_series(parts))


@dataclass(frozen=True)
class _Combination:
    """Translations of the first parts; ``back`` holds all but the last of them."""

    score: float
    back: "_Combination | None" = None
    last: Translation | None = None
    #: number of the token sequence, equal for equal ones
    key: int = 0

    def parts(self) -> tuple[Translation, ...]:
        """Return the translations from the first part on."""
        parts, combination = [], self
        while combination.back is not None and combination.last is not None:
            parts.append(combination.last)
            combination = combination.back
        return tuple(reversed(parts))


def best_combinations(
    lists: Sequence[Parts], size: int, *, distinct: bool = False
) -> list[tuple[Translation, ...]]:
    """Return the combinations of one translation from each list with the highest sums of scores.

    Each list is sorted by score, best first. Ties go to the earlier parts of the lists.
    """
    combinations = [_Combination(0.0)]
    sequences: dict[tuple[int, str], int] = {}
    for translations in lists:
        sums = _best_first(combinations, translations)
        if distinct:
            sums = _unique(sums, sequences)
        combinations = list(islice(sums, size))
    return [combination.parts() for combination in combinations]


def _best_first(left: Sequence[_Combination], right: Parts) -> Iterator[_Combination]:
    """Yield every pair of the two sorted lists, in the order of their sums."""
    heap = [(-left[0].score - right[0].score, 0, 0)]
    while heap:
        cost, i, j = heappop(heap)
        yield _Combination(-cost, left[i], right[j])
        if j + 1 < len(right):
            heappush(heap, (-left[i].score - right[j + 1].score, i, j + 1))
        if j == 0 and i + 1 < len(left):
            heappush(heap, (-left[i + 1].score - right[0].score, i + 1, 0))


def _unique(
    combinations: Iterable[_Combination], sequences: dict[tuple[int, str], int]
) -> Iterator[_Combination]:
    """Yield the first combination of each token sequence.

    ``sequences`` numbers them: by the number of a sequence and the token that extends it.
    """
    seen = set()
    for combination in combinations:
        assert combination.back is not None
        assert combination.last is not None
        key = combination.back.key
        for token in combination.last.tokens:
            key = sequences.setdefault((key, token), len(sequences) + 1)
        if key not in seen:
            seen.add(key)
            yield replace(combination, key=key)


def _concatenated(parts: Parts, join: JoinTexts) -> Translation:
    phrases: list[Phrase] = []
    links: list[tuple[int, int]] = []
    unknown: list[int] = []
    spelled: list[int] = []
    segments: list[SegmentSpans] = []
    src = tgt = 0
    for part in parts:
        phrases += [phrase.moved(src, tgt) for phrase in part.phrases]
        links += [(src + i, tgt + j) for i, j in part.links]
        unknown += [src + place for place in part.unknown]
        spelled += [src + place for place in part.spelled]
        whole = ((0, len(part.source)), (0, len(part.tokens)))
        segments += [_moved(segment, src, tgt) for segment in part.segments or [whole]]
        src, tgt = src + len(part.source), tgt + len(part.tokens)
    offsets = [part.offsets for part in parts]
    known = [place for places in offsets if places is not None for place in places]
    features = {name: sum(part.features[name] for part in parts) for name in parts[0].features}
    return Translation(
        source=tuple(word for part in parts for word in part.source),
        tokens=tuple(token for part in parts for token in part.tokens),
        text=join([part.text for part in parts]),
        score=sum(part.score for part in parts),
        features=MappingProxyType(features),
        phrases=tuple(phrases),
        links=tuple(links),
        unknown=tuple(unknown),
        spelled=tuple(spelled),
        segments=tuple(segments),
        raw=parts[0].raw,
        offsets=None if None in offsets else tuple(known),
    )


def _moved(segment: SegmentSpans, src: int, tgt: int) -> SegmentSpans:
    (src_from, src_to), (tgt_from, tgt_to) = segment
    return (src_from + src, src_to + src), (tgt_from + tgt, tgt_to + tgt)


def _summed(parts: Parts) -> Statistics | None:
    """Return the counts of all searches together."""
    every = [part.statistics for part in parts if part.statistics is not None]
    if len(every) < len(parts):
        return None
    return Statistics(
        scored=sum(each.scored for each in every),
        made=sum(each.made for each in every),
        recombined=sum(each.recombined for each in every),
        pruned=sum(each.pruned for each in every),
        narrowed=sum(each.narrowed for each in every),
        jumps=tuple(map(sum, zip_longest(*(each.jumps for each in every), fillvalue=0))),
    )


def _in_series(parts: Parts) -> tuple[Arc, ...]:
    """Return the graphs as one: each starts at the node where the one before ends."""
    arcs: list[Arc] = []
    start = src = 0
    for part in parts:
        inner = {arc.start for arc in part.graph} - {0}
        numbers = {node: start + at for at, node in enumerate(sorted(inner), 1)}
        last = start + len(inner) + 1
        for arc in part.graph:
            moved = Phrase(arc.src, (0, 0), "", "", arc.positions).moved(src, 0)
            ends = numbers.get(arc.start, start), numbers.get(arc.end, last)
            arcs.append(Arc(*ends, moved.src, arc.target, arc.score, moved.positions))
        start, src = last if part.graph else start, src + len(part.source)
    return tuple(arcs)
