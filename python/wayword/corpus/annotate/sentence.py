"""A sentence with part-of-speech tags, chunks and dependency heads.

In: words and layers, checked when they are put together. Out: ``Sentence``, frozen, positions
from 0. How: chunks are IOB2 (``B-NP`` opens, ``I-NP`` continues, ``O`` is outside); a chunk's
head is the one given, else the last noun of an NP or verb of a VP, else its last word.
Cost: linear.

>>> words, tags = ("die", "kleine", "Katze", "schläft"), ("DET", "ADJ", "NOUN", "VERB")
>>> sentence = Sentence(words, tags, (Chunk("NP", 0, 2),))
>>> sentence.chunk_types(), sentence.chunk_heads()
(('NP', 'NP', 'NP', 'O'), (2, 2, 2, 3))
"""

from collections.abc import Sequence
from dataclasses import dataclass

from wayword.errors import ArgumentError, FormatError

__all__ = ["OUTSIDE", "ROOT", "Chunk", "Sentence", "chunks_from_tags"]

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
    #: How each word depends on its head, such as ``nsubj``; only where there are heads.
    relations: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Check that all layers fit the words."""
        _check_texts("words", self.words)
        if self.pos is not None:
            _check_length("pos", self.pos, len(self.words))
            _check_texts("pos", self.pos)
        if self.heads is not None:
            _check_length("heads", self.heads, len(self.words))
            _check_heads(self.heads)
        if self.relations is not None:
            if self.heads is None:
                raise ArgumentError("relations: given without heads; expected both, or heads alone")
            _check_length("relations", self.relations, len(self.words))
            _check_texts("relations", self.relations)
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

    def chunk_starts(self) -> tuple[int, ...]:
        """The position where each word's chunk starts; outside, the word itself."""
        starts = list(range(len(self)))
        for chunk in self.chunks or ():
            for at in range(chunk.start, chunk.end + 1):
                starts[at] = chunk.start
        return tuple(starts)

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
    if " ".join(texts).split() == list(texts):
        return
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


def chunks_from_tags(
    tags: Sequence[str], places: Sequence[str], heads: Sequence[bool]
) -> tuple[Chunk, ...]:
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
