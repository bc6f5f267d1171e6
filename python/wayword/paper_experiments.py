"""One controlled experiment for each paper of ``wayword.papers``, on toy corpora.

In: the name of a paper, a toy language pair. Out: a ``PaperResult``: the scores of each setting on
each text.
How: settings differ in one factor; everything else, the tuning included, is equal. Several texts
are made with different seeds, so that the range of the scores shows which differences are
consistent. The numbers come from the fast implementation.
Cost: 5 to 15 CPU seconds per text.
Not: results on real text; those are in ``docs/results.md``.

* ``bisazza-federico-2013``: distortion limit, word-after-word feature, early reordering pruning
* ``dreyer-et-al-2007``: oracle BLEU of each set of orders
* ``tromble-eisner-2009``: preordering by linear ordering against lexicalized reordering
* ``galley-manning-2008``: word-based, phrase-based and hierarchical orientation
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from wayword import align, experiment, extract
from wayword.corpus import Bitext
from wayword.corpus.files import open_text
from wayword.demo import VARIANTS, ToyCorpus
from wayword.evaluate import METRICS, Gold
from wayword.experiment import Row
from wayword.extract import PhraseTable
from wayword.options import check_choice, check_range
from wayword.oracle.bleu import Candidates, bleu_oracle
from wayword.report.table import Table
from wayword.types import FilePath

__all__ = ["PAPERS", "PaperResult", "SettingScores", "run_paper_experiment"]

ORACLE_SPACES = ("mono", "mj1", "mj2", "ibm:2", "ibm:4", "itg")
LEXICALIZED = "hier-msd-bidirectional"
TAGGED_LOP = {"preorder": "lop"}
#: Settings of each paper by name, and the sections of settings that its settings share.
SETTINGS: Mapping[str, tuple[Mapping[str, Mapping[str, Any]], Mapping[str, Any]]] = {
    "bisazza-federico-2013": (VARIANTS, {}),
    "tromble-eisner-2009": (
        {
            "distance cost": {"model": {"orientation": ""}},
            "lexicalized": {"model": {"orientation": LEXICALIZED}},
            "preordered, distance cost": {"model": {**TAGGED_LOP, "orientation": ""}},
            "preordered, lexicalized": {"model": {**TAGGED_LOP, "orientation": LEXICALIZED}},
        },
        {"preorder": {"passes": 4, "bits": 18}},
    ),
    "galley-manning-2008": (
        {
            "distance cost": {"model": {"orientation": ""}},
            "word-based": {"model": {"orientation": "word-msd-bidirectional"}},
            "phrase-based": {"model": {"orientation": "phrase-msd-bidirectional"}},
            "hierarchical": {"model": {"orientation": LEXICALIZED}},
        },
        {
            "extract": {"models": ["word", "phrase", "hierarchical"]},
            "search": {"pop_limit": 100, "space": "dl:18"},
        },
    ),
}
PAPERS = (*SETTINGS, "dreyer-et-al-2007")


@dataclass(frozen=True)
class SettingScores:
    """The scores of one setting: by metric, one value per text."""

    setting: str
    scores: Mapping[str, tuple[float, ...]]

    def mean(self, metric: str) -> float:
        """Return the mean score over the texts."""
        return fmean(self.scores[metric])


@dataclass(frozen=True)
class PaperResult:
    """The settings of an experiment with their scores."""

    paper: str
    pair: str
    rows: tuple[SettingScores, ...]

    def table(self) -> Table:
        """Return mean and range of each score, one row per setting.

        >>> rows = (SettingScores("distance cost", {"bleu": (38.0, 42.0)}),)
        >>> print(PaperResult("galley-manning-2008", "ja-en", rows).table().text())
        setting        BLEU
        distance cost  40.0 (38.0–42.0)
        """
        metrics = list(self.rows[0].scores)
        header = ["setting", *(METRICS[name].name for name in metrics)]
        cells = [[row.setting, *(_cell(row.scores[name]) for name in metrics)] for row in self.rows]
        return Table(header, cells)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        rows = [
            {"setting": row.setting, **{m: list(v) for m, v in row.scores.items()}}
            for row in self.rows
        ]
        return {"paper": self.paper, "pair": self.pair, "rows": rows}


def run_paper_experiment(
    paper: str,
    pair: str = "ja-en",
    *,
    size: int = 1000,
    texts: int = 3,
    seed: int = 1,
    folder: FilePath | None = None,
) -> PaperResult:
    """Run the experiment of a paper on ``texts`` toy corpora of ``size`` sentence pairs.

    The corpora have the seeds from ``seed`` on. Systems are kept in ``folder``, if given.
    """
    check_choice("paper", paper, PAPERS)
    check_range("texts", texts, 1)
    measure = _oracle_scores if paper == "dreyer-et-al-2007" else _system_scores
    results: dict[str, dict[str, list[float]]] = {}
    with TemporaryDirectory() as temporary:
        for number in range(texts):
            corpus = ToyCorpus(Path(folder or temporary), pair, seed + number)
            corpus.write(size)
            for setting, scores in measure(paper, corpus).items():
                for metric, score in scores.items():
                    results.setdefault(setting, {}).setdefault(metric, []).append(score)
    rows = (
        SettingScores(setting, {metric: tuple(values) for metric, values in scores.items()})
        for setting, scores in results.items()
    )
    return PaperResult(paper, pair, tuple(rows))


def _system_scores(paper: str, corpus: ToyCorpus) -> dict[str, dict[str, float]]:
    """Train, tune and test each setting of a paper; return the scores of the test set."""
    variants, base = SETTINGS[paper]
    described = corpus.experiment(variants, base=base)
    return {row.variant: _row_scores(row) for row in experiment.run(described, corpus.folder).rows}


def _row_scores(row: Row) -> dict[str, float]:
    return {metric: score[0] or 0.0 for metric, score in row.scores.items()}


def _oracle_scores(_paper: str, corpus: ToyCorpus) -> dict[str, dict[str, float]]:
    """Order the phrases of monotone translations for the best BLEU in each set of orders."""
    src, tgt = corpus.pair.split("-")
    bitext = Bitext.read(corpus.folder / f"train.{src}", corpus.folder / f"train.{tgt}")
    table = corpus.folder / "phrase-table"
    extract.extract(bitext, align.fit(bitext).align(bitext), table)
    sources, refs = (list(open_text(corpus.folder / f"test.{lang}")) for lang in (src, tgt))
    gold = Gold(refs=[refs])
    candidates = Candidates.of_table(PhraseTable.open(table), sources, [[ref] for ref in refs])
    lengths = [len(line.split()) for line in sources]
    result, _ = bleu_oracle(candidates, gold, ORACLE_SPACES, lengths=lengths, bins=())
    [row] = result.rows
    return {space: {"bleu": row.scores[space][0]} for space in result.spaces}


def _cell(values: tuple[float, ...]) -> str:
    spread = f" ({min(values):.1f}–{max(values):.1f})" if len(values) > 1 else ""
    return f"{fmean(values):.1f}{spread}"
