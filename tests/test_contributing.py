"""The worked example of CONTRIBUTING is a metric like any other."""

import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wayword.evaluate import METRICS, Gold, Output, compare
from wayword.evaluate.metric import Matrix, Metric, signature

ROOT = Path(__file__).resolve().parents[1]


def test_the_metric_of_the_worked_example_works(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    [code] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names: dict[str, Any] = {"Metric": Metric, "Matrix": Matrix, "Output": Output, "np": np}
    exec(textwrap.dedent("   " + code.lstrip()), {**names, "signature": signature}, names)
    monkeypatch.setitem(METRICS, "length", names["Length"])
    gold = Gold(refs=[["a b c d", "e f"]])
    outputs = [Output("short", ["a b", "e"]), Output("long", ["a b c", "e f g"])]
    result = compare(gold, outputs, ["length"], rounds=10)
    assert [score.value for score in result.scores] == [50.0, 100.0]
    assert result.signatures["length"].startswith("Length|nrefs:1|")
