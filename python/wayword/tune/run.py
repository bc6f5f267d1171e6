"""A whole tuning: rounds of decoding and optimising, several runs, the best or their mean.

In: a system, a dev set, options. Out: a ``Tuning``: weights, scores before and after, every round.
How: each round decodes the dev set with the weights so far, merges the n-best lists with those of
all rounds before, and lets the method find better weights; a run ends when weights or n-best lists
stop changing, or the score has not risen for some rounds. The first lists say little about weights
far from those that made them, so a round goes only a part of the way, from the best weights so far,
to what the method found: without that the second round of MERT often loses nearly all of its BLEU,
and others are needed to recover it. Runs differ by their seed alone and share nothing but the first
n-best lists, which are the same for all of them. The result is the weights of the best run or the
mean of the two, three, ... best runs (Cettolo et al., 2011), whichever has the best dev score:
averaging weights from different local optima can lower the score.
"""

import hashlib
import json
import logging
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Protocol

import numpy as np

from wayword.corpus.annotate import factored
from wayword.corpus.source import Source
from wayword.errors import ArgumentError, FormatError
from wayword.evaluate import Gold, Options
from wayword.evaluate.usability import UsabilityCheck
from wayword.tune.mert import Mert
from wayword.tune.mira import Mira
from wayword.tune.notes import Notes
from wayword.tune.objective import Objective, check_dev
from wayword.tune.pool import Decodes, Measured, Nbest, Pool, Seed, Vector, compact, give_back
from wayword.tune.pro import Pro
from wayword.tune.space import Space, average, flat
from wayword.tune.state import Decoded, Folder, Record
from wayword.types import FilePath, Progress

__all__ = ["METHODS", "Plan", "Run", "Tuner", "Tuning", "tune"]

LOG = logging.getLogger(__name__)


#: When no weight moves by more, a run ends.
STILL = 1e-5
#: Sentences that are decoded at a time.
BLOCK = 128
#: A score counts as better when it is by this much.
BETTER = 0.05
STARTS, CHOICES = ("current", "flat"), ("best", "last")


class Tuner(Protocol):
    """A way to find better weights on a pool."""

    @property
    def takes_sparse(self) -> bool:
        """Whether it can learn weights of sparse features."""

    def optimise(
        self,
        pool: Pool,
        space: Space,
        points: Sequence[Vector],
        seed: Seed,
        notes: Notes | None = None,
    ) -> Vector:
        """Weights better in the method's own eyes; ``points`` are those so far, best first.

        Steps that take long may be kept in ``notes``, for the case of an interruption.
        """


#: Every method, by the name of the option.
METHODS: dict[str, type[Any]] = {"mert": Mert, "pro": Pro, "mira": Mira}


@dataclass(frozen=True)
class Run:
    """Where one run ended."""

    weights: dict[str, float]
    #: of the dev set, decoded with these weights
    score: float
    #: why it ended
    stop: str


@dataclass(frozen=True)
class Tuning:
    """What tuning found. Scores are those of the dev set, decoded."""

    weights: dict[str, float]
    before: float
    after: float
    #: of how many runs, the best ones, the weights are the mean; 1: the weights of the best run
    averaged: int
    runs: tuple[Run, ...]
    rounds: tuple[Record, ...]
    signature: str
    #: how it was done, in plain values
    settings: dict[str, Any]
    #: names of tuned weights that stand at a limit, such as 0 where no sign but + makes sense
    at_bound: tuple[str, ...] = ()
    #: of the system with these weights, where a whole system was tuned
    usability: UsabilityCheck | None = None

    @property
    def spread(self) -> float:
        """The standard deviation of the runs' scores; 0 for a single run."""
        scores = [run.score for run in self.runs]
        return float(np.std(scores, ddof=1)) if len(scores) > 1 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {**asdict(self), "spread": self.spread}

    def describe(self) -> str:
        """Runs and rounds for people, with a small plot."""
        from wayword.report.tuning import describe

        return describe(self)

    def _repr_html_(self) -> str:
        from wayword.report.tuning import to_html

        return to_html(self)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How to tune. Everything here changes the result; threads and folders do not.

    ``method`` is ``mert``, ``pro``, ``mira`` or an object of such a class with options of its own;
    ``metric`` a name or names with shares, ``options`` those of the metric. ``fixed`` weights stay,
    ``ranges`` are not left; ``oov`` stays too unless it is ``free``. A weight that is at least 0 by
    definition, as the system says, stays so unless ``ranges`` names it. ``keep`` is the share of
    the best weights so far that the next round keeps: steadier, slower. A run ends when the score
    has not risen for ``patience`` rounds. ``choose`` says which weights of a run count: those with
    the ``best`` dev score or the ``last``.
    """

    method: str | Tuner = "mert"
    metric: str | Mapping[str, float] = "bleu"
    options: Options = field(default_factory=Options)
    runs: int = 4
    rounds: int = 25
    nbest: int = 100
    distinct: bool = False
    start: str = "current"
    fixed: Collection[str] = ()
    free: Collection[str] = ()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    keep: float = 0.5
    patience: int = 6
    choose: str = "best"
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        for name in ("runs", "rounds", "nbest", "patience"):
            if getattr(self, name) < 1:
                raise ArgumentError(f"{name}: found {getattr(self, name)}; expected at least 1")
        for name, known in (("start", STARTS), ("choose", CHOICES)):
            if getattr(self, name) not in known:
                wanted = " or ".join(known)
                raise ArgumentError(f"{name}: found `{getattr(self, name)}`; expected {wanted}")
        if not 0 <= self.keep < 1:
            raise ArgumentError(f"keep: found {self.keep}; expected a share from 0 to below 1")
        if self.seed < 0:
            raise ArgumentError(f"seed: found {self.seed}; expected 0 or more")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON and to tell plans apart."""
        values = {option.name: getattr(self, option.name) for option in fields(self)}
        tuner = make_tuner(self.method)
        settings = {name: value for name, value in vars(tuner).items() if name != "threads"}
        values["method"] = {"name": type(tuner).__name__.lower(), **settings}
        values["metric"] = self.metric if isinstance(self.metric, str) else dict(self.metric)
        values["options"] = {k: v for k, v in vars(self.options).items() if k != "threads"}
        values["ranges"] = {name: list(ends) for name, ends in sorted(self.ranges.items())}
        return {**values, "fixed": sorted(self.fixed), "free": sorted(self.free)}


def tune(
    system: Decodes,
    src: Sequence[str | Source],
    gold: Gold,
    *,
    threads: int = 0,
    folder: FilePath | None = None,
    resume: bool = False,
    log: Callable[[Record], object] | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Tuning:
    """Find weights that make the translations of a dev set as good as they can be.

    ``src`` and the references in ``gold`` are tokenised; for other options see ``Plan``. With a
    ``folder``, ``resume`` goes on after an interruption; ``log`` is called with the record of
    each round.
    """
    plan = Plan(**options)
    check_dev(src, gold)
    weights = dict(system.weights) if plan.start == "current" else flat(system.weights)
    facts = {"dev": _digest(src, gold), "decoder": _decoder_settings(system)}
    settings = {**plan.to_dict(), **facts}
    store = Folder(folder, settings, weights, resume=resume)
    job = _Job(
        system=system,
        src=list(src),
        plan=plan,
        threads=threads or os.cpu_count() or 1,
        objective=Objective(plan.metric, gold, plan.options),
        space=Space.of(
            store.start,
            fixed=plan.fixed,
            free=plan.free,
            ranges=plan.ranges,
            nonnegative=getattr(system, "nonnegative", ()),
        ),
        store=store,
        log=log,
        progress=progress,
    )
    return job.run(settings)


def make_tuner(method: str | Tuner, threads: int = 1, **options: Any) -> Tuner:
    """The method of this name; options it does not have are refused."""
    if not isinstance(method, str):
        return method
    if method not in METHODS:
        raise ArgumentError(f"method: found `{method}`; expected {', '.join(METHODS)}")
    tuner_class = METHODS[method]
    known = [option.name for option in fields(tuner_class)]
    for name in options:
        if name not in known:
            wanted = ", ".join(option for option in known if option != "threads")
            raise ArgumentError(f"{name}: no option of {method}; expected some of {wanted}")
    if "threads" in known:
        options["threads"] = threads
    tuner: Tuner = tuner_class(**options)
    return tuner


def _decoder_settings(system: Decodes) -> Any:
    to_dict = getattr(getattr(system, "settings", None), "to_dict", None)
    return to_dict() if to_dict else None


def _digest(src: Sequence[str | Source], gold: Gold) -> str:
    """What tells dev sets apart."""
    lines = [line if isinstance(line, str) else factored(line.sentence) for line in src]
    text = json.dumps([lines, *map(list, gold.refs), gold.ref_links, gold.weights])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass
class _Job:
    """One call of ``tune``."""

    system: Decodes
    src: list[str | Source]
    plan: Plan
    threads: int
    objective: Objective
    space: Space
    store: Folder
    log: Callable[[Record], object] | None
    progress: Progress | None
    #: What the first round decoded, which all runs begin with, unless a folder keeps it.
    first: Decoded | None = None
    #: Dev scores of all weights decoded so far.
    scores: dict[frozenset[tuple[str, float]], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tuner = make_tuner(self.plan.method, self.threads)

    def run(self, settings: dict[str, Any]) -> Tuning:
        """Do all runs, and choose the weights."""
        runs, names = self.plan.runs, self.space.names
        weights = _as_dict(names, self.space.inside(_as_vector(names, self.store.start)))
        records: list[Record] = []
        ends = []
        for number in range(1, runs + 1):
            end, done = self._ended(number) or self._one(number, weights)
            ends.append(end)
            records += done
        chosen, score, averaged = self._settled(ends)
        self.store.write_log()
        return Tuning(
            weights=chosen,
            before=records[0]["score"],
            after=score,
            averaged=averaged,
            runs=tuple(ends),
            rounds=tuple(records),
            signature=self.objective.signature,
            settings=settings,
            at_bound=tuple(self.space.at_bound(chosen)),
        )

    def _settled(self, ends: Sequence[Run]) -> tuple[dict[str, float], float, int]:
        """Return the weights with the best dev score, that score, and how many runs they average.

        Candidates are the weights of the best run and the means of the two, three, ... best.
        """
        best = sorted(ends, key=lambda run: -run.score)
        settled: list[tuple[float, int, dict[str, float]]] = []
        notes = self.store.notes(0)
        for count in range(1, len(best) + 1):
            mean = average([run.weights for run in best[:count]])
            mean = _as_dict(list(mean), self.space.normalised(np.array(list(mean.values()))))
            score = best[0].score if count == 1 else self._noted(notes, f"mean {count}", mean)
            settled.append((score, count, mean))
        notes.clear()
        score, count, mean = max(settled, key=lambda one: one[:2])
        return mean, score, count

    def _ended(self, run: int) -> tuple[Run, list[Record]] | None:
        """A run that came to its end before an interruption."""
        known = self.store.ended(run)
        if known is None:
            return None
        end, done = known
        for record in done:
            self._tell(record)
        return Run(**end), done

    def _one(self, run: int, weights: dict[str, float]) -> tuple[Run, list[Record]]:
        """One run: where it ended, and its rounds."""
        done: list[Record] = []
        while not (done and done[-1]["stop"]):
            known = self.store.record(run, len(done) + 1)
            if known is None:
                break
            done.append(known)
            self._tell(known)
        if not (done and done[-1]["stop"]):
            self._go_on(run, weights, done)
        end = self._end(run, done)
        self.store.end(run, asdict(end), done)
        return end, done

    def _go_on(self, run: int, weights: dict[str, float], done: list[Record]) -> None:
        """The rounds that are missing."""
        pool = Pool(list(self.system.weights), Measured(self.objective))
        for number in range(1, len(done) + 1):
            decoded = self.store.decoded(run, number)
            if decoded is None:
                raise FormatError(
                    f"{self.store.path}: the n-best lists of run {run}, round {number} are gone; "
                    "expected those of all rounds; start again without --resume"
                )
            pool.restore(decoded.fresh)
        while not (done and done[-1]["stop"]):
            weights = done[-1]["next"] if done else weights
            done.append(self._round(run, len(done) + 1, weights, pool, done))
            self._tell(done[-1])

    def _tell(self, record: Record) -> None:
        self.scores[frozenset(record["weights"].items())] = record["score"]
        LOG.info("run %(run)d, round %(round)d: dev score %(score).2f", record)
        if self.log is not None:
            self.log(record)

    def _round(
        self, run: int, number: int, weights: dict[str, float], pool: Pool, done: list[Record]
    ) -> Record:
        decoded = self._decoded(run, number, weights, pool)
        give_back()  # the n-best lists are gone
        score, count = decoded.score, len(decoded.fresh)
        clock = time.perf_counter()
        if pool.sparse is not None and not self.tuner.takes_sparse:
            what = "dense ones only; tune sparse features by pro or mira"
            raise ArgumentError(f"method: found sparse features; expected {what}")
        point = _as_vector(pool.names, weights)
        known = [*done, {"weights": weights, "score": score}]
        known.sort(key=lambda record: -record["score"])
        points = [_as_vector(pool.names, record["weights"]) for record in known]
        seed = (self.plan.seed, run, number)
        notes = self.store.notes(run, number)
        target = self.tuner.optimise(pool, self.space, points, seed, notes)
        # Lists that bring nothing new can be trusted: then it goes the whole way, or it is there.
        is_there = not count and pool.score(target) <= pool.score(point) + STILL
        keep = self.plan.keep if count else 0
        better = point if is_there else self._towards(points[0], target, keep)
        moved = float(np.abs(better - point).max())
        stop = "no new candidates" if is_there else "weights stand still" if moved < STILL else ""
        if not stop and _is_idle(
            [*(record["score"] for record in done), score], self.plan.patience
        ):
            stop = f"no better for {self.plan.patience} rounds"
        if not stop and number == self.plan.rounds:
            stop = "enough rounds"
        record = {
            **{"run": run, "round": number, "weights": weights, "score": score},
            **{"next": _as_dict(pool.names, better), "pool_score": pool.score(better)},
            **{"candidates": len(pool), "new": count, "moved": moved, "stop": stop},
            "seconds": {
                "decode": decoded.seconds,
                "optimise": round(time.perf_counter() - clock, 3),
            },
        }
        self.store.save(record)
        return record

    def _towards(self, best: Vector, target: Vector, keep: float) -> Vector:
        """A part of the way from the best weights so far to those the method found."""
        put = self.space.normalised
        return put(keep * put(best) + (1 - keep) * put(target))

    def _decoded(self, run: int, number: int, weights: dict[str, float], pool: Pool) -> Decoded:
        """Decode the dev set, unless that was done before, and add what is new to the pool."""
        known = (self.first if number == 1 else None) or self.store.decoded(run, number)
        if known is not None:
            pool.restore(known.fresh)
            return known
        clock = time.perf_counter()
        lists = self._decode(weights, self.plan.nbest, (run, number))
        seconds = round(time.perf_counter() - clock, 3)
        decoded = Decoded(self._score(lists), seconds, pool.add(lists))
        self.store.keep(run, number, decoded)
        if number == 1 and self.store.path is None:
            self.first = decoded
        return decoded

    def _end(self, run: int, done: list[Record]) -> Run:
        """The weights that count of a run, with their score."""
        weights, stop = done[-1]["next"], done[-1]["stop"]
        last = Run(weights, self._noted(self.store.notes(run), "end", weights), stop)
        best = max(done, key=lambda record: record["score"])
        if self.plan.choose == "last" or best["score"] <= last.score:
            return last
        return Run(best["weights"], best["score"], last.stop)

    def _noted(self, notes: Notes, name: str, weights: dict[str, float]) -> float:
        """The dev score of weights; no weights are decoded twice, whatever the run."""
        known = notes.get(name)
        if known is None:
            point = frozenset(weights.items())
            if point not in self.scores:
                self.scores[point] = self._score(self._decode(weights, 1))
            known = self.scores[point]
            notes.put(name, known)
        return float(known)

    def _decode(
        self, weights: dict[str, float], size: int, kept: tuple[int, int] | None = None
    ) -> Sequence[Nbest]:
        """N-best lists of the dev set, some sentences at a time: derivations take much room.

        What is decoded is kept as blocks of the run and round ``kept``, and not decoded again.
        """
        system = self.system.with_weights(weights)
        lists: list[Nbest] = []
        size_of_block = getattr(system, "block", BLOCK)
        while len(lists) < len(self.src):
            start = len(lists)  # blocks that are kept may be of another size
            end = start + size_of_block
            block = self.store.block(*kept, start) if kept else None
            if block is None:
                listed = system.nbest(
                    self.src[start:end],
                    size=size,
                    distinct=self.plan.distinct,
                    links=self.objective.needs_links,
                    threads=self.threads,
                    progress=self._progress_from(start),
                )
                block = [compact(nbest) for nbest in listed]
                if kept and end < len(self.src):
                    self.store.keep_block(*kept, start, block)
            lists += block
        return lists

    def _progress_from(self, start: int) -> Progress | None:
        """Tells of sentences of the whole dev set, from those after ``start``."""
        tell = self.progress
        return None if tell is None else lambda done, _: tell(start + done, len(self.src))

    def _score(self, lists: Sequence[Nbest]) -> float:
        """The metric of the first candidates, as ``wayword evaluate`` computes it."""
        links = [getattr(nbest, "links", None) for nbest in lists]
        rows = self.objective.rows(
            range(len(lists)),
            [nbest.texts[0] for nbest in lists],
            None if None in links else [nbest[0] for nbest in links if nbest is not None],
        )
        return self.objective.exact(rows.sum(axis=0))


def _is_idle(scores: Sequence[float], patience: int) -> bool:
    """Whether the last rounds brought nothing.

    >>> _is_idle([20.0, 24.0, 23.0, 24.01], patience=2), _is_idle([20.0, 24.0, 24.1], patience=2)
    (True, False)
    """
    before, last = scores[:-patience], scores[-patience:]
    return bool(before) and max(last) < max(before) + BETTER


def _as_vector(names: Sequence[str], weights: Mapping[str, float]) -> Vector:
    return np.array([weights.get(name, 0.0) for name in names])


def _as_dict(names: Sequence[str], point: Vector) -> dict[str, float]:
    return dict(zip(names, point.tolist(), strict=True))
