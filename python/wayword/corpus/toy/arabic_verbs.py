"""The Arabic verb phrase: tense, negation, modality and attached objects.

In: a clause, the agreement its verb shows, and the conjunction above it. Out: `VerbPhrase`.
How: lam + jussive, la + indicative, lan + subjunctive, sa- for the future; modal verbs and
"must" put the main verb after an, in the subjunctive.
Cost: constant per clause.
Not: subject and adverbials, which `arabic` places around it.
"""

from __future__ import annotations

from dataclasses import dataclass

from wayword.corpus.toy import arabic_forms as forms
from wayword.corpus.toy import marks
from wayword.corpus.toy.arabic_forms import Agreement, VerbForms
from wayword.corpus.toy.arabic_phrases import agreement, phrase, prepositional
from wayword.corpus.toy.entries import Verb
from wayword.corpus.toy.tokens import Token, mark_chunk
from wayword.corpus.toy.tree import Adjunct, Clause, NounPhrase

PAST_SETTINGS = frozenset({"after", "if"})
MODAL_FORMS = {"can": forms.CAN, "want": forms.WANT}
IMPERSONAL = {"must": ("يجب", "على"), "should": ("ينبغي", "ل")}


@dataclass(slots=True)
class VerbPhrase:
    """What stands before a following subject, and what after it."""

    before: list[Token]
    after: list[Token]


def verb_forms(verb: Verb) -> VerbForms:
    """The four forms of a lexicon verb."""
    return VerbForms(verb.ar_past, verb.ar_present, verb.ar_jussive, verb.ar_stem)


def particle(verb: Verb, adjunct: Adjunct) -> list[Token]:
    """The place of a verb that names its own preposition: wasala ila."""
    if not verb.ar_preposition or verb.frame != "st" or adjunct.phrase is None:
        return []
    return prepositional(verb.ar_preposition, adjunct.phrase, adjunct.ref + marks.PREPOSITION)


def verb_phrase(clause: Clause, seen: Agreement, setting: str, *, carries: bool) -> VerbPhrase:
    """Verb words and objects; `carries` when the verb alone expresses a pronoun subject."""
    verb = clause.verb
    assert verb is not None
    who = clause.subject
    subject = marks.whole(who.ref) if carries else ()
    if clause.modal in IMPERSONAL:
        return _impersonal(clause, verb)
    if clause.modal:
        first = _conjugated(
            clause, MODAL_FORMS[clause.modal], seen, setting, (clause.ref + marks.MODAL,)
        )
        first[-1].refs += subject
        mark_chunk(first, "VP")
        return VerbPhrase(first, _after_an(clause, verb, agreement(who)))
    if clause.progressive and clause.tense == "past":
        be = Token(
            forms.past(forms.BE, seen), "AUX", (clause.ref + marks.TENSE, *subject), None, "B-VP"
        )
        main = Token("", "VERB", _whole(clause))
        main.form = forms.present(verb_forms(verb), agreement(who))
        be.anchor = main
        main.chunk = "B-VP"
        return VerbPhrase([be], [main, *_objects(clause, verb, main, is_indicative=True)])
    words = _conjugated(clause, verb_forms(verb), seen, setting, _whole(clause))
    words[-1].refs += subject
    mark_chunk(words, "VP")
    is_indicative = not (clause.negated and clause.tense != "present") and setting not in (
        "before", "subjunctive", *PAST_SETTINGS,
    )  # fmt: skip
    is_indicative = is_indicative and clause.tense != "past"
    return VerbPhrase(words, _objects(clause, verb, words[-1], is_indicative=is_indicative))


def _whole(clause: Clause) -> tuple[int, ...]:
    """The refs of the verb; it also stands for a preposition that only English has."""
    refs = marks.whole(clause.ref)
    verb = clause.verb
    if verb is not None and verb.frame == "tr" and not verb.ar_preposition:
        assert clause.object is not None
        return (*refs, clause.object.ref + marks.PREPOSITION)
    return refs


def _conjugated(
    clause: Clause, verb: VerbForms, seen: Agreement, setting: str, refs: tuple[int, ...]
) -> list[Token]:
    """The finite verb with its negation."""
    tense, no = clause.ref + marks.TENSE, clause.ref + marks.NEGATION
    if setting in ("before", "subjunctive"):
        return [Token(forms.present(verb, seen, "sub"), "VERB", (*refs, tense))]
    if clause.negated:
        if clause.tense == "present" and setting != "if":
            main = Token(forms.present(verb, seen), "VERB", (*refs, tense))
            return [Token("لا", "PART", (no, clause.ref + marks.SUPPORT), main), main]
        if clause.tense == "future":
            main = Token(forms.present(verb, seen, "sub"), "VERB", refs)
            return [Token("لن", "PART", (no, tense), main), main]
        main = Token(forms.present(verb, seen, "jus"), "VERB", refs)
        return [Token("لم", "PART", (no, tense), main), main]
    if clause.perfect and clause.tense == "past" and not clause.question:
        main = Token(forms.past(verb, seen), "VERB", refs)
        return [Token("قد", "PART", (tense,), main), main]
    if clause.tense == "past" or setting in PAST_SETTINGS:
        form = forms.past(verb, seen)
    else:
        form = ("س" if clause.tense == "future" else "") + forms.present(verb, seen)
    return [Token(form, "VERB", (*refs, tense))]


def _after_an(clause: Clause, verb: Verb, seen: Agreement) -> list[Token]:
    """The main verb after an, in the subjunctive, and its objects."""
    main = Token(forms.present(verb_forms(verb), seen, "sub"), "VERB", _whole(clause))
    main.chunk = "B-VP"
    # Where English has a bare infinitive, an belongs to the modal verb.
    refs = (
        (clause.ref + marks.TO, clause.ref + marks.MODAL)
        if _is_bare(clause)
        else (clause.ref + marks.TO,)
    )
    an = Token("أن", "SCONJ", refs, main)
    return [an, main, *_objects(clause, verb, main, is_indicative=False)]


def _is_bare(clause: Clause) -> bool:
    return clause.modal in ("can", "should") or (clause.modal == "must" and clause.tense != "past")


def _impersonal(clause: Clause, verb: Verb) -> VerbPhrase:
    """Say "must": yajibu ala, it is on him to."""
    who = clause.subject
    word, preposition = IMPERSONAL[clause.modal]
    refs = (clause.ref + marks.MODAL, clause.ref + marks.TENSE)
    must = Token(word, "VERB", refs, None, "B-VP")
    before = [must]
    if clause.tense == "past":
        must.refs = refs[:1]
        before.insert(0, Token("كان", "AUX", refs[1:], must, "B-VP"))
        must.chunk = "I-VP"
    if who.kind == "asked":
        # "who must ...": the pronoun after the preposition takes up the question word.
        who = NounPhrase(who.ref, "gap", sex="m")
    on = prepositional(preposition, who, who.ref + marks.PREPOSITION)
    if clause.modal == "must":
        # yajibu ala is one expression; the li after yanbaghi is part of the next word.
        on[0].refs = (*on[0].refs, refs[0])
    if on[0].anchor is None:
        on[0].anchor = must
    return VerbPhrase(before, [*on, *_after_an(clause, verb, agreement(clause.subject))])


def _objects(clause: Clause, verb: Verb, main: Token, *, is_indicative: bool) -> list[Token]:
    """Object and receiver; pronouns among them are attached to `main`."""
    target, receiver = clause.object, clause.receiver
    if target is None or target.kind == "asked":
        return []
    if verb.frame == "di":
        return _object_and_receiver(target, receiver, verb, main, is_indicative)
    if verb.ar_preposition:
        return prepositional(verb.ar_preposition, target, target.ref + marks.PREPOSITION)
    if _attach_object(target, main, is_indicative):
        return []
    return phrase(target, "acc")


def _attach_object(item: NounPhrase, main: Token, is_indicative: bool) -> bool:
    if item.kind not in ("pronoun", "gap"):
        return False
    main.form = forms.verb_with(main.form, agreement(item), is_indicative=is_indicative)
    if item.kind == "pronoun":
        main.refs = (*main.refs, *marks.whole(item.ref))
    return True


def _object_and_receiver(
    target: NounPhrase,
    receiver: NounPhrase | None,
    verb: Verb,
    main: Token,
    is_indicative: bool,
) -> list[Token]:
    assert receiver is not None
    ref = receiver.ref + marks.PREPOSITION
    is_attached = _attach_object(target, main, is_indicative)
    what = [] if is_attached else phrase(target, "acc")
    if verb.ar_preposition or is_attached:
        whom = prepositional(verb.ar_preposition or "ل", receiver, ref)
        return [*whom, *what] if receiver.kind == "pronoun" else [*what, *whom]
    if _attach_object(receiver, main, is_indicative):
        return what
    return [*phrase(receiver, "acc"), *what]
