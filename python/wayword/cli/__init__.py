"""The command ``wayword``: one file per subcommand, one place for errors.

A subcommand is a module with ``configure(parser)`` and ``run(args)``, which parses and prints and
calls an importable function of its stage; `parser.py` lists them. Here errors become one line on
standard error and an exit code: 0 done, 1 failed, 2 wrong usage; as for any Unix program, 130
after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP and 141 when the reader of a pipe went away.
All signals that ask to stop end a command in the same way: what is half done is removed.
"""

import argparse
import errno
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any, NoReturn

from wayword.cli.parser import COMMANDS, build_parser, meant, nearest

__all__ = ["COMMANDS", "main"]


class Stopped(KeyboardInterrupt):
    """Somebody asked the command to stop, by this signal."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


#: Signals that end a command as Ctrl-C does, where the system has them.
SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; the exit code."""
    stops: list[int] = []
    args = argparse.Namespace()
    before = _obey(stops)
    try:
        _open_streams()
        _speak_utf8()
        args = _parse(argv)
        args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        return 141
    except KeyboardInterrupt:
        return _fail("stopped", 128 + (stops or [signal.SIGINT])[0])
    except Exception as error:
        if stops:  # while it was being stopped: an import that was cut off says anything
            return _fail("stopped", 128 + stops[0])
        return _explain(error, args)
    finally:
        _let_go()
        for number, handler in before.items():
            signal.signal(number, handler)
    return 0


def _let_go() -> None:
    """Give up what cannot be printed: Python would complain once more on its way out."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _obey(stops: list[int]) -> dict[int, Any]:
    """Turn signals into exceptions, so that all that is half done is removed; what was before."""

    def stop(number: int, _frame: object) -> NoReturn:
        stops.append(number)
        raise Stopped(number)

    if threading.current_thread() is not threading.main_thread():
        return {}  # whoever called it sees to signals
    # A signal that is ignored stays so, as `nohup` wants it.
    asked = {number: signal.getsignal(number) for number in SIGNALS}
    usual = {signal.SIG_DFL, signal.default_int_handler}
    return {
        number: signal.signal(number, stop) for number, handler in asked.items() if handler in usual
    }


def _open_streams() -> None:
    """Stand in for standard streams that were closed.

    Else the next file that is opened would take the place of one, and get what is printed. What
    is read from or printed to a closed stream fails; what would be said on standard error is lost.
    """
    ways = (("stdin", os.O_WRONLY, "r"), ("stdout", os.O_RDONLY, "w"), ("stderr", os.O_WRONLY, "w"))
    for number, (name, flags, mode) in enumerate(ways):
        if getattr(sys, name) is not None:
            continue
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, flags)  # takes the lowest number that is free: this one
        setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments; a FILE that may be left out may also stand after options."""
    words = (sys.argv[1:] if argv is None else list(argv)) or ["--help"]
    parser = build_parser(*[word for word in words if not word.startswith("-")][:1])
    args, rest = parser.parse_known_args(words)
    # argparse settles optional positionals before it has seen what follows an option.
    if len(rest) == 1 and not rest[0].startswith("-") and getattr(args, "file", None) == "-":
        args.file = rest.pop()
    if isinstance(getattr(args, "text", None), list) and not any(r.startswith("-") for r in rest):
        args.text, rest = [*args.text, *rest], []  # files on both sides of an option
    if rest:
        _refuse(nearest(parser, words), rest)
    return args


def _refuse(command: argparse.ArgumentParser, rest: Sequence[str]) -> NoReturn:
    """Say which words nobody asked for, and what the first may have been meant to be."""
    known = [name for action in command._actions for name in action.option_strings]
    option = rest[0].partition("=")[0]
    guess = meant(option, known) if option.startswith("--") else ""
    command.error(f"unrecognized arguments: {' '.join(rest)}" + (f"; {guess}" if guess else ""))


def _speak_utf8() -> None:
    """Text is UTF-8 with plain newlines, whatever the locale says."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def _explain(error: Exception, args: argparse.Namespace) -> int:
    from wayword.errors import ArgumentError, WaywordError

    if os.environ.get("WAYWORD_TRACEBACK"):
        raise error
    if isinstance(error, ArgumentError):
        return _fail(str(error), 2)
    if isinstance(error, WaywordError):
        return _fail(str(error), 1)
    if isinstance(error, OSError):
        closed = "a standard stream is closed; open it, or name a file"
        nameless = closed if error.errno == errno.EBADF else str(error)
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else nameless, 1)
    if isinstance(error, MemoryError):
        return _fail("not enough memory; give less text at a time, or smaller limits", 1)
    if isinstance(error, OverflowError) and (numbers := _odd_numbers(args)):
        return _fail(f"{', '.join(numbers)}: out of range; expected a smaller, whole number", 2)
    kind = type(error).__name__
    return _fail(
        f"internal error, please report it: {kind}: {error} (WAYWORD_TRACEBACK=1 shows where)", 1
    )


def _odd_numbers(args: argparse.Namespace) -> list[str]:
    """The numbers among the arguments that the core has no place for."""
    return [
        f"--{name.replace('_', '-')} {value}"
        for name, value in vars(args).items()
        if type(value) is int and not 0 <= value < 1 << 32
    ]


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split())
    try:
        print(f"wayword: {line}", file=sys.stderr, flush=True)
    except OSError:  # nobody listens any more
        return code
    return code
