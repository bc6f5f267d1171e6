"""Scores of several tuning runs: means, and chance as a plain twin deals it."""

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from wayword.errors import ArgumentError, FormatError
from wayword.evaluate import Gold, Output, compare, make_metric
from wayword.evaluate.read import read_numbers
from wayword.evaluate.runs import compare_runs

REF = ["a b c d e f", "g h i j k l", "m n o p q r"]
GOOD = ["a b c d e f", "g h i j l k", "m n o p q r"]
BAD = ["a b d c f e", "g h j k l i", "m o n p q r"]
FAIR = ["a b c d f e", "g h i j l k", "m n o p r q"]


def exact(first: Sequence[list[str]], second: Sequence[list[str]]) -> float:
    """The share of all deals whose difference is as large as the one observed."""
    gold = Gold(refs=[REF])
    metric = make_metric("bleu", gold)
    runs = [metric.statistics(Output("", list(lines))) for lines in (*first, *second)]
    mine = len(first)

    def difference(deal: Sequence[Sequence[int]]) -> float:
        sums = [sum(runs[of[run]][at] for at, of in enumerate(deal)) for run in range(len(runs))]
        scores = [float(metric.score(np.asarray(one))) for one in sums]
        return float(np.mean(scores[mine:]) - np.mean(scores[:mine]))

    observed = abs(difference([range(len(runs))] * len(REF)))
    every = list(itertools.product(itertools.permutations(range(len(runs))), repeat=len(REF)))
    return sum(abs(difference(deal)) >= observed - 1e-9 for deal in every) / len(every)


def test_the_p_value_is_that_of_all_deals() -> None:
    first, second = [BAD, FAIR], [GOOD]
    outputs = {
        "base": [Output("1", BAD), Output("2", FAIR)],
        "new": [Output("1", GOOD)],
    }
    found = compare_runs(Gold(refs=[REF]), outputs, ["bleu"], rounds=20_000)
    assert found["new"]["bleu"].p_value == pytest.approx(exact(first, second), abs=0.02)
    assert found["base"]["bleu"].p_value is None
    whole = compare(Gold(refs=[REF]), [Output("1", BAD), Output("2", FAIR)], ["bleu"], rounds=10)
    singles = [whole.score(name, "bleu").value for name in ("1", "2")]
    assert found["base"]["bleu"].scores == pytest.approx(singles)
    assert found["base"]["bleu"].mean == pytest.approx(np.mean(singles))
    assert found["base"]["bleu"].spread == pytest.approx(np.std(singles, ddof=1))
    assert found["new"]["bleu"].spread == 0


def test_equal_systems_differ_by_chance() -> None:
    outputs = {name: [Output("1", BAD), Output("2", GOOD)] for name in ("base", "same")}
    found = compare_runs(Gold(refs=[REF]), outputs, ["bleu"], rounds=500)
    assert found["same"]["bleu"].p_value == 1.0


def test_runs_are_checked() -> None:
    with pytest.raises(ArgumentError, match="a system without output"):
        compare_runs(Gold(refs=[REF]), {"base": []}, ["bleu"])
    with pytest.raises(ArgumentError, match="rounds: found 0"):
        compare_runs(Gold(refs=[REF]), {"base": [Output("1", BAD)]}, ["bleu"], rounds=0)


def test_some_sentences_alone_score_as_if_they_were_all(tmp_path: Path) -> None:
    gold, some = Gold(refs=[REF]), Gold(refs=[REF[:1] + REF[2:]])
    outputs = [Output("bad", BAD), Output("good", GOOD)]
    fewer = [Output(one.name, [one.lines[0], one.lines[2]]) for one in outputs]
    chosen = compare(gold, outputs, ["bleu", "chrf"], rounds=50, lines=[2, 0])
    alone = compare(some, fewer, ["bleu", "chrf"], rounds=50)
    assert chosen.scores == alone.scores
    assert chosen.sentences == 2
    assert chosen.bins == alone.bins
    for wrong in ([], [3], [-1], [0, 0]):
        with pytest.raises(ArgumentError, match="expected some of the 3 sentences"):
            compare(gold, outputs, ["bleu"], lines=wrong)
    path = tmp_path / "lines"
    path.write_text("3\n1\n")
    assert read_numbers(path) == [2, 0]
    for text in ("0\n", "x\n", "1.5\n", "\n"):
        path.write_text(text)
        with pytest.raises(FormatError, match="expected the number of a sentence"):
            read_numbers(path)
