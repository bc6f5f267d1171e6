"""What the decoder returns: a translation and how it came about.

All objects are frozen. Positions count from 0; spans are half-open, ``(first, after the last)``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

__all__ = ["Arc", "Phrase", "Statistics", "Translation"]

Span = tuple[int, int]


@dataclass(frozen=True)
class Phrase:
    """Source words and the target words they became, with where both stand."""

    src: Span
    tgt: Span
    source: str
    target: str


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


@dataclass(frozen=True)
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
    graph: tuple[Arc, ...] = field(default=(), repr=False)

    @classmethod
    def of(
        cls,
        source: tuple[str, ...],
        names: tuple[str, ...],
        found: tuple[list[str], float, list[float], list[Any], list[Any]],
    ) -> "Translation":
        """A translation from what the core returns."""
        words, score, values, steps, links = found
        phrases = tuple(
            Phrase((u, v), (s, t), " ".join(source[u:v]), " ".join(words[s:t]))
            for u, v, s, t in steps
        )
        features = MappingProxyType(dict(zip(names, values, strict=True)))
        tokens, text = tuple(words), " ".join(words)
        return cls(source, tokens, text, score, features, phrases, tuple(links))

    @property
    def order(self) -> tuple[int, ...]:
        """The source positions in the order in which the phrases translate them."""
        return tuple(at for phrase in self.phrases for at in range(*phrase.src))

    def trace(self) -> str:
        """The phrases as ``source=target`` positions, inclusive, such as ``2-3=0-1 0=2``.

        A phrase that became nothing has ``-`` for its target.
        """
        return " ".join(f"{_inclusive(p.src)}={_inclusive(p.tgt)}" for p in self.phrases)

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
        shown: dict[str, Any] = {
            "source": " ".join(self.source),
            "text": self.text,
            "tokens": list(self.tokens),
            "score": self.score,
            "features": dict(self.features),
            "phrases": [[*phrase.src, *phrase.tgt] for phrase in self.phrases],
            "links": [list(link) for link in self.links],
        }
        if self.nbest:
            shown["nbest"] = [other.to_dict() for other in self.nbest]
        if self.statistics:
            shown["statistics"] = vars(self.statistics) | {"jumps": list(self.statistics.jumps)}
        if self.graph:
            shown["graph"] = [
                [arc.start, arc.end, *arc.src, arc.target, arc.score] for arc in self.graph
            ]
        return shown

    def with_text(self, text: str) -> "Translation":
        """The same with another text for its tokens."""
        return replace(self, text=text)

    def draw(self) -> str:
        """The derivation for people, in a terminal."""
        from wayword.report.derivation import draw

        return draw(self)

    def _repr_html_(self) -> str:
        from wayword.report.derivation import to_svg

        return to_svg(self)


def _inclusive(span: Span) -> str:
    first, last = span[0], span[1] - 1
    if first > last:
        return "-"
    return str(first) if first == last else f"{first}-{last}"


def _group(name: str) -> str:
    """The models a feature belongs to: ``tm0`` and ``tm1`` to ``tm``, ``lr.prev.m`` to ``lr``."""
    return name.split(".", maxsplit=1)[0].rstrip("0123456789")
