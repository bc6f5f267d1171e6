"""A system as one file, to send and to upload; what takes a system folder takes it too.

In: a system folder. Out: a ZIP archive, nothing compressed, with the manifest, the model card and
the files that the manifest names. The same system gives the same bytes.
How: models are mapped, so a pack is unpacked once, into a folder of the user's cache that is named
by the digest of its manifest; the manifest has the SHA-256 of every file, and all are compared. The
folder appears whole or not at all.
Safety: names are plain names, so that nothing is written elsewhere; what the manifest does not name
is refused, and so are parts that would import code.
Cost: packing and the first opening read and write every byte; later openings read the manifest.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     _ = Path(folder, "x.wayword").write_text("no archive")
...     unpack(Path(folder, "x.wayword"), Path(folder, "system"))
Traceback (most recent call last):
...
wayword.errors.FormatError: ...x.wayword: no packed system; expected a file of `wayword pack`
"""

import hashlib
import os
import re
import stat
import struct
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wayword.corpus.files import BLOCK, new_bytes, new_folder
from wayword.errors import ArgumentError, FormatError, MismatchError
from wayword.learn import JOURNAL, Journal
from wayword.manifest import CARD, MANIFEST, check_sizes, read_manifest
from wayword.types import FilePath

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["SUFFIX", "cached", "is_cached", "pack", "unpack"]

SUFFIX = ".wayword"
DAWN = (1980, 1, 1, 0, 0, 0)  # of ZIP: the same bytes whenever it is packed
MOST = 1 << 24  # bytes of a manifest, which is read whole
#: Errors of a damaged archive.
DAMAGE = (zipfile.BadZipFile, NotImplementedError, EOFError, UnicodeDecodeError, struct.error)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")  # of a file: no folder, nothing hidden


def pack(folder: FilePath, out: FilePath) -> int:
    """Write a system folder as one file; its size in bytes."""
    folder, out = Path(folder), Path(out)
    manifest = read_manifest(folder)
    check_sizes(folder, manifest.files)
    _refuse_code(manifest.parts, folder)
    if Journal(folder / JOURNAL).read():
        advice = "make it part of the system with `wayword merge`, or take the file away"
        raise ArgumentError(f"{folder / JOURNAL}: found what was learned since; {advice}")
    with new_bytes(out) as raw, zipfile.ZipFile(raw, "w", zipfile.ZIP_STORED) as archive:
        for name in (MANIFEST, CARD, *sorted(manifest.files)):
            known = manifest.files[name][1] if name in manifest.files else None
            _add(archive, folder / name, known)
    return out.stat().st_size


def _add(archive: zipfile.ZipFile, path: Path, known: str | None) -> None:
    entry = zipfile.ZipInfo(path.name, DAWN)
    entry.create_system = 3  # Unix, wherever it is packed
    entry.external_attr = (stat.S_IFREG | 0o644) << 16
    entry.file_size = path.stat().st_size
    digest = hashlib.sha256()
    with path.open("rb") as source, archive.open(entry, "w") as target:
        while block := source.read(BLOCK):
            digest.update(block)
            target.write(block)
    if known is not None and digest.hexdigest() != known:
        advice = "the file was changed or damaged; copy or train the system again"
        raise MismatchError(f"{path}: another SHA-256 than noted; {advice}")


def cached(path: FilePath) -> Path:
    """The folder of a packed system, unpacked now if it was not before."""
    path = Path(path)
    with _opened(path) as archive:
        digest = hashlib.sha256(archive.read(MANIFEST)).hexdigest()[:32]
    folder = _cache() / digest
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            unpack(path, folder)
        except (OSError, ArgumentError):
            if not (folder / MANIFEST).is_file():  # else another process was quicker
                raise
    return folder


def is_cached(folder: Path | None) -> bool:
    """Whether a folder is an unpacked one of ours, which never changes."""
    return folder is not None and folder.parent == _cache()


def unpack(path: FilePath, folder: FilePath) -> None:
    """Write the system of a packed file to a new folder, every byte checked."""
    path, folder = Path(path), Path(folder)
    if folder.exists():
        raise ArgumentError(f"{folder}: exists already; expected the name of a new folder")
    with _opened(path) as archive:
        sums = _sums(path, archive)
        with new_folder(folder) as part:
            for entry in archive.infolist():
                _extract(path, archive, entry, part, sums.get(entry.filename))


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive and check its entries; damage that is found while it is open names it."""
    try:
        archive = zipfile.ZipFile(path)
    except DAMAGE:
        expected = "expected a file of `wayword pack`"
        raise FormatError(f"{path}: no packed system; {expected}") from None
    with archive:
        _check_entries(path, archive.infolist())
        try:
            yield archive
        except DAMAGE as error:
            advice = "copy the file again, or pack the system again"
            raise FormatError(f"{path}: damaged ({error}); {advice}") from None


def _check_entries(path: Path, entries: Sequence[zipfile.ZipInfo]) -> None:
    names = [entry.filename for entry in entries]
    for entry in entries:
        if not NAME.fullmatch(entry.filename):
            raise FormatError(f"{path}: file `{entry.filename}`; expected a name without folders")
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
            found = f"`{entry.filename}` is compressed or encrypted"
            raise FormatError(f"{path}: {found}; expected it as it is; pack the system again")
    if MANIFEST not in names or len(set(names)) < len(names):
        raise FormatError(f"{path}: no {MANIFEST}, or a name twice; expected a packed system")
    if entries[names.index(MANIFEST)].file_size > MOST:
        raise FormatError(f"{path}: {MANIFEST} is over {MOST} bytes; expected a packed system")


def _sums(path: Path, archive: zipfile.ZipFile) -> Mapping[str, tuple[int, str]]:
    """Size and SHA-256 of each file, from the manifest; every file must be there, and no other."""
    try:
        values = tomllib.loads(archive.read(MANIFEST).decode())
        files = values["file"]
        sums = {str(name): (int(one["bytes"]), str(one["sha256"])) for name, one in files.items()}
        _refuse_code(values["part"], path)
    except (
        KeyError,
        TypeError,
        AttributeError,
        UnicodeDecodeError,
        tomllib.TOMLDecodeError,
    ) as bad:
        raise FormatError(f"{path}: {MANIFEST} is damaged ({bad}); pack the system again") from None
    names = {entry.filename for entry in archive.infolist()}
    if names != {MANIFEST, CARD, *sums}:
        odd = ", ".join(sorted(names ^ {MANIFEST, CARD, *sums}))
        raise FormatError(f"{path}: {odd}: not both in the file and in its manifest; pack it again")
    return sums


def _extract(
    path: Path,
    archive: zipfile.ZipFile,
    entry: zipfile.ZipInfo,
    folder: Path,
    known: tuple[int, str] | None,
) -> None:
    digest, size = hashlib.sha256(), 0
    with archive.open(entry) as source, (folder / entry.filename).open("xb") as target:
        while block := source.read(BLOCK):
            digest.update(block)
            size += len(block)
            target.write(block)
        target.flush()
        os.fsync(target.fileno())
    if known is not None and (size, digest.hexdigest()) != known:
        raise MismatchError(
            f"{path}: {entry.filename} is damaged; copy the file again, or pack the system again"
        )


def _refuse_code(parts: Any, path: Path) -> None:
    """Refuse parts that import what the system does not hold."""
    for part in parts:
        if str(part["kind"]).startswith("python"):
            found = f"part `{part['name']}` is code of your own"
            raise ArgumentError(f"{path}: {found}, which a pack cannot hold; use the system folder")


def _cache() -> Path:
    """Where packed systems are unpacked."""
    given = os.environ.get("WAYWORD_CACHE")
    if given:
        return Path(given).absolute()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "wayword"
