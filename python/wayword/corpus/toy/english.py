"""Says a clause tree in English.

In: a root `Clause`. Out: `Token`s of one sentence; chunks are not marked on this side.
How: subject, auxiliaries, verb, objects, adverbials in fixed order; inversion in questions.
Cost: linear in the number of words.
Not: anchors; English is the side whose order the gold standard follows.
"""

from __future__ import annotations

from wayword.corpus.toy import marks
from wayword.corpus.toy.english_forms import be, ing, third_person
from wayword.corpus.toy.english_phrases import adverbial, phrase, quality
from wayword.corpus.toy.entries import Verb
from wayword.corpus.toy.tokens import Token, capitalise
from wayword.corpus.toy.tree import Clause, NounPhrase, Subordinate

SLOTS_AFTER = ("goal", "place", "company", "benefit", "manner", "order")
ASKED = {"where": "where", "when": "when", "why": "why"}
NO_DOUBLE_OBJECT = ("explain",)
SEMI_MODALS = {"want": ("want", "wants", "wanted"), "must": ("have", "has", "had")}


def realise(root: Clause) -> list[Token]:
    """The whole sentence with its final mark."""
    tokens = clause_with_companions(root)
    tokens.append(Token("?" if root.question else ".", "PUNCT", (root.ref + marks.END,)))
    capitalise(tokens)
    return tokens


def clause_with_companions(clause: Clause) -> list[Token]:
    """A clause with its adverbial clause and its "and" or "but" clause."""
    tokens = clause_tokens(clause)
    if clause.subordinate is not None:
        beside = _subordinate(clause.subordinate)
        if clause.subordinate.fronted:
            comma = Token(",", "PUNCT", (clause.subordinate.ref + marks.COMMA,))
            tokens = [*beside, comma, *tokens]
        else:
            tokens += beside
    if clause.then is not None:
        if clause.then_word == "but":
            tokens.append(Token(",", "PUNCT", (clause.ref + marks.COMMA,)))
        tokens.append(Token(clause.then_word, "CCONJ", (clause.ref + marks.CONJUNCTION,)))
        tokens += clause_tokens(clause.then, with_subject=not clause.shares_subject)
    return tokens


def _subordinate(item: Subordinate) -> list[Token]:
    word = Token(item.conjunction, "SCONJ", (item.ref + marks.CONJUNCTION,))
    return [word, *clause_tokens(item.clause)]


def clause_tokens(clause: Clause, *, with_subject: bool = True) -> list[Token]:
    """One clause: question word, subject, verb group, the rest."""
    lead = _lead(clause)
    who = _subject(clause) if with_subject else []
    auxiliary, rest = _verb_group(clause)
    freq = clause.adjunct("freq")
    often = adverbial(freq) if freq is not None else []
    inverts = bool(clause.question) and clause.question != "who"
    if clause.kind == "existence":
        there = Token("there", "PRON", (clause.ref + marks.THERE,))
        return [*lead, there, *auxiliary, *rest, *who, *_ending(clause)]
    if clause.question == "yesno":
        auxiliary[0].refs = (*auxiliary[0].refs, clause.ref + marks.QUESTION)
    if inverts:
        start = [*auxiliary[:1], *who, *auxiliary[1:], *often, *rest]
    else:
        also = clause.adjunct("also")
        start = [*who, *auxiliary, *(adverbial(also) if also is not None else []), *often, *rest]
    return [*lead, *start, *_predicate(clause), *_ending(clause)]


def _subject(clause: Clause) -> list[Token]:
    if clause.gap == "subject":
        return [_relative_pronoun(clause.subject)]
    who = phrase(clause.subject, "subject")
    if clause.gap == "object" and clause.object is not None:
        # "the book I read" as often as "the book that I read".
        return who if clause.verb_first else [_relative_pronoun(clause.object), *who]
    return who


def _relative_pronoun(gap: NounPhrase) -> Token:
    return Token("who" if gap.is_human else "that", "PRON", (gap.ref + marks.RELATIVE,))


def _fronts_time(clause: Clause) -> bool:
    beside = clause.subordinate
    if clause.question or (beside is not None and beside.fronted):
        return False
    return clause.topic == "time" and clause.verb_first


def _lead(clause: Clause) -> list[Token]:
    """What stands before the subject."""
    if clause.question == "what" and clause.object is not None:
        return phrase(clause.object, "object")
    if clause.question in ASKED:
        return [Token(ASKED[clause.question], "ADV", (clause.ref + marks.THERE,))]
    attitude = clause.adjunct("attitude")
    if attitude is not None:
        return adverbial(attitude)
    time = clause.adjunct("time")
    if time is not None and _fronts_time(clause):
        return adverbial(time)
    return []


def _verb_group(clause: Clause) -> tuple[list[Token], list[Token]]:
    """Auxiliaries with negation (the first one inverts), then the verbs that stay."""
    if clause.verb is None:
        return _be_group(clause)
    particle = [] if _moves_particle(clause) else _particle(clause)
    if clause.modal:
        head, tail = _modal(clause)
        return head, [*tail, Token(clause.verb.en, "VERB", _whole(clause)), *particle]
    helper, form = _helper(clause, clause.verb)
    main = Token(form, "VERB", _whole(clause))
    if helper is None:
        main.refs = (*main.refs, clause.ref + marks.TENSE)
        return [], [main, *particle]
    return [helper, *_not(clause)], [main, *particle]


def _not(clause: Clause) -> list[Token]:
    return [Token("not", "PART", (clause.ref + marks.NEGATION,))] if clause.negated else []


def _takes_base(clause: Clause) -> bool:
    """Whether the present tense goes without -s."""
    return clause.subject.person != 3 or clause.subject.is_plural


def _be_group(clause: Clause) -> tuple[list[Token], list[Token]]:
    tense, whole = (clause.ref + marks.TENSE,), _whole(clause)
    if clause.tense == "future":
        return [Token("will", "AUX", tense), *_not(clause)], [Token("be", "AUX", whole)]
    who = clause.subject
    form = be(who.person, who.is_plural, clause.tense == "past")
    return [Token(form, "AUX", whole + tense), *_not(clause)], []


def _helper(clause: Clause, verb: Verb) -> tuple[Token | None, str]:
    """The auxiliary, if the tense or a "not" or a question needs one, and the form it leaves."""
    tense, past = (clause.ref + marks.TENSE,), clause.tense == "past"
    who, is_base = clause.subject, _takes_base(clause)
    if clause.tense == "future":
        return Token("will", "AUX", tense), verb.en
    if clause.progressive:
        return Token(be(who.person, who.is_plural, past), "AUX", tense), ing(verb.en)
    if clause.perfect or (clause.anterior and not clause.verb_first):
        have = "had" if past and clause.anterior else "have" if is_base else "has"
        return Token(have, "AUX", tense), verb.en_participle
    if clause.negated or clause.question not in ("", "who"):
        return _do(clause), verb.en
    return None, verb.en_past if past else verb.en if is_base else third_person(verb.en)


def _do(clause: Clause) -> Token:
    """Did says the tense; do and does only support a "not" or a question."""
    if clause.tense == "past":
        no = (clause.ref + marks.SUPPORT,) if clause.negated else ()
        return Token("did", "AUX", (clause.ref + marks.TENSE, *no))
    return Token("do" if _takes_base(clause) else "does", "AUX", (clause.ref + marks.SUPPORT,))


def _whole(clause: Clause) -> tuple[int, ...]:
    """The refs of the verb; it also stands for a preposition that only the other side has."""
    refs = marks.whole(clause.ref)
    if clause.object is not None and clause.verb is not None and not clause.verb.en_preposition:
        return (*refs, clause.object.ref + marks.PREPOSITION)
    return refs


def _modal(clause: Clause) -> tuple[list[Token], list[Token]]:
    past = clause.tense == "past"
    modal, tense, negation = (
        clause.ref + marks.MODAL,
        clause.ref + marks.TENSE,
        clause.ref + marks.NEGATION,
    )
    if clause.modal == "can" and clause.negated and not past:
        return [Token("cannot", "AUX", (modal, tense, negation))], []
    if clause.modal == "can":
        return [Token("could" if past else "can", "AUX", (modal, tense)), *_not(clause)], []
    if clause.modal == "should" or (clause.modal == "must" and not past):
        return [Token(clause.modal, "AUX", (modal, tense))], []
    base, third, before = SEMI_MODALS[clause.modal]
    to = Token("to", "PART", (clause.ref + marks.TO,))
    if clause.negated or clause.question not in ("", "who"):
        return [_do(clause), *_not(clause)], [Token(base, "VERB", (modal,)), to]
    form = before if past else base if _takes_base(clause) else third
    return [], [Token(form, "VERB", (modal, tense)), to]


def _moves_particle(clause: Clause) -> bool:
    return clause.object is not None and clause.object.kind == "pronoun"


def _particle(clause: Clause) -> list[Token]:
    verb = clause.verb
    if verb is None or not verb.en_particle:
        return []
    return [Token(verb.en_particle, "ADP", marks.whole(clause.ref))]


def _predicate(clause: Clause) -> list[Token]:
    """Objects, or what stands after "be"."""
    if clause.quality is not None:
        return quality(clause.quality)
    if clause.identity is not None:
        return phrase(clause.identity, "object")
    tokens: list[Token] = []
    verb, target, receiver = clause.verb, clause.object, clause.receiver
    shown = target if target is not None and target.kind not in ("gap", "asked") else None
    if verb is not None and verb.en_preposition and target is not None:
        tokens.append(Token(verb.en_preposition, "ADP", (target.ref + marks.PREPOSITION,)))
    what = phrase(shown, "object") if shown is not None else []
    if receiver is not None and verb is not None:
        is_late = clause.verb_first or verb.en_particle or verb.en in NO_DOUBLE_OBJECT
        whom = phrase(receiver, "object")
        if is_late or shown is None or shown.kind == "pronoun":
            what += [Token("to", "ADP", (receiver.ref + marks.PREPOSITION,)), *whom]
        else:
            what = whom + what
    tokens += what
    if _moves_particle(clause):
        # "picked him up", and with a receiver "gave it back to him".
        tokens[1:1] = _particle(clause)
    return tokens


def _ending(clause: Clause) -> list[Token]:
    """Adverbials after the objects, then a complement clause."""
    tokens: list[Token] = []
    for slot in SLOTS_AFTER:
        adjunct = clause.adjunct(slot)
        if adjunct is not None:
            arrives = clause.verb is not None and "at" in clause.verb.flags
            tokens += adverbial(adjunct, place="at" if arrives else "")
    time = clause.adjunct("time")
    if time is not None and (not _fronts_time(clause) or clause.adjunct("attitude") is not None):
        tokens += adverbial(time)
    if clause.complement is not None:
        tokens += _complement(clause, clause.complement)
    return tokens


def _complement(clause: Clause, inner: Clause) -> list[Token]:
    assert clause.verb is not None
    if clause.verb.frame == "inf":
        assert inner.verb is not None
        to = Token("to", "PART", (inner.ref + marks.TO,))
        particle = [] if _moves_particle(inner) else _particle(inner)
        verb = Token(inner.verb.en, "VERB", _whole(inner))
        return [to, verb, *particle, *_predicate(inner), *_ending(inner)]
    word = "that" if clause.verb.frame == "say" else "whether"
    return [Token(word, "SCONJ", (inner.ref + marks.CONJUNCTION,)), *clause_tokens(inner)]
