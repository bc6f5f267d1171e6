"""A system in training whose dev set is decoded in shards, wherever there is room.

In: the finished parts of a system, its dev set, and a stage being done that may spread its work.
Out: n-best lists as the system itself gives them.
How: a shard is a small stage (``wayword.stage``) for some sentences in a row, under some weights.
It opens the parts, which are mapped, and writes its lists to a file. A process keeps the system
that it opened last, since the next shard is most often one of the same tuning.
Cost: the lists are written and read once more; a block is as many shards as there is room for.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wayword.corpus.files import open_text
from wayword.corpus.pieces import bounds
from wayword.corpus.source import Source
from wayword.decode import Settings
from wayword.errors import ArgumentError
from wayword.stage import Result, Stage, Work
from wayword.system import System
from wayword.tune.pool import compact
from wayword.tune.state import read_lists, write_lists

if TYPE_CHECKING:
    from wayword.tune.pool import Nbest

__all__ = ["SpreadSystem"]

#: Sentences of a shard.
SHARD = 64


@dataclass(frozen=True)
class SpreadSystem:
    """The same system, decoding its dev set in shards of the stage that tunes it."""

    system: System
    work: Work
    sources: Sequence[Source]
    #: that of its parts
    orientation: str

    @property
    def weights(self) -> Mapping[str, float]:
        """Those of the system."""
        return self.system.weights

    @property
    def nonnegative(self) -> tuple[str, ...]:
        """Those of the system."""
        return self.system.nonnegative

    @property
    def settings(self) -> Settings:
        """Those of the system."""
        return self.system.settings

    @property
    def block(self) -> int:
        """How many sentences are decoded at a time."""
        return SHARD * self.work.width

    def with_weights(self, weights: Mapping[str, float]) -> "SpreadSystem":
        """The same system with other weights."""
        return replace(self, system=self.system.with_weights(weights))

    def nbest(
        self,
        sources: Sequence[str | Source],
        *,
        size: int,
        distinct: bool,
        links: bool,
        threads: int,  # noqa: ARG002  the runner knows
        progress: Any,
    ) -> "Sequence[Nbest]":
        """The lists of some sentences of the dev set, in a row."""
        assert self.work.spread is not None, "made for a stage that spreads"
        first = self._place(sources)
        options = {
            "weights": dict(self.weights),
            "settings": self.settings,
            "orientation": self.orientation,
            **{"size": size, "distinct": distinct, "links": links},
        }
        inputs = {"parts": self.work.inputs["parts"], "dev": self.work.inputs["dev"]}
        places = bounds(len(sources), -(-len(sources) // SHARD))
        shards = [
            Stage("nbest", make_lists, {**options, "lines": [first + start, first + end]}, inputs)
            for start, end in pairwise(places)
        ]
        with self.work.spread(shards) as results:
            lists = [nbest for result in results for nbest in read_lists(result / "nbest.npz")]
        if progress is not None:
            progress(len(sources), len(sources))
        return lists

    def _place(self, sources: Sequence[str | Source]) -> int:
        """Where these sentences begin in the dev set: they are the same objects."""
        for number, source in enumerate(self.sources):
            if source is sources[0]:
                return number
        raise ArgumentError("sources: found others; expected sentences of the dev set in a row")


def make_lists(work: Work) -> None:
    """Decode some sentences of the dev set."""
    options = work.options
    system, sources = _opened(work)
    start, end = options["lines"]
    lists = system.with_weights(options["weights"]).nbest(
        sources[start:end],
        size=options["size"],
        distinct=options["distinct"],
        links=options["links"],
        threads=work.threads,
        progress=work.progress,
    )
    write_lists(work.out / "nbest.npz", [compact(nbest) for nbest in lists])


#: What this process opened last, and of what.
_last: list[tuple[Any, tuple[System, list[Source]]]] = []


def _opened(work: Work) -> tuple[System, list[Source]]:
    """The system and its dev set, opened once for all shards of a tuning."""
    parts: Sequence[Result] = work.inputs["parts"]
    dev: Result = work.inputs["dev"]
    settings, orientation = work.options["settings"], work.options["orientation"]
    places: list[Path] = [result.path for result in (*parts, dev)]
    key = (places, settings, orientation)
    if not _last or _last[0][0] != key:
        system = System.of_results(parts, orientation, settings=settings)
        _last[:] = [
            (key, (system, system.sources(list(open_text(dev / "dev.src")), prepared=True)))
        ]
    return _last[0][1]
