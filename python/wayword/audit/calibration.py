"""The numbers an audit judges by, all learned by ``bench/audit.py fit``.

``LOST`` and ``KEPT`` hold shares of words by link rate and linked mass; ``WEIGHTS`` a logistic
model for each kind, the constant first. They were learned from errors made in training text that no
aligner of the bench had seen, weighted as if one line in ten had an error of the kind.
"""

import numpy as np
import numpy.typing as npt

from wayword.audit.finding import Candidate

__all__ = [
    "KEPT",
    "LOST",
    "THRESHOLD",
    "WEIGHTS",
    "mass_bin",
    "probability",
    "rate_bin",
    "ratios_for",
]

#: Upper ends of bins: how often a word is linked, and how much of it is linked here.
RATES = np.array([0.3, 0.5, 0.65, 0.75, 0.85, 0.92, 0.96])
MASSES = np.array([0.03, 0.1, 0.25, 0.5, 0.8])

#: By bin of rate, then of mass: the share of words that lost their partner, and of all words.
LOST = np.array(
    [
        [0.1217, 0.0913, 0.1174, 0.5826, 0.0783, 0.0087],
        [0.3636, 0.1013, 0.1464, 0.3106, 0.0656, 0.0126],
        [0.3665, 0.1067, 0.1400, 0.2758, 0.0915, 0.0194],
        [0.4967, 0.0901, 0.0890, 0.2411, 0.0695, 0.0137],
        [0.6573, 0.0674, 0.0668, 0.1452, 0.0501, 0.0132],
        [0.6885, 0.0701, 0.0476, 0.1274, 0.0570, 0.0094],
        [0.7071, 0.0711, 0.0398, 0.1047, 0.0678, 0.0095],
        [0.7045, 0.0862, 0.0576, 0.0953, 0.0516, 0.0049],
    ]
)
KEPT = np.array(
    [
        [0.0646, 0.0392, 0.1056, 0.4910, 0.1341, 0.1655],
        [0.1569, 0.0738, 0.1178, 0.2034, 0.1826, 0.2654],
        [0.1123, 0.0581, 0.0856, 0.1615, 0.2094, 0.3732],
        [0.1489, 0.0511, 0.0594, 0.0984, 0.1220, 0.5202],
        [0.1619, 0.0443, 0.0416, 0.0602, 0.0898, 0.6022],
        [0.1043, 0.0261, 0.0233, 0.0328, 0.0574, 0.7561],
        [0.0493, 0.0137, 0.0121, 0.0170, 0.0335, 0.8745],
        [0.0158, 0.0050, 0.0069, 0.0100, 0.0122, 0.9502],
    ]
)
PSEUDO = 200  # words for which the shares of ``KEPT`` count in each row, beside those of the text
MOST = 4.0  # of a log likelihood ratio

#: By kind, the constant and a weight for each feature.
WEIGHTS: dict[str, tuple[float, ...]] = {
    "left-out clause": (-7.677, 0.107, 1.739, -0.172, 0.642, 0.324, -0.048, 2.984, 0.482, 0.004),
    "left-out word": (-5.662, 0.064, 0.552, -0.125, 0.109, 0.045, -0.066, 1.557, 6.557, -0.028),
    "added clause": (-7.031, 0.164, 2.035, -0.241, 0.611, 0.444, -0.279, 2.243, 0.100, 0.002),
    "added word": (-5.375, 0.198, 0.031, -0.186, -0.090, -0.332, -0.030, 1.140, 2.320, 0.063),
    "number": (0.267, 5.891, -0.059, 2.266, -0.538, -0.784, 3.623, 0.841, -3.176, -4.116),
    "name": (-1.880, 0.331, 2.882, 0.320, 3.552, 2.162, -6.640),
    "term": (-12.662, -1.561, 0.358, 0.458, -0.988, -0.039, 11.746, -5.293),
    "order": (-3.299, -6.945, 0.130, 0.342, -0.060, 1.406, 2.911, -1.265),
}

#: Findings of a lower score are not shown: of untouched lines, at most 3 in 100 have one.
THRESHOLD = 0.81


def rate_bin(rate: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """The bin of a link rate."""
    return np.searchsorted(RATES, rate).astype(np.int64)


def mass_bin(mass: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """The bin of a linked mass."""
    return np.searchsorted(MASSES, mass).astype(np.int64)


def ratios_for(
    rate: npt.NDArray[np.float64], mass: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """By word of a text, the log likelihood ratio of its mass without a partner to with one.

    What is usual is learned from the text itself, as most of it is right: where the aligner knows
    a kind of text badly, words without links say less.
    """
    rows, columns = rate_bin(rate), mass_bin(mass)
    usual = PSEUDO * KEPT
    np.add.at(usual, (rows, columns), 1)
    usual /= usual.sum(axis=1, keepdims=True)
    table = np.clip(np.log(LOST) - np.log(usual), -MOST, MOST)
    by_word: npt.NDArray[np.float64] = table[rows, columns]
    return by_word


def probability(candidate: Candidate) -> float:
    """How likely the candidate is an error; what a glossary says is certain."""
    if candidate.kind == "glossary":
        return 1.0
    constant, *weights = WEIGHTS[candidate.model or candidate.kind]
    total = constant + sum(w * x for w, x in zip(weights, candidate.features, strict=True))
    return float(1 / (1 + np.exp(-np.clip(total, -30, 30))))
