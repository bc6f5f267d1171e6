"""Pictures and pages: text stays text, nothing is asked of anybody, what is drawn is told."""

import re
from html.parser import HTMLParser

import pytest

from wayword.picture import chart, matrix, page, sentence, tree
from wayword.picture.axis import columns, cut, ticks
from wayword.picture.element import Markup, element

BAD = "<script>alert('x')</script>&\"'"


class Tags(HTMLParser):
    """The elements of a page, and whether those that must be closed are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep it."""
        self.seen.append((tag, dict(attrs)))
        if tag not in {"meta", "input", "br", "link"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep a shape, which is closed at once."""
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Check that the innermost one ends."""
        assert self.open.pop() == tag


def pictures(text: str) -> dict[str, Markup]:
    """One of each kind, with this text in every place that takes some."""
    points = [chart.Point(1, 2, 1, 3, text), chart.Point(2, 2.5)]
    return {
        "bars": chart.bars([(text, 3.0), ("b", float("nan"))], title=text, unit="%"),
        "shares": chart.shares([(text, {text: 0.5, "b": 0.5})], title=text),
        "histogram": chart.histogram([(text, 1.0), ("2", 2.0)], title=text, x=text),
        "curves": chart.curves({text: points, "b": points}, title=text, x=text, y=text),
        "heat": matrix.heat([text], [text], [[0.5]], title=text, marks={(0, 0): text}),
        "grid": matrix.grid([text], [text], {(0, 0): 1.0}, title=text),
        "linked": sentence.linked([text, "b"], ["c", text], [(0, 1), (1, 0)], title=text),
        "jumps": sentence.jumps([text, "b", "c"], (2, 0, 1), title=text),
        "tree": tree.tree([text, "b"], [(0, 1, 0.5)], title=text),
    }


@pytest.mark.parametrize("kind", pictures(""))
def test_text_in_a_picture_stays_text(kind: str) -> None:
    picture = pictures(BAD)[kind]
    tags = Tags(picture)
    assert "script" not in [tag for tag, _ in tags.seen]
    assert tags.seen[0][0] == "svg"
    assert tags.seen[0][1]["aria-label"] == BAD  # what those hear who cannot see it
    # a policy of the page forbids style attributes, so no picture may need one
    assert not any("style" in attributes for _, attributes in tags.seen)


def test_bars_of_negative_numbers_lie_left_of_zero() -> None:
    rows = [("lm", 0.5), ("wp", -0.25), ("d", 0.0)]
    picture = chart.bars(rows, title="weights", form=".2f", notes={"d": "at its bound"})
    seen = Tags(picture).seen
    positive, negative, nothing = (attributes for tag, attributes in seen if tag == "rect")
    (zero,) = (float(attributes["x1"] or 0) for tag, attributes in seen if tag == "line")
    assert float(positive["x"] or 0) == zero == float(nothing["x"] or 0)
    ends = float(negative["x"] or 0) + float(negative["width"] or 0)
    assert ends == pytest.approx(zero)
    assert float(positive["width"] or 0) == pytest.approx(
        2 * float(negative["width"] or 0), abs=0.02
    )
    assert positive["class"] != negative["class"]
    assert "−0.25" in picture
    assert "0.00, at its bound" in picture
    assert "at its bound" not in chart.bars(rows, title="weights")
    assert "line" not in [tag for tag, _ in Tags(chart.bars(rows[:1], title="weights")).seen]


@pytest.mark.parametrize("kind", pictures(""))
def test_every_number_of_a_picture_is_finite(kind: str) -> None:
    assert not re.search(r"\b(nan|inf)\b", pictures("x")[kind])


def test_a_page_allows_nothing_but_itself() -> None:
    parts = [page.section(BAD, page.figure(picture, BAD)) for picture in pictures(BAD).values()]
    text = page.page(BAD, [*parts, page.section("List", page.listed([], name="sentences"))])
    tags = Tags(text)
    assert [tag for tag, _ in tags.seen].count("script") == 1
    assert "default-src 'none'" in text
    addresses = re.findall(r"https?://[^\"' )]+", text)
    assert set(addresses) == {"http://www.w3.org/2000/svg"}  # a name, not a place
    for tag, attributes in tags.seen:
        assert not (tag == "a" and not str(attributes["href"]).startswith("#"))
        assert "src" not in attributes
        assert not any(name.startswith("on") for name in attributes)


def test_a_page_has_landmarks_and_labels() -> None:
    rows = [("a", 1), ("b", 2.5)]
    parts = [page.section("Numbers", page.table(["n", "v"], rows, name="numbers", sortable=True))]
    tags = Tags(page.page("t", parts, lead="l", foot="f"))
    names = [tag for tag, _ in tags.seen]
    assert all(names.count(tag) == 1 for tag in ("header", "nav", "main", "footer", "h1"))
    [box] = [attributes for tag, attributes in tags.seen if attributes.get("class") == "wide"]
    assert (box["tabindex"], box["role"], box["aria-label"]) == ("0", "region", "numbers")
    assert [attributes["scope"] for tag, attributes in tags.seen if tag == "th"] == [
        *("col", "col"),
        *("row", "row"),
    ]


def test_a_list_tells_what_it_can_be_sorted_and_chosen_by() -> None:
    items: list[tuple[Markup, dict[str, str | float]]] = [
        (element("p", "one"), {"length": 3, "system": 'a"b'})
    ]
    text = page.listed(items, name="sentences", sorts={"length": "x"}, chooses={"system": ['a"b']})
    tags = Tags(text)
    [item] = [attributes for tag, attributes in tags.seen if tag == "li"]
    assert (item["data-length"], item["data-system"]) == ("3", 'a"b')
    assert [attributes["name"] for tag, attributes in tags.seen if tag == "select"] == [
        *("system", "sort")
    ]


def test_axes_have_round_numbers() -> None:
    assert ticks(0, 100) == [0, 20, 40, 60, 80, 100]
    assert ticks(3, 3) == [3]
    assert ticks(-1, 1, 4) == [-1, -0.5, 0, 0.5, 1]
    assert (columns("é"), columns("e\u0301"), cut("茶茶茶", 4)) == (1, 1, "茶…")


def test_curves_by_logarithms_need_numbers_above_0() -> None:
    points = [chart.Point(x, 1.0) for x in (0.1, 1, 10)]
    text = chart.curves({"a": points}, title="t", x="ms", y="BLEU", by_log=True)
    places = [float(place) for place in re.findall(r'<circle cx="([\d.]+)"', text)]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=0.02)
