"""A decoder whose best weights are known, for tests of tuning."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wayword.corpus.source import Source
from wayword.evaluate import Gold
from wayword.tune import Candidates

NAMES = ("lm", "wp", "tm0", "tm1", "d", "oov")
TRUTH = np.array([0.4, -0.2, 0.15, 0.1, 0.15, 0.0])
#: Weights of these are at least 0 by definition.
NONNEGATIVE = ("lm", "tm0", "tm1", "d")


@dataclass(frozen=True)
class Known:
    """Lists every candidate there is; under the true weights fewer errors score higher."""

    lists: tuple[Candidates, ...]
    values: Mapping[str, float]
    calls: list[int] = field(default_factory=list)
    #: after how many calls of ``nbest`` the power fails
    fuse: int = 1 << 30

    @classmethod
    def make(
        cls,
        sentences: int = 60,
        size: int = 80,
        seed: int = 1,
        truth: np.typing.NDArray[np.float64] = TRUTH,
    ) -> "Known":
        """Up to five words of eight are wrong; the other features are noise."""
        draw = np.random.default_rng(seed)
        lists = []
        for _ in range(sentences):
            errors = np.arange(size) % 6
            texts = [" ".join(f"w{k}" if k >= wrong else "x" for k in range(8)) for wrong in errors]
            noise = draw.normal(size=(size, len(NAMES))) * 6
            noise[:, -1] = 0.0
            along = truth / (truth @ truth)
            features = noise + np.outer(-0.5 * errors - noise @ truth, along)
            order = draw.permutation(size)
            lists.append(Candidates(tuple(texts[k] for k in order), features[order]))
        flat = dict.fromkeys(NAMES, 0.2) | {"oov": 100.0}
        return cls(tuple(lists), flat)

    @property
    def src(self) -> list[str]:
        """Sentences to translate."""
        return [f"sentence {number}" for number in range(len(self.lists))]

    @property
    def gold(self) -> Gold:
        """All words right."""
        return Gold(refs=[[" ".join(f"w{k}" for k in range(8))] * len(self.lists)])

    @property
    def weights(self) -> Mapping[str, float]:
        """The weights at present."""
        return self.values

    @property
    def nonnegative(self) -> tuple[str, ...]:
        """Names of the weights that are at least 0."""
        return NONNEGATIVE

    def with_weights(self, weights: Mapping[str, float]) -> "Known":
        """The same candidates, preferred by other weights."""
        return Known(self.lists, dict(weights), self.calls, self.fuse)

    def nbest(
        self,
        sources: Sequence[str | Source],
        *,
        size: int,
        distinct: bool,
        links: bool,
        threads: int,
        progress: Any,
    ) -> list[Candidates]:
        """The candidates that the weights prefer."""
        assert not links
        assert not distinct
        assert threads >= 1
        assert progress is None
        self.calls.append(size)
        if len(self.calls) > self.fuse:
            raise KeyboardInterrupt
        point = np.array([self.values[name] for name in NAMES])
        lists = []
        for known in (self.lists[int(str(src).split()[1])] for src in sources):
            order = np.argsort(-(known.features @ point), kind="stable")[:size]
            lists.append(Candidates(tuple(known.texts[k] for k in order), known.features[order]))
        return lists


class Sparse(Known):
    """Only a sparse feature tells the right candidate."""

    def nbest(self, sources: Sequence[str | Source], **options: Any) -> list[Candidates]:
        """The same candidates without dense features."""
        lists = []
        for number, dense in enumerate(super().nbest(sources, **options)):
            named = [
                {"good": 1.0} if "x" not in text else {f"s{number}": 1.0} for text in dense.texts
            ]
            lists.append(Candidates(dense.texts, 0 * dense.features, sparse=tuple(named)))
        return lists

    def with_weights(self, weights: Mapping[str, float]) -> "Sparse":
        """The same with other dense weights."""
        return Sparse(self.lists, {name: weights[name] for name in NAMES}, self.calls, self.fuse)


def agreement(weights: Mapping[str, float]) -> float:
    """The cosine of the angle to the true weights."""
    point = np.array([weights[name] for name in NAMES])[:-1]
    return float(point @ TRUTH[:-1] / np.linalg.norm(point) / np.linalg.norm(TRUTH))
