"""Candidate translations of the dev set, merged from all rounds.

In: n-best lists, a batch a round. Out: flat arrays, the candidates of a sentence side by side:
feature values (in the core), statistics of the metric, and where each sentence begins.
How: a candidate is new when its text or one of its feature values (as float32) is. Texts are told
apart by 64 bits and not kept; the statistics of each are measured once, and kept as small whole
numbers where the metric has such.
Cost: per candidate 4 bytes a feature and 12 more, per text 12 and those of its statistics, which
are 20 for BLEU.

>>> from wayword.evaluate import Gold
>>> measured = Measured(Objective("bleu", Gold(refs=[["a b c d e"], ])))
>>> pool = Pool(["lm", "wp"], measured)
>>> both = Candidates(("a b c d e", "a b"), np.array([[-2.0, -5.0], [-1.0, -2.0]]))
>>> len(pool.add([both])), len(pool.add([both]))
(2, 0)
>>> pool.score(np.array([1.0, 0.0])), pool.score(np.array([0.0, -1.0]))  # short, or long
(0.0, 100.0)
"""

import ctypes
import hashlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from wayword import _core
from wayword.corpus.source import Source
from wayword.errors import ArgumentError, MismatchError
from wayword.evaluate.gold import Links
from wayword.evaluate.metric import Matrix
from wayword.tune.ngrams import Numbers
from wayword.tune.objective import Objective

__all__ = [
    "Candidates",
    "Decodes",
    "Fresh",
    "Measured",
    "Nbest",
    "Pool",
    "Seed",
    "Vector",
    "compact",
    "give_back",
]

Vector = npt.NDArray[np.float64]
#: What a random draw depends on.
Seed = Sequence[int]
Keys = npt.NDArray[np.uint64]
#: Texts that are measured at a time.
BLOCK = 10_000
#: Kinds of numbers for statistics, smallest first; the last one holds any.
KINDS = (np.uint16, np.uint32, np.float64)


class Nbest(Protocol):
    """What a decoder found for one sentence, best first.

    Beside these two, it may have ``links`` (of each candidate with the source, for metrics of
    word order) and ``sparse`` (further features of each candidate by name; absent ones are 0).
    """

    @property
    def texts(self) -> Sequence[str]:
        """The candidates."""

    @property
    def features(self) -> npt.NDArray[np.floating[Any]]:
        """A row for each of them, a column for each dense feature."""


class Decodes(Protocol):
    """A system whose weights can be tuned.

    Beside these, it may have ``nonnegative``, the names of the features whose weight is at least 0
    by definition, such as log probabilities; without it, weights of either sign are tried.
    """

    @property
    def weights(self) -> Mapping[str, float]:
        """Weights by name, in the order of the columns of features."""

    def with_weights(self, weights: Mapping[str, float]) -> "Decodes":
        """The same system with other weights; models are shared."""

    def nbest(
        self,
        sources: Sequence[str | Source],
        *,
        size: int,
        distinct: bool,
        links: bool,
        threads: int,
        progress: Any,
    ) -> Sequence[Nbest]:
        """The best translations of tokenised sentences, with their links if these are wanted."""


@dataclass(frozen=True)
class Candidates:
    """A plain n-best list."""

    texts: tuple[str, ...]
    features: npt.NDArray[np.floating[Any]]
    links: tuple[Links, ...] | None = None
    sparse: tuple[Mapping[str, float], ...] | None = None


def compact(nbest: Nbest) -> Candidates:
    """The same list in little room: features as the pool keeps them, and nothing else."""
    links, sparse = getattr(nbest, "links", None), getattr(nbest, "sparse", None)
    with np.errstate(over="ignore"):  # what is too large is told when the pool gets it
        features = np.asarray(nbest.features, dtype=np.float32)
    return Candidates(tuple(nbest.texts), features, links, sparse)


@dataclass(frozen=True)
class Fresh:
    """What some n-best lists added to a pool: all that is needed to add it again, without texts."""

    #: new candidates of each sentence; of each its features, where its statistics stand, and a key
    counts: npt.NDArray[np.uint32]
    features: npt.NDArray[np.float32]
    places: npt.NDArray[np.uint32]
    keys: Keys
    #: keys and statistics of new texts
    text_keys: Keys
    rows: npt.NDArray[Any]
    sparse: tuple[Mapping[str, float], ...] | None = None

    def __len__(self) -> int:
        return len(self.places)


class Measured:
    """The statistics of every text met, by sentence."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self._keys: Keys = np.empty(0, dtype=np.uint64)  # sorted
        self._places: npt.NDArray[np.uint32] = np.empty(0, dtype=np.uint32)
        self._rows: npt.NDArray[Any] = np.empty((0, 0), dtype=KINDS[0])

    def places(
        self, sentences: Sequence[int], texts: Sequence[str], links: Sequence[Links] | None
    ) -> Numbers:
        """Where the statistics of each text stand; those not met before are measured."""
        named: Iterable[tuple[Any, ...]] = zip(sentences, texts, strict=True)
        if links is not None and self.objective.needs_links:
            named = zip(sentences, texts, map(list, links), strict=True)
        keys = np.fromiter(map(_key, named), dtype=np.uint64, count=len(texts))
        fresh = _not_in(self._keys, keys)
        places = np.arange(len(self._rows), len(self._rows) + len(fresh), dtype=np.uint32)
        for start in range(0, len(fresh), BLOCK):
            at = fresh[start : start + BLOCK].tolist()
            rows = self.objective.rows(
                [sentences[k] for k in at],
                [texts[k] for k in at],
                None if links is None else [links[k] for k in at],
            )
            self._rows = _stacked(self._rows, rows)
        self._number(keys[fresh], places)
        return self._places[np.searchsorted(self._keys, keys)].astype(np.int64)

    def _number(self, keys: Keys, places: npt.NDArray[np.uint32]) -> None:
        every_key = np.concatenate([self._keys, keys])
        order = np.argsort(every_key)
        self._keys = every_key[order]
        self._places = np.concatenate([self._places, places])[order]

    def __len__(self) -> int:
        return len(self._rows)

    def since(self, count: int) -> tuple[Keys, npt.NDArray[Any]]:
        """Keys and statistics of the texts that were measured after the first ``count``."""
        is_new = self._places >= count
        keys = np.empty(len(self) - count, dtype=np.uint64)
        keys[self._places[is_new] - count] = self._keys[is_new]
        return keys, self._rows[count:].copy()

    def restore(self, keys: Keys, rows: npt.NDArray[Any]) -> None:
        """Take over what was measured before."""
        places = np.arange(len(self), len(self) + len(keys), dtype=np.uint32)
        self._rows = _stacked(self._rows, rows)
        self._number(keys, places)

    @property
    def table(self) -> npt.NDArray[Any]:
        """All rows, as small numbers where they are whole."""
        return self._rows

    def rows(self, places: npt.NDArray[np.integer[Any]]) -> Matrix:
        """The statistics at these places."""
        rows: Matrix = self._rows.take(places, axis=0).astype(np.float64)
        return rows


def give_back() -> None:
    """Hand freed memory back to the system.

    Arrays grow from round to round, and the C library of Linux keeps the room of the smaller ones
    and of n-best lists: nearly as much again as the pool itself.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other C libraries have none
        if trim is not None:
            trim(0)


def _key(name: tuple[Any, ...]) -> int:
    """64 bits for a text of a sentence, the same in every process."""
    return int.from_bytes(hashlib.blake2b(repr(name).encode(), digest_size=8).digest(), "little")


def _not_in(known: Keys, keys: Keys) -> Numbers:
    """Where keys stand that are not among those known, which are sorted; of equal ones the first.

    >>> _not_in(np.array([3, 7], dtype=np.uint64), np.array([9, 3, 9, 1], dtype=np.uint64)).tolist()
    [0, 3]
    """
    distinct, at = np.unique(keys, return_index=True)
    if len(known):
        near = np.minimum(np.searchsorted(known, distinct), len(known) - 1)
        at = at[known[near] != distinct]
    return np.sort(at)


def _stacked(known: npt.NDArray[Any], rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """All rows, of the smallest kind of number that holds those known and the new ones exactly."""
    for kind in KINDS[KINDS.index(known.dtype.type) :]:
        small = rows.astype(kind) if _fits(rows, kind) else None
        if small is not None:
            return np.concatenate([known.astype(kind, copy=False), small]) if len(known) else small
    raise AssertionError("the last kind holds any number")


def _fits(rows: npt.NDArray[Any], kind: type[Any]) -> bool:
    """Whether a kind of number holds the values exactly.

    >>> _fits(np.array([[3.0, 70000.0]]), np.uint16), _fits(np.array([[3.0, 70000.0]]), np.uint32)
    (False, True)
    """
    if kind is np.float64:
        return True
    return bool(((rows >= 0) & (rows <= np.iinfo(kind).max) & (rows == np.floor(rows))).all())


class Pool:
    """All candidates, those of a sentence side by side, older ones first."""

    def __init__(self, names: Sequence[str], measured: Measured) -> None:
        self.names = list(names)
        self.dense = len(self.names)
        self.measured = measured
        #: feature values of all candidates
        self.core = _core.CandidatePool(self.dense)
        self.place: npt.NDArray[np.uint32] = np.empty(0, dtype=np.uint32)
        self.sparse: list[dict[int, float]] | None = None
        self._columns = {name: at for at, name in enumerate(self.names)}
        self._seen: Keys = np.empty(0, dtype=np.uint64)  # sorted

    def __len__(self) -> int:
        return len(self.place)

    def add(self, lists: Sequence[Nbest]) -> Fresh:
        """Merge n-best lists, one a sentence of the dev set; what of them was new."""
        if len(lists) != len(self.measured.objective.gold):
            found = f"{len(lists)} n-best lists for {len(self.measured.objective.gold)} references"
            raise MismatchError(f"dev: {found}; do source and references belong together?")
        features = self._checked(lists)
        texts = [text for nbest in lists for text in nbest.texts]
        sentence = np.repeat(np.arange(len(lists)), [len(nbest.texts) for nbest in lists])
        links = _joined([getattr(nbest, "links", None) for nbest in lists])
        measured = len(self.measured)
        place = self.measured.places(sentence.tolist(), texts, links)
        named = _joined([getattr(nbest, "sparse", None) for nbest in lists])
        keys = _candidate_keys(place, features, self._sparse(named))
        new = _not_in(self._seen, keys)
        fresh = Fresh(
            np.bincount(sentence[new], minlength=len(lists)).astype(np.uint32),
            features[new],
            place[new].astype(np.uint32),
            keys[new],
            *self.measured.since(measured),
            None if named is None else tuple(named[at] for at in new.tolist()),
        )
        self._take(fresh)
        return fresh

    def restore(self, fresh: Fresh) -> None:
        """Merge what ``add`` gave for the same lists, when the pool was as it is now."""
        self.measured.restore(fresh.text_keys, fresh.rows)
        self._take(fresh)

    def _take(self, fresh: Fresh) -> None:
        """Put new candidates behind the older ones of their sentences."""
        # Where new ones go: each before the first candidate of the next sentence.
        ends = self.offsets[1:] if len(self) else np.zeros(len(fresh.counts), dtype=np.int64)
        before = np.repeat(ends, fresh.counts)
        if fresh.sparse is not None or self.sparse is not None:
            more = self._sparse(fresh.sparse) or [{} for _ in range(len(fresh))]
            both = (self.sparse or [{} for _ in range(len(self))]) + more
            order = np.insert(np.arange(len(self)), before, np.arange(len(self), len(both)))
            self.sparse = [both[at] for at in order.tolist()]
        self._seen = np.concatenate([self._seen, fresh.keys])
        self._seen.sort()
        self.place = np.insert(self.place, before, fresh.places)
        columns = np.ascontiguousarray(fresh.features.T)
        self.core.add(columns.tobytes(), fresh.counts.tobytes())

    def _checked(self, lists: Sequence[Nbest]) -> npt.NDArray[np.float32]:
        has_some = bool(len(self))  # then every sentence has
        for number, nbest in enumerate(lists, 1):
            values = np.asarray(nbest.features)
            is_enough = bool(len(nbest.texts)) or has_some
            if not is_enough or values.shape != (len(nbest.texts), self.dense):
                found = f"{len(nbest.texts)} candidates with features of shape {values.shape}"
                wanted = f"at least one, with {self.dense} features"
                raise ArgumentError(f"dev, sentence {number}: found {found}; expected {wanted}")
            is_finite = np.abs(values) <= np.finfo(np.float32).max
            if not is_finite.all():
                names = [self.names[k] for k in np.flatnonzero(~is_finite.all(axis=0))]
                raise ArgumentError(
                    f"dev, sentence {number}: found a value of {', '.join(names)} that is no "
                    "number; expected finite features"
                )
        return np.concatenate([np.asarray(nbest.features, dtype=np.float32) for nbest in lists])

    def _sparse(self, named: Sequence[Mapping[str, float]] | None) -> list[dict[int, float]] | None:
        """Named features as numbered columns after the dense ones; names are numbered as met."""
        if named is None:
            return None
        for name in (name for values in named for name in values):
            if name not in self._columns:
                self._columns[name] = len(self.names)
                self.names.append(name)
        return [{self._columns[name]: float(v) for name, v in values.items()} for values in named]

    # --- what tuners look at ---------------------------------------------------------------------

    @property
    def offsets(self) -> Numbers:
        """Where the candidates of each sentence begin, and the end."""
        return np.asarray(self.core.offsets).astype(np.int64)

    def column(self, feature: int) -> npt.NDArray[np.float32]:
        """The values of a dense feature, for each candidate."""
        return np.asarray(self.core.column(feature))

    @property
    def features(self) -> npt.NDArray[np.float32]:
        """A copy of all dense features, a row for each candidate."""
        return np.stack([self.column(feature) for feature in range(self.dense)], axis=1)

    def statistics(self, candidates: Numbers | slice) -> Matrix:
        """The statistics of some candidates."""
        if isinstance(candidates, slice):
            return self.measured.rows(self.place[candidates])
        return self.measured.rows(self.place.take(candidates))

    def core_statistics(self) -> tuple[_core.CandidateStatistics, int]:
        """The statistics of all candidates for the core, and how many numbers each has."""
        rows = self.measured.table
        place = np.ascontiguousarray(self.place, dtype=np.uint32)
        given = rows.tobytes(), rows.dtype.itemsize, rows.shape[1], place.tobytes()
        return _core.CandidateStatistics(*given), rows.shape[1]

    def varies(self) -> npt.NDArray[np.bool_]:
        """Which dense features tell candidates of some sentence apart."""
        starts = self.offsets[:-1]
        columns = [self.column(feature) for feature in range(self.dense)]
        spread = [np.maximum.reduceat(c, starts) > np.minimum.reduceat(c, starts) for c in columns]
        return np.array([bool(is_different.any()) for is_different in spread])

    def scores(self, weights: Vector) -> Vector:
        """The model score of every candidate."""
        scores = np.zeros(len(self))
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            for feature, weight in enumerate(weights[: self.dense].tolist()):
                if weight:
                    scores += weight * self.column(feature).astype(np.float64)
            if self.sparse is not None:
                scores += [
                    sum(weights[column] * value for column, value in features.items())
                    for features in self.sparse
                ]
        if not np.isfinite(scores).all():
            found = "a candidate whose score is not finite"
            raise ArgumentError(f"weights: found {found}; expected smaller weights")
        return scores

    def best(self, weights: Vector) -> Numbers:
        """The candidate of each sentence that the weights prefer; of equal ones the first."""
        if self.sparse is not None:
            return best_by(self.scores(weights), self.offsets)
        return np.asarray(self.core.point(weights.tolist()).best()).astype(np.int64)

    def score(self, weights: Vector) -> float:
        """The metric of the candidates that the weights prefer."""
        sums = self.statistics(self.best(weights)).sum(axis=0)
        return float(self.measured.objective.score(sums))


def best_by(scores: Vector, offsets: Numbers) -> Numbers:
    """Where each sentence has its highest score; of equal ones the first."""
    top = np.repeat(np.maximum.reduceat(scores, offsets[:-1]), np.diff(offsets))
    at = np.flatnonzero(scores == top)
    return at[np.searchsorted(at, offsets[:-1])]


def _candidate_keys(
    place: Numbers, features: npt.NDArray[np.float32], sparse: list[dict[int, float]] | None
) -> Keys:
    """64 bits of text and feature values, which tell candidates apart."""
    bits = (features + np.float32(0.0)).view(np.uint32).astype(np.uint64)
    keys = place.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for column in bits.T:
        keys = (keys ^ (keys >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + column
    if sparse is None:
        return keys
    named = zip(keys.tolist(), sparse, strict=True)
    mixed = (_key((dense, *sorted(s.items()))) if s else dense for dense, s in named)
    return np.fromiter(mixed, dtype=np.uint64, count=len(keys))


def _joined(parts: Sequence[Any]) -> list[Any] | None:
    """One list of many, or None when some sentence has none."""
    if any(part is None for part in parts):
        return None
    return [item for part in parts for item in part]
