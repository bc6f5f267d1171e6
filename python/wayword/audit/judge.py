"""Audits a translation: every detector, one probability for each candidate, one list of findings.

In: an ``AuditText`` and an ``Aligner``. Out: ``Audit``, findings sorted by line, then score.
Cost: one alignment, and a few passes in Python; a second or two for a thousand lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from wayword.align import Aligner
from wayword.audit.calibration import THRESHOLD, probability
from wayword.audit.evidence import gather
from wayword.audit.finding import Candidate, Finding
from wayword.audit.names import find_names
from wayword.audit.numbers import find_numbers
from wayword.audit.order import find_orders
from wayword.audit.runs import find_runs
from wayword.audit.terms import GlossaryTerm, find_glossary, find_terms
from wayword.audit.text import AuditText
from wayword.options import check_range

__all__ = ["Audit", "audit", "find_candidates"]


@dataclass(frozen=True)
class Audit:
    """What was found in a text."""

    text: AuditText
    findings: tuple[Finding, ...]
    threshold: float

    @property
    def flagged(self) -> int:
        """How many lines have a finding."""
        return len({finding.line for finding in self.findings})


def audit(
    text: AuditText,
    aligner: Aligner,
    *,
    glossary: Sequence[GlossaryTerm] = (),
    threshold: float = THRESHOLD,
    threads: int = 0,
) -> Audit:
    """Find what is probably wrong with a translation."""
    check_range("threshold", threshold, 0, 1)
    scored = [
        (candidate, probability(candidate))
        for candidate in find_candidates(text, aligner, glossary, threads=threads)
    ]
    findings = [_finding(text, *pair) for pair in scored if pair[1] >= threshold]
    findings.sort(key=lambda f: (f.line, -f.score, f.kind, f.src, f.tgt))
    return Audit(text, tuple(findings), threshold)


def find_candidates(
    text: AuditText,
    aligner: Aligner,
    glossary: Sequence[GlossaryTerm] = (),
    *,
    threads: int = 0,
) -> list[Candidate]:
    """Every odd place, before anything is judged."""
    evidence = gather(text, aligner, threads)
    return [
        *find_runs(text, evidence),
        *find_numbers(text),
        *find_names(text, evidence),
        *find_terms(text, evidence),
        *find_glossary(text, glossary),
        *find_orders(text, evidence),
    ]


def _finding(text: AuditText, candidate: Candidate, score: float) -> Finding:
    src, tgt = text.src[candidate.line], text.tgt[candidate.line]
    return Finding(
        candidate.line + 1,
        candidate.kind,
        tuple(src[at] for at in candidate.src),
        tuple(tgt[at] for at in candidate.tgt),
        tuple(at + 1 for at in candidate.src),
        tuple(at + 1 for at in candidate.tgt),
        score,
        candidate.note,
    )
