"""Other systems: no links, no locks of Unix, other separators in paths and other ends of lines."""

import ast
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn

import pytest

from wayword import Bitext, learn, store
from wayword.corpus import doctor, toy
from wayword.corpus.files import is_plain_name, new_file, open_text
from wayword.errors import WaywordError
from wayword.learn import Journal, Lesson
from wayword.parts import Wanted
from wayword.stages import clean_stage
from wayword.store import Store, locked


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
    monkeypatch.setattr(learn, "fcntl", None)
    ways = SimpleNamespace(locking=locking, LK_NBLCK=2, LK_LOCK=1)
    monkeypatch.setitem(sys.modules, "msvcrt", ways)
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


def test_a_system_folder_is_locked_without_the_locks_of_unix(
    tmp_path: Path, windows: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temp"))
    (tmp_path / "temp").mkdir()
    (tmp_path / "system").mkdir()
    with (
        locked(tmp_path / "system"),
        pytest.raises(WaywordError, match="another process works here"),
        locked(tmp_path / "temp" / ".." / "system"),
    ):
        pass
    assert len(windows) == 1
    assert not list((tmp_path / "system").iterdir())


def test_lessons_are_kept_without_the_locks_of_unix(
    tmp_path: Path, windows: dict[str, int]
) -> None:
    journal = Journal(tmp_path / "learned.jsonl")
    lessons = [Lesson.pair([word], ["yes"], [(0, 0)]) for word in ("ja", "jo")]
    journal.append(lessons[:1])
    assert windows
    windows.clear()  # as when the file is closed
    journal.append(lessons[1:])
    assert journal.read() == lessons
    assert b"\r" not in journal.path.read_bytes()


#: Modules and calls that only some systems have; whoever uses them says what is done without.
UNIX_MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "pty", "syslog")
UNIX_CALLS = (
    *("fork", "forkpty", "killpg", "getuid", "geteuid", "getpgid", "setsid", "nice", "mkfifo"),
    *("sched_getaffinity", "sched_setaffinity", "setpriority", "getpriority", "sync", "wait"),
    *("posix_fadvise", "posix_fallocate", "pread", "pwrite", "sysconf", "uname", "getloadavg"),
    *("chown", "fchmod", "fchown", "lchown", "statvfs", "fdatasync", "openpty", "ttyname"),
)
UNIX_SIGNALS = ("SIGHUP", "SIGKILL", "SIGALRM", "SIGUSR1", "SIGUSR2", "SIGPIPE", "alarm", "pause")


def unguarded(tree: ast.AST) -> Iterator[str]:
    """What a module imports at its top, or calls, that Windows does not have."""
    names = {"os": UNIX_CALLS, "signal": UNIX_SIGNALS}
    checked = {
        (node.args[0].id, str(node.args[1].value))
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "hasattr"
        and isinstance(node.args[0], ast.Name)
        and isinstance(node.args[1], ast.Constant)
    }
    tried = {id(part) for node in ast.walk(tree) if isinstance(node, ast.Try) for part in node.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and id(node) not in tried:
            yield from (alias.name for alias in node.names if alias.name in UNIX_MODULES)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            place = node.value.id, node.attr
            if node.attr in names.get(place[0], ()) and place not in checked:
                yield ".".join(place)


def test_nothing_of_unix_is_used_without_another_way() -> None:
    root = Path(learn.__file__).parent
    for path in sorted(root.rglob("*.py")):
        found = list(unguarded(ast.parse(path.read_text(encoding="utf-8"))))
        assert not found, f"{path.relative_to(root)}: {found}"
    assert list(unguarded(ast.parse("import os, fcntl\nos.fork()"))) == ["fcntl", "os.fork"]
    guarded = "try:\n    import fcntl\nexcept ImportError:\n    pass\n"
    assert not list(unguarded(ast.parse(guarded)))


def test_all_text_is_opened_as_utf_8() -> None:
    """Windows reads and writes another encoding unless it is told."""
    root = Path(learn.__file__).parent
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr in {"read_text", "write_text"}:
                given = {keyword.arg for keyword in node.keywords}
                source = ast.unparse(node)
                is_ours = "_core" in source or "WawModel" in source  # written by the core
                assert "encoding" in given or is_ours, f"{path.name}:{node.lineno}: {source}"


@pytest.mark.parametrize("name", ["matrix:C:\\m.jsonl", "near=matrix:C:/m.jsonl"])
def test_files_of_features_may_have_the_letter_of_a_drive(name: str) -> None:
    assert Wanted.parse(name).what == name.rpartition("matrix:")[2]


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
