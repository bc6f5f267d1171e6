"""Draws pictures of docs: ``python docs/pictures/make.py`` rewrites them.

The training run is drawn from the stage list itself, so the picture shows what runs; a test holds
that the pictures are as this program draws them.
"""

import tempfile
from pathlib import Path

from wayword.corpus import toy
from wayword.oracle import Space
from wayword.pipeline import plan
from wayword.report import lattice
from wayword.report.graph import Node, draw, stage_nodes

FOLDER = Path(__file__).parent
#: What each stage does, in a few words.
NOTES = {
    "doctor": "takes out bad lines",
    "prepare": "tokens, truecasers",
    "dev": "prepared the same way",
    "align": "links, aligner",
    "extract": "part: phrase table",
    "lm": "part: language model",
    "annotate": "part: annotator",
    "waw": "part: word after word",
    "tune": "weights",
}
#: The example of Dreyer, Hall and Khudanpur (2007).
PHRASES = ("if", "you", "to me", "that", "explain", "could")
SENTENCE = [
    Node("raw text", "what the user wrote", is_given=True),
    Node("prepare", "tokens, offsets, markup", ("raw text",)),
    Node("Source", "one value from here on", ("prepare",)),
    Node("parts", "each adds tags, order …", ("Source",)),
    Node("options", "phrases of the table", ("parts",)),
    Node("path features", "waw, matrices …", ("parts",)),
    Node("language models", "states of words", ("parts",)),
    Node("search", "hypotheses in a space", ("options", "path features", "language models")),
    Node("Translation", "text, links, features", ("search",)),
    Node("restore", "tokens to text", ("Translation",)),
]


def pictures() -> dict[str, str]:
    """Every picture by the name of its file."""
    with tempfile.TemporaryDirectory() as folder:
        toy.write("de-en", 30, folder, seed=1)
        src, tgt = (f"{folder}/train.{lang}" for lang in ("de", "en"))
        dev = [f"{folder}/dev.{lang}" for lang in ("de", "en")]
        stages = plan(src, tgt, {"model": {"features": ["waw"]}}, dev=dev).stages
    nodes = stage_nodes(stages, NOTES)
    orders = Space("mj2").lattice(6)
    return {
        "mj2.svg": lattice.draw(
            orders.layers, orders.arcs, PHRASES, title="mj2: 52 orders of 6 items, 23 states"
        ),
        "training.svg": draw(nodes, title="the stages of a training run, inputs above"),
        "sentence.svg": draw(SENTENCE, title="the way of a sentence from raw text to translation"),
    }


def main() -> None:
    """Write them."""
    for name, picture in pictures().items():
        (FOLDER / name).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
