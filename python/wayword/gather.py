"""The stages that bring text of all kinds into the form that training works on: two line files.

In: a ``Collection``: corpora of any formats with names and weights, perhaps a glossary. Out: stages
whose folders hold ``in.src`` and ``in.tgt``, one line a pair, corpus by corpus.
How: line-aligned files are copied byte by byte, so that the doctor sees what is wrong with them;
other formats are read pair by pair. Facts say how many lines each corpus has, so that later stages
know which corpus a line is from (``corpus_of_lines``).
Cost: one pass over the text.

>>> corpora = [{"lines": 3}, {"lines": 2}]
>>> list(corpus_of_lines(corpora, taken_out=[2, 4]))
[0, 0, 1]
"""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, BinaryIO

from wayword.corpus import doctor
from wayword.corpus.collection import Collection, Corpus, Languages, Piece
from wayword.corpus.files import BLOCK, BYTE_ORDER_MARK, new_bytes, open_bytes
from wayword.corpus.formats import columns_of
from wayword.errors import MismatchError
from wayword.stage import File, Stage, Work
from wayword.types import FilePath, Progress

__all__ = ["corpus_of_lines", "gather_stage", "glossary_stage", "write_pieces"]

EVERY = 10_000  # pairs between two words about progress
#: What is no fault of an entry in a glossary: names are the same, terms are short, some twice.
TERMS = ("ratio", "script", "identical", "duplicate")


def gather_stage(collection: Collection, langs: Languages) -> Stage:
    """Bring all corpora together."""
    return _stage("gather", make_gathered, collection.corpora, collection.columns, langs)


def glossary_stage(collection: Collection, langs: Languages) -> Stage | None:
    """The pairs of terms without those that are no good; None when there is no glossary."""
    if collection.glossary is None:
        return None
    terms = (collection.glossary,)
    return _stage("glossary", make_glossary, terms, collection.columns, langs)


def _stage(
    name: str, make: Any, corpora: Sequence[Corpus], columns: Sequence[str], langs: Languages
) -> Stage:
    kinds = [[piece.kind for piece in corpus.pieces] for corpus in corpora]
    options = {
        "names": [corpus.name for corpus in corpora],
        "weights": [corpus.weight for corpus in corpora],
        "kinds": kinds,
        "columns": list(columns),
        "langs": list(langs),
    }
    files = [[list(map(File, piece.files)) for piece in corpus.pieces] for corpus in corpora]
    return Stage(name, make, options, {"files": files}, version=1)


def make_gathered(work: Work) -> dict[str, Any]:
    """Write ``in.src`` and ``in.tgt``, and say how many lines each corpus has."""
    options = work.options
    corpora = []
    with new_bytes(work.out / "in.src") as src, new_bytes(work.out / "in.tgt") as tgt:
        writer = _Writer((src, tgt), work.progress)
        for number, name in enumerate(options["names"]):
            lines = writer.lines
            skipped = 0
            for kind, paths in zip(
                options["kinds"][number], work.inputs["files"][number], strict=True
            ):
                files = [str(path) for path in paths]
                piece = Piece(files[0], files[1] if kind == "lines" else None, kind)
                skipped += writer.add(piece, tuple(options["langs"]), options["columns"])
            weight, lines = options["weights"][number], writer.lines - lines
            corpora.append({"name": name, "weight": weight, "lines": lines, "skipped": skipped})
    return {"corpora": corpora}


def write_pieces(
    pieces: Sequence[Piece],
    out: tuple[FilePath, FilePath],
    langs: Languages = ("", ""),
    columns: Sequence[str] = (),
    *,
    progress: Progress | None = None,
) -> int:
    """Write the pairs of all pieces to two files; how many units had no pair to give."""
    with new_bytes(out[0]) as src, new_bytes(out[1]) as tgt:
        writer = _Writer((src, tgt), progress)
        return sum(writer.add(piece, langs, columns) for piece in pieces)


class _Writer:
    """Writes the pairs of pieces, one after the other, as lines of two files."""

    def __init__(self, out: tuple[BinaryIO, BinaryIO], progress: Progress | None) -> None:
        self.lines = 0
        self._out = out
        self._progress = progress

    def add(self, piece: Piece, langs: Languages, columns: Sequence[str]) -> int:
        """Write a piece; how many units of it had no pair to give."""
        if piece.tgt is not None:
            self._copy(piece.src, piece.tgt)
            return 0
        pairs = piece.pairs(columns_of(piece.src, piece.kind, langs, columns))
        for pair in pairs:
            for file, text in zip(self._out, pair, strict=True):
                file.write(f"{text}\n".encode())
            self.lines += 1
            if self._progress is not None and self.lines % EVERY == 0:
                self._progress(self.lines, 0)
        return pairs.skipped

    def _copy(self, src: str, tgt: str) -> None:
        """Copy two line files as they are; a last line without an end gets one."""
        counts = [_copy_lines(path, file) for path, file in zip((src, tgt), self._out, strict=True)]
        if counts[0] != counts[1]:
            found = f"found {counts[0]:,} lines in {src} and {counts[1]:,} in {tgt}"
            raise MismatchError(f"{found}; expected as many in each")
        self.lines += counts[0]
        if self._progress is not None:
            self._progress(self.lines, 0)


def _copy_lines(path: str, out: BinaryIO) -> int:
    lines, last = 0, b"\n"
    with open_bytes(path) as file:
        first = True
        while block := file.read(BLOCK):
            block = block.removeprefix(BYTE_ORDER_MARK) if first else block
            first = False
            out.write(block)
            lines += block.count(b"\n")
            last = block[-1:] or last
    if last != b"\n":
        out.write(b"\n")
        lines += 1
    return lines


def make_glossary(work: Work) -> dict[str, Any]:
    """Write the terms as ``in.src`` and ``in.tgt``, and take out those that are no text."""
    raw = work.out / "raw"
    raw.mkdir()
    facts = make_gathered(replace(work, out=raw))
    report = doctor.examine(raw / "in.src", raw / "in.tgt", work.out, allow=TERMS)
    shutil.rmtree(raw)
    [corpus] = facts["corpora"]
    return {**corpus, "clean": report.clean, "problems": report.counts}


def corpus_of_lines(
    corpora: Iterable[Mapping[str, Any]], taken_out: Iterable[int]
) -> Iterator[int]:
    """The number of the corpus of each line that the doctor kept, in order.

    ``taken_out`` are the lines in quarantine, counted from 1, in order.
    """
    gone = iter(taken_out)
    next_gone = next(gone, 0)
    line = 0
    for number, corpus in enumerate(corpora):
        for _ in range(corpus["lines"]):
            line += 1
            if line == next_gone:
                next_gone = next(gone, 0)
            else:
                yield number
