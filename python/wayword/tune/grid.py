"""How much early pruning costs no quality: a grid of its parameters, tried on a dev set.

In: a system with a feature that rates words, a dev set that tuning has not seen, values of ``top``,
``threshold`` and ``zone``.
Out: a ``Grid``: score, work and time of each setting, and the one to take: that with the least work
among those within ``tolerance`` of the best score.
How: settings go from tight to loose. Where nothing of a sentence was left out under a setting,
every looser one finds the same translation, and it is not decoded again. Work is counted in
extensions scored, which do not depend on the machine.
``worth_decoding`` leaves out settings beforehand, by what they leave of known orders.
Cost: a decoding of the dev set a setting, less what is reused. The weights stay as they are:
``wayword tune`` finds those for the space chosen.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any

from wayword.decode.translation import Statistics, Translation
from wayword.errors import ArgumentError
from wayword.evaluate import ORDER, Gold, Options, Output, make_metric
from wayword.reorder import waw
from wayword.reorder.judge import Judge
from wayword.system import System
from wayword.tune.objective import Objective, check_dev
from wayword.types import FilePath

__all__ = ["Grid", "Pruning", "Tried", "prune_grid", "prunings", "worth_decoding"]


@dataclass(frozen=True)
class Pruning:
    """The parameters of early pruning.

    >>> Pruning(3, 0.1, 5).space("dl:18")
    'dl:18+waw(top=3,threshold=0.1,zone=5)'
    """

    top: int
    threshold: float
    zone: int

    def space(self, limit: str, feature: str = "waw") -> str:
        """The space that it makes of another."""
        return f"{limit}+{feature}(top={self.top},threshold={self.threshold:g},zone={self.zone})"

    def is_looser(self, other: "Pruning") -> bool:
        """Whether it keeps all that the other keeps.

        >>> Pruning(0, 0.1, 5).is_looser(Pruning(3, 0.1, 5))  # 0: any number
        True
        >>> Pruning(2, 0.1, 5).is_looser(Pruning(3, 0.1, 5))
        False
        """
        more = not self.top or (0 < other.top <= self.top)
        return more and self.threshold <= other.threshold and self.zone >= other.zone


@dataclass(frozen=True)
class Tried:
    """A setting and what it is worth; ``work`` and ``cpu_ms`` are per source word.

    ``order`` are the usual metrics of word order, where links are known. Sentences ``reused`` were
    not decoded: their share of work is the same, their time is left out.
    """

    space: str
    score: float
    work: float
    narrowed: float
    cpu_ms: float
    reused: int
    order: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Grid:
    """All settings tried, from tight to loose, the last without pruning; and the one to take."""

    tried: tuple[Tried, ...]
    chosen: str
    signature: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def prunings(
    tops: Sequence[int], thresholds: Sequence[float], zones: Sequence[int]
) -> list[Pruning]:
    """Every combination of parameters, from tight to loose.

    >>> [pruning.space("dl:8") for pruning in prunings([2, 1], [0.5], [0])]
    ['dl:8+waw(top=1,threshold=0.5,zone=0)', 'dl:8+waw(top=2,threshold=0.5,zone=0)']
    """
    if not (tops and thresholds and zones):
        raise ArgumentError("grid: found no values for a parameter; expected one at least")
    every = [Pruning(*pruning) for pruning in product(tops, thresholds, zones)]
    return sorted(every, key=lambda one: (one.zone, one.top or math.inf, -one.threshold))


def worth_decoding(
    system: System,
    orders: Sequence[FilePath],
    every: Sequence[Pruning],
    feature: str = "waw",
    limit: str = "dl:18",
) -> list[Pruning]:
    """The settings that no other beats: fewer words to try, or more of the right ones kept.

    ``orders`` are source, target and links; see ``wayword.reorder.waw.reach``.
    """
    named = {part.name: part.feature() for part in system.parts if part.feature() is not None}
    model = getattr(named.get(feature), "model", None)
    if not isinstance(model, Judge):
        found = f"found `{feature}`, which the system does not have"
        raise ArgumentError(f"feature: {found}; expected a learned model of the next word")
    spaces = [pruning.space(limit, feature) for pruning in every]
    rows = waw.reach(model, waw.Corpus.read(*orders), spaces)

    def is_beaten(at: int) -> bool:
        width, right = rows[at].candidates, rows[at].kept
        return any(
            other.candidates <= width
            and other.kept >= right
            and ((other.candidates, other.kept) != (width, right) or number < at)
            for number, other in enumerate(rows)
        )

    return [pruning for at, pruning in enumerate(every) if not is_beaten(at)]


def prune_grid(
    system: System,
    src: Sequence[str],
    gold: Gold,
    *,
    prunings: Sequence[Pruning],
    limit: str = "dl:18",
    feature: str = "waw",
    metric: str | Mapping[str, float] = "bleu",
    options: Options | None = None,
    tolerance: float = 0.1,
    threads: int = 0,
) -> Grid:
    """Try settings, from tight to loose, on a dev set; ``src`` is as the decoder takes it."""
    check_dev(src, gold)
    if not prunings:
        raise ArgumentError("grid: found no settings; expected one at least")
    job = _Job(system, list(src), Objective(metric, gold, options), threads)
    tried = [job.attempt(pruning.space(limit, feature), pruning) for pruning in prunings]
    best = max(attempt.score for attempt in tried)
    chosen = min(
        (attempt for attempt in tried if attempt.score >= best - tolerance),
        key=lambda attempt: attempt.work,
    )
    tried.append(job.attempt(limit, None))
    return Grid(tuple(tried), chosen.space, job.objective.signature)


class _Job:
    """Decodes a dev set under one setting after the other."""

    def __init__(self, system: System, src: list[str], objective: Objective, threads: int) -> None:
        self.system, self.src, self.objective, self.threads = system, src, objective, threads
        self.words = max(sum(len(line.split()) for line in src), 1)
        #: For each sentence translations that nothing was left out of, with their settings.
        self.free: list[list[tuple[Pruning, Translation]]] = [[] for _ in src]

    def attempt(self, space: str, pruning: Pruning | None) -> Tried:
        known = {
            at: translation
            for at, free in enumerate(self.free)
            for tighter, translation in free
            if pruning is not None and pruning.is_looser(tighter)
        }
        missing = [at for at in range(len(self.src)) if at not in known]
        clock = time.process_time()
        decoded = self.system.with_settings(space=space).translate(
            [self.src[at] for at in missing], threads=self.threads, prepared=True
        )
        cpu = time.process_time() - clock
        translations = {**known, **dict(zip(missing, decoded, strict=True))}
        if pruning is not None:
            for at in missing:
                if not _statistics(translations[at]).narrowed:
                    self.free[at].append((pruning, translations[at]))
        every = [translations[at] for at in range(len(self.src))]
        return Tried(
            space=space,
            score=self._score(every),
            work=sum(_statistics(translation).scored for translation in every) / self.words,
            narrowed=sum(_statistics(translation).narrowed for translation in every) / self.words,
            cpu_ms=1e3 * cpu / max(sum(len(self.src[at].split()) for at in missing), 1),
            reused=len(known),
            order=self._order(every),
        )

    def _order(self, every: Sequence[Translation]) -> dict[str, float]:
        if self.objective.gold.ref_links is None:
            return {}
        lines = [" ".join(translation.tokens) for translation in every]
        output = Output("dev", lines, [translation.links for translation in every])
        metrics = [make_metric(name, self.objective.gold, self.objective.options) for name in ORDER]
        return {metric.name: metric.corpus_score(output) for metric in metrics}

    def _score(self, every: Sequence[Translation]) -> float:
        lines = [" ".join(translation.tokens) for translation in every]
        links = [translation.links for translation in every] if self.objective.needs_links else None
        rows = self.objective.rows(range(len(every)), lines, links)
        return self.objective.exact(rows.sum(axis=0))


def _statistics(translation: Translation) -> Statistics:
    assert translation.statistics is not None, "the best translation of a sentence has statistics"
    return translation.statistics
