"""Other systems: no links, no locks of Unix, other separators in paths and other ends of lines."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest

from wayword import Bitext, store
from wayword.corpus import doctor, toy
from wayword.corpus.files import is_plain_name, new_file, open_text
from wayword.errors import WaywordError
from wayword.stages import clean_stage
from wayword.store import Store


def forbidden(*_: object, **__: object) -> NoReturn:
    raise OSError("a required privilege is not held by the client")


@pytest.fixture
def text(tmp_path: Path) -> Path:
    toy.write("de-en", 60, tmp_path / "toy", seed=1)
    return tmp_path / "toy"


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """What Python has on Windows: no links without privilege, another way to lock a file."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("files are told apart by /proc")
    taken: dict[str, int] = {}

    def locking(lock: int, _mode: int, _count: int) -> None:
        name = str(Path(f"/proc/self/fd/{lock}").readlink())
        if name in taken:
            raise PermissionError(13, "Permission denied")
        taken[name] = lock

    monkeypatch.setattr(os, "symlink", forbidden)
    monkeypatch.setattr(store, "fcntl", None)
    monkeypatch.setattr(store, "resource", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    return taken


def test_text_is_cleaned_where_links_are_not_allowed(
    text: Path, tmp_path: Path, windows: dict[str, int]
) -> None:
    stage = clean_stage(text / "train.de", text / "train.en", doctor.Options())
    with Store(tmp_path / "work") as work:
        [result] = work.run([stage])
    assert windows
    assert result.facts["clean"] > 50
    assert not list(result.path.glob("in.*"))


def test_a_folder_is_locked_without_the_locks_of_unix(
    tmp_path: Path, windows: dict[str, int]
) -> None:
    assert not windows
    with (
        Store(tmp_path / "work"),
        pytest.raises(WaywordError, match="another process works here"),
        Store(tmp_path / "work"),
    ):
        pass


def test_line_ends_of_windows_are_no_part_of_the_text(text: Path, tmp_path: Path) -> None:
    for side in ("de", "en"):
        lines = (text / f"train.{side}").read_bytes()
        (tmp_path / f"crlf.{side}").write_bytes(lines.replace(b"\n", b"\r\n"))
    plain = Bitext.read(text / "train.de", text / "train.en")
    other = Bitext.read(tmp_path / "crlf.de", tmp_path / "crlf.en")
    assert [(pair.src, pair.tgt) for pair in plain] == [(pair.src, pair.tgt) for pair in other]
    assert list(open_text(text / "train.de")) == list(open_text(tmp_path / "crlf.de"))


def test_written_lines_end_with_a_newline_alone(tmp_path: Path) -> None:
    with new_file(tmp_path / "text") as file:
        file.write("ja\nnein\n")
    assert (tmp_path / "text").read_bytes() == b"ja\nnein\n"


@pytest.mark.parametrize("name", ["a/b", "a\\b", "C:b", "..", ""])
def test_a_name_with_a_separator_of_any_system_is_no_file_of_a_system(name: str) -> None:
    assert not is_plain_name(name)
