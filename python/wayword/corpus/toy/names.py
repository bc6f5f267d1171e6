"""Sentences of the toy world with names that nobody has heard: text with words never seen.

In: Arabic and English sentences of the toy world, a seed. Out: the same with new names, which are
written with the letters of Urdu on the one side and of English on the other.
How: a name is two or three syllables, drawn anew each time. A table gives every sound a letter; as
in Urdu, the short vowel a is written only where a word begins or ends with it, and one letter
stands for several sounds, so that the English spelling can be guessed and not known.
Cost: some microseconds a name.
Not: names or the spelling of any real language.

>>> written("karimu"), written("ashovela")
('کریمو', 'اشوویلا')
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from wayword.corpus.toy.entries import names
from wayword.corpus.toy.pair import ToyPair
from wayword.corpus.toy.sampling import Draw, Table, zipf

#: Sounds and their letters; longer ones first, because they are looked for in this order.
LETTERS = {
    **{"sh": "ش", "ch": "چ", "kh": "خ"},
    **{"b": "ب", "p": "پ", "t": "ت", "j": "ج", "d": "د", "r": "ر", "z": "ز", "s": "س", "f": "ف"},
    **{"k": "ک", "g": "گ", "l": "ل", "m": "م", "n": "ن", "v": "و", "h": "ہ", "y": "ی"},
    **{"i": "ی", "e": "ی", "o": "و", "u": "و", "a": ""},
}
EDGE = "ا"  # what is written for a at the beginning and at the end
ONSETS = zipf([sound for sound in LETTERS if sound not in {*"aeiou"}])
VOWELS = Table([("a", 45), ("i", 25), ("u", 20), ("o", 5), ("e", 5)])
#: How often a name has no first consonant, has a third syllable, and is not of the toy world.
OPEN, LONG, NEW = 0.2, 0.6, 0.9


def new_names(known: Iterator[ToyPair], seed: int) -> Iterator[ToyPair]:
    """The same pairs, most of their names replaced by new ones on both sides."""
    draw = Draw(seed)
    english = {name.ar: name.en for name in names()}
    for pair in known:
        src, tgt = list(pair.src), list(pair.tgt)
        for place, word in enumerate(pair.src):
            there = [tgt_place for src_place, tgt_place in pair.links if src_place == place]
            is_name = word in english and [pair.tgt[at] for at in there] == [english[word]]
            if is_name and draw.chance(NEW):
                name = _name(draw)
                src[place], tgt[there[0]] = written(name), name.capitalize()
        yield replace(pair, src=tuple(src), tgt=tuple(tgt))


def _name(draw: Draw) -> str:
    syllables = [
        draw.pick(ONSETS) + draw.pick(VOWELS) for _ in range(3 if draw.chance(LONG) else 2)
    ]
    if draw.chance(OPEN):
        syllables.insert(0, draw.pick(VOWELS))
    return "".join(syllables)


def written(name: str) -> str:
    """A name in the letters of Urdu."""
    letters, at = [EDGE] if name[0] in "aeiou" else [], 0
    while at < len(name):
        sound = next(sound for sound in LETTERS if name.startswith(sound, at))
        letters.append(LETTERS[sound])
        at += len(sound)
    return "".join([*letters, EDGE] if name.endswith("a") else letters)
