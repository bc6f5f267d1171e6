"""What tests share: where the outside data is, and how to rewrite golden output."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

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


#: The browser that pages are looked at in.
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "chrome"))), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser without a window."""
    driver = pytest.importorskip(
        "playwright.sync_api", reason="pages are not looked at: pip install 'wayword[browser]'"
    )
    if CHROMIUM is None:
        pytest.skip("pages are not looked at: there is no Chromium on this machine")
    with driver.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the repository; the test is skipped without it."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("the real data folder ../shared is not there")
    return folder


@pytest.fixture(scope="session")
def toy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small system of the German toy language in ``system``, its corpus in ``corpus``."""
    from tests.systems import make

    folder = tmp_path_factory.mktemp("toy")
    make(folder)
    return folder
