"""How far chance alone could move a score, or the difference of two.

In: the statistics of the sentences of one system, or of two over the same sentences, for any
number of metrics at once. Out: confidence intervals and p-values.
How:

* ``bootstrap``: a test set of the same size is drawn from the sentences with replacement, again
  and again; the interval holds the middle 95 % of the scores.
* ``randomization`` (Noreen, 1989; Riezler and Maxwell, 2005): if two systems were alike, to
  exchange their outputs for any sentence would change nothing. So each sentence is exchanged with
  probability ½ and the difference measured again; ``p = (1 + times it was as large) / (1 + R)``.
* the test ``bootstrap`` (paired; Koehn, 2004): both systems are scored on the same drawn sentences;
  p is how often the difference strays from its mean by as much as was observed.

All rounds are a product of a matrix of counts with the statistics, in blocks whose random numbers
depend on the seed and the block alone. Metrics measured together see the same draws. Where a score
is n/a (NaN), so are its interval and p-value; draws whose score is n/a are left out.
Cost: for 2,000 sentences and 10,000 rounds half a second, then one score a round and system.

>>> first = np.array([[1.0], [0.0]] * 8)
>>> second = first + 0.5  # better in each of 16 sentences
>>> total = [lambda sums: sums[..., 0]]
>>> p_values("randomization", total, [first], [second], scales=[1.0], rounds=999)
[0.001]
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from wayword.errors import ArgumentError, MismatchError
from wayword.evaluate.metric import Matrix

__all__ = ["TESTS", "bootstrap", "p_value", "p_values"]

#: From sums of statistics to scores; takes the last axis away.
ScoreFunction = Callable[[Matrix], Matrix]
#: One for each metric.
Scores = Sequence[ScoreFunction]
Matrices = Sequence[Matrix]

BLOCK = 500  # rounds at a time: 8 MB for 2,000 sentences
TOLERANCE = 1e-12  # of a metric's scale: differences equal but for rounding count as equal


def bootstrap(
    scores: Scores,
    statistics: Matrices,
    *,
    rounds: int = 1000,
    seed: int = 1,
    level: float = 0.95,
) -> list[tuple[float, float]]:
    """The interval that holds the middle ``level`` of resampled scores, for each metric."""
    if not 0 < level < 1:
        raise ArgumentError(f"level: found {level}; expected a number between 0 and 1")
    sums = _sums(statistics, _draws(len(statistics[0]), rounds, seed))
    edges = [(1 - level) / 2, (1 + level) / 2]
    intervals = []
    for score, resampled in zip(scores, sums, strict=True):
        drawn = score(resampled)
        known = drawn[~np.isnan(drawn)]
        low, high = np.quantile(known, edges) if len(known) else (np.nan, np.nan)
        intervals.append((float(low), float(high)))
    return intervals


def p_values(
    test: str,
    scores: Scores,
    first: Matrices,
    second: Matrices,
    *,
    scales: Sequence[float],
    rounds: int = 10_000,
    seed: int = 1,
) -> list[float]:
    """p-values of the difference of two systems by one of ``TESTS``, two-sided, for each metric."""
    _check_pair(first, second)
    by_chance = TESTS[test](scores, first, second, rounds, seed)
    p_values = []
    for score, a, b, chance, scale in zip(scores, first, second, by_chance, scales, strict=True):
        observed = abs(float(score(b.sum(axis=0)) - score(a.sum(axis=0))))
        p_values.append(p_value(chance, observed, scale))
    return p_values


def _randomization(
    scores: Scores, first: Matrices, second: Matrices, rounds: int, seed: int
) -> Iterator[Matrix]:
    """Differences of the scores when outputs are exchanged."""
    differences = [b - a for a, b in zip(first, second, strict=True)]
    moved = _sums(differences, _swaps(len(first[0]), rounds, seed))
    for score, a, b, shift in zip(scores, first, second, moved, strict=True):
        yield score(b.sum(axis=0) - shift) - score(a.sum(axis=0) + shift)


def _paired_bootstrap(
    scores: Scores, first: Matrices, second: Matrices, rounds: int, seed: int
) -> Iterator[Matrix]:
    """Differences of the scores on drawn sentences, from their mean."""
    drawn = _sums([*first, *second], _draws(len(first[0]), rounds, seed))
    for score, a, b in zip(scores, drawn[: len(first)], drawn[len(first) :], strict=True):
        difference = score(b) - score(a)
        known = difference[~np.isnan(difference)]
        yield known - known.mean() if len(known) else known


#: The tests of two systems, by the name of the option.
TESTS = {"randomization": _randomization, "bootstrap": _paired_bootstrap}


def p_value(chance: Matrix, observed: float, scale: float) -> float:
    """How often chance did as much as was observed.

    NaN where a score is n/a; rounds in which one is do not count.
    """
    chance = chance[~np.isnan(chance)]
    if np.isnan(observed) or not len(chance):
        return float("nan")
    as_large = int((np.abs(chance) >= observed - TOLERANCE * scale).sum())
    return (1 + as_large) / (1 + len(chance))


def _check_pair(first: Matrices, second: Matrices) -> None:
    for a, b in zip(first, second, strict=True):
        if a.shape != b.shape:
            found = f"statistics: {len(a)} sentences in one system, {len(b)} in the other"
            raise MismatchError(f"{found}; do both translate the same text?")


def _blocks(rounds: int, seed: int) -> Iterator[tuple[int, np.random.Generator]]:
    """Sizes of blocks, each with random numbers of its own."""
    if rounds < 1:
        raise ArgumentError(f"rounds: found {rounds}; expected at least 1")
    if seed < 0:
        raise ArgumentError(f"seed: found {seed}; expected 0 or more")
    for number, start in enumerate(range(0, rounds, BLOCK)):
        yield min(BLOCK, rounds - start), np.random.default_rng([seed, number])


def _draws(length: int, rounds: int, seed: int) -> Iterator[Matrix]:
    """How often each sentence is drawn, a row a round."""
    for size, random in _blocks(rounds, seed):
        drawn = random.integers(length, size=(size, length))
        cells = drawn + length * np.arange(size)[:, None]
        counts = np.bincount(cells.ravel(), minlength=size * length)
        yield counts.reshape(size, length).astype(np.float64)


def _swaps(length: int, rounds: int, seed: int) -> Iterator[Matrix]:
    """1 where the systems are exchanged, a row a round."""
    for size, random in _blocks(rounds, seed):
        width = -(-length // 8)
        packed = random.integers(256, size=(size, width), dtype=np.uint8)
        yield np.unpackbits(packed, axis=1, count=length).astype(np.float64)


def _sums(statistics: Matrices, counts: Iterator[Matrix]) -> list[Matrix]:
    """Weighted sums of rows, for all metrics in one product."""
    widths = np.cumsum([matrix.shape[1] for matrix in statistics])[:-1]
    together = np.concatenate(statistics, axis=1)
    sums = np.concatenate([block @ together for block in counts])
    return np.split(sums, widths, axis=1)
