"""Turns lines of text into tokens, and tokens into lines again.

In: a line, or many. Out: ``list[str]``; no token is empty or holds whitespace.
How: drop invisible characters, compose (NFC), split with the tokenizer of the language, set the
case, and split words into pieces where these were learned. One ``Preparation`` says all of it and
is part of a system, so that training and translation cannot differ. Joining follows the
punctuation, whichever tokenizer did the splitting.
Cost: linear; tokenizers are built once a process, when first used.
Not: words of Thai, Lao, Khmer or Burmese.

>>> german = Preparation("de")
>>> german
Preparation(lang='de', tokenizer='moses', case='keep', nfc=True)
>>> tokens = german.prepare("Er sagte: „Ja, z. B. heute.“")
>>> " ".join(tokens)
'Er sagte : „ Ja , z. B. heute . “'
>>> german.restore(tokens)
'Er sagte: „Ja, z. B. heute.“'
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wayword.corpus.files import size_in_bytes
from wayword.corpus.forms import Runs, forms_within, lower
from wayword.corpus.join import UNSPACED
from wayword.corpus.offsets import locate
from wayword.corpus.sentences import SplitText, split_lines, split_sentences
from wayword.corpus.source import Offsets
from wayword.corpus.split import visible
from wayword.corpus.subwords import MARK, Subwords, join_pieces
from wayword.corpus.tokenizer import TOKENIZERS, resolve
from wayword.corpus.truecase import Truecaser, count_forms, count_runs, write_forms
from wayword.errors import ArgumentError
from wayword.types import FilePath

__all__ = ["CASES", "Preparation", "RoundTrip", "round_trip"]

CASES = {
    "keep": "as it is",
    "lower": "all lower case",
    "truecase": "first words as elsewhere; `fit` learns how",
}


#: That learning keeps to unless told otherwise.
MEMORY = "1G"
#: What is learned from text and stands in a file of its own.
LEARNED = ("truecaser", "subwords")
#: Tokenizers that lose no character.
EXACT = frozenset({"none", "characters"})


@dataclass(frozen=True)
class Preparation:
    """How a text is made ready; ``tokenizer="auto"`` becomes the name of the one chosen."""

    lang: str
    tokenizer: str = "auto"
    case: str = "keep"
    nfc: bool = True
    truecaser: Truecaser | None = field(default=None, repr=False, compare=False, kw_only=True)
    #: splits words into pieces; None: words stay whole
    subwords: Subwords | None = field(default=None, repr=False, compare=False, kw_only=True)

    def __post_init__(self) -> None:
        """Check the options and choose the tokenizer, before any long work."""
        if not re.fullmatch(r"[A-Za-z]{2,8}([-_][A-Za-z0-9]+)*", self.lang):
            raise ArgumentError(f"lang: found `{self.lang}`; expected a code such as `de`, `pt-BR`")
        _known("case", self.case, CASES)
        _known("tokenizer", self.tokenizer, ["auto", *TOKENIZERS])
        if not isinstance(self.nfc, bool):
            raise ArgumentError(f"nfc: found `{self.nfc}`; expected true or false")
        if (self.tokenizer, self.case) == ("characters", "truecase"):
            expected = "expected keep or lower"
            raise ArgumentError(f"case: found `truecase` for text of characters; {expected}")
        if self.tokenizer == "characters" and self.subwords is not None:
            expected = "choose another tokenizer, or no subwords"
            raise ArgumentError(f"subwords: found text of characters; {expected}")
        object.__setattr__(self, "tokenizer", resolve(self.tokenizer, _primary(self.lang)))

    def fit(self, lines: Iterable[str]) -> "Preparation":
        """Learn what must be learned from text, the truecaser; other cases need nothing."""
        return self.fitted(self.count(lines)) if self.case == "truecase" else self

    def learn(
        self,
        lines: Iterable[str],
        table: FilePath,
        *,
        memory: int | str = MEMORY,
        temp_dir: FilePath | None = None,
    ) -> "Preparation":
        """Learn like ``fit`` from a text of any size, and write the truecaser to a plain file.

        It is read from there when it is asked, so the file must stay. What does not fit into
        ``memory`` while forms are counted goes to ``temp_dir``.
        """
        if self.case != "truecase":
            return self
        room = size_in_bytes(memory)
        with TemporaryDirectory(dir=temp_dir) as folder:
            return self.learned(self.count_runs(lines, Path(folder), room), table)

    def count_runs(self, lines: Iterable[str], folder: Path, memory: int) -> Runs:
        """What ``count`` counts, in files."""
        runs = self.runs(folder)
        count_runs(map(self._split, lines), runs, forms_within(memory))
        return runs

    def runs(self, folder: Path, paths: Sequence[Path] = ()) -> Runs:
        """Files of counted forms; ``paths`` are those that ``count_runs`` of others saved."""
        return Runs(folder, lang=_primary(self.lang), paths=paths)

    def learned(self, runs: Runs, table: FilePath) -> "Preparation":
        """The same with the truecaser of counted forms, which is written to a file."""
        write_forms(table, runs.usual(), lang=_primary(self.lang))
        return replace(self, truecaser=Truecaser.open(table))

    def count(self, lines: Iterable[str]) -> Counter[str]:
        """What ``fit`` counts in text; counts of several texts may be added up."""
        return count_forms(map(self._split, lines))

    def fitted(self, counts: Mapping[str, int]) -> "Preparation":
        """The same with the truecaser of what ``count`` counted."""
        return replace(self, truecaser=Truecaser.of_counts(counts, lang=_primary(self.lang)))

    def prepare(self, line: str) -> list[str]:
        """The tokens of a line: words, or pieces of them."""
        words = self.words(line)
        return words if self.subwords is None else self.subwords.split(words)

    def prepare_sentences(self, text: str) -> list[list[str]]:
        """Return the tokens of each sentence of a text.

        >>> Preparation("en").prepare_sentences("He saw cats, dogs etc. No birds.")
        [['He', 'saw', 'cats', ',', 'dogs', 'etc', '.'], ['No', 'birds', '.']]
        """
        return [self.prepare(sentence) for sentence in self.sentences(text).sentences]

    def restore_sentences(self, sentences: Iterable[Sequence[str]]) -> str:
        """Return the text of translated sentences, given the tokens of each.

        >>> Preparation("en").restore_sentences([["It", "rains", "."], ["Good", "."]])
        'It rains. Good.'
        """
        texts = (self.restore(sentence) for sentence in sentences)
        return self.sentence_separator.join(text for text in texts if text)

    def sentences(self, text: str, *, separator: str = " ") -> SplitText:
        """Split a text into sentences; ``separator`` is that of the language of the translation.

        Tokenized text (tokenizer ``none``) is split at line breaks only.
        """
        if self.tokenizer == "none":
            return replace(split_lines(text), separator=separator)
        return split_sentences(text, _primary(self.lang), separator=separator)

    @property
    def sentence_separator(self) -> str:
        """The separator of sentences in a line: empty in Chinese and Japanese."""
        is_unspaced = _primary(self.lang) in UNSPACED and self.tokenizer != "none"
        return "" if is_unspaced else " "

    def words(self, line: str) -> list[str]:
        """The words of a line, whole."""
        tokens = self._split(line)
        if self.case == "lower":
            return self._composed(lower(" ".join(tokens), _primary(self.lang))).split()
        return self._caser().apply(tokens) if self.case == "truecase" else tokens

    def prepare_with_offsets(self, line: str) -> tuple[list[str], Offsets]:
        """The tokens of a line, and where in it each stands; None for one that cannot be found.

        >>> Preparation("de", case="lower").prepare_with_offsets("Ja, Ü!")
        (['ja', ',', 'ü', '!'], ((0, 2), (2, 3), (4, 5), (5, 6)))
        """
        tokens = self.prepare(line)
        if self.subwords is None:
            return tokens, locate(tokens, line)
        return tokens, locate([token.removeprefix(MARK) for token in tokens], line)

    def restore(self, tokens: Sequence[str]) -> str:
        """The line that tokens stand for."""
        if self.subwords is not None:
            tokens = join_pieces(tokens)
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
        """The options as plain values; truecaser and subwords have files of their own."""
        return {option.name: getattr(self, option.name) for option in _options()}

    @classmethod
    def from_dict(
        cls,
        options: dict[str, Any],
        *,
        truecaser: Truecaser | None = None,
        subwords: Subwords | None = None,
    ) -> "Preparation":
        """The preparation that ``to_dict`` described."""
        names = [option.name for option in _options()]
        for name in options:
            _known("preparation", name, names)
        if "lang" not in options:
            raise ArgumentError("preparation: no `lang`; expected a code such as `de`")
        return cls(**options, truecaser=truecaser, subwords=subwords)

    def _split(self, line: str) -> list[str]:
        if self.tokenizer not in EXACT:
            line = visible(line)
        return TOKENIZERS[self.tokenizer].split(self._composed(line), _primary(self.lang))

    def _composed(self, text: str) -> str:
        return unicodedata.normalize("NFC", text) if self.nfc else text

    def _caser(self) -> Truecaser:
        if self.truecaser is None:
            advice = "call `fit` with training text, or give `truecaser`"
            raise ArgumentError(f"case: `truecase` without a truecaser; {advice}")
        return self.truecaser


def _options() -> list[Any]:
    return [option for option in fields(Preparation) if option.name not in LEARNED]


def _known(option: str, value: str, known: Iterable[str]) -> None:
    if value not in known:
        raise ArgumentError(f"{option}: found `{value}`; expected one of {', '.join(known)}")


def _primary(lang: str) -> str:
    """The language without its region: ``pt-BR`` is ``pt``."""
    return re.split("[-_]", lang, maxsplit=1)[0].lower()


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
