"""Phrase pairs that agree with a word alignment, their scores and orientations, in one table.

In: a ``Bitext`` and its links. Out: a table file, which ``PhraseTable`` maps: for every source
phrase its options with relative frequencies and lexical weights both ways, the links inside,
counts, and orientation scores by the word, phrase and hierarchical model.
How: all blocks of words whose links lead only to each other (Och and Ney, 2004), orientation by the
corners of blocks (Galley and Manning, 2008), in one pass; counts are sorted in runs on disk
when memory is short. The result is the same for any memory, threads and sharding.
Cost: in the core; 16 bytes an occurrence until memory is full, then the disk.
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from wayword import __version__, _core
from wayword.align import Links
from wayword.corpus import Bitext
from wayword.corpus.files import size_in_bytes
from wayword.errors import ArgumentError, MismatchError

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = [
    "COLUMNS",
    "MODELS",
    "Option",
    "PhraseTable",
    "Scores",
    "Summary",
    "TableOptions",
    "count",
    "extract",
    "import_moses",
    "merge",
]

Pathlike = str | os.PathLike[str]
Progress = Callable[[int, int], object]
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


class TableOptions(TypedDict, total=False):
    """How a table is made of counts."""

    #: orientation models to keep (all three)
    models: Sequence[str]
    #: ``fe``: orientation given the phrase pair; ``f``: given the source phrase
    condition: str
    #: added to every orientation count (0.5)
    smoothing: float
    #: ``none``, ``good-turing`` or ``kneser-ney`` discounting of phrase counts
    discount: str
    #: least count of a pair (1)
    min_count: int
    #: most pairs of a source phrase, by phi_ef (all)
    top: int | None
    #: least significance of a pair: ``a+e``, ``a-e`` or a number (no test)
    significance: str | float | None
    #: scores of 16 bits (false)
    packed: bool
    #: keep the counts in the table (true)
    counts: bool


DEFAULTS: TableOptions = {
    "models": MODELS,
    "condition": "fe",
    "smoothing": 0.5,
    "discount": "none",
    "min_count": 1,
    "top": None,
    "significance": None,
    "packed": False,
    "counts": True,
}


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
    bitext: Bitext,
    links: LinkSource,
    out: Pathlike,
    *,
    max_length: int = 7,
    strictness: str = "strict",
    memory: int | str = "1G",
    temp_dir: Pathlike | None = None,
    threads: int = 1,
    progress: Progress | None = None,
    **options: "Unpack[TableOptions]",
) -> Summary:
    """Extract the phrase pairs of a bitext and write their table to ``out``.

    ``links`` is a file in Pharaoh's form or, for every sentence pair, its links. ``strictness``
    is ``strict``, or ``moses`` for the orientations and weights Moses gives. Beyond ``memory``
    (bytes, or such as ``500M``) counts go to files in ``temp_dir``. For ``options`` see
    ``TableOptions``.
    """
    counts = _count(
        bitext,
        links,
        max_length=max_length,
        strictness=strictness,
        memory=memory,
        temp_dir=temp_dir,
        threads=threads,
        progress=progress,
    )
    return _build(counts, out, bitext, options, progress)


def count(
    bitext: Bitext,
    links: LinkSource,
    out: Pathlike,
    *,
    max_length: int = 7,
    strictness: str = "strict",
    memory: int | str = "1G",
    temp_dir: Pathlike | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> int:
    """Count the phrase pairs of one shard of a corpus for ``merge``; how many there are."""
    counts = _count(
        bitext,
        links,
        max_length=max_length,
        strictness=strictness,
        memory=memory,
        temp_dir=temp_dir,
        threads=threads,
        progress=progress,
    )
    counts.save(out)
    return counts.pairs


def merge(
    shards: Sequence[Pathlike],
    out: Pathlike,
    *,
    corpus: Bitext | None = None,
    memory: int | str = "1G",
    temp_dir: Pathlike | None = None,
    progress: Progress | None = None,
    **options: "Unpack[TableOptions]",
) -> Summary:
    """Make the table of a corpus from the counts of its shards, in any order.

    The table is the one ``extract`` would have made. A test for significance needs the whole
    ``corpus``.
    """
    counts = _core.PhraseCounts.merge(
        list(shards), memory=size_in_bytes(memory), temp_dir=temp_dir, progress=progress
    )
    return _build(counts, out, corpus, options, progress)


def _as_links(links: LinkSource, bitext: Bitext) -> Links:
    if isinstance(links, Links):
        return links
    if isinstance(links, str | os.PathLike):
        return Links.read(links, bitext)
    return Links.from_lists(links)


def _count(
    bitext: Bitext,
    links: LinkSource,
    *,
    max_length: int,
    strictness: str,
    memory: int | str,
    temp_dir: Pathlike | None,
    threads: int,
    progress: Progress | None,
) -> _core.PhraseCounts:
    if max_length < 1:
        raise ArgumentError(f"max_length: found {max_length}; expected 1 to 100 words")
    if threads < 0:
        raise ArgumentError(f"threads: found {threads}; expected 0 (all) or more")
    return _core.PhraseCounts.of(
        bitext._core,
        _as_links(links, bitext)._core,
        max_length=max_length,
        strictness=strictness,
        memory=size_in_bytes(memory),
        temp_dir=temp_dir,
        threads=threads,
        progress=progress,
    )


def _build(
    counts: _core.PhraseCounts,
    out: Pathlike,
    corpus: Bitext | None,
    given: TableOptions,
    progress: Progress | None,
) -> Summary:
    if unknown := sorted(set(given) - set(DEFAULTS)):
        raise ArgumentError(f"options: found {unknown[0]}; expected {', '.join(DEFAULTS)}")
    options: TableOptions = {**DEFAULTS, **given}
    significance, top = options["significance"], options["top"]
    if options["min_count"] < 1:
        raise ArgumentError(f"min_count: found {options['min_count']}; expected at least 1")
    if top is not None and top < 1:
        raise ArgumentError(f"top: found {top}; expected at least 1 pair")
    facts = counts.build(
        out,
        None if corpus is None else corpus._core,
        _recipe(counts, options),
        models=list(options["models"]),
        condition=options["condition"],
        smoothing=options["smoothing"],
        discount=options["discount"],
        min_count=options["min_count"],
        top=top,
        significance=None if significance is None else str(significance),
        packed=options["packed"],
        counts=options["counts"],
        progress=progress,
    )
    rows = iter(facts.pop("orientations"))
    facts["orientations"] = {
        model: {direction: tuple(next(rows)) for direction in DIRECTIONS} for model in MODELS
    }
    names = ("min_count", "top", "significance")
    facts["dropped"] = dict(zip(names, facts["dropped"], strict=True))
    return Summary(**facts)


def _recipe(counts: _core.PhraseCounts, options: TableOptions) -> str:
    """How the table was made: nothing that does not change it."""
    parts = [f"wayword:{__version__}", f"max_length:{counts.max_length}", counts.strictness]
    parts.append("models:" + "+".join(m for m in MODELS if m in options["models"]))
    parts += [
        f"{name}:{options[name]}"
        for name in ("condition", "smoothing", "discount", "min_count", "top", "significance")
        if options[name] != DEFAULTS[name]
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
