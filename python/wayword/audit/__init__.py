"""Audits a translation, human or machine: what was left out, added, changed or moved.

``text`` the two texts · ``evidence`` what the aligner says of each word · ``runs`` words left out
and added · ``numbers`` (with ``words``) and ``names`` · ``terms`` consistency and glossary ·
``order`` parts exchanged · ``calibration`` from features to a probability · ``judge`` all of it.
"""

from wayword.audit.calibration import THRESHOLD
from wayword.audit.finding import KINDS, Finding
from wayword.audit.judge import Audit, audit
from wayword.audit.terms import GlossaryTerm, read_glossary
from wayword.audit.text import AuditText, read_text

__all__ = [
    "KINDS",
    "THRESHOLD",
    "Audit",
    "AuditText",
    "Finding",
    "GlossaryTerm",
    "audit",
    "read_glossary",
    "read_text",
]
