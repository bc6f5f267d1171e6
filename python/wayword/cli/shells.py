"""Scripts for shells that complete commands, actions, options and their choices.

In: the parser with all commands. Out: a script for bash, zsh or fish. How: the parsers are walked
once; each place in the command line becomes an entry with its words, and a shell function looks up
the place and lets file names in where no word fits. Cost: none when Tab is pressed but the shell's
own. Not: values that have to be looked up, such as names of settings.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from wayword.cli.parser import options, subcommands

__all__ = ["script"]


@dataclass(frozen=True)
class Place:
    """A point in the command line: what was typed so far, and what may follow."""

    path: tuple[str, ...]
    children: dict[str, str]
    options: dict[str, str]
    #: The values of an option; under the empty name, those of what stands without one.
    choices: dict[str, tuple[str, ...]]


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """The completion script of a shell."""
    writers = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    return writers[shell](list(_places(parser, ())))


def _places(parser: argparse.ArgumentParser, path: tuple[str, ...]) -> Iterator[Place]:
    """A parser and all that follow it, as places."""
    children = subcommands(parser)
    actions = list(options(parser))
    choices = {
        name: tuple(map(str, action.choices))
        for action in parser._actions
        if action.choices is not None and not (children and not action.option_strings)
        for name in action.option_strings or [""]
    }
    purposes = {name: action.help or "" for action in actions for name in action.option_strings}
    yield Place(
        path,
        {name: purpose for name, (_, purpose) in children.items()},
        {**purposes, "--help": "show what the command does"},
        choices,
    )
    for name, (child, _) in children.items():
        yield from _places(child, (*path, name))


BASH = """\
# bash completion of wayword; made by `wayword completion bash`
_wayword() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
    local place="" word words="" index
    for ((index = 1; index < COMP_CWORD; index++)); do
        word=${{COMP_WORDS[index]}}
        case "$place $word" in
            {known}) place="$place $word" ;;
        esac
    done
    case "$place $previous" in
{values}
    esac
    case "$place" in
{places}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    # Where no word fits, a file does.
    [[ ${{#COMPREPLY[@]}} -eq 0 && $current != -* ]] && COMPREPLY=($(compgen -f -- "$current"))
}}
complete -o filenames -F _wayword wayword
"""


def _bash(places: list[Place]) -> str:
    known = "|".join(f'" {" ".join(place.path)}"' for place in places if place.path)
    values = [
        f'        "{_key(place)} {name}") COMPREPLY=($(compgen -W "{" ".join(choices)}"'
        ' -- "$current")); return ;;'
        for place in places
        for name, choices in place.choices.items()
        if name
    ]
    rows = [f'        "{_key(place)}") words="{" ".join(_words(place))}" ;;' for place in places]
    return BASH.format(known=known, values="\n".join(values), places="\n".join(rows))


def _key(place: Place) -> str:
    """A place as the functions for bash and zsh spell it: each word with a space before it."""
    return "".join(f" {word}" for word in place.path)


def _words(place: Place) -> list[str]:
    return [*place.children, *place.choices.get("", ()), *place.options]


ZSH = """\
#compdef wayword
# zsh completion of wayword; made by `wayword completion zsh`
_wayword() {{
    local place="" word index
    local -a entries
    for ((index = 2; index < CURRENT; index++)); do
        word=${{words[index]}}
        case "$place $word" in
            ({known}) place="$place $word" ;;
        esac
    done
    case "$place ${{words[CURRENT-1]}}" in
{values}
    esac
    case "$place" in
{places}
    esac
    _describe 'wayword' entries
    [[ $PREFIX == -* ]] || _files
}}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _wayword "$@"
else
    compdef _wayword wayword
fi
"""


def _zsh(places: list[Place]) -> str:
    known = "|".join(f'" {" ".join(place.path)}"' for place in places if place.path)
    values = [
        f'        ("{_key(place)} {name}") compadd {" ".join(choices)}; return ;;'
        for place in places
        for name, choices in place.choices.items()
        if name
    ]
    rows = []
    for place in places:
        told = {**place.children, **dict.fromkeys(place.choices.get("", ()), ""), **place.options}
        entries = " ".join(_quoted(f"{name}:{_plain(purpose)}") for name, purpose in told.items())
        rows.append(f'        ("{_key(place)}") entries=({entries}) ;;')
    return ZSH.format(known=known, values="\n".join(values), places="\n".join(rows))


def _fish(places: list[Place]) -> str:
    lines = [
        "# fish completion of wayword; made by `wayword completion fish`",
        "function __wayword_at",
        "    set -l words (commandline -opc)",
        "    test (count $words) -gt (count $argv); or return 1",
        "    set -l last (math (count $argv) + 1)",
        '    test "$words[2..$last]" = "$argv"',
        "end",
        "function __wayword_exactly",
        "    test (count (commandline -opc)) -eq (math (count $argv) + 1); or return 1",
        "    test (count $argv) -eq 0; or __wayword_at $argv",
        "end",
    ]
    for place in places:
        here = " ".join(place.path)
        for name, purpose in place.children.items():
            when = f"-n '__wayword_exactly {here}'"
            lines.append(f"complete -c wayword -f {when} -a {name} -d {_quoted(purpose)}")
        lines += [
            f"complete -c wayword -f -n '__wayword_exactly {here}' -a {name}"
            for name in place.choices.get("", ())
        ]
        for name, purpose in place.options.items():
            when = f"__wayword_at {here}" if here else "__wayword_exactly"
            kind = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
            values = (
                f" -x -a {_quoted(' '.join(choices))}"
                if (choices := place.choices.get(name, ()))
                else ""
            )
            lines.append(f"complete -c wayword -n '{when}' {kind}{values} -d {_quoted(purpose)}")
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """A description without what zsh's lists give a meaning to."""
    return text.replace("\\", "").replace(":", " -")


def _quoted(text: str) -> str:
    """A word in single quotes for any of the shells; a quote inside becomes a typographic one.

    >>> _quoted("the system's name")
    "'the system’s name'"
    """
    return "'" + text.replace("'", "’").replace("%%", "%") + "'"
