"""The shell of a page: one HTML file that asks nothing of anybody.

In: a title and sections. Out: the whole page; or a fragment with its own style, for a notebook.
How: style and script stand in the page, and a policy in it forbids every other one and every
address; text goes in escaped (``element``). Landmarks, headings, labels and tables in order, so
that a screen reader has all that the eye has; ``page.js`` only sorts, filters and moves the focus.
Cost: about 12 KB beside what is shown.

>>> shown = page("de–en <1>", [section("Orders", element("p", "none"))])
>>> "de–en &lt;1&gt;" in shown, "http://" in shown.replace("http://www.w3.org/2000/svg", "")
(True, False)
"""

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files

from wayword.picture.element import Content, Markup, element, joined

__all__ = ["figure", "fragment", "listed", "listing", "note", "page", "section", "table", "wide"]


#: What stands to the right of its column.
NUMBER = re.compile(r"[+−-]?\d[\d.,]*(\s%)?|–|n/a")


def _read(name: str) -> str:
    return files("wayword.picture").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def anchor(title: str) -> str:
    """A heading as the end of an address.

    >>> anchor("Jumps, and how far")
    'jumps-and-how-far'
    """
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def page(title: str, sections: Sequence[Markup], *, lead: str = "", foot: str = "") -> str:
    """The whole page; the navigation has a line for each section."""
    css, js = _read("page.css"), _read("page.js")
    rule = (
        f"default-src 'none'; img-src data:; style-src '{_digest(css)}'; "
        f"script-src '{_digest(js)}'; base-uri 'none'; form-action 'none'"
    )
    headings = [(match[1], match[2]) for match in map(_heading, sections) if match]
    links = [element("li", element("a", Markup(text), href=f"#{name}")) for name, text in headings]
    head = joined(
        element("meta", charset="utf-8"),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{rule}">'),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        Markup(f"<style>{css}</style>"),
    )
    body = joined(
        element("a", "to the content", href="#content", class_="skip"),
        element("header", element("h1", title), element("p", lead) if lead else None),
        element("nav", element("ul", *links), aria_label="sections") if links else None,
        element("main", *sections, id="content"),
        element("footer", element("p", foot)) if foot else None,
        Markup(f"<script>{js}</script>"),
    )
    whole = element(
        "html", element("head", head), element("body", body, class_="wayword"), lang="en"
    )
    return f"<!doctype html>\n{whole}\n"


def _heading(text: str) -> "re.Match[str] | None":
    return re.search(r'<h2 id="([^"]+)">(.*?)</h2>', text)


def fragment(*content: Content) -> str:
    """The same look inside somebody else's page, such as a notebook's."""
    return element("div", Markup(f"<style>{_read('page.css')}</style>"), *content, class_="wayword")


def section(title: str, *content: Content) -> Markup:
    """A part of the page under a heading."""
    name = anchor(title)
    return element("section", element("h2", title, id=name), *content, aria_labelledby=name)


def note(*content: Content) -> Markup:
    """Something the reader should know before the figures."""
    return element("p", *content, class_="note", role="note")


def figure(picture: Markup, caption: str, *, numbers: Markup | None = None) -> Markup:
    """A picture with its caption, and the numbers behind it for those who want them."""
    box = picture if 'class="chart"' in picture[:400] else wide(picture, caption)
    behind = None
    if numbers is not None:
        behind = element("details", element("summary", "numbers"), numbers)
    return element("figure", element("figcaption", caption), box, behind)


def wide(content: Markup, name: str) -> Markup:
    """A box that scrolls by itself, also by the keyboard."""
    return element("div", content, class_="wide", tabindex="0", role="region", aria_label=name)


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    name: str,
    titles: Mapping[str, str] | None = None,
    sortable: bool = False,
) -> Markup:
    """A table in a box that scrolls; numbers to the right. ``titles`` explain columns."""
    known = titles or {}
    head = element(
        "tr", *(element("th", cell, scope="col", title=known.get(cell)) for cell in header)
    )
    body = [
        element("tr", _cell("th", row[0], scope="row"), *(_cell("td", cell) for cell in row[1:]))
        for row in rows
    ]
    parts = element("thead", head), element("tbody", *body)
    return wide(element("table", *parts, class_="sortable" if sortable else None), name)


def _cell(kind: str, value: object, **more: str) -> Markup:
    if isinstance(value, float):
        return element(kind, f"{value:.2f}", class_="number", **more)
    if isinstance(value, int):
        return element(kind, f"{value:,}", class_="number", **more)
    text = value if isinstance(value, str) else str(value)
    looks = "number" if NUMBER.fullmatch(text) else None
    return element(kind, text, class_=looks, **more)


def listing(rows: Iterable[tuple[str, object]]) -> Markup:
    """Names and what they stand for."""
    parts = []
    for name, value in rows:
        text = f"{value:,}" if isinstance(value, int) else str(value)
        shown = value if isinstance(value, Markup) else text
        parts += [element("dt", name), element("dd", shown)]
    return element("dl", *parts)


def listed(
    items: Sequence[tuple[Markup, Mapping[str, str | float]]],
    *,
    name: str,
    sorts: Mapping[str, str] | None = None,
    chooses: Mapping[str, Sequence[str]] | None = None,
) -> Markup:
    """A list that can be searched, sorted and filtered.

    Each item has data by name: numbers to sort by, or a word that a choice picks. ``sorts`` are
    names of data and their labels; a minus before a name sorts from the largest down.
    """
    controls: list[Markup] = [
        element("label", "search ", element("input", type="search", name="search"))
    ]
    for data, words in (chooses or {}).items():
        options = [element("option", f"any {data}", value="")]
        options += [element("option", word, value=word) for word in words]
        controls.append(
            element("label", f"{data} ", element("select", *options, name=data, data_choose=data))
        )
    if sorts:
        ways = [element("option", label, value=key) for key, label in sorts.items()]
        controls.append(element("label", "sort by ", element("select", *ways, name="sort")))
    controls.append(element("button", "all", type="reset"))
    shown = [
        element(
            "li", content, tabindex="-1", **{f"data_{key}": value for key, value in data.items()}
        )
        for content, data in items
    ]
    return element(
        "div",
        element("form", *controls, role="search", aria_label=f"which {name}", hidden=True),
        element("p", f"{len(items)} {name}", role="status"),
        element("ol", *shown, class_="list"),
        class_="listed",
        data_name=name,
    )
