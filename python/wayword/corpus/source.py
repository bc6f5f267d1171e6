"""A sentence to translate: words, and all that is known of them.

In: tokenised text, or what a system made of raw text: words with tags, chunks and heads, demands
on the translation, a preorderer's order, matrices for path features, the raw line and where in it
each word stands. Out: one frozen value that goes from the user's text to the decoder.
How: places in a ``Source`` count its words; ``order`` leads back to the words the user wrote, and
``offsets`` from those to the characters of ``raw``.
Cost: linear in the words; a matrix is kept as it is.

>>> source = Source.of("ich habe Tee getrunken")
>>> turned = source.reordered([0, 1, 3, 2])
>>> turned.words, turned.order
(('ich', 'habe', 'getrunken', 'Tee'), (0, 1, 3, 2))
>>> turned.written
('ich', 'habe', 'Tee', 'getrunken')
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from wayword import _core
from wayword.corpus.annotate import Chunk, Sentence, parse_factored
from wayword.errors import ArgumentError, LimitError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Offsets", "Source"]

#: Words that end a sentence, and words after which a long one is cut rather than elsewhere.
ENDS = frozenset(".!?。！？．؟۔।…")
SIGNS = frozenset(",;:，；：、،؛—–")
#: Where in a line each word stands: first character, after the last; None where it is not known.
Offsets: TypeAlias = tuple[tuple[int, int] | None, ...]


@dataclass(frozen=True)
class Source:
    """A sentence to translate: words and all that is known of them."""

    #: words, and tags, chunks and heads where there are
    sentence: Sentence
    #: given translations, walls and zones, read from tags
    markup: _core.Markup | None = None
    #: a preorderer's position map: ``order[k]`` is the place, among the words the user wrote, of
    #: the word at place ``k`` here
    order: tuple[int, ...] | None = None
    #: by place of a word that no model knows: guesses how it is spelled on the other side, each
    #: with its probability
    spellings: Mapping[int, tuple[tuple[str, float], ...]] = field(default_factory=dict)
    #: by name of path feature: P(next | last), a row for the start and one for each word
    matrices: "Mapping[str, NDArray[np.float64]]" = field(
        default_factory=dict, compare=False, repr=False
    )
    #: the line as the user wrote it
    raw: str = ""
    #: where in ``raw`` each word the user wrote stands; None when the text came tokenised
    offsets: Offsets | None = None

    def __post_init__(self) -> None:
        """Check that everything is about the same words."""
        length = len(self.sentence)
        if self.markup is not None and len(self.markup) != length:
            found = f"tags around {len(self.markup)} words for {length}"
            raise ArgumentError(f"markup: {found}; expected the same words")
        if self.order is not None:
            _check_order(self.order, length)
        for place in self.spellings:
            if not 0 <= place < length:
                raise ArgumentError(f"spellings: found place {place}; expected 0 to {length - 1}")
        if self.offsets is not None and len(self.offsets) != length:
            raise ArgumentError(
                f"offsets: {len(self.offsets)} for {length} words; expected one each"
            )

    @classmethod
    def of(cls, text: str | Sequence[str]) -> "Source":
        """Tokenised text: words with spaces between, or a list of words."""
        if isinstance(text, str):
            return cls(Sentence(tuple(text.split())), raw=text)
        return cls(Sentence(tuple(text)))

    @property
    def words(self) -> tuple[str, ...]:
        """The words, in the order in which the decoder gets them."""
        return self.sentence.words

    @property
    def written(self) -> tuple[str, ...]:
        """The words in the order in which the user wrote them."""
        if self.order is None:
            return self.words
        places = dict(zip(self.order, self.words, strict=True))
        return tuple(places[place] for place in range(len(places)))

    def __len__(self) -> int:
        return len(self.sentence)

    def cut(self, longest: int) -> "list[Source]":
        """The sentence in pieces of at most so many words, cut after the ends of sentences.

        Where there is none, after a sign, else anywhere. What is known of words but not written
        with them cannot be cut.

        >>> [piece.words for piece in Source.of("ja . nein . oder").cut(4)]
        [('ja', '.', 'nein', '.'), ('oder',)]
        """
        if len(self) <= longest:
            return [self]
        is_plain = self.markup is None or self.markup.is_empty
        if (
            not is_plain
            or self.order is not None
            or self.matrices
            or self.sentence != Sentence(self.words)
        ):
            found = f"a sentence of {len(self)} words with tags or demands"
            raise LimitError(f"{found}; the limit is {longest} words; split it")
        pieces, start = [], 0
        while start < len(self):
            end = _cut_after(self.words, start, longest)
            offsets = None if self.offsets is None else self.offsets[start:end]
            words = Sentence(self.words[start:end])
            pieces.append(Source(words, raw=self.raw, offsets=offsets))
            start = end
        return pieces

    def within(self, text: str, start: int) -> "Source":
        """Return the sentence as a part of a text, from character ``start`` on.

        >>> Source(Sentence(("Ja",)), raw="Ja", offsets=((0, 2),)).within("Gut. Ja", 5).offsets
        ((5, 7),)
        """
        if self.offsets is None:
            return replace(self, raw=text)
        spans = (None if at is None else (at[0] + start, at[1] + start) for at in self.offsets)
        return replace(self, raw=text, offsets=tuple(spans))

    def with_sentence(self, sentence: Sentence) -> "Source":
        """The same words annotated."""
        if sentence.words != self.words:
            found = f"`{' '.join(sentence.words)}` for `{' '.join(self.words)}`"
            raise ArgumentError(f"sentence: found {found}; expected the same words")
        return replace(self, sentence=sentence)

    def with_factors(self) -> "Source":
        """The same with words such as ``Tee|NOUN`` taken apart.

        >>> Source.of("Tee|NOUN trinken|VERB").with_factors().sentence.pos
        ('NOUN', 'VERB')
        """
        return replace(self, sentence=parse_factored(" ".join(self.words)))

    def with_matrix(self, name: str, matrix: "ArrayLike") -> "Source":
        """The same with P(next | last) for the path feature of this name."""
        import numpy as np

        given = np.asarray(matrix, dtype=np.float64)
        return replace(self, matrices={**self.matrices, name: given})

    def reordered(self, order: Sequence[int]) -> "Source":
        """Words and layers in another order: ``order[k]`` is the place here of the new ``k``-th.

        Where each word stands among those the user wrote is kept. A chunk that is torn apart
        becomes several of its type. Tags in the text stand for an order, so they do not mix.
        """
        import numpy as np

        order = tuple(map(int, order))
        _check_order(order, len(self))
        if order == tuple(range(len(self))):
            return replace(self, order=self.order or order)
        if self.markup is not None and not self.markup.is_empty:
            advice = "preorder sentences without tags only"
            raise ArgumentError(f"order: a sentence with given translations or walls; {advice}")
        places = np.asarray(order, dtype=np.intp)
        rows = np.concatenate([np.zeros(1, dtype=np.intp), places + 1])
        return replace(
            self,
            sentence=_reordered(self.sentence, order),
            markup=None,
            order=order if self.order is None else tuple(self.order[place] for place in order),
            spellings={
                at: self.spellings[place]
                for at, place in enumerate(order)
                if place in self.spellings
            },
            matrices={name: matrix[rows][:, places] for name, matrix in self.matrices.items()},
        )


def _cut_after(words: Sequence[str], start: int, longest: int) -> int:
    """Where the piece that starts here ends."""
    if len(words) - start <= longest:
        return len(words)
    window = range(start + longest, start + longest // 2, -1)
    for signs in (ENDS, SIGNS):
        for end in window:
            if words[end - 1] in signs:
                return end
    return start + longest


def _check_order(order: Sequence[int], length: int) -> None:
    if sorted(order) != list(range(length)):
        found = " ".join(map(str, order))
        raise ArgumentError(f"order: found {found}; expected each of {length} places once")


def _reordered(sentence: Sentence, order: Sequence[int]) -> Sentence:
    """The sentence with its words and layers in another order."""
    now = {place: at for at, place in enumerate(order)}

    def moved(layer: tuple[str, ...] | None) -> tuple[str, ...] | None:
        return None if layer is None else tuple(layer[place] for place in order)

    heads = sentence.heads
    if heads is not None:
        heads = tuple(now.get(heads[place], heads[place]) for place in order)
    return Sentence(
        tuple(sentence.words[place] for place in order),
        moved(sentence.pos),
        None if sentence.chunks is None else _torn(sentence, order),
        heads,
        moved(sentence.relations),
    )


def _torn(sentence: Sentence, order: Sequence[int]) -> tuple[Chunk, ...]:
    """The chunks in another order: what still stands together, with its head if that is there."""
    numbers, chunks = sentence.chunk_numbers(), sentence.chunks or ()
    pieces = []
    for number, run in groupby(range(len(order)), key=lambda at: numbers[order[at]]):
        places = list(run)
        if number is not None:
            head = sentence.head_of(chunks[number])
            at = [place for place in places if order[place] == head]
            kind = chunks[number].type
            pieces.append(Chunk(kind, places[0], places[-1], at[0] if at else None))
    return tuple(pieces)
