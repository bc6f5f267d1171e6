"""How likely the two sides of a pair are translations of each other.

In: the features that a trained aligner gives each pair. Out: scores between 0 and 1.
How: pairs of the text stand for good ones; bad ones are made of them: the target of another pair of
about the same length, a side of which a part is cut off, a side in the language of the other.
A logistic regression learns to tell them apart; its numbers are kept with the aligner. A score is
the probability that a pair is good if half of all pairs are: sort and cut by it, or expect of the
pairs above .5 that most are good.
Cost: aligning a sample of some thousand pairs three times.
Not: pairs with a side that is blank or over 1,000 words: they have 0.

>>> import numpy as np
>>> good = np.array([[3.0, 3.0, 0.9, 1.0, 1.0, 0.0, 0.0, 3.0, 2.0, 0.1, 8.0, 8.0]] * 40)
>>> bad = np.array([[0.1, 0.2, 0.1, 0.2, 0.2, 0.8, 0.7, 3.0, 2.0, 0.1, 8.0, 9.0]] * 40)
>>> numbers = learn(good, bad)
>>> scores(np.vstack([good[0], bad[0]]), numbers).round().tolist()
[1.0, 0.0]
"""

import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from wayword.errors import ArgumentError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Rows = npt.NDArray[np.floating]

__all__ = ["SAMPLE", "learn", "scores", "spoiled"]

#: Pairs that a calibration looks at.
SAMPLE = 4000
#: Fewer pairs teach nothing.
LEAST = 20
#: Pull of the weights towards 0, and steps of Newton's method.
PULL, STEPS = 1e-3, 30

Pair = tuple[str, str]


def spoiled(pairs: Sequence[Pair], seed: int) -> Iterator[Pair]:
    """A bad pair for each pair: in turn shifted, cut, or not translated.

    >>> pairs = [("a b c d", "w x y z"), ("e f", "u v"), ("g h i j", "q r s t"), ("k l", "o p")]
    >>> list(spoiled(pairs, 1))
    [('a b c d', 'q r s t'), ('e', 'u v'), ('g h i j', 'g h i j'), ('k l', 'w x y z')]
    """
    draw = random.Random(seed)
    by_length = sorted(range(len(pairs)), key=lambda k: (len(pairs[k][1].split()), k))
    after = dict(zip(by_length, by_length[1:] + by_length[:1], strict=True))
    for number, (src, tgt) in enumerate(pairs):
        if number % 3 == 0:
            yield src, pairs[after[number]][1]
        elif number % 3 == 1:
            share = draw.uniform(0.3, 0.7)
            yield (src, _cut(tgt, share)) if draw.random() < 0.5 else (_cut(src, share), tgt)
        else:
            other = pairs[(number + 1) % len(pairs)]
            yield [(src, src), (src, other[0]), (other[1], tgt)][draw.randrange(3)]


def _cut(line: str, share: float) -> str:
    words = line.split()
    return " ".join(words[: max(1, round(share * len(words)))])


def learn(good: "Rows", bad: "Rows") -> list[float]:
    """The numbers of a calibration, from features of good and of bad pairs."""
    import numpy as np

    good, bad = (rows[np.isfinite(rows).all(axis=1)] for rows in (good, bad))
    if min(len(good), len(bad)) < LEAST:
        raise ArgumentError(
            f"score: found {len(good)} pairs to learn from; expected at least {LEAST} with words "
            "on both sides"
        )
    usual = float(np.median(np.log(good[:, -2] / good[:, -1])))
    rows = _expanded(np.vstack([good, bad]), usual)
    middle, width = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    design = np.column_stack([(rows - middle) / width, np.ones(len(rows))])
    truth = np.repeat([1.0, 0.0], [len(good), len(bad)])
    # Both kinds weigh the same, however many pairs of each are left.
    mass = np.where(truth == 1, 0.5 / len(good), 0.5 / len(bad))
    weights = np.zeros(design.shape[1])
    pull = PULL * np.eye(len(weights))
    for _ in range(STEPS):
        probs = _logistic(design @ weights)
        slope = design.T @ (mass * (probs - truth)) + pull @ weights
        bend = (design * (mass * probs * (1 - probs))[:, None]).T @ design + pull
        step = np.linalg.solve(bend, slope)
        weights -= step
        if np.abs(step).max() < 1e-6:
            break
    return [usual, *middle.tolist(), *width.tolist(), *weights.tolist()]


def scores(features: "Rows", calibration: Sequence[float]) -> "npt.NDArray[np.float64]":
    """The scores of rows of features; 0 for rows that are no numbers."""
    import numpy as np

    usual, *numbers = calibration
    count = len(numbers) // 3
    middle, width, weights = np.split(np.asarray(numbers), [count, 2 * count])
    known = np.isfinite(features).all(axis=1)
    result = np.zeros(len(features))
    rows = (_expanded(features[known], usual) - middle) / width
    result[known] = _logistic(rows @ weights[:-1] + weights[-1])
    return result


def _expanded(features: "Rows", usual: float) -> "Rows":
    """What the regression sees: the features, how odd the lengths are, and the worse side."""
    import numpy as np

    features = np.asarray(features, dtype=np.float64)
    gains, links, linked, gaps, home, same, lengths = np.split(
        features, [2, 3, 5, 7, 9, 10], axis=1
    )
    odd = np.abs(np.log(lengths[:, 0] / lengths[:, 1]) - usual)
    home = np.clip(home, -4, 4)
    worst = [gains.min(axis=1), linked.min(axis=1), gaps.max(axis=1), home.min(axis=1)]
    size = np.log(lengths.sum(axis=1))
    by_size = [odd * size, gaps.max(axis=1) * size, same[:, 0] * size]
    columns = [gains, links, linked, gaps, home, same, *worst, odd, size, *by_size]
    return np.column_stack(columns)


def _logistic(values: "Rows") -> "Rows":
    import numpy as np

    return 1 / (1 + np.exp(-np.clip(values, -30, 30)))
