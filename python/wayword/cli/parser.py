"""The parser of the command line: every command by name, the options of those that are needed.

In: the words of a command line. Out: an ``argparse`` parser that knows them, and messages on one
line that guess what was meant. How: a command's module is imported and asked for its options only
when its name is the first word; `wayword --help` imports none of them. Cost: one small module a
command; see bench/startup.py. Not: running anything.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, NoReturn

__all__ = ["COMMANDS", "Parser", "build_parser", "meant", "nearest", "subcommands"]

#: The commands in the order of the pipeline, and what each is for.
COMMANDS = {
    "demo": "train and compare small systems on text that it makes itself",
    "train": "train a system from two text files, or any text with both sides",
    "config": "print every setting of training, with its default",
    "toy": "make parallel text whose links and word order are known",
    "doctor": "find bad lines in a bitext, and take them out",
    "prepare": "tokenise text, or restore it from tokens",
    "annotate": "tag words and find chunks, or learn to",
    "align": "find which words of a bitext mean the same",
    "extract": "make a phrase table from a bitext and its links",
    "lm": "train a language model, or score text with one",
    "waw": "learn which source word is translated right after which",
    "neural": "learn a network that says which source word comes next",
    "preorder": "put source words in the order of their translation",
    "translate": "translate text with a system",
    "tune": "learn the weights of a system from a dev set",
    "evaluate": "score translations and their word order, with significance",
    "audit": "look for errors in a translation: words left out, numbers, terms, order",
    "oracle": "find out how good the word order could be",
    "profile": "describe the word order of a language pair, with advice",
    "experiment": "compare many variants of a system",
    "report": "show what a system is made of and where it fails",
    "serve": "answer over HTTP, with a page to translate, look, steer and teach",
    "merge": "make what a system has learned part of it",
    "seal": "accept changes made to a system by hand",
    "pack": "write a system as one file, or unpack it",
    "import-moses": "turn a Moses model into a system",
    "export-moses": "turn a system into a Moses model",
    "completion": "print a script that completes commands in bash, zsh or fish",
    "help": "explain a command, a setting or a topic",
}

DESCRIPTION = """\
Phrase-based translation that gets word order right.

Start with `wayword demo`; `wayword help COMMAND` explains a command, `wayword help` all else."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose complaints are one line, with a guess at what was meant."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where to read more, and leave with 2."""
        advice = "" if message.endswith("?") else f"; try `{self.prog} --help`"
        self.exit(2, f"{self.prog}: {message}{advice}\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is not among the choices, in our words."""
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        kind = "command" if self.prog == "wayword" else (action.metavar or action.dest)
        kind = str(kind).lower()
        guess = meant(str(value), choices) or f"expected one of {', '.join(choices)}"
        raise argparse.ArgumentError(None, f"no {kind} `{value}`; {guess}")


class Version(argparse.Action):
    """``--version``: what runs here, and which files it reads."""

    def __init__(self, option_strings: Sequence[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show version and formats, and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Print and leave."""
        from wayword.cli.version import describe

        print(describe())
        parser.exit()


def build_parser(*wanted: str) -> Parser:
    """The parser of the whole command line, with the options of the commands that are wanted."""
    parser = Parser(
        prog="wayword",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=Version)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, purpose in COMMANDS.items():
        command = commands.add_parser(
            name, help=purpose, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        if name in wanted:
            module = import_module(f"wayword.cli.{name.replace('-', '_')}")
            command.description = module.__doc__
            module.configure(command)
            command.set_defaults(run=module.run)
    return parser


def subcommands(parser: argparse.ArgumentParser) -> dict[str, tuple[argparse.ArgumentParser, str]]:
    """The parsers that follow one, by name, and what each is for."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            purposes = {choice.dest: choice.help or "" for choice in action._choices_actions}
            return {name: (child, purposes[name]) for name, child in action.choices.items()}
    return {}


def nearest(parser: argparse.ArgumentParser, words: Iterable[str]) -> argparse.ArgumentParser:
    """The parser of the command or action that these words name."""
    for word in words:
        if word in (children := subcommands(parser)):
            parser = children[word][0]
    return parser


def options(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The options that people may give, `--help` and hidden ones aside."""
    for action in parser._actions:
        shown = action.option_strings and action.help != argparse.SUPPRESS
        if shown and not isinstance(action, argparse._HelpAction):
            yield action


def meant(word: str, known: Iterable[str]) -> str:
    """A guess at what was meant, or nothing.

    >>> meant("trian", COMMANDS), meant("xyz", COMMANDS)
    ('did you mean `train`?', '')
    """
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"did you mean `{near[0]}`?" if near else ""
