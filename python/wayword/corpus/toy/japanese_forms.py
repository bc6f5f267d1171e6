"""Japanese inflection in short units: stems and the auxiliaries that follow them.

In: a verb, adjective or copula with tense, polarity and politeness. Out: lists of `Piece`s.
How: stems by verb group; polite endings as masu, mashi ta, mase n, mase n deshi ta; plain ones
as the dictionary form, ta, nai, nakat ta.
Cost: constant per form.
Not: word order, which is in `japanese`.
"""

from __future__ import annotations

from typing import NamedTuple

from wayword.corpus.toy.entries import Verb

# Last kana -> stems before nai, before masu, and before te or ta.
GODAN = {
    "う": ("わ", "い", "っ"), "く": ("か", "き", "い"), "ぐ": ("が", "ぎ", "い"),
    "す": ("さ", "し", "し"), "つ": ("た", "ち", "っ"), "む": ("ま", "み", "ん"),
    "ぶ": ("ば", "び", "ん"), "ぬ": ("な", "に", "ん"), "る": ("ら", "り", "っ"),
}  # fmt: skip
VOICED = "ぐむぶぬ"


class Piece(NamedTuple):
    """A short unit; `part` says what it expresses, "" for nothing.

    word, there, be, modal, to; masen, nai, no and its past; aux, an auxiliary of tense; end, the
    polite ending of the non-past; will be, the word for what is likely.
    """

    form: str
    pos: str
    part: str = ""


class Ending(NamedTuple):
    """What the end of a predicate has to show; `likely` adds deshou or darou."""

    past: bool
    negated: bool
    polite: bool
    likely: bool = False


TE = Piece("て", "SCONJ")
DE = Piece("で", "SCONJ")
TA = Piece("た", "AUX")


def _head(verb: Verb) -> list[Piece]:
    """All words of the verb but the last: the noun before suru and the like."""
    return [Piece(form, "NOUN", "word") for form in verb.ja[:-1]]


def stem(verb: Verb, kind: int) -> list[Piece]:
    """The stem before nai (0), masu (1) or te (2)."""
    last, group = verb.ja[-1], verb.ja_group
    if group == "1":
        form = last[:-1]
    elif group == "s":
        form = last[:-2] + "し"
    elif group == "k":
        form = last[:-1]
    elif group == "5k" and kind == 2:
        form = last[:-1] + "っ"
    else:
        form = last[:-1] + GODAN[last[-1]][kind]
    return [*_head(verb), Piece(form, "VERB", "word")]


def dictionary(verb: Verb) -> list[Piece]:
    """The dictionary form."""
    return [*_head(verb), Piece(verb.ja[-1], "VERB", "word")]


def _is_voiced(verb: Verb) -> bool:
    return verb.ja_group == "5" and verb.ja[-1][-1] in VOICED


def te_form(verb: Verb) -> list[Piece]:
    """The joining form: tabe te, yon de."""
    return [*stem(verb, 2), DE if _is_voiced(verb) else TE]


def ta_form(verb: Verb) -> list[Piece]:
    """The plain past: tabe ta, yon da."""
    return [*stem(verb, 2), Piece("だ" if _is_voiced(verb) else "た", "AUX")]


def polite_end(ending: Ending) -> list[Piece]:
    """The polite ending masu and its family."""
    if not ending.negated:
        if ending.past:
            return [Piece("まし", "AUX"), TA]
        return [Piece("ます", "AUX", "end")]
    no = [Piece("ませ", "AUX", "masen"), Piece("ん", "AUX", "no")]
    return [*no, Piece("でし", "AUX", "aux"), TA] if ending.past else no


def plain_no(ending: Ending) -> list[Piece]:
    """The plain negatives nai and nakat ta."""
    if ending.past:
        return [Piece("なかっ", "AUX", "no past"), TA]
    return [Piece("ない", "AUX", "nai")]


def verb_end(verb: Verb, ending: Ending) -> list[Piece]:
    """A verb with its ending."""
    if ending.polite:
        return [*stem(verb, 1), *polite_end(ending)]
    if ending.negated:
        return [*stem(verb, 0), *plain_no(ending)]
    return ta_form(verb) if ending.past else dictionary(verb)


def iru_end(ending: Ending, part: str) -> list[Piece]:
    """The auxiliary iru after te."""
    if ending.polite:
        return [Piece("い", "AUX", part), *polite_end(ending)]
    if ending.negated:
        return [Piece("い", "AUX", part), *plain_no(ending)]
    if ending.past:
        return [Piece("い", "AUX", part), TA]
    return [Piece("いる", "AUX", part)]


def ru_end(base: str, ending: Ending, part: str) -> list[Piece]:
    """An ichidan auxiliary such as deki-ru."""
    if ending.polite:
        return [Piece(base, "VERB", part), *polite_end(ending)]
    if ending.negated:
        return [Piece(base, "VERB", part), *plain_no(ending)]
    if ending.past:
        return [Piece(base, "VERB", part), TA]
    return [Piece(base + "る", "VERB", part)]


def i_end(base: str, pos: str, ending: Ending, part: str) -> list[Piece]:
    """Adjectives in i, and tai: `base` is without the i."""
    if ending.negated:
        head = [Piece(base + "く", pos, part)]
        if ending.polite:
            return [*head, Piece("あり", "VERB"), *polite_end(ending)]
        return [*head, *plain_no(ending)]
    head = [Piece(base + "い", pos, part)]
    if ending.past:
        head = [Piece(base + "かっ", pos, part), TA]
    return [*head, Piece("です", "AUX", "be")] if ending.polite else head


def copula(ending: Ending, before: str) -> list[Piece]:
    """The copula: desu, or the plain form `before` (da, na, no, or "" for none) that fits."""
    if ending.negated:
        head = [Piece("で", "AUX", "be"), Piece("は", "ADP")]
        if ending.polite:
            return [*head, Piece("あり", "VERB", "be"), *polite_end(ending)]
        return [*head, *plain_no(ending)]
    if ending.past:
        form = "でし" if ending.polite else "だっ"
        return [Piece(form, "AUX", "be"), TA]
    form = "です" if ending.polite else before
    return [Piece(form, "AUX", "be")] if form else []
