r"""Line-aligned text files cut into pieces, so that each can be worked on by itself.

In: plain text files of our own, and how many pieces. Out: for each piece where it begins and ends
in each file, in bytes; and the lines of a piece.
How: one pass over each file finds where the lines begin that pieces begin with; a piece is then
read without looking at what stands before it.
Cost: one read of the files; nothing is copied.
Not: compressed files, byte-order marks and ``\r``; files of users may have them, those of a
finished stage have not. A last line may be without its end.

>>> from wayword.corpus.files import new_file, temp_folder
>>> with temp_folder() as folder:
...     with new_file(folder / "text") as file:
...         print("eins", "zwei", "drei", "vier", sep="\n", file=file)
...     [[first], [second]] = cut([folder / "text"], bounds(4, 2))
...     first, second, list(lines_of(folder / "text", second))
((0, 10), (10, 20), ['drei', 'vier'])
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from wayword.corpus.files import BLOCK, count_lines, new_file, open_text
from wayword.errors import MismatchError

__all__ = ["Piece", "bounds", "copy_piece", "cut", "drawn", "evenly", "lines_of"]

log = logging.getLogger(__name__)
T = TypeVar("T")
#: Where a piece begins and ends, in bytes.
Piece = tuple[int, int]


def bounds(lines: int, pieces: int) -> list[int]:
    """The lines that pieces of about the same size begin with, and the end.

    >>> bounds(10, 3)
    [0, 3, 6, 10]
    """
    return [lines * number // pieces for number in range(pieces + 1)]


def evenly(items: Iterable[T], size: int, wanted: int) -> Iterator[T]:
    """As many as ``wanted`` of ``size`` items, at equal steps; all for 0, or if there are no more.

    >>> list(evenly(range(10), 10, 4)), list(evenly("abc", 3, 0))
    ([2, 4, 7, 9], ['a', 'b', 'c'])
    """
    if not 0 < wanted < size:
        yield from items
        return
    for number, item in enumerate(items):
        if number * wanted // size < (number + 1) * wanted // size:
            yield item


@contextmanager
def drawn(
    paths: Sequence[Path], wanted: int, folder: Path, *, what: str
) -> Iterator[Sequence[Path]]:
    """Line-aligned files with as many as ``wanted`` lines, taken at equal steps.

    They stand in ``folder`` for a while; where files have no more lines, or for 0, it is the files
    themselves. ``what`` tells the log who takes a part only.
    """
    size = count_lines(paths[0])
    if not 0 < wanted < size:
        yield paths
        return
    log.info("%s: takes %d of %d pairs, at equal steps (`sentences`)", what, wanted, size)
    with TemporaryDirectory(dir=folder) as name:
        parts = [Path(name, str(number)) for number in range(len(paths))]
        for path, part in zip(paths, parts, strict=True):
            with new_file(part) as file:
                file.writelines(f"{line}\n" for line in evenly(open_text(path), size, wanted))
        yield parts


def cut(paths: Sequence[Path], lines: Sequence[int]) -> list[list[Piece]]:
    """For each piece between two of these line numbers, its place in each of the files."""
    places = [list(pairwise(_offsets(path, lines))) for path in paths]
    return [list(piece) for piece in zip(*places, strict=True)]


def _offsets(path: Path, lines: Sequence[int]) -> list[int]:
    """Where lines begin, by their numbers from 0 in ascending order; the last may be the end."""
    offsets: list[int] = []
    seen = at = 0
    last = b"\n"
    with path.open("rb") as file:
        while len(offsets) < len(lines):
            wanted = lines[len(offsets)] - seen  # ends of lines before the one wanted
            if wanted == 0:
                offsets.append(at)
                continue
            block = file.read(BLOCK)
            if not block and last != b"\n":
                seen, last = seen + 1, b"\n"
                continue
            if not block:
                found = f"found {seen} lines; expected {lines[-1]}"
                raise MismatchError(f"{path}: {found}; is it being changed?")
            ends = block.count(b"\n")
            if ends >= wanted:
                cut_off = _after(block, wanted)
                file.seek(cut_off - len(block), 1)
                ends, block = wanted, block[:cut_off]
            seen, at, last = seen + ends, at + len(block), block[-1:]
    return offsets


def _after(block: bytes, ends: int) -> int:
    """Where the text goes on after so many ends of lines."""
    at = 0
    for _ in range(ends):
        at = block.index(b"\n", at) + 1
    return at


def lines_of(path: Path, piece: Sequence[int]) -> Iterator[str]:
    """The lines of a piece, without their ends."""
    start, end = piece
    with path.open("rb") as file:
        file.seek(start)
        while start < end:
            line = file.readline()
            if not line:
                raise MismatchError(f"{path}: found {start} bytes; expected {end}; was it changed?")
            start += len(line)
            yield line.removesuffix(b"\n").decode("utf-8")


def copy_piece(path: Path, piece: Sequence[int], out: Path) -> None:
    """Write a piece as a file of its own."""
    start, end = piece
    with path.open("rb") as file, out.open("wb") as copy:
        file.seek(start)
        while start < end and (block := file.read(min(BLOCK, end - start))):
            copy.write(block)
            start += len(block)
