"""Trained models that live in the core, and how they travel between processes.

In: a model with its core and what its training saw. Out: its pickle: path and digest of the file
it is mapped from, so that processes share its pages, or all of its bytes when it has no file.
Not: a copy of a mapped file; the file has to be there, and the same, where the pickle is read.
"""

from typing import Any, TypeVar

from wayword.errors import MismatchError

__all__ = ["Handle"]

Model = TypeVar("Model", bound="Handle")


class Handle:
    """A model of the core; ``summary`` is what training saw, None for one that was loaded."""

    def __init__(self, core: Any, summary: Any = None) -> None:
        self._core = core
        self.summary = summary

    def __reduce__(self) -> tuple[Any, ...]:
        kinds = (type(self), type(self._core))
        if self._core.path is None:
            return _from_bytes, (*kinds, self._core.to_bytes(), self.summary)
        path = str(self._core.path.absolute())
        return _load_again, (*kinds, path, self._core.digest, self.summary)


def _from_bytes(model: type[Model], kind: Any, data: bytes, summary: Any) -> Model:
    return model(kind.from_bytes(data), summary)


def _load_again(model: type[Model], kind: Any, path: str, digest: str, summary: Any) -> Model:
    core = kind.load(path)
    if core.digest != digest:
        raise MismatchError(f"{path}: not the file it was when pickled; pickle the model again")
    return model(core, summary)
