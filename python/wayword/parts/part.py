"""What a system is made of: parts, each of a kind that says all about itself in one class.

In: an entry of a manifest (plain values: kind, name, file and what else the kind needs) and the
folder that its file is in. Out: a ``Part``, which gives a decoder phrases, a language model or a
path feature, or prepares sentences for it.
How: every kind is one class, listed in ``KINDS``. A class of your own is named by where it can be
imported from, ``python:MODULE:CLASS``, and needs no entry there. A kind that is learned also says
which stage learns it from the text, links and tags of a training run (``Ground``).
Cost: opening maps files; nothing is read twice.

>>> kind_of("waw").__name__, kind_of("lm").__name__
('WawPart', 'LmPart')
>>> Wanted.parse("near=matrix:near.jsonl")
Wanted(name='near', kind='matrix', what='near.jsonl')
>>> Wanted.parse("waw")
Wanted(name='waw', kind='waw', what='')
>>> Wanted.parse("wow")
Traceback (most recent call last):
...
wayword.errors.ArgumentError: features: found `wow`; did you mean `waw`?
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from wayword.corpus.files import is_plain_name
from wayword.errors import ArgumentError, FormatError
from wayword.manifest import Sums, check_digest
from wayword.stage import Stage
from wayword.types import FilePath

if TYPE_CHECKING:
    from wayword.align import Aligner
    from wayword.corpus.source import Source
    from wayword.extract import PhraseTable
    from wayword.learn import Lesson
    from wayword.lm import LanguageModel
    from wayword.reorder.feature import Feature

__all__ = [
    "FEATURES",
    "KINDS",
    "SENTENCES",
    "Ground",
    "Part",
    "Wanted",
    "kind_of",
    "open_part",
]

#: Every kind of part, and the class that says all about it.
KINDS: dict[str, str] = {
    "phrase-table": "wayword.parts.models:PhraseTablePart",
    "lm": "wayword.parts.models:LmPart",
    "annotator": "wayword.parts.annotator:AnnotatorPart",
    "lexicon": "wayword.parts.lexicon:LexiconPart",
    "speller": "wayword.parts.speller:SpellerPart",
    "preorder": "wayword.parts.preorder:PreorderPart",
    "waw": "wayword.parts.waw:WawPart",
    "neural": "wayword.parts.neural:NeuralPart",
    "lop": "wayword.parts.lop:LopPart",
    "matrix": "wayword.parts.given:MatrixPart",
    "python": "wayword.parts.given:PythonPart",
    "aligner": "wayword.parts.learned:AlignerPart",
    "learned": "wayword.parts.learned:LearnedPart",
}
#: Those that a configuration may name in ``model.features``.
FEATURES = ("waw", "neural", "lop", "matrix", "python")
#: The most that a model of word order learns from, which is in memory, unless told otherwise.
SENTENCES = 1_000_000


@dataclass(frozen=True)
class Ground:
    """What a model may be learned from: the stages of text, links and tagged source."""

    text: Stage
    links: Stage
    tagged: Stage | None = None


class Part:
    """One thing that a system is made of. It never changes, and pickles as entry and folder.

    A kind overrides what it gives; what it does not give is None.
    """

    #: what manifests call it
    kind: ClassVar[str]
    #: the class of its options when it is learned; a section of the configuration
    Options: ClassVar[type | None] = None
    #: whether its files hold checksums that are verified as they are read; files of other parts
    #: are read whole on opening, and compared with their digests in the manifest
    is_sealed: ClassVar[bool] = False
    #: size and SHA-256 of its files by name, where a manifest lists them
    sums: Sums | None = None

    def __init__(self, entry: Mapping[str, Any], folder: FilePath) -> None:
        self.entry = dict(entry)
        self.name = str(entry["name"])
        self.folder = Path(folder)

    @classmethod
    def stage(cls, wanted: "Wanted", ground: Ground, options: Any) -> Stage:  # noqa: ARG003
        """The stage that makes it; the fact ``part`` of its result is the entry."""
        raise ArgumentError(f"features: found `{wanted.kind}`; it cannot be learned or named")

    @classmethod
    def reads_tags(cls, options: Any) -> bool:  # noqa: ARG003
        """Whether the source has to be tagged for it, when it is learned with these options."""
        return False

    @classmethod
    def check(cls, wanted: "Wanted") -> None:
        """Refuse what is wanted when it can be seen to be wrong, before any work."""

    @property
    def files(self) -> list[str]:
        """The names of its files in the folder."""
        return [str(self.entry["file"])] if "file" in self.entry else []

    @property
    def path(self) -> Path:
        """Where its file is."""
        return self.folder / str(self.entry["file"])

    @property
    def runs(self) -> str:
        """What it runs that is neither ours nor in the system: the user has to agree."""
        return ""

    def load(self) -> None:
        """Open what it holds; fails when a file is damaged."""

    def phrases(self) -> "tuple[PhraseTable, str | None] | None":
        """A phrase table, and the orientation model of it that is used."""
        return None

    def language_model(self) -> "LanguageModel | None":
        """A language model."""
        return None

    def feature(self) -> "Feature | None":
        """A path feature of the decoder."""
        return None

    def aligner(self) -> "Aligner | None":
        """What links the words of a pair."""
        return None

    def lessons(self) -> "tuple[Lesson, ...]":
        """What was learned after training."""
        return ()

    def prepare(self, sources: "Sequence[Source]") -> "Sequence[Source]":
        """Sentences with what this part adds to them; what is there already stays."""
        return sources

    def guess(self, sources: "Sequence[Source]", table: "PhraseTable") -> "Sequence[Source]":  # noqa: ARG002
        """Prepared sentences with guesses about words that the system's table does not know."""
        return sources

    def alternatives(self, source: "Source") -> "list[tuple[Source, float]]":
        """Other forms of a sentence to translate, and what each adds to the score."""
        return [(source, 0.0)]

    def __reduce__(self) -> tuple[Any, ...]:
        return open_part, (self.entry, str(self.folder.absolute()), self.sums)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


def entry(kind: str, name: str, **values: Any) -> dict[str, Any]:
    """An entry of a manifest."""
    return {"kind": kind, "name": name, **values}


def open_part(entry: Mapping[str, Any], folder: FilePath, sums: Sums | None = None) -> Part:
    """Open the part that an entry describes, whose file is in the folder.

    With ``sums``, the size and SHA-256 of each file that a manifest lists, no other file is opened,
    and files that hold no checksum are compared with them.
    """
    for needed in ("kind", "name"):
        if not isinstance(entry.get(needed), str):
            raise FormatError(f"part: no `{needed}`; expected a kind and a name")
    part: Part = kind_of(entry["kind"])(entry, folder)
    for name in part.files:
        if not is_plain_name(name):
            raise FormatError(f"part {part.name}: file `{name}`; expected a name without folders")
        if sums is not None and name not in sums:
            raise FormatError(f"part {part.name}: no digest of its file `{name}`; expected one")
        if sums is not None and not part.is_sealed:
            check_digest(part.folder / name, sums[name][1])
    part.sums = None if sums is None else {name: sums[name] for name in part.files}
    part.load()
    return part


def kind_of(kind: str) -> type[Part]:
    """The class of a kind."""
    if kind not in KINDS and not kind.startswith("python:"):
        raise ArgumentError(f"part: found kind `{kind}`; expected one of {', '.join(KINDS)}")
    place = KINDS.get(kind) or kind.removeprefix("python:")
    part = import_object(place)
    if not is_part(part):
        raise ArgumentError(f"part: {place} is no kind of part; expected a subclass of Part")
    return part  # type: ignore[no-any-return]


def import_object(place: str) -> Any:
    """What ``MODULE:NAME`` names."""
    module, colon, name = place.partition(":")
    if not (colon and module and name):
        raise ArgumentError(f"features: found `python:{place}`; expected python:MODULE:NAME")
    try:
        return getattr(import_module(module), name)
    except ImportError as error:
        advice = "is it installed, or on PYTHONPATH?"
        raise ArgumentError(f"features: python:{place}: {error}; {advice}") from None
    except AttributeError:
        raise ArgumentError(f"features: python:{place}: {module} has no `{name}`") from None


@dataclass(frozen=True)
class Wanted:
    """A path feature as a configuration names it: ``[NAME=]KIND[:WHAT]``.

    The name is that of its weight, of its options' section, and what a space prunes by.
    """

    name: str
    kind: str
    what: str = ""

    @classmethod
    def parse(cls, text: str) -> "Wanted":
        """Read and check such a name."""
        head, _, what = text.partition(":")
        name, equals, kind = head.rpartition("=")
        if kind not in FEATURES:
            near = get_close_matches(kind, FEATURES, 1)
            expected = f"expected one of {', '.join(FEATURES)}"
            advice = f"did you mean `{near[0]}`?" if near else expected
            raise ArgumentError(f"features: found `{text}`; {advice}")
        name = name if equals else _name(kind, what)
        if not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
            expected = "a name of small letters, such as near=python:MODULE:NAME"
            raise ArgumentError(f"features: found `{text}`; {expected}")
        return cls(name, kind, what)

    @property
    def part(self) -> type[Part]:
        """The class of the part."""
        if self.kind == "python" and is_part(import_object(self.what)):
            return kind_of(f"python:{self.what}")
        return kind_of(self.kind)


def is_part(thing: Any) -> bool:
    """Whether it is a kind of part, and not something that scores by itself."""
    return isinstance(thing, type) and issubclass(thing, Part)


def _name(kind: str, what: str) -> str:
    """What a feature is called when it was given no name."""
    return what.rpartition(":")[2].lower() if kind == "python" else kind
