"""Spellings of known words, looked up before anything is searched for; a part of a system.

In: a prepared training text of characters. Out: the part ``lexicon``: a file of source words, each
with the target word that it nearly always is.
How: words of a pair of lines belong together one by one when there are as many of both; other lines
are not used, and counted. A word of a sentence that is in the lexicon is given its spelling as a
demand that the decoder keeps to (see ``wayword.decode.markup``); the other words are searched, with
all of their context.
Cost: a look-up a word.
Not: words whose spelling depends on the context; ``share`` leaves them to the search.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from wayword import _core
from wayword.corpus.characters import words_of
from wayword.corpus.files import new_file, open_text
from wayword.corpus.source import Source
from wayword.errors import FormatError
from wayword.options import check_range
from wayword.parts.part import Part, entry
from wayword.stage import Stage, Work

__all__ = ["Lexicon", "LexiconPart", "lexicon_stage"]

FILE = "lexicon"


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """Which words are looked up."""

    #: least times that a word was seen
    min_count: int = 2
    #: least share of its usual spelling
    share: float = 0.95

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        check_range("min_count", self.min_count, 1)
        check_range("share", self.share, 0, 1)


class LexiconPart(Part):
    """Looks up known words; after a head, its file has a word, a tab and its spelling a line."""

    kind = "lexicon"

    @cached_property
    def spellings(self) -> Mapping[str, str]:
        """Spellings by words, both as characters with spaces between."""
        lines = open_text(self.path)
        first = next(lines, "")
        spellings = {}
        for number, line in enumerate(lines, 2):
            word, tab, spelling = line.partition("\t")
            if not (word and tab and spelling):
                found = f"{self.path}:{number}: found `{line[:40]}`"
                raise FormatError(f"{found}; expected a word, a tab and its spelling")
            spellings[word] = spelling
        if first != _head(len(spellings)):
            found = f"found `{first[:40]}` before {len(spellings)} words"
            raise FormatError(f"{self.path}:1: {found}; expected `{_head(len(spellings))}`")
        return spellings

    def load(self) -> None:
        """Read the file."""
        _ = self.spellings

    def prepare(self, sources: Sequence[Source]) -> list[Source]:
        """Demand the spelling of known words; sentences with other demands are left alone."""
        return [
            source if source.markup is not None else self._looked_up(source) for source in sources
        ]

    def _looked_up(self, source: Source) -> Source:
        pieces: list[str] = []
        end = 0
        for start, stop in words_of(source.words):
            word = " ".join(source.words[start:stop])
            spelling = self.spellings.get(word)
            if spelling is None:
                continue
            pieces += map(escape, source.words[end:start])
            pieces.append(f"<w translation={quoteattr(spelling)}>{escape(word)}</w>")
            end = stop
        if not pieces:
            return source
        line = " ".join([*pieces, *map(escape, source.words[end:])])
        return replace(source, markup=_core.Markup(line, "exclusive", self.name, 1))


def _head(count: int) -> str:
    return f"# wayword lexicon, format 1, {count} words"


def lexicon_stage(text: Stage, options: Lexicon) -> Stage:
    """Collect the words whose spelling is nearly always the same."""
    return Stage("lexicon", make_lexicon, options, {"text": text}, version=1)


def make_lexicon(work: Work) -> dict[str, Any]:
    """Write the lexicon of a prepared bitext."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    used = unused = 0
    for src, tgt in _lines(work.inputs["text"].path):
        words = [[" ".join(line[a:b]) for a, b in words_of(line)] for line in (src, tgt)]
        if len(words[0]) != len(words[1]):
            unused += 1
            continue
        used += 1
        for word, spelling in zip(*words, strict=True):
            counts[word][spelling] += 1
    known = dict(_usual(counts, work.options))
    with new_file(work.out / FILE) as file:
        print(_head(len(known)), file=file)
        for word in sorted(known):
            print(word, known[word], sep="\t", file=file)
    facts = {"words": len(known), "lines": used, "lines_of_other_length": unused}
    return {"part": entry("lexicon", "lexicon", file=FILE), **facts}


def _lines(text: Path) -> Iterator[tuple[list[str], list[str]]]:
    sides = (open_text(text / f"train.{side}") for side in ("src", "tgt"))
    for src, tgt in zip(*sides, strict=True):
        yield src.split(), tgt.split()


def _usual(counts: Mapping[str, Counter[str]], options: Lexicon) -> Iterator[tuple[str, str]]:
    for word, spellings in counts.items():
        total = sum(spellings.values())
        spelling = min(spellings, key=lambda one: (-spellings[one], one))
        if total >= options.min_count and spellings[spelling] >= options.share * total:
            yield word, spelling
