"""What a system is made of, how it does on a test set and where it fails: the figures.

In: what ``wayword.overview`` gathered. Out: plain values, as text or JSON; ``report.system_page``
makes a page of them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from wayword.evaluate import METRICS, Comparison
from wayword.report.oracle import reach_table
from wayword.report.table import Table, listing

__all__ = ["Cells", "Derivation", "Grid", "Overview", "Report", "TestSet", "Tested", "text"]

MB = 1_000_000


@dataclass(frozen=True)
class Grid:
    """A sentence pair with its links and their posteriors."""

    src: tuple[str, ...]
    tgt: tuple[str, ...]
    #: source, target, posterior
    links: tuple[tuple[int, int, float], ...]


@dataclass(frozen=True)
class Cells:
    """What a model of word order says of a sentence: rows and columns are its words."""

    model: str
    rows: tuple[str, ...]
    words: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    told: str


@dataclass(frozen=True)
class Overview:
    """A system in figures."""

    name: str
    langs: tuple[str, str] | None
    #: how it was made, as its manifest says
    made: Mapping[str, Any]
    settings: Mapping[str, Any]
    weights: Mapping[str, float]
    files: Mapping[str, int]
    table: Mapping[str, Any]
    #: source phrases by number of words, in percent of a sample
    phrase_lengths: Mapping[int, float]
    #: mean number of translations of a source phrase, by its number of words
    translations: Mapping[int, float]
    #: for each language model its n-grams by order, and its bytes
    lms: tuple[Mapping[str, Any], ...]
    grids: tuple[Grid, ...] = ()
    #: the text that they are from
    linked_text: str = "the training text"
    #: what ``tuning.json`` holds, where there is one
    tuning: Mapping[str, Any] | None = None
    #: tuned weights that stand at a limit, by name
    at_bound: tuple[str, ...] = ()
    matrices: tuple[Cells, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Derivation:
    """How a translation came about, for a drawing; see ``report.derivation``."""

    source: tuple[str, ...]
    tokens: tuple[str, ...]
    text: str
    score: float
    phrases: tuple[Any, ...]
    #: source positions of words whose translation was guessed by their letters
    spelled: tuple[int, ...] = ()


@dataclass(frozen=True)
class Tested:
    """What one system made of a test set."""

    name: str
    outputs: tuple[str, ...]
    #: BLEU of each sentence, smoothed
    scores: tuple[float, ...]
    #: for each sentence its unknown source words
    unknown: tuple[tuple[str, ...], ...]
    #: best and worst sentences by number, with their derivations
    best: tuple[int, ...]
    worst: tuple[int, ...]
    derivations: Mapping[int, Derivation]
    #: rows of the phrase oracle, and how many sentences it was asked about
    reach: tuple[Mapping[str, Any], ...] = ()
    asked: int = 0
    #: reversed pairs by distance: name, pairs of the reference, precision and recall in percent
    reversals: tuple[tuple[str, float, float, float], ...] = ()


@dataclass(frozen=True)
class TestSet:
    """A test set, and what one system or two made of it."""

    src: tuple[str, ...]
    ref: tuple[str, ...]
    compared: Comparison
    systems: tuple[Tested, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """One system, or two side by side, perhaps with a test set."""

    systems: tuple[Overview, ...]
    test: TestSet | None = None
    recipe: str = field(default="")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; derivations are told as phrases."""
        values = asdict(self)
        if self.test is not None:
            values["test"]["compared"] = self.test.compared.to_dict()
        return values

    def to_html(self) -> str:
        """The whole page."""
        from wayword.report.system_page import page_of

        return page_of(self)

    def _repr_html_(self) -> str:
        from wayword.report.system_page import fragment_of

        return fragment_of(self)

    def __str__(self) -> str:
        return text(self)


def text(report: Report) -> str:
    """The report for a terminal."""
    parts = []
    for overview in report.systems:
        parts.append(f"{overview.name}\n{listing(figures(overview))}")
        parts += overview.notes
    if report.test is not None:
        parts.append(_scores(report.test.compared).text())
        parts.append(length_table(report.test.compared).text())
        parts.append(recipes(report.test.compared))
        for tested in report.test.systems:
            if tested.reach:
                parts.append(f"{tested.name}: what is lost\n{reach_table(tested.reach).text()}")
        parts += report.test.notes
    return "\n\n".join(parts)


def figures(overview: Overview) -> list[tuple[str, object]]:
    """The figures that tell most, by name."""
    made, table = overview.made, overview.table
    rows: list[tuple[str, object]] = []
    if overview.langs:
        rows.append(("languages", " to ".join(overview.langs)))
    corpus = made.get("corpus", {})
    if "src_words" in corpus:
        words = f"{corpus['src_words']:,} and {corpus['tgt_words']:,} words"
        rows.append(("training text", f"{corpus['pairs']:,} pairs of {corpus['read']:,}, {words}"))
    rows += [
        ("phrase table", f"{table['pairs']:,} pairs, {table['src_phrases']:,} source phrases"),
        *(
            (str(lm["name"]), f"{sum(lm['counts']):,} n-grams, order {len(lm['counts'])}")
            for lm in overview.lms
        ),
        ("space", str(overview.settings["space"])),
        ("size", f"{sum(overview.files.values()) / MB:,.1f} MB"),
    ]
    if "dev" in made:
        rows.append((f"dev {made['dev']['metric']}", f"{made['dev']['score']:.2f}"))
    if made.get("usability", {}).get("verdict", "usable") != "usable":
        rows.append(("output", f"{made['usability']['verdict']}; see the model card"))
    if made.get("tuned") is False:
        rows.append(("weights", "default ones, not tuned"))
    return rows


def score_cell(compared: Comparison, system: str, metric: str) -> str:
    """A score with half of its interval and its mark."""
    score = compared.score(system, metric)
    if not math.isfinite(score.value):
        return "n/a"
    mark = f" {score.mark}" if score.mark else ""
    return f"{score.value:.2f} ±{(score.high - score.low) / 2:.2f}{mark}"


def _scores(compared: Comparison) -> Table:
    header = ["system", *(METRICS[metric].name for metric in compared.metrics)]
    rows = [
        [system, *(score_cell(compared, system, metric) for metric in compared.metrics)]
        for system in compared.systems
    ]
    return Table(header, rows)


def recipes(compared: Comparison) -> str:
    """Return the signature of each metric, and the recipe of the intervals, one a line."""
    return "\n".join([*compared.signatures.values(), compared.recipe])


def length_table(compared: Comparison) -> Table:
    """Scores by sentence length."""
    names = [METRICS[metric].name for metric in compared.metrics]
    header = ["length", "sentences", "system", *names]
    rows: list[Sequence[object]] = []
    for part in compared.bins:
        for system in compared.systems:
            values = [part.scores[system][metric] for metric in compared.metrics]
            cells = ["n/a" if not math.isfinite(value) else f"{value:.2f}" for value in values]
            rows.append([part.name, part.sentences, system, *cells])
    return Table(header, rows)
