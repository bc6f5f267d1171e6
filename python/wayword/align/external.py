"""Calls an aligner that the user has installed: eflomal or fast_align.

In: a bitext. Out: the links of its two directions, which ``wayword.align`` symmetrises.
How: the text goes to a temporary folder, the program's own command runs on it, and its two link
files are read with the usual checks. Neither program is a part of wayword: eflomal is under the
GPL, and both have to be on the path.
Not: saving a model; neither program has one to save.
"""

import logging
import shutil
import subprocess
from pathlib import Path

from wayword.align.links import Links
from wayword.corpus import Bitext
from wayword.corpus.files import temp_folder
from wayword.errors import ArgumentError, WaywordError

__all__ = ["EXTERNAL", "run_external"]

LOG = logging.getLogger(__name__)

#: Aligners of others, with the command each is known by and where it comes from.
EXTERNAL = {"eflomal": "eflomal-align", "fast_align": "fast_align"}


def run_external(name: str, bitext: Bitext) -> tuple[Links, Links]:
    """The links of both directions, each with the source position first."""
    program = shutil.which(EXTERNAL[name])
    if program is None:
        raise ArgumentError(
            f"model: found `{name}`, but its command `{EXTERNAL[name]}` is not on the path; "
            "expected it to be installed; try the built-in model `hmm`"
        )
    with temp_folder() as folder:
        _write_text(bitext, folder)
        (_run_eflomal if name == "eflomal" else _run_fast_align)(program, folder)
        return Links.read(folder / "forward", bitext), Links.read(folder / "reverse", bitext)


def _write_text(bitext: Bitext, folder: Path) -> None:
    with (
        (folder / "src").open("w", encoding="utf-8", newline="\n") as src_file,
        (folder / "tgt").open("w", encoding="utf-8", newline="\n") as tgt_file,
        (folder / "both").open("w", encoding="utf-8", newline="\n") as both,
    ):
        for pair in bitext:
            src, tgt = " ".join(pair.src), " ".join(pair.tgt)
            src_file.write(f"{src}\n")
            tgt_file.write(f"{tgt}\n")
            both.write(f"{src} ||| {tgt}\n")


def _run_eflomal(program: str, folder: Path) -> None:
    files: list[str | Path] = ["-s", folder / "src", "-t", folder / "tgt"]
    _run([program, *files, "-f", folder / "forward", "-r", folder / "reverse"], None)


def _run_fast_align(program: str, folder: Path) -> None:
    settings: list[str | Path] = [program, "-i", folder / "both", "-d", "-o", "-v"]
    _run(settings, folder / "forward")
    _run([*settings, "-r"], folder / "reverse")


def _run(command: list[str | Path], out: Path | None) -> None:
    LOG.info("running %s", " ".join(map(str, command)))
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["nothing"]
        raise WaywordError(
            f"{Path(command[0]).name}: left with {done.returncode}, saying: {said[0]}"
        )
    if out:
        out.write_bytes(done.stdout)
