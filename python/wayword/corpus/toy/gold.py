"""Links and gold order of a sentence pair, read off what its words express.

In: source and target `Token`s. Out: links, and the source positions in the order of the target.
How: two words are linked when they share a ref. An aligned word's key is the mean of its target
positions; ties keep source order. An unaligned word stays beside its anchor, on the side where
it stands in the source.
Cost: linear in words and links, and one sort.
Not: guessing; nothing here looks at word forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from wayword.corpus.toy.tokens import Token

Link = tuple[int, int]


def find_links(src: Sequence[Token], tgt: Sequence[Token]) -> tuple[Link, ...]:
    """All pairs of words that share a ref, sorted."""
    places: dict[int, list[int]] = {}
    for at, token in enumerate(tgt):
        for ref in token.refs:
            places.setdefault(ref, []).append(at)
    links: list[Link] = []
    for at, token in enumerate(src):
        linked = {there for ref in token.refs for there in places.get(ref, ())}
        links += [(at, there) for there in sorted(linked)]
    return tuple(links)


def find_order(src: Sequence[Token], links: Sequence[Link]) -> tuple[int, ...]:
    """Source positions as the target says them."""
    sums = [0] * len(src)
    counts = [0] * len(src)
    for at, there in links:
        sums[at] += there
        counts[at] += 1
    aligned = [at for at, count in enumerate(counts) if count]
    keys = _keys(sums, counts)
    aligned.sort(key=keys.__getitem__)
    if len(aligned) == len(src):
        return tuple(aligned)
    return _with_dependants(src, aligned, counts)


def _keys(sums: list[int], counts: list[int]) -> list[float] | list[Fraction]:
    """Means; floats are exact enough unless a count has a factor that halves cannot express."""
    if all(count in (0, 1, 2, 4) for count in counts):
        return [total / count if count else 0.0 for total, count in zip(sums, counts, strict=True)]
    return [Fraction(total, count or 1) for total, count in zip(sums, counts, strict=True)]


def _with_dependants(
    src: Sequence[Token], aligned: list[int], counts: list[int]
) -> tuple[int, ...]:
    """Put every unaligned word next to the word it belongs to."""
    where = {id(token): at for at, token in enumerate(src)}
    before: dict[int, list[int]] = {}
    after: dict[int, list[int]] = {}
    for at, count in enumerate(counts):
        if count:
            continue
        head = _head(src, at, where, counts)
        side = before if at < head else after
        side.setdefault(head, []).append(at)
    order: list[int] = []
    for at in aligned:
        order += before.get(at, ())
        order.append(at)
        order += after.get(at, ())
    return tuple(order)


def _head(src: Sequence[Token], at: int, where: dict[int, int], counts: list[int]) -> int:
    """The nearest aligned word up the chain of anchors; without one, the nearest neighbour."""
    seen = {at}
    token = src[at]
    while token.anchor is not None:
        head = where.get(id(token.anchor), -1)
        if head in seen or head < 0:
            break
        if counts[head]:
            return head
        seen.add(head)
        token = src[head]
    distances = [(abs(there - at), there) for there, count in enumerate(counts) if count]
    return min(distances)[1]
