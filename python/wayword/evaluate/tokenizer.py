"""Choose the tokenizer of a comparison, one for all texts and metrics.

In: the references and the outputs of all systems. Out: the name of a tokenizer of sacrebleu, and a
note that states the choice.
How: tokenized text has its punctuation apart from words. If all texts are tokenized, words are
separated by white space (``none``). Otherwise sacrebleu tokenizes all texts: by ``zh``,
``ja-mecab`` or ``ko-mecab`` if most letters are of that script, by ``13a`` otherwise. The script is
read from the text, so that commands with and without a language option choose alike.
Cost: one pass over the characters.
Not: Thai, Lao, Khmer and Burmese, whose words ``13a`` does not separate.

>>> choose_tokenizer({"out.en": ["It is good ."], "ref.en": ["That is good ."]})
('none', '')
>>> choose_tokenizer({"out.zh": ["很好。"], "ref.zh": ["非常好。"]})[0]
'zh'
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from wayword.errors import ArgumentError
from wayword.evaluate.gold import Gold, Output
from wayword.evaluate.metric import AUTO, Options
from wayword.evaluate.ngram import WESTERN, tokenized

__all__ = ["choose_tokenizer", "is_tokenized", "settle_tokenizer"]

DEFAULT = "13a"
#: The tokenizer that replaces one whose dictionary is not installed.
CHARACTERS = "char"
#: sacrebleu's tokenizers by script, and the extra of sacrebleu that installs the dictionary.
TOKENIZERS = {"HAN": ("zh", ""), "KANA": ("ja-mecab", "ja"), "HANGUL": ("ko-mecab", "ko")}
#: First words of the Unicode names of letters, by script.
SCRIPTS = {"CJK": "HAN", "HIRAGANA": "KANA", "KATAKANA": "KANA", "HANGUL": "HANGUL"}
#: Least share of kana in Japanese text.
KANA = 0.05
#: Least share of line-final punctuation marks that stand apart in tokenized text.
APART = 0.5


def is_tokenized(lines: Sequence[str]) -> bool | None:
    """Return whether punctuation stands apart from words; None without line-final punctuation.

    >>> is_tokenized(["Das ist gut .", "Ja !"]), is_tokenized(["Das ist gut.", "Ja!"])
    (True, False)
    >>> is_tokenized(["no punctuation"]) is None
    True
    """
    apart = marks = 0
    for line in lines:
        text = line.rstrip()
        if len(text) > 1 and unicodedata.category(text[-1]).startswith("P"):
            marks += 1
            apart += text[-2].isspace()
    return apart > APART * marks if marks else None


def choose_tokenizer(texts: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """Return the tokenizer for texts, given by name, and a note; no note for ``none``."""
    kinds = {name: is_tokenized(lines) for name, lines in texts.items()}
    raw = [name for name, kind in kinds.items() if kind is False]
    apart = [name for name, kind in kinds.items() if kind]
    if not raw:
        return "none", ""
    chosen, extra = TOKENIZERS.get(_script(texts.values()), (DEFAULT, ""))
    used = chosen if _is_installed(chosen) else CHARACTERS
    kind = f"{_are(raw)} raw and {_are(apart)} tokenized" if apart else "text is raw"
    asian = "" if used in WESTERN else " --ter-asian-support"
    note = f"{kind}: all are split as by `sacrebleu --tokenize {used} --ter-normalized{asian}`"
    if used != chosen:
        note += f"; for `{chosen}` install sacrebleu[{extra}]"
    return used, note


def settle_tokenizer(
    options: Options, gold: Gold, outputs: Sequence[Output]
) -> tuple[Options, str]:
    """Replace ``auto`` in the options by the tokenizer for these texts; return a note as well."""
    if options.tokenize != AUTO:
        return options, ""
    texts = {output.name: output.plain.lines for output in outputs}
    refs = gold.plain.refs
    texts |= {f"reference {number}": ref for number, ref in enumerate(refs, 1)}
    name, note = choose_tokenizer(texts)
    return replace(options, tokenize=name), note


def _script(texts: Iterable[Sequence[str]]) -> str:
    """Return the script of most letters, of those with a tokenizer of their own; "" for others.

    >>> [_script([[text]]) for text in ("很好。", "とても良い。", "좋다.", "good 好.")]
    ['HAN', 'KANA', 'HANGUL', '']
    """
    counts = Counter(char for lines in texts for line in lines for char in line if char.isalpha())
    scripts: Counter[str] = Counter()
    for char, count in counts.items():
        first = unicodedata.name(char, "").replace("-", " ").partition(" ")[0]
        scripts[SCRIPTS.get(first, "")] += count
    if scripts[""] >= sum(scripts.values()) / 2:
        return ""
    if scripts["HANGUL"] > scripts["HAN"] + scripts["KANA"]:
        return "HANGUL"
    return "KANA" if scripts["KANA"] > KANA * sum(scripts.values()) else "HAN"


def _is_installed(name: str) -> bool:
    """Return whether sacrebleu can use a tokenizer; Japanese and Korean need a dictionary."""
    try:
        tokenized([""], Options(tokenize=name), lowercase=False)
    except ArgumentError:
        return False
    return True


def _are(names: Sequence[str]) -> str:
    return f"{', '.join(names)} {'are' if len(names) > 1 else 'is'}"
