"""What goes with what: tables of entries that fit a place in the clause tree.

In: the lexicon. Out: cached `Table`s, by noun class, verb frame or the noun to be described.
How: an entry fits when its classes meet the wanted ones; its weight is its rank in its class.
Cost: each table is built once per process.
Not: the draws themselves, which are in `participants` and `world`.
"""

from __future__ import annotations

from functools import cache

from wayword.corpus.toy import entries
from wayword.corpus.toy.entries import Adjective, Adverb, Name, Noun, Verb
from wayword.corpus.toy.sampling import SHIFT, Table, zipf

PLACES = frozenset({"place", "building", "room"})
PERSON = frozenset({"person"})

# Unordered pairs written as (value, weight); the weights are per mille of the draws.
FRAMES = Table(
    [
        ("tr", 382),
        ("in", 145),
        ("st", 125),
        ("go", 130),
        ("fly", 40),
        ("di", 75),
        ("say", 70),
        ("ask", 8),
        ("inf", 25),
    ]
)
SIMPLE_FRAMES = Table([("tr", 470), ("in", 150), ("st", 110), ("go", 150), ("fly", 40), ("di", 80)])
RELATIVE_FRAMES = frozenset({"tr", "in", "st", "go", "fly"})


@cache
def _noun_weights() -> dict[Noun, float]:
    ranks: dict[str, int] = {}
    weights = {}
    for noun, row in zip(entries.nouns(), entries.read_rows("nouns"), strict=True):
        first = row["classes"].split(",")[0]
        ranks[first] = ranks.get(first, -1) + 1
        weights[noun] = 1 / (ranks[first] + SHIFT)
    return weights


@cache
def nouns_of(classes: frozenset[str]) -> Table[Noun]:
    """Nouns of any of these classes."""
    weights = _noun_weights()
    return Table((noun, weights[noun]) for noun in entries.nouns() if noun.classes & classes)


@cache
def names_of(kind: str) -> Table[Name]:
    """Names of people, cities or countries."""
    return zipf([name for name in entries.names() if name.kind == kind])


@cache
def adverbs_of(kind: str) -> Table[Adverb]:
    """Adverbs of one kind."""
    return zipf([adverb for adverb in entries.adverbs() if adverb.kind == kind])


@cache
def verbs_of(frame: str) -> Table[Verb]:
    """Verbs of one frame."""
    return zipf([verb for verb in entries.verbs() if verb.frame == frame])


@cache
def verbs_by(subject: Noun) -> Table[Verb]:
    """What this noun can do, for subject relative clauses."""
    fitting = [verb for verb in entries.verbs() if verb.subjects & subject.classes]
    return zipf([verb for verb in fitting if verb.frame in RELATIVE_FRAMES])


@cache
def verbs_on(target: Noun) -> Table[Verb]:
    """What can be done to this noun, for object relative clauses."""
    verbs = [verb for verb in entries.verbs() if verb.frame == "tr"]
    return zipf([verb for verb in verbs if verb.objects & target.classes])


@cache
def qualities_of(noun: Noun) -> Table[Adjective]:
    """Adjectives that make sense for this noun."""
    return zipf([word for word in entries.adjectives() if word.classes & noun.classes])


@cache
def describable(classes: frozenset[str]) -> Table[Noun]:
    """Nouns that have at least one adjective."""
    table = nouns_of(classes)
    return Table((noun, _noun_weights()[noun]) for noun in table.items if qualities_of(noun))
