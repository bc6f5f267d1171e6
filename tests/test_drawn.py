"""Models of word order learn from a part of a large text, taken at equal steps."""

import logging
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.corpus import toy
from wayword.corpus.pieces import drawn, evenly
from wayword.pipeline import plan
from wayword.store import Store

LANGS = ("de", "en")
QUICK: dict[str, Any] = {
    "lm": {"order": 2},
    "annotate": {"classes": 5, "sentences": 160},
    "waw": {"min_count": 2, "sentences": 150},
    "neural": {"epochs": 1, "embedding": 8, "hidden": 8, "sentences": 140},
    "lop": {"passes": 1, "bits": 12, "sentences": 130},
    "preorder": {"passes": 1, "bits": 12, "sentences": 120, "realign": False},
    "search": {"space": "auto"},
}


@given(st.integers(0, 300), st.integers(0, 400))
def test_so_many_are_taken_at_equal_steps(size: int, wanted: int) -> None:
    taken = list(evenly(range(size), size, wanted))
    assert len(taken) == (min(wanted, size) if wanted else size)
    steps = {later - earlier for earlier, later in pairwise(taken)}
    assert not steps or max(steps) - min(steps) <= 1


def test_files_are_drawn_line_by_line_and_small_ones_stay(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a", "b")]
    for path in paths:
        path.write_text("".join(f"{path.name}{n}\n" for n in range(10)), encoding="utf-8")
    with drawn(paths, 4, tmp_path, what="test") as parts:
        lines = [part.read_text(encoding="utf-8").split() for part in parts]
    assert lines == [["a2", "a4", "a7", "a9"], ["b2", "b4", "b7", "b9"]]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
    for wanted in (0, 10, 11):
        with drawn(paths, wanted, tmp_path, what="test") as parts:
            assert parts is paths


def test_stages_learn_from_no_more_than_they_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wayword.profile.stage.SENTENCES", 110)
    toy.write("de-en", 200, tmp_path, seed=1)
    src, tgt, *dev = (tmp_path / f"{part}.{lang}" for part in ("train", "dev") for lang in LANGS)
    models = {"features": ["waw", "neural", "lop"], "preorder": "joint"}
    planned = plan(src, tgt, {**QUICK, "model": models}, dev=dev)
    stages = [stage for stage in planned.stages if stage.name != "tune"]
    caplog.set_level(logging.INFO, logger="wayword")
    with Store(tmp_path / "work") as store:
        results = {result.name: result for result in store.run(stages)}
    size = results["prepare"].facts["pairs"]
    wanted = {"annotate": 160, "waw": 150, "neural": 140, "lop": 130, "preorder": 120}
    for name, count in {**wanted, "profile": 110}.items():
        said = f"{name}: takes {count} of {size} pairs, at equal steps (`sentences`)"
        assert said in caplog.messages
    assert results["waw"].facts["sentences"] == 150
    assert results["neural"].facts["sentences"] == 140
    for name in ("annotate", "waw", "neural", "lop", "preorder", "profile"):
        assert not [path for path in results[name].path.iterdir() if path.is_dir()]
    for name in ("train.src", "links", "orders"):
        lines = (results["preorder"] / name).read_text(encoding="utf-8").splitlines()
        assert len(lines) == size
