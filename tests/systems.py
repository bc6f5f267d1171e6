"""Small systems for tests, made of the toy corpora."""

from pathlib import Path
from typing import Any

from wayword import align, extract, lm
from wayword.align.score import parse_links
from wayword.corpus import Bitext, toy
from wayword.corpus.annotate import Tagger, read_factored
from wayword.corpus.files import open_text
from wayword.corpus.text import Preparation
from wayword.decode import Settings
from wayword.manifest import MANIFEST
from wayword.parts.part import entry, open_part
from wayword.reorder import lop, neural, waw
from wayword.system import System

WEIGHTS = {
    "lm": 0.5,
    "wp": -0.3,
    "pp": 0.1,
    "tm0": 0.2,
    "tm1": 0.2,
    "tm2": 0.2,
    "tm3": 0.2,
    "d": 0.1,
}
ORIENTATION = "hier-mslr-bidirectional"


def make(folder: Path, name: str = "de-en", size: int = 800) -> System:
    """A system that translates the toy language."""
    corpus = folder / "corpus"
    toy.write(name, size, corpus, seed=1)
    src, tgt = (corpus / f"train.{lang}" for lang in name.split("-"))
    bitext = Bitext.read(src, tgt)
    system = folder / "system"
    system.mkdir()
    extract.extract(bitext, align.fit(bitext).align(bitext), system / "phrase-table")
    lm.train(tgt, system / "lm", order=3)
    src_text, tgt_text = (Preparation(lang, tokenizer="none") for lang in name.split("-"))
    orientation = {f"lr.prev.{name}": 0.1 for name in ("m", "s", "dl", "dr")}
    entries = [
        entry("phrase-table", "phrase-table", file="phrase-table", orientation=ORIENTATION),
        entry("lm", "lm", file="lm"),
    ]
    return System(
        [open_part(values, system) for values in entries],
        settings=Settings(pop_limit=200),
        weights=WEIGHTS | orientation,
        text=(src_text, tgt_text),
        made={"corpus": {"pairs": size}},
    ).save(system)


def add_neural(folder: Path, corpus: Path) -> None:
    """A network beside a system."""
    text = (corpus / "train.de", corpus / "train.en", corpus / "train.links")
    small: dict[str, Any] = {"embedding": 8, "hidden": 8, "key": 8}
    neural.train(neural.Corpus.read(*text), epochs=1, **small).save(folder / "neural")


def add_lop(folder: Path, corpus: Path) -> None:
    """A linear-ordering model beside a system, learned from tagged text."""
    text = (corpus / "train.factored.de", corpus / "train.en", corpus / "train.links")
    learned, dev = lop.Corpus.read(*text).split(700)
    lop.fit(learned, dev, passes=2, bits=16).save(folder / "lop")


def add_waw(folder: Path, corpus: Path) -> System:
    """The same with a tagger and a word-after-word model."""
    tagged = corpus / "train.factored.de"
    Tagger.fit(read_factored(tagged)).save(folder / "tagger")
    sentences = list(read_factored(tagged))
    links = [parse_links(line, "") for line in open_text(corpus / "train.links")]
    corpus_of_orders = waw.Corpus.from_sentences(sentences, links)
    waw.train(corpus_of_orders, templates="WP", optimiser="lbfgs").save(folder / "waw")
    system = System.open(folder)
    tagger = Tagger.load(folder / "tagger").to_manifest()
    entries = [entry("annotator", "annotator", annotator=tagger), entry("waw", "waw", file="waw")]
    return System(
        [*system.parts, *(open_part(values, folder) for values in entries)],
        settings=system.settings,
        weights={**system.weights, "waw": 0.3},
        text=system.text,
        made=system.made,
        folder=folder,
    ).save()


def edit(path: Path, old: str, new: str) -> None:
    """Replace a string in a text file, at its first place."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def edit_manifest(folder: Path, old: str, new: str) -> None:
    """Replace a string in a manifest and take its seal away, as if an earlier release wrote it."""
    path = folder / MANIFEST
    edit(path, old, new)
    text = path.read_text(encoding="utf-8")
    path.write_text(text[text.index("\n") + 1 :] if "seal = " in text else text, encoding="utf-8")
