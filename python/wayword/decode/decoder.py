"""The decoder: models, weights and settings, ready to translate tokenised sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wayword import _core
from wayword.corpus.source import Source
from wayword.decode.markup import demands
from wayword.decode.settings import Settings
from wayword.decode.translation import Translation
from wayword.errors import ArgumentError, MismatchError
from wayword.extract import PhraseTable
from wayword.lm import LanguageModel
from wayword.reorder.feature import Feature, log_matrix
from wayword.types import Progress

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Decoder", "NbestList", "Pair", "Suggestion"]

Links = tuple[tuple[int, int], ...]
#: A pair to learn: source words in the decoder's order, target words, links.
Pair = tuple[Sequence[str], Sequence[str], Sequence[tuple[int, int]]]


@dataclass(frozen=True)
class NbestList:
    """The best translations of a sentence: texts, features in rows, scores; best first."""

    texts: tuple[str, ...]
    features: "NDArray[np.float64]"
    scores: "NDArray[np.float64]"
    #: of each translation with the source, when they were asked for
    links: tuple[Links, ...] | None = None


@dataclass(frozen=True)
class Suggestion:
    """A translation that goes on from what somebody typed: ``tokens`` from the first word on.

    The first ``typed`` of them stand for what was typed, with so many ``edits``: a word too many or
    too few is one, a word for another the share of its letters that differ.
    """

    tokens: tuple[str, ...]
    typed: int
    edits: float
    score: float


@dataclass(frozen=True)
class _Models:
    """The models of a decoder; decoders that differ in weights and settings share them."""

    table: PhraseTable
    lms: tuple[LanguageModel, ...]
    orientation: str | None
    features: tuple[Feature, ...]
    learned: tuple[Pair, ...] = ()


class Decoder:
    """Models, weights and settings. Cheap to change and to share; threads do not alter results."""

    def __init__(
        self,
        table: PhraseTable,
        lms: Sequence[LanguageModel],
        *,
        orientation: str | None = None,
        features: Sequence[Feature] = (),
        weights: Mapping[str, float] | None = None,
        settings: Settings | None = None,
    ) -> None:
        """``orientation`` names a model of the table, such as ``hier-mslr-bidirectional``.

        ``features`` are further models of word order, each of its own name, such as
        ``[WawModel.load(path).feature()]``; sentences must bring the layers they read.
        A weight that is not given is 0, but that of unknown words, ``oov``, which is 100.
        """
        self.settings = settings or Settings()
        #: phrase pairs that were learned since
        self.learned_phrases = 0
        self._models = _Models(table, tuple(lms), orientation, tuple(features))
        self._core = _core.Decoder(
            table._core,
            [lm._core for lm in lms],
            orientation=orientation,
            features=[feature._core for feature in features],
            weights=list((weights or {}).items()),
            settings=self.settings.to_dict(),
        )

    @property
    def weights(self) -> dict[str, float]:
        """All weights by the names of their features, in the order of feature rows."""
        return dict(self._core.weights)

    @property
    def nonnegative(self) -> tuple[str, ...]:
        """The names of the features whose weight is at least 0 by definition.

        A language model, a translation score, orientation and a path feature are scores of which
        the higher is better, and distortion is minus a cost. ``wp``, ``pp`` and ``oov`` are counts,
        whose weights may have either sign.
        """
        return tuple(self._core.nonnegative)

    @property
    def features(self) -> tuple[Feature, ...]:
        """The path features."""
        return self._models.features

    @property
    def layers(self) -> frozenset[str]:
        """What sentences must have besides words: ``pos``, ``chunks``, or nothing."""
        return frozenset().union(*(feature.layers for feature in self.features))

    def with_weights(self, weights: Mapping[str, float]) -> "Decoder":
        """The same models; weights that are not given stay as they are."""
        return self._changed(weights, self.settings)

    def with_settings(self, **options: Any) -> "Decoder":
        """The same models; settings that are not given stay as they are."""
        settings = Settings.from_dict(self.settings.to_dict() | options)
        return self._changed({}, settings)

    def learned(self, pairs: Sequence[Pair]) -> "Decoder":
        """The same models with exactly these pairs learned, which count from the next sentence on.

        Their phrases are looked up beside those of the table, and a small language model of their
        target side is mixed into each of the language models.
        """
        pairs = tuple(pairs)
        changed = object.__new__(Decoder)
        changed.settings = self.settings
        changed._models = replace(self._models, learned=pairs)
        plain = [(list(src), list(tgt), [(i, j) for i, j in links]) for src, tgt, links in pairs]
        changed._core, changed.learned_phrases = self._core.learned(plain)
        return changed

    def _changed(self, weights: Mapping[str, float], settings: Settings) -> "Decoder":
        changed = object.__new__(Decoder)
        changed.settings = settings
        changed._models = self._models
        changed.learned_phrases = self.learned_phrases
        every = [*self.weights.items(), *weights.items()]
        changed._core = self._core.changed(weights=every, settings=settings.to_dict())
        return changed

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._models, self.weights, self.settings)

    def translate(
        self,
        sources: Sequence[str | Source],
        *,
        nbest: int = 1,
        distinct: bool = False,
        graph: bool = False,
        stacks: int = 0,
        threads: int = 0,
        progress: Progress | None = None,
        **settings: Any,
    ) -> list[Translation]:
        """Translate sentences: words with spaces between, or ``Source`` with all that is known.

        ``nbest`` fills ``Translation.nbest``, with equal strings once when ``distinct``;
        ``graph`` fills ``Translation.graph`` and ``stacks`` so many hypotheses of each of
        ``Translation.stacks``. ``threads=0`` uses all there are. Further options
        are settings for this call, such as ``space="dl:3"``.
        """
        if settings:
            options: dict[str, Any] = {"nbest": nbest, "distinct": distinct}
            options |= {"graph": graph, "stacks": stacks}
            changed = self.with_settings(**settings)
            return changed.translate(sources, **options, threads=threads, progress=progress)
        _at_least("nbest", nbest, 1)
        _at_least("stacks", stacks, 0)
        _at_least("threads", threads, 0)
        every = [_source(source) for source in sources]
        outcomes = self._core.translate(
            self._crossing(every),
            nbest=nbest,
            distinct=distinct,
            graph=graph,
            stacks=stacks,
            threads=threads,
            progress=progress,
        )
        names = tuple(self.weights)
        return [
            Translation.of_outcome(outcome, source, names, wants_nbest=nbest > 1)
            for source, outcome in zip(every, outcomes, strict=True)
        ]

    def nbest(
        self,
        sources: Sequence[str | Source],
        *,
        size: int = 100,
        distinct: bool = True,
        links: bool = False,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> list[NbestList]:
        """The best translations of each sentence as arrays, for tuning; ``links`` adds those."""
        if links:
            options: dict[str, Any] = {"distinct": distinct, "threads": threads}
            every = self.translate(sources, nbest=size, **options, progress=progress)
            return [self._listed(best.nbest or (best,)) for best in every]
        _at_least("size", size, 1)
        _at_least("threads", threads, 0)
        texts, flat = self._core.nbest(
            self._crossing([_source(source) for source in sources]),
            size=size,
            distinct=distinct,
            threads=threads,
            progress=progress,
        )
        import numpy as np

        weights = np.array(list(self.weights.values()))
        features = np.asarray(flat).reshape(-1, len(weights))
        scores = features @ weights
        ends = np.cumsum([len(these) for these in texts], dtype=np.intp)
        bounds = zip(texts, [0, *ends[:-1].tolist()], ends.tolist(), strict=True)
        return [NbestList(tuple(t), features[a:b], scores[a:b]) for t, a, b in bounds]

    def _listed(self, translations: Sequence[Translation]) -> NbestList:
        """Translations as arrays, with their links."""
        import numpy as np

        rows = [list(translation.features.values()) for translation in translations]
        return NbestList(
            tuple(" ".join(translation.tokens) for translation in translations),
            np.array(rows),
            np.array([translation.score for translation in translations]),
            tuple(translation.links for translation in translations),
        )

    def suggest(
        self,
        source: str | Source,
        typed: Sequence[str],
        *,
        is_open: bool = False,
        progress: Progress | None = None,
    ) -> Suggestion:
        """The translation that goes on best from typed words, with as few edits as possible.

        ``is_open`` says that the last typed word may be the beginning of a longer one.
        """
        [crossing] = self._crossing([_source(source)])
        words = list(typed)
        answer = self._core.suggest(crossing, words, is_open=is_open, progress=progress)
        if answer is None:  # a sentence without words
            return Suggestion((), 0, float(len(words)), 0.0)
        tokens, reached, edits, score = answer
        return Suggestion(tuple(tokens), reached, edits, score)

    def score(self, source: str | Source, phrases: Sequence[tuple[int, int, str]]) -> Translation:
        """A translation given by its phrases in target order: source from, to, target words.

        Positions are those of ``Source.words``, the order in which the decoder gets the words.
        """
        source = _source(source)
        given = [(start, end, target.split()) for start, end, target in phrases]
        [crossing] = self._crossing([source])
        scored = self._core.score(crossing, given)
        if scored is None:
            advice = "expected phrases of the table that cover each source word once"
            text = " ".join(source.words)
            raise MismatchError(f"phrases: they do not translate `{text}`; {advice}")
        return Translation.of(scored, source, tuple(self.weights))

    def _crossing(self, sources: Sequence[Source]) -> list[_core.Source]:
        """Sentences as the core takes them, with what Python has to say about each."""
        layers = self.layers
        given = {feature.name: feature.matrices(sources) for feature in self.features}
        told = {name: matrices for name, matrices in given.items() if matrices is not None}
        crossing = []
        for number, source in enumerate(sources):
            _check_matrices(source, told)
            sentence, length = source.sentence, len(source)
            chunks = None
            if "chunks" in layers and sentence.chunks is not None:
                starts = list(sentence.chunk_starts())
                chunks = list(sentence.chunk_types()), list(sentence.chunk_heads()), starts
            tags = sentence.pos if "pos" in layers else None
            crossing.append(
                _core.Source(
                    list(source.words),
                    tags=None if tags is None else list(tags),
                    chunks=chunks,
                    markup=demands(source),
                    matrices=[
                        (name, log_matrix(matrices[number], length))
                        for name, matrices in told.items()
                    ],
                )
            )
        return crossing


def _again(models: _Models, weights: Mapping[str, float], settings: Settings) -> Decoder:
    decoder = Decoder(
        models.table,
        models.lms,
        orientation=models.orientation,
        features=models.features,
        weights=weights,
        settings=settings,
    )
    return decoder.learned(models.learned) if models.learned else decoder


def _source(source: str | Source) -> Source:
    return source if isinstance(source, Source) else Source.of(source)


def _check_matrices(source: Source, known: Mapping[str, object]) -> None:
    """Refuse a matrix that no feature asks for: it would be left out without a word."""
    for name in source.matrices:
        if name not in known:
            names = ", ".join(known) or "none, as no feature takes matrices"
            raise MismatchError(f"matrix: found one for feature `{name}`; expected {names}")


def _at_least(option: str, value: int, least: int) -> None:
    if not isinstance(value, int) or value < least:
        raise ArgumentError(f"{option}: found {value!r}; expected {least} or more")
