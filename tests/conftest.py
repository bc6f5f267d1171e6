"""What tests share: where the outside data is, and how to rewrite golden output."""

from pathlib import Path

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
