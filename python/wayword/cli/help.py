"""Explain a command, an action of a command, a setting of training, or a topic.

Without a topic: what there is to explain.

example: wayword help
         wayword help lm train
         wayword help spaces
         wayword help search.space
"""

import argparse
from pathlib import Path

from wayword.cli.parser import COMMANDS, build_parser, meant, subcommands

__all__ = ["configure", "run", "topics"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "topic", nargs="*", metavar="TOPIC", help="a command, a setting or one of the topics"
    )


def run(args: argparse.Namespace) -> None:
    """Print what there is to say."""
    first, *actions = args.topic or [""]
    pages = topics()
    if not first:
        print(_overview(pages), end="")
    elif first in COMMANDS:
        _of_command(first, actions).print_help()
    elif first in pages and not actions:
        print(pages[first], end="")
    else:
        print(_of_setting(" ".join(args.topic), pages))


def topics() -> dict[str, str]:
    """The texts of all topics by name."""
    paths = sorted((Path(__file__).parent / "topics").glob("*.txt"))
    return {path.stem: path.read_text(encoding="utf-8") for path in paths}


def _overview(pages: dict[str, str]) -> str:
    titles = {name: text.splitlines()[0] for name, text in pages.items()}
    rows = [f"  {name:<14}{title}\n" for name, title in {**COMMANDS, **titles}.items()]
    rows.insert(len(COMMANDS), "\ntopics:\n")
    return "".join(
        ["commands:\n", *rows, "\nsettings: `wayword help search.space`, or a section\n"]
    )


def _of_command(name: str, actions: list[str]) -> argparse.ArgumentParser:
    """The parser of a command, or of one of its actions."""
    from wayword.errors import ArgumentError

    command = subcommands(build_parser(name))[name][0]
    for action in actions:
        children = subcommands(command)
        if action not in children:
            advice = meant(action, children) or f"expected one of {', '.join(children)}"
            advice = advice if children else f"`{command.prog}` has no actions"
            raise ArgumentError(f"help: no action `{action}` of `{command.prog}`; {advice}")
        command = children[action][0]
    return command


def _of_setting(name: str, pages: dict[str, str]) -> str:
    """What the documented defaults say of a setting or a section."""
    from wayword.config import explain, setting_names
    from wayword.errors import ArgumentError

    if name in setting_names():
        return explain(name)
    known = [*COMMANDS, *pages, *setting_names()]
    advice = meant(name, known) or "`wayword help` lists what there is"
    raise ArgumentError(f"help: nothing about `{name}`; {advice}")
