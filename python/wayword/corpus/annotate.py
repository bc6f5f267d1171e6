"""Sentences with part-of-speech tags, chunks and dependency heads, and their files.

In: factored text (``word|POS|chunk``) or CoNLL-U. Out: ``Sentence``, frozen, positions from 0.
How: chunks are IOB2 (``B-NP`` opens, ``I-NP`` continues, ``O`` is outside); a chunk's head is
the one given, else the last noun of an NP or verb of a VP, else its last word.
Cost: linear, one sentence in memory.
Not: tagging, chunking or parsing; morphology, relations and enhanced graphs of CoNLL-U.

>>> words, tags = ("die", "kleine", "Katze", "schläft"), ("DET", "ADJ", "NOUN", "VERB")
>>> sentence = Sentence(words, tags, (Chunk("NP", 0, 2),))
>>> sentence.chunk_types(), sentence.chunk_heads()
(('NP', 'NP', 'NP', 'O'), (2, 2, 2, 3))
>>> factored(sentence)
'die|DET|B-NP kleine|ADJ|I-NP Katze|NOUN|I-NP schläft|VERB|O'
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from wayword.corpus.files import FilePath, new_file, open_text
from wayword.errors import ArgumentError, FormatError

__all__ = [
    "OUTSIDE",
    "ROOT",
    "Chunk",
    "Sentence",
    "factored",
    "parse_factored",
    "read_conllu",
    "read_factored",
    "surface",
    "write_conllu",
    "write_factored",
]

OUTSIDE = "O"  # the chunk type of a word in no chunk
ROOT = -1  # the head of a word that depends on none

NOUNS = ("N", "PROPN", "名詞")  # how tags of nouns and verbs begin: UD, Penn, STTS, UniDic
NOT_NOUNS = ("NUM", "NEG")
VERBS = ("V", "動詞")


@dataclass(frozen=True)
class Chunk:
    """Words ``start`` to ``end``, both inside; ``head`` when an annotator gave it."""

    type: str
    start: int
    end: int
    head: int | None = None


@dataclass(frozen=True)
class Sentence:
    """Words and what is known of them; None where a layer is not there."""

    words: tuple[str, ...]
    pos: tuple[str, ...] | None = None
    chunks: tuple[Chunk, ...] | None = None
    heads: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Check that all layers fit the words."""
        _check_texts("words", self.words)
        if self.pos is not None:
            _check_length("pos", self.pos, len(self.words))
            _check_texts("pos", self.pos)
        if self.heads is not None:
            _check_length("heads", self.heads, len(self.words))
            _check_heads(self.heads)
        _check_chunks(self.chunks or (), len(self.words))

    def __len__(self) -> int:
        return len(self.words)

    def chunk_numbers(self) -> tuple[int | None, ...]:
        """Which chunk each word is in; None outside."""
        numbers: list[int | None] = [None] * len(self)
        for number, chunk in enumerate(self.chunks or ()):
            for at in range(chunk.start, chunk.end + 1):
                numbers[at] = number
        return tuple(numbers)

    def chunk_types(self) -> tuple[str, ...]:
        """The type of each word's chunk; ``O`` outside."""
        chunks = self.chunks or ()
        return tuple(OUTSIDE if at is None else chunks[at].type for at in self.chunk_numbers())

    def chunk_heads(self) -> tuple[int, ...]:
        """The position of the head of each word's chunk; outside, the word itself."""
        heads = list(range(len(self)))
        for chunk in self.chunks or ():
            head = self.head_of(chunk)
            for at in range(chunk.start, chunk.end + 1):
                heads[at] = head
        return tuple(heads)

    def head_of(self, chunk: Chunk) -> int:
        """The head of one chunk: given, or told by the tags."""
        if chunk.head is not None:
            return chunk.head
        for at in range(chunk.end, chunk.start - 1, -1):
            if self.pos is not None and _can_head(chunk.type, self.pos[at]):
                return at
        return chunk.end

    def chunk_tags(self) -> tuple[str, ...]:
        """The IOB2 tag of each word."""
        starts = {chunk.start for chunk in self.chunks or ()}
        return tuple(
            kind if kind == OUTSIDE else f"{'B' if at in starts else 'I'}-{kind}"
            for at, kind in enumerate(self.chunk_types())
        )


def _can_head(kind: str, tag: str) -> bool:
    if kind == "NP":
        return tag.startswith(NOUNS) and not tag.startswith(NOT_NOUNS)
    return kind == "VP" and tag.startswith(VERBS)


def _check_texts(layer: str, texts: Sequence[str]) -> None:
    for at, text in enumerate(texts):
        if text.split() != [text]:
            found = f"{layer}: `{text}` at position {at}"
            raise ArgumentError(f"{found}; expected text that is not empty and has no whitespace")


def _check_length(layer: str, values: Sequence[object], length: int) -> None:
    if len(values) != length:
        raise ArgumentError(f"{layer}: {len(values)} for {length} words; expected one a word")


def _check_heads(heads: Sequence[int]) -> None:
    for at, head in enumerate(heads):
        if not ROOT <= head < len(heads) or head == at:
            found = f"heads: {head} at position {at} of {len(heads)}"
            raise ArgumentError(f"{found}; expected another word, or {ROOT} for the root")


def _check_chunks(chunks: Sequence[Chunk], length: int) -> None:
    free = 0
    for chunk in chunks:
        _check_texts("chunks", (chunk.type,))
        if chunk.type == OUTSIDE or not free <= chunk.start <= chunk.end < length:
            found = f"chunks: {chunk.type} from {chunk.start} to {chunk.end} of {length} words"
            raise ArgumentError(f"{found}; expected chunks inside the sentence, in order and apart")
        if chunk.head is not None and not chunk.start <= chunk.head <= chunk.end:
            found = f"chunks: head {chunk.head} of {chunk.type} from {chunk.start} to {chunk.end}"
            raise ArgumentError(f"{found}; expected a word of the chunk")
        free = chunk.end + 1


def _chunks(tags: Sequence[str], places: Sequence[str], heads: Sequence[bool]) -> tuple[Chunk, ...]:
    """Chunks from IOB2 tags; ``places`` says where each tag stands, for complaints."""
    chunks: list[Chunk] = []
    for at, (tag, place, is_head) in enumerate(zip(tags, places, heads, strict=True)):
        if tag == OUTSIDE:
            continue
        opens, dash, kind = tag.partition("-")
        if opens not in {"B", "I"} or not dash or kind.split() != [kind] or kind == OUTSIDE:
            raise FormatError(f"{place}: chunk tag `{tag}`; expected `O`, `B-NP` or `I-NP`; fix it")
        if opens == "B":
            chunks.append(Chunk(kind, at, at, at if is_head else None))
            continue
        last = chunks[-1] if chunks else None
        if last is None or last.end != at - 1 or last.type != kind:
            found = f"{place}: chunk tag `{tag}` continues nothing"
            raise FormatError(f"{found}; expected `B-{kind}` to open a chunk; use IOB2 tags")
        chunks[-1] = Chunk(kind, last.start, at, at if is_head else last.head)
    return tuple(chunks)


# --- factored text -------------------------------------------------------------------------------

FACTORS = 3
BAR = re.compile(r"\||&(?:amp;)*#124;")


def _escape(text: str) -> str:
    """Write ``|`` as ``&#124;``, as Moses does, and what looks like it with one more ``amp;``."""
    return BAR.sub(lambda bar: "&#124;" if bar[0] == "|" else "&amp;" + bar[0][1:], text)


def _unescape(text: str) -> str:
    return BAR.sub(lambda bar: "|" if bar[0] == "&#124;" else "&" + bar[0][5:], text)


def surface(token: str) -> str:
    """The word of a factored token.

    >>> surface("Katze|NOUN|I-NP")
    'Katze'
    """
    return _unescape(token.split("|", 1)[0])


def factored(sentence: Sentence) -> str:
    """A sentence as a line of ``word``, ``word|POS`` or ``word|POS|chunk``."""
    layers = [sentence.words]
    if sentence.pos is not None:
        layers.append(sentence.pos)
    if sentence.chunks is not None:
        if sentence.pos is None:
            raise ArgumentError("pos: none, but chunks; expected tags too, or write CoNLL-U")
        layers.append(sentence.chunk_tags())
    return " ".join("|".join(map(_escape, factors)) for factors in zip(*layers, strict=True))


def write_factored(path: FilePath, sentences: Iterable[Sentence]) -> None:
    """Write one sentence a line, all that have words with the same layers.

    Dependency heads and given chunk heads have no place in this format and are left out.
    """
    layers: tuple[bool, bool] | None = None
    with new_file(path) as file:
        for number, sentence in enumerate(sentences, 1):
            found = sentence.pos is not None, sentence.chunks is not None
            layers = layers or (found if sentence.words else None)
            if sentence.words and found != layers:
                wanted = "those of the first"
                raise ArgumentError(
                    f"sentences: number {number} has other layers; expected {wanted}"
                )
            print(factored(sentence), file=file)


def read_factored(path: FilePath) -> Iterator[Sentence]:
    """Read lines of ``word``, ``word|POS`` or ``word|POS|chunk``, the same in the whole file.

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
    if len(factors) != count or count > FACTORS:
        wanted = f"{count} as in the first token" if count <= FACTORS else f"1 to {FACTORS}"
        advice = "write a `|` inside a word as `&#124;`"
        raise FormatError(f"{place}: {len(factors)} factors; expected {wanted}; {advice}")
    if not all(factors):
        advice = "write a `|` inside a word as `&#124;`"
        raise FormatError(f"{place}: an empty factor; expected text on both sides of `|`; {advice}")
    return [_unescape(factor) for factor in factors]


def _from_factors(rows: Sequence[Sequence[str]], count: int, places: Sequence[str]) -> Sentence:
    words, pos, tags = (tuple(row[layer] for row in rows if layer < count) for layer in range(3))
    chunks = _chunks(tags, places, [False] * len(tags)) if count > 2 else None
    return Sentence(words, pos if count > 1 else None, chunks)


# --- CoNLL-U -------------------------------------------------------------------------------------

COLUMNS = 10
ID, FORM, UPOS, XPOS, HEAD, DEPREL, MISC = 0, 1, 3, 4, 6, 7, 9
WORD_ID = re.compile(r"[1-9][0-9]{0,8}")
SKIPPED_ID = re.compile(r"[0-9]+[-.][0-9]+")  # a multiword token or an empty node
NONE = "_"


def read_conllu(path: FilePath, *, tags: str = "upos") -> Iterator[Sentence]:
    """Read words, tags (``upos`` or ``xpos``), heads and chunks (``Chunk=B-NP`` in MISC).

    Words are the syntactic words: of *1-2 zum, 1 zu, 2 dem* they are *zu* and *dem*; empty nodes
    (*1.1*) and comments are left out. A space inside a word becomes ``_``.
    """
    columns = {"upos": UPOS, "xpos": XPOS}
    if tags not in columns:
        raise ArgumentError(f"tags: found `{tags}`; expected one of {', '.join(columns)}")
    rows: list[list[str]] = []
    places: list[str] = []
    for number, line in enumerate(open_text(path), 1):
        if line and not line.isspace():
            row = _conllu_row(line, f"{path}:{number}", len(rows) + 1)
            if row:
                rows.append(row)
                places.append(f"{path}:{number}")
        elif rows:
            yield _from_rows(rows, places, columns[tags])
            rows, places = [], []
    if rows:
        yield _from_rows(rows, places, columns[tags])


def _conllu_row(line: str, place: str, number: int) -> list[str]:
    """The columns of the word with this number; none for other lines."""
    if line.startswith("#"):
        return []
    row = line.split("\t")
    if len(row) != COLUMNS:
        found = f"{place}: {len(row)} columns"
        raise FormatError(f"{found}; expected {COLUMNS} with tabs between them; is this CoNLL-U?")
    if SKIPPED_ID.fullmatch(row[ID]):
        return []
    if row[ID] != str(number):
        found = f"{place}: word number `{row[ID]}`"
        raise FormatError(f"{found}; expected {number}; number the words of a sentence from 1")
    row[FORM] = NONE.join(row[FORM].split())
    if not row[FORM]:
        raise FormatError(f"{place}: no word; expected text in column 2; write `_` for none")
    return row


def _from_rows(rows: Sequence[list[str]], places: Sequence[str], column: int) -> Sentence:
    words = tuple(row[FORM] for row in rows)
    pos = [NONE.join(row[column].split()) or NONE for row in rows]
    misc = [_features(row[MISC]) for row in rows]
    chunks = None
    if any("Chunk" in features for features in misc):
        tags = [features.get("Chunk", OUTSIDE) for features in misc]
        chunks = _chunks(tags, places, [features.get("ChunkHead") == "Yes" for features in misc])
    has_tags = any(tag != NONE for tag in pos)
    return Sentence(words, tuple(pos) if has_tags else None, chunks, _heads(rows, places))


def _features(misc: str) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in misc.split("|"))
    return {name: _unescape(value) for name, _, value in pairs}


def _heads(rows: Sequence[list[str]], places: Sequence[str]) -> tuple[int, ...] | None:
    found = [row[HEAD] for row in rows]
    if all(head == NONE for head in found):
        return None
    heads = []
    for at, (head, place) in enumerate(zip(found, places, strict=True), 1):
        number = int(head) if head == "0" or WORD_ID.fullmatch(head) else -1
        if not 0 <= number <= len(rows) or number == at:
            wanted = f"0 or another word up to {len(rows)}"
            raise FormatError(f"{place}: head `{head}`; expected {wanted}; give all heads or none")
        heads.append(number - 1)
    return tuple(heads)


def write_conllu(path: FilePath, sentences: Iterable[Sentence]) -> None:
    """Write every layer; relations are ``root`` and ``dep``, as only heads are known."""
    with new_file(path) as file:
        for number, sentence in enumerate(sentences, 1):
            if not sentence.words:
                found = f"sentences: number {number} has no words"
                raise ArgumentError(f"{found}; expected one or more, as CoNLL-U has no empty ones")
            for row in _rows(sentence):
                print(*row, sep="\t", file=file)
            print(file=file)


def _rows(sentence: Sentence) -> Iterator[list[str]]:
    given = {chunk.head for chunk in sentence.chunks or ()}
    tags = sentence.chunk_tags() if sentence.chunks is not None else ()
    for at, word in enumerate(sentence.words):
        row = [str(at + 1), word] + [NONE] * (COLUMNS - 2)
        if sentence.pos is not None:
            row[UPOS] = sentence.pos[at]
        if sentence.heads is not None:
            head = sentence.heads[at]
            row[HEAD], row[DEPREL] = str(head + 1), "root" if head == ROOT else "dep"
        if tags:
            row[MISC] = f"Chunk={_escape(tags[at])}" + ("|ChunkHead=Yes" if at in given else "")
        yield row
