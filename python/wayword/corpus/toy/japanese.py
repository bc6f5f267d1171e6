"""Says a clause tree in Japanese.

In: a root `Clause`. Out: `Token`s of one sentence with chunks and anchors.
How: topic or subject, time, place, receiver, object, predicate. Subordinate, relative and
quoted clauses come before what they belong to, in plain forms; the sentence ends in plain or
polite style.
Cost: linear in the number of words.
Not: honorifics, passives and causatives.
"""

from __future__ import annotations

from wayword.corpus.toy import marks
from wayword.corpus.toy.japanese_forms import Ending
from wayword.corpus.toy.japanese_phrases import adverbial, phrase, related
from wayword.corpus.toy.japanese_predicate import existence, predicate, spoken
from wayword.corpus.toy.tokens import Token, mark_chunk
from wayword.corpus.toy.tree import Clause, Subordinate

ASKED = {"where": "どこ", "when": "いつ", "why": "なぜ"}
# Conjunction -> (tense of the plain form: as it is, past or present; the words after it; what
# the copula becomes before them).
CONJUNCTIONS = {
    "although": ("as is", ("けれど",), "だ"),
    "when": ("as is", ("とき",), "な"),
    "before": ("present", ("前", "に"), "な"),
    "after": ("past", ("後",), "な"),
    "while": ("present", ("間",), "な"),
}


def realise(root: Clause) -> list[Token]:
    """The whole sentence with its final mark."""
    tokens: list[Token] = []
    if root.subordinate is not None:
        tokens += _subordinate(root.subordinate)
    if root.then is not None:
        tokens += _first_half(root)
        ending = _final(root.then, is_plain=root.plain)
        tokens += _clause(root.then, "は", ending, with_subject=not root.shares_subject)
    else:
        tokens += _clause(root, "は", _final(root, is_plain=root.plain))
    if root.question:
        tokens.append(Token("か", "PART", (root.ref + marks.END,), tokens[-1]))
    tokens.append(Token("。", "PUNCT", (root.ref + marks.END,)))
    return tokens


def _final(clause: Clause, *, is_plain: bool) -> Ending:
    """The end of a sentence; only a verb ends it in plain style.

    What others will do is said with deshou or darou.
    """
    is_polite = not is_plain or clause.kind != "verb"
    is_likely = clause.tense == "future" and clause.subject.person == 3
    return Ending(clause.tense == "past", clause.negated, is_polite, is_likely)


def _first_half(root: Clause) -> list[Token]:
    """The clause before "and" or "but"."""
    ref, past = root.ref + marks.CONJUNCTION, root.tense == "past"
    if root.shares_subject:
        tokens = _clause(root, "は", Ending(past, False, False), joins=True)
        tokens[-1].refs = (ref,)
        return tokens
    is_but = root.then_word == "but"
    tokens = _clause(root, "は", Ending(past, root.negated, is_but and not root.plain), before="だ")
    word = Token("けれども" if is_but else "し", "SCONJ", (ref,), tokens[-1])
    return [*tokens, word, Token("、", "PUNCT", (root.ref + marks.COMMA,), word)]


def _subordinate(item: Subordinate) -> list[Token]:
    clause, ref = item.clause, item.ref + marks.CONJUNCTION
    past = clause.tense == "past"
    if item.conjunction == "if":
        tokens = _clause(clause, "が", Ending(True, clause.negated, False))
        # ta becomes tara, da becomes dara: the word for "if".
        tokens[-1].form += "ら"
        tokens[-1].refs = (ref,)
    else:
        tense, words, before = CONJUNCTIONS.get(item.conjunction) or _because(clause)
        past = past if tense == "as is" else tense == "past"
        tokens = _clause(clause, "が", Ending(past, clause.negated, False), before=before)
        tokens += [Token(words[0], _conjunction_pos(words[0]), (ref,), tokens[-1])]
        tokens += [Token(form, "ADP", (), tokens[-1]) for form in words[1:]]
    comma = Token("、", "PUNCT", (item.ref + marks.COMMA,), tokens[-1])
    return [*tokens, comma]


def _because(clause: Clause) -> tuple[str, tuple[str, ...], str]:
    if clause.verb_first:
        return "as is", ("から",), "だ"
    return "as is", ("ので",), "な"


def _conjunction_pos(word: str) -> str:
    return "NOUN" if word in ("とき", "前", "後", "間") else "SCONJ"


def relative_tokens(clause: Clause) -> list[Token]:
    """A clause before the noun it describes."""
    ending = Ending(clause.tense == "past", clause.negated, False)
    return _clause(clause, "が", ending, before="")


def _clause(
    clause: Clause,
    marker: str,
    ending: Ending,
    *,
    before: str = "だ",
    with_subject: bool = True,
    joins: bool = False,
) -> list[Token]:
    """One clause; `marker` is wa or ga after the subject, `before` the plain copula.

    With `joins` it ends in te.
    """
    if clause.kind == "existence":
        return _existence(clause, ending)
    tokens = _opening(clause, marker, with_subject)
    verb = clause.verb
    stays = verb is not None and verb.frame == "st"
    goal = "まで" if verb is not None and "made" in verb.flags else "に"
    for slot in ("freq", "order", "place", "company", "benefit"):
        adjunct = clause.adjunct(slot)
        if adjunct is not None:
            tokens += adverbial(adjunct, place="に" if stays else "で")
    tokens += _asked(clause)
    if clause.receiver is not None:
        tokens += related(clause.receiver, ("に",), clause.receiver.ref + marks.PREPOSITION)
    target = clause.object
    if target is not None and verb is not None and target.kind != "gap":
        tokens += phrase(target, *verb.ja_particle)
    manner, aim = clause.adjunct("manner"), clause.adjunct("goal")
    tokens += [] if manner is None else adverbial(manner)
    tokens += [] if aim is None else adverbial(aim, goal=goal)
    tokens += _complement(clause)
    return tokens + predicate(clause, ending, before, joins=joins)


def _opening(clause: Clause, marker: str, with_subject: bool) -> list[Token]:
    """View, time and subject, in the order the tree asks for."""
    attitude, time = clause.adjunct("attitude"), clause.adjunct("time")
    start = [] if attitude is None else adverbial(attitude)
    when = [] if time is None else adverbial(time)
    who = clause.subject
    subject: list[Token] = []
    also = clause.adjunct("also")
    is_dropped = who.kind == "pronoun" and who.person == 1 and clause.verb_first and marker == "は"
    is_dropped = is_dropped and also is None
    if with_subject and clause.gap != "subject" and not is_dropped:
        subject = phrase(who, "が" if who.kind == "asked" else marker)
        if also is not None:
            # mo takes the place of wa.
            word = adverbial(also)[0]
            word.anchor, word.chunk = subject[-1].anchor, "I-NP"
            subject[-1] = word
    if clause.topic == "time":
        return start + when + subject
    return start + subject + when


def _asked(clause: Clause) -> list[Token]:
    if clause.question not in ASKED:
        return []
    word = Token(ASKED[clause.question], "PRON", (clause.ref + marks.THERE,), None, "B-NP")
    if clause.question != "where":
        word.pos = "ADV"
        return [word]
    verb = clause.verb
    particle = "に" if verb is not None and verb.frame in ("st", "go", "fly") else "で"
    return [word, Token(particle, "ADP", (), word, "I-NP")]


def _complement(clause: Clause) -> list[Token]:
    """The quoted or embedded clause, closed by to, koto o, no o or ka dou ka."""
    inner, verb = clause.complement, clause.verb
    if inner is None or verb is None:
        return []
    ending = Ending(inner.tense == "past", inner.negated, False)
    ref = inner.ref + (marks.TO if verb.frame == "inf" else marks.CONJUNCTION)
    if verb.frame == "inf":
        tokens = _clause(inner, "が", Ending(False, False, False), with_subject=False)
    elif verb.frame == "ask":
        tokens = _clause(inner, "が", ending, before="")
        words = [Token("か", "PART", (ref,)), Token("どう", "ADV", (ref,))]
        return [*tokens, *words, Token("か", "PART", (ref,))]
    else:
        tokens = _clause(inner, "が", ending, before="だ" if verb.ja_particle[0] == "と" else "な")
    first = Token(verb.ja_particle[0], "ADP", (ref,), tokens[-1])
    if first.form in ("こと", "の"):
        first.pos = "NOUN"
    return [*tokens, first, *[Token(form, "ADP", (), first) for form in verb.ja_particle[1:]]]


def _existence(clause: Clause, ending: Ending) -> list[Token]:
    place = clause.adjunct("place")
    where = [] if place is None else adverbial(place, place="に")
    who = phrase(clause.subject, "が")
    closing = spoken(clause, existence(clause, ending))
    mark_chunk(closing, "VP")
    return where + who + closing
