"""Draws pictures of docs: ``python docs/pictures/make.py`` rewrites them.

The training run is drawn from the stage list itself, so the picture shows what runs; a test holds
that the pictures are as this program draws them.
"""

import tempfile
from pathlib import Path
from runpy import run_path

from wayword.corpus import toy
from wayword.oracle import Space
from wayword.picture.chart import svg
from wayword.picture.element import Markup, element
from wayword.picture.sentence import linked
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


#: A sentence of the toy corpus, and what the system of the README makes of it in two spaces.
SOURCE = ("Ich", "habe", "gestern", "den", "Tee", "getrunken", ".")
OUTPUTS = {
    "in the order of the source (--space mono)": (
        ("I", "yesterday", "the", "tea", "drank", "."),
        [(0, 0), (2, 1), (3, 2), (4, 3), (5, 4), (6, 5)],
    ),
    "with jumps (--space dl:6)": (
        ("I", "drank", "the", "tea", "yesterday", "."),
        [(0, 0), (2, 4), (3, 2), (4, 3), (5, 1), (6, 5)],
    ),
}
#: Colours for light and dark pages, since the picture stands alone.
STYLE = """
text{font:15px sans-serif;fill:#222}.told{font-size:13px;fill:#666}
.link{fill:none;stroke:#9aa7b5;stroke-width:1.5}.crossed{stroke:#d9480f;stroke-width:2.5}
@media (prefers-color-scheme:dark){text{fill:#eee}.told{fill:#aaa}.crossed{stroke:#ff922b}}
"""


def before_and_after() -> str:
    """One sentence, translated without and with reordering."""
    panels: list[Markup] = []
    wide, down = 0.0, 0.0
    for told, (words, links) in OUTPUTS.items():
        picture = linked(SOURCE, words, links)
        width, height = (
            float(part) for part in picture.split('viewBox="0 0 ')[1].split('"')[0].split()
        )
        panels.append(element("text", told, x=4, y=down + 14, class_="told"))
        panels.append(element("g", picture, transform=f"translate(0 {down + 24:g})"))
        wide, down = max(wide, width), down + height + 46
    title = "the same sentence translated in the order of the source, and with reordering"
    return svg(wide, down - 10, title, element("style", Markup(STYLE)), *panels)


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
        "order.svg": before_and_after(),
        "training.svg": draw(nodes, title="the stages of a training run, inputs above"),
        "sentence.svg": draw(SENTENCE, title="the way of a sentence from raw text to translation"),
        **paper_pictures(),
    }


def paper_pictures() -> dict[str, str]:
    """Return the pictures of docs/papers: each module of ``papers/`` has ``pictures()``."""
    return {
        name: picture
        for path in sorted((FOLDER / "papers").glob("*.py"))
        for name, picture in run_path(str(path))["pictures"]().items()
    }


def main() -> None:
    """Write them."""
    for name, picture in pictures().items():
        (FOLDER / name).write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
