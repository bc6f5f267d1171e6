"""Weight tuning as users meet it: exact line searches, known answers, bad luck, interruptions."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.known import NAMES, Known, Sparse

from wayword import _core
from wayword.cli import main
from wayword.corpus import toy
from wayword.errors import ArgumentError, FormatError, MismatchError
from wayword.evaluate import Gold, Options, Output, make_metric
from wayword.system import System
from wayword.tune import Candidates, Objective, Pool, mert, ngrams, tune
from wayword.tune.mert import best_step
from wayword.tune.objective import parse_metric
from wayword.tune.pool import Measured
from wayword.tune.run import METHODS
from wayword.tune.space import Space, average

Rows = np.typing.NDArray[np.float64]

# --- the line search -----------------------------------------------------------------------------


def core_pool(features: Rows, offsets: Sequence[int]) -> _core.CandidatePool:
    pool = _core.CandidatePool(features.shape[1])
    columns = np.ascontiguousarray(features.T, dtype=np.float32)
    pool.add(columns.tobytes(), np.diff(offsets).astype(np.uint32).tobytes())
    return pool


def search(
    features: Rows,
    offsets: Sequence[int],
    weights: Sequence[float],
    line: Sequence[float],
    gains: Rows,
) -> tuple[Rows, Rows]:
    """Where the best candidates change, and what they gain between two changes."""
    point = core_pool(features, offsets).point(list(weights))
    places = np.arange(len(features), dtype=np.uint32)
    statistics = _core.CandidateStatistics(gains.tobytes(), 8, gains.shape[1], places.tobytes())
    steps, sums = map(np.asarray, point.search(list(line), 0.0, statistics))
    return steps, sums.reshape(gains.shape[1], -1).T


def total(sums: Rows) -> Rows:
    return sums[..., 0]


def test_the_line_search_of_the_worked_example() -> None:
    # (slope, intercept): three lines of sentence 1, three of sentence 2
    lines = [(1, -1), (0, 0), (-1, -1.5), (2, -3), (0.5, 0), (-0.5, 0.25)]
    statistics = np.array([[1.0], [3], [0], [2], [5], [4]])
    steps, sums = search(np.array(lines, dtype=float), [0, 3, 6], [0, 1], [1, 0], statistics)
    assert steps.tolist() == [-1.5, 0.25, 1.0, 2.0]
    assert sums.tolist() == [[4], [7], [8], [6], [3]]  # 0 + 4 far to the left
    # the middle of 0.25 and 1
    assert best_step(steps, sums, total) == (0.625, 8.0)


def test_a_step_past_the_last_change_is_short_on_either_side() -> None:
    steps = np.array([2.0])
    rising, falling = np.array([[0.0], [1]]), np.array([[1.0], [0]])
    assert best_step(steps, rising, total) == (2.1, 1.0)
    assert best_step(steps, falling, total) == (1.9, 1.0)
    assert best_step(steps, rising, total, -1, 3) == (2.1, 1.0)
    assert best_step(steps, rising, total, -1, 2.1) == (2.05, 1.0)
    assert best_step(steps, falling, total, 1.9, 3) == (1.95, 1.0)
    assert best_step(np.empty(0), rising[:1], total) == (0.0, 0.0)


def test_of_equal_intervals_the_nearest_to_zero_is_taken() -> None:
    steps, sums = np.array([-3.0, -2.0, 5.0, 7.0]), np.array([[0.0], [1], [0], [1], [0]])
    assert best_step(steps, sums, total) == (-2.5, 1.0)


@pytest.mark.parametrize("size", [2, 4, 8])
def test_statistics_of_every_size_give_the_same_sums(size: int) -> None:
    kind = {2: np.uint16, 4: np.uint32, 8: np.float64}[size]
    pool = core_pool(np.array([[1.0, 0], [0, 1]]), [0, 2])
    rows, places = np.array([[3, 1], [0, 7]], dtype=kind), np.array([1, 0], dtype=np.uint32)
    statistics = _core.CandidateStatistics(rows.tobytes(), size, 2, places.tobytes())
    steps, sums = pool.point([0.0, 1.0]).search([1.0, 0.0], 0.0, statistics)
    assert np.asarray(steps).tolist() == [1.0]
    assert np.asarray(sums).tolist() == [3, 0, 1, 7]  # of the second candidate, then of the first


numbers = st.integers(-6, 6).map(float)
problems = st.integers(1, 4).flatmap(
    lambda sentences: st.tuples(
        st.lists(
            st.lists(st.tuples(numbers, numbers, st.integers(0, 9)), min_size=1, max_size=6),
            min_size=sentences,
            max_size=sentences,
        ),
        st.tuples(numbers, numbers),
        st.sampled_from([(1.0, 0.0), (0.0, 1.0), (1.0, 0.5), (-0.25, 1.0)]),
    )
)


@given(problems)
def test_the_line_search_equals_trying_every_interval(problem: Any) -> None:
    check_line_search(problem, -np.inf, np.inf)


@given(problems, st.floats(-3, 0), st.floats(0.01, 3))
def test_the_restricted_line_search_equals_trying_every_interval_inside(
    problem: Any, low: float, width: float
) -> None:
    check_line_search(problem, low, low + width)


def check_line_search(problem: Any, low: float, high: float) -> None:
    """Compare the best step between two limits with that of a search by hand."""
    sentences, weights, line = problem
    rows = np.array([row for sentence in sentences for row in sentence], dtype=float)
    offsets = np.cumsum([0, *map(len, sentences)])
    features, gains = rows[:, :2], rows[:, 2:]
    steps, sums = search(features, offsets.tolist(), weights, line, gains)
    step, score = best_step(steps, sums, total, low, high)
    assert low <= step <= high

    def at(step: float) -> float:
        """The metric at a step, by hand."""
        scores = features @ (np.array(weights) + step * np.array(line))
        pairs = pairwise(offsets.tolist())
        return float(sum(gains[a + scores[a:b].argmax(), 0] for a, b in pairs))

    slopes, heights = features @ np.array(line), features @ np.array(weights)
    with np.errstate(all="ignore"):
        meet = -np.subtract.outer(heights, heights) / np.subtract.outer(slopes, slopes)
    edges = np.unique(np.round(meet[np.isfinite(meet)], 12))
    # Intervals between changes and limits; beyond the last change 0.1 further, or up to the limit.
    inner = edges[(low < edges) & (edges < high)]
    ends = [max(low, inner[0] - 0.2) if len(inner) else max(low, -9.0)]
    ends += [*inner, min(high, inner[-1] + 0.2) if len(inner) else min(high, 9.0)]
    places = [(a + b) / 2 for a, b in pairwise(ends) if b - a > 1e-9]
    # Candidates that are equal all along the line may be told apart by their order alone, so
    # compare with the first of each sentence, as both sides do.
    assert score == pytest.approx(max(map(at, places)))
    assert at(step) == pytest.approx(score)


# --- statistics ----------------------------------------------------------------------------------

words = st.sampled_from(["a", "b", "c", "d", ".", "ä"])
lines = st.lists(words, max_size=9).map(" ".join)


@given(st.lists(st.tuples(lines, lines, lines), min_size=1, max_size=6), st.integers(0, 3))
def test_statistics_and_scores_are_those_of_evaluate(texts: Any, smooth: int) -> None:
    hyps, *refs = (list(side) for side in zip(*texts, strict=True))
    options = Options(smooth=("exp", "none", "floor", "add-k")[smooth])
    metric = make_metric("bleu", Gold(refs=refs), options)
    counter = ngrams.NgramCounter(refs, options)
    rows = counter.rows(range(len(hyps)), hyps)
    statistics = metric.statistics(Output("x", hyps))[:, : metric.score_columns]
    assert rows.tolist() == statistics.tolist()
    sums = rows.cumsum(axis=0)
    assert ngrams.bleu(sums, options.smooth) == pytest.approx(metric.score(sums), abs=1e-9)


def test_sentence_bleu_adds_one_everywhere() -> None:
    row = np.array([7.0, 7, 7, 4, 1, 0, 7, 6, 5, 4])
    # (8/8 · 5/7 · 2/6 · 1/5)^(1/4)
    assert ngrams.sentence_bleu(row) == pytest.approx(0.4671379777, abs=1e-10)


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter", "nist", "meteor", "ribes"])
def test_an_objective_scores_as_evaluate_does(name: str) -> None:
    refs = [["the cat sat on the mat", "", "a b"], ["a cat sat on a mat", "x", "a b c"]]
    gold = Gold(refs=refs)
    objective, metric = Objective(name, gold), make_metric(name, gold)
    hyps = ["the cat sat on mat", "x y", "a b"]
    rows = objective.rows([2, 0, 1, 0], [hyps[2], "another", hyps[1], hyps[0]])[[3, 2, 0]]
    statistics = metric.statistics(Output("x", hyps))[:, : metric.score_columns]
    assert rows.tolist() == statistics.tolist()
    score = metric.corpus_score(Output("x", hyps))
    expected = score if metric.higher_is_better else 100 - score
    assert objective.exact(rows.sum(axis=0)) == expected
    for sums in (rows.sum(axis=0), rows[1], 0 * rows[0]):
        expected = float(np.nan_to_num(metric.score(sums)))
        expected = expected if metric.higher_is_better else 100 - expected
        assert float(objective.score(sums)) == pytest.approx(expected, abs=1e-9)


def order_gold() -> Gold:
    links = [[[(0, 0), (1, 1), (2, 2)], [(0, 1), (1, 0)]]]
    return Gold(refs=[["a b c", "d e"]], src=["x y z", "u v"], ref_links=links)


def test_mixes_are_sums_of_their_parts() -> None:
    gold, hyps = order_gold(), ["b a c", "d e"]
    links = [[(0, 1), (1, 0), (2, 2)], [(0, 0), (1, 1)]]
    output = Output("x", hyps, links)
    objective = Objective({"krs": 2, "bleu": 2}, gold)
    sums = objective.rows([0, 1], hyps, links).sum(axis=0)
    parts = [make_metric(name, gold).corpus_score(output) for name in ("krs", "bleu")]
    assert objective.exact(sums) == pytest.approx(sum(parts) / 2)
    wrong = "metric: KRS without links; expected candidates with links to the source, "
    with pytest.raises(ArgumentError) as caught:
        objective.rows([0, 1], hyps)
    assert str(caught.value) == wrong + "for a metric of word order"


def test_reversals_can_be_tuned_alone_and_mixed_with_bleu() -> None:
    gold, hyps = order_gold(), ["b a c", "d e"]
    turned = [[(0, 1), (1, 0), (2, 2)], [(0, 1), (1, 0)]]
    output = Output("x", hyps, turned)
    parts = [make_metric(name, gold).corpus_score(output) for name in ("reversals", "bleu")]
    assert parts[0] == pytest.approx(100 * 2 * 1 / (2 + 1))  # two made, one of them in vain
    for shares in ({"reversals": 1.0}, {"reversals": 0.3, "bleu": 0.7}):
        objective = Objective(shares, gold)
        rows = objective.rows([0, 1], hyps, turned)
        assert rows.shape[1] == 3 + 10 * (len(shares) - 1)  # no columns by distance
        expected = sum(share * part for share, part in zip(shares.values(), parts, strict=False))
        assert objective.exact(rows.sum(axis=0)) == pytest.approx(expected)


def test_a_sentence_without_reversals_is_tuned_towards_making_none() -> None:
    objective = Objective("reversals", order_gold())
    straight, turned = [(0, 0), (1, 1), (2, 2)], [(0, 1), (1, 0), (2, 2)]
    links = [straight, turned, straight[:2], turned[:2]]
    rows = objective.rows([0, 0, 1, 1], ["a b c"] * 2 + ["d e"] * 2, links)
    # (2 tp + 1) / (pred + gold + 1); the reference reverses nothing, then one pair
    assert objective.sentence(rows).tolist() == [1, 1 / 2, 1 / 2, 1]
    assert objective.score(rows).tolist() == [0, 0, 0, 100]  # n/a counts as 0


@pytest.mark.parametrize("text", ["bleu=x", "bleu=0", "bleu=-1", "bleu=1,ter=nan"])
def test_a_wrong_mix_is_refused(text: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        parse_metric(text)
    wanted = "expected a name, or shares as in bleu=0.7,krs=0.3"
    assert str(caught.value) == f"metric: found `{text}`; {wanted}"


# --- the pool ------------------------------------------------------------------------------------


def small_pool(*lists: Sequence[tuple[str, Sequence[float]]]) -> Pool:
    """A pool of candidates with two features; every reference is ``a b c d``."""
    gold = Gold(refs=[["a b c d"] * len(lists)])
    pool = Pool(["lm", "wp"], Measured(Objective("bleu", gold)))
    pool.add([candidates(rows) for rows in lists])
    return pool


def candidates(rows: Sequence[tuple[str, Sequence[float]]]) -> Candidates:
    return Candidates(tuple(text for text, _ in rows), np.array([values for _, values in rows]))


def test_a_candidate_is_new_by_text_or_by_features() -> None:
    pool = small_pool([("a", (1, 2)), ("a", (1, 2)), ("a", (1, 3)), ("b", (1, 2))])
    assert len(pool) == 3
    again = pool.add([candidates([("b", (1, 2 + 1e-12)), ("c", (0.0, -0.0))])])
    assert again.features.tolist() == [[0, 0]]
    assert len(pool.add([candidates([("c", (-0.0, 0.0))])])) == 0


def test_candidates_of_a_sentence_stand_together() -> None:
    pool = small_pool([("a", (1, 0)), ("b", (2, 0))], [("c", (3, 0))])
    pool.add([candidates([("d", (4, 0))]), candidates([("a b c d", (5, 0)), ("f", (6, 0))])])
    assert pool.features[:, 0].tolist() == [1, 2, 4, 3, 5, 6]
    assert pool.offsets.tolist() == [0, 3, 6]
    assert pool.best(np.array([1.0, 0])).tolist() == [2, 5]
    assert pool.best(np.array([0.0, 0])).tolist() == [0, 3]  # of equal ones the first


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([], "dev: 0 n-best lists for 1 references; do source and references belong together?"),
        (
            [Candidates((), np.empty((0, 2)))],
            "dev, sentence 1: found 0 candidates with features of shape (0, 2); "
            "expected at least one, with 2 features",
        ),
        (
            [Candidates(("a",), np.array([[1.0, np.nan]]))],
            "dev, sentence 1: found a value of wp that is no number; expected finite features",
        ),
    ],
)
def test_n_best_lists_that_cannot_be_used_are_refused(lists: Any, message: str) -> None:
    pool = Pool(["lm", "wp"], Measured(Objective("bleu", Gold(refs=[["a"]]))))
    with pytest.raises((ArgumentError, MismatchError)) as caught:
        pool.add(lists)
    assert str(caught.value) == message


# --- rounds and runs -----------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["ter", "chrf", "bleu=0.5,ter=0.5"])
def test_other_metrics_can_be_tuned(metric: str) -> None:
    known = Known.make(sentences=10, size=20)
    tuning = tune(known, known.src, known.gold, metric=metric, nbest=20, runs=1, threads=1)
    assert tuning.after > 99
    assert ("TER" in tuning.signature) == ("ter" in metric)


# --- which weights may move ----------------------------------------------------------------------


def test_what_is_kept_of_a_round_slows_the_weights_down() -> None:
    known = Known.make(sentences=20)
    options: dict[str, Any] = {"nbest": 10, "runs": 1, "rounds": 1, "threads": 1}
    free = tune(known, known.src, known.gold, keep=0.0, **options).rounds[0]
    held = tune(known, known.src, known.gold, keep=0.9, **options).rounds[0]
    assert held["moved"] < 0.2 * free["moved"]


def test_a_round_starts_from_the_best_weights_so_far() -> None:
    """However bad the weights of a round turn out, the next ones lie near the best ones."""
    known = Known.make(sentences=20)
    options: dict[str, Any] = {"nbest": 3, "runs": 2, "rounds": 6, "threads": 1, "keep": 0.9}
    for record in (tuning := tune(known, known.src, known.gold, **options)).rounds:
        of_run = [earlier for earlier in tuning.rounds if earlier["run"] == record["run"]]
        best = max(of_run[: record["round"]], key=lambda earlier: earlier["score"])
        far = max(abs(record["next"][name] - best["weights"][name]) for name in record["next"])
        assert far <= 0.2 or not record["new"]


def test_a_start_that_is_not_finite_is_refused() -> None:
    for value in (float("nan"), float("inf")):
        known = Known.make(sentences=2).with_weights({**dict.fromkeys(NAMES, 0.2), "d": value})
        with pytest.raises(ArgumentError) as caught:
            tune(known, known.src, known.gold, threads=1)
        wanted = "expected a finite number; try --start flat"
        assert str(caught.value) == f"weight d: found {value}; {wanted}"


def test_a_candidate_whose_score_is_not_finite_is_refused() -> None:
    pool = small_pool([("a", (3e38, 1.0))])
    wanted = "found a candidate whose score is not finite; expected smaller weights"
    with pytest.raises(ArgumentError, match=f"^weights: {wanted}$"):
        pool.score(np.array([1e300, 0.0]))
    sparse = Pool(["lm"], Measured(Objective("bleu", Gold(refs=[["a"]]))))
    sparse.add([Candidates(("a",), np.zeros((1, 1)), sparse=({"x": 1e300},))])
    with pytest.raises(ArgumentError, match=f"^weights: {wanted}$"):
        sparse.score(np.array([0.0, 1e300]))


def test_random_points_keep_the_signs_of_features() -> None:
    weights = {"lm": 1.0, "wp": -1.0, "d": 1.0}
    space = Space.of(weights, nonnegative=["lm", "d"])
    draw = np.random.default_rng(1)
    every = np.ones(3, dtype=bool)
    drawn = np.array([space.random(np.ones(3), every, draw) for _ in range(50)])
    assert (drawn[:, [0, 2]] >= 0).all()
    assert (drawn[:, 1] < 0).any()
    assert (drawn[:, 1] > 0).any()


def test_oov_moves_only_when_it_is_free() -> None:
    weights = {"lm": 0.5, "oov": 100.0}
    assert Space.of(weights).is_free.tolist() == [True, False]
    assert Space.of(weights, free=["oov"]).is_free.tolist() == [True, True]


def test_weights_beside_a_fixed_one_are_not_scaled() -> None:
    weights = {"lm": 2.0, "wp": 2.0, "d": 0.5}
    point = np.array([2.0, 2.0, 0.5])
    assert Space.of(weights, fixed=["d"]).normalised(point).tolist() == [2, 2, 0.5]
    zero = {**weights, "d": 0.0}
    assert Space.of(zero, fixed=["d"]).normalised(np.array([2.0, 2, 0])).tolist() == [0.5, 0.5, 0]


def test_the_average_takes_missing_names_for_zero() -> None:
    assert average([{"lm": 0.5}, {"lm": 0.25, "x": 1.0}]) == {"lm": 0.375, "x": 0.5}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runs": 0}, "runs: found 0; expected at least 1"),
        ({"keep": 1.0}, "keep: found 1.0; expected a share from 0 to below 1"),
        ({"start": "x"}, "start: found `x`; expected current or flat"),
        ({"choose": "x"}, "choose: found `x`; expected best or last"),
        ({"method": "x"}, "method: found `x`; expected mert, pro, mira"),
        ({"fixed": ["x"]}, "fixed: found `x`; expected some of lm, wp, tm0, tm1, d, oov"),
        ({"fixed": NAMES}, "fixed: found all weights; expected one that may move"),
        ({"ranges": {"d": (1, 0)}}, "ranges: found d 1 to 0; expected low below high"),
        ({"seed": -1}, "seed: found -1; expected 0 or more"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    known = Known.make(sentences=2)
    with pytest.raises(ArgumentError) as caught:
        tune(known, known.src, known.gold, **options)
    assert str(caught.value) == message


# --- interruptions -------------------------------------------------------------------------------


def test_to_resume_something_else_is_refused(tmp_path: Path) -> None:
    known = Known.make(sentences=3, size=10)
    options: dict[str, Any] = {"runs": 1, "rounds": 1, "threads": 1, "folder": tmp_path}
    tune(known, known.src, known.gold, **options)
    with pytest.raises(MismatchError) as caught:
        tune(known, known.src, known.gold, **{**options, "rounds": 2}, resume=True)
    found = f"{tmp_path / 'settings.json'}: rounds was 1 and is 2"
    assert str(caught.value) == f"{found}; continue with the same, or start again without --resume"
    (tmp_path / "run-1" / "end.json").write_text("{}")
    with pytest.raises(FormatError, match=r"end.json: damaged .* expected the end of a run"):
        tune(known, known.src, known.gold, **options, resume=True)
    (tmp_path / "run-1" / "end.json").unlink()
    (tmp_path / "run-1" / "round-01.npz").write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(FormatError, match=r"round-01.npz: damaged .* expected a round of tuning"):
        tune(known, known.src, known.gold, **options, resume=True)
    tune(known, known.src, known.gold, **options)  # without resume it starts over
    (tmp_path / "settings.json").write_text("{")
    with pytest.raises(FormatError, match=r"settings.json: damaged"):
        tune(known, known.src, known.gold, **options, resume=True)


@pytest.mark.parametrize("calls", range(8))
def test_stopped_at_any_decoding_it_goes_on_and_decodes_nothing_twice(
    tmp_path: Path, calls: int
) -> None:
    options: dict[str, Any] = {"runs": 2, "rounds": 4, "nbest": 5, "threads": 1, "patience": 9}
    whole = Known.make(sentences=6, size=20)
    tuning = tune(whole, whole.src, whole.gold, **options)
    broken = replace(Known.make(sentences=6, size=20), fuse=calls)
    with pytest.raises(KeyboardInterrupt):
        tune(broken, broken.src, broken.gold, **options, folder=tmp_path, resume=True)
    (tmp_path / ".log.jsonl.0123abcd.part").write_text("half a file")
    rest = Known.make(sentences=6, size=20)
    again = tune(rest, rest.src, rest.gold, **options, folder=tmp_path, resume=True)
    assert again.weights == tuning.weights
    assert [_timeless(record) for record in again.rounds] == list(map(_timeless, tuning.rounds))
    assert len(broken.calls) + len(rest.calls) <= len(whole.calls) + 1
    assert not list(tmp_path.rglob("*.part"))
    kept = sorted(path.parent.name + "/" + path.name for path in tmp_path.rglob("*.npz"))
    assert kept == ["run-1/round-01.npz"]  # lists of runs that have ended are of no more use


@pytest.mark.parametrize("calls", range(1, 12, 2))
def test_no_block_of_sentences_is_decoded_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    options: dict[str, Any] = {"runs": 1, "rounds": 3, "nbest": 5, "threads": 1, "patience": 9}
    whole = Known.make(sentences=6, size=20)
    tuning = tune(whole, whole.src, whole.gold, **options)
    monkeypatch.setattr("wayword.tune.run.BLOCK", 2)
    blocks = 3 * (len(tuning.rounds) + 1)  # of the rounds and of the end
    broken = replace(Known.make(sentences=6, size=20), fuse=calls)
    with pytest.raises(KeyboardInterrupt):
        tune(broken, broken.src, broken.gold, **options, folder=tmp_path, resume=True)
    rest = Known.make(sentences=6, size=20)
    again = tune(rest, rest.src, rest.gold, **options, folder=tmp_path, resume=True)
    assert again.weights == tuning.weights
    # The block that was under way, and the last one of a round, which is kept with the round.
    assert len(broken.calls) - 1 + len(rest.calls) <= blocks + 2
    assert not list(tmp_path.rglob("*.block-*"))


@pytest.mark.parametrize("climbs", [0, 1, 7, 30])
def test_stopped_in_the_middle_of_a_search_no_climb_is_done_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, climbs: int
) -> None:
    options: dict[str, Any] = {"runs": 1, "rounds": 3, "nbest": 5, "threads": 1, "patience": 9}
    known = Known.make(sentences=6, size=20)
    whole = tune(known, known.src, known.gold, **options)
    done: list[int] = []
    climb = mert._Search.climb

    def counted(self: mert._Search, start: Rows, seed: int) -> tuple[Rows, float]:
        if len(done) == climbs and not (tmp_path / "stopped").exists():
            (tmp_path / "stopped").touch()
            raise KeyboardInterrupt
        done.append(seed)
        return climb(self, start, seed)

    monkeypatch.setattr(mert._Search, "climb", counted)
    with pytest.raises(KeyboardInterrupt):
        tune(known, known.src, known.gold, **options, folder=tmp_path, resume=True)
    [notes] = tmp_path.rglob("*.notes") if climbs else [tmp_path / "none.notes"]
    with notes.open("a") as file:
        file.write('["start 99", {"point": [0.1')  # killed while it was written
    again = tune(known, known.src, known.gold, **options, folder=tmp_path, resume=True)
    assert again.weights == whole.weights
    assert list(map(_timeless, again.rounds)) == list(map(_timeless, whole.rounds))
    assert len(done) == len(set(done))
    assert not list((tmp_path / "run-1").glob("*.notes"))


def test_a_restored_pool_is_the_same_as_one_of_lists() -> None:
    known = Sparse.make(sentences=4, size=20)
    names = list(known.weights)
    pools = [Pool(names, Measured(Objective("bleu", known.gold))) for _ in range(2)]
    for size in (3, 8, 8, 20):
        lists = known.nbest(
            known.src, size=size, distinct=False, links=False, threads=1, progress=None
        )
        pools[1].restore(pools[0].add(lists))
    first, second = pools
    assert len(first) == len(second) == 24  # six texts of each sentence
    assert (first.names, first.sparse) == (second.names, second.sparse)
    assert np.array_equal(first.features, second.features)
    assert np.array_equal(first.offsets, second.offsets)
    assert np.array_equal(first.statistics(slice(None)), second.statistics(slice(None)))
    assert len(second.add(lists)) == 0


def _timeless(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "seconds"}


def test_runs_share_the_first_n_best_lists_and_nothing_else() -> None:
    known = Known.make(sentences=6, size=20)
    tuning = tune(known, known.src, known.gold, runs=3, rounds=2, nbest=5, threads=1)
    later = sum(record["round"] > 1 for record in tuning.rounds)
    # the first round once, later rounds each, the end of each run, the means of two and of three
    assert sorted(known.calls) == sorted([5] * (1 + later) + [1] * (3 + 2))
    assert tuning.rounds[0]["weights"] == dict(known.values)


def test_weights_that_were_decoded_are_not_decoded_again() -> None:
    known = Known.make(sentences=6, size=20)
    tuning = tune(known, known.src, known.gold, runs=2, nbest=20, threads=1)
    assert {record["stop"] for record in tuning.rounds} == {"", "no new candidates"}
    later = sum(record["round"] > 1 for record in tuning.rounds)
    # Both runs end at the weights of their last round; only their mean is new.
    assert known.calls == [20] * (1 + later) + [1]


def test_the_best_weights_of_a_run_can_be_chosen() -> None:
    known = Known.make(sentences=30)
    options: dict[str, Any] = {"nbest": 5, "runs": 1, "rounds": 3, "threads": 1}
    last = tune(known, known.src, known.gold, choose="last", **options)
    best = tune(known, known.src, known.gold, **options)
    scores = [record["score"] for record in last.rounds]
    assert best.after == max([*scores, last.after])


@pytest.mark.parametrize("seed", range(4))
def test_the_mean_of_runs_on_different_hills_is_not_taken(seed: int) -> None:
    known = Known.make(sentences=4, size=30, seed=seed)
    options: dict[str, Any] = {"nbest": 3, "runs": 4, "rounds": 2, "threads": 1, "seed": seed}
    tuning = tune(known, known.src, known.gold, **options)
    best = sorted(tuning.runs, key=lambda run: -run.score)[: tuning.averaged]
    assert tuning.after >= best[0].score
    free = [name for name in NAMES if name != "oov"]
    mean = {name: sum(run.weights[name] for run in best) for name in free}
    size = sum(map(abs, mean.values()))
    assert [tuning.weights[name] for name in free] == pytest.approx([mean[n] / size for n in free])


def test_a_tuning_is_described_with_a_small_plot() -> None:
    known = Known.make(sentences=6, size=20)
    tuning = tune(known, known.src, known.gold, runs=2, rounds=3, nbest=5, threads=1)
    text = tuning.describe().splitlines()
    assert text[0] == f"dev score before  {tuning.before:.2f}"
    assert text[1].startswith("run 1  ▁")
    assert f"the scores of all spread by ±{tuning.spread:.2f}" in text[-1]
    assert tuning._repr_html_().count("<polyline") == 2
    best = replace(tuning, averaged=1)
    for told in (best.describe(), best._repr_html_()):
        assert "those of the best of 2 tuning runs" in told
        assert "mean" not in told
    mean = replace(tuning, averaged=2)
    for told in (mean.describe(), mean._repr_html_()):
        assert "the mean of 2 tuning runs" in told
    assert json.loads(json.dumps(tuning.to_dict()))["after"] == tuning.after
    bounded = replace(tuning, at_bound=("tm1", "d")).describe().splitlines()
    assert bounded == [*text, "at their bound    tm1, d"]


# --- a real system -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def dev(toy_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A copy of a system with poor weights, and a dev set of 50 lines, two of them blank."""
    folder = tmp_path_factory.mktemp("tune")
    system = folder / "system"
    shutil.copytree(toy_folder / "system", system)
    System.open(system).with_weights({"wp": 0.3, "tm0": 0.01, "lm": 0.1}).save()
    toy.write("de-en", 48, folder / "corpus", seed=9)
    for lang in ("de", "en"):
        text = (folder / "corpus" / f"train.{lang}").read_text(encoding="utf-8")
        unknown = "qwxz\n" if lang == "de" else "nothing\n"
        (folder / f"dev.{lang}").write_text(f"\n{unknown}{text}", encoding="utf-8")
    return system, folder / "dev.de", folder / "dev.en"


QUICK = ("--nbest=20", "--rounds=4", "--option=restarts=3", "--threads=1")


def command(*args: str | Path) -> list[str]:
    return [sys.executable, "-m", "wayword", "tune", *map(str, args)]


def copy_of(system: Path, folder: Path) -> Path:
    shutil.copytree(system, folder / "system")
    return folder / "system"


@pytest.mark.parametrize("method", METHODS)
def test_the_command_writes_better_weights(
    dev: tuple[Path, Path, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    method: str,
) -> None:
    system, src, ref = copy_of(dev[0], tmp_path), *dev[1:]
    before = System.open(system)
    quick = ["--nbest=20", "--rounds=3", "--threads=1", "--runs=1", f"--method={method}"]
    assert main(["tune", str(system), "--dev", str(src), str(ref), *quick, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["after"] > printed["before"] + 1
    after = System.open(system)
    assert after.weights == pytest.approx(printed["weights"])
    assert after.weights["oov"] == before.weights["oov"]
    assert after.made["tune"]["method"] == method
    assert after.made["corpus"] == before.made["corpus"]
    lines = (system / "tune" / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["round"] for line in lines] == list(range(1, len(lines) + 1))
    assert "<polyline" in (system / "tune" / "rounds.svg").read_text()
    # the score is the one that evaluate gives the output of translate
    hyps = [translation.text for translation in after.translate(src.read_text().splitlines())]
    gold = Gold(refs=[ref.read_text().splitlines()])
    score = make_metric("bleu", gold).corpus_score(Output("x", hyps))
    assert score == pytest.approx(printed["after"])


def test_a_dry_run_leaves_the_system(
    dev: tuple[Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    system, src, ref = copy_of(dev[0], tmp_path), *dev[1:]
    manifest = (system / "system.toml").read_bytes()
    folder = tmp_path / "rounds"
    options = ["--runs=2", "--rounds=1", "--dry-run", f"--folder={folder}", "--range=d=0:1"]
    assert main(["tune", str(system), "--dev", str(src), str(ref), *options, *QUICK[2:]]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in shown] == ["dev", "run", "run", "dev", "at"]
    assert (system / "system.toml").read_bytes() == manifest
    assert not (system / "tune").exists()
    assert (folder / "run-2" / "end.json").is_file()


def test_word_order_can_be_tuned(dev: tuple[Path, Path, Path], tmp_path: Path) -> None:
    system, src, ref = copy_of(dev[0], tmp_path), *dev[1:]
    pairs = zip(*(path.read_text().splitlines() for path in (src, ref)), strict=True)
    counts = [(len(a.split()), len(b.split())) for a, b in pairs]
    links = tmp_path / "links"
    diagonal = (" ".join(f"{k}-{k}" for k in range(min(pair))) for pair in counts)
    links.write_text("".join(f"{line}\n" for line in diagonal))
    options = ["--metric=krs=0.5,bleu=0.5", "--prepared", f"--ref-links={links}", "--runs=1"]
    assert main(["tune", str(system), "--dev", str(src), str(ref), *options, *QUICK]) == 0
    note = System.open(system).made["tune"]
    assert note["metric"].startswith("0.5 × KRS|nrefs:1")
    assert note["after"] > note["before"]


@pytest.mark.parametrize(
    ("options", "message", "code"),
    [
        (["--dev", "SRC"], "dev: found 1 file; expected the source and a reference", 2),
        (["--dev", "SRC", "no"], "no: No such file or directory", 1),
        (["--dev", "SRC", "REF", "--method=x"], "method: found `x`; expected mert, pro, mira", 2),
        (
            ["--dev", "SRC", "REF", "--range=d=x"],
            "range: found `d=x`; expected NAME=LOW:HIGH, one of the two may be missing",
            2,
        ),
        (["--dev", "SRC", "REF", "--option=a=b"], "option: found `a=b`; expected NAME=NUMBER", 2),
        (
            ["--dev", "SRC", "REF", "--aligner=x"],
            "dev: found links or tags beside raw text; expected prepared text",
            2,
        ),
    ],
)
def test_wrong_usage_is_one_sentence(
    dev: tuple[Path, Path, Path],
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    message: str,
    code: int,
) -> None:
    names = {"SRC": str(dev[1]), "REF": str(dev[2])}
    assert main(["tune", str(dev[0]), *(names.get(option, option) for option in options)]) == code
    assert capsys.readouterr().err == f"wayword: {message}\n"


def test_a_killed_tuning_resumes_to_the_same_weights(
    dev: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    options: list[str | Path] = ["--dev", *dev[1:], "--runs=2", *QUICK]
    (tmp_path / "whole").mkdir()
    whole = copy_of(dev[0], tmp_path / "whole")
    subprocess.run(command(whole, *options), check=True, capture_output=True)
    broken = copy_of(dev[0], tmp_path)
    kills = 0
    for rounds in (1, 3, 5):  # killed as soon as so many rounds are on disk
        child = subprocess.Popen(command(broken, *options, "--resume"), stdout=subprocess.DEVNULL)
        while child.poll() is None and len(list(broken.glob("tune/run-*/round-*.npz"))) < rounds:
            time.sleep(0.01)
        kills += child.poll() is None
        child.kill()  # SIGKILL: nothing can be tidied up
        child.wait()
    assert kills
    subprocess.run(command(broken, *options, "--resume"), check=True, capture_output=True)
    assert System.open(broken).weights == System.open(whole).weights
    subprocess.run(command(broken, *options, "--resume"), check=True, capture_output=True)
    assert System.open(broken).weights == System.open(whole).weights  # done is done
