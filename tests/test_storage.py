"""Files are written one way: whole or not at all, and never in the place of something else."""

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from wayword import lm
from wayword.cli import main
from wayword.corpus.files import new_bytes, new_file, new_folder, temp_folder
from wayword.errors import ArgumentError

TEXT = "das haus\nein haus\n" * 5


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_device_gets_what_is_written_and_stays_one(tmp_path: Path) -> None:
    with new_file("/dev/null") as file:
        print("gone", file=file)
    (tmp_path / "text").write_text(TEXT, encoding="utf-8")
    assert main(["lm", "train", str(tmp_path / "text"), "-o", "/dev/null"]) == 2
    assert main(["toy", "de-en", "-n", "3", "-o", "/dev/null"]) in {1, 2}
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.parametrize("suffix", ["", ".arpa"])
def test_a_pipe_is_never_replaced(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "text").write_text(TEXT, encoding="utf-8")
    pipe = tmp_path / f"pipe{suffix}"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()), daemon=True)
    reader.start()
    code = main(["lm", "train", str(tmp_path / "text"), "-o", str(pipe), "--order", "2"])
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    if suffix:  # text goes through
        reader.join(20)
        assert code == 0
        assert received[0].startswith(b"\\data\\")
    else:  # a model is written out of order
        assert code == 2
        with pipe.open("wb"):
            reader.join(20)
    assert names(tmp_path) == {"text", pipe.name}


def test_standard_output_by_name_gets_the_bytes(tmp_path: Path) -> None:
    (tmp_path / "text").write_text(TEXT, encoding="utf-8")
    train = ["lm", "train", str(tmp_path / "text"), "--order", "2", "-o"]
    command = [sys.executable, "-m", "wayword", *train, str(tmp_path / "whole.arpa")]
    subprocess.run(command, check=True, capture_output=True)
    with (tmp_path / "out").open("wb") as out:
        code = (
            "import sys; from wayword.lm import LanguageModel as L;"
            f"L.load({str(tmp_path / 'whole.arpa')!r}).write_arpa('/dev/stdout')"
        )
        subprocess.run([sys.executable, "-c", code], check=True, stdout=out)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole.arpa").read_bytes()
    assert Path("/dev/stdout").is_symlink()


@pytest.mark.parametrize("target", ["there", "missing"])
def test_a_link_is_neither_followed_nor_replaced(tmp_path: Path, target: str) -> None:
    (tmp_path / "there").write_text("precious", encoding="utf-8")
    link = tmp_path / "link"
    link.symlink_to(target)
    with (
        pytest.raises(ArgumentError, match="link: found a link; expected the name of a file"),
        new_file(link),
    ):
        pass
    assert link.is_symlink()
    assert (tmp_path / "there").read_text(encoding="utf-8") == "precious"
    assert names(tmp_path) == {"there", "link"}


def test_names_in_the_making_cannot_be_guessed_and_are_removed(tmp_path: Path) -> None:
    seen = set()
    for _ in range(3):
        with suppress(KeyboardInterrupt), new_bytes(tmp_path / "model") as file:
            file.write(b"half")
            seen |= names(tmp_path)
            raise KeyboardInterrupt
    assert len(seen) == 3
    assert not names(tmp_path)
    with suppress(KeyboardInterrupt), new_folder(tmp_path / "deep" / "system") as folder:
        (folder / "a").write_text("half", encoding="utf-8")
        raise KeyboardInterrupt
    assert not names(tmp_path)


HELD = """
import sys, time
from wayword.corpus.files import new_file, new_folder, temp_folder
with new_file(sys.argv[1] + "/file") as file, new_folder(sys.argv[1] + "/folder") as part:
    with temp_folder() as temporary:
        print(temporary, flush=True)
        time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_a_killed_process_left_is_swept_by_the_next(
    tmp_path: Path, number: signal.Signals
) -> None:
    command = [sys.executable, "-c", HELD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as held:
        assert held.stdout is not None
        temporary = Path(held.stdout.readline().strip())
        assert len(names(tmp_path)) == 2
        with new_file(tmp_path / "file") as file:  # the other one is alive: nothing is swept
            assert len(names(tmp_path)) == 3
            print("mine", file=file)
        held.send_signal(number)
    assert len(names(tmp_path)) == 3
    with new_file(tmp_path / "file") as file, temp_folder():
        print("mine", file=file)
    with new_folder(tmp_path / "folder"):
        pass
    assert names(tmp_path) == {"file", "folder"}
    assert not temporary.exists()


LONG = """
import sys
from wayword.cli import main
import wayword.lm
def train(*_args, **_options):
    from wayword.corpus.files import new_file, temp_folder
    import time
    with new_file(sys.argv[1] + "/half"), temp_folder() as folder:
        print(folder, flush=True)
        time.sleep(60)
wayword.lm.train = train
sys.exit(main(["lm", "train", sys.argv[1] + "/text", "-o", sys.argv[1] + "/lm"]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_that_ask_to_stop_leave_nothing(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "text").write_text(TEXT, encoding="utf-8")
    command = [sys.executable, "-c", LONG, str(tmp_path)]
    with subprocess.Popen(
        command,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # What runs in the background of a shell does not hear Ctrl-C, nor do its children.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # noqa: PLW1509
    ) as long:
        assert long.stdout is not None
        temporary = Path(long.stdout.readline().strip())
        begun = time.monotonic()
        long.send_signal(number)
        _, said = long.communicate(timeout=30)
    assert (long.returncode, said.splitlines()[-1]) == (128 + number, "wayword: stopped")
    assert time.monotonic() - begun < 10
    assert names(tmp_path) == {"text"}
    assert not temporary.exists()


def test_a_folder_is_no_file_to_write(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError), new_file(tmp_path):
        pass


def test_a_model_replaces_a_regular_file_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / ("ü" * 100 + ".lm")  # long enough that a longer name would not do
    (tmp_path / "text").write_text(TEXT, encoding="utf-8")
    for _ in range(2):
        lm.train(tmp_path / "text", path, order=2)
        assert names(tmp_path) == {"text", path.name}
