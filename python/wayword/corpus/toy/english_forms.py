"""English inflection: plurals, verb forms, pronouns, a or an.

In: base forms. Out: strings.
How: spelling rules; what is irregular is written out in the lexicon.
Cost: constant per form.
Not: word order, which is in `english`.
"""

from __future__ import annotations

import re

_DOUBLED = re.compile(r"^[^aeiou]*[aeiou][^aeiouwxy]$")
_DOUBLED_LONG = ("begin", "forget", "travel")
SIBILANT = ("s", "x", "z", "ch", "sh")

SUBJECT = {
    (1, False): "I", (2, False): "you", (1, True): "we", (2, True): "you", (3, True): "they",
}  # fmt: skip
OBJECT = {
    (1, False): "me", (2, False): "you", (1, True): "us", (2, True): "you", (3, True): "them",
}  # fmt: skip
POSSESSIVE = {
    (1, False): "my", (2, False): "your", (1, True): "our", (2, True): "your", (3, True): "their",
}  # fmt: skip
THIRD = {
    "m": ("he", "him", "his"),
    "f": ("she", "her", "her"),
    "n": ("it", "it", "its"),
}


def regular_plural(noun: str) -> str:
    """As in book -> books."""
    return _with_s(noun)


def third_person(verb: str) -> str:
    """As in read -> reads, go -> goes."""
    return "goes" if verb == "go" else "does" if verb == "do" else _with_s(verb)


def _with_s(word: str) -> str:
    if word.endswith(SIBILANT):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def regular_past(verb: str) -> str:
    """As in open -> opened."""
    if verb.endswith("e"):
        return verb + "d"
    return verb + "ed"


def ing(verb: str) -> str:
    """As in read -> reading, sit -> sitting."""
    if verb.endswith("e") and not verb.endswith("ee"):
        return verb[:-1] + "ing"
    if _DOUBLED.match(verb) or verb in _DOUBLED_LONG:
        return verb + verb[-1] + "ing"
    return verb + "ing"


def article(following: str) -> str:
    """A or an; by letter, with the sounds that letters hide."""
    if following.startswith(("uni", "use")):
        return "a"
    return "an" if following[0] in "aeiouAEIO" or following == "honest" else "a"


def be(person: int, plural: bool, past: bool) -> str:
    """The finite forms of "be"."""
    if past:
        return "were" if plural or person == 2 else "was"
    if plural or person == 2:
        return "are"
    return "am" if person == 1 else "is"
