"""Sentence pairs as word ids.

In: two line-aligned files, one file with both sides (TSV, ``src ||| tgt``, JSON lines, TMX, PO,
Parquet), or any iterable of string pairs. Out: a ``Bitext``.
How: the core keeps all words of a side in one flat array with offsets, over one vocabulary for
both sides, numbered by first appearance; numpy looks at the arrays without a copy.
Cost: one pass; 4 bytes a word, 8 a sentence and side, and the vocabulary.
Not: tokenisation (``wayword.corpus.text``); words are what whitespace separates.

>>> bitext = Bitext.from_pairs([("ja", "yes"), ("nein , ja", "no , yes")])
>>> len(bitext), len(bitext.vocab)
(2, 5)
>>> bitext.src.ids
array([0, 2, 3, 0], dtype=uint32)
>>> bitext[1].tgt
['no', ',', 'yes']
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from wayword import _core
from wayword.errors import ArgumentError
from wayword.types import FilePath, Progress

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Bitext", "Pair", "Side", "Vocab"]

LOG = logging.getLogger(__name__)


BATCH = 10_000
SEPARATORS = {"tsv": "\t", "pipes": "|||"}


class Pair(NamedTuple):
    """The words of one sentence pair."""

    src: list[str]
    tgt: list[str]


class Vocab:
    """The words of both sides, numbered from 0 by first appearance."""

    def __init__(self, core: _core.Bitext) -> None:
        self._core = core

    def __len__(self) -> int:
        return self._core.vocab_size

    def word(self, word_id: int) -> str:
        """The word with this number."""
        return self._core.word(word_id)

    def id(self, word: str) -> int | None:
        """The number of a word; None when the text does not have it."""
        return self._core.id(word)


class Side:
    """One side of a bitext; sentence k is ``ids[offsets[k]:offsets[k + 1]]``."""

    def __init__(
        self, ids: _core.View, offsets: _core.View, words: Callable[[int], list[str]]
    ) -> None:
        self._ids = ids
        self._offsets = offsets
        self._words = words

    @property
    def ids(self) -> "npt.NDArray[np.uint32]":
        """All words as ids, one sentence after the other (a view, read-only)."""
        import numpy as np

        return np.asarray(self._ids)

    @property
    def offsets(self) -> "npt.NDArray[np.uint64]":
        """Where each sentence starts in ``ids``, and the end (a view, read-only)."""
        import numpy as np

        return np.asarray(self._offsets)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def __getitem__(self, number: int) -> list[str]:
        return self._words(_in_range(number, len(self)))

    def __iter__(self) -> Iterator[list[str]]:
        return map(self._words, range(len(self)))


class Bitext:
    """Two line-aligned texts over one vocabulary."""

    def __init__(self, core: _core.Bitext) -> None:
        self._core = core
        self.vocab = Vocab(core)
        self.src = Side(core.src_ids, core.src_offsets, core.src_words)
        self.tgt = Side(core.tgt_ids, core.tgt_offsets, core.tgt_words)

    @classmethod
    def read(
        cls,
        src: FilePath,
        tgt: FilePath | None = None,
        *,
        format: str | None = None,  # noqa: A002 - the option's name
        nfc: bool = False,
        columns: tuple[str, str] = ("src", "tgt"),
        progress: Progress | None = None,
    ) -> "Bitext":
        """Read two files, or one file that holds both sides.

        ``format`` of a single file is told by its name unless given: ``tsv``, ``pipes``,
        ``jsonl``, ``tmx``, ``po`` or ``parquet``. ``columns`` names the two sides: keys of JSON
        lines, columns of Parquet, languages of TMX.
        """
        if tgt is not None:
            if format not in (None, "lines"):
                raise ArgumentError(f"format: found `{format}` for two files; expected `lines`")
            return cls(_core.Bitext.read_files(src, tgt, nfc=nfc, progress=progress))
        from wayword.corpus import formats

        kind = format or formats.format_of(src)
        if kind in SEPARATORS:
            separator = SEPARATORS[kind]
            return cls(_core.Bitext.read_columns(src, separator, nfc=nfc, progress=progress))
        pairs = formats.read_pairs(src, kind, columns)
        bitext = cls.from_pairs(pairs, nfc=nfc)
        if pairs.skipped:
            LOG.info("%s: %d units had no pair to give", src, pairs.skipped)
        return bitext

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[str, str]], *, nfc: bool = False) -> "Bitext":
        """Collect pairs of whitespace-separated sentences from any iterable."""
        builder = _core.BitextBuilder(nfc=nfc)
        pairs = iter(pairs)
        while batch := list(islice(pairs, BATCH)):
            builder.extend(batch)
        return cls(builder.finish())

    def __len__(self) -> int:
        return len(self._core)

    def __getitem__(self, number: int) -> Pair:
        number = _in_range(number, len(self))
        return Pair(self._core.src_words(number), self._core.tgt_words(number))

    def __iter__(self) -> Iterator[Pair]:
        return map(self.__getitem__, range(len(self)))

    def __repr__(self) -> str:
        return f"Bitext({len(self)} pairs, {len(self.vocab)} words)"


def _in_range(number: int, length: int) -> int:
    if not -length <= number < length:
        raise IndexError(f"sentence {number} of {length}")
    return number % length
