"""Turns lines of text into tokens, and tokens into lines again.

In: a line, or many. Out: ``list[str]``; no token is empty or holds whitespace.
How: drop invisible characters, compose (NFC), split with the tokenizer of the language, then set
the case. One ``Preparation`` says all of it and is part of a system, so that training and
translation cannot differ. Joining follows the punctuation, whichever tokenizer did the splitting.
Cost: linear; tokenizers are built once a process, when first used.
Not: sentence splitting, subwords, and words of Thai, Lao, Khmer or Burmese.

>>> german = Preparation("de")
>>> german
Preparation(lang='de', tokenizer='moses', case='keep', nfc=True)
>>> tokens = german.prepare("Er sagte: „Ja, z. B. heute.“")
>>> " ".join(tokens)
'Er sagte : „ Ja , z. B. heute . “'
>>> german.restore(tokens)
'Er sagte: „Ja, z. B. heute.“'
"""

import importlib
import importlib.util
import re
import threading
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any, NamedTuple

from wayword.corpus.truecase import Truecaser, lower
from wayword.errors import ArgumentError

__all__ = ["CASES", "TOKENIZERS", "Preparation", "RoundTrip", "Tokenizer", "round_trip"]

CASES = {
    "keep": "as it is",
    "lower": "all lower case",
    "truecase": "first words as elsewhere; `fit` learns how",
}


@dataclass(frozen=True)
class Preparation:
    """How a text is made ready; ``tokenizer="auto"`` becomes the name of the one chosen."""

    lang: str
    tokenizer: str = "auto"
    case: str = "keep"
    nfc: bool = True
    truecaser: Truecaser | None = field(default=None, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        """Check the options and choose the tokenizer, before any long work."""
        if not re.fullmatch(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]+)*", self.lang):
            raise ArgumentError(f"lang: found `{self.lang}`; expected a code such as `de`, `pt-BR`")
        _known("case", self.case, CASES)
        _known("tokenizer", self.tokenizer, ["auto", *TOKENIZERS])
        if not isinstance(self.nfc, bool):
            raise ArgumentError(f"nfc: found `{self.nfc}`; expected true or false")
        object.__setattr__(self, "tokenizer", _resolve(self.tokenizer, _primary(self.lang)))

    def fit(self, lines: Iterable[str]) -> "Preparation":
        """Learn what must be learned from text, the truecaser; other cases need nothing."""
        if self.case != "truecase":
            return self
        tokens = map(self._split, lines)
        return replace(self, truecaser=Truecaser.fit(tokens, lang=_primary(self.lang)))

    def prepare(self, line: str) -> list[str]:
        """The tokens of a line."""
        tokens = self._split(line)
        if self.case == "lower":
            return self._composed(lower(" ".join(tokens), _primary(self.lang))).split()
        return self._caser().apply(tokens) if self.case == "truecase" else tokens

    def restore(self, tokens: Sequence[str]) -> str:
        """The line that tokens stand for."""
        if self.case == "truecase":
            tokens = self._caser().restore(tokens)
        return TOKENIZERS[self.tokenizer].join(tokens, _primary(self.lang))

    def prepare_all(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """The tokens of each line, one line at a time."""
        return map(self.prepare, lines)

    def restore_all(self, sentences: Iterable[Sequence[str]]) -> Iterator[str]:
        """The line of each token list, one at a time."""
        return map(self.restore, sentences)

    def to_dict(self) -> dict[str, Any]:
        """The options as plain values; the truecaser has a file of its own."""
        return {option.name: getattr(self, option.name) for option in _options()}

    @classmethod
    def from_dict(
        cls, options: dict[str, Any], *, truecaser: Truecaser | None = None
    ) -> "Preparation":
        """The preparation that ``to_dict`` described."""
        names = [option.name for option in _options()]
        for name in options:
            _known("preparation", name, names)
        if "lang" not in options:
            raise ArgumentError("preparation: no `lang`; expected a code such as `de`")
        return cls(**options, truecaser=truecaser)

    def _split(self, line: str) -> list[str]:
        if self.tokenizer != "none":
            line = _visible(line)
        return TOKENIZERS[self.tokenizer].split(self._composed(line), _primary(self.lang))

    def _composed(self, text: str) -> str:
        return unicodedata.normalize("NFC", text) if self.nfc else text

    def _caser(self) -> Truecaser:
        if self.truecaser is None:
            advice = "call `fit` with training text, or give `truecaser`"
            raise ArgumentError(f"case: `truecase` without a truecaser; {advice}")
        return self.truecaser


def _options() -> list[Any]:
    return [option for option in fields(Preparation) if option.name != "truecaser"]


def _known(option: str, value: str, known: Iterable[str]) -> None:
    if value not in known:
        raise ArgumentError(f"{option}: found `{value}`; expected one of {', '.join(known)}")


def _primary(lang: str) -> str:
    """The language without its region: ``pt-BR`` is ``pt``."""
    return re.split("[-_]", lang, maxsplit=1)[0].lower()


# --- how well it comes back ----------------------------------------------------------------------


@dataclass(frozen=True)
class RoundTrip:
    """How many lines come back as they were, and some that do not, with what came back."""

    lines: int
    exact: int
    examples: tuple[tuple[str, str], ...]

    @property
    def share(self) -> float:
        """Part of the lines that come back exactly; 1 for no lines."""
        return self.exact / self.lines if self.lines else 1.0


def round_trip(preparation: Preparation, lines: Iterable[str], *, examples: int = 10) -> RoundTrip:
    """Prepare and restore every line and compare, character by character."""
    count = exact = 0
    shown: list[tuple[str, str]] = []
    for line in lines:
        back = preparation.restore(preparation.prepare(line))
        count += 1
        exact += back == line
        if back != line and len(shown) < examples:
            shown.append((line, back))
    return RoundTrip(count, exact, tuple(shown))


# --- characters ----------------------------------------------------------------------------------

JOINERS = "\u200c\u200d"  # invisible, but part of Persian and Indic words and of emoji
HIDDEN = re.compile("[\u00ad\u061c\u180e\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]")
BLANK = re.compile("[\x00-\x1f\x7f-\x9f\u200b]")  # controls and the space without width
HALVES = re.compile("[\ud800-\udfff]")  # of surrogate pairs; no text on their own
# Writings without spaces: Han, kana, bopomofo.
CJK = (
    "\u3005-\u3007\u3031-\u3035\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
CJK_PUNCTUATION = "\u3001-\u3004\u3008-\u3030\u303d\u30a0\u30fb\uff01-\uff0f\uff1a-\uff20" + (
    "\uff3b-\uff40\uff5b-\uff65\uffe0-\uffe6"
)
APOSTROPHES = "'’"
HYPHENS = "\\-\u2010\u2011"
ADDRESS = (  # of a page or a mailbox; kept whole
    r"(?:(?i:https?://|www\.)[!#-;=?-\[\]_a-z~]*[A-Za-z0-9/]"
    r"|[A-Za-z0-9_.+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)"
)
CONNECTORS = frozenset("'’·-\u2010\u2011.,")


def _visible(line: str) -> str:
    return HALVES.sub("\ufffd", BLANK.sub(" ", HIDDEN.sub("", line)))


@cache
def _marks() -> str:
    """All characters that belong to the one before them, as ranges for a regular expression."""
    points = [*range(0x300, 0x20000), *range(0xE0100, 0xE01F0)]
    marks = [point for point in points if unicodedata.category(chr(point)).startswith("M")]
    marks += [*range(0x1F3FB, 0x1F400), *range(0xE0020, 0xE0080)]  # skin tones and tags of emoji
    ranges: list[list[int]] = []
    for point in sorted(marks):
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in ranges)


@cache
def _pattern(cjk_run: str) -> re.Pattern[str]:
    """What a token looks like; ``cjk_run`` is ``+`` to keep runs of CJK together."""
    mark = f"[{_marks()}]"
    letter = rf"[^\W{CJK}]"
    run = rf"{letter}+(?:[{_marks()}{JOINERS}]+{letter}*)*"
    inner = rf"(?:[{APOSTROPHES}{HYPHENS}·](?={letter})|(?<=\d)[.,](?=\d))"
    sign = rf"[^\w\s{JOINERS}]{mark}*"
    return re.compile(
        rf"{ADDRESS}|(?<!{letter})(?:[^\W\d_{CJK}]{mark}*\.){{2,}}(?!{letter})"  # U.S. and z.B.
        rf"|(?:(?<!{letter})(?<![{HYPHENS}])[{HYPHENS}])?{run}(?:{inner}{run})*(?:[{HYPHENS}](?![{HYPHENS}]|{letter}))?"
        rf"|(?P<cjk>(?:[{CJK}]{mark}*){cjk_run})"
        "|[\U0001f1e6-\U0001f1ff]{2}"  # a flag
        rf"|{sign}(?:\u200d{sign})*"
    )


# --- splitting -----------------------------------------------------------------------------------


def _split_unicode(line: str, _lang: str) -> list[str]:
    return [match[0] for match in _pattern("").finditer(line)]


def _split_none(line: str, _lang: str) -> list[str]:
    return line.split()


@cache
def _moses(lang: str) -> Any:
    import sacremoses

    class Moses(sacremoses.MosesTokenizer):  # type: ignore[misc]
        """The same with its sets of characters built once, not for every full stop."""

        def __init__(self) -> None:
            super().__init__(lang)
            self._lower = frozenset(self.IsLower)
            self._alpha = frozenset(self.IsAlpha)

        def islower(self, text: str) -> bool:
            return self._lower.issuperset(text)

        def isanyalpha(self, text: str) -> bool:
            return not self._alpha.isdisjoint(text)

    return Moses()


def _split_moses(line: str, lang: str) -> list[str]:
    tokens: list[str] = []
    for at, part in enumerate(re.split(f"({ADDRESS})", line)):
        tokens += [part] if at % 2 else _moses(lang).tokenize(part, escape=False)
    return tokens


@cache
def _jieba() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own, about an old way to find its files
        import jieba
    tokenizer = jieba.Tokenizer()
    # Its dictionary without the cache file that it would leave in the temporary folder.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer


def _split_jieba(line: str, _lang: str) -> list[str]:
    return _split_runs(line, _jieba().cut(line))


THREAD = threading.local()  # MeCab's words point into its last sentence: one tagger a thread


def _fugashi() -> Any:
    if not hasattr(THREAD, "tagger"):
        import fugashi

        folder = importlib.import_module("unidic_lite").DICDIR  # not any other dictionary around
        THREAD.tagger = fugashi.Tagger(f'-r "{folder}/dicrc" -d "{folder}"')
    return THREAD.tagger


def _split_fugashi(line: str, _lang: str) -> list[str]:
    return _split_runs(line, [word.surface for word in _fugashi()(line)])


def _split_runs(line: str, words: Iterable[str]) -> list[str]:
    """Split runs of CJK where a segmenter does, and everything else as ``unicode`` does."""
    cuts = set()
    end = 0
    for word in words:
        start = line.index(word, end)
        end = start + len(word)
        cuts |= {start, end}
    tokens = []
    for match in _pattern("+").finditer(line):
        places = range(match.start() + 1, match.end()) if match["cjk"] else ()
        ends = [place for place in places if place in cuts] + [match.end()]
        starts = [match.start(), *ends]
        tokens += [line[start:end] for start, end in zip(starts, ends, strict=False)]
    return tokens


# --- joining -------------------------------------------------------------------------------------

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
    return re.compile(f"[{_marks()}{JOINERS}]")


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
        marks = WIDE_TOO if self._lang in UNSPACED else frozenset[str]()
        wide = [WIDE.match(char) is not None or char in marks for char in (left, token[0])]
        return any(wide) if self._lang in UNSPACED else all(wide)


def _join(tokens: Sequence[str], lang: str) -> str:
    return _Joiner(lang).line(tokens)


def _join_none(tokens: Sequence[str], _lang: str) -> str:
    return " ".join(tokens)


ELIDING = frozenset({"fr", "ga", "it"})
TAILS = frozenset({"s", "t", "d", "m", "n", "re", "ve", "ll"})  # of don’t, we’ll, geht’s


def _join_moses(tokens: Sequence[str], lang: str) -> str:
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
    return _join(words, lang)


def _is_tail(token: str, left: str, after: str, lang: str) -> bool:
    if token in APOSTROPHES:
        is_elision = lang in ELIDING and (len(left) < 3 or left.endswith("qu"))
        return after in TAILS or (is_elision and after[:1].isalpha())
    return token[0] in APOSTROPHES and token[1:].isalpha()


# --- the table -----------------------------------------------------------------------------------


class Tokenizer(NamedTuple):
    """A way to split lines and to join tokens, given the language."""

    what: str
    split: Callable[[str, str], list[str]]
    join: Callable[[Sequence[str], str], str]
    extra: str | None = None
    packages: tuple[str, ...] = ()


TOKENIZERS = {
    "moses": Tokenizer("the rules of Moses", _split_moses, _join_moses),
    "unicode": Tokenizer("words, signs and single CJK characters", _split_unicode, _join),
    "none": Tokenizer("tokenised already", _split_none, _join_none),
    "jieba": Tokenizer("Chinese words", _split_jieba, _join, "zh", ("jieba",)),
    "fugashi": Tokenizer("Japanese words", _split_fugashi, _join, "ja", ("fugashi", "unidic_lite")),
}
SEGMENTERS = {"zh": "jieba", "cmn": "jieba", "yue": "jieba", "ja": "fugashi"}
# Written with invisible joiners, at which Moses splits words.
INDIC = frozenset({"as", "bn", "gu", "hi", "kn", "ml", "mni", "mr", "or", "pa", "ta", "te"})
NO_SEGMENTER = frozenset({"bo", "dz", "km", "lo", "my", "th"})


def _resolve(name: str, lang: str) -> str:
    """The tokenizer to use, which must be there and know the language."""
    name = _choose(lang) if name == "auto" else name
    if name == "moses" and lang not in _moses_languages():
        known = ", ".join(sorted(_moses_languages()))
        advice = "choose `unicode`"
        raise ArgumentError(f"tokenizer: `moses` and `{lang}`; expected one of {known}; {advice}")
    tokenizer = TOKENIZERS[name]
    for package in tokenizer.packages:
        if importlib.util.find_spec(package) is None:
            found = f"tokenizer: `{name}` needs {package}, which is not installed"
            advice = f"run `pip install wayword[{tokenizer.extra}]`"
            other = "choose `unicode`, which splits CJK into single characters"
            raise ArgumentError(f"{found}; {advice}, or {other}")
    return name


def _choose(lang: str) -> str:
    if lang in NO_SEGMENTER:
        found = f"tokenizer: no word splitter for `{lang}`, which is written without spaces"
        raise ArgumentError(f"{found}; split the words first and choose `none`")
    if lang in SEGMENTERS:
        return SEGMENTERS[lang]
    return "moses" if lang in _moses_languages() - INDIC else "unicode"


@cache
def _moses_languages() -> frozenset[str]:
    from sacremoses.corpus import NonbreakingPrefixes

    codes = NonbreakingPrefixes().available_langs.values()
    return frozenset(codes) - SEGMENTERS.keys()
