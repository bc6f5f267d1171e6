"""Finds the lines of a bitext that would do harm, and takes them out.

In: two files of any bytes. Out: a ``Report``; with ``out`` also a folder with the clean pair and
``quarantine.tsv``, which says why each other line was taken out. Every input line ends in exactly
one of the two.
Cost: linear, in the core; one line of each file in memory, and some 20 to 50 bytes a pair to know
duplicates; where these do not fit into ``memory`` they go to disk, and the text is read once more.
Not: repair. The text stays as it is, but for line ends, a byte-order mark, marks that nobody sees
(as ``wayword.corpus.text`` drops them too) and, with ``nfc``, Unicode's composed form.

Files that are not compressed and have as many lines can be examined in pieces, anywhere:
``write_fingerprints`` of every piece, ``find_repeated``, ``examine_piece`` of every piece; then the
files of pieces one after the other are those that ``examine`` writes, and ``joined`` is its report.

>>> [name for name, meaning in problems().items() if "UTF-8" in meaning]
['encoding']
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from wayword import _core
from wayword.corpus.files import size_in_bytes
from wayword.errors import ArgumentError
from wayword.options import check_choice, check_number, check_range
from wayword.types import FilePath

__all__ = [
    "MISALIGNED",
    "TRANSLATION",
    "Finding",
    "Options",
    "Piece",
    "Report",
    "clean_files",
    "examine",
    "examine_piece",
    "find_repeated",
    "joined",
    "problems",
    "scripts",
    "write_fingerprints",
]

COMPRESSION = (".gz", ".xz", ".zst")

#: What an aligner may find beside the doctor's own kinds; see ``wayword.align.screen``.
TRANSLATION = ("translation", "hardly a translation, by the score of an aligner")
#: A problem of whole files, which ``wayword.align.misalignment`` finds.
MISALIGNED = ("misaligned", "lines of the two files do not belong together")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Which lines are taken out."""

    #: words of a side (characters in writings without spaces)
    max_length: int = 200
    #: most times the words of the other side
    max_ratio: float = 9.0
    #: kinds of problems not to look for
    allow: tuple[str, ...] = ()
    #: that the process keeps to; what tells duplicates goes to disk beyond it
    memory: str = "1G"

    def __post_init__(self) -> None:
        """Refuse what makes no sense, before any reading."""
        check_range("max_length", self.max_length, 1)
        check_number("max_ratio", self.max_ratio, 1.0)
        for problem in self.allow:
            check_choice("allow", problem, [*problems(), MISALIGNED[0]])
        size_in_bytes(self.memory)


@dataclass(frozen=True)
class Finding:
    """One thing found: the line (from 1), the kind, the side and what exactly."""

    line: int
    problem: str
    side: str
    detail: str


@dataclass(frozen=True)
class Report:
    """What the doctor saw. ``clean + quarantined`` is the longer file's number of lines.

    ``cleaned`` counts the clean pairs that lost marks nobody sees; ``counts`` are lines taken out.
    """

    src_lines: int
    tgt_lines: int
    clean: int
    quarantined: int
    cleaned: int
    src_script: str | None
    tgt_script: str | None
    counts: dict[str, int]
    examples: tuple[Finding, ...]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, for JSON."""
        return {**vars(self), "examples": [vars(finding) for finding in self.examples]}


@dataclass(frozen=True)
class Piece:
    """The same lines of two files: where they begin and end in each, and how many are before."""

    src: tuple[int, int]
    tgt: tuple[int, int]
    before: int


def problems() -> dict[str, str]:
    """Every kind of problem and what it means, the gravest first."""
    return dict(_core.doctor_problems())


def examine(
    src: str | os.PathLike[str],
    tgt: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    max_length: int = Options.max_length,
    max_ratio: float = Options.max_ratio,
    factors: int | None = None,
    nfc: bool = False,
    allow: Sequence[str] = Options.allow,
    examples: int = 5,
    memory: int | str = Options.memory,
    temp_dir: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Report:
    """Examine a pair of files and, with ``out``, write the clean pair and the quarantine.

    A side may have ``max_length`` words (characters in writings without spaces) and
    ``max_ratio`` times the words of the other. With ``factors`` every source word must have so
    many factors with ``|`` between them. Kinds in ``allow`` are not looked for, and marks that
    nobody sees stay if ``invisible`` is one of them; lines that have no partner or are not UTF-8
    are taken out in any case. The process keeps to ``memory`` (bytes, or such as ``500M``): what
    tells duplicates goes to ``temp_dir`` beyond it, and the result is the same.
    """
    room = size_in_bytes(memory)
    files = None if out is None else clean_files(Path(src), Path(tgt), Path(out))
    facts = _core.doctor(
        src,
        tgt,
        files,
        max_length=max_length,
        max_ratio=max_ratio,
        factors=factors,
        nfc=nfc,
        allow=_line_kinds(allow),
        examples=examples,
        memory=room,
        temp_dir=temp_dir,
        progress=progress,
    )
    return _report(facts)


def _line_kinds(allow: Sequence[str]) -> list[str]:
    """Return the allowed kinds without that of whole files, which the core does not know."""
    return [kind for kind in allow if kind != MISALIGNED[0]]


def _report(facts: dict[str, Any]) -> Report:
    shown = tuple(Finding(*row) for row in facts.pop("examples"))
    return Report(**facts, examples=shown)


def scripts(src: FilePath, tgt: FilePath) -> tuple[str | None, str | None]:
    """The writing of each side, which its first lines tell."""
    return _core.doctor_scripts(src, tgt)


def write_fingerprints(
    files: tuple[FilePath, FilePath],
    piece: Piece,
    out: FilePath,
    *,
    nfc: bool = False,
    allow: Sequence[str] = Options.allow,
) -> None:
    """Write what tells repeated pairs of a piece, for ``find_repeated``."""
    _core.doctor_fingerprints(*files, out, piece=_plain(piece), nfc=nfc, allow=_line_kinds(allow))


def find_repeated(
    prints: Sequence[FilePath],
    outs: Sequence[FilePath],
    *,
    memory: int | str = Options.memory,
    temp_dir: FilePath | None = None,
) -> None:
    """Write for each piece, in the order of the text, which lines repeat an earlier one."""
    room = size_in_bytes(memory)
    _core.doctor_repeated(list(prints), list(outs), memory=room, temp_dir=temp_dir)


def examine_piece(
    files: tuple[FilePath, FilePath],
    piece: Piece,
    out: FilePath,
    *,
    scripts: tuple[str | None, str | None],
    repeated: FilePath | None,
    max_length: int = Options.max_length,
    max_ratio: float = Options.max_ratio,
    factors: int | None = None,
    nfc: bool = False,
    allow: Sequence[str] = Options.allow,
    examples: int = 5,
) -> Report:
    """Examine a piece and write its clean pair and its quarantine to a folder.

    ``scripts`` are those of the whole text; ``repeated`` is what ``find_repeated`` wrote, or None
    when repeated pairs are allowed.
    """
    facts = _core.doctor_piece(
        *files,
        clean_files(Path(files[0]), Path(files[1]), Path(out)),
        piece=_plain(piece),
        scripts=scripts,
        repeated=repeated,
        max_length=max_length,
        max_ratio=max_ratio,
        factors=factors,
        nfc=nfc,
        allow=_line_kinds(allow),
        examples=examples,
    )
    return _report(facts)


def _plain(piece: Piece) -> tuple[tuple[int, int], tuple[int, int], int]:
    return piece.src, piece.tgt, piece.before


def joined(reports: Sequence[Report], examples: int = 5) -> Report:
    """The report of a text from those of its pieces, in the order of the text."""
    sums = {
        name: sum(getattr(report, name) for report in reports)
        for name in ("src_lines", "tgt_lines", "clean", "quarantined", "cleaned")
    }
    counts = {name: sum(report.counts[name] for report in reports) for name in problems()}
    lines: dict[str, set[int]] = {}
    shown = []
    for finding in (finding for report in reports for finding in report.examples):
        of_kind = lines.setdefault(finding.problem, set())
        if finding.line in of_kind or len(of_kind) < examples:
            of_kind.add(finding.line)
            shown.append(finding)
    return replace(reports[0], **sums, counts=counts, examples=tuple(shown))


def clean_files(src: Path, tgt: Path, out: Path) -> tuple[Path, Path, Path]:
    """Where clean pair and quarantine go: under the files' own names to the folder ``out``."""
    names = [path.stem if path.suffix in COMPRESSION else path.name for path in (src, tgt)]
    if names[0] == names[1]:
        raise ArgumentError(
            f"out: both files are called {names[0]}; expected two names, as they go to one folder"
        )
    clean = (out / names[0], out / names[1])
    if clean[0].resolve() == src.resolve() or clean[1].resolve() == tgt.resolve():
        raise ArgumentError(f"out: {out} holds the input files; expected another folder")
    out.mkdir(parents=True, exist_ok=True)
    return (*clean, out / "quarantine.tsv")
