"""Files: opening, writing and the bitext formats that Python reads."""

import gzip
import io
import lzma
import os
import re
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pyarrow as arrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from wayword.corpus import Bitext, files
from wayword.corpus.files import new_file, open_bytes, open_text, spooled
from wayword.corpus.formats import (
    FORMATS,
    format_of,
    read_jsonl,
    read_pairs,
    read_parquet,
    read_po,
    read_tmx,
)
from wayword.errors import ArgumentError, FormatError, LimitError


def write(path: Path, data: bytes | str) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


# --- names ---


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.tsv", "tsv"),
        ("a.TSV.gz", "tsv"),
        ("a.jsonl.zst", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("folder.po/a.tmx.xz", "tmx"),
        ("a.po", "po"),
        ("a.parquet", "parquet"),
        ("a.txt", "pipes"),
        ("-", "pipes"),
    ],
)
def test_the_name_tells_the_format(name: str, kind: str) -> None:
    assert format_of(name) == kind
    assert kind in FORMATS


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ArgumentError) as caught:
        read_pairs("a.doc", "doc")
    assert (
        str(caught.value)
        == "format: found `doc`; expected one of tsv, pipes, jsonl, tmx, po, parquet"
    )


# --- reading ---


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_compression_is_undone_whatever_the_name(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    text = "schön\n".encode() * 100_000
    path = write(tmp_path / "text", pack(text))
    with open_bytes(path) as file:
        assert file.read() == text
    assert sum(1 for _ in open_text(path)) == 100_000


def test_lines_end_at_newline_only(tmp_path: Path) -> None:
    path = write(tmp_path / "text", "\ufeffa\u2028b\x85\x0cc\r\r\n\nd\re")
    assert list(open_text(path)) == ["a\u2028b\x85\x0cc\r", "", "d\re"]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"))))
@settings(max_examples=60)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "lines.gz"
    lines = [line.removeprefix("\ufeff") for line in lines]
    with new_file(path) as file:
        file.writelines(line + "\n" for line in lines)
    assert list(open_text(path)) == lines


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"ja\nabcdef\xff\n", ":2: byte 7 (0xff) is not UTF-8"),
        (b"\xef\xbb\xbfa\xc3", ":1: byte 2 (0xc3) is not UTF-8"),
        ("ja\n".encode("utf-16"), ":1: UTF-16 text"),
    ],
)
def test_bad_bytes_are_placed(tmp_path: Path, data: bytes, message: str) -> None:
    path = write(tmp_path / "train.de", data)
    with pytest.raises(FormatError) as caught:
        list(open_text(path))
    advice = "convert the file with iconv, or let `wayword doctor` take such lines out"
    assert str(caught.value) == f"{path}{message}; expected UTF-8 text; {advice}"


def test_an_endless_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE", 8)
    path = write(tmp_path / "text", "1234567\n12345678\n")
    with pytest.raises(LimitError) as caught:
        list(open_text(path))
    assert str(caught.value) == f"{path}:2: a line that does not end; the limit is 8 bytes a line"


def test_a_damaged_archive_is_a_format_error(tmp_path: Path) -> None:
    path = write(tmp_path / "text.gz", gzip.compress(b"zeile\n" * 99)[:-9])
    with pytest.raises(FormatError, match="damaged or cut short"):
        list(open_text(path))


def test_a_missing_file_stays_file_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(open_text(tmp_path / "none"))


def test_errors_in_standard_input_do_not_name_the_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"eins\n\xff\n")))
    with (
        pytest.raises(FormatError, match=r"^stdin:2: byte 1 \(0xff\) is not UTF-8"),
        spooled("-") as path,
    ):
        list(open_text(path))


def test_standard_input_is_spooled_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"eins\nzwei\n")))
    with spooled("-") as path:
        assert list(open_text(path)) == ["eins", "zwei"]
        assert list(open_text(path)) == ["eins", "zwei"]
    assert not path.parent.exists()


def test_a_named_file_is_not_copied(tmp_path: Path) -> None:
    with spooled(tmp_path / "text") as path:
        assert path == tmp_path / "text"


# --- writing ---


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = write(tmp_path / "text", "alt\n")
    with new_file(path) as file:
        file.write("neu\r\n")
        file.flush()
        assert path.read_bytes() == b"alt\n"
    assert path.read_bytes() == b"neu\r\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["text", "text.gz"])
@pytest.mark.parametrize("cause", [RuntimeError, KeyboardInterrupt])
def test_a_failure_leaves_nothing_behind(
    tmp_path: Path, name: str, cause: type[BaseException]
) -> None:
    def fail() -> None:
        with new_file(tmp_path / name) as file:
            file.write("halb")
            raise cause

    with pytest.raises(cause):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_compressed_output_is_the_same_every_time(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        with new_file(tmp_path / name) as file:
            file.write("gleich\n" * 1000)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"gleich\n" * 1000
    assert (tmp_path / "a.gz").read_bytes()[4:8] == bytes(4)  # no time


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    with new_file(tmp_path / "ours"):
        pass
    (tmp_path / "usual").touch()
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.skipif(os.name != "posix", reason="needs a device file")
def test_a_device_is_written_to_not_replaced() -> None:
    with new_file("/dev/null") as file:
        file.write("weg")
    assert Path("/dev/null").is_char_device()


def test_other_compression_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError) as caught, new_file(tmp_path / "a.xz"):
        pass
    message = f"{tmp_path / 'a.xz'}: cannot write `.xz`; expected a plain or `.gz` name"
    assert str(caught.value) == message


# --- JSON lines ---


def test_keys_may_be_chosen_or_stand_in_a_translation(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl",
        '{"de": "ja", "en": "yes"}\n\n{"translation": {"en": "a\\n\\nb", "de": " a\\r\\nb "}}\n',
    )
    assert list(read_jsonl(path, "de", "en")) == [("ja", "yes"), ("a b", "a b")]
    assert next(read_pairs(path, "jsonl", ("en", "de"))) == ("yes", "ja")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"src": "a"', "not JSON (Expecting ',' delimiter); expected an object with `src` and "
         "`tgt`; give one JSON object a line"),
        ("[" * 100_000, "not JSON (RecursionError); expected an object with `src` and `tgt`; "
         "give one JSON object a line"),
        ("9" * 5000, "not JSON (ValueError); expected an object with `src` and `tgt`; "
         "give one JSON object a line"),
        ('["a", "b"]', "a JSON list; expected an object with `src` and `tgt`; "
         "give one object a line"),
        ('{"src": "a", "x": 1}', "no key `tgt`; expected it among `src`, `x`; name other keys"),
        ("{}", "no key `src`; expected it among none; name other keys"),
        ('{"src": "a", "tgt": 1}', "`tgt` is of type int; expected a string; take it out"),
        ('{"src": "\\ud83d", "tgt": "b"}', "`src` has half of a surrogate pair; "
         "expected Unicode text; take the line out"),
    ],
)  # fmt: skip
def test_a_bad_json_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path / "a.jsonl", '{"src": "a", "tgt": "b"}\n' + line + "\n")
    pairs = read_jsonl(path)
    assert next(pairs) == ("a", "b")
    with pytest.raises(FormatError) as caught:
        next(pairs)
    assert str(caught.value) == f"{path}:2: {message}"


# --- TMX ---


def tmx(body: str, head: str = '<?xml version="1.0" encoding="UTF-8"?>') -> str:
    return f'{head}\n<tmx version="1.4"><header/><body>\n{body}\n</body></tmx>\n'


def unit(**sides: str) -> str:
    variants = "".join(
        f'<tuv xml:lang="{lang.replace("_", "-")}"><seg>{text}</seg></tuv>'
        for lang, text in sides.items()
    )
    return f"<tu><prop>x</prop>{variants}</tu>\n"


def test_languages_match_by_their_first_part_in_any_case(tmp_path: Path) -> None:
    body = (
        unit(DE_de="ja", en="yes", fr="oui") + unit(en_US="no", de="nein") + unit(den="x", en="y")
    )
    pairs = read_tmx(write(tmp_path / "a.tmx", tmx(body)), "de", "EN")
    assert list(pairs) == [("ja", "yes"), ("nein", "no")]
    assert pairs.skipped == 1


def test_formatting_codes_are_dropped_and_words_kept(tmp_path: Path) -> None:
    segment = (
        '<bpt i="1">&lt;b&gt;</bpt>fett<ept i="1">&lt;/b&gt;</ept>, <hi>rot</hi> &amp; '
        "<ph>&lt;img alt=<sub>Bild <hi>x</hi></sub>&gt;</ph>\n<it>{</it><ut>}</ut>da"
    )
    path = write(tmp_path / "a.tmx", tmx(unit(de=segment, en="x")))
    assert list(read_tmx(path, "de", "en")) == [("fett, rot & Bild x da", "x")]


def test_utf_16_memories_are_read(tmp_path: Path) -> None:
    text = tmx(unit(de="größer", en="bigger"), '<?xml version="1.0" encoding="UTF-16"?>')
    path = write(tmp_path / "a.tmx", text.encode("utf-16"))
    assert list(read_tmx(path, "de", "en")) == [("größer", "bigger")]


def test_the_usual_document_type_is_allowed(tmp_path: Path) -> None:
    head = '<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd">'
    path = write(tmp_path / "a.tmx", tmx(unit(de="ja", en="yes"), head))
    assert list(read_tmx(path, "de", "en")) == [("ja", "yes")]


def test_a_language_that_never_comes_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tmx", tmx(unit(de="ja", en="yes") + unit(fr_CA="oui")))
    with pytest.raises(FormatError) as caught:
        list(read_tmx(path, "de", "es"))
    assert str(caught.value) == (
        f"{path}: no unit in `es`; expected a language of the file: `de`, `en`, `fr-ca`; name two"
    )


BOMB = '<!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (tmx("<tu><tuv></tu>"), ":3: broken XML (mismatched tag); expected a TMX file; "
         "export it again"),
        ("<tmx>", ":1: broken XML (no element found); expected a TMX file; export it again"),
        ("", ":1: broken XML (no element found); expected a TMX file; export it again"),
        ("<html/>", ":1: root element `html`; expected `tmx`; is this another kind of XML?"),
        (tmx(unit(de="&b;"), BOMB), ":1: entity `a` is declared; expected no entities of its own; "
         "export it again, or write the text itself"),
        (tmx(unit(de="&nbsp;"), '<!DOCTYPE tmx SYSTEM "tmx14.dtd">'), ":3: unknown entity `nbsp`; "
         "expected plain characters; export it again"),
        ('<?xml version="1.0" encoding="klingon"?><tmx/>', ":1: an encoding that cannot be "
         "read; expected UTF-8 or UTF-16; export it again"),
    ],
)  # fmt: skip
def test_bad_xml_is_placed(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path / "a.tmx", text)
    with pytest.raises(FormatError) as caught:
        list(read_tmx(path, "de", "en"))
    assert str(caught.value) == f"{path}{message}"


def test_a_long_memory_needs_little_memory(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tmx", tmx(unit(de="wort " * 20, en="word " * 20) * 8_000))
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_tmx(path, "de", "en")) == 8_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 2_000_000
    assert peak < 1_000_000


# --- PO ---

HEADER = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'


def test_a_catalogue_gives_what_is_translated(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(
        tmp_path / "a.po",
        HEADER
        + '#: a.c:1\nmsgctxt "menu"\nmsgid "Open\\n"\n"file"\nmsgstr "Datei\\n"\n"öffnen"\n\n'
        + '#, fuzzy\nmsgid "a"\nmsgstr "b"\n\n'
        + 'msgid "c"\nmsgstr ""\n\n'
        + 'msgid "%d file"\nmsgid_plural "%d files"\nmsgstr[0] "%d Datei"\n'
        + 'msgstr[1] "%d Dateien"\n\n'
        + '#~ msgid "old"\n#~ msgstr "alt"\n',
    )
    pairs = read_po(path)
    assert list(pairs) == [
        ("Open file", "Datei öffnen"),
        ("%d file", "%d Datei"),
        ("%d files", "%d Dateien"),
    ]
    assert pairs.skipped == 3  # fuzzy, untranslated, obsolete
    assert len(list(read_pairs(path, "po"))) == 3
    caplog.set_level("INFO", "wayword")
    assert len(Bitext.read(path)) == 3
    assert caplog.messages == [f"{path}: 3 units had no pair to give"]


def test_bad_po_syntax_is_placed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.po", HEADER + 'msgid "a"\nmsgstr broken\n')
    with pytest.raises(FormatError) as caught:
        list(read_po(path))
    assert str(caught.value) == (
        f"{path}:5: not PO syntax; expected a gettext catalogue; check it with `msgfmt -c`"
    )


# --- Parquet ---


def test_text_columns_and_translations_are_read(tmp_path: Path) -> None:
    sides = {"de": ["ja", None, "a\nb"], "en": ["yes", "no", "c"], "n": [1, 2, 3]}
    rows = [{"translation": {"de": "ja", "en": "yes"}}, {"translation": None}]
    parquet.write_table(arrow.table(sides), tmp_path / "flat.parquet")
    parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "deep.parquet")
    pairs = read_parquet(tmp_path / "flat.parquet", "de", "en")
    assert list(pairs) == [("ja", "yes"), ("a b", "c")]
    assert pairs.skipped == 1
    assert list(read_parquet(tmp_path / "deep.parquet", "en", "de")) == [("yes", "ja")]


def test_words_in_a_dictionary_are_text_and_lists_are_not(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    words = arrow.array(["ja", "ja"]).dictionary_encode()
    parquet.write_table(arrow.table({"src": words, "tgt": ["a", "b"], "x": [["a"], []]}), path)
    assert list(read_parquet(path)) == [("ja", "a"), ("ja", "b")]
    with pytest.raises(FormatError, match="column `x` is of type list<"):
        list(read_parquet(path, "src", "x"))


def test_bad_parquet_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"de": ["ja"], "n": [1]}), path)
    with pytest.raises(FormatError) as caught:
        list(read_parquet(path, "de", "en"))
    assert str(caught.value) == (
        f"{path}: no column `en`; expected it among `de`, `n`; name other columns"
    )
    with pytest.raises(FormatError) as caught:
        list(read_parquet(path, "de", "n"))
    assert str(caught.value) == (
        f"{path}: column `n` is of type int64; expected text; name a column of text"
    )
    with pytest.raises(FormatError, match="damaged or not Parquet after row 0"):
        list(read_parquet(write(path, "not parquet at all")))
    with pytest.raises(FileNotFoundError):
        list(read_parquet(tmp_path / "none"))


def test_without_pyarrow_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ArgumentError) as caught:
        next(read_parquet(tmp_path / "a.parquet"))
    assert str(caught.value) == (
        f"{tmp_path / 'a.parquet'}: Parquet needs pyarrow, which is missing; "
        "run `pip install wayword[parquet]`"
    )


# --- any bytes ---

SCRAPS = st.sampled_from(
    b'{|"src":|"a"|,|"tgt":|}|<tmx>|<tu>|<tuv xml:lang="src">|<seg>|</seg>|</tuv>|</tu>|</tmx>|&'
    b'|msgid "a"|msgstr "b"|msgstr[0] "c"|msgid_plural "d"|#, fuzzy|#~ |\n|\xff|PAR1'.split(b"|")
)


@settings(max_examples=60)
@given(st.binary(max_size=80) | st.lists(SCRAPS, max_size=30).map(b"".join))
@pytest.mark.parametrize("kind", ["jsonl", "tmx", "po", "parquet"])
def test_any_bytes_give_pairs_or_a_format_error(
    tmp_path_factory: pytest.TempPathFactory, kind: str, data: bytes
) -> None:
    path = write(tmp_path_factory.getbasetemp() / f"any.{kind}", data)

    def gives_pairs_or_says_why() -> bool:
        try:
            return all(len(pair) == 2 for pair in read_pairs(path, kind))
        except FormatError as error:
            return str(path) in str(error) and "\n" not in str(error)

    assert gives_pairs_or_says_why()


# --- the page ---


def test_the_page_on_formats_has_every_kind_of_binary_file() -> None:
    root = Path(__file__).parents[1]
    page = (root / "docs" / "formats.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(\w{8})` \| (\d+) \|", page, re.MULTILINE))
    kept = set()
    for path in (root / "crates" / "core" / "src").rglob("*.rs"):
        code = path.read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
        kept |= set(re.findall(r'magic: \*b"(.{8})",\s+version: (\d+),', code))
        assert len(re.findall(r"\bmagic: \*b", code)) == len(re.findall(r"\bSeal = Seal \{", code))
    assert listed == kept
    assert len(kept) > 7
