"""Draws the adverbials of a verbal clause: when, how often, how, where, with whom.

In: a `Draw` and the clause so far. Out: a tuple of `Adjunct`.
How: each slot is filled with its own probability if the verb and tense allow it.
Cost: one random number per slot.
Not: adverbial clauses, which are in `world`.
"""

from __future__ import annotations

from dataclasses import dataclass

from wayword.corpus.toy import choices
from wayword.corpus.toy.entries import Verb
from wayword.corpus.toy.participants import attribute, pronoun
from wayword.corpus.toy.sampling import Draw, Table
from wayword.corpus.toy.tree import Adjunct, NounPhrase

PLACE_DETERMINERS = Table([("the", 22), ("a", 8), ("this", 38), ("that", 14), ("owned", 18)])
EVENT_DETERMINERS = Table([("the", 30), ("this", 50), ("that", 20)])
KNOWN = frozenset({"the", "this", "that", "owned"})
OWNED_PLACES = frozenset({"room", "home", "org"})
SMALL_PLACES = frozenset({"room", "building", "place"})


@dataclass(frozen=True, slots=True)
class Frame:
    """What is known of a clause when its adverbials are drawn."""

    verb: Verb
    doer: NounPhrase
    target: NounPhrase | None
    tense: str
    progressive: bool
    negated: bool
    has_modal: bool
    depth: int
    plain: bool


def draw_adjuncts(draw: Draw, frame: Frame) -> tuple[Adjunct, ...]:
    """All adverbials of one clause; a plain clause gets only what its verb needs."""
    adjuncts = []
    needed = _needed(draw, frame)
    if needed is not None:
        adjuncts.append(needed)
    if frame.plain:
        return tuple(adjuncts)
    when = _when(draw, frame)
    if when is not None:
        adjuncts.append(when)
    if "stat" not in frame.verb.flags and frame.verb.frame in ("tr", "in", "go", "fly"):
        adjuncts.extend(_circumstances(draw, frame, needed is not None))
    if frame.depth == 0 and not frame.negated and draw.chance(0.07):
        adjuncts.append(_adverb(draw, "attitude", "attitude"))
    if _may_join(frame) and draw.chance(0.16):
        adjuncts.append(_adverb(draw, "also", "also"))
    return tuple(adjuncts)


def _may_join(frame: Frame) -> bool:
    """Whether "also" may say that this subject is not the only one."""
    is_known = frame.doer.kind in ("name", "pronoun") or frame.doer.determiner in KNOWN
    return is_known and frame.depth == 0 and not (frame.negated or frame.has_modal)


def _adverb(draw: Draw, slot: str, kind: str) -> Adjunct:
    return Adjunct(draw.ref(), slot, adverb=draw.pick(choices.adverbs_of(kind)))


def _needed(draw: Draw, frame: Frame) -> Adjunct | None:
    kind = frame.verb.frame
    if kind == "st":
        return Adjunct(draw.ref(), "place", relation="in", phrase=draw_place(draw))
    if kind == "go":
        return Adjunct(draw.ref(), "goal", relation="to", phrase=draw_place(draw))
    if kind == "fly":
        place = _city(draw, "city" if draw.chance(0.6) else "country")
        return Adjunct(draw.ref(), "goal", relation="to", phrase=place)
    return None


def _when(draw: Draw, frame: Frame) -> Adjunct | None:
    is_habit = frame.tense == "present" and not frame.progressive
    may_repeat = "stat" not in frame.verb.flags or frame.verb.frame == "tr"
    may_repeat = may_repeat and is_habit and not (frame.negated or frame.has_modal)
    if may_repeat and draw.chance(0.3):
        return _adverb(draw, "freq", "freq")
    if not draw.chance(0.5 if frame.depth == 0 else 0.3) or (
        frame.tense == "present" and "stat" in frame.verb.flags
    ):
        return None
    if frame.tense != "future" and draw.chance(0.1):
        event = draw.pick(choices.nouns_of(frozenset({"event"})))
        phrase = NounPhrase(draw.ref(), "noun", noun=event, determiner=draw.pick(EVENT_DETERMINERS))
        relation = "before" if draw.chance(0.4) else "after"
        return Adjunct(draw.ref(), "order", relation=relation, phrase=phrase)
    if is_habit and not frame.has_modal:
        return _adverb(draw, "time", "habit")
    return _adverb(draw, "time", "now" if frame.tense == "present" else frame.tense)


def _circumstances(draw: Draw, frame: Frame, has_place: bool) -> list[Adjunct]:
    adjuncts = []
    target = frame.target.noun if frame.target is not None else None
    at_place = target is not None and bool(target.classes & SMALL_PLACES)
    if not (has_place or at_place) and draw.chance(0.28):
        if draw.chance(0.2):
            adjuncts.append(_adverb(draw, "place", "place"))
        else:
            adjuncts.append(Adjunct(draw.ref(), "place", relation="in", phrase=draw_place(draw)))
    if not frame.negated and draw.chance(0.2):
        adjuncts.append(_adverb(draw, "manner", "manner"))
    elif frame.doer.is_human and frame.verb.frame != "tr" and draw.chance(0.12):
        relation = "with" if draw.chance(0.8) else "without"
        adjuncts.append(
            Adjunct(draw.ref(), "company", relation=relation, phrase=_person(draw, frame))
        )
    elif "benefit" in frame.verb.flags and draw.chance(0.25):
        adjuncts.append(Adjunct(draw.ref(), "benefit", relation="for", phrase=_person(draw, frame)))
    return adjuncts


def _person(draw: Draw, frame: Frame) -> NounPhrase:
    """Somebody close to the doer."""
    if draw.chance(0.3):
        name = draw.pick(choices.names_of("person"))
        return NounPhrase(draw.ref(), "name", name=name, sex=name.sex)
    ref = draw.ref()
    kin = draw.pick(choices.nouns_of(frozenset({"kin"})))
    doer = frame.doer
    if doer.second is not None or doer.kind in ("asked", "gap"):
        return NounPhrase(ref, "noun", noun=kin, sex=kin.ar_gender, determiner="the")
    owner = NounPhrase(draw.ref(), "pronoun", person=doer.person, plural=doer.plural, sex=doer.sex)
    plural = draw.chance(0.2) and "sole" not in kin.classes
    return NounPhrase(
        ref, "noun", noun=kin, plural=plural, sex=kin.ar_gender, determiner="owned", owner=owner
    )


def _city(draw: Draw, kind: str) -> NounPhrase:
    return NounPhrase(draw.ref(), "name", name=draw.pick(choices.names_of(kind)))


def draw_place(draw: Draw) -> NounPhrase:
    """A city, or a building, room or place outside."""
    if draw.chance(0.5):
        return _city(draw, "city")
    site = draw.pick(choices.nouns_of(choices.PLACES))
    determiner = draw.pick(PLACE_DETERMINERS)
    if determiner == "owned" and not site.classes & OWNED_PLACES:
        determiner = "this"
    quality = None
    if draw.chance(0.2):
        quality = attribute(draw, site)
    owner = pronoun(draw) if determiner == "owned" else None
    return NounPhrase(
        draw.ref(), "noun", noun=site, sex=site.ar_gender,
        determiner=determiner, owner=owner, quality=quality,
    )  # fmt: skip
