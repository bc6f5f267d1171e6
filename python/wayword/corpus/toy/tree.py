"""The clause tree: what a sentence says, before any language says it.

In: drawn by `world`. Out: read by the four realisers.
How: frozen records. Every node has a number `ref`; `marks`, added to it, name the parts of the
node's meaning (its words, its determiner, its negation ...).
Cost: nothing of note.
Not: word order, except where a writer has a choice (`topic`, `verb_first`, `plain`).
"""

from __future__ import annotations

from dataclasses import dataclass

from wayword.corpus.toy.entries import Adjective, Adverb, Name, Noun, Verb


@dataclass(frozen=True, slots=True)
class Quality:
    """An adjective in use, perhaps with "very"."""

    ref: int
    adjective: Adjective
    is_very: bool


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A participant.

    `kind` is noun, name, pronoun, asked (who, what) or gap (the place a relative clause leaves).
    `determiner` is the, a, this, that, owned, bare, many, some, all, three, four or five.
    `noun` is also set for pronouns and gaps that stand for a thing, since it decides gender.
    """

    ref: int
    kind: str
    noun: Noun | None = None
    name: Name | None = None
    person: int = 3
    plural: bool = False
    sex: str = "n"
    determiner: str = "bare"
    owner: NounPhrase | None = None
    quality: Quality | None = None
    relative: Clause | None = None
    second: NounPhrase | None = None

    @property
    def is_plural(self) -> bool:
        """Whether the verb sees more than one."""
        return self.plural or self.second is not None

    @property
    def is_human(self) -> bool:
        """Whether this is a person, also when only a name or pronoun is given."""
        return self.noun is None or self.noun.is_human


@dataclass(frozen=True, slots=True)
class Adjunct:
    """An adverbial: an adverb, or a relation and a noun phrase.

    `slot` is time, freq, manner, place, goal, company, benefit, order, attitude or also;
    `relation` is in, to, with, without, for, before or after.
    """

    ref: int
    slot: str
    adverb: Adverb | None = None
    relation: str = ""
    phrase: NounPhrase | None = None


@dataclass(frozen=True, slots=True)
class Subordinate:
    """An adverbial clause: because, although, when, if, before, after or while."""

    ref: int
    conjunction: str
    clause: Clause
    fronted: bool


@dataclass(frozen=True, slots=True)
class Clause:
    """A predication.

    `kind` is verb, quality ("is new"), identity ("is a teacher") or existence ("there is").
    `question` is empty, yesno, who, what, where, when or why.
    `topic` is subject, time, place or object: what a verb-second language puts first.
    `plain` is the plain style of a language that also has a polite one.
    `gap` is subject or object inside a relative clause.
    """

    ref: int
    kind: str
    subject: NounPhrase
    tense: str
    verb: Verb | None = None
    object: NounPhrase | None = None
    receiver: NounPhrase | None = None
    quality: Quality | None = None
    identity: NounPhrase | None = None
    adjuncts: tuple[Adjunct, ...] = ()
    complement: Clause | None = None
    modal: str = ""
    negated: bool = False
    progressive: bool = False
    perfect: bool = False
    anterior: bool = False
    preterite: bool = False
    question: str = ""
    topic: str = "subject"
    verb_first: bool = False
    plain: bool = False
    gap: str = ""
    subordinate: Subordinate | None = None
    then: Clause | None = None
    then_word: str = ""
    shares_subject: bool = False

    def adjunct(self, slot: str) -> Adjunct | None:
        """The adverbial in this slot, if any."""
        for adjunct in self.adjuncts:
            if adjunct.slot == slot:
                return adjunct
        return None
