"""The doctor: one of every kind of bad line is found, and no line is lost."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from wayword.corpus import doctor
from wayword.corpus.split import visible
from wayword.errors import ArgumentError

GOOD = [("das haus ist klein", "the house is small"), ("wir gehen heute", "we go today")]

#: kind → source and target line, with max_length 20 and 2 factors where it says so
SALT: dict[str, tuple[bytes, bytes]] = {
    "encoding": (b"kaputt \xff hier", b"broken \xed\xa0\x80 here"),
    "replacement": ("caf\ufffd zu".encode(), b"cafe closed"),
    "empty": (b" \t ", b"nothing there"),
    "control": (b"ein\x00s zwei", b"one two"),
    "separator": (b"eins ||| zwei", b"one or two"),
    "long": (b"wort " * 21, b"word " * 19 + b"end"),
    "ratio": (b"ja", b"yes and that is a very long way to say just this"),
    "script": ("это не по немецки".encode(), b"this is not german"),
    "identical": (b"New York City", b"New York City"),
    "duplicate": (b"das haus ist klein", b"the house is small"),
}


def write_pair(folder: Path, pairs: list[tuple[bytes, bytes]]) -> tuple[Path, Path]:
    src, tgt = folder / "train.de", folder / "train.en"
    src.write_bytes(b"".join(pair[0] + b"\n" for pair in pairs))
    tgt.write_bytes(b"".join(pair[1] + b"\n" for pair in pairs))
    return src, tgt


def salted() -> tuple[list[tuple[bytes, bytes]], dict[str, int]]:
    """Good lines with one of every kind of bad line between them, and where each stands."""
    pairs = [(src.encode(), tgt.encode()) for src, tgt in GOOD]
    where = {}
    for number, (kind, pair) in enumerate(SALT.items()):
        pairs.append(pair)
        where[kind] = len(pairs)
        pairs.append((f"gut {number} a".encode(), f"good {number}".encode()))
    return pairs, where


def unescape(text: str) -> bytes:
    """The bytes of a quarantined field."""
    escapes = {"t": b"\t", "r": b"\r", "\\": b"\\"}
    data, rest = b"", text
    while rest:
        head, slash, rest = rest.partition("\\")
        data += head.encode()
        if slash and rest[0] == "x":
            data, rest = data + bytes.fromhex(rest[1:3]), rest[3:]
        elif slash:
            data, rest = data + escapes[rest[0]], rest[1:]
    return data


def test_one_of_every_kind_is_found_with_its_line(tmp_path: Path) -> None:
    pairs, where = salted()
    src, tgt = write_pair(tmp_path, pairs)
    tgt.write_bytes(tgt.read_bytes() + b"one line too many\n")
    where["unpaired"] = len(pairs) + 1
    report = doctor.examine(src, tgt, max_length=20)
    for kind, line in where.items():
        lines_of_kind = {finding.line for finding in report.examples if finding.problem == kind}
        assert lines_of_kind == {line}, kind
        assert report.counts[kind] == 1, kind
    assert report.quarantined == len(where)
    assert report.clean + report.quarantined == len(pairs) + 1
    assert (report.src_script, report.tgt_script) == ("Latin", "Latin")
    assert set(where) | {"factors", "invisible"} == set(doctor.problems())


def test_details_name_byte_character_and_numbers(tmp_path: Path) -> None:
    pairs, _ = salted()
    report = doctor.examine(*write_pair(tmp_path, pairs), max_length=20)
    details = {(f.problem, f.side): f.detail for f in report.examples}
    assert details["encoding", "src"] == "byte 8 (0xff)"
    assert details["encoding", "tgt"] == "byte 8 (0xed)"  # a surrogate is no character
    assert details["control", "src"] == "U+0000"
    assert details["long", "src"] == "21 words"
    assert details["ratio", "both"] == "1 to 12 words"
    assert details["script", "src"] == "14 of 14 letters are not Latin, but Cyrillic"


def test_words_need_their_factors_only_when_asked(tmp_path: Path) -> None:
    pairs = [(b"das|ART haus|NN", b"the house"), (b"a|b|c d|e", b"x y"), (b"ohne x|", b"no tag")]
    src, tgt = write_pair(tmp_path, pairs)
    assert doctor.examine(src, tgt).clean == 3
    report = doctor.examine(src, tgt, factors=2)
    assert [(f.line, f.detail) for f in report.examples] == [
        (2, "`a|b|c` does not have 2 factors"),
        (3, "`ohne` does not have 2 factors"),
    ]


def test_joiners_are_spelling_in_hindi_and_persian_but_not_in_german(tmp_path: Path) -> None:
    persian, hindi, german = "می\u200cخواهم", "क्\u200dष", "ein\u200cs"
    for word, cleaned in [(persian, 0), (hindi, 0), (german, 1)]:
        src, tgt = write_pair(tmp_path, [(word.encode(), b"word")])
        report = doctor.examine(src, tgt)
        assert (report.clean, report.cleaned) == (1, cleaned)


def test_marks_that_nobody_sees_are_taken_out_of_the_line_and_not_the_line(tmp_path: Path) -> None:
    urdu = "\u200fیہ\u200e کتاب\u200f ہے"
    src, tgt = write_pair(tmp_path, [(urdu.encode(), b"this is a book"), ("ہاں".encode(), b"yes")])
    report = doctor.examine(src, tgt, tmp_path / "clean")
    assert (report.clean, report.cleaned, report.quarantined) == (2, 1, 0)
    assert [(f.line, f.problem, f.detail) for f in report.examples] == [(1, "invisible", "U+200F")]
    kept = (tmp_path / "clean" / "train.de").read_text(encoding="utf-8")
    assert kept == "یہ کتاب ہے\nہاں\n"
    report = doctor.examine(src, tgt, tmp_path / "as-it-is", allow=["invisible"])
    assert (report.clean, report.cleaned) == (2, 0)
    assert (tmp_path / "as-it-is" / "train.de").read_bytes() == src.read_bytes()


def test_the_doctor_and_the_preparation_agree_about_every_mark(tmp_path: Path) -> None:
    controls = {*range(0x20), *range(0x7F, 0xA0)}  # bad lines for the doctor
    odd = {*range(0xD800, 0xE000), *controls, 0xFFFD, 0x7C}
    points = [point for point in range(0x30000) if point not in odd]
    lines = [f"{before}{chr(p)}x" for p in points for before in ("b", "م", "क", "\U0001f469")]
    src, tgt = write_pair(tmp_path, [(line.encode(), b"y %d" % n) for n, line in enumerate(lines)])
    allow = ["script", "ratio"]
    report = doctor.examine(src, tgt, tmp_path / "clean", allow=allow)
    assert report.clean == len(lines)
    clean = (tmp_path / "clean" / "train.de").read_text(encoding="utf-8").split("\n")[:-1]
    assert clean == [visible(line) for line in lines]
    assert 50 < report.cleaned < 400


def test_the_clean_pair_and_the_quarantine_hold_every_line_once(tmp_path: Path) -> None:
    pairs, where = salted()
    src, tgt = write_pair(tmp_path, pairs)
    doctor.examine(src, tgt, tmp_path / "clean", max_length=20)
    clean = tmp_path / "clean" / "train.de"
    assert clean.read_bytes().splitlines()[:2] == [pair[0] for pair in pairs[:2]]
    rows = (tmp_path / "clean" / "quarantine.tsv").read_text().split("\n")[:-1]
    fields = [row.split("\t") for row in rows]
    assert {int(row[0]) for row in fields} == set(where.values())
    for line, kinds, *sides in fields:
        assert all(where[kind] == int(line) for kind in kinds.split(","))
        assert tuple(map(unescape, sides)) == pairs[int(line) - 1]
    assert sorted(path.name for path in (tmp_path / "clean").iterdir()) == [
        "quarantine.tsv",
        "train.de",
        "train.en",
    ]


def test_duplicates_are_the_same_when_memory_does_not_hold_them(tmp_path: Path) -> None:
    pairs = [(b"wort %d" % (n * n % 20_011), b"word %d" % (n % 2)) for n in range(60_000)]
    pairs[9_000:9_000] = [(b"\xff", b"x"), (b"", b"y")] * 20
    src, tgt = write_pair(tmp_path, pairs)
    tgt.write_bytes(tgt.read_bytes() + b"one line too many\n")
    room = tmp_path / "room"
    whole = doctor.examine(src, tgt, tmp_path / "whole", memory="1G", temp_dir=room)
    assert not room.exists()
    bounded = doctor.examine(src, tgt, tmp_path / "bounded", memory="1M", temp_dir=room)
    assert not list(room.iterdir())
    assert bounded == whole
    assert whole.counts["duplicate"] == len(pairs) - len(set(pairs)) - 19
    for name in ("train.de", "train.en", "quarantine.tsv"):
        files = [tmp_path / folder / name for folder in ("whole", "bounded")]
        assert files[0].read_bytes() == files[1].read_bytes()


def check_that_no_line_is_lost(src_bytes: bytes, tgt_bytes: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a").write_bytes(src_bytes)
        (folder / "b").write_bytes(tgt_bytes)
        report = doctor.examine(folder / "a", folder / "b", folder / "out")
        counted = [
            data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
            for data in (src_bytes, tgt_bytes)
        ]
        assert [report.src_lines, report.tgt_lines] == counted
        assert report.clean + report.quarantined == max(counted)
        for file in ("a", "b"):
            text = (folder / "out" / file).read_text(encoding="utf-8")
            assert text.count("\n") == report.clean
        assert (folder / "out" / "quarantine.tsv").read_bytes().count(b"\n") == report.quarantined


# Short lines of bytes that make trouble, so that hypothesis does not have to find them.
NASTY = st.sampled_from(
    [b"\n", b"\r\n", b"\x00", b"\xed\xa0\x80", b"\xff", b"a", b" ", b"\t", b"\xef\xbb\xbf", b"|||"]
)
BYTES = st.one_of(st.binary(max_size=60), st.lists(NASTY, max_size=30).map(b"".join))


@given(BYTES, BYTES)
@example(b"", b"\n")
@example(b"a\nb", b"a\r\nb\r\n")
@settings(max_examples=300)
def test_lines_in_are_clean_plus_quarantined_for_any_bytes(src: bytes, tgt: bytes) -> None:
    magics = (b"\x1f\x8b", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")
    # These would be read as archives, which have their own tests.
    assume(not src.startswith(magics) and not tgt.startswith(magics))
    check_that_no_line_is_lost(src, tgt)


def test_a_line_of_ten_megabytes_is_only_a_long_line(tmp_path: Path) -> None:
    long = b"wort " * 2_000_000
    check_that_no_line_is_lost(long + b"\nkurz", b"word\nshort")
    src, tgt = write_pair(tmp_path, [(long, b"word")])
    assert doctor.examine(src, tgt).counts["long"] == 1


def test_allowed_kinds_are_kept_but_never_what_is_no_text(tmp_path: Path) -> None:
    pairs = [(b"gleich", b"gleich"), (b"\xff", b"x")]
    report = doctor.examine(*write_pair(tmp_path, pairs), allow=["identical", "encoding"])
    assert report.counts["identical"] == 0
    assert (report.clean, report.quarantined) == (1, 1)


def test_lengths_of_writings_without_spaces_count_characters(tmp_path: Path) -> None:
    src, tgt = write_pair(tmp_path, [("私はお茶を飲みます".encode(), b"I drink tea")])
    assert doctor.examine(src, tgt, max_length=8).examples[0].detail == "9 words"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_length": 0}, "max_length: found 0; expected at least 1 word"),
        ({"max_ratio": 0.5}, "max_ratio: found 0.5; expected a number of at least 1"),
        ({"max_ratio": float("nan")}, "max_ratio: found NaN; expected a number of at least 1"),
        ({"factors": 0}, "factors: found 0; expected at least 1 factor"),
        (
            {"memory": "10K"},
            "memory: found 10K; expected at least 1M, such as 512M or 2G",
        ),
    ],
)
def test_useless_options_are_refused(
    tmp_path: Path, options: dict[str, float], message: str
) -> None:
    src, tgt = write_pair(tmp_path, [(b"a", b"b")])
    with pytest.raises(ArgumentError) as error:
        doctor.examine(src, tgt, **options)  # type: ignore[arg-type]
    assert str(error.value) == message


def test_input_files_are_never_overwritten(tmp_path: Path) -> None:
    src, tgt = write_pair(tmp_path, [(b"a", b"b")])
    with pytest.raises(ArgumentError, match="holds the input files; expected another folder"):
        doctor.examine(src, tgt, tmp_path)
    with pytest.raises(ArgumentError, match=r"both files are called train\.de"):
        doctor.examine(src, src, tmp_path / "out")


def test_a_report_is_json(tmp_path: Path) -> None:
    report = doctor.examine(*write_pair(tmp_path, [(b"", b"b")]))
    assert json.loads(json.dumps(report.to_dict()))["examples"] == [
        {"line": 1, "problem": "empty", "side": "src", "detail": "no word"}
    ]
