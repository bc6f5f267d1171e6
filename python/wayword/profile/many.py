"""How far language pairs are from each other by word order, and which go together.

In: profiles. Out: ``Many``: distances with intervals, a tree, and what verbs and adpositions do.
How: the distance of two pairs is the Jensen–Shannon distance (base 2, from 0 to 1) of their
distributions of signed jumps between words. Each profile holds the jumps of 40 parts of its text;
parts drawn again and again give intervals, and tell how often a group of the tree comes back. The
tree joins the nearest groups by their mean distance.
Cost: under a second for ten pairs.
Not: a distance of languages as such: kinds of text, lengths of sentences and the aligner matter.

>>> distance(np.array([1.0, 0.0]), np.array([0.0, 1.0])), distance(np.ones(3), np.ones(3))
(1.0, 0.0)
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from wayword.errors import ArgumentError
from wayword.report.profile import Mover, Profile
from wayword.report.profiles import Join, Many, Row

__all__ = ["compare", "distance"]

Floats = npt.NDArray[np.float64]

RESAMPLES = 400
ENDS = (2.5, 97.5)
#: Universal tags by what they are asked for.
VERBS, ADPOSITIONS = ("VERB", "AUX"), ("ADP",)


def distance(first: Floats, second: Floats) -> Any:
    """The Jensen–Shannon distance of counts; of rows of counts, row by row."""
    p, q = (counts / counts.sum(axis=-1, keepdims=True) for counts in (first, second))
    mean = (p + q) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [np.where(side > 0, side * np.log2(side / mean), 0.0) for side in (p, q)]
    divergence = np.maximum((parts[0] + parts[1]).sum(axis=-1) / 2, 0.0)
    return np.sqrt(divergence).item() if divergence.ndim == 0 else np.sqrt(divergence)


def compare(profiles: Sequence[Profile], *, resamples: int = RESAMPLES, seed: int = 1) -> Many:
    """Compare two or more profiles."""
    if len(profiles) < 2:
        raise ArgumentError(f"--many: found {len(profiles)} profile; expected two or more")
    names = _names(profiles)
    parts = [np.asarray(profile.jumps, dtype=np.float64) for profile in profiles]
    for profile, counts in zip(profiles, parts, strict=True):
        if not counts.sum() or counts.shape != parts[0].shape:
            advice = "expected text with words, measured by the same version"
            raise ArgumentError(f"{profile.name}: found no jumps to compare by; {advice}")
    whole = [counts.sum(axis=0) for counts in parts]
    rng = np.random.default_rng(seed)
    drawn = [_resampled(counts, resamples, rng) for counts in parts]
    size = len(profiles)
    value, low, high = (np.zeros((size, size)) for _ in range(3))
    again = np.zeros((resamples, size, size))
    for i, j in combinations(range(size), 2):
        value[i, j] = value[j, i] = distance(whole[i], whole[j])
        again[:, i, j] = again[:, j, i] = distance(drawn[i], drawn[j])
        low[[i, j], [j, i]], high[[i, j], [j, i]] = np.percentile(again[:, i, j], ENDS)
    return Many(
        names=tuple(names),
        distances=tuple(map(tuple, value.tolist())),
        low=tuple(map(tuple, low.tolist())),
        high=tuple(map(tuple, high.tolist())),
        joins=_joins(value, again),
        rows=tuple(_row(name, profile) for name, profile in zip(names, profiles, strict=True)),
        recipe=f"jensen-shannon|jumps|parts:{len(parts[0])}|resamples:{resamples}|seed:{seed}",
    )


def _names(profiles: Sequence[Profile]) -> list[str]:
    """A name each; equal ones are numbered."""
    names = [profile.name or "unnamed" for profile in profiles]
    return [
        f"{name} {names[: at + 1].count(name)}" if names.count(name) > 1 else name
        for at, name in enumerate(names)
    ]


def _resampled(parts: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Sums of as many parts, drawn with replacement; a row a draw."""
    parts = parts[parts.sum(axis=1) > 0]  # a short text fills only some
    size = len(parts)
    drawn = rng.multinomial(size, np.full(size, 1 / size), size=resamples)
    sums: Floats = drawn @ parts
    return sums


def _tree(distances: Floats) -> Any:
    return linkage(squareform(distances, checks=False), method="average")


def _groups(tree: Any, size: int) -> list[frozenset[int]]:
    """The leaves under each join."""
    members = [frozenset([at]) for at in range(size)]
    for first, second, *_ in tree:
        members.append(members[int(first)] | members[int(second)])
    return members[size:]


def _joins(distances: Floats, again: Floats) -> tuple[Join, ...]:
    size = len(distances)
    tree = _tree(distances)
    seen = [set(_groups(_tree(drawn), size)) for drawn in again]
    joins = []
    for row, group in zip(tree, _groups(tree, size), strict=True):
        support = sum(group in groups for groups in seen) / max(len(seen), 1)
        joins.append(Join(int(row[0]), int(row[1]), float(row[2]), support))
    return tuple(joins)


def _row(name: str, profile: Profile) -> Row:
    pairs = max(sum(distance.pairs for distance in profile.distances), 1)
    far = sum(distance.reversed for distance in profile.distances[-2:]) / pairs
    return Row(
        name,
        sentences=profile.sentences,
        monotone=profile.monotone,
        reversed=profile.reversed,
        far=far,
        hierarchical_d=profile.orientation["hierarchical"]["D"],
        verbs=_leftward(profile, VERBS),
        adpositions=_turned(profile, ADPOSITIONS),
        space=next((one.value for one in profile.advice if one.key == "search.space"), ""),
    )


def _leftward(profile: Profile, tags: Sequence[str]) -> float | None:
    """The share that moves left less the share that moves right; None without such tags."""
    rows = _rows_of(profile, tags)
    count = sum(row.count for row in rows)
    return sum(row.count * (row.left - row.right) for row in rows) / count if count else None


def _turned(profile: Profile, tags: Sequence[str]) -> float | None:
    """The share that changes places with the word before it; None without such tags."""
    rows = _rows_of(profile, tags)
    count = sum(row.count for row in rows)
    return sum(row.count * row.turned for row in rows) / count if count else None


def _rows_of(profile: Profile, tags: Sequence[str]) -> list[Mover]:
    is_tagged = profile.movers_are == "tag"
    return [mover for mover in profile.movers if is_tagged and mover.name in tags]
