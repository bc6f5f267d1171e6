"""The phrase oracle on tuned systems: `python -m bench.reach OUT` after `experiments.py preorder`.

Opens the lexicalised systems of that experiment (`dl:8`, tuned twice) and asks for the first test
sentences what the model, the space and the table lose.
"""

import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

from bench.experiments import BASE, preorder, tagged_corpora
from bench.measure import show, write_result
from wayword import experiment
from wayword.corpus.files import open_text
from wayword.evaluate import Gold
from wayword.experiment import Experiment
from wayword.oracle.phrase import phrase_oracle

PAIRS = ("de-en", "ja-en")
SENTENCES = 200
ROW = "lexicalised"


def rows(out: Path) -> list[dict[str, Any]]:
    """A row for each pair and bin of lengths."""
    result = []
    for corpus in tagged_corpora(out / "text"):
        name = corpus["name"]
        if name not in PAIRS:
            continue
        described = Experiment.from_dict(
            {"base": BASE, **preorder(name), "corpus": [corpus]}, Path()
        )
        system = experiment.open_variant(described, out / name, 0, ROW)
        src, ref = (list(islice(open_text(path), SENTENCES)) for path in corpus["test"])
        start = time.process_time()
        reach = phrase_oracle(system, src, Gold(refs=[ref]), threads=2)
        seconds = time.process_time() - start
        for row in reach.rows:
            rounded = {
                key: round(value, 3) if isinstance(value, float) else value
                for key, value in row.to_dict().items()
            }
            result.append({"case": f"{name} {reach.space}", **rounded})
        result[-1]["CPU s a sentence"] = round(seconds / len(src), 2)
    return result


if __name__ == "__main__":
    measured = rows(Path(sys.argv[1]))
    show(measured)
    print(write_result("reach", measured))
