"""Word alignment: which source word and which target word mean the same.

``aligner`` learns links from text, is saved and used again · ``links`` alignments of many
sentence pairs · ``score`` precision, recall and error rate against links made by people ·
``external`` eflomal and fast_align, when installed.
"""

from wayword.align.aligner import (
    MODELS,
    SYMMETRISATIONS,
    Aligner,
    Options,
    Summary,
    fit,
    symmetrise,
)
from wayword.align.external import EXTERNAL, run_external
from wayword.align.links import Links
from wayword.align.score import LinkScore, read_gold, read_links, score_links

__all__ = [
    "EXTERNAL",
    "MODELS",
    "SYMMETRISATIONS",
    "Aligner",
    "LinkScore",
    "Links",
    "Options",
    "Summary",
    "fit",
    "read_gold",
    "read_links",
    "run_external",
    "score_links",
    "symmetrise",
]
