"""A damaged model never changes a translation in silence, and opening takes milliseconds."""

import multiprocessing
import random
import shutil
import time
from pathlib import Path

import pytest

import wayword
from wayword import lm
from wayword.corpus.files import open_text
from wayword.errors import FormatError, WaywordError

LINES = ["das haus ist klein", "ein mann sieht den hund", "die frau hat das buch gelesen"]


@pytest.fixture
def system(toy_folder: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "system"
    shutil.copytree(toy_folder / "system", folder)
    return folder


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1 << at % 8
    path.write_bytes(data)


def texts(folder: Path) -> list[str]:
    translated = wayword.load(folder).translate(LINES, prepared=True)
    return [translation.text for translation in translated]


def outcome(folder: Path, clean: list[str]) -> str:
    """What is said of a damaged system; nothing when it translates as before."""
    try:
        found = texts(folder)
    except WaywordError as error:
        return str(error)
    assert found == clean
    return ""


@pytest.mark.parametrize("name", ["lm", "phrase-table"])
def test_a_flipped_bit_is_a_sentence_or_changes_nothing(system: Path, name: str) -> None:
    whole, path, clean = (system / name).read_bytes(), system / name, texts(system)
    chance = random.Random(1)
    noticed = 0
    for _ in range(25):
        path.write_bytes(whole)
        flip(path, chance.randrange(len(whole)))
        said = outcome(system, clean)
        noticed += said != ""
        assert not said or name in said
    assert noticed == 25 or name == "phrase-table"  # a block that nobody reads


def test_a_damaged_index_of_the_table_is_noticed(system: Path) -> None:
    path = system / "phrase-table"
    data = bytearray(path.read_bytes())
    start, length = (int.from_bytes(data[at : at + 8], "little") for at in (88, 96))
    for at in range(start, start + length):
        data[at] = 0
    path.write_bytes(data)
    with pytest.raises(FormatError, match="phrase-table: this part of the table is damaged"):
        texts(system)
    table = wayword.load(system).table
    with pytest.raises(FormatError, match="phrase-table"):
        table["das haus"]


def test_every_way_to_score_by_a_damaged_model_fails(system: Path, tmp_path: Path) -> None:
    path = system / "lm"
    flip(path, path.stat().st_size - 3)
    model = lm.LanguageModel.load(path)
    (tmp_path / "text").write_text("the house\n", encoding="utf-8")
    with pytest.raises(FormatError, match="bytes that do not fit their checksum"):
        model.score("the house")
    with pytest.raises(FormatError, match="lm: bytes that do not fit"):
        model.write_arpa(tmp_path / "arpa")


def child(folder: Path) -> list[str]:
    return texts(folder)


def test_a_forked_child_finds_the_damage_too(system: Path) -> None:
    flip(system / "lm", (system / "lm").stat().st_size - 3)
    model = wayword.load(system)  # its thread is not there in the child
    context = multiprocessing.get_context("fork")
    queue = context.Queue()

    def run() -> None:
        try:
            model.translate(LINES, prepared=True)
            queue.put("translated")
        except FormatError as error:
            queue.put(str(error))

    process = context.Process(target=run)
    process.start()
    said = queue.get(timeout=60)
    process.join(60)
    assert "lm: bytes that do not fit their checksum" in said


def test_opening_takes_milliseconds(system: Path) -> None:
    wayword.load(system)  # what is imported is imported
    begun = time.process_time()
    for _ in range(5):
        wayword.load(system)
    assert (time.process_time() - begun) / 5 < 0.1


#: `printf 'hallo\\n' | zstd --check`, and frames that are to be skipped.
FRAME = bytes.fromhex("28b52ffd 04583100 0068616c 6c6f0aa5 350338")
SKIPPED = bytes.fromhex("502a4d18 03000000 616263")


def test_frames_of_zstd_are_compared_and_others_skipped(tmp_path: Path) -> None:
    path = tmp_path / "text.zst"
    path.write_bytes(SKIPPED + FRAME + SKIPPED + FRAME)
    assert list(open_text(path)) == ["hallo", "hallo"]
    for at in (-1, -6):  # of the checksum, of the text
        damaged = bytearray(FRAME)
        damaged[at] ^= 1
        path.write_bytes(FRAME + damaged)
        with pytest.raises(FormatError, match="a frame does not fit its checksum"):
            list(open_text(path))
    path.write_bytes(FRAME + SKIPPED[:-1])
    with pytest.raises(FormatError, match="damaged or cut short"):
        list(open_text(path))
