"""What commands share when they talk to people and programs."""

import argparse
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wayword.evaluate.usability import UsabilityCheck

BITEXT = (
    "two line-aligned files, source first, or files with both sides (.tsv .jsonl .tmx .po "
    ".parquet, `src ||| tgt`), or folders of such; several are read one after the other"
)

__all__ = [
    "add_bitext",
    "add_json",
    "add_seed",
    "add_threads",
    "bar",
    "chosen",
    "print_json",
    "tell_usability",
]


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def add_threads(parser: argparse.ArgumentParser) -> None:
    """Add ``--threads``."""
    parser.add_argument(
        "--threads", type=int, default=0, metavar="N", help="0 for all (default); changes no result"
    )


def add_runner(parser: argparse.ArgumentParser) -> None:
    """Add ``--runner`` and ``--storage``."""
    add = parser.add_argument
    add("--runner", default="local", help="local (default), or ray[:ADDRESS] for a cluster")
    add("--storage", default="", metavar="URL", help="where nodes that share no folder keep files")


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add ``--seed``."""
    parser.add_argument(
        "--seed", type=int, default=1, help="the same seed gives the same bytes (default 1)"
    )


def add_bitext(parser: argparse.ArgumentParser, *, nargs: str = "+") -> None:
    """Add the files of a bitext, in any format, and what tells their sides apart."""
    add = parser.add_argument
    add("text", nargs=nargs, metavar="TEXT", help=BITEXT)
    add("--src-lang", metavar="LANG", default="", help="source language, such as de")
    add("--tgt-lang", metavar="LANG", default="", help="target language")
    add(
        "--columns",
        nargs=2,
        metavar=("SRC", "TGT"),
        default=(),
        help="what the sides are called in JSON lines and Parquet (the languages, or src and tgt)",
    )


def chosen(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Options of the command that go on as keyword arguments of the same names."""
    return {name: getattr(args, name) for name in names}


def print_json(value: Any) -> None:
    """Print a value for a program to read, on one line; what is no number is null.

    >>> print_json({"share": float("nan"), "rows": [(1, 0.5)]})
    {"share": null, "rows": [[1, 0.5]]}
    """
    import json

    print(json.dumps(_known(value), ensure_ascii=False, allow_nan=False))


def _known(value: Any) -> Any:
    """The value with None for numbers that JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _known(part) for key, part in value.items()}
    return [_known(part) for part in value] if isinstance(value, list | tuple) else value


def tell_usability(check: "UsabilityCheck", place: str) -> None:
    """Warn on standard error of a system that hardly works; one of no use is an error."""
    import sys

    from wayword.errors import WaywordError

    if check.verdict == "unusable":
        raise WaywordError(check.warning(place))
    if warning := check.warning(place):
        print(f"wayword: warning: {warning}", file=sys.stderr)


@contextmanager
def bar(title: str, unit: str) -> Iterator[Callable[[int, int], object]]:
    """Show on standard error what is being done, and how much of it; see ``Display``."""
    from wayword.cli.display import Display

    with Display(title, unit) as display:
        yield display.progress
