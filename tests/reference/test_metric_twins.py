"""Metrics against slow, obvious twins, on random small input."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.evaluate import Gold, Options, Output, make_metric
from wayword.evaluate.meteor import chunks, match
from wayword.evaluate.order import krs, krs_v, ribes, unique_places
from wayword.evaluate.significance import p_values

WORDS = st.lists(st.sampled_from("pqxyz"), max_size=7)
SENTENCES = st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=3)
TWO_RANKS = st.integers(0, 7).flatmap(
    lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n)))
)


# --- order ---------------------------------------------------------------------------------------


@given(TWO_RANKS, st.lists(st.integers(0, 3), min_size=7, max_size=7))
def test_krs_v_is_the_double_sum_of_its_definition(
    ranks: tuple[list[int], list[int]], weights: list[int]
) -> None:
    pi, sigma = ranks
    n, of_words = len(pi), weights[: len(pi)]
    wrong = [
        of_words[i] + of_words[j]
        for i, j in product(range(n), repeat=2)
        if pi[i] < pi[j] and sigma[i] > sigma[j]
    ]
    all_pairs = sum(of_words[i] + of_words[j] for i, j in combinations(range(n), 2))
    value = krs_v(pi, sigma, of_words)
    if not sum(of_words):
        assert math.isnan(value)
    else:
        assert value == pytest.approx(1 - math.sqrt(sum(wrong) / all_pairs) if n > 1 else 1)
    literal = 1 - math.sqrt(sum(wrong) / (n * (n - 1) / 2)) if n > 1 else 1
    assert krs_v(pi, sigma, of_words, norm="literal") == pytest.approx(literal)


@given(TWO_RANKS)
def test_krs_is_symmetric_and_within_bounds(ranks: tuple[list[int], list[int]]) -> None:
    assert krs(*ranks) == pytest.approx(krs(*reversed(ranks)))
    assert 0 <= krs(*ranks) <= 1
    assert krs_v(*ranks, [2.5] * len(ranks[0])) == pytest.approx(krs(*ranks)) or not ranks[0]


@given(st.integers(2, 30))
def test_the_same_order_scores_1_and_its_reversal_0(n: int) -> None:
    rank = list(range(n))
    assert krs(rank, rank) == 1
    assert krs(rank, rank[::-1]) == pytest.approx(0)
    words = [f"w{k}" for k in rank]
    assert ribes(words, words) == 1
    assert ribes(words, words[::-1]) == 0


def occurrences(part: Sequence[str], whole: Sequence[str]) -> list[int]:
    return [k for k in range(len(whole)) if list(whole[k : k + len(part)]) == list(part)]


def slow_places(hyp: Sequence[str], ref: Sequence[str]) -> Iterator[int]:
    """RIBES, section 3.2: the smallest context that occurs once on both sides; left first."""
    for i in range(len(hyp)):
        for size in range(len(hyp)):
            spans = [(i - size, i + 1, size), (i, i + size + 1, 0)]
            places = [
                occurrences(hyp[start:end], ref)[0] + shift
                for start, end, shift in spans
                if start >= 0
                and end <= len(hyp)
                and len(occurrences(hyp[start:end], hyp)) == 1
                and len(occurrences(hyp[start:end], ref)) == 1
            ]
            if places:
                yield places[0]
                break


@given(WORDS, WORDS)
@settings(max_examples=300)
def test_ribes_places_words_by_the_smallest_telling_context(hyp: list[str], ref: list[str]) -> None:
    assert unique_places(hyp, ref) == list(slow_places(hyp, ref))


LINKS = st.lists(st.tuples(st.integers(0, 13), st.integers(0, 13)), max_size=20)
WEIGHTS = st.lists(st.sampled_from([0, 0, 1, 2]), min_size=14, max_size=14)
LINKED = st.lists(
    st.tuples(st.integers(0, 14), LINKS, LINKS, LINKS, WEIGHTS), min_size=1, max_size=4
)
DISTANCES = ((1, 2), (3, 5), (6, 10), (11, 99))


def slow_pairs(
    hyp: Sequence[tuple[int, int]], ref: Sequence[tuple[int, int]]
) -> tuple[set[int], set[tuple[int, int]], set[tuple[int, int]]]:
    """Words linked on both sides; pairs of them that either side reverses. Definitions j.5."""
    places: list[dict[int, int]] = []
    for links in (hyp, ref):
        words = {i for i, _ in links}
        places.append({i: min(j for k, j in links if k == i) for i in words})
    judged = set(places[0]) & set(places[1])
    pairs = list(combinations(sorted(judged), 2))
    first, second = ({(i, j) for i, j in pairs if keys[i] > keys[j]} for keys in places)
    return judged, first, second


def slow_krs_linked(
    hyp: Sequence[tuple[int, int]],
    ref: Sequence[tuple[int, int]],
    weights: Sequence[float],
    bp: float,
) -> float | None:
    """Definitions j.6; None for a sentence that does not count."""
    judged, first, second = slow_pairs(hyp, ref)
    total = sum(weights[i] + weights[j] for i, j in combinations(judged, 2))
    if not any(weights[i] for i in judged):
        return None
    if len(judged) < 2:
        return bp
    return bp * (1 - math.sqrt(sum(weights[i] + weights[j] for i, j in first ^ second) / total))


def linked_texts(sentences: Any) -> tuple[Gold, Output]:
    """Random sentences of up to 14 words; the second reference is longer than any output."""
    lengths = [length for length, *_ in sentences]
    sides = [[[(i, j) for i, j in of[at] if i < of[0]] for of in sentences] for at in (1, 2, 3)]
    long, longer = " ".join("x" * 14), " ".join("x" * 17)
    weights = [[float(w) for w in of[4][: of[0]]] for of in sentences]
    gold = Gold(
        refs=[[long] * len(lengths), [longer] * len(lengths)],
        src=[" ".join("s" * length) for length in lengths],
        ref_links=sides[1:],
        weights=weights if any(map(any, weights)) else None,
    )
    return gold, Output("twin", [long] * len(lengths), sides[0])


@given(LINKED)
@settings(max_examples=150)
def test_reversals_are_their_definition(sentences: Any) -> None:
    gold, output = linked_texts(sentences)
    assert gold.ref_links is not None
    assert output.links is not None
    totals = {"reversals": [0] * 12, "reversals-v": [0] * 12}
    judged_words = 0
    for number, hyp in enumerate(output.links):
        length = gold.src_lengths[number]
        refs = [links[number] for links in gold.ref_links]
        bps = [1.0, math.exp(1 - 17 / 14)]
        values = [
            slow_krs_linked(hyp, ref, [1.0] * length, bp) for ref, bp in zip(refs, bps, strict=True)
        ]
        best = max(range(2), key=lambda at: (-1.0 if values[at] is None else values[at], -at))
        judged, first, second = slow_pairs(hyp, refs[best])
        judged_words += len(judged)
        verbs = {i for i in range(length) if gold.weights and gold.weights[number][i]}
        for name, total in totals.items():
            for at, (low, high) in enumerate(DISTANCES):

                def counted(
                    pairs: set[tuple[int, int]],
                    name: str = name,
                    low: int = low,
                    high: int = high,
                    verbs: set[int] = verbs,
                ) -> int:
                    return sum(
                        low <= j - i <= high and (name == "reversals" or bool({i, j} & verbs))
                        for i, j in pairs
                    )

                for column, pairs in enumerate((first & second, first, second)):
                    total[3 * at + column] += counted(pairs)
    for name, total in totals.items():
        if name == "reversals-v" and gold.weights is None:
            continue
        sums = make_metric(name, gold).statistics(output).sum(axis=0).tolist()
        assert sums[5:] == total
        assert sums[:3] == [sum(total[column::3]) for column in range(3)]
        assert sums[3:5] == [judged_words, sum(gold.src_lengths)]


@given(LINKED)
@settings(max_examples=150)
def test_krs_over_linked_words_is_its_definition(sentences: Any) -> None:
    gold, output = linked_texts(sentences)
    assert gold.ref_links is not None
    assert output.links is not None
    for name in ("krs-linked", "krs-v-linked"):
        if name == "krs-v-linked" and gold.weights is None:
            continue
        values: list[float] = []
        for number, hyp in enumerate(output.links):
            ones = [1.0] * gold.src_lengths[number]
            weights = gold.weights[number] if gold.weights and "v" in name else ones
            of_refs = [
                slow_krs_linked(hyp, links[number], weights, bp)
                for links, bp in zip(gold.ref_links, (1.0, math.exp(1 - 17 / 14)), strict=True)
            ]
            values += (
                [max(v for v in of_refs if v is not None)]
                if any(v is not None for v in of_refs)
                else []
            )
        score = make_metric(name, gold).corpus_score(output)
        if values:
            assert score == pytest.approx(100 * sum(values) / len(values))
        else:
            assert math.isnan(score)


@given(LINKED)
@settings(max_examples=100)
def test_krs_of_a_text_is_that_of_its_ranks(sentences: Any) -> None:
    gold, output = linked_texts(sentences)
    for norm in ("weights", "literal"):
        for name in ("krs", "krs-v"):
            if name == "krs-v" and gold.weights is None:
                continue
            values = []
            for number, rank in enumerate(output.ranks(gold)):
                ones = [1.0] * len(rank)
                weights = gold.weights[number] if gold.weights and name == "krs-v" else ones
                of_refs = [
                    bp * krs_v(rank.tolist(), ranks[number].tolist(), weights, norm)
                    if name == "krs-v"
                    else bp * krs(rank.tolist(), ranks[number].tolist())
                    for ranks, bp in zip(gold.ref_ranks, (1.0, math.exp(1 - 17 / 14)), strict=True)
                ]
                values.append(max(of_refs))
            counted = [value for value in values if not math.isnan(value)]
            score = make_metric(name, gold, Options(norm=norm)).corpus_score(output)
            assert score == pytest.approx(100 * sum(counted) / len(counted), abs=1e-9)


# --- words ---------------------------------------------------------------------------------------


def all_matchings(hyp: Sequence[str], ref: Sequence[str]) -> Iterator[list[tuple[int, int]]]:
    """Every way to match equal words one to one."""
    places = [None, *range(len(ref))]
    for choice in product(places, repeat=len(hyp)):
        chosen = [(i, j) for i, j in enumerate(choice) if j is not None]
        targets = [j for _, j in chosen]
        if len(set(targets)) == len(targets) and all(hyp[i] == ref[j] for i, j in chosen):
            yield chosen


def crossings(matches: Sequence[tuple[int, int]]) -> int:
    return sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in combinations(matches, 2))


@given(st.lists(st.sampled_from("pqx"), max_size=5), st.lists(st.sampled_from("pqx"), max_size=5))
@settings(max_examples=150)
def test_meteor_makes_most_matches_then_fewest_crossings(hyp: list[str], ref: list[str]) -> None:
    matches = match(hyp, ref)
    costs = [(-len(m), crossings(m), chunks(m)) for m in all_matchings(hyp, ref)]
    assert matches in list(all_matchings(hyp, ref))
    assert (-len(matches), crossings(matches), chunks(matches)) == min(costs)


@given(SENTENCES)
@settings(max_examples=60)
def test_nist_is_its_definition(sentences: list[tuple[list[str], ...]]) -> None:
    hyps, *refs = (list(side) for side in zip(*sentences, strict=True))

    def count(ngram: tuple[str, ...], words: Sequence[str]) -> int:
        return len(occurrences(ngram, words)) if ngram else len(words)

    def info(ngram: tuple[str, ...]) -> float:
        texts = [words for ref in refs for words in ref]
        history = sum(count(ngram[:-1], words) for words in texts)
        return math.log2(history / sum(count(ngram, words) for words in texts))

    total = 0.0
    for n in range(1, 6):
        matched, number = 0.0, 0
        for hyp, *references in zip(hyps, *refs, strict=True):
            ngrams = [tuple(hyp[k : k + n]) for k in range(len(hyp) - n + 1)]
            number += len(ngrams)
            for ngram in set(ngrams):
                clipped = min(ngrams.count(ngram), max(count(ngram, ref) for ref in references))
                matched += clipped * info(ngram) if clipped else 0
        total += matched / number if number else 0
    lengths = sum(map(len, hyps)), sum(len(words) for ref in refs for words in ref) / len(refs)
    expected = 0.0
    if all(lengths):
        beta = math.log(0.5) / math.log(1.5) ** 2
        expected = total * math.exp(beta * math.log(min(lengths[0] / lengths[1], 1)) ** 2)
    gold = Gold(refs=[[" ".join(words) for words in ref] for ref in refs])
    output = Output("twin", [" ".join(words) for words in hyps])
    assert make_metric("nist", gold).corpus_score(output) == pytest.approx(expected)


# --- chance --------------------------------------------------------------------------------------


def exact_p(first: Sequence[float], second: Sequence[float]) -> tuple[int, int]:
    """How many of all ways to exchange sentences give a difference as large."""
    observed = abs(sum(first) - sum(second))
    ways = list(product([False, True], repeat=len(first)))
    large = 0
    for swaps in ways:
        a = sum(y if swap else x for x, y, swap in zip(first, second, swaps, strict=True))
        b = sum(x if swap else y for x, y, swap in zip(first, second, swaps, strict=True))
        large += abs(a - b) >= observed - 1e-12
    return large, len(ways)


def test_all_exchanges_of_four_sentences_give_6_of_16() -> None:  # definitions j.4
    first, second = [0.5, 0.2, 0.9, 0.4], [0.4, 0.3, 0.5, 0.1]
    assert exact_p(first, second) == (6, 16)
    columns = [np.array([side]).T for side in (first, second)]
    total = [lambda sums: sums[..., 0]]
    sides = (columns[:1], columns[1:])
    (p_value,) = p_values("randomization", total, *sides, scales=[1.0], rounds=20_000)
    assert p_value == pytest.approx(6 / 16, abs=0.015)  # four standard errors


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=6))
@settings(max_examples=20)
def test_randomization_approaches_all_exchanges(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    large, ways = exact_p(first, second)
    columns = [np.array([side], dtype=float).T for side in (first, second)]
    total = [lambda sums: sums[..., 0]]
    sides = (columns[:1], columns[1:])
    (p_value,) = p_values("randomization", total, *sides, scales=[1.0], rounds=5000)
    assert p_value == pytest.approx(large / ways, abs=0.03)


def test_permutations_of_four_words_have_the_mean_distance_of_a_half() -> None:
    distances = [(1 - krs(list(rank), [0, 1, 2, 3])) ** 2 for rank in permutations(range(4))]
    assert sum(distances) / len(distances) == pytest.approx(0.5)
