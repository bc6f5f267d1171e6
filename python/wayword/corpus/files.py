"""Opens files for reading, whatever they are compressed with, and writes them whole or not at all.

In: paths; ``.gz``, ``.xz`` and ``.zst`` are undone by the core, told by content, not by name.
Out: bytes, lines, or a file in the making that gets its name when it is complete.
How: the core makes and names all files (``storage`` there): under a name that nobody can guess,
beside their place, swept by the next writer when a process was killed. Only a regular file is ever
replaced; bytes for a device or a pipe go through to it.
Cost: linear, a block in memory.

>>> with temp_folder() as folder:
...     path = folder / "two.txt.gz"
...     with new_file(path) as file:
...         for word in ("eins", "zwei"):
...             print(word, file=file)
...     list(open_text(path))
['eins', 'zwei']
"""

import gzip
import hashlib
import io
import mmap
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from wayword import _core
from wayword.errors import (
    ArgumentError,
    FormatError,
    LimitError,
    MismatchError,
    WaywordError,
)
from wayword.types import FilePath

__all__ = [
    "BLOCK",
    "BYTE_ORDER_MARK",
    "COMPRESSION",
    "batches",
    "check_line_counts",
    "count_lines",
    "is_compressed",
    "is_plain_name",
    "memory_left",
    "new_bytes",
    "new_file",
    "new_folder",
    "open_bytes",
    "open_text",
    "sha256",
    "size_in_bytes",
    "spooled",
    "temp_folder",
]


COMPRESSION = (".gz", ".xz", ".zst")
BLOCK = 1 << 17
BATCH = 256  # lines
MAX_LINE = 256 << 20  # bytes, as in the core
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
COMPRESSED = (b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")  # gzip, xz, zstd
SKIPPED = b"\x2a\x4d\x18"  # a frame of zstd without data has this after its first byte
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class _Decompressed(io.RawIOBase):
    """The core's reader as Python's own kind of file."""

    def __init__(self, path: FilePath) -> None:
        self._reader = _core.Reader(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._reader.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def open_bytes(path: FilePath) -> BinaryIO:
    """Open a file for reading with its compression undone."""
    return io.BufferedReader(_Decompressed(path), BLOCK)


def open_text(path: FilePath) -> Iterator[str]:
    r"""Lines of UTF-8 text without their ends.

    A line ends at ``\n`` alone, with one ``\r`` before it dropped, so line numbers are those of
    the core and of any editor. A byte-order mark at the start is no part of the text.
    """
    with open_bytes(path) as file:
        for number, raw in enumerate(iter(lambda: file.readline(MAX_LINE + 1), b""), 1):
            yield _text_of(raw, path, number)


def _text_of(raw: bytes, path: FilePath, number: int) -> str:
    """The text of a line as it was read."""
    if len(raw) > MAX_LINE:
        limit = f"{MAX_LINE} bytes a line"
        raise LimitError(f"{path}:{number}: a line that does not end; the limit is {limit}")
    line = raw.removesuffix(b"\n").removesuffix(b"\r")
    if number == 1:
        line = line.removeprefix(BYTE_ORDER_MARK)
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise _not_utf8(f"{path}:{number}", line, wrong.start, number == 1) from None


def batches(path: FilePath) -> Iterator[list[str]]:
    """Lines as they become available, some hundreds at most at a time.

    From ``-``, standard input, a batch is what has arrived, so that a line is answered before
    the next one must be there. Compressed standard input is refused.
    """
    if os.fspath(path) == "-":
        yield from _arriving(sys.stdin.buffer)
        return
    lines = open_text(path)
    while batch := list(islice(lines, BATCH)):
        yield batch


def _arriving(source: Any) -> Iterator[list[str]]:
    """Batches of whole lines, as soon as they are there."""
    number = 0
    parts: list[bytes] = []
    while block := source.read1(BLOCK):
        if number == 0 and not parts and block.startswith(COMPRESSED):
            raise FormatError("stdin: compressed; expected UTF-8 text; decompress it first")
        parts.append(block)
        if b"\n" not in block:
            if sum(map(len, parts)) > MAX_LINE:
                _text_of(b"".join(parts), "stdin", number + 1)
            continue
        *whole, rest = b"".join(parts).split(b"\n")
        parts = [rest] if rest else []
        for start in range(0, len(whole), BATCH):
            chunk = whole[start : start + BATCH]
            yield [_text_of(raw, "stdin", number + at) for at, raw in enumerate(chunk, 1)]
            number += len(chunk)
    if parts:
        yield [_text_of(b"".join(parts), "stdin", number + 1)]


def _not_utf8(place: str, line: bytes, at: int, first: bool) -> FormatError:
    found = f"byte {at + 1} (0x{line[at]:02x}) is not UTF-8"
    if first and line.startswith(UTF_16):
        found = "UTF-16 text"
    advice = "convert the file with iconv, or let `wayword doctor` take such lines out"
    return FormatError(f"{place}: {found}; expected UTF-8 text; {advice}")


@contextmanager
def spooled(path: FilePath) -> Iterator[Path]:
    """A real file for ``path``: itself, or for ``-`` a copy of standard input.

    The copy can be read twice and is removed afterwards; it is made by Python, so that Ctrl-C
    ends the wait for input.
    """
    if os.fspath(path) != "-":
        yield Path(path)
        return
    with temp_folder() as folder:
        copy = folder / "stdin"
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file, BLOCK)
        try:
            yield copy
        except WaywordError as error:  # people know their input by another name
            raise type(error)(str(error).replace(str(copy), "stdin")) from None


@contextmanager
def new_file(path: FilePath) -> Iterator[TextIO]:
    r"""Write UTF-8 text with ``\n`` line ends that appears under its name only when whole.

    Until then it stands beside it under a temporary name; an exception removes it. A name in
    ``.gz`` is compressed, with no time inside, so that the same text gives the same bytes.
    """
    path = Path(path)
    if path.suffix in COMPRESSION[1:]:
        raise ArgumentError(f"{path}: cannot write `{path.suffix}`; expected a plain or `.gz` name")
    with new_bytes(path) as raw, _text_over(raw, compress=path.suffix == ".gz") as text:
        yield text


@contextmanager
def new_bytes(path: FilePath) -> Iterator[BinaryIO]:
    """Write bytes that appear under their name only when all of them are on disk.

    Until then they stand beside it under a temporary name; an exception removes them. A device or
    a pipe gets them as they come.
    """
    part = _core.NewFile(path)
    if part.temporary is None:
        with Path(path).open("ab") as raw:
            yield raw
        return
    try:
        with part.temporary.open("r+b") as raw:
            yield raw
        part.finish()
    finally:
        part.discard()


@contextmanager
def new_folder(path: FilePath) -> Iterator[Path]:
    """A folder that appears under its name only when it is complete; an exception removes it.

    The folders that it is in are made if need be, and removed again with it.
    """
    path = Path(path)
    if os.path.lexists(path):
        raise ArgumentError(f"{path}: is there already; choose another name or remove it")
    missing = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    part = _core.NewFolder(path)
    try:
        yield part.temporary
        part.finish()
    except BaseException:
        part.discard()
        with suppress(OSError):  # somebody else put something there
            for folder in missing:
                folder.rmdir()
        raise


@contextmanager
def temp_folder() -> Iterator[Path]:
    """A folder for a while. When the process is killed, the next such folder removes it."""
    folder = _core.TempFolder()
    try:
        yield folder.path
    finally:
        folder.remove()


@contextmanager
def _text_over(raw: BinaryIO, *, compress: bool) -> Iterator[TextIO]:
    """Text that goes to ``raw``, which stays open."""
    out: Any = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if compress else raw
    text = io.TextIOWrapper(out, encoding="utf-8", newline="\n", write_through=False)
    try:
        yield text
        text.flush()
    finally:
        text.detach()
        if compress:
            out.close()


def count_lines(path: FilePath) -> int:
    """How many lines a file has; one without an end counts."""
    count, last = 0, b"\n"
    with open_bytes(path) as file:
        while block := file.read(BLOCK):
            count += block.count(b"\n")
            last = block[-1:]
    return count + (last != b"\n")


def is_compressed(path: FilePath) -> bool:
    """Whether a file is read by undoing its compression."""
    with Path(path).open("rb") as file:
        start = file.read(8)
    return start.startswith(COMPRESSED) or start[1:].startswith(SKIPPED)


def check_line_counts(paths: Sequence[FilePath]) -> None:
    """Refuse files of different length: line n of each must be about the same sentence."""
    counts = [count_lines(path) for path in paths]
    if len(set(counts)) > 1:
        found = ", ".join(f"{path} has {n:,} lines" for n, path in zip(counts, paths, strict=True))
        shown = " ".join(map(str, paths[:2]))
        advice = f"`wayword doctor {shown}` shows lines that have no partner"
        raise MismatchError(
            f"{found}; expected as many lines in each, line n of one for line n of the other; "
            f"{advice}"
        )


def sha256(path: FilePath) -> str:
    """The SHA-256 of a file as it is."""
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def is_plain_name(name: object) -> bool:
    """Whether this is the name of a file in the folder where it is looked for, on any system.

    >>> [is_plain_name(name) for name in ("lm", "", "..", "a/b", "c:lm", "a" + chr(92) + "b", 3)]
    [True, False, False, False, False, False, False]
    """
    if not isinstance(name, str) or name in {"", ".", ".."}:
        return False
    return not set(name) & {"/", "\\", ":", "\0"}


def memory_left(size: int) -> int:
    """What is left of so many bytes beside what the process holds; a quarter of them at least.

    Where the system does not tell what the process holds, nothing is taken off.
    """
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        pages = 0
    return max(size - pages * mmap.PAGESIZE, size // 4)


def size_in_bytes(size: int | str) -> int:
    """A number of bytes from a number or from text such as ``512M`` or ``2G``.

    >>> size_in_bytes("2G") == 2 * 1024**3
    True
    """
    text = str(size).strip().upper().removesuffix("B")
    unit = UNITS.get(text[-1:], 1)
    digits = text if unit == 1 else text[:-1]
    if not digits.isdecimal() or not 1 << 20 <= int(digits) * unit < 1 << 62:
        raise ArgumentError(f"memory: found {size}; expected at least 1M, such as 512M or 2G")
    return int(digits) * unit
