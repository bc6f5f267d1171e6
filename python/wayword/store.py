"""Runs stages on this machine and keeps their results, so that nothing is done twice or half-done.

In: a folder, and stages (``wayword.stage``). Out: for each stage a folder of its own, made once.
How: a stage works in a folder with a temporary name, which is renamed when all is done; kill the
process at any moment, and the next one finds only whole stages. Files left over are removed, but
for those of a stage that can go on with them (``Stage.resumes``). The description of a stage has
the SHA-256 of its files: what is reused is read and compared, and made again, with a line in the
log, when a byte of it is missing or wrong.
``plan`` tells what would run and why, and changes nothing; it compares sizes, not bytes.
Cost: one read of what is reused.
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
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wayword.corpus.files import new_bytes, new_file, sha256
from wayword.errors import FormatError, WaywordError
from wayword.stage import Cost, Result, Stage, Watch, Work, filled, in_order
from wayword.types import FilePath, Progress

if TYPE_CHECKING:
    from types import TracebackType

try:
    import fcntl
    import resource
except ImportError:  # Windows: folders cannot be locked, and less is known of memory
    fcntl = resource = None  # type: ignore[assignment]

__all__ = ["Step", "Store", "copy_file", "locked"]

log = logging.getLogger(__name__)

DONE = "stage.json"
LOG = "log.jsonl"
LOCK = "lock"
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
CLONE = 0x40049409  # FICLONE of Linux: two files share their blocks until one is written to


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
        width: int = 1,
    ) -> None:
        """A stage may be made in as many as ``width`` shards, here one after the other."""
        self.folder = Path(folder)
        self.threads = threads
        self.width = width
        self.progress = progress
        self._watch = watch or _unwatched
        self._results: dict[str, Result] = {}
        self._lock: int | None = None

    def __enter__(self) -> "Store":
        self.folder.mkdir(parents=True, exist_ok=True)
        # Neither is what stands there cut, nor a link followed.
        flags = os.O_RDWR | os.O_CREAT | NO_FOLLOW
        self._lock = _held(os.open(self.folder / LOCK, flags, 0o644), self.folder)
        self._sweep()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: "TracebackType | None",
    ) -> None:
        if self._lock is not None:
            self._sweep()
            os.close(self._lock)
            self._lock = None

    def run(self, stages: Sequence[Stage]) -> list[Result]:
        """The results of these stages, from the folder or made now."""
        for stage in in_order(stages):
            if stage.key not in self._results:
                self._watch(stage, None)
                result = self.kept(stage) or self.make(stage, filled(stage.inputs, self._results))
                self._results[stage.key] = result
                self._note(result)
                self._watch(stage, result)
        return [self._results[stage.key] for stage in stages]

    def plan(self, stages: Sequence[Stage]) -> list[Step]:
        """What ``run`` would do, in its order."""
        steps: list[Step] = []
        anew: dict[str, str] = {}
        for stage in in_order(stages):
            done, _ = self._description(stage)
            if done is not None:
                steps.append(Step(stage, is_kept=True, why="made before"))
                continue
            changed = sorted({anew[part.key] for part in stage.needs if part.key in anew})
            anew[stage.key] = stage.name
            steps.append(Step(stage, is_kept=False, why=self._why(stage, changed)))
        return steps

    def _why(self, stage: Stage, changed: Sequence[str]) -> str:
        """Why a stage is not there: what differs from the nearest that is."""
        paths = sorted(self.folder.glob(f"{stage.name}-*/{DONE}"))
        before = [_read(path) for path in paths if path.parent != self._path(stage)]
        recipes = [known for known in before if isinstance(known, dict) and "options" in known]
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

    def _shards(self, stage: Stage) -> Path:
        """Where the shards of a stage are until it is done; what is whole there is used again."""
        return self.folder / f".{self._path(stage).name}.shards"

    def _description(self, stage: Stage) -> tuple[dict[str, Any] | None, str]:
        """What is noted of a stage that was made before; else None and what is wrong, if any."""
        path = self._path(stage)
        if not path.is_dir():
            return None, ""
        done = _read(path / DONE)
        try:
            recipe = {name: done[name] for name in stage.recipe}
            facts, _ = dict(done["facts"]), Cost(**done["cost"])
            sizes = {name: int(size) for name, (size, _) in done.get("files", {}).items()}
        except (KeyError, TypeError, ValueError, AttributeError):
            return None, f"{DONE} is missing or damaged"
        if recipe != _plain(stage.recipe):
            return None, f"{DONE} is that of another stage"
        for name, size in sizes.items():
            if _size(path / name) != size:
                return None, f"{name} is missing or of another size"
        return {**done, "facts": facts}, ""

    def kept(self, stage: Stage) -> Result | None:
        """A stage that was made before, every byte of it compared; None when it has to be made."""
        path = self._path(stage)
        done, wrong = self._description(stage)
        for name, (_, digest) in done.get("files", {}).items() if done else ():
            if sha256(path / name) != digest:
                done, wrong = None, f"{name} was changed or damaged"
                break
        if done is None:
            if wrong:
                log.warning("%s: %s: %s; it is made again", stage.name, path, wrong)
            return None
        if "files" not in done:
            log.info("%s: made by an older version, which noted no digests", stage.name)
        log.debug("%s: made before, %s", stage.name, path)
        cost = Cost(**done["cost"])
        return Result(stage.name, stage.key, path, done["facts"], cost, reused=True)

    def make(self, stage: Stage, inputs: Mapping[str, Any]) -> Result:
        """Make a stage of inputs that are there (see ``Work``), whatever was made before."""
        path = self._path(stage)
        log.info("%s: begins", stage.name)
        clock = _Clock()
        try:
            part, facts = self._work(stage, inputs)
        except Exception:
            self._drop_shards(stage)
            raise
        cost = self._cost(clock.read())
        described = {**stage.recipe, "facts": facts, "cost": asdict(cost), "files": _sums(part)}
        with new_file(part / DONE) as file:
            json.dump(described, file, ensure_ascii=False)
        self._put(part, path)
        self._drop_shards(stage)
        log.info("%s: %.1f s", stage.name, cost.seconds)
        return Result(stage.name, stage.key, path, facts, cost, reused=False)

    def _put(self, part: Path, path: Path) -> None:
        """Give a finished stage its name."""
        _remove(path)  # what is damaged
        part.rename(path)

    def _cost(self, measured: Cost) -> Cost:
        """What a stage took that took so much in this process."""
        return measured

    def _work(self, stage: Stage, inputs: Mapping[str, Any]) -> tuple[Path, dict[str, Any]]:
        """Do the work of a stage; the folder that holds it, and what it said."""
        part = self._begun(stage)
        if not stage.resumes or part.is_symlink() or not part.is_dir():
            _remove(part)
        goes_on = part.is_dir()
        part.mkdir(exist_ok=stage.resumes)
        spread, aside = partial(self._spread, stage), self._shards(stage) / "aside"
        room = (self.threads, self.progress, self.width, spread, aside, stage.memory)
        try:
            return part, dict(stage.make(Work(stage.options, inputs, part, *room)) or {})
        except FormatError as error:
            if not goes_on or str(part) not in str(error):
                raise
            # What an interrupted call left is damaged: the stage begins anew.
            log.warning("%s: %s; it is made again from its start", stage.name, error)
        _remove(part)
        return self._work(stage, inputs)

    @contextmanager
    def _spread(self, stage: Stage, shards: Sequence[Stage]) -> Iterator[list[Result]]:
        """The results of the shards of a stage, which are removed when they were used."""
        folder = self._shards(stage)
        folder.mkdir(exist_ok=True)
        results = self._run_shards(folder, shards)
        yield results
        for result in results:
            _remove(result.path)

    def _drop_shards(self, stage: Stage) -> None:
        """Remove all shards of a stage."""
        _remove(self._shards(stage))

    def _run_shards(self, folder: Path, shards: Sequence[Stage]) -> list[Result]:
        return Store(folder, threads=self.threads).run(shards)

    def _sweep(self) -> None:
        """Remove what stages left that failed, or were killed."""
        for left_over in self.folder.glob(".*.part"):
            _remove(left_over)

    def _note(self, result: Result) -> None:
        line = {"stage": result.name, "key": result.key, "reused": result.reused}
        shown = {**line, **asdict(result.cost), "facts": dict(result.facts)}
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | NO_FOLLOW
        with os.fdopen(
            os.open(self.folder / LOG, flags, 0o644), "a", encoding="utf-8", newline="\n"
        ) as file:
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
    """The values of a JSON file; None when it is not there or not one."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def _plain(recipe: Mapping[str, Any]) -> Any:
    """A recipe as it comes back from a file."""
    return json.loads(json.dumps(recipe))


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() and not path.is_symlink() else None


def _sums(folder: Path) -> dict[str, tuple[int, str]]:
    """Size and SHA-256 of all files of a finished stage."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != DONE)
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_size, sha256(path)) for path in paths
    }


def _remove(path: Path) -> None:
    """Take away whatever stands there; a link, not what it leads to."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _held(lock: int, folder: Path) -> int:
    """An open file, locked until it is closed; refuses when another process has the lock."""
    try:
        if fcntl is None:
            _lock_on_windows(lock)
        else:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # what the two systems call a lock that is taken
        os.close(lock)
        advice = "wait for it, or choose another folder"
        raise WaywordError(f"{folder}: another process works here; {advice}") from None
    except OSError as error:  # a file system without locks
        log.warning("%s: cannot be locked (%s); use it in one process", folder, error.strerror)
    return lock


def _lock_on_windows(lock: int) -> None:
    """Lock the first byte of a file, which may be empty."""
    from importlib import import_module

    windows = import_module("msvcrt")
    windows.locking(lock, windows.LK_NBLCK, 1)


def _stand_in(folder: FilePath) -> Path:
    """A file of this machine that is the same for all processes that mean the folder."""
    from hashlib import sha256 as digest
    from tempfile import gettempdir

    name = digest(str(Path(folder).resolve()).encode()).hexdigest()[:16]
    return Path(gettempdir(), f"wayword-{name}.lock")


@contextmanager
def locked(folder: FilePath) -> Iterator[None]:
    """Keep other processes from changing a system folder meanwhile; it must be there.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, locked(folder), locked(folder):
    ...     pass
    Traceback (most recent call last):
    ...
    wayword.errors.WaywordError: ...: another process works here; wait for it, or choose another...
    """
    if fcntl is None:  # Windows opens no folders; a file elsewhere stands for this one
        opened = os.open(_stand_in(folder), os.O_RDWR | os.O_CREAT, 0o600)
    else:
        opened = os.open(folder, os.O_RDONLY)
    lock = _held(opened, Path(folder))
    try:
        yield
    finally:
        os.close(lock)


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
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def _peak() -> float:
    """The largest resident size in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    if resource is None:
        return float("nan")
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def copy_file(source: FilePath, target: FilePath) -> None:
    """Copy a file, whole or not at all.

    Where the file system can, the copy takes no room until one of the two is changed; a change of
    one is never one of the other.
    """
    with Path(source).open("rb") as old, new_bytes(target) as new:
        if fcntl is not None:
            with suppress(OSError):
                fcntl.ioctl(new.fileno(), CLONE, old.fileno())
                return
        shutil.copyfileobj(old, new, 1 << 20)


def alias(path: Path, name: Path) -> None:
    """Another name for a file; a copy where links are not allowed, as on Windows by default."""
    try:
        name.symlink_to(path)
    except OSError:
        copy_file(path, name)
