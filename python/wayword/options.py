"""Options of stages: frozen dataclasses whose defaults and checks stand in one place.

In: plain values by name, from a file, a command line or keyword arguments. Out: an options object,
or one sentence that names the key, what was found and what was expected.
How: ``build`` checks names and kinds of values by the dataclass's annotations; the class itself
checks what values make sense, in ``__post_init__``, with the functions below.

>>> from dataclasses import dataclass
>>> @dataclass(frozen=True, kw_only=True)
... class Tea:
...     minutes: int = 3
...     kind: str = "green"
...
...     def __post_init__(self):
...         check_range("minutes", self.minutes, 1, 10)
...         check_choice("kind", self.kind, ("green", "black"))
>>> build(Tea, {"minutes": 5})
Tea(minutes=5, kind='green')
>>> build(Tea, {"minuts": 5}, "tea.")
Traceback (most recent call last):
...
wayword.errors.ArgumentError: found `tea.minuts`; did you mean `tea.minutes`?
>>> build(Tea, {"kind": "rooibos"}, "tea.")
Traceback (most recent call last):
...
wayword.errors.ArgumentError: tea.kind: found `rooibos`; expected one of green, black
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from typing import Any, TypeVar, get_type_hints

from wayword.errors import ArgumentError

__all__ = [
    "build",
    "check_choice",
    "check_keys",
    "check_number",
    "check_range",
    "check_shapes",
]

T = TypeVar("T")
MOST = 2**32 - 1
KINDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def build(kind: type[T], values: Any, prefix: str = "") -> T:
    """An options object of this class; ``prefix`` is said before the names of keys."""
    if not isinstance(values, Mapping):
        found = f"found `{prefix.removesuffix('.')} = {values}`"
        raise ArgumentError(f"{found}; expected a section of keys")
    known = [option.name for option in fields(kind)]  # type: ignore[arg-type]
    check_keys(values, known, prefix)
    hints = get_type_hints(kind)
    chosen = {}
    for name, value in values.items():
        if is_dataclass(hints[name]):
            chosen[name] = build(hints[name], value, f"{prefix}{name}.")
        else:
            chosen[name] = _value(hints[name], value, prefix + name)
    try:
        return kind(**chosen)
    except ArgumentError as error:
        raise ArgumentError(f"{prefix}{error}") from None


def check_keys(values: Iterable[str], known: Sequence[str], prefix: str = "") -> None:
    """Refuse a name that is not known, with the nearest that is."""
    for name in values:
        if name not in known:
            near = get_close_matches(name, known, 1)
            every = ", ".join(prefix + other for other in known)
            advice = f"did you mean `{prefix}{near[0]}`?" if near else f"expected {every}"
            raise ArgumentError(f"found `{prefix}{name}`; {advice}")


def check_shapes(values: Any, shapes: Mapping[str, Any], prefix: str = "") -> None:
    """Refuse values that are not of the kind that a table says.

    That is ``str``, ``int``, ``dict``, or a list of one, written ``[str]``. Keys that the table
    does not have are not looked at.

    >>> check_shapes({"dev": "a.de"}, {"dev": [str]}, "corpus.")
    Traceback (most recent call last):
    ...
    wayword.errors.ArgumentError: corpus.dev: found `"a.de"`; expected a list of text
    """
    if not isinstance(values, Mapping):
        found = json.dumps(values, default=str, ensure_ascii=False)
        where = prefix.removesuffix(".")
        raise ArgumentError(f"{where}: found `{found}`; expected a table of keys")
    names = {**KINDS, dict: "a table of keys"}
    for key, shape in shapes.items():
        if key not in values:
            continue
        value = values[key]
        is_list = isinstance(shape, list)
        kind = shape[0] if is_list else shape
        items = value if is_list and isinstance(value, list | tuple) else [value]
        fits = all(isinstance(item, kind) and type(item) in {kind, dict} for item in items)
        if not fits or (is_list and items is not value):
            found = json.dumps(value, default=str, ensure_ascii=False)
            expected = f"a list of {names[kind].removeprefix('a ')}" if is_list else names[kind]
            raise ArgumentError(f"{prefix}{key}: found `{found}`; expected {expected}")


def check_choice(name: str, value: str, known: Iterable[str]) -> None:
    """Refuse a value that is none of those known."""
    known = list(known)
    if value not in known:
        raise ArgumentError(f"{name}: found `{value}`; expected one of {', '.join(known)}")


def check_text(name: str, value: object) -> None:
    """Refuse a value that is not text."""
    if not isinstance(value, str):
        raise ArgumentError(f"{name}: expected str, found {type(value).__name__}")


def check_range(name: str, value: float, least: float, most: float | None = None) -> None:
    """Refuse what is no number, and a number outside a range; the core has 32 bits for most."""
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    if not (fits and least <= value <= (MOST if most is None else most)):
        is_huge = fits and most is None and value > MOST
        expected = f"{least} to {MOST if is_huge else most}"
        expected = f"{least} or more" if most is None and not is_huge else expected
        raise ArgumentError(f"{name}: found {value}; expected {expected}")


def check_number(name: str, value: float, least: float = 0.0) -> None:
    """Refuse what is no finite number, or one below the least."""
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    if not (fits and math.isfinite(value) and value >= least):
        raise ArgumentError(f"{name}: found {value}; expected {least:g} or more")


def _value(kind: Any, value: Any, name: str) -> Any:
    """The value as the kind it must be."""
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in KINDS:
        if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            if kind is int and abs(value) >= 1 << 63:
                raise ArgumentError(f"found `{name} = {value}`; expected a smaller number")
            return value
        raise ArgumentError(f"found `{name} = {value}`; expected {KINDS[kind]}")
    item = kind.__args__[0]  # a tuple of one kind
    if not isinstance(value, list | tuple):
        form = f"{name}={json.dumps([value], ensure_ascii=False)}"
        advice = f"write `{form}`, on a command line in single quotes"
        raise ArgumentError(f"found `{name} = {value}`; expected a list; {advice}")
    return tuple(_value(item, part, name) for part in value)
