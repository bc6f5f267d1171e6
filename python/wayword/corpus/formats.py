"""Reads sentence pairs from files with both sides: TSV, pipes, JSON lines, TMX, PO, Parquet.

In: paths. Out: ``Pairs``: an iterator of ``(src, tgt)`` that counts what it had to skip.
How: one record at a time.
Cost: linear, bounded memory; PO alone is held whole, as polib does.
Not: word ids of ``tsv`` and ``pipes``, which the core reads itself (``wayword.corpus.Bitext``).

>>> format_of("memory.TMX.gz"), format_of("talks.txt")
('tmx', 'pipes')
>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder, "pairs.jsonl")
...     _ = path.write_text('{"de": "ja", "en": "yes"}')
...     list(read_jsonl(path, "de", "en"))
[('ja', 'yes')]
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from wayword.corpus.files import COMPRESSION, open_text
from wayword.corpus.tmx import tmx_units
from wayword.errors import ArgumentError, FormatError
from wayword.types import FilePath

__all__ = [
    "FORMATS",
    "Format",
    "Pairs",
    "columns_of",
    "format_of",
    "read_columns",
    "read_jsonl",
    "read_pairs",
    "read_parquet",
    "read_po",
    "read_tmx",
]

Pair = tuple[str, str]

ROWS = 4096  # of Parquet at a time
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


def columns_of(path: FilePath, kind: str, langs: Pair, columns: Sequence[str] = ()) -> Pair:
    """What the two sides of a file are called: as given, as the languages, or ``src`` and ``tgt``.

    Languages count where the first record has them; in a translation memory they must be given.
    """
    if columns:
        return columns[0], columns[1]
    if kind == "tmx" and not all(langs):
        advice = "name them (--src-lang, --tgt-lang)"
        raise ArgumentError(f"{path}: which two languages of the memory? {advice}")
    if kind in {"jsonl", "parquet"} and all(langs):
        try:
            next(read_pairs(path, kind, langs), None)
        except FormatError as error:
            if "no key" not in str(error) and "no column" not in str(error):
                raise
            return "src", "tgt"
    return langs if all(langs) and kind != "tsv" else ("src", "tgt")


def read_columns(path: FilePath, separator: str) -> Pairs:
    """Pairs from lines of source, separator, target."""
    return Pairs(_column_units(path, separator))


def _column_units(path: FilePath, separator: str) -> Iterator[Pair]:
    name = {"\t": "a tab"}.get(separator, f"`{separator}`")
    for number, line in enumerate(open_text(path), 1):
        fields = line.split(separator)
        if len(fields) != 2:
            raise FormatError(f"{path}:{number}: {_wrong_columns(len(fields), name)}")
        yield fields[0], fields[1]


def _wrong_columns(count: int, separator: str) -> str:
    if count == 1:
        advice = "is the other side in a file of its own? then name both"
        return f"no {separator}; expected it between source and target; {advice}"
    return f"{count} columns; expected 2 with {separator} between them; take other columns out"


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
        record = json.loads(line)
    except (ValueError, RecursionError) as wrong:
        why = wrong.msg if isinstance(wrong, json.JSONDecodeError) else type(wrong).__name__
        advice = "give one JSON object a line"
        raise FormatError(f"{place}: not JSON ({why}); expected {wanted}; {advice}") from None
    if not isinstance(record, dict):
        kind = type(record).__name__
        raise FormatError(f"{place}: a JSON {kind}; expected {wanted}; give one object a line")
    inner = record.get("translation")
    if isinstance(inner, dict) and not (keys[0] in record and keys[1] in record):
        record = inner
    return _json_side(record, keys[0], place), _json_side(record, keys[1], place)


def _json_side(record: dict[str, Any], key: str, place: str) -> str:
    if key not in record:
        names = ", ".join(f"`{name}`" for name in record) or "none"
        raise FormatError(f"{place}: no key `{key}`; expected it among {names}; name other keys")
    text = record[key]
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


def read_tmx(path: FilePath, src_lang: str, tgt_lang: str) -> Pairs:
    """Pairs from a translation memory; ``de`` stands for ``de-DE`` and ``DE`` as well.

    The contents of formatting codes (``bpt ept it ph ut``) are dropped, the words in ``hi`` and
    ``sub`` kept. Units that lack a language are skipped; of several variants the first counts.
    """
    return Pairs(tmx_units(path, (src_lang, tgt_lang)))


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


def _plural_pairs(singular: str, plural: str, forms: dict[int, str]) -> Iterator[Pair | None]:
    for number, form in sorted(forms.items()):
        text = singular if number == 0 else plural
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
    leaves = dict(_leaves(schema))
    names = [name if name in leaves else f"translation.{name}" for name in columns]
    for name, column in zip(names, columns, strict=True):
        if name not in leaves:
            known = ", ".join(f"`{known}`" for known in leaves)
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


def _read_po_columns(path: FilePath, _src: str, _tgt: str) -> Pairs:
    return read_po(path)


def _read_tsv(path: FilePath, _src: str, _tgt: str) -> Pairs:
    return read_columns(path, "\t")


def _read_pipes(path: FilePath, _src: str, _tgt: str) -> Pairs:
    return read_columns(path, "|||")


READERS: dict[str, Callable[[FilePath, str, str], Pairs]] = {
    "tsv": _read_tsv,
    "pipes": _read_pipes,
    "jsonl": read_jsonl,
    "tmx": read_tmx,
    "po": _read_po_columns,
    "parquet": read_parquet,
}
