"""Moses' systems become ours, and ours become Moses'.

In: a ``moses.ini`` with text tables and ARPA language models beside it. Out: a system folder whose
translations get the same feature values and scores; and the way back.
How: what has a counterpart is taken over, what has none is refused with a sentence, so nothing is
lost in silence. Weights of coarser features (orientation by left and right, features collapsed
into one) go to all the features of ours that they stand for.
Cost: that of reading the tables; see docs/decode.md.
Not: factors, several phrase tables, binary tables, features such as OSM or sparse ones.

>>> sections = read_ini(["[distortion-limit]", "6  # words", "", "[weight]", "LM0= 0.5"])
>>> sections["distortion-limit"], sections["weight"]
(['6'], ['LM0= 0.5'])
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayword import _core, extract, lm
from wayword._core import Orientation
from wayword.corpus.files import new_file, new_folder, open_text
from wayword.decode import Settings
from wayword.errors import ArgumentError, FormatError, WaywordError
from wayword.parts.part import entry, open_part
from wayword.system import System
from wayword.types import FilePath, Progress

__all__ = ["export_moses", "import_moses", "read_ini"]


#: Sections that say how Moses runs, not what it translates.
IGNORED = frozenset(
    (
        "input-factors",
        "threads",
        "verbose",
        "n-best-list",
        "n-best-factor",
        "max-phrase-length",
        "print-alignment-info",
        "alignment-output-file",
        "report-segmentation",
        "report-all-factors",
        "labeled-n-best-list",
        "include-segmentation-in-n-best",
        "print-alignment-info-in-n-best",
        "persistent-cache-size",
        "cube-pruning-diversity",
        "cube-pruning-lazy-scoring",
        "cube-pruning-deterministic-search",
        "output-search-graph",
        "translation-details",
        "placeholder-factor",
        "feature-overwrite",
    )
)
#: Moses' name of a setting, and ours.
NUMBERS = {
    "stack": "stack_size",
    "cube-pruning-pop-limit": "pop_limit",
    "beam-threshold": "threshold",
}
LANGUAGE_MODELS = ("KENLM", "SRILM", "LazyKen", "Ken")
PENALTIES = {"WordPenalty": "wp", "PhrasePenalty": "pp", "Distortion": "d"}
UNKNOWN_PENALTY = 100.0  # what Moses takes off for an unknown word at weight 1
TEXT_COLUMNS = 4


@dataclass(frozen=True)
class Feature:
    """A line of ``[feature]``: its kind, its name and its options."""

    kind: str
    name: str
    options: Mapping[str, str]
    place: str

    def count(self) -> int:
        """How many scores it has."""
        text = self.options.get("num-features", "1")
        if not (text.isascii() and text.isdecimal() and len(text) < 6):
            raise FormatError(f"{self.place}: num-features={text}; expected a number")
        return int(text)


def read_ini(lines: Iterable[str]) -> dict[str, list[str]]:
    """The lines of each section, without comments."""
    sections: dict[str, list[str]] = {}
    current: list[str] | None = None
    for number, raw in enumerate(lines, 1):
        line = raw.split("#", maxsplit=1)[0].strip()
        if line.startswith("[") and line.endswith("]"):
            current = sections.setdefault(line[1:-1].strip(), [])
        elif line and current is None:
            raise FormatError(f"line {number}: `{line[:40]}`; expected a [section] of Moses first")
        elif line and current is not None:
            current.append(line)
    return sections


def import_moses(
    ini: FilePath, out: FilePath, *, packed: bool = False, progress: Progress | None = None
) -> System:
    """Make a system folder of a Moses configuration; paths in it may be relative to it."""
    ini = Path(ini)
    try:
        sections = read_ini(open_text(ini))
    except FormatError as error:
        raise FormatError(f"{ini}: {error}") from None
    reader = _Reader(ini, sections)
    with new_folder(out) as folder:
        reader.build(folder, packed, progress).save(folder)
        System.open(folder)  # what cannot be opened gets no name
    return System.open(out)


class _Reader:
    """Turns the sections of a configuration into a system of ours."""

    def __init__(self, ini: Path, sections: Mapping[str, Sequence[str]]) -> None:
        self.ini = ini
        self.sections = sections
        self._check_sections()
        self.features = self._features()
        self.weights = self._weights()

    def build(self, folder: Path, packed: bool, progress: Progress | None) -> System:
        """Read the models into the folder."""
        tables = [
            feature for feature in self.features if feature.kind.startswith("PhraseDictionary")
        ]
        tables += [feature for feature in self.features if feature.kind == "ProbingPT"]
        reorderings = [feature for feature in self.features if feature.kind == "LexicalReordering"]
        models = [feature for feature in self.features if feature.kind in LANGUAGE_MODELS]
        if len(tables) != 1:
            raise self._wrong(f"{len(tables)} phrase tables", "one", "merge them, or drop the rest")
        if len(reorderings) > 1:
            raise self._wrong(f"{len(reorderings)} reordering tables", "one", "drop the rest")
        table = self._text_table(tables[0])
        weights = self._penalties() | self._table_weights(table)
        orientation = None
        reordering: dict[str, Any] = {}
        if reorderings:
            named = _orientation(reorderings[0])
            orientation = named.stored
            reordering = {"reordering": self._path(reorderings[0]), "orientation": named.moses}
            values = self._weights_of(reorderings[0], len(named.moses_weights))
            for value, names in zip(values, named.moses_weights, strict=True):
                weights |= dict.fromkeys(names, value)
        names = [f"lm{number}" for number in range(len(models))] if len(models) != 1 else ["lm"]
        for name, model in zip(names, models, strict=True):
            (weights[name],) = self._weights_of(model, 1)
        settings = self._settings(table)  # all is checked before the long work
        extract.import_moses(
            self._path(table),
            folder / "phrase-table",
            packed=packed,
            progress=progress,
            **reordering,
        )
        for name, model in zip(names, models, strict=True):
            lm.LanguageModel.load(self._path(model)).save(folder / name)
        used = {"orientation": orientation} if orientation else {}
        entries = [
            entry("phrase-table", "phrase-table", file="phrase-table", **used),
            *(entry("lm", name, file=name) for name in names),
        ]
        return System(
            [open_part(values, folder) for values in entries],
            settings=settings,
            weights=weights,
            made={"from": f"Moses configuration {self.ini.name}"},
        )

    def _check_sections(self) -> None:
        known = {"feature", "weight", "mapping", "distortion-limit", "search-algorithm", *NUMBERS}
        known |= {"early-distortion-cost", "ttable-limit", "drop-unknown", *IGNORED}
        if "ttable-file" in self.sections or "lmodel-file" in self.sections:
            found = "an old configuration ([ttable-file])"
            raise self._wrong(found, "[feature] lines", "convert it with Moses' own script")
        for section in self.sections:
            if section not in known:
                raise self._wrong(f"section [{section}]", "what wayword has too", "remove it")
        for line in self.sections.get("mapping", ["0 T 0"]):
            if line.split() != ["0", "T", "0"]:
                raise self._wrong(f"mapping `{line}`", "`0 T 0`", "factored models do not go over")

    def _features(self) -> list[Feature]:
        features: list[Feature] = []
        counts: dict[str, int] = {}
        for line in self.sections.get("feature", []):
            kind, *words = line.split()
            options = dict(word.split("=", maxsplit=1) for word in words if "=" in word)
            number = counts.get(kind, 0)
            counts[kind] = number + 1
            name = options.get("name", f"{kind}{number}")
            features.append(Feature(kind, name, options, f"{self.ini}: {name}"))
        known = ("UnknownWordPenalty", *PENALTIES, "LexicalReordering", *LANGUAGE_MODELS)
        for feature in features:
            is_table = feature.kind.startswith("PhraseDictionary") or feature.kind == "ProbingPT"
            if feature.kind not in known and not is_table:
                found = f"feature {feature.kind}"
                expected = f"one of {', '.join(known)} or a phrase table"
                raise self._wrong(found, expected, "tune a system without it")
            for factor in ("input-factor", "output-factor", "factor"):
                if feature.options.get(factor, "0") != "0":
                    found = f"{feature.name} with {factor}={feature.options[factor]}"
                    raise self._wrong(found, "factor 0", "factored models do not go over")
        return features

    def _weights(self) -> dict[str, list[float]]:
        weights: dict[str, list[float]] = {}
        most = _core.Decoder.MAX_WEIGHT
        for line in self.sections.get("weight", []):
            name, equals, values = line.partition("=")
            try:
                weights[name.strip()] = [float(value) for value in values.split()]
            except ValueError:
                equals = ""
            if not equals or not all(abs(w) <= most for w in weights[name.strip()]):
                raise self._wrong(f"weight `{line[:60]}`", "`Name= number …`", "correct the line")
        return weights

    def _weights_of(self, feature: Feature, count: int) -> list[float]:
        weights = self.weights.get(feature.name)
        if weights is None or len(weights) != count:
            seen = "no weight" if weights is None else f"{len(weights)} weights"
            raise self._wrong(f"{seen} for {feature.name}", f"{count}", "correct [weight]")
        return weights

    def _penalties(self) -> dict[str, float]:
        weights = dict.fromkeys(PENALTIES.values(), 0.0)
        weights["oov"] = UNKNOWN_PENALTY
        for feature in self.features:
            if feature.kind in PENALTIES:
                (weights[PENALTIES[feature.kind]],) = self._weights_of(feature, 1)
            elif feature.kind == "UnknownWordPenalty" and feature.name in self.weights:
                (weight,) = self._weights_of(feature, 1)
                weights["oov"] = UNKNOWN_PENALTY * weight
        return weights

    def _table_weights(self, table: Feature) -> dict[str, float]:
        values = self._weights_of(table, table.count())
        return {f"tm{number}": value for number, value in enumerate(values[:TEXT_COLUMNS])}

    def _text_table(self, table: Feature) -> Feature:
        if table.kind != "PhraseDictionaryMemory":
            advice = "give the text table it was made of as PhraseDictionaryMemory"
            raise self._wrong(f"a binary phrase table ({table.kind})", "a text table", advice)
        if table.count() != TEXT_COLUMNS:
            found = f"{table.count()} scores in {table.name}"
            raise self._wrong(found, "4: both phrase and lexical probabilities", "train it so")
        return table

    def _path(self, feature: Feature) -> Path:
        """The file of a feature: beside the configuration, or from here; `.gz` may be left out."""
        if "path" not in feature.options:
            raise self._wrong(f"no path for {feature.name}", "path=FILE", "correct [feature]")
        given = Path(feature.options["path"])
        places = [folder / given for folder in (self.ini.parent, Path())]
        for place in places:
            for path in (place, place.with_name(place.name + ".gz")):
                if path.is_file():
                    return path
        raise FileNotFoundError(2, f"the file of {feature.name} is missing", str(places[0]))

    def _settings(self, table: Feature) -> Settings:
        options: dict[str, Any] = {"compat": "moses"}
        limit = self._number("distortion-limit", "6")
        options["space"] = f"dl:{limit}"
        algorithm = self._number("search-algorithm", "1")
        if algorithm not in (0, 1):
            found = f"search algorithm {algorithm}"
            raise self._wrong(found, "0 (stack) or 1 (cube)", "only phrase-based systems go over")
        options["search"] = "cube" if algorithm == 1 else "stack"
        for section, name in NUMBERS.items():
            if section in self.sections:
                text = "".join(self.sections[section][:1])
                kind = float if name == "threshold" else int
                options[name] = self._as_number(kind, f"[{section}]", text)
        per_span = table.options.get("table-limit") or "".join(
            self.sections.get("ttable-limit", ["20"])[:1]
        )
        options["options_per_span"] = self._as_number(int, "table-limit", per_span)
        is_early = "early-distortion-cost" in self.sections
        options["distortion"] = "early" if is_early else "foreseen"
        if "drop-unknown" in self.sections:
            options["oov"] = "drop"
        try:
            return Settings.from_dict(options)
        except ArgumentError as error:
            raise FormatError(f"{self.ini}: {error}") from None

    def _number(self, section: str, default: str) -> int:
        text = "".join(self.sections.get(section, [])[:1]) or default
        return int(self._as_number(int, f"[{section}]", text))

    def _as_number(self, kind: Callable[[str], float], where: str, text: str) -> float:
        """The number that stands there, if it is one that fits."""
        try:
            number = kind(text)
        except ValueError:
            number = math.nan
        if not abs(number) < 1 << 32:
            raise self._wrong(f"{where} `{text}`", "a number", "correct it")
        return number

    def _wrong(self, found: str, expected: str, advice: str) -> WaywordError:
        return FormatError(f"{self.ini}: found {found}; expected {expected}; {advice}")


def _orientation(feature: Feature) -> Orientation:
    """What the type of a feature says, such as ``hier-mslr-bidirectional-fe-allff``."""
    text = feature.options.get("type", "")
    try:
        return Orientation(text)
    except ArgumentError as error:
        expected = str(error).partition("; ")[2]
        raise FormatError(f"{feature.place}: type `{text}`; {expected}") from None


def export_moses(system: System, out: FilePath, *, progress: Progress | None = None) -> Path:
    """Write a system as a Moses configuration with its tables; the path of its ``moses.ini``."""
    settings, weights = system.settings, system.weights
    limit = {"mono": "0"}.get(settings.space, settings.space.removeprefix("dl:"))
    if not limit.removeprefix("-").isdecimal():
        advice = "export with another space: Moses knows only distortion limits"
        raise ArgumentError(f"space: found `{settings.space}`; expected mono or dl:K; {advice}")
    if extra := [part.name for part in system.parts if part.feature() and weights[part.name]]:
        raise ArgumentError(f"weights: found {extra[0]}; Moses has no such feature; set it to 0")
    orientation = system.orientation and Orientation(system.orientation).moses
    with new_folder(out) as folder:
        system.table.export_moses(folder, orientation=orientation, progress=progress)
        for name, model in _named_lms(system):
            model.write_arpa(folder / f"{name}.arpa")
        with new_file(folder / "moses.ini") as file:
            file.write(_ini(system, limit, orientation))
    return Path(out) / "moses.ini"


def _ini(system: System, limit: str, orientation: str | None) -> str:
    settings, weights = system.settings, system.weights

    def row(prefix: str) -> str:
        return " ".join(str(weights[name]) for name in weights if name.startswith(prefix))

    features = [
        "UnknownWordPenalty",
        "WordPenalty",
        "PhrasePenalty",
        "Distortion",
        "PhraseDictionaryMemory name=TranslationModel0 num-features=4 path=phrase-table.gz "
        f"input-factor=0 output-factor=0 table-limit={settings.options_per_span}",
    ]
    values = {
        "UnknownWordPenalty0": str(weights["oov"] / UNKNOWN_PENALTY),
        "WordPenalty0": str(weights["wp"]),
        "PhrasePenalty0": str(weights["pp"]),
        "Distortion0": str(weights["d"]),
        "TranslationModel0": row("tm"),
    }
    if orientation:
        count = len(row("lr.").split())
        features.append(
            f"LexicalReordering name=LexicalReordering0 num-features={count} "
            f"type={orientation}-allff input-factor=0 output-factor=0 path=reordering-table.gz"
        )
        values["LexicalReordering0"] = row("lr.")
    for number, (name, model) in enumerate(_named_lms(system)):
        order = len(model.counts)
        features.append(f"KENLM name=LM{number} factor=0 path={name}.arpa order={order}")
        values[f"LM{number}"] = str(weights[name])
    algorithm = 1 if settings.search == "cube" else 0
    sections = {
        "input-factors": ["0"],
        "mapping": ["0 T 0"],
        "distortion-limit": [limit],
        "search-algorithm": [str(algorithm)],
        "cube-pruning-pop-limit": [str(settings.pop_limit)],
        "stack": [str(settings.stack_size)],
        "beam-threshold": [str(settings.threshold)],
        "feature": features,
        "weight": [f"{name}= {text}" for name, text in values.items()],
    }
    if settings.distortion == "early":
        sections["early-distortion-cost"] = ["true"]
    head = "# Written by wayword; give Moses tokenised text.\n"
    return head + "".join(
        f"\n[{name}]\n" + "\n".join(lines) + "\n" for name, lines in sections.items()
    )


def _named_lms(system: System) -> list[tuple[str, lm.LanguageModel]]:
    """The language models by the names of their weights."""
    names = [name for name in system.weights if re.fullmatch(r"lm\d*", name)]
    return list(zip(names, system.lms, strict=True))
