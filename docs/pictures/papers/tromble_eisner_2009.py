"""Pictures of docs/papers/tromble-eisner-2009.md; the module of the paper computes every number."""

from collections.abc import Iterable, Sequence

from wayword.papers.tromble_eisner_2009 import (
    EXAMPLE,
    EXAMPLE_B,
    best_permutation,
    local_search_step,
    score,
    swap_benefits,
)
from wayword.picture.chart import svg
from wayword.picture.element import Markup, element

#: The tokens of the example with their numbers, as the paper writes them.
TOKENS = tuple(word + number for (word, _), number in zip(EXAMPLE, "¹²³⁴⁵⁶", strict=True))
#: The permutation of Figure 2: words in alphabetical order.
ALPHABETICAL = (0, 3, 4, 5, 2, 1)
CELL_WIDTH, CELL_HEIGHT, WORD = 56, 32, 76
STYLE = """
text{font:15px sans-serif;fill:#222}.small{font-size:13px;fill:#57606a}.name{font-weight:bold}
.back{fill:#fff}.cell{fill:none;stroke:#d0d7de}.keep{fill:#d0d7de;stroke:#8c959f}
.reverse{fill:#fdba74;stroke:#c2410c}.faint{fill:none;stroke:#d0d7de}.gray{fill:#6e7781}
.word{fill:#d0d7de;stroke:#57606a;rx:4px}.branch,.link{fill:none;stroke:#8c959f;stroke-width:1.5}
.swap{stroke:#c2410c;stroke-width:3}.swapped{fill:#c2410c;font-weight:bold}.crossed{stroke:#c2410c}
@media (prefers-color-scheme:dark){text{fill:#eee}.small{fill:#a8b1bb}.back{fill:#1b1f24}
.cell,.faint{stroke:#3d444d}.keep{fill:#454d57;stroke:#9aa4af}.gray{fill:#9aa4af}
.reverse{fill:#7c3f10;stroke:#ff922b}.word{fill:#454d57;stroke:#9aa4af}
.swap,.crossed{stroke:#ff922b}.swapped{fill:#ff922b}}
"""


def matrix_picture() -> str:
    """Draw the matrix B with rows and columns in source order and in the best order."""
    shapes: list[Markup] = []
    panels = {"source order": list(range(6)), "best permutation": best_permutation(EXAMPLE_B)}
    for number, (name, pi) in enumerate(panels.items()):
        left, top = WORD + 8 + number * (WORD + 6 * CELL_WIDTH + 24), 62
        heading = f"{name}: score {_signed(score(EXAMPLE_B, pi))}"
        shapes.append(element("text", heading, x=left, y=20, class_="name"))
        for place, token in enumerate(pi):
            x, y = left + CELL_WIDTH * (place + 0.5), top + CELL_HEIGHT * (place + 0.5) + 5
            shapes.append(_label(x, top - 10, TOKENS[token], "small"))
            shapes.append(
                element("text", TOKENS[token], x=left - 8, y=y, text_anchor="end", class_="small")
            )
        shapes += _cells(pi, left, top)
    words = (" ".join(EXAMPLE[token][0] for token in pi) for pi in panels.values())
    title = (
        "Matrix B of the sentence {}: the cells above the diagonal sum to −8. With rows and "
        "columns in the order {}, they sum to 7: all negative values have moved below the diagonal"
    ).format(*words)
    return _picture(2 * (WORD + 6 * CELL_WIDTH + 20), 62 + 6 * CELL_HEIGHT + 12, title, shapes)


def _cells(pi: Sequence[int], left: float, top: float) -> Iterable[Markup]:
    """Draw a cell per pair of tokens; cells above the diagonal count, those below do not."""
    for i, first in enumerate(pi):
        for j, second in enumerate(pi):
            value = float(EXAMPLE_B[first, second])
            x, y = left + CELL_WIDTH * j, top + CELL_HEIGHT * i
            counted = ("reverse" if value < 0 else "keep") if value else "cell"
            kind = counted if i < j else "faint"
            yield _box(x + 1, y + 1, CELL_WIDTH - 2, CELL_HEIGHT - 2, kind)
            if value:
                look = None if i < j else "gray"
                middle = x + CELL_WIDTH / 2
                yield _label(middle, y + CELL_HEIGHT / 2 + 5, _signed(value), look)


class BestTree:
    """The binary tree over a permutation that local search finds, as Figure 2."""

    def __init__(self, pi: Sequence[int]) -> None:
        self.pi = pi
        self.delta = swap_benefits(EXAMPLE_B, pi)

    def gain(self, i: int, k: int) -> float:
        """Return beta(i, k)."""
        return max((self.gain_of_split(i, j, k) for j in range(i + 1, k)), default=0.0)

    def gain_of_split(self, i: int, j: int, k: int) -> float:
        """Return the gain of the best tree over i ... k whose root is split at j."""
        return self.gain(i, j) + self.gain(j, k) + max(0.0, self.delta[i, j, k])

    def split(self, i: int, k: int) -> int:
        """Return the best split of a node, the smallest of equals."""
        return max(range(i + 1, k), key=lambda j: self.gain_of_split(i, j, k))

    def tokens(self, i: int, k: int) -> list[int]:
        """Return the tokens of a node after its swaps."""
        if k - i == 1:
            return [self.pi[i]]
        j = self.split(i, k)
        left, right = self.tokens(i, j), self.tokens(j, k)
        return right + left if self.delta[i, j, k] > 0 else left + right


def tree_picture() -> str:
    """Draw the step of Figure 2: a tree over the alphabetical order, its swaps and the result."""
    tree, n = BestTree(ALPHABETICAL), len(ALPHABETICAL)
    gain, best = local_search_step(EXAMPLE_B, ALPHABETICAL)
    assert (tree.gain(0, n), tree.tokens(0, n)) == (gain, best)
    step, width, leaves, below = 118.0, 86.0, 262.0, 352.0
    left = 84.0
    shapes: list[Markup] = []
    labels: list[Markup] = []

    def draw_node(i: int, k: int, depth: int) -> tuple[float, float]:
        if k - i == 1:
            return left + step * (i + 0.5), leaves
        j = tree.split(i, k)
        y = 28.0 + 46 * depth
        children = [draw_node(*part, depth + 1) for part in ((i, j), (j, k))]
        x = sum(x for x, _ in children) / 2
        delta = tree.delta[i, j, k]
        (x1, y1), (x2, y2) = children
        bracket = f"M{x1:g} {y1:g}V{y:g}H{x2:g}V{y2:g}"
        kind = "branch swap" if delta > 0 else "branch"
        shapes.append(element("path", d=bracket, class_=kind))
        look = "swapped" if delta > 0 else "small"
        text = f"S({i},{k}): Δ = {_signed(delta)}" + (", swap" if delta > 0 else "")
        labels.append(element("text", text, x=x + 10, y=y - 7, class_=look))
        return x, y

    draw_node(0, n, 0)
    for place, token in enumerate(best):
        a, b = left + step * (ALPHABETICAL.index(token) + 0.5), left + step * (place + 0.5)
        path = f"M{a:g} {leaves + 28:g}C{a:g} {below - 30:g} {b:g} {leaves + 58:g} {b:g} {below:g}"
        kind = "link" if a == b else "link crossed"
        shapes.append(element("path", d=path, class_=kind))
    for y, pi, name in ((leaves, list(ALPHABETICAL), "π"), (below, best, "π′")):
        value = f"score {_signed(score(EXAMPLE_B, pi))}"
        shapes.append(element("text", name, x=8, y=y + 12, class_="name"))
        shapes.append(element("text", value, x=8, y=y + 29, class_="small"))
        for place, token in enumerate(pi):
            x = left + step * (place + 0.5)
            shapes.append(_box(x - width / 2, y, width, 28, "word"))
            shapes.append(_label(x, y + 19, TOKENS[token]))
    title = (
        "A binary tree over die¹ die⁴ Frau⁵ gekauft⁶ hat³ Katze². Two of its five nodes swap their "
        "children: gekauft⁶ and hat³ for a gain of 1, die¹ and the four words after it for a gain "
        "of 5. The result is die⁴ Frau⁵ hat³ gekauft⁶ die¹ Katze²"
    )
    return _picture(left + step * n + 10, below + 44, title, [*shapes, *labels])


def _signed(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def _box(x: float, y: float, width: float, height: float, kind: str) -> Markup:
    return element("rect", x=x, y=y, width=width, height=height, class_=kind)


def _label(x: float, y: float, text: str, look: str | None = None) -> Markup:
    return element("text", text, x=x, y=y, text_anchor="middle", class_=look)


def _picture(width: float, height: float, title: str, shapes: Sequence[Markup]) -> str:
    back = _box(0, 0, width, height, "back")
    return svg(width, height, title, element("style", Markup(STYLE)), back, *shapes)


def pictures() -> dict[str, str]:
    """Return every picture by the name of its file."""
    return {
        "paper-tromble-eisner-2009-matrix.svg": matrix_picture(),
        "paper-tromble-eisner-2009-tree.svg": tree_picture(),
    }
