"""Number words that are simple enough to be trusted.

Values of number words and months in English and German, words that multiply the number before
them, and Chinese numerals, which Japanese shares.
Not: other languages; there only digits are compared.

>>> chinese_value("三百二十"), chinese_value("二〇一六"), chinese_value("十万")
(320.0, 2016.0, 100000.0)
"""

import re

__all__ = ["NUMERALS", "SCALES", "SPELLED", "chinese_value"]

_UNITS = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen",
    "ordinals": "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh "
    "twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn "
    "fünfzehn sechzehn siebzehn achtzehn neunzehn",
    "times": "never once twice",
}
_TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "ordinals": "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth",
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
}
_MONTHS = {
    "en": "january february march april may june july august september october november december",
    "short": "jan feb mar apr may jun jul aug sep oct nov dec",
    "de": "januar februar märz april mai juni juli august september oktober november dezember",
}

#: Words that have a value of their own.
SPELLED: dict[str, float] = {
    "a": 1, "an": 1, "ein": 1, "eine": 1, "einen": 1, "einem": 1, "einer": 1, "eines": 1,
    "single": 1, "both": 2, "beide": 2, "beiden": 2, "double": 2, "half": 0.5, "dozen": 12,
    "hundred": 100, "hundert": 100, "thousand": 1000, "tausend": 1000,
    **{w: float(n) for line in _UNITS.values() for n, w in enumerate(line.split())},
    **{w: 10.0 * n for line in _TENS.values() for n, w in enumerate(line.split(), 2)},
    **{w: float(n) for line in _MONTHS.values() for n, w in enumerate(line.split(), 1)},
}  # fmt: skip

#: Words that multiply the number before them.
SCALES: dict[str, float] = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "millions": 1e6, "billion": 1e9,
    "trillion": 1e12, "tausend": 1e3, "mio": 1e6, "mio.": 1e6, "millionen": 1e6, "milliarde": 1e9,
    "milliarden": 1e9, "mrd": 1e9, "mrd.": 1e9, "百": 1e2, "千": 1e3, "万": 1e4, "萬": 1e4,
    "億": 1e8, "亿": 1e8, "兆": 1e12, "百万": 1e6, "千万": 1e7,
}  # fmt: skip

_DIGITS = {char: value for value, char in enumerate("〇一二三四五六七八九")} | {
    "零": 0,
    "两": 2,
    "兩": 2,
}
_POWERS = {"十": 10, "百": 100, "千": 1000}
_GROUPS = {"万": 10**4, "萬": 10**4, "億": 10**8, "亿": 10**8, "兆": 10**12}

#: A Chinese numeral inside a word.
NUMERALS = re.compile(f"[{''.join([*_DIGITS, *_POWERS, *_GROUPS])}]{{1,16}}")


def chinese_value(numeral: str) -> float:
    """The value of a Chinese numeral."""
    if all(char in _DIGITS for char in numeral):
        return float("".join(str(_DIGITS[char]) for char in numeral))
    total = group = digit = 0
    for char in numeral:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char in _POWERS:
            group, digit = group + (digit or 1) * _POWERS[char], 0
        else:
            total, group, digit = total + ((group + digit) or 1) * _GROUPS[char], 0, 0
    return float(total + group + digit)
