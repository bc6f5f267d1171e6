"""The store of stages heals itself: what is damaged is made again, with a line in the log."""

import json
import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wayword.errors import FormatError, WaywordError
from wayword.stage import Stage, Work
from wayword.store import Store, copy_file, locked


def make_text(work: Work) -> dict[str, Any]:
    (work.out / "text").write_text("made", encoding="utf-8")
    (work.out / "more").mkdir()
    (work.out / "more" / "text").write_text("made too", encoding="utf-8")
    return {"words": 1}


def make_copy(work: Work) -> dict[str, Any]:
    copy_file(work.inputs["text"] / "text", work.out / "copy")
    return {}


TEXT = Stage("text", make_text, version=1)
COPY = Stage("copy", make_copy, inputs={"text": TEXT}, version=1)


def run(folder: Path) -> list[bool]:
    with Store(folder) as store:
        results = store.run([TEXT, COPY])
    assert (results[0] / "text").read_text(encoding="utf-8") == "made"
    assert (results[1] / "copy").read_text(encoding="utf-8") == "made"
    return [result.reused for result in results]


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def foreign(path: Path) -> None:
    known = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**known, "options": {"other": 1}}), encoding="utf-8")


def odd(path: Path) -> None:
    known = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**known, "cost": 3, "files": [4]}), encoding="utf-8")


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *(("stage.json", damage) for damage in (cut, empty, foreign, odd, flip, Path.unlink)),
        *(("text", damage) for damage in (empty, flip, Path.unlink)),
        ("more/text", flip),
    ],
)
def test_a_damaged_stage_is_made_again(
    tmp_path: Path,
    name: str,
    damage: Callable[[Path], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert run(tmp_path) == [False, False]
    [stage] = tmp_path.glob("text-*")
    whole = {
        path: path.read_bytes()
        for path in stage.rglob("*")
        if path.name != "stage.json" and path.is_file()
    }
    damage(stage / name)
    with caplog.at_level(logging.WARNING):
        assert run(tmp_path) == [False, True]
    assert any("it is made again" in line for line in caplog.messages)
    assert all(path.read_bytes() == data for path, data in whole.items())
    assert run(tmp_path) == [True, True]


def fail(work: Work) -> dict[str, Any]:
    (work.out / "half").write_text("half", encoding="utf-8")
    raise OSError(28, "No space left on device")


def test_a_stage_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space"), Store(tmp_path) as store:
        store.run([Stage("full", fail, version=1)])
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_whatever_stands_where_a_stage_is_made_goes(tmp_path: Path) -> None:
    run(tmp_path)
    [stage] = tmp_path.glob("text-*")
    precious = tmp_path.parent / "precious"
    precious.mkdir(exist_ok=True)
    (precious / "file").write_text("kept", encoding="utf-8")
    for plant in (
        lambda path: path.symlink_to(precious),
        lambda path: path.write_text("a file", encoding="utf-8"),
        lambda path: (path.mkdir(), (path / "left").write_text("half", encoding="utf-8")),
    ):
        shutil.rmtree(stage) if stage.is_dir() and not stage.is_symlink() else stage.unlink()
        plant(tmp_path / f".{stage.name}.part")
        plant(stage)
        assert run(tmp_path)[0] is False
        assert not list(tmp_path.glob(".*.part"))
    assert (precious / "file").read_text(encoding="utf-8") == "kept"


def test_a_planted_lock_is_neither_followed_nor_cut(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("kept", encoding="utf-8")
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / "lock").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="lock"), Store(folder):
        pass
    assert (tmp_path / "precious").read_text(encoding="utf-8") == "kept"


RUNS: list[bool] = []


def make_rounds(work: Work) -> dict[str, Any]:
    left = work.out / "round"
    RUNS.append(left.exists())
    if left.exists():
        raise FormatError(f"{left}: damaged; expected a round")
    left.write_text("half", encoding="utf-8")
    if len(RUNS) == 1:
        raise KeyboardInterrupt
    return {}


def test_a_resumed_stage_whose_leftovers_are_damaged_begins_anew(tmp_path: Path) -> None:
    stage = Stage("rounds", make_rounds, version=1, resumes=True)
    for expected in (KeyboardInterrupt, None):
        with Store(tmp_path) as store:
            if expected:
                with pytest.raises(expected):
                    store.run([stage])
            else:
                store.run([stage])
    assert RUNS == [False, True, False]


def test_a_copy_shares_no_inode(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one", encoding="utf-8")
    copy_file(tmp_path / "a", tmp_path / "b")
    with (tmp_path / "b").open("r+", encoding="utf-8") as file:
        file.write("two")
    assert (tmp_path / "a").read_text(encoding="utf-8") == "one"


def test_training_and_tuning_exclude_each_other(toy_folder: Path) -> None:
    from wayword.cli import main

    corpus = toy_folder / "corpus"
    dev = [str(corpus / "dev.de"), str(corpus / "dev.en")]
    with locked(toy_folder / "system"):
        again = locked(toy_folder / "system")
        with pytest.raises(WaywordError, match="another process works here"):
            again.__enter__()
        assert main(["tune", str(toy_folder / "system"), "--dev", *dev, "--dry-run"]) == 1
