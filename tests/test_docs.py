"""The commands of README and docs do what they say, in the order they stand there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/tutorial.md", "docs/train.md", "docs/experiment.md", "docs/moses.md")

#: Files that a reader has and we have not.
FILES = {
    "raw.de": "Das Haus ist klein.\n",
    "output.en": "the house is small\n",
    "reference.en": "the house is little\n",
    "input.txt": "Das Haus ist klein .\n",
}
COMMAND = re.compile(r"^    ((?:wayword|head|echo) (?:.*\\\n)*.*)", re.MULTILINE)


def commands(page: str) -> list[str]:
    """What a page tells its reader to type."""
    return COMMAND.findall((ROOT / page).read_text(encoding="utf-8"))


def experiment_file() -> str:
    """The example of the page on experiments."""
    page = (ROOT / "docs" / "experiment.md").read_text(encoding="utf-8")
    return page.split("```toml\n")[1].split("```")[0]


def corpus(folder: Path) -> None:
    """A small corpus under the names that pages use."""
    from wayword.corpus import toy

    toy.write("de-en", 300, folder / "text", seed=1)
    for path in (folder / "text").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run(page: str, tmp_path: Path) -> None:
    shell_lines = commands(page)
    assert len(shell_lines) >= 1
    corpus(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "limits.toml").write_text(experiment_file())
    if page == "docs/moses.md":
        golden = ROOT / "tests" / "golden" / "translate"
        for name in ("moses.ini", "phrase-table", "reordering-table", "lm.arpa"):
            (tmp_path / name).write_bytes((golden / name).read_bytes())
    head = f'wayword() {{ "{sys.executable}" -m wayword "$@"; }}'
    script = "\n".join([head, "set -e -o pipefail", *shell_lines])
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_page_is_linked_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for path in sorted((ROOT / "docs").glob("*.md")):
        assert f"docs/{path.name}" in readme, path.name
