"""What a node does for a run: make one stage or shard, and spread the shards of a stage.

In: an ``Order``. Out: a ``Report``: the result, and what was logged.
How: ``perform`` is the one function that Ray calls. It makes the stage by the store of one machine
(``wayword.store``), in a folder under a name of this attempt, so that a lost attempt disturbs no
other; a stage that spreads becomes the owner of further tasks. Messages name files as the driver
knows them.
Not: user code; what is called are the functions of stages, imported by their names.
"""

import json
import logging
import shutil
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from wayword import __version__
from wayword.cluster.hearing import Told, retell, told_name
from wayword.cluster.place import Place, Site
from wayword.errors import MismatchError, WaywordError
from wayword.stage import Cost, Result, Stage, filled
from wayword.store import DONE, Store
from wayword.types import Progress

__all__ = ["Order", "Report", "look", "perform", "tidy"]

log = logging.getLogger(__name__)

RETRIES = 20  # nodes that a task may lose
AHEAD = 2  # shards that are sent for each other task that can run at a time
PATIENCE = 2  # times as long as for its slowest shard a stage keeps its CPUs while it waits
LATE = 4  # times as long as the slowest shard took, others are waited for
PACE = 1.0  # seconds between two words about progress
BEAT = 5.0  # seconds between two signs of life
WAIT = 0.5  # seconds between two looks at what nodes tell


@dataclass(frozen=True)
class Order:
    """A stage to be made; ``folder`` is where, seen from the root of the run."""

    site: Site
    stage: Stage
    inputs: Any
    folder: str = ""
    #: whether the driver listens meanwhile
    is_heard: bool = False


@dataclass(frozen=True)
class Report:
    """A stage that was made, and what was logged about it."""

    result: Any
    attempt: str
    told: tuple[Told, ...]


def perform(order: Order) -> Report:
    """Make a stage on this node, unless an earlier attempt did."""
    import ray

    _check_version(order.site)
    node = ray.get_runtime_context().get_node_id()
    place = Place.of_node(order.site, node)
    voice = _Voice(place, told_name(order.stage) if order.is_heard else "", node)
    try:
        with voice.listening():
            place.root.mkdir(mode=0o700, exist_ok=True)  # a node's own, with storage
            inputs = place.receive(order.inputs)
            result = Workbench(place, order, voice.progress).made(order.stage, inputs)
    except WaywordError as error:
        raise type(error)(place.named(str(error))) from None
    except OSError as error:
        if error.filename is not None:
            error.filename = place.named(str(error.filename))
        raise
    return Report(place.send_result(result), voice.attempt, tuple(voice.told))


def look(site: Site) -> bool:
    """Whether this node can take part; it has the version of the driver, or this fails."""
    import ray

    _check_version(site)
    return Place.of_node(site, ray.get_runtime_context().get_node_id()).is_seen()


def tidy(site: Site) -> None:
    """Remove what the run left on this node."""
    import ray

    place = Place.of_node(site, ray.get_runtime_context().get_node_id())
    if place.objects is not None:
        shutil.rmtree(place.root, ignore_errors=True)


def _check_version(site: Site) -> None:
    if __version__ != site.version:
        import ray

        where = ray.util.get_node_ip_address()
        found = f"found wayword {__version__}; expected {site.version}, as where the run began"
        raise MismatchError(f"node {where}: {found}; install the same version on all nodes")


class Workbench(Store):
    """Makes stages on a node; their shards become tasks."""

    def __init__(self, place: Place, order: Order, progress: Progress | None) -> None:
        site = order.site
        folder = place.root / order.folder
        super().__init__(folder, threads=site.threads, progress=progress, width=site.width)
        folder.mkdir(parents=True, exist_ok=True)
        self._place, self._site = place, site
        self._spent = Cost(0.0, 0.0, 0.0)  # by shards, in other processes

    def made(self, stage: Stage, inputs: Mapping[str, Any]) -> Result:
        """The result of a stage, made now or by an attempt before."""
        path = self._path(stage)
        self._place.fetch_stage(path)
        known = self.kept(stage)
        if known is not None:
            return replace(known, reused=False)
        self._place.remove(path)  # what is damaged
        return self.make(stage, inputs)

    def _begun(self, stage: Stage) -> Path:
        usual = super()._begun(stage)
        # A lost attempt may still be writing.
        return usual if stage.resumes else usual.with_suffix(f".{uuid4().hex[:8]}.part")

    def _put(self, part: Path, path: Path) -> None:
        try:
            part.rename(path)
        except OSError:  # another attempt was quicker; it made the same
            if not (path / DONE).is_file():
                raise
            shutil.rmtree(part)

    def _cost(self, measured: Cost) -> Cost:
        cpu = round(measured.cpu + self._spent.cpu, 2)
        return replace(measured, cpu=cpu, memory=max(measured.memory, self._spent.memory))

    def _drop_shards(self, stage: Stage) -> None:
        self._place.remove(self._shards(stage))

    @contextmanager
    def _spread(self, stage: Stage, shards: Sequence[Stage]) -> Iterator[list[Result]]:
        results = self._run_shards(self._shards(stage), shards)
        yield results
        for result in results:
            self._place.remove(result.path)

    def _run_shards(self, folder: Path, shards: Sequence[Stage]) -> list[Result]:
        from wayword.cluster.crew import Crew

        name = folder.relative_to(self._place.root).as_posix()
        waiting = deque({shard.key: shard for shard in shards}.values())
        total, results = len(waiting), dict[str, Result]()
        shift = _Shift()
        with Crew(self._site, self._place) as crew:
            while len(results) < total:
                # The last shard, and those for which others have no room, are made here.
                while len(waiting) > 1 and len(crew.orders) < AHEAD * (self._site.slots - 1):
                    shard = waiting.popleft()
                    crew.send(Order(self._site, shard, self._place.send(shard.inputs, {}), name))
                late = None if waiting else crew.overdue(shift.patience(self._site))
                if waiting or late is not None:
                    shard = waiting.pop() if late is None else late.stage
                    here = Workbench(self._place, Order(self._site, shard, None, name), None)
                    with shift.working():
                        results[shard.key] = here.made(shard, filled(shard.inputs, {}))
                if late is not None:
                    log.warning("%s: a node did not answer; it was made by another", shard.name)
                    crew.drop(shard.key)
                if crew.orders:
                    for key, report in crew.done(wait=not waiting, hold=shift.is_short):
                        results[key] = self._taken(report)
                        shift.saw(results[key].cost.seconds)
                if self.progress is not None:
                    self.progress(len(results), total)
        return [results[shard.key] for shard in shards]

    def _taken(self, report: Report) -> Result:
        """The result of a shard, here; what it logged is logged here, what it took added up."""
        retell(report.told)
        result: Result = self._place.receive(report.result)
        cpu, memory = result.cost.cpu, result.cost.memory
        self._spent = Cost(0.0, self._spent.cpu + cpu, max(self._spent.memory, memory))
        return result


class _Shift:
    """How long a stage worked on shards itself, and how long it has been waiting since."""

    def __init__(self) -> None:
        self._slowest, self._ended = 0.0, time.monotonic()

    @contextmanager
    def working(self) -> Iterator[None]:
        start = time.monotonic()
        yield
        self._ended = time.monotonic()
        self._slowest = max(self._slowest, self._ended - start)

    def saw(self, seconds: float) -> None:
        """Note how long a shard took elsewhere."""
        self._slowest = max(self._slowest, seconds)

    def patience(self, site: Site) -> float:
        """Seconds after which a shard that was sent is made here: its node may be frozen."""
        return max(site.patience, LATE * self._slowest)

    @property
    def is_short(self) -> bool:
        """Whether others may still need what this process needed: then its CPUs are kept.

        Later they are given away: perhaps all others wait for CPUs as well.
        """
        return time.monotonic() - self._ended < PATIENCE * self._slowest


class _Voice(logging.Handler):
    """Progress and log of a task, noted for whoever asked for it."""

    def __init__(self, place: Place, name: str, node: str) -> None:
        super().__init__(logging.INFO)
        self._place, self._name = place, name
        self._said = 0.0
        self._lock = threading.Lock()
        self.attempt = uuid4().hex
        self._state: dict[str, Any] = {"node": node, "attempt": self.attempt}
        self.told: list[Told] = []

    @contextmanager
    def listening(self) -> Iterator[None]:
        logger = logging.getLogger("wayword")
        level = logger.level
        logger.setLevel(logging.INFO)
        logger.addHandler(self)
        is_over = threading.Event()
        alive = threading.Thread(target=self._beat, args=(is_over,), daemon=True)
        try:
            self._say()
            if self._name:
                alive.start()
            yield
        finally:
            is_over.set()
            if alive.is_alive():
                alive.join()
            logger.removeHandler(self)
            logger.setLevel(level)

    def _beat(self, is_over: threading.Event) -> None:
        """Tell from time to time that this process is there."""
        beats = 0
        while not is_over.wait(BEAT):
            beats += 1
            self._state["beats"] = beats
            self._say()

    def progress(self, done: int, total: int) -> None:
        """Called by stages."""
        self._state["progress"] = [done, total]
        if time.monotonic() - self._said >= PACE:
            self._say()

    def emit(self, record: logging.LogRecord) -> None:
        """Note what is logged, but for every stage and shard that begins or ends."""
        if record.name == "wayword.store" and record.levelno < logging.WARNING:
            return
        args = record.args if isinstance(record.args, Mapping) else None
        text = record.msg if args is not None else record.getMessage()
        told = {"name": record.name, "level": record.levelno, "text": str(text), "args": args}
        self.told.append(json.loads(json.dumps(told, default=str)))
        self._say()

    def _say(self) -> None:
        if not self._name:
            return
        with self._lock:
            self._said = time.monotonic()
            self._place.write(self._name, json.dumps({**self._state, "told": self.told}).encode())
