"""Every choice of a training run, in one tree of plain values.

In: a TOML file, or dictionaries. Out: a frozen ``Config``, all of whose values are checked: a key
that is not known is an error that names the nearest one that is, and so is a value that some stage
would refuse later. How: the options of each stage are a class that stands with the stage; a
configuration is a section for each. Models of word order bring sections of their own
(``wayword.parts``). ``default.toml`` beside this file explains every key.

>>> Config.from_dict({"lm": {"order": 4}}).lm.order
4
>>> Config.from_dict({"lm": {"ordr": 4}})
Traceback (most recent call last):
...
wayword.errors.ArgumentError: config: found `lm.ordr`; did you mean `lm.order`?
>>> Config.from_dict({"lm": {"order": 12}})
Traceback (most recent call last):
...
wayword.errors.ArgumentError: config: lm.order: found 12; expected 1 to 8
>>> config = Config.from_dict({"memory": "4G", "lm": {"memory": "500M"}})
>>> config.extract.memory, config.lm.memory
('4G', '500M')
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from wayword._core import Orientation
from wayword.align import Options as AlignOptions
from wayword.corpus.collection import Collection
from wayword.corpus.doctor import Options as DoctorOptions
from wayword.corpus.files import size_in_bytes
from wayword.corpus.subwords import Options as SubwordOptions
from wayword.decode import Settings
from wayword.decode.settings import OPEN
from wayword.errors import ArgumentError, FormatError
from wayword.extract import Options as ExtractOptions
from wayword.options import build, check_choice, check_keys, check_range
from wayword.parts.annotator import Annotate
from wayword.parts.lexicon import Lexicon
from wayword.parts.models import LmOptions
from wayword.parts.part import FEATURES, Wanted, kind_of
from wayword.parts.preorder import Preorder
from wayword.parts.speller import Speller
from wayword.reorder.lop import MODELS
from wayword.report.card import Options as CardOptions
from wayword.stages import SIDES, Text
from wayword.tune.options import Tune
from wayword.types import FilePath

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "Config",
    "chosen_config",
    "default_text",
    "explain",
    "merged",
    "read_toml",
    "setting_names",
    "with_choices",
]


@dataclass(frozen=True, kw_only=True)
class Model:
    """Which models the decoder uses."""

    #: ``{hier,phrase,word}-{msd,mslr}-{prev,next,bidirectional}``; empty: none
    orientation: str = "hier-mslr-bidirectional"
    #: puts the source in the order of its translation first: ``lop``, ``joint``; empty: nothing
    preorder: str = ""
    #: look up the spelling of known words, in text of characters
    lexicon: bool = False
    #: guess how unknown words are spelled, from the words of the text that spell each other
    speller: bool = False
    #: keep the aligner with the system, which learns and links words with it
    aligner: bool = True
    #: path features: ``waw``, ``neural``, ``lop``, ``matrix:FILE``, ``python:MODULE:NAME``;
    #: ``NAME=`` gives one a name
    features: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is not known, and two features of one name."""
        if self.orientation:
            _ = self.table_model
        if self.preorder:
            check_choice("preorder", self.preorder, MODELS)
        names = [wanted.name for wanted in self.wanted]
        for name in names:
            if names.count(name) > 1:
                advice = f"name one of them, such as other={name}"
                raise ArgumentError(f"features: found `{name}` twice; {advice}")

    @property
    def table_model(self) -> str:
        """The orientation model of the table that is used; refuses a name that is none."""
        return Orientation(self.orientation).model if self.orientation else ""

    @property
    def wanted(self) -> list[Wanted]:
        """The path features, read."""
        return [Wanted.parse(text) for text in self.features]


@dataclass(frozen=True, kw_only=True)
class Sections:
    """The sections that every configuration has."""

    #: of tuning; everything else has nothing random in it
    seed: int = 1
    #: what sections with a ``memory`` have where they name none; empty: each its own default
    memory: str = ""
    text: Text = field(default_factory=Text)
    subwords: SubwordOptions = field(default_factory=SubwordOptions)
    doctor: DoctorOptions = field(default_factory=DoctorOptions)
    align: AlignOptions = field(default_factory=AlignOptions)
    extract: ExtractOptions = field(default_factory=ExtractOptions)
    lm: LmOptions = field(default_factory=LmOptions)
    model: Model = field(default_factory=Model)
    lexicon: Lexicon = field(default_factory=Lexicon)
    speller: Speller = field(default_factory=Speller)
    annotate: Annotate = field(default_factory=Annotate)
    preorder: Preorder = field(default_factory=Preorder)
    search: Settings = field(default_factory=Settings)
    tune: Tune = field(default_factory=Tune)
    card: CardOptions = field(default_factory=CardOptions)


#: Names that a feature cannot have: those of sections, of other weights, and of files of a system.
RESERVED = frozenset(
    {*(section.name for section in fields(Sections))}
    | {"d", "lr", "oov", "pp", "tm", "wp", "annotator", "phrase-table", "work"}
)


@dataclass(frozen=True, kw_only=True)
class Config(Sections):
    """A whole run. Threads and folders are no part of it: they change no result."""

    #: options of the models of word order, by the names of their sections
    parts: Mapping[str, Any] = field(default_factory=lambda: _part_options({}, Model()))

    def __post_init__(self) -> None:
        """Refuse choices that need others."""
        check_range("seed", self.seed, 0)
        if self.memory:
            size_in_bytes(self.memory)
        self._check_orientation()
        tokenizers = {self.text.src_tokenizer, self.text.tgt_tokenizer}
        if self.model.lexicon and tokenizers != {"characters"}:
            found = f"text is split by {' and '.join(sorted(tokenizers))}"
            advice = "choose `characters` for both sides, or --preset normalise"
            raise ArgumentError(f"model.lexicon: {found}; {advice}")
        if self.model.speller and "characters" in tokenizers:
            found = "text is split into characters, which has no unknown words"
            raise ArgumentError(f"model.speller: {found}; choose another tokenizer, or no speller")
        if self.subwords.kind:
            self._check_subwords()
        names = [wanted.name for wanted in self.model.wanted]
        while_tuning = replace(self.search, **self.tune.search)
        if self.tune.space == OPEN:
            expected = "a space, or nothing for that of `search`, which may be auto"
            raise ArgumentError(f"tune.space: found `{OPEN}`; expected {expected}")
        for key, settings in (("search", self.search), ("tune", while_tuning)):
            name = settings.pruned_by
            if name and name not in names:
                advice = f'add it, such as `model.features = ["{name}"]`'
                found = f"found `{settings.space}`, but no feature `{name}` in `model.features`"
                raise ArgumentError(f"{key}.space: {found}; {advice}")

    def _check_subwords(self) -> None:
        """Refuse what needs whole words."""
        if "characters" in {self.text.src_tokenizer, self.text.tgt_tokenizer}:
            found = "text is split into characters"
            raise ArgumentError(f"subwords.kind: {found}; choose another tokenizer, or no subwords")
        if self.model.speller:
            found = "subwords leave no word unknown"
            raise ArgumentError(f"model.speller: {found}; choose one of the two")
        if self.annotate.annotator and self.reads_tags:
            found = f"`{self.annotate.annotator}` tags words, and text is split into subwords"
            advice = "leave it empty for word classes, or choose no subwords"
            raise ArgumentError(f"annotate.annotator: {found}; {advice}")

    def _check_orientation(self) -> None:
        """The table must have the model that the decoder uses."""
        needed = self.model.table_model
        if needed and needed not in self.extract.models:
            found = f"found `{self.model.orientation}`, but `extract.models` has no {needed} model"
            advice = f'set `extract.models = ["{needed}"]`, or choose another'
            raise ArgumentError(f"model.orientation: {found}; {advice}")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Config":
        """The configuration with these values; all others have their defaults."""
        try:
            return cls._from_dict(values)
        except ArgumentError as error:
            raise ArgumentError(f"config: {error}") from None

    @classmethod
    def _from_dict(cls, values: Mapping[str, Any]) -> "Config":
        model = build(Model, values.get("model", {}), "model.")
        for wanted in model.wanted:
            if wanted.name in RESERVED:
                advice = f"choose another, such as my-{wanted.name}={wanted.kind}"
                raise ArgumentError(f"model.features: found the name `{wanted.name}`; {advice}")
        learned = _learned(model)
        check_keys(values, [*(section.name for section in fields(Sections)), *learned])
        values = _with_memory(values, learned)
        chosen = {name: value for name, value in values.items() if name in learned}
        rest = {name: value for name, value in values.items() if name not in learned}
        return cls(**vars(build(Sections, rest)), parts=_part_options(chosen, model))

    @classmethod
    def read(cls, path: FilePath) -> "Config":
        """The configuration of a TOML file."""
        return chosen_config(path)

    def to_dict(self) -> dict[str, Any]:
        """All values, plain."""
        values = asdict(self)
        parts: dict[str, Any] = values.pop("parts")
        return parts | values

    def with_languages(self, collection: Collection) -> "Config":
        """The same with its languages, which the names of line files tell if it does not."""
        known = {side: self.text.language(side) for side in SIDES}
        for number, side in enumerate(SIDES):
            known[side] = known[side] or collection.languages[number]
            if not known[side]:
                files = collection.pieces[0].files
                advice = "name the file such as train.de, or give --src-lang and --tgt-lang"
                raise ArgumentError(f"{files[number % len(files)]}: which language is it? {advice}")
        return replace(self, text=replace(self.text, src=known["src"], tgt=known["tgt"]))

    @property
    def reads_tags(self) -> bool:
        """Whether some model looks at tags of the source."""
        reading = any(
            wanted.part.reads_tags(self.parts.get(wanted.name)) for wanted in self.model.wanted
        )
        return reading or bool(self.model.preorder)

    def check(self) -> None:
        """Refuse files that are not there, before any long work; opens the annotator."""
        for path in self.lm.text:
            with Path(path).open("rb"):
                pass
        for wanted in self.model.wanted:
            wanted.part.check(wanted)
        if self.reads_tags:
            self.annotate.check()


def _learned(model: Model) -> dict[str, type]:
    """The sections of learned parts: of every kind, and of every feature with a name of its own."""
    kinds = {kind: kind_of(kind).Options for kind in FEATURES}
    named = {wanted.name: wanted.part.Options for wanted in model.wanted}
    return {name: kind for name, kind in {**kinds, **named}.items() if kind is not None}


def _with_memory(values: Mapping[str, Any], learned: Mapping[str, type]) -> dict[str, Any]:
    """The same, where sections that name no memory have that of the whole configuration."""
    memory = values.get("memory", "")
    hints = {section.name: section.type for section in fields(Sections)}
    # A named feature begins with the section of its kind, which has it already.
    kinds = {**hints, **{name: learned[name] for name in FEATURES if name in learned}}
    given = dict(values)
    for name, kind in kinds.items():
        chosen = values.get(name, {})
        if memory and "memory" in _names(kind) and isinstance(chosen, Mapping):
            given[name] = {"memory": memory, **chosen}
    return given


def _names(kind: Any) -> list[str]:
    return [option.name for option in fields(kind)] if is_dataclass(kind) else []


def _part_options(values: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """The options of learned parts; those of a named feature begin with those of its kind."""
    kinds = {wanted.name: wanted.kind for wanted in model.wanted}
    options: dict[str, Any] = {}
    for name, kind in _learned(model).items():
        shared = values.get(kinds.get(name, name), {})
        options[name] = build(kind, merged(shared, values.get(name, {})), f"{name}.")
    return options


def read_toml(path: FilePath) -> dict[str, Any]:
    """The values of a TOML file."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise FormatError(f"{path}: not UTF-8; expected a TOML file") from None
    except tomllib.TOMLDecodeError as error:
        raise FormatError(f"{path}: {error}; expected a TOML file") from None


def chosen_config(
    path: FilePath | None, choices: Sequence[str] = (), *, base: Mapping[str, Any] | None = None
) -> Config:
    """The configuration of a TOML file and of choices ``section.key=value`` that go before it.

    ``base`` has choices that both go before. A message about a key says where it stands: the line
    of the file, or ``--set``.
    """
    given = with_choices(choices)
    try:
        values = merged(dict(base or {}), read_toml(path) if path else {})
        return Config.from_dict(merged(values, given))
    except ArgumentError as error:
        message = str(error).removeprefix("config: ")
        text = Path(path).read_text(encoding="utf-8") if path else ""
        lines = {key: f"{path}:{line}" for key, line in _key_lines(text)}
        places = lines | {choice.partition("=")[0].strip(): "--set" for choice in choices}
        named = [key for key in places if re.search(rf"(?<![\w.]){re.escape(key)}\b", message)]
        place = places[max(named, key=len)] if named else path or "config"
        raise ArgumentError(f"{place}: {message}") from None


def _key_lines(text: str) -> Iterator[tuple[str, int]]:
    r"""The full name of each key of a TOML file, and its line.

    >>> list(_key_lines("seed = 1\n[lm]\n# so\norder = 3\n"))
    [('seed', 1), ('lm', 2), ('lm.order', 4)]
    """
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        if head := re.match(r"\s*\[+\s*([\w.-]+)", line):
            section = head[1]
            yield section, number
        elif key := re.match(r"\s*([\w-]+(?:\s*\.\s*[\w-]+)*)\s*=", line):
            name = re.sub(r"\s", "", key[1])
            yield f"{section}.{name}" if section else name, number


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


def presets() -> list[str]:
    """The names of ready-made choices."""
    paths = files("wayword").joinpath("presets").iterdir()
    return sorted(path.name.removesuffix(".toml") for path in paths)


def preset(name: str) -> dict[str, Any]:
    """The choices of a preset.

    >>> preset("normalise")["search"]["space"]
    'mono'
    """
    check_choice("preset", name, presets())
    path = files("wayword").joinpath("presets", f"{name}.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def default_text() -> str:
    """The documented defaults, as TOML."""
    return files("wayword").joinpath("default.toml").read_text(encoding="utf-8")


def setting_names() -> list[str]:
    """The names of all settings and sections, in the order of the documented defaults."""
    return list(_explained())


def explain(key: str) -> str:
    """What the documented defaults say of a key or of a section.

    >>> print(explain("lm.order"))
    lm.order = 5              # longest n-gram, 1 to 8
    >>> explain("lm.ordr")
    Traceback (most recent call last):
    ...
    wayword.errors.ArgumentError: found `lm.ordr`; did you mean `lm.order`?
    """
    explained = _explained()
    check_keys([key], list(explained))
    return explained[key]


def _explained() -> dict[str, str]:
    """What the documented defaults say, by setting and by section."""
    explained: dict[str, str] = {}
    section = ""
    for line in default_text().splitlines():
        if line.startswith("["):
            section = line[1 : line.index("]")]
            explained[section] = line
        elif "=" in line and not line.startswith("#"):
            name = line.partition("=")[0].strip()
            name = f"{section}.{name}" if section else name
            explained[name] = f"{section}.{line}" if section else line
            explained[section] = explained.get(section, "") + f"\n{line}"
    return {name: text for name, text in explained.items() if name}
