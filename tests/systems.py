"""Small systems for tests, made of the toy corpora."""

from dataclasses import replace
from pathlib import Path

from wayword import align, extract, lm
from wayword.align.score import parse_links
from wayword.corpus import Bitext, toy
from wayword.corpus.annotate import Tagger, read_factored
from wayword.corpus.files import open_text
from wayword.corpus.text import Preparation
from wayword.decode import Settings
from wayword.model import Recipe, System, write_manifest
from wayword.reorder import waw

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
    langs = name.split("-")
    text = tuple(Preparation(lang, tokenizer="none") for lang in langs)
    orientation = {f"lr.prev.{name}": 0.1 for name in ("m", "s", "dl", "dr")}
    write_manifest(
        system,
        Recipe(
            table="phrase-table",
            lms=("lm",),
            orientation=ORIENTATION,
            settings=Settings(pop_limit=200),
            weights=WEIGHTS | orientation,
            text=(text[0], text[1]),
            made={"corpus": {"pairs": size}},
        ),
    )
    return System.open(system)


def add_waw(folder: Path, corpus: Path) -> System:
    """The same with a tagger and a word-after-word model."""
    tagged = corpus / "train.factored.de"
    Tagger.fit(read_factored(tagged)).save(folder / "tagger")
    sentences = list(read_factored(tagged))
    links = [parse_links(line, "") for line in open_text(corpus / "train.links")]
    waw.train(waw.Corpus.from_sentences(sentences, links), templates="WP").save(folder / "waw")
    recipe = System.open(folder).recipe
    annotate = Tagger.load(folder / "tagger").to_manifest()
    weights = {**recipe.weights, "waw": 0.3}
    write_manifest(folder, replace(recipe, waw="waw", annotate=annotate, weights=weights))
    return System.open(folder)
