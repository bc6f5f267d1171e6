"""The pictures of docs/architecture.md show what the code does, and its files are there."""

import re
from pathlib import Path
from runpy import run_path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "architecture.md"


def test_the_pictures_are_as_they_are_drawn() -> None:
    made = run_path(str(ROOT / "docs" / "pictures" / "make.py"))["pictures"]()
    for name, picture in made.items():
        known = (ROOT / "docs" / "pictures" / name).read_text(encoding="utf-8")
        assert known == picture, f"run `python docs/pictures/make.py`: {name} is of another day"


def test_every_file_it_names_is_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    paths = re.findall(r"`((?:crates|tests|docs|python)/[\w./-]+)`", text)
    assert len(paths) > 8
    assert [path for path in paths if not (ROOT / path).exists()] == []
    for path in re.findall(r"`((?:[a-z]+/)?[a-z]+\.(?:py|toml))`", text):
        places = (
            ROOT / "python" / "wayword" / path,
            ROOT / "tests" / "contracts" / path,
            ROOT / path,
        )
        assert any(place.exists() for place in places), path


def test_every_module_of_the_package_has_its_place_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    package = ROOT / "python" / "wayword"
    hidden = {"__init__.py", "__main__.py", "__pycache__", "_core.pyi", "py.typed", "default.toml"}
    for path in package.iterdir():
        if path.name not in hidden and not path.name.startswith("_core"):
            name = f"`{path.name}/`" if path.is_dir() else f"`{path.name}`"
            assert name in text, f"docs/architecture.md does not know {path.name}"
