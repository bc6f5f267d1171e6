"""Changed code must not reuse results of older code: other results need another stage version."""

import hashlib
import json
import platform
from pathlib import Path
from typing import Any

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
#: The release by which the digests were written first.
WRITTEN_BY = "0.2.0"
#: Files whose bytes depend on the last bits of `exp`, `log` and `pow`, which differ between
#: mathematical libraries. All other files are the same on every machine: text, counts, numbers
#: rounded to fewer bits, and the network, whose arithmetic is our own.
ROUNDED = frozenset(
    ("align/aligner", "annotate/annotator", "annotate/train.src", "waw/waw")
)  # fmt: skip

Stages = dict[str, dict[str, Any]]


def describe_machine() -> str:
    """Return the system, processor and C library, which provides the mathematical functions."""
    return f"{platform.system()} {platform.machine()} {' '.join(platform.libc_ver())}".strip()


def describe_files(stage: str, result: Result) -> dict[str, dict[str, str]]:
    """Return the digest of every file of a stage but its description, which holds times."""
    files: dict[str, dict[str, str]] = {"exact": {}, "rounded": {}}
    for path in sorted(result.path.rglob("*")):
        if path.is_file() and path.name != DONE:
            name = path.relative_to(result.path).as_posix()
            kind = "rounded" if f"{stage}/{name}" in ROUNDED else "exact"
            files[kind][name] = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return files


def select_figures(result: Result) -> dict[str, float]:
    """Return the facts that are numbers."""
    numbers = {name: fact for name, fact in result.facts.items() if isinstance(fact, int | float)}
    return {name: fact for name, fact in numbers.items() if not name.startswith("bytes")}


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> Stages:
    """The stages of a toy training with version, files and figures."""
    folder = tmp_path_factory.mktemp("stages")
    toy.write("de-en", 200, folder, seed=1)
    src, tgt = folder / "train.de", folder / "train.en"
    planned = plan(src, tgt, QUICK, dev=[folder / "dev.de", folder / "dev.en"]).stages
    with pytest.MonkeyPatch.context() as patch, Store(folder / "work") as store:
        # A table names the release that made it; a release alone changes nothing else.
        patch.setattr("wayword.extract.__version__", WRITTEN_BY)
        results = store.run(planned)
    # Weights depend on the version of numpy, and the rounds of tuning hold times.
    described = {
        stage.name: {
            "version": stage.version,
            "files": describe_files(stage.name, result),
            "figures": select_figures(result),
        }
        for stage, result in zip(planned, results, strict=True)
        if stage.name != "tune"
    }
    if pytestconfig.getoption("--rewrite-golden"):
        text = json.dumps({"machine": describe_machine(), "stages": described}, indent=1)
        KNOWN.write_text(text + "\n", encoding="utf-8")
    return described


def compare_files(stages: Stages, kind: str) -> None:
    """Compare digests with the known ones; other files need another version first."""
    known = json.loads(KNOWN.read_text(encoding="utf-8"))["stages"]
    assert known.keys() == stages.keys()
    for name, stage in stages.items():
        if stage["files"][kind] != known[name]["files"][kind]:
            changed = stage["version"] != known[name]["version"]
            assert changed, f"{name}: other files; raise the version of the stage"
    expected = {name: (stage["version"], stage["files"][kind]) for name, stage in known.items()}
    found = {name: (stage["version"], stage["files"][kind]) for name, stage in stages.items()}
    assert found == expected, "run `make golden` and review the versions"


def test_a_stage_with_other_exact_files_has_another_version(stages: Stages) -> None:
    assert sum(len(stage["files"]["exact"]) for stage in stages.values()) >= 13
    compare_files(stages, "exact")


def test_figures_of_every_stage_are_the_known_ones(stages: Stages) -> None:
    known = json.loads(KNOWN.read_text(encoding="utf-8"))["stages"]
    for name, stage in stages.items():
        assert stage["files"]["rounded"].keys() == known[name]["files"]["rounded"].keys()
        has_rounding = bool(stage["files"]["rounded"])
        expected = pytest.approx(known[name]["figures"], rel=0.02 if has_rounding else 1e-9)
        assert stage["figures"] == expected, f"{name}: run `make golden` and review the versions"


def test_a_stage_with_other_rounded_files_has_another_version(stages: Stages) -> None:
    machine = json.loads(KNOWN.read_text(encoding="utf-8"))["machine"]
    if machine != describe_machine():
        pytest.skip(f"bytes of {', '.join(sorted(ROUNDED))} are known for {machine} alone")
    compare_files(stages, "rounded")
