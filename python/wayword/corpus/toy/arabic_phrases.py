"""Says noun phrases, adjectives and adverbials in Arabic.

In: `NounPhrase`, `Quality`, `Adjunct` and a case. Out: `Token`s with chunks and anchors.
How: article, owner pronoun and one-letter prepositions are part of the word they attach to, so
one word often stands for several English ones. Adjectives follow and agree in case,
definiteness, gender and number; things in the plural count as feminine singular.
Cost: linear in the number of words.
Not: clauses; a relative clause is said by `arabic`.
"""

from __future__ import annotations

from wayword.corpus.toy import arabic_forms as forms
from wayword.corpus.toy import marks
from wayword.corpus.toy.arabic_forms import Agreement
from wayword.corpus.toy.entries import Cell, Noun
from wayword.corpus.toy.tokens import Token, cell_tokens, mark_chunk
from wayword.corpus.toy.tree import Adjunct, NounPhrase, Quality

NUMERALS = {"three": ("ثلاثة", "ثلاث"), "four": ("أربعة", "أربع"), "five": ("خمسة", "خمس")}
DEMONSTRATIVES = {"this": ("هذا", "هذه", "هؤلاء"), "that": ("ذلك", "تلك", "أولئك")}
QUANTITIES = {"many": ("العديد", "من"), "some": ("بعض",), "all": ("كل",)}
RELATIONS = {"to": "إلى", "with": "مع", "without": "بدون", "for": "ل", "before": "قبل",
             "after": "بعد"}  # fmt: skip
INDEFINITE = frozenset({"a", "bare", "three", "four", "five"})


def agreement(item: NounPhrase) -> Agreement:
    """What a verb or pronoun shows of this participant."""
    if item.second is not None:
        is_male = "m" in (item.sex, item.second.sex)
        return Agreement(3, "d", "m" if is_male else "f")
    noun = item.noun
    if noun is not None and not noun.is_human:
        return Agreement(3, "s", "f" if item.plural else noun.ar_gender)
    gender = "f" if item.sex == "f" else "m"
    return Agreement(item.person, "p" if item.plural else "s", gender)


def before_subject(item: NounPhrase) -> Agreement:
    """A verb before its subject stays singular and looks only at the first of two names."""
    if item.second is not None:
        return Agreement(3, "s", "f" if item.sex == "f" else "m")
    full = agreement(item)
    return full if item.kind == "pronoun" else Agreement(3, "s", full.gender)


def is_definite(item: NounPhrase) -> bool:
    """Whether a relative clause needs its pronoun and the subject may come first."""
    return item.kind != "noun" or item.determiner not in INDEFINITE


def phrase(item: NounPhrase, case: str) -> list[Token]:
    """A noun phrase in its case."""
    tokens = _single(item, case)
    mark_chunk(tokens, "NP")
    if item.relative is not None:
        from wayword.corpus.toy.arabic import relative_tokens

        tokens += relative_tokens(item, item.relative)
    if item.second is not None:
        other = phrase(item.second, case)
        attach("و", other, item.second.ref + marks.CONJUNCTION)
        tokens += other
    return tokens


def attach(letter: str, tokens: list[Token], ref: int) -> None:
    """Join a one-letter word to the first of these tokens."""
    first = tokens[0]
    first.form = forms.attached(letter, first.form)
    first.refs = (ref, *first.refs)


def _single(item: NounPhrase, case: str) -> list[Token]:
    whole = marks.whole(item.ref)
    if item.kind == "pronoun":
        return [Token(forms.free_pronoun(agreement(item)), "PRON", whole)]
    if item.name is not None:
        return [Token(item.name.ar, "PROPN", whole)]
    return _common(item, case)


def _common(item: NounPhrase, case: str) -> list[Token]:
    noun, kind = item.noun, item.determiner
    assert noun is not None
    base = noun.ar_plural if item.plural else noun.ar
    head = Token(base, "NOUN", marks.whole(item.ref))
    before, inner_case = _quantity(item, noun, head, case)
    after: list[Token] = []
    is_sound = item.plural and noun.is_human
    owner = item.owner
    if kind == "owned" and owner is not None:
        if owner.kind == "pronoun":
            head.form = forms.owned(base, case, is_sound, agreement(owner))
            head.refs = (*head.refs, *marks.whole(owner.ref))
        else:
            head.form = forms.construct(base, case, is_sound)
            after = phrase(owner, "gen")
    elif kind in INDEFINITE:
        head.form = forms.indefinite(base, inner_case, item.plural)
    else:
        head.form = forms.definite(forms.oblique(base, inner_case, is_sound))
        if kind == "the":
            head.refs = (*head.refs, item.ref + marks.DETERMINER)
    tokens = [*before, head, *after]
    if item.quality is not None:
        tokens += quality(item.quality, item, inner_case, definite=kind not in INDEFINITE)
    return tokens


def _quantity(item: NounPhrase, noun: Noun, head: Token, case: str) -> tuple[list[Token], str]:
    """Words before the noun, and the case they leave to it."""
    kind, refs = item.determiner, (item.ref + marks.DETERMINER,)
    if kind in DEMONSTRATIVES:
        who = agreement(item)
        at = 2 if who.number == "p" else 1 if who.gender == "f" else 0
        return [Token(DEMONSTRATIVES[kind][at], "DET", refs, head)], case
    if kind in NUMERALS:
        # Numerals take the gender opposite to the noun's.
        form = NUMERALS[kind][1 if noun.ar_gender == "f" else 0]
        return [Token(form, "NUM", refs, head)], "gen"
    if kind in QUANTITIES:
        return [Token(form, "DET", refs, head) for form in QUANTITIES[kind]], "gen"
    return [], case


def quality(item: Quality, who: NounPhrase, case: str, *, definite: bool) -> list[Token]:
    """An adjective agreeing with `who`."""
    seen, adjective = agreement(who), item.adjective
    cell: Cell = adjective.ar
    is_plural = seen.number == "p"
    if seen.gender == "f":
        cell = adjective.ar_feminine
    elif is_plural:
        cell = adjective.ar_plural
    tokens = cell_tokens(cell, item.ref)
    first = tokens[0]
    if is_plural and seen.gender == "f":
        first.form = forms.feminine_plural(first.form)
    if definite:
        first.form = forms.definite(forms.oblique(first.form, case, is_plural))
    else:
        first.form = forms.indefinite(first.form, case, is_plural)
    if item.is_very:
        tokens.append(Token("جدا", "ADV", (item.ref + marks.DETERMINER,), first))
    return tokens


def relative_pronoun(gap: NounPhrase) -> Token:
    """alladhi, allati, alladhina, allawati."""
    who = agreement(gap)
    if who.number == "p":
        form = "اللواتي" if who.gender == "f" else "الذين"
    else:
        form = "التي" if who.gender == "f" else "الذي"
    return Token(form, "PRON", (gap.ref + marks.RELATIVE,))


def prepositional(word: str, item: NounPhrase, ref: int) -> list[Token]:
    """Preposition and noun phrase; one letter or a pronoun makes them one word."""
    whole = marks.whole(item.ref)
    if item.kind in ("pronoun", "gap"):
        form = forms.preposition_with(word, agreement(item))
        # The pronoun that fills a gap is resumptive: it has no English counterpart.
        refs = (ref,) if item.kind == "gap" else (ref, *whole)
        return [Token(form, "ADP", refs, None, "B-PP")]
    inner = phrase(item, "gen")
    if len(word) == 1:
        attach(word, inner, ref)
        return inner
    return [Token(word, "ADP", (ref,), inner[0], "B-PP"), *inner]


def adverbial(item: Adjunct) -> list[Token]:
    """An adverb, or preposition and noun phrase."""
    if item.adverb is not None:
        return cell_tokens(item.adverb.ar, item.ref, "ADVP")
    assert item.phrase is not None
    word = RELATIONS.get(item.relation, "في")
    if item.relation == "in" and item.phrase.noun is not None:
        word = item.phrase.noun.ar_place
    return prepositional(word, item.phrase, item.ref + marks.PREPOSITION)
