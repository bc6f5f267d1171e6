"""Bisazza and Federico (2013) as readable Python against the fast implementation.

Each comparison runs on some dozens of random cases, and as ``slow`` on thousands.
"""

import math
import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from wayword import _core
from wayword.corpus import Bitext, toy
from wayword.corpus.annotate import Chunk, Sentence
from wayword.corpus.annotate.sentence import chunks_from_tags
from wayword.decode import Decoder, Settings
from wayword.evaluate import Gold, Options, Output, make_metric
from wayword.evaluate import order as fast_metrics
from wayword.extract import PhraseTable, extract, import_moses
from wayword.papers import bisazza_federico_2013 as paper
from wayword.papers import phrase_decoder
from wayword.papers.phrase_decoder import DistanceCost, Hypothesis, TranslationOption
from wayword.reorder import waw
from wayword.reorder.feature import Given
from wayword.reorder.order import order_from_links, rank_of

Links = list[tuple[int, int]]
Floats = npt.NDArray[np.float64]
Phrases = list[TranslationOption]

ALL = paper.TEMPLATE_SETS["W,P,C"]
EXAMPLE = Sentence(
    ("ywASl", "sfyr", "lbnAn", "tHrk", "-h"),
    ("V", "N", "NP", "N", "PRP"),
    (Chunk("VP", 0, 0), Chunk("NP", 1, 2, head=1), Chunk("NP", 3, 4, head=3)),
)
UNLIMITED: dict[str, Any] = {
    "search": "stack",
    "stack_size": 0,
    "threshold": 0.0,
    "options_per_span": 0,
}


def cases(default: int, slow: int) -> pytest.MarkDecorator:
    """Run a test on so many random cases by default, and on so many as ``slow``."""
    return pytest.mark.parametrize(
        "count", [default, pytest.param(slow, marks=pytest.mark.slow)], ids=["some", "thousands"]
    )


def random_links(rng: random.Random, src: int, tgt: int) -> Links:
    """Links of a pair: often none for a word, sometimes several, sometimes none at all."""
    density = rng.choice([0.0, 0.1, 0.25, 0.5])
    return [link for link in product(range(src), range(tgt)) if rng.random() < density]


def random_sentence(rng: random.Random, most: int = 12) -> Sentence:
    """Words of a small vocabulary with characters that names of features escape."""
    length = rng.randint(1, most)
    words = tuple(rng.choice(["a", "b", "c", "d|e", "f_g", "h%", "i"]) for _ in range(length))
    tags = tuple(rng.choice(["NOUN", "VERB", "X_1"]) for _ in range(length))
    chunks, at = [], 0
    while at < length:
        size = rng.randint(1, min(3, length - at))
        if rng.random() < 0.7:
            head = rng.choice([None, at + rng.randrange(size)])
            chunks.append(Chunk(rng.choice(["NP", "VP"]), at, at + size - 1, head))
        at += size
    return Sentence(words, tags, tuple(chunks))


def layers(sentence: Sentence) -> paper.Sentence:
    """A sentence as the paper's module takes it."""
    return {
        "w": sentence.words,
        "p": sentence.pos or (),
        "c": sentence.chunk_types(),
        "h": [sentence.words[head] for head in sentence.chunk_heads()],
        "chunk": sentence.chunk_starts(),
    }


def name(feature: paper.Feature) -> str:
    """The name of a feature in definitions b.3."""

    def text(value: Any) -> str:
        if isinstance(value, bool):
            return str(int(value))
        if isinstance(value, tuple):
            return f"{value[0]}|{'_'.join(map(text, value[1:]))}"
        return "".join({"%": "%25", "|": "%7C", "_": "%5F"}.get(c, c) for c in value)

    number, *values = feature
    return "|".join([f"{number:02d}", *map(text, values)]) if number else "**BIAS**"


@cache
def toy_corpus(pair: str, size: int) -> tuple[list[Sentence], list[Links]]:
    """Sentences of the toy world with tags, chunks and gold links."""
    sentences, links = [], []
    for item in toy.generate(pair, size, seed=7):
        places = [""] * len(item.src)
        chunks = chunks_from_tags(item.chunks, places, [False] * len(item.src))
        sentences.append(Sentence(item.src, item.pos, chunks))
        links.append(list(item.links))
    return sentences, links


# --- permutation, Table 2(a) ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "links", "order"),
    [
        (6, "1-3 2-1 3-2 5-5 6-4", [2, 3, 1, 4, 6, 5]),
        (7, "2-4 2-6 3-5 5-1 5-2", [5, 6, 7, 4, 1, 2, 3]),
        (3, "", [1, 2, 3]),
        (6, "1-5 2-6 3-3 4-1 5-2 6-4", [4, 5, 3, 6, 1, 2]),
    ],
)
def test_permutations_are_those_of_definitions_a(length: int, links: str, order: list[int]) -> None:
    pairs = [tuple(int(end) - 1 for end in link.split("-")) for link in links.split()]
    assert [k + 1 for k in paper.permutation(range(length), pairs)] == order  # type: ignore[arg-type]


@cases(300, 20_000)
def test_permutations_equal_the_fast_orders(count: int) -> None:
    rng = random.Random(1)
    for _ in range(count):
        length, start = rng.randint(0, 9), rng.randint(0, 5)
        links = random_links(rng, length, rng.randint(1, 7))
        links += links[: rng.randint(0, 2)]  # a link that is there twice
        expected = order_from_links(length, links)
        assert paper.permutation(range(length), links) == expected
        inside = range(start, start + length)
        assert paper.permutation(inside, links) == [start + k for k in expected]


@pytest.mark.parametrize("pair", ["de-en", "ar-en", "ja-en"])
def test_permutations_of_the_toy_corpora_are_their_gold_orders(pair: str) -> None:
    for item in toy.generate(pair, 200, seed=5):
        sigma = paper.permutation(range(len(item.src)), item.links)
        assert sigma == order_from_links(len(item.src), item.links)
        if {s for s, _ in item.links} == set(range(len(item.src))):
            assert sigma == list(item.order)


# --- training samples, Table 2(b) -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("delta", "steps"),
    [
        (2, "0→2{1} 2→3{4} 3→1{4,5} 1→4{} 4→6{5} 6→5{}"),
        (3, "0→2{1,3} 2→3{1,4,5} 3→1{4,5,6} 1→4{} 4→6{5} 6→5{}"),
        (10, "0→2{1,3,4,5,6} 2→3{1,4,5,6} 3→1{4,5,6} 1→4{5,6} 4→6{5} 6→5{}"),
    ],
)
def test_samples_are_those_of_definitions_b_2(delta: int, steps: str) -> None:
    sigma = [1, 2, 0, 3, 5, 4]
    samples = paper.training_samples(sigma, delta)
    shown = []
    for i, j in pairwise([-1, *sigma]):
        wrong = ",".join(str(u + 1) for at, u, outcome in samples if at == i and not outcome)
        assert (i, j, 1) in samples
        shown.append(f"{i + 1}→{j + 1}{{{wrong}}}")
    assert " ".join(shown) == steps


@cases(200, 10_000)
def test_samples_equal_the_fast_samples(count: int) -> None:
    rng = random.Random(2)
    for _ in range(count):
        sigma = rng.sample(range(14), 14)[: rng.randint(0, 14)]
        sigma = [sorted(sigma).index(k) for k in sigma]
        delta = rng.randint(1, 12)
        fast = waw.samples(sigma, window=delta, inclusive=False)
        slow = [(i + 1, j + 1, bool(r)) for i, j, r in paper.training_samples(sigma, delta)]
        assert sorted(slow) == sorted(fast)


def test_the_number_of_samples_of_a_monotone_sentence_is_10_j_minus_45() -> None:
    assert [len(paper.training_samples(range(length))) for length in (12, 31)] == [75, 265]


# --- features, Table 1 ----------------------------------------------------------------------------


def test_features_are_those_of_definitions_b_3() -> None:
    sentence = layers(EXAMPLE)
    expected = (
        "01|ywASl|tHrk 02|<s>|ywASl|tHrk 03|<s>|<s>|ywASl|tHrk 04|<s>|ywASl|tHrk|-h "
        "05|ywASl|sfyr|lbnAn|tHrk 06|F|sfyr|lbnAn|tHrk 06|F|lbnAn|lbnAn|tHrk "
        "07|F|sfyr_lbnAn|lbnAn|tHrk 08|V|N 09|<s>|V|N 10|<s>|<s>|V|N 11|<s>|V|N|PRP "
        "12|V|N|NP|N 13|<s>|V|N|NP|N|PRP 14|F|N|NP|N 14|F|NP|NP|N 15|F|N_NP|NP|N 16|ywASl|N "
        "17|V|tHrk 18|VP|NP 19|<s>|VP|NP|NP|NP|NP 20|ywASl|tHrk 21|0"
    )
    fired = [name(feature) for feature in paper.features(sentence, 0, 3, ALL)]
    assert len(fired) == 23
    assert " ".join(fired) == expected
    back = [name(feature) for feature in paper.features(sentence, 2, 0, ALL)]
    assert len(back) == 21
    assert {"05|lbnAn|tHrk|<s>|ywASl", "06|B|sfyr|<s>|ywASl", "15|B|N|<s>|V", "21|0"} <= set(back)
    start = [name(feature) for feature in paper.features(sentence, -1, 1, ALL)]
    assert len(start) == 21
    assert {"03|<s>|<s>|<s>|sfyr", "06|F|ywASl|ywASl|sfyr", "20|<s>|sfyr", "21|0"} <= set(start)
    beside = [name(feature) for feature in paper.features(sentence, 1, 2, ALL)]
    assert len(beside) == 17
    assert beside[-1] == "21|1"
    assert not {feature[:2] for feature in beside} & {"06", "07", "14", "15"}


def check_features(sentence: Sentence) -> int:
    """Compare all pairs of positions; return how many there are."""
    slow, length, pairs = layers(sentence), len(sentence), 0
    for i, j in product(range(-1, length), range(length)):
        if i != j:
            fired = [name(feature) for feature in paper.features(slow, i, j, ALL)]
            assert fired == waw.features(sentence, i + 1, j + 1)
            pairs += 1
    return pairs


@cases(40, 2_000)
def test_features_equal_the_fast_features(count: int) -> None:
    rng = random.Random(3)
    assert sum(check_features(random_sentence(rng)) for _ in range(count)) > 20 * count


@pytest.mark.parametrize("pair", ["de-en", "ar-en", "ja-en"])
def test_features_of_toy_sentences_equal_the_fast_features(pair: str) -> None:
    for sentence in toy_corpus(pair, 5)[0]:
        check_features(sentence)


def test_feature_subsets_are_those_of_table_3() -> None:
    for fast, subset in (("W", "W"), ("P", "P"), ("WP", "W,P"), ("WPC", "W,P,C")):
        corpus = waw.Corpus.from_sentences([EXAMPLE] * 2, [[(0, 3), (1, 0)]] * 2)
        model = waw.train(corpus, templates=fast, min_count=1, iterations=2)
        slow = paper.train(
            [(layers(EXAMPLE), [(0, 3), (1, 0)])] * 2, paper.TEMPLATE_SETS[subset], 18, 1
        )
        assert set(weights_of(model)) == {name(feature) for feature in slow}


# --- the classifier, Sect. 3 ----------------------------------------------------------------------


def weights_of(model: waw.WawModel) -> dict[str, float]:
    """The weights of a fast model by the names of their features, the bias included."""
    with TemporaryDirectory() as folder:
        model.write_text(Path(folder) / "text")
        lines = (Path(folder) / "text").read_text(encoding="utf-8").splitlines()[1:]
    pairs = (line.split("\t") for line in lines)
    return {feature: float(weight) for feature, weight in pairs}


def slow_weights(model: waw.WawModel, sentence: paper.Sentence) -> paper.Weights:
    """The weights of a fast model for the features of a sentence."""
    weights, length = weights_of(model), len(sentence["w"])
    every = {
        feature
        for i, j in product(range(-1, length), range(length))
        for feature in paper.features(sentence, i, j, ALL)
    }
    return {f: weights[name(f)] for f in {paper.BIAS, *every} if name(f) in weights}


def test_the_optimum_of_one_feature_is_that_of_definitions_b_4() -> None:
    h, y = np.ones((4, 1)), np.array([1.0, 1, 1, -1])
    value, gradient = paper.log_likelihood(np.array([0.5052400863197]), h, y)
    assert value == pytest.approx(-2.5212813128, abs=1e-10)
    assert gradient[0] == pytest.approx(0, abs=1e-12)
    assert paper.log_likelihood(np.zeros(1), h, y)[0] == pytest.approx(-4 * math.log(2))
    table = paper.log_probs({"w": ["x"]}, {(1, "<s>", "x"): 0.5052400863197}, [1])
    assert math.exp(table[-1, 0]) == pytest.approx(0.6236899784, abs=1e-10)


def design(
    corpus: Sequence[tuple[Sentence, Links]], columns: Sequence[str], delta: int
) -> tuple[Floats, Floats]:
    """The features of all samples, in columns of these names, and their outcomes."""
    rows, outcomes = [], []
    for sentence, links in corpus:
        sigma = paper.permutation(range(len(sentence)), links)
        for i, j, outcome in paper.training_samples(sigma, delta):
            fired = {name(f) for f in paper.features(layers(sentence), i, j, ALL)} | {"**BIAS**"}
            rows.append([float(column in fired) for column in columns])
            outcomes.append(2.0 * outcome - 1)
    return np.array(rows), np.array(outcomes)


def check_likelihood(corpus: Sequence[tuple[Sentence, Links]], seed: int, delta: int) -> None:
    """Compare log likelihood and gradient at random weights."""
    looks = {
        "templates": "WPC",
        "window": delta,
        "inclusive": False,
        "between_anchor": "j",
        "min_count": 2,
        "objective": "each",
        "coverage": False,
    }
    text = waw.Corpus.from_sentences(*zip(*corpus, strict=True))
    trainer = _core.WawTrainer(text._core, looks, room=(1 << 28, None), threads=1, progress=None)
    # Distinct weights tell which feature stands where.
    marks = np.arange(1.0, trainer.features + 2)
    names = weights_of(waw.WawModel(trainer.model(marks.tobytes(), prior=1.0)))
    columns = sorted(names, key=names.__getitem__)
    assert len(columns) == trainer.features + 1
    h, y = design(corpus, columns, delta)
    assert len(y) == trainer.samples
    for prior in (0.0, 1.0):
        weights = np.random.default_rng(seed).normal(size=len(columns))
        value, gradient = paper.log_likelihood(weights, h, y, prior)
        fast, slope = trainer.slope(weights.tobytes(), prior=prior, threads=1)
        assert value == pytest.approx(fast, rel=1e-5)
        np.testing.assert_allclose(gradient, np.asarray(slope), rtol=1e-4, atol=1e-4)


@cases(15, 1_000)
def test_likelihood_and_gradient_equal_the_fast_ones(count: int) -> None:
    rng = random.Random(4)
    for seed in range(count):
        corpus = []
        for _ in range(3):
            sentence = random_sentence(rng, 7)
            corpus.append((sentence, random_links(rng, len(sentence), 6)))
        check_likelihood(corpus, seed, rng.randint(1, 10))


def test_likelihood_and_gradient_of_toy_sentences_equal_the_fast_ones() -> None:
    check_likelihood(list(zip(*toy_corpus("de-en", 5), strict=True)), 1, 10)


@cases(12, 1_000)
def test_probabilities_equal_those_of_a_fast_model_with_the_same_weights(count: int) -> None:
    rng = random.Random(5)
    for _ in range(count):
        sentences = [random_sentence(rng, 8) for _ in range(3)]
        links = [random_links(rng, len(sentence), 6) for sentence in sentences]
        corpus = waw.Corpus.from_sentences(sentences, links)
        model = waw.train(corpus, min_count=1, iterations=2)
        sentence = layers(sentences[0])
        check_table(
            model, sentences[0], paper.log_probs(sentence, slow_weights(model, sentence), ALL)
        )


def check_table(
    model: waw.WawModel, sentence: Sentence, table: paper.LogProbs, tolerance: float = 1e-5
) -> None:
    """Compare P of all pairs of positions with the matrix of a fast model."""
    matrix = model.matrix(sentence)
    for (i, j), value in table.items():
        assert i == j or abs(math.exp(value) - matrix[i + 1, j]) < tolerance


def check_training(
    sentences: list[Sentence], links: list[Links], min_count: int, tolerance: float
) -> None:
    """Train both; compare the features that are kept, the weights and the probabilities."""
    corpus = waw.Corpus.from_sentences(sentences, links)
    options: dict[str, Any] = {"window": 10, "inclusive": False, "templates": "WPC"}
    model = waw.train(
        corpus, min_count=min_count, optimiser="lbfgs", iterations=500, tolerance=1e-13, **options
    )
    pairs = [(layers(sentence), of) for sentence, of in zip(sentences, links, strict=True)]
    weights = paper.train(pairs, ALL, 10, min_count)
    named = {name(feature): weight for feature, weight in weights.items()}
    assert model.summary is not None
    assert len(named) == model.summary.features + 1
    for feature, weight in weights_of(model).items():
        assert abs(named[feature] - weight) < tolerance
    for sentence, (of_layers, _) in zip(sentences[:3], pairs, strict=False):
        check_table(model, sentence, paper.log_probs(of_layers, weights, ALL), tolerance)


@cases(6, 1_000)
def test_training_finds_the_optimum_of_the_fast_optimizer(count: int) -> None:
    rng = random.Random(6)
    for _ in range(count):
        sentences = [random_sentence(rng, 7) for _ in range(4)]
        links = [random_links(rng, len(sentence), 6) for sentence in sentences]
        check_training(sentences, links, rng.randint(1, 4), 0.01)


def test_training_on_toy_sentences_finds_the_optimum_of_the_fast_optimizer() -> None:
    check_training(*toy_corpus("de-en", 20), 20, 0.02)


# --- the WaW score, Sect. 3.3 ---------------------------------------------------------------------


def test_the_score_is_independent_of_the_segmentation() -> None:
    """The worked number of definitions b.5."""
    words = range(1, 5)
    table = {
        (i - 1, j - 1): math.log(0.1 + 0.08 * ((3 * i + 5 * j) % 10))
        for i, j in product([0, *words], words)
    }
    links = [(0, 2), (1, 0), (2, 1), (3, 3)]
    for spans in (
        [(0, 2), (3, 3)],
        [(1, 2), (0, 0), (3, 3)],
        [(0, 3)],
        [(1, 1), (2, 2), (0, 0), (3, 3)],
    ):
        derivation = [
            TranslationOption(
                start, end, (), 0.0, tuple((s - start, t) for s, t in links if start <= s <= end)
            )
            for start, end in spans
        ]
        score = phrase_decoder.score_derivation(derivation, [(1.0, paper.WawFeature(table))], 4)
        assert score == pytest.approx(-5.9636937501626255, abs=1e-12)


class Problem:
    """A random sentence with phrase pairs and WaW scores, for both decoders."""

    def __init__(self, rng: random.Random, most: int) -> None:
        self.length = rng.randint(1, most)
        words = range(self.length)
        # Few distinct values make ties; no two have a ratio that is one of the thresholds.
        grid = rng.random() < 0.3
        self.matrix = np.array(
            [
                [
                    rng.choice([0.05, 0.2, 0.5, 0.9]) if grid else rng.uniform(0.02, 0.98)
                    for _ in words
                ]
                for _ in range(self.length + 1)
            ]
        )
        self.table = {
            (i, j): float(np.log(self.matrix[i + 1, j])) for i, j in product([-1, *words], words)
        }
        self.options = [
            option
            for start, end in product(words, words)
            if 0 <= end - start < 3
            for option in self.phrases(rng, start, end)
        ]
        self.weights = {"tm0": 1.0, "waw": rng.uniform(0, 0.5), "d": rng.uniform(0, 0.2)}
        self.features: phrase_decoder.Features = [
            (self.weights["waw"], paper.WawFeature(self.table)),
            (self.weights["d"], paper.EarlyDistortionCost()),
        ]

    @staticmethod
    def phrases(rng: random.Random, start: int, end: int) -> Iterator[TranslationOption]:
        """Up to two phrase pairs on a span; at least one on a single word."""
        least = int(start == end)
        for number in range(rng.randint(least, 2)):
            size = end - start + 1
            target = tuple(f"t{start}.{end}.{number}.{k}" for k in range(rng.randint(size, 3)))
            links = random_links(rng, size, len(target))
            if rng.random() < 0.5:  # one to one, often reversed
                links = list(zip(range(size), rng.sample(range(size), size), strict=True))
            score = math.log(rng.uniform(0.05, 0.95))
            yield TranslationOption(start, end, target, score, tuple(links))

    @property
    def source(self) -> str:
        """The words of the source sentence."""
        return " ".join(f"s{k}" for k in range(self.length))

    def decoder(self, folder: Path, space: str, **settings: Any) -> Decoder:
        """The fast decoder of the same problem, without any beam."""
        lines = [
            f"{' '.join(f's{k}' for k in option.positions())} ||| {' '.join(option.target)} ||| "
            f"{math.exp(option.score):.17g} 1 1 1 ||| "
            f"{' '.join(f'{s}-{t}' for s, t in option.alignment)} ||| 1 1 1\n"
            for option in self.options
        ]
        (folder / "text").write_text("".join(sorted(lines)), encoding="utf-8")
        return Decoder(
            import_moses(folder / "text", folder / "table"),
            [],
            features=[Given("waw", lambda _: self.matrix)],
            weights=self.weights,
            settings=Settings.from_dict({**UNLIMITED, "space": space, **settings}),
        )

    def derivation(self, rng: random.Random) -> Phrases:
        """A random complete derivation."""
        hyp, derivation = Hypothesis(), []
        while len(hyp.coverage) < self.length:
            option = rng.choice(phrase_decoder.admissible_options(hyp, self.options, None))
            derivation.append(option)
            hyp = Hypothesis(hyp.coverage | set(option.positions()), option, hyp)
        return derivation

    def value(self, derivation: Phrases, feature: phrase_decoder.PathFeature) -> float:
        """The value of one feature on a derivation."""
        score = phrase_decoder.score_derivation(derivation, [(1.0, feature)], self.length)
        return score - sum(option.score for option in derivation)


@cases(60, 3_000)
def test_values_of_random_derivations_equal_those_of_the_fast_decoder(count: int) -> None:
    """WaW score, early distortion cost and distance cost of the same phrases."""
    rng = random.Random(7)
    for _ in range(count):
        problem = Problem(rng, 7)
        with TemporaryDirectory() as folder:
            early = problem.decoder(Path(folder), "dl:-1", distortion="early")
            late = early.with_settings(distortion="distance")
            for _ in range(3):
                way = problem.derivation(rng)
                phrases = [(o.start, o.end + 1, " ".join(o.target)) for o in way]
                values = early.score(problem.source, phrases).features
                waw_score = problem.value(way, paper.WawFeature(problem.table))
                cost = problem.value(way, paper.EarlyDistortionCost())
                assert values["waw"] == pytest.approx(waw_score, rel=1e-5, abs=1e-5)
                assert values["d"] == pytest.approx(cost, abs=1e-9)
                assert late.score(problem.source, phrases).features["d"] == pytest.approx(cost)


# --- early reordering pruning, Sect. 4 ------------------------------------------------------------


@cases(300, 20_000)
def test_the_entry_word_is_the_aligned_word_with_the_smallest_mean_target_position(
    count: int,
) -> None:
    """The rule of definitions c; the searches below compare it with the fast decoder."""
    rng = random.Random(13)
    for _ in range(count):
        start, size = rng.randint(0, 5), rng.randint(1, 6)
        links = random_links(rng, size, 5)
        targets: dict[int, list[int]] = {}
        for source, target in links:
            targets.setdefault(source, []).append(target)
        means = [(sum(of) / len(of), source) for source, of in targets.items()]
        option = TranslationOption(start, start + size - 1, (), alignment=tuple(links))
        assert paper.entry_word(option) == start + min(means, default=(0, 0))[1]


@pytest.mark.parametrize(
    ("histogram", "zone", "expanded"),
    [
        (1, 2, [5, 6, 7]),
        (2, 2, [5, 6, 7, 9]),
        (3, 2, [5, 6, 7, 9]),
        (4, 2, [5, 6, 7, 9, 12]),
        (5, 2, [5, 6, 7, 9, 12, 15]),
        (1, 0, [5]),
        (2, 0, [5, 9]),
        (3, 0, [5, 6, 9]),
        (4, 0, [5, 6, 9, 12]),
        (5, 0, [5, 6, 9, 12, 15]),
    ],
)
def test_pruned_positions_are_those_of_definitions_c(
    histogram: int, zone: int, expanded: list[int]
) -> None:
    scores = {1: 0.01, 5: 0.30, 6: 0.20, 7: 0.02, 9: 0.25, 12: 0.06, 14: 0.028, 15: 0.05}
    table = {(3, k - 1): math.log(score) for k, score in scores.items()}
    options = [TranslationOption(k - 1, k - 1, ()) for k in scores]
    hyp = Hypothesis(frozenset({1, 2, 3}), TranslationOption(3, 3, ()))
    prune = paper.early_reordering_pruning(table, histogram, 0.1, zone)
    assert [option.start + 1 for option in prune(hyp, options)] == expanded


def random_space(rng: random.Random) -> tuple[int | None, int, float, int]:
    """Distortion limit, histogram, threshold and zone; None and 0 switch parts off."""
    limit, histogram = rng.choice([None, 1, 2, 3, 4, 5, 6, 18]), rng.choice([0, 1, 1, 2, 3])
    return limit, histogram, rng.choice([0.0, 0.15, 0.3]), rng.choice([-1, 0, 0, 1, 1, 2])


def space_name(limit: int | None, histogram: int, threshold: float, zone: int) -> str:
    """The name of a pruned space in the fast decoder."""
    dl = -1 if limit is None else limit
    return f"dl:{dl}+waw(top={histogram},threshold={threshold},zone={zone})"


@cases(100, 5_000)
def test_pruning_of_single_words_equals_the_fast_pruning(count: int) -> None:
    """Along random walks, word by word."""
    rng = random.Random(8)
    for _ in range(count):
        length = rng.randint(1, 12)
        options = [TranslationOption(k, k, ()) for k in range(length)]
        limit, histogram, threshold, zone = random_space(rng)
        grid = [0.05, 0.2, 0.5, 0.9]
        hyp = Hypothesis()
        while len(hyp.coverage) < length:
            scores = [math.log(rng.choice(grid)) for _ in options]
            table = {(hyp.end, k): score for k, score in enumerate(scores)}
            admissible = phrase_decoder.admissible_options(hyp, options, limit)
            prune = paper.early_reordering_pruning(table, histogram or None, threshold, zone)
            kept = prune(hyp, admissible)
            shown = _core.waw_options(
                space_name(limit, histogram, threshold, zone),
                [k in hyp.coverage for k in range(length)],
                hyp.end + 1,
                scores,
            )
            assert [o.start for o in kept] == [k for k, mark in enumerate(shown) if mark == "o"]
            assert [o.start for o in admissible] == [
                k for k, mark in enumerate(shown) if mark in "ox"
            ]
            option = rng.choice(kept)
            hyp = Hypothesis(hyp.coverage | {option.start}, option, hyp)


@cases(60, 3_000)
def test_pruned_search_finds_the_score_of_the_fast_search(count: int) -> None:
    """Exact search with phrases and their alignments; pruning changes some results."""
    rng = random.Random(9)
    changed = 0
    for _ in range(count):
        problem, shape = Problem(rng, 6), random_space(rng)
        limit, histogram, threshold, zone = shape
        prune = paper.early_reordering_pruning(problem.table, histogram or None, threshold, zone)
        common: dict[str, Any] = {"distortion_limit": limit}
        arguments = (problem.length, problem.options, problem.features)
        best = phrase_decoder.decode(*arguments, **common, expansion_filter=prune)
        changed += best.score < phrase_decoder.decode(*arguments, **common).score - 1e-6
        with TemporaryDirectory() as folder:
            decoder = problem.decoder(Path(folder), space_name(*shape))
            (fast,) = decoder.translate([problem.source], threads=1)
        assert fast.score == pytest.approx(best.score, abs=2e-4)
        assert problem.weights["waw"] * fast.features["waw"] + problem.weights["d"] * fast.features[
            "d"
        ] + fast.features["tm0"] == pytest.approx(best.score, abs=2e-4)
    assert changed > count / 20


def expand_all(
    problem: Problem, hyp: Hypothesis, limit: int | None, prune: Any
) -> Iterator[Phrases]:
    """Every complete derivation that pruning leaves."""
    if len(hyp.coverage) == problem.length:
        yield hyp.derivation()
        return
    for option in prune(hyp, phrase_decoder.admissible_options(hyp, problem.options, limit)):
        new = Hypothesis(hyp.coverage | set(option.positions()), option, hyp)
        yield from expand_all(problem, new, limit, prune)


@cases(100, 2_000)
def test_pruning_leaves_the_derivations_of_the_fast_decoder(count: int) -> None:
    """A list that is long enough holds all derivations of the pruned space."""
    rng = random.Random(12)
    for _ in range(count):
        problem, shape = Problem(rng, 5), random_space(rng)
        limit, histogram, threshold, zone = shape
        prune = paper.early_reordering_pruning(problem.table, histogram or None, threshold, zone)
        slow = [
            tuple((o.start, o.end + 1, " ".join(o.target)) for o in way)
            for way in expand_all(problem, Hypothesis(), limit, prune)
        ]
        with TemporaryDirectory() as folder:
            decoder = problem.decoder(Path(folder), space_name(*shape))
            (best,) = decoder.translate([problem.source], nbest=len(slow) + 100, threads=1)
        fast = [tuple((*p.src, p.target) for p in one.phrases) for one in best.nbest]
        assert sorted(slow) == sorted(fast)


def explore(options: Phrases, limit: int, length: int, prune: Any) -> tuple[int, int]:
    """Follow all expansions; return their number and the number of dead ends."""
    seen, waiting, expansions, dead = set(), [Hypothesis()], 0, 0
    while waiting:
        hyp = waiting.pop()
        if (hyp.coverage, hyp.end) in seen or len(hyp.coverage) == length:
            continue
        seen.add((hyp.coverage, hyp.end))
        kept = prune(hyp, phrase_decoder.admissible_options(hyp, options, limit))
        expansions, dead = expansions + len(kept), dead + (not kept)
        waiting += [Hypothesis(hyp.coverage | set(o.positions()), o, hyp) for o in kept]
    return expansions, dead


@cases(2, 40)
def test_pruning_never_leads_into_a_dead_end(count: int) -> None:
    """The exploration of definitions c: nine words, phrases of up to three, limit 5."""
    rng = np.random.default_rng(1)
    options = [TranslationOption(s, t, ()) for s in range(9) for t in range(s, min(s + 3, 9))]
    free, _ = explore(options, 5, 9, lambda _, admissible: admissible)
    assert 40 * free == 42_160
    for _, zone in product(range(count), (-1, 0, 2)):
        scores = np.log(rng.uniform(size=(10, 9)))
        table = {(i, j): scores[i + 1, j] for i in range(-1, 9) for j in range(9)}
        expansions, dead = explore(
            options, 5, 9, paper.early_reordering_pruning(table, 2, 0.1, zone)
        )
        assert dead == 0
        assert expansions < free


def logs_of(model: waw.WawModel, sentence: Sentence | list[str]) -> paper.LogProbs:
    """Return ln P of all pairs by a fast model; no jump leads from a word to itself."""
    matrix = np.log(np.maximum(model.matrix(sentence), 1e-30))
    return {(i - 1, j): float(value) for (i, j), value in np.ndenumerate(matrix)}


def test_pruning_on_toy_sentences_keeps_the_words_that_the_fast_pruning_keeps() -> None:
    """``waw.reach`` walks along the gold orders, each word a phrase of its own."""
    sentences, links = toy_corpus("de-en", 40)
    corpus = waw.Corpus.from_sentences(sentences, links)
    model = waw.train(corpus, min_count=3, iterations=3)
    (found,) = waw.reach(model, corpus, ["dl:18+waw(top=3,threshold=0.1,zone=1)"])
    steps = kept = candidates = 0
    for sentence, of_sentence in zip(sentences, links, strict=True):
        prune = paper.early_reordering_pruning(logs_of(model, sentence), 3, 0.1, 1)
        options, hyp = [TranslationOption(k, k, ()) for k in range(len(sentence))], Hypothesis()
        for j in paper.permutation(range(len(sentence)), of_sentence):
            choice = prune(hyp, phrase_decoder.admissible_options(hyp, options, 18))
            steps, candidates = steps + 1, candidates + len(choice)
            kept += options[j] in choice
            hyp = Hypothesis(hyp.coverage | {j}, options[j], hyp)
    assert (found.steps, found.kept, found.candidates) == (steps, kept, candidates)
    assert kept < steps


def toy_options(src: Sequence[str], table: PhraseTable) -> Phrases:
    """The two best phrase pairs of each span; a word without any stands for itself."""
    options: Phrases = []
    for start, end in product(range(len(src)), repeat=2):
        entries = table.options(" ".join(src[start : end + 1])) if end >= start else ()
        scored = [
            (0.3 * entry.scores.phi_fe + 0.7 * entry.scores.phi_ef, entry.tgt, entry.links)
            for entry in entries
        ]
        if start == end and not scored:
            scored = [(-100.0, src[start], ((0, 0),))]
        for score, target, links in sorted(scored, key=lambda entry: -entry[0])[:2]:
            options.append(TranslationOption(start, end, tuple(target.split()), score, links))
    return options


def test_toy_sentences_get_the_score_of_the_fast_decoder(tmp_path: Path) -> None:
    """Phrases extracted with gold links, a trained model, the paper's pruning."""
    pairs = [pair for pair in toy.generate("ar-en", 400, seed=3) if len(pair.src) <= 8][:100]
    bitext = Bitext.from_pairs([(" ".join(pair.src), " ".join(pair.tgt)) for pair in pairs])
    extract(bitext, [list(pair.links) for pair in pairs], tmp_path / "table", max_length=2)
    corpus = waw.Corpus.from_sentences([pair.src for pair in pairs], [pair.links for pair in pairs])
    model = waw.train(corpus, min_count=3)
    table = PhraseTable.open(tmp_path / "table")
    weights = {"tm0": 0.3, "tm2": 0.7, "d": 0.1, "waw": 0.5}
    space = "dl:18+waw(top=3,threshold=0.1,zone=2)"
    settings = Settings.from_dict({**UNLIMITED, "space": space, "options_per_span": 2})
    decoder = Decoder(table, [], features=[model.feature()], weights=weights, settings=settings)
    for pair in pairs[:8]:
        logs = logs_of(model, list(pair.src))
        best = phrase_decoder.decode(
            len(pair.src),
            toy_options(pair.src, table),
            [(0.5, paper.WawFeature(logs)), (0.1, paper.EarlyDistortionCost())],
            distortion_limit=18,
            expansion_filter=paper.early_reordering_pruning(logs, 3, 0.1, 2),
        )
        (fast,) = decoder.translate([" ".join(pair.src)], threads=1)
        assert fast.score == pytest.approx(best.score, abs=1e-3)


# --- intrinsic evaluation, Sect. 5.1 --------------------------------------------------------------


def logs_along(model: waw.WawModel, sentence: Sentence, sigma: list[int]) -> paper.LogProbs:
    """Return ln P of the jumps at each step along ``sigma``, without rounding, by a fast model."""
    rows = model.along(sentence, sigma)
    starts = [-1, *sigma[:-1]]
    return {
        (starts[t], j): float(value)
        for (t, j), value in np.ndenumerate(rows)
        if not math.isnan(value)
    }


def check_evaluation(sentences: list[Sentence], links: list[Links], delta: int) -> int:
    """Compare the tables of a fast model and of distortion; return the number of long jumps."""
    corpus = waw.Corpus.from_sentences(sentences, links)
    options: dict[str, Any] = {"window": delta, "inclusive": False}
    model = waw.train(corpus, min_count=2, iterations=1, **options)
    found = waw.evaluate(model, corpus, limits=(3, 10, 18))
    sigmas = [
        paper.permutation(range(len(sentence)), of)
        for sentence, of in zip(sentences, links, strict=True)
    ]
    tables = [logs_along(model, *both) for both in zip(sentences, sigmas, strict=True)]
    plain = [paper.distortion_table(len(sentence)) for sentence in sentences]
    classes = found.classification
    accuracy = paper.classification_accuracy(zip(tables, sigmas, strict=True), delta)
    assert list(accuracy) == pytest.approx(
        [100 * share for share in (classes.precision, classes.recall, classes.f1)], nan_ok=True
    )
    for fast, slow in ((found.ranking, tables), (found.distance, plain)):
        for row in fast:
            shares = (row.dl_err, row.top1, row.top3, row.top3_long_back, row.top3_long_forward)
            ranking = paper.ranking_accuracy(zip(slow, sigmas, strict=True), row.limit)
            assert list(ranking.values()) == pytest.approx(
                [100 * share for share in shares], nan_ok=True
            )
    return found.ranking[-1].long_back + found.ranking[-1].long_forward


def one_to_one(rng: random.Random, length: int) -> Links:
    """A link for each word; blocks of words change places."""
    order = list(range(length))
    for _ in range(rng.randint(0, 3)):
        a, b, c = sorted(rng.choices(range(length + 1), k=3))
        order[a:c] = order[b:c] + order[a:b]
    return [(source, target) for target, source in enumerate(order)]


@cases(30, 2_000)
def test_accuracies_equal_those_of_the_fast_evaluation(count: int) -> None:
    rng = random.Random(14)
    long = 0
    for _ in range(count):
        sentences = [random_sentence(rng, 26) for _ in range(3)]
        links = [
            random_links(rng, len(sentence), 9)
            if rng.random() < 0.2
            else one_to_one(rng, len(sentence))
            for sentence in sentences
        ]
        long += check_evaluation(sentences, links, rng.randint(1, 18))
    assert long > count


@pytest.mark.parametrize("pair", ["de-en", "ar-en", "ja-en"])
@pytest.mark.parametrize(
    "size", [40, pytest.param(1_000, marks=pytest.mark.slow)], ids=["some", "thousand"]
)
def test_accuracies_on_toy_sentences_equal_those_of_the_fast_evaluation(
    pair: str, size: int
) -> None:
    assert check_evaluation(*toy_corpus(pair, size), 10) > 0 or pair == "ar-en"


def test_a_model_of_the_paper_has_the_accuracies_of_the_fast_model() -> None:
    """Tables 3 and 4 of a trained model, from sentences to percentages, by both implementations."""
    sentences, links = toy_corpus("de-en", 40)
    train, test = slice(20), slice(20, 40)
    model = waw.train(
        waw.Corpus.from_sentences(sentences[train], links[train]),
        templates="P",
        window=10,
        inclusive=False,
        min_count=5,
        optimiser="lbfgs",
        iterations=500,
        tolerance=1e-13,
    )
    corpus = waw.Corpus.from_sentences(sentences[test], links[test])
    found = waw.evaluate(model, corpus, limits=[18])
    templates = paper.TEMPLATE_SETS["P"]
    pairs = [(layers(sentence), of) for sentence, of in zip(sentences, links, strict=True)]
    weights = paper.train(pairs[train], templates, 10, 5)
    test_set = [
        (paper.log_probs(of, weights, templates), paper.permutation(range(len(of["w"])), ends))
        for of, ends in pairs[test]
    ]
    classes, (row,) = found.classification, found.ranking
    expected = [100 * share for share in (classes.precision, classes.recall, classes.f1)]
    assert list(paper.classification_accuracy(test_set)) == pytest.approx(expected, abs=1)
    accuracy = paper.ranking_accuracy(test_set, 18)
    assert accuracy["Top-1"] == pytest.approx(100 * row.top1, abs=1)
    assert accuracy["Top-3"] == pytest.approx(100 * row.top3, abs=1)


# --- early distortion cost, Sect. 5.2 -------------------------------------------------------------


@pytest.mark.parametrize(
    ("spans", "length", "late", "early"),
    [
        ([(3, 4), (1, 2), (0, 0), (5, 5)], 6, [3, 4, 3, 4, 0], [10, 4, 0, 0]),
        ([(1, 3), (0, 0), (4, 5)], 6, [1, 4, 3, 0], [8, 0, 0]),
        ([(0, 0), (4, 5), (1, 1), (2, 3)], 6, [0, 3, 5, 0, 2], [0, 10, 0, 0]),
        ([(2, 3), (0, 1), (4, 4)], 5, [2, 4, 2, 0], [8, 0, 0]),
    ],
)
def test_costs_are_those_of_definitions_d_3(
    spans: Links, length: int, late: list[int], early: list[int]
) -> None:
    standard, moore = DistanceCost(), paper.EarlyDistortionCost()
    hyp, steps = Hypothesis(), []
    for start, end in spans:
        option = TranslationOption(start, end, ())
        steps.append((standard.extend(hyp, None, option)[0], moore.extend(hyp, None, option)[0]))
        hyp = Hypothesis(hyp.coverage | set(option.positions()), option, hyp)
    assert [-cost for cost, _ in steps] + [-standard.finish(hyp, None, length)] == late
    assert [-cost for _, cost in steps] == early


def derivations(length: int, hyp: Hypothesis) -> Iterator[Phrases]:
    """Every way to cut and order the words that are not covered."""
    if len(hyp.coverage) == length:
        yield hyp.derivation()
    for start in range(length):
        for end in range(start, length):
            if end in hyp.coverage:
                break
            option = TranslationOption(start, end, ())
            yield from derivations(
                length, Hypothesis(hyp.coverage | set(option.positions()), option, hyp)
            )


@pytest.mark.parametrize(
    ("longest", "ways"), [(5, 325), pytest.param(7, 13_699, marks=pytest.mark.slow)]
)
def test_early_cost_sums_to_the_distance_with_the_final_jump(longest: int, ways: int) -> None:
    without = 0
    for length in range(1, longest + 1):
        for way in derivations(length, Hypothesis()):
            early, late, short = (
                phrase_decoder.score_derivation(way, [(1.0, feature)], length)
                for feature in (
                    paper.EarlyDistortionCost(),
                    DistanceCost(),
                    DistanceCost(final_jump=False),
                )
            )
            assert early == late
            ways, without = ways - 1, without + (early == short)
    assert ways == 0
    assert longest < 7 or without == 2_372


# --- KRS and KRS-V, Sect. 5.3 ---------------------------------------------------------------------


def test_reordering_scores_are_those_of_definitions_j() -> None:
    straight = list(range(6))
    assert paper.krs(straight, straight) == 1
    assert paper.krs(straight, straight[::-1]) == 0
    order = [2, 0, 1, 3, 5, 4]
    assert paper.krs(straight, order) == pytest.approx(0.5527864045)
    assert paper.krs(straight, order, lengths=(6, 8)) == pytest.approx(0.3960887669)
    assert paper.krs(straight, order, lengths=(0, 8)) == 0
    verb_first = [3, 0, 1, 2, 4, 5]
    assert paper.krs(straight, verb_first) == pytest.approx(0.5527864045)
    assert paper.krs(straight, verb_first, [1, 0, 0, 0, 0, 0]) == pytest.approx(0.2254033308)
    verbs = [1, 0, 0, 0, 1, 0]
    assert paper.krs(straight, verb_first, verbs) == pytest.approx(0.4522774425)
    assert paper.krs(straight, verb_first, verbs, literal=True) == pytest.approx(0.5527864045)
    assert paper.krs(straight, straight[::-1], [1] * 6, literal=True) == pytest.approx(1 - 2**0.5)
    assert paper.krs(straight, verb_first, [0] * 6, (6, 8), literal=True) == pytest.approx(
        math.exp(1 - 8 / 6)
    )


@cases(300, 20_000)
def test_ranks_and_reordering_scores_equal_the_fast_ones(count: int) -> None:
    rng = random.Random(10)
    for _ in range(count):
        length = rng.randint(0, 9)
        pi, sigma = (paper.alignment_ranks(length, links) for links in two_alignments(rng, length))
        assert paper.krs(pi, sigma) == pytest.approx(fast_metrics.krs(pi, sigma))
        weights = [rng.choice([0, 0, 1, 2.5]) for _ in range(length)]
        if length:
            for norm in ("weights", "literal"):
                value = paper.krs(pi, sigma, weights, literal=norm == "literal")
                fast = fast_metrics.krs_v(pi, sigma, weights, norm)
                assert value == pytest.approx(fast, nan_ok=True)


def two_alignments(rng: random.Random, length: int) -> list[Links]:
    """Two random alignments, whose ranks are compared with the fast ones."""
    alignments = [random_links(rng, length, 6) for _ in range(2)]
    for links in alignments:
        fast = rank_of(order_from_links(length, links, "attach"))
        assert paper.alignment_ranks(length, links) == fast
    return alignments


def check_metric(
    sentences: Sequence[tuple[int, Links, Links, tuple[int, int], list[float]]],
) -> None:
    """Compare with the metrics ``krs`` and ``krs-v`` of a text."""
    lengths, outputs, refs, sizes, weights = zip(*sentences, strict=True)
    gold = Gold(
        refs=[[" ".join("r" * ref) for _, ref in sizes]],
        src=[" ".join("s" * length) for length in lengths],
        ref_links=[refs],
        weights=weights,
    )
    output = Output("slow", [" ".join("h" * hyp) for hyp, _ in sizes], outputs)
    for metric, norm in (("krs", ""), ("krs-v", "weights"), ("krs-v", "literal")):
        values = [
            paper.krs(
                paper.alignment_ranks(length, hyp),
                paper.alignment_ranks(length, ref),
                of_words if norm else (),
                size,
                literal=norm == "literal",
            )
            for length, hyp, ref, size, of_words in sentences
        ]
        counted = [value for value in values if not math.isnan(value)]
        options = Options(norm=norm or "weights")
        score = make_metric(metric, gold, options).corpus_score(output)
        assert score == pytest.approx(100 * sum(counted) / len(counted), abs=1e-9)


@cases(40, 3_000)
def test_texts_have_the_scores_of_the_fast_metrics(count: int) -> None:
    rng = random.Random(11)
    for _ in range(count):
        sentences = []
        for _ in range(3):
            length, hyp, ref = rng.randint(1, 9), rng.randint(1, 7), rng.randint(1, 7)
            links = random_links(rng, length, hyp), random_links(rng, length, ref)
            weights = [float(rng.random() < 0.3) for _ in range(length)]
            sentences.append((length, *links, (hyp, ref), weights))
        sentences[0][4][0] = 1.0
        check_metric(sentences)


@pytest.mark.parametrize("pair", ["de-en", "ar-en", "ja-en"])
def test_monotone_translations_of_toy_sentences_have_the_scores_of_the_fast_metrics(
    pair: str,
) -> None:
    check_metric(
        [
            (
                len(item.src),
                [(k, k) for k in range(len(item.src))],
                list(item.links),
                (len(item.src), len(item.tgt)),
                [float(tag == "VERB") for tag in item.pos],
            )
            for item in toy.generate(pair, 60, seed=2)
        ]
    )
