"""Small files of every format by this version, for tests of versions to come.

In: nothing; the toy corpus is made anew. Out: `tests/formats/VERSION/` with a file of each kind, a
system, and `answers.json` with what they say. How: run once for each release, by
`python release/samples.py`; tests/test_compatibility.py then asks every later version.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from wayword import __version__
from wayword._core import FORMATS
from wayword.manifest import FORMAT

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = (
    "toy de-en -n 24 --seed 7 -o toy",
    "annotate fit toy/dev.factored.de -o tagger --epochs 1",
    "align toy/train.de toy/train.en --save aligner",
    "extract toy/train.de toy/train.en toy/train.links --max-length 3 --counts counts",
    "extract toy/train.de toy/train.en toy/train.links --max-length 3 -o table",
    "lm train toy/train.en -o lm --order 2",
    "waw train toy/train.factored.de toy/train.en toy/train.links -o waw",
    "neural train toy/train.de toy/train.en toy/train.links -o neural --embedding 4 --hidden 4"
    " --key 4 --epochs 1",
    "preorder fit toy/train.factored.de toy/train.en toy/train.links -o preorder --passes 1"
    " --bits 8",
    "train toy/train.de toy/train.en --dev toy/dev.de toy/dev.en -o system --set tune.runs=1"
    " tune.rounds=1 lm.order=2 extract.max_length=3",
    "pack system -o system.wayword",
)


def write(out: Path) -> None:
    """Make the files and ask them."""
    sys.path.insert(0, str(ROOT))
    from tests.formats.ask import QUESTIONS, answers

    with tempfile.TemporaryDirectory() as name:
        for command in COMMANDS:
            subprocess.run(
                [sys.executable, "-m", "wayword", *command.split()],
                cwd=name,
                stdout=subprocess.DEVNULL,
                check=True,
            )
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        for kept in QUESTIONS:
            shutil.copy(Path(name) / kept, out / kept)
    known = {"formats": {**FORMATS, "system": FORMAT}, "answers": answers(out)}
    text = json.dumps(known, indent=1, ensure_ascii=False) + "\n"
    (out / "answers.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(ROOT / "tests" / "formats" / __version__)
