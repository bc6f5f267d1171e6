"""A translation system: a list of parts, weights and settings; in memory, or a folder on disk.

In and out: parts (``wayword.parts``), or a folder with ``system.toml`` (the manifest; see
``wayword.manifest``), ``README.md`` (a model card) and the files of the parts. Models are mapped
when the system is opened; text files, such as truecasers, are read.
How: raw text is split into sentences and prepared as the manifest says, each part adds what it
knows of a sentence, the decoder translates, and the tokens become text again. A system in training
is the same thing with weights that are not tuned yet.
Cost: opening takes milliseconds for models of any size, and some seconds for each million words of
its truecasers; models are shared with other processes.

>>> import wayword
>>> wayword.load("no such folder")
Traceback (most recent call last):
...
FileNotFoundError: [Errno 2] no system there; expected a folder with system.toml: 'no such folder'
"""

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from wayword._core import MAX_SENTENCE_WORDS
from wayword.corpus.annotate import Sentence
from wayword.corpus.files import sha256
from wayword.corpus.sentences import SplitText, split_lines
from wayword.corpus.source import Source
from wayword.corpus.text import Preparation
from wayword.decode import Decoder, NbestList, Settings, Translation
from wayword.decode.concatenate import concatenate
from wayword.decode.markup import read_markup, split_markup
from wayword.errors import (
    ArgumentError,
    FormatError,
    LimitError,
    MismatchError,
    WaywordError,
)
from wayword.extract import PhraseTable
from wayword.learn import JOURNAL, Journal, mark_terms
from wayword.lm import LanguageModel
from wayword.manifest import (
    MANIFEST,
    Manifest,
    Sums,
    check_sizes,
    read_manifest,
    write_manifest,
)
from wayword.options import check_text
from wayword.pack import cached, is_cached
from wayword.parts import Part, open_part
from wayword.stage import Result
from wayword.store import copy_file
from wayword.teach import Learned, Pupil, with_lessons
from wayword.types import FilePath

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["System", "load"]

Preparations = tuple[Preparation, Preparation]
JoinTexts = Callable[[Sequence[str]], str]


class System(Pupil):
    """A translation system: ``translate`` text with it, or look at and change its parts.

    It never changes: ``with_…``, ``learn`` and ``glossary`` return another that shares its models.
    Only ``save``, ``merge`` and the argument ``save`` of ``learn`` and ``glossary`` write to its
    folder. It pickles as its parts.
    """

    def __init__(
        self,
        parts: Sequence[Part],
        *,
        weights: Mapping[str, float] | None = None,
        settings: Settings | None = None,
        text: Preparations | None = None,
        made: Mapping[str, Any] | None = None,
        folder: FilePath | None = None,
        learned: Learned | None = None,
    ) -> None:
        """``text`` says how raw text is prepared, None for tokenised text.

        Weights that are not given are 0, but that of unknown words. ``made`` tells how it was made.
        What was ``learned`` is that of the parts unless it is given.
        """
        self.parts = tuple(parts)
        self.text = text
        self.made: Mapping[str, Any] = dict(made or {})
        self.folder = Path(folder) if folder is not None else None
        self.decoder = _decoder(self.parts, weights or {}, settings or Settings())
        self.learned = Learned()  # while the pairs themselves are prepared
        if learned is None:
            merged = [lesson for part in self.parts for lesson in part.lessons()]
            learned = Learned.of(merged, (), None, self._known)
        self._take_in(learned)

    @classmethod
    def open(cls, folder: FilePath, *, trust: bool = False, accept: bool = False) -> "System":
        """Open a system folder, or a file of ``wayword pack``.

        A system that another person made may name a module of this machine, or an annotator such
        as spaCy with models that run code of their own: that takes ``trust``, or
        ``WAYWORD_TRUST=1``. Modules that are imported already have been trusted. With ``accept``,
        the manifest and files without a checksum inside may have been changed by hand; see
        ``wayword.seal``.
        """
        folder = cached(folder) if Path(folder).is_file() else Path(folder)
        manifest = read_manifest(folder, accept=accept)
        sums = None if accept else manifest.files
        check_sizes(folder, sums or {})
        is_trusted = trust or os.environ.get("WAYWORD_TRUST", "") not in {"", "0"}
        if not is_trusted:
            _check_modules(manifest.parts, folder)
        try:
            parts = [open_part(entry, folder, sums) for entry in manifest.parts]
            system = cls(
                parts,
                weights=manifest.weights,
                settings=manifest.settings,
                text=manifest.text,
                made=manifest.made,
                folder=folder,
            )
        except (ArgumentError, KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, WaywordError) and not isinstance(error, ArgumentError):
                raise
            found = f"no `{error.args[0]}`" if isinstance(error, KeyError) else str(error)
            raise FormatError(f"{folder / MANIFEST}: {found}") from None
        if not is_trusted:
            _check_trust(parts, folder)
        return system if is_cached(folder) else system.with_journal(folder / JOURNAL)

    @classmethod
    def of_results(
        cls, results: Sequence[Result], orientation: str = "", **options: Any
    ) -> "System":
        """The system of finished stages whose facts hold the entry of a part.

        ``orientation`` is the model of the table's that is used; empty for none.
        """
        used = {"orientation": orientation} if orientation else {}
        parts = []
        for result in results:
            entry = result.facts["part"]
            more = used if entry["kind"] == "phrase-table" else {}
            parts.append(open_part({**entry, **more}, result.path))
        return cls(parts, **options)

    @property
    def weights(self) -> dict[str, float]:
        """The weights by the names of their features."""
        return self.decoder.weights

    @property
    def nonnegative(self) -> tuple[str, ...]:
        """The names of the features whose weight is at least 0 by definition."""
        return self.decoder.nonnegative

    @property
    def settings(self) -> Settings:
        """What was chosen about the search."""
        return self.decoder.settings

    def part(self, name: str) -> Part:
        """The part of this name."""
        for part in self.parts:
            if part.name == name:
                return part
        known = ", ".join(part.name for part in self.parts)
        raise ArgumentError(f"part: found `{name}`; expected one of {known}")

    @property
    def table(self) -> PhraseTable:
        """The phrase table."""
        return self._phrases[0]

    @property
    def orientation(self) -> str | None:
        """The orientation model that is used, if there is one."""
        return self._phrases[1]

    @property
    def _phrases(self) -> tuple[PhraseTable, str | None]:
        return _phrases(self.parts)

    @property
    def lms(self) -> list[LanguageModel]:
        """The language models."""
        return _language_models(self.parts)

    def with_weights(self, weights: Mapping[str, float]) -> "Self":
        """The same system with other weights; its models are shared, its folder is not touched."""
        return self._changed(decoder=self.decoder.with_weights(weights))

    def with_settings(self, **options: Any) -> "Self":
        """The same system with other settings, such as ``space="dl:12"``."""
        return self._changed(decoder=self.decoder.with_settings(**options)) if options else self

    def with_part(self, part: Part) -> "Self":
        """The same system with a further part that the decoder does not ask."""
        return self._changed(parts=(*self.parts, part))

    def describing(self, made: Mapping[str, Any]) -> "Self":
        """The same system with other notes in its card of how it was made."""
        return self._changed(made=dict(made))

    def noting(self, stage: str, facts: Mapping[str, Any]) -> "Self":
        """The same system with a note in its card of how a stage was done."""
        return self.describing({**self.made, stage: dict(facts)})

    def _changed(self, **values: Any) -> "Self":
        changed = object.__new__(type(self))
        vars(changed).update(vars(self) | values)
        return changed

    @overload
    def translate(self, text: str | Source, **options: Any) -> Translation: ...
    @overload
    def translate(self, text: Iterable[str | Source], **options: Any) -> list[Translation]: ...
    def translate(
        self,
        text: str | Source | Iterable[str | Source],
        *,
        prepared: bool = False,
        split: bool = True,
        markup: bool | str = False,
        origin: tuple[str, int] = ("text", 1),
        **options: Any,
    ) -> Translation | list[Translation]:
        """Translate a text, or many; an empty one stays empty.

        Raw text is split into sentences, and their translations are joined; ``split=False`` takes
        each text for one sentence. ``prepared`` text is tokenised already, and so is what comes
        back; a ``Source`` is too, and neither is split.
        ``markup`` obeys tags in the text (see ``wayword.decode.markup``), and messages about them
        count lines from ``origin``. Other options are settings for this call, such as
        ``space="dl:3"``, or those of ``Decoder.translate``, such as ``nbest`` and ``threads``.
        A sentence of more than ``MAX_SENTENCE_WORDS`` words is translated piece by piece.
        """
        lines = _checked_texts(text)
        sides = None if prepared else self.text
        split = split and sides is not None
        read = partial(self._sentences, prepared=prepared, split=split, markup=markup)
        texts = [read(line, place=(origin[0], at)) for at, line in enumerate(lines, origin[1])]
        cut = [[source.cut(MAX_SENTENCE_WORDS) for source in sources] for sources, _ in texts]
        sources = self._known([piece for of_text in cut for pieces in of_text for piece in pieces])
        best = iter(self._best(sources, options))
        list_options = {name: options[name] for name in ("nbest", "distinct") if name in options}
        translations = []
        for line, (_, join), of_text in zip(lines, texts, cut, strict=True):
            sentences = [
                concatenate(list(islice(best, len(pieces))), **list_options) for pieces in of_text
            ]
            if sides is not None and isinstance(line, str):
                sentences = [each.restored(sides[1].restore) for each in sentences]
            translations.append(concatenate(sentences, join, **list_options))
        return translations[0] if isinstance(text, str | Source) else translations

    def sentences(self, text: str, *, markup: bool = False) -> SplitText:
        """Split raw text into sentences, as ``translate`` does.

        With ``markup`` no boundary is inside an element. The text of a system without preparation
        is tokenised: each line is a sentence.
        """
        check_text("text", text)
        split = split_lines
        if self.text is not None:
            split = partial(self.text[0].sentences, separator=self.text[1].sentence_separator)
        return split_markup(text, split) if markup else split(text)

    def _sentences(
        self,
        line: str | Source,
        *,
        prepared: bool,
        split: bool,
        markup: bool | str,
        place: tuple[str, int],
    ) -> tuple[list[Source], JoinTexts]:
        """Return the sentences of a text, and the function that joins their translations."""
        if isinstance(line, Source):
            return [line], " ".join
        read = partial(self._source, prepared=prepared, markup=markup, place=place)
        if not split:
            return [read(line)], " ".join
        found = self.sentences(line, markup=markup is not False)
        if len(found.sentences) < 2:
            return [read(line)], " ".join
        parts = zip(found.sentences, found.starts, strict=True)
        sources = [read(sentence).within(line, start) for sentence, start in parts]
        return sources, lambda texts: found.join(texts).strip()

    def _best(self, sources: Sequence[Source], options: Mapping[str, Any]) -> list[Translation]:
        """The best translation of each sentence over the forms of it that parts offer."""
        forms = [self._forms(source) for source in sources]
        flat = [source for of_sentence in forms for source, _ in of_sentence]
        translations = iter(self.decoder.translate(flat, **options))
        best = []
        for of_sentence in forms:
            scored = [(next(translations), more) for _, more in of_sentence]
            # The first of equal ones: the order that the preorderer likes best.
            best.append(max(scored, key=lambda one: one[0].score + one[1])[0])
        return best

    def _forms(self, source: Source) -> list[tuple[Source, float]]:
        forms = [(source, 0.0)]
        for part in self.parts:
            forms = [
                (other, score + more)
                for form, score in forms
                for other, more in part.alternatives(form)
            ]
        return forms

    def sources(
        self,
        lines: Sequence[str | Source],
        *,
        prepared: bool = False,
        markup: bool | str = False,
        origin: tuple[str, int] = ("text", 1),
    ) -> list[Source]:
        """Lines as the decoder takes them: prepared, and with what each part adds.

        Each line is one sentence.
        """
        read = partial(self._source, prepared=prepared, markup=markup)
        file, first = origin
        return self._known(
            [
                line if isinstance(line, Source) else read(line, place=(file, number))
                for number, line in enumerate(_checked_texts(lines), first)
            ]
        )

    def _known(self, sources: Sequence[Source]) -> list[Source]:
        """Sentences with what each part adds to them."""
        if self.learned.terms:
            sources = [mark_terms(source, self.learned.terms) for source in sources]
        longest = max(map(len, sources), default=0)
        if longest > MAX_SENTENCE_WORDS:
            limit = f"the limit is {MAX_SENTENCE_WORDS} words a sentence; split it"
            raise LimitError(f"a sentence of {longest} words; {limit}")
        for part in self.parts:
            sources = part.prepare(sources)
        if self.decoder.layers:
            # Without an annotator, sentences bring their tags themselves: `word|POS`.
            sources = [
                source.with_factors() if source.sentence.pos is None else source
                for source in sources
            ]
        for part in self.parts:
            sources = part.guess(sources, self.table)
        return list(sources)

    def _source(
        self, line: str, *, prepared: bool, markup: bool | str, place: tuple[str, int]
    ) -> Source:
        preparation = None if prepared or self.text is None else self.text[0]
        if markup is not False:
            if preparation is None or self.text is None:
                return read_markup(line, markup, place)
            pieces = self.text[1].subwords
            split = None if pieces is None else pieces.split
            return read_markup(line, markup, place, preparation.prepare, split)
        if preparation is None:
            return Source.of(line)
        tokens, offsets = preparation.prepare_with_offsets(line)
        return Source(Sentence(tuple(tokens)), raw=line, offsets=offsets)

    def nbest(self, sources: Sequence[str | Source], **options: Any) -> list[NbestList]:
        """The best translations of tokenised sentences as arrays; see ``Decoder.nbest``."""
        return self.decoder.nbest(self.sources(sources, prepared=True), **options)

    def prepare(self, line: str) -> str:
        """A line as tokens with spaces between, those that ``translate`` makes of it."""
        check_text("line", line)
        if self.text is None:
            return line
        return " ".join(chain.from_iterable(self.text[0].prepare_sentences(line)))

    def save(self, folder: FilePath | None = None) -> "Self":
        """Write the manifest, and the files of the parts where they are not in the folder yet.

        Without a folder it is the one that the system was opened from. Lessons that are in memory
        only go to its journal; in another folder, all lessons become part of the system.
        """
        folder = Path(folder) if folder is not None else self.folder
        if folder is None:
            raise ArgumentError("folder: none, and the system was never saved; expected one")
        if is_cached(folder):
            advice = "save it to a folder, or unpack it with `wayword pack`"
            raise ArgumentError(f"{folder}: a packed system does not change; {advice}")
        folder.mkdir(parents=True, exist_ok=True)
        is_here = self.folder is not None and folder.samefile(self.folder)
        known = self._sealed(read_manifest(folder, accept=True).files) if is_here else {}
        if self.learned.fresh and not is_here:  # no journal goes along
            taught = with_lessons(self.parts, self.learned.lessons, folder)
            learned = replace(self.learned, merged=self.learned.lessons, fresh=(), unsaved=())
            return self._changed(parts=taught, learned=learned).save(folder)
        for part in self.parts:
            for name in part.files:
                _put(part.folder / name, folder / name)
        manifest = Manifest(
            parts=[part.entry for part in self.parts],
            settings=self.settings,
            weights=self.weights,
            text=self.text,
            made=self.made,
            names=[name for part in self.parts for name in part.files],
        )
        write_manifest(folder, manifest, known=known)
        if is_here:
            is_saved = not self.learned.unsaved
            return self if is_saved else self._changed(learned=self.learned.saved(self._journal()))
        parts = [open_part(part.entry, folder) for part in self.parts]
        learned = replace(self.learned, journal=Journal(folder / JOURNAL))
        return self._changed(folder=folder, parts=tuple(parts), learned=learned)

    def _sealed(self, sums: Sums) -> Sums:
        """Select the sums of files that hold a checksum."""
        names = {name for part in self.parts if part.is_sealed for name in part.files}
        return {name: known for name, known in sums.items() if name in names}

    def verify(self) -> None:
        """Read every byte of every file that the manifest lists and compare the digests."""
        if self.folder is None:
            raise ArgumentError("folder: none; expected a system that was saved")
        for name, (_, known) in read_manifest(self.folder).files.items():
            if sha256(self.folder / name) != known:
                advice = "the file was changed or damaged; copy or train the system again"
                raise MismatchError(f"{self.folder / name}: another SHA-256 than noted; {advice}")

    def __reduce__(self) -> tuple[Any, ...]:
        values = (self.weights, self.settings, self.text, self.made, self.folder)
        return _unpickled, (self.parts, *values, self.learned)

    def __repr__(self) -> str:
        name = "untitled" if self.folder is None else repr(str(self.folder))
        return f"System({name}, {self.settings.space}, {len(self.weights)} features)"


def load(folder: FilePath, *, trust: bool = False) -> System:
    """Open a system folder, or a file of ``wayword pack``; see ``System.open``."""
    return System.open(folder, trust=trust)


def _checked_texts(text: object) -> list[str | Source]:
    """Return the texts of an argument of ``translate``, after a check of their types."""
    if isinstance(text, str | Source):
        return [text]
    if isinstance(text, bytes | bytearray | memoryview) or not isinstance(text, Iterable):
        raise ArgumentError(f"text: expected str, found {type(text).__name__}")
    texts = list(text)
    for number, each in enumerate(texts):
        if not isinstance(each, str | Source):
            raise ArgumentError(f"text[{number}]: expected str, found {type(each).__name__}")
    return texts


def _check_modules(entries: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Refuse to import a module because a manifest says so."""
    for entry in entries:
        kind, _, place = str(entry.get("kind", "")).partition(":")
        module = str(place or entry.get("object", "")).partition(":")[0]
        if kind == "python" and module not in sys.modules:
            raise _untrusted(folder, entry.get("name"), f"the Python module {module}")


def _check_trust(parts: Sequence[Part], folder: Path) -> None:
    """Refuse what runs code that is neither ours nor in the system, until the user says yes."""
    for part in parts:
        if part.runs:
            raise _untrusted(folder, part.name, part.runs)


def _untrusted(folder: Path, name: object, runs: str) -> ArgumentError:
    advice = "say yes with trust=True, --trust or WAYWORD_TRUST=1 if you know who made it"
    return ArgumentError(f"{folder / MANIFEST}: part {name} runs {runs} of this machine; {advice}")


def _put(source: Path, target: Path) -> None:
    """Have the bytes of a file at another place, in a file that has no other name."""
    if target.is_file() and not target.is_symlink() and target.stat().st_nlink == 1:
        if target.samefile(source):
            return
        if target.stat().st_size == source.stat().st_size and sha256(target) == sha256(source):
            return
    copy_file(source, target)


def _unpickled(  # noqa: PLR0917
    parts: Sequence[Part],
    weights: Mapping[str, float],
    settings: Settings,
    text: Preparations | None,
    made: Mapping[str, Any],
    folder: Path | None,
    learned: Learned,
) -> System:
    values: dict[str, Any] = {"weights": weights, "settings": settings, "text": text}
    return System(parts, **values, made=made, folder=folder, learned=learned)


def _decoder(parts: Sequence[Part], weights: Mapping[str, float], settings: Settings) -> Decoder:
    table, orientation = _phrases(parts)
    features = [feature for part in parts if (feature := part.feature()) is not None]
    return Decoder(
        table,
        _language_models(parts),
        orientation=orientation,
        features=features,
        weights=weights,
        settings=settings,
    )


def _phrases(parts: Sequence[Part]) -> tuple[PhraseTable, str | None]:
    given = [phrases for part in parts if (phrases := part.phrases()) is not None]
    if len(given) != 1:
        raise ArgumentError(f"parts: found {len(given)} phrase tables; expected one")
    return given[0]


def _language_models(parts: Sequence[Part]) -> list[LanguageModel]:
    return [model for part in parts if (model := part.language_model()) is not None]
