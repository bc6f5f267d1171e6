"""The phrase oracle: the best that a system could reach, and where the rest is lost.

In: a ``System``, source text and references. Out: BLEU of its output, of the best strings that its
table and space can reach, and of the best that its table could reach in any order. What lies
between is lost by the model (it prefers another string, or its search misses this one), by the
space (the order is out of reach) and by the table (no phrases for it); words of the references that
no phrase offers are named.
How: definitions i.8. The decoder searches for the references' n-grams with its own table and
spaces; its search prunes, so what it finds is a lower bound, but never below the system's own
output, nor below source order, and any order never below the space.
Cost: up to eighteen searches a sentence; pop limit and options a span are options.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wayword import _core
from wayword.errors import ArgumentError
from wayword.evaluate import Gold, Options, Output, make_metric
from wayword.oracle.lengths import length_bins
from wayword.system import System
from wayword.types import Progress

__all__ = ["BINS", "Reach", "ReachRow", "Sentence", "phrase_oracle"]


#: The longest lengths of all bins but the last.
BINS = (10, 20, 30, 40)
SOURCE_ORDER, ANY_ORDER = "mono", "dl:-1"


@dataclass(frozen=True)
class Sentence:
    """What a system made of a sentence, and what it could have."""

    output: str
    #: the best within table and space, and within the table
    reached: str
    any_order: str
    #: words that no phrase offers, of the reference that lacks the fewest
    missing: tuple[str, ...]
    #: whether a reference itself is within reach
    exact: bool


@dataclass(frozen=True)
class ReachRow:
    """BLEU of what was said, what could be said, and what other orders would allow."""

    lengths: str
    sentences: int
    output: float
    reached: float
    any_order: float
    #: share of reference words that no phrase offers
    missing: float
    #: share of sentences with a reference within reach
    exact: float

    @property
    def by_model(self) -> float:
        """BLEU lost because the model prefers another string, or the search misses this one."""
        return self.reached - self.output

    @property
    def by_space(self) -> float:
        """BLEU lost because the order is out of reach."""
        return self.any_order - self.reached

    @property
    def by_table(self) -> float:
        """BLEU lost because there are no phrases for it."""
        return 100 - self.any_order

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        lost = {name: getattr(self, name) for name in ("by_model", "by_space", "by_table")}
        return {**asdict(self), **lost}


@dataclass(frozen=True)
class Reach:
    """The losses of a system by length of sentence, and every sentence."""

    space: str
    rows: tuple[ReachRow, ...]
    sentences: tuple[Sentence, ...]
    signature: str


def phrase_oracle(
    system: System,
    src: Sequence[str],
    gold: Gold,
    *,
    space: str | None = None,
    pop_limit: int = 400,
    options_per_span: int = 100,
    nbest: int = 100,
    bins: Sequence[int] = BINS,
    threads: int = 0,
    progress: Progress | None = None,
) -> Reach:
    """Measure what a system could reach of tokenised text.

    ``space`` is the system's own unless it is given. ``options_per_span`` are the translations of a
    source phrase that come nearest to the references, 0 for all. Of ``nbest`` strings of each
    search that with the highest BLEU counts.
    """
    for name, value, least in (("nbest", nbest, 1), ("pop_limit", pop_limit, 0)):
        if value < least:
            raise ArgumentError(f"{name}: found {value}; expected {least} or more")
    space = (system.settings.space if space is None else space).partition("+")[0]
    sources = system.sources(src, prepared=True)
    outputs = system.decoder.translate(sources, threads=threads, space=space)
    refs = [[ref.split() for ref in of_sentence] for of_sentence in zip(*gold.refs, strict=True)]
    crossing = system.decoder._crossing(sources)
    known = [[list(output.tokens)] for output in outputs]
    search: dict[str, Any] = {
        "pop_limit": pop_limit,
        "options_per_span": options_per_span,
        "nbest": nbest,
        "threads": threads,
        "progress": progress,
    }
    found = {}
    for name in dict.fromkeys((SOURCE_ORDER, space, ANY_ORDER)):
        # What a smaller space reaches is within reach of the next.
        core = system.decoder._core
        best = _core.oracle_reach(core, crossing, refs, known, name, **search)
        found[name] = [words for words, _ in best]
        known = [[*those, words] for those, (words, _) in zip(known, best, strict=True)]
    words = [list(source.words) for source in sources]
    missing = _core.oracle_missing(system.table._core, words, refs)
    sentences = [
        _sentence(list(output.tokens), reached, any_order, of_sentence, places)
        for output, reached, any_order, of_sentence, places in zip(
            outputs, found[space], found[ANY_ORDER], refs, missing, strict=True
        )
    ]
    return _measure(space, sentences, gold, [len(line.split()) for line in src], bins)


def _sentence(
    output: list[str],
    reached: list[str],
    any_order: list[str],
    refs: list[list[str]],
    missing: list[list[int]],
) -> Sentence:
    ref, places = min(zip(refs, missing, strict=True), key=lambda pair: len(pair[1]))
    return Sentence(
        " ".join(output),
        " ".join(reached),
        " ".join(any_order),
        tuple(ref[place] for place in places),
        exact=reached in refs,
    )


def _measure(
    space: str,
    sentences: Sequence[Sentence],
    gold: Gold,
    lengths: Sequence[int],
    bins: Sequence[int],
) -> Reach:
    metric = make_metric("bleu", gold, Options(smooth="none"))
    kinds = ("output", "reached", "any_order")
    statistics = [
        metric.statistics(Output(kind, [getattr(sentence, kind) for sentence in sentences]))
        for kind in kinds
    ]
    ref_words = [len(line.split()) for line in gold.refs[0]]
    rows = []
    for label, chosen in length_bins(lengths, bins):
        numbers = chosen.tolist()
        bleu = [float(metric.score(matrix[chosen].sum(axis=0))) for matrix in statistics]
        lacking = sum(len(sentences[number].missing) for number in numbers)
        rows.append(
            ReachRow(
                label,
                len(numbers),
                *(bleu[0], bleu[1], bleu[2]),
                missing=lacking / max(sum(ref_words[number] for number in numbers), 1),
                exact=sum(sentences[number].exact for number in numbers) / len(numbers),
            )
        )
    return Reach(space, tuple(rows), tuple(sentences), metric.signature())
