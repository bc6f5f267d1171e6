"""Learned linear ordering: puts source words in the order of their translation.

In: source sentences, best with tags or word classes, and the links to their translations.
Out: a ``LopModel``: the order of any sentence, for a preorderer in front of any translation system;
a matrix of what each pair of words is worth in source order, for the decoder's feature ``lop``.
How: three models. ``lop`` (Tromble and Eisner, 2009) weighs pairs of words: log-odds to start with,
then an averaged perceptron, and a search over exponentially many neighbours of an order. ``joint``
also weighs the nodes of bracketings: a conditional random field over all bracketings of a sentence,
searched exactly. ``neural`` weighs pairs of words, too, by a small network that reads the whole
sentence (see ``wayword.reorder.neural``), and searches like ``lop``. After every pass the dev set
is ordered and compared with what its links say; the best pass is kept.
Cost: O(n³) a sentence; some 0.2 ms for 25 words with ``lop``, 1.2 ms with ``joint``. Learning
``joint`` takes about 3 ms a sentence and pass. The number of threads changes no weight.
Not: unseen languages; both models learn from links alone, without a parser.

>>> from wayword.corpus.annotate import Sentence
>>> tea = Sentence(("er", "hat", "Tee", "getrunken"), ("PRON", "AUX", "NOUN", "VERB"))
>>> corpus = Corpus.from_sentences([tea] * 8, [[(0, 0), (1, 1), (2, 3), (3, 2)]] * 8)
>>> model = fit(corpus, corpus, bits=12)
>>> model.order(tea)
[0, 1, 3, 2]
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from wayword import _core
from wayword.corpus.source import Source
from wayword.errors import ArgumentError
from wayword.handle import Handle
from wayword.options import build, check_choice, check_number, check_range
from wayword.reorder.corpus import Corpus, Words, layers_of
from wayword.reorder.matrix import OrderMatrix
from wayword.reorder.neural import Options as Network
from wayword.reorder.order import share_in_order
from wayword.types import FilePath, Progress

__all__ = [
    "CHOICES",
    "MODELS",
    "REFERENCES",
    "STOPS",
    "Corpus",
    "Learning",
    "LopFeature",
    "LopModel",
    "Options",
    "Pass",
    "Summary",
    "best_order",
    "features",
    "fit",
    "linked_bleu",
    "order_bleu",
    "step",
]

Floats = npt.NDArray[np.float64]
Watch = Callable[["Pass"], object]
Order: TypeAlias = Sequence[int] | npt.NDArray[Any]

MODELS = ("lop", "joint", "neural")
#: What words without links are taken to want.
REFERENCES = ("leftmost", "attach", "linked")
#: What decides which pass is kept: pairs of linked words in order, or BLEU of the order.
STOPS = ("tau", "bleu")
#: How a joint model chooses: the best bracketing, or most pairs expected to be right.
CHOICES = ("best", "expected")
#: Sentences between two updates of a joint model.
JOINT_BATCH = 32
#: A network makes at most so many passes: its steps shrink to nothing in the last one.
NETWORK_PASSES = 4
NETWORK = Network()


@dataclass(frozen=True, kw_only=True)
class Learning:
    """How a model of any kind is learned."""

    #: words without links want: ``attach`` to follow the word before them; ``leftmost`` the front;
    #: ``linked`` nothing
    reference: str = "attach"
    #: how much that counts beside what linked words want, by ``attach`` (``joint``, ``neural``)
    unlinked: float = 0.05
    #: learn from the first so many sentences; 0 for all
    sentences: int = 0
    #: most passes over the text, of a network 4; 0 for log-odds alone (``lop``)
    passes: int = 14
    #: passes without a better dev score before it stops
    patience: int = 2
    #: that score: ``tau``, pairs of linked words in order, or the paper's ``bleu`` of linked words
    stop: str = "tau"
    #: the table has 2^bits weights
    bits: int = 24
    #: sentences between two updates; 0 for 1 (``lop``, the plain perceptron) or 32 (the others)
    batch: int = 0
    #: features of fewer pairs have no weight (``lop``)
    min_count: int = 1
    #: what it costs a bracketing to contradict a pair of links (``joint``)
    strictness: float = 2.0
    #: size of the steps (``joint``)
    rate: float = 0.01
    #: pulls weights towards 0 (``joint``)
    prior: float = 0.0
    #: how orders are chosen: ``best`` or ``expected`` (``joint``)
    choice: str = "expected"

    def __post_init__(self) -> None:
        """Refuse what makes no sense, before any counting."""
        check_choice("reference", self.reference, REFERENCES)
        check_choice("choice", self.choice, CHOICES)
        check_choice("stop", self.stop, STOPS)
        check_range("sentences", self.sentences, 0)
        check_range("passes", self.passes, 0)
        check_range("patience", self.patience, 1)
        check_range("bits", self.bits, 8, 28)
        check_range("batch", self.batch, 0)
        check_range("min_count", self.min_count, 1)
        check_number("unlinked", self.unlinked)
        check_number("strictness", self.strictness)
        check_number("rate", self.rate)
        check_number("prior", self.prior)


@dataclass(frozen=True, kw_only=True)
class Options(Learning):
    """Which model is learned, and how."""

    #: ``lop``, ``joint`` or ``neural``
    model: str = "joint"

    def __post_init__(self) -> None:
        """Refuse what makes no sense, before any counting."""
        super().__post_init__()
        check_choice("model", self.model, MODELS)
        check_range("passes", self.passes, 0 if self.model == "lop" else 1)


@dataclass(frozen=True)
class Pass:
    """One pass over the text."""

    number: int
    #: pairs of words that came out wrong (``lop``), or the mean objective of a sentence
    value: float
    #: pairs of linked words of the dev set that are in order, and BLEU of their order
    tau: float
    bleu: float


@dataclass(frozen=True)
class Summary:
    """What training saw and did."""

    sentences: int
    words: int
    #: of the dev set in source order
    tau_before: float
    bleu_before: float
    passes: tuple[Pass, ...]
    #: the one that was kept
    best: int

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain values, for JSON."""
        return {**vars(self), "passes": [dict(vars(one)) for one in self.passes]}


class LopModel(Handle):
    """A trained model. Threads may share it; it pickles as path and digest, or whole."""

    #: Version of the format of its files.
    VERSION = _core.LopModel.VERSION

    _core: _core.LopModel
    summary: Summary | None

    @classmethod
    def load(cls, path: FilePath) -> "LopModel":
        """Map a saved model; every byte is checked."""
        return cls(_core.LopModel.load(path))

    def save(self, path: FilePath) -> None:
        """Write the model to a file that ``load`` maps."""
        self._core.save(path)

    @property
    def size(self) -> int:
        """Bytes of the model, as a file or in memory."""
        return self._core.size

    @property
    def used(self) -> int:
        """Places of its table that have a weight."""
        return self._core.used

    @property
    def recipe(self) -> dict[str, Any]:
        """How it was made: model, reference, passes, sentences, size of the table."""
        return self._core.recipe

    @property
    def layers(self) -> frozenset[str]:
        """What it looks at besides the words: ``pos``, or nothing."""
        return frozenset({"pos"} if self._core.needs_tags else ())

    def feature(self, name: str = "lop") -> "LopFeature":
        """The model as a feature of the decoder; its weight goes by the name."""
        return LopFeature(name, self)

    def order(self, source: Words, *, choice: str = Options.choice) -> list[int]:
        """The order a sentence should have: ``order[k]`` is the place of its ``k``-th word now."""
        return self.orders([source], choice=choice, threads=1)[0]

    def orders(
        self,
        sources: Iterable[Words],
        *,
        choice: str = Options.choice,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> list[list[int]]:
        """The orders of many sentences."""
        layers = [layers_of(source) for source in sources]
        return self._core.orders(layers, choice=choice, threads=threads, progress=progress)

    def corpus_orders(
        self,
        corpus: Corpus,
        *,
        choice: str = Options.choice,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> list[npt.NDArray[np.int32]]:
        """The orders of a corpus."""
        flat = self._core.text_orders(
            corpus._core, choice=choice, threads=threads, progress=progress
        )
        return corpus.by_sentence(np.asarray(flat).astype(np.int32))

    def nbest(self, source: Words, size: int) -> list[tuple[float, list[int]]]:
        """The best orders of a sentence, all different, with their scores over source order."""
        check_range("nbest", size, 1)
        return self._core.nbest(layers_of(source), size)

    def matrix(self, source: Words) -> Floats:
        """What it is worth to keep word ``l`` before word ``r``, as ``[l, r]``; 0 below.

        Less than 0: better to turn the two round. Of a joint model, log-odds of keeping them.
        """
        flat: Floats = np.asarray(self._core.matrix(layers_of(source)))
        return OrderMatrix.of(flat.reshape(len(source), len(source)), layers_of(source)[0])

    def explain(self, source: Words, left: int, right: int) -> list[tuple[str, float]]:
        """The features of two words, from 0, with their weights; those that count most first."""
        explained = self._core.explain(layers_of(source), left + 1, right + 1)
        return sorted(explained, key=lambda pair: -abs(pair[1]))

    def __repr__(self) -> str:
        recipe = self.recipe
        return f"LopModel({recipe['model']}, {recipe['passes']} passes, {self.used} weights)"


@dataclass(frozen=True)
class LopFeature:
    """A linear-ordering model as a feature of the decoder."""

    name: str
    model: LopModel

    @property
    def layers(self) -> frozenset[str]:
        """What the model looks at besides the words."""
        return self.model.layers

    @property
    def _core(self) -> _core.PathFeature:
        return _core.PathFeature.lop(self.name, self.model._core)

    def matrices(self, sources: Sequence[Source]) -> None:
        """Nothing: the core asks the model."""


def fit(
    corpus: Corpus,
    dev: Corpus,
    *,
    seed: int = 1,
    threads: int = 0,
    progress: Progress | None = None,
    watch: Watch | None = None,
    **options: Any,
) -> LopModel:
    """Learn a model from a corpus; for ``options`` see ``Options``.

    The pass whose order of the dev set is nearest to what its links say, by ``stop``, is kept.
    ``seed`` decides the order in which ``joint`` and ``neural`` look at sentences.
    """
    chosen = build(Options, options)
    _check(corpus, dev)
    if 0 < chosen.sentences < len(corpus):
        corpus = corpus.split(chosen.sentences)[0]
    most = min(chosen.passes, NETWORK_PASSES) if chosen.model == "neural" else chosen.passes
    trainer = _core.LopTrainer(
        corpus._core,
        model=chosen.model,
        reference=chosen.reference,
        unlinked=chosen.unlinked,
        passes=most,
        bits=chosen.bits,
        batch=chosen.batch or (1 if chosen.model == "lop" else JOINT_BATCH),
        min_count=chosen.min_count,
        strictness=chosen.strictness,
        rate=NETWORK.rate if chosen.model == "neural" else chosen.rate,
        prior=chosen.prior,
        network=NETWORK.sizes,
        seed=seed,
        threads=threads,
        progress=progress,
    )
    rehearsal = _Rehearsal(dev, chosen, threads)
    best, passes, top = trainer.model(0), list[Pass](), -1.0
    for number in range(most + 1):
        value = trainer.train(number, threads=threads, progress=progress) if number else 0.0
        if not number and chosen.model != "lop":
            continue  # it knows nothing at all
        model = trainer.model(number)
        passes.append(Pass(number, value, **rehearsal.scores(model)))
        if watch is not None:
            watch(passes[-1])
        score = getattr(passes[-1], chosen.stop)
        if score > top:
            best, top = model, score
        elif number - best.recipe["passes"] >= chosen.patience:
            break
    kept = best.recipe["passes"]
    before = {f"{name}_before": value for name, value in rehearsal.before.items()}
    summary = Summary(len(corpus), corpus.words, **before, passes=tuple(passes), best=kept)
    return LopModel(best, summary)


def _check(corpus: Corpus, dev: Corpus) -> None:
    """Refuse what nothing can be learned from."""
    for name, given in (("corpus", corpus), ("dev", dev)):
        if not given.words:
            raise ArgumentError(f"{name}: found no words; expected sentences to learn from")
    if dev.layers[:2] != corpus.layers[:2]:
        found = f"dev: found layers {dev.layers}"
        raise ArgumentError(f"{found}; expected those of the corpus, {corpus.layers}")


class _Rehearsal:
    """The dev set: how near the orders of a model come to those that its links imply."""

    def __init__(self, dev: Corpus, options: Options, threads: int) -> None:
        self.dev, self.choice, self.threads = dev, options.choice, threads
        self.words, self.ranks = dev.sentences(), dev.ranks("linked")
        self.before = self._scores([np.arange(len(words)) for words in self.words])

    def scores(self, model: _core.LopModel) -> dict[str, float]:
        """What ``stop`` may name, of the orders of a model, in percent."""
        orders = LopModel(model).corpus_orders(self.dev, choice=self.choice, threads=self.threads)
        return self._scores(orders)

    def _scores(self, orders: Sequence[npt.NDArray[Any]]) -> dict[str, float]:
        moved = [ranks[order] for order, ranks in zip(orders, self.ranks, strict=True)]
        shares = [share_in_order(ranks[ranks >= 0]) for ranks in moved]
        return {
            "tau": 100 * float(np.mean(shares)),
            "bleu": linked_bleu(self.words, orders, self.ranks)[0],
        }


def linked_bleu(
    sentences: Sequence[Sequence[str]],
    orders: Sequence[npt.NDArray[Any]],
    ranks: Sequence[npt.NDArray[Any]],
) -> tuple[float, tuple[float, ...]]:
    """BLEU of the order of linked words, and precisions; words without links have no place.

    >>> order, ranks = np.array([1, 0, 2, 3]), np.array([0, -1, 1, 2])
    >>> linked_bleu(["a b c d".split()], [order], [ranks])[1]
    (100.0, 100.0, 100.0, 0.0)
    """
    linked = [order[of[order] >= 0] for order, of in zip(orders, ranks, strict=True)]
    wanted = [np.argsort(of, kind="stable")[np.count_nonzero(of < 0) :] for of in ranks]
    return order_bleu(sentences, linked, wanted)


def order_bleu(
    sentences: Sequence[Sequence[str]], orders: Sequence[Order], wanted: Sequence[Order]
) -> tuple[float, tuple[float, ...]]:
    """BLEU of sentences in some orders against the same in others, and precisions of n-grams.

    >>> order_bleu(["a b c d e".split()], [[1, 0, 2, 3, 4]], [[0, 1, 2, 3, 4]])
    (45.180100180492246, (100.0, 50.0, 33.333333333333336, 25.0))
    """
    from sacrebleu.metrics.bleu import BLEU

    def texts(orders: Sequence[Order]) -> list[str]:
        pairs = zip(sentences, orders, strict=True)
        return [" ".join([words[at] for at in order]) for words, order in pairs]

    score = BLEU(tokenize="none", force=True).corpus_score(texts(orders), [texts(wanted)])
    return float(score.score), tuple(map(float, score.precisions))


def features(source: Words, left: int, right: int) -> list[str]:
    """The features of two words of a sentence as text; words count from 0.

    >>> features(["a", "b", "c"], 0, 2)
    ['06|a|c', '06|a|c|d=2']
    """
    return _core.lop_features(layers_of(source), left + 1, right + 1)


def step(
    matrix: npt.ArrayLike, order: Sequence[int], *, widest: int = 0, climb: bool = False
) -> list[int]:
    """The best order among all that exchanging neighbouring pieces of an order leads to.

    Pieces of more than ``widest`` words together stay; 0 for any. ``climb`` goes on while there is
    a gain, as training does; one step from source order is what translation uses.

    >>> step([[0, -1, 1], [0, 0, 0], [0, 0, 0]], [0, 1, 2])
    [1, 0, 2]
    """
    cells = np.asarray(matrix, dtype=np.float64).ravel().tolist()
    return _core.lop_step(cells, list(order), widest or len(order), climb)[1]


def best_order(matrix: npt.ArrayLike, *, solver: str = "sets") -> list[int]:
    """An order that no other beats, for study.

    ``sets``: dynamic programming over sets of words, at most 20; ``ilp``: an integer programme
    (SciPy's HiGHS), slower for short sentences, and possible for longer ones.

    >>> best_order([[0, -1, 2], [0, 0, 1], [0, 0, 0]])
    [1, 0, 2]
    """
    check_choice("solver", solver, ("sets", "ilp"))
    cells = np.asarray(matrix, dtype=np.float64)
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
        raise ArgumentError(f"matrix: found shape {cells.shape}; expected as many rows as columns")
    if solver == "sets":
        return _core.lop_exact(cells.ravel().tolist(), len(cells))
    from wayword.reorder.lop_ilp import solve

    return solve(cells)
