"""Phrase-based translation that gets word order right.

>>> from wayword import Bitext
>>> bitext = Bitext.from_pairs([("das haus ist klein", "the house is small")])
>>> bitext[0].src
['das', 'haus', 'ist', 'klein']
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wayword._core import __version__
    from wayword.corpus import Bitext
    from wayword.errors import WaywordError
    from wayword.pipeline import train
    from wayword.system import System, load

__all__ = ["Bitext", "System", "WaywordError", "__version__", "load", "train"]

#: Where each name is. Nothing is imported before it is asked for: a command starts at once, and
#: translating takes no trainer.
PLACES = {
    "Bitext": "wayword.corpus",
    "System": "wayword.system",
    "WaywordError": "wayword.errors",
    "__version__": "wayword._core",
    "load": "wayword.system",
    "train": "wayword.pipeline",
}

# A library says nothing unless it is asked to.
logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    """What is asked for: a public name, or a module of the package."""
    if name in PLACES:
        value = globals()[name] = getattr(import_module(PLACES[name]), name)
        return value
    if not name.startswith("_"):
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"module 'wayword' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *PLACES})
