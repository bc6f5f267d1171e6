"""Files of finished stages on object storage, or wherever ``fsspec`` can write.

In: a URL such as ``s3://bucket/folder`` or ``file:///mnt/share``. Out: folders of stages, and files
by their digest, which any node fetches.
How: the description of a stage (``stage.json``) is written last and names its other files with
their digests: a stage without it is not there, and what is fetched is compared. A folder appears
under its name when all of it was fetched.
Cost: each node fetches what it needs once.
Not: locks; one driver at a time uses a URL.

>>> from wayword.corpus.files import temp_folder
>>> with temp_folder() as folder:
...     _ = (folder / "text").write_text("Haus")
...     there = Objects("memory://doctest")
...     there.put_file(folder / "text", "files/1/text")
...     there.get_file("files/1/text", folder / "fetched", sha256(folder / "text"))
...     (folder / "fetched").read_text()
'Haus'
"""

import json
import shutil
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import uuid4

from wayword.corpus.files import sha256
from wayword.errors import ArgumentError, FormatError, WaywordError
from wayword.store import DONE

__all__ = ["Objects"]


class Objects:
    """What is kept under a URL."""

    def __init__(self, url: str) -> None:
        try:
            import fsspec

            self._system, self._root = fsspec.core.url_to_fs(url)
        except ImportError as error:
            advice = "install it with `pip install wayword[cluster]`, and what the URL needs"
            raise WaywordError(f"{url}: {error}; {advice}") from None
        except ValueError as error:
            expected = "a URL that fsspec knows, such as s3://bucket/folder"
            raise ArgumentError(
                f"--storage: found `{url}` ({error}); expected {expected}"
            ) from None

    def _path(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    def has_stage(self, name: str) -> bool:
        """Whether a stage is there, whole."""
        return bool(self._system.exists(self._path(f"{name}/{DONE}")))

    def has(self, name: str) -> bool:
        """Whether a file is there."""
        return bool(self._system.exists(self._path(name)))

    def put_file(self, path: Path, name: str) -> None:
        """Store a file."""
        target = self._path(name)
        self._system.makedirs(str(PurePosixPath(target).parent), exist_ok=True)
        self._system.put_file(str(path), target)

    def get_file(self, name: str, path: Path, digest: str) -> None:
        """Fetch a file, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{path.name}.{uuid4().hex[:8]}.part")
        try:
            self._system.get_file(self._path(name), str(aside))
            if sha256(aside) != digest:
                found = "found other bytes than were stored"
                raise FormatError(f"{self._path(name)}: {found}; delete it, and it is made again")
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)

    def put_stage(self, folder: Path, name: str) -> None:
        """Store a finished stage, its description last."""
        for file in _described(folder / DONE):
            self.put_file(folder / file, f"{name}/{file}")
        self.put_file(folder / DONE, f"{name}/{DONE}")

    def get_stage(self, name: str, folder: Path) -> None:
        """Fetch a finished stage, whole or not at all; it may be fetched by others meanwhile."""
        aside = folder.with_name(f".{folder.name}.{uuid4().hex[:8]}.part")
        aside.mkdir(parents=True)
        try:
            self._system.get_file(self._path(f"{name}/{DONE}"), str(aside / DONE))
            for file, (_, digest) in _described(aside / DONE).items():
                self.get_file(f"{name}/{file}", aside / file, digest)
            _take_name(aside, folder)
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def write(self, name: str, data: bytes) -> None:
        """Store a few bytes."""
        target = self._path(name)
        self._system.makedirs(str(PurePosixPath(target).parent), exist_ok=True)
        self._system.pipe_file(target, data)

    def read(self, name: str) -> bytes | None:
        """The bytes that ``write`` stored; None when there are none."""
        try:
            return bytes(self._system.cat_file(self._path(name)))
        except FileNotFoundError:
            return None

    def remove(self, name: str) -> None:
        """Take away a file, or all files of a stage."""
        if self._system.exists(self._path(name)):
            self._system.rm(self._path(name), recursive=True)


def _described(path: Path) -> dict[str, Any]:
    """The files of a stage with size and digest."""
    return dict(json.loads(path.read_text(encoding="utf-8"))["files"])


def _take_name(aside: Path, folder: Path) -> None:
    """Give a folder its name, unless somebody else was quicker with the same."""
    try:
        aside.rename(folder)
    except OSError:
        if not (folder / DONE).is_file():
            raise
