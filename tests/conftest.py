"""Fixtures of all tests: reference data, a browser, a toy system; rewriting of golden output."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from tests.requirements import CHROMIUM_FLAGS, find_chromium, find_missing

# Two cores and other work beside: a slow example is no failure. Examples of a test share its
# folder; each writes its files anew.
settings.register_profile(
    "wayword",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    derandomize=True,
)
settings.load_profile("wayword")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite-golden", action="store_true", help="write what commands print now")


def pytest_configure() -> None:
    """Refuse to run under CI with requirements missing: each would be a skip."""
    if os.environ.get("CI") == "true" and (missing := find_missing()):
        names = ", ".join(missing)
        raise pytest.UsageError(
            f"CI=true: {names} not installed; expected every requirement of the tests; "
            "run `make dev` and .ci/browser"
        )


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium from the packages of the system."""
    driver = pytest.importorskip(
        "playwright.sync_api", reason="playwright: not installed; pip install 'wayword[browser]'"
    )
    program = find_chromium()
    if program is None:
        pytest.skip("chromium: not installed; run .ci/browser")
    with driver.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=CHROMIUM_FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def fixtures() -> Path:
    """Outputs of Moses, moses2, KenLM and sacrebleu on toy text; see README.md there."""
    return Path(__file__).parent / "fixtures"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the repository; a test is skipped without it."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("needs real data: ../shared is missing")
    return folder


@pytest.fixture(scope="session")
def toy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small system of the German toy language in ``system``, its corpus in ``corpus``."""
    from tests.systems import make

    folder = tmp_path_factory.mktemp("toy")
    make(folder)
    return folder
