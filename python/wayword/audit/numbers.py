"""Numbers that differ: read by value on both sides, and compared.

In: words of a line and its language. Out: the numbers written with digits, each with the values it
may stand for, and the values of simple number words.
How: digits of any script; thousands and decimals by the habit of the language, or both ways when
it is not known; `3 million`, `10 万`, `85 000`; two digits may be a year of the 1900s. Number
words, names of months and Chinese numerals are never asked for, but they may answer for digits on
the other side. A version such as `1.13.1` or a date such as `26.1.2006` is compared part by part.
Cost: linear in the words.
Not: units, currencies, calendars, times of day.

>>> [sorted(number.values) for number in read_numbers("85 000 oder 1.200,5".split(), "de")]
[[85000.0], [1200.5]]
>>> unmatched("im Jahr 1998 kamen 12".split(), "in 1989 twelve came".split(), ("de", "en"))
([Number(at=2, values=frozenset({1998.0}))], [Number(at=1, values=frozenset({1989.0}))])
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from wayword.audit.finding import Candidate
from wayword.audit.text import AuditText
from wayword.audit.words import NUMERALS, SCALES, SPELLED, chinese_value

__all__ = ["Number", "find_numbers", "read_numbers", "unmatched"]

DIGITS = re.compile(r"\d+(?:[.,٫٬'’]\d+)*")
#: Languages that write 1.000,5; all others are taken to write 1,000.5.
COMMA = frozenset(
    [
        "de",
        "fr",
        "es",
        "it",
        "pt",
        "nl",
        "ru",
        "uk",
        "pl",
        "cs",
        "sk",
        "da",
        "nb",
        "no",
        "sv",
        "fi",
        "tr",
        "el",
        "hu",
        "ro",
        "bg",
        "hr",
        "sl",
        "id",
        "vi",
    ]
)
THOUSANDS = {
    True: re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?"),
    False: re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"),
}
DECIMAL = {True: re.compile(r"\d+,\d+"), False: re.compile(r"\d+\.\d+")}
#: Digits after letters name a thing and count nothing.
CODE = re.compile(r"[^\W\d_]+[-–]?\d")
#: A unit at the beginning of a word, as in `万元`.
EAST_ASIAN = re.compile("[多余餘数]?(百万|千万|[百千万萬億亿兆])")
DATE = ("年", "月", "日")
MYRIAD = 1e4  # from here on a unit may have smaller ones after it
LONGEST = 15  # digits; longer ones are codes, and compare as text would
YEARS_AD = range(500, 2100)
YEARS = range(20, 100)  # two digits that may be a year of the 1900s


@dataclass(frozen=True)
class Number:
    """A number written with digits: which word, and what it may be worth."""

    at: int
    values: frozenset[float]


def find_numbers(text: AuditText) -> Iterator[Candidate]:
    """One candidate for each line whose numbers do not match."""
    for line, (src, tgt) in enumerate(zip(text.src, text.tgt, strict=True)):
        if not any(map(_has_digit, src)) and not any(map(_has_digit, tgt)):
            continue
        src_left, tgt_left = unmatched(src, tgt, text.langs)
        if not src_left and not tgt_left:
            continue
        total = len(read_numbers(src, text.langs[0])) + len(read_numbers(tgt, text.langs[1]))
        features = (
            float(bool(src_left and tgt_left)),
            float(len(src_left) == len(tgt_left)),
            float(not src_left),
            float(min(len(src_left) + len(tgt_left), 6)),
            (len(src_left) + len(tgt_left)) / total,
            float(any(max(number.values) >= 100 for number in tgt_left)),
            float(any(max(number.values) >= 100 for number in src_left)),
            _dates(src, src_left),
            float(max((max(number.values) for number in tgt_left), default=0) in YEARS_AD),
        )
        places = [tuple(dict.fromkeys(n.at for n in left)) for left in (src_left, tgt_left)]
        yield Candidate(line, "number", places[0], places[1], features)


def unmatched(
    src: Sequence[str], tgt: Sequence[str], langs: tuple[str, str] = ("", "")
) -> tuple[list[Number], list[Number]]:
    """The numbers of each side that the other side does not have."""
    numbers = [read_numbers(words, lang) for words, lang in zip((src, tgt), langs, strict=True)]
    worth = [
        frozenset().union(*(number.values for number in side), spelled_values(words))
        for side, words in zip(numbers, (src, tgt), strict=True)
    ]
    left = [
        [number for number in side if not number.values & other]
        for side, other in zip(numbers, (worth[1], worth[0]), strict=True)
    ]
    return left[0], left[1]


def read_numbers(words: Sequence[str], lang: str = "") -> list[Number]:
    """The numbers that are written with digits, in order; not those of codes such as `B5`.

    >>> [sorted(number.values) for number in read_numbers("2 万 4801 COVID-19 26.8 万元".split())]
    [[2.0, 24801.0], [26.8, 268000.0]]
    """
    numbers: list[Number] = []
    at = 0
    while at < len(words):
        end, word = at + 1, _plain(words[at])
        if re.fullmatch(r"[1-9]\d{0,2}", word):
            while end < len(words) and re.fullmatch(r"\d00|\d{2}0|000", _plain(words[end])):
                word += _plain(words[end])
                end += 1
        scale = _scale(words, end)
        rest, after = _rest(words, end + 1) if scale >= MYRIAD else (0.0, end)
        for match in [] if CODE.match(word) else DIGITS.findall(word):
            for values in _readings(match, lang):
                scaled = {round(value * scale + rest, 6) for value in values}
                numbers.append(Number(at, frozenset(values | scaled)))
        at = max(after, end) if rest else end
    return numbers


def _scale(words: Sequence[str], at: int) -> float:
    """What the word at a place multiplies the number before it by."""
    if at >= len(words):
        return 1.0
    word = words[at].lower()
    if word in SCALES:
        return SCALES[word]
    begin = EAST_ASIAN.match(word)
    return SCALES[begin.group(1)] if begin else 1.0


def _rest(words: Sequence[str], at: int) -> tuple[float, int]:
    """What is added after a large East Asian unit, as in `9 万 8 千`, and where it ends."""
    if at < len(words) and re.fullmatch(r"\d{1,4}", _plain(words[at])):
        scale = _scale(words, at + 1)
        return float(_plain(words[at])) * scale, at + 1 + (scale > 1)
    return 0.0, at


def spelled_values(words: Sequence[str]) -> frozenset[float]:
    """What number words, months and Chinese numerals on a side may stand for."""
    values: set[float] = set()
    for word in words:
        parts = [SPELLED[part] for part in word.lower().split("-") if part in SPELLED]
        values.update(parts)
        if len(parts) > 1:
            values.add(sum(parts))
        values.update(chinese_value(numeral) for numeral in NUMERALS.findall(word))
    return frozenset(values)


def _readings(text: str, lang: str) -> list[set[float]]:
    """What a run of digits and separators may be worth; parts of a date or version on their own."""
    text = re.sub("['’]", "", text)
    if len(text) > LONGEST:
        return [{float(int(part[:LONGEST]))} for part in re.split("[.,]", text)]
    if text.isdigit():
        value = float(text)
        is_year = len(text) == 2 and int(text) in YEARS
        return [{value, 1900 + value} if is_year else {value}]
    habits = [lang.split("-", maxsplit=1)[0].lower() in COMMA] if lang else [True, False]
    for candidates in (habits, [True, False]):
        values = {v for comma in candidates if (v := _by_habit(text, comma)) is not None}
        if values:
            return [values]
    return [{float(part)} for part in re.split("[.,]", text)]


def _by_habit(text: str, comma: bool) -> float | None:
    """The value where the comma is the decimal sign, or the point."""
    if THOUSANDS[comma].fullmatch(text) or DECIMAL[comma].fullmatch(text):
        thousands, decimal = (".", ",") if comma else (",", ".")
        return float(text.replace(thousands, "").replace(decimal, "."))
    return None


def _dates(words: Sequence[str], numbers: Sequence[Number]) -> float:
    """The share of numbers before a word for year, month or day: calendars differ."""
    dates = sum(
        any(word in DATE for word in words[number.at + 1 : number.at + 2]) for number in numbers
    )
    return dates / len(numbers) if numbers else 0.0


def _has_digit(word: str) -> bool:
    return any(map(str.isdecimal, word))


def _plain(word: str) -> str:
    """The word with digits and separators of any script as those of ASCII."""
    if word.isascii():
        return word
    table = {"．": ".", "，": ",", "٫": ".", "٬": ","}
    return "".join(
        str(unicodedata.decimal(char)) if char.isdecimal() else table.get(char, char)
        for char in word
    )
