"""A system whose text is split into subwords, measured by its words.

In: a system that gives n-best lists of pieces, and references in pieces. Out: the same in words, so
that BLEU and other metrics count what people read.
Not: metrics of word order, whose links lead to pieces; those count pieces.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wayword.corpus.source import Source
from wayword.corpus.subwords import whole_words
from wayword.evaluate import Gold
from wayword.tune.pool import Candidates, Decodes
from wayword.tune.run import BLOCK

if TYPE_CHECKING:
    from wayword.tune.pool import Nbest

__all__ = ["Words", "words_of"]


@dataclass(frozen=True)
class Words:
    """The same system with whole words in its n-best lists."""

    system: Decodes

    @property
    def weights(self) -> Mapping[str, float]:
        """Those of the system."""
        return self.system.weights

    @property
    def nonnegative(self) -> Collection[str]:
        """Those of the system."""
        return tuple(getattr(self.system, "nonnegative", ()))

    @property
    def settings(self) -> Any:
        """Those of the system."""
        return getattr(self.system, "settings", None)

    @property
    def block(self) -> int:
        """How many sentences the system decodes at a time, if it says so."""
        return int(getattr(self.system, "block", BLOCK))

    def with_weights(self, weights: Mapping[str, float]) -> "Words":
        """The same system with other weights."""
        return Words(self.system.with_weights(weights))

    def nbest(self, sources: Sequence[str | Source], **options: Any) -> "Sequence[Nbest]":
        """The lists of the system, in words."""
        return [
            Candidates(tuple(whole_words(nbest.texts)), nbest.features)
            for nbest in self.system.nbest(sources, **options)
        ]


def words_of(gold: Gold) -> Gold:
    """References in words."""
    return replace(gold, refs=[list(whole_words(ref)) for ref in gold.refs])
