"""Opens and writes files, and reads sentence pairs from the richer bitext formats.

In: paths; ``.gz``, ``.xz`` and ``.zst`` are undone by the core, told by content, not by name.
Out: bytes, lines, or ``Pairs``: an iterator of ``(src, tgt)`` that counts what it had to skip.
How: one record at a time; XML goes through expat, which never sees more than a block.
Cost: linear, bounded memory; PO alone is held whole, as polib does.
Not: ``tsv`` and ``pipes``, which the core reads itself (``wayword.corpus.Bitext``).

>>> format_of("memory.TMX.gz"), format_of("talks.txt")
('tmx', 'pipes')
>>> folder = tempfile.TemporaryDirectory()
>>> path = Path(folder.name, "pairs.jsonl")
>>> with new_file(path) as file:
...     print('{"de": "ja", "en": "yes"}', file=file)
>>> list(read_jsonl(path, "de", "en"))
[('ja', 'yes')]
>>> folder.cleanup()
"""

import gzip
import io
import json
import os
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO
from xml.parsers import expat

from wayword import _core
from wayword.errors import ArgumentError, FormatError, LimitError

__all__ = [
    "FORMATS",
    "Format",
    "Pairs",
    "format_of",
    "new_file",
    "open_bytes",
    "open_text",
    "read_jsonl",
    "read_pairs",
    "read_parquet",
    "read_po",
    "read_tmx",
    "spooled",
]

FilePath = str | os.PathLike[str]
Pair = tuple[str, str]

COMPRESSION = (".gz", ".xz", ".zst")
BLOCK = 1 << 17
MAX_LINE = 256 << 20  # bytes, as in the core
ROWS = 4096  # of Parquet at a time
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
LINE_BREAKS = re.compile("[\n\r\v\f\x85\u2028\u2029]+")


class Format(NamedTuple):
    """A way to hold both sides in one file."""

    what: str
    suffixes: tuple[str, ...]


FORMATS = {
    "pipes": Format("lines of `src ||| tgt`; any other name", ()),
    "tsv": Format("lines of source, tab, target", (".tsv",)),
    "jsonl": Format("one JSON object a line", (".jsonl", ".ndjson")),
    "tmx": Format("translation memory exchange, XML", (".tmx",)),
    "po": Format("gettext catalogue: msgid and msgstr", (".po",)),
    "parquet": Format("Parquet table with two text columns", (".parquet",)),
}


def format_of(path: FilePath) -> str:
    """The name of a file's format, told by its name."""
    name = Path(path).name.lower()
    for suffix in COMPRESSION:
        name = name.removesuffix(suffix)
    return next((kind for kind, known in FORMATS.items() if name.endswith(known.suffixes)), "pipes")


# --- files ---------------------------------------------------------------------------------------


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
            if len(raw) > MAX_LINE:
                limit = f"{MAX_LINE} bytes a line"
                raise LimitError(f"{path}:{number}: a line that does not end; the limit is {limit}")
            line = raw.removesuffix(b"\n").removesuffix(b"\r")
            if number == 1:
                line = line.removeprefix(BYTE_ORDER_MARK)
            try:
                yield line.decode("utf-8")
            except UnicodeDecodeError as wrong:
                raise _not_utf8(f"{path}:{number}", line, wrong.start, number == 1) from None


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
    with tempfile.TemporaryDirectory(prefix="wayword-") as folder:
        copy = Path(folder, "stdin")
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file, BLOCK)
        yield copy


@contextmanager
def new_file(path: FilePath) -> Iterator[TextIO]:
    r"""Write UTF-8 text with ``\n`` line ends that appears under its name only when whole.

    Until then it stands beside it under a temporary name; an exception removes it. A name in
    ``.gz`` is compressed, with no time inside, so that the same text gives the same bytes.
    """
    path = Path(path)
    if path.suffix in COMPRESSION[1:]:
        raise ArgumentError(f"{path}: cannot write `{path.suffix}`; expected a plain or `.gz` name")
    if path.exists() and not path.is_file():  # a terminal, a pipe, /dev/null: nothing to rename
        with path.open("w", encoding="utf-8", newline="\n") as file:
            yield file
        return
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as raw:
            with _text_over(raw, compress=path.suffix == ".gz") as text:
                yield text
            raw.flush()
            os.fsync(raw.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


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


# --- pairs ---------------------------------------------------------------------------------------


class Pairs(Iterator[Pair]):
    """Sentence pairs as they are read; ``skipped`` counts units that had no pair to give."""

    def __init__(self, units: Iterable[Pair | None]) -> None:
        self._units = iter(units)
        self.skipped = 0

    def __next__(self) -> Pair:
        """The next pair; both sides are single lines."""
        for unit in self._units:
            if unit is not None:
                return _one_line(unit[0]), _one_line(unit[1])
            self.skipped += 1
        raise StopIteration


def read_pairs(path: FilePath, kind: str, columns: tuple[str, str] = ("src", "tgt")) -> Pairs:
    """Read any format of this module; ``columns`` names the sides (languages, for TMX)."""
    if kind not in READERS:
        known = ", ".join(READERS)
        raise ArgumentError(f"format: found `{kind}`; expected one of {known}")
    return READERS[kind](path, *columns)


def _one_line(text: str) -> str:
    return LINE_BREAKS.sub(" ", text.strip())


def read_jsonl(path: FilePath, src: str = "src", tgt: str = "tgt") -> Pairs:
    """Pairs from JSON lines; the keys may also stand inside an object ``translation``."""
    return Pairs(_jsonl_units(path, (src, tgt)))


def _jsonl_units(path: FilePath, keys: Pair) -> Iterator[Pair]:
    for number, line in enumerate(open_text(path), 1):
        if line and not line.isspace():
            yield _json_pair(line, keys, f"{path}:{number}")


def _json_pair(line: str, keys: Pair, place: str) -> Pair:
    wanted = f"an object with `{keys[0]}` and `{keys[1]}`"
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as wrong:
        why = wrong.msg if isinstance(wrong, json.JSONDecodeError) else type(wrong).__name__
        advice = "give one JSON object a line"
        raise FormatError(f"{place}: not JSON ({why}); expected {wanted}; {advice}") from None
    if not isinstance(found, dict):
        kind = type(found).__name__
        raise FormatError(f"{place}: a JSON {kind}; expected {wanted}; give one object a line")
    inner = found.get("translation")
    if isinstance(inner, dict) and not (keys[0] in found and keys[1] in found):
        found = inner
    return _json_side(found, keys[0], place), _json_side(found, keys[1], place)


def _json_side(found: dict[str, Any], key: str, place: str) -> str:
    if key not in found:
        names = ", ".join(f"`{name}`" for name in found) or "none"
        raise FormatError(f"{place}: no key `{key}`; expected it among {names}; name other keys")
    text = found[key]
    if not isinstance(text, str):
        kind = type(text).__name__
        raise FormatError(f"{place}: `{key}` is of type {kind}; expected a string; take it out")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        half = f"`{key}` has half of a surrogate pair"
        raise FormatError(f"{place}: {half}; expected Unicode text; take the line out") from None
    return text


PO_LINE = re.compile(
    r"""\s*(?:\#.*|(?:msg(?:ctxt|id|id_plural|str(?:\[[0-9]+\])?)\s*)?"(?:[^"\\]|\\.)*"\s*)?""",
    re.DOTALL,
)


def read_po(path: FilePath) -> Pairs:
    """Pairs from a gettext catalogue: msgid and msgstr.

    Skipped are fuzzy, obsolete and untranslated entries. A plural entry gives msgid with
    msgstr[0] and msgid_plural with each further form.
    """
    return Pairs(_po_units(path))


def _po_units(path: FilePath) -> Iterator[Pair | None]:
    import polib

    lines = []
    for number, line in enumerate(open_text(path), 1):
        if not PO_LINE.fullmatch(line):  # polib would take off the first and last letter
            raise _bad_po(f"{path}:{number}")
        lines.append(line + "\n")
    try:
        entries = polib.pofile("".join(lines) or "\n")  # the break tells it from a file's name
    except (OSError, ValueError, LookupError, AttributeError, TypeError) as wrong:
        line_number = re.search(r"line (\d+)", str(wrong))
        raise _bad_po(f"{path}:{line_number[1]}" if line_number else str(path)) from None
    for entry in entries:
        if entry.obsolete or entry.fuzzy or not entry.translated():
            yield None
        elif entry.msgid_plural:
            yield from _plural_pairs(entry.msgid, entry.msgid_plural, entry.msgstr_plural)
        else:
            yield (entry.msgid, entry.msgstr) if entry.msgid.strip() else None


def _plural_pairs(one: str, many: str, forms: dict[int, str]) -> Iterator[Pair | None]:
    for number, form in sorted(forms.items()):
        text = one if number == 0 else many
        yield (text, form) if text.strip() and form.strip() else None


def _bad_po(place: str) -> FormatError:
    advice = "check it with `msgfmt -c`"
    return FormatError(f"{place}: not PO syntax; expected a gettext catalogue; {advice}")


PARQUET_TEXT = re.compile(r"(dictionary<values=)?(large_)?string")


def read_parquet(path: FilePath, src: str = "src", tgt: str = "tgt") -> Pairs:
    """Pairs from two text columns, or two fields of a column ``translation``.

    Rows where a side is null are skipped. Needs the extra ``parquet``.
    """
    return Pairs(_parquet_units(path, (src, tgt)))


def _parquet_units(path: FilePath, columns: Pair) -> Iterator[Pair | None]:
    try:
        import pyarrow as arrow
        from pyarrow import compute, parquet
    except ImportError:
        advice = "run `pip install wayword[parquet]`"
        raise ArgumentError(f"{path}: Parquet needs pyarrow, which is missing; {advice}") from None
    rows = 0
    try:
        with Path(path).open("rb") as file, parquet.ParquetFile(file) as table:
            names = _parquet_names(table.schema_arrow, columns, path)
            for batch in table.iter_batches(ROWS, columns=list(names)):
                sides = [_parquet_texts(compute, batch, name, path) for name in names]
                for pair in zip(*sides, strict=True):
                    yield None if None in pair else pair
                rows += batch.num_rows
    except (arrow.ArrowException, UnicodeDecodeError, OSError) as wrong:
        if isinstance(wrong, OSError) and wrong.errno is not None:
            raise  # the system's own complaint: missing file, no permission
        why = str(wrong).partition("\n")[0].rstrip(".")
        found = f"damaged or not Parquet after row {rows} ({why})"
        raise FormatError(f"{path}: {found}; expected a Parquet file; write it again") from None


def _parquet_names(schema: Any, columns: Pair, path: FilePath) -> Pair:
    """The full names of both columns, found at the top or inside ``translation``."""
    found = dict(_leaves(schema))
    names = [name if name in found else f"translation.{name}" for name in columns]
    for name, column in zip(names, columns, strict=True):
        if name not in found:
            known = ", ".join(f"`{known}`" for known in found)
            advice = "name other columns"
            raise FormatError(f"{path}: no column `{column}`; expected it among {known}; {advice}")
    return names[0], names[1]


def _leaves(fields: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for field in fields:
        if str(field.type).startswith("struct"):
            yield from _leaves(field.type, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name, field.type


def _parquet_texts(compute: Any, batch: Any, name: str, path: FilePath) -> list[str | None]:
    outer, _, inner = name.partition(".")
    column = batch.column(name if name in batch.schema.names else outer)
    if name not in batch.schema.names:
        column = compute.struct_field(column, inner.split("."))
    if not PARQUET_TEXT.match(str(column.type)):
        found = f"column `{name}` is of type {column.type}"
        raise FormatError(f"{path}: {found}; expected text; name a column of text")
    texts: list[str | None] = column.to_pylist()
    return texts


# --- TMX -----------------------------------------------------------------------------------------

NATIVE = frozenset({"bpt", "ept", "it", "ph", "ut"})  # formatting codes, not words
FLOWING = frozenset({"hi", "sub"})  # words, also inside a formatting code


def read_tmx(path: FilePath, src_lang: str, tgt_lang: str) -> Pairs:
    """Pairs from a translation memory; ``de`` stands for ``de-DE`` and ``DE`` as well.

    The contents of formatting codes (``bpt ept it ph ut``) are dropped, the words in ``hi`` and
    ``sub`` kept. Units that lack a language are skipped; of several variants the first counts.
    """
    return Pairs(_tmx_units(path, (src_lang, tgt_lang)))


def _tmx_units(path: FilePath, langs: Pair) -> Iterator[Pair | None]:
    units = _TmxUnits(path, langs)
    with open_bytes(path) as file:
        while block := file.read(BLOCK):
            units.feed(block)
            yield from units.take()
    units.feed(b"", last=True)
    yield from units.take()
    units.check_languages()


class _TmxUnits:
    """Takes XML in blocks and collects the units that have ended."""

    def __init__(self, path: FilePath, langs: Pair) -> None:
        self._path = path
        self._langs = langs
        self._wanted = [lang.lower().replace("_", "-") for lang in langs]
        self._seen: dict[str, None] = {}  # languages of the file, in order
        self._done: list[Pair | None] = []
        self._sides: list[str | None] = [None, None]
        self._lang = ""
        self._pieces: list[str] = []
        self._keeps: list[bool] = []  # inside <seg>: whether the text of each open element counts
        self._rooted = False
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.EntityDeclHandler = self._entity
        self._parser.SkippedEntityHandler = self._skipped_entity

    def feed(self, block: bytes, *, last: bool = False) -> None:
        try:
            self._parser.Parse(block, last)
        except expat.ExpatError as wrong:
            why = expat.errors.messages.get(wrong.code, "unknown encoding")
            found = f"broken XML ({why})"
            raise self._error(found, "a TMX file", "export it again", wrong.lineno) from None
        except (ValueError, LookupError) as wrong:  # an encoding that Python does not have
            if isinstance(wrong, FormatError):
                raise
            found = "an encoding that cannot be read"
            raise self._error(found, "UTF-8 or UTF-16", "export it again", 1) from None

    def take(self) -> list[Pair | None]:
        done, self._done = self._done, []
        return done

    def check_languages(self) -> None:
        """Complain when the file has units but never one of the two languages."""
        for lang, wanted in zip(self._langs, self._wanted, strict=True):
            if self._seen and not any(_is_language(seen, wanted) for seen in self._seen):
                known = ", ".join(f"`{seen}`" for seen in self._seen)
                found = f"{self._path}: no unit in `{lang}`"
                raise FormatError(f"{found}; expected a language of the file: {known}; name two")

    def _error(self, found: str, expected: str, advice: str, line: int = 0) -> FormatError:
        place = f"{self._path}:{line or self._parser.CurrentLineNumber}"
        return FormatError(f"{place}: {found}; expected {expected}; {advice}")

    def _entity(self, name: str, *_rest: object) -> None:
        # Such files are attacks far more often than memories.
        advice = "export it again, or write the text itself"
        raise self._error(f"entity `{name}` is declared", "no entities of its own", advice)

    def _skipped_entity(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            raise self._error(f"unknown entity `{name}`", "plain characters", "export it again")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._rooted and name != "tmx":
            advice = "is this another kind of XML?"
            raise self._error(f"root element `{name}`", "`tmx`", advice)
        self._rooted = True
        if self._keeps:
            inside = self._keeps[-1]
            self._keeps.append(name not in NATIVE and (inside or name in FLOWING))
        elif name == "seg":
            self._keeps, self._pieces = [True], []
        elif name == "tuv":
            lang = attributes.get("xml:lang") or attributes.get("lang") or ""
            self._lang = lang.lower().replace("_", "-")
            self._seen[self._lang] = None
        elif name == "tu":
            self._sides = [None, None]

    def _text(self, data: str) -> None:
        if self._keeps and self._keeps[-1]:
            self._pieces.append(data)

    def _end(self, name: str) -> None:
        if self._keeps:
            self._keeps.pop()
            if not self._keeps:
                self._end_segment()
        elif name == "tu":
            src, tgt = self._sides
            self._done.append(None if src is None or tgt is None else (src, tgt))

    def _end_segment(self) -> None:
        for side, wanted in enumerate(self._wanted):
            if self._sides[side] is None and _is_language(self._lang, wanted):
                self._sides[side] = "".join(self._pieces)


def _is_language(found: str, wanted: str) -> bool:
    return found == wanted or found.startswith(wanted + "-")


def _read_po_columns(path: FilePath, _src: str, _tgt: str) -> Pairs:
    return read_po(path)


READERS: dict[str, Callable[[FilePath, str, str], Pairs]] = {
    "jsonl": read_jsonl,
    "tmx": read_tmx,
    "po": _read_po_columns,
    "parquet": read_parquet,
}
