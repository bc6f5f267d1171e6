"""Remembers the results of long work, so that nothing is done twice and nothing is half-done.

In: a folder, and stages: a name, settings, and the keys of what goes in. Out: for each stage a
folder of its own, made once. The key of a stage is a digest of its name, its settings and its
inputs, so whatever is changed, only what depends on it is made again.
How: a stage works in a folder with a temporary name, which is renamed when all is done; kill the
process at any moment, and the next one finds only whole stages. Files left over are removed.
Cost: the digest of input files, once a run.
Not: removing old results; delete the folder to get the room back.

>>> import tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> def count(out):
...     (out / "number").write_text("3")
...     return {"lines": 3}
>>> with Store(folder.name) as store:
...     first = store.stage("count", count, settings={"fast": True})
...     again = store.stage("count", count, settings={"fast": True})
>>> first.facts, first.reused, again.reused
({'lines': 3}, False, True)
>>> folder.cleanup()
"""

import hashlib
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from wayword import __version__
from wayword.corpus.files import FilePath, new_file
from wayword.errors import WaywordError

if TYPE_CHECKING:
    from types import TracebackType

try:
    import fcntl
    import resource
except ImportError:  # another system than Unix: no lock, and less is known of memory
    fcntl = resource = None  # type: ignore[assignment]

__all__ = ["Cost", "Stage", "Store", "link_or_copy"]

DONE = "stage.json"
LOG = "log.jsonl"
LOCK = "lock"
KEY = 16  # hex digits
Make = Callable[[Path], Mapping[str, Any] | None]


@dataclass(frozen=True)
class Cost:
    """What a stage took: wall and CPU seconds, and the most memory the process had, in MB."""

    seconds: float
    cpu: float
    memory: float


@dataclass(frozen=True)
class Stage:
    """A finished stage: where its files are, and what it said about them."""

    name: str
    key: str
    path: Path
    facts: Mapping[str, Any]
    cost: Cost
    reused: bool

    def __truediv__(self, name: str) -> Path:
        return self.path / name


class Store:
    """A folder of finished stages. Used in a ``with`` block, by one process at a time."""

    def __init__(
        self, folder: FilePath, *, watch: Callable[[str, Stage | None], object] | None = None
    ) -> None:
        """``watch`` is called with the name of each stage before it, and with it when done."""
        self.folder = Path(folder)
        self.stages: list[Stage] = []
        self._watch = watch or _unwatched
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

    def stage(
        self,
        name: str,
        make: Make,
        *,
        settings: Mapping[str, Any] | None = None,
        inputs: Sequence[str] = (),
    ) -> Stage:
        """The result of ``make``, from the folder or made now in a folder of its own.

        What ``make`` returns is kept as facts; like its files, it must follow from settings and
        inputs alone.
        """
        recipe = {"stage": name, "settings": dict(settings or {}), "inputs": list(inputs)}
        key = _digest({**recipe, "version": __version__})
        path = self.folder / f"{name}-{key}"
        self._watch(name, None)
        done = _read(path / DONE)
        if done is not None:
            cost = Cost(**done["cost"])
            return self._finished(Stage(name, key, path, done["facts"], cost, reused=True))
        part = self.folder / f".{path.name}.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        clock = _Clock()
        facts = dict(make(part) or {})
        cost = clock.read()
        with new_file(part / DONE) as file:
            json.dump({**recipe, "facts": facts, "cost": asdict(cost)}, file, ensure_ascii=False)
        part.rename(path)
        return self._finished(Stage(name, key, path, facts, cost, reused=False))

    def _finished(self, stage: Stage) -> Stage:
        self.stages.append(stage)
        line = {"stage": stage.name, "key": stage.key, "reused": stage.reused}
        with (self.folder / LOG).open("a", encoding="utf-8") as log:
            shown = {**line, **asdict(stage.cost), "facts": dict(stage.facts)}
            print(json.dumps(shown, ensure_ascii=False), file=log)
        self._watch(stage.name, stage)
        return stage


def _unwatched(_name: str, _stage: Stage | None) -> None:
    """Nobody looks on."""


def _digest(recipe: Any) -> str:
    text = json.dumps(recipe, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:KEY]


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
