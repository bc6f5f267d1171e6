"""An example of a path feature with a trained model, all in one file.

How far do orders jump? It learns from the links how often the next word to be translated is so
many places away, keeps the shares in a JSON file, and gives the decoder P(next | last) by distance
alone. Name it in a configuration as ``python:tests.nearness:Nearness``, and it is trained, saved,
tuned and used.
"""

import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from wayword.align.score import parse_links
from wayword.corpus.files import open_text
from wayword.corpus.source import Source
from wayword.options import check_range
from wayword.parts import Ground, Part, Wanted
from wayword.parts.part import entry
from wayword.reorder.feature import Feature, Given
from wayword.reorder.order import order_from_links
from wayword.stage import Stage, Work

KIND = f"python:{__name__}:Nearness"


@dataclass(frozen=True, kw_only=True)
class Options:
    """How the shares are counted."""

    #: jumps that are longer count as this long
    furthest: int = 5

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        check_range("furthest", self.furthest, 1)


class Nearness(Part):
    """P(next | last) by the distance between the two words."""

    kind = KIND
    Options: ClassVar[type] = Options

    @cached_property
    def shares(self) -> dict[int, float]:
        """The share of each distance; 1 is the next word."""
        counts = json.loads(self.path.read_text(encoding="utf-8"))
        total = sum(counts.values())
        return {int(distance): count / total for distance, count in counts.items()}

    def load(self) -> None:
        """Read the file."""
        _ = self.shares

    def feature(self) -> Feature:
        """Scores each jump by its share."""
        return Given(self.name, self.matrix)

    def matrix(self, source: Source) -> Any:
        """A row for the start and one for each word, a column for each word."""
        length = len(source.words)
        distances = np.arange(length)[None, :] - np.arange(-1, length)[:, None]
        furthest = max(map(abs, self.shares))
        near = np.clip(distances, -furthest, furthest)
        return np.vectorize(lambda distance: max(self.shares.get(distance, 0.0), 1e-4))(near)

    @classmethod
    def stage(cls, wanted: Wanted, ground: Ground, options: Any) -> Stage:
        """Count the distances."""
        inputs = {"text": ground.text, "links": ground.links}
        return Stage(wanted.name, count_jumps, {"name": wanted.name, "near": options}, inputs)


def count_jumps(work: Work) -> dict[str, Any]:
    """Count how far apart words are that are translated one after the other."""
    name, furthest = work.options["name"], work.options["near"].furthest
    counts: Counter[int] = Counter()
    lines = open_text(work.inputs["text"] / "train.src")
    for line, links in zip(lines, open_text(work.inputs["links"] / "links"), strict=True):
        order = order_from_links(len(line.split()), parse_links(links, ""))
        counts.update(
            int(np.clip(after - before, -furthest, furthest)) for before, after in pairwise(order)
        )
    (work.out / name).write_text(json.dumps(counts), encoding="utf-8")
    return {"part": entry(KIND, name, file=name), "jumps": counts.total()}
