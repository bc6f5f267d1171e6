"""A system on disk: models, weights and settings in one folder that people can read and move.

In and out: a folder with ``system.toml`` (the manifest: format, languages, text preparation,
settings, weights, models with size and SHA-256 of each file), ``README.md`` (a model card) and
one file for each model, which is mapped when the system is opened.
How: opening compares sizes and lets each model check itself; ``verify`` reads every byte.
``System.translate`` takes raw text: it prepares, decodes and restores as the manifest says.
Cost: opening is a matter of milliseconds; models are shared with other processes.

>>> import wayword
>>> wayword.load("no such folder")
Traceback (most recent call last):
...
FileNotFoundError: [Errno 2] no system there; expected a folder with system.toml: 'no such folder'
"""

import errno
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import tomli_w

from wayword import __version__, lm
from wayword.corpus.annotate import Annotator, Sentence, annotator_from_manifest
from wayword.corpus.files import FilePath, new_file, sha256
from wayword.corpus.source import Source
from wayword.corpus.text import Preparation
from wayword.corpus.truecase import Truecaser
from wayword.decode import Decoder, NbestList, Settings, Translation
from wayword.decode.markup import read_markup
from wayword.errors import FormatError, MismatchError, WaywordError
from wayword.extract import PhraseTable
from wayword.reorder.waw import WawModel

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["MANIFEST", "Recipe", "System", "load", "write_manifest"]

MANIFEST = "system.toml"
CARD = "README.md"
FORMAT = 1
SIDES = ("src", "tgt")
Progress = Callable[[int, int], object]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What a system folder is made of: the manifest without the sums of its files."""

    table: str
    lms: tuple[str, ...]
    orientation: str | None = None
    #: file of the word-after-word model
    waw: str | None = None
    #: what tags the source for it: the manifest of an annotator whose file is in the folder
    annotate: Mapping[str, Any] | None = None
    settings: Settings = field(default_factory=Settings)
    weights: Mapping[str, float] = field(default_factory=dict)
    #: how text is prepared on each side; None for tokenised text
    text: tuple[Preparation, Preparation] | None = None
    #: how it was made, in plain values: stages, corpus sizes, scores
    made: Mapping[str, Any] = field(default_factory=dict)


class System:
    """A translation system: ``translate`` text with it, or look at and change its parts."""

    def __init__(self, folder: FilePath, recipe: Recipe, decoder: Decoder) -> None:
        self.folder = Path(folder)
        self.recipe = recipe
        self.decoder = decoder

    @classmethod
    def open(cls, folder: FilePath) -> "System":
        """Open a system folder."""
        folder = Path(folder)
        recipe, sizes = _read_manifest(folder)
        _check_sizes(folder, sizes)
        decoder = Decoder(
            PhraseTable.open(folder / recipe.table),
            [lm.LanguageModel.load(folder / name) for name in recipe.lms],
            orientation=recipe.orientation,
            features=[WawModel.load(folder / recipe.waw).feature()] if recipe.waw else [],
            weights=recipe.weights,
            settings=recipe.settings,
        )
        return cls(folder, recipe, decoder)

    @property
    def weights(self) -> dict[str, float]:
        """The weights by the names of their features."""
        return self.decoder.weights

    @property
    def settings(self) -> Settings:
        """What was chosen about the search."""
        return self.decoder.settings

    def with_weights(self, weights: Mapping[str, float]) -> "Self":
        """The same system with other weights; its models are shared, its folder is not touched."""
        return self._with(self.decoder.with_weights(weights))

    def with_settings(self, **options: Any) -> "Self":
        """The same system with other settings, such as ``space="dl:12"``."""
        return self._with(self.decoder.with_settings(**options))

    def noting(self, stage: str, facts: Mapping[str, Any]) -> "Self":
        """The same system with a note in its card of how a stage was done."""
        recipe = replace(self.recipe, made={**self.recipe.made, stage: dict(facts)})
        return type(self)(self.folder, recipe, self.decoder)

    def _with(self, decoder: Decoder) -> "Self":
        recipe = replace(self.recipe, weights=decoder.weights, settings=decoder.settings)
        return type(self)(self.folder, recipe, decoder)

    @overload
    def translate(self, text: str, **options: Any) -> Translation: ...
    @overload
    def translate(self, text: Sequence[str], **options: Any) -> list[Translation]: ...
    def translate(
        self,
        text: str | Sequence[str],
        *,
        prepared: bool = False,
        markup: bool | str = False,
        origin: tuple[str, int] = ("text", 1),
        **options: Any,
    ) -> Translation | list[Translation]:
        """Translate a line, or many; an empty line stays empty.

        ``prepared`` text is tokenised already, and so is what comes back. ``markup`` obeys tags
        in the text (see ``wayword.decode.markup``); messages about them count lines from
        ``origin``. Other options, such as ``nbest`` and ``threads``, are those of
        ``Decoder.translate``, and settings for this call, such as ``space="dl:3"``.
        """
        lines = [text] if isinstance(text, str) else list(text)
        file, first = origin
        sources = [
            self._source(line, prepared, markup, (file, number))
            for number, line in enumerate(lines, first)
        ]
        restore = " ".join if prepared or self.recipe.text is None else self.recipe.text[1].restore
        made = self.decoder.translate(self._annotated(sources), **options)
        shown = [_restored(translation, restore) for translation in made]
        return shown[0] if isinstance(text, str) else shown

    def _source(
        self, line: str, prepared: bool, markup: bool | str, place: tuple[str, int]
    ) -> Source:
        """A line as the decoder takes it, not annotated yet."""
        text = None if prepared or self.recipe.text is None else self.recipe.text[0]
        if markup is not False:
            return read_markup(line, markup, place, text.prepare if text else None)
        if text is None:
            return Source.of(line)
        tokens, offsets = text.prepare_with_offsets(line)
        return Source(Sentence(tuple(tokens)), raw=line, offsets=offsets)

    def nbest(self, sentences: Sequence[str], **options: Any) -> list[NbestList]:
        """The best translations of tokenised sentences as arrays; see ``Decoder.nbest``."""
        sources = [Source.of(sentence) for sentence in sentences]
        return self.decoder.nbest(self._annotated(sources), **options)

    @cached_property
    def annotator(self) -> Annotator | None:
        """What tags the source, for models that look at tags."""
        if self.recipe.annotate is None:
            return None
        return annotator_from_manifest(self.recipe.annotate, self.folder)

    def _annotated(self, sources: Sequence[Source]) -> list[Source]:
        """Sentences with tags, by what tags them; else they bring tags themselves, as factors."""
        if self.annotator is not None:
            found = self.annotator.annotate([source.words for source in sources])
            return [one.with_sentence(own) for one, own in zip(sources, found, strict=True)]
        if self.decoder.layers:
            return [source.with_factors() for source in sources]
        return list(sources)

    def prepare(self, line: str) -> str:
        """A line as the decoder wants it: tokens with spaces between."""
        return line if self.recipe.text is None else " ".join(self.recipe.text[0].prepare(line))

    def save(self) -> None:
        """Write the manifest anew, with the present weights and settings; files stay."""
        known = _read_manifest(self.folder)[1]
        write_manifest(self.folder, replace(self.recipe, weights=self.weights), known=known)

    def verify(self) -> None:
        """Read every byte of every file and compare with the manifest."""
        for name, (_, known) in _read_manifest(self.folder)[1].items():
            if sha256(self.folder / name) != known:
                advice = "the file was changed or damaged; copy or train the system again"
                raise MismatchError(f"{self.folder / name}: another SHA-256 than noted; {advice}")

    def __repr__(self) -> str:
        return f"System({str(self.folder)!r}, {self.settings.space}, {len(self.weights)} features)"


def load(folder: FilePath) -> System:
    """Open a system folder."""
    return System.open(folder)


def _restored(translation: Translation, restore: Callable[[Sequence[str]], str]) -> Translation:
    nbest = tuple(one.with_text(restore(one.tokens)) for one in translation.nbest)
    return replace(translation, text=restore(translation.tokens), nbest=nbest)


def write_manifest(
    folder: FilePath, recipe: Recipe, *, known: Mapping[str, tuple[int, str]] | None = None
) -> None:
    """Write the manifest and the model card of a folder that holds all the files named.

    Truecasers are written beside them. ``known`` are sizes and SHA-256 of files that did not
    change since, so that they need not be read again.
    """
    folder, known = Path(folder), known or {}
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "version": __version__,
        "model": {"phrase_table": recipe.table, "lm": list(recipe.lms)},
        "settings": recipe.settings.to_dict(),
        "weights": dict(recipe.weights),
    }
    files = [recipe.table, *recipe.lms]
    if recipe.orientation:
        manifest["model"]["orientation"] = recipe.orientation
    if recipe.waw:
        manifest["model"]["waw"] = recipe.waw
        files.append(recipe.waw)
    if recipe.annotate:
        manifest["model"]["annotate"] = dict(recipe.annotate)
        files += [recipe.annotate["file"]] if "file" in recipe.annotate else []
    if recipe.text:
        manifest["text"] = {}
        for side, preparation in zip(SIDES, recipe.text, strict=True):
            manifest["text"][side] = preparation.to_dict()
            if preparation.truecaser is not None:
                preparation.truecaser.save(folder / f"truecaser.{side}")
                files.append(f"truecaser.{side}")
    manifest["made"] = dict(recipe.made)
    manifest["file"] = {name: _sums(folder, name, known.get(name)) for name in files}
    with new_file(folder / CARD) as file:
        file.write(_card(recipe, manifest["file"]))
    with new_file(folder / MANIFEST) as file:
        file.write(tomli_w.dumps(manifest))


def _sums(folder: Path, name: str, known: tuple[int, str] | None) -> dict[str, Any]:
    size = (folder / name).stat().st_size
    same = known is not None and known[0] == size and not name.startswith("truecaser")
    return {"bytes": size, "sha256": known[1] if known and same else sha256(folder / name)}


def _read_manifest(folder: Path) -> tuple[Recipe, dict[str, tuple[int, str]]]:
    path = folder / MANIFEST
    if not path.is_file():
        found = f"no system there; expected a folder with {MANIFEST}"
        raise FileNotFoundError(errno.ENOENT, found, str(folder))
    try:
        manifest = tomllib.loads(path.read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT:
            found = f"format {manifest['format']!r}; expected {FORMAT}"
            raise FormatError(f"{path}: {found}; this system is of another version of wayword")
        recipe = _recipe(folder, manifest)
        sizes = {
            str(name): (int(sums["bytes"]), str(sums["sha256"]))
            for name, sums in manifest["file"].items()
        }
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, WaywordError):
            raise
        found = f"no `{error.args[0]}`" if isinstance(error, KeyError) else f"damaged ({error})"
        raise FormatError(f"{path}: {found}; expected a system's manifest") from None
    return recipe, sizes


def _recipe(folder: Path, manifest: Mapping[str, Any]) -> Recipe:
    model, weights = manifest["model"], manifest["weights"]
    for name, weight in weights.items():
        if not isinstance(weight, int | float) or not math.isfinite(weight):
            raise FormatError(
                f"{folder / MANIFEST}: weight {name} is {weight!r}; expected a number"
            )
    text = None
    if "text" in manifest:
        text = tuple(_preparation(folder, manifest, side) for side in SIDES)
    return Recipe(
        table=str(model["phrase_table"]),
        lms=tuple(map(str, model["lm"])),
        orientation=model.get("orientation"),
        waw=model.get("waw"),
        annotate=model.get("annotate"),
        settings=Settings.from_dict(manifest["settings"]),
        weights={name: float(weight) for name, weight in weights.items()},
        text=text,  # type: ignore[arg-type]  # two sides
        made=manifest.get("made", {}),
    )


def _preparation(folder: Path, manifest: Mapping[str, Any], side: str) -> Preparation:
    options = dict(manifest["text"][side])
    name = f"truecaser.{side}"
    caser = Truecaser.load(folder / name) if name in manifest["file"] else None
    return Preparation.from_dict(options, truecaser=caser)


def _check_sizes(folder: Path, sizes: Mapping[str, tuple[int, str]]) -> None:
    for name, (size, _) in sizes.items():
        path = folder / name
        if Path(name).name != name:
            raise FormatError(
                f"{folder / MANIFEST}: file `{name}`; expected a name without folders"
            )
        if not path.is_file():
            found = "missing, but the manifest names it"
            raise FileNotFoundError(errno.ENOENT, found, str(path))
        if path.stat().st_size != size:
            found = f"{path.stat().st_size} bytes; the manifest says {size}"
            raise MismatchError(f"{path}: {found}; copy or train the system again")


def _card(recipe: Recipe, files: Mapping[str, Mapping[str, Any]]) -> str:
    """The model card: what this is, how it was made, how to use it."""
    langs = "tokenised text"
    if recipe.text:
        langs = f"{recipe.text[0].lang} to {recipe.text[1].lang}"
    lines = [
        f"# A translation system: {langs}",
        "",
        f"Made by wayword {__version__}; `{MANIFEST}` holds every setting and weight.",
        "",
        "```",
        "wayword translate . < input.txt",
        "```",
        "",
        f"Reordering space `{recipe.settings.space}`, search `{recipe.settings.search}`, "
        f"orientation `{recipe.orientation or 'none'}`.",
        "",
        "| file | bytes |",
        "|---|---|",
        *(f"| `{name}` | {sums['bytes']} |" for name, sums in files.items()),
    ]
    if recipe.made:
        lines += ["", "## How it was made", ""]
        lines += [f"- {key}: {value}" for key, value in _flat(recipe.made)]
    return "\n".join(lines) + "\n"


def _flat(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for key, value in values.items():
        if isinstance(value, Mapping):
            rows += _flat(value, f"{prefix}{key}.")
        else:
            rows.append((prefix + key, value))
    return rows
