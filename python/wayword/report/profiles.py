"""Many language pairs side by side: distances, a tree, and what is known of the languages.

In: what ``wayword.profile.many`` compared. Out: text, JSON and a page.

>>> row = Row("ja–en", 100, 0.1, 0.2, 0.05, 0.3, 0.6, 0.5, "dl:10")
>>> row.reading
'verbs come late in the source; it has postpositions'
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wayword.picture import chart
from wayword.picture.element import Markup, element
from wayword.picture.matrix import heat
from wayword.picture.page import figure, fragment, page, section, table
from wayword.picture.tree import leaves_in_order, tree
from wayword.report.profile import percent
from wayword.report.table import Table

__all__ = ["Join", "Many", "Row"]

Matrix = tuple[tuple[float, ...], ...]

#: From this surplus of moves to the left on, verbs stand later in the source than in the target.
LATE = 0.15
CAPTIONS = ("Verbs, net moves to the left", "Adpositions turned with the word before")
#: From this share on, adpositions stand behind their words in the source.
BEHIND = 0.5


@dataclass(frozen=True)
class Join:
    """Two branches of the tree, their distance, and how often resampled text joins the same."""

    first: int
    second: int
    distance: float
    support: float


@dataclass(frozen=True)
class Row:
    """What is told of each pair."""

    name: str
    sentences: int
    monotone: float
    reversed: float
    #: reversed pairs over ten words apart, of all pairs
    far: float
    hierarchical_d: float
    #: moves to the left less moves to the right; None where the text has no such tags
    verbs: float | None
    #: share that changes places with the word before it
    adpositions: float | None
    space: str

    @property
    def reading(self) -> str:
        """What the moves say of the source language, seen from the target."""
        said = []
        if self.verbs is not None:
            place = "late" if self.verbs >= LATE else "early" if self.verbs <= -LATE else ""
            said.append(f"verbs come {place} in the source" if place else "verbs keep their place")
        if self.adpositions is not None:
            behind = self.adpositions >= BEHIND
            said.append("it has postpositions" if behind else "adpositions keep their place")
        return "; ".join(said)


@dataclass(frozen=True)
class Many:
    """Pairs compared by word order."""

    names: tuple[str, ...]
    distances: Matrix
    #: the ends of the 95 % intervals
    low: Matrix
    high: Matrix
    joins: tuple[Join, ...]
    rows: tuple[Row, ...]
    recipe: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        values = asdict(self)
        for row, told in zip(values["rows"], self.rows, strict=True):
            row["reading"] = told.reading
        return values

    @property
    def order(self) -> list[int]:
        """The pairs as the tree puts them."""
        return leaves_in_order(len(self.names), self._joins)

    @property
    def _joins(self) -> list[tuple[int, int, float]]:
        return [(join.first, join.second, join.distance) for join in self.joins]

    def groups(self) -> list[tuple[str, float, float]]:
        """Each group that the tree joins: its names, distance and support."""
        members = [[name] for name in self.names]
        told = []
        for join in self.joins:
            members.append(members[join.first] + members[join.second])
            told.append((", ".join(members[-1]), join.distance, join.support))
        return told

    def __str__(self) -> str:
        rows = [[self.names[i], *(self._cell(i, j) for j in self.order)] for i in self.order]
        distances = Table(["", *(self.names[j] for j in self.order)], rows).text()
        groups = Table(
            ["group", "distance", "comes back"],
            [[names, f"{far:.3f}", percent(support)] for names, far, support in self.groups()],
        ).text()
        return "\n\n".join(
            [self._table().text(), f"distances, with 95 % intervals\n{distances}", groups]
        )

    def _cell(self, i: int, j: int) -> str:
        if i == j:
            return "0"
        return f"{self.distances[i][j]:.3f} ({self.low[i][j]:.3f}–{self.high[i][j]:.3f})"

    def _table(self) -> Table:
        has_tags = any(row.verbs is not None or row.adpositions is not None for row in self.rows)
        header = ["pair", "sentences", "in order", "reversed", "far", "D hier", "advised"]
        rows = []
        for row in self.rows:
            cells: list[object] = [
                *(row.name, row.sentences, percent(row.monotone), percent(row.reversed)),
                *(percent(row.far), percent(row.hierarchical_d), row.space),
            ]
            if has_tags:
                around = "–" if row.adpositions is None else percent(row.adpositions)
                cells += [_signed(row.verbs), around, row.reading or "–"]
            rows.append(cells)
        more = ["verbs", "adpositions", "reading"] if has_tags else []
        return Table([*header, *more], rows)

    def to_html(self) -> str:
        """The whole page."""
        title = f"{len(self.names)} language pairs by word order"
        return page(title, self._sections(), foot=self.recipe)

    def _repr_html_(self) -> str:
        return fragment(*self._pictures())

    def _pictures(self) -> Sequence[Markup]:
        order = self.order
        names = [self.names[at] for at in order]
        cells = [[self.distances[i][j] for j in order] for i in order]
        drawn = heat(names, names, cells, title="distances of pairs by word order", written=True)
        branches = tree(self.names, self._joins, title="which pairs go together")
        rows = [[self.names[i], *(self._cell(i, j) for j in order)] for i in order]
        numbers = table(["", *names], rows, name="distances with intervals")
        header = ["group", "distance", "comes back in resampled text"]
        groups = [[names, f"{far:.3f}", percent(support)] for names, far, support in self.groups()]
        return [
            figure(branches, "The tree", numbers=table(header, groups, name="groups of the tree")),
            figure(
                drawn, "Distance, from 0 (the same jumps) to 1 (none in common)", numbers=numbers
            ),
        ]

    def _sections(self) -> list[Markup]:
        told = (
            "Two pairs are near to each other when their translations jump alike: by the same "
            "distances, to the same side, equally often. Kinds of text and lengths of sentences "
            "count too, so compare text of one kind."
        )
        moves = (
            "Verbs: moves to the left less moves to the right, in percent; those that move left "
            "stand later in the source, as in languages with the verb last. Adpositions: the share "
            "that changes places with the word before it, as postpositions do."
        )
        shown = self._table()
        reversed_share = chart.bars(
            [(row.name, 100 * row.reversed) for row in self.rows],
            title="reversed pairs of linked words, in percent",
            unit="%",
        )
        late = [
            (
                name,
                [(row.name, 100 * value) for row in self.rows if (value := pick(row)) is not None],
            )
            for name, pick in (("verbs", _verbs), ("adpositions", _adpositions))
        ]
        bars = [
            figure(chart.bars(rows, title=f"{name}, in percent", unit="%"), caption)
            for (name, rows), caption in zip(late, CAPTIONS, strict=True)
            if rows
        ]
        return [
            section("Distances", element("p", told), _grid(*self._pictures())),
            section(
                "The pairs",
                table(shown.header, shown.rows, name="figures of the pairs", sortable=True),
                _grid(figure(reversed_share, "Reversed pairs of words"), *bars),
                element("p", moves) if bars else None,
            ),
        ]


def _grid(*made: Markup) -> Markup:
    return element("div", *made, class_="pictures")


def _verbs(row: Row) -> float | None:
    return row.verbs


def _adpositions(row: Row) -> float | None:
    return row.adpositions


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:+.0f} %"
