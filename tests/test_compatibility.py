"""Files of earlier releases open and say what they said, or are refused with a sentence.

`formats/VERSION/` holds small files that a release made of the toy corpus, and their answers.
`python release/samples.py` makes those of the present version.
"""

import json
import shutil
from pathlib import Path

import pytest
from tests.formats.ask import QUESTIONS

from wayword import __version__
from wayword._core import FORMATS
from wayword.errors import WaywordError
from wayword.manifest import FORMAT

FOLDER = Path(__file__).parent / "formats"
RELEASES = sorted(path.name for path in FOLDER.iterdir() if (path / "answers.json").exists())


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("release", RELEASES)
def test_files_of_a_release_say_what_they_said(
    release: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAYWORD_CACHE", str(tmp_path / "cache"))
    known = json.loads((FOLDER / release / "answers.json").read_text(encoding="utf-8"))
    path = tmp_path / name
    shutil.copy(FOLDER / release / name, path)
    kind, question = QUESTIONS[name]
    if known["formats"][kind] == {**FORMATS, "system": FORMAT}[kind]:
        assert question(path) == known["answers"][name]
    else:
        with pytest.raises(WaywordError, match="version"):
            question(path)


def test_every_kind_of_file_is_kept() -> None:
    assert {kind for kind, _ in QUESTIONS.values()} == {*FORMATS, "system"}


def test_the_present_version_has_its_files() -> None:
    assert __version__ in RELEASES, "make them with `python release/samples.py`"
