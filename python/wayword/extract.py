"""Phrase pairs that agree with a word alignment, their scores and orientations, in one table.

In: a ``Bitext`` and its links. Out: a table file, which ``PhraseTable`` maps: for every source
phrase its options with relative frequencies and lexical weights both ways, the links inside,
counts, and orientation scores by the word, phrase and hierarchical model.
How: all blocks of words whose links lead only to each other (Och and Ney, 2004), orientation by the
corners of blocks (Galley and Manning, 2008), in one pass; counts are sorted in runs on disk
when memory is short. The result is the same for any memory, threads and sharding.
Cost: in the core; memory within ``memory``, beside the words of both sides, then the disk.
Not: phrases with gaps.

>>> import tempfile
>>> bitext = Bitext.from_pairs([("das haus ist ja klein", "the house is small")])
>>> links = [[(0, 0), (1, 1), (2, 2), (4, 3)]]
>>> with tempfile.TemporaryDirectory() as folder:
...     summary = extract(bitext, links, folder + "/table")
...     options = PhraseTable.open(folder + "/table")["ist ja"]
>>> summary.pairs, [option.tgt for option in options]
(14, ['is'])
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from wayword import __version__, _core
from wayword.align import Links
from wayword.corpus import Bitext
from wayword.corpus.files import size_in_bytes
from wayword.errors import ArgumentError, MismatchError
from wayword.options import build, check_choice, check_number, check_range
from wayword.types import Progress

__all__ = [
    "COLUMNS",
    "MODELS",
    "Option",
    "Options",
    "PhraseTable",
    "Scores",
    "Summary",
    "count",
    "extract",
    "import_moses",
    "merge",
]

Pathlike = str | os.PathLike[str]
#: Two line-aligned files, source first.
Files = tuple[Pathlike, Pathlike]
LinkSource = Links | Pathlike | Iterable[Iterable[tuple[int, int]]]

#: The orientation models, by what they accept as a neighbour: a link, a phrase, any block.
MODELS = ("word", "phrase", "hierarchical")
DIRECTIONS = ("prev", "next")
#: The classes of an orientation row, and where its scores are.
CLASSES = {"mslr": ("M", "S", "DL", "DR"), "msd": ("M", "S", "D")}
_PLACES = {"mslr": slice(0, 4), "msd": slice(4, 7)}
#: The four scores in the order of Moses' columns.
COLUMNS = ("phi_fe", "lex_fe", "phi_ef", "lex_ef")
ORIENTATION = "hier-mslr-bidirectional-fe"


#: How phrase counts are discounted.
DISCOUNTS = ("none", "good-turing", "kneser-ney")
STRICTNESS = ("strict", "moses")
CONDITIONS = ("fe", "f")


@dataclass(frozen=True, kw_only=True)
class Options:
    """Which phrase pairs there are, and how they are scored."""

    #: words of a phrase
    max_length: int = 7
    #: ``moses`` for the orientations and weights that Moses gives
    strictness: str = "strict"
    #: orientation models in the table: ``word``, ``phrase``, ``hierarchical``
    models: tuple[str, ...] = ("hierarchical",)
    #: ``fe``: orientation given the phrase pair; ``f``: given the source phrase
    condition: str = "fe"
    #: added to every orientation count
    smoothing: float = 0.5
    #: ``none``, ``good-turing`` or ``kneser-ney`` discounting of phrase counts
    discount: str = "none"
    #: least count of a pair
    min_count: int = 1
    #: most pairs of a source phrase, by phi_ef; 0 for all
    top: int = 0
    #: least significance of a pair: ``a+e``, ``a-e`` or a number; empty for no test
    significance: str = ""
    #: scores of 16 bits
    packed: bool = False
    #: keep the counts in the table
    counts: bool = True
    #: that the process keeps to; more goes to disk
    memory: str = "1G"

    def __post_init__(self) -> None:
        """Refuse what makes no sense, before any counting."""
        check_range("max_length", self.max_length, 1, 100)
        check_choice("strictness", self.strictness, STRICTNESS)
        for model in self.models:
            check_choice("models", model, MODELS)
        check_choice("condition", self.condition, CONDITIONS)
        if not (isfinite(self.smoothing) and self.smoothing > 0):
            raise ArgumentError(f"smoothing: found {self.smoothing:g}; expected a number above 0")
        check_choice("discount", self.discount, DISCOUNTS)
        check_range("min_count", self.min_count, 1)
        check_range("top", self.top, 0)
        _check_significance(self.significance)
        size_in_bytes(self.memory)


def _check_significance(text: str) -> None:
    if text in {"", "a+e", "a-e"}:
        return
    try:
        check_number("significance", float(text))
    except ValueError:
        expected = "a+e, a-e or a number"
        raise ArgumentError(f"significance: found `{text}`; expected {expected}") from None


@dataclass(frozen=True)
class Summary:
    """What was counted and what is in the table.

    ``orientations[model][direction]`` are the numbers of M, S, DL and DR over all occurrences.
    """

    sentences: int
    occurrences: int
    extracted: int
    pairs: int
    dropped: dict[str, int]
    bytes: int
    orientations: dict[str, dict[str, tuple[int, int, int, int]]]

    def shares(self, model: str, direction: str = "prev") -> dict[str, float]:
        """The shares of M, S and D in the occurrences."""
        m, s, left, right = self.orientations[model][direction]
        total = max(1, m + s + left + right)
        return {"M": m / total, "S": s / total, "D": (left + right) / total}

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain values, for JSON."""
        return asdict(self)


def extract(
    bitext: Bitext | Files,
    links: LinkSource,
    out: Pathlike,
    *,
    temp_dir: Pathlike | None = None,
    threads: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Summary:
    """Extract the phrase pairs of a bitext and write their table to ``out``.

    ``links`` is a file in Pharaoh's form or, for every sentence pair, its links. The process keeps
    to ``memory`` (bytes, or such as ``500M``): what goes beyond is put into files in ``temp_dir``.
    A bitext that does not fit is given as two files, which are read piece by piece if ``links`` is
    a file too and no test for significance is asked for. ``options`` are ``Options``.
    """
    chosen = _options(options)
    if chosen.significance:
        bitext = _read(bitext)
    counts = _count(bitext, links, chosen, temp_dir, threads, progress)
    corpus = bitext if isinstance(bitext, Bitext) else None
    return _build(counts, out, corpus, chosen, threads, progress)


def _read(bitext: Bitext | Files) -> Bitext:
    return bitext if isinstance(bitext, Bitext) else Bitext.read(*bitext)


def count(
    bitext: Bitext | Files,
    links: LinkSource,
    out: Pathlike,
    *,
    temp_dir: Pathlike | None = None,
    threads: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> int:
    """Count the phrase pairs of one shard of a corpus for ``merge``; how many there are."""
    counts = _count(bitext, links, _options(options), temp_dir, threads, progress)
    counts.save(out)
    return counts.pairs


def merge(
    shards: Sequence[Pathlike],
    out: Pathlike,
    *,
    corpus: Bitext | None = None,
    temp_dir: Pathlike | None = None,
    threads: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Summary:
    """Make the table of a corpus from the counts of its shards, in any order.

    The table is the one ``extract`` would have made. A test for significance needs the whole
    ``corpus``.
    """
    check_range("threads", threads, 0)
    chosen = _options(options)
    memory = size_in_bytes(chosen.memory)
    counts = _core.PhraseCounts.merge(
        list(shards), memory=memory, temp_dir=temp_dir, threads=threads, progress=progress
    )
    return _build(counts, out, corpus, chosen, threads, progress)


def _options(given: Mapping[str, Any]) -> Options:
    """Options as people write them: a size may be a number of bytes, a test a number, all None."""
    texts = ("memory", "significance")
    chosen = {name: str(value) if name in texts else value for name, value in given.items()}
    return build(Options, chosen)


def _as_links(links: LinkSource, bitext: Bitext) -> Links:
    if isinstance(links, Links):
        return links
    if isinstance(links, str | os.PathLike):
        return Links.read(links, bitext)
    return Links.from_lists(links)


def _count(  # noqa: PLR0917
    bitext: Bitext | Files,
    links: LinkSource,
    options: Options,
    temp_dir: Pathlike | None,
    threads: int,
    progress: Progress | None,
) -> _core.PhraseCounts:
    check_range("threads", threads, 0)
    chosen: dict[str, Any] = {
        "max_length": options.max_length,
        "strictness": options.strictness,
        "memory": size_in_bytes(options.memory),
        "temp_dir": temp_dir,
        "threads": threads,
        "progress": progress,
    }
    if isinstance(links, str | os.PathLike) and not isinstance(bitext, Bitext):
        return _core.PhraseCounts.of_files(*bitext, links, **chosen)
    whole = _read(bitext)
    return _core.PhraseCounts.of(whole._core, _as_links(links, whole)._core, **chosen)


def _build(  # noqa: PLR0917
    counts: _core.PhraseCounts,
    out: Pathlike,
    corpus: Bitext | None,
    options: Options,
    threads: int,
    progress: Progress | None,
) -> Summary:
    facts = counts.build(
        out,
        None if corpus is None else corpus._core,
        _recipe(counts, options),
        models=list(options.models),
        condition=options.condition,
        smoothing=options.smoothing,
        discount=options.discount,
        min_count=options.min_count,
        top=options.top or None,
        significance=options.significance or None,
        packed=options.packed,
        counts=options.counts,
        memory=size_in_bytes(options.memory),
        threads=threads,
        progress=progress,
    )
    rows = iter(facts.pop("orientations"))
    facts["orientations"] = {
        model: {direction: tuple(next(rows)) for direction in DIRECTIONS} for model in MODELS
    }
    names = ("min_count", "top", "significance")
    facts["dropped"] = dict(zip(names, facts["dropped"], strict=True))
    return Summary(**facts)


def _recipe(counts: _core.PhraseCounts, options: Options) -> str:
    """How the table was made: nothing that does not change it."""
    parts = [f"wayword:{__version__}", f"max_length:{counts.max_length}", counts.strictness]
    parts.append("models:" + "+".join(m for m in MODELS if m in options.models))
    parts += [
        f"{name}:{getattr(options, name)}"
        for name in ("condition", "smoothing", "discount", "min_count", "top", "significance")
        if getattr(options, name) != getattr(Options, name)
    ]
    return " ".join(parts)


class Scores(NamedTuple):
    """Natural logarithms of relative frequencies and lexical weights.

    ``fe`` is the source phrase given the target phrase, ``ef`` the reverse.
    """

    phi_fe: float
    lex_fe: float
    phi_ef: float
    lex_ef: float


class Counts(NamedTuple):
    """How often the pair, its source phrase and its target phrase were extracted."""

    pair: int
    src: int
    tgt: int


@dataclass(frozen=True)
class Option:
    """One translation of a source phrase. Links are (source, target) inside the phrases."""

    tgt: str
    scores: Scores
    links: tuple[tuple[int, int], ...]
    counts: Counts | None
    _rows: tuple[tuple[float, ...] | None, ...]

    def to_dict(self) -> dict[str, Any]:
        """The option as plain values, for JSON."""
        counts = None if self.counts is None else self.counts._asdict()
        return {"tgt": self.tgt, **self.scores._asdict(), "links": self.links, "counts": counts}

    def orientation(
        self, model: str = "hierarchical", direction: str = "prev", classes: str = "mslr"
    ) -> dict[str, float] | None:
        """Natural logarithms by class; None when the table has none for this pair."""
        row = self._rows[2 * MODELS.index(model) + DIRECTIONS.index(direction)]
        if row is None:
            return None
        return dict(zip(CLASSES[classes], row[_PLACES[classes]], strict=True))


class PhraseTable:
    """A mapped phrase table: a mapping from source phrases to their options.

    Opening takes milliseconds whatever the size, and processes share the file's pages.
    """

    def __init__(self, core: _core.PhraseTable, path: Pathlike) -> None:
        self._core = core
        self.path = Path(path)
        #: what the table holds: pairs, src_phrases, models, max_length, bytes, recipe and more
        self.info: dict[str, Any] = core.info

    @classmethod
    def open(cls, path: Pathlike) -> "PhraseTable":
        """Open a table that ``extract``, ``merge`` or ``import_moses`` made."""
        return cls(_core.PhraseTable.open(path), path)

    def __len__(self) -> int:
        """Number of source phrases."""
        return int(self.info["src_phrases"])

    def __contains__(self, phrase: str) -> bool:
        return bool(self.options(phrase))

    def __getitem__(self, phrase: str) -> tuple[Option, ...]:
        if options := self.options(phrase):
            return options
        raise KeyError(phrase)

    def options(self, phrase: str) -> tuple[Option, ...]:
        """The options of a source phrase by spelling of the target; none when it is not there."""
        src, entries = self._core.options(phrase.split())
        return tuple(
            Option(
                " ".join(words),
                Scores(*scores),
                tuple(links),
                counts and Counts(counts[0], src, counts[1]),
                tuple(None if row is None else tuple(row) for row in rows),
            )
            for words, links, scores, counts, rows in entries
        )

    def __iter__(self) -> Iterator[str]:
        """All source phrases, sorted by spelling."""
        bounds = [*range(0, len(self), 10_000), len(self)]
        for start, end in pairwise(bounds):
            yield from self._core.phrases(start, end - start)

    def verify(self) -> None:
        """Read the whole file and compare its checksums."""
        self._core.verify()

    def export_moses(
        self,
        folder: Pathlike,
        *,
        orientation: str | None = ORIENTATION,
        progress: Progress | None = None,
    ) -> int:
        """Write text tables in Moses' formats; the number of pairs.

        They are ``phrase-table.gz`` and, unless ``orientation`` is None, ``reordering-table.gz``.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        reordering = orientation and (folder / "reordering-table.gz", orientation)
        return self._core.export(folder / "phrase-table.gz", reordering or None, progress=progress)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.path, self.info["digest"])

    def __repr__(self) -> str:
        return f"PhraseTable({self.info['pairs']} pairs, {len(self)} source phrases)"


def _reopen(path: Path, digest: str) -> PhraseTable:
    table = PhraseTable.open(path)
    if table.info["digest"] != digest:
        raise MismatchError(f"{path}: another table than the one that was pickled; pickle it again")
    return table


def import_moses(
    phrase_table: Pathlike,
    out: Pathlike,
    *,
    reordering: Pathlike | None = None,
    orientation: str = ORIENTATION,
    columns: Sequence[str] = COLUMNS,
    packed: bool = False,
    progress: Progress | None = None,
) -> PhraseTable:
    """Make a table of Moses' text tables, plain or compressed, sorted by ``LC_ALL=C sort``.

    ``columns`` names the score columns in their order in the file, ``-`` for one that is not
    used. ``orientation`` is the type of the ``reordering`` table in Moses' words.
    """
    _core.import_text_table(
        phrase_table,
        None if reordering is None else (reordering, orientation),
        out,
        columns=list(columns),
        packed=packed,
        progress=progress,
    )
    return PhraseTable.open(out)
