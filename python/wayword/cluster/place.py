"""Where a process of a run keeps its files, and how other nodes get at them.

In: what the driver says of a run (``Site``). Out: a ``Place`` for this process.
How: without storage, the driver's ``work`` folder is seen by all nodes under the same path, and a
path says everything. With storage, each node has a folder of its own; what is sent are names, and
what is received is fetched first.
Cost: with storage, one copy of what a node needs, removed when the run ends.
"""

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wayword.cluster.objects import Objects
from wayword.stage import File, Input, Result, Stage
from wayword.store import LOCK

__all__ = ["Place", "Sent", "Site"]


@dataclass(frozen=True)
class Site:
    """What all tasks of a run have in common."""

    #: the driver's folder; that of all nodes, unless there is storage
    root: str
    #: a URL for fsspec, or empty
    storage: str
    #: tells this run from others
    run: str
    #: the version of wayword that the driver has
    version: str
    #: CPUs of a task, tasks that can run at a time, shards of a stage
    threads: int
    slots: int
    width: int
    #: seconds without a word after which a task is given to somebody else
    patience: float


@dataclass(frozen=True)
class Sent:
    """A file, or a finished stage, on storage; ``origin`` is what its sender calls it."""

    name: str
    origin: str
    digest: str = ""
    result: Result | None = None


class Place:
    """The files of a run as one process sees them."""

    def __init__(self, root: Path, objects: Objects | None) -> None:
        self.root = root
        self.objects = objects
        #: what others call the files that were fetched, for messages
        self.origins: dict[str, str] = {}

    @classmethod
    def of_driver(cls, site: Site) -> "Place":
        """That of the process which began the run."""
        return cls(Path(site.root), Objects(site.storage) if site.storage else None)

    @classmethod
    def of_node(cls, site: Site, node: str) -> "Place":
        """That of a task on a node of this name."""
        if not site.storage:
            return cls.of_driver(site)
        root = Path(tempfile.gettempdir()) / f"wayword-{site.run}-{node[:12]}"
        place = cls(root, Objects(site.storage))
        place.origins[str(root)] = site.root
        return place

    def send(self, inputs: Input, results: Mapping[str, Result]) -> Any:
        """The inputs of a stage for another node: their shape, with what is needed to get them."""
        if isinstance(inputs, Stage):
            return self.send_result(results[inputs.key])
        if isinstance(inputs, Result):
            return self.send_result(inputs)
        if isinstance(inputs, File):
            return self._send_file(inputs)
        if isinstance(inputs, Mapping):
            return {name: self.send(part, results) for name, part in inputs.items()}
        return [self.send(part, results) for part in inputs]

    def send_result(self, result: Result) -> Any:
        """A finished stage for another node."""
        if self.objects is None:
            return result
        name = result.path.relative_to(self.root).as_posix()
        if not self.objects.has_stage(name):
            self.objects.put_stage(result.path, name)
        return Sent(name, str(result.path), result=result)

    def _send_file(self, file: File) -> Any:
        path = file.path.resolve()
        if self.objects is None:
            return path
        name = f"files/{file.key[:16]}/{path.name}"
        if not self.objects.has(name):
            self.objects.put_file(path, name)
        return Sent(name, str(file.path), digest=file.key)

    def receive(self, sent: Any) -> Any:
        """What ``send`` sent, with results and paths of this node."""
        if isinstance(sent, Sent):
            return self._fetched(sent)
        if isinstance(sent, Mapping):
            return {name: self.receive(part) for name, part in sent.items()}
        return [self.receive(part) for part in sent] if isinstance(sent, list) else sent

    def _fetched(self, sent: Sent) -> Any:
        assert self.objects is not None, "sent through storage"
        path = self.root / sent.name
        self.origins[str(path)] = sent.origin
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            if sent.result is None:
                self.objects.get_file(sent.name, path, sent.digest)
            else:
                self.objects.get_stage(sent.name, path)
        return path if sent.result is None else replace(sent.result, path=path)

    def fetch_stage(self, path: Path) -> None:
        """Fetch a stage that a run before left on storage, unless it is here."""
        name = path.relative_to(self.root).as_posix()
        if self.objects is not None and not path.exists() and self.objects.has_stage(name):
            self.objects.get_stage(name, path)

    def remove(self, path: Path) -> None:
        """Take away a file or folder of this place, on storage too."""
        if self.objects is not None:
            self.objects.remove(path.relative_to(self.root).as_posix())
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

    def write(self, name: str, data: bytes) -> None:
        """Leave a few bytes for the driver."""
        if self.objects is not None:
            self.objects.write(name, data)
            return
        aside = self.root / f"{name}.aside.part"
        aside.write_bytes(data)
        aside.replace(self.root / name)

    def read(self, name: str) -> bytes | None:
        """The bytes that ``write`` left last; None when there are none."""
        if self.objects is not None:
            return self.objects.read(name)
        path = self.root / name
        return path.read_bytes() if path.is_file() else None

    def is_seen(self) -> bool:
        """Whether the folder of the run, or its storage, can be seen from here."""
        if self.objects is not None:
            return self.objects.has(LOCK)
        return (self.root / LOCK).exists()

    def named(self, message: str) -> str:
        """A message with the names that the driver knows instead of those of this node."""
        for here in sorted(self.origins, key=len, reverse=True):
            message = message.replace(here, self.origins[here])
        return message
