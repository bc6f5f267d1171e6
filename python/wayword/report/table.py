"""One table, in every form people ask for.

In: names of columns, and rows of strings and numbers. Out: text for a terminal, Markdown, LaTeX or
CSV. In a terminal, columns of numbers stand to the right, text to the left; wide characters of
East Asian scripts take two places.

>>> table = Table(["kind", "lines"], [["empty", 3], ["控制", 12]])
>>> print(table.text())
kind   lines
empty      3
控制      12
>>> print(table.markdown())
| kind | lines |
| --- | --- |
| empty | 3 |
| 控制 | 12 |
"""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wayword.picture.axis import columns as width

__all__ = ["Table", "fit", "in_markdown", "listing", "width"]

#: What LaTeX needs another spelling for.
LATEX = {ord(char): f"\\{char}" for char in "&%$#_{}"} | {
    ord("\\"): r"\textbackslash{}",
    ord("~"): r"\textasciitilde{}",
    ord("^"): r"\textasciicircum{}",
    ord("\n"): " ",
    ord("▲"): r"$\blacktriangle$",
    ord("▼"): r"$\blacktriangledown$",
    ord("△"): r"$\vartriangle$",
    ord("▽"): r"$\triangledown$",
    ord("±"): r"$\pm$",
}
#: What would end a cell or begin a tag or a link in Markdown.
MARKDOWN = {ord("|"): "\\|", ord("<"): "&lt;", ord("["): "\\[", ord("\n"): " ", ord("\r"): " "}


@dataclass(frozen=True)
class Table:
    """Columns by name, and rows with a cell for each."""

    header: Sequence[str]
    rows: Sequence[Sequence[object]]

    def text(self) -> str:
        """The table for a terminal."""
        return _columns([self.header, *self.rows], self._numeric())

    def markdown(self) -> str:
        """The table in Markdown."""
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        return "\n".join(f"| {' | '.join(map(in_markdown, line))} |" for line in lines)

    def latex(self, columns: str | None = None) -> str:
        """A LaTeX tabular; ``columns`` such as ``llr`` says where cells stand."""
        if columns is None:
            columns = "".join("r" if numeric else "l" for numeric in self._numeric())
        lines = " \\\\\n".join(
            " & ".join(_escaped(str(cell)) for cell in line) for line in [self.header, *self.rows]
        )
        return f"\\begin{{tabular}}{{{columns}}}\n{lines} \\\\\n\\end{{tabular}}\n"

    def csv(self) -> str:
        """The table for a spreadsheet; None is an empty cell."""
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([self.header, *self.rows])
        return out.getvalue()

    def _numeric(self) -> list[bool]:
        """Which columns hold nothing but numbers."""
        if not self.rows:
            return [False] * len(self.header)
        columns = zip(*self.rows, strict=True)
        return [all(isinstance(cell, int | float) for cell in column) for column in columns]


def listing(rows: Iterable[tuple[str, object]]) -> str:
    """Names and what they stand for, one a line.

    >>> print(listing([("words", 12), ("accuracy", "0.9500")]))
    words     12
    accuracy  0.9500
    """
    return _columns(list(rows), [False, False])


def fit(text: str, columns: int, *, right: bool = False) -> str:
    """The text with spaces after it, or before, to fill so many columns."""
    spaces = " " * (columns - width(text))
    return spaces + text if right else text + spaces


def _columns(lines: Sequence[Sequence[object]], right: Sequence[bool]) -> str:
    cells = [[str(cell) for cell in line] for line in lines]
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            fit(cell, columns, right=is_right)
            for cell, columns, is_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in cells
    )


def in_markdown(text: object) -> str:
    r"""Text as Markdown shows it; code in backticks stays code.

    >>> print(in_markdown("a|b <script> [x](y)"))
    a\|b &lt;script> \[x](y)
    """
    return str(text).translate(MARKDOWN)


def _escaped(cell: str) -> str:
    return cell.translate(LATEX)
