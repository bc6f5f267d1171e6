"""Words left out, and words added: runs of words that the aligner should have linked.

In: evidence. Out: for each line and side, the runs that look least translated.
How: a word's link rate and its linked mass here give a log likelihood ratio of *has no partner*
to *has one* (``calibration.ratios_for``, by bins of both). A run of words scores the sum; the best
run of a line is found in one pass (Kadane), more runs to its left and right. Words that carry no
evidence (punctuation, digits, words the aligner never saw) score 0: they neither end a run nor
feed it.
Cost: linear.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from wayword.audit.calibration import ratios_for
from wayword.audit.evidence import Evidence, SideEvidence
from wayword.audit.finding import Candidate
from wayword.audit.text import AuditText

__all__ = ["best_runs", "find_runs", "surprise"]

RARE = 0.5  # link rate of words that the aligner hardly knows
CLAUSE = 3  # words without a partner that make a run a clause
LEAST = 1.0  # a run that scores less is no candidate
Floats = npt.NDArray[np.float64]


def find_runs(text: AuditText, evidence: Evidence) -> Iterator[Candidate]:
    """Candidates of both sides."""
    ratios = surprise(text.src, evidence.src), surprise(text.tgt, evidence.tgt)
    lengths = _length_scores(evidence)
    kinds = (
        ("left-out", evidence.src, evidence.tgt, -1.0),
        ("added", evidence.tgt, evidence.src, 1.0),
    )
    for side, (kind, here, there, sign) in enumerate(kinds):
        for line in range(len(text)):
            ours = here.line(ratios[side], line)
            theirs = there.line(ratios[1 - side], line)
            other = max((score for _, _, score in best_runs(theirs)), default=0.0)
            # A partner that the aligner does not know is no partner to it.
            rare = (there.line(there.rate, line) < RARE) & (there.line(there.mass, line) < 0.5)
            unknown = float(np.log1p(np.count_nonzero(rare)))
            for start, end, score in best_runs(ours):
                rest = np.concatenate([ours[:start], ours[end:]])
                words = int(np.count_nonzero(ours[start:end] > 0))
                length = sign * float(lengths[line])
                features = (
                    score,
                    float(np.log(words)),
                    other,
                    length,
                    float(rest.mean()) if len(rest) else 0.0,
                    unknown,
                    score / words,
                    (end - start) / len(ours),
                    score * max(length, 0.0),
                )
                model = f"{kind} {'clause' if words >= CLAUSE else 'word'}"
                places = tuple(range(start, end))
                src, tgt = (places, ()) if kind == "left-out" else ((), places)
                yield Candidate(line, kind, src, tgt, features, model=model)


def surprise(words: Sequence[Sequence[str]], side: SideEvidence) -> Floats:
    """By word, how much more likely its linked mass is without a partner than with one."""
    ratios = ratios_for(side.rate, side.mass)
    flat = [word for line in words for word in line]
    says_something = np.array([any(map(str.isalpha, word)) for word in flat], dtype=bool)
    known = says_something & (side.rate > 0) if flat else says_something
    return np.where(known, ratios, 0.0)


def best_runs(ratios: Floats) -> list[tuple[int, int, float]]:
    """Runs that score at least ``LEAST``: start, end and score, the best first.

    >>> best_runs(np.array([-1.0, 2.0, -0.5, 1.5, -4.0, 1.2]))
    [(1, 4, 3.0), (5, 6, 1.2)]
    """
    runs: list[tuple[int, int, float]] = []
    rooms = [(0, len(ratios))]
    values = ratios.tolist()
    while rooms:
        low, high = rooms.pop()
        start, end, score = _best_run(values, low, high)
        if score >= LEAST:
            runs.append((start, end, score))
            rooms += [(low, start), (end, high)]
    return sorted(runs, key=lambda run: (-run[2], run[0]))


def _best_run(values: list[float], low: int, high: int) -> tuple[int, int, float]:
    """The run with the highest sum; it begins and ends with a word that counts."""
    best, total, begin = (low, low, 0.0), 0.0, low
    for at in range(low, high):
        if total <= 0:
            total, begin = 0.0, at
        total += values[at]
        if total > best[2]:
            best = (begin, at + 1, total)
    start, end, score = best
    while start < end and values[start] <= 0:
        start += 1
    return start, end, round(score, 6)


def _length_scores(evidence: Evidence) -> Floats:
    """By line, how much longer the target is than this text has it, in standard deviations."""
    words = [np.diff(side.offsets) for side in (evidence.src, evidence.tgt)]
    logs = np.log((words[1] + 1) / (words[0] + 1))
    # Medians, so that the errors looked for do not count as usual; as if 20 lines had been seen.
    middle = np.median(logs) if len(logs) else 0.0
    spread = np.median(np.abs(logs - middle)) if len(logs) else 0.0
    weight = len(logs) / (len(logs) + 20)
    deviation = 1.5 * (weight * spread + (1 - weight) * 0.15) + 0.02
    scores: Floats = np.clip((logs - middle) / deviation, -5, 5)
    return scores
