"""Commands print what they printed before: `golden/CASE/` holds input and expected output.

A case is a folder with `command` (run by the shell in a copy of the folder, `wayword` first),
input files, and the expected `stdout`, `stderr` and `code`. `make golden` rewrites the three.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(path.name for path in GOLDEN.iterdir() if path.is_dir())
OUTPUT = ("stdout", "stderr", "code")


@pytest.mark.parametrize("case", CASES)
def test_commands_print_what_they_printed_before(
    case: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / case
    shutil.copytree(GOLDEN / case, folder, ignore=shutil.ignore_patterns(*OUTPUT))
    command = (GOLDEN / case / "command").read_text().strip()
    done = subprocess.run(
        ["bash", "-c", f'wayword() {{ "{sys.executable}" -m wayword "$@"; }}\n{command}'],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    printed = dict(zip(OUTPUT, (done.stdout, done.stderr, b"%d\n" % done.returncode), strict=True))
    if request.config.getoption("--rewrite-golden"):
        for name, data in printed.items():
            (GOLDEN / case / name).write_bytes(data)
    for name, data in printed.items():
        assert data.decode() == (GOLDEN / case / name).read_text(), name
