"""What the aligner says of every word: how often it links such a word, and whether it does here.

In: a text and an aligner. Out: ``Evidence``: for each word of each side its link rate (a property
of the word, from the aligner's training) and its linked mass (the sum of its links' posteriors in
this line, at most 1), and the links of the text.
How: links with a posterior of at least ``FAINT`` are summed; those of at least ``SURE`` count as
links where one has to be named.
Cost: one pass of the aligner; the rest is numpy.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from wayword.align import Aligner
from wayword.audit.text import AuditText

__all__ = ["Evidence", "LineLinks", "SideEvidence", "gather"]

FAINT, SURE = 0.02, 0.4

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SideEvidence:
    """By word of a side, all lines one after the other."""

    offsets: Ints
    rate: Floats
    mass: Floats

    def line(self, values: Floats, number: int) -> Floats:
        """The values of a line."""
        return values[self.offsets[number] : self.offsets[number + 1]]


@dataclass(frozen=True)
class LineLinks:
    """The sure links of a line, sorted by source position."""

    src: Ints
    tgt: Ints
    posterior: Floats


@dataclass(frozen=True)
class Evidence:
    """Both sides, and the links between them."""

    src: SideEvidence
    tgt: SideEvidence
    links: list[LineLinks]


def gather(text: AuditText, aligner: Aligner, threads: int = 0) -> Evidence:
    """Align the text, and look up its words."""
    bitext = text.bitext
    links, posteriors = aligner.align_with_posteriors(bitext, threshold=FAINT, threads=threads)
    flat, ends = links.flat.astype(np.int64), links.offsets.astype(np.int64)
    line_of = np.repeat(np.arange(len(bitext)), np.diff(ends))
    sides = []
    rates = aligner.link_rates(bitext)
    for column, (side, rate) in enumerate(zip((bitext.src, bitext.tgt), rates, strict=True)):
        offsets = side.offsets.astype(np.int64)
        at = offsets[line_of] + flat[:, column]
        mass = np.bincount(at, weights=posteriors, minlength=len(side.ids))
        rate_of = rate.astype(np.float64)
        by_word = rate_of[side.ids] if len(side.ids) else np.zeros(0)
        sides.append(SideEvidence(offsets, by_word, np.minimum(mass, 1.0)))
    is_sure = posteriors >= SURE
    lines = []
    for start, end in pairwise(ends.tolist()):
        rows = np.flatnonzero(is_sure[start:end]) + start
        lines.append(LineLinks(flat[rows, 0], flat[rows, 1], posteriors[rows].astype(np.float64)))
    return Evidence(sides[0], sides[1], lines)
