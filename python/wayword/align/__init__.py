"""Word alignment: which source word and which target word mean the same.

``links`` alignments of many sentence pairs, read, written and seen by numpy ·
``score`` precision, recall and error rate against links made by people.
"""

from wayword.align.links import Links
from wayword.align.score import LinkScore, read_gold, read_links, score_links

__all__ = ["LinkScore", "Links", "read_gold", "read_links", "score_links"]
