"""Optional packages and programs of tests.

A test without its package or program is skipped with the reason. Under continuous integration
(``CI=true``) all of them are installed, so that a missing one stops the run.
"""

import shutil
from importlib.util import find_spec

#: Packages of the extras that `make dev` installs.
REQUIRED_MODULES = (
    "fugashi",
    "jieba",
    "libretranslatepy",
    "material",
    "playwright",
    "pyarrow",
    "sentencepiece",
    "starlette",
    "uvicorn",
)
#: Packages without a wheel for some systems, and modules of Unix.
OPTIONAL_MODULES = ("fsspec", "kenlm", "pty", "ray")
CHROMIUM_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
#: Containers run as root, which the sandbox refuses; the other flags turn off requests of the
#: browser itself.
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str | None:
    """Return the path of an installed Chromium or Chrome."""
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


def find_missing() -> list[str]:
    """Return the requirements that are not installed."""
    missing = [name for name in REQUIRED_MODULES if find_spec(name) is None]
    return missing if find_chromium() else [*missing, "chromium"]
