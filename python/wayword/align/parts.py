"""Learns an aligner from text in parts, each counted by a task of its own, here or elsewhere.

In: the parts of a text as pairs of files, a folder that all tasks see, and what runs tasks.
Out: an ``Aligner``: the one that ``fit_files`` learns from the same files, byte for byte, for any
number of parts.
How: tasks are top-level functions of paths, so that any engine can run them; between them lie files
of whole numbers, whose sums do not depend on their order. ``run`` is like ``map``: it takes a
function and a list of its arguments and gives the results in that order. A task that is run again
writes the same file again, so a lost machine costs only its tasks.
Cost: that of ``fit_files``, and reading and writing the files between tasks: a pass writes 8 bytes
for each slot of the lexicon and part.

>>> from wayword.corpus.files import temp_folder
>>> with temp_folder() as folder:
...     for name, line in {"a": "das haus", "b": "the house", "c": "ein", "d": "a"}.items():
...         _ = (folder / name).write_text(line)
...     files = [(folder / "a", folder / "b"), (folder / "c", folder / "d")]
...     fit_parts([[pair] for pair in files], folder / "work").summary.pairs
2
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayword import _core
from wayword.align.aligner import Aligner, Options
from wayword.corpus.files import size_in_bytes
from wayword.errors import ArgumentError
from wayword.types import FilePath

__all__ = ["Recipe", "count_pairs", "count_words", "expect", "fit_parts", "write_shard"]

#: The text of a part: pairs of files of lines.
Text = Sequence[tuple[FilePath, FilePath]]
#: Runs a function for each tuple of arguments, and gives the results in their order.
Run = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], Iterable[Any]]


@dataclass(frozen=True)
class Recipe:
    """How to learn; it pickles, and every task gets it."""

    model: str = Options.model
    lexical_iterations: int | None = None
    order_iterations: int | None = None
    memory: str = Options.memory
    #: for temporary files of a task; None for the system's place
    temp_dir: str | None = None
    #: of a task
    threads: int = 1

    def core(self) -> _core.FitOptions:
        """The options of the core."""
        return _core.FitOptions(
            model=self.model,
            lexical_iterations=self.lexical_iterations,
            order_iterations=self.order_iterations,
            memory=size_in_bytes(self.memory),
            temp_dir=self.temp_dir,
        )


def run_here(function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Run tasks one after the other."""
    return [function(*given) for given in arguments]


def fit_parts(
    parts: Sequence[Text],
    folder: FilePath,
    recipe: Recipe | None = None,
    *,
    run: Run = run_here,
) -> Aligner:
    """Learn from all parts; files between tasks go to ``folder``, which all of them see.

    What an interrupted call with the same parts and recipe left there is gone on with.
    """
    if not parts:
        raise ArgumentError("parts: found none; expected one or more")
    recipe, folder = recipe or Recipe(), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    options = recipe.core()

    def of_parts(name: str) -> list[Path]:
        return [folder / f"{name}.{number:05}" for number in range(len(parts))]

    words, shards, pairs = of_parts("words"), of_parts("shard"), of_parts("pairs")
    names, number, end = folder / "names", _reached(folder), folder / "end"
    if number is None:
        number = 0
        list(run(count_words, list(zip(parts, words, strict=True))))
        _core.AlignTasks.number_words(words, names)
        texts = [(text, names, recipe, out) for text, out in zip(parts, shards, strict=True)]
        list(run(write_shard, texts))
        given = [(shard, names, recipe, out) for shard, out in zip(shards, pairs, strict=True)]
        list(run(count_pairs, given))
        _core.AlignTasks.start(pairs, names, options, folder / "state.0")
        _remove([*words, *pairs])
    while not end.exists():
        state, following = folder / f"state.{number}", folder / "next"
        counts = of_parts(f"counts.{number}")
        tasks = [(shard, state, recipe, out) for shard, out in zip(shards, counts, strict=True)]
        list(run(expect, tasks))
        is_last = _core.AlignTasks.update(state, counts, options, following)
        number += 1
        following.rename(end if is_last else folder / f"state.{number}")
        _remove([state, *counts])
    return Aligner(_core.AlignTasks.finish(end, names, options))


def _reached(folder: Path) -> int | None:
    """How many passes an interrupted call made; None when it did not come to the first."""
    return max((int(path.suffix[1:]) for path in folder.glob("state.*")), default=None)


def count_words(text: Text, out: FilePath) -> None:
    """Count the words of a part."""
    _core.AlignTasks.count_words(list(text), out)


def write_shard(text: Text, names: FilePath, recipe: Recipe, out: FilePath) -> None:
    """Write a part in numbers."""
    _core.AlignTasks.write_shard(list(text), names, recipe.core(), out)


def count_pairs(shard: FilePath, names: FilePath, recipe: Recipe, out: FilePath) -> None:
    """Count which words of a part occur together."""
    _core.AlignTasks.count_pairs(shard, names, recipe.core(), out, recipe.threads)


def expect(shard: FilePath, state: FilePath, recipe: Recipe, out: FilePath) -> None:
    """Count the links of a part, as the state finds them."""
    _core.AlignTasks.expect(shard, state, recipe.core(), out, recipe.threads)


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
