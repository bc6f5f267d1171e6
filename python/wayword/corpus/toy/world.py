"""Draws what a sentence says: a clause tree that makes some sense.

In: a `Draw`. Out: a root `Clause`, a statement or a question.
How: pick a frame and a verb, then participants of the classes the verb asks for, then tense,
modality, adverbials and further clauses, with probabilities that fall with depth.
Cost: about fifty random numbers per sentence.
Not: words or their order. Length limits are kept by `stream`, which draws again.
"""

from __future__ import annotations

from dataclasses import replace

from wayword.corpus.toy import choices
from wayword.corpus.toy.adverbials import Frame, draw_adjuncts
from wayword.corpus.toy.entries import Verb
from wayword.corpus.toy.participants import (
    DESCRIBED_DETERMINERS,
    PLAIN_DETERMINERS,
    common,
    pronoun,
    subject,
    thing,
)
from wayword.corpus.toy.sampling import Draw, Table
from wayword.corpus.toy.tree import Adjunct, Clause, NounPhrase, Quality, Subordinate

TENSES = Table([("past", 48), ("present", 44), ("future", 8)])
KINDS = Table([("verb", 90), ("quality", 6), ("identity", 2), ("existence", 2)])
MODALS = Table([("can", 40), ("must", 20), ("want", 24), ("should", 16)])
CONJUNCTIONS = Table(
    [
        ("because", 26),
        ("although", 12),
        ("when", 26),
        ("if", 10),
        ("before", 9),
        ("after", 9),
        ("while", 5),
    ]
)
QUESTIONS = Table(
    [("yesno", 40), ("what", 18), ("who", 14), ("where", 12), ("when", 8), ("why", 8)]
)
TOPICS = Table([("subject", 55), ("time", 30), ("place", 8), ("object", 7)])
DESCRIBED = frozenset(
    {"person", "animal", "food", "drink", "text", "vehicle", "building", "place", "room"}
    | {"nature", "thing", "clothes", "idea", "event", "media", "device", "furniture", "skill"}
)
FOUND_IN_PLACES = frozenset({"person", "animal", "furniture", "thing"})


def draw_sentence(draw: Draw) -> Clause:
    """One root clause."""
    draw.restart()
    if draw.chance(0.08):
        return _question(draw)
    clause = replace(draw_clause(draw, 0, draw.pick(TENSES)), plain=draw.chance(0.75))
    goes_on = draw.chance(0.15) and _may_go_on(clause)
    if draw.chance(0.3):
        clause = replace(clause, subordinate=_subordinate(draw, clause, must_lead=goes_on))
    return _go_on(draw, clause) if goes_on else clause


def draw_clause(draw: Draw, depth: int, tense: str, kind: str = "") -> Clause:
    """A clause without adverbial clauses; complements and relatives may nest inside."""
    kind = kind or draw.pick(KINDS)
    if kind == "quality":
        return _quality(draw, depth, tense)
    if kind == "identity":
        return _identity(draw, depth, tense)
    if kind == "existence":
        return _existence(draw, depth, tense)
    frame = draw.pick(choices.FRAMES if depth < 2 else choices.SIMPLE_FRAMES)
    return _verbal(draw, draw.pick(choices.verbs_of(frame)), depth, tense)


def _verbal(
    draw: Draw,
    verb: Verb,
    depth: int,
    tense: str,
    *,
    doer: NounPhrase | None = None,
    target: NounPhrase | None = None,
    gap: str = "",
    plain: bool = False,
) -> Clause:
    """A clause around this verb; `doer` and `target` are given by relatives and coordination.

    `plain` leaves out modality, negation and adverbials.
    """
    ref = draw.ref()
    is_stative = "stat" in verb.flags
    modal = "" if plain or is_stative or tense == "future" else _modal(draw, verb, tense)
    negated = not plain and modal not in ("must", "should") and draw.chance(0.07)
    if doer is None:
        doer = subject(draw, verb.subjects, depth, relative_clause, plain=negated)
    inner = depth + 1
    receiver = None
    if verb.frame == "di":
        receiver = _receiver(draw, inner, doer)
    if verb.frame in ("tr", "di") and target is None:
        target = thing(draw, verb.objects, inner - 1, relative_clause, doer=doer, plain=negated)
    complement = _complement(draw, verb, doer, inner, tense)
    progressive = (
        tense == "present" and not (plain or modal or negated or is_stative) and draw.chance(0.16)
    )
    frame = Frame(verb, doer, target, tense, progressive, negated, bool(modal), depth, plain)
    adjuncts = draw_adjuncts(draw, frame)
    has_time = any(adjunct.slot in ("time", "order") for adjunct in adjuncts)
    perfect = tense == "past" and not has_time and not modal and draw.chance(0.06)
    return Clause(
        ref, "verb", doer, tense, verb, target, receiver,
        adjuncts=adjuncts, complement=complement, modal=modal, negated=negated,
        progressive=progressive, perfect=perfect,
        preterite=not perfect and draw.chance(0.4),
        topic=draw.pick(TOPICS) if depth == 0 else "subject",
        verb_first=draw.chance(0.62), gap=gap,
    )  # fmt: skip


def _modal(draw: Draw, verb: Verb, tense: str) -> str:
    if verb.frame in ("say", "ask", "inf") or not draw.chance(0.15):
        return ""
    modal = draw.pick(MODALS)
    return "can" if modal == "should" and tense == "past" else modal


def _receiver(draw: Draw, depth: int, doer: NounPhrase) -> NounPhrase:
    person = thing(draw, choices.PERSON, depth, relative_clause, doer=doer, plain=True)
    if person.kind == "pronoun" and person.person == 1:
        # Japanese gives to the speaker with another verb.
        return replace(person, person=3)
    return person


def _complement(draw: Draw, verb: Verb, doer: NounPhrase, depth: int, tense: str) -> Clause | None:
    if verb.frame in ("say", "ask"):
        inner = tense if tense != "future" else "present"
        if tense == "present":
            inner = draw.pick(TENSES)
        kind = "verb" if verb.frame == "ask" else ""
        return draw_clause(draw, depth, inner, kind)
    if verb.frame == "inf":
        frame = draw.pick(choices.SIMPLE_FRAMES)
        action = draw.pick(choices.verbs_of(frame))
        while "stat" in action.flags or "person" not in action.subjects:
            action = draw.pick(choices.verbs_of(frame))
        return _verbal(draw, action, depth + 1, "present", doer=doer, plain=True)
    return None


def _quality(draw: Draw, depth: int, tense: str) -> Clause:
    noun = draw.pick(choices.describable(DESCRIBED))
    ref = draw.ref()
    adjective = draw.pick(choices.qualities_of(noun))
    if noun.is_human and draw.chance(0.3):
        doer = pronoun(draw)
    else:
        doer = common(draw, noun, DESCRIBED_DETERMINERS, depth, relative_clause, is_subject=True)
    if doer.quality is not None and doer.quality.adjective is adjective:
        doer = replace(doer, quality=None)
    negated = doer.determiner not in ("all", "many", "some") and draw.chance(0.12)
    quality = Quality(draw.ref(), adjective, not negated and draw.chance(0.3))
    return Clause(
        ref, "quality", doer, tense, quality=quality, negated=negated,
        adjuncts=_time_only(draw, tense),
        topic=draw.pick(TOPICS) if depth == 0 else "subject", verb_first=draw.chance(0.5),
    )  # fmt: skip


def _identity(draw: Draw, depth: int, tense: str) -> Clause:
    ref = draw.ref()
    job = draw.pick(choices.nouns_of(frozenset({"job"})))
    if draw.chance(0.4):
        name = draw.pick(choices.names_of("person"))
        doer = NounPhrase(draw.ref(), "name", name=name, sex=name.sex)
    else:
        kin = draw.pick(choices.nouns_of(frozenset({"kin"})))
        doer = common(draw, kin, PLAIN_DETERMINERS, depth, relative_clause, is_subject=True)
        doer = replace(doer, plural=False)
    while job.ar_gender != doer.sex or job is doer.noun:
        job = draw.pick(choices.nouns_of(frozenset({"job"})))
    what = common(draw, job, Table([("a", 1.0)]), 1, relative_clause)
    what = replace(what, determiner="a", owner=None, plural=False)
    return Clause(
        ref, "identity", doer, tense, identity=what, negated=draw.chance(0.1),
        adjuncts=_time_only(draw, tense), verb_first=draw.chance(0.5),
    )  # fmt: skip


def _existence(draw: Draw, depth: int, tense: str) -> Clause:
    ref = draw.ref()
    noun = draw.pick(choices.nouns_of(FOUND_IN_PLACES))
    table = Table(
        [("a", 45.0), ("bare", 25.0), ("many", 10.0), ("some", 8.0), ("three", 7.0), ("four", 5.0)]
    )
    who = common(draw, noun, table, depth, relative_clause)
    if who.determiner not in table.items:
        who = replace(who, determiner="a", owner=None, plural=False)
    site = draw.pick(choices.nouns_of(choices.PLACES))
    place = common(draw, site, PLAIN_DETERMINERS, depth + 1, relative_clause)
    if place.determiner == "a" or place.plural:
        place = replace(place, determiner="the", owner=None, plural=False)
    return Clause(
        ref, "existence", who, "present" if tense == "future" else tense,
        adjuncts=(Adjunct(draw.ref(), "place", relation="in", phrase=place),),
        topic="place" if draw.chance(0.5) else "subject",
    )  # fmt: skip


def _time_only(draw: Draw, tense: str) -> tuple[Adjunct, ...]:
    if not draw.chance(0.22):
        return ()
    kind = "now" if tense == "present" else tense
    return (Adjunct(draw.ref(), "time", adverb=draw.pick(choices.adverbs_of(kind))),)


def relative_clause(draw: Draw, head: NounPhrase, depth: int) -> Clause:
    """A clause with a gap where `head` belongs."""
    noun = head.noun
    assert noun is not None
    gap = NounPhrase(
        draw.ref(), "gap", noun=noun, plural=head.plural, sex=head.sex, determiner=head.determiner
    )
    tense = "past" if draw.chance(0.6) else "present"
    doing, suffering = choices.verbs_by(noun), choices.verbs_on(noun)
    if doing and (not suffering or draw.chance(0.6)):
        return _verbal(draw, draw.pick(doing), depth, tense, doer=gap, gap="subject")
    verb = draw.pick(suffering)
    return _verbal(draw, verb, depth, tense, target=gap, gap="object")


def _subordinate(draw: Draw, main: Clause, *, must_lead: bool) -> Subordinate:
    conjunction = draw.pick(CONJUNCTIONS)
    if main.tense == "past" and conjunction == "if":
        conjunction = "because"
    ref = draw.ref()
    tense = "past" if main.tense == "past" else "present"
    if conjunction == "while":
        verb = draw.pick(choices.verbs_of("tr"))
        while "stat" in verb.flags:
            verb = draw.pick(choices.verbs_of("tr"))
        clause = _verbal(draw, verb, 1, tense, plain=True)
        clause = replace(clause, progressive=True, perfect=False, preterite=True)
    else:
        kind = "verb" if conjunction in ("before", "after") else ""
        clause = draw_clause(draw, 1, tense, kind)
        clause = _fit(clause, conjunction)
    is_questionable = conjunction in ("because", "although", "while")
    fronted = draw.chance(0.3 if is_questionable else 0.45)
    return Subordinate(ref, conjunction, clause, fronted or must_lead)


def _fit(clause: Clause, conjunction: str) -> Clause:
    """Take out what a temporal or conditional clause cannot carry."""
    if conjunction in ("because", "although"):
        return clause
    timeless = tuple(
        adjunct for adjunct in clause.adjuncts if adjunct.slot not in ("time", "order", "freq")
    )
    if conjunction in ("before", "after"):
        clause = replace(clause, modal="", negated=False)
    return replace(
        clause, adjuncts=timeless, progressive=False, perfect=False,
        anterior=conjunction == "after",
    )  # fmt: skip


def _may_go_on(clause: Clause) -> bool:
    return clause.kind == "verb" and clause.complement is None and not clause.perfect


def _go_on(draw: Draw, clause: Clause) -> Clause:
    """Add "and ..." or "but ..."."""
    shares = draw.chance(0.5) and not (clause.negated or clause.modal or clause.progressive)
    shares = shares and clause.subject.kind != "asked" and clause.subject.is_human
    if not shares:
        word = "but" if draw.chance(0.45) else "and"
        then = draw_clause(draw, 1, clause.tense)
        return replace(clause, then=replace(then, perfect=False), then_word=word)
    target = clause.object
    if target is not None and target.kind == "noun" and draw.chance(0.6):
        assert target.noun is not None
        table = choices.verbs_on(target.noun)
        again = NounPhrase(
            draw.ref(), "pronoun", noun=target.noun, plural=target.plural, sex=target.sex
        )
        verb = draw.pick(table)
        while verb is clause.verb and len(table.items) > 1:
            verb = draw.pick(table)
        then = _verbal(draw, verb, 1, clause.tense, doer=clause.subject, target=again, plain=True)
    else:
        verb = draw.pick(choices.verbs_of(draw.pick(choices.SIMPLE_FRAMES)))
        while "person" not in verb.subjects or verb is clause.verb:
            verb = draw.pick(choices.verbs_of(draw.pick(choices.SIMPLE_FRAMES)))
        then = _verbal(draw, verb, 1, clause.tense, doer=clause.subject, plain=True)
    then = replace(then, progressive=False, perfect=False, preterite=clause.preterite)
    clause = replace(clause, topic="subject" if clause.topic == "object" else clause.topic)
    return replace(clause, then=then, then_word="and", shares_subject=True)


def _question(draw: Draw) -> Clause:
    asked = draw.pick(QUESTIONS)
    tense = draw.pick(TENSES)
    if asked == "yesno":
        return replace(draw_clause(draw, 1, tense, "verb"), question=asked)
    frame = {"what": "tr", "where": draw.pick(Table([("in", 1), ("st", 1), ("go", 1), ("tr", 1)]))}
    verb = draw.pick(choices.verbs_of(frame.get(asked, draw.pick(choices.SIMPLE_FRAMES))))
    while not _can_ask(verb, asked):
        verb = draw.pick(choices.verbs_of(verb.frame))
    doer = target = None
    if asked == "who":
        doer = NounPhrase(draw.ref(), "asked", sex="m")
    if asked == "what":
        target = NounPhrase(draw.ref(), "asked", sex="n")
    clause = _verbal(draw, verb, 1, tense, doer=doer, target=target)
    dropped = {"where": ("place", "goal"), "when": ("time", "freq", "order")}.get(asked, ())
    kept = tuple(item for item in clause.adjuncts if item.slot not in (*dropped, "attitude"))
    negated = clause.negated and asked in ("who", "why")
    return replace(clause, question=asked, adjuncts=kept, perfect=False, negated=negated)


def _can_ask(verb: Verb, asked: str) -> bool:
    if asked == "who":
        return "person" in verb.subjects
    if asked == "where":
        return "stat" not in verb.flags or verb.frame == "st"
    if asked == "what":
        is_direct = not (verb.en_preposition or verb.de_preposition or verb.ar_preposition)
        return is_direct and verb.de_case == "acc" and "person" not in verb.objects
    return True
