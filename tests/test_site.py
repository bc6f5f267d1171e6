"""The site of the docs: it builds without a warning, and works in a real browser."""

import importlib.util
import os
import shutil
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from runpy import run_path
from threading import Thread
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
#: One worker builds the site.
pytestmark = pytest.mark.xdist_group("site")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; a broken link, or a page that nothing leads to, fails here."""
    if importlib.util.find_spec("material") is None:
        pytest.skip("mkdocs-material: not installed; pip install 'wayword[docs]'")
    folder = tmp_path_factory.mktemp("site")
    for name in ("docs", "mkdocs.yml"):
        whole = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        whole(ROOT / name, folder / name)
    made = run_path(str(ROOT / "docs" / "reference" / "make.py"))["pages"]()
    for name, text in made.items():
        (folder / "docs" / "reference" / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"],
        cwd=folder,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_the_site_builds_and_search_finds_its_pages(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    for page in ("install.html", "reference/commands.html", "reference/wayword.system.html"):
        assert (site / page).exists(), page
        assert page in index
    assert (site / "tour.ipynb").exists()


def test_the_site_works_in_a_browser(browser: Any, site: Path) -> None:
    serve = partial(SimpleHTTPRequestHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        home = f"127.0.0.1:{server.server_port}"
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        hosts: set[str] = set()
        errors: list[str] = []
        page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"http://{home}/index.html")
        page.click(".md-search__input")
        page.keyboard.type("reversals")
        page.wait_for_selector(".md-search-result__item")
        assert page.locator("img[src*='order.svg']").evaluate("picture => picture.naturalWidth") > 0
        page.close()
        server.shutdown()
    assert (hosts, errors) == ({home}, [])
