"""Says a clause tree in German.

In: a root `Clause`. Out: `Token`s of one sentence with chunks and anchors.
How: the field model: first position, finite verb, middle field, right bracket, clauses after
it. Main clauses have the finite verb second, questions without question word first, subordinate
clauses last, where a separable prefix joins its verb.
Cost: linear in the number of words.
Not: passives, or relative clauses moved behind the verb.
"""

from __future__ import annotations

from dataclasses import dataclass

from wayword.corpus.toy import german_forms as forms
from wayword.corpus.toy import marks
from wayword.corpus.toy.german_phrases import (
    adverbial,
    gender_of,
    negation,
    phrase,
    prepositional,
    quality,
)
from wayword.corpus.toy.tokens import Token, capitalise, mark_chunk
from wayword.corpus.toy.tree import Clause, NounPhrase, Subordinate

CONJUNCTIONS = {"because": "weil", "although": "obwohl", "if": "wenn", "before": "bevor",
                "after": "nachdem", "while": "während"}  # fmt: skip
ASKED = {"where": "wo", "when": "wann", "why": "warum"}
INDEFINITE = frozenset({"a", "bare", "many", "some", "three", "four", "five"})


@dataclass(slots=True)
class VerbParts:
    """The finite verb, what closes the clause, the main verb, and its separable prefix."""

    finite: Token
    bracket: list[Token]
    main: Token
    prefix: str = ""


def realise(root: Clause) -> list[Token]:
    """The whole sentence with its final mark."""
    tokens = _with_companions(root)
    tokens.append(Token("?" if root.question else ".", "PUNCT", (root.ref + marks.END,)))
    tokens = _merge_commas(tokens)
    capitalise(tokens)
    return tokens


def _merge_commas(tokens: list[Token]) -> list[Token]:
    """One mark where a clause ends and the next begins, none before the final mark."""
    kept: list[Token] = []
    for token in tokens:
        if token.pos == "PUNCT" and kept and kept[-1].form == ",":
            dropped = kept.pop()
            if token.form == ",":
                token.refs = (*token.refs, *dropped.refs)
        kept.append(token)
    return kept


def _with_companions(clause: Clause) -> list[Token]:
    beside = clause.subordinate
    if beside is not None and beside.fronted:
        comma = Token(",", "PUNCT", (beside.ref + marks.COMMA,))
        tokens = [*_subordinate(beside, clause.tense), comma, *_clause(clause, "first")]
    elif clause.question == "yesno":
        tokens = _clause(clause, "first")
    else:
        tokens = _clause(clause, "second")
    if beside is not None and not beside.fronted:
        inner = _subordinate(beside, clause.tense)
        tokens += [_comma(inner[0]), *inner]
    if clause.then is not None:
        tokens += _coordinated(clause, clause.then)
    return tokens


def _coordinated(clause: Clause, then: Clause) -> list[Token]:
    is_but = clause.then_word == "but"
    word = Token("aber" if is_but else "und", "CCONJ", (clause.ref + marks.CONJUNCTION,))
    comma = [Token(",", "PUNCT", (clause.ref + marks.COMMA,), word)] if is_but else []
    order = "gapped" if clause.shares_subject else "second"
    inner = _clause(then, order)
    word.anchor = inner[0]
    return [*comma, word, *inner]


def _comma(anchor: Token) -> Token:
    """A comma that German grammar asks for and English does not have."""
    return Token(",", "PUNCT", (), anchor)


def _subordinate(item: Subordinate, main_tense: str) -> list[Token]:
    form = CONJUNCTIONS.get(item.conjunction, "als" if main_tense == "past" else "wenn")
    word = Token(form, "SCONJ", (item.ref + marks.CONJUNCTION,))
    inner = _clause(item.clause, "last")
    word.anchor = inner[-1]
    return [word, *inner]


def relative_tokens(clause: Clause) -> list[Token]:
    """A relative clause between commas; the pronoun takes its case from the inner verb."""
    gap = clause.subject if clause.gap == "subject" else clause.object
    verb = clause.verb
    assert gap is not None
    assert verb is not None
    case = "nom" if clause.gap == "subject" else verb.de_case
    gender = gender_of(gap)
    form = "denen" if (case, gender) == ("dat", "p") else forms.DER[(case, gender)]
    pronoun = Token(form, "PRON", (gap.ref + marks.RELATIVE,))
    mark_chunk([pronoun], "NP")
    opening = [_comma(pronoun), pronoun]
    if clause.gap == "object" and verb.de_preposition:
        word = Token(verb.de_preposition, "ADP", (gap.ref + marks.PREPOSITION,), pronoun)
        mark_chunk([word], "PP")
        opening.insert(1, word)
    inner = _clause(clause, "last")
    pronoun.anchor = inner[-1]
    return [*opening, *inner, _comma(inner[-1])]


def _clause(clause: Clause, order: str) -> list[Token]:
    """One clause; `order` says where the finite verb goes: second, first, last or gapped.

    A gapped clause shares its subject with the one before it.
    """
    parts = _verb_parts(clause)
    first, used = ([], "") if order != "second" else _first_position(clause, parts)
    skips_subject = order == "gapped" or clause.gap == "subject" or clause.kind == "existence"
    middle = _middle(clause, parts, used, with_subject=not skips_subject and used != "subject")
    after = _complement(clause)
    if order == "last":
        closing = _verbs_last(parts)
        mark_chunk(closing, "VP")
        return [*middle, *closing, *after]
    prefix = []
    if parts.prefix:
        prefix = [Token(parts.prefix, "ADP", parts.main.refs, parts.main)]
    mark_chunk([parts.finite], "VP")
    closing = parts.bracket + prefix
    mark_chunk(closing, "VP")
    return [*first, parts.finite, *middle, *closing, *after]


def _verbs_last(parts: VerbParts) -> list[Token]:
    if parts.prefix:
        parts.finite.form = parts.prefix + parts.finite.form
    return [*parts.bracket, parts.finite]


def _verb_parts(clause: Clause) -> VerbParts:
    who = clause.subject
    person, plural = who.person, who.is_plural
    tense, whole = (clause.ref + marks.TENSE,), _whole(clause)
    is_past = clause.tense == "past"
    if clause.kind != "verb":
        return _copula(clause, whole, tense)
    verb = clause.verb
    assert verb is not None
    infinitive = Token(verb.de_prefix + verb.de, "VERB", whole)
    if clause.modal:
        form = forms.helper(clause.modal, person, plural, is_past)
        finite = Token(form, "AUX", (clause.ref + marks.MODAL, *tense), infinitive)
        return VerbParts(finite, [infinitive], infinitive)
    if clause.tense == "future":
        finite = Token(forms.helper("werden", person, plural, False), "AUX", tense, infinitive)
        return VerbParts(finite, [infinitive], infinitive)
    if clause.anterior or (is_past and not clause.preterite):
        main = Token(verb.de_participle, "VERB", whole)
        past_helper = is_past and clause.anterior
        form = forms.helper(verb.de_aux, person, plural, past_helper)
        return VerbParts(Token(form, "AUX", tense, main), [main], main)
    if is_past:
        form = forms.past(verb.de_past, person, plural)
    else:
        form = forms.present(verb.de, verb.de_3sg, person, plural)
    main = Token(form, "VERB", whole + tense)
    return VerbParts(main, [], main, verb.de_prefix)


def _whole(clause: Clause) -> tuple[int, ...]:
    """The refs of the verb; it also stands for a preposition that only English has."""
    refs = marks.whole(clause.ref)
    if clause.object is not None and clause.verb is not None and not clause.verb.de_preposition:
        return (*refs, clause.object.ref + marks.PREPOSITION)
    return refs


def _copula(clause: Clause, whole: tuple[int, ...], tense: tuple[int, ...]) -> VerbParts:
    who, is_past = clause.subject, clause.tense == "past"
    if clause.kind == "existence":
        main = Token("gab" if is_past else "gibt", "VERB", whole + tense)
        return VerbParts(main, [], main)
    if clause.tense == "future":
        be = Token("sein", "AUX", whole)
        will = forms.helper("werden", who.person, who.is_plural, False)
        return VerbParts(Token(will, "AUX", tense, be), [be], be)
    main = Token(forms.helper("sein", who.person, who.is_plural, is_past), "AUX", whole + tense)
    return VerbParts(main, [], main)


def _first_position(clause: Clause, parts: VerbParts) -> tuple[list[Token], str]:
    """What stands before the finite verb, and which part of the clause that is."""
    if clause.question:
        return _asked_first(clause, parts)
    attitude = clause.adjunct("attitude")
    if attitude is not None:
        return adverbial(attitude), "attitude"
    if clause.topic in ("time", "place"):
        adjunct = clause.adjunct(clause.topic)
        if adjunct is not None:
            return adverbial(adjunct), clause.topic
    if clause.topic == "object" and _may_lead(clause):
        assert clause.object is not None
        assert clause.verb is not None
        return phrase(clause.object, clause.verb.de_case), "object"
    if clause.kind == "existence":
        return [_expletive(clause, parts)], "there"
    return _subject(clause), "subject"


def _subject(clause: Clause) -> list[Token]:
    """The subject, behind "auch" where it is not the only one."""
    tokens, also = phrase(clause.subject, "nom"), clause.adjunct("also")
    if also is None:
        return tokens
    tokens[0].chunk = "I-NP"
    words = adverbial(also)
    words[0].chunk = "B-NP"
    words[0].anchor = tokens[0].anchor or tokens[0]
    return words + tokens


def _asked_first(clause: Clause, parts: VerbParts) -> tuple[list[Token], str]:
    """The question word; "who" is the subject itself."""
    if clause.question == "who":
        return phrase(clause.subject, "nom"), "subject"
    if clause.question == "what" and clause.object is not None:
        return phrase(clause.object, "acc"), "object"
    goes = clause.verb is not None and clause.verb.frame in ("go", "fly")
    form = "wohin" if clause.question == "where" and goes else ASKED[clause.question]
    return [Token(form, "ADV", (clause.ref + marks.THERE,), parts.main, "B-ADVP")], "asked"


def _expletive(clause: Clause, parts: VerbParts) -> Token:
    return Token("es", "PRON", (clause.ref + marks.THERE,), parts.main, "B-NP")


def _may_lead(clause: Clause) -> bool:
    """Objects go first only where case or a pronoun subject keeps the roles apart."""
    target, verb = clause.object, clause.verb
    if target is None or verb is None or target.kind != "noun" or verb.de_preposition:
        return False
    if target.determiner in INDEFINITE or target.relative is not None:
        return False
    owner_points_back = target.owner is not None and target.owner.kind == "pronoun"
    is_clear = gender_of(target) == "m" or clause.subject.kind == "pronoun"
    return is_clear and not owner_points_back


def _middle(clause: Clause, parts: VerbParts, used: str, *, with_subject: bool) -> list[Token]:
    """The middle field: pronouns, receiver, time, known object, negation, the rest."""
    tokens: list[Token] = []
    if clause.kind == "existence":
        tokens += [] if used == "there" else [_expletive(clause, parts)]
    elif with_subject:
        tokens += _subject(clause)
    if clause.verb is not None and clause.verb.de_reflexive:
        tokens.append(_reflexive(clause, parts))
    target = clause.object
    if used == "object" or target is None or target.kind in ("gap", "asked"):
        target = None
    early, known, late = _object_places(clause, target)
    tokens += early
    if clause.receiver is not None:
        tokens += phrase(clause.receiver, "dat")
    for slot in ("time", "freq", "order", "attitude"):
        tokens += _slot(clause, slot, used)
    tokens += known
    for slot in ("company", "benefit"):
        tokens += _slot(clause, slot, used)
    if clause.negated and not _takes_kein(clause):
        tokens.append(negation(clause.ref, parts.main))
    for slot in ("manner", "place"):
        tokens += _slot(clause, slot, used)
    tokens += late
    tokens += _slot(clause, "goal", used)
    return tokens + _predicate(clause)


def _slot(clause: Clause, slot: str, used: str) -> list[Token]:
    adjunct = clause.adjunct(slot) if slot != used else None
    return adverbial(adjunct) if adjunct is not None else []


def _reflexive(clause: Clause, parts: VerbParts) -> Token:
    form = forms.REFLEXIVE.get((clause.subject.person, clause.subject.is_plural), "sich")
    return Token(form, "PRON", (), parts.main, "B-NP")


def _object_places(
    clause: Clause, target: NounPhrase | None
) -> tuple[list[Token], list[Token], list[Token]]:
    """The object as pronoun, as known thing, or as news at the end of the middle field."""
    verb = clause.verb
    if target is None or verb is None:
        return [], [], phrase(clause.subject, "acc") if clause.kind == "existence" else []
    if verb.de_preposition:
        ref = target.ref + marks.PREPOSITION
        return [], [], prepositional(verb.de_preposition, verb.de_case, target, ref)
    if target.kind == "pronoun":
        return phrase(target, verb.de_case), [], []
    if target.kind == "noun" and target.determiner in INDEFINITE:
        no = clause.ref + marks.NEGATION if clause.negated else 0
        return [], [], phrase(target, verb.de_case, no=no)
    return [], phrase(target, verb.de_case), []


def _takes_kein(clause: Clause) -> bool:
    if clause.identity is not None:
        return True
    target, verb = clause.object, clause.verb
    if target is None or verb is None or verb.de_preposition or target.kind != "noun":
        return False
    return target.determiner in ("a", "bare")


def _predicate(clause: Clause) -> list[Token]:
    if clause.quality is not None:
        tokens = quality(clause.quality)
        mark_chunk(tokens, "ADJP")
        return tokens
    what = clause.identity
    if what is None:
        return []
    no = clause.ref + marks.NEGATION if clause.negated else 0
    tokens = phrase(what, "nom", no=no)
    if no or what.quality is not None:
        return tokens
    # A bare profession: "er ist Lehrer".
    tokens[1].chunk = "B-NP"
    return tokens[1:]


def _complement(clause: Clause) -> list[Token]:
    inner = clause.complement
    if inner is None or clause.verb is None:
        return []
    if clause.verb.frame == "inf":
        return _infinitive(inner)
    word = Token("dass" if clause.verb.frame == "say" else "ob", "SCONJ")
    word.refs = (inner.ref + marks.CONJUNCTION,)
    tokens = _clause(inner, "last")
    word.anchor = tokens[-1]
    return [_comma(word), word, *tokens]


def _infinitive(inner: Clause) -> list[Token]:
    verb = inner.verb
    assert verb is not None
    whole, to = _whole(inner), inner.ref + marks.TO
    main = Token(verb.de, "VERB", whole)
    closing = [Token("zu", "PART", (to,), main), main]
    if verb.de_prefix:
        main = Token(forms.zu_infinitive(verb.de_prefix, verb.de), "VERB", (*whole, to))
        closing = [main]
    mark_chunk(closing, "VP")
    middle = _middle(inner, VerbParts(main, [], main), "", with_subject=False)
    tokens = [*middle, *closing, *_complement(inner)]
    return [_comma(tokens[0] if tokens[0].refs else main), *tokens]
