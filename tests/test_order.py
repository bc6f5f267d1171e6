"""Orders from links: definitions a, and what must hold for any links."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.corpus import toy
from wayword.errors import ArgumentError, MismatchError
from wayword.reorder.order import (
    Heuristic,
    kendall_distance,
    order_from_links,
    order_of,
    rank_of,
)

Links = list[tuple[int, int]]

FIRST = "1-3 2-1 3-2 5-5 6-4"
SECOND = "2-4 2-6 3-5 5-1 5-2"


def links_of(text: str) -> Links:
    """The definitions write positions from 1; the interface counts from 0."""
    pairs = (link.split("-") for link in text.split())
    return [(int(src) - 1, int(tgt) - 1) for src, tgt in pairs]


@pytest.mark.parametrize(
    ("length", "links", "heuristic", "order"),
    [
        (6, FIRST, "mean", "2 3 1 4 6 5"),
        (6, FIRST, "leftmost", "4 2 3 1 6 5"),
        (6, FIRST, "attach", "2 3 4 1 6 5"),
        (7, SECOND, "mean", "5 6 7 4 1 2 3"),
        (7, SECOND, "leftmost", "1 4 6 7 5 2 3"),
        (7, SECOND, "attach", "1 5 6 7 2 3 4"),
        (3, "", "mean", "1 2 3"),
        (6, "1-5 2-6 3-3 4-1 5-2 6-4", "leftmost", "4 5 3 6 1 2"),
    ],
)
def test_worked_examples(length: int, links: str, heuristic: Heuristic, order: str) -> None:
    expected = [int(position) - 1 for position in order.split()]
    assert order_from_links(length, links_of(links), heuristic) == expected


def test_order_and_rank_are_inverse() -> None:
    assert rank_of([1, 2, 0, 3, 5, 4]) == [2, 0, 1, 3, 5, 4]  # definitions 0, from 0
    assert order_of([2, 0, 1, 3, 5, 4]) == [1, 2, 0, 3, 5, 4]


LENGTHS_AND_LINKS = st.integers(0, 9).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(
            st.tuples(st.integers(0, max(n - 1, 0)), st.integers(0, 9)), max_size=20 if n else 0
        ),
    )
)


def slow_keys(length: int, links: Links, heuristic: Heuristic) -> list[Fraction]:
    """Definitions a, word by word."""
    targets = [sorted({t + 1 for s, t in links if s == j}) for j in range(length)]
    if heuristic == "mean":
        linked = [Fraction(sum(ts), len(ts)) if ts else None for ts in targets]
    else:
        linked = [Fraction(ts[0]) if ts else None for ts in targets]
    keys = []
    for j, key in enumerate(linked):
        left = next((k for k in reversed(linked[:j]) if k is not None), None)
        right = next((k for k in linked[j + 1 :] if k is not None), None)
        sides = [k for k in (left, right) if k is not None]
        if key is not None:
            keys.append(key)
        elif heuristic == "mean":
            keys.append(Fraction(sum(sides), len(sides)) if sides else Fraction(0))
        elif heuristic == "attach":
            keys.append(left or Fraction(0))
        else:
            keys.append(Fraction(0))
    return keys


@given(LENGTHS_AND_LINKS, st.sampled_from(["mean", "leftmost", "attach"]))
def test_orders_equal_the_slow_twin(case: tuple[int, Links], heuristic: Heuristic) -> None:
    length, links = case
    keys = slow_keys(length, links, heuristic)
    assert order_from_links(length, links, heuristic) == sorted(range(length), key=keys.__getitem__)


@given(LENGTHS_AND_LINKS)
def test_duplicate_links_count_once(case: tuple[int, Links]) -> None:
    length, links = case
    assert order_from_links(length, links) == order_from_links(length, links + links)


PERMUTATIONS = st.integers(0, 8).flatmap(lambda n: st.permutations(range(n)))
TWO_PERMUTATIONS = st.integers(0, 8).flatmap(
    lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n)))
)


@given(PERMUTATIONS)
def test_the_rank_of_the_rank_is_the_order(order: list[int]) -> None:
    assert order_of(rank_of(order)) == order


@given(TWO_PERMUTATIONS)
def test_kendall_counts_pairs_of_words_put_differently(orders: tuple[list[int], list[int]]) -> None:
    first, second = (rank_of(order) for order in orders)
    pairs = list(combinations(range(len(first)), 2))
    differing = sum((first[a] < first[b]) != (second[a] < second[b]) for a, b in pairs)
    expected = differing / len(pairs) if pairs else 0.0
    assert kendall_distance(*orders) == pytest.approx(expected)
    assert kendall_distance(*reversed(orders)) == pytest.approx(expected)


def test_equal_orders_have_distance_0_and_reversed_ones_1() -> None:
    assert kendall_distance([2, 0, 1], [2, 0, 1]) == 0
    assert kendall_distance([0, 1, 2, 3], [3, 2, 1, 0]) == 1
    assert kendall_distance([], []) == 0


def test_what_is_no_permutation_is_refused() -> None:
    with pytest.raises(ArgumentError, match="order: found 2 numbers that are not a permutation"):
        rank_of([0, 0])
    with pytest.raises(ArgumentError):
        kendall_distance([0, 1], [0])
    with pytest.raises(ArgumentError, match="heuristic: found `median`; expected `mean`"):
        order_from_links(1, [], "median")  # type: ignore[arg-type]


def test_a_link_outside_the_sentence_is_refused() -> None:
    with pytest.raises(MismatchError) as error:
        order_from_links(6, [(7, 3)])
    assert str(error.value) == (
        "links: link 7-3 is outside the sentence (source has 6 words); "
        "do links and text come from the same corpus?"
    )


@pytest.mark.parametrize("pair", toy.pairs())
def test_toy_links_yield_the_toy_order_where_every_word_is_aligned(pair: str) -> None:
    sentences = list(toy.generate(pair, 3000))
    whole = [s for s in sentences if {src for src, _ in s.links} == set(range(len(s.src)))]
    assert whole
    for sentence in whole:
        assert order_from_links(len(sentence.src), sentence.links) == list(sentence.order)
