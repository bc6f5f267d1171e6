"""The commands of the README do what they say, in the order they stand there."""

import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"

#: Files that a reader of the README has and we have not.
FILES = {
    "raw.de": "Das Haus ist klein.\n",
    "output.en": "the house is small\n",
    "reference.en": "the house is little\n",
}


def test_the_commands_of_the_readme_run(tmp_path: Path) -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    commands = [line.strip() for line in lines if line.startswith("    wayword ")]
    assert len(commands) >= 7
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    script = "\n".join(
        [f'wayword() {{ "{sys.executable}" -m wayword "$@"; }}', "set -e", *commands]
    )
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for name in ("toy/train.de", "clean/train.de", "tokens.de", "links", "table", "en.lm"):
        assert (tmp_path / name).stat().st_size > 0, name
