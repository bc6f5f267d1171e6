"""What files of every format say: small questions whose answers must not change."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wayword import load
from wayword.align import Aligner
from wayword.corpus.annotate import Sentence, Tagger, parse_factored
from wayword.extract import PhraseTable, merge
from wayword.lm import LanguageModel
from wayword.reorder.lop import LopModel
from wayword.reorder.neural import NeuralModel
from wayword.reorder.waw import WawModel

WORDS = Sentence(("er", "hat", "den", "Tee", "getrunken", "."))
TAGGED = "er|PRON|B-NP hat|AUX|B-VP den|DET|B-NP Tee|NOUN|I-NP getrunken|VERB|B-VP .|PUNCT|O"


def _matrix(matrix: Any) -> list[list[float]]:
    return [[round(float(value), 4) for value in row] for row in matrix]


def _options(path: Path) -> list[str]:
    return sorted(option.tgt for option in PhraseTable.open(path).options("der"))


def _merged(path: Path) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        merge([path], Path(folder) / "table")
        return _options(Path(folder) / "table")


#: By the name of a file: what kind it is, and what is read from it, in plain values.
QUESTIONS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "tagger": ("tagger", lambda path: list(Tagger.load(path).tags)),
    "aligner": (
        "aligner",
        lambda path: [list(link) for link in Aligner.load(path).align_pair("der Tee", "the tea")],
    ),
    "counts": ("file of counts", _merged),
    "table": ("phrase table", _options),
    "lm": ("language model", lambda path: round(LanguageModel.load(path).score("the tea ."), 4)),
    "waw": (
        "word-after-word model",
        lambda path: _matrix(WawModel.load(path).matrix(parse_factored(TAGGED))),
    ),
    "neural": (
        "network of word order",
        lambda path: _matrix(NeuralModel.load(path).matrix(WORDS)),
    ),
    "preorder": (
        "linear-ordering model",
        lambda path: LopModel.load(path).order(parse_factored(TAGGED)),
    ),
    "system.wayword": (
        "system",
        lambda path: load(path).translate("er hat den Tee getrunken.").text,
    ),
}


def answers(folder: Path) -> dict[str, Any]:
    """The answers of all files of a folder."""
    return {name: question(folder / name) for name, (_, question) in QUESTIONS.items()}
