"""German inflection: articles, adjectives, nouns, pronouns and verbs.

In: stems, case, gender, number, person. Out: strings.
How: the tables of any school grammar; what is irregular is written out in the lexicon.
Cost: constant per form.
Not: word order, which is in `german`.
"""

from __future__ import annotations

CASES = ("nom", "acc", "dat", "gen")
COLUMNS = {"m": 0, "f": 1, "n": 2, "p": 3}


def _table(text: str) -> dict[tuple[str, str], str]:
    """Read `m f n p` endings of the four cases, in order, "-" for none."""
    cells = [cell.replace("-", "") for cell in text.split()]
    return {
        (case, gender): cells[4 * row + column]
        for row, case in enumerate(CASES)
        for gender, column in COLUMNS.items()
    }


DER = _table("der die das die  den die das die  dem der dem den  des der des der")
STRONG_DETERMINER = _table("er e es e  en e es e  em er em en  es er es er")
EIN = _table("- e - e  en e - e  em er em en  es er es er")
ADJECTIVE = {
    "weak": _table("e e e en  en e e en  en en en en  en en en en"),
    "mixed": _table("er e es en  en e es en  en en en en  en en en en"),
    "strong": _table("er e es e  en e es e  em er em en  en er en er"),
}
STEMS = {"this": "dies", "that": "jen", "all": "all", "many": "viel", "some": "einig"}
NUMERALS = {"three": "drei", "four": "vier", "five": "fünf"}
# What kind of adjective ending each determiner calls for.
DECLENSION = {
    "the": "weak", "this": "weak", "that": "weak", "all": "weak", "a": "mixed", "owned": "mixed",
}  # fmt: skip

PERSONAL = {
    (1, False, "m"): ("ich", "mich", "mir"),
    (2, False, "m"): ("Sie", "Sie", "Ihnen"),
    (1, True, "m"): ("wir", "uns", "uns"),
    (3, False, "m"): ("er", "ihn", "ihm"),
    (3, False, "f"): ("sie", "sie", "ihr"),
    (3, False, "n"): ("es", "es", "ihm"),
    (3, True, "m"): ("sie", "sie", "ihnen"),
}
REFLEXIVE = {(1, False): "mich", (1, True): "uns"}
POSSESSIVE = {(1, False): "mein", (2, False): "Ihr", (1, True): "unser", (3, True): "ihr"}

FINITE_HELPERS = {
    # infinitive: (1sg, 3sg, plural, past singular)
    "haben": ("habe", "hat", "haben", "hatte"),
    "sein": ("bin", "ist", "sind", "war"),
    "werden": ("werde", "wird", "werden", "wurde"),
    "can": ("kann", "kann", "können", "konnte"),
    "must": ("muss", "muss", "müssen", "musste"),
    "want": ("will", "will", "wollen", "wollte"),
    "should": ("sollte", "sollte", "sollten", "sollte"),
}
CONTRACTIONS = {
    ("in", "dem"): "im", ("an", "dem"): "am", ("zu", "dem"): "zum", ("zu", "der"): "zur",
    ("in", "das"): "ins", ("von", "dem"): "vom", ("bei", "dem"): "beim", ("an", "das"): "ans",
}  # fmt: skip
_NO_GE = ("be", "ver", "er", "ent", "ge", "zer", "über", "unter")


def stem_of(infinitive: str) -> str:
    """As in kaufen -> kauf, sammeln -> sammel."""
    return infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]


def _linked(stem: str) -> str:
    """The stem with the e that makes -t and -te speakable: arbeit-e, öffn-e, zeichn-e."""
    hard = stem.endswith(("t", "d")) or (
        stem.endswith(("n", "m")) and stem[-2] not in "aeiouäöülrnmh"
    )
    return stem + "e" if hard or stem.endswith(("chn", "fn", "gn")) else stem


def weak_3sg(infinitive: str) -> str:
    """As in kaufen -> kauft."""
    return _linked(stem_of(infinitive)) + "t"


def weak_past(infinitive: str) -> str:
    """As in kaufen -> kaufte."""
    return _linked(stem_of(infinitive)) + "te"


def weak_participle(prefix: str, infinitive: str) -> str:
    """As in kaufen -> gekauft, ein|schalten -> eingeschaltet, besuchen -> besucht."""
    is_bare = infinitive.startswith(_NO_GE) or infinitive.endswith("ieren")
    return prefix + ("" if is_bare else "ge") + weak_3sg(infinitive)


def present(infinitive: str, third: str, person: int, plural: bool) -> str:
    """Present tense; the polite "Sie" takes the plural."""
    if plural or person == 2:
        return infinitive
    if person == 3:
        return third
    if infinitive == "wissen":
        return third
    stem = stem_of(infinitive)
    return stem[:-2] + "le" if infinitive.endswith("eln") else stem + "e"


def past(singular: str, person: int, plural: bool) -> str:
    """Simple past from its singular."""
    if not (plural or person == 2):
        return singular
    return singular + ("n" if singular.endswith("e") else "en")


def helper(name: str, person: int, plural: bool, is_past: bool) -> str:
    """Auxiliaries and modals."""
    first, third, many, before = FINITE_HELPERS[name]
    if is_past:
        return past(before, person, plural)
    return many if plural or person == 2 else first if person == 1 else third


def zu_infinitive(prefix: str, infinitive: str) -> str:
    """As in anrufen -> anzurufen."""
    return prefix + "zu" + infinitive


def genitive(singular: str) -> str:
    """Mann -> Mannes, Lehrer -> Lehrers."""
    if singular.endswith(("s", "ß", "z", "x", "sch", "st")):
        return singular + "es"
    groups = sum(
        letter in "aeiouäöüy" and (at == 0 or singular[at - 1].lower() not in "aeiouäöüy")
        for at, letter in enumerate(singular.lower())
    )
    is_short = groups == 1 and singular[-1] in "dtng"
    return singular + ("es" if is_short else "s")


def possessive(person: int, plural: bool, sex: str) -> str:
    """The possessive without its ending: mein, sein, ihr."""
    if person == 3 and not plural:
        return "ihr" if sex == "f" else "sein"
    return POSSESSIVE[(person, plural)]


def name_genitive(name: str) -> str:
    """Anna -> Annas, Thomas -> Thomas'."""
    return name + ("'" if name.endswith(("s", "x", "z", "ß")) else "s")
