"""The word list of the toy world: one entry per concept, with its forms in four languages.

In: the packaged tables `lexicon/*.tsv`. Out: tuples of frozen entries, in order of frequency.
How: a table has comment lines, a header row and one tab-separated row per concept.
Cost: read once per process, some milliseconds.
Not: inflection, which each language does for itself in `<language>_forms`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from wayword.corpus.toy import english_forms, german_forms

ALL_MARKS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Word:
    """A word inside a cell; `marks` are the parts of the sense it expresses."""

    form: str
    pos: str
    marks: tuple[int, ...]


Cell = tuple[Word, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Noun:
    """A thing, person or idea; gender and plural belong to each language."""

    classes: frozenset[str]
    en: Cell
    en_plural: Cell
    de: Cell
    de_gender: str
    de_weak: bool
    de_plural: Cell
    ar: str
    ar_gender: str
    ar_plural: str
    ja: str
    ja_counter: str
    en_place: str
    de_place: str
    ar_place: str
    is_mass: bool
    has_plural: bool
    is_human: bool


@dataclass(frozen=True, slots=True, eq=False)
class Verb:
    """An action or state with its frame: what may be its subject and object."""

    frame: str
    subjects: frozenset[str]
    objects: frozenset[str]
    en: str
    en_particle: str
    en_past: str
    en_participle: str
    en_preposition: str
    de: str
    de_prefix: str
    de_reflexive: bool
    de_3sg: str
    de_past: str
    de_participle: str
    de_aux: str
    de_preposition: str
    de_case: str
    ar_past: str
    ar_present: str
    ar_jussive: str
    ar_stem: str
    ar_preposition: str
    ja: tuple[str, ...]
    ja_group: str
    ja_particle: tuple[str, ...]
    flags: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """A quality and the classes of nouns that can have it."""

    classes: frozenset[str]
    en: str
    de: str
    de_stem: str
    ar: Cell
    ar_feminine: Cell
    ar_plural: Cell
    ja: tuple[str, ...]
    ja_type: str


@dataclass(frozen=True, slots=True, eq=False)
class Adverb:
    """An adverb or fixed adverbial: when, how often, how, where, or the speaker's view."""

    kind: str
    en: Cell
    de: Cell
    ar: Cell
    ja: Cell


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    """A person, city or country called the same everywhere."""

    kind: str
    sex: str
    en: str
    de: str
    ar: str
    ja: str


def parse_cell(text: str, pos: str) -> Cell:
    """Read `word/POS:1,2 ...`; both the tag and the marks may be missing."""
    words = []
    for part in text.split(" "):
        form, _, marks = part.partition(":")
        form, _, own_pos = form.partition("/")
        numbers = tuple(int(mark) for mark in marks.split(",")) if marks else ALL_MARKS
        words.append(Word(form, own_pos or pos, numbers))
    return tuple(words)


def read_rows(table: str) -> Iterator[dict[str, str]]:
    """The rows of one packaged table as column -> cell."""
    text = files(__package__).joinpath(f"lexicon/{table}.tsv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    columns = lines[0].split("\t")
    for line in lines[1:]:
        yield dict(zip(columns, line.split("\t"), strict=True))


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split(",")) - {"."}


def _or(text: str, default: str) -> str:
    return default if text == "." else text


@cache
def nouns() -> tuple[Noun, ...]:
    """All nouns, most frequent first inside each class."""
    return tuple(_noun(row) for row in read_rows("nouns"))


def _noun(row: dict[str, str]) -> Noun:
    classes = _set(row["classes"])
    en = parse_cell(row["en"], "NOUN")
    counter = "人" if "person" in classes else "匹" if "animal" in classes else "つ"
    place = (row["loc"] if row["loc"] != "." else "in/in/في").split("/")
    return Noun(
        classes=classes,
        en=en,
        en_plural=parse_cell(_or(row["en_pl"], english_forms.regular_plural(row["en"])), "NOUN"),
        de=parse_cell(row["de"], "NOUN"),
        de_gender=row["de_g"][0],
        de_weak=row["de_g"].endswith("w"),
        de_plural=parse_cell(row["de_pl"], "NOUN"),
        ar=row["ar"],
        ar_gender=row["ar_g"],
        ar_plural=row["ar_pl"],
        ja=row["ja"],
        ja_counter=_or(row["ja_counter"], counter),
        en_place=place[0],
        de_place=place[1],
        ar_place=place[2],
        is_mass=row["en_pl"] == "!",
        has_plural="!" not in (row["en_pl"], row["de_pl"], row["ar_pl"]),
        is_human="person" in classes,
    )


@cache
def verbs() -> tuple[Verb, ...]:
    """All verbs, most frequent first inside each frame."""
    return tuple(_verb(row) for row in read_rows("verbs"))


def _verb(row: dict[str, str]) -> Verb:
    en, _, particle = row["en"].partition(" ")
    past = _or(row["en_past"].split(" ")[0], english_forms.regular_past(en))
    reflexive = row["de"].startswith("sich ")
    prefix, _, stem = row["de"].removeprefix("sich ").rpartition("|")
    case = row["de_obj"].split(" ")
    return Verb(
        frame=row["frame"],
        subjects=_set(row["subj"]),
        objects=_set(row["obj"]),
        en=en,
        en_particle=particle,
        en_past=past,
        en_participle=_or(row["en_part"].split(" ")[0], past),
        en_preposition=_or(row["en_prep"], ""),
        de=stem,
        de_prefix=prefix,
        de_reflexive=reflexive,
        de_3sg=_or(row["de_3sg"], german_forms.weak_3sg(stem)),
        de_past=_or(row["de_past"], german_forms.weak_past(stem)),
        de_participle=_or(row["de_part"], german_forms.weak_participle(prefix, stem)),
        de_aux="sein" if row["de_aux"] == "s" else "haben",
        de_preposition=case[0] if len(case) == 2 else "",
        de_case=_or(case[-1], "acc"),
        ar_past=row["ar"],
        ar_present=row["ar_pres"],
        ar_jussive=_or(row["ar_jus"], row["ar_pres"]),
        ar_stem=_or(row["ar_past1"], row["ar"]),
        ar_preposition=_or(row["ar_prep"], ""),
        ja=tuple(row["ja"].split(" ")),
        ja_group=row["ja_group"],
        ja_particle=tuple(_or(row["ja_obj"], "を").split(" ")),
        flags=_set(row["flags"]),
    )


@cache
def adjectives() -> tuple[Adjective, ...]:
    """All adjectives, most frequent first."""
    return tuple(_adjective(row) for row in read_rows("adjectives"))


def _adjective(row: dict[str, str]) -> Adjective:
    form, _, stem = row["de"].partition("/")
    ar = row["ar"]
    return Adjective(
        classes=_set(row["classes"]),
        en=row["en"],
        de=form,
        de_stem=stem or form.removesuffix("e"),
        ar=parse_cell(ar, "ADJ"),
        ar_feminine=parse_cell(_or(row["ar_f"], ar + "ة"), "ADJ"),
        ar_plural=parse_cell(_or(row["ar_mp"], ar + "ون"), "ADJ"),
        ja=tuple(row["ja"].split(" ")),
        ja_type=row["ja_type"],
    )


@cache
def adverbs() -> tuple[Adverb, ...]:
    """All adverbs, most frequent first inside each kind."""
    return tuple(
        Adverb(
            kind=row["kind"],
            en=parse_cell(row["en"], "ADV"),
            de=parse_cell(row["de"], "ADV"),
            ar=parse_cell(row["ar"], "ADV"),
            ja=parse_cell(row["ja"], "ADV"),
        )
        for row in read_rows("adverbs")
    )


@cache
def names() -> tuple[Name, ...]:
    """All names, most frequent first inside each kind."""
    return tuple(
        Name(row["kind"], row["sex"], row["en"], row["de"], row["ar"], row["ja"])
        for row in read_rows("names")
    )
