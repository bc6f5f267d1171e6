"""A stage of work as data: its name, what was chosen, what goes in, and the function that makes it.

In: options (plain values or a dataclass of them) and inputs (files, or other stages). Out: a
``Stage``, which does nothing by itself: a ``Runner`` executes it, resumes it and prints it.
How: the key of a stage is a digest of its name, its version, its options and the keys of its
inputs, so it is known before anything runs; whatever is changed, only what depends on it gets
another key. ``version`` counts what the function's code has made: raise it whenever the same
options and inputs give other files, so that changed code never reuses what older code made.
Cost: the digest of input files, once.
Not: running anything; ``wayword.store`` does that on one machine, ``wayword.cluster`` on many.

>>> def count(work):
...     (work.out / "number").write_text(str(work.options["limit"]))
...     return {"limit": work.options["limit"]}
>>> three = Stage("count", count, options={"limit": 3})
>>> four = Stage("count", count, options={"limit": 4})
>>> three.key == Stage("count", count, options={"limit": 3}).key, three.key == four.key
(True, False)
>>> [stage.name for stage in in_order([Stage("sum", count, inputs={"all": [three, four]})])]
['count', 'count', 'sum']
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from wayword.corpus.files import sha256
from wayword.types import FilePath, Progress

__all__ = [
    "Cost",
    "File",
    "Input",
    "Result",
    "Runner",
    "Spread",
    "Stage",
    "Watch",
    "Work",
    "in_order",
    "plain",
]

KEY = 16  # hex digits
LEAST = 100  # lines that are worth a shard of their own


class File:
    """A file that goes into a stage. What is in it counts, not what it is called."""

    def __init__(self, path: FilePath) -> None:
        self.path = Path(path)

    @cached_property
    def key(self) -> str:
        """The SHA-256 of its content."""
        return sha256(self.path)

    def __repr__(self) -> str:
        return f"File({str(self.path)!r})"


#: What may go into a stage: files, stages or their results, and lists or tables of them.
Input: TypeAlias = "Stage | File | Result | Sequence[Input] | Mapping[str, Input]"


@dataclass(frozen=True)
class Cost:
    """What a stage took: wall and CPU seconds, and the most memory the process had, in MB."""

    seconds: float
    cpu: float
    memory: float


@dataclass(frozen=True)
class Result:
    """A finished stage: where its files are, and what it said about them."""

    name: str
    key: str
    path: Path
    facts: Mapping[str, Any]
    cost: Cost
    reused: bool

    def __truediv__(self, name: str) -> Path:
        return self.path / name


@dataclass(frozen=True)
class Work:
    """A stage being done: what was chosen, what goes in, where the files go, and how.

    ``inputs`` have the shape of the stage's, with a ``Result`` for each stage and a ``Path`` for
    each file. Threads and memory change no result, nor does the number of shards: a stage may cut
    its work into as many as ``width`` smaller stages, whose results go into its own, and have them
    made by ``spread``, which knows where there is room.
    """

    options: Any
    inputs: Mapping[str, Any]
    out: Path
    threads: int = 0
    progress: Progress | None = None
    width: int = 1
    spread: "Spread | None" = None
    #: a folder, perhaps not there yet, that stays until the stage is done, whatever is lost before
    aside: Path | None = None
    #: what it keeps to, such as ``1G``; empty: it says nothing of memory
    memory: str = ""

    def shards(self, lines: int) -> int:
        """Into how many shards so many lines are worth cutting; 1 for none at all."""
        return max(1, min(self.width, lines // LEAST)) if self.spread is not None else 1


#: Does the work, in a folder of its own, and returns facts about it: plain values for JSON. It is a
#: top-level function, so that another process can be told to call it.
Make: TypeAlias = Callable[[Work], Mapping[str, Any] | None]


@dataclass(frozen=True, eq=False)
class Stage:
    """One step of a run; two stages with the same key make the same."""

    name: str
    make: Make
    options: Any = field(default_factory=dict)
    inputs: Mapping[str, Input] = field(default_factory=dict)
    version: int = 1
    #: whether ``make`` goes on with what an interrupted call left in its folder; the others start
    #: in an empty one
    resumes: bool = False
    #: what it is to keep to, such as ``1G``; no part of the key, as it must change no result
    memory: str = ""

    @cached_property
    def recipe(self) -> dict[str, Any]:
        """All that its result depends on, in plain values."""
        return {
            "stage": self.name,
            "version": self.version,
            "options": plain(self.options),
            "inputs": _keys(self.inputs),
        }

    @cached_property
    def key(self) -> str:
        """What tells it from others."""
        text = json.dumps(self.recipe, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()[:KEY]

    @property
    def needs(self) -> list["Stage"]:
        """The stages that go into it."""
        return [part for part in _leaves(self.inputs) if isinstance(part, Stage)]

    def __repr__(self) -> str:
        return f"Stage({self.name!r}, {self.key})"


#: Makes the shards of a stage; their files are there inside the ``with`` block.
Spread: TypeAlias = Callable[[Sequence[Stage]], AbstractContextManager[list[Result]]]

#: Called with a stage before it is looked for or made, and with its result when it is there.
Watch: TypeAlias = Callable[[Stage, Result | None], object]


class Runner(Protocol):
    """Executes stages: on this machine, or on many."""

    def run(self, stages: Sequence[Stage]) -> list[Result]:
        """The results of these stages, in their order; what they need is made first.

        What was made before is not made again; a stage that fails leaves nothing behind.
        """


def in_order(stages: Sequence[Stage]) -> list[Stage]:
    """These stages and all they need, each key once, inputs before what they go into."""
    ordered: dict[str, Stage] = {}

    def visit(stage: Stage) -> None:
        if stage.key in ordered:
            return
        for needed in stage.needs:
            visit(needed)
        ordered[stage.key] = stage

    for stage in stages:
        visit(stage)
    return list(ordered.values())


def filled(inputs: Input, results: Mapping[str, Result]) -> Any:
    """Inputs with results for stages and paths for files."""
    if isinstance(inputs, Stage):
        return results[inputs.key]
    if isinstance(inputs, Result):
        return inputs
    if isinstance(inputs, File):
        return inputs.path
    if isinstance(inputs, Mapping):
        return {name: filled(part, results) for name, part in inputs.items()}
    return [filled(part, results) for part in inputs]


def plain(options: Any) -> Any:
    """Options as values that JSON has.

    >>> plain(Cost(1.0, 2.0, 3.0)), plain({"orders": (1, 2)})
    ({'seconds': 1.0, 'cpu': 2.0, 'memory': 3.0}, {'orders': [1, 2]})
    """
    if is_dataclass(options) and not isinstance(options, type):
        return plain(asdict(options))
    if isinstance(options, Mapping):
        return {str(name): plain(value) for name, value in options.items()}
    if isinstance(options, list | tuple):
        return [plain(value) for value in options]
    return options


def _keys(inputs: Input) -> Any:
    if isinstance(inputs, Stage | File | Result):
        return inputs.key
    if isinstance(inputs, Mapping):
        return {name: _keys(part) for name, part in inputs.items()}
    return [_keys(part) for part in inputs]


def _leaves(inputs: Input) -> Iterator[Stage | File | Result]:
    if isinstance(inputs, Stage | File | Result):
        yield inputs
        return
    for part in inputs.values() if isinstance(inputs, Mapping) else inputs:
        yield from _leaves(part)
