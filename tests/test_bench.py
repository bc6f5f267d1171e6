"""What benches say about what got slower."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import measure, run
from bench.compare import changes, last_rows


def test_a_cost_that_grew_is_told_and_one_that_shrank_too() -> None:
    before = [{"case": "de", "DL": 6, "CPU ms a word": 0.20, "peak MB": 90, "score": -37.7}]
    now = [{"case": "de", "DL": 6, "CPU ms a word": 0.10, "peak MB": 120, "score": -50.0}]
    told = [(change["cost"], change["ratio"]) for change in changes(before, now)]
    assert told == [("peak MB", 1.33), ("CPU ms a word", 0.5)]


def test_rows_of_other_cases_and_small_changes_are_not_compared() -> None:
    before = [{"case": "de", "CPU s": 1.0}, {"case": "ja", "CPU s": 1.0}]
    assert changes(before, [{"case": "de", "CPU s": 1.09}, {"case": "zh", "CPU s": 9.0}]) == []


def test_the_last_result_of_a_stage_is_that_of_its_name_alone() -> None:
    name, rows = last_rows("tune")
    assert name.startswith("bench/results/tune-20"), "tune-cost and tune-memory are other stages"
    assert rows
    assert last_rows("no such stage") == ("", [])


def test_a_stage_that_was_asked_for_and_not_measured_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measure, "SHARED", tmp_path / "shared")
    assert run.main(["waw", "tune"]) == 1
    assert capsys.readouterr().out.endswith("../shared is missing: waw, tune\n")
    monkeypatch.setattr(run, "STAGES", ("waw",))
    assert run.main([]) == 0
