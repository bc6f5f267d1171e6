"""Says noun phrases, adjectives and adverbials in Japanese.

In: `NounPhrase`, `Quality`, `Adjunct`. Out: `Token`s with chunks and anchors.
How: relative clause, determiner, owner, adjective, noun, particle. Particles that only mark a
role (wa, ga, o) have no English counterpart and keep beside their noun.
Cost: linear in the number of words.
Not: clauses; a relative clause is said by `japanese`.
"""

from __future__ import annotations

from wayword.corpus.toy import marks
from wayword.corpus.toy.entries import Noun
from wayword.corpus.toy.tokens import Token, cell_tokens, mark_chunk
from wayword.corpus.toy.tree import Adjunct, NounPhrase, Quality

PRONOUNS = {(1, False): ("私",), (2, False): ("あなた",), (1, True): ("私", "たち"),
            (3, True): ("彼ら",)}  # fmt: skip
NUMERALS = {"three": "三", "four": "四", "five": "五"}
QUANTITIES = {"many": "多く", "all": "すべて"}
# The word that carries the relation, then the particles around it.
RELATIONS = {"with": ("と",), "without": ("なし", "で"), "for": ("の", "ため", "に"),
             "before": ("の", "前", "に"), "after": ("の", "後")}  # fmt: skip
NOUNS = frozenset({"なし", "ため", "前", "後"})


def phrase(item: NounPhrase, *particles: str) -> list[Token]:
    """A noun phrase with the particles that mark its role."""
    tokens = _single(item)
    if item.second is not None:
        tokens.append(Token("と", "ADP", (item.second.ref + marks.CONJUNCTION,), tokens[-1]))
        tokens += _single(item.second)
    head = tokens[-1]
    for form in particles:
        tokens.append(Token(form, "NOUN" if form == "代金" else "ADP", (), head))
    opening = _relative(item)
    mark_chunk(tokens, "NP")
    return opening + tokens


def _relative(item: NounPhrase) -> list[Token]:
    if item.relative is None:
        return []
    from wayword.corpus.toy.japanese import relative_tokens

    return relative_tokens(item.relative)


def _single(item: NounPhrase) -> list[Token]:
    whole = marks.whole(item.ref)
    if item.kind == "pronoun":
        return [Token(form, "PRON", whole) for form in _pronoun(item)]
    if item.kind == "asked":
        return [Token("何" if item.sex == "n" else "誰", "PRON", whole)]
    if item.name is not None:
        return [Token(item.name.ja, "PROPN", whole)]
    assert item.noun is not None
    head = Token(item.noun.ja, "NOUN", whole)
    before = _determiner(item, item.noun)
    if item.quality is not None:
        before += attribute(item.quality)
    for token in before:
        if token.anchor is None:
            token.anchor = head
    return [*before, head]


def _pronoun(item: NounPhrase) -> tuple[str, ...]:
    if not item.is_human:
        return ("それら",) if item.plural else ("それ",)
    if item.person == 3 and not item.plural:
        return ("彼女",) if item.sex == "f" else ("彼",)
    return PRONOUNS[(item.person, item.plural)]


def _determiner(item: NounPhrase, noun: Noun) -> list[Token]:
    kind, refs = item.determiner, (item.ref + marks.DETERMINER,)
    if kind in ("this", "that"):
        return [Token("この" if kind == "this" else "その", "DET", refs)]
    if kind in NUMERALS:
        number = Token(NUMERALS[kind], "NUM", refs)
        return [number, Token(noun.ja_counter, "NOUN", (), number), _no((), number)]
    if kind in QUANTITIES:
        quantity = Token(QUANTITIES[kind], "NOUN", refs)
        return [quantity, _no((), quantity)]
    if kind == "some":
        some = Token("何" if noun.is_human else "いくつ", "PRON", refs)
        counter = [Token("人", "NOUN", refs, some)] if noun.is_human else []
        return [some, *counter, Token("か", "PART", refs, some), _no((), some)]
    if kind == "owned" and item.owner is not None:
        return _owner(item, item.owner)
    return []


def _no(refs: tuple[int, ...], anchor: Token) -> Token:
    return Token("の", "ADP", refs, anchor)


def _owner(item: NounPhrase, owner: NounPhrase) -> list[Token]:
    tokens = _single(owner)
    # Inside the phrase the owner keeps its own head.
    # English has a word for no only beside a noun: 's or of.
    refs = () if owner.kind == "pronoun" else (item.ref + marks.OWNER,)
    return [*tokens, _no(refs, tokens[-1])]


def _very(item: Quality, anchor: Token) -> list[Token]:
    return [Token("とても", "ADV", (item.ref + marks.DETERMINER,), anchor)] if item.is_very else []


def adjective_stem(item: Quality) -> list[Token]:
    """The words of an adjective, "very" first; an i-adjective keeps its i."""
    refs = marks.whole(item.ref)
    words = item.adjective.ja
    tokens = [Token(form, "ADP" if form == "の" else "NOUN", refs) for form in words[:-1]]
    pos = {"no": "NOUN", "ta": "VERB"}.get(item.adjective.ja_type, "ADJ")
    tokens.append(Token(words[-1], pos, refs))
    return _very(item, tokens[0]) + tokens


def attribute(item: Quality) -> list[Token]:
    """An adjective before its noun."""
    tokens = adjective_stem(item)
    ending = {"na": "な", "no": "の", "ta": "た"}.get(item.adjective.ja_type)
    if ending is not None:
        tokens.append(Token(ending, "ADP" if ending == "の" else "AUX", (), tokens[-1]))
    return tokens


def related(item: NounPhrase, particles: tuple[str, ...], ref: int) -> list[Token]:
    """A noun phrase with a postposition that English has as preposition `ref`."""
    tokens = phrase(item)
    lean = tokens[-1]
    carrier = next((form for form in particles if form in NOUNS), particles[0])
    for form in particles:
        token = Token(form, "NOUN" if form in NOUNS else "ADP", (), lean, "I-NP")
        tokens.append(token)
        if form == carrier:
            token.refs = (ref,)
            lean = token
    return tokens


def adverbial(item: Adjunct, *, place: str = "で", goal: str = "に") -> list[Token]:
    """An adverb, or noun phrase and postposition."""
    if item.adverb is not None:
        return cell_tokens(item.adverb.ja, item.ref, "ADVP")
    assert item.phrase is not None
    particles = RELATIONS.get(item.relation, (goal if item.relation == "to" else place,))
    return related(item.phrase, particles, item.ref + marks.PREPOSITION)
