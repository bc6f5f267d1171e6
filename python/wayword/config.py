"""Every choice of a training run, in one tree of plain values.

In: a TOML file, or dictionaries. Out: a frozen ``Config``; a key that is not known is an error
that names the nearest one that is. ``configs/default.toml`` explains every key.

>>> Config.from_dict({"lm": {"order": 4}}).lm.order
4
>>> Config.from_dict({"lm": {"ordr": 4}})
Traceback (most recent call last):
...
wayword.errors.ArgumentError: config: found `lm.ordr`; did you mean `lm.order`?
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_type_hints

from wayword.corpus.files import FilePath
from wayword.decode import Settings
from wayword.errors import ArgumentError, FormatError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Config", "merged", "read_toml", "with_choices"]


@dataclass(frozen=True, kw_only=True)
class Text:
    """How raw text becomes tokens."""

    src: str = ""
    tgt: str = ""
    src_tokenizer: str = "auto"
    tgt_tokenizer: str = "auto"
    case: str = "truecase"
    nfc: bool = True
    max_length: int = 80
    dev_size: int = 0


@dataclass(frozen=True, kw_only=True)
class Doctor:
    """Which lines are taken out before anything else."""

    max_length: int = 200
    max_ratio: float = 9.0
    allow: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Align:
    """How words are linked."""

    model: str = "hmm"
    symmetrise: str = "threshold"


@dataclass(frozen=True, kw_only=True)
class Extract:
    """Which phrase pairs there are, and their scores."""

    max_length: int = 7
    models: tuple[str, ...] = ("hierarchical",)
    smoothing: float = 0.5
    discount: str = "none"
    min_count: int = 1
    top: int = 0
    significance: str = ""
    packed: bool = False
    memory: str = "1G"


@dataclass(frozen=True, kw_only=True)
class Lm:
    """The language model."""

    order: int = 5
    prune: tuple[int, ...] = ()
    text: tuple[str, ...] = ()
    memory: str = "1G"


@dataclass(frozen=True, kw_only=True)
class Model:
    """Which models the decoder uses."""

    orientation: str = "hier-mslr-bidirectional"
    waw: bool = False


@dataclass(frozen=True, kw_only=True)
class Annotate:
    """What tags the source for models that look at tags."""

    annotator: str = ""
    classes: int = 100


@dataclass(frozen=True, kw_only=True)
class Waw:
    """The word-after-word model."""

    templates: str = ""
    window: int = 18
    inclusive: bool = True
    between_anchor: str = "j"
    min_count: int = 20
    prior: float = 1.0
    optimiser: str = "adagrad"
    memory: str = "1G"


@dataclass(frozen=True, kw_only=True)
class Tune:
    """How weights are found."""

    method: str = "mert"
    metric: str = "bleu"
    runs: int = 4
    rounds: int = 25
    nbest: int = 100
    distinct: bool = False
    restarts: int = 20
    keep: float = 0.5
    patience: int = 6
    space: str = ""
    pop_limit: int = 0


@dataclass(frozen=True, kw_only=True)
class Config:
    """A whole run. Threads and folders are no part of it: they change no result."""

    seed: int = 1
    text: Text = field(default_factory=Text)
    doctor: Doctor = field(default_factory=Doctor)
    align: Align = field(default_factory=Align)
    extract: Extract = field(default_factory=Extract)
    lm: Lm = field(default_factory=Lm)
    model: Model = field(default_factory=Model)
    annotate: Annotate = field(default_factory=Annotate)
    waw: Waw = field(default_factory=Waw)
    search: Settings = field(default_factory=Settings)
    tune: Tune = field(default_factory=Tune)

    def __post_init__(self) -> None:
        """Refuse choices that need others."""
        for space in (self.search.space, self.tune.space):
            if "+waw" in space and not self.model.waw:
                advice = "set `model.waw = true` to learn the model it prunes by"
                raise ArgumentError(f"config: found space `{space}` without a model; {advice}")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Config":
        """The configuration with these values; all others have their defaults."""
        return _build(cls, values, "")  # type: ignore[no-any-return]

    @classmethod
    def read(cls, path: FilePath) -> "Config":
        """The configuration of a TOML file."""
        try:
            return cls.from_dict(read_toml(path))
        except ArgumentError as error:
            raise ArgumentError(f"{path}: {error}") from None

    def to_dict(self) -> dict[str, Any]:
        """All values, plain."""
        return asdict(self)


def read_toml(path: FilePath) -> dict[str, Any]:
    """The values of a TOML file."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise FormatError(f"{path}: not UTF-8; expected a TOML file") from None
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"{path}: {error}; expected a TOML file") from None


def merged(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Both together; what ``change`` has replaces what ``base`` has, key by key.

    >>> merged({"lm": {"order": 5}, "seed": 1}, {"lm": {"order": 3}})
    {'lm': {'order': 3}, 'seed': 1}
    """
    both = dict(base)
    for name, value in change.items():
        known = both.get(name)
        if isinstance(value, Mapping) and isinstance(known, Mapping):
            both[name] = merged(known, value)
        else:
            both[name] = value
    return both


def _build(kind: Any, values: Any, prefix: str) -> Any:
    if not isinstance(values, Mapping):
        raise ArgumentError(f"config: found `{prefix[:-1]} = {values}`; expected a section of keys")
    hints = get_type_hints(kind)
    known = [own.name for own in fields(kind)]
    chosen = {}
    for name, value in values.items():
        if name not in known:
            near = get_close_matches(name, known, 1)
            known_names = ", ".join(prefix + own for own in known)
            advice = f"did you mean `{prefix}{near[0]}`?" if near else f"expected {known_names}"
            raise ArgumentError(f"config: found `{prefix}{name}`; {advice}")
        if is_dataclass(hints[name]):
            chosen[name] = _build(hints[name], value, f"{prefix}{name}.")
        else:
            chosen[name] = _value(hints[name], value, prefix + name)
    return kind(**chosen)


def _value(kind: Any, value: Any, name: str) -> Any:
    """The value as the kind it must be."""
    expected = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in expected:
        if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return value
        raise ArgumentError(f"config: found `{name} = {value}`; expected {expected[kind]}")
    item = kind.__args__[0]  # a tuple of one kind
    if not isinstance(value, list | tuple):
        raise ArgumentError(f"config: found `{name} = {value}`; expected a list")
    return tuple(_value(item, one, name) for one in value)


def with_choices(choices: Sequence[str]) -> dict[str, Any]:
    """Values given as ``section.key=value``; text needs no quotes.

    >>> with_choices(["lm.order=4", "search.space=dl:12"])
    {'lm': {'order': 4}, 'search': {'space': 'dl:12'}}
    """
    values: dict[str, Any] = {}
    for choice in choices:
        name, equals, text = choice.partition("=")
        if not equals:
            raise ArgumentError(f"--set: found `{choice}`; expected KEY=VALUE, such as lm.order=4")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text
        nested: Any = value
        for part in reversed(name.strip().split(".")):
            nested = {part: nested}
        values = merged(values, nested)
    return values
