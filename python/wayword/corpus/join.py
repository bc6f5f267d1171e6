"""Joins tokens to a line, by the rules of punctuation.

In: tokens and their language. Out: a line.
How: two tokens touch where punctuation of the language asks for it and where splitting would part
them again; quotation marks are paired; Chinese and Japanese have no spaces.
Cost: linear.
Not: what tokens do not say: where a writer left a space out or put one too many.
"""

import re
from collections.abc import Sequence
from functools import cache

from wayword.corpus.split import APOSTROPHES, CJK, CJK_PUNCTUATION, CONNECTORS, JOINERS, marks

__all__ = ["join", "join_moses", "join_none"]

CLOSING = frozenset(")]}»›”’,.;:!?%‰℃℉…،؛؟٪।॥۔։")
JOINING = frozenset("/°–")
BRACKETS = frozenset("()[]")
CURRENCY = frozenset("$£¥€")
SIDES = dict.fromkeys("([{¿¡#@（［｛「『【〈《〔", "open") | dict.fromkeys("/°", "both")
BEFORE_DIGITS = dict.fromkeys([*CURRENCY, *"≥≤±~"], "open") | {"–": "both"}
QUOTES = {'"': '"', "'": "'", "„": "“”", "‚": "‘’", "“": "”", "‘": "’", "«": "»", "‹": "›"}
LOW_QUOTES = frozenset({"bg", "cs", "da", "de", "et", "hr", "is", "lt", "sk", "sl", "sr"})
SAME_QUOTES = frozenset({"fi", "sv"})
SPACED_UNITS = frozenset({"cs", "da", "de", "es", "fi", "fr", "nb", "no", "ru", "sk", "sv", "uk"})
FRENCH_SPACE = frozenset("«»‹›;:!?")  # French has a space on the inner side of these
UNSPACED = frozenset({"zh", "cmn", "yue", "ja"})
WIDE_TOO = frozenset("“”‘’—…‥·×")  # as wide as the rest, in text of these languages
WIDE = re.compile(f"[{CJK}{CJK_PUNCTUATION}]")
LETTER = re.compile(rf"[^\W{CJK}]")


@cache
def _quotes(lang: str) -> dict[str, str]:
    """Opening quotation marks of a language, each with the marks that may close it."""
    if lang in LOW_QUOTES:  # „so“ or »so«, and «so» in Switzerland
        kept = {mark: ends for mark, ends in QUOTES.items() if mark not in "“‘"}
        return kept | {"»": "«", "›": "‹"}
    return QUOTES | {"”": "”"} if lang in SAME_QUOTES else QUOTES


@cache
def _clinging() -> re.Pattern[str]:
    return re.compile(f"[{marks()}{JOINERS}]")


def _is_inside(char: str) -> bool:
    """Whether a character can be the end of a word."""
    return bool(LETTER.match(char) or _clinging().match(char))


class _Joiner:
    """Builds one line; two tokens touch only where splitting would part them again."""

    def __init__(self, lang: str) -> None:
        self._lang = lang
        self._pieces: list[str] = []
        self._ends: list[str] = []  # what closes the quotations now open
        self._singles = 0  # straight single quotes still to come
        self._left = self._left_side = ""
        self._before = ""  # the character that touches the left token, if one does
        self._in_address = False

    def line(self, tokens: Sequence[str]) -> str:
        self._singles = tokens.count("'")
        for at, token in enumerate(tokens):
            side = self._side(token, tokens[at + 1] if at + 1 < len(tokens) else "")
            touches = bool(self._pieces) and self._touches(token, side)
            self._before = self._left[-1] if touches else ""
            is_address = "://" in token or token[:3].lower() == "www"
            self._in_address = is_address or (touches and self._in_address)
            self._pieces += [token] if touches or not self._pieces else [" ", token]
            self._left, self._left_side = token, side
        return "".join(self._pieces)

    def _side(self, token: str, after: str) -> str:
        """Whom a token wants to touch: ``open`` means its right neighbour, ``close`` its left."""
        quote = self._quote(token)
        if self._lang == "fr" and token in FRENCH_SPACE:
            return "close" if {token, self._left[-1:]} <= {"?", "!"} else ""
        if token in BEFORE_DIGITS:
            return BEFORE_DIGITS[token] if after[:1].isdigit() and self._is_tight(token) else ""
        if quote or (token == "%" and self._lang in SPACED_UNITS):
            return quote
        if token in BRACKETS and self._lang in UNSPACED:
            return "both"
        return SIDES.get(token) or ("close" if CLOSING.issuperset(token) else "")

    def _is_tight(self, sign: str) -> bool:
        """Whether a sign before a number stands without a space."""
        if sign == "–":
            return self._left[-1:].isdigit()
        return sign not in CURRENCY or self._lang not in SPACED_UNITS

    def _quote(self, token: str) -> str:
        starts = _quotes(self._lang)
        self._singles -= token == "'"
        if self._ends and token in self._ends[-1]:
            self._ends.pop()
            return "close"
        if token == "'" and self._left[-1:] == "s" and self._singles % 2 == 0:
            return "close"  # the dogs' tails
        if token in starts:
            self._ends.append(starts[token])
            return "open"
        return ""

    def _touches(self, token: str, side: str) -> bool:
        is_plain = not (side or self._left_side) and token.isascii() and self._left.isascii()
        if is_plain or _clinging().match(token) or self._would_melt(token):
            return False
        if self._is_wide(token):
            return True
        if "both" in {side, self._left_side} and self._in_address:
            return False
        if side == "both" and token not in CLOSING and not _is_inside(self._left[-1]):
            return self._left_side == "open"
        if self._left in JOINING and not self._before and side != "close":
            return False
        is_time = self._left == ":" and self._before.isdigit() and token[0].isdigit()
        wants = side in {"close", "both"} or self._left_side in {"open", "both"}
        return wants or (is_time and not self._in_address)

    def _would_melt(self, token: str) -> bool:
        """Whether the left token would become the inside of a word, as in ``it's`` and ``3.5``."""
        is_between = _is_inside(self._before) and LETTER.match(token)
        return self._left in CONNECTORS and bool(is_between)

    def _is_wide(self, token: str) -> bool:
        """Whether the two tokens meet as CJK does, without a space."""
        if self._lang == "ja" and "-" in {self._left, token}:
            return False  # a lone hyphen stands apart
        left = self._left[0 if _clinging().match(self._left[-1]) else -1]
        also = WIDE_TOO if self._lang in UNSPACED else frozenset[str]()
        wide = [WIDE.match(char) is not None or char in also for char in (left, token[0])]
        return any(wide) if self._lang in UNSPACED else all(wide)


def join(tokens: Sequence[str], lang: str) -> str:
    """The line of these tokens, by the punctuation of the language."""
    return _Joiner(lang).line(tokens)


def join_none(tokens: Sequence[str], _lang: str) -> str:
    """The tokens with a space between them."""
    return " ".join(tokens)


ELIDING = frozenset({"fr", "ga", "it"})
TAILS = frozenset({"s", "t", "d", "m", "n", "re", "ve", "ll"})  # of don’t, we’ll, geht’s


def join_moses(tokens: Sequence[str], lang: str) -> str:
    """Mend the words that Moses splits at an apostrophe, then join: ``don 't``, ``l' eau``."""
    words: list[str] = []
    sticks = False  # whether the last word wants what follows
    for at, token in enumerate(tokens):
        left = words[-1] if words else ""
        after = tokens[at + 1] if at + 1 < len(tokens) else ""
        if sticks and token[0].isalpha():
            words[-1] += token
            sticks = False
        elif left[-1:].isalpha() and _is_tail(token, left, after, lang):
            words[-1] += token
            sticks = token in APOSTROPHES
        else:
            words.append(token)
            sticks = lang in ELIDING and len(token) > 1 and token[-1] in APOSTROPHES
    return join(words, lang)


def _is_tail(token: str, left: str, after: str, lang: str) -> bool:
    if token in APOSTROPHES:
        is_elision = lang in ELIDING and (len(left) < 3 or left.endswith("qu"))
        return after in TAILS or (is_elision and after[:1].isalpha())
    return token[0] in APOSTROPHES and token[1:].isalpha()
