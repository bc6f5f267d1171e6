"""How a system learns: from a corrected pair or a term to what its decoder uses next.

In: lessons (``wayword.learn``), merged ones from a part of the system and later ones from its
journal. Out: ``Learned``: the pairs as the decoder takes them, and the terms that sentences are
searched for.
How: a pair's source goes through the parts of the system as any sentence does, so that a preorderer
puts its words in the order that the decoder sees; links follow.
Cost: that of preparing each pair once.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wayword._core import MAX_ALIGNED_WORDS
from wayword.align import Aligner
from wayword.corpus import Bitext
from wayword.corpus.annotate import Sentence
from wayword.corpus.source import Source
from wayword.corpus.text import Preparation
from wayword.decode import Decoder, Suggestion
from wayword.decode.decoder import Pair
from wayword.errors import ArgumentError, LimitError
from wayword.learn import JOURNAL, Journal, Lesson, Terms, terms_of, write_lessons
from wayword.options import check_text
from wayword.pack import is_cached
from wayword.parts.part import Part, entry, open_part
from wayword.types import FilePath

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Learned", "Pupil", "completion", "link", "with_lessons"]

Prepare = Callable[[Sequence[Source]], Sequence[Source]]
Links = list[tuple[int, int]]


@dataclass(frozen=True)
class Learned:
    """The lessons of a system: ``merged`` into its parts, and ``fresh`` ones since then."""

    merged: tuple[Lesson, ...] = ()
    fresh: tuple[Lesson, ...] = ()
    #: the file that keeps fresh lessons
    journal: Journal | None = None
    #: the pairs among both, as the decoder takes them
    pairs: tuple[Pair, ...] = ()
    #: the fresh lessons that are in memory only
    unsaved: tuple[Lesson, ...] = ()

    @classmethod
    def of(
        cls,
        merged: Sequence[Lesson],
        fresh: Sequence[Lesson],
        journal: Journal | None,
        prepare: Prepare,
    ) -> "Learned":
        """All lessons, each once."""
        known = {lesson.id for lesson in merged}
        later = tuple(lesson for lesson in fresh if lesson.id not in known)
        pairs = decoder_pairs([*merged, *later], prepare)
        return cls(tuple(merged), later, journal, pairs)

    def more(self, lessons: Sequence[Lesson], prepare: Prepare) -> "Learned":
        """Return the same with further lessons, in memory."""
        pairs = (*self.pairs, *decoder_pairs(lessons, prepare))
        unsaved = (*self.unsaved, *lessons)
        return replace(self, fresh=(*self.fresh, *lessons), pairs=pairs, unsaved=unsaved)

    def saved(self, journal: Journal) -> "Learned":
        """Append the unsaved lessons to a journal and return the same without any."""
        if self.unsaved:
            journal.append(self.unsaved)
        return replace(self, journal=journal, unsaved=())

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        """All of them, the oldest first."""
        return (*self.merged, *self.fresh)

    @cached_property
    def terms(self) -> Terms:
        """Target words by source words."""
        return terms_of(self.lessons)


class Pupil:
    """The side of a system that learns; ``wayword.system.System`` is one."""

    if TYPE_CHECKING:
        parts: tuple[Part, ...]
        text: tuple[Preparation, Preparation] | None
        made: Mapping[str, Any]
        folder: Path | None
        decoder: Decoder
        learned: Learned

        def sources(self, lines: Sequence[str | Source]) -> list[Source]: ...  # noqa: D102
        def _known(self, sources: Sequence[Source]) -> list[Source]: ...
        def _changed(self, **values: Any) -> "Self": ...
        def save(self, folder: FilePath | None = None) -> "Self": ...  # noqa: D102
        @classmethod
        def open(cls, folder: FilePath, *, trust: bool = False) -> "Self": ...  # noqa: D102

    def _take_in(self, learned: Learned) -> None:
        if learned.pairs != self.learned.pairs:
            self.decoder = self.decoder.learned(learned.pairs)
        self.learned = learned

    def with_journal(self, path: FilePath) -> "Self":
        """Return the same system with the lessons of a journal, which keeps further ones.

        Lessons of another journal are left out; those in memory only stay.
        """
        journal = Journal(path)
        merged, unsaved = self.learned.merged, self.learned.unsaved
        learned = Learned.of(merged, [*journal.read(), *unsaved], journal, self._known)
        return self._taught(replace(learned, unsaved=unsaved))

    def _taught(self, learned: Learned) -> "Self":
        taught = self._changed()
        taught._take_in(learned)
        return taught

    @property
    def aligner(self) -> Aligner | None:
        """The aligner of the system, if there is one: a part of it, or in its ``work`` folder.

        A system trained with ``model.aligner = false`` has the aligner in that folder only.
        """
        for part in self.parts:
            if (aligner := part.aligner()) is not None:
                return aligner
        path = _work_aligner(self.folder, self.made.get("stages"))
        return None if path is None else Aligner.load(path)

    def tokens(self, src: str, tgt: str, *, prepared: bool = False) -> tuple[list[str], list[str]]:
        """The words of a sentence and of its translation."""
        check_text("source", src)
        check_text("translation", tgt)
        if prepared or self.text is None:
            return src.split(), tgt.split()
        return self.text[0].prepare(src), self.text[1].prepare(tgt)

    def learn(
        self,
        src: str,
        tgt: str,
        *,
        links: Sequence[tuple[int, int]] | None = None,
        prepared: bool = False,
        save: bool = False,
    ) -> "Self":
        """Return the same system after a corrected pair, which it uses from the next sentence on.

        The words of the pair are linked by the system's aligner, unless ``links`` between its
        tokens are given. The pair is in memory only. With ``save``, the pair and all earlier
        lessons that are in memory only are on the disk when this returns, in the journal of the
        system's folder or of ``with_journal``.
        """
        words = self.tokens(src, tgt, prepared=prepared)
        for name, side in zip(("source", "target"), words, strict=True):
            check_words(name, side)
        if links is None:
            if (aligner := self.aligner) is None:
                advice = "give links, or train the system again, which keeps its aligner"
                raise ArgumentError(f"learn: the system has no aligner; {advice}")
            links, _ = link(aligner, *words)
        return self._learn([Lesson.pair(*words, links)], save=save)

    def glossary(
        self, terms: Mapping[str, str], *, prepared: bool = False, save: bool = False
    ) -> "Self":
        """Return the same system with further terms: by source term, its translation.

        The terms are in memory only; ``save`` is that of ``learn``.
        """
        return self._learn(self._terms(terms, prepared=prepared), save=save)

    def _terms(self, terms: Mapping[str, str], *, prepared: bool = False) -> list[Lesson]:
        if not isinstance(terms, Mapping):
            found = type(terms).__name__
            raise ArgumentError(f"terms: expected a mapping of str to str, found {found}")
        lessons = []
        for src, tgt in terms.items():
            words = self.tokens(src, tgt, prepared=prepared)
            check_words("term", words[0])
            lessons.append(Lesson.term(*words))
        return lessons

    def _learn(self, lessons: Sequence[Lesson], *, save: bool) -> "Self":
        learned = self.learned.more(lessons, self._known)
        return self._taught(learned.saved(self._journal()) if save else learned)

    def _journal(self) -> Journal:
        """Return the journal that keeps lessons of this system."""
        if self.learned.journal is not None:
            return self.learned.journal
        if self.folder is None:
            advice = "name a journal (with_journal), or save the system to a folder first"
            raise ArgumentError(f"save: the system is in no folder; {advice}")
        if is_cached(self.folder):
            advice = "name a journal (with_journal), or unpack it with `wayword pack`"
            raise ArgumentError(f"{self.folder}: a packed system does not change; {advice}")
        return Journal(self.folder / JOURNAL)

    def suggest(
        self, text: str | Source, typed: str, *, progress: Any = None
    ) -> tuple[str, Suggestion]:
        """What may follow the beginning of a translation that somebody typed, and its words."""
        check_text("typed", typed)
        [source] = self.sources([text])
        prepare = str.split if self.text is None else self.text[1].prepare
        tokens = prepare(typed)
        is_open = bool(tokens) and not typed[-1].isspace()
        found = self.decoder.suggest(source, tokens, is_open=is_open, progress=progress)
        reached = found.tokens[found.typed - 1] if found.typed else ""
        if is_open and reached.startswith(tokens[-1]):
            tokens = [*tokens[:-1], reached]
        restore = " ".join if self.text is None else self.text[1].restore
        return completion(typed, tokens, found.tokens[found.typed :], restore), found

    def merge(self) -> "Self":
        """Make all lessons part of the system in its folder, and empty the journal."""
        if self.folder is None or self.learned.journal is None:
            raise ArgumentError("merge: the system is in no folder of its own; expected one")
        with self.learned.journal.emptied() as fresh:
            lessons = [*fresh, *self.learned.unsaved]
            learned = Learned.of(self.learned.merged, lessons, None, self._known)
            old = [name for part in self.parts if part.kind == "learned" for name in part.files]
            parts = with_lessons(self.parts, learned.lessons, self.folder)
            merged = self._changed(parts=parts, learned=learned).save()
            for name in set(old).difference(*(part.files for part in parts)):
                (self.folder / name).unlink(missing_ok=True)
        return type(self).open(merged.folder or self.folder, trust=True)


def with_lessons(
    parts: Sequence[Part], lessons: Sequence[Lesson], folder: Path
) -> tuple[Part, ...]:
    """The parts with all lessons in one of them, whose file of a new name is in the folder."""
    if not lessons:
        return tuple(parts)
    ids = " ".join(lesson.id for lesson in lessons)
    name = f"learned-{hashlib.sha256(ids.encode()).hexdigest()[:12]}"
    write_lessons(folder / name, lessons)
    others = [part for part in parts if part.kind != "learned"]
    return (*others, open_part(entry("learned", "learned", file=name), folder))


def decoder_pairs(lessons: Iterable[Lesson], prepare: Prepare) -> tuple[Pair, ...]:
    """The pairs among lessons, their source words in the order in which the decoder gets them."""
    told = [lesson for lesson in lessons if lesson.kind == "pair"]
    sources = prepare([Source(Sentence(lesson.src)) for lesson in told])
    pairs = []
    for lesson, source in zip(told, sources, strict=True):
        places = {at: place for place, at in enumerate(source.order or range(len(source)))}
        links = tuple((places[i], j) for i, j in lesson.links)
        pairs.append((source.words, lesson.tgt, links))
    return tuple(pairs)


def link(
    aligner: Aligner, src: Sequence[str], tgt: Sequence[str], *, least: float | None = None
) -> tuple[Links, list[float]]:
    """The links of a pair and how likely each is; ``least`` takes all that are so likely."""
    for words in (src, tgt):
        if len(words) > MAX_ALIGNED_WORDS:
            limit = f"the limit is {MAX_ALIGNED_WORDS}; split it"
            raise LimitError(f"a sentence of {len(words)} words to be linked; {limit}")
    bitext = Bitext.from_pairs([(" ".join(src), " ".join(tgt))])
    links, posteriors = aligner.align_with_posteriors(bitext, threshold=least, threads=1)
    pairs = [(int(i), int(j)) for i, j in links[0]]
    return pairs, [round(float(value), 4) for value in posteriors]


def _work_aligner(folder: Path | None, stages: object) -> Path | None:
    """Return the aligner in the ``work`` folder of a system's training, if it is there."""
    key = stages.get("align") if isinstance(stages, dict) else None
    if folder is None or not isinstance(key, str):
        return None
    path = folder / "work" / f"align-{key}" / "aligner"
    return path if path.is_file() else None


def completion(
    prefix: str, typed: Sequence[str], rest: Sequence[str], restore: Callable[[Sequence[str]], str]
) -> str:
    """What has to be written after a prefix for the typed tokens and the rest to stand there.

    >>> completion("the ho", ["the", "house"], ["is", "old", "."], " ".join)
    'use is old .'
    >>> completion("the house ", ["the", "house"], ["is"], " ".join)
    'is'
    >>> completion("THE", ["the"], ["house"], " ".join)
    ' house'
    """
    whole = restore([*typed, *rest])
    begun = prefix.rstrip()
    if whole.startswith(begun):
        left = whole[len(begun) :]
        return left.lstrip() if begun != prefix else left
    gap = "" if begun != prefix or not prefix else " "
    return gap + restore(rest) if rest else ""


def check_words(name: str, words: Sequence[str]) -> None:
    """Refuse a side without words."""
    if not words:
        raise ArgumentError(f"{name}: no words; expected a sentence")
