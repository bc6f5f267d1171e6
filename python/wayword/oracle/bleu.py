"""The BLEU oracle: the best BLEU that a space of orders makes of monotone translations.

In: a phrase table, source text and references. Out: for each space the strings that come nearest to
the references, their BLEU and NIST by length of sentence, and the time it took.
How: definitions i.2 to i.6 (Dreyer, Hall and Khudanpur, 2007). The table alone gives monotone
candidates; their phrases stay whole and are put into the best order that the space has. Without a
beam that order is exact for approximate BLEU, which the paper's search only comes near to; what is
printed is ordinary BLEU of the strings.
Cost: a few milliseconds a sentence of 25 words and 10 candidates, in the core.

>>> phrases = ["if", "you", "to me", "that", "explain", "could"]
>>> candidates = Candidates.of_lists([["if you could explain that to me"]], [[phrases]])
>>> for space in ("mono", "mj1", "mj2", "ibm:2", "ibm:4", "itg"):
...     [best] = candidates.best(space)
...     print(f"{space:6} {100 * best.score:7.3f} {best.text}")
mono     0.001 if you to me that explain could
mj1      0.191 if you that to me could explain
mj2     70.711 to me if you could explain that
ibm:2    0.191 if you that to me could explain
ibm:4  100.000 if you could explain that to me
itg    100.000 if you could explain that to me
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wayword import _core
from wayword.errors import ArgumentError
from wayword.evaluate import Gold, Options, Output, make_metric
from wayword.extract import PhraseTable
from wayword.oracle.lengths import length_bins
from wayword.oracle.space import STATES, Space
from wayword.report.oracle import BleuResult, LengthRow
from wayword.types import Progress

__all__ = ["BINS", "SPACES", "Best", "CandidateOptions", "Candidates", "Phrase", "bleu_oracle"]


#: The spaces of the paper's Table 2, and no reordering.
SPACES = ("itg", "ibm:4", "ibm:2", "mj2", "mj1", "mono")
#: The longest lengths of all bins but the last.
BINS = (5, 10, 15, 20, 25, 30, 35, 40)
METRICS = ("bleu", "nist")


@dataclass(frozen=True, kw_only=True)
class CandidateOptions:
    """Which monotone translations are looked at, and how many are ordered."""

    #: source words of a phrase, at most
    longest: int = 3
    #: translations of a source phrase
    options_per_span: int = 20
    #: the weight of p(e|f) against p(f|e)
    mixture: float = 1.0
    #: what each phrase adds to the score of a path; below 0 longer phrases are preferred
    phrase_bonus: float = 0.75
    #: paths that are looked at
    paths: int = 1000
    #: candidates that are kept: those with the highest BLEU as they are
    keep: int = 10

    def __post_init__(self) -> None:
        """Refuse values that cannot be meant."""
        for name in ("longest", "options_per_span", "paths", "keep"):
            if getattr(self, name) < 1:
                raise ArgumentError(f"{name}: found {getattr(self, name)}; expected 1 or more")
        if not 0 <= self.mixture <= 1:
            raise ArgumentError(f"mixture: found {self.mixture}; expected a number from 0 to 1")


@dataclass(frozen=True)
class Phrase:
    """Target words of a candidate and the source words they stand for, half-open."""

    src: tuple[int, int]
    target: str


@dataclass(frozen=True)
class Best:
    """The best candidate of a sentence in its best order."""

    text: str
    candidate: int
    #: the candidate's phrases as they come
    order: tuple[int, ...]
    #: approximate BLEU, 0 to 1
    score: float
    #: matches of orders 1 to 4
    matched: tuple[int, ...]
    #: whether nothing that might have won was left out
    exact: bool


class Candidates:
    """Sentences with references and candidates: phrases in source order that stay whole."""

    def __init__(self, core: _core.OracleProblems) -> None:
        self._core = core

    @classmethod
    def of_table(
        cls,
        table: PhraseTable,
        src: Sequence[str],
        refs: Sequence[Sequence[str]],
        options: CandidateOptions | None = None,
        *,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> "Candidates":
        """Candidates from a phrase table; ``refs`` are references of each sentence, in words."""
        core = _core.OracleProblems.of_table(
            table._core,
            [line.split() for line in src],
            [[ref.split() for ref in of_sentence] for of_sentence in refs],
            **vars(options or CandidateOptions()),
            threads=threads,
            progress=progress,
        )
        return cls(core)

    @classmethod
    def of_lists(
        cls, refs: Sequence[Sequence[str]], candidates: Sequence[Sequence[Sequence[str]]]
    ) -> "Candidates":
        """Candidates of your own: for each sentence its references, and lists of phrases."""
        words = [[ref.split() for ref in of_sentence] for of_sentence in refs]
        phrases = [
            [[phrase.split() for phrase in candidate] for candidate in of_sentence]
            for of_sentence in candidates
        ]
        return cls(_core.OracleProblems.of_lists(words, phrases))

    def __len__(self) -> int:
        return len(self._core)

    def __getitem__(self, number: int) -> list[list[Phrase]]:
        if not 0 <= number < len(self):
            raise IndexError(f"sentence {number} of {len(self)}")
        return [
            [Phrase((start, end), " ".join(words)) for start, end, words in phrases]
            for phrases in self._core.candidates(number)
        ]

    def best(
        self,
        space: str,
        *,
        beam: float = 0.0,
        keep: int = 0,
        most: int = STATES,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> list[Best]:
        """The best order of the best candidate of each sentence.

        ``beam`` leaves out partial strings whose score is below so much of the best of the same
        words (the paper's is 1e-4), ``keep`` all but so many; with 0 the answer is exact. ``most``
        bounds the states of a lattice.
        """
        found = self._core.best(
            space, beam=beam, keep=keep, most=most, threads=threads, progress=progress
        )
        return [self._told(number, best) for number, best in enumerate(found)]

    def _told(self, number: int, best: Any) -> Best:
        if best is None:
            return Best("", 0, (), 0.0, (0, 0, 0, 0), exact=True)
        candidate, order, score, matched, exact = best
        phrases = self[number][candidate]
        text = " ".join(phrases[item].target for item in order)
        return Best(text, candidate, tuple(order), score, tuple(matched), exact)


def bleu_oracle(
    candidates: Candidates,
    gold: Gold,
    spaces: Sequence[str] = SPACES,
    *,
    lengths: Sequence[int],
    bins: Sequence[int] = BINS,
    progress: Progress | None = None,
    **options: Any,
) -> tuple[BleuResult, dict[str, list[Best]]]:
    """Compare spaces: scores by source length, and the strings behind them.

    ``lengths`` are those of the source sentences; for further options see ``Candidates.best``.
    """
    names = [Space(space).name for space in spaces]
    metrics = {name: make_metric(name, gold, Options(smooth="none")) for name in METRICS}
    parts = length_bins(lengths, bins)
    scores: dict[str, dict[str, tuple[float, float]]] = {label: {} for label, _ in parts}
    found, seconds = {}, {}
    for name in names:
        start = time.process_time()
        found[name] = candidates.best(name, progress=progress, **options)
        seconds[name] = time.process_time() - start
        output = Output(name, [best.text for best in found[name]])
        rows = [metric.statistics(output) for metric in metrics.values()]
        for label, chosen in parts:
            bleu, nist = (
                float(metric.score(row[chosen].sum(axis=0)))
                for metric, row in zip(metrics.values(), rows, strict=True)
            )
            scores[label][name] = (bleu, nist)
    result = BleuResult(
        spaces=tuple(names),
        rows=tuple(LengthRow(label, len(chosen), scores[label]) for label, chosen in parts),
        seconds=seconds,
        exact={name: float(np.mean([best.exact for best in found[name]])) for name in names},
        signatures=tuple(metric.signature() for metric in metrics.values()),
    )
    return result, found
