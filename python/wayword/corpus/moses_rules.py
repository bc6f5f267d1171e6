"""Splits text into words as Moses' tokeniser does.

In: text and its language. Out: tokens, as sacremoses gives them without escaping (a test compares
them on text in all its languages). How: a chain of substitutions: signs stand alone, commas unless
in a number, apostrophes by language, full stops unless the word is known to keep its own. The facts
stand in `moses.txt`; patterns are made once a language.
Cost: linear; a few milliseconds for the patterns, where importing sacremoses takes a third of a
second. Not: escaping, aggressive hyphens, joining.
"""

import re
from functools import cache
from pathlib import Path

__all__ = ["MosesRules", "moses_rules", "nonbreaking_prefixes"]

SPACES = re.compile(r"\s+")
CONTROLS = re.compile(r"[\x00-\x1f]")
DOTS = re.compile(r"\.{2,}")
#: Stands for a dot in a run of dots. Controls are gone by then, so no text has it.
DOT = "\x01"
LAST_STOP = re.compile(r"\.' ?$")
NUMBER = re.compile(r"[0-9]")


class MosesRules:
    """The rules of one language."""

    def __init__(self, lang: str) -> None:
        facts = _facts()
        alnum, alpha, digit = (_class(facts[name]) for name in ("IsAlnum", "IsAlpha", "IsN"))
        self._letters = _members(facts["IsAlpha"])
        self._lower = _members(facts["IsLower"])
        self._keeps_stop, self._keeps_stop_before_number = nonbreaking_prefixes(lang)
        self._signs = re.compile(rf"([^{alnum}\s.'`,\-])")
        self._commas = [
            (re.compile(rf"([^{digit}]),"), r"\1 , "),
            (re.compile(rf",([^{digit}])"), r" , \1"),
            (re.compile(rf"([{digit}]),$"), r"\1 , "),
        ]
        self._apostrophes = [
            (re.compile(pattern), replacement)
            for pattern, replacement in _apostrophes(lang, alpha, digit)
        ]

    def split(self, text: str) -> list[str]:
        """The tokens of a text."""
        text = CONTROLS.sub("", SPACES.sub(" ", text)).strip()
        text = self._signs.sub(r" \1 ", text)
        end = len(text)
        text = DOTS.sub(
            lambda run: f" {DOT * len(run[0])}" + (" " if run.end() < end else ""), text
        )
        if "," in text:
            for pattern, replacement in self._commas:
                text = pattern.sub(replacement, text)
        if "'" in text:
            for pattern, replacement in self._apostrophes:
                text = pattern.sub(replacement, text)
        text = " ".join(self._stops(text.split()))
        return LAST_STOP.sub(" . ' ", text).replace(DOT, ".").split()

    def _stops(self, tokens: list[str]) -> list[str]:
        """Take full stops off the words that do not keep them."""
        for at, token in enumerate(tokens):
            if len(token) < 2 or token[-1] != ".":
                continue
            word = token[:-1]
            following = tokens[at + 1] if at + 1 < len(tokens) else ""
            if not (
                ("." in word and not self._letters.isdisjoint(word))
                or word in self._keeps_stop
                or following[:1] in self._lower
                or (word in self._keeps_stop_before_number and NUMBER.match(following))
            ):
                tokens[at] = f"{word} ."
        return tokens


@cache
def moses_rules(lang: str) -> MosesRules:
    """The rules of a language, made when first asked for."""
    return MosesRules(lang)


@cache
def nonbreaking_prefixes(lang: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the abbreviations that keep their full stop: always, and before numbers only.

    Both are empty for a language without a list in Moses.

    >>> "Dr" in nonbreaking_prefixes("de")[0], "No" in nonbreaking_prefixes("en")[1]
    (True, True)
    """
    always, _, before_number = _facts().get(lang, "").partition("\t")
    return frozenset(always.split()), frozenset(before_number.split())


@cache
def _facts() -> dict[str, str]:
    """The lines of the file of facts, by their first field."""
    text = Path(__file__).with_name("moses.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: facts for name, _, facts in (line.partition("\t") for line in lines)}


def _bounds(ranges: str) -> list[tuple[int, int]]:
    pairs = [one.partition("-") for one in ranges.split()]
    return [(int(first, 16), int(last or first, 16)) for first, _, last in pairs]


def _class(ranges: str) -> str:
    """Ranges of code points as the inside of a regular expression's class."""
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in _bounds(ranges))


@cache
def _members(ranges: str) -> frozenset[str]:
    return frozenset(chr(n) for first, last in _bounds(ranges) for n in range(first, last + 1))


def _apostrophes(lang: str, alpha: str, digit: str) -> list[tuple[str, str]]:
    """What happens to apostrophes.

    In English they go with what follows, in French and Italian with what they end; in other
    languages they stand alone.
    """
    if lang == "en":
        return [
            (rf"([^{alpha}])'([^{alpha}])", r"\1 ' \2"),
            (rf"([^{alpha}{digit}])'([{alpha}])", r"\1 ' \2"),
            (rf"([{alpha}])'([^{alpha}])", r"\1 ' \2"),
            (rf"([{alpha}])'([{alpha}])", r"\1 '\2"),
            (rf"([{digit}])'(s)", r"\1 '\2"),
        ]
    if lang in {"fr", "it"}:
        return [
            (rf"([^{alpha}])'([^{alpha}])", r"\1 ' \2"),
            (rf"([^{alpha}])'([{alpha}])", r"\1 ' \2"),
            (rf"([{alpha}])'([^{alpha}])", r"\1 ' \2"),
            (rf"([{alpha}])'([{alpha}])", r"\1' \2"),
        ]
    return [("'", " ' ")]
