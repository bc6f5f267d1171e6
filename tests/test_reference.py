"""The reference is as the code says; every name and command is in it."""

from pathlib import Path
from runpy import run_path

import wayword
from wayword.cli.parser import COMMANDS

ROOT = Path(__file__).parents[1]
MADE = run_path(str(ROOT / "docs" / "reference" / "make.py"))


def test_the_reference_of_commands_is_up_to_date() -> None:
    known = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    assert known == MADE["commands_page"](), "run `python docs/reference/make.py`"
    assert all(f"\n## {name}\n" in known for name in COMMANDS)


def test_every_public_name_has_a_signature_and_a_text() -> None:
    pages = MADE["pages"]()
    for name in wayword.__all__:
        if not name.startswith("_"):
            assert f"\n## {name}\n" in pages["wayword.md"]
    for module in MADE["MODULES"]:
        page = pages[f"{module}.md"]
        assert len(page.splitlines()) > 10, module
        for part in page.split("\n## ")[1:]:
            assert "```python\n" in part, part
