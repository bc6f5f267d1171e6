"""Runs stages on this machine and keeps their results, so that nothing is done twice or half-done.

In: a folder, and stages (``wayword.stage``). Out: for each stage a folder of its own, made once.
How: a stage works in a folder with a temporary name, which is renamed when all is done; kill the
process at any moment, and the next one finds only whole stages. Files left over are removed, but
for those of a stage that can go on with them (``Stage.resumes``).
``plan`` tells what would run and why, and changes nothing.
Not: removing old results; delete the folder to get the room back.

>>> import tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> def count(work):
...     (work.out / "number").write_text("3")
...     return {"lines": 3}
>>> stage = Stage("count", count, options={"fast": True})
>>> with Store(folder.name) as store:
...     [first] = store.run([stage])
>>> with Store(folder.name) as store:
...     [again] = store.run([stage])
>>> first.facts, first.reused, again.reused
({'lines': 3}, False, True)
>>> slow = Stage("count", count, options={"fast": False})
>>> for step in Store(folder.name).plan([stage, slow]):
...     print(step.stage.name, step.is_kept, step.why)
count True made before
count False fast: True before, now False
>>> folder.cleanup()
"""

import json
import logging
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from wayword.corpus.files import FilePath, new_file
from wayword.errors import WaywordError
from wayword.stage import Cost, Progress, Result, Stage, Watch, Work, filled, in_order

if TYPE_CHECKING:
    from types import TracebackType

try:
    import fcntl
    import resource
except ImportError:  # another system than Unix: no lock, and less is known of memory
    fcntl = resource = None  # type: ignore[assignment]

__all__ = ["Step", "Store", "link_or_copy"]

log = logging.getLogger(__name__)

DONE = "stage.json"
LOG = "log.jsonl"
LOCK = "lock"


@dataclass(frozen=True)
class Step:
    """What a run would do about a stage, and why."""

    stage: Stage
    is_kept: bool
    why: str


class Store:
    """A folder of finished stages. Used in a ``with`` block, by one process at a time."""

    def __init__(
        self,
        folder: FilePath,
        *,
        threads: int = 0,
        progress: Progress | None = None,
        watch: Watch | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.threads = threads
        self.progress = progress
        self._watch = watch or _unwatched
        self._results: dict[str, Result] = {}
        self._lock: IO[str] | None = None

    def __enter__(self) -> "Store":
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = (self.folder / LOCK).open("w")
        if fcntl is not None:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                self._lock.close()
                advice = "wait for it, or choose another folder"
                raise WaywordError(f"{self.folder}: another process works here; {advice}") from None
        for left_over in self.folder.glob(".*.part"):
            shutil.rmtree(left_over, ignore_errors=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: "TracebackType | None",
    ) -> None:
        if self._lock:
            self._lock.close()

    def run(self, stages: Sequence[Stage]) -> list[Result]:
        """The results of these stages, from the folder or made now."""
        for stage in in_order(stages):
            if stage.key not in self._results:
                self._watch(stage, None)
                result = self._kept(stage) or self._made(stage)
                self._results[stage.key] = result
                self._note(result)
                self._watch(stage, result)
        return [self._results[stage.key] for stage in stages]

    def plan(self, stages: Sequence[Stage]) -> list[Step]:
        """What ``run`` would do, in its order."""
        steps: list[Step] = []
        anew: dict[str, str] = {}
        for stage in in_order(stages):
            if _read(self._path(stage) / DONE) is not None:
                steps.append(Step(stage, is_kept=True, why="made before"))
                continue
            changed = sorted({anew[part.key] for part in stage.needs if part.key in anew})
            anew[stage.key] = stage.name
            steps.append(Step(stage, is_kept=False, why=self._why(stage, changed)))
        return steps

    def _why(self, stage: Stage, changed: Sequence[str]) -> str:
        """Why a stage is not there: what differs from the nearest that is."""
        before = [_read(path) for path in sorted(self.folder.glob(f"{stage.name}-*/{DONE}"))]
        recipes = [known for known in before if known is not None and "options" in known]
        if not recipes:
            return "never made"
        if changed:
            return f"{' and '.join(changed)} will be made anew"
        wanted = json.loads(json.dumps(stage.recipe))
        changes = sorted((list(_changes(known, wanted)) for known in recipes), key=len)
        return "; ".join(changes[0])

    def _path(self, stage: Stage) -> Path:
        return self.folder / f"{stage.name}-{stage.key}"

    def _begun(self, stage: Stage) -> Path:
        """Where a stage works until it is done; what is called ``part`` is removed later."""
        return self.folder / f".{self._path(stage).name}.{'begun' if stage.resumes else 'part'}"

    def _kept(self, stage: Stage) -> Result | None:
        path = self._path(stage)
        done = _read(path / DONE)
        if done is None:
            return None
        log.debug("%s: made before, %s", stage.name, path)
        cost = Cost(**done["cost"])
        return Result(stage.name, stage.key, path, done["facts"], cost, reused=True)

    def _made(self, stage: Stage) -> Result:
        path = self._path(stage)
        part = self._begun(stage)
        if not stage.resumes:
            shutil.rmtree(part, ignore_errors=True)
        part.mkdir(exist_ok=stage.resumes)
        inputs = filled(stage.inputs, self._results)
        log.info("%s: begins", stage.name)
        clock = _Clock()
        work = Work(stage.options, inputs, part, self.threads, self.progress)
        facts = dict(stage.make(work) or {})
        cost = clock.read()
        described = {**stage.recipe, "facts": facts, "cost": asdict(cost)}
        with new_file(part / DONE) as file:
            json.dump(described, file, ensure_ascii=False)
        part.rename(path)
        log.info("%s: %.1f s", stage.name, cost.seconds)
        return Result(stage.name, stage.key, path, facts, cost, reused=False)

    def _note(self, result: Result) -> None:
        line = {"stage": result.name, "key": result.key, "reused": result.reused}
        shown = {**line, **asdict(result.cost), "facts": dict(result.facts)}
        with (self.folder / LOG).open("a", encoding="utf-8") as file:
            print(json.dumps(shown, ensure_ascii=False), file=file)


def _unwatched(_stage: Stage, _result: Result | None) -> None:
    """Nobody looks on."""


def _changes(known: Mapping[str, Any], wanted: Mapping[str, Any]) -> Iterator[str]:
    """What differs between two recipes of one stage, for people."""
    if known.get("version") != wanted["version"]:
        yield f"its code is of version {wanted['version']}, before {known.get('version')}"
    before, now = dict(_flat(known["options"])), dict(_flat(wanted["options"]))
    for name in sorted({*before, *now}):
        if before.get(name) != now.get(name):
            yield f"{name}: {before.get(name)} before, now {now.get(name)}"
    if dict(_flat(known["inputs"])) != dict(_flat(wanted["inputs"])):
        yield "other input"


def _flat(values: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(values, Mapping):
        yield prefix.removesuffix("."), values
        return
    for name, value in values.items():
        yield from _flat(value, f"{prefix}{name}.")


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


class _Clock:
    """Time and memory from here to ``read``."""

    def __init__(self) -> None:
        _forget_peak()
        self._wall, self._cpu = time.monotonic(), _cpu()

    def read(self) -> Cost:
        seconds, cpu = time.monotonic() - self._wall, _cpu() - self._cpu
        return Cost(round(seconds, 2), round(cpu, 2), round(_peak(), 1))


def _cpu() -> float:
    if resource is None:
        return time.process_time()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _forget_peak() -> None:
    """Lets the system measure the peak anew; where it cannot, the peak is that of the process."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _peak() -> float:
    """The largest resident size in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    if resource is None:
        return float("nan")
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def link_or_copy(source: FilePath, target: FilePath) -> None:
    """Give a file a second name, whole or not at all; a copy where that cannot be."""
    target = Path(target)
    part = target.with_name(f".{target.name}.part")
    part.unlink(missing_ok=True)
    if target.exists() and target.samefile(source):
        return  # a rename onto another name of the same file would do nothing
    try:
        os.link(source, part)
    except OSError:
        shutil.copyfile(source, part)
    part.replace(target)
