"""The pages of docs/papers: code is included from modules, tables agree with the result file."""

import ast
import json
import re
from importlib import import_module
from pathlib import Path
from runpy import run_path
from types import FunctionType

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "papers").glob("*-20*.md"))
MODULES = sorted((ROOT / "python" / "wayword" / "papers").glob("*_20*.py"))
HOOK = run_path(str(ROOT / "docs" / "include_source.py"))


def test_every_module_has_a_page() -> None:
    names = [path.stem.replace("_", "-") for path in MODULES]
    assert [page.stem for page in PAGES] == names
    assert len(names) == 4


@pytest.mark.parametrize("page", [*PAGES, ROOT / "docs" / "papers" / "index.md"])
def test_a_page_includes_source_of_its_module(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    included = HOOK["on_page_markdown"](text)
    assert "--8<--" in text
    assert "--8<--" not in included
    assert included.count("\ndef ") > 0


def test_included_source_is_that_of_the_object() -> None:
    read = HOOK["read_source"]
    assert read("wayword.papers.phrase_decoder", "distance").startswith("def distance(")
    assert read("wayword.papers.phrase_decoder", "Hypothesis").startswith("@dataclass")
    assert read("wayword.paper_experiments", "PAPERS").startswith("PAPERS = ")
    with pytest.raises(ValueError, match=r"wayword\.paper_experiments: no class, function"):
        read("wayword.paper_experiments", "nothing")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_means_of_the_experiment_are_those_of_the_result_file(page: Path) -> None:
    newest = max((ROOT / "bench" / "results").glob("papers-2*.json"))
    rows = json.loads(newest.read_text(encoding="utf-8"))["rows"]
    own = [row for row in rows if row["case"].startswith(page.stem)]
    assert len(own) >= 12
    shown = set(re.findall(r"\d+\.\d", page.read_text(encoding="utf-8")))
    assert {f"{row['bleu']:.1f}" for row in own} <= shown


def test_the_package_imports_nothing_else_of_wayword() -> None:
    for path in (ROOT / "python" / "wayword" / "papers").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert all(
                not name.startswith("wayword") or name.startswith("wayword.papers.")
                for name in names
            ), path.name


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_public_function_has_an_example(path: Path) -> None:
    module = import_module(f"wayword.papers.{path.stem}")
    public = [getattr(module, name) for name in module.__all__]
    documented = [value for value in public if isinstance(value, FunctionType | type)]
    assert len(documented) >= 8
    assert [value.__name__ for value in documented if ">>>" not in (value.__doc__ or "")] == []
