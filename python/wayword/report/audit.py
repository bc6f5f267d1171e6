"""Findings of an audit for people: a table for a terminal, and one self-contained page.

>>> from wayword.audit import Audit, AuditText, Finding
>>> text = AuditText.from_words([["wir", "kamen", "1998"]], [["we", "came", "in", "1989"]])
>>> finding = Finding(1, "number", ("1998",), ("1989",), (3,), (4,), 0.97)
>>> print(describe(Audit(text, (finding,), 0.8)))
line  kind    score  source  target  note
   1  number   0.97  1998    1989
<BLANKLINE>
1 of 1 lines flagged at a score of 0.8 or more
"""

from collections import Counter
from collections.abc import Collection, Sequence
from html import escape
from itertools import groupby

from wayword.audit import KINDS, Audit, Finding
from wayword.report.table import Table

__all__ = ["describe", "to_html"]

LONG = 8  # words of a run that a table shows

STYLE = """\
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#222}
article{border-top:1px solid #ddd;padding:.6rem 0}
p{margin:.2rem 0}mark{background:#ffd8a8;border-radius:3px;padding:0 .15em}
mark.number,mark.name{background:#a5d8ff}mark.term,mark.glossary{background:#d0bfff}
mark.added{background:#b2f2bb}mark.order{background:#ffec99}
small{color:#666}label{margin-right:1rem}td,th{padding:.1rem .8rem .1rem 0;text-align:left}
@media(prefers-color-scheme:dark){body{background:#1b1b1b;color:#ddd}mark{color:#222}
article{border-color:#444}small{color:#aaa}}
"""

#: Shows the kinds that are ticked; a line goes when all of its findings are hidden.
SCRIPT = """\
document.querySelectorAll('input').forEach(box => box.onchange = () => {
  const on = new Set([...document.querySelectorAll('input:checked')].map(b => b.value));
  document.querySelectorAll('article').forEach(a =>
    a.hidden = !a.dataset.kinds.split(' ').some(kind => on.has(kind)));
});
"""


def describe(audit: Audit) -> str:
    """The findings as a table, and how many lines have one."""
    lines = f"{audit.flagged} of {len(audit.text)} lines"
    flagged = f"{lines} flagged at a score of {audit.threshold:g} or more"
    if not audit.findings:
        return flagged
    rows = [
        [f.line, f.kind, round(f.score, 2), _short(f.src_words), _short(f.tgt_words), f.note]
        for f in audit.findings
    ]
    table = Table(["line", "kind", "score", "source", "target", "note"], rows)
    return f"{table.text()}\n\n{flagged}"


def to_html(audit: Audit) -> str:
    """One page without anything outside it: each flagged line with its findings marked."""
    counts = Counter(finding.kind for finding in audit.findings)
    boxes = "".join(
        f'<label><input type="checkbox" value="{kind}" checked> '
        f'<mark class="{kind}">{kind}</mark> {counts[kind]}</label>'
        for kind in KINDS
        if counts[kind]
    )
    meanings = "".join(
        f"<tr><td><mark class='{kind}'>{kind}</mark></td><td>{escape(meaning)}</td></tr>"
        for kind, meaning in KINDS.items()
        if counts[kind]
    )
    articles = "\n".join(
        _article(audit, line, list(of_line))
        for line, of_line in groupby(audit.findings, key=lambda finding: finding.line)
    )
    title = f"Audit: {audit.flagged} of {len(audit.text)} lines flagged"
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>'
        f"<h1>{title}</h1><p>Scores are probabilities; those of {audit.threshold:g} or more are "
        f"shown.</p><table>{meanings}</table><p>{boxes}</p>\n{articles}\n"
        f"<script>{SCRIPT}</script></body></html>\n"
    )


def _article(audit: Audit, line: int, findings: Sequence[Finding]) -> str:
    kinds = list(dict.fromkeys(finding.kind for finding in findings))
    src_marks = {at: f.kind for f in reversed(findings) for at in f.src}
    tgt_marks = {at: f.kind for f in reversed(findings) for at in f.tgt}
    notes = " · ".join(
        f"{f.kind} {f.score:.2f}{': ' + escape(f.note) if f.note else ''}" for f in findings
    )
    return (
        f'<article data-kinds="{" ".join(kinds)}"><p><small>line {line} · {notes}</small></p>'
        f'<p dir="auto">{_marked(audit.text.src[line - 1], src_marks)}</p>'
        f'<p dir="auto">{_marked(audit.text.tgt[line - 1], tgt_marks)}</p></article>'
    )


def _marked(words: Collection[str], marks: dict[int, str]) -> str:
    return " ".join(
        f'<mark class="{marks[at]}">{escape(word)}</mark>' if at in marks else escape(word)
        for at, word in enumerate(words, 1)
    )


def _short(words: Sequence[str]) -> str:
    shown = " ".join(words[:LONG])
    return f"{shown} … ({len(words)} words)" if len(words) > LONG else shown
