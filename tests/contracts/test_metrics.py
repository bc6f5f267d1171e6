"""What every metric promises, whatever it measures."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from wayword.evaluate import METRICS, Gold, Metric, Options, Output, make_metric

NAMES = list(METRICS)
SRC = ["das haus ist klein", "wir haben heute das buch gelesen", "ja", "sie geht jetzt heim ."]
REFS = [
    ["the house is small", "we have read the book today", "yes", "she goes home now ."],
    ["this house is small", "today we have read the book", "yes", "she is going home now ."],
]
LINKS = [
    [
        [(0, 0), (1, 1), (2, 2), (3, 3)],
        [(0, 0), (1, 1), (2, 5), (3, 3), (4, 4), (5, 2)],
        [(0, 0)],
        [(0, 0), (1, 1), (2, 3), (3, 2), (4, 4)],
    ],
    [
        [(0, 0), (1, 1), (2, 2), (3, 3)],
        [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)],
        [(0, 0)],
        [(0, 0), (1, 1), (1, 2), (2, 4), (3, 3), (4, 5)],
    ],
]
WEIGHTS = [[0, 0, 1, 0], [0, 1, 0, 0, 0, 1], [0], [0, 1, 0, 0, 0]]
KNOWN = frozenset({"das", "ist", "wir", "."})
GOLD = Gold(refs=REFS, src=SRC, ref_links=LINKS, weights=WEIGHTS, known=KNOWN)

BAD = Output(
    "bad",
    ["small the house", "we have today the book read", "", "home she goes home now ."],
    [
        [(0, 1), (1, 2), (3, 0)],
        [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)],
        [],
        [(0, 1), (1, 2), (2, 4), (3, 0), (3, 3), (4, 5)],
    ],
)
GOOD = Output("good", REFS[0], LINKS[0])


def metric(name: str, gold: Gold = GOLD) -> Metric:
    return make_metric(name, gold)


def part(gold: Gold, numbers: Sequence[int]) -> Gold:
    """Some sentences of a gold standard."""
    assert gold.src is not None
    assert gold.ref_links is not None
    assert gold.weights is not None
    return Gold(
        refs=[[ref[k] for k in numbers] for ref in gold.refs],
        src=[gold.src[k] for k in numbers],
        ref_links=[[links[k] for k in numbers] for links in gold.ref_links],
        weights=[gold.weights[k] for k in numbers],
        known=gold.known,
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_reference_is_best_and_anything_else_worse(name: str) -> None:
    measured = metric(name)
    best = measured.corpus_score(GOOD)
    if name not in ("nist", "meteor"):  # which have no fixed top
        assert best == pytest.approx(100 if measured.higher_is_better else 0)
    worse = measured.corpus_score(BAD)
    assert worse < best if measured.higher_is_better else worse > best


@pytest.mark.parametrize("name", NAMES)
def test_statistics_have_a_row_a_sentence_and_add_up(name: str) -> None:
    measured = metric(name)
    rows = measured.statistics(BAD)
    assert rows.shape[0] == len(GOLD)
    assert np.isfinite(rows).all()
    twice = measured.score(np.stack([rows.sum(axis=0), 2 * rows.sum(axis=0)]))
    assert twice[0] == pytest.approx(measured.corpus_score(BAD))
    assert twice[1] == pytest.approx(twice[0])  # as a text that says everything twice


@pytest.mark.parametrize("name", [name for name in NAMES if name != "nist"])
@given(st.sets(st.integers(0, 3), min_size=1))
@settings(max_examples=8)
def test_the_sum_of_some_rows_is_the_score_of_these_sentences(name: str, numbers: set[int]) -> None:
    kept = sorted(numbers)
    assert BAD.links is not None
    assume(any(any(WEIGHTS[k]) for k in kept))
    some = Output("some", [BAD.lines[k] for k in kept], [BAD.links[k] for k in kept])
    expected = metric(name, part(GOLD, kept)).corpus_score(some)
    score = metric(name).score(metric(name).statistics(BAD)[kept].sum(axis=0))
    assert float(score) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("name", NAMES)
def test_scores_of_many_sums_are_those_of_each(name: str) -> None:
    measured = metric(name)
    rows = measured.statistics(BAD).cumsum(axis=0)
    together = measured.score(rows.reshape(2, 2, -1))
    assert together.shape == (2, 2)
    each = [float(measured.score(row)) for row in rows]
    assert together.ravel() == pytest.approx(each, nan_ok=True)


#: Metrics that judge linked words alone: an output without links is n/a, neither good nor bad.
LINKED = ("krs-linked", "krs-v-linked", "reversals", "reversals-v")


@pytest.mark.parametrize("name", NAMES)
def test_nothing_at_all_scores_worst_or_is_not_available(name: str) -> None:
    measured = metric(name)
    nothing = Output("nothing", [""] * len(GOLD), [[]] * len(GOLD))
    score = measured.corpus_score(nothing)
    if name in LINKED:
        assert np.isnan(score)
    else:
        assert score == 0 if measured.higher_is_better else score > 90
    assert np.isfinite(measured.sentence_score(measured.statistics(nothing))).all()


@pytest.mark.parametrize("name", NAMES)
def test_the_first_columns_are_enough_where_a_metric_says_so(name: str) -> None:
    measured = metric(name)
    rows = measured.statistics(BAD)
    enough = rows[:, : measured.score_columns]
    assert measured.score(enough) == pytest.approx(measured.score(rows), nan_ok=True)


@pytest.mark.parametrize(
    "name", [name for name in NAMES if "links" in METRICS[name].needs or name == "ribes"]
)
def test_metrics_of_order_say_how_many_words_they_judge(name: str) -> None:
    measured = metric(name)
    full, some = (measured.details(measured.statistics(o).sum(axis=0)) for o in (GOOD, BAD))
    assert full["judged"] == 100
    assert 0 < some["judged"] < 100


@pytest.mark.parametrize("name", NAMES)
def test_signatures_name_metric_references_and_version(name: str) -> None:
    first, *facts = metric(name).signature().split("|")
    assert first == METRICS[name].name
    assert "nrefs:2" in facts
    assert facts[-1].startswith("version:")
    assert "\n" not in metric(name).signature()


@pytest.mark.parametrize("name", [name for name in NAMES if name not in {"chrf", "cer"}])
def test_scores_stay_when_words_are_renamed(name: str) -> None:
    names = {word for line in [*BAD.lines, *REFS[0], *REFS[1]] for word in line.split()}
    mapped = {word: f"w{number}" for number, word in enumerate(sorted(names))}

    def renamed(lines: Sequence[str]) -> list[str]:
        return [" ".join(mapped[word] for word in line.split()) for line in lines]

    gold = replace(GOLD, refs=list(map(renamed, REFS)))
    renamed_bad = Output("bad", renamed(BAD.lines), BAD.links)
    # no two words share a stem before or after
    assert metric(name, gold).corpus_score(renamed_bad) == pytest.approx(
        metric(name).corpus_score(BAD)
    )


#: Metrics whose penalty for length or number of edits may move either way with a reference.
PENALISED = ("bleu", "nist", "ter", "cer")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in PENALISED])
def test_one_more_reference_never_hurts(name: str) -> None:
    alone = replace(GOLD, refs=REFS[:1], ref_links=LINKS[:1])
    measured, both = metric(name, alone), metric(name)
    assert both.corpus_score(BAD) >= measured.corpus_score(BAD) - 1e-9


def test_every_metric_says_what_it_is_and_needs() -> None:
    for name, known in METRICS.items():
        assert known.name.lower() == name
        assert known.meaning
        assert set(known.needs) <= {"links", "weights", "known"}


@pytest.mark.parametrize("name", NAMES)
def test_without_options_a_metric_has_the_default_ones(name: str) -> None:
    assert metric(name).options == Options()
    assert metric(name).signature() == make_metric(name, GOLD, Options()).signature()
