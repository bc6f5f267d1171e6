"""Print a script that completes commands, actions and options in your shell.

The script is plain text: it starts no Python when you press Tab. Make it again after an update.

example: wayword completion bash > ~/.local/share/bash-completion/completions/wayword
         wayword completion zsh > ~/.zfunc/_wayword
         wayword completion fish > ~/.config/fish/completions/wayword.fish
"""

import argparse

from wayword.cli.parser import COMMANDS, build_parser


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    shells = ("bash", "zsh", "fish")
    parser.add_argument("shell", choices=shells, metavar="SHELL", help=", ".join(shells))


def run(args: argparse.Namespace) -> None:
    """Print the script."""
    from wayword.cli.shells import script

    print(script(args.shell, build_parser(*COMMANDS)), end="")
