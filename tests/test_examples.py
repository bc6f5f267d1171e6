"""Every example runs as it stands, on a machine that has nothing but the package."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
#: What each prints at least.
PRINTS = {
    "train_and_translate": "target  1[",
    "score_word_order": "half right",
    "project_tags": "CCONJ",
    "preorder_in_front": "reordered:",
    "normalise_spelling": "normalised: ",
}


def test_every_example_is_known() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(PRINTS)


@pytest.mark.parametrize("name", PRINTS)
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert PRINTS[name] in done.stdout
    if name == "normalise_spelling":
        assert _right(done.stdout, "normalised") > _right(done.stdout, "as it is") + 5


def _right(text: str, name: str) -> float:
    [line] = [line for line in text.splitlines() if line.startswith(f"{name}: ")]
    return float(line.removeprefix(f"{name}: ").split()[0])
