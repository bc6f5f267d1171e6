"""Phrase-based translation that gets word order right.

>>> from wayword import Bitext
>>> bitext = Bitext.from_pairs([("das haus ist klein", "the house is small")])
>>> bitext[0].src
['das', 'haus', 'ist', 'klein']
"""

import logging
from typing import TYPE_CHECKING, Any

from wayword._core import __version__
from wayword.corpus import Bitext
from wayword.errors import WaywordError
from wayword.system import System, load

if TYPE_CHECKING:
    from wayword.pipeline import train

__all__ = ["Bitext", "System", "WaywordError", "__version__", "load", "train"]

# A library says nothing unless it is asked to.
logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    """What few users need is imported when it is asked for: translating takes no trainer."""
    if name == "train":
        from wayword.pipeline import train

        return train
    raise AttributeError(f"module 'wayword' has no attribute {name!r}")
