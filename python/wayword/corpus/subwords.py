"""Splits words into pieces that were seen often, and puts the words together again exactly.

In: tokenised text, and then lists of words. Out: pieces; the first of a word begins with ``▁``.
How: SentencePiece (Kudo and Richardson, 2018) learns the pieces, by byte pair encoding or a unigram
model, and splits each word by itself. It changes no character. A word that would not come back
exactly, such as one that holds a ``▁``, stays whole; what begins with ``▁`` begins a word.
Cost: learning some seconds for 100,000 words of different spelling; words are split once.
Not: pieces that go over the end of a word.

>>> join_pieces(["▁Haus", "tür", "en", "▁offen", "▁▁"])
['Haustüren', 'offen', '▁']
"""

import importlib.util
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from wayword.corpus.files import new_bytes
from wayword.errors import ArgumentError, FormatError, MismatchError
from wayword.options import check_choice, check_range
from wayword.types import FilePath

__all__ = ["KINDS", "MARK", "Options", "Subwords", "check_installed", "join_pieces", "whole_words"]

MARK = "▁"
KINDS = {"bpe": "byte pair encoding: frequent neighbours are joined", "unigram": "likely pieces"}
#: Bytes of a line that SentencePiece would leave out otherwise.
LONGEST_LINE = 1 << 24
REMEMBERED = 200_000  # words whose pieces are kept


def check_installed() -> None:
    """Refuse subwords when the library is not there."""
    if importlib.util.find_spec("sentencepiece") is None:
        found = "needs sentencepiece, which is not installed"
        raise ArgumentError(f"subwords: {found}; run `pip install wayword[subwords]`")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Whether words are split into pieces, and into which."""

    #: ``bpe`` or ``unigram``; empty: words stay whole
    kind: str = ""
    #: most pieces of a side
    vocabulary: int = 8000
    #: learn the pieces of both sides together
    joint: bool = False
    #: most sentences of a side that they are learned from, taken at equal steps; 0 for all
    sentences: int = 1_000_000

    def __post_init__(self) -> None:
        """Refuse what makes no sense, and subwords when the library is not there."""
        check_range("vocabulary", self.vocabulary, 100, 1_000_000)
        check_range("sentences", self.sentences, 0)
        if self.kind:
            check_choice("kind", self.kind, KINDS)
            check_installed()


class Subwords:
    """A model of pieces; it never changes, and pickles as the bytes of the model."""

    def __init__(self, model: bytes) -> None:
        self.model = model
        self._pieces: dict[str, list[str]] = {}

    @classmethod
    def fit(cls, lines: Iterable[Sequence[str]], chosen: "Options") -> "Subwords":
        """Learn pieces from lines of words.

        A small text may have fewer. The same text gives the same bytes: nothing is drawn, and one
        thread does it.
        """
        check_installed()
        import sentencepiece

        texts = (" ".join(word for word in words if MARK not in word) for words in lines)
        texts = (text for text in texts if text)
        first = next(texts, None)
        if first is None:
            raise MismatchError("subwords: no words to learn from; expected some text")
        model = io.BytesIO()
        options: dict[str, Any] = {
            "model_type": chosen.kind,
            "vocab_size": chosen.vocabulary,
            "hard_vocab_limit": False,
            "character_coverage": 1.0,
            "normalization_rule_name": "identity",
            "max_sentence_length": LONGEST_LINE,
            "num_threads": 1,
            "minloglevel": 2,
        }
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=chain([first], texts), model_writer=model, **options
            )
        except RuntimeError as error:
            found = (
                f"a vocabulary of {chosen.vocabulary} cannot be learned from this text ({error})"
            )
            raise MismatchError(f"subwords: {found}; expected a larger one, or more text") from None
        return cls(model.getvalue())

    @classmethod
    def load(cls, path: FilePath) -> "Subwords":
        """Read a model that ``save`` wrote."""
        subwords = cls(Path(path).read_bytes())
        try:
            _ = subwords._processor
        except RuntimeError:
            expected = "expected a model of SentencePiece"
            raise FormatError(f"{path}: damaged; {expected}") from None
        return subwords

    def save(self, path: FilePath) -> None:
        """Write the model, in SentencePiece's own format."""
        with new_bytes(path) as file:
            file.write(self.model)

    def __len__(self) -> int:
        """Number of pieces."""
        return int(self._processor.get_piece_size())

    def split(self, words: Iterable[str]) -> list[str]:
        """The pieces of words."""
        return [piece for word in words for piece in self._pieces_of(word)]

    def _pieces_of(self, word: str) -> list[str]:
        known = self._pieces.get(word)
        if known is not None:
            return known
        pieces = [str(piece) for piece in self._processor.encode(word, out_type=str)]
        if len(pieces) > 1 and pieces[0] == MARK:  # a mark alone is no piece of a word
            pieces[:2] = [MARK + pieces[1]]
        comes_back = "".join(pieces) == MARK + word and not any(MARK in p[1:] for p in pieces)
        is_split = comes_back and not any(piece.startswith(MARK) for piece in pieces[1:])
        if len(self._pieces) > REMEMBERED:
            self._pieces.clear()
        self._pieces[word] = pieces if is_split else [MARK + word]
        return self._pieces[word]

    @cached_property
    def _processor(self) -> Any:
        check_installed()
        import sentencepiece

        return sentencepiece.SentencePieceProcessor(model_proto=self.model)

    def __reduce__(self) -> tuple[Any, ...]:
        return Subwords, (self.model,)


def join_pieces(pieces: Iterable[str]) -> list[str]:
    """The words that pieces were made of."""
    words: list[str] = []
    for piece in pieces:
        if piece.startswith(MARK):
            words.append(piece[len(MARK) :])
        elif words:
            words[-1] += piece
        else:  # a translation may begin with the middle of a word
            words.append(piece)
    return [word for word in words if word]


def whole_words(lines: Iterable[str]) -> Iterator[str]:
    """Lines of words for lines of pieces.

    >>> list(whole_words(["▁das ▁Haus tor", "▁ja"]))
    ['das Haustor', 'ja']
    """
    return (" ".join(join_pieces(line.split())) for line in lines)
