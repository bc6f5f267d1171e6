"""What the doctor found in a bitext, for people.

>>> from wayword.corpus.doctor import Finding
>>> finding = Finding(2, "empty", "target", "nothing but spaces")
>>> report = Report(2, 2, 1, 1, 0, "Latin", None, {"empty": 1, "length": 0}, (finding,))
>>> print(describe(report, AlignmentCheck("parallel", 2, 2)))
source  2 lines, Latin writing
target  2 lines, mixed writing
lines   belong together (2 of 2 tested)
clean   1 pairs
bad     1 lines
<BLANKLINE>
kind   lines  meaning
empty      1  ...
<BLANKLINE>
line  kind   side    found
   2  empty  target  nothing but spaces
"""

from wayword.align.misalignment import AlignmentCheck
from wayword.corpus.doctor import TRANSLATION, Report, problems
from wayword.report.table import Table, listing

__all__ = ["describe"]


def describe(report: Report, check: AlignmentCheck) -> str:
    """How many lines are good, which kinds of problems there are, and examples."""
    sides = {
        "source": f"{report.src_lines} lines, {report.src_script or 'mixed'} writing",
        "target": f"{report.tgt_lines} lines, {report.tgt_script or 'mixed'} writing",
        "lines": check.describe(),
        "clean": f"{report.clean} pairs{_cleaned(report)}",
        "bad": f"{report.quarantined} lines",
    }
    parts = [listing(sides.items())]
    counts = [(kind, count) for kind, count in report.counts.items() if count]
    meanings = problems() | dict([TRANSLATION])
    rows = [(kind, count, meanings[kind]) for kind, count in counts]
    examples = [
        (finding.line, finding.problem, finding.side, finding.detail)
        for finding in sorted(report.examples, key=lambda finding: finding.line)
    ]
    if rows:
        parts.append(Table(["kind", "lines", "meaning"], rows).text())
    if examples:
        parts.append(Table(["line", "kind", "side", "found"], examples).text())
    return "\n\n".join(parts)


def _cleaned(report: Report) -> str:
    if not report.cleaned:
        return ""
    return f", {report.cleaned} of them without invisible marks that they had"
