"""Text: reading, checking and preparing it, and the toy corpora.

``bitext`` sentence pairs as word ids · ``doctor`` what is wrong with a pair of files ·
``text`` tokens and case · ``annotate`` POS tags and chunks · ``formats`` files of all kinds ·
``toy`` parallel text whose word order is known.
"""

from wayword.corpus.bitext import Bitext, Pair, Side, Vocab

__all__ = ["Bitext", "Pair", "Side", "Vocab"]
