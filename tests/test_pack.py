"""A packed system is one file that opens like a folder, and nothing in it can do harm."""

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.systems import make

import wayword
from wayword.cli import main
from wayword.errors import ArgumentError, FormatError, MismatchError
from wayword.manifest import MANIFEST
from wayword.pack import pack, unpack
from wayword.report.card import Card

Entries = dict[str, bytes]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("system")
    make(folder, size=200)
    return folder / "system"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WAYWORD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_pack_translates_like_its_folder_and_is_unpacked_once(
    folder: Path, tmp_path: Path, cache: Path
) -> None:
    size = pack(folder, tmp_path / "x.wayword")
    assert size == (tmp_path / "x.wayword").stat().st_size
    lines = ["Das Haus ist klein .", ""]
    expected = [one.text for one in wayword.load(folder).translate(lines)]
    packed = wayword.load(tmp_path / "x.wayword")
    assert [one.text for one in packed.translate(lines)] == expected
    packed.verify()
    [first] = cache.iterdir()
    written = (first / "lm").stat().st_mtime_ns
    wayword.load(tmp_path / "x.wayword")
    assert (first / "lm").stat().st_mtime_ns == written


def test_the_same_system_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    pack(folder, tmp_path / "a")
    pack(tmp_path / "copy", tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    unpack(tmp_path / "a", tmp_path / "again")
    pack(tmp_path / "again", tmp_path / "c")
    assert (tmp_path / "c").read_bytes() == (tmp_path / "a").read_bytes()


def test_a_packed_system_does_not_change(folder: Path, tmp_path: Path) -> None:
    pack(folder, tmp_path / "x.wayword")
    system = wayword.load(tmp_path / "x.wayword")
    with pytest.raises(ArgumentError, match="a packed system does not change; save it to a folder"):
        system.with_settings(space="mono").save()
    system.with_settings(space="mono").save(tmp_path / "mine")
    assert wayword.load(tmp_path / "mine").settings.space == "mono"
    with pytest.raises(ArgumentError, match="mine: exists already; expected the name of a new"):
        unpack(tmp_path / "x.wayword", tmp_path / "mine")


def test_a_damaged_folder_is_not_packed(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "bad")
    data = bytearray((tmp_path / "bad" / "lm").read_bytes())
    data[-1] ^= 1
    (tmp_path / "bad" / "lm").write_bytes(data)
    with pytest.raises(MismatchError, match="lm: another SHA-256 than noted"):
        pack(tmp_path / "bad", tmp_path / "x.wayword")
    assert not (tmp_path / "x.wayword").exists()


def with_name(name: str) -> Callable[[Entries], Entries]:
    return lambda entries: {**entries, name: b"evil"}


def with_changed_lm(entries: Entries) -> Entries:
    return {**entries, "lm": entries["lm"][:-1] + b"x"}


def with_code(entries: Entries) -> Entries:
    manifest = entries[MANIFEST].replace(b'kind = "lm"', b'kind = "python:os:system"')
    return {**entries, MANIFEST: manifest}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (with_name("../evil"), "file `../evil`; expected a name without folders"),
        (with_name("/tmp/evil"), "file `/tmp/evil`; expected a name without folders"),
        (with_name(".."), "file `..`; expected a name without folders"),
        (with_name("a\\b"), "expected a name without folders"),
        (with_name("more"), "more: not both in the file and in its manifest"),
        (with_changed_lm, "lm is damaged; copy the file again"),
        (with_code, "part `lm` is code of your own, which a pack cannot hold"),
        (lambda entries: {"lm": entries["lm"]}, "no system.toml, or a name twice"),
        (lambda entries: {**entries, MANIFEST: b"file = 3"}, "system.toml is damaged"),
    ],
)
def test_a_pack_that_was_tampered_with_is_refused(
    change: Callable[[Entries], Entries], message: str, folder: Path, tmp_path: Path, cache: Path
) -> None:
    pack(folder, tmp_path / "good")
    with zipfile.ZipFile(tmp_path / "good") as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "bad", "w") as archive:
        for name, data in change(entries).items():
            archive.writestr(zipfile.ZipInfo(name), data)
    before = sorted(path.name for path in tmp_path.rglob("*"))
    with pytest.raises((FormatError, MismatchError, ArgumentError)) as caught:
        wayword.load(tmp_path / "bad")
    assert message in str(caught.value)
    after = sorted(path.name for path in tmp_path.rglob("*") if path != cache)
    assert after == before


def test_compressed_entries_and_other_files_are_refused(folder: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "small", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(MANIFEST, b"x" * 10_000)
    with pytest.raises(FormatError, match=r"`system\.toml` is compressed or encrypted"):
        wayword.load(tmp_path / "small")
    with pytest.raises(FormatError, match="no packed system; expected a file of `wayword pack`"):
        wayword.load(folder / "lm")


def test_the_commands_take_a_pack(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.wayword"
    assert main(["pack", str(folder), "-o", str(path)]) == 0
    assert f"`wayword translate {path}` opens it" in capsys.readouterr().out
    done = subprocess.run(
        [sys.executable, "-m", "wayword", "translate", str(path)],
        input=b"Das Haus ist klein .\n",
        capture_output=True,
        check=True,
    )
    assert (
        done.stdout.decode().strip() == wayword.load(folder).translate("Das Haus ist klein .").text
    )
    assert main(["tune", str(path), "--dev", "a", "b"]) == 2
    assert "a packed system does not change; unpack it with" in capsys.readouterr().err
    assert main(["pack", str(path)]) == 2
    assert main(["pack", str(path), "-o", str(tmp_path / "out")]) == 0
    for name in ("lm", MANIFEST):
        assert (folder / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


def test_a_card_has_a_header_for_the_hub_and_tells_what_is_known() -> None:
    made = {
        "dev": {"metric": "bleu", "score": 30.125, "signature": "BLEU|tok:none"},
        "test": {"scores": {"chrf": {"score": 50.0, "signature": "chrF|nc:6"}}},
        "held_out": True,
        "corpus": {
            "read": 1000, "pairs": 700, "src_words": 7000, "tgt_words": 7100, "cleaned": 3,
            "taken_out": {"duplicate": 200, "too_long": 50},
        },
        "examples": [{"source": "ja | so", "output": "yes", "reference": "<b> yes"}],
        "config": {"card": {"title": "My \"own\"", "license": "cc-by-4.0"}},
    }  # fmt: skip
    text = Card(langs=("de", "en"), files={"lm": 5_000_000}, made=made, version="1").text()
    head = text.split("---\n")[1]
    for line in ("- de", 'license: "cc-by-4.0"', "- bleu", "- chrf", '- name: "My \\"own\\""'):
        assert line in head.splitlines(), line
    assert "      value: 30.12" in head.splitlines()
    assert "| dev | bleu | 30.12 | `BLEU\\|tok:none` |" in text
    assert "| source | ja \\| so |" in text
    assert "&lt;b> yes" in text
    assert "700 sentence pairs (7,000 source and 7,100 target words) of 1,000" in text
    assert "Taken out: duplicate 200, too long 50" in text
    assert "held out of the training text" in text
    dev = {"metric": "bleu", "score": 30.125, "signature": "BLEU|tok:none", "runs": 4}
    for averaged, taken in (
        (1, "those of the best of 4 tuning runs"),
        (2, "the mean of the 2 best of 4 tuning runs"),
    ):
        assert (
            f"The weights are {taken}." in Card(made={"dev": {**dev, "averaged": averaged}}).text()
        )
    assert "The weights are" not in text  # a system of an earlier version
    bare = Card().text()
    assert "Not measured: the weights were not tuned" in bare
    assert "language:" not in bare
