"""The shared decoder and n-gram model of the papers: exact, and equal to the fast ones."""

import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from math import exp, factorial, inf, log
from pathlib import Path
from typing import Any

import pytest

from wayword import lm
from wayword.align import Links
from wayword.corpus import Bitext, toy
from wayword.decode import Decoder, Settings
from wayword.extract import PhraseTable, extract, import_moses
from wayword.papers.ngram_model import NgramModel
from wayword.papers.phrase_decoder import (
    DistanceCost,
    Hypothesis,
    LanguageModelFeature,
    PathFeature,
    TranslationOption,
    admissible_options,
    decode,
    distance,
    future_costs,
    score_derivation,
)

Derivation = list[TranslationOption]
Features = list[tuple[float, PathFeature]]
SOURCE, TARGET = "abcdef", "uvwxyz"


def levels(default: int, slow: int) -> pytest.MarkDecorator:
    """Run a check with some cases by default and with many under ``-m slow``."""
    return pytest.mark.parametrize("cases", [default, pytest.param(slow, marks=pytest.mark.slow)])


# ---- brute force ----


class PairCost(PathFeature):
    """Random values for pairs of phrases: they depend on the first word of the last phrase.

    The decoder itself tells hypotheses apart by the end of the last phrase, not by its start.
    """

    initial_state = -1

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def cost(self, last: int, start: int) -> float:
        """Return the value of the phrase that starts at ``start`` after one from ``last``."""
        return random.Random(f"{self.seed} {last} {start}").uniform(-1, 1)

    def extend(self, hyp: Hypothesis, state: Any, option: TranslationOption) -> tuple[float, Any]:  # noqa: ARG002
        """Look up the two starts."""
        return self.cost(state, option.start), option.start

    def finish(self, hyp: Hypothesis, state: Any, length: int) -> float:  # noqa: ARG002
        """Look up the last start and the end of the sentence."""
        return self.cost(state, length)


def random_options(rng: random.Random, length: int) -> Derivation:
    """Return one or two options for each word and options for some longer spans."""
    options = []
    for start in range(length):
        for end in range(start, min(start + 3, length)):
            for _ in range(rng.choice((1, 2)) if start == end else rng.choice((0, 0, 1))):
                target = tuple(rng.choice(TARGET) for _ in range(rng.randint(1, 3)))
                options.append(TranslationOption(start, end, target, rng.uniform(-2, 0)))
    return options


def derivations(
    options: Sequence[TranslationOption], length: int, limit: int | None
) -> Iterator[Derivation]:
    """Yield every derivation under the limit of definitions d.1, with positions from 1."""

    def is_within(chosen: Derivation, covered: set[int], option: TranslationOption) -> bool:
        e = chosen[-1].end + 1 if chosen else 0
        g = min(set(range(1, length + 2)) - covered)
        s, t = option.start + 1, option.end + 1
        skip_in, skip_back = abs(s - e - 1), abs(g - t - 1)
        return limit is None or (skip_in <= limit and (s == g or skip_back <= limit))

    def extend(chosen: Derivation, covered: set[int]) -> Iterator[Derivation]:
        if len(covered) == length:
            yield chosen
        for option in options:
            words = {position + 1 for position in option.positions()}
            if not covered & words and is_within(chosen, covered, option):
                yield from extend([*chosen, option], covered | words)

    return extend([], set())


class SearchCase:
    """Random options, features and limit for a sentence of up to five words."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.length = self.rng.randint(1, 5)
        self.options = random_options(self.rng, self.length)
        self.limit = self.rng.choice((0, 1, 2, 3, 4, None))
        order = self.rng.randint(1, 3)
        text = [self.rng.choices(TARGET, k=self.rng.randint(1, 6)) for _ in range(4)]
        self.model = NgramModel.estimate(text, order)
        self.weights = [self.rng.uniform(0, 1) for _ in range(3)]
        self.cost, self.final_jump = PairCost(seed), self.rng.random() < 0.5
        path_features = (
            LanguageModelFeature(self.model),
            DistanceCost(self.final_jump),
            self.cost,
        )
        self.features: Features = list(zip(self.weights, path_features, strict=True))

    def decode(self, **settings: Any) -> Hypothesis:
        """Decode the sentence under its limit."""
        return decode(
            self.length, self.options, self.features, distortion_limit=self.limit, **settings
        )

    def slow_score(self, derivation: Derivation) -> float:
        """Score a complete derivation as a whole: table, language model, distance, pairs."""
        words = [word for option in derivation for word in option.target]
        sentence = ["<s>", *words, "</s>"]
        steps = range(1, len(sentence))
        fluency = sum(self.model.log_prob(sentence[:at], sentence[at]) for at in steps)
        spans = [(-1, -1), *((option.start, option.end) for option in derivation)]
        if self.final_jump:
            spans.append((self.length, self.length))
        jumps = sum(abs(start - end - 1) for (_, end), (start, _) in pairwise(spans))
        starts = [-1, *(option.start for option in derivation), self.length]
        pairs = sum(self.cost.cost(a, b) for a, b in pairwise(starts))
        values = (fluency, -jumps, pairs)
        path = sum(weight * value for weight, value in zip(self.weights, values, strict=True))
        return path + sum(option.score for option in derivation)


@levels(60, 3000)
def test_without_beams_the_search_finds_the_best_of_all_derivations(cases: int) -> None:
    for seed in range(cases):
        case = SearchCase(seed)
        every = list(derivations(case.options, case.length, case.limit))
        best = case.decode()
        assert best.score == pytest.approx(max(map(case.slow_score, every))), seed
        assert best.score == pytest.approx(case.slow_score(best.derivation())), seed
        assert best.derivation() in every
        assert best.target() == [word for option in best.derivation() for word in option.target]


@levels(60, 3000)
def test_the_score_of_a_derivation_adds_up_its_features(cases: int) -> None:
    for seed in range(cases):
        case = SearchCase(seed)
        every = list(derivations(case.options, case.length, case.limit))
        derivation = case.rng.choice(every)
        score = score_derivation(derivation, case.features, case.length)
        assert score == pytest.approx(case.slow_score(derivation)), seed


@levels(60, 3000)
def test_beams_and_filters_never_find_more_and_wide_ones_find_the_same(cases: int) -> None:
    for seed in range(cases):
        case = SearchCase(seed)
        best = case.decode()
        assert case.decode(stack_size=10**6).score == pytest.approx(best.score), seed
        assert case.decode(stack_size=2).score <= best.score + 1e-9, seed
        assert case.decode(expansion_filter=lambda _, every: every).score == best.score
        first = case.decode(expansion_filter=take_first_gap)
        assert [o.start for o in first.derivation()] == sorted(o.start for o in first.derivation())
        monotone = decode(case.length, case.options, case.features, distortion_limit=0)
        assert first.score == pytest.approx(monotone.score), seed


def take_first_gap(hyp: Hypothesis, options: Derivation) -> Derivation:
    return [option for option in options if option.start == hyp.first_gap()]


@levels(60, 2000)
def test_the_future_cost_of_a_span_is_that_of_its_best_segmentation(cases: int) -> None:
    for seed in range(cases):
        case = SearchCase(seed)

        def isolated(option: TranslationOption, case: SearchCase = case) -> float:
            history: list[str] = []
            total = 0.0
            for word in option.target:
                total += case.model.log_prob(history, word)
                history.append(word)
            return option.score + case.weights[0] * total

        def best(u: int, v: int, case: SearchCase = case) -> float:
            """Try every first option of the span."""
            scores = [
                isolated(o, case) + (best(o.end + 1, v, case) if o.end < v else 0.0)
                for o in case.options
                if o.start == u and o.end <= v
            ]
            return max(scores, default=-inf)

        for (u, v), cost in future_costs(case.length, case.options, case.features).items():
            assert cost == pytest.approx(best(u, v)), seed


def test_the_future_costs_of_definitions_g3() -> None:
    scores = {(0, 0): -1.0, (1, 1): -2.0, (2, 2): -1.5, (0, 1): -2.5, (1, 2): -4.0}
    options = [TranslationOption(*span, ("x",), score) for span, score in scores.items()]
    costs = future_costs(3, options, [])
    assert (costs[0, 1], costs[1, 2], costs[0, 2]) == (-2.5, -3.5, -4.0)


#: The example of definitions g.4: options (words, target, score) and bigrams.
HOUSE_OPTIONS = [
    TranslationOption(0, 0, ("the",), -0.4),
    TranslationOption(0, 0, ("that",), -1.2),
    TranslationOption(1, 1, ("house",), -0.2),
    TranslationOption(2, 2, ("is",), -0.1),
    TranslationOption(3, 3, ("small",), -0.3),
    TranslationOption(3, 3, ("little",), -1.0),
    TranslationOption(0, 1, ("the", "house"), -0.5),
]
BIGRAMS = """
<s> the -0.3, <s> that -0.7, <s> is -0.9, the house -0.2, that house -0.8, house is -0.1,
is small -0.2, is the -0.5, is little -0.6, small </s> -0.1, little </s> -0.2, house small -0.9
"""


def house_features() -> Features:
    entries = [entry.split() for entry in BIGRAMS.split(",")]
    ngrams: dict[tuple[str, ...], tuple[float, float]] = {
        (first, second): (float(score), 0.0) for first, second, score in entries
    }
    words = {word for ngram in ngrams for word in ngram}
    ngrams |= {(word,): (-2.0, 0.0) for word in words}
    return [
        (1.0, LanguageModelFeature(NgramModel(ngrams, 2))),
        (0.3, DistanceCost()),
    ]


def test_the_example_of_definitions_g4() -> None:
    # The weight of wp, minus the number of words, is -0.5.
    options = [
        TranslationOption(o.start, o.end, o.target, o.score + 0.5 * len(o.target))
        for o in HOUSE_OPTIONS
    ]
    assert [len(list(derivations(options, 4, limit))) for limit in (0, 2, 6)] == [6, 24, 108]
    every = list(derivations(options, 4, 6))
    scored = sorted(((score_derivation(d, house_features(), 4), d) for d in every), key=by_score)
    shown = [(round(s, 6), " | ".join(" ".join(o.target) for o in d)) for s, d in scored[:3]]
    assert shown == [
        (0.2, "the house | is | small"),
        (0.1, "the | house | is | small"),
        (-1.0, "the house | is | little"),
    ]
    best = decode(4, options, house_features(), distortion_limit=6)
    assert (round(best.score, 6), len(best.derivation())) == (0.2, 3)


def by_score(scored: tuple[float, Derivation]) -> float:
    return -scored[0]


def test_a_sentence_that_no_derivation_covers_is_refused() -> None:
    with pytest.raises(ValueError, match="no derivation covers all 2 words"):
        decode(2, [TranslationOption(0, 0, ("x",))], [])


# ---- the distortion limit ----

#: The number of orders of 1 to 8 single words by limit (definitions d.1).
ORDERS = {
    0: [1, 1, 1, 1, 1, 1, 1, 1],
    1: [1, 1, 1, 1, 1, 1, 1, 1],
    2: [1, 2, 3, 5, 8, 13, 21, 34],
    3: [1, 2, 6, 12, 25, 53, 112, 239],
    4: [1, 2, 6, 24, 60, 150, 375, 989],
    5: [1, 2, 6, 24, 120, 360, 1050, 3024],
    6: [1, 2, 6, 24, 120, 720, 2520, 8400],
    None: [factorial(n) for n in range(1, 9)],
}


@pytest.mark.parametrize("limit", ORDERS)
def test_orders_of_single_words_are_those_of_definitions_d1_without_dead_ends(
    limit: int | None,
) -> None:
    for length, expected in enumerate(ORDERS[limit], start=1):
        options = [TranslationOption(j, j, ("x",)) for j in range(length)]

        @cache
        def count(
            covered: frozenset[int], end: int, options: Derivation = options
        ) -> int:  # the number of orders from here on
            if len(covered) == len(options):
                return 1
            last = options[end] if end >= 0 else None
            hyp = Hypothesis(covered, last)
            following = admissible_options(hyp, options, limit)
            assert following
            return sum(count(covered | {o.start}, o.end) for o in following)

        assert count(frozenset(), -1) == expected


def test_distances_of_definitions_0() -> None:
    pairs = [(0, 1), (4, 5), (4, 9), (4, 1)]  # from 1, with 0 before the first word
    assert [distance(i - 1, j - 1) for i, j in pairs] == [0, 0, 4, 4]


# ---- n-gram models ----


def random_text(rng: random.Random, lines: int = 5) -> list[list[str]]:
    return [rng.choices(TARGET, k=rng.randint(1, 7)) for _ in range(lines)]


@levels(60, 2000)
def test_an_estimated_model_sums_to_one_after_every_history(cases: int) -> None:
    for seed in range(cases):
        rng = random.Random(seed)
        text, order = random_text(rng), rng.randint(1, 4)
        model = NgramModel.estimate(text, order)
        vocabulary = {word for line in text for word in line} | {"</s>", "<unk>"}
        for _ in range(10):
            history = rng.choices([*TARGET, "unseen"], k=rng.randint(0, 4))
            if rng.random() < 0.5:
                history.insert(0, "<s>")
            total = sum(exp(model.log_prob(history, word)) for word in vocabulary)
            assert total == pytest.approx(1.0), (seed, history)


def arpa_of(model: NgramModel) -> str:
    """Write a model in ARPA format; ``<s>``, which is never predicted, gets -99."""
    lines = ["\\data\\"]
    by_order = [
        {ngram: row for ngram, row in model.ngrams.items() if len(ngram) == n}
        for n in range(1, model.order + 1)
    ]
    lines += [f"ngram {n}={len(ngrams)}" for n, ngrams in enumerate(by_order, start=1)]
    for n, ngrams in enumerate(by_order, start=1):
        lines += ["", f"\\{n}-grams:"]
        for ngram, (log_prob, backoff) in ngrams.items():
            fields = [repr(max(log_prob / log(10), -99.0)), " ".join(ngram)]
            lines.append(
                "\t".join([*fields, repr(backoff / log(10))][: 3 if n < model.order else 2])
            )
    return "\n".join([*lines, "", "\\end\\", ""])


def load(text: str, folder: Path) -> lm.LanguageModel:
    path = folder / "model.arpa"
    path.write_text(text, encoding="utf-8")
    return lm.LanguageModel.load(path)


@levels(40, 2000)
def test_a_model_read_from_arpa_scores_as_the_fast_one(cases: int) -> None:
    """Models of both estimators; sentences with words that the models lack."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed in range(cases):
            rng = random.Random(seed)
            text, order = random_text(rng), rng.randint(1, 4)
            if rng.random() < 0.5:
                arpa = arpa_of(NgramModel.estimate(text, order))
            else:
                lm.train_arpa([" ".join(line) for line in text], folder / "kn.arpa", order=order)
                arpa = (folder / "kn.arpa").read_text(encoding="utf-8")
            fast, model = load(arpa, folder), NgramModel.from_arpa(arpa)
            assert model.order == fast.order == order
            for _ in range(5):
                words = rng.choices([*TARGET, "unseen"], k=rng.randint(0, 6))
                sentence = ["<s>", *words, "</s>"]
                scores = [
                    model.log_prob(sentence[:at], sentence[at]) for at in range(1, len(sentence))
                ]
                expected = [score.score for score in fast.word_scores(words)]
                assert scores == pytest.approx(expected, abs=1e-4), seed


@levels(40, 1000)
def test_the_language_model_feature_scores_a_sentence_however_it_is_cut(cases: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        for seed in range(cases):
            rng = random.Random(seed)
            arpa = arpa_of(NgramModel.estimate(random_text(rng), rng.randint(1, 4)))
            fast = load(arpa, Path(name))
            feature = LanguageModelFeature(NgramModel.from_arpa(arpa))
            words = rng.choices(TARGET, k=rng.randint(1, 8))
            cuts = sorted({0, len(words), *rng.choices(range(len(words)), k=2)})
            phrases = [tuple(words[a:b]) for a, b in pairwise(cuts)]
            derivation = [TranslationOption(j, j, phrase) for j, phrase in enumerate(phrases)]
            score = score_derivation(derivation, [(1.0, feature)], len(derivation))
            assert score == pytest.approx(fast.score(words), abs=1e-4), seed


# ---- the fast decoder ----

TM_NAMES = ("tm0", "tm1", "tm2", "tm3")


def open_search(limit: int | None, **settings: Any) -> Settings:
    """Return settings of the stack search without beams."""
    space = f"dl:{-1 if limit is None else limit}"
    return Settings(
        search="stack",
        space=space,
        stack_size=0,
        threshold=0.0,
        options_per_span=0,
        **settings,
    )


def options_of(table: PhraseTable, words: Sequence[str], weights: dict[str, float]) -> Derivation:
    """Return the options of a sentence with the weighted scores of the fast table.

    A word without an entry of its own passes through for a penalty of 100 (definitions g.2).
    """
    options = []
    for start in range(len(words)):
        for end in range(start, len(words)):
            for option in table.options(" ".join(words[start : end + 1])):
                target = tuple(option.tgt.split())
                score = weights["pp"] - weights["wp"] * len(target)
                score += sum(
                    weights[name] * s for name, s in zip(TM_NAMES, option.scores, strict=True)
                )
                options.append(TranslationOption(start, end, target, score, option.links))
        if not table.options(words[start]):
            score = weights["pp"] - weights["wp"] - 100
            options.append(TranslationOption(start, start, (words[start],), score))
    return options


def random_weights(rng: random.Random) -> dict[str, float]:
    names = ("lm", "d", *TM_NAMES)
    weights = {name: rng.uniform(0.05, 1) for name in names}
    return {**weights, "wp": rng.uniform(-1, 1), "pp": rng.uniform(-1, 1)}


def random_table(rng: random.Random, words: Sequence[str], folder: Path) -> PhraseTable:
    """Write a random text table of the phrases of a sentence; every word has an option."""
    rows = set()
    for start in range(len(words)):
        for end in range(start, min(start + 3, len(words))):
            for _ in range(rng.choice((1, 2)) if start == end else rng.choice((0, 1))):
                target = rng.choices(TARGET, k=rng.randint(1, 3))
                rows.add((" ".join(words[start : end + 1]), " ".join(target)))
    lines = [
        f"{f} ||| {e} ||| {' '.join(str(rng.uniform(0.01, 1)) for _ in range(4))}"
        for f, e in sorted(rows)
    ]
    path = folder / "table.txt"
    path.write_text("".join(f"{line}\n" for line in sorted(lines)), encoding="utf-8")
    return import_moses(path, folder / "table")


def check_decoders(
    table: PhraseTable,
    words: Sequence[str],
    arpa: tuple[lm.LanguageModel, NgramModel],
    weights: dict[str, float],
    *,
    limit: int | None,
    compat: str = "none",
    distortion: str = "distance",
) -> None:
    """Compare score, words and feature values of the best derivation."""
    settings = open_search(limit, compat=compat, distortion=distortion)
    decoder = Decoder(table, [arpa[0]], weights=weights, settings=settings)
    [fast] = decoder.translate([" ".join(words)])
    fluency, cost = LanguageModelFeature(arpa[1]), DistanceCost(final_jump=compat == "none")
    features: Features = [(weights["lm"], fluency), (weights["d"], cost)]
    options = options_of(table, words, weights)
    best = decode(len(words), options, features, distortion_limit=limit)
    assert best.score == pytest.approx(fast.score, abs=2e-4)
    assert best.target() == list(fast.tokens)
    derivation = [
        TranslationOption(phrase.src[0], phrase.src[1] - 1, tuple(phrase.target.split()))
        for phrase in fast.phrases
    ]
    scores = {(o.start, o.end, o.target): o.score for o in options}
    scored = [replace(o, score=scores[o.start, o.end, o.target]) for o in derivation]
    assert score_derivation(scored, features, len(words)) == pytest.approx(best.score, abs=2e-4)
    for name, feature in (("lm", fluency), ("d", cost)):
        value = score_derivation(derivation, [(1.0, feature)], len(words))
        assert fast.features[name] == pytest.approx(value, abs=1e-4)


@levels(60, 2000)
def test_score_and_translation_equal_those_of_the_fast_decoder(cases: int) -> None:
    """Random tables, n-gram models, weights and limits; sentences of one to five words."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed in range(cases):
            rng = random.Random(seed)
            words = SOURCE[: rng.randint(1, 5)]
            table = random_table(rng, words, folder)
            text = arpa_of(NgramModel.estimate(random_text(rng), rng.randint(1, 3)))
            models = load(text, folder), NgramModel.from_arpa(text)
            limit = rng.choice((0, 1, 2, 3, 4, None))
            compat, distortion = rng.choice(
                (("none", "distance"), ("none", "early"), ("moses", "distance"))
            )
            weights = random_weights(rng)
            check_decoders(
                table, words, models, weights, limit=limit, compat=compat, distortion=distortion
            )


@pytest.mark.parametrize("pair", toy.pairs())
def test_toy_sentences_are_translated_as_by_the_fast_decoder(pair: str, tmp_path: Path) -> None:
    items = list(toy.generate(pair, 60, seed=5))
    bitext = Bitext.from_pairs([(" ".join(item.src), " ".join(item.tgt)) for item in items])
    links = Links.from_lists([list(item.links) for item in items])
    extract(bitext, links, tmp_path / "table", max_length=3, top=2)
    table = PhraseTable.open(tmp_path / "table")
    lm.train_arpa([" ".join(item.tgt) for item in items], tmp_path / "lm.arpa", order=3)
    text = (tmp_path / "lm.arpa").read_text(encoding="utf-8")
    models = load(text, tmp_path), NgramModel.from_arpa(text)
    weights = {"lm": 0.5, "d": 0.11, "wp": -0.23, "pp": -0.17}
    weights |= dict(zip(TM_NAMES, (0.21, 0.13, 0.29, 0.17), strict=True))
    sentences = [item.src for item in items if len(item.src) <= 8 and is_known(table, item.src)]
    assert len(sentences) >= 3
    for words in sentences[:5]:
        check_decoders(table, words, models, weights, limit=3)


def is_known(table: PhraseTable, words: Sequence[str]) -> bool:
    """Return whether every word is in some phrase of the table."""
    spans = [(a, b) for a in range(len(words)) for b in range(a + 1, len(words) + 1)]
    known = [range(a, b) for a, b in spans if table.options(" ".join(words[a:b]))]
    return len({position for span in known for position in span}) == len(words)


@pytest.mark.parametrize("has_unknown", [True, False])
def test_unknown_words_of_an_arpa_file_score_as_in_the_fast_model(
    has_unknown: bool, tmp_path: Path
) -> None:
    unigrams = ["-1\t<s>\t-0.3", "-0.5\ta\t-0.1", "-0.7\t</s>", "-1\t<unk>\t-0.2"]
    bigrams = ["-0.2\ta </s>", "-0.05\t<unk> a"]
    grams = [unigrams, bigrams] if has_unknown else [unigrams[:-1], bigrams[:-1]]
    counts = [f"ngram {n}={len(rows)}" for n, rows in enumerate(grams, 1)]
    sections = [line for n, rows in enumerate(grams, 1) for line in ("", f"\\{n}-grams:", *rows)]
    arpa = "\n".join(["\\data\\", *counts, *sections, "", "\\end\\", ""])
    model, words = NgramModel.from_arpa(arpa), ["<s>", "zzz", "a", "</s>"]
    scores = [model.log_prob(words[:at], words[at]) for at in range(1, len(words))]
    expected = [score.score for score in load(arpa, tmp_path).word_scores(words[1:-1])]
    assert scores == pytest.approx(expected, abs=1e-4)
