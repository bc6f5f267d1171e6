"""A sentence with arcs: which words translate each other, and how an order jumps.

In: words of both sides and links, or words and an order. Out: SVG; words stand where they take
room, links that cross are drawn stronger.

>>> picture = linked(["er", "Tee", "trinkt"], ["he", "drinks", "tea"], [(0, 0), (1, 2), (2, 1)])
>>> picture.count("<path"), picture.count("crossed")
(3, 2)
>>> jumps(["er", "Tee", "trinkt"], (0, 2, 1)).count("<path")
2
"""

from collections.abc import Sequence
from itertools import pairwise

from wayword.picture.axis import columns
from wayword.picture.chart import svg
from wayword.picture.element import Markup, element

__all__ = ["jumps", "linked"]

LETTER, GAP = 8, 16
HEIGHT = 118


def _middles(words: Sequence[str], width: float = 0) -> tuple[list[float], float]:
    """The middle of each word, and the width of the row; words are spread to fill ``width``."""
    lengths = [LETTER * max(columns(word), 1) for word in words]
    room = sum(lengths) + GAP * max(len(words) - 1, 0)
    gap = GAP + max(width - room, 0) / max(len(words) - 1, 1) if len(words) > 1 else GAP
    middles, at = [], 4.0
    for length in lengths:
        middles.append(at + length / 2)
        at += length + gap
    return middles, max(at - gap + 4, 8)


def _words(words: Sequence[str], middles: Sequence[float], y: float) -> list[Markup]:
    return [
        element("text", word, x=middle, y=y, text_anchor="middle", class_="word")
        for word, middle in zip(words, middles, strict=True)
    ]


def linked(
    src: Sequence[str],
    tgt: Sequence[str],
    links: Sequence[tuple[int, int]],
    *,
    title: str = "",
) -> Markup:
    """Source above, target below, a curve a link; those that cross another stand out."""
    wide = max(_middles(src)[1], _middles(tgt)[1])
    (above, _), (below, _) = _middles(src, wide - 8), _middles(tgt, wide - 8)
    crossed = {
        link for link in links for other in links if (link[0] - other[0]) * (link[1] - other[1]) < 0
    }
    middle = HEIGHT / 2
    shapes = []
    for i, j in links:
        a, b = above[i], below[j]
        path = f"M{a:.1f} 24C{a:.1f} {middle:g} {b:.1f} {middle:g} {b:.1f} {HEIGHT - 22}"
        tip = element("title", f"{src[i]} – {tgt[j]}")
        shapes.append(
            element("path", tip, d=path, class_="link crossed" if (i, j) in crossed else "link")
        )
    shapes += _words(src, above, 16) + _words(tgt, below, HEIGHT - 6)
    told = title or f"{' '.join(src)} – {' '.join(tgt)}"
    return svg(wide, HEIGHT, told, *shapes, fixed=True)


def jumps(words: Sequence[str], order: Sequence[int], *, title: str = "") -> Markup:
    """The words in their own order, and every jump of another order as an arc.

    Jumps to the right are above, to the left below; a step to the next word is no jump.
    """
    middles, width = _middles(words)
    taken = [(before, after) for before, after in pairwise((-1, *order)) if after != before + 1]
    if not taken:
        return svg(width, 30, title or " ".join(words), *_words(words, middles, 20), fixed=True)
    reach = {pair: min(14 + 7 * abs(pair[1] - pair[0]), 90) for pair in taken}
    above = max([10, *(high for (a, b), high in reach.items() if b > a)])
    below = max([10, *(high for (a, b), high in reach.items() if b < a)])
    shapes = []
    for (before, after), high in reach.items():
        start, end = 2.0 if before < 0 else middles[before], middles[after]
        side = -1 if after > before else 1
        base = above + 4 if side < 0 else above + 26
        bend = base + side * high * 1.25
        tip = element("title", f"{'start' if before < 0 else words[before]} → {words[after]}")
        path = f"M{start:.1f} {base:g}C{start:.1f} {bend:g} {end:.1f} {bend:g} {end:.1f} {base:g}"
        shapes.append(element("path", tip, d=path, class_="link" if side < 0 else "link crossed"))
    shapes += _words(words, middles, above + 20)
    return svg(width, above + below + 34, title or " ".join(words), *shapes, fixed=True)
