"""Says noun phrases, adjectives and adverbials in English.

In: `NounPhrase`, `Quality`, `Adjunct`. Out: `Token`s.
How: determiner, adjective, noun, owner phrase, relative clause.
Cost: linear in the number of words.
Not: clauses; a relative clause is said by `english`.
"""

from __future__ import annotations

from wayword.corpus.toy import marks
from wayword.corpus.toy.english_forms import OBJECT, POSSESSIVE, SUBJECT, THIRD, article
from wayword.corpus.toy.tokens import Token, cell_tokens
from wayword.corpus.toy.tree import Adjunct, NounPhrase, Quality

DEMONSTRATIVES = {("this", False): "this", ("this", True): "these",
                  ("that", False): "that", ("that", True): "those"}  # fmt: skip


def phrase(item: NounPhrase, role: str) -> list[Token]:
    """A noun phrase as subject or object."""
    tokens = _single(item, role)
    if item.second is not None:
        tokens.append(Token("and", "CCONJ", (item.second.ref + marks.CONJUNCTION,)))
        tokens += _single(item.second, role)
    return tokens


def _single(item: NounPhrase, role: str) -> list[Token]:
    whole = marks.whole(item.ref)
    if item.kind == "pronoun":
        return [Token(_pronoun(item, role), "PRON", whole)]
    if item.kind == "asked":
        return [Token("what" if item.sex == "n" else "who", "PRON", whole)]
    if item.name is not None:
        return [Token(item.name.en, "PROPN", whole)]
    return _common(item)


def _pronoun(item: NounPhrase, role: str) -> str:
    if item.person == 3 and not item.plural:
        forms = THIRD[item.sex if item.is_human else "n"]
        return forms[("subject", "object", "owner").index(role)]
    table = {"subject": SUBJECT, "object": OBJECT, "owner": POSSESSIVE}[role]
    return table[(item.person, item.plural)]


def quality(item: Quality) -> list[Token]:
    """An adjective, perhaps with "very"."""
    tokens = [Token(item.adjective.en, "ADJ", marks.whole(item.ref))]
    if item.is_very:
        tokens.insert(0, Token("very", "ADV", (item.ref + marks.DETERMINER,)))
    return tokens


def _common(item: NounPhrase) -> list[Token]:
    noun = item.noun
    assert noun is not None
    core = quality(item.quality) if item.quality is not None else []
    core += cell_tokens(noun.en_plural if item.plural else noun.en, item.ref)
    tokens = _determined(item, core)
    if item.relative is not None:
        from wayword.corpus.toy.english import clause_tokens

        tokens += clause_tokens(item.relative)
    return tokens


def _determined(item: NounPhrase, core: list[Token]) -> list[Token]:
    kind, refs = item.determiner, (item.ref + marks.DETERMINER,)
    if kind == "bare":
        return core
    if kind == "a":
        return [Token(article(core[0].form), "DET", refs), *core]
    if kind == "owned" and item.owner is not None:
        return _owned(item, item.owner, core)
    if kind in ("this", "that"):
        return [Token(DEMONSTRATIVES[(kind, item.plural)], "DET", refs), *core]
    return [Token(kind, "NUM" if kind in ("three", "four", "five") else "DET", refs), *core]


def _owned(item: NounPhrase, owner: NounPhrase, core: list[Token]) -> list[Token]:
    if owner.kind == "pronoun":
        whole = marks.whole(owner.ref)
        return [Token(_pronoun(owner, "owner"), "PRON", whole), *core]
    whose = phrase(owner, "object")
    if owner.plural:
        the = Token("the", "DET", (item.ref + marks.DETERMINER,))
        return [the, *core, Token("of", "ADP", (item.ref + marks.OWNER,)), *whose]
    return [*whose, Token("'s", "PART", (item.ref + marks.OWNER,)), *core]


def adverbial(item: Adjunct, place: str = "") -> list[Token]:
    """An adverb, or preposition and noun phrase; `place` overrides the noun's own preposition."""
    if item.adverb is not None:
        return cell_tokens(item.adverb.en, item.ref)
    assert item.phrase is not None
    word = item.relation
    if word == "in" and item.phrase.noun is not None:
        word = place or item.phrase.noun.en_place
    return [Token(word, "ADP", (item.ref + marks.PREPOSITION,)), *phrase(item.phrase, "object")]
