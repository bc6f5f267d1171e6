"""A sentence pair whose word order is known, for people."""

from wayword.corpus.toy import ToyPair
from wayword.reorder.order import kendall_distance
from wayword.report.table import listing

__all__ = ["describe"]

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def describe(pair: ToyPair) -> str:
    """A sentence pair for people: source, source in target order, target, links, distance.

    >>> print(describe(ToyPair(("ich", "Tee", "trinke"), ("I", "drink", "tea"),
    ...     links=((0, 0), (1, 2), (2, 1)), order=(0, 2, 1),
    ...     pos=("PRON", "NOUN", "VERB"), chunks=("B-NP", "B-NP", "B-VP"))))
    source   ich₀ Tee₁ trinke₂
    ordered  ich₀ trinke₂ Tee₁
    target   I₀ drink₁ tea₂
    links    0-0 1-2 2-1
    Kendall  0.33 (share of word pairs whose order changes)
    """
    distance = kendall_distance(range(len(pair.order)), pair.order)
    rows = {
        "source": _numbered(pair.src, range(len(pair.src))),
        "ordered": _numbered(pair.src, pair.order),
        "target": _numbered(pair.tgt, range(len(pair.tgt))),
        "links": " ".join(f"{src}-{tgt}" for src, tgt in pair.links),
        "Kendall": f"{distance:.2f} (share of word pairs whose order changes)",
    }
    return listing(rows.items())


def _numbered(words: tuple[str, ...], positions: tuple[int, ...] | range) -> str:
    return " ".join(words[at] + str(at).translate(SUBSCRIPTS) for at in positions)
