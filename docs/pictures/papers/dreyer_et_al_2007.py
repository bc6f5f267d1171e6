"""Pictures of docs/papers/dreyer-et-al-2007.md; the module of the paper finds every order."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from wayword.papers.dreyer_et_al_2007 import (
    Constituent,
    Constraint,
    dijkstra_bleu_decoder,
    itg_bleu_decoder,
    lexical_constituent,
    ngrams,
    sentence_bleu,
)
from wayword.picture.chart import svg
from wayword.picture.element import Markup, element

Order = tuple[int, ...]
#: The example of the paper: German words, their phrases in source order, and the reference.
GERMAN = ("wenn", "Sie", "mir", "das", "erklären", "könnten")
PHRASES = ("if", "you", "to me", "that", "explain", "could")
REFERENCE = "if you could explain that to me"
#: Constraints with the same best order share a panel.
PANELS: tuple[dict[str, Constraint], ...] = (
    {"no reordering": Constraint("ITG", 0)},
    {"MJ-1": Constraint("MJ", 1), "IBM(2)": Constraint("IBM", 2)},
    {"MJ-2": Constraint("MJ", 2)},
    {"IBM(4)": Constraint("IBM", 4), "ITG": Constraint("ITG")},
)
WIDTHS = tuple(max(34.0, 9.0 * len(phrase) + 12) for phrase in PHRASES)
GAP, BOX = 12, 26
STYLE = """
text{font:15px sans-serif;fill:#222}.small{font-size:13px;fill:#57606a}.name{font-weight:bold}
.back{fill:#fff}.phrase{fill:#d0d7de;stroke:#57606a;rx:4px}.run{fill:#fdba74;stroke:#c2410c;rx:6px}
.link,.branch,.guide{fill:none;stroke:#8c959f;stroke-width:1.5}.guide{stroke-dasharray:2 4}
.crossed{stroke:#c2410c}.bar{stroke:#c2410c;stroke-width:4}.inverted{fill:#c2410c}
@media (prefers-color-scheme:dark){text{fill:#eee}.small{fill:#a8b1bb}.back{fill:#1b1f24}
.phrase{fill:#454d57;stroke:#9aa4af}.run{fill:#7c3f10;stroke:#ff922b}.crossed,.bar{stroke:#ff922b}
.inverted{fill:#ff922b}}
"""


class PhraseRow:
    """Phrases side by side in some order, each in a box."""

    def __init__(self, order: Order, left: float, top: float) -> None:
        self.order, self.top = order, top
        self.starts: dict[int, float] = {}
        for p in order:
            self.starts[p] = left
            left += WIDTHS[p] + GAP
        self.right = left - GAP

    def center(self, p: int) -> float:
        """Return the middle of a phrase."""
        return self.starts[p] + WIDTHS[p] / 2

    def draw(self, kind: str = "phrase") -> Iterable[Markup]:
        """Draw the boxes with the phrases in them."""
        for p in self.order:
            yield _box(self.starts[p], self.top, WIDTHS[p], BOX, kind)
            yield _label(self.center(p), self.top + 18, PHRASES[p])

    def draw_runs(self) -> Iterable[Markup]:
        """Draw a frame around each run of phrases that is part of the reference."""
        ranks = {p: REFERENCE.index(PHRASES[p]) for p in self.order}
        target = sorted(self.order, key=ranks.__getitem__)
        shift = {p: target.index(p) - place for place, p in enumerate(self.order)}
        for _, group in groupby(self.order, key=shift.__getitem__):
            run = list(group)
            if len(run) > 1:
                start, end = self.starts[run[0]], self.starts[run[-1]] + WIDTHS[run[-1]]
                yield _box(start - 4, self.top - 4, end - start + 8, BOX + 8, "run")

    def draw_links(self, below: "PhraseRow") -> Iterable[Markup]:
        """Draw a line from each phrase to the same phrase in the row below."""
        rank = {p: place for place, p in enumerate(below.order)}
        for p in self.order:
            crossed = any((p - q) * (rank[p] - rank[q]) < 0 for q in self.order)
            start, end = self.top + BOX, below.top - 4
            middle = (start + end) / 2
            a, b = self.center(p), below.center(p)
            path = f"M{a:g} {start:g}C{a:g} {middle:g} {b:g} {middle:g} {b:g} {end:g}"
            yield element("path", d=path, class_="link crossed" if crossed else "link")


def constraint_picture() -> str:
    """Draw the best order of the example under each constraint of Table 1."""
    shapes: list[Markup] = []
    told = []
    for number, panel in enumerate(PANELS):
        left, top = 16 + 410 * (number % 2), 10 + 214 * (number // 2)
        best = _decode(next(iter(panel.values())))
        assert all(_decode(constraint) == best for constraint in panel.values())
        counts = {name: len(constraint.orders(len(PHRASES))) for name, constraint in panel.items()}
        heading = ", ".join(f"{name}: {_count(count)}" for name, count in counts.items())
        text = " ".join(best.words)
        bleu = f"BLEU {100 * sentence_bleu(text, [REFERENCE]):.2f}"
        above = PhraseRow(tuple(range(len(PHRASES))), left, top + 46)
        below = PhraseRow(best.order, left, top + 136)
        shapes += [
            element("text", heading, x=left, y=top + 14, class_="name"),
            *(_label(above.center(p), top + 38, GERMAN[p], "small") for p in above.order),
            *above.draw_links(below),
            *above.draw(),
            *below.draw_runs(),
            *below.draw(),
            element("text", bleu, x=left, y=top + 186, class_="name"),
            element(
                "text",
                f"n-gram matches {_matches(best)}",
                x=left + 110,
                y=top + 186,
                class_="small",
            ),
        ]
        told.append(f"{' and '.join(panel)}: {text}, {bleu}")
    title = "The best order of the phrases if, you, to me, that, explain, could. " + "; ".join(told)
    return _picture(16 + 410 + above.right - left + 20, 10 + 214 * 2, title, shapes)


def tree_picture() -> str:
    """Draw the tree of Figure 2, with the matches of every constituent."""
    order = _decode(Constraint("ITG")).order
    leaves = PhraseRow(tuple(range(len(PHRASES))), 20, 236)
    below = PhraseRow(order, 20, 326)
    table = leaves.right + 24
    shapes: list[Markup] = []

    def draw_node(span: Order, depth: int) -> tuple[float, float]:
        if len(span) == 1:
            return leaves.center(span[0]), leaves.top
        first, second = _split(span)
        is_inverted = first[0] > second[0]
        y = 24.0 + 40 * depth
        children = [draw_node(part, depth + 1) for part in sorted((first, second), key=min)]
        x = sum(center for center, _ in children) / 2
        for child_x, child_y in children:
            shapes.append(_line(x, y, child_x, child_y, "branch"))
        if is_inverted:
            shapes.append(_line(x - 14, y + 12, x + 14, y + 12, "bar"))
        constituent = _constituent(span)
        rule = "inverted" if is_inverted else "straight"
        look = "small inverted" if is_inverted else "small"
        shapes.extend(
            [
                _line(x + 20, y, table - 8, y, "guide"),
                element("text", f"[{min(span)}, {max(span)}]", x=table, y=y + 5, class_="small"),
                element("text", rule, x=table + 46, y=y + 5, class_=look),
                element("text", _matches(constituent), x=table + 108, y=y + 5, class_="small"),
                element("text", " ".join(constituent.words), x=table + 170, y=y + 5),
            ]
        )
        return x, y

    draw_node(order, 0)
    shapes += [*leaves.draw_links(below), *leaves.draw(), *below.draw_runs(), *below.draw()]
    title = (
        "A binary tree over the phrases if, you, to me, that, explain, could. The three nodes over "
        "to me, that, explain and could are inverted, the two nodes above them are straight; the "
        "tree yields if you could explain that to me"
    )
    return _picture(table + 386, below.top + BOX + 16, title, shapes)


def _decode(constraint: Constraint) -> Constituent:
    decoder = itg_bleu_decoder if constraint.family == "ITG" else dijkstra_bleu_decoder
    return decoder(constraint, PHRASES, [REFERENCE])


def _split(order: Order) -> tuple[Order, Order]:
    """Return the first two parts of an order that are straight or inverted."""
    parts = [(order[:t], order[t:]) for t in range(1, len(order))]
    return next((x, y) for x, y in parts if max(x) < min(y) or max(y) < min(x))


def _constituent(order: Order) -> Constituent:
    words = tuple(" ".join(PHRASES[p] for p in order).split())
    whole = lexical_constituent(0, " ".join(words), set(ngrams(REFERENCE)))
    return whole._replace(order=order)


def _matches(x: Constituent) -> str:
    return "/".join(map(str, x.matches))


def _count(orders: int) -> str:
    return f"{orders} order" if orders == 1 else f"{orders} orders"


def _box(x: float, y: float, width: float, height: float, kind: str) -> Markup:
    return element("rect", x=x, y=y, width=width, height=height, class_=kind)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def _label(x: float, y: float, text: str, look: str | None = None) -> Markup:
    return element("text", text, x=x, y=y, text_anchor="middle", class_=look)


def _picture(width: float, height: float, title: str, shapes: Sequence[Markup]) -> str:
    back = _box(0, 0, width, height, "back")
    return svg(width, height, title, element("style", Markup(STYLE)), back, *shapes)


def pictures() -> dict[str, str]:
    """Return every picture by the name of its file."""
    return {
        "paper-dreyer-et-al-2007-constraints.svg": constraint_picture(),
        "paper-dreyer-et-al-2007-tree.svg": tree_picture(),
    }
