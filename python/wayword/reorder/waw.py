"""The word-after-word model: how likely a source word is to be translated right after another.

In: source sentences, best with tags and chunks, and the links to their translations.
Out: a ``WawModel``: P(next = j | last = i) for any two words of a sentence; a feature of the
decoder, and the guide of its early pruning (``space="dl:18+waw(top=3,threshold=0.1,zone=5)"``).
How: logistic regression over words, tags and chunks at both ends of a jump and between them
(Bisazza and Federico, 2013). Every step of translating the bitext in the order of its links is
one right answer and up to a window full of wrong ones. The core writes these samples down once
and gives likelihood and gradient; the optimiser is SciPy's.
Cost: about 0.2 µs a sample and iteration; some 15 bytes a sample, on disk beyond ``memory``. The
number of threads changes no weight.
Not: a probability of the sentence's end; numbers of a row do not add up to 1.

>>> from wayword.corpus.annotate import Sentence
>>> sentence = Sentence(("er", "hat", "Tee", "getrunken"), ("PRON", "AUX", "NOUN", "VERB"))
>>> corpus = Corpus.from_sentences([sentence] * 5, [[(0, 0), (1, 1), (2, 3), (3, 2)]] * 5)
>>> model = train(corpus, min_count=1)
>>> model.matrix(sentence)[2, 2:].round(1).tolist()  # after `hat`: `Tee`, `getrunken`
[0.0, 1.0]
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from wayword import _core
from wayword.corpus.files import size_in_bytes
from wayword.corpus.source import Source
from wayword.errors import ArgumentError
from wayword.handle import Handle
from wayword.options import build, check_choice, check_number, check_range
from wayword.reorder.corpus import Corpus, Words, layers_of
from wayword.reorder.matrix import OrderMatrix
from wayword.reorder.waw_evaluation import (
    Classification,
    Evaluation,
    Gain,
    Ranking,
    Reach,
    gain_of,
    ranking_of,
    reach_of,
)
from wayword.types import FilePath, Progress

__all__ = [
    "BLOCK",
    "OBJECTIVES",
    "OPTIMISERS",
    "TEMPLATES",
    "Classification",
    "Corpus",
    "Evaluation",
    "Gain",
    "Options",
    "Ranking",
    "Reach",
    "Shards",
    "Summary",
    "WawFeature",
    "WawModel",
    "evaluate",
    "features",
    "find_candidates",
    "most_shards",
    "reach",
    "samples",
    "train",
    "write_samples",
]

Floats = npt.NDArray[np.float64]


class Judge(Protocol):
    """A model of the next word: ``WawModel``, or any other that the core knows."""

    _core: Any


#: Sets of templates: words, tags, both, both with chunks.
TEMPLATES = ("W", "P", "WP", "WPC")
OPTIMISERS = ("adagrad", "lbfgs", "cg")
#: Each word is right or wrong by itself, or one of them is chosen.
OBJECTIVES = ("each", "choice")
MAX_WINDOW = 1000
#: What stands beside the words between the ends of a jump.
ANCHORS = ("j", "ij")
LIMITS = (10, 18)
RATE = 0.2  # step of AdaGrad
#: Sentences whose samples are written as one; a shard has a multiple of them, but the last.
BLOCK = _core.WawTrainer.BLOCK


@dataclass(frozen=True)
class Summary:
    """What training saw and did."""

    sentences: int
    words: int
    samples: int
    features: int
    #: steps of the optimiser, or passes of AdaGrad
    iterations: int
    #: log likelihood per sample, without and with what was learned; for ``each``, -0.6931 is a coin
    likelihood_before: float
    likelihood: float
    #: bytes of samples in memory and on disk
    bytes_in_memory: int
    bytes_on_disk: int

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain values, for JSON."""
        return dict(vars(self))


class WawModel(Handle):
    """A trained model. Threads may share it; it pickles as path and digest, or whole."""

    #: Version of the format of its files.
    VERSION = _core.WawModel.VERSION

    _core: _core.WawModel
    summary: Summary | None

    @classmethod
    def load(cls, path: FilePath) -> "WawModel":
        """Map a saved model; every byte is checked."""
        return cls(_core.WawModel.load(path))

    @classmethod
    def read_text(cls, path: FilePath) -> "WawModel":
        """Read what ``write_text`` wrote."""
        return cls(_core.WawModel.read_text(path))

    def save(self, path: FilePath) -> None:
        """Write the model to a file that ``load`` maps."""
        self._core.save(path)

    def write_text(self, path: FilePath) -> None:
        """Write a line that says how it was made, then features with their weights, sorted."""
        self._core.write_text(path)

    @property
    def features(self) -> int:
        """Number of features with a weight."""
        return self._core.features

    @property
    def size(self) -> int:
        """Bytes of the model, as a file or in memory."""
        return self._core.size

    @property
    def recipe(self) -> dict[str, Any]:
        """How it was made: templates, window, cut-off, prior, number of samples."""
        return self._core.recipe

    @property
    def described(self) -> str:
        """What it looks at and learned by, in a few words."""
        recipe = self.recipe
        learned = [recipe["objective"]] if recipe["objective"] != "each" else []
        seen = ["coverage"] if recipe["coverage"] else []
        return ", ".join([recipe["templates"], *learned, *seen])

    @property
    def layers(self) -> frozenset[str]:
        """What it looks at besides the words: ``pos``, and ``chunks`` too, or nothing."""
        tags, chunks = self._core.needs
        return frozenset({"pos"} if tags else ()) | frozenset({"chunks"} if chunks else ())

    def feature(self, name: str = "waw") -> "WawFeature":
        """The model as a feature of the decoder; its weight goes by the name."""
        return WawFeature(name, self)

    def matrix(self, source: Words) -> Floats:
        """P that word ``j`` comes right after word ``i - 1``, as ``[i, j]``; row 0 is the start.

        A model that chooses, or that looks at what is translated, is asked as at the start.
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
        return f"WawModel({self.described}, {self.features} features)"


@dataclass(frozen=True)
class WawFeature:
    """A word-after-word model as a feature of the decoder."""

    name: str
    model: WawModel

    @property
    def layers(self) -> frozenset[str]:
        """What the model looks at besides the words."""
        return self.model.layers

    @property
    def _core(self) -> _core.PathFeature:
        return _core.PathFeature.waw(self.name, self.model._core)

    def matrices(self, sources: Sequence[Source]) -> None:
        """Nothing: the core asks the model."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a model is learned."""

    #: a set of ``TEMPLATES``; empty for the largest that the text has layers for
    templates: str = ""
    #: wrong answers are taken from words so near
    window: int = 18
    #: at most so near; false: nearer
    inclusive: bool = True
    #: what stands beside the words between: ``j`` or ``ij``
    between_anchor: str = "j"
    #: features that fire in fewer samples are dropped
    min_count: int = 20
    #: what is learned: ``each`` word is right or wrong by itself, or one is the ``choice``
    objective: str = "each"
    #: whether features look at what is translated around a word
    coverage: bool = False
    #: precision of the Gaussian prior on weights; 0 for none
    prior: float = 1.0
    #: ``adagrad``, ``lbfgs`` or ``cg``
    optimiser: str = "adagrad"
    #: most steps of the optimiser, or passes of ``adagrad``; 0 for 100, or 5 passes
    iterations: int = 0
    #: it stops when the likelihood grows by less than this part of itself
    tolerance: float = 1e-5
    #: for samples; more goes to disk
    memory: str = "1G"

    def __post_init__(self) -> None:
        """Refuse what makes no sense, before any counting."""
        if self.templates:
            check_choice("templates", self.templates, TEMPLATES)
        check_range("window", self.window, 1, MAX_WINDOW)
        check_range("min_count", self.min_count, 1)
        check_choice("between_anchor", self.between_anchor, ANCHORS)
        check_choice("objective", self.objective, OBJECTIVES)
        check_number("prior", self.prior)
        check_choice("optimiser", self.optimiser, OPTIMISERS)
        check_range("iterations", self.iterations, 0)
        check_number("tolerance", self.tolerance)
        size_in_bytes(self.memory)


@dataclass(frozen=True)
class Shards:
    """What tasks wrote of the shards of a corpus, in its order: see ``write_samples``."""

    found: Sequence[FilePath]
    samples: Sequence[FilePath]


def train(
    corpus: Corpus,
    *,
    shards: Shards | None = None,
    temp_dir: FilePath | None = None,
    threads: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> WawModel:
    """Learn a model from a corpus; for ``options`` see ``Options``.

    Samples beyond ``memory`` go to ``temp_dir``; those of ``shards`` are taken as they are.
    """
    chosen = build(Options, options)
    if not corpus.words:
        raise ArgumentError("corpus: found no words; expected sentences to learn from")
    room, looks = _room(chosen, temp_dir), _looks(chosen)
    if shards is None:
        trainer = _core.WawTrainer(
            corpus._core, looks, room=room, threads=threads, progress=progress
        )
    else:
        trainer = _core.WawTrainer.of_shards(
            corpus._core, looks, shards.found, shards.samples, room=room
        )
    return _learned(corpus, trainer, chosen, threads, progress)


def _room(chosen: Options, temp_dir: FilePath | None) -> tuple[int, FilePath | None]:
    return size_in_bytes(chosen.memory), temp_dir


def _looks(chosen: Options) -> dict[str, Any]:
    """What the features are, for the core."""
    names = ("window", "inclusive", "between_anchor", "min_count", "objective", "coverage")
    looks = {name: getattr(chosen, name) for name in names}
    return {"templates": chosen.templates or None, **looks}


def most_shards(options: Options) -> int:
    """Into how many shards a corpus may be cut.

    What fires often enough fires in one of them that often divided by their number; features that
    fire once are too many.
    """
    return max(1, options.min_count // 2)


def find_candidates(
    corpus: Corpus, out: FilePath, *, shards: int, threads: int = 0, **options: Any
) -> None:
    """Write the features of one of so many shards that may be kept; ``templates`` must be given."""
    looks = _looks(build(Options, options))
    _core.waw_candidates(corpus._core, looks, shards, out, threads=threads)


def write_samples(
    corpus: Corpus,
    found: Sequence[FilePath],
    out: FilePath,
    *,
    temp_dir: FilePath | None = None,
    threads: int = 0,
    **options: Any,
) -> None:
    """Write the samples of a shard, with what ``find_candidates`` ``found`` in all shards.

    Shards begin with a multiple of ``BLOCK`` sentences.
    """
    chosen = build(Options, options)
    room = _room(chosen, temp_dir)
    _core.waw_write_samples(
        corpus._core, _looks(chosen), list(found), out, room=room, threads=threads
    )


def _learned(
    corpus: Corpus,
    trainer: _core.WawTrainer,
    chosen: Options,
    threads: int,
    progress: Progress | None,
) -> WawModel:
    steps = chosen.iterations or (5 if chosen.optimiser == "adagrad" else 100)
    search = _Ascent(trainer, chosen.prior, threads, steps, progress)
    weights = search.run(chosen.optimiser, chosen.tolerance)
    in_memory, on_disk = trainer.bytes
    summary = Summary(
        sentences=len(corpus),
        words=corpus.words,
        samples=trainer.samples,
        features=trainer.features,
        iterations=search.steps,
        likelihood_before=search.start / trainer.samples,
        likelihood=search.value / trainer.samples,
        bytes_in_memory=in_memory,
        bytes_on_disk=on_disk,
    )
    return WawModel(trainer.model(weights.tobytes(), prior=chosen.prior), summary)


def _count(name: str, value: int) -> int:
    if not 0 < value < 1 << 31:
        raise ArgumentError(f"{name}: found {value}; expected 1 or more")
    return value


class _Ascent:
    """The optimiser at work on the likelihood."""

    def __init__(
        self,
        trainer: _core.WawTrainer,
        prior: float,
        threads: int,
        most: int,
        progress: Progress | None,
    ) -> None:
        self.trainer = trainer
        self.prior = prior
        self.threads = threads
        self.most = most
        self.progress = progress
        self.steps = 0
        self.value = -math.inf
        #: before anything is learned
        self.start = -self.cost(np.zeros(trainer.features + 1))[0]

    def run(self, optimiser: str, tolerance: float) -> Floats:
        """The best weights found, the bias last."""
        if optimiser == "adagrad":
            self.steps = self.most
            view = self.trainer.adagrad(
                passes=self.most, rate=RATE, prior=self.prior, progress=self.progress
            )
            weights: Floats = np.asarray(view)
            self.value = -self.cost(weights)[0]
            return weights
        from scipy.optimize import minimize

        start = np.zeros(self.trainer.features + 1)
        stop = _Stop(self, tolerance)
        if optimiser == "lbfgs":
            method, options = "L-BFGS-B", {"ftol": tolerance, "gtol": 0.0, "maxfun": 10 * self.most}
        else:
            method, options = "CG", {"gtol": 0.0}
        optimum = minimize(
            self.cost,
            start,
            jac=True,
            method=method,
            callback=stop,
            options={"maxiter": self.most, **options},
        )
        self.value = -float(optimum.fun)
        return np.asarray(optimum.x, dtype=np.float64)

    def cost(self, weights: Floats) -> tuple[float, Floats]:
        """Minus the likelihood, and its gradient."""
        data = np.ascontiguousarray(weights, dtype=np.float64).tobytes()
        value, gradient = self.trainer.slope(data, prior=self.prior, threads=self.threads)
        return -value, -np.asarray(gradient)


class _Stop:
    """Ends the search when a step gains too little; counts the steps."""

    def __init__(self, ascent: _Ascent, tolerance: float) -> None:
        self.ascent = ascent
        self.tolerance = tolerance
        self.last = math.inf

    def __call__(self, intermediate_result: Any) -> None:
        """SciPy calls this after each step, and knows the argument by its name."""
        ascent, value = self.ascent, float(intermediate_result.fun)
        ascent.steps += 1
        if ascent.progress:
            ascent.progress(ascent.steps, ascent.most)
        if self.last - value <= self.tolerance * max(abs(value), 1e-300):
            raise StopIteration
        self.last = value


def samples(
    order: Sequence[int], *, window: int = Options.window, inclusive: bool = Options.inclusive
) -> list[tuple[int, int, bool]]:
    """The training samples of an order: from, to, and whether that is right.

    The order counts from 0 as everywhere; samples count from 1, and 0 is the sentence's start.

    >>> samples([1, 0])
    [(0, 2, True), (0, 1, False), (2, 1, True)]
    """
    return _core.waw_samples(list(order), _count("window", window), inclusive)


def features(source: Words, from_: int, to: int, *, between_anchor: str = "j") -> list[str]:
    """The features of a jump as text; positions count from 1, and 0 is the sentence's start.

    >>> features(["a", "b", "c"], 1, 3)[:2]
    ['01|a|c', '02|<s>|a|c']
    """
    return _core.waw_features(layers_of(source), from_, to, between_anchor)


def evaluate(
    model: Judge,
    corpus: Corpus,
    *,
    limits: Sequence[int] = LIMITS,
    threads: int = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Put a model to the test on sentences it has not seen, beside plain distance."""
    limits = [_count("limits", limit) for limit in limits]
    decided, compared = _core.waw_evaluate(
        model._core, corpus._core, limits, threads=threads, progress=progress
    )
    learned = tuple(ranking_of(limit, row[0]) for limit, row in zip(limits, compared, strict=True))
    plain = tuple(ranking_of(limit, row[1]) for limit, row in zip(limits, compared, strict=True))
    squares = [row[2] for row in compared]
    gains = tuple(gain_of(*row, len(corpus)) for row in zip(learned, plain, squares, strict=True))
    return Evaluation(Classification(*decided), learned, plain, gains)


def reach(
    model: Judge,
    corpus: Corpus,
    spaces: Sequence[str],
    *,
    threads: int = 0,
    progress: Progress | None = None,
) -> list[Reach]:
    """What spaces leave of the orders of a corpus, without decoding (definitions b.6).

    A space such as ``dl:18+waw(top=3,threshold=0.1,zone=5)`` is pruned by the model, whatever
    name stands there.
    """
    rows = _core.waw_reach(
        model._core, corpus._core, list(spaces), threads=threads, progress=progress
    )
    return [reach_of(space, row) for space, row in zip(spaces, rows, strict=True)]
