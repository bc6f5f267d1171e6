"""What a system learns after its training, one pair or term at a time, and the journal of it.

In: corrected pairs with the links between their words, terms with the translations they must get.
Out: ``Lesson`` values; a ``Journal`` that keeps them through a kill; sentences in which terms are
marked, so that the decoder holds to them.
How: a lesson is a line of JSON with a checksum of its own. It is written by one call at the end of
the file and is on the disk before ``append`` returns. A last line that was never finished belongs
to a lesson that nobody was told is kept: it is left out, and cut off by the next writer.
Cost: a lesson costs the disk one flush; reading is linear.
Not: forgetting. A later lesson counts beside an earlier one; a later term replaces it.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     journal = Journal(Path(folder) / "learned.jsonl")
...     journal.append([Lesson.term(["Haus"], ["dwelling"], id="1")])
...     half = journal.path.read_text() + '{"id": "2", "ki'  # killed in the middle
...     _ = journal.path.write_text(half)
...     [lesson.tgt for lesson in journal.read()]
[('dwelling',)]
"""

import json
import os
import re
import secrets
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr, unescape

from wayword import _core
from wayword.corpus.files import new_file
from wayword.corpus.source import Source
from wayword.errors import ArgumentError, FormatError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "JOURNAL",
    "Journal",
    "Lesson",
    "Terms",
    "mark_terms",
    "read_lessons",
    "terms_of",
    "write_lessons",
]

#: The journal's name in a system folder.
JOURNAL = "learned.jsonl"
KINDS = ("pair", "term")
#: What keeps Windows from writing other ends of lines.
BINARY: int = getattr(os, "O_BINARY", 0)
#: The byte that is locked where whole files cannot be.
FAR = 1 << 30
#: Target words by source words.
Terms = Mapping[tuple[str, ...], tuple[str, ...]]

_TAG = re.compile(r"""(<(?:[^<>"']|"[^"]*"|'[^']*')*>)""")
_ORDER_TAG = re.compile(r"</?(?:zone|wall)\b")
_SIGNS = {"&quot;": '"', "&apos;": "'"}


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """A pair or a term, in tokens as the system prepares them."""

    id: str
    #: ``pair``: a sentence and its translation; ``term``: words that must be translated so
    kind: str
    src: tuple[str, ...]
    tgt: tuple[str, ...]
    links: tuple[tuple[int, int], ...] = ()

    @classmethod
    def pair(
        cls, src: Iterable[str], tgt: Iterable[str], links: Iterable[Sequence[int]]
    ) -> "Lesson":
        """A sentence and its translation; links lead from source to target positions."""
        joined = tuple((int(i), int(j)) for i, j in links)
        return cls(id=_new_id(), kind="pair", src=tuple(src), tgt=tuple(tgt), links=joined)

    @classmethod
    def term(cls, src: Iterable[str], tgt: Iterable[str], *, id: str = "") -> "Lesson":  # noqa: A002
        """Words that must be translated so."""
        return cls(id=id or _new_id(), kind="term", src=tuple(src), tgt=tuple(tgt))

    def __post_init__(self) -> None:
        """Refuse what nothing can be learned from."""
        if self.kind not in KINDS:
            raise ArgumentError(f"lesson: found kind `{self.kind}`; expected {' or '.join(KINDS)}")
        for name, words in (("source", self.src), ("target", self.tgt)):
            if not words and not (self.kind == "term" and name == "target"):
                raise ArgumentError(f"lesson: no words in the {name}; expected some")
            if any(not word or word.split() != [word] for word in words):
                raise ArgumentError(f"lesson: white space inside a word of the {name}")
        for i, j in self.links:
            if not (0 <= i < len(self.src) and 0 <= j < len(self.tgt)):
                sizes = f"{len(self.src)} and {len(self.tgt)} words"
                raise ArgumentError(f"lesson: found link {i}-{j}; expected places inside {sizes}")

    def to_line(self) -> str:
        """The lesson as a line of a file, without its end."""
        values = asdict(self)
        return json.dumps({**values, "sum": _checksum(values)}, ensure_ascii=False)

    @classmethod
    def from_line(cls, line: str) -> "Lesson":
        """The lesson that ``to_line`` wrote."""
        values = json.loads(line)
        known = values.pop("sum", None) if isinstance(values, dict) else None
        if known is None or known != _checksum(values):
            raise ValueError("another checksum than noted")
        links = tuple((int(i), int(j)) for i, j in values["links"])
        words = {side: tuple(values[side]) for side in ("src", "tgt")}
        return cls(id=str(values["id"]), kind=str(values["kind"]), **words, links=links)


def _new_id() -> str:
    return secrets.token_hex(8)


def _checksum(values: Mapping[str, Any]) -> str:
    text = json.dumps(values, ensure_ascii=False, sort_keys=True)
    return f"{zlib.crc32(text.encode()):08x}"


def write_lessons(path: Path, lessons: Sequence[Lesson]) -> None:
    """Write a whole file of lessons, after a head that tells how many."""
    with new_file(path) as file:
        print(_head(len(lessons)), file=file)
        for lesson in lessons:
            print(lesson.to_line(), file=file)


def read_lessons(path: Path) -> list[Lesson]:
    """The lessons that ``write_lessons`` wrote, all of them."""
    lines = path.read_bytes().split(b"\n")
    lessons = _lessons(path, lines[1:-1], 2)
    expected = _head(len(lessons))
    if lines[0] != expected.encode() or lines[-1]:
        found = f"found `{lines[0][:40].decode(errors='replace')}` before {len(lessons)} lessons"
        raise FormatError(f"{path}:1: {found}; expected `{expected}`")
    return lessons


def _head(count: int) -> str:
    return f"# wayword learned, format 1, {count} lessons"


def _lessons(path: Path, lines: Iterable[bytes], first: int) -> list[Lesson]:
    """The lessons of lines, each once; the first line has this number."""
    lessons: dict[str, Lesson] = {}
    for number, line in enumerate(lines, first):
        try:
            lesson = Lesson.from_line(line.decode())
        except (ValueError, KeyError, TypeError, ArgumentError) as error:
            advice = "the file was changed or damaged; take the line out to do without it"
            raise FormatError(f"{path}:{number}: no lesson ({error}); {advice}") from None
        lessons.setdefault(lesson.id, lesson)
    return list(lessons.values())


def _is_whole(line: bytes) -> bool:
    try:
        Lesson.from_line(line.decode())
    except (ValueError, KeyError, TypeError, ArgumentError):
        return False
    return True


class Journal:
    """A file of lessons that only grows, until they are merged into the system."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def read(self) -> list[Lesson]:
        """What was learned so far; a last line that was never finished is left out."""
        if not self.path.exists():
            return []
        *lines, last = self.path.read_bytes().split(b"\n")
        if _is_whole(last[:-1]):  # a line that was cut short is no whole lesson and a byte more
            lines.append(last)
        return _lessons(self.path, lines, 1)

    def append(self, lessons: Iterable[Lesson]) -> None:
        """Add lessons; they are on the disk, all of them, when this returns."""
        data = "".join(f"{lesson.to_line()}\n" for lesson in lessons).encode()
        with self._locked() as file:
            end = _cut_half_line(file)
            try:
                written = 0
                while written < len(data):
                    written += os.write(file, data[written:])
                os.fsync(file)
            except OSError:
                os.ftruncate(file, end)  # nobody is told that they are kept
                raise

    @contextmanager
    def emptied(self) -> Iterator[list[Lesson]]:
        """What was learned, while nobody can add to it; gone when the block ends well."""
        if not self.path.exists():
            yield []
            return
        with self._locked() as file:
            yield self.read()
            os.ftruncate(file, 0)
            os.fsync(file)

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """The file open at its end, for this process alone."""
        is_new = not self.path.exists()
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | BINARY, 0o600)
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
            else:
                _lock_on_windows(file)
            if is_new:
                _flush_folder(self.path.parent)
            yield file
        finally:
            os.close(file)


def _lock_on_windows(file: int) -> None:
    """Lock a byte far behind the end, which keeps nobody from reading; it waits for others."""
    from importlib import import_module

    windows = import_module("msvcrt")
    os.lseek(file, FAR, os.SEEK_SET)
    windows.locking(file, windows.LK_LOCK, 1)


def _cut_half_line(file: int) -> int:
    """Cut off a line that a killed writer left; where the file ends then."""
    size = os.fstat(file).st_size
    end = size
    while end:
        step = min(end, 1 << 16)
        os.lseek(file, end - step, os.SEEK_SET)
        block = os.read(file, step)
        at = block.rfind(b"\n")
        if at >= 0:
            end = end - step + at + 1
            break
        end -= step
    if end < size:
        os.ftruncate(file, end)
    return end


def _flush_folder(folder: Path) -> None:
    """Have the name of a new file on the disk, where folders can be flushed."""
    if os.name == "nt":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def terms_of(lessons: Iterable[Lesson]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """The terms among lessons; the last word on each counts."""
    return {lesson.src: lesson.tgt for lesson in lessons if lesson.kind == "term"}


def mark_terms(source: Source, terms: Terms) -> Source:
    """The sentence with a demand for each term in it, from left to right, longest first.

    Demands that are there stay; the first word of a sentence may differ from a term in case.

    >>> from wayword.corpus.source import Source
    >>> terms = {("Haus",): ("dwelling",)}
    >>> mark_terms(Source.of("das Haus ist alt"), terms).markup.__getnewargs__()[0]
    'das <term translation="dwelling">Haus</term> ist alt'
    """
    if not terms or not len(source):
        return source
    if source.markup is None:
        line, mode, file, number = " ".join(map(escape, source.words)), "exclusive", "terms", 1
    else:
        line, mode, file, number = source.markup.__getnewargs__()
    if mode == "ignore" or source.order is not None:
        return source
    marked = " ".join(_marked(line, terms))
    if marked == line:
        return source
    return replace(source, markup=_core.Markup(marked, mode, file, number))


def _marked(line: str, terms: Terms) -> Iterator[str]:
    """The tags and words of a line, tags around the terms that stand in no other demand."""
    longest = max(map(len, terms))
    folded = {tuple(map(str.casefold, src)): src for src in terms}
    is_given, is_first = False, True
    for number, piece in enumerate(_TAG.split(line)):
        if number % 2:
            if not _ORDER_TAG.match(piece) and not piece.endswith("/>"):
                is_given = not piece.startswith("</")
            yield piece
            continue
        words = [unescape(word, _SIGNS) for word in piece.split()]
        at = 0
        while at < len(words):
            term = None if is_given else _term_at(words, at, longest, terms)
            if term is None and is_first and not is_given:
                begun = [tuple(map(str.casefold, words[:size])) for size in range(longest, 0, -1)]
                term = next((folded[key] for key in begun if key in folded), None)
            is_first = False
            size = 1 if term is None else len(term)
            text = " ".join(map(escape, words[at : at + size]))
            yield text if term is None else _demand(text, terms[term])
            at += size


def _term_at(words: Sequence[str], at: int, longest: int, terms: Terms) -> tuple[str, ...] | None:
    for size in range(min(longest, len(words) - at), 0, -1):
        if tuple(words[at : at + size]) in terms:
            return tuple(words[at : at + size])
    return None


def _demand(text: str, words: Sequence[str]) -> str:
    value = quoteattr(" ".join(words).replace("|", "&#124;")).replace("&amp;#124;", "&#124;")
    return f"<term translation={value}>{text}</term>"
