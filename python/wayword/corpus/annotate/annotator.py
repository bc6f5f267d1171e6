"""The one interface of everything that annotates, and how a name becomes an annotator.

In: a name such as ``de.tagger``, ``spacy:de_core_news_sm`` or ``gold:train.factored.de``. Out: an
``Annotator``: sentences in, ``Sentence`` out, in order, a batch at a time.
How: every kind of annotator is one class, listed in ``KINDS``; a manifest (a plain dictionary)
says which one made an annotation, so that translation annotates the same way.
Cost: one batch in memory.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, cast

from wayword.corpus.annotate.sentence import Sentence
from wayword.corpus.files import sha256
from wayword.errors import ArgumentError, FormatError, MismatchError
from wayword.types import FilePath

__all__ = [
    "KINDS",
    "Annotator",
    "annotator_from_manifest",
    "batches",
    "file_manifest",
    "open_annotator",
]

BATCH = 1000

#: Kinds of annotators: the class of each, where it is, and how its files begin.
KINDS: dict[str, tuple[str, str, bytes | None]] = {
    "tagger": ("tagger", "Tagger", b"WAYTAGGR"),
    "classes": ("classes", "Classes", b"# wayword classes"),
    "gold": ("gold", "Gold", None),
    "spacy": ("external", "Spacy", None),
    "stanza": ("external", "Stanza", None),
    "udpipe": ("external", "Udpipe", None),
}


class Annotator(Protocol):
    """Annotates sentences. Output does not depend on the number of threads or the batches."""

    def annotate(
        self, sentences: Iterable[str | Sequence[str]], *, threads: int = 0
    ) -> Iterator[Sentence]:
        """Annotate sentences, each words or a line of them, one after the other."""
        ...

    def to_manifest(self) -> dict[str, Any]:
        """What a system keeps to annotate the same way again: plain values."""
        ...


def batches(
    sentences: Iterable[str | Sequence[str]], size: int = BATCH
) -> Iterator[list[list[str]]]:
    """Lists of sentences as lists of words."""
    rest = iter(sentences)
    while batch := list(islice(rest, size)):
        yield [words.split() if isinstance(words, str) else list(words) for words in batch]


def open_annotator(name: FilePath) -> Annotator:
    """The annotator of this name.

    ``KIND:WHAT`` names kind and file or model; the name of a file alone is that of a tagger or of
    classes, told by how the file begins.
    """
    text = os.fspath(name)
    kind, colon, what = text.partition(":")
    if colon and kind in KINDS:
        return _loader(kind)(what)
    with Path(text).open("rb") as file:
        start = file.read(32)
    for kind, (_, _, magic) in KINDS.items():
        if magic is not None and start.startswith(magic):
            return _loader(kind)(text)
    kinds = ", ".join(f"`{kind}:`" for kind in KINDS)
    raise FormatError(
        f"{text}: neither a tagger nor classes; expected a file that `wayword annotate fit` or "
        f"`classes` wrote, or a name that begins with one of {kinds}"
    )


def annotator_from_manifest(manifest: Mapping[str, Any], folder: FilePath = ".") -> Annotator:
    """The annotator a manifest describes; its file is looked for from ``folder`` and checked."""
    kind = str(manifest.get("kind"))
    if kind not in KINDS:
        raise ArgumentError(f"annotate: found kind `{kind}`; expected one of {', '.join(KINDS)}")
    if "file" not in manifest:
        return _loader(kind)(str(manifest.get("model", "")))
    path = Path(folder, str(manifest["file"]))
    if sha256(path) != manifest.get("sha256"):
        raise MismatchError(
            f"{path}: not the file the manifest was made with; restore it, or train again"
        )
    return _loader(kind)(str(path))


def _loader(kind: str) -> Callable[[str], Annotator]:
    module, name, _ = KINDS[kind]
    annotator = getattr(import_module(f"wayword.corpus.annotate.{module}"), name)
    return cast("Callable[[str], Annotator]", annotator.load)


def file_manifest(kind: str, path: Path | None) -> dict[str, Any]:
    """The manifest of an annotator that is a file."""
    if path is None:
        raise ArgumentError(
            f"{kind}: was never saved; expected a file to name in a manifest; save it first"
        )
    return {"kind": kind, "file": path.name, "sha256": sha256(path)}
