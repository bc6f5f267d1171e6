# ruff: noqa: E741, N806
"""The linear ordering problem in plain Python against ``wayword.reorder.lop`` and the decoder."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, islice, pairwise, permutations
from math import exp, factorial, isnan, log
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from wayword.corpus import Bitext, toy
from wayword.corpus.annotate import Sentence
from wayword.corpus.source import Source
from wayword.decode import Decoder, Settings
from wayword.evaluate import Gold, Output, make_metric
from wayword.extract import PhraseTable, extract
from wayword.oracle import Space
from wayword.papers import tromble_eisner_2009 as paper
from wayword.papers.phrase_decoder import (
    DistanceCost,
    Hypothesis,
    TranslationOption,
    decode,
    score_derivation,
)
from wayword.reorder import lop
from wayword.reorder.order import order_from_links

Matrix = npt.NDArray[np.float64]
Tagged = Sequence[tuple[str, str]]
Links = list[tuple[int, int]]
GOLD = [3, 4, 2, 5, 0, 1]
ESCAPES = str.maketrans({"%": "%25", "|": "%7C", "_": "%5F", " ": "%20"})
EXHAUSTIVE = {"pop_limit": 0, "threshold": 0.0, "options_per_span": 0}


def cases(default: int, slow: int) -> pytest.MarkDecorator:
    """Run a test with some dozens of random cases, and with thousands when slow tests are asked."""
    return pytest.mark.parametrize("cases", [default, pytest.param(slow, marks=pytest.mark.slow)])


def random_matrices(count: int, longest: int) -> Iterator[tuple[Matrix, list[int], bool]]:
    """Matrices with a permutation; small integers, with ties, or normal numbers, without."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, longest + 1))
        has_ties = seed % 2 == 0
        B = rng.integers(-3, 4, (n, n)).astype(float) if has_ties else rng.normal(size=(n, n))
        B = np.triu(B, 1) if seed % 4 < 2 else B
        # The core rounds to multiples of 2^-30, so that sums are exact.
        yield np.round(B * 2**30) / 2**30, rng.permutation(n).tolist(), has_ties


def random_sentence(rng: np.random.Generator, n: int, size: int = 3) -> list[tuple[str, str]]:
    return [(f"w{rng.integers(size)}", f"t{rng.integers(2)}") for _ in range(n)]


def to_fast(sentence: Tagged) -> Sentence:
    return Sentence(tuple(word for word, _ in sentence), tuple(tag for _, tag in sentence))


def to_text(feature: paper.Feature) -> str:
    """A feature as the core spells it."""
    number, *values = feature
    return "|".join([number, *(value.translate(ESCAPES) for value in values)])


def references_of(sentences: Sequence[Tagged], links: Sequence[Links]) -> paper.Corpus:
    pairs = zip(sentences, links, strict=True)
    return [(sentence, paper.reference_permutation(len(sentence), of)) for sentence, of in pairs]


def fit(
    sentences: Sequence[Tagged], links: Sequence[Links], held_out: Sequence[int], **options: Any
) -> lop.LopModel:
    """The fast model, trained as in the paper; the pass with the best tau is kept."""
    every = [to_fast(sentence) for sentence in sentences]
    corpus = lop.Corpus.from_sentences(every, links)
    dev = [every[number] for number in held_out], [links[number] for number in held_out]
    given: dict[str, Any] = {"bits": 20, "patience": 99, "threads": 1, **options}
    dev_corpus = lop.Corpus.from_sentences(*dev)
    return lop.fit(corpus, dev_corpus, model="lop", reference="leftmost", **given)


def fast_weights(model: lop.LopModel, sentences: Sequence[Tagged]) -> dict[str, float]:
    """The weights of all features of some sentences, by their spelling."""
    weights: dict[str, float] = {}
    for sentence in sentences:
        for l, r in combinations(range(len(sentence)), 2):
            weights.update(model.explain(to_fast(sentence), l, r))
    return weights


def random_corpus(seed: int) -> tuple[list[list[tuple[str, str]]], list[Links]]:
    """Sentences with one-to-one links; in every other corpus each sentence comes in two orders.

    The two orders are opposite, so that log-odds are 0 and all weights are integers.
    """
    rng = np.random.default_rng(seed)
    sentences: list[list[tuple[str, str]]] = []
    links: list[Links] = []
    for _ in range(3):
        n = int(rng.integers(2, 6))
        places = rng.permutation(n).tolist()
        sentence = random_sentence(rng, n)
        again = sentence if seed % 2 else random_sentence(rng, n)
        sentences += [sentence, again]
        links += [list(enumerate(places)), [(at, n - 1 - there) for at, there in enumerate(places)]]
    return sentences, links


# --- worked numbers ------------------------------------------------------------------------------


def test_the_features_of_the_example_are_those_of_the_definitions() -> None:
    text = (
        "01|die|ART|gekauft|VVPP 02|die|ART|gekauft 03|die|gekauft|VVPP 04|die|ART|VVPP "
        "05|ART|gekauft|VVPP 06|die|gekauft 07|die|VVPP 08|ART|gekauft 09|ART|NN|VVPP "
        "09|ART|VAFIN|VVPP 09|ART|ART|VVPP 10|ART|NN|NN|VVPP 11|ART|NN|VVPP|</s> "
        "12|<s>|ART|VVPP|</s> 13|<s>|ART|VVPP 14|<s>|ART|NN|VVPP 15|ART|NN|VVPP"
    )
    plain = text.split()
    found = [to_text(feature) for feature in paper.features(paper.EXAMPLE, 0, 5)]
    assert sorted(found) == sorted([*plain, *(f"{feature}|d=5" for feature in plain)])
    near = paper.features(paper.EXAMPLE, 1, 2)
    assert len(near) == 28
    assert ("10", "NN", "VAFIN", "NN", "VAFIN") in near
    assert not any(feature[0] == "09" for feature in near)


def test_distance_bins_do_not_overlap() -> None:
    sentence = [(str(at), "t") for at in range(14)]
    bins = [paper.features(sentence, 0, r)[1][-1] for r in range(1, 14)]
    assert bins == ["d=1", "d=2", "d=3", "d=4", "d=5", *["d=>5"] * 5, *["d=>10"] * 3]


def test_the_example_is_solved_in_one_step_from_both_orders() -> None:
    B, identity, alphabetical = paper.EXAMPLE_B, range(6), [0, 3, 4, 5, 2, 1]
    scores = [paper.score(B, pi) for pi in (identity, alphabetical, GOLD)]
    assert scores == [-8, 1, 7]
    benefits = paper.swap_benefits(B, identity)
    spans = [(0, 2, 6), (0, 3, 6), (0, 2, 3), (3, 5, 6), (2, 3, 5)]
    assert [benefits[span] for span in spans] == [12, 10, 4, -2, 3]
    benefits = paper.swap_benefits(B, alphabetical)
    assert (benefits[3, 4, 5], benefits[0, 1, 5]) == (1, 5)
    assert paper.local_search_step(B, identity) == (15, GOLD)
    assert paper.local_search_step(B, alphabetical) == (6, GOLD)
    assert paper.local_search_step(B, GOLD) == (0, GOLD)
    assert paper.best_permutation(B) == paper.local_search(B) == GOLD


def test_reference_permutations_are_those_of_the_definitions() -> None:
    rows = [  # from 1
        (6, "1-3 2-1 3-2 5-5 6-4", [4, 2, 3, 1, 6, 5]),
        (7, "2-4 2-6 3-5 5-1 5-2", [1, 4, 6, 7, 5, 2, 3]),
        (3, "", [1, 2, 3]),
        (6, "1-5 2-6 3-3 4-1 5-2 6-4", [4, 5, 3, 6, 1, 2]),
    ]
    for n, text, expected in rows:
        ends = [link.split("-") for link in text.split()]
        links = [(int(source) - 1, int(target) - 1) for source, target in ends]
        assert [token + 1 for token in paper.reference_permutation(n, links)] == expected


@pytest.mark.parametrize(
    ("stay", "reverse", "expected"), [(9, 0, 2.944439), (1, 1, 0.0), (3, 7, -0.762140)]
)
def test_log_odds_are_those_of_the_definitions(stay: int, reverse: int, expected: float) -> None:
    pair = paper.EXAMPLE[:2]
    theta = paper.log_odds([(pair, [0, 1])] * stay + [(pair, [1, 0])] * reverse)
    assert len(theta) == 28
    assert set(np.round(list(theta.values()), 6)) == {expected}


def test_no_word_and_one_word_have_one_permutation() -> None:
    for n in (0, 1):
        B = np.zeros((n, n))
        assert paper.local_search_step(B, range(n)) == (0, list(range(n)))
        assert paper.local_search(B) == paper.best_permutation(B) == list(range(n))


# --- score and search ----------------------------------------------------------------------------


@cache
def itg_orders(n: int) -> list[tuple[int, ...]]:
    """All orders of n items in the ITG space."""
    return [order for order in permutations(range(n)) if Space("itg").contains(order)]


@cases(60, 3000)
def test_probabilities_are_those_of_a_gibbs_distribution(cases: int) -> None:
    """Footnote 1: an upper triangular matrix has the same probabilities."""
    for seed, (B, pi, has_ties) in enumerate(random_matrices(cases, 5)):
        gamma = (0.3, 1.0, 2.5)[seed % 3]
        p = paper.probabilities(B, gamma)
        assert len(p) == factorial(len(B))
        assert sum(p.values()) == pytest.approx(1)
        odds = gamma * (paper.score(B, pi) - paper.score(B, range(len(B))))
        assert log(p[tuple(pi)] / p[tuple(range(len(B)))]) == pytest.approx(odds)
        assert paper.probabilities(np.triu(B - B.T, 1), gamma) == pytest.approx(p)
        best = tuple(lop.best_order(B))
        assert p[best] == pytest.approx(max(p.values()))
        assert has_ties or best == max(p, key=lambda pi: p[pi])


def test_a_large_gamma_leaves_the_best_permutation() -> None:
    p = paper.probabilities(paper.EXAMPLE_B, 1000.0)
    assert p[tuple(GOLD)] == 1
    assert sum(p.values()) == 1


@cases(60, 1500)
def test_a_neighborhood_is_the_itg_space_of_a_permutation(cases: int) -> None:
    assert all(len(paper.neighborhood(range(n))) == Space("itg").count(n) for n in range(1, 8))
    for _, pi, _ in random_matrices(cases, 7):
        expected = {tuple(pi[at] for at in order) for order in itg_orders(len(pi))}
        assert paper.neighborhood(pi) == expected


def test_neighbors_are_neighbors_of_each_other() -> None:
    every = {pi: paper.neighborhood(pi) for pi in permutations(range(5))}
    assert all((x in every[y]) == (y in every[x]) for x, y in combinations(every, 2))


@cases(80, 3000)
def test_a_step_returns_the_best_member_of_the_neighborhood(cases: int) -> None:
    for B, pi, has_ties in random_matrices(cases, 6):
        scores = {order: paper.score(B, order) for order in paper.neighborhood(pi)}
        gain, found = paper.local_search_step(B, pi)
        assert scores[tuple(found)] == scores[tuple(pi)] + gain == max(scores.values())
        assert has_ties or tuple(found) == max(scores, key=lambda order: scores[order])
        assert scores[tuple(lop.step(B, pi))] == max(scores.values())


@cases(60, 5000)
def test_swap_benefits_are_differences_of_scores(cases: int) -> None:
    for B, pi, _ in random_matrices(cases, 7):
        benefits, before = paper.swap_benefits(B, pi), paper.score(B, pi)
        for i, j, k in combinations(range(len(pi) + 1), 3):
            swapped = [*pi[:i], *pi[j:k], *pi[i:j], *pi[k:]]
            assert benefits[i, j, k] == paper.score(B, swapped) - before


@cases(80, 5000)
def test_a_step_finds_the_best_permutation_of_the_itg_space(cases: int) -> None:
    """Equal to ``lop.step``, also in its choice among ties."""
    assert [len(itg_orders(n)) for n in range(1, 7)] == [1, 2, 6, 22, 90, 394]
    for B, pi, _ in random_matrices(cases, 6):
        gain, found = paper.local_search_step(B, pi)
        assert found == lop.step(B, pi)
        best = max(paper.score(B, [pi[at] for at in order]) for order in itg_orders(len(pi)))
        assert paper.score(B, found) == paper.score(B, pi) + gain == best


@cases(60, 5000)
def test_steps_and_iterated_searches_agree_with_the_core_on_longer_sentences(cases: int) -> None:
    for B, pi, _ in random_matrices(cases, 12):
        assert paper.local_search_step(B, pi)[1] == lop.step(B, pi)
        assert paper.local_search(B) == lop.step(B, range(len(B)), climb=True)


@cases(60, 3000)
def test_an_upper_triangular_matrix_has_the_same_search(cases: int) -> None:
    """Footnote 1: only differences matter."""
    for B, pi, _ in random_matrices(cases, 9):
        assert paper.local_search_step(np.triu(B - B.T, 1), pi) == paper.local_search_step(B, pi)


@cases(60, 3000)
def test_the_best_permutation_is_that_of_the_exact_solvers(cases: int) -> None:
    for number, (B, _, has_ties) in enumerate(random_matrices(cases, 6)):
        best = paper.best_permutation(B)
        solvers = ("sets", "ilp") if number % 10 == 1 else ("sets",)
        for solver in solvers:
            found = lop.best_order(B, solver=solver)
            assert paper.score(B, found) == pytest.approx(paper.score(B, best), abs=1e-9)
            assert has_ties or found == best


@cases(40, 1000)
def test_local_search_loses_what_it_loses_in_the_core(cases: int) -> None:
    """Definitions h.4: with 10 words 3 of 4 iterated searches are exact, 1 of 20 single steps."""
    rng = np.random.default_rng(7)
    exact: Counter[str] = Counter()
    for _ in range(cases):
        B = np.triu(np.round(rng.normal(size=(10, 10)) * 2**30) / 2**30, 1)
        step, search = paper.local_search_step(B, range(10))[1], paper.local_search(B)
        best = paper.score(B, lop.best_order(B))
        assert paper.score(B, step) <= paper.score(B, search) <= best
        exact.update(step=paper.score(B, step) == best, search=paper.score(B, search) == best)
    assert 0.6 < exact["search"] / cases < 0.9
    assert exact["step"] / cases < 0.15


# --- features and learning -----------------------------------------------------------------------


@cases(40, 2000)
def test_features_are_those_of_the_core(cases: int) -> None:
    for seed in range(cases):
        rng = np.random.default_rng(seed)
        words = rng.choice(["a", "b", "x|y", "50%", "a_b", "</s>"], size=rng.integers(2, 15))
        sentence = [(str(word), f"t{rng.integers(4)}") for word in words]
        for l, r in combinations(range(len(sentence)), 2):
            found = [to_text(feature) for feature in paper.features(sentence, l, r)]
            assert sorted(found) == sorted(lop.features(to_fast(sentence), l, r))


@cases(40, 5000)
def test_reference_permutations_are_those_of_the_core(cases: int) -> None:
    for seed in range(cases):
        rng = np.random.default_rng(seed)
        n, targets, count = (int(number) for number in rng.integers([1, 1, 0], [12, 12, 15]))
        links = [(int(rng.integers(n)), int(rng.integers(targets))) for _ in range(count)]
        assert paper.reference_permutation(n, links) == order_from_links(n, links, "leftmost")


@cases(30, 2000)
def test_matrices_and_scores_are_those_of_a_fast_model_with_the_same_weights(cases: int) -> None:
    """``LopModel.nbest`` shows the scores of permutations, relative to the identity."""
    sentences, links = random_corpus(0)
    model = fit(sentences, links, range(6), passes=2)
    for seed in range(cases):
        rng = np.random.default_rng(seed)
        sentence = random_sentence(rng, int(rng.integers(2, 9)))
        by_text = fast_weights(model, [sentence])
        theta = {
            feature: by_text[to_text(feature)]
            for l, r in combinations(range(len(sentence)), 2)
            for feature in paper.features(sentence, l, r)
        }
        B = paper.preference_matrix(theta, sentence)
        np.testing.assert_allclose(B, model.matrix(to_fast(sentence)), rtol=0, atol=2**-30)
        assert paper.local_search_step(B, range(len(B)))[1] == model.order(to_fast(sentence))
        for gain, pi in model.nbest(to_fast(sentence), 10):
            relative = paper.score(B, pi) - paper.score(B, range(len(B)))
            assert relative == pytest.approx(gain, abs=1e-6)


@cases(30, 1000)
def test_probabilities_are_those_of_the_scores_of_an_nbest_list(cases: int) -> None:
    """The list has all permutations of three words, and 22 of the 24 of four words."""
    sentences, links = random_corpus(0)
    model = fit(sentences, links, range(6), passes=2)
    for seed in range(cases):
        rng = np.random.default_rng(seed)
        sentence = random_sentence(rng, 3 + seed % 2)
        nbest = model.nbest(to_fast(sentence), 24)
        p = paper.probabilities(model.matrix(to_fast(sentence)), gamma=0.1)
        weights = {tuple(pi): exp(0.1 * gain) for gain, pi in nbest}
        assert len(weights) == len(paper.neighborhood(range(len(sentence))))
        Z = sum(weights.values()) / sum(p[pi] for pi in weights)
        assert all(weight / Z == pytest.approx(p[pi], rel=1e-5) for pi, weight in weights.items())


def assert_equal_weights(
    theta: paper.Theta, model: lop.LopModel, sentences: Sequence[Tagged]
) -> None:
    """Compare all weights; the corpora are so small that no features share a place of the table."""
    expected = {to_text(feature): weight for feature, weight in theta.items()}
    assert fast_weights(model, sentences) == pytest.approx(expected, abs=1e-5)


@cases(20, 2000)
def test_log_odds_are_those_of_the_core(cases: int) -> None:
    for seed in range(0, 2 * cases, 2):
        sentences, links = random_corpus(seed)
        theta = paper.log_odds(references_of(sentences, links))
        assert_equal_weights(theta, fit(sentences, links, range(6), passes=0), sentences)


def naive_passes(corpus: paper.Corpus, passes: int) -> Iterator[tuple[int, paper.Theta]]:
    """Mistakes and averaged weights of each pass: the mean of all vectors, one by one."""
    thetas = [paper.log_odds(corpus)]
    yield 0, thetas[0]
    for _ in range(passes):
        mistakes = 0
        for sentence, reference in corpus:
            theta = dict(thetas[-1])
            predicted = paper.local_search(paper.preference_matrix(theta, sentence))
            for l, r in combinations(range(len(sentence)), 2):
                stays = [pi.index(l) < pi.index(r) for pi in (reference, predicted)]
                mistakes += stays[0] != stays[1]
                for feature in paper.features(sentence, l, r):
                    theta[feature] += stays[0] - stays[1]
            thetas.append(theta)
        yield mistakes, {m: sum(theta[m] for theta in thetas) / len(thetas) for m in thetas[0]}


@cases(20, 1500)
def test_the_averaged_perceptron_is_that_of_the_core_and_of_a_naive_mean(cases: int) -> None:
    """The mistakes of all passes and the weights of the kept pass are equal."""
    kept: Counter[int] = Counter()
    for seed in range(cases):
        sentences, links = random_corpus(seed)
        corpus = references_of(sentences, links)
        passes = list(naive_passes(corpus, 3))
        thetas = list(islice(paper.averaged_perceptron(corpus), 4))
        for theta, (_, mean) in zip(thetas, passes, strict=True):
            assert theta == pytest.approx(mean, abs=1e-9)
        # Held out: the sentence of each pair whose order is further from the source order.
        far = [
            max(at, at + 1, key=lambda number: inversions(corpus[number][1])) for at in (0, 2, 4)
        ]
        model = fit(sentences, links, far, passes=3)
        assert model.summary is not None
        best = model.summary.best
        assert_equal_weights(thetas[best], model, sentences)
        assert [one.value for one in model.summary.passes] == [wrong for wrong, _ in passes]
        kept[best] += 1
    assert kept[0] < 0.6 * cases


def longer_corpus(seed: int, size: int) -> tuple[list[list[tuple[str, str]]], list[Links]]:
    """Sentences of five to eight words, in which w0 moves about three places to the right.

    Links are one-to-one, so that the order of linked words, which the core scores, is that of all.
    """
    rng = np.random.default_rng(seed)
    sentences = [random_sentence(rng, int(rng.integers(5, 9)), 4) for _ in range(size)]
    links: list[Links] = []
    for sentence in sentences:
        moves = [3 * (word == "w0") for word, _ in sentence]
        keys = np.arange(len(sentence)) + moves + 0.5 * rng.normal(size=len(sentence))
        links.append(list(enumerate(np.argsort(np.argsort(keys)).tolist())))
    return sentences, links


@cases(12, 200)
def test_training_stops_where_the_core_stops(cases: int) -> None:
    """BLEU of the dev set after every pass and the weights of the kept pass are equal."""
    kept: Counter[int] = Counter()
    for seed in range(cases):
        sentences, links = longer_corpus(seed, 10)
        parts = (slice(6), slice(6, 10))
        corpus, dev = (references_of(sentences[part], links[part]) for part in parts)
        theta, values = paper.train(corpus, dev)
        if 0 in values:
            continue  # The core smooths precisions of 0.
        every = [to_fast(sentence) for sentence in sentences]
        texts = [lop.Corpus.from_sentences(every[part], links[part]) for part in parts]
        options: dict[str, Any] = {"model": "lop", "reference": "leftmost", "stop": "bleu"}
        model = lop.fit(*texts, patience=2, passes=99, bits=22, threads=1, **options)
        assert model.summary is not None
        assert [one.bleu for one in model.summary.passes] == pytest.approx(values)
        assert model.summary.best == values.index(max(values)) == len(values) - 3
        fast = fast_weights(model, sentences[:6])
        assert fast.keys() == {to_text(feature) for feature in theta}
        # A few features share a place of the table.
        different = [m for m in theta if abs(theta[m] - fast[to_text(m)]) > 1e-5]
        assert len(different) < 0.005 * len(theta)
        kept[model.summary.best] += 1
    assert kept.total() > 0.7 * cases
    assert kept[0] < 0.6 * cases


def test_patience_is_the_number_of_passes_without_improvement() -> None:
    sentences, links = longer_corpus(5, 10)
    corpus = references_of(sentences, links)
    for patience in (1, 2, 4):
        theta, values = paper.train(corpus[:6], corpus[6:], patience)
        best = values.index(max(values))
        assert len(values) == best + 1 + patience
        assert theta == next(islice(paper.averaged_perceptron(corpus[:6]), best, None))


@cases(40, 2000)
def test_ordering_scores_are_those_of_the_core(cases: int) -> None:
    """BLEU with ``lop.order_bleu``, pairs with the metric ``reversals``."""
    zeros = 0
    for seed in range(cases):
        sentences, links = longer_corpus(seed, 4)
        corpus = references_of(sentences, links)
        rng = np.random.default_rng(seed)
        shakes = [rng.normal(size=len(sentence)) for sentence in sentences]
        predicted = [np.argsort(np.arange(len(shake)) + shake).tolist() for shake in shakes]
        scores = paper.ordering_scores(corpus, predicted)
        words = [[word for word, _ in sentence] for sentence in sentences]
        bleu, precisions = lop.order_bleu(words, predicted, [reference for _, reference in corpus])
        values = [scores[f"p{n}"] for n in range(1, 5)]
        pairs = zip(values, precisions, strict=True)
        assert all(value == pytest.approx(precision) for value, precision in pairs if value)
        assert scores["BLEU"] == pytest.approx(bleu) if all(values) else scores["BLEU"] == 0
        zeros += not all(values)
        details = reversal_details(words, links, predicted)
        for name in ("precision", "recall"):
            assert scores[name] == pytest.approx(details[name], nan_ok=True)
    assert zeros < 0.5 * cases


def reversal_details(
    words: Sequence[Sequence[str]], links: Sequence[Links], predicted: Sequence[Sequence[int]]
) -> dict[str, Any]:
    """Counts of reversed pairs, with a permutation of the source as output."""
    src = [" ".join(sentence) for sentence in words]
    metric = make_metric("reversals", Gold(refs=[src], src=src, ref_links=[links]))
    outputs = [[(token, place) for place, token in enumerate(pi)] for pi in predicted]
    return metric.details(metric.statistics(Output("predicted", src, outputs)).sum(axis=0))


def test_scores_of_one_order_against_itself_are_100_and_nothing_to_divide_by_is_nan() -> None:
    corpus = [(paper.EXAMPLE, GOLD)]
    assert set(paper.ordering_scores(corpus, [GOLD]).values()) == {100.0}
    scores = paper.ordering_scores(corpus, [range(6)])
    assert isnan(scores["precision"])
    assert scores["recall"] == 0
    assert isnan(paper.ordering_scores([(paper.EXAMPLE[:3], [0, 1, 2])], [[0, 1, 2]])["BLEU"])


def inversions(pi: Sequence[int]) -> int:
    return sum(first > second for first, second in combinations(pi, 2))


@pytest.mark.parametrize("pair", ["de-en", "ar-en", "ja-en"])
def test_models_of_toy_text_are_those_of_the_core(pair: str) -> None:
    """German, Arabic and Japanese sentences with gold links; tags as words make mistakes likely."""
    items = [item for item in toy.generate(pair, 120, seed=3) if len(item.src) <= 8][:25]
    links = [list(item.links) for item in items]
    for words, passes in (("src", 0), ("pos", 3)):
        sentences = [list(zip(getattr(item, words), item.pos, strict=True)) for item in items]
        corpus = references_of(sentences, links)
        model = fit(sentences, links, range(len(items)), passes=passes, bits=22)
        assert model.summary is not None
        theta = next(islice(paper.averaged_perceptron(corpus), model.summary.best, None))
        fast = fast_weights(model, sentences)
        assert fast.keys() == {to_text(feature) for feature in theta}
        # A few features share a place of the table.
        different = [m for m in theta if abs(theta[m] - fast[to_text(m)]) > 1e-5]
        assert len(different) < 0.005 * len(theta)
        for sentence, _ in corpus:
            B = paper.preference_matrix(theta, sentence)
            predicted = paper.local_search_step(B, range(len(B)))[1]
            assert predicted == model.order(to_fast(sentence))


# --- inside a decoder ----------------------------------------------------------------------------


@cases(100, 5000)
def test_a_derivation_has_the_score_of_its_order(cases: int) -> None:
    for seed, (B, _, _) in enumerate(random_matrices(cases, 9)):
        rng = np.random.default_rng(seed)
        derivation = random_derivation(rng, len(B))
        order = [position for option in derivation for position in option.positions()]
        feature = paper.LinearOrderingFeature(B)
        found = score_derivation(derivation, [(1.0, feature)], len(B))
        assert found == pytest.approx(paper.score(B, order), abs=1e-9)


def random_derivation(rng: np.random.Generator, n: int) -> list[TranslationOption]:
    cuts = [0, *(at for at in range(1, n) if rng.random() < 0.6), n]
    spans = [(start, end - 1) for start, end in pairwise(cuts)]
    spans = [spans[at] for at in rng.permutation(len(spans))]
    return [TranslationOption(start, end, ()) for start, end in spans]


class ToyDecoder:
    """A small German system with gold links, and a linear-ordering model."""

    def __init__(self, folder: Path) -> None:
        pairs = list(toy.generate("de-en", 300, seed=2))
        bitext = Bitext.from_pairs([(" ".join(pair.src), " ".join(pair.tgt)) for pair in pairs])
        extract(bitext, [pair.links for pair in pairs], folder / "table", max_length=3)
        self.table = PhraseTable.open(folder / "table")
        every = [list(zip(pair.src, pair.pos, strict=True)) for pair in pairs]
        links = [list(pair.links) for pair in pairs]
        self.model = fit(every, links, range(50), passes=2, bits=18)
        # Sentences whose words all have translations, so that any permutation can be decoded.
        self.sentences = [
            sentence
            for sentence in every
            if len(sentence) <= 7 and all(self.table.options(word) for word, _ in sentence)
        ]

    def decoder(self, weights: dict[str, float], space: str) -> Decoder:
        """The fast decoder without pruning."""
        settings = Settings.from_dict({**EXHAUSTIVE, "space": space})
        features = [self.model.feature()]
        return Decoder(self.table, [], features=features, weights=weights, settings=settings)

    def options(self, sentence: Tagged) -> list[TranslationOption]:
        """All translation options; their score is 0.2 times the first of the table's."""
        words = [word for word, _ in sentence]
        spans = [(u, v) for u in range(len(words)) for v in range(u, min(u + 3, len(words)))]
        return [
            TranslationOption(u, v, tuple(entry.tgt.split()), 0.2 * entry.scores.phi_fe)
            for u, v in spans
            for entry in self.table.options(" ".join(words[u : v + 1]))
        ]

    def matrix(self, sentence: Tagged) -> Matrix:
        """The matrix B of the model."""
        return np.asarray(self.model.matrix(to_fast(sentence)))


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> ToyDecoder:
    return ToyDecoder(tmp_path_factory.mktemp("system"))


@cases(60, 3000)
def test_the_value_of_a_derivation_is_that_of_the_decoder(system: ToyDecoder, cases: int) -> None:
    decoder = system.decoder({"lop": 1.0}, "dl:-1")
    for seed in range(cases):
        rng = np.random.default_rng(seed)
        sentence = system.sentences[seed % len(system.sentences)]
        targets = {(option.start, option.end): option.target for option in system.options(sentence)}
        derivation = [
            option
            for span in random_derivation(rng, len(sentence))
            for option in split_unknown(span, targets)
        ]
        phrases = [(o.start, o.end + 1, " ".join(o.target)) for o in derivation]
        scored = decoder.score(Source(to_fast(sentence)), phrases)
        feature = paper.LinearOrderingFeature(system.matrix(sentence))
        expected = score_derivation(derivation, [(1.0, feature)], len(sentence))
        assert scored.features["lop"] == pytest.approx(expected, rel=1e-6, abs=1e-3)


def split_unknown(
    option: TranslationOption, targets: dict[tuple[int, int], tuple[str, ...]]
) -> list[TranslationOption]:
    """A span as one option or, if the table does not have it, word by word."""
    span = (option.start, option.end)
    spans = [span] if span in targets else [(at, at) for at in option.positions()]
    return [TranslationOption(start, end, targets[start, end]) for start, end in spans]


@cases(10, 60)
def test_exhaustive_searches_find_the_same_best_score(system: ToyDecoder, cases: int) -> None:
    weights = {"lop": 0.01, "d": 0.3, "tm0": 0.2}
    sentences = system.sentences[:cases]
    assert len(sentences) == cases
    for number, sentence in enumerate(sentences):
        limit = (1, 3, 5)[number % 3]
        [best] = system.decoder(weights, f"dl:{limit}").translate([Source(to_fast(sentence))])
        feature = paper.LinearOrderingFeature(system.matrix(sentence))
        features = [(0.01, feature), (0.3, DistanceCost())]
        found = decode(len(sentence), system.options(sentence), features, distortion_limit=limit)
        assert found.score == pytest.approx(best.score, abs=1e-4)


@cases(10, 60)
def test_partial_scores_differ_from_the_decoder_by_the_source_order_of_uncovered_words(
    system: ToyDecoder, cases: int
) -> None:
    """Definitions h.6: the decoder starts from the score of source order and takes pairs away."""
    decoder = system.decoder({"lop": 1.0}, "dl:-1")
    for sentence in system.sentences[:cases]:
        B, everything = system.matrix(sentence), frozenset(range(len(sentence)))
        feature = paper.LinearOrderingFeature(B)
        [best] = decoder.translate([Source(to_fast(sentence))], graph=True)
        coverages: dict[int, frozenset[int]] = {0: frozenset()}
        for arc in best.graph:  # ordered by where they lead
            before = coverages[arc.start]
            after = coverages[arc.end] = before | set(range(*arc.src))
            option = TranslationOption(arc.src[0], arc.src[1] - 1, ())
            value, _ = feature.extend(Hypothesis(before), None, option)
            uncovered = [
                paper.score(B, sorted(everything - covered)) for covered in (before, after)
            ]
            whole = paper.score(B, sorted(everything)) if after == everything else 0.0
            expected = value + uncovered[1] - uncovered[0] + whole
            assert arc.score == pytest.approx(expected, rel=1e-5, abs=1e-3)


def test_an_estimate_is_the_part_of_the_value_without_the_coverage() -> None:
    feature = paper.LinearOrderingFeature(paper.EXAMPLE_B)
    option = TranslationOption(3, 5, ())
    everything_else = Hypothesis(frozenset({0, 1, 2}))
    assert feature.estimate(option) == 4
    assert feature.extend(everything_else, None, option) == (4, None)
    assert feature.estimate(TranslationOption(2, 2, ())) == 0
