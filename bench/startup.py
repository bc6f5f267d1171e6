"""Bench of start-up: what a command costs before it does any work.

Each command runs several times in a process of its own; the smallest CPU time counts, because a
shared machine only ever adds to it. Promised: `wayword --help` 0.12 CPU s, one line through
`translate` 0.20, `import wayword` 0.06 beyond Python itself.
"""

import os
import tempfile
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, measure
from wayword.corpus import toy

RUNS = 9
SETTINGS = ("tune.runs=1", "tune.rounds=2")
#: CPU seconds that were promised.
PROMISED = {"--help": 0.12, "translate, one line": 0.20, "import wayword": 0.06}


def rows() -> list[dict[str, Any]]:
    """One row a command."""
    # Python keeps compiled modules unless it is told not to; a start costs what it does for users.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        toy.write("de-en", 1000, folder, seed=1)
        wayword = [PYTHON, "-m", "wayword"]
        text = [folder / "train.de", folder / "train.en"]
        measure([*wayword, "train", *text, "-o", folder / "system", "--set", *SETTINGS])
        (folder / "line").write_text("Ich habe gestern den Tee getrunken.\n", encoding="utf-8")
        python = cost([PYTHON, "-c", "pass"])[0]
        commands: dict[str, list[str | Path]] = {
            "--help": [*wayword, "--help"],
            "translate --help": [*wayword, "translate", "--help"],
            "translate, one line": [*wayword, "translate", folder / "system", folder / "line"],
            "import wayword": [PYTHON, "-c", "import wayword"],
        }
        measured = {what: cost(command) for what, command in commands.items()}
        assert measured["translate, one line"][1] == "I drank the tea yesterday.\n"
    found = [{"what": "python -c pass", "CPU s": python, "promised": ""}]
    for what, (seconds, _) in measured.items():
        spent = round(seconds - python, 3) if what == "import wayword" else seconds
        found.append({"what": what, "CPU s": spent, "promised": PROMISED.get(what, "")})
        if spent > PROMISED.get(what, spent):
            print(f"startup: {what} takes {spent} CPU s; {PROMISED[what]} was promised")
    return found


def cost(command: list[str | Path]) -> tuple[float, str]:
    """The least CPU time of several runs, and the answer."""
    every = [measure(command) for _ in range(RUNS)]
    return min(one.cpu_seconds for one in every), every[0].answer
