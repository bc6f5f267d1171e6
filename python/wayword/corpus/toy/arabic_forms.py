"""Arabic inflection without vowel signs: verbs, nouns, adjectives, attached pronouns.

In: the forms of the lexicon, with person, number, gender, case and state. Out: strings.
How: spelling rules of the written language. Number is "s", "d" or "p"; gender "m" or "f".
Case shows in writing only in some endings: the alif of the indefinite accusative, the masculine
plural in -un/-in, and the seat of a hamza before a pronoun.
Cost: constant per form.
Not: word order, which is in `arabic`; dual nouns.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_BROKEN_DIPTOTE = re.compile(r"^..ا(..|.ي.)$")
_TRIPTOTE_IN_AT = frozenset({"أصوات"})


class VerbForms(NamedTuple):
    """Past and present 3rd masculine singular, jussive, and the past stem before -tu."""

    past: str
    present: str
    jussive: str
    stem: str


class Agreement(NamedTuple):
    """Person, number and gender as a verb or pronoun shows them."""

    person: int
    number: str
    gender: str


BE = VerbForms("كان", "يكون", "يكن", "كن")
CAN = VerbForms("استطاع", "يستطيع", "يستطع", "استطع")
WANT = VerbForms("أراد", "يريد", "يرد", "أرد")
IS_NOT = {"s": {"m": "ليس", "f": "ليست"}, "d": {"m": "ليسا", "f": "ليستا"},
          "p": {"m": "ليسوا", "f": "لسن"}}  # fmt: skip
_PREFIXES = {(1, "s"): "أ", (1, "p"): "ن", (2, "s"): "ت"}
SUFFIXES = {(1, "s"): "ي", (1, "p"): "نا", (2, "s"): "ك", (3, "d"): "هما"}
SUBJECTS = {(1, "s"): "أنا", (1, "p"): "نحن", (2, "s"): "أنت", (3, "d"): "هما"}


def past(verb: VerbForms, who: Agreement) -> str:
    """Past tense."""
    if who.person != 3:
        return verb.stem + ("نا" if who.number == "p" else "ت")
    return _past_feminine(verb, who) if who.gender == "f" else _past_masculine(verb, who)


def _past_feminine(verb: VerbForms, who: Agreement) -> str:
    if who.number == "p":
        return verb.stem + "ن"
    base = verb.past[:-1] if verb.past[-1] in "ىا" else verb.past
    return base + ("تا" if who.number == "d" else "ت")


def _past_masculine(verb: VerbForms, who: Agreement) -> str:
    base = verb.past
    if who.number == "s":
        return base
    if who.number == "d":
        return _join_alif(verb.stem if base[-1] in "ىا" else base)
    if base.endswith("أ"):
        return base[:-1] + "ؤوا"
    return (base[:-1] if base[-1] in "ىاي" else base) + "وا"


def _join_alif(base: str) -> str:
    return base[:-1] + "آ" if base.endswith("أ") else base + "ا"


def present(verb: VerbForms, who: Agreement, mood: str = "ind") -> str:
    """Present tense; mood is ind, sub (after an, lan) or jus (after lam)."""
    base = verb.jussive if mood == "jus" and who.number == "s" else verb.present
    if who.person != 3 and who.number == "p":
        base = verb.jussive if mood == "jus" else verb.present
    if who.person != 3:
        return _prefixed(_PREFIXES[(who.person, who.number)], base)
    if who.number == "s":
        return base if who.gender == "m" else "ت" + base[1:]
    if who.number == "d":
        dual = _join_alif(base[:-1] + "ي" if base.endswith("ى") else base)
        dual += "ن" if mood == "ind" else ""
        return dual if who.gender == "m" else "ت" + dual[1:]
    if who.gender == "f":
        return _feminine_plural(verb)
    root = base[:-1] if base[-1] in "يىو" else base
    if root.endswith("أ"):
        root = root[:-1] + "ؤ"
    return root + ("ون" if mood == "ind" else "وا")


def _prefixed(letter: str, base: str) -> str:
    if letter == "أ" and base[1] == "أ":
        return "آ" + base[2:]
    return letter + base[1:]


def _feminine_plural(verb: VerbForms) -> str:
    base = verb.present
    if base[-1] in "يىو":
        return (base[:-1] + "ي" if base.endswith("ى") else base) + "ن"
    if verb.jussive != base:
        return verb.jussive + "ن"
    if len(verb.stem) > len(verb.past):
        return base + base[-1] + "ن"
    return base + "ن"


def is_not(who: Agreement) -> str:
    """The negative copula."""
    if who.person != 3:
        return "لسنا" if who.number == "p" else "لست"
    return IS_NOT[who.number][who.gender]


def pronoun_suffix(who: Agreement) -> str:
    """The attached pronoun."""
    return _third_person(who, "ه", "ها") or SUFFIXES[(who.person, who.number)]


def free_pronoun(who: Agreement) -> str:
    """The pronoun on its own."""
    return _third_person(who, "هو", "هي") or SUBJECTS[(who.person, who.number)]


def _third_person(who: Agreement, he: str, she: str) -> str:
    """He, she or they; empty for all others, which have no gender."""
    if who.person != 3 or who.number == "d":
        return ""
    if who.number == "p":
        return "هم" if who.gender == "m" else "هن"
    return he if who.gender == "m" else she


def verb_with(form: str, who: Agreement, *, is_indicative: bool) -> str:
    """A verb with its object attached."""
    suffix = "ني" if (who.person, who.number) == (1, "s") else pronoun_suffix(who)
    if form.endswith("وا"):
        form = form[:-1]
    elif form.endswith("أى"):
        form = form[:-2] + "آ"
    elif form.endswith("ى"):
        form = form[:-1] + "ا"
    elif form.endswith("أ") and is_indicative:
        form = form[:-1] + "ؤ"
    return form + suffix


def preposition_with(word: str, who: Agreement) -> str:
    """A preposition with its pronoun: ilayhi, lahu, minni."""
    stem = word[:-1] + "ي" if word.endswith("ى") else word
    suffix = pronoun_suffix(who)
    if suffix == "ي" and stem.endswith("ي"):
        return stem
    return stem + suffix


def attached(letter: str, word: str) -> str:
    """A one-letter word joined to the next: bi, li, wa, fa; li and the article give lil."""
    if letter == "ل" and word.startswith("ال"):
        rest = word[2:]
        return "ل" + rest if rest.startswith("ل") else "لل" + rest
    return letter + word


def definite(form: str) -> str:
    """With the article."""
    if form.startswith("ال"):
        return form
    return "المرأة" if form == "امرأة" else "ال" + form


def oblique(form: str, case: str, is_plural: bool) -> str:
    """The masculine plural -un is -in outside the nominative."""
    if is_plural and form.endswith("ون") and case != "nom":
        return form[:-2] + "ين"
    return form


def indefinite(form: str, case: str, is_plural: bool) -> str:
    """Without article; the accusative writes an alif where grammar and spelling allow."""
    form = oblique(form, case, is_plural)
    if case != "acc" or not _takes_alif(form, is_plural):
        return form
    return form[:-1] + "ئا" if form.endswith("يء") else form + "ا"


def _takes_alif(form: str, is_plural: bool) -> bool:
    if form.endswith(("ة", "ى", "ا", "اء", "أ")) or form.startswith("ال"):
        return False
    if is_plural:
        if form.endswith(("ات", "ين", "ون")):
            return form in _TRIPTOTE_IN_AT
        return not _BROKEN_DIPTOTE.match(form)
    # Colours such as ahmar are diptotes.
    return not (len(form) == 4 and form.startswith("أ"))


def construct(form: str, case: str, is_plural: bool) -> str:
    """The first noun of a genitive construction."""
    form = oblique(form, case, is_plural)
    return form[:-1] if is_plural and form.endswith(("ون", "ين")) else form


def owned(form: str, case: str, is_plural: bool, who: Agreement) -> str:
    """A noun with its owner attached."""
    form = construct(form, case, is_plural)
    suffix = pronoun_suffix(who)
    if form.endswith("ة"):
        form = form[:-1] + "ت"
    elif form.endswith("ى"):
        form = form[:-1] + "ا"
    elif form.endswith("اء"):
        seat = "ئ" if suffix == "ي" or case == "gen" else "ؤ" if case == "nom" else "ء"
        form = form[:-1] + seat
    return form + suffix


def feminine_plural(feminine: str) -> str:
    """The human feminine plural: jadida -> jadidat."""
    return feminine[:-1] + "ات" if feminine.endswith("ة") else feminine + "ات"
