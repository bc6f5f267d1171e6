"""Galley and Manning (2008) in plain Python against the fast implementation."""

import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise, permutations
from math import exp, log, prod
from pathlib import Path

import pytest

from wayword import _core
from wayword.align import Links
from wayword.corpus import Bitext, toy
from wayword.decode import Decoder, Settings
from wayword.extract import DIRECTIONS, MODELS, PhraseTable, Summary, extract
from wayword.papers.galley_manning_2008 import (
    MSD,
    MSLR,
    START,
    OrientationFeature,
    SentencePair,
    count_orientations,
    estimate,
    extract_blocks,
    is_consistent,
    log_probability,
    neighbors,
    next_orientation,
    orientation,
    shift_reduce,
    span_orientation,
)
from wayword.papers.phrase_decoder import (
    DistanceCost,
    PathFeature,
    TranslationOption,
    decode,
    score_derivation,
)

Span = tuple[int, int]
Corpus = list[SentencePair]
#: J = I = 6, the example of definitions e.5
EXAMPLE = SentencePair("abcdef", "uvwxyz", [(0, 0), (3, 1), (4, 2), (1, 3), (2, 4), (5, 5)])
HOUSE = SentencePair(
    ("das", "haus", "ist", "ja", "klein"),
    ("the", "house", "is", "small"),
    [(0, 0), (1, 1), (2, 2), (4, 3)],
)


def levels(default: int, slow: int) -> pytest.MarkDecorator:
    """Run a check with some cases by default and with many under ``-m slow``."""
    return pytest.mark.parametrize("cases", [default, pytest.param(slow, marks=pytest.mark.slow)])


def random_pair(rng: random.Random, longest: int = 6, sources: str = "abc") -> SentencePair:
    f = [rng.choice(sources) for _ in range(rng.randint(1, longest))]
    e = [rng.choice("xyz") for _ in range(rng.randint(1, longest))]
    count = rng.randint(0, 2 * longest)
    links = {(rng.randrange(len(f)), rng.randrange(len(e))) for _ in range(count)}
    return SentencePair(f, e, sorted(links))


def fast_input(corpus: Corpus) -> tuple[Bitext, Links]:
    bitext = Bitext.from_pairs([(" ".join(pair.f), " ".join(pair.e)) for pair in corpus])
    return bitext, Links.from_lists([list(pair.alignment) for pair in corpus])


@contextmanager
def fast_table(corpus: Corpus, max_length: int = 7) -> Iterator[tuple[Summary, PhraseTable]]:
    """Extract with the fast implementation, all three models."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        summary = extract(*fast_input(corpus), path, max_length=max_length, models=MODELS)
        yield summary, PhraseTable.open(path)


def check_table(corpus: Corpus, max_length: int) -> None:
    """Compare the pairs, their counts and all orientation probabilities; and Table 1."""
    with fast_table(corpus, max_length) as (summary, table):
        options = {
            (tuple(phrase.split()), tuple(option.tgt.split())): option
            for phrase in table
            for option in table[phrase]
        }
        for model in MODELS:
            for direction in DIRECTIONS:
                counts = count_orientations(corpus, model, direction, max_length)
                assert set(counts) == set(options)
                for pair, row in counts.items():
                    option = options[pair]
                    assert option.counts is not None
                    assert option.counts.pair == row.total()
                    for name, classes in (("mslr", MSLR), ("msd", MSD)):
                        scores = option.orientation(model, direction, name)
                        expected = {o: log(p) for o, p in estimate(row, classes).items()}
                        assert scores == pytest.approx(expected, abs=1e-5)
                total: Counter[str] = sum(counts.values(), Counter())
                assert summary.orientations[model][direction] == tuple(total[o] for o in MSLR)
                if total:
                    shares = estimate(total, smoothing=0.0)
                    assert summary.shares(model, direction) == pytest.approx(shares)


@levels(30, 2000)
def test_phrase_pairs_counts_and_probabilities_equal_those_of_the_fast_table(cases: int) -> None:
    for seed in range(cases):
        rng = random.Random(seed)
        corpus = [random_pair(rng) for _ in range(rng.randint(1, 4))]
        check_table(corpus, rng.randint(1, 7))


@levels(200, 10_000)
def test_orientation_counts_of_a_sentence_pair_equal_those_of_the_core(cases: int) -> None:
    for seed in range(cases):
        rng = random.Random(seed)
        pair, max_length = random_pair(rng, 7), rng.randint(1, 7)
        bitext, links = fast_input([pair])
        rows = _core.orientation_counts(
            bitext._core,
            links._core,
            max_length=max_length,
            strictness="strict",
            threads=1,
            progress=None,
        )
        names = [(model, direction) for model in MODELS for direction in DIRECTIONS]
        for (model, direction), row in zip(names, rows, strict=True):
            known = neighbors(pair, model, max_length)
            blocks = extract_blocks(pair, max_length)
            counts = Counter(orientation(block, known, direction) for block in blocks)
            assert row == [counts[o] for o in MSLR], (seed, model, direction)


@levels(40, 1000)
def test_every_block_of_a_sentence_of_distinct_words_has_the_class_of_the_fast_table(
    cases: int,
) -> None:
    """Each phrase pair occurs once, so the likeliest class is the class of its block."""
    for seed in range(cases):
        rng = random.Random(seed)
        pair = random_pair(rng)
        f, e = "abcdef"[: len(pair.f)], "uvwxyz"[: len(pair.e)]
        pair, max_length = SentencePair(f, e, pair.alignment), rng.randint(1, 6)
        with fast_table([pair], max_length) as (summary, table):
            blocks = extract_blocks(pair, max_length)
            assert summary.pairs == len(blocks)
            for s, t, u, v in blocks:
                [option] = [
                    option
                    for option in table[" ".join(f[u : v + 1])]
                    if option.tgt == " ".join(e[s : t + 1])
                ]
                for model in MODELS:
                    known = neighbors(pair, model, max_length)
                    for direction in DIRECTIONS:
                        scores = option.orientation(model, direction)
                        assert scores is not None
                        likeliest = max(scores, key=lambda o: scores[o])
                        assert orientation((s, t, u, v), known, direction) == likeliest


@levels(40, 1000)
def test_smoothing_is_that_of_the_fast_table(cases: int) -> None:
    for seed in range(cases):
        rng = random.Random(seed)
        pair, smoothing = random_pair(rng), rng.uniform(0.01, 3)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table"
            extract(*fast_input([pair]), path, smoothing=smoothing)
            table = PhraseTable.open(path)
            for (f, e), row in count_orientations([pair], "hierarchical", "next").items():
                [option] = [o for o in table[" ".join(f)] if o.tgt == " ".join(e)]
                expected = {o: log(p) for o, p in estimate(row, MSLR, smoothing).items()}
                scores = option.orientation("hierarchical", "next")
                assert scores == pytest.approx(expected, abs=1e-5)


@levels(200, 5000)
def test_a_consistent_block_maps_its_linked_words_onto_each_other(cases: int) -> None:
    """Och and Ney's other wording: the links of either span are the same, and there is one."""
    for seed in range(cases):
        rng = random.Random(seed)
        pair = random_pair(rng)
        s, u = rng.randrange(len(pair.e)), rng.randrange(len(pair.f))
        t, v = rng.randrange(s, len(pair.e)), rng.randrange(u, len(pair.f))
        of_target = {link for link in pair.alignment if link[1] in range(s, t + 1)}
        of_source = {link for link in pair.alignment if link[0] in range(u, v + 1)}
        expected = of_target == of_source != set()
        assert is_consistent((s, t, u, v), pair.alignment) == expected


@pytest.mark.parametrize("name", toy.pairs())
def test_tables_of_toy_sentences_equal_those_of_the_fast_implementation(name: str) -> None:
    sentences = [item for item in toy.generate(name, 60, seed=3) if len(item.src) <= 9][:12]
    assert len(sentences) >= 8
    check_table([SentencePair(item.src, item.tgt, item.links) for item in sentences], 7)


def merge(o: str) -> str:
    return o[0]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("word", "M/M/D D/DR/M M/M/D D/DL/M M/M/D D/DR/M"),
        ("phrase", "M/M/D D/DR/M M/M/D D/DL/M M/M/D D/DR/M"),
        ("hierarchical", "M/M/M D/DR/M M/M/D D/DL/M M/M/D M/M/M"),
    ],
)
def test_the_table_of_definitions_e5(model: str, expected: str) -> None:
    known = neighbors(EXAMPLE, model, max_length=1)
    blocks = [(i, i, j, j) for j, i in EXAMPLE.alignment]
    prev = [orientation(block, known) for block in blocks]
    following = [orientation(block, known, "next") for block in blocks]
    cells = zip(map(merge, prev), prev, map(merge, following), strict=True)
    assert " ".join("/".join(cell) for cell in cells) == expected


def test_the_wide_block_and_the_block_counts_of_definitions_e5() -> None:
    classes = [orientation((3, 4, 1, 2), neighbors(EXAMPLE, model, 1)) for model in MODELS]
    assert [merge(o) for o in classes] == ["D", "D", "S"]
    assert [len(extract_blocks(EXAMPLE, n)) for n in (1, 2, 7)] == [6, 8, 12]


def test_the_swaps_of_figure_2() -> None:
    """(a): a swap in all three models; (b): not word-based; (c): hierarchical alone."""
    neighbor_of_one_word = SentencePair("ab", "xy", [(1, 0), (0, 1)])
    neighbor_of_two_words = SentencePair("abc", "xyz", [(1, 0), (2, 1), (0, 2)])
    for pair, block, max_length, expected in (
        (neighbor_of_one_word, (1, 1, 0, 0), 2, [True, True, True]),
        (neighbor_of_two_words, (2, 2, 0, 0), 2, [False, True, True]),
        (neighbor_of_two_words, (2, 2, 0, 0), 1, [False, False, True]),
    ):
        classes = [orientation(block, neighbors(pair, model, max_length)) for model in MODELS]
        assert [o == "S" for o in classes] == expected


def test_phrases_of_the_small_house() -> None:
    assert [len(extract_blocks(HOUSE, n)) for n in (1, 2, 3, 7)] == [4, 8, 11, 14]
    phrases = {" ".join(HOUSE.f[u : v + 1]) for _, _, u, v in extract_blocks(HOUSE)}
    assert "ja" not in phrases
    assert {"ist ja", "ja klein"} <= phrases


def test_the_estimates_of_definitions_e4() -> None:
    counts = {"M": 2, "DL": 3, "DR": 2}
    assert [f"{p:.6f}" for p in estimate(counts).values()] == ["0.294118", "0.058824", "0.647059"]
    split = [f"{p:.6f}" for p in estimate(counts, MSLR).values()]
    assert split == ["0.277778", "0.055556", "0.388889", "0.277778"]


def run_stack(
    spans: Sequence[Span], binary: bool = False
) -> tuple[list[str], list[tuple[Span, ...]]]:
    """Return the class of each phrase and the stack after it, from an empty stack."""
    stack: tuple[Span, ...] = ()
    classes, stacks = [], []
    for span in spans:
        classes.append(span_orientation(stack[-1] if stack else START, span))
        stack = shift_reduce(stack, span, binary)
        stacks.append(stack)
    return classes, stacks


def test_the_stacks_of_definitions_e6() -> None:
    classes, stacks = run_stack([(2, 2), (3, 3), (0, 1), (4, 4)])
    assert "".join(map(merge, classes)) == "DMSM"
    assert stacks == [((2, 2),), ((2, 3),), ((0, 3),), ((0, 4),)]
    classes, stacks = run_stack([(0, 0), (3, 4), (1, 2), (5, 5)])
    assert "".join(map(merge, classes)) == "MDSM"
    assert stacks == [((0, 0),), ((0, 0), (3, 4)), ((0, 4),), ((0, 5),)]
    winding = [(1, 1), (3, 3), (0, 0), (2, 2), (4, 4)]
    assert "".join(map(merge, run_stack(winding)[0])) == "DDDDM"
    assert "".join(map(merge, run_stack(winding, binary=True)[0])) == "DDDDD"
    spans = [START, (2, 2), (3, 3), (0, 1), (4, 4)]
    assert "".join(merge(span_orientation(a, b)) for a, b in pairwise(spans)) == "DMDD"


def is_itg(order: Sequence[int]) -> bool:
    """Return whether binary reduction of the words ends in one block (Wu, 1997)."""
    for cut in range(1, len(order)):
        left, right = order[:cut], order[cut:]
        if (max(left) < min(right) or max(right) < min(left)) and is_itg(left) and is_itg(right):
            return True
    return len(order) == 1


def permutation_pair(order: Sequence[int]) -> SentencePair:
    """Return a sentence pair of one-to-one links whose target has the source words in order."""
    words = [str(j) for j in order]
    return SentencePair(sorted(words), words, [(j, i) for i, j in enumerate(order)])


def test_the_stack_gives_the_orientations_of_training_on_all_873_permutations() -> None:
    count, differs = 0, 0
    for length in range(1, 7):
        for order in permutations(range(length)):
            known = neighbors(permutation_pair(order), "hierarchical")
            trained = [orientation((i, i, j, j), known) for i, j in enumerate(order)]
            spans = [(j, j) for j in order]
            assert run_stack(spans)[0] == trained
            # The block before the sentence, at the bottom of the stack, changes no class.
            stack: tuple[Span, ...] = (START,)
            for span, o in zip(spans, trained, strict=True):
                assert span_orientation(stack[-1], span) == o
                stack = shift_reduce(stack, span)
            is_different = run_stack(spans, binary=True)[0] != trained
            assert not (is_different and is_itg(order))
            count, differs = count + 1, differs + is_different
    assert (count, differs) == (873, 68)


def test_next_while_decoding_is_discontinuous_only_when_training_says_so() -> None:
    for length in range(1, 7):
        for order in permutations(range(length)):
            known = neighbors(permutation_pair(order), "hierarchical")
            for i, (last, j) in enumerate(pairwise([*order, length])):
                trained = orientation((i, i, last, last), known, "next")
                found = next_orientation((last, last), (j, j), order[: i + 1], "hierarchical")
                assert found == trained or merge(found) != "D"


def test_the_example_of_definitions_e7() -> None:
    hier = [next_orientation((2, 2), (at, at), {2, 4}, "hierarchical") for at in (6, 3, 0)]
    assert hier == ["DR", "M", "S"]
    phrase = [next_orientation((2, 2), (at, at), {2, 4}, "phrase") for at in (0, 1, 3, 5)]
    assert phrase == ["DL", "S", "M", "DR"]


NAMES = {"word": "word", "phrase": "phrase", "hierarchical": "hier"}
SETTINGS = Settings(
    search="stack",
    space="dl:-1",
    stack_size=0,
    threshold=0.0,
    options_per_span=0,
    distortion="distance",
)


class DecodingCase:
    """A random table, its orientation probabilities, and a sentence whose words are all known."""

    def __init__(self, seed: int, longest: int, max_length: int) -> None:
        self.rng = random.Random(seed)
        words = "abcdefgh"[:longest]
        self.corpus = [SentencePair(word, word.upper(), [(0, 0)]) for word in words]
        for _ in range(3):
            order = self.rng.sample(range(longest), longest)
            links = [(j, i) for i, j in enumerate(order) if self.rng.random() < 0.8]
            e = [words[j].upper() for j in order]
            self.corpus.append(SentencePair(words, e, links))
        self.f = words[: self.rng.randint(1, longest)]
        self.model, self.classes = self.rng.choice(MODELS), self.rng.choice((MSD, MSLR))
        self.tables = {
            direction: {
                pair: estimate(row, self.classes)
                for pair, row in count_orientations(
                    self.corpus, self.model, direction, max_length
                ).items()
            }
            for direction in DIRECTIONS
        }
        self.weights = {
            (direction, o): self.rng.uniform(0, 1) for direction in DIRECTIONS for o in self.classes
        }

    def features(self, binary: bool = False) -> dict[tuple[str, str], OrientationFeature]:
        """Return one feature by direction and class."""
        return {
            (direction, o): OrientationFeature(
                self.tables[direction], self.f, direction, self.model, o, binary
            )
            for direction, o in self.weights
        }

    def options(self, table: PhraseTable, weight: float = 0.0) -> list[TranslationOption]:
        """Return the options of the sentence, with the weighted sum of the table scores."""
        options = []
        for a in range(len(self.f)):
            for b in range(a, len(self.f)):
                for option in table.options(" ".join(self.f[a : b + 1])):
                    score = weight * sum(option.scores)
                    options.append(TranslationOption(a, b, tuple(option.tgt.split()), score))
        return options

    def decoder(self, table: PhraseTable, settings: Settings = SETTINGS) -> Decoder:
        """Return the fast decoder with the same weights."""
        classes = "msd" if self.classes == MSD else "mslr"
        name = f"{NAMES[self.model]}-{classes}-bidirectional"
        weights = {f"lr.{way}.{o.lower()}": weight for (way, o), weight in self.weights.items()}
        return Decoder(table, [], orientation=name, weights=weights, settings=settings)


def random_derivation(
    rng: random.Random, options: Sequence[TranslationOption], length: int
) -> list[TranslationOption]:
    """Choose options that cover the sentence from left to right, then shuffle them."""
    derivation: list[TranslationOption] = []
    while (at := derivation[-1].end + 1 if derivation else 0) < length:
        derivation.append(rng.choice([option for option in options if option.start == at]))
    rng.shuffle(derivation)
    return derivation


def phrases_of(derivation: Sequence[TranslationOption]) -> list[tuple[int, int, str]]:
    """Return the derivation as ``Decoder.score`` takes it: half-open spans and target text."""
    return [(option.start, option.end + 1, " ".join(option.target)) for option in derivation]


@levels(20, 600)
def test_features_of_random_derivations_equal_those_of_the_decoder(cases: int) -> None:
    """Twenty derivations a case.

    The fast stack and ``next`` test are not public; the values of the decoder show their classes.
    Binary reduction is visible in Moses' mode, for ``prev``.
    """
    for seed in range(cases):
        case = DecodingCase(seed, longest=8, max_length=2)
        with fast_table(case.corpus, 2) as (_, table):
            options, decoder = case.options(table), case.decoder(table)
            moses = case.decoder(table, replace(SETTINGS, compat="moses"))
        length, line = len(case.f), " ".join(case.f)
        for _ in range(20):
            derivation = random_derivation(case.rng, options, length)
            values = decoder.score(line, phrases_of(derivation)).features
            binary = moses.score(line, phrases_of(derivation)).features
            for (way, o), feature in case.features().items():
                value = score_derivation(derivation, [(1.0, feature)], length)
                assert values[f"lr.{way}.{o.lower()}"] == pytest.approx(value, abs=1e-4)
            for (way, o), feature in case.features(binary=True).items():
                value = score_derivation(derivation, [(1.0, feature)], length)
                if way == "prev":
                    assert binary[f"lr.prev.{o.lower()}"] == pytest.approx(value, abs=1e-4)
            for way in DIRECTIONS:
                whole = OrientationFeature(case.tables[way], case.f, way, case.model)
                parts = sum(values[f"lr.{way}.{o.lower()}"] for o in case.classes)
                assert log_probability(derivation, whole) == pytest.approx(parts, abs=1e-4)


@levels(20, 1000)
def test_the_best_derivation_has_the_score_and_words_of_the_fast_decoder(cases: int) -> None:
    for seed in range(cases):
        case = DecodingCase(seed, longest=5, max_length=2)
        limit = case.rng.choice((2, 3, 4, None))
        space = f"dl:{-1 if limit is None else limit}"
        tm, d = case.rng.uniform(0, 1), case.rng.uniform(0, 0.3)
        with fast_table(case.corpus, 2) as (_, table):
            options = case.options(table, tm)
            plain = case.decoder(table, replace(SETTINGS, space=space))
            weights = {"d": d, "wp": 0.0, "pp": 0.0} | {f"tm{k}": tm for k in range(4)}
            [fast] = plain.with_weights(weights).translate([" ".join(case.f)])
        orientations = case.features()
        features: list[tuple[float, PathFeature]] = [(d, DistanceCost())]
        features += [(case.weights[name], orientations[name]) for name in orientations]
        best = decode(len(case.f), options, features, distortion_limit=limit)
        assert best.score == pytest.approx(fast.score, abs=1e-4), seed
        assert " ".join(best.target()) == fast.text, seed


@levels(10, 300)
def test_the_state_keeps_all_that_the_features_need(cases: int) -> None:
    """Search with recombination finds the best of all derivations."""
    for seed in range(cases):
        case = DecodingCase(seed, longest=4, max_length=2)
        with fast_table(case.corpus, 2) as (_, table):
            options = case.options(table)
        features = [(case.weights[name], f) for name, f in case.features().items()]
        every = derivations(options, len(case.f))
        scores = [score_derivation(derivation, features, len(case.f)) for derivation in every]
        best = decode(len(case.f), options, features)
        assert best.score == pytest.approx(max(scores))


def derivations(
    options: Sequence[TranslationOption], length: int
) -> Iterator[list[TranslationOption]]:
    """Yield every way to cover the sentence, without a limit."""

    def extend(
        chosen: list[TranslationOption], covered: frozenset[int]
    ) -> Iterator[list[TranslationOption]]:
        if len(covered) == length:
            yield chosen
        for option in options:
            if covered.isdisjoint(option.positions()):
                yield from extend([*chosen, option], covered | set(option.positions()))

    return extend([], frozenset())


def test_equation_3_multiplies_over_the_phrases_of_a_toy_sentence() -> None:
    """The gold order of a sentence, word by word, with probabilities from its corpus."""
    items = [item for item in toy.generate("de-en", 60, seed=3) if len(item.src) <= 8]
    corpus = [SentencePair(item.src, item.tgt, item.links) for item in items]
    counts = count_orientations(corpus, "hierarchical")
    table = {pair: estimate(row) for pair, row in counts.items()}
    for item in items:
        target = {(f,): e for (f, *more), e in counts if not more}
        derivation = [
            TranslationOption(j, j, target.get((item.src[j],), ("?",))) for j in item.order
        ]
        classes = run_stack([(j, j) for j in item.order])[0]
        rows = [table.get(((item.src[o.start],), o.target)) for o in derivation]
        product = prod(
            row[merge(o)] for row, o in zip(rows, classes, strict=True) if row is not None
        )
        found = exp(log_probability(derivation, OrientationFeature(table, item.src)))
        assert found == pytest.approx(product)
