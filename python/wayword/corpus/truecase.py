"""Gives the first word of a sentence the case it has elsewhere: *Die Katze* becomes *die Katze*.

In: token lists. Out: a ``Truecaser``; ``apply`` and ``restore`` map tokens to tokens.
How: count the forms of each word where case says something, keep the most frequent (Lita et al.,
2003, in the simple form that Moses uses). Ties go to the form with fewer capitals, then to the
smaller one by code points. Sacremoses' truecaser would not do: it holds the corpus in memory,
breaks ties by the order of reading and changes words inside the sentence as well.
Cost: one pass to fit, memory for the distinct forms, which ``wayword.corpus.forms`` bounds;
one look-up a sentence to apply.
Not: recasing of lower-cased text; only first words and sentences in capitals are touched.

>>> caser = Truecaser.fit([["Heute", "ist", "die", "Katze", "da"], ["Da", "ist", "heute", "die"]])
>>> caser.apply(["Die", "Katze", "ist", "da"])
['die', 'Katze', 'ist', 'da']
>>> caser.restore(["die", "Katze", "ist", "da"])
['Die', 'Katze', 'ist', 'da']
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from wayword.corpus.files import new_file, open_text
from wayword.corpus.forms import DOTTED, Form, FormFile, Runs, lower, parse_form, usual_form
from wayword.errors import FormatError
from wayword.types import FilePath

__all__ = ["Form", "Truecaser", "count_forms", "count_runs", "write_forms"]

MAGIC = ["wayword-truecaser", "1"]
STARTERS = frozenset(".:?!…。？！؟।॥\"'“”„‚‘«»‹›([{-–—*•")  # what may stand before a capital


class Truecaser:
    """Knows the usual case of words."""

    def __init__(self, forms: Iterable[Form], *, lang: str = "") -> None:
        self.lang = lang
        self._forms: Mapping[str, Form] = {lower(form.word, lang): form for form in forms}

    @classmethod
    def fit(cls, sentences: Iterable[Sequence[str]], *, lang: str = "") -> "Truecaser":
        """Learn from tokenised sentences, read once."""
        return cls.of_counts(count_forms(sentences), lang=lang)

    @classmethod
    def of_counts(cls, counts: Mapping[str, int], *, lang: str = "") -> "Truecaser":
        """The truecaser of counted forms; those of several texts may be added up before."""
        forms: dict[str, dict[str, int]] = {}
        for word, count in counts.items():
            forms.setdefault(lower(word, lang), {})[word] = count
        return cls((usual_form(forms[key]) for key in sorted(forms)), lang=lang)

    def __len__(self) -> int:
        return len(self._forms)

    def form(self, word: str) -> Form | None:
        """The usual form of a word in any case; None when it was not seen."""
        return self._forms.get(lower(word, self.lang))

    def apply(self, tokens: Sequence[str]) -> list[str]:
        """Correct the first word, or all words when the sentence is in capitals."""
        tokens = list(tokens)
        if _is_shouted(tokens):
            return [self._usual(token) for token in tokens]
        first = _first_word(tokens)
        if first is not None:
            tokens[first] = self._usual(tokens[first])
        return tokens

    def restore(self, tokens: Sequence[str]) -> list[str]:
        """Give the first word its capital; words such as *iPhone* stay as they are."""
        tokens = list(tokens)
        first = _first_word(tokens)
        if first is not None and tokens[first].islower():
            tokens[first] = _capital(tokens[first], self.lang)
        return tokens

    def save(self, path: FilePath) -> None:
        """Write a table of word, seen and total, sorted by the lower-cased word."""
        write_forms(path, (self._forms[key] for key in sorted(self._forms)), lang=self.lang)

    @classmethod
    def load(cls, path: FilePath) -> "Truecaser":
        """Read what ``save`` wrote."""
        lines = open_text(path)
        lang = _language(path, next(lines, ""))
        rows = enumerate(lines, 2)
        return cls((parse_form(line, f"{path}:{number}") for number, line in rows), lang=lang)

    @classmethod
    def open(cls, path: FilePath) -> "Truecaser":
        """What ``save`` wrote to a plain file, which is read when a word is asked for.

        It takes little memory, whatever the number of words; the file must stay.
        """
        with Path(path).open(encoding="utf-8", newline="\n") as file:
            caser = cls((), lang=_language(path, file.readline().rstrip("\n")))
        caser._forms = FormFile(path, lang=caser.lang)
        return caser

    def _usual(self, token: str) -> str:
        form = self.form(token)
        return token if form is None else form.word


def count_forms(sentences: Iterable[Sequence[str]]) -> Counter[str]:
    """How often each form stands where its case says something."""
    counts: Counter[str] = Counter()
    for tokens in sentences:
        if not _is_shouted(tokens):
            counts.update(_telling(tokens))
    return counts


def count_runs(sentences: Iterable[Sequence[str]], runs: Runs, most: int) -> None:
    """Count like ``count_forms``, with as many as ``most`` different forms in memory."""
    counts: Counter[str] = Counter()
    for tokens in sentences:
        if not _is_shouted(tokens):
            counts.update(_telling(tokens))
        if len(counts) >= most:
            runs.add(counts)
            counts = Counter()
    runs.add(counts)


def write_forms(path: FilePath, forms: Iterable[Form], *, lang: str = "") -> None:
    """Write a truecaser of these forms, which are sorted by the lower-cased word."""
    with new_file(path) as file:
        print(*MAGIC, lang, sep="\t", file=file)
        for form in forms:
            print(*form, sep="\t", file=file)


def _language(path: FilePath, line: str) -> str:
    """What the first line of a saved truecaser says."""
    head = line.split("\t")
    if head[:2] != MAGIC or len(head) != 3:
        advice = "fit the truecaser again"
        raise FormatError(f"{path}:1: no truecaser; expected `{' '.join(MAGIC)}`; {advice}")
    return head[2]


def _capital(word: str, lang: str) -> str:
    if lang in DOTTED and word[0] == "i":
        return "İ" + word[1:]
    start = word[0].title()
    return start + word[1:] if len(start) == 1 else word


def _first_word(tokens: Sequence[str]) -> int | None:
    """Where the first token with a letter or digit is."""
    for at, token in enumerate(tokens):
        if any(map(str.isalnum, token)):
            return at
    return None


def _telling(tokens: Sequence[str]) -> Iterator[str]:
    """Words whose case does not come from where they stand."""
    follows_start = True
    for token in tokens:
        if token in STARTERS:
            follows_start = True
        elif not follows_start:
            if token.lower() != token.upper():
                yield token
        elif any(map(str.isalnum, token)):
            follows_start = False


def _is_shouted(tokens: Sequence[str]) -> bool:
    """Whether all is in capitals, with two words of two letters at least."""
    long = 0
    for token in tokens:
        if token.isupper():
            long += len(token) > 1
        elif token.lower() != token.upper():
            return False
    return long > 1
