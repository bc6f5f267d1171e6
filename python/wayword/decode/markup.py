"""Tags in the text that say how to translate it, as Moses' users know them.

In: a line such as ``das <n translation="dwelling">haus</n> <wall/> <zone> ... </zone>``.
Out: a ``Source`` for the decoder, which holds to given translations, walls and zones.
How: the core reads the tags. ``exclusive`` uses nothing but the given translations for their
words, ``inclusive`` lets them compete with the table, ``ignore`` leaves them out; walls and zones
hold in all of them. ``&lt;`` and other entities stand for signs. Raw text is prepared piece by
piece, between the tags.
Not: Moses' ``constraint`` mode.

>>> read_markup("a <n translation='x'>b c</n>", "exclusive").words
('a', 'b', 'c')
>>> read_markup("<zone> never closed", "exclusive", ("text", 2))
Traceback (most recent call last):
...
wayword.errors.FormatError: text:2: `<zone>` at character 1 is never closed; expected `</zone>` \
before the end of the line; write &lt; where no tag is meant
>>> line = "Das <n translation='x'>Haus</n>R&amp;D."
>>> source = read_markup(line, "exclusive", prepare=lambda text: text.replace(".", " ."))
>>> source.words, source.offsets
(('Das', 'Haus', 'R&D', '.'), ((0, 3), (23, 27), (31, 38), (38, 39)))
"""

import re
from collections.abc import Callable, Iterator, Sequence

from wayword import _core
from wayword.corpus.annotate import Sentence
from wayword.corpus.offsets import Character, locate_in
from wayword.corpus.sentences import SplitText, has_line_break, split_at
from wayword.corpus.source import Source
from wayword.errors import FormatError

__all__ = ["MODES", "demands", "read_markup", "split_markup"]

#: what becomes of given translations
MODES = {
    "exclusive": "nothing else is used for their words",
    "inclusive": "they compete with the table",
    "ignore": "they are left out; walls and zones hold",
}

_TAG = re.compile(r"""(<(?:[^<>"']|"[^"]*"|'[^']*')*>)""")
_SPACE = re.compile(r"\s*")
_SIGNS = {"&quot;": '"', "&apos;": "'"}
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos);|.", re.DOTALL)
_GIVEN = re.compile(r"""((?<=\s)(?:translation|english)\s*=\s*)("[^"]*"|'[^']*')""")
#: White space to Python, but not to the core.
_SPACES = dict.fromkeys(range(0x1C, 0x20), " ")
#: The least probability of a guess that is told: the reader of tags wants a number above 0.
_LEAST = 1e-30


def read_markup(
    line: str,
    mode: bool | str = "exclusive",
    place: tuple[str, int] = ("text", 1),
    prepare: Callable[[str], str | Sequence[str]] | None = None,
    split: Callable[[Sequence[str]], Sequence[str]] | None = None,
) -> Source:
    """Read a marked-up line; ``mode`` is one of ``MODES``, or true for ``exclusive``.

    ``place`` is the file and the line's number, for messages. ``prepare`` makes tokens of raw
    text; without it the text is tokenised already. ``split`` makes pieces of the words of given
    translations, for a system whose text is in pieces.
    """
    text = line if prepare is None else _prepared(line, prepare, split)
    mode = "exclusive" if mode is True else str(mode)
    markup = _core.Markup(text.translate(_SPACES), mode, *place)
    words = tuple(markup.words)
    offsets = locate_in(words, _characters(line)) if prepare is not None else None
    return Source(Sentence(words), markup=markup, raw=line, offsets=offsets)


def split_markup(text: str, split: Callable[[str], SplitText]) -> SplitText:
    """Split marked-up text as ``split`` does without its tags, but nowhere inside an element.

    Tags between two sentences belong to the second one, unless they close an element. Text with
    broken markup stays whole, so that the message about it counts the characters of the text.

    >>> from wayword.corpus.sentences import split_sentences
    >>> split_markup("<zone>Ja. Nein.</zone> <wall/>Oh &lt;x. Ah", split_sentences).sentences
    ('<zone>Ja. Nein.</zone>', '<wall/>Oh &lt;x.', 'Ah')
    """
    if "<" not in text and "&" not in text:
        return split(text)
    if not _is_whole(text):
        return split_at(text, [])
    characters = _characters(text)
    written = [each for each in characters if not _is_tag(each)]
    tags = [(each.start, each.end) for each in characters if _is_tag(each)]
    plain = split("".join(each.text for each in written))
    boundaries = []
    depth = at = 0
    for sentence, start, following in zip(
        plain.sentences, plain.starts, plain.starts[1:], strict=False
    ):
        end = written[start + len(sentence) - 1].end
        while at < len(tags) and tags[at][0] < end:
            depth += _nesting(text[slice(*tags[at])])
            at += 1
        outside = [end] if depth == 0 else []
        while at < len(tags) and tags[at][0] < written[following].start:
            depth += _nesting(text[slice(*tags[at])])
            outside += [tags[at][1]] if depth == 0 else []
            at += 1
        if outside:
            boundaries.append(_widest(text, outside))
    return split_at(text, boundaries, separator=plain.separator)


def _is_whole(text: str) -> bool:
    """Return whether all markup of a text can be read."""
    try:
        read_markup(text, "ignore")
    except FormatError:
        return False
    return True


def _widest(text: str, places: Sequence[int]) -> tuple[int, int]:
    """Return the whitespace after the first place with a line break, or after the first place."""
    spans = [(place, _SPACE.match(text, place).end()) for place in places]  # type: ignore[union-attr]
    return next((span for span in spans if has_line_break(text[slice(*span)])), spans[0])


def _is_tag(character: Character) -> bool:
    """Return whether ``_characters`` gave this for a tag."""
    return character.text == " " and character.end - character.start > 1


def _nesting(tag: str) -> int:
    """Return the change of depth that a tag makes."""
    return -1 if tag.startswith("</") else 0 if tag.endswith("/>") else 1


def _prepared(
    line: str,
    prepare: Callable[[str], str | Sequence[str]],
    split: Callable[[Sequence[str]], Sequence[str]] | None,
) -> str:
    """A line whose text was prepared piece by piece, with its tags as they are."""
    from xml.sax.saxutils import escape, unescape

    pieces = _TAG.split(line)
    if split is not None:
        pieces[1::2] = [_given_in_pieces(tag, split) for tag in pieces[1::2]]
    for at in range(0, len(pieces), 2):  # tags stand between pieces of text
        if "<" not in pieces[at]:  # a broken tag is for the reader to tell
            tokens = prepare(unescape(pieces[at], _SIGNS))
            text = tokens if isinstance(tokens, str) else " ".join(tokens)
            pieces[at] = escape(text).replace("&gt;", ">")
    return " ".join(piece for piece in pieces if piece)


def _given_in_pieces(tag: str, split: Callable[[Sequence[str]], Sequence[str]]) -> str:
    """A tag with the words of its given translations split.

    >>> _given_in_pieces("<n translation='a cat||x'>", lambda words: [f"_{word}" for word in words])
    '<n translation="_a _cat||_x">'
    """
    from xml.sax.saxutils import quoteattr, unescape

    def split_value(attribute: re.Match[str]) -> str:
        texts = [unescape(text, _SIGNS).split() for text in attribute[2][1:-1].split("||")]
        value = "||".join(" ".join(split(words)).replace("|", "&#124;") for words in texts)
        # Bars between translations stay bars, those of words are written as numbers.
        quoted = quoteattr(value).replace("&amp;#124;", "&#124;")
        return attribute[1] + quoted

    return _GIVEN.sub(split_value, tag)


def _characters(line: str) -> list[Character]:
    """What stands between the tags, with the places where it is written."""
    from xml.sax.saxutils import unescape

    characters, at = [], 0
    for number, piece in enumerate(_TAG.split(line)):
        if number % 2:  # a tag parts words
            characters.append(Character(" ", at, at + len(piece)))
        else:
            characters += [
                Character(unescape(sign[0], _SIGNS), at + sign.start(), at + sign.end())
                for sign in _ENTITY.finditer(piece)
            ]
        at += len(piece)
    return characters


def demands(source: Source) -> _core.Markup | None:
    """The markup of a sentence, with guesses of how unknown words are spelled.

    Guesses are further translations, which compete with all others. Words whose translation is
    given get none.

    >>> known = Source(Sentence(("ja", "Tee")), spellings={1: (("tea", 0.75), ("tee", 0.25))})
    >>> demands(known).__getnewargs__()[:2]
    ('ja <s translation="tea||tee" prob="0.75||0.25">Tee</s>', 'inclusive')
    """
    if not source.spellings:
        return source.markup
    from xml.sax.saxutils import escape

    if source.markup is None:
        line, mode, file, number = " ".join(map(escape, source.words)), "inclusive", "spellings", 1
    else:
        line, mode, file, number = source.markup.__getnewargs__()
    if mode == "ignore":  # given translations go, the guesses stay
        mode, drops_given = "inclusive", True
    else:
        drops_given = False
    pieces = _with_guesses(line, source, drops_given=drops_given)
    return _core.Markup(" ".join(pieces), mode, file, number)


def _with_guesses(line: str, source: Source, *, drops_given: bool) -> Iterator[str]:
    """The words and tags of a line, guesses around the words that have some."""
    place, has_given = 0, False
    for number, piece in enumerate(_TAG.split(line)):
        if number % 2:
            is_given = re.match(r"</?(?:zone|wall)\b", piece) is None
            if is_given:
                has_given = not piece.startswith("</")
            if not (is_given and drops_given):
                yield piece
            continue
        for word in piece.split():
            guesses = source.spellings.get(place)
            has_guesses = guesses is not None and (drops_given or not has_given)
            yield _guessed(word, guesses) if has_guesses and guesses else word
            place += 1


def _guessed(word: str, guesses: Sequence[tuple[str, float]]) -> str:
    from xml.sax.saxutils import quoteattr

    texts = "||".join(text.replace("|", "&#124;") for text, _ in guesses)
    probs = "||".join(f"{max(share, _LEAST):.6g}" for _, share in guesses)
    texts = quoteattr(texts).replace("&amp;#124;", "&#124;")
    return f'<s translation={texts} prob="{probs}">{word}</s>'
