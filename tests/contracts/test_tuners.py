"""What every tuning method promises, however it finds its weights."""

import json
import pickle
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.known import NAMES, NONNEGATIVE, TRUTH, Known, Sparse, agreement

from wayword.errors import ArgumentError
from wayword.evaluate import Gold
from wayword.tune import METHODS, Candidates, Objective, Plan, Pool, Tuner, make_tuner, tune
from wayword.tune.pool import Measured
from wayword.tune.space import Space
from wayword.tune.state import Record

#: Methods that look at the metric of the pool itself, and never come back with a lower one. PRO
#: ranks pairs of candidates and MIRA takes averages: the metric may fall.
CLIMBING = ("mert",)
SPARSE = [name for name, method in METHODS.items() if method.takes_sparse]
#: Less than the default of each, for speed.
FEW: dict[str, dict[str, int]] = {"mert": {"restarts": 3}, "mira": {"passes": 5}}


def tuner_of(method: str, threads: int = 1) -> Tuner:
    return make_tuner(method, threads, **FEW.get(method, {}))


# --- one step of a method, on a pool --------------------------------------------------------------


def pool_of(known: Known) -> tuple[Pool, Space, np.typing.NDArray[np.float64]]:
    """All candidates, the space around the weights, and the weights."""
    pool = Pool(NAMES, Measured(Objective("bleu", known.gold)))
    pool.add(known.lists)
    return pool, Space.of(known.weights), np.array([known.weights[name] for name in NAMES])


@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_point(method: str) -> None:
    pool, space, point = pool_of(Known.make(sentences=10, size=30))
    first, again = (tuner_of(method).optimise(pool, space, [point], (1, 2)) for _ in range(2))
    assert first.tolist() == again.tolist()
    assert first.tolist() != point.tolist()
    threads = tuner_of(method, threads=2).optimise(pool, space, [point], (1, 2))
    assert threads.tolist() == first.tolist()


@pytest.mark.parametrize("method", METHODS)
def test_pool_and_point_are_only_looked_at(method: str) -> None:
    pool, space, point = pool_of(Known.make(sentences=10, size=30))
    features, start = pool.features.copy(), point.copy()
    points = [point, point + 0.1]
    tuner_of(method).optimise(pool, space, points, (1,))
    assert pool.features.tolist() == features.tolist()
    assert [given.tolist() for given in points] == [start.tolist(), (start + 0.1).tolist()]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(5))
def test_what_is_held_stays_and_all_is_finite(method: str, seed: int) -> None:
    pool, space, point = pool_of(Known.make(sentences=5, size=20, seed=seed))
    better = tuner_of(method).optimise(pool, space, [point], (seed,))
    assert np.isfinite(better).all()
    assert better[NAMES.index("oov")] == 100.0


@pytest.mark.parametrize("method", CLIMBING)
@pytest.mark.parametrize("seed", range(8))
def test_a_climbing_method_never_lowers_the_metric_of_the_pool(method: str, seed: int) -> None:
    pool, space, _ = pool_of(Known.make(sentences=40, seed=seed))
    bad = np.random.default_rng(seed).normal(size=len(NAMES))
    tuner = make_tuner(method, restarts=0)
    assert pool.score(TRUTH) == pytest.approx(100)  # not every start leads there
    assert pool.score(tuner.optimise(pool, space, [bad], (seed,))) >= pool.score(bad)
    assert pool.score(tuner.optimise(pool, space, [TRUTH], (seed,))) == pytest.approx(100)
    # Points of earlier rounds are starts too: the best of them is not lost.
    assert pool.score(tuner.optimise(pool, space, [bad, TRUTH], (seed,))) == pytest.approx(100)


# --- signs ----------------------------------------------------------------------------------------

#: The best weights have the wrong sign of distortion and of a translation score.
WRONG_SIGNS = np.array([0.4, -0.2, 0.15, -0.1, -0.15, 0.0])
#: MERT without random starts: those depend on the limits.
BARE: dict[str, dict[str, int]] = {"mert": {"restarts": 0}, "mira": {"passes": 5}}
truths = st.lists(st.floats(-1, 1), min_size=len(NAMES), max_size=len(NAMES))


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=25)
@given(seed=st.integers(0, 99), truth=truths, start=truths)
def test_no_method_leaves_the_sign_of_a_feature(
    method: str, seed: int, truth: list[float], start: list[float]
) -> None:
    best = np.array(truth) + np.array([0.01, 0, 0, 0, 0, 0])  # never all 0
    known = Known.make(sentences=4, size=20, seed=seed, truth=best)
    pool, _, _ = pool_of(known)
    space = Space.of(known.weights, nonnegative=NONNEGATIVE)
    point = make_tuner(method, **BARE.get(method, {})).optimise(
        pool, space, [np.array(start)], (seed,)
    )
    assert all(point[NAMES.index(name)] >= 0 for name in NONNEGATIVE)
    assert np.isfinite(point).all()


@pytest.mark.parametrize("method", METHODS)
def test_no_round_of_a_tuning_leaves_the_sign_of_a_feature(method: str) -> None:
    known = Known.make(sentences=12, truth=WRONG_SIGNS)
    start = known.with_weights({**known.weights, "d": -0.3})
    options: dict[str, Any] = {"nbest": 10, "runs": 2, "rounds": 4, "threads": 1}
    tuning = tune(start, start.src, start.gold, method=tuner_of(method), **options)
    tuned = [tuning.weights, *(run.weights for run in tuning.runs)]
    for record in tuning.rounds:
        tuned += [record["weights"], record["next"]]
    assert all(weights[name] >= 0 for weights in tuned for name in NONNEGATIVE)
    assert tuning.weights["wp"] < 0  # a count has either sign
    assert tuning.after > tuning.before
    at_zero = [name for name in NONNEGATIVE if tuning.weights[name] == 0]
    assert list(tuning.at_bound) == at_zero
    # A range that is given explicitly takes the place of the sign.
    ranges = dict.fromkeys(NONNEGATIVE, (-np.inf, np.inf))
    free = tune(known, known.src, known.gold, method=tuner_of(method), ranges=ranges, **options)
    assert free.weights["d"] < 0
    assert free.at_bound == ()


@pytest.mark.parametrize("method", METHODS)
def test_a_fixed_weight_of_the_wrong_sign_stays_as_it_is(method: str) -> None:
    known = Known.make(sentences=12, truth=WRONG_SIGNS)
    start = known.with_weights({**known.weights, "d": -0.3})
    options: dict[str, Any] = {"nbest": 10, "runs": 1, "rounds": 3, "threads": 1}
    tuning = tune(start, start.src, start.gold, method=tuner_of(method), fixed=["d"], **options)
    assert tuning.weights["d"] == -0.3
    assert all(record["next"]["d"] == -0.3 for record in tuning.rounds)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_limits_that_are_not_reached_change_nothing(method: str, seed: int) -> None:
    pool, space, point = pool_of(Known.make(sentences=30, size=30, seed=seed))
    limited = Space.of(
        dict(zip(NAMES, point.tolist(), strict=True)), ranges=dict.fromkeys(NAMES, (-999.0, 999.0))
    )
    tuner = make_tuner(method, **BARE.get(method, {}))
    free = tuner.optimise(pool, space, [point], (seed,))
    assert np.abs(free).max() < 900
    assert tuner.optimise(pool, limited, [point], (seed,)) == pytest.approx(free, abs=1e-9)


# --- whole tunings --------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_known_weights(method: str) -> None:
    known = Known.make()
    tuning = tune(known, known.src, known.gold, method=method, nbest=20, runs=2, threads=1)
    assert tuning.before < 70
    assert tuning.after > 99
    assert agreement(tuning.weights) > 0.97
    assert tuning.weights["oov"] == 100.0
    dense = [abs(value) for name, value in tuning.weights.items() if name != "oov"]
    assert sum(dense) == pytest.approx(1)
    assert [run.score for run in tuning.runs] == pytest.approx([tuning.after] * 2, abs=1)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_the_best_round_of_a_run_is_never_worse_than_the_start(method: str, seed: int) -> None:
    known = Known.make(sentences=4, size=25, seed=seed)
    draw = np.random.default_rng(seed)
    start = known.with_weights(dict(zip(NAMES, draw.normal(size=len(NAMES)).tolist(), strict=True)))
    options: dict[str, Any] = {"nbest": 3, "runs": 2, "rounds": 2, "threads": 1, "seed": seed}
    tuning = tune(start, start.src, start.gold, method=tuner_of(method), **options)
    assert all(run.score >= tuning.before for run in tuning.runs)


@pytest.mark.parametrize("method", METHODS)
def test_a_constant_feature_and_single_candidates_do_no_harm(method: str) -> None:
    known = Known.make(sentences=8)
    lists = [Candidates(nbest.texts[:1], nbest.features[:1]) for nbest in known.lists[:4]]
    for nbest in known.lists[4:]:
        nbest.features[:, 2] = -3.0  # tm0 tells nothing apart
        lists.append(nbest)
    single = Known(tuple(lists), known.values)
    tuning = tune(single, single.src, single.gold, method=method, runs=1, threads=1, rounds=4)
    assert all(map(np.isfinite, tuning.weights.values()))
    assert tuning.after > tuning.before - 3  # PRO ranks pairs: the metric may even fall


@pytest.mark.parametrize("method", METHODS)
def test_nothing_to_choose_from_leaves_the_weights(method: str) -> None:
    known = Known.make(sentences=3)
    lists = tuple(Candidates(nbest.texts[:1], nbest.features[:1]) for nbest in known.lists)
    single = Known(lists, known.values)
    tuning = tune(single, single.src, single.gold, method=method, runs=2, threads=1)
    assert tuning.weights == pytest.approx(known.values)
    assert [run.stop for run in tuning.runs] == ["weights stand still"] * 2


@pytest.mark.parametrize("method", METHODS)
def test_empty_lines_and_words_that_match_nothing_do_no_harm(method: str) -> None:
    known = Known.make(sentences=6)
    nothing = Candidates(("",), np.zeros((1, len(NAMES))))
    unknown = Candidates(("?? ??", "??"), known.lists[1].features[:2])
    odd = Known((nothing, unknown, *known.lists[2:]), known.values)
    gold = Gold(refs=[["", *known.gold.refs[0][1:]]])
    tuning = tune(odd, odd.src, gold, method=method, runs=1, threads=1)
    assert all(map(np.isfinite, tuning.weights.values()))
    assert tuning.after > 60
    hopeless = Known((nothing, unknown), known.values)
    gold = Gold(refs=[["", "a b c d"]])
    tuning = tune(hopeless, hopeless.src, gold, method=method, runs=1, threads=1)
    assert all(map(np.isfinite, tuning.weights.values()))
    assert tuning.after == 0.0


@pytest.mark.parametrize("method", METHODS)
def test_threads_change_nothing_and_seeds_only_the_way(method: str) -> None:
    known = Known.make(sentences=20)
    options: dict[str, Any] = {"nbest": 10, "runs": 1, "rounds": 3}

    def weights(threads: int, seed: int) -> dict[str, float]:
        tuner = tuner_of(method, threads)
        tuning = tune(
            *(known, known.src, known.gold), method=tuner, threads=threads, seed=seed, **options
        )
        return tuning.weights

    assert weights(threads=1, seed=1) == weights(threads=2, seed=1)
    assert weights(threads=1, seed=7) != weights(threads=1, seed=1)


@pytest.mark.parametrize("method", METHODS)
def test_fixed_weights_and_ranges_are_kept(method: str) -> None:
    known = Known.make(sentences=20)
    options: dict[str, Any] = {"nbest": 10, "runs": 1, "rounds": 3, "threads": 1}
    tuning = tune(
        *(known, known.src, known.gold),
        **{**options, "method": method},
        fixed=["tm1"],
        ranges={"d": (-np.inf, 0.05), "lm": (0.1, 0.3)},
    )
    for record in tuning.rounds:
        assert record["next"]["tm1"] == 0.2
        assert record["next"]["d"] <= 0.05
        assert 0.1 <= record["next"]["lm"] <= 0.3


# --- sparse features ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", SPARSE)
def test_sparse_features_get_weights(method: str, tmp_path: Path) -> None:
    known = Known.make(sentences=10)
    sparse = Sparse(known.lists, known.values)
    options: dict[str, Any] = {"method": method, "runs": 1, "rounds": 2, "threads": 1}
    tuning = tune(sparse, sparse.src, sparse.gold, folder=tmp_path, **options)
    assert tuning.weights["good"] > 0
    assert tuning.rounds[0]["pool_score"] == pytest.approx(100)
    again = tune(sparse, sparse.src, sparse.gold, folder=tmp_path, resume=True, **options)
    assert again.weights == tuning.weights


@pytest.mark.parametrize("method", sorted(set(METHODS) - set(SPARSE)))
def test_a_method_for_dense_features_refuses_sparse_ones(method: str) -> None:
    known = Known.make(sentences=3)
    sparse = Sparse(known.lists, known.values)
    with pytest.raises(ArgumentError) as caught:
        tune(sparse, sparse.src, sparse.gold, method=method, threads=1)
    wanted = "expected dense ones only; tune sparse features by pro or mira"
    assert str(caught.value) == f"method: found sparse features; {wanted}"


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_defaults_are_kept_pickled_and_written_down(method: str) -> None:
    tuner = make_tuner(method)
    assert tuner == METHODS[method]()
    assert pickle.loads(pickle.dumps(tuner)) == tuner
    noted = Plan(method=tuner).to_dict()["method"]
    assert json.loads(json.dumps(noted)) == noted
    assert noted["name"] == method


@pytest.mark.parametrize("method", METHODS)
def test_bad_and_unknown_options_are_refused(method: str) -> None:
    names = [option.name for option in fields(METHODS[method]) if option.name != "threads"]
    for name in names:
        with pytest.raises(ArgumentError, match="found"):
            make_tuner(method, **{name: -1})
    with pytest.raises(ArgumentError) as caught:
        make_tuner(method, luck=3)
    assert str(caught.value) == f"luck: no option of {method}; expected some of {', '.join(names)}"


# --- interruptions --------------------------------------------------------------------------------


def without_times(records: Sequence[Record]) -> list[Record]:
    return [{name: record[name] for name in record if name != "seconds"} for record in records]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fuse", [0, 1, 2, 4, 5])
def test_an_interrupted_tuning_goes_on_to_the_same_end(
    tmp_path: Path, method: str, fuse: int
) -> None:
    known = Known.make(sentences=12, size=40)
    options: dict[str, Any] = {"nbest": 8, "runs": 2, "rounds": 3, "threads": 1}
    options["method"] = tuner_of(method)
    whole = tune(known, known.src, known.gold, **options)
    breaking = Known(known.lists, known.values, fuse=fuse)
    with pytest.raises(KeyboardInterrupt):
        tune(breaking, known.src, known.gold, folder=tmp_path, **options)
    for path in tmp_path.glob("run-*/round-*"):  # what a kill may leave behind
        path.with_name(f".{path.name}.0000.part").write_bytes(b"half")
    # Weights written since then do not matter: it goes on with those it began with.
    later = known.with_weights(dict.fromkeys(NAMES, 0.7))
    logged: list[Record] = []
    again = tune(
        *(later, known.src, known.gold), folder=tmp_path, resume=True, log=logged.append, **options
    )
    assert again.weights == whole.weights
    assert (again.before, again.after) == (whole.before, whole.after)
    assert without_times(again.rounds) == without_times(whole.rounds)
    assert list(again.rounds) == logged
    lines = (tmp_path / "log.jsonl").read_text().splitlines()
    assert without_times(list(map(json.loads, lines))) == without_times(whole.rounds)
