"""The controlled experiments of the papers: one factor varies, and results are repeatable."""

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from wayword.config import Config, merged
from wayword.errors import ArgumentError
from wayword.paper_experiments import PAPERS, SETTINGS, run_paper_experiment


@pytest.mark.parametrize("paper", SETTINGS)
def test_settings_are_tuned_alike_and_differ_from_each_other(paper: str) -> None:
    variants, base = SETTINGS[paper]
    configs = [Config.from_dict(merged(base, variant)) for variant in variants.values()]
    assert all(a != b for a, b in combinations(configs, 2))
    assert len({config.tune for config in configs}) == 1
    assert len({config.lm for config in configs}) == 1


def test_the_experiment_of_every_paper_has_its_settings_as_rows(tmp_path: Path) -> None:
    small: dict[str, Any] = {"size": 120, "texts": 1, "folder": tmp_path}
    result = run_paper_experiment("galley-manning-2008", "ar-en", **small)
    assert [row.setting for row in result.rows] == list(SETTINGS["galley-manning-2008"][0])
    assert all(0 < row.mean("bleu") < 100 for row in result.rows)
    assert result.to_dict()["rows"][0]["bleu"] == [result.rows[0].mean("bleu")]
    assert (tmp_path / "ar-en-1" / "systems" / "hierarchical").is_dir()


def test_larger_sets_of_orders_have_higher_oracle_bleu_and_runs_are_repeatable() -> None:
    results = [
        run_paper_experiment("dreyer-et-al-2007", "ja-en", size=150, texts=2) for _ in range(2)
    ]
    assert results[0] == results[1]
    rows = {row.setting: row.scores["bleu"] for row in results[0].rows}
    for smaller, larger in [("mono", "mj1"), ("mj1", "mj2"), ("ibm:2", "ibm:4")]:
        assert all(a <= b for a, b in zip(rows[smaller], rows[larger], strict=True))
    assert rows["mono"] < rows["itg"]


def test_an_unknown_paper_is_refused_by_name() -> None:
    with pytest.raises(ArgumentError, match="paper: found `koehn-2003`; expected one of bisazza"):
        run_paper_experiment("koehn-2003")
    assert len(PAPERS) == 4
