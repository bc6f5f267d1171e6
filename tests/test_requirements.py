"""Tests that cannot run are skipped with a reason; under CI a missing requirement is a failure."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.requirements import CHROMIUM_NAMES, OPTIONAL_MODULES, REQUIRED_MODULES

ROOT = Path(__file__).parents[1]
EVERY_TEST = sorted((ROOT / "tests").rglob("*.py"))


def collect(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Collect one test with nothing but Python on the path of programs."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests/test_requirements.py"],
        cwd=ROOT,
        env={**os.environ, "PATH": str(folder), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(
    Path(CHROMIUM_NAMES[-1]).exists(), reason="the browser is found without the path of programs"
)
def test_a_missing_browser_stops_the_tests_under_ci_alone(tmp_path: Path) -> None:
    done = collect(tmp_path, CI="true")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert re.search(r"CI=true: (\w+, )*chromium not installed; expected every", done.stderr)
    assert collect(tmp_path, CI="").returncode == pytest.ExitCode.OK


def test_every_package_that_a_test_may_skip_is_listed() -> None:
    names = {
        name
        for path in EVERY_TEST
        for name in re.findall(r"importorskip\(\s*\"(\w+)", path.read_text(encoding="utf-8"))
    }
    listed = {*REQUIRED_MODULES, *OPTIONAL_MODULES}
    assert names - listed == set()
    assert listed - names == {"fugashi", "jieba", "material"}, "these are named in other ways"


def test_the_browser_of_ci_is_one_that_tests_find() -> None:
    script = (ROOT / ".ci" / "browser").read_text(encoding="utf-8")
    assert [name for name in CHROMIUM_NAMES if name not in script] == []


def test_no_test_of_the_core_is_ignored_or_reads_outside_data() -> None:
    sources = [*(ROOT / "crates").rglob("*.rs"), *(ROOT / "fuzz" / "src").rglob("*.rs")]
    assert len(sources) > 100
    found = [
        f"{path.relative_to(ROOT)}: {match}"
        for path in sources
        for match in re.findall(
            r'#\[ignore|join\("shared"\)|nth\(3\)', path.read_text(encoding="utf-8")
        )
    ]
    assert found == [], "Rust cannot skip at run time; compare with outside data in Python"
