"""Factored text: one sentence a line, ``word|POS|chunk|head`` for each word.

In and out: ``Sentence``. How: one to four factors a word, the same number in the whole file; the
fourth is the position of the head of the word's chunk, from 0.
Cost: linear, one sentence in memory.
Not: dependency heads; CoNLL-U has them.

>>> from wayword.corpus.annotate.sentence import Chunk
>>> words, tags = ("die", "kleine", "Katze", "schläft"), ("DET", "ADJ", "NOUN", "VERB")
>>> sentence = Sentence(words, tags, (Chunk("NP", 0, 2),))
>>> factored(sentence)
'die|DET|B-NP kleine|ADJ|I-NP Katze|NOUN|I-NP schläft|VERB|O'
>>> factored(sentence, factors=4)
'die|DET|B-NP|2 kleine|ADJ|I-NP|2 Katze|NOUN|I-NP|2 schläft|VERB|O|3'
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from wayword.corpus.annotate.sentence import Chunk, Sentence, chunks_from_tags
from wayword.corpus.files import new_file, open_text
from wayword.errors import ArgumentError, FormatError
from wayword.types import FilePath

__all__ = [
    "FACTORS",
    "escape",
    "factored",
    "parse_factored",
    "read_factored",
    "unescape",
    "write_factored",
]

#: The factors of a word, in this order.
FACTORS = ("word", "pos", "chunk", "head")
BAR = re.compile(r"\||&(?:amp;)*#124;")


def escape(text: str) -> str:
    """Write ``|`` as ``&#124;``, as Moses does, and what looks like it with one more ``amp;``."""
    if "|" not in text and "#124;" not in text:
        return text
    return BAR.sub(lambda bar: "&#124;" if bar[0] == "|" else "&amp;" + bar[0][1:], text)


def unescape(text: str) -> str:
    """Undo ``escape``."""
    if "#124;" not in text:
        return text
    return BAR.sub(lambda bar: "|" if bar[0] == "&#124;" else "&" + bar[0][5:], text)


def factored(sentence: Sentence, *, factors: int | None = None) -> str:
    """A sentence as a line of ``word``, ``word|POS``, ``word|POS|chunk`` or with the head as well.

    Without a number of factors, tags and chunks are written where they are known, heads not.
    """
    known = 1 + (sentence.pos is not None) + (sentence.chunks is not None)
    if sentence.chunks is not None and sentence.pos is None and factors != 1:
        raise ArgumentError("pos: none, but chunks; expected tags too, or write CoNLL-U")
    factors = known if factors is None else factors
    most = known if known < 3 else len(FACTORS)
    if not 1 <= factors <= most:
        layers = ", ".join(FACTORS[:most])
        raise ArgumentError(
            f"factors: found {factors}; expected 1 to {most}, as the sentence has {layers}"
        )
    layers_of_words: list[Sequence[str]] = [sentence.words]
    if factors > 1:
        layers_of_words.append(sentence.pos or ())
    if factors > 2:
        layers_of_words.append(sentence.chunk_tags())
    if factors > 3:
        layers_of_words.append([str(head) for head in sentence.chunk_heads()])
    return " ".join("|".join(map(escape, row)) for row in zip(*layers_of_words, strict=True))


def write_factored(
    path: FilePath, sentences: Iterable[Sentence], *, factors: int | None = None
) -> None:
    """Write one sentence a line, all that have words with the same layers.

    Dependency heads have no place in this format and are left out; heads of chunks are written
    as the fourth of four factors.
    """
    layers: tuple[bool, bool] | None = None
    with new_file(path) as file:
        for number, sentence in enumerate(sentences, 1):
            present = sentence.pos is not None, sentence.chunks is not None
            layers = layers or (present if sentence.words else None)
            if sentence.words and present != layers:
                wanted = "those of the first"
                raise ArgumentError(
                    f"sentences: number {number} has other layers; expected {wanted}"
                )
            print(factored(sentence, factors=factors) if sentence.words else "", file=file)


def read_factored(path: FilePath) -> Iterator[Sentence]:
    """Read lines of one to four factors a word, the same number in the whole file.

    An empty line is a sentence without words, so that line numbers stay those of a bitext.
    """
    count = 0  # of factors, once a line with words has told
    waiting = 0  # empty lines before it
    for number, line in enumerate(open_text(path), 1):
        tokens = line.split()
        if not tokens and not count:
            waiting += 1
            continue
        if not count:
            count = tokens[0].count("|") + 1
            yield from [_from_factors([], count, [])] * waiting
        places = [f"{path}:{number}: token {at} (`{token}`)" for at, token in enumerate(tokens, 1)]
        rows = [_split_factors(*row, count) for row in zip(tokens, places, strict=True)]
        yield _from_factors(rows, count, places)
    if not count:
        yield from [Sentence(())] * waiting


def parse_factored(line: str) -> Sentence:
    """A sentence from one line of factored text.

    >>> parse_factored("Tee|NOUN trinken|VERB").pos
    ('NOUN', 'VERB')
    """
    tokens = line.split()
    count = tokens[0].count("|") + 1 if tokens else 1
    places = [f"token {at} (`{token}`)" for at, token in enumerate(tokens, 1)]
    rows = [_split_factors(*row, count) for row in zip(tokens, places, strict=True)]
    return _from_factors(rows, count, places)


def _split_factors(token: str, place: str, count: int) -> list[str]:
    factors = token.split("|")
    most = len(FACTORS)
    if len(factors) != count or count > most:
        wanted = f"{count} as in the first token" if count <= most else f"1 to {most}"
        advice = "write a `|` inside a word as `&#124;`"
        raise FormatError(f"{place}: {len(factors)} factors; expected {wanted}; {advice}")
    if not all(factors):
        advice = "write a `|` inside a word as `&#124;`"
        raise FormatError(f"{place}: an empty factor; expected text on both sides of `|`; {advice}")
    return [unescape(factor) for factor in factors]


def _from_factors(rows: Sequence[Sequence[str]], count: int, places: Sequence[str]) -> Sentence:
    words, pos, tags, heads = (
        tuple(row[layer] for row in rows if layer < count) for layer in range(len(FACTORS))
    )
    chunks = chunks_from_tags(tags, places, [False] * len(tags)) if count > 2 else None
    if chunks is not None and count > 3:
        chunks = _with_heads(chunks, heads, places)
    return Sentence(words, pos if count > 1 else None, chunks)


def _with_heads(
    chunks: Sequence[Chunk], heads: Sequence[str], places: Sequence[str]
) -> tuple[Chunk, ...]:
    """The chunks with the heads their words name; outside, a word has to name itself."""
    wanted = [range(at, at + 1) for at in range(len(heads))]
    for chunk in chunks:
        inside = range(chunk.start, chunk.end + 1)
        named = heads[chunk.start]
        is_inside = named.isdecimal() and named.isascii() and int(named) in inside
        for at in inside:
            wanted[at] = range(int(named), int(named) + 1) if is_inside else inside
    for head, place, places_of_chunk in zip(heads, places, wanted, strict=True):
        if head not in map(str, places_of_chunk):
            numbers = " or ".join(map(str, places_of_chunk))
            advice = "name one word of the chunk in all its words, and outside the word itself"
            raise FormatError(f"{place}: head `{head}`; expected {numbers}; {advice}")
    return tuple(
        Chunk(chunk.type, chunk.start, chunk.end, int(heads[chunk.start])) for chunk in chunks
    )
