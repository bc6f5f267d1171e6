"""Pictures of docs/papers/galley-manning-2008.md; the module of the paper computes every class."""

from collections.abc import Iterable, Sequence

from wayword.papers.galley_manning_2008 import (
    START,
    SentencePair,
    extract_blocks,
    neighbors,
    orientation,
    shift_reduce,
    span_orientation,
)
from wayword.picture.chart import svg
from wayword.picture.element import Markup, element

Span = tuple[int, int]
Block = tuple[int, int, int, int]
#: A sentence of the toy corpus de-en, with its phrases in target order.
SENTENCE = SentencePair(
    ("Am", "Sonntag", "war", "dieser", "Teller", "sehr", "groß", "."),
    ("This", "plate", "was", "very", "big", "on", "Sunday", "."),
    ((3, 0), (4, 1), (2, 2), (5, 3), (6, 4), (0, 5), (1, 6), (7, 7)),
)
PHRASES: tuple[Block, ...] = (
    (0, 1, 3, 4),
    (2, 2, 2, 2),
    (3, 4, 5, 6),
    (5, 6, 0, 1),
    (7, 7, 7, 7),
)
MERGED: Block = (0, 4, 2, 6)
#: Alignments of four words, (source, target), in which the last target word swaps.
SWAPS = {
    "(a)": ((3, 0), (2, 1), (1, 2), (0, 3)),
    "(b)": ((3, 0), (1, 1), (2, 2), (0, 3)),
    "(c)": ((1, 0), (2, 1), (3, 2), (0, 3)),
}
MAX_LENGTH = 2
STYLE = """
text{font:15px sans-serif;fill:#222}.small{font-size:13px;fill:#57606a}.class{font-weight:bold}
.back{fill:#fff}.cell{fill:none;stroke:#d0d7de}.phrase{fill:#d0d7de;stroke:#57606a;rx:4px}
.link{fill:#222;rx:2px}.merged{fill:none;stroke:#c2410c;stroke-width:2.5;stroke-dasharray:7 4}
.block{fill:#fdba74;stroke:#c2410c;rx:4px}.changed{fill:#c2410c}
.corner{fill:none;stroke:#c2410c;stroke-width:2}
@media (prefers-color-scheme:dark){text{fill:#eee}.small{fill:#a8b1bb}.back{fill:#1b1f24}
.cell{stroke:#3d444d}.phrase{fill:#454d57;stroke:#9aa4af}.link{fill:#eee}.merged{stroke:#ff922b}
.block{fill:#7c3f10;stroke:#ff922b}.changed{fill:#ff922b}.corner{stroke:#ff922b}}
"""


class AlignmentGrid:
    """An alignment grid as in the paper: source words across, target words down."""

    def __init__(self, left: float, top: float, cell: tuple[float, float]) -> None:
        self.left, self.top = left, top
        self.width, self.height = cell

    def draw_cells(self, pair: SentencePair) -> Iterable[Markup]:
        """Draw an empty cell for each pair of words."""
        spans = [(i, i, j, j) for i in range(len(pair.e)) for j in range(len(pair.f))]
        return [self.draw_block(span, "cell", inset=0) for span in spans]

    def draw_links(self, pair: SentencePair) -> Iterable[Markup]:
        """Draw a dark square for each alignment link."""
        for j, i in pair.alignment:
            x, y = self.center(i, j)
            yield element("rect", x=x - 6, y=y - 6, width=12, height=12, class_="link")

    def draw_block(self, block: Block, kind: str, inset: float = 3) -> Markup:
        """Draw a rectangle over target words s ... t and source words u ... v."""
        s, t, u, v = block
        return element(
            "rect",
            x=self.left + self.width * u + inset,
            y=self.top + self.height * s + inset,
            width=self.width * (v - u + 1) - 2 * inset,
            height=self.height * (t - s + 1) - 2 * inset,
            class_=kind,
        )

    def draw_names(self, rows: Sequence[str], columns: Sequence[str]) -> Iterable[Markup]:
        """Write the names of the rows on the left and of the columns above."""
        for i, name in enumerate(rows):
            y = self.center(i, 0)[1] + 5
            yield element("text", name, x=self.left - 8, y=y, text_anchor="end")
        for j, name in enumerate(columns):
            x = self.center(0, j)[0]
            yield element("text", name, x=x, y=self.top - 8, text_anchor="middle")

    def center(self, i: float, j: float) -> tuple[float, float]:
        """Return the middle of the cell of target word ``i`` and source word ``j``."""
        return self.left + self.width * (j + 0.5), self.top + self.height * (i + 0.5)


def sentence_picture() -> str:
    """Draw the phrases of a sentence with their orientations in two models."""
    grid = AlignmentGrid(74, 44, (66, 30))
    shapes = [
        *grid.draw_cells(SENTENCE),
        *(grid.draw_block(phrase, "phrase") for phrase in PHRASES),
        *grid.draw_links(SENTENCE),
        grid.draw_block(MERGED, "merged", inset=-1),
        *grid.draw_names(SENTENCE.e, SENTENCE.f),
    ]
    columns = (grid.left + 8 * grid.width + 60, grid.left + 8 * grid.width + 160)
    for x, name in zip(columns, ("phrase-based", "hierarchical"), strict=True):
        shapes.append(_label(x, grid.top - 8, name, "small"))
    stack: tuple[Span, ...] = (START,)
    last = START
    for s, t, u, v in PHRASES:
        y = grid.center((s + t) / 2, 0)[1] + 5
        local, merged = (span_orientation(span, (u, v))[0] for span in (last, stack[-1]))
        look = "class" if merged == local else "class changed"
        shapes += [_label(columns[0], y, local, "class"), _label(columns[1], y, merged, look)]
        stack, last = shift_reduce(stack, (u, v)), (u, v)
    title = (
        "Alignment grid of Am Sonntag war dieser Teller sehr groß, This plate was very big on "
        "Sunday: very big, on Sunday and the full stop are discontinuous in the phrase-based model "
        "and monotone, swap and monotone in the hierarchical model"
    )
    return _picture(columns[1] + 60, grid.top + 8 * grid.height + 12, title, shapes)


def swap_picture() -> str:
    """Draw the three cases of Figure 2, with the class of the block in each model."""
    shapes = []
    for number, (name, alignment) in enumerate(SWAPS.items()):
        pair = SentencePair("abcd", "wxyz", alignment)
        grid = AlignmentGrid(66 + 280 * number, 52, (50, 38))
        block = (3, 3, 0, 0)
        corner = (2, 1)  # (s - 1, v + 1)
        adjacent = [b for b in extract_blocks(pair, None) if (b[1], b[2]) == corner]
        shapes += [
            *grid.draw_cells(pair),
            grid.draw_block(max(adjacent), "phrase"),
            grid.draw_block(block, "block"),
            *grid.draw_links(pair),
            _corner(grid, *corner),
            *grid.draw_names(("", "", "s − 1", "s = t"), ("u = v", "v + 1", "", "")),
            _label(grid.center(0, 1.5)[0], 18, name, "class"),
        ]
        for line, model in enumerate(("word", "phrase", "hierarchical")):
            y = grid.top + 4 * grid.height + 26 + 22 * line
            o = orientation(block, neighbors(pair, model, MAX_LENGTH))[0]
            title = model if model == "hierarchical" else f"{model}-based"
            shapes.append(element("text", title, x=grid.left + 4, y=y, class_="small"))
            look = "class changed" if o == "S" else "class"
            shapes.append(_label(grid.left + 4 * grid.width - 14, y, o, look))
    title = (
        "Three alignment grids with a block at s, u and its neighbor at s − 1, v + 1. (a) one "
        "word: swap in all three models. (b) two words: swap in the phrase-based and the "
        "hierarchical model. (c) three words, longer than the maximum phrase length of two: swap "
        "in the hierarchical model only"
    )
    return _picture(66 + 280 * 2 + 4 * 50 + 16, 52 + 4 * 38 + 84, title, shapes)


def _corner(grid: AlignmentGrid, i: int, j: int) -> Markup:
    x, y = grid.center(i, j)
    return element("circle", cx=x, cy=y, r=13, class_="corner")


def _label(x: float, y: float, text: str, look: str) -> Markup:
    return element("text", text, x=x, y=y, text_anchor="middle", class_=look)


def _picture(width: float, height: float, title: str, shapes: Iterable[Markup]) -> str:
    back = element("rect", x=0, y=0, width=width, height=height, class_="back")
    return svg(width, height, title, element("style", Markup(STYLE)), back, *shapes)


def pictures() -> dict[str, str]:
    """Return every picture by the name of its file."""
    return {
        "paper-galley-manning-2008-sentence.svg": sentence_picture(),
        "paper-galley-manning-2008-swaps.svg": swap_picture(),
    }
