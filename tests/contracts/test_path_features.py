"""What every path feature promises, whatever it is made of."""

import pickle
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.systems import ORIENTATION, WEIGHTS

from wayword import lm
from wayword.align.score import parse_links
from wayword.corpus.annotate import Sentence, read_factored
from wayword.corpus.files import open_text
from wayword.corpus.source import Source
from wayword.decode import Decoder, Settings, Translation
from wayword.decode.markup import read_markup
from wayword.errors import ArgumentError, MismatchError
from wayword.extract import PhraseTable
from wayword.reorder import lop, neural, waw
from wayword.reorder.feature import Feature, Given

Floats = npt.NDArray[np.float64]
UNLIMITED: dict[str, Any] = {
    "pop_limit": 0,
    "threshold": 0.0,
    "options_per_span": 0,
    "space": "dl:-1",
}
KINDS = (
    *("words", "tags", "chunks", "callable", "mapping", "two models", "model and matrix"),
    *("pairs", "bracketings", "choice", "coverage", "choice and coverage", "network"),
    "network and coverage",
)


def noise(source: Source) -> Floats:
    """A matrix that depends on the words alone."""
    seed = zlib.crc32(" ".join(source.words).encode())
    random = np.random.default_rng(seed)
    return random.uniform(0.05, 0.95, (len(source) + 1, len(source)))


@dataclass(frozen=True)
class Room:
    """Models and sentences that all kinds of features share."""

    system: Path
    sources: list[Source]
    models: dict[str, waw.WawModel]
    orderers: dict[str, lop.LopModel]
    networks: dict[str, neural.NeuralModel]

    def features(self, kind: str) -> list[Feature]:
        """The features of a kind."""
        if kind == "callable":
            return [Given("noise", noise)]
        if kind == "mapping":
            every = [*self.sources, *short(self, 3), *short(self, 4)]
            return [Given("known", {source.words: noise(source) for source in every})]
        if kind == "two models":
            return [self.models["W"].feature("plain"), self.models["WPC"].feature("chunky")]
        if kind == "model and matrix":
            return [self.models["WP"].feature(), Given("noise", noise)]
        templates = {"words": "W", "tags": "WP", "chunks": "WPC"}
        learned: dict[str, Any] = {**self.orderers, **self.networks, **self.models}
        return [learned[templates.get(kind, kind)].feature()]

    def decoder(self, features: Sequence[Feature], **settings: Any) -> Decoder:
        """A decoder that listens to the features."""
        return Decoder(
            PhraseTable.open(self.system / "phrase-table"),
            [lm.LanguageModel.load(self.system / "lm")],
            orientation=ORIENTATION,
            features=features,
            weights={**WEIGHTS, **{feature.name: 0.4 for feature in features}},
            settings=Settings.from_dict({"pop_limit": 100, "space": "dl:6", **settings}),
        )


@pytest.fixture(scope="module")
def room(toy_folder: Path) -> Room:
    corpus = toy_folder / "corpus"
    sentences = list(read_factored(corpus / "train.factored.de"))
    links = [parse_links(line, "") for line in open_text(corpus / "train.links")]
    samples = waw.Corpus.from_sentences(sentences, links)
    models = {
        name: waw.train(samples, templates=name, optimiser="adagrad", iterations=2)
        for name in ("W", "WP", "WPC")
    }
    for name, options in (
        ("choice", {"objective": "choice"}),
        ("coverage", {"coverage": True}),
        ("choice and coverage", {"objective": "choice", "coverage": True}),
    ):
        models[name] = waw.train(samples, templates="WP", iterations=2, **options)
    small: dict[str, Any] = {"epochs": 1, "embedding": 8, "hidden": 8, "key": 8, "window": 4}
    networks = {
        "network": neural.train(samples, coverage=False, **small),
        "network and coverage": neural.train(samples, tags=True, **small),
    }
    learned, held_out = samples.split(700)
    orderers = {
        kind: lop.fit(learned, held_out, model=model, passes=2, bits=16)
        for kind, model in (("pairs", "lop"), ("bracketings", "joint"))
    }
    dev = [Source(sentence) for sentence in read_factored(corpus / "dev.factored.de")]
    return Room(toy_folder / "system", dev[:12], models, orderers, networks)


@pytest.fixture(scope="module", params=KINDS)
def features(request: pytest.FixtureRequest, room: Room) -> list[Feature]:
    return room.features(request.param)


@pytest.fixture(scope="module")
def decoder(room: Room, features: list[Feature]) -> Decoder:
    return room.decoder(features)


def phrases_of(translation: Translation) -> list[tuple[int, int, str]]:
    return [(*phrase.src, phrase.target) for phrase in translation.phrases]


def test_the_total_is_one_while_the_path_grows_and_from_the_start(
    decoder: Decoder, room: Room
) -> None:
    """The search adds up as it goes, ``nbest`` and ``score`` count from the start."""
    names = {feature.name for feature in decoder.features}
    for source, best in zip(room.sources, decoder.translate(room.sources, graph=True), strict=True):
        scores = {0: 0.0}
        for arc in best.graph:  # ordered by where they lead
            scores[arc.end] = max(scores.get(arc.end, -np.inf), scores[arc.start] + arc.score)
        assert scores[max(scores)] == pytest.approx(best.score, abs=1e-3)
        again = decoder.score(source, phrases_of(best))
        assert again.features == pytest.approx(dict(best.features))
        assert all(best.features[name] for name in names)


def test_what_recombines_has_the_same_future(room: Room, features: list[Feature]) -> None:
    """Were states equal that are not, the exact scores of a complete list would not fall."""
    decoder = room.decoder(features, **{**UNLIMITED, "options_per_span": 2})
    for source in short(room, 4):
        [best] = decoder.translate([source], nbest=300)
        scores = [translation.score for translation in best.nbest]
        assert scores == pytest.approx(sorted(scores, reverse=True), abs=1e-3)
        [alone] = decoder.translate([source])
        assert alone.score == pytest.approx(best.score, abs=1e-4)


def test_without_limits_the_search_is_exhaustive(room: Room, features: list[Feature]) -> None:
    """No future cost loses the best of all ways, tried one by one."""
    decoder = room.decoder(features, **UNLIMITED)
    table = PhraseTable.open(room.system / "phrase-table")
    for search in ("cube", "stack"):
        for source in short(room, 3)[:3]:
            [found] = decoder.translate([source], search=search, stack_size=0)
            scores = [decoder.score(source, way).score for way in every_way(source, table)]
            assert found.score == pytest.approx(max(scores), abs=1e-4)


def short(room: Room, length: int) -> list[Source]:
    """The first words of some sentences, layers and all, without chunks that are cut."""
    cut = []
    for source in room.sources:
        ends = [chunk.end + 1 for chunk in source.sentence.chunks or ()]
        fits = [end for end in ends if 1 < end <= length]
        cut += [first_words(source, fits[-1])] if fits else []
    return cut


def first_words(source: Source, end: int) -> Source:
    words, tags, chunks = source.words, source.sentence.pos or (), source.sentence.chunks or ()
    inside = tuple(chunk for chunk in chunks if chunk.end < end)
    return Source(Sentence(words[:end], tags[:end], inside))


def every_way(source: Source, table: PhraseTable) -> Iterator[list[tuple[int, int, str]]]:
    """All ways to cut, translate and order a sentence."""
    length = len(source)
    for cuts in product((False, True), repeat=length - 1):
        ends = [at for at, cut in enumerate(cuts, 1) if cut] + [length]
        spans = list(zip([0, *ends[:-1]], ends, strict=True))
        texts = [texts_of(source.words[start:end], table) for start, end in spans]
        for order in permutations(range(len(spans))):
            for chosen in product(*(texts[at] for at in order)):
                yield [(*spans[at], text) for at, text in zip(order, chosen, strict=True)]


def texts_of(words: Sequence[str], table: PhraseTable) -> list[str]:
    found = [option.tgt for option in table.options(" ".join(words))]
    return found or (list(words) if len(words) == 1 else [])


def test_any_number_of_threads_gives_the_same(decoder: Decoder, room: Room) -> None:
    one, two = (decoder.translate(room.sources, threads=threads, nbest=3) for threads in (1, 2))
    assert one == two


def test_features_and_decoders_pickle(decoder: Decoder, room: Room) -> None:
    again = pickle.loads(pickle.dumps(decoder))
    for feature, other in zip(decoder.features, again.features, strict=True):
        assert (feature.name, feature.layers) == (other.name, other.layers)
    assert (again.weights, again.settings) == (decoder.weights, decoder.settings)
    assert again.translate(room.sources[:3]) == decoder.translate(room.sources[:3])


def test_a_search_may_be_pruned_by_any_of_them(decoder: Decoder, room: Room) -> None:
    loose = "dl:-1+{}(top=0,threshold=0,zone=-1)"
    for feature in decoder.features:
        space = f"dl:-1+{feature.name}(top=1,threshold=0,zone=0)"
        for source, found in zip(
            room.sources, decoder.translate(room.sources, space=space), strict=True
        ):
            assert sorted(found.order) == list(range(len(source)))
            assert found.statistics is not None
            assert found.statistics.narrowed > 0
        for source in short(room, 4):
            free = {**UNLIMITED, "options_per_span": 5}
            [plain] = decoder.translate([source], **free)
            free["space"] = loose.format(feature.name)
            assert decoder.translate([source], **free)[0].score == pytest.approx(plain.score)


def test_they_go_with_given_translations_and_walls(decoder: Decoder, room: Room) -> None:
    for source in room.sources:
        words = source.words
        middle = len(words) // 2
        marked = f"<n translation='x y'>{words[0]}</n> {' '.join(words[1:middle])} <wall/> "
        read = read_markup(marked + " ".join(words[middle:]))
        [best] = decoder.translate([read.with_sentence(source.sentence)], nbest=5)
        for found in best.nbest:
            given = [phrase for phrase in found.phrases if phrase.src == (0, 1)]
            assert [phrase.target for phrase in given] == ["x y"]
            turn = {at: turn for turn, phrase in enumerate(found.phrases) for at in phrase.covered}
            before, after = range(middle), range(middle, len(words))
            assert max(turn[at] for at in before) <= min(turn[at] for at in after)
            again = decoder.score(read.with_sentence(source.sentence), phrases_of(found))
            assert again.score == pytest.approx(found.score, abs=1e-4)


def test_every_feature_has_a_name_of_its_own(room: Room) -> None:
    with pytest.raises(ArgumentError, match=r"^features: found two called `a`; expected a name"):
        room.decoder([Given("a", noise), room.models["W"].feature("a")])
    with pytest.raises(ArgumentError, match=r"^features: found two called `lm`; expected a name"):
        room.decoder([Given("lm", noise)])
    for name in ("", "a b", "a+b", "top(", "1st"):
        with pytest.raises(
            ArgumentError, match=r"^feature: found the name `.*`; expected a letter"
        ):
            room.decoder([Given(name, noise)])


def test_a_matrix_comes_with_the_sentence_or_from_the_scorer(room: Room) -> None:
    source = room.sources[0]
    decoder = room.decoder([Given("noise")])
    with pytest.raises(MismatchError, match=r"^matrix: none for `.*`; expected one a sentence"):
        decoder.translate([source])
    given = decoder.translate([source.with_matrix("noise", noise(source))])
    assert given == room.decoder([Given("noise", noise)]).translate([source])
    other = room.decoder([Given("noise", noise)])
    with pytest.raises(MismatchError, match=r"^matrix: found one for feature `x`; expected noise"):
        other.translate([source.with_matrix("x", noise(source))])
