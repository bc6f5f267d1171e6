r"""Splits text into sentences, and joins their translations.

In: text of any length, and its language. Out: a ``SplitText``: sentences and the whitespace around
them, which together are the text again.
How: a line break ends a sentence. Within a line a sentence ends after ``. ! ?`` (and closing
quotation marks) before a word that does not start with a lower-case letter, unless the full stop
belongs to a number, an initial or an abbreviation that Moses' tokenizer knows; after ``。！？`` it
ends always. Only a word and the start of the next decide.
Cost: linear in the characters, for any text: each word is looked at once, and no pattern can
backtrack.
Not: a sentence that ends with a number or an abbreviation is not told from the next one.

>>> split_sentences("Er kam am 3. Mai. Wer? „Ich.“\n\nGut, Dr. Maus", "de").sentences
('Er kam am 3. Mai.', 'Wer?', '„Ich.“', 'Gut, Dr. Maus')
>>> split = split_sentences("今日は。明日も\n")
>>> split.sentences, split.gaps
(('今日は。', '明日も'), ('', '', '\n'))
>>> split.join(["Today.", "Tomorrow too"])
'Today. Tomorrow too\n'
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from wayword.corpus.moses_rules import nonbreaking_prefixes
from wayword.types import Span

__all__ = ["SplitText", "split_at", "split_lines", "split_sentences"]

#: Marks after which a sentence ends whatever follows, and all after which it may end.
WIDE_ENDS = frozenset("。！？")
ENDS = ".!?…؟।۔。！？"
CLOSERS = "\"'”’»“)]」』）"
OPENERS = "\"'„‚“‘«»‹›([¿¡"
MARKS = frozenset(ENDS + CLOSERS)
LINE_BREAKS = frozenset("\r\n\v\f\x85\u2028\u2029")
# Each pattern is one repeated class with nothing after it: no match is ever taken back.
WORD = re.compile(r"\S+")
WIDE_TAIL = re.compile(f"[{ENDS}」』”’）]+")


@dataclass(frozen=True)
class SplitText:
    """The sentences of a text, and the whitespace around them."""

    sentences: tuple[str, ...]
    #: before the first sentence, between each two, after the last
    gaps: tuple[str, ...]
    #: between translated sentences of a line
    separator: str = " "

    @property
    def starts(self) -> list[int]:
        """The place in the text of each sentence's first character."""
        starts, at = [], 0
        for gap, sentence in zip(self.gaps, self.sentences, strict=False):
            starts.append(at + len(gap))
            at = starts[-1] + len(sentence)
        return starts

    def join(self, texts: Sequence[str]) -> str:
        """Join the translations of the sentences.

        Whitespace with a line break stays, and so does that around the text; between sentences of
        a line stands the separator, unless the first of them has an empty translation.
        """
        joined = [self.gaps[0]]
        for text, gap in zip(texts, self.gaps[1:], strict=True):
            joined += [text, gap if has_line_break(gap) else self.separator * bool(text)]
        if len(joined) > 1:
            joined[-1] = self.gaps[-1]
        return "".join(joined)


def split_sentences(text: str, lang: str = "", *, separator: str = " ") -> SplitText:
    """Split text into sentences; abbreviations are those of the language."""
    return split_at(text, _boundaries(text, lang), separator=separator)


def split_lines(text: str) -> SplitText:
    r"""Split text at line breaks alone.

    >>> split_lines("das ist . ja .\n\nnein").sentences
    ('das ist . ja .', 'nein')
    """
    gaps = ((end, start) for end, start in _gaps(text) if has_line_break(text[end:start]))
    return split_at(text, gaps)


def split_at(text: str, boundaries: Iterable[Span], *, separator: str = " ") -> SplitText:
    """Split text at given boundaries: each the end of a sentence and the start of the next."""
    begin, finish = len(text) - len(text.lstrip()), len(text.rstrip())
    if begin >= finish:
        return SplitText((), (text,), separator)
    sentences, gaps = [], [text[:begin]]
    for end, start in boundaries:
        sentences.append(text[begin:end])
        gaps.append(text[end:start])
        begin = start
    return SplitText((*sentences, text[begin:finish]), (*gaps, text[finish:]), separator)


def has_line_break(gap: str) -> bool:
    """Return whether the whitespace holds a line break."""
    return not LINE_BREAKS.isdisjoint(gap)


def _gaps(text: str) -> Iterator[Span]:
    """Yield where the whitespace between each two words starts and ends."""
    end = None
    for word in WORD.finditer(text):
        if end is not None:
            yield end, word.start()
        end = word.end()


def _boundaries(text: str, lang: str) -> Iterator[Span]:
    prefixes = nonbreaking_prefixes(lang)
    has_wide = not WIDE_ENDS.isdisjoint(text)
    word, end = "", None
    for following in WORD.finditer(text):
        start = following.start()
        if end is not None and (
            has_line_break(text[end:start])
            or (word[-1] in MARKS and _is_end(word, text[start], *prefixes))
        ):
            yield end, start
        word, end = following[0], following.end()
        if has_wide:
            ends = _wide_ends(word)
            yield from ((start + at, start + at) for at in ends)
            word = word[ends[-1] if ends else 0 :]


def _wide_ends(word: str) -> list[int]:
    """Return the places within a word, written without spaces, where a sentence ends."""
    tails = WIDE_TAIL.finditer(word)
    ends = [tail.end() for tail in tails if not WIDE_ENDS.isdisjoint(tail[0])]
    return ends[:-1] if ends and ends[-1] == len(word) else ends


def _is_end(
    word: str, following: str, always: frozenset[str], before_number: frozenset[str]
) -> bool:
    """Return whether a sentence ends with this word, given the first character of the next."""
    tail = word.rstrip(CLOSERS)
    body = tail.rstrip(ENDS)
    marks = tail[len(body) :]
    if not marks or not WIDE_ENDS.isdisjoint(marks):
        return bool(marks)
    if following.isalpha() and following.upper() != following:
        return False
    if marks != "." or tail != word:
        return True
    body = body.lstrip(OPENERS)
    if body in always or body.isdecimal() or (body in before_number and following.isdigit()):
        return False
    return not all(len(part) == 1 and part.isalpha() for part in body.split("."))
