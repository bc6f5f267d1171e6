"""Sentence pairs from whatever people have: files of any format, several of them, and folders.

In: paths. Out: ``Piece``s (two line-aligned files, or one file with both sides), put together as
corpora with names and weights in a ``Collection``, and the pairs in them.
How: what holds both sides is told by its name (``wayword.corpus.formats``); other files go two by
two, source before target. Of a folder, every such file and every pair ``NAME.de`` and ``NAME.en``
is taken, by name.
Cost: a look at names; pairs are read one at a time.

>>> find_pieces(["news.de", "news.en", "talks.tsv.gz"])
(Piece(src='news.de', tgt='news.en', kind='lines'), Piece(src='talks.tsv.gz', tgt=None, kind='tsv'))
>>> find_pieces(["news.de", "news.en", "talks.de"])
Traceback (most recent call last):
...
wayword.errors.ArgumentError: talks.de: found no second file for it; expected source and target, \
two by two, or files that hold both sides (.tsv, .jsonl, .ndjson, .tmx, .po, .parquet)
>>> language_of("train.de.txt.gz"), language_of("train.txt")
('de', '')
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from wayword.corpus.bitext import Bitext
from wayword.corpus.files import COMPRESSION, check_line_counts, open_text
from wayword.corpus.formats import FORMATS, Pairs, columns_of, format_of, read_pairs
from wayword.errors import ArgumentError, FormatError
from wayword.options import check_range
from wayword.types import FilePath

__all__ = [
    "Collection",
    "Corpus",
    "Piece",
    "find_pieces",
    "language_of",
    "read_bitext",
    "read_side",
    "read_sides",
]

#: Ends of file names that are no languages.
NO_LANGUAGE = frozenset({"", "txt", "text", "raw", "tok", "clean", "utf8", "src", "tgt", "ref"})
NO_LANGUAGE |= {ending[1:] for form in FORMATS.values() for ending in form.suffixes}
Languages = tuple[str, str]


class Piece(NamedTuple):
    """Two line-aligned files (``lines``), or one file of a format with both sides."""

    src: str
    tgt: str | None
    kind: str

    @property
    def files(self) -> list[str]:
        """Its files."""
        return [self.src] if self.tgt is None else [self.src, self.tgt]

    def pairs(self, columns: Languages) -> Pairs:
        """Its sentence pairs; ``columns`` as ``formats.columns_of`` gives them."""
        if self.tgt is not None:
            return Pairs(zip(open_text(self.src), open_text(self.tgt), strict=True))
        return read_pairs(self.src, self.kind, columns)


@dataclass(frozen=True)
class Corpus:
    """Text under one name. Its phrase pairs are counted ``weight`` times."""

    name: str
    pieces: tuple[Piece, ...]
    weight: int = 1

    def __post_init__(self) -> None:
        """Refuse a weight that is no number of times."""
        check_range(f"corpus {self.name}: weight", self.weight, 1, 100)


@dataclass(frozen=True)
class Collection:
    """All the text of a training run."""

    corpora: tuple[Corpus, ...]
    #: pairs of terms: counted like the rest, but no sentences
    glossary: Corpus | None = None
    #: what the sides are called in formats that name them; empty: as the languages, or src and tgt
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse two corpora of one name, and none."""
        names = [corpus.name for corpus in self.corpora]
        if not any(corpus.pieces for corpus in self.corpora):
            raise ArgumentError(
                "text: found none; expected two files, or one that holds both sides"
            )
        for name in names:
            if names.count(name) > 1:
                raise ArgumentError(f"corpus: found `{name}` twice; expected each name once")

    @classmethod
    def of(cls, src: "FilePath | Collection", tgt: FilePath | None = None) -> "Collection":
        """Two files, one file or folder with both sides, or what is a collection already."""
        if isinstance(src, Collection):
            return src
        if tgt is None:
            return cls((Corpus("text", find_pieces([src])),))
        return cls((Corpus("text", (Piece(os.fspath(src), os.fspath(tgt), "lines"),)),))

    @property
    def pieces(self) -> list[Piece]:
        """All pieces of text, without the glossary."""
        return [piece for corpus in self.corpora for piece in corpus.pieces]

    @property
    def files(self) -> list[str]:
        """All files, with those of the glossary."""
        more = self.glossary.pieces if self.glossary else ()
        return [path for piece in (*self.pieces, *more) for path in piece.files]

    @property
    def plain(self) -> tuple[str, str] | None:
        """The two files, if it is nothing but these."""
        [first, *more] = self.pieces
        if more or first.tgt is None or self.glossary or self.is_weighted:
            return None
        return first.src, first.tgt

    @property
    def is_weighted(self) -> bool:
        """Whether something counts more than once."""
        more = [self.glossary] if self.glossary else []
        return any(corpus.weight != 1 for corpus in (*self.corpora, *more))

    @property
    def languages(self) -> Languages:
        """What the names of line-aligned files tell; empty where they do not."""
        for piece in self.pieces:
            if piece.tgt is not None:
                return language_of(piece.src), language_of(piece.tgt)
        return "", ""

    def check(self) -> None:
        """Refuse files that are missing or of different length, before any work."""
        for path in self.files:
            with Path(path).open("rb"):
                pass
        for piece in self.pieces:
            if piece.tgt is not None:
                check_line_counts([piece.src, piece.tgt])


def language_of(path: FilePath) -> str:
    """The language that the end of a file's name tells; empty if it tells none."""
    name = Path(path)
    while name.suffix in COMPRESSION or name.suffix[1:].lower() in NO_LANGUAGE - {""}:
        name = name.with_suffix("")
    return name.suffix[1:]


def find_pieces(paths: Sequence[FilePath], langs: Languages = ("", "")) -> tuple[Piece, ...]:
    """What gives pairs among files and folders; languages tell the pairs of a folder."""
    pieces: list[Piece] = []
    waiting: list[str] = []
    for path in (os.fspath(path) for path in paths):
        if Path(path).is_dir():
            pieces += _pieces_of_folder(Path(path), langs)
        elif format_of(path) != "pipes":
            pieces.append(Piece(path, None, format_of(path)))
        else:
            waiting.append(path)
            if len(waiting) == 2:
                pieces.append(Piece(waiting[0], waiting[1], "lines"))
                waiting = []
    if waiting and len(paths) == 1:
        return (Piece(waiting[0], None, "pipes"),)
    if waiting:
        known = ", ".join(ending for form in FORMATS.values() for ending in form.suffixes)
        expected = f"source and target, two by two, or files that hold both sides ({known})"
        raise ArgumentError(f"{waiting[0]}: found no second file for it; expected {expected}")
    return tuple(pieces)


def _pieces_of_folder(folder: Path, langs: Languages) -> list[Piece]:
    """Files with both sides, and pairs of files of the two languages."""
    pieces = []
    for path in sorted(folder.iterdir()):
        if not path.is_file() or path.name.startswith("."):
            continue
        if format_of(path) != "pipes":
            pieces.append(Piece(str(path), None, format_of(path)))
        elif langs[0] and language_of(path) == langs[0]:
            pieces.append(Piece(str(path), _partner(path, langs), "lines"))
    if not pieces:
        found = f"{folder}: no file with both sides"
        advice = "name the languages (--src-lang, --tgt-lang) to find pairs such as a.de and a.en"
        if all(langs):
            found, advice = f"{found}, no pair of `{langs[0]}` and `{langs[1]}`", "name the files"
        raise ArgumentError(f"{found}; {advice}")
    return pieces


def _partner(path: Path, langs: Languages) -> str:
    """The other side of a file: the same name with the other language, perhaps compressed."""
    head, _, tail = path.name.rpartition(f".{langs[0]}")
    others = [f"{head}.{langs[1]}{end}" for end in (tail, "", *COMPRESSION)]
    for name in others:
        if path.with_name(name).is_file():
            return str(path.with_name(name))
    raise ArgumentError(f"{path}: no {others[0]} beside it; expected both sides of each text")


def read_bitext(
    pieces: Sequence[Piece], langs: Languages = ("", ""), columns: Sequence[str] = ()
) -> Bitext:
    """All pairs of the pieces, as word ids."""
    if len(pieces) == 1 and pieces[0].tgt is not None:
        return Bitext.read(pieces[0].src, pieces[0].tgt)
    for piece in pieces:
        if piece.tgt is not None:
            check_line_counts([piece.src, piece.tgt])
    every: Iterable[tuple[str, str]] = chain.from_iterable(
        piece.pairs(columns_of(piece.src, piece.kind, langs, columns)) for piece in pieces
    )
    return Bitext.from_pairs(every)


def read_sides(paths: Sequence[FilePath], column: str = "") -> Iterator[str]:
    """Lines of text of one language, of files and folders one after the other; see ``read_side``.

    Of a folder, every file is read, by name.
    """
    for path in map(Path, paths):
        inside = sorted(path.iterdir()) if path.is_dir() else [path]
        for file in inside:
            if not path.is_dir() or (file.is_file() and not file.name.startswith(".")):
                yield from read_side(file, column)


def read_side(path: FilePath, column: str) -> Iterator[str]:
    """Lines of text of one language: of a plain file, or of one column of a file with several.

    ``column`` is a language of a TMX file, a key of JSON lines, a column of Parquet, and ``src`` or
    ``tgt`` where columns have no names.
    """
    kind = format_of(path)
    if kind == "pipes":
        yield from open_text(path)
        return
    if not column:
        found = f"{path}: which column is the text?"
        raise ArgumentError(f"{found} give --column, such as `tgt`, `text` or a language")
    if kind in {"tsv", "po"}:
        if column not in {"src", "tgt"}:
            raise FormatError(f"{path}: no column `{column}`; expected src or tgt")
        side = ("src", "tgt").index(column)
        yield from (pair[side] for pair in read_pairs(path, kind))
        return
    yield from (pair[0] for pair in read_pairs(path, kind, (column, column)))
