"""The parts of a system: phrase table, language models, annotator, and every model of word order.

Each kind of part is one class, listed in ``KINDS``, that says how it is loaded and checked, what
its entry in a manifest is, what it gives the decoder, and which stage learns it. See
``wayword.parts.part`` to add one.
"""

from wayword.parts.part import KINDS, Ground, Part, Wanted, kind_of, open_part

__all__ = ["KINDS", "Ground", "Part", "Wanted", "kind_of", "open_part"]
