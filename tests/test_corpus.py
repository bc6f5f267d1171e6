"""Reading sentence pairs."""

import gzip
import lzma
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword import Bitext, _core
from wayword.errors import ArgumentError, FormatError, InternalError, MismatchError

WORDS = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=5)
LINES = st.lists(WORDS, max_size=6).map(" ".join)


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_two_files_become_ids_by_first_appearance(tmp_path: Path) -> None:
    src = write(tmp_path / "a.de", b"das haus\nhaus\n")
    tgt = write(tmp_path / "a.en", b"the house\nhouse haus\n")
    bitext = Bitext.read(src, tgt)
    assert bitext.src.ids.tolist() == [0, 1, 1]
    assert bitext.src.offsets.tolist() == [0, 2, 3]
    assert bitext.tgt.ids.tolist() == [2, 3, 3, 1]
    assert [bitext.vocab.word(i) for i in range(len(bitext.vocab))] == [
        "das",
        "haus",
        "the",
        "house",
    ]
    assert bitext.vocab.id("house") == 3
    assert bitext.vocab.id("horse") is None
    assert list(bitext) == [(["das", "haus"], ["the", "house"]), (["haus"], ["house", "haus"])]
    assert bitext[-1] == bitext[1]


def test_arrays_are_read_only_views_that_outlive_the_bitext() -> None:
    ids = Bitext.from_pairs([("a b", "c")] * 1000).src.ids
    assert ids.dtype == np.uint32
    assert not ids.flags.writeable
    assert ids.sum() == 1000


@given(st.lists(st.tuples(LINES, LINES), max_size=8))
def test_words_come_back_as_they_went_in(pairs: list[tuple[str, str]]) -> None:
    bitext = Bitext.from_pairs(pairs)
    assert [(" ".join(src), " ".join(tgt)) for src, tgt in bitext] == pairs


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress])
def test_compressed_files_are_told_by_their_bytes(tmp_path: Path, compress: object) -> None:
    data = "grün\r\nzwei drei".encode()
    src = write(tmp_path / "any.name", compress(data))  # type: ignore[operator]
    tgt = write(tmp_path / "b", b"\xef\xbb\xbfgreen\ntwo three\n")
    assert list(Bitext.read(src, tgt)) == [
        (["grün"], ["green"]),
        (["zwei", "drei"], ["two", "three"]),
    ]


def test_several_frames_of_zstd_are_read_as_one_file(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pip install 'wayword[parquet]'")
    data = b"".join(pyarrow.compress(part, "zstd", asbytes=True) for part in (b"eins\n", b"zwei\n"))
    path = write(tmp_path / "a.zst", data)
    assert [src for src, _ in Bitext.read(path, path)] == [["eins"], ["zwei"]]


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_a_truncated_archive_is_an_error_and_not_a_short_text(
    tmp_path: Path, compress: object
) -> None:
    data = compress(b"".join(b"%d line\n" % i for i in range(5000)))  # type: ignore[operator]
    path = write(tmp_path / "a", data[: len(data) // 2])
    with pytest.raises(FormatError, match="damaged or cut short"):
        Bitext.read(path, path)


def test_nfc_joins_letters_and_accents(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "u\u0308ber".encode())
    assert Bitext.read(path, path).src[0] == ["u\u0308ber"]
    assert Bitext.read(path, path, nfc=True).src[0] == ["\u00fcber"]
    assert Bitext.from_pairs([("u\u0308ber", "x")], nfc=True).src[0] == ["\u00fcber"]


def test_tab_and_pipe_files_hold_both_sides(tmp_path: Path) -> None:
    tsv = write(tmp_path / "a.tsv", b"ja\tyes\nnein\tno\n")
    pipes = write(tmp_path / "a.txt", b"ja ||| yes\nnein ||| no\n")
    assert (
        list(Bitext.read(tsv))
        == list(Bitext.read(pipes))
        == [(["ja"], ["yes"]), (["nein"], ["no"])]
    )


def test_other_formats_are_read_through_python(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl", b'{"src": "ja", "tgt": "yes"}\n{"src": "nein", "tgt": "no"}\n'
    )
    assert Bitext.read(path)[1] == (["nein"], ["no"])


def message_of(error: pytest.ExceptionInfo[Exception], folder: Path) -> str:
    return str(error.value).replace(f"{folder}/", "")


def test_messages_say_where_and_what(tmp_path: Path) -> None:
    good = write(tmp_path / "good", b"a\nb\nc\n")
    bad = write(tmp_path / "bad", b"a\nb\nx\xff\n")
    short = write(tmp_path / "short", b"a\nb")
    with pytest.raises(FormatError) as error:
        Bitext.read(good, bad)
    assert message_of(error, tmp_path) == (
        "bad:3: byte 2 (0xff) is not UTF-8; expected UTF-8 text; "
        "convert the file with iconv, or let `wayword doctor` take such lines out"
    )
    with pytest.raises(MismatchError) as mismatch:
        Bitext.read(good, short)
    assert message_of(mismatch, tmp_path) == (
        "good:3: short has only 2 lines; "
        "are both files of the same corpus? `wayword doctor` shows what does not pair"
    )
    columns = write(tmp_path / "c.tsv", b"a\tb\na\tb\tc\n")
    with pytest.raises(FormatError) as error:
        Bitext.read(columns)
    assert message_of(error, tmp_path) == (
        "c.tsv:2: 3 columns; expected 2 columns with a tab between them; "
        "take other columns out, for example with cut -f1,2"
    )


def test_utf16_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "wide", "wörter".encode("utf-16"))
    with pytest.raises(FormatError, match="wide:1: UTF-16 text; expected UTF-8 text"):
        Bitext.read(path, path)


def test_a_missing_file_stays_pythons_own_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as error:
        Bitext.read(tmp_path / "none", tmp_path / "none")
    assert error.value.filename == str(tmp_path / "none")


def test_two_files_have_no_other_format(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="format: found `tsv` for two files"):
        Bitext.read(tmp_path / "a", tmp_path / "b", format="tsv")


def test_a_sentence_outside_is_an_index_error() -> None:
    bitext = Bitext.from_pairs([("a", "b")])
    for number in (1, -2):
        with pytest.raises(IndexError):
            bitext[number]


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_with_a_typed_error(data: bytes) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        for tgt in (file.name, None):
            try:
                bitext = Bitext.read(file.name, tgt)
            except (FormatError, MismatchError):
                continue
            assert len(bitext.src) == len(bitext.tgt) == len(bitext)


def test_a_panic_becomes_an_internal_error() -> None:
    with pytest.raises(InternalError, match=r"provoked on purpose \(crates/python/src/lib.rs"):
        _core.provoke_panic()


def test_an_error_can_be_sent_to_another_process() -> None:
    error = pickle.loads(pickle.dumps(FormatError("a:1: b")))
    assert isinstance(error, FormatError)
    assert str(error) == "a:1: b"
