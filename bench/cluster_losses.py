"""Bench of the cluster runner when nodes are lost: one in each stage of a small training.

    python bench/run.py cluster-losses

1,500 German-English pairs with a word-after-word model, once by the local runner and once on three
nodes while in each stage the node that works on it is killed and another one joins. Fails unless a
node was lost in each of the stages and the systems have the same bytes.
"""

import os
from typing import Any

from bench.cluster import compared


def rows() -> list[dict[str, Any]]:
    """Measure."""
    pairs = int(os.environ.get("PAIRS", "1500"))
    runners, features = ("local", "losses"), ("waw",)
    return compared(pairs=pairs, dev=60, tuning="1 2", runners=runners, features=features)
