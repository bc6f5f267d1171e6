"""The word-order report card of a language pair: its figures, and how they are told in a terminal.

In: what ``wayword.profile`` measured. Out: a ``Profile`` of plain values, as text, JSON or, by
``report.profile_page``, as a page.
Shares are from 0 to 1; distances are in source words.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from textwrap import wrap
from typing import Any

from wayword.errors import FormatError
from wayword.report.oracle import order_table
from wayword.report.table import Table, listing
from wayword.types import FilePath

__all__ = ["Advice", "Distance", "Mover", "Pattern", "Profile", "Sample", "load_profile", "text"]

#: What a JSON file of a profile says it is.
FORMAT = "wayword-profile-2"
SHOWN_MOVERS = 15
COLUMNS = 92  # of sentences in a terminal
SHOWN_LIMITS = (2, 4, 6, 8, 10, 14, 18)


@dataclass(frozen=True)
class Advice:
    """A key of the configuration, the value to give it, and why."""

    key: str
    value: str
    why: str

    @property
    def setting(self) -> str:
        """As it stands on a command line.

        >>> Advice("search.space", "dl:8", "").setting
        'search.space=dl:8'
        """
        return f"{self.key}={self.value}"


@dataclass(frozen=True)
class Distance:
    """Pairs of linked words so many words apart, and how many of them are reversed."""

    words: str
    pairs: int
    reversed: int

    @property
    def share(self) -> float:
        """The share that is reversed."""
        return self.reversed / self.pairs if self.pairs else 0.0


@dataclass(frozen=True)
class Mover:
    """What the words of a tag, or one word, do: how often they move, where to and how far."""

    name: str
    #: linked words
    count: int
    #: shares of them
    left: float
    right: float
    #: mean number of words they pass, of those that move
    far: float
    #: share that changes places with the linked word before it
    turned: float = 0.0

    @property
    def passed(self) -> float:
        """All words that they pass, on either side: what moving them accounts for."""
        return self.count * (self.left + self.right) * self.far


@dataclass(frozen=True)
class Pattern:
    """The order of the blocks of sentences, such as ``1 3 2``, and the share of sentences."""

    blocks: tuple[int, ...]
    share: float

    @property
    def name(self) -> str:
        """The numbers of the blocks, in the order of the translation."""
        return " ".join(map(str, self.blocks))


@dataclass(frozen=True)
class Sample:
    """A telling sentence: line, words, links and order."""

    line: int
    pattern: str
    src: tuple[str, ...]
    tgt: tuple[str, ...]
    links: tuple[tuple[int, int], ...]
    order: tuple[int, ...]


@dataclass(frozen=True)
class Profile:
    """The word order of a language pair."""

    name: str
    sentences: int
    src_words: int
    tgt_words: int
    links: int
    #: share of source words with a link
    linked: float
    #: by model the shares of M, S and D
    orientation: Mapping[str, Mapping[str, float]]
    #: signed jumps between words, a row a part of the text, the step to the next word in the middle
    jumps: Sequence[Sequence[int]]
    #: by limit: words that are reached by a longer jump, and sentences whose order it allows
    beyond: Mapping[int, float]
    reached: Mapping[int, float]
    distances: tuple[Distance, ...]
    #: what moves: ``tag`` or ``word``
    movers_are: str
    movers: tuple[Mover, ...]
    #: rows of the order oracle
    spaces: tuple[Mapping[str, Any], ...]
    #: sentences that the order oracle was asked about
    asked: int
    monotone: float
    patterns: tuple[Pattern, ...]
    samples: tuple[Sample, ...]
    advice: tuple[Advice, ...]
    #: how it was made
    recipe: str = ""
    #: what a reader of the figures should know
    notes: tuple[str, ...] = field(default=())

    @property
    def reversed(self) -> float:
        """The share of pairs of linked words that the target has the other way round."""
        pairs = sum(distance.pairs for distance in self.distances)
        return sum(distance.reversed for distance in self.distances) / max(pairs, 1)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; ``load_profile`` reads them."""
        return {"format": FORMAT, **asdict(self), "reversed": self.reversed}

    def to_html(self) -> str:
        """The whole page."""
        from wayword.report.profile_page import page_of

        return page_of(self)

    def _repr_html_(self) -> str:
        from wayword.report.profile_page import fragment_of

        return fragment_of(self)

    def __str__(self) -> str:
        return text(self)


def load_profile(path: FilePath) -> Profile:
    """The profile that ``wayword profile --json`` wrote."""
    expected = "expected what `wayword profile --json` prints"
    try:
        values = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
            raise FormatError(f"{path}: no profile; {expected}")
        values.pop("reversed")
        for name in ("beyond", "reached"):
            values[name] = {int(limit): share for limit, share in values[name].items()}
        kinds: dict[str, Any] = {"distances": Distance, "movers": Mover, "advice": Advice}
        for name, kind in kinds.items():
            values[name] = tuple(kind(**row) for row in values[name])
        values["patterns"] = tuple(
            Pattern(tuple(row["blocks"]), row["share"]) for row in values["patterns"]
        )
        values["samples"] = tuple(_sample(row) for row in values["samples"])
        for name in ("spaces", "notes"):
            values[name] = tuple(values[name])
        return Profile(**values)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{path}: damaged or of another version; {expected}") from None


def _sample(row: Mapping[str, Any]) -> Sample:
    links = tuple((int(i), int(j)) for i, j in row["links"])
    src, tgt, order = (tuple(row[name]) for name in ("src", "tgt", "order"))
    return Sample(row["line"], row["pattern"], src, tgt, links, order)


def percent(share: float) -> str:
    """A share for people; a dash for what is not known."""
    return "–" if math.isnan(share) else f"{100 * share:.1f}\u00a0%"


def text(profile: Profile) -> str:
    """The profile for a terminal."""
    parts = [
        _head(profile),
        f"advice\n{_indented(_advice(profile))}",
        f"orientation\n{_indented(orientation_table(profile).text())}",
        f"limits\n{_indented(limit_table(profile).text())}",
        f"reversed pairs of linked words\n{_indented(distance_table(profile).text())}",
        f"{profile.movers_are}s that move most\n{_indented(mover_table(profile).text())}",
        f"spaces ({profile.asked:,} sentences), in percent\n"
        f"{_indented(order_table(profile.spaces).text())}",
        f"patterns of blocks\n{_indented(pattern_table(profile).text())}",
    ]
    return "\n\n".join([*parts, *profile.notes])


def _indented(lines: str) -> str:
    return "\n".join(f"  {line}" for line in lines.split("\n"))


def _head(profile: Profile) -> str:
    words = f"{profile.src_words:,} and {profile.tgt_words:,} words"
    return listing([("pair", profile.name), ("text", f"{profile.sentences:,} pairs, {words}")]) + (
        "\n" + listing(figures(profile))
    )


def figures(profile: Profile) -> list[tuple[str, object]]:
    """The figures that tell most, by name."""
    return [
        ("links", f"{profile.links:,}; {percent(profile.linked)} of the source words have one"),
        ("in source order", f"{percent(profile.monotone)} of the sentences"),
        ("reversed", f"{percent(profile.reversed)} of the pairs of linked words"),
    ]


def _advice(profile: Profile) -> str:
    lines = []
    for one in profile.advice:
        lines.append(one.setting if one.value else f'{one.key}=""')
        lines += [f"  {line}" for line in wrap(one.why, COLUMNS)]
    return "\n".join(lines)


def orientation_table(profile: Profile) -> Table:
    """Shares of the classes by model."""
    rows = [
        [model, *(percent(shares[name]) for name in ("M", "S", "D"))]
        for model, shares in profile.orientation.items()
    ]
    return Table(["model", "M", "S", "D"], rows)


def limit_table(profile: Profile) -> Table:
    """What each distortion limit leaves out and lets through."""
    shown = [limit for limit in SHOWN_LIMITS if limit in profile.beyond]
    rows = [
        [f"dl:{limit}", percent(profile.beyond[limit]), percent(profile.reached[limit])]
        for limit in shown
    ]
    return Table(["limit", "jumps beyond", "sentences in reach"], rows)


def distance_table(profile: Profile) -> Table:
    """Reversed pairs by distance."""
    total = max(sum(distance.reversed for distance in profile.distances), 1)
    rows = [
        [d.words, d.pairs, d.reversed, percent(d.share), percent(d.reversed / total)]
        for d in profile.distances
    ]
    return Table(["words apart", "pairs", "reversed", "share", "of all reversed"], rows)


def mover_table(profile: Profile, most: int = SHOWN_MOVERS) -> Table:
    """What moves, those first that pass the most words."""
    rows = [
        [m.name, m.count, *map(percent, (m.left, m.right)), f"{m.far:.1f}", percent(m.turned)]
        for m in profile.movers[:most]
    ]
    names = ["words", "move left", "move right", "words passed", "turned with the word before"]
    return Table([profile.movers_are, *names], rows)


def pattern_table(profile: Profile) -> Table:
    """The commonest patterns."""
    rows = [[pattern.name, percent(pattern.share)] for pattern in profile.patterns]
    return Table(["blocks", "sentences"], rows)
