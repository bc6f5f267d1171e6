"""Phrase-based translation that gets word order right.

>>> from wayword import Bitext
>>> bitext = Bitext.from_pairs([("das haus ist klein", "the house is small")])
>>> bitext[0].src
['das', 'haus', 'ist', 'klein']
"""

import logging

from wayword._core import __version__
from wayword.corpus import Bitext
from wayword.errors import WaywordError
from wayword.pipeline import train
from wayword.system import System, load

__all__ = ["Bitext", "System", "WaywordError", "__version__", "load", "train"]

# A library says nothing unless it is asked to.
logging.getLogger(__name__).addHandler(logging.NullHandler())
