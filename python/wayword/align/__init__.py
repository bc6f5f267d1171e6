"""Word alignment: which source word and which target word mean the same.

``aligner`` learns links from text, is saved and used again · ``links`` alignments of many
sentence pairs · ``quality`` how likely a pair is a translation · ``stream`` text of any size, part
by part · ``screen`` pairs that are hardly translations · ``misalignment`` files whose lines are
shifted or unrelated (``line_windows`` and ``association`` are its parts) · ``score`` precision,
recall and error rate against links made by people · ``external`` eflomal and fast_align, when
installed.
"""

from wayword.align.aligner import (
    MODELS,
    SYMMETRISATIONS,
    Aligned,
    Aligner,
    Options,
    Summary,
    fit,
    fit_files,
    symmetrise,
)
from wayword.align.external import EXTERNAL, run_external
from wayword.align.links import Links
from wayword.align.score import LinkScore, read_gold, read_links, score_links

__all__ = [
    "EXTERNAL",
    "MODELS",
    "SYMMETRISATIONS",
    "Aligned",
    "Aligner",
    "LinkScore",
    "Links",
    "Options",
    "Summary",
    "fit",
    "fit_files",
    "read_gold",
    "read_links",
    "run_external",
    "score_links",
    "symmetrise",
]
