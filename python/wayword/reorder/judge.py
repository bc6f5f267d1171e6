"""Any model of the next word, whatever it was learned by.

In: a file. Out: the ``WawModel`` or ``NeuralModel`` that is in it: both say how likely each word is
to be translated right after another, and are put to the test alike.
"""

from typing import TypeAlias

from wayword.corpus.files import open_bytes
from wayword.reorder.neural import NeuralModel
from wayword.reorder.waw import WawModel
from wayword.types import FilePath

__all__ = ["Judge", "load_judge"]

Judge: TypeAlias = WawModel | NeuralModel
#: What the files of networks begin with.
NETWORK = b"wwneural"


def load_judge(path: FilePath) -> Judge:
    """Load a model, of whatever kind."""
    with open_bytes(path) as file:
        is_network = file.read(len(NETWORK)) == NETWORK
    return NeuralModel.load(path) if is_network else WawModel.load(path)
