"""Splits a line into tokens.

In: a line and its language. Out: tokens, none empty or with whitespace inside.
How: `unicode` is one regular expression over Unicode's classes; `moses` follows `moses_rules`;
`jieba` and `fugashi` call the libraries of those names, for runs of Chinese and Japanese only,
and never with more than ``LONGEST`` characters at once: one of them crashes on long lines, and the
other takes minutes. A longer line is cut after a sentence, else after a sign, else anywhere.
Cost: linear; patterns and tokenizers are built once a process, when first used.
Not: joining (`wayword.corpus.join`); words of Thai, Lao, Khmer or Burmese.
"""

import importlib
import re
import threading
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Any

from wayword import _core
from wayword.corpus.moses_rules import moses_rules

__all__ = [
    "APOSTROPHES",
    "CJK",
    "CJK_PUNCTUATION",
    "CONNECTORS",
    "JOINERS",
    "LONGEST",
    "marks",
    "split_fugashi",
    "split_jieba",
    "split_moses",
    "split_none",
    "split_unicode",
    "visible",
]

JOINERS = "\u200c\u200d"  # invisible, but part of Persian and Indic words and of emoji
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")
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
#: Characters that a library of others gets at once. Lines of text are far shorter.
LONGEST = 5000
#: Where a longer line is cut, best first: after a sentence, after a sign or a space.
SAFE_PLACES = (re.compile('[。．！？!?…][」』）”’"]*|\\.\\s'), re.compile(r"[^\w]"))
CONNECTORS = frozenset("'’·-\u2010\u2011.,")


def visible(line: str) -> str:
    """The line without characters that nobody sees; controls become spaces.

    Which these are, the core says, to the doctor too.
    """
    seen = line if line.isascii() else _core.without_marks(HALVES.sub("\ufffd", line))
    return CONTROLS.sub(" ", seen)


@cache
def marks() -> str:
    """All characters that belong to the one before them, as ranges for a regular expression."""
    # Han and Hangul, which have none, are left out: a command waits for this list.
    spans = ((0x300, 0x3400), (0xA000, 0xAC00), (0xD7B0, 0x20000), (0xE0100, 0xE01F0))
    points = [point for span in spans for point in range(*span)]
    kinds = map(unicodedata.category, map(chr, points))
    marks = [point for point, kind in zip(points, kinds, strict=True) if kind[0] == "M"]
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
    mark = f"[{marks()}]"
    letter = rf"[^\W{CJK}]"
    run = rf"{letter}+(?:[{marks()}{JOINERS}]+{letter}*)*"
    inner = rf"(?:[{APOSTROPHES}{HYPHENS}·](?={letter})|(?<=\d)[.,](?=\d))"
    before = rf"(?<!{letter})(?<![{HYPHENS}])[{HYPHENS}]"  # -5
    behind = rf"[{HYPHENS}](?![{HYPHENS}]|{letter})"  # Vor- und Nachteile
    sign = rf"[^\w\s{JOINERS}]{mark}*"
    return re.compile(
        rf"{ADDRESS}|(?<!{letter})(?:[^\W\d_{CJK}]{mark}*\.){{2,}}(?!{letter})"  # U.S. and z.B.
        rf"|(?:{before})?{run}(?:{inner}{run})*(?:{behind})?"
        rf"|(?P<cjk>(?:[{CJK}]{mark}*){cjk_run})"
        "|[\U0001f1e6-\U0001f1ff]{2}"  # a flag
        rf"|{sign}(?:\u200d{sign})*"
    )


def split_unicode(line: str, _lang: str) -> list[str]:
    """Words, signs and single CJK characters."""
    return [match[0] for match in _pattern("").finditer(line)]


def split_none(line: str, _lang: str) -> list[str]:
    """What whitespace separates."""
    return line.split()


def pieces(line: str, longest: int = LONGEST) -> Iterator[str]:
    """A line in pieces of at most so many characters, cut where it does least harm.

    >>> list(pieces("第一句。第二句，很长", 5)), list(pieces("abcdefg", 5))
    (['第一句。', '第二句，', '很长'], ['abcde', 'fg'])
    """
    while len(line) > longest:
        for places in SAFE_PLACES:
            cut = max((place.end() for place in places.finditer(line, 0, longest)), default=0)
            if cut:
                break
        cut = cut or longest
        yield line[:cut]
        line = line[cut:]
    yield line


def split_moses(line: str, lang: str) -> list[str]:
    """By the rules of Moses, but for addresses, which stay whole."""
    tokens: list[str] = []
    for at, part in enumerate(re.split(f"({ADDRESS})", line)):
        tokens += [part] if at % 2 else moses_rules(lang).split(part)
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


def split_jieba(line: str, _lang: str) -> list[str]:
    """Chinese words."""
    return _split_runs(line, chain.from_iterable(map(_jieba().cut, pieces(line))))


THREAD = threading.local()  # MeCab's words point into its last sentence: one tagger a thread


def _fugashi() -> Any:
    if not hasattr(THREAD, "tagger"):
        import fugashi

        folder = importlib.import_module("unidic_lite").DICDIR  # not any other dictionary around
        THREAD.tagger = fugashi.Tagger(f'-r "{folder}/dicrc" -d "{folder}"')
    return THREAD.tagger


def split_fugashi(line: str, _lang: str) -> list[str]:
    """Japanese words."""
    tagger = _fugashi()
    words = [word.surface for piece in pieces(line) for word in tagger(piece)]
    return _split_runs(line, words)


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
