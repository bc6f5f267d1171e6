"""Measures the word order of a language pair.

In: a bitext and its links; tags of the source if they are known. Out: a ``Profile``.
How: orientation by definitions e.2, orders by definitions a, reversed pairs by definitions j.5,
spaces by the order oracle (definitions i.7). Spaces are asked about every
sentence, or about ``oracle`` of them at equal steps through the text.
Cost: docs/profile.md has the times; most of it is the order oracle.

>>> from wayword.corpus import toy
>>> pairs = list(toy.generate("de-en", 200, seed=1))
>>> bitext = Bitext.from_pairs((" ".join(pair.src), " ".join(pair.tgt)) for pair in pairs)
>>> links = Links.from_lists(pair.links for pair in pairs)
>>> card = profile(bitext, links, name="de-en")
>>> card.sentences, card.advice[0].key
(200, 'search.space')
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from wayword import __version__, _core
from wayword.align import Links
from wayword.corpus import Bitext
from wayword.errors import MismatchError
from wayword.extract import DIRECTIONS, MODELS
from wayword.oracle.lengths import pair_lengths
from wayword.oracle.order import order_oracle
from wayword.profile.advice import FAR_WORDS, Figures, advise
from wayword.profile.orders import JUMP, Orders, Reversals, reversals
from wayword.profile.samples import patterns, telling
from wayword.report.profile import Distance, Mover, Pattern, Profile, Sample
from wayword.types import Progress

__all__ = ["LIMITS", "SPACES", "profile"]


#: The distortion limits that are told apart.
LIMITS = tuple(range(JUMP))
#: The spaces that the oracle is asked about.
SPACES = ("mono", "mj1", "mj2", "ibm:2", "ibm:4", "dl:4", "dl:6", "dl:8", "itg:5", "itg:10", "itg")
#: The last distance of each bin of reversed pairs but the last.
BINS = (1, 2, 5, 10, 20)
#: Sentences that the order oracle is asked about unless told otherwise.
ORACLE = 20_000
SAMPLES = 10
SHOWN_PATTERNS = 12
#: Words that are told of one by one when there are no tags.
COMMON = 200
#: Below this share of linked words figures should not be trusted.
LINKED = 0.6


def profile(
    bitext: Bitext,
    links: Links,
    *,
    name: str = "",
    tags: Sequence[Sequence[str]] | None = None,
    oracle: int = ORACLE,
    features: Sequence[str] = (),
    threads: int = 0,
    progress: Progress | None = None,
) -> Profile:
    """Measure the word order of a linked text.

    ``tags`` are those of the source words; without them the commonest words are told of. ``oracle``
    is how many sentences spaces are measured on, 0 for all. ``features`` are the path features that
    a system will have, which the advice depends on.
    """
    lengths = pair_lengths(bitext)
    src_lengths = [src for src, _ in lengths]
    if len(links) != len(lengths):
        found = f"found links of {len(links)} sentences, and {len(lengths)} sentence pairs"
        raise MismatchError(f"links: {found}; do both come from the same corpus?")
    orders = Orders.of(links, src_lengths, threads=threads)
    pairs = reversals(links, src_lengths)
    orientation = _orientation(bitext, links, threads, progress)
    beyond, reached = _limits(orders)
    distances = _distances(pairs)
    spaces, asked = _spaces(links, src_lengths, oracle, threads, progress)
    figures = Figures(
        reversed=pairs.share,
        beyond=beyond,
        far=int(pairs.reversed[FAR_WORDS + 1 :].sum()) / max(int(pairs.pairs.sum()), 1),
        phrase_d=orientation["phrase"]["D"],
        hierarchical_d=orientation["hierarchical"]["D"],
    )
    movers_are, movers = _movers(bitext, pairs, tags)
    frequent, samples = _samples(bitext, links, orders, pairs)
    linked = float(pairs.linked.mean()) if len(pairs.linked) else 0.0
    return Profile(
        name=name,
        sentences=len(lengths),
        src_words=sum(src_lengths),
        tgt_words=sum(tgt for _, tgt in lengths),
        links=len(links.flat),
        linked=linked,
        orientation=orientation,
        jumps=orders.jumps.tolist(),
        beyond=beyond,
        reached=reached,
        distances=distances,
        movers_are=movers_are,
        movers=movers,
        spaces=spaces,
        asked=asked,
        monotone=reached[0],
        patterns=frequent,
        samples=samples,
        advice=tuple(advise(figures, features)),
        recipe=f"wayword:{__version__} order:mean reversals:first oracle:{asked}",
        notes=_notes(linked),
    )


def _notes(linked: float) -> tuple[str, ...]:
    if linked >= LINKED:
        return ()
    told = f"Only {100 * linked:.0f} % of the source words have links; figures of reversals tell of"
    return (f"{told} those alone, and words without links take the place of their neighbours.",)


def _orientation(
    bitext: Bitext, links: Links, threads: int, progress: Progress | None
) -> dict[str, dict[str, float]]:
    """Shares of M, S and D by model, towards the phrase before."""
    counted = _core.orientation_counts(
        bitext._core,
        links._core,
        max_length=7,
        strictness="strict",
        threads=threads,
        progress=progress,
    )
    rows = dict(zip(MODELS, counted[:: len(DIRECTIONS)], strict=True))
    shares = {}
    for model, (m, s, left, right) in rows.items():
        total = max(m + s + left + right, 1)
        shares[model] = {"M": m / total, "S": s / total, "D": (left + right) / total}
    return shares


def _limits(orders: Orders) -> tuple[dict[int, float], dict[int, float]]:
    """By limit: the share of words that a longer jump reaches, and of sentences in reach."""
    counts = orders.jumps.sum(axis=0)
    # a jump of so many words either way; the last bin holds all that are longer
    by_size = counts[JUMP:].copy()
    by_size[1:] += counts[:JUMP][::-1]
    total = max(int(by_size.sum()), 1)
    beyond = {limit: int(by_size[limit + 1 :].sum()) / total for limit in LIMITS}
    sizes = np.bincount(np.minimum(orders.limits, JUMP), minlength=JUMP + 1)
    within = np.cumsum(sizes) / max(len(orders.limits), 1)
    return beyond, {limit: float(within[limit]) for limit in LIMITS}


def _distances(pairs: Reversals) -> tuple[Distance, ...]:
    ends = [0, *BINS, len(pairs.pairs) - 1]
    rows = []
    for low, high in pairwise(ends):
        last = high == ends[-1]
        name = f"over {low}" if last else str(high) if high == low + 1 else f"{low + 1}–{high}"
        chosen = slice(low + 1, high + 1)
        rows.append(
            Distance(name, int(pairs.pairs[chosen].sum()), int(pairs.reversed[chosen].sum()))
        )
    return tuple(rows)


def _spaces(
    links: Links, lengths: Sequence[int], oracle: int, threads: int, progress: Progress | None
) -> tuple[tuple[dict[str, Any], ...], int]:
    """Rows of the order oracle, over all sentences or over some at equal steps."""
    chosen, words = links, list(lengths)
    if 0 < oracle < len(words):
        numbers = (np.arange(oracle) * len(words) // oracle).tolist()
        chosen = Links.from_lists(map(tuple, links[number].tolist()) for number in numbers)
        words = [words[number] for number in numbers]
    rows = order_oracle(chosen, SPACES, lengths=words, threads=threads, progress=progress)
    return tuple(row.to_dict() for row in rows), len(words)


def _movers(
    bitext: Bitext, pairs: Reversals, tags: Sequence[Sequence[str]] | None
) -> tuple[str, tuple[Mover, ...]]:
    """What words of each tag do, or the commonest words; those that pass the most words first."""
    if tags is None:
        ids = bitext.src.ids.astype(np.int64)
        counts = np.bincount(ids)
        common = np.argsort(-counts, kind="stable")[:COMMON]
        names = {int(number): bitext.vocab.word(int(number)) for number in common if counts[number]}
        return "word", _rows_of(ids, names, pairs)
    flat = [tag for line in tags for tag in line]
    if len(flat) != len(pairs.linked):
        found = f"found {len(flat)} tags for {len(pairs.linked)} source words"
        raise MismatchError(f"tags: {found}; expected one for each word")
    kinds = sorted(set(flat))
    number = {kind: at for at, kind in enumerate(kinds)}
    ids = np.fromiter((number[tag] for tag in flat), dtype=np.int64, count=len(flat))
    return "tag", _rows_of(ids, dict(enumerate(kinds)), pairs)


def _rows_of(
    ids: npt.NDArray[np.int64], names: dict[int, str], pairs: Reversals
) -> tuple[Mover, ...]:
    ids = ids[pairs.linked]
    # how far a word goes: the words it passes on one side, less those that pass it on the other
    going = (pairs.rightward - pairs.leftward)[pairs.linked]
    size = max(names, default=0) + 1

    def count(chosen: npt.NDArray[np.bool_], weights: npt.NDArray[np.int64] | None = None) -> Any:
        inside = chosen & (ids < size)
        given = None if weights is None else weights[inside]
        return np.bincount(ids[inside], weights=given, minlength=size)

    all_words, left, right = count(ids >= 0), count(going < 0), count(going > 0)
    passed = count(going != 0, np.abs(going))
    turned = count(pairs.turned[pairs.linked])
    rows = [
        Mover(
            name,
            int(all_words[at]),
            float(left[at] / all_words[at]),
            float(right[at] / all_words[at]),
            float(passed[at] / max(left[at] + right[at], 1)),
            float(turned[at] / all_words[at]),
        )
        for at, name in names.items()
        if all_words[at]
    ]
    return tuple(sorted(rows, key=lambda row: (-row.passed, row.name)))


def _samples(
    bitext: Bitext, links: Links, orders: Orders, pairs: Reversals
) -> tuple[tuple[Pattern, ...], tuple[Sample, ...]]:
    """The commonest patterns with their shares, and a telling sentence for each."""
    frequent = patterns(orders.flat, orders.lengths)
    sentence = np.repeat(np.arange(len(orders.lengths)), orders.lengths)
    linked = np.bincount(sentence, weights=pairs.linked, minlength=len(orders.lengths))
    shares = linked / np.maximum(orders.lengths, 1)
    total = max(len(orders.lengths), 1)
    rows = tuple(Pattern(p.blocks, len(p.sentences) / total) for p in frequent[:SHOWN_PATTERNS])
    samples = []
    for pattern, number in telling(frequent, orders.lengths, shares, SAMPLES):
        src, tgt = bitext[number]
        samples.append(
            Sample(
                number + 1,
                " ".join(map(str, pattern.blocks)),
                tuple(src),
                tuple(tgt),
                tuple((int(i), int(j)) for i, j in links[number]),
                tuple(orders.order(number).tolist()),
            )
        )
    return rows, tuple(samples)
