"""Annotators that the user has installed: spaCy, Stanza, UDPipe.

In: the name of a model, or for UDPipe its file. Out: an annotator like any other.
How: words go in as they are (none of the three splits them again), universal tags and trees come
out, and chunks are derived from the tree as for a treebank. Nothing is ever downloaded.
Not: a part of wayword; none of them is installed with it.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from wayword.corpus.annotate.annotator import batches, file_manifest
from wayword.corpus.annotate.chunks import derive_chunks
from wayword.corpus.annotate.sentence import ROOT, Sentence
from wayword.errors import ArgumentError, WaywordError

__all__ = ["Spacy", "Stanza", "Udpipe"]


def _library(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise ArgumentError(
            f"annotator: the package `{package}` is not installed; expected it for this kind; "
            f"install it, or fit a tagger of our own with `wayword annotate fit`"
        ) from None


def _unopened(what: str, error: Exception, advice: str) -> ArgumentError:
    reason = " ".join(str(error).split())
    return ArgumentError(f"annotator: {what} ({reason}); {advice}")


def _sentence(
    words: Sequence[str],
    pos: Sequence[str],
    tree: tuple[Sequence[int], Sequence[str]] | None,
    name: str,
) -> Sentence:
    """A sentence with chunks, or with tags alone where there is no tree."""
    if len(pos) != len(words):
        raise WaywordError(
            f"{name}: {len(pos)} words came back for {len(words)} (`{' '.join(words[:5])}` …); "
            "expected the words as they were; use a model that keeps them"
        )
    tags = tuple(tag or "X" for tag in pos)
    if tree is None:
        return Sentence(tuple(words), tags)
    heads, relations = tree
    plain = tuple(relation.lower() or "dep" for relation in relations)
    return derive_chunks(Sentence(tuple(words), tags, None, tuple(heads), plain))


def _empty(has_tree: bool) -> Sentence:
    return Sentence((), (), (), (), ()) if has_tree else Sentence((), ())


class Spacy:
    """A spaCy pipeline, by the name of its package or the path of its folder."""

    def __init__(self, model: str) -> None:
        spacy = _library("spacy", "spacy")
        try:
            self._nlp = spacy.load(model)
        except OSError as error:
            what = f"spaCy has no model `{model}`"
            raise _unopened(what, error, "expected an installed one") from None
        self._model = model

    @classmethod
    def load(cls, model: str) -> "Spacy":
        """Open a pipeline."""
        return cls(model)

    def annotate(
        self, sentences: Iterable[str | Sequence[str]], *, threads: int = 1
    ) -> Iterator[Sentence]:
        """Annotate sentences, in so many processes."""
        doc = _library("spacy.tokens", "spacy").Doc
        processes = max(1, threads or 1)
        for batch in batches(sentences):
            docs = [doc(self._nlp.vocab, words=words) for words in batch if words]
            parsed = iter(self._nlp.pipe(docs, n_process=processes))
            has_tree = None
            for words in batch:
                if not words:
                    yield _empty(bool(has_tree))
                    continue
                tokens = list(next(parsed))
                has_tree = any(token.dep_ for token in tokens)
                heads = [ROOT if t.head.i == t.i else t.head.i for t in tokens]
                relations = [token.dep_ for token in tokens]
                tree = (heads, relations) if has_tree else None
                yield _sentence(words, [token.pos_ for token in tokens], tree, "spacy")

    def to_manifest(self) -> dict[str, Any]:
        """Kind, model and its version."""
        meta = getattr(self._nlp, "meta", {})
        return {"kind": "spacy", "model": self._model, "version": meta.get("version", "")}


class Stanza:
    """A Stanza pipeline, by its language; its models have to be on the disk."""

    def __init__(self, lang: str) -> None:
        stanza = _library("stanza", "stanza")
        settings = {"processors": "tokenize,pos,lemma,depparse", "tokenize_pretokenized": True}
        try:
            self._nlp = stanza.Pipeline(lang, **settings, download_method=None, verbose=False)
        except Exception as error:
            advice = "expected them on the disk; download them with Stanza first"
            raise _unopened(f"Stanza has no models for `{lang}`", error, advice) from None
        self._lang = lang

    @classmethod
    def load(cls, lang: str) -> "Stanza":
        """Open the pipeline of a language."""
        return cls(lang)

    def annotate(
        self,
        sentences: Iterable[str | Sequence[str]],
        *,
        threads: int = 1,  # noqa: ARG002  Stanza has threads of its own
    ) -> Iterator[Sentence]:
        """Annotate sentences."""
        for batch in batches(sentences):
            full = [words for words in batch if words]
            parsed = iter(self._nlp(full).sentences if full else ())
            for words in batch:
                if not words:
                    yield _empty(True)
                    continue
                tokens = next(parsed).words
                heads = [token.head - 1 for token in tokens]
                relations = [token.deprel for token in tokens]
                tags = [token.upos for token in tokens]
                yield _sentence(words, tags, (heads, relations), "stanza")

    def to_manifest(self) -> dict[str, Any]:
        """Kind and language."""
        return {"kind": "stanza", "model": self._lang}


class Udpipe:
    """A UDPipe 1 model file, through the package ``ufal.udpipe``."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._udpipe = _library("ufal.udpipe", "ufal.udpipe")
        self._path = Path(path)
        with self._path.open("rb"):  # a missing file is Python's own error
            pass
        self._model = self._udpipe.Model.load(os.fspath(path))
        if self._model is None:
            raise ArgumentError(f"annotator: {path} is no UDPipe model; expected one for UDPipe 1")

    @classmethod
    def load(cls, path: str) -> "Udpipe":
        """Open a model file."""
        return cls(path)

    def annotate(
        self,
        sentences: Iterable[str | Sequence[str]],
        *,
        threads: int = 1,  # noqa: ARG002  the package holds the interpreter's lock
    ) -> Iterator[Sentence]:
        """Annotate sentences."""
        for batch in batches(sentences):
            for words in batch:
                yield self._tag(words) if words else _empty(True)

    def _tag(self, words: Sequence[str]) -> Sentence:
        sentence = self._udpipe.Sentence()
        for word in words:
            sentence.addWord(word)
        self._model.tag(sentence, self._model.DEFAULT)
        self._model.parse(sentence, self._model.DEFAULT)
        tokens = list(sentence.words)[1:]  # the first is the root
        heads = [word.head - 1 for word in tokens]
        relations = [word.deprel for word in tokens]
        return _sentence(words, [word.upostag for word in tokens], (heads, relations), "udpipe")

    def to_manifest(self) -> dict[str, Any]:
        """Kind, file and checksum."""
        return file_manifest("udpipe", self._path)
