"""Says a clause tree in Arabic.

In: a root `Clause`. Out: `Token`s of one sentence with chunks and anchors.
How: verb first or subject first as the tree says, verb first wherever the subject is indefinite,
a pronoun or two people. Pronoun subjects are in the verb; pronoun objects are attached to it.
After anna and its sisters the subject comes first, in the accusative.
Cost: linear in the number of words.
Not: the passive, verbal nouns, dual nouns.
"""

from __future__ import annotations

from wayword.corpus.toy import arabic_forms as forms
from wayword.corpus.toy import marks
from wayword.corpus.toy.arabic_phrases import (
    adverbial,
    agreement,
    attach,
    before_subject,
    is_definite,
    phrase,
    quality,
    relative_pronoun,
)
from wayword.corpus.toy.arabic_verbs import VerbPhrase, particle, verb_phrase
from wayword.corpus.toy.tokens import Token, mark_chunk
from wayword.corpus.toy.tree import Clause, NounPhrase, Subordinate

SLOTS_AFTER = ("goal", "place", "company", "benefit", "manner", "order", "time")
ASKED = {"where": "أين", "when": "متى", "why": "لماذا"}
PLAIN_CONJUNCTIONS = {"when": ("عندما",), "if": ("إذا",), "before": ("قبل", "أن"),
                      "after": ("بعد", "أن"), "while": ("بينما",)}  # fmt: skip


def realise(root: Clause) -> list[Token]:
    """The whole sentence with its final mark."""
    tokens = _with_companions(root)
    tokens.append(Token("؟" if root.question else ".", "PUNCT", (root.ref + marks.END,)))
    return tokens


def _with_companions(clause: Clause) -> list[Token]:
    beside = clause.subordinate
    if beside is not None and beside.fronted:
        tokens = _clause(clause, order="verb")
        if beside.conjunction == "if" and clause.tense == "future":
            # A future answer to a condition is introduced by fa-.
            tokens[0].form = forms.attached("ف", tokens[0].form)
        comma = Token("،", "PUNCT", (beside.ref + marks.COMMA,))
        tokens = [*_subordinate(beside), comma, *tokens]
    elif clause.question:
        tokens = _question(clause)
    else:
        tokens = _clause(clause, leads=True)
    if beside is not None and not beside.fronted:
        tokens += _subordinate(beside)
    if clause.then is not None:
        tokens += _coordinated(clause, clause.then)
    return tokens


def _coordinated(clause: Clause, then: Clause) -> list[Token]:
    ref = clause.ref + marks.CONJUNCTION
    if clause.then_word == "but":
        comma = Token("،", "PUNCT", (clause.ref + marks.COMMA,))
        tokens = _after_anna(then, "لكن", (ref,))
        comma.anchor = tokens[0]
        return [comma, *tokens]
    tokens = _clause(then, order="gapped" if clause.shares_subject else "")
    attach("و", tokens, ref)
    return tokens


def _subordinate(item: Subordinate) -> list[Token]:
    ref, clause = item.ref + marks.CONJUNCTION, item.clause
    if item.conjunction == "because":
        return _after_anna(clause, "لأن", (ref,))
    if item.conjunction == "although":
        tokens = _after_anna(clause, "أن", (ref,))
        tokens[0].refs = tokens[0].refs[1:]
        return [Token("رغم", "SCONJ", (ref,), tokens[0]), *tokens]
    inner = _clause(clause, order="verb", setting=item.conjunction)
    word, *rest = PLAIN_CONJUNCTIONS[item.conjunction]
    first = Token(word, "SCONJ", (ref,))
    # After a preposition, an only opens the clause.
    return [first, *[Token(form, "SCONJ", (), first) for form in rest], *inner]


def _after_anna(clause: Clause, word: str, refs: tuple[int, ...]) -> list[Token]:
    """After anna, inna, li'anna, lakinna: subject next, in the accusative or attached."""
    who = clause.subject
    was_there = clause.kind == "existence" and clause.tense == "past"
    if was_there or clause.modal in ("must", "should"):
        # Impersonal: the attached pronoun refers to nothing.
        return [Token(word + "ه", "SCONJ", refs), *_clause(clause, order="verb")]
    if clause.kind == "existence":
        return [Token(word, "SCONJ", refs), *_existence(clause, "acc")]
    if who.kind == "pronoun":
        form = word + ("ني" if word == "أن" and _is_i(who) else _suffix(who))
        whole = marks.whole(who.ref)
        return [Token(form, "SCONJ", (*refs, *whole)), *_clause(clause, order="gapped")]
    first = Token(word, "SCONJ", refs)
    return [first, *phrase(who, "acc"), *_clause(clause, order="gapped")]


def _is_i(who: NounPhrase) -> bool:
    return who.person == 1 and not who.plural


def _suffix(who: NounPhrase) -> str:
    return forms.pronoun_suffix(agreement(who))


def relative_tokens(head: NounPhrase, clause: Clause) -> list[Token]:
    """A relative clause: with its pronoun after a definite noun, without after an indefinite."""
    gap = clause.subject if clause.gap == "subject" else clause.object
    assert gap is not None
    inner = _clause(clause, order="gapped" if clause.gap == "subject" else "verb")
    if not is_definite(head):
        return inner
    pronoun = relative_pronoun(gap)
    pronoun.anchor = inner[0]
    mark_chunk([pronoun], "NP")
    return [pronoun, *inner]


def _question(clause: Clause) -> list[Token]:
    if clause.question == "yesno":
        tokens = _clause(clause, order="verb")
        if tokens[0].form in ("لم", "لن", "لا"):
            tokens[0].form = "أ" + tokens[0].form
            return tokens
        return [Token("هل", "PART", (clause.ref + marks.QUESTION,), tokens[0]), *tokens]
    asked = clause.subject if clause.question == "who" else clause.object
    if clause.question in ("who", "what") and asked is not None:
        word = "من" if clause.question == "who" else "ماذا"
        token = Token(word, "PRON", marks.whole(asked.ref), None, "B-NP")
        return [token, *_clause(clause, order="gapped" if word == "من" else "verb")]
    refs = (clause.ref + marks.THERE,)
    words = [Token(ASKED[clause.question], "ADV", refs, None, "B-ADVP")]
    if clause.question == "where" and clause.verb is not None and clause.verb.frame == "go":
        words.insert(0, Token("إلى", "ADP", refs, None, "B-PP"))
    return [*words, *_clause(clause, order="verb")]


def _clause(
    clause: Clause, *, order: str = "", setting: str = "", leads: bool = False
) -> list[Token]:
    """One clause.

    `order`: "" as the tree says, "verb" verb first, "gapped" without its subject, which was said
    before. `setting` is the conjunction above, which may change the tense. `leads` allows an
    adverb before everything.
    """
    if clause.kind == "existence":
        return _existence(clause, "nom", setting)
    lead, used = _lead(clause) if leads else ([], "")
    if clause.kind == "verb":
        return [*lead, *_verbal(clause, order, setting, used)]
    return [*lead, *_nominal(clause, order, setting), *_slots(clause, used)]


def _lead(clause: Clause) -> tuple[list[Token], str]:
    attitude = clause.adjunct("attitude")
    if attitude is not None:
        return adverbial(attitude), "attitude"
    time = clause.adjunct("time")
    if time is not None and clause.topic == "time":
        return adverbial(time), "time"
    return [], ""


def _slots(clause: Clause, used: str) -> list[Token]:
    tokens: list[Token] = []
    for slot in SLOTS_AFTER:
        adjunct = clause.adjunct(slot) if slot != used else None
        if adjunct is not None:
            if slot == "place" and clause.verb is not None and adjunct.phrase is not None:
                tokens += particle(clause.verb, adjunct) or adverbial(adjunct)
            else:
                tokens += adverbial(adjunct)
    return tokens


def _verbal(clause: Clause, order: str, setting: str, used: str) -> list[Token]:
    who = clause.subject
    comes_first = not order and not clause.verb_first and who.kind != "asked"
    comes_first = comes_first and is_definite(who) and who.second is None and used != "attitude"
    is_said = order == "gapped" or who.kind in ("gap", "asked")
    impersonal = clause.modal in ("must", "should")
    comes_first = comes_first and not impersonal
    is_said = is_said or (who.kind == "pronoun" and not comes_first)
    seen = agreement(who) if is_said or comes_first else before_subject(who)
    carries = who.kind == "pronoun" and order != "gapped" and not comes_first
    parts: VerbPhrase = verb_phrase(clause, seen, setting, carries=carries)
    subject = [] if is_said or impersonal else phrase(who, "nom")
    freq = clause.adjunct("freq")
    often = adverbial(freq) if freq is not None else []
    also = clause.adjunct("also")
    if also is not None:
        # Behind the subject, wherever that is said.
        (subject if subject else parts.before).extend(adverbial(also))
    if comes_first:
        tokens = [*subject, *often, *parts.before, *parts.after]
    else:
        tokens = [*often, *parts.before, *subject, *parts.after]
    tokens += _slots(clause, used)
    if used != "attitude":
        attitude = clause.adjunct("attitude")
        tokens = ([] if attitude is None else adverbial(attitude)) + tokens
    return tokens + _complement(clause)


def _complement(clause: Clause) -> list[Token]:
    inner, verb = clause.complement, clause.verb
    if inner is None or verb is None:
        return []
    if verb.frame == "say":
        return _after_anna(inner, verb.ar_preposition, (inner.ref + marks.CONJUNCTION,))
    if verb.frame == "ask":
        return _whether(inner)
    mood = "subjunctive" if verb.ar_preposition else "start"
    parts = verb_phrase(inner, agreement(inner.subject), mood, carries=False)
    tokens = [*parts.before, *parts.after, *_slots(inner, "")]
    if not verb.ar_preposition:
        return tokens
    return [Token(verb.ar_preposition, "SCONJ", (inner.ref + marks.TO,), tokens[0]), *tokens]


def _whether(inner: Clause) -> list[Token]:
    """Say "whether": in kana and the clause."""
    who = inner.subject
    word = Token("إن", "SCONJ", (inner.ref + marks.CONJUNCTION,))
    if inner.modal in ("must", "should"):
        be = Token("كان", "AUX", (), word)
        return [word, be, *_clause(inner, order="verb")]
    seen = agreement(who) if who.kind == "pronoun" else before_subject(who)
    be = Token(forms.past(forms.BE, seen), "AUX", (), word)
    if who.kind == "pronoun":
        be.refs = marks.whole(who.ref)
        subject = []
    else:
        subject = phrase(who, "nom")
    rest = _clause(inner, order="gapped")
    if inner.tense == "past" and not (inner.negated or inner.modal or inner.perfect):
        subject.append(Token("قد", "PART", (), rest[0]))
    return [word, be, *subject, *rest]


def _existence(clause: Clause, case: str, setting: str = "") -> list[Token]:
    """Say "there is": hunaka."""
    refs = (*marks.whole(clause.ref), clause.ref + marks.TENSE)
    there = Token("هناك", "ADV", (clause.ref + marks.THERE,), None, "B-ADVP")
    tokens = [there, *phrase(clause.subject, case), *_slots(clause, "")]
    seen = before_subject(clause.subject)
    if clause.tense == "past" or setting == "if":
        return [Token(forms.past(forms.BE, seen), "AUX", refs, there, "B-VP"), *tokens]
    if setting:
        return [Token(forms.present(forms.BE, seen, "sub"), "AUX", refs, there, "B-VP"), *tokens]
    there.refs = (*there.refs, *refs)
    return tokens


def _nominal(clause: Clause, order: str, setting: str) -> list[Token]:
    """A clause with "be": no verb in the plain present, kana or laysa elsewhere."""
    who = clause.subject
    is_said = order == "gapped"
    comes_first = not is_said and (order != "verb" and not clause.verb_first and is_definite(who))
    is_bare = clause.tense == "present" and not clause.negated and not setting
    drops = is_said or (who.kind == "pronoun" and not is_bare)
    full = is_said or comes_first or who.kind == "pronoun"
    seen = agreement(who) if full else before_subject(who)
    be = [] if is_bare else _be(clause, seen, setting)
    if be and who.kind == "pronoun" and not is_said:
        last = be[-1]
        last.refs = (*last.refs, *marks.whole(who.ref))
    mark_chunk(be, "VP")
    case = "acc" if be else "nom"
    subject = [] if drops else phrase(who, "nom")
    predicate: list[Token] = []
    if clause.quality is not None:
        predicate = quality(clause.quality, who, case, definite=False)
        mark_chunk(predicate, "ADJP")
    elif clause.identity is not None:
        predicate = phrase(clause.identity, case)
    if comes_first:
        return [*subject, *be, *predicate]
    return [*be, *subject, *predicate]


def _be(clause: Clause, seen: forms.Agreement, setting: str) -> list[Token]:
    whole = marks.whole(clause.ref)
    tense, no = clause.ref + marks.TENSE, clause.ref + marks.NEGATION
    if clause.negated:
        if clause.tense == "present" and setting not in ("when", "if"):
            return [Token(forms.is_not(seen), "AUX", (*whole, tense, no))]
        if clause.tense == "future":
            verb = Token(forms.present(forms.BE, seen, "sub"), "AUX", whole)
            return [Token("لن", "PART", (no, tense), verb), verb]
        if clause.tense == "present" and setting == "when":
            verb = Token(forms.present(forms.BE, seen), "AUX", (*whole, tense))
            return [Token("لا", "PART", (no,), verb), verb]
        verb = Token(forms.present(forms.BE, seen, "jus"), "AUX", whole)
        return [Token("لم", "PART", (no, tense), verb), verb]
    if clause.tense == "future":
        form = "س" + forms.present(forms.BE, seen)
    elif clause.tense == "past" or setting == "if":
        form = forms.past(forms.BE, seen)
    else:
        form = forms.present(forms.BE, seen)
    return [Token(form, "AUX", (*whole, tense))]
