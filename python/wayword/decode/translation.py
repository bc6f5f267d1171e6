"""What the decoder returns: a translation and how it came about.

All objects are frozen. Positions count from 0; spans are half-open, ``(first, after the last)``.
Source positions are those of the words the user wrote, whatever order the decoder got them in.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from wayword.corpus.source import Offsets, Source
from wayword.types import Span

if TYPE_CHECKING:
    from wayword import _core

__all__ = ["Arc", "Hypothesis", "Phrase", "Stack", "Statistics", "Translation"]

#: Words of the source and of the target.
SegmentSpans = tuple[Span, Span]


@dataclass(frozen=True)
class Phrase:
    """Source words and the target words they became, with where both stand.

    A preorderer may have brought words together that the user wrote apart: then ``positions`` are
    theirs, in the order of the phrase, and ``src`` is the span from the first to the last.
    """

    src: Span
    tgt: Span
    source: str
    target: str
    positions: tuple[int, ...] = ()

    @property
    def covered(self) -> tuple[int, ...]:
        """The source positions, in the order of the phrase."""
        return self.positions or tuple(range(*self.src))

    def moved(self, src: int, tgt: int) -> "Phrase":
        """The same phrase so many words further on."""
        return replace(
            self,
            src=(self.src[0] + src, self.src[1] + src),
            tgt=(self.tgt[0] + tgt, self.tgt[1] + tgt),
            positions=tuple(place + src for place in self.positions),
        )

    @property
    def runs(self) -> list[Span]:
        """The source positions as spans, from left to right; one where nothing is apart."""
        if not self.positions:
            return [self.src]
        numbered = enumerate(sorted(self.positions))
        runs = [list(run) for _, run in groupby(numbered, key=lambda pair: pair[1] - pair[0])]
        return [(run[0][1], run[-1][1] + 1) for run in runs]


@dataclass(frozen=True)
class Statistics:
    """What the search did: extensions scored, hypotheses made, of these recombined and pruned.

    ``narrowed`` spans could have come next and were left out by early pruning;
    ``jumps[d]`` phrases of the best translation stand ``d`` words from the end of the one before.
    """

    scored: int
    made: int
    recombined: int
    pruned: int
    narrowed: int
    jumps: tuple[int, ...]


@dataclass(frozen=True)
class Arc:
    """A phrase that leads from one partial translation to a longer one; 0 is the empty one."""

    start: int
    end: int
    src: Span
    target: str
    score: float
    positions: tuple[int, ...] = ()


@dataclass(frozen=True)
class Hypothesis:
    """A partial translation in a stack: its last phrase, and what became of it.

    ``back`` is the number of the one it extends, 0 the empty one; ``covered`` are the source
    positions translated; ``total`` is the score with the future cost; ``recombined`` others were
    merged with it; ``is_alive`` tells whether a whole translation came of it.
    """

    number: int
    back: int
    src: Span
    target: str
    covered: tuple[int, ...]
    score: float
    total: float
    recombined: int
    is_alive: bool


@dataclass(frozen=True)
class Stack:
    """The hypotheses that translate as many words: how many, and the best of them."""

    kept: int
    recombined: int
    abandoned: int
    best: tuple[Hypothesis, ...]


@dataclass(frozen=True, repr=False)
class Translation:
    """One way to translate a sentence.

    ``score`` is the sum of the ``features``, each times its weight. ``phrases`` come in target
    order. ``nbest`` holds the best translations, this one first, when they were asked for;
    ``statistics`` and ``graph`` belong to the search and stand in the first only.
    """

    source: tuple[str, ...]
    tokens: tuple[str, ...]
    text: str
    score: float
    features: Mapping[str, float]
    phrases: tuple[Phrase, ...]
    links: tuple[tuple[int, int], ...]
    nbest: tuple["Translation", ...] = ()
    statistics: Statistics | None = None
    graph: tuple[Arc, ...] = ()
    #: by number of translated words, when they were asked for; they belong to the search, too
    stacks: tuple[Stack, ...] = ()
    #: source positions of words that no model has a translation for
    unknown: tuple[int, ...] = ()
    #: source positions of unknown words whose spelling was guessed
    spelled: tuple[int, ...] = ()
    #: what was translated by a search of its own, such as the sentences of a line; empty when the
    #: whole was
    segments: tuple[SegmentSpans, ...] = ()
    #: the line as the user wrote it, and where in it each source word stands, where known
    raw: str = field(default="", compare=False)
    offsets: Offsets | None = field(default=None, compare=False)

    @classmethod
    def of(
        cls,
        result: "_core.Translation",
        source: Source,
        names: Sequence[str],
        **of_search: Any,
    ) -> "Translation":
        """A translation from what the core returns; ``of_search`` goes to the best one alone."""
        found = _Found(result, source, names)
        order = source.order
        unknown = tuple(sorted(order[at] if order else at for at in result.unknown))
        made = object.__new__(cls)
        vars(made).update(
            source=source.written,
            text=result.text,
            score=result.score,
            unknown=unknown,
            spelled=_spelled(found, unknown) if source.spellings else (),
            raw=source.raw,
            offsets=source.offsets,
            **of_search,
            _found=found,
        )
        return made

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What few ask for is worked out when somebody does; see ``_LATE``."""
            found, work_out = vars(self).get("_found"), _LATE.get(name)
            if found is None or work_out is None:
                raise AttributeError(f"a translation has no `{name}`", name=name, obj=self)
            value = vars(self)[name] = work_out(found)
            return value

    @classmethod
    def of_outcome(
        cls, outcome: "_core.Outcome", source: Source, names: Sequence[str], *, wants_nbest: bool
    ) -> "Translation":
        """The best translation, with all that the search returned besides."""
        done, best = outcome.statistics, outcome.best
        counts = (done.scored, done.made, done.recombined, done.pruned, done.narrowed)
        return cls.of(
            best[0],
            source,
            names,
            nbest=tuple(cls.of(other, source, names) for other in best) if wants_nbest else (),
            statistics=Statistics(*counts, tuple(done.jumps)),
            graph=tuple(_arc(arc, source.order) for arc in outcome.graph),
            stacks=tuple(_stack(stack, source.order) for stack in outcome.stacks),
        )

    @property
    def order(self) -> tuple[int, ...]:
        """The source positions in the order in which the phrases translate them."""
        return tuple(at for phrase in self.phrases for at in phrase.covered)

    def trace(self) -> str:
        """The phrases as ``source=target`` positions, inclusive, such as ``2-3=0-1 0=2``.

        A phrase that became nothing has ``-`` for its target; one of words that the user wrote
        apart has all their runs, such as ``0-1,4=2``.
        """
        return " ".join(
            f"{','.join(map(_inclusive, phrase.runs))}={_inclusive(phrase.tgt)}"
            for phrase in self.phrases
        )

    def word_trace(self) -> str:
        """The links as Pharaoh writes them: ``0-0 1-2``."""
        return " ".join(f"{i}-{j}" for i, j in sorted(self.links))

    def moses_line(self, number: int) -> str:
        """A line of an n-best list: ``number ||| words ||| name= value … ||| total``.

        The phrase trace and the word trace follow.
        """
        groups: dict[str, list[str]] = {}
        for name, value in self.features.items():
            groups.setdefault(_group(name), []).append(f"{value:.6g}")
        shown = " ".join(f"{name}= {' '.join(values)}" for name, values in groups.items())
        fields = (str(number), " ".join(self.tokens), shown, f"{self.score:.6g}")
        return " ||| ".join((*fields, self.trace(), self.word_trace()))

    def to_dict(self) -> dict[str, Any]:
        """The translation as plain values, for JSON."""
        shown = self._to_dict()
        shown["source_tokens"] = list(self.source)
        if self.raw:
            shown["raw"] = self.raw
        if self.offsets is not None:
            shown["offsets"] = [None if place is None else list(place) for place in self.offsets]
        if self.nbest:
            shown["nbest"] = [other._to_dict() for other in self.nbest]
        if self.statistics:
            shown["statistics"] = vars(self.statistics) | {"jumps": list(self.statistics.jumps)}
        if self.graph:
            shown["graph"] = [
                [arc.start, arc.end, *arc.src, arc.target, arc.score] for arc in self.graph
            ]
        return shown

    def _to_dict(self) -> dict[str, Any]:
        """What differs between the translations of a sentence, and its words."""
        shown: dict[str, Any] = {
            "source": " ".join(self.source),
            "text": self.text,
            "tokens": list(self.tokens),
            "score": self.score,
            "features": dict(self.features),
            "phrases": [[*phrase.src, *phrase.tgt] for phrase in self.phrases],
            "links": [list(link) for link in self.links],
            "unknown": list(self.unknown),
        }
        if self.spelled:
            shown["spelled"] = list(self.spelled)
        if self.segments:
            shown["segments"] = [[*src, *tgt] for src, tgt in self.segments]
        if any(phrase.positions for phrase in self.phrases):
            shown["positions"] = [list(phrase.covered) for phrase in self.phrases]
        return shown

    def restored(self, restore: Callable[[Sequence[str]], str]) -> "Translation":
        """The same with the text that ``restore`` makes of its tokens."""
        nbest = tuple(other.restored(restore) for other in self.nbest)
        same = object.__new__(type(self))
        vars(same).update(vars(self), text=restore(self.tokens), nbest=nbest)
        return same

    def draw(self) -> str:
        """The derivation for people, in a terminal."""
        from wayword.report.derivation import draw

        return draw(self)

    def _repr_html_(self) -> str:
        from wayword.report.derivation import to_html

        return to_html(self)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        phrases = f"{len(self.phrases)} phrase{'' if len(self.phrases) == 1 else 's'}"
        return f"Translation({self.text!r}, score={self.score:.4g}, {phrases})"

    def __getstate__(self) -> dict[str, Any]:
        every = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**every, "features": dict(self.features)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in {**state, "features": MappingProxyType(state["features"])}.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class _Found:
    """What a translation is worked out of."""

    result: "_core.Translation"
    source: Source
    names: Sequence[str]


def _phrases(found: _Found) -> tuple[Phrase, ...]:
    source, words = found.source, found.result.words
    phrases = []
    for step in found.result.steps:
        src, tgt = step.src, step.tgt
        span, positions = _written(src, source.order)
        text = " ".join(source.words[src[0] : src[1]])
        phrases.append(Phrase(span, tgt, text, " ".join(words[tgt[0] : tgt[1]]), positions))
    return tuple(phrases)


def _links(found: _Found) -> tuple[tuple[int, int], ...]:
    links, order = found.result.links, found.source.order
    return tuple(links) if order is None else tuple((order[src], tgt) for src, tgt in links)


#: What is worked out only when it is asked for: the text alone is what most callers want.
_LATE: Mapping[str, Callable[[_Found], object]] = {
    "tokens": lambda found: tuple(found.result.words),
    "features": lambda found: MappingProxyType(
        dict(zip(found.names, found.result.features, strict=True))
    ),
    "phrases": _phrases,
    "links": _links,
}


def _spelled(found: _Found, unknown: Sequence[int]) -> tuple[int, ...]:
    """Where unknown words stand whose spelling was guessed."""
    steps, phrases = found.result.steps, _phrases(found)
    guessed = {
        phrase.src[0]
        for step, phrase in zip(steps, phrases, strict=True)
        if _is_guess(found.source, step.src, phrase.target)
    }
    return tuple(sorted(guessed.difference(unknown)))


def _written(span: Span, order: Sequence[int] | None) -> tuple[Span, tuple[int, ...]]:
    """A span of the decoder among the words the user wrote, and its positions if it is no run."""
    if order is None:
        return span, ()
    positions = tuple(order[slice(*span)])
    hull = min(positions), max(positions) + 1
    return hull, () if positions == tuple(range(*hull)) else positions


def _is_guess(source: Source, span: Span, target: str) -> bool:
    """Whether a phrase is an unknown word with one of the spellings that were guessed."""
    guesses = source.spellings.get(span[0], ()) if span[1] - span[0] == 1 else ()
    return any(text == target for text, _ in guesses)


def _arc(arc: "_core.Arc", order: Sequence[int] | None) -> Arc:
    span, positions = _written(arc.src, order)
    return Arc(arc.start, arc.end, span, " ".join(arc.words), arc.score, positions)


def _stack(stack: "_core.ShownStack", order: Sequence[int] | None) -> Stack:
    best = tuple(
        Hypothesis(
            number=hyp.number,
            back=hyp.back,
            src=_written(hyp.src, order)[0] if hyp.covered else (0, 0),
            target=" ".join(hyp.words),
            covered=tuple(sorted(order[at] for at in hyp.covered) if order else hyp.covered),
            score=hyp.score,
            total=hyp.total,
            recombined=hyp.recombined,
            is_alive=hyp.is_alive,
        )
        for hyp in stack.best
    )
    return Stack(stack.kept, stack.recombined, stack.abandoned, best)


def _inclusive(span: Span) -> str:
    first, last = span[0], span[1] - 1
    if first > last:
        return "-"
    return str(first) if first == last else f"{first}-{last}"


@cache
def _group(name: str) -> str:
    """The models a feature belongs to: ``tm0`` and ``tm1`` to ``tm``, ``lr.prev.m`` to ``lr``."""
    return name.split(".", maxsplit=1)[0].rstrip("0123456789")
