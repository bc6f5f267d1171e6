"""Candidate translations of the dev set, merged from all rounds.

In: n-best lists, a batch a round. Out: flat arrays, the candidates of a sentence side by side:
feature values, statistics of the metric, and where each sentence begins.
How: a candidate is new when its text or one of its feature values (to 1e-9) is. Statistics are
kept by text, so that each text is measured once, even by several runs.
Cost: per candidate some 8 bytes a feature and 200 more.

>>> from wayword.evaluate import Gold
>>> measured = Measured(Objective("bleu", Gold(refs=[["a b c d e"], ])))
>>> pool = Pool(["lm", "wp"], measured)
>>> both = Candidates(("a b c d e", "a b"), np.array([[-2.0, -5.0], [-1.0, -2.0]]))
>>> [len(new.texts) for new in pool.add([both])], [len(new.texts) for new in pool.add([both])]
([2], [0])
>>> pool.score(np.array([1.0, 0.0])), pool.score(np.array([0.0, -1.0]))  # short, or long
(0.0, 100.0)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from wayword.corpus.source import Source
from wayword.errors import ArgumentError, MismatchError
from wayword.evaluate.gold import Links
from wayword.evaluate.metric import Matrix
from wayword.tune.ngrams import Numbers
from wayword.tune.objective import Objective

__all__ = ["Candidates", "Decodes", "Measured", "Nbest", "Pool", "Seed", "Vector"]

Vector = npt.NDArray[np.float64]
#: What a random draw depends on.
Seed = Sequence[int]
#: Feature values that agree to so many digits after the point are one.
DIGITS = 9


class Nbest(Protocol):
    """What a decoder found for one sentence, best first.

    Beside these two, it may have ``links`` (of each candidate with the source, for metrics of
    word order) and ``sparse`` (further features of each candidate by name; absent ones are 0).
    """

    @property
    def texts(self) -> Sequence[str]:
        """The candidates."""

    @property
    def features(self) -> Matrix:
        """A row for each of them, a column for each dense feature."""


class Decodes(Protocol):
    """A system whose weights can be tuned."""

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
    features: Matrix
    links: tuple[Links, ...] | None = None
    sparse: tuple[Mapping[str, float], ...] | None = None


class Measured:
    """The statistics of every text met, by sentence."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self._places: dict[tuple[Any, ...], int] = {}
        self._rows: Matrix = np.empty((0, 0))
        self._count = 0

    def places(
        self, sentences: Sequence[int], texts: Sequence[str], links: Sequence[Links] | None
    ) -> Numbers:
        """Where the statistics of each text stand; those not met before are measured."""
        keys: list[tuple[Any, ...]] = list(zip(sentences, texts, strict=True))
        if links is not None and self.objective.needs_links:
            keys = [(*key, tuple(of_text)) for key, of_text in zip(keys, links, strict=True)]
        fresh = {key: at for at, key in enumerate(keys) if key not in self._places}
        if fresh:
            at = list(fresh.values())
            rows = self.objective.rows(
                [sentences[k] for k in at],
                [texts[k] for k in at],
                None if links is None else [links[k] for k in at],
            )
            self._places.update(zip(fresh, range(self._count, self._count + len(at)), strict=True))
            self._append(rows)
        return np.fromiter((self._places[key] for key in keys), dtype=np.int64, count=len(keys))

    def _append(self, rows: Matrix) -> None:
        """Grow by halves, so that every row is copied only a few times."""
        end = self._count + len(rows)
        if end > len(self._rows):
            room = np.zeros((max(end, len(self._rows) * 3 // 2), rows.shape[1]))
            room[: self._count] = self._rows[: self._count] if self._count else 0.0
            self._rows = room
        self._rows[self._count : end] = rows
        self._count = end

    def rows(self, places: Numbers) -> Matrix:
        """The statistics at these places."""
        return self._rows[places]


class Pool:
    """All candidates, those of a sentence side by side, older ones first."""

    def __init__(self, names: Sequence[str], measured: Measured) -> None:
        self.names = list(names)
        self.dense = len(self.names)
        self.measured = measured
        self.features: Matrix = np.empty((0, self.dense))
        self.sentence: Numbers = np.empty(0, dtype=np.int64)
        self.place: Numbers = np.empty(0, dtype=np.int64)
        self.sparse: list[dict[int, float]] | None = None
        self._columns = {name: at for at, name in enumerate(self.names)}
        self._seen: set[int] = set()

    def __len__(self) -> int:
        return len(self.sentence)

    def add(self, lists: Sequence[Nbest]) -> list[Candidates]:
        """Merge n-best lists, one a sentence of the dev set; what of them was new."""
        if len(lists) != len(self.measured.objective.gold):
            found = f"{len(lists)} n-best lists for {len(self.measured.objective.gold)} references"
            raise MismatchError(f"dev: {found}; do source and references belong together?")
        features = self._checked(lists)
        texts = [text for nbest in lists for text in nbest.texts]
        sentence = np.repeat(np.arange(len(lists)), [len(nbest.texts) for nbest in lists])
        links = _joined([getattr(nbest, "links", None) for nbest in lists])
        place = self.measured.places(sentence.tolist(), texts, links)
        sparse = self._sparse(lists)
        fresh = self._fresh(place, features, sparse)
        if sparse is not None or self.sparse is not None:
            empty: list[dict[int, float]] = [{} for _ in range(len(self))]
            more = sparse or [{} for _ in texts]
            self.sparse = (self.sparse or empty) + [more[at] for at in fresh]
        self.features = np.concatenate([self.features, features[fresh]])
        self.sentence = np.concatenate([self.sentence, sentence[fresh]])
        self.place = np.concatenate([self.place, place[fresh]])
        order = np.argsort(self.sentence, kind="stable")
        self.features, self.sentence = self.features[order], self.sentence[order]
        self.place = self.place[order]
        if self.sparse is not None:
            self.sparse = [self.sparse[at] for at in order.tolist()]
        return _picked(lists, np.array(fresh, dtype=np.int64))

    def _checked(self, lists: Sequence[Nbest]) -> Matrix:
        has_some = np.bincount(self.sentence, minlength=len(lists)) > 0
        for number, nbest in enumerate(lists, 1):
            values = np.asarray(nbest.features)
            is_enough = bool(len(nbest.texts)) or bool(has_some[number - 1])
            if not is_enough or values.shape != (len(nbest.texts), self.dense):
                found = f"{len(nbest.texts)} candidates with features of shape {values.shape}"
                wanted = f"at least one, with {self.dense} features"
                raise ArgumentError(f"dev, sentence {number}: found {found}; expected {wanted}")
            if not np.isfinite(values).all():
                names = [self.names[k] for k in np.flatnonzero(~np.isfinite(values).all(axis=0))]
                raise ArgumentError(
                    f"dev, sentence {number}: found a value of {', '.join(names)} that is no "
                    "number; expected finite features"
                )
        return np.concatenate([np.asarray(nbest.features, dtype=np.float64) for nbest in lists])

    def _sparse(self, lists: Sequence[Nbest]) -> list[dict[int, float]] | None:
        """Named features as numbered columns after the dense ones; names are numbered as met."""
        sparse = _joined([getattr(nbest, "sparse", None) for nbest in lists])
        if sparse is None:
            return None
        for name in (name for values in sparse for name in values):
            if name not in self._columns:
                self._columns[name] = len(self.names)
                self.names.append(name)
        return [{self._columns[name]: float(v) for name, v in values.items()} for values in sparse]

    def _fresh(
        self, place: Numbers, features: Matrix, sparse: list[dict[int, float]] | None
    ) -> list[int]:
        """The candidates not seen before, told by 64 bits of text and feature values."""
        bits = (np.round(features, DIGITS) + 0.0).view(np.uint64)
        key = place.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        for column in bits.T:
            key = (key ^ (key >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + column
        fresh = []
        for at, known in enumerate(key.tolist()):
            if sparse is not None and sparse[at]:
                known = hash((known, *sorted(sparse[at].items())))  # noqa: PLW2901
            if known not in self._seen:
                self._seen.add(known)
                fresh.append(at)
        return fresh

    # --- what tuners look at ---------------------------------------------------------------------

    @property
    def offsets(self) -> Numbers:
        """Where the candidates of each sentence begin, and the end."""
        return np.searchsorted(self.sentence, np.arange(len(self.measured.objective.gold) + 1))

    def statistics(self, candidates: Numbers) -> Matrix:
        """The statistics of some candidates."""
        return self.measured.rows(self.place[candidates])

    def varies(self) -> npt.NDArray[np.bool_]:
        """Which dense features tell candidates of some sentence apart."""
        starts = self.offsets[:-1]
        high = np.maximum.reduceat(self.features, starts, axis=0)
        low = np.minimum.reduceat(self.features, starts, axis=0)
        return np.asarray((high > low).any(axis=0))

    def scores(self, weights: Vector) -> Vector:
        """The model score of every candidate."""
        scores: Vector = self.features @ weights[: self.dense]
        if self.sparse is not None:
            scores = scores + [
                sum(weights[column] * value for column, value in features.items())
                for features in self.sparse
            ]
        return scores

    def best(self, weights: Vector) -> Numbers:
        """The candidate of each sentence that the weights prefer; of equal ones the first."""
        return best_by(self.scores(weights), self.offsets)

    def score(self, weights: Vector) -> float:
        """The metric of the candidates that the weights prefer."""
        sums = self.statistics(self.best(weights)).sum(axis=0)
        return float(self.measured.objective.score(sums))

    def difference(self, first: int, second: int) -> tuple[Numbers, Vector]:
        """Columns and values of the features of one candidate minus those of another."""
        dense = self.features[first] - self.features[second]
        columns = np.arange(self.dense)
        if self.sparse is None:
            return columns, dense
        sparse = dict(self.sparse[first])
        for column, value in self.sparse[second].items():
            sparse[column] = sparse.get(column, 0.0) - value
        more = np.fromiter(sparse, dtype=np.int64, count=len(sparse))
        return np.concatenate([columns, more]), np.concatenate([dense, list(sparse.values())])


def best_by(scores: Vector, offsets: Numbers) -> Numbers:
    """Where each sentence has its highest score; of equal ones the first."""
    top = np.repeat(np.maximum.reduceat(scores, offsets[:-1]), np.diff(offsets))
    at = np.flatnonzero(scores == top)
    return at[np.searchsorted(at, offsets[:-1])]


def _picked(lists: Sequence[Nbest], chosen: Numbers) -> list[Candidates]:
    """Some candidates, counted through all lists, as lists again."""
    ends = np.cumsum([len(nbest.texts) for nbest in lists])
    picked = []
    for nbest, end in zip(lists, ends.tolist(), strict=True):
        start = end - len(nbest.texts)
        low, high = np.searchsorted(chosen, [start, end]).tolist()
        at = (chosen[low:high] - start).tolist()
        links, sparse = getattr(nbest, "links", None), getattr(nbest, "sparse", None)
        picked.append(
            Candidates(
                tuple(nbest.texts[k] for k in at),
                np.asarray(nbest.features)[at],
                None if links is None else tuple(links[k] for k in at),
                None if sparse is None else tuple(sparse[k] for k in at),
            )
        )
    return picked


def _joined(parts: Sequence[Any]) -> list[Any] | None:
    """One list of many, or None when some sentence has none."""
    if any(part is None for part in parts):
        return None
    return [item for part in parts for item in part]
