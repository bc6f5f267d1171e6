"""What users build on: public names, commands with their options, settings, formats.

`api.txt` holds them as the last release had them. A name that is gone, or new, must be in the
unreleased section of the CHANGELOG; a release writes the list again:
`pytest tests/test_stability.py --rewrite-golden`.
"""

import argparse
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import wayword
from wayword._core import FORMATS
from wayword.cli.parser import COMMANDS, build_parser, options, subcommands
from wayword.config import setting_names

ROOT = Path(__file__).parents[1]
RECORD = Path(__file__).with_name("api.txt")


def names_of_python() -> Iterator[str]:
    """The names that `wayword` and its modules, one level deep, list in ``__all__``."""
    modules = ["wayword", *(f"wayword.{module.name}" for module in iter_modules(wayword.__path__))]
    for place in modules:
        if not place.rpartition(".")[2].startswith("_") and place != "wayword.cli":
            names = getattr(import_module(place), "__all__", ())  # without it nothing is promised
            yield from (f"python {place}.{name}" for name in names)


def names_of_commands() -> Iterator[str]:
    """Commands, actions, positional arguments and options."""
    waiting: list[argparse.ArgumentParser] = [build_parser(*COMMANDS)]
    while waiting:
        parser = waiting.pop()
        for action in options(parser):
            yield f"command {parser.prog} {'/'.join(action.option_strings)}"
        for action in parser._actions:
            if not action.option_strings and not isinstance(action, argparse._SubParsersAction):
                yield f"command {parser.prog} {action.metavar or action.dest}"
        children = subcommands(parser)
        yield from (f"command {child.prog}" for child, _ in children.values())
        waiting += [child for child, _ in children.values()]


def surface() -> list[str]:
    """Everything that is promised, a line each."""
    settings = (f"setting {name}" for name in setting_names())
    formats = (f"format {what} {version}" for what, version in FORMATS.items())
    return sorted({*names_of_python(), *names_of_commands(), *settings, *formats})


def unreleased() -> str:
    """What the CHANGELOG says of changes since the last release."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return text.split("## Unreleased", 1)[1].split("\n## ", 1)[0]


def is_told(line: str, told: str, *, is_new: bool) -> bool:
    """Whether the CHANGELOG names a changed line; of what is new, its command or module will do."""
    words = line.split()
    names = [words[-1].rpartition(".")[2], *words[-1].split("/")]
    if is_new and words[0] == "command":
        names.append(" ".join(words[1:3]))
    if is_new and words[0] in {"python", "setting"}:
        names.append(words[1].rpartition(".")[0])
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", told) for name in names if name)


def test_what_users_build_on_changes_only_where_the_changelog_says_so(
    request: pytest.FixtureRequest,
) -> None:
    now = surface()
    if request.config.getoption("--rewrite-golden"):
        RECORD.write_text("\n".join(now) + "\n", encoding="utf-8")
    before = RECORD.read_text(encoding="utf-8").splitlines()
    told = unreleased()
    gone = [line for line in before if line not in now and not is_told(line, told, is_new=False)]
    new = [line for line in now if line not in before and not is_told(line, told, is_new=True)]
    assert (gone, new) == ([], []), "say so in the CHANGELOG's unreleased section"


@pytest.mark.parametrize(
    ("line", "is_new", "is_enough"),
    [
        ("command wayword serve --port", True, True),
        ("command wayword serve --port", False, False),
        ("command wayword train --config", False, True),
        ("command wayword train --con", False, False),
        ("setting lm.order", False, False),
        ("python wayword.lm.train", False, True),
    ],
)
def test_the_changelog_is_read_word_by_word(line: str, is_new: bool, is_enough: bool) -> None:
    told = "- `wayword serve SYSTEM`: a page. `--config` is gone, and so is `lm.train`."
    assert is_told(line, told, is_new=is_new) == is_enough
