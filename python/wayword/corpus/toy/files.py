"""Writes a toy corpus as plain text files, in parts that share no source sentence.

In: pair name, number of training pairs, folder, seed. Out: the paths written.
How: a checksum of the source sentence (of the modern one, for spellings) decides its part, so
every distinct sentence belongs to one part and nothing need be remembered. The files get their
names when all are whole.
Cost: one pass over the stream; memory does not grow.
Not: compression; a folder that does not exist is made.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

from wayword.corpus.files import new_file
from wayword.corpus.toy.pair import SPELLINGS, ToyPair, realiser_of
from wayword.corpus.toy.stream import endless
from wayword.errors import ArgumentError

PARTS = ("train", "dev", "test")
# Of every 20 checksums one goes to dev and one to test.
BUCKETS = 20
HELD_OUT_SHARE = 20
HELD_OUT_LEAST = 10
HELD_OUT_MOST = 1000


def write(pair: str, n: int, folder: str | os.PathLike[str], *, seed: int = 1) -> tuple[Path, ...]:
    """Write `n` training pairs and their dev and test parts; returns the files, part by part."""
    realiser_of(pair)
    if n < 0:
        raise ArgumentError(f"n is {n}; the number of pairs cannot be negative")
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    paths = [target / f"{part}.{ending}" for part in PARTS for ending in endings(pair)]
    with ExitStack() as stack:
        files = [stack.enter_context(new_file(path)) for path in paths]
        _write_parts(pair, n, files, seed)
    return tuple(paths)


def endings(pair: str) -> tuple[str, ...]:
    """The file endings of one part, in the order they are written."""
    src, tgt = pair.split("-")
    return (src, tgt, "links", "order", f"factored.{src}")


def part_of(src: tuple[str, ...]) -> str:
    """The part a source sentence belongs to, the same on every machine."""
    bucket = zlib.crc32(" ".join(src).encode("utf-8")) % BUCKETS
    return {0: "dev", 1: "test"}.get(bucket, "train")


def _sizes(n: int) -> dict[str, int]:
    held_out = min(max(HELD_OUT_LEAST, n // HELD_OUT_SHARE), HELD_OUT_MOST)
    return {"train": n, "dev": held_out, "test": held_out}


def _write_parts(pair: str, n: int, files: Sequence[TextIO], seed: int) -> None:
    left = _sizes(n)
    width = len(files) // len(PARTS)
    by_part = {part: files[at * width : (at + 1) * width] for at, part in enumerate(PARTS)}
    for item in endless(pair, seed):
        if not any(left.values()):
            break
        part = part_of(item.tgt if pair in SPELLINGS else item.src)
        if left[part]:
            left[part] -= 1
            _write_lines(by_part[part], item)


def _write_lines(files: Sequence[TextIO], item: ToyPair) -> None:
    for file, line in zip(files, lines_of(item), strict=True):
        file.write(line + "\n")


def lines_of(item: ToyPair) -> Iterator[str]:
    """One line per file, in the order of `endings`."""
    yield " ".join(item.src)
    yield " ".join(item.tgt)
    yield " ".join(f"{at}-{there}" for at, there in item.links)
    yield " ".join(map(str, item.order))
    yield " ".join(
        f"{word.replace('|', '&#124;')}|{pos}|{chunk}"
        for word, pos, chunk in zip(item.src, item.pos, item.chunks, strict=True)
    )
