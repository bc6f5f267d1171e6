"""Says noun phrases, adjectives and adverbials in German.

In: `NounPhrase`, `Quality`, `Adjunct` and a case. Out: `Token`s with chunks and anchors.
How: determiner and adjective agree with case, gender and number; a relative clause is set off
by commas that have no counterpart in English and keep beside their clause.
Cost: linear in the number of words.
Not: clauses; a relative clause is said by `german`.
"""

from __future__ import annotations

from wayword.corpus.toy import german_forms as forms
from wayword.corpus.toy import marks
from wayword.corpus.toy.entries import Noun
from wayword.corpus.toy.tokens import Token, cell_tokens, mark_chunk
from wayword.corpus.toy.tree import Adjunct, NounPhrase, Quality

RELATIONS = {"with": ("mit", "dat"), "without": ("ohne", "acc"), "for": ("für", "acc"),
             "before": ("vor", "dat"), "after": ("nach", "dat")}  # fmt: skip


def gender_of(item: NounPhrase) -> str:
    """m, f, n, or p for plural."""
    if item.is_plural:
        return "p"
    if item.noun is not None:
        return item.noun.de_gender
    return item.sex


def phrase(item: NounPhrase, case: str, *, no: int = 0) -> list[Token]:
    """A noun phrase; `no` is the ref of a negation that "kein" shall express."""
    tokens = _single(item, case, no)
    if item.second is not None:
        und = Token("und", "CCONJ", (item.second.ref + marks.CONJUNCTION,), tokens[0])
        tokens += [und, *_single(item.second, case, 0)]
    return tokens


def _single(item: NounPhrase, case: str, no: int) -> list[Token]:
    whole = marks.whole(item.ref)
    if item.kind == "noun":
        return _common(item, case, no)
    if item.kind == "pronoun":
        token = Token(personal(item, case), "PRON", whole)
    elif item.kind == "asked":
        token = Token("was" if item.sex == "n" else "wer", "PRON", whole)
    else:
        assert item.name is not None
        token = Token(item.name.de, "PROPN", whole)
    mark_chunk([token], "NP")
    return [token]


def personal(item: NounPhrase, case: str) -> str:
    """The personal pronoun; things are er, sie or es by the gender of their noun."""
    if item.person != 3 or item.plural:
        key = (item.person, item.plural, "m")
    else:
        thing = item.noun
        key = (3, False, item.sex if thing is None or thing.is_human else thing.de_gender)
    return forms.PERSONAL[key][forms.CASES.index(case)]


def quality(item: Quality, ending: str | None = None) -> list[Token]:
    """An adjective; without ending after "sein"."""
    adjective = item.adjective
    form = adjective.de if ending is None else adjective.de_stem + ending
    token = Token(form, "ADJ", marks.whole(item.ref))
    if not item.is_very:
        return [token]
    return [Token("sehr", "ADV", (item.ref + marks.DETERMINER,), token), token]


def _common(item: NounPhrase, case: str, no: int) -> list[Token]:
    noun = item.noun
    assert noun is not None
    gender = "p" if item.plural else noun.de_gender
    cell = noun.de_plural if item.plural else noun.de
    core = cell_tokens(cell, item.ref, "NP")
    head = core[0]
    head.form = inflected(noun, case, is_plural=item.plural)
    before, declension = _determiner(item, case, gender, no)
    if item.quality is not None:
        before += quality(item.quality, forms.ADJECTIVE[declension][(case, gender)])
    for token in [*before, *core[1:]]:
        if token.anchor is None:
            token.anchor = head
    tokens = before + core
    mark_chunk(tokens, "NP")
    owner = item.owner
    if owner is not None and owner.kind == "noun":
        tokens += _genitive(item, owner)
    if item.relative is not None:
        from wayword.corpus.toy.german import relative_tokens

        tokens += relative_tokens(item.relative)
    return tokens


def inflected(noun: Noun, case: str, *, is_plural: bool) -> str:
    """A noun (the first word of its cell) in its case."""
    singular, plural = noun.de[0].form, noun.de_plural[0].form
    if is_plural:
        return plural + "n" if case == "dat" and not plural.endswith(("n", "s")) else plural
    if case == "nom" or noun.de_gender == "f":
        return singular
    if noun.de_weak:
        return plural
    return forms.genitive(singular) if case == "gen" else singular


def _determiner(item: NounPhrase, case: str, gender: str, no: int) -> tuple[list[Token], str]:
    """The determiner and the adjective endings it calls for."""
    kind, refs = item.determiner, (item.ref + marks.DETERMINER,)
    key = (case, gender)
    if no and kind in ("a", "bare"):
        return [Token("kein" + forms.EIN[key], "DET", (*refs, no))], "mixed"
    if kind == "bare":
        return [], "strong"
    if kind == "a":
        return [Token("ein" + forms.EIN[key], "DET", refs)], "mixed"
    if kind == "owned":
        return _owner(item, case, gender)
    if kind in forms.NUMERALS:
        return [Token(forms.NUMERALS[kind], "NUM", refs)], "strong"
    declension = forms.DECLENSION.get(kind, "strong")
    form = forms.DER[key] if kind == "the" else forms.STEMS[kind] + forms.STRONG_DETERMINER[key]
    return [Token(form, "DET", refs)], declension


def _owner(item: NounPhrase, case: str, gender: str) -> tuple[list[Token], str]:
    owner = item.owner
    assert owner is not None
    whole = marks.whole(owner.ref)
    if owner.kind == "pronoun":
        stem = forms.possessive(owner.person, owner.plural, owner.sex)
        return [Token(stem + forms.EIN[(case, gender)], "DET", whole)], "mixed"
    if owner.name is not None:
        form = forms.name_genitive(owner.name.de)
        return [Token(form, "PROPN", (*whole, item.ref + marks.OWNER))], "strong"
    return [Token(forms.DER[(case, gender)], "DET", (item.ref + marks.DETERMINER,))], "weak"


def _genitive(item: NounPhrase, owner: NounPhrase) -> list[Token]:
    tokens = phrase(owner, "gen")
    # The genitive article is what German has for "of" or "'s".
    tokens[0].refs = (*tokens[0].refs, item.ref + marks.OWNER)
    return tokens


def adverbial(item: Adjunct) -> list[Token]:
    """An adverb, or preposition and noun phrase."""
    if item.adverb is not None:
        return cell_tokens(item.adverb.de, item.ref, "ADVP")
    assert item.phrase is not None
    word, case = _preposition(item)
    return prepositional(word, case, item.phrase, item.ref + marks.PREPOSITION)


def _preposition(item: Adjunct) -> tuple[str, str]:
    noun = item.phrase.noun if item.phrase is not None else None
    if item.relation == "in":
        return (noun.de_place if noun is not None else "in"), "dat"
    if item.relation == "to":
        if noun is None:
            return "nach", "dat"
        # Into rooms and onto islands, but up to a station.
        return (noun.de_place, "acc") if noun.de_place in ("in", "auf") else ("zu", "dat")
    return RELATIONS[item.relation]


def prepositional(word: str, case: str, item: NounPhrase, ref: int) -> list[Token]:
    """Preposition and noun phrase, contracted where German does (in dem -> im)."""
    whole = marks.whole(item.ref)
    if item.kind == "pronoun" and not item.is_human:
        link = "dar" if word[0] in "aeiouäöü" else "da"
        token = Token(link + word, "ADV", (ref, *whole))
        mark_chunk([token], "PP")
        return [token]
    inner = phrase(item, case)
    preposition = Token(word, "ADP", (ref,), inner[0].anchor or inner[0])
    mark_chunk([preposition], "PP")
    first = inner[0]
    joined = forms.CONTRACTIONS.get((word, first.form))
    if joined is None or first.pos != "DET":
        return [preposition, *inner]
    preposition.form = joined
    preposition.refs = (ref, *first.refs)
    rest = inner[1:]
    rest[0].chunk = "B-NP"
    return [preposition, *rest]


def negation(ref: int, anchor: Token) -> Token:
    """The word "nicht"."""
    return Token("nicht", "PART", (ref + marks.NEGATION,), anchor)
