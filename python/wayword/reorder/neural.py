"""A small network that says which source word is translated right after which.

In: source sentences, with tags if wanted, and the links to their translations. Out: a
``NeuralModel``: how likely each untranslated word is to come next, given the last one and what is
translated around it; a feature of the decoder, and a guide of its early pruning
(``space="dl:18+neural(top=5,threshold=0.25,zone=0)"``).
How: gated recurrent units read the sentence in both directions, each word asks for what comes
next, and each other one answers (definitions b.8). Trained and used in the core: nothing else has
to be installed. The same text, options and seed give the same bytes, whatever the number of
threads.
Cost: some 30 µs of training a word and pass; about 15 µs a word in translation; 6 MB.
Not: a probability of the sentence's end; anything about words that it has not seen, but for what
stands around them.

>>> sentences = [["er", "hat", "Tee", "getrunken"], ["sie", "hat", "Brot", "gegessen"]] * 20
>>> corpus = Corpus.from_sentences(sentences, [[(0, 0), (1, 1), (2, 3), (3, 2)]] * 40)
>>> model = train(corpus, epochs=20, batch=8, hidden=8, rate=0.02, vocabulary=100)
>>> int(np.nanargmax(model.along(sentences[0], [0, 1, 3, 2])[2]))  # after `hat`
3
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from wayword import _core
from wayword.corpus.files import new_bytes
from wayword.corpus.source import Source
from wayword.errors import ArgumentError, FormatError, MismatchError
from wayword.handle import Handle
from wayword.options import build, check_number, check_range
from wayword.reorder.corpus import Corpus, Words, layers_of
from wayword.reorder.matrix import OrderMatrix
from wayword.reorder.waw import MAX_WINDOW
from wayword.types import FilePath, Progress

__all__ = ["Corpus", "NeuralFeature", "NeuralModel", "Options", "Summary", "train"]

Floats = npt.NDArray[np.float64]
#: Sizes of layers beyond this are refused.
MOST = 4096


@dataclass(frozen=True)
class Summary:
    """What training saw and did."""

    sentences: int
    words: int
    parameters: int
    #: ln P of the right word, a step, over each pass while it was learning
    likelihoods: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain values, for JSON."""
        return {**vars(self), "likelihoods": list(self.likelihoods)}


class NeuralModel(Handle):
    """A trained network. Threads may share it; it pickles as path and digest, or whole."""

    #: Version of the format of its files.
    VERSION = _core.NeuralModel.VERSION

    _core: _core.NeuralModel
    summary: Summary | None

    @classmethod
    def load(cls, path: FilePath) -> "NeuralModel":
        """Read a saved model; every byte is checked."""
        return cls(_core.NeuralModel.load(path))

    def save(self, path: FilePath) -> None:
        """Write the model to a file that ``load`` reads."""
        self._core.save(path)

    @property
    def size(self) -> int:
        """Bytes of the model."""
        return self._core.size

    @property
    def recipe(self) -> dict[str, Any]:
        """How it was made: sizes, window, passes, seed."""
        return self._core.recipe

    @property
    def described(self) -> str:
        """What it looks at, in a few words."""
        seen = [name for name in ("tags", "coverage") if self.recipe[name]]
        return ", ".join(["network", *seen])

    @property
    def layers(self) -> frozenset[str]:
        """What it looks at besides the words: ``pos``, or nothing."""
        return frozenset({"pos"} if self.recipe["tags"] else ())

    @property
    def vocabulary(self) -> tuple[list[str], list[str] | None]:
        """Words, and tags if it looks at them, that have a row of the embedding each.

        Row 0 is for unknown words; tags follow the words, after a row for unknown ones.
        """
        return self._core.vocabulary

    def parameters(self) -> dict[str, npt.NDArray[np.float32]]:
        """All parameters by name, each as a matrix."""
        return {
            name: np.asarray(values).reshape(rows, columns)
            for name, rows, columns, values in self._core.parameters()
        }

    def feature(self, name: str = "neural") -> "NeuralFeature":
        """The model as a feature of the decoder; its weight goes by the name."""
        return NeuralFeature(name, self)

    def matrix(self, source: Words) -> Floats:
        """P that word ``j`` comes right after word ``i - 1``, as ``[i, j]``; row 0 is the start.

        As if nothing else were translated.
        """
        flat = np.asarray(self._core.matrix(layers_of(source)), dtype=np.float64)
        values = np.exp(flat.reshape(len(source) + 1, len(source)))
        return OrderMatrix.of(values, layers_of(source)[0])

    def along(self, source: Words, order: Sequence[int], *, logs: bool = True) -> Floats:
        """What it says at each step of an order: ln P of each word to come next.

        Not a number where the word is translated. ``logs=False``: what words are ranked by.
        """
        flat = self._core.along(layers_of(source), list(order), logs)
        return np.asarray(flat, dtype=np.float64).reshape(len(source), len(source))

    def __repr__(self) -> str:
        return f"NeuralModel({self.recipe['words']} words, {self.recipe['parameters']} parameters)"


@dataclass(frozen=True)
class NeuralFeature:
    """A network as a feature of the decoder."""

    name: str
    model: NeuralModel

    @property
    def layers(self) -> frozenset[str]:
        """What the model looks at besides the words."""
        return self.model.layers

    @property
    def _core(self) -> _core.PathFeature:
        return _core.PathFeature.neural(self.name, self.model._core)

    def matrices(self, sources: Sequence[Source]) -> None:
        """Nothing: the core asks the model."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a network is learned."""

    #: whether it looks at what is translated around a word
    coverage: bool = True
    #: whether it looks at tags
    tags: bool = False
    #: wrong answers are words at most so near
    window: int = 18
    #: passes over the text
    epochs: int = 2
    #: sentences between two steps
    batch: int = 32
    #: the longest step
    rate: float = 0.003
    #: share of words that are hidden while it learns, so that it knows what to do with unknown ones
    dropout: float = 0.05
    #: numbers that stand for a word
    embedding: int = 64
    #: numbers that each direction remembers
    hidden: int = 96
    #: numbers by which the two ends of a jump are compared
    key: int = 64
    #: rarer words are unknown
    min_count: int = 2
    #: known words at most
    vocabulary: int = 20_000
    #: of the random numbers it starts with
    seed: int = 1

    def __post_init__(self) -> None:
        """Refuse what makes no sense, before any work."""
        check_range("window", self.window, 1, MAX_WINDOW)
        check_range("epochs", self.epochs, 1, 10_000)
        check_range("batch", self.batch, 1, 10_000)
        check_number("rate", self.rate)
        check_number("dropout", self.dropout)
        if self.dropout >= 1:
            raise ArgumentError(f"dropout: found {self.dropout}; expected 0 up to but not 1")
        for name in ("embedding", "hidden", "key"):
            check_range(name, getattr(self, name), 1, MOST)
        check_range("min_count", self.min_count, 1)
        check_range("vocabulary", self.vocabulary, 1, 10_000_000)
        check_range("seed", self.seed, 0)

    @property
    def sizes(self) -> tuple[float, int, int, int, int, int]:
        """What the core wants to know of a network that orders pairs."""
        layers = (self.embedding, self.hidden, self.key)
        return (self.dropout, *layers, self.min_count, self.vocabulary)


def train(
    corpus: Corpus,
    *,
    threads: int = 0,
    progress: Progress | None = None,
    state: FilePath | None = None,
    **options: Any,
) -> NeuralModel:
    """Learn a network from a corpus; for ``options`` see ``Options``.

    What is learned is kept in the file ``state`` after each pass; when it is there, training goes
    on from it, and ends with the same bytes.
    """
    chosen = build(Options, options)
    if not corpus.words:
        raise ArgumentError("corpus: found no words; expected sentences to learn from")
    trainer = _core.NeuralTrainer(corpus._core, **vars(chosen))
    kept = _State(state, {**vars(chosen), "sentences": len(corpus), "words": corpus.words})
    likelihoods = kept.restore(trainer)
    for number in range(len(likelihoods), chosen.epochs):

        def told(done: int, all_: int, number: int = number) -> object:
            return progress and progress(number * all_ + done, chosen.epochs * all_)

        steps, value = trainer.train(number, threads=threads, progress=told)
        likelihoods.append(value / max(steps, 1))
        kept.save(trainer, likelihoods)
    core = trainer.model(chosen.epochs)
    parameters = core.recipe["parameters"]
    summary = Summary(len(corpus), corpus.words, parameters, tuple(likelihoods))
    return NeuralModel(core, summary)


class _State:
    """What has been learned so far, in a file: a line of JSON, then the state of the trainer."""

    def __init__(self, path: FilePath | None, recipe: dict[str, Any]) -> None:
        self.path, self.recipe = None if path is None else Path(path), recipe

    def restore(self, trainer: _core.NeuralTrainer) -> list[float]:
        """Lead a trainer to where it was; the likelihoods of the passes that are done."""
        if self.path is None or not self.path.exists():
            return []
        head, _, state = self.path.read_bytes().partition(b"\n")
        try:
            known = json.loads(head)
            is_whole = known["digest"] == hashlib.sha256(state).hexdigest()
        except (ValueError, TypeError, KeyError):
            is_whole = False
        if not is_whole:
            raise FormatError(f"{self.path}: no whole state of a training; delete it to start anew")
        if known["recipe"] != json.loads(json.dumps(self.recipe)):
            found = f"{self.path}: the state of another training"
            raise MismatchError(f"{found}; expected the same text and options; delete it")
        trainer.restore(state)
        return list(map(float, known["likelihoods"]))

    def save(self, trainer: _core.NeuralTrainer, likelihoods: list[float]) -> None:
        """Keep what a trainer has learned."""
        if self.path is None:
            return
        state = trainer.state()
        known = {"digest": hashlib.sha256(state).hexdigest(), "recipe": self.recipe}
        with new_bytes(self.path) as file:
            file.write(json.dumps({**known, "likelihoods": likelihoods}).encode())
            file.write(b"\n")
            file.write(state)
