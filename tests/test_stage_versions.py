"""Changed code must not reuse what older code made: other results need another stage version."""

import hashlib
import json
import platform
from pathlib import Path

import pytest

from wayword.corpus import toy
from wayword.pipeline import plan
from wayword.stage import Result
from wayword.store import DONE, Store

KNOWN = Path(__file__).parent / "golden" / "stages.json"
QUICK = {
    "lm": {"order": 3},
    "model": {"features": ["waw", "neural"]},
    "waw": {"min_count": 5},
    "neural": {"epochs": 1, "embedding": 8, "hidden": 8},
    "tune": {"runs": 1, "rounds": 1, "nbest": 10},
    "search": {"pop_limit": 30},
}

PARTS = ("train", "dev")
#: The release by which the digests were written first.
WRITTEN_BY = "0.2.0"


def machine() -> str:
    """Logarithms come from the system's library, so bytes are compared on equal machines only."""
    return f"{platform.system()} {platform.machine()} {' '.join(platform.libc_ver())}".strip()


def digest(result: Result) -> str:
    """Every file that a stage wrote but its description, which holds times."""
    total = hashlib.sha256()
    for path in sorted(result.path.rglob("*")):
        if path.is_file() and path.name != DONE:
            total.update(str(path.relative_to(result.path)).encode())
            total.update(path.read_bytes())
    return total.hexdigest()[:16]


def test_a_stage_that_makes_something_else_has_another_version(
    tmp_path: Path, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A table says which release made it; a release alone makes nothing else.
    monkeypatch.setattr("wayword.extract.__version__", WRITTEN_BY)
    toy.write("de-en", 200, tmp_path, seed=1)
    src, tgt = tmp_path / "train.de", tmp_path / "train.en"
    stages = plan(src, tgt, QUICK, dev=[tmp_path / "dev.de", tmp_path / "dev.en"]).stages
    with Store(tmp_path / "work") as store:
        results = store.run(stages)
    # Weights depend on numpy's version, and the rounds of tuning hold times.
    made = {
        stage.name: {"version": stage.version, "digest": digest(result)}
        for stage, result in zip(stages, results, strict=True)
        if stage.name != "tune"
    }
    if pytestconfig.getoption("--rewrite-golden"):
        text = json.dumps({"machine": machine(), "stages": made}, indent=1)
        KNOWN.write_text(text + "\n", encoding="utf-8")
    known = json.loads(KNOWN.read_text(encoding="utf-8"))
    if known["machine"] != machine():
        pytest.skip(f"digests were written on {known['machine']}")
    assert known["stages"].keys() == made.keys()
    for name, now in made.items():
        before = known["stages"][name]
        if now["digest"] != before["digest"]:
            assert now["version"] != before["version"], f"{name}: other files; raise its version"
    assert known["stages"] == made, "run `make golden` and review the versions"
