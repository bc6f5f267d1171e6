"""The command line: errors, exit codes, Ctrl-C and pipes."""

import os
import signal
import struct
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

from wayword import __version__
from wayword.cli import COMMANDS, main
from wayword.cli.version import commit

WAYWORD = [sys.executable, "-m", "wayword"]


def run(*args: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*WAYWORD, *args], capture_output=True, text=True, check=False)


def test_version_and_help_work_without_a_command() -> None:
    first, models, text = run("--version").stdout.splitlines()
    assert first == f"wayword {__version__} (from a checkout)"
    assert "phrase table 2, language model 2" in models
    assert "TMX" in text
    shown = run("--help").stdout.split()
    assert all(name in shown for name in COMMANDS)


def test_the_command_alone_prints_its_help_and_succeeds() -> None:
    done = run()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run("--help").stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as leave:
        main([name, "--help"])
    assert leave.value.code == 0
    assert f"example: wayword {name}" in capsys.readouterr().out


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_file_is_short(name: str) -> None:
    path = import_module(f"wayword.cli.{name.replace('-', '_')}").__file__
    assert path is not None
    assert len(Path(path).read_text().splitlines()) <= 180


def test_a_command_imports_no_other_command_and_help_imports_none() -> None:
    code = "import sys; from wayword.cli import main; main(sys.argv[1:])"
    listed = "; print(*(name for name in sys.modules if name.startswith('wayword.')))"
    done = subprocess.run(
        [sys.executable, "-c", code + listed, "config", "--explain", "lm.order"],
        capture_output=True,
        text=True,
        check=True,
    )
    modules = done.stdout.splitlines()[-1].split()
    assert "wayword.cli.config" in modules
    assert not {f"wayword.cli.{name}" for name in COMMANDS if name != "config"} & set(modules)


def test_translating_a_line_imports_no_arrays_and_no_trainer(tmp_path: Path) -> None:
    model = Path(__file__).parent / "golden" / "translate" / "moses.ini"
    assert main(["import-moses", str(model), "-o", str(tmp_path / "system")]) == 0
    (tmp_path / "line").write_text("das ist ein haus\n", encoding="utf-8")
    code = "import sys; from wayword.cli import main; main(sys.argv[1:])"
    heavy = (
        "; print(*sorted({'numpy', 'scipy', 'wayword.stages', 'wayword.tune'} & {*sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code + heavy, "translate", tmp_path / "system", tmp_path / "line"],
        capture_output=True,
        text=True,
        check=True,
    )
    translation, imported = done.stdout.splitlines()
    assert (translation != "", imported) == (True, "")


def test_the_commit_is_told_where_it_was_recorded(tmp_path: Path) -> None:
    (tmp_path / "commit.txt").write_text("1a2b3c4\n")
    assert commit(tmp_path / "commit.txt") == "1a2b3c4"
    assert commit() == ""


def test_wrong_usage_is_one_line_and_2() -> None:
    done = run("pack")
    assert done.returncode == 2
    wanted = "the following arguments are required: SYSTEM; try `wayword pack --help`"
    assert done.stderr == f"wayword pack: {wanted}\n"


def test_a_useless_option_value_is_one_line_and_2(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")
    done = run("doctor", tmp_path / "a", tmp_path / "a", "--max-length", "0")
    assert (done.returncode, done.stderr) == (
        2,
        "wayword: max_length: found 0; expected at least 1 word\n",
    )


def test_a_missing_file_is_one_line_and_1() -> None:
    done = run("doctor", "not-there.de", "not-there.en")
    assert (done.returncode, done.stderr) == (
        1,
        "wayword: not-there.de: No such file or directory\n",
    )


def test_a_mistake_of_ours_is_one_line_and_asks_for_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr("wayword.corpus.doctor.examine", fail)
    text = tmp_path / "text"
    text.write_text("a\n", encoding="utf-8")
    assert main(["doctor", str(text), str(text)]) == 1
    assert capsys.readouterr().err == (
        "wayword: internal error, please report it: ZeroDivisionError: of ours "
        "(WAYWORD_TRACEBACK=1 shows where)\n"
    )


def test_a_broken_pipe_is_silent(tmp_path: Path) -> None:
    src = tmp_path / "a"
    src.write_text("wort\n" * 100_000)
    command = f'"{sys.executable}" -m wayword prepare --lang de --tokenizer none "{src}"'
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -n 1; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("wort\n", "", 141)


def test_ctrl_c_stops_the_core_in_the_middle_of_its_work(tmp_path: Path) -> None:
    src, tgt = tmp_path / "a", tmp_path / "b"
    src.write_text("".join(f"wort {i} und noch eines\n" for i in range(1_500_000)))
    tgt.symlink_to(src)
    child = subprocess.Popen(
        [*WAYWORD, "doctor", src, tgt, "-o", tmp_path / "out"],
        stderr=subprocess.PIPE,
        text=True,
        # Shells start background jobs with Ctrl-C ignored, and that would be inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    while not (tmp_path / "out").exists() and child.poll() is None:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (130, "wayword: stopped\n")
    assert list((tmp_path / "out").iterdir()) == [], "nothing is left half-written"


def test_progress_is_shown_on_a_terminal_only(tmp_path: Path) -> None:
    src = tmp_path / "a"
    src.write_text("".join(f"wort {i}\n" for i in range(300_000)))
    pty = pytest.importorskip("pty", reason="terminals of Unix")
    fcntl, termios = import_module("fcntl"), import_module("termios")
    main_end, child_end = pty.openpty()
    fcntl.ioctl(child_end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    child = subprocess.Popen(
        [*WAYWORD, "doctor", src, src], stdout=subprocess.PIPE, stderr=child_end
    )
    os.close(child_end)
    assert b"doctor" in os.read(main_end, 1000)
    child.communicate(timeout=60)
    os.close(main_end)
    assert run("doctor", src, src).stderr == ""
