"""The tokenizers, in one table, and which one a language gets.

In: a tokenizer's name or `auto`, and a language. Out: the name of one that is there and knows it.
"""

import importlib.util
from collections.abc import Callable, Sequence
from typing import NamedTuple

from wayword.corpus.characters import join_characters, split_characters
from wayword.corpus.join import join, join_moses, join_none
from wayword.corpus.split import (
    split_fugashi,
    split_jieba,
    split_moses,
    split_none,
    split_unicode,
)
from wayword.errors import ArgumentError

__all__ = ["TOKENIZERS", "Tokenizer", "resolve"]


class Tokenizer(NamedTuple):
    """A way to split lines and to join tokens, given the language."""

    what: str
    split: Callable[[str, str], list[str]]
    join: Callable[[Sequence[str], str], str]
    extra: str | None = None
    packages: tuple[str, ...] = ()


TOKENIZERS = {
    "moses": Tokenizer("the rules of Moses", split_moses, join_moses),
    "unicode": Tokenizer("words, signs and single CJK characters", split_unicode, join),
    "characters": Tokenizer("single characters", split_characters, join_characters),
    "none": Tokenizer("tokenised already", split_none, join_none),
    "jieba": Tokenizer("Chinese words", split_jieba, join, "zh", ("jieba",)),
    "fugashi": Tokenizer("Japanese words", split_fugashi, join, "ja", ("fugashi", "unidic_lite")),
}
SEGMENTERS = {"zh": "jieba", "cmn": "jieba", "yue": "jieba", "ja": "fugashi"}
# Written with invisible joiners, at which Moses splits words.
INDIC = frozenset({"as", "bn", "gu", "hi", "kn", "ml", "mni", "mr", "or", "pa", "ta", "te"})
# The languages that `moses.txt` has rules for.
# fmt: off
MOSES = frozenset({
    "as", "bn", "ca", "cs", "de", "el", "en", "es", "et", "fi", "fr", "ga",
    "gu", "hi", "hu", "is", "it", "kn", "lt", "lv", "ml", "mni", "mr", "nl",
    "or", "pa", "pl", "pt", "ro", "ru", "sk", "sl", "sv", "ta", "tdt", "te",
})
# fmt: on
NO_SEGMENTER = frozenset({"bo", "dz", "km", "lo", "my", "th"})


def resolve(name: str, lang: str) -> str:
    """The tokenizer to use, which must be there and know the language."""
    name = _choose(lang) if name == "auto" else name
    if name == "moses" and lang not in MOSES:
        known = ", ".join(sorted(MOSES))
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
    return "moses" if lang in MOSES - INDIC else "unicode"
