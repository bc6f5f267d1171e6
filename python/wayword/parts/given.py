"""Path features that are given and not learned: matrices in a file, or a Python function.

Both give, for each sentence, how likely each word is to be translated right after each other one:
a row for the sentence's start and one for each word, a column for each word.
"""

import hashlib
import inspect
import shutil
from functools import cached_property
from pathlib import Path
from typing import Any

from wayword.errors import ArgumentError
from wayword.parts.part import Ground, Part, Wanted, entry, import_object
from wayword.reorder.feature import Feature, Given, read_matrices
from wayword.stage import File, Stage, Work

__all__ = ["MatrixPart", "PythonPart"]


class MatrixPart(Part):
    """Matrices by sentence, from a file of JSON lines; a sentence without one is refused."""

    kind = "matrix"

    @cached_property
    def matrices(self) -> Any:
        """All matrices by the words of their sentences."""
        return read_matrices(self.path)

    def load(self) -> None:
        """Read the file."""
        _ = self.matrices

    def feature(self) -> Feature:
        """Scores each jump by the sentence's matrix."""
        return Given(self.name, self.matrices)

    @classmethod
    def check(cls, wanted: Wanted) -> None:
        """Refuse a file that is not there."""
        if not Path(wanted.what).is_file():
            expected = "expected matrix:FILE, a file of JSON lines"
            raise ArgumentError(f"features: found `matrix:{wanted.what}`, no file; {expected}")

    @classmethod
    def stage(cls, wanted: Wanted, ground: Ground, options: Any) -> Stage:  # noqa: ARG003
        """Take the file over."""
        inputs = {"matrices": File(wanted.what)}
        return Stage("matrix", make_matrix, {"name": wanted.name}, inputs, version=1)


def make_matrix(work: Work) -> dict[str, Any]:
    """Read the file once, so that a wrong one is found out here, and keep it."""
    path, name = work.inputs["matrices"], work.options["name"]
    sentences = len(read_matrices(path))
    shutil.copyfile(path, work.out / name)
    return {"part": entry("matrix", name, file=name), "sentences": sentences}


class PythonPart(Part):
    """A function that is imported: a ``Source`` in, a matrix out."""

    kind = "python"

    def feature(self) -> Feature:
        """Scores each jump by what the function says of the sentence."""
        return Given(self.name, import_object(self.entry["object"]))

    def load(self) -> None:
        """Import the function."""
        _callable(self.entry["object"])

    @classmethod
    def check(cls, wanted: Wanted) -> None:
        """Refuse what cannot be imported or called."""
        _callable(wanted.what)

    @classmethod
    def stage(cls, wanted: Wanted, ground: Ground, options: Any) -> Stage:  # noqa: ARG003
        """Note which function it is; its source counts, so that changed code is another stage."""
        source = inspect.getsource(inspect.getmodule(_callable(wanted.what)))  # type: ignore[arg-type]
        digest = hashlib.sha256(source.encode()).hexdigest()[:16]
        chosen = {"name": wanted.name, "object": wanted.what, "source": digest}
        return Stage("python", make_python, chosen, version=1)


def make_python(work: Work) -> dict[str, Any]:
    """Nothing but the entry."""
    options = work.options
    return {"part": entry("python", options["name"], object=options["object"])}


def _callable(place: str) -> Any:
    found = import_object(place)
    if not callable(found):
        raise ArgumentError(f"features: python:{place} is {found!r}; expected a function")
    return found
