"""Markup that cannot be broken by the text in it.

In: names of elements, attributes, and content: text, which is escaped, or markup. Out: ``Markup``,
a string that is known to be HTML or SVG.
How: everything that is not ``Markup`` is escaped as it goes in; a name of an attribute is written
with hyphens, ``class_`` without its underscore. What is None or False is left out.

>>> element("p", "1 < 2 ", element("b", "& so"), class_="note", aria_label='a "note"', hidden=False)
'<p class="note" aria-label="a &quot;note&quot;">1 &lt; 2 <b>&amp; so</b></p>'
>>> element("rect", x=0.5, y=1 / 3, viewBox="0 0 1 1")
'<rect x="0.5" y="0.33" viewBox="0 0 1 1"/>'
"""

from html import escape

__all__ = ["Content", "Markup", "element", "joined"]

#: Elements that are empty: of HTML without an end, of SVG closed at once.
VOID = frozenset({"meta", "input", "br", "link"})
SHAPES = frozenset({"rect", "line", "path", "circle", "polyline"})


class Markup(str):
    """A string that is HTML or SVG already."""

    __slots__ = ()


#: What an element may hold; None is nothing.
Content = str | None


def element(name: str, /, *content: Content, **attributes: str | float | bool | None) -> Markup:
    """An element with its attributes and content."""
    written = "".join(
        _attribute(key, value)
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in VOID:
        return Markup(f"<{name}{written}>")
    if name in SHAPES and not content:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{joined(*content)}</{name}>")


def joined(*content: Content) -> Markup:
    """All of it, one after the other.

    >>> joined("a & ", element("i", "b"), None)
    'a &amp; <i>b</i>'
    """
    return Markup("".join(_escaped(part) for part in content if part is not None))


def _escaped(part: str) -> str:
    return part if isinstance(part, Markup) else escape(part, quote=False)


def _attribute(key: str, value: str | float | bool) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = value if isinstance(value, str) else f"{round(value, 2):g}"
    return f' {name}="{escape(text)}"'
