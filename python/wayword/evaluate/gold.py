"""What is measured, and what it is measured against.

In: lines of text; for word order also links and weights. Out: ``Gold``, everything that is the
same for all systems, and ``Output``, what one system made of it.
How: both check on being made that every layer has one entry a sentence and that every link lies
inside its sentence, so that a metric never meets anything else. Words are what whitespace
separates; positions count from 0.

>>> gold = Gold(refs=[["the house is small"]], src=["das haus ist klein"],
...             ref_links=[[[(0, 0), (1, 1), (2, 2), (3, 3)]]])
>>> gold.ref_ranks[0][0].tolist()
[0, 1, 2, 3]
>>> len(gold), len(Output("base", ["the small house is"]))
(1, 1)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from wayword import _core
from wayword.errors import ArgumentError, MismatchError
from wayword.reorder.order import order_from_links, rank_of

__all__ = [
    "UNLINKED",
    "Gold",
    "Keys",
    "Links",
    "Output",
    "Ranks",
    "check_count",
    "check_links",
    "word_counts",
]

#: The links of one sentence: pairs of a source and a target position.
Links = Sequence[tuple[int, int]]
#: When each source word of a sentence is translated.
Ranks = npt.NDArray[np.int64]
#: The first target position of each source word of a text, sentence after sentence.
Keys = npt.NDArray[np.uint32]

#: The key of a word without links.
UNLINKED = 0xFFFF_FFFF

SAME = "do both come from the same corpus?"


def word_counts(lines: Sequence[str]) -> list[int]:
    """How many words each line has."""
    return [len(line.split()) for line in lines]


def check_count(name: str, count: int, wanted: int, of: str) -> None:
    """Complain when something does not have one entry for each line of a text."""
    if count != wanted:
        raise MismatchError(f"{name}: {count} lines, but {of} has {wanted}; {SAME}")


def check_links(links: Links, src_length: int, tgt_length: int, place: str) -> None:
    """Complain about the first link that lies outside its sentence pair."""
    for src, tgt in links:
        outside = (
            ("source", src_length) if not 0 <= src < src_length else
            ("target", tgt_length) if not 0 <= tgt < tgt_length else None
        )  # fmt: skip
        if outside:
            side, length = outside
            found = f"link {src}-{tgt} is outside the sentence ({side} has {length} words)"
            raise MismatchError(f"{place}: {found}; {SAME}")


def _check_all_links(name: str, links: Sequence[Links], src: Sequence[int], tgt: list[int]) -> None:
    check_count(name, len(links), len(src), "the source")
    for number, (of_pair, *lengths) in enumerate(zip(links, src, tgt, strict=True), 1):
        check_links(of_pair, lengths[0], lengths[1], f"{name}, sentence {number}")


def _ranks(links: Sequence[Links], lengths: Sequence[int]) -> list[Ranks]:
    """Ranks by the heuristic ``attach``: what is not linked follows the word before it."""
    pairs = zip(links, lengths, strict=True)
    return [
        np.array(rank_of(order_from_links(n, of_pair, "attach")), dtype=np.int64)
        for of_pair, n in pairs
    ]


def _keys(links: Sequence[Links], lengths: list[int]) -> Keys:
    return np.asarray(_core.link_keys(links, lengths))


@dataclass(frozen=True, eq=False)
class Gold:
    """The references of a test set, and what metrics of word order need besides.

    ``refs[r][k]`` is line k of reference r; ``ref_links[r][k]`` are the links of source sentence
    k to it; ``weights[k]`` has a number for each source word (1 for a verb, 0 for others).
    ``known`` are the source words of the training text, for metrics of spelling.
    ``texts`` are the references as plain text, for metrics that need text alone, where ``refs``
    hold the words that links lead to.
    """

    refs: Sequence[Sequence[str]]
    src: Sequence[str] | None = None
    ref_links: Sequence[Sequence[Links]] | None = None
    weights: Sequence[Sequence[float]] | None = None
    known: frozenset[str] | None = None
    texts: Sequence[Sequence[str]] | None = None

    def __post_init__(self) -> None:
        """Check that all layers fit each other."""
        if not self.refs or not len(self):
            raise ArgumentError("refs: found none; expected at least one reference with a sentence")
        for number, ref in enumerate(self.refs):
            check_count(f"refs[{number}]", len(ref), len(self), "refs[0]")
        if self.src is not None:
            check_count("src", len(self.src), len(self), "refs[0]")
        for number, text in enumerate(self.texts or ()):
            check_count(f"texts[{number}]", len(text), len(self), "refs[0]")
        self._check_ref_links()
        self._check_weights()

    def _check_ref_links(self) -> None:
        if self.ref_links is None:
            return
        if len(self.ref_links) != len(self.refs):
            found = f"found links for {len(self.ref_links)} of {len(self.refs)} references"
            raise ArgumentError(f"ref_links: {found}; expected them for each")
        for number, (links, ref) in enumerate(zip(self.ref_links, self.refs, strict=True)):
            _check_all_links(f"ref_links[{number}]", links, self.src_lengths, word_counts(ref))

    def _check_weights(self) -> None:
        if self.weights is None:
            return
        check_count("weights", len(self.weights), len(self), "refs[0]")
        for number, (weights, length) in enumerate(
            zip(self.weights, self.src_lengths, strict=True), 1
        ):
            if len(weights) != length:
                found = f"weights, sentence {number}: {len(weights)} weights for {length} words"
                raise MismatchError(f"{found}; expected one a word")
            if not all(0 <= weight < float("inf") for weight in weights):
                found = f"weights, sentence {number}: a negative or endless weight"
                raise ArgumentError(f"{found}; expected numbers from 0 up")
        if not any(map(any, self.weights)):
            raise ArgumentError("weights: found only zeros; expected a word that counts")

    def __len__(self) -> int:
        return len(self.refs[0])

    @cached_property
    def plain(self) -> "Gold":
        """The gold standard of metrics that need text alone."""
        if self.texts is None:
            return self
        return replace(self, refs=self.texts, texts=None, ref_links=None)

    @cached_property
    def src_lengths(self) -> list[int]:
        """Words of each source sentence."""
        if self.src is None:
            raise ArgumentError("src: found none; expected the source text, as links point into it")
        return word_counts(self.src)

    @cached_property
    def ref_lengths(self) -> list[list[int]]:
        """Words of each line of each reference."""
        return [word_counts(ref) for ref in self.refs]

    @cached_property
    def ref_ranks(self) -> list[list[Ranks]]:
        """The order of the source words in each reference."""
        if self.ref_links is None:
            raise ArgumentError("ref_links: found none; expected links of source and reference")
        return [_ranks(links, self.src_lengths) for links in self.ref_links]

    @cached_property
    def ref_keys(self) -> list[Keys]:
        """Where each reference has the source words."""
        if self.ref_links is None:
            raise ArgumentError("ref_links: found none; expected links of source and reference")
        return [_keys(links, self.src_lengths) for links in self.ref_links]

    @cached_property
    def flat_weights(self) -> npt.NDArray[np.float64] | None:
        """The weights of all source words in a row."""
        if self.weights is None:
            return None
        return np.array([weight for of_line in self.weights for weight in of_line], np.float64)


@dataclass(frozen=True, eq=False)
class Output:
    """What one system made of the source; ``links[k]`` link source sentence k to ``lines[k]``.

    ``text`` is the output as plain text, where ``lines`` hold the words that links lead to.
    """

    name: str
    lines: Sequence[str]
    links: Sequence[Links] | None = None
    text: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.lines)

    @cached_property
    def plain(self) -> "Output":
        """The output for metrics that need text alone."""
        return self if self.text is None else Output(self.name, self.text)

    @cached_property
    def lengths(self) -> list[int]:
        """Words of each line."""
        return word_counts(self.lines)

    def check(self, gold: Gold) -> None:
        """Complain when this is no output for a gold standard."""
        check_count(self.name, len(self), len(gold), "the reference")
        if self.text is not None:
            check_count(f"text of {self.name}", len(self.text), len(gold), "the reference")
        if self.links is not None:
            _check_all_links(f"links of {self.name}", self.links, gold.src_lengths, self.lengths)

    def ranks(self, gold: Gold) -> list[Ranks]:
        """The order in which the system put the source words."""
        return _ranks(self._known_links(), gold.src_lengths)

    def keys(self, gold: Gold) -> Keys:
        """Where the output has the source words."""
        return _keys(self._known_links(), gold.src_lengths)

    def _known_links(self) -> Sequence[Links]:
        if self.links is None:
            what = "links of source and output"
            raise ArgumentError(f"links: found none for {self.name}; expected {what}")
        return self.links
