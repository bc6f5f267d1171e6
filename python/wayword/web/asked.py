"""What somebody asks, read from the body of a request and checked.

In: JSON or a form, as plain values. Out: an ``Asked``, or one sentence that names the field, what
was found and what was expected. Nothing is guessed: a field of a wrong kind is refused.

>>> Asked.read({"q": "Hallo", "source": "de", "target": "en"}).texts
('Hallo',)
>>> Asked.read({"q": 3, "target": "en"})
Traceback (most recent call last):
...
wayword.errors.ArgumentError: q: found a number; expected text or a list of texts
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wayword.errors import ArgumentError, LimitError

__all__ = ["Asked", "number", "read_body", "text_of"]

Pairs = tuple[tuple[str, Any], ...]

#: Settings that a request may change, and the largest number for each that has one.
SETTINGS: dict[str, int | None] = {
    "space": None,
    "search": None,
    "pop_limit": 20_000,
    "stack_size": 20_000,
    "threshold": None,
    "options_per_span": 1000,
    "oov": None,
}
FORMATS = ("text", "html")
MOST_ALTERNATIVES = 100
MOST_TERMS = 1000
KINDS = {dict: "a table of keys", list: "a list", str: "text", bool: "true or false"}


@dataclass(frozen=True)
class Asked:
    """A request to translate, and how."""

    texts: tuple[str, ...]
    is_list: bool
    source: str = "auto"
    target: str = ""
    #: which system, where several translate the same languages; empty: the first
    system: str = ""
    format: str = "text"
    alternatives: int = 0
    glossary: Pairs = ()
    settings: Pairs = ()
    weights: Pairs = ()
    #: whether tags in the text are demands: walls, zones and given translations
    markup: bool = False
    trace: bool = False

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> "Asked":
        """Read and check the fields of a body; those that are not known are left alone."""
        texts, is_list = _texts(body)
        asked = cls(
            texts=texts,
            is_list=is_list,
            source=text_of(body, "source", "auto"),
            target=text_of(body, "target", ""),
            system=text_of(body, "system", ""),
            format=text_of(body, "format", "text"),
            alternatives=number(body, "alternatives", 0, MOST_ALTERNATIVES),
            glossary=_glossary(body.get("glossary")),
            settings=_settings(body.get("settings")),
            weights=_weights(body.get("weights")),
            markup=_yes(body, "markup"),
            trace=_yes(body, "trace"),
        )
        if asked.format not in FORMATS:
            raise ArgumentError(f"format: found `{asked.format}`; expected text or html")
        if asked.markup and asked.format == "html":
            raise ArgumentError("markup: tags are demands or html, not both; choose one")
        return asked

    @property
    def characters(self) -> int:
        """How much text there is."""
        return sum(map(len, self.texts))

    def check_limits(self, characters: int) -> None:
        """Refuse more text than a server takes."""
        if self.characters > characters:
            found = f"q: found {self.characters} characters"
            raise LimitError(f"{found}; the limit is {characters}; ask for less at a time")


def read_body(raw: bytes, kind: str) -> dict[str, Any]:
    """The fields of a body: JSON, or a form."""
    if kind == "application/x-www-form-urlencoded":
        return _form(raw)
    if kind not in {"application/json", ""}:
        raise ArgumentError(f"content-type: found `{kind[:60]}`; expected application/json")
    try:
        body = json.loads(raw.decode("utf-8"), parse_constant=_no_number)
    except UnicodeDecodeError:
        raise ArgumentError("body: found bytes that are not UTF-8; expected JSON") from None
    except RecursionError:
        raise ArgumentError("body: found lists in lists without end; expected fields") from None
    except ValueError as error:
        raise ArgumentError(f"body: found no JSON ({error}); expected such as {{}}") from None
    if not isinstance(body, dict):
        raise ArgumentError(f"body: found {kind_of(body)}; expected a table of keys")
    return body


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _form(raw: bytes) -> dict[str, Any]:
    """The fields of a form; a field that stands there several times is a list."""
    from urllib.parse import parse_qs

    try:
        fields = parse_qs(
            raw.decode("utf-8"), keep_blank_values=True, max_num_fields=1000, errors="strict"
        )
    except ValueError:
        raise ArgumentError("body: found no form in UTF-8; expected fields") from None
    body: dict[str, Any] = {
        name: all_[0] if len(all_) == 1 else all_ for name, all_ in fields.items()
    }
    for name in ("alternatives", "markup", "trace", "glossary", "settings", "weights"):
        if isinstance(body.get(name), str):
            try:
                body[name] = json.loads(body[name])
            except ValueError:
                raise ArgumentError(f"{name}: found `{body[name][:40]}`; expected JSON") from None
    return body


def kind_of(value: Any) -> str:
    """What kind of value it is, in words."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return KINDS[bool]
    return "a number" if isinstance(value, int | float) else KINDS.get(type(value), "a value")


def text_of(body: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """A field that holds text; without a default it has to be there."""
    value = body.get(name, default)
    if value is None and default is not None:
        value = default
    if not isinstance(value, str):
        raise ArgumentError(f"{name}: found {kind_of(value)}; expected text")
    _check_text(name, value)
    return value


def number(body: Mapping[str, Any], name: str, default: int, most: int) -> int:
    """A field that holds a whole number, not below 0."""
    value = body.get(name, default)
    value = default if value is None else value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        shown = value if isinstance(value, int | float) else kind_of(value)
        raise ArgumentError(f"{name}: found {shown}; expected 0 to {most}")
    return value


def _yes(body: Mapping[str, Any], name: str) -> bool:
    value = body.get(name, False)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise ArgumentError(f"{name}: found {kind_of(value)}; expected true or false")
    return value


def _check_text(name: str, text: str) -> None:
    """Refuse text that no file could hold: half of a surrogate pair."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ArgumentError(f"{name}: found half a character; expected text in UTF-8") from None


def _texts(body: Mapping[str, Any]) -> tuple[tuple[str, ...], bool]:
    if "q" not in body:
        raise ArgumentError("q: found nothing; expected text or a list of texts")
    value = body["q"]
    is_list = isinstance(value, list)
    texts = value if is_list else [value]
    for text in texts:
        if not isinstance(text, str):
            raise ArgumentError(f"q: found {kind_of(text)}; expected text or a list of texts")
        _check_text("q", text)
    return tuple(texts), is_list


def _glossary(value: Any) -> Pairs:
    """Terms: a table, or a list of pairs."""
    if value is None:
        return ()
    if isinstance(value, dict):
        value = list(value.items())
    if not isinstance(value, list) or len(value) > MOST_TERMS:
        found = f"{len(value)} terms" if isinstance(value, list) else kind_of(value)
        expected = f"a table of at most {MOST_TERMS} terms and their translations"
        raise ArgumentError(f"glossary: found {found}; expected {expected}")
    terms = []
    for pair in value:
        if not (isinstance(pair, list | tuple) and len(pair) == 2):
            raise ArgumentError("glossary: expected each term with its translation")
        for text in pair:
            if not isinstance(text, str):
                raise ArgumentError(f"glossary: found {kind_of(text)}; expected text")
            _check_text("glossary", text)
        terms.append((pair[0], pair[1]))
    return tuple(terms)


def _settings(value: Any) -> Pairs:
    if value is None:
        return ()
    if not isinstance(value, dict):
        raise ArgumentError(f"settings: found {kind_of(value)}; expected a table of keys")
    for name, setting in value.items():
        if name not in SETTINGS:
            known = ", ".join(SETTINGS)
            raise ArgumentError(f"settings: found `{name[:40]}`; expected one of {known}")
        if isinstance(setting, bool) or not isinstance(setting, str | int | float):
            raise ArgumentError(f"settings: found {kind_of(setting)} for {name}")
        most = SETTINGS[name]
        if most is not None and (not isinstance(setting, int) or not 1 <= setting <= most):
            raise ArgumentError(f"settings: found {name} {setting}; expected 1 to {most}")
    return tuple(sorted(value.items()))


def _weights(value: Any) -> Pairs:
    if value is None:
        return ()
    if not isinstance(value, dict):
        raise ArgumentError(f"weights: found {kind_of(value)}; expected a table of keys")
    weights = []
    for name, weight in value.items():
        is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not is_number or not math.isfinite(weight) or abs(weight) > 1e6:
            raise ArgumentError(
                f"weights: found {kind_of(weight)} for {name[:40]}; expected a number"
            )
        weights.append((name, float(weight)))
    return tuple(sorted(weights))
