"""The decoder: models, weights and settings, ready to translate tokenised sentences."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from wayword import _core
from wayword.corpus.annotate import surface
from wayword.decode.markup import read_markup
from wayword.decode.settings import Settings
from wayword.decode.translation import Arc, Statistics, Translation
from wayword.errors import ArgumentError, MismatchError
from wayword.extract import PhraseTable
from wayword.lm import LanguageModel
from wayword.reorder.waw import WawModel, log_matrix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Decoder", "NbestList"]

Progress = Callable[[int, int], object]
Words = tuple[str, ...]
#: Gives P(next | last) of a sentence's words: a row for the start and one for each word.
WawScorer: TypeAlias = "Callable[[Words], ArrayLike] | Mapping[Words, ArrayLike]"


@dataclass(frozen=True)
class NbestList:
    """The best translations of a sentence: texts, features in rows, scores; best first."""

    texts: tuple[str, ...]
    features: "NDArray[np.float64]"
    scores: "NDArray[np.float64]"


class Decoder:
    """Models, weights and settings. Cheap to change and to share; threads do not alter results."""

    def __init__(
        self,
        table: PhraseTable,
        lms: Sequence[LanguageModel],
        *,
        orientation: str | None = None,
        waw: "WawModel | WawScorer | None" = None,
        weights: Mapping[str, float] | None = None,
        settings: Settings | None = None,
    ) -> None:
        """``orientation`` names a model of the table, such as ``hier-mslr-bidirectional``.

        ``waw`` is a word-after-word model, or something that gives a matrix of probabilities for
        the words of a sentence. With a model that looks at tags, sentences come as ``word|POS``.
        A weight that is not given is 0, but that of unknown words, ``oov``, which is 100.
        """
        self.settings = settings or Settings()
        model = waw if isinstance(waw, WawModel) else None
        self._scorer = waw if not isinstance(waw, WawModel) else None
        self._core = _core.Decoder(
            table._core,
            [lm._core for lm in lms],
            orientation=orientation,
            waw=model._core if model else None,
            given_waw=self._scorer is not None,
            weights=list((weights or {}).items()),
            settings=self.settings.to_dict(),
        )

    @property
    def weights(self) -> dict[str, float]:
        """All weights by the names of their features, in the order of feature rows."""
        return dict(self._core.weights)

    def with_weights(self, weights: Mapping[str, float]) -> "Decoder":
        """The same models; weights that are not given stay as they are."""
        return self._changed(weights, self.settings)

    def with_settings(self, **options: Any) -> "Decoder":
        """The same models; settings that are not given stay as they are."""
        settings = Settings.from_dict(self.settings.to_dict() | options)
        return self._changed({}, settings)

    def _changed(self, weights: Mapping[str, float], settings: Settings) -> "Decoder":
        made = object.__new__(Decoder)
        made.settings = settings
        made._scorer = self._scorer
        every = [*self.weights.items(), *weights.items()]
        made._core = self._core.changed(weights=every, settings=settings.to_dict())
        return made

    def translate(
        self,
        sentences: Sequence[str],
        *,
        markup: bool | str = False,
        origin: tuple[str, int] = ("text", 1),
        nbest: int = 1,
        distinct: bool = False,
        graph: bool = False,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> list[Translation]:
        """Translate sentences of words with spaces between.

        ``markup`` obeys tags in them, in one of the modes of ``wayword.decode.markup``; messages
        about tags count lines from ``origin``. ``nbest`` fills ``Translation.nbest``, with equal
        strings once when ``distinct``; ``graph`` fills ``Translation.graph``. ``threads=0`` uses
        all there are.
        """
        _at_least("nbest", nbest, 1)
        _at_least("threads", threads, 0)
        options: dict[str, Any] = {
            "nbest": nbest,
            "distinct": distinct,
            "graph": graph,
            "threads": threads,
            "progress": progress,
        }
        if markup is False:
            sentences = [_spaced(sentence) for sentence in sentences]
            tokens = [tuple(sentence.split()) for sentence in sentences]
            matrices = self._matrices(tokens)
            found = self._core.translate(sentences, matrices=matrices, **options)
        else:
            marked = read_markup(sentences, markup, origin)
            tokens = [tuple(sentence.words) for sentence in marked]
            matrices = self._matrices(tokens)
            found = self._core.translate_marked(marked, matrices=matrices, **options)
        names = tuple(self.weights)
        return [
            _translation(self._words(source), names, outcome, wants_nbest=nbest > 1)
            for source, outcome in zip(tokens, found, strict=True)
        ]

    def _matrices(self, sentences: Sequence[Words]) -> list[list[float]]:
        """What the scorer says about each sentence; nothing without one."""
        if self._scorer is None:
            return []
        return [_matrix(self._scorer, words) for words in sentences]

    def _words(self, tokens: Words) -> Words:
        """The words of a sentence, without factors."""
        return tuple(map(surface, tokens)) if self._core.factored else tokens

    def nbest(
        self,
        sentences: Sequence[str],
        *,
        size: int = 100,
        distinct: bool = True,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> list[NbestList]:
        """The best translations of each sentence as arrays, for tuning."""
        _at_least("size", size, 1)
        _at_least("threads", threads, 0)
        sentences = [_spaced(sentence) for sentence in sentences]
        texts, flat = self._core.nbest(
            sentences,
            matrices=self._matrices([tuple(sentence.split()) for sentence in sentences]),
            size=size,
            distinct=distinct,
            threads=threads,
            progress=progress,
        )
        weights = np.array(list(self.weights.values()))
        features = np.asarray(flat).reshape(-1, len(weights))
        scores = features @ weights
        ends = np.cumsum([len(these) for these in texts], dtype=np.intp)
        bounds = zip(texts, [0, *ends[:-1].tolist()], ends.tolist(), strict=True)
        return [NbestList(tuple(t), features[a:b], scores[a:b]) for t, a, b in bounds]

    def score(self, sentence: str, phrases: Sequence[tuple[int, int, str]]) -> Translation:
        """A translation given by its phrases in target order: source from, to, target words."""
        given = [(start, end, target.split()) for start, end, target in phrases]
        sentence = _spaced(sentence)
        found = self._core.score(sentence, given, self._matrices([tuple(sentence.split())]))
        if found is None:
            advice = "expected phrases of the table that cover each source word once"
            raise MismatchError(f"phrases: they do not translate `{sentence}`; {advice}")
        return Translation.of(self._words(tuple(sentence.split())), tuple(self.weights), found)


def _matrix(scorer: WawScorer, words: Words) -> list[float]:
    if not isinstance(scorer, Mapping):
        return log_matrix(scorer(words), len(words))
    if words not in scorer:
        raise MismatchError(f"matrix: none for `{' '.join(words)}`; expected one a sentence")
    return log_matrix(scorer[words], len(words))


def _translation(
    source: Words, names: tuple[str, ...], outcome: Any, *, wants_nbest: bool
) -> Translation:
    best, ((scored, made, recombined, pruned, narrowed), jumps), arcs = outcome
    every = tuple(Translation.of(source, names, one) for one in best)
    return replace(
        every[0],
        nbest=every if wants_nbest else (),
        statistics=Statistics(scored, made, recombined, pruned, narrowed, tuple(jumps)),
        graph=tuple(
            Arc(start, end, (u, v), " ".join(words), score)
            for start, end, u, v, words, score in arcs
        ),
    )


def _spaced(sentence: str) -> str:
    """Single spaces between words: Python and the core know different kinds of white space."""
    return " ".join(sentence.split())


def _at_least(option: str, value: int, least: int) -> None:
    if value < least:
        raise ArgumentError(f"{option}: found {value}; expected {least} or more")
