"""Completion scripts: every command, action and option is in them, and shells accept them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from wayword.cli.help import topics
from wayword.cli.parser import COMMANDS, build_parser, options, subcommands
from wayword.cli.shells import script

SHELLS = ("bash", "zsh", "fish")


@pytest.fixture(scope="module")
def scripts() -> dict[str, str]:
    parser = build_parser(*COMMANDS)
    return {shell: script(shell, parser) for shell in SHELLS}


def names() -> list[str]:
    """All that can be completed: commands, actions, options."""
    found: list[str] = []
    waiting = [build_parser(*COMMANDS)]
    while waiting:
        parser = waiting.pop()
        children = subcommands(parser)
        found += [*children, *(name for one in options(parser) for name in one.option_strings)]
        waiting += [child for child, _ in children.values()]  # type: ignore[misc]
    return found


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_and_option_is_in_the_script(shell: str, scripts: dict[str, str]) -> None:
    for name in names():
        word = name.lstrip("-") if shell == "fish" else name
        assert word in scripts[shell], name


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_that_is_installed_accepts_the_script(
    shell: str, scripts: dict[str, str], tmp_path: Path
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "wayword"
    path.write_text(scripts[shell], encoding="utf-8")
    done = subprocess.run([shell, "-n", path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def complete(text: str, words: str, folder: Path) -> list[str]:
    """What bash offers for the last of these words."""
    lines = [
        text,
        f"COMP_WORDS=({words})",
        f"COMP_CWORD={len(words.split()) - 1}",
        "_wayword",
        'printf "%s\\n" "${COMPREPLY[@]}"',
    ]
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("wayword tr", ["train", "translate"]),
        ("wayword lm s", ["score"]),
        ("wayword translate system --po", ["--pop-limit"]),
        ("wayword translate sys", ["system.txt"]),
        ("wayword completion z", ["zsh"]),
        ("wayword lm score model --li", ["--lines"]),
    ],
)
def test_bash_offers_what_fits(
    words: str, offered: list[str], scripts: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "system.txt").touch()
    assert complete(scripts["bash"], words, tmp_path) == offered


def test_the_topic_of_metrics_names_them_all() -> None:
    from wayword.evaluate import METRICS

    named = topics()["metrics"].split()
    assert [name for name in METRICS if name not in named] == []
