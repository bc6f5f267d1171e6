"""The best order of a sentence by an integer programme, for study.

In: a pair matrix. Out: an order that no other beats.
How: a variable for each pair of words says whether it is kept; three words must not go round in a
circle (Grötschel, Jünger and Reinelt, 1984; definitions h.4). SciPy's HiGHS solves it.
Cost: O(n³) constraints; some seconds for 25 words with learned matrices.
"""

from itertools import combinations

import numpy as np
import numpy.typing as npt

from wayword.errors import LimitError

__all__ = ["solve"]

#: More words have more constraints than memory is worth.
LONGEST = 60


def solve(matrix: npt.NDArray[np.float64]) -> list[int]:
    """The best order.

    >>> solve(np.array([[0.0, -1.0, 2.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))
    [1, 0, 2]
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    length = len(matrix)
    if length > LONGEST:
        raise LimitError(f"matrix: found {length} words; expected at most {LONGEST}")
    pairs = {pair: at for at, pair in enumerate(combinations(range(length), 2))}
    if not pairs:
        return list(range(length))
    gains = np.array([matrix[i, j] - matrix[j, i] for i, j in pairs])
    triples = list(combinations(range(length), 3))
    rows = np.repeat(np.arange(len(triples)), 3)
    columns = [pairs[pair] for i, j, k in triples for pair in ((i, j), (j, k), (i, k))]
    signs = np.tile([1.0, 1.0, -1.0], len(triples))
    shape = (len(triples), len(pairs))
    circles = csr_array((signs, (rows, np.array(columns, dtype=np.int64))), shape=shape)
    constraints = LinearConstraint(circles, 0, 1) if triples else ()
    found = milp(-gains, integrality=1, bounds=Bounds(0, 1), constraints=constraints)
    if not found.success:
        raise LimitError(f"matrix: the solver found no order: {found.message}")
    kept = np.round(found.x).astype(bool)
    # A word's place is the number of words that stand before it.
    places = np.zeros(length, dtype=np.int64)
    for (i, j), at in pairs.items():
        places[j if kept[at] else i] += 1
    return [int(word) for word in np.argsort(places)]
