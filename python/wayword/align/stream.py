"""Aligns text of any size with a trained aligner: a stream in, lines of links out.

In: an ``Aligner`` and any iterable of pairs. Out: batch after batch of ``Aligned``; or files that
are finished part by part, so that a run that was killed goes on where it was.
How: while the core aligns a batch on all its threads, the next one is read, and a part's last one
written. A part is written aside and renamed; parts that are there are read past. ``draw_lines``
takes a sample to learn from.
Cost: a few batches in memory, whatever the text.

>>> from wayword import Bitext, align
>>> text = [("das haus", "the house"), ("das buch", "the book"), ("ein buch", "a book")] * 4
>>> aligner = align.fit(Bitext.from_pairs(text))
>>> [line for aligned in align_pairs(aligner, text, batch=5) for line in lines_of(aligned)][:2]
['0-0 1-1', '0-0 1-1']
"""

import json
import random
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from wayword.align.aligner import Aligned, Aligner, Options
from wayword.corpus import Bitext
from wayword.corpus.files import count_lines, new_file, open_text
from wayword.errors import ArgumentError
from wayword.types import FilePath, Progress

__all__ = ["PART", "Parts", "align_pairs", "draw_lines", "lines_of"]

Pair = tuple[str, str]
T = TypeVar("T")

#: Pairs that are aligned at once.
BATCH = 10_000
#: Pairs of a part.
PART = 50_000
STATE = "state.json"


def align_pairs(
    aligner: Aligner,
    pairs: Iterable[Pair],
    *,
    symmetrise: str = Options.symmetrise,
    threshold: float | None = None,
    score: bool = False,
    threads: int = 0,
    progress: Progress | None = None,
    batch: int = BATCH,
) -> Iterator[Aligned]:
    """The links of all pairs, ``batch`` of them at a time, in order."""
    done = 0
    for bitext in _ahead(_bitexts(iter(pairs), batch)):
        yield aligner.align_scored(
            bitext, symmetrise=symmetrise, threshold=threshold, score=score, threads=threads
        )
        done += len(bitext)
        if progress is not None:
            progress(done, 0)


def _bitexts(pairs: Iterator[Pair], batch: int) -> Iterator[Bitext]:
    while some := list(islice(pairs, batch)):
        yield Bitext.from_pairs(some)


def _ahead(values: Iterator[T]) -> Iterator[T]:
    """The same, each made while the one before is in use."""
    with ThreadPoolExecutor(1) as maker:
        waiting = maker.submit(next, values, None)
        while (value := waiting.result()) is not None:
            waiting = maker.submit(next, values, None)
            yield value


def lines_of(aligned: Aligned, *, posteriors: bool = False) -> Iterator[str]:
    """A line of links a pair; scores, if there are any, stand before a tab."""
    lines = aligned.links.lines(aligned.posteriors if posteriors else None)
    if aligned.scores is None:
        return lines
    return (f"{score:.4f}\t{line}" for score, line in zip(aligned.scores, lines, strict=True))


class Parts:
    """A file of links in the making, part by part, in a folder beside it."""

    def __init__(self, out: FilePath, recipe: Mapping[str, Any]) -> None:
        """``recipe`` is what the links follow from: a run with another one does not go on."""
        self.out = Path(out)
        self.folder = self.out.with_name(f"{self.out.name}.parts")
        text = json.dumps(recipe, sort_keys=True, default=str) + "\n"
        state = self.folder / STATE
        if state.exists() and state.read_text(encoding="utf-8") != text:
            raise ArgumentError(
                f"{self.folder}: found parts of a run with other text or options; expected those "
                "of this run; remove the folder, or choose another --out"
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        if not state.exists():
            with new_file(state) as file:
                file.write(text)

    @property
    def aligner(self) -> Path:
        """Where the run keeps its aligner."""
        return self.folder / "aligner"

    @property
    def finished(self) -> int:
        """How many parts are there, without a gap."""
        number = 0
        while self._part(number).exists():
            number += 1
        return number

    def _part(self, number: int) -> Path:
        return self.folder / f"{number:06}.links"

    def write(
        self,
        aligner: Aligner,
        pairs: Iterable[Pair],
        *,
        posteriors: bool = False,
        progress: Progress | None = None,
        size: int = PART,
        **options: Any,
    ) -> None:
        """Align what no part holds yet, and join all parts to the file."""
        source = iter(pairs)
        number = self.finished
        done = number * size
        for _ in islice(source, done):
            pass
        while (first := next(source, None)) is not None:
            part = chain([first], islice(source, size - 1))
            with new_file(self._part(number)) as file:
                for aligned in _ahead(align_pairs(aligner, part, **options)):
                    file.writelines(
                        f"{line}\n" for line in lines_of(aligned, posteriors=posteriors)
                    )
                    done += len(aligned.links)
                    if progress is not None:
                        progress(done, 0)
            number += 1
        self._join(number)

    def _join(self, parts: int) -> None:
        with new_file(self.out) as file:
            for number in range(parts):
                with self._part(number).open(encoding="utf-8", newline="\n") as part:
                    shutil.copyfileobj(part, file)
        shutil.rmtree(self.folder)


def draw_lines(
    files: Sequence[tuple[FilePath, FilePath]],
    out: tuple[FilePath, FilePath],
    count: int,
    seed: int,
) -> int:
    """Write ``count`` pairs of lines, drawn by ``seed``, in their order; how many there were."""
    totals = [count_lines(src) for src, _ in files]
    total = sum(totals)
    wanted = iter(sorted(random.Random(seed).sample(range(total), min(count, total))))
    following, number = next(wanted, None), 0
    with new_file(out[0]) as src_out, new_file(out[1]) as tgt_out:
        for src, tgt in files:
            for pair in zip(open_text(src), open_text(tgt), strict=True):
                if number == following:
                    print(pair[0], file=src_out)
                    print(pair[1], file=tgt_out)
                    following = next(wanted, None)
                number += 1
    return total
