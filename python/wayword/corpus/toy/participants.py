"""Draws noun phrases: pronouns, names, and nouns with determiner, owner, adjective and relative.

In: a `Draw` and the classes that fit. Out: `NounPhrase`.
How: weighted choices; determiners depend on whether the noun is mass, kin, an office or a thing.
Cost: about ten random numbers per noun phrase.
Not: clauses; a relative clause is asked for from `world` through `relative_clause`.
"""

from __future__ import annotations

from collections.abc import Callable

from wayword.corpus.toy import choices
from wayword.corpus.toy.entries import Noun
from wayword.corpus.toy.sampling import Draw, Table
from wayword.corpus.toy.tree import Clause, NounPhrase, Quality

RelativeMaker = Callable[[Draw, NounPhrase, int], Clause]

# (person, plural, sex)
PRONOUNS = Table(
    [
        ((1, False, "m"), 20),
        ((3, False, "m"), 24),
        ((3, False, "f"), 22),
        ((1, True, "m"), 12),
        ((3, True, "m"), 15),
        ((2, False, "m"), 7),
    ]
)
OBJECT_PRONOUNS = Table(
    [
        ((3, False, "m"), 30),
        ((3, False, "f"), 30),
        ((3, True, "m"), 20),
        ((1, False, "m"), 12),
        ((1, True, "m"), 8),
    ]
)
SUBJECT_DETERMINERS = Table(
    [
        ("the", 14),
        ("a", 6),
        ("this", 17),
        ("that", 7),
        ("owned", 17),
        ("bare", 27),
        ("many", 2),
        ("some", 2),
        ("all", 4),
        ("three", 3),
        ("four", 1),
    ]
)
OBJECT_DETERMINERS = Table(
    [
        ("the", 11),
        ("a", 11),
        ("this", 13),
        ("that", 7),
        ("owned", 17),
        ("bare", 32),
        ("many", 2),
        ("some", 2),
        ("three", 3),
        ("four", 1),
        ("five", 1),
    ]
)
DESCRIBED_DETERMINERS = Table([("the", 22), ("this", 38), ("that", 12), ("owned", 22), ("all", 6)])
KIN_DETERMINERS = Table([("owned", 80), ("the", 4), ("a", 6), ("this", 10)])
PLAIN_DETERMINERS = Table([("the", 22), ("a", 12), ("owned", 24), ("this", 32), ("that", 10)])
MASS_DETERMINERS = Table([("bare", 66), ("the", 8), ("owned", 14), ("this", 12)])
DESCRIBABLE = frozenset({"the", "a", "that", "bare", "many", "some", "three"})
ALWAYS_PLURAL = frozenset({"bare", "many", "some", "all", "three", "four", "five"})
OWNABLE = frozenset(
    {"kin", "written", "thing", "vehicle", "clothes", "room", "home", "idea", "food"}
    | {"device", "furniture", "instrument", "animal"}
)


def pronoun(draw: Draw, table: Table[tuple[int, bool, str]] = PRONOUNS) -> NounPhrase:
    """I, he, she, we, they or you."""
    person, plural, sex = draw.pick(table)
    return NounPhrase(draw.ref(), "pronoun", person=person, plural=plural, sex=sex)


def person_name(draw: Draw) -> NounPhrase:
    """A person called by name."""
    name = draw.pick(choices.names_of("person"))
    return NounPhrase(draw.ref(), "name", name=name, sex=name.sex)


def subject(
    draw: Draw, classes: frozenset[str], depth: int, relative: RelativeMaker, *, plain: bool = False
) -> NounPhrase:
    """Who or what does it; `plain` keeps quantities out, which negation would make ambiguous."""
    if "person" in classes:
        kind = draw.random()
        if kind < 0.24:
            return pronoun(draw)
        if kind < 0.52:
            return person_name(draw)
        if kind < 0.56:
            return _two_people(draw)
    noun = draw.pick(choices.nouns_of(classes))
    table = PLAIN_DETERMINERS if plain else SUBJECT_DETERMINERS
    return common(draw, noun, table, depth, relative, is_subject=True)


def _two_people(draw: Draw) -> NounPhrase:
    name = draw.pick(choices.names_of("person"))
    ref = draw.ref()
    second = person_name(draw)
    if second.name is name or draw.chance(0.5):
        kin = draw.pick(choices.nouns_of(frozenset({"kin"})))
        owner = NounPhrase(draw.ref(), "pronoun", person=3, sex=name.sex)
        second = NounPhrase(
            draw.ref(), "noun", noun=kin, sex=kin.ar_gender, determiner="owned", owner=owner
        )
    return NounPhrase(ref, "name", name=name, sex=name.sex, second=second)


def thing(
    draw: Draw,
    classes: frozenset[str],
    depth: int,
    relative: RelativeMaker,
    *,
    doer: NounPhrase | None = None,
    plain: bool = False,
) -> NounPhrase:
    """The object of a verb or preposition; `doer` is who may own it."""
    if "person" in classes:
        kind = draw.random()
        if kind < 0.14:
            phrase = pronoun(draw, OBJECT_PRONOUNS)
            if doer is None or not _clash(phrase, doer):
                return phrase
        elif kind < 0.34:
            return person_name(draw)
    noun = draw.pick(choices.nouns_of(classes))
    if not noun.is_human and draw.chance(0.05):
        many = noun.has_plural and draw.chance(0.3)
        return NounPhrase(draw.ref(), "pronoun", noun=noun, plural=many)
    table = PLAIN_DETERMINERS if plain else OBJECT_DETERMINERS
    return common(draw, noun, table, depth, relative, doer=doer)


def _clash(phrase: NounPhrase, doer: NounPhrase) -> bool:
    # "I saw me" or "he saw him" would need a reflexive pronoun in every language.
    return doer.kind == "pronoun" and phrase.person == doer.person


def common(
    draw: Draw,
    noun: Noun,
    table: Table[str],
    depth: int,
    relative: RelativeMaker,
    *,
    doer: NounPhrase | None = None,
    is_subject: bool = False,
) -> NounPhrase:
    """A noun with all that may surround it."""
    ref = draw.ref()
    determiner = _determiner(draw, noun, table, is_subject)
    plural = (
        noun.has_plural
        and (determiner in ALWAYS_PLURAL or (determiner in ("the", "owned") and draw.chance(0.18)))
        and ("sole" not in noun.classes)
    )
    owner = _owner(draw, noun, doer) if determiner == "owned" else None
    has_noun_owner = owner is not None and owner.kind != "pronoun"
    quality = None if has_noun_owner else attribute(draw, noun)
    head = NounPhrase(
        ref, "noun", noun=noun, plural=plural, sex=noun.ar_gender,
        determiner=determiner, owner=owner, quality=quality,
    )  # fmt: skip
    wants = determiner in DESCRIBABLE and (plural or determiner != "bare")
    if not wants or depth > 1 or not draw.chance(0.13 if depth == 0 else 0.07):
        return head
    clause = relative(draw, head, depth + 1)
    return NounPhrase(
        ref, "noun", noun=noun, plural=plural, sex=noun.ar_gender,
        determiner=determiner, owner=owner, quality=quality, relative=clause,
    )  # fmt: skip


def _determiner(draw: Draw, noun: Noun, table: Table[str], is_subject: bool) -> str:
    classes = noun.classes
    if "skill" in classes:
        return "bare"
    if noun.is_mass:
        determiner = draw.pick(MASS_DETERMINERS)
        is_general = determiner == "bare" and (is_subject or "idea" in classes)
        return "this" if is_general else determiner
    if "kin" in classes:
        return draw.pick(KIN_DETERMINERS)
    determiner = draw.pick(table)
    is_misfit = determiner in ALWAYS_PLURAL and ("sole" in classes or not noun.has_plural)
    is_misfit = is_misfit or (determiner == "owned" and not classes & OWNABLE)
    return "this" if is_misfit else determiner


def _owner(draw: Draw, noun: Noun, doer: NounPhrase | None) -> NounPhrase:
    kind = draw.random()
    if kind < 0.5:
        if doer is not None and doer.is_human and not doer.second and doer.kind != "asked":
            return NounPhrase(
                draw.ref(), "pronoun", person=doer.person, plural=doer.plural, sex=doer.sex
            )
        return pronoun(draw)
    if kind < 0.77:
        return person_name(draw)
    classes = choices.PERSON if "kin" not in noun.classes else frozenset({"job"})
    other = draw.pick(choices.nouns_of(classes))
    if other is noun:
        return pronoun(draw)
    if "kin" in other.classes:
        owner = pronoun(draw)
        return NounPhrase(
            draw.ref(), "noun", noun=other, sex=other.ar_gender, determiner="owned", owner=owner
        )
    plural = other.has_plural and draw.chance(0.12)
    return NounPhrase(
        draw.ref(), "noun", noun=other, plural=plural, sex=other.ar_gender,
        determiner="the" if draw.chance(0.5) else "this",
    )  # fmt: skip


def attribute(draw: Draw, noun: Noun) -> Quality | None:
    """An adjective before (or after) the noun, in four of ten cases."""
    if "skill" in noun.classes or not draw.chance(0.4):
        return None
    table = choices.qualities_of(noun)
    if not table:
        return None
    return Quality(draw.ref(), draw.pick(table), draw.chance(0.12))
