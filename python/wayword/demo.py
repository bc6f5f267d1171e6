"""A controlled comparison of reordering settings on toy text.

In: a folder to write to. Out: for each toy language pair and seed a corpus and trained systems in
the folder, and lines for a terminal: example sentences, a table of scores, the effect of each
factor, the command that trains the best setting on other text, and one derivation.
How: five settings vary three factors: the distortion limit, the word-after-word (WaW) feature, and
pruning by that feature. Each setting is tuned by itself from the same start, on several texts.
Cost: about 80 seconds of CPU time for three language pairs and three texts.
Not: a measure of translation quality; the toy languages have few words and short sentences.
"""

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any

from wayword import experiment
from wayword.corpus import toy
from wayword.corpus.annotate import Tagger, read_treebank
from wayword.corpus.files import open_text
from wayword.decode import Translation
from wayword.evaluate import METRICS
from wayword.experiment import Experiment, Row
from wayword.options import check_range
from wayword.parts.waw import WawPart
from wayword.reorder.order import kendall_distance
from wayword.report import heat
from wayword.report.pair import describe
from wayword.report.table import Table
from wayword.system import System

__all__ = ["FactorEffect", "ToyCorpus", "demonstrate", "factor_effects", "training_command"]

LANGUAGES = {"de": "German", "ar": "Arabic", "ja": "Japanese"}
EXAMPLES = 2  # sentence pairs shown for each language pair
TAGGER_SENTENCES = 1000
SHORT = 12  # words of the sentence whose derivation is drawn
METRIC_NAMES = ("bleu", "krs-linked", "reversals")
SHORT_LIMIT, LONG_LIMIT = "dl:6", "dl:18"
SHORT_WAW, LONG_WAW, PRUNED = "dl:6 + waw", "dl:18 + waw", "dl:18 + waw, pruned"
PRUNED_SPACE = "dl:18+waw(top=3,threshold=0.1,zone=5)"
WAW = {"features": ["waw"]}
#: The settings of each row that differ from those of ``wayword train``.
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    SHORT_LIMIT: {},
    LONG_LIMIT: {"search": {"space": "dl:18"}},
    SHORT_WAW: {"model": WAW},
    LONG_WAW: {"model": WAW, "search": {"space": "dl:18"}},
    PRUNED: {"model": WAW, "search": {"space": PRUNED_SPACE}},
}
#: Pairs of rows that differ in one factor only.
CONTRASTS = {
    "a limit of 18 instead of 6, without the WaW feature": (SHORT_LIMIT, LONG_LIMIT),
    "a limit of 18 instead of 6, with the WaW feature": (SHORT_WAW, LONG_WAW),
    "the WaW feature at a limit of 6": (SHORT_LIMIT, SHORT_WAW),
    "the WaW feature at a limit of 18": (LONG_LIMIT, LONG_WAW),
    "pruning by WaW at a limit of 18": (LONG_WAW, PRUNED),
}
#: Sizes for small text: a short n-gram model, a narrow beam, short tuning runs.
BASE = {
    "text": {"src_tokenizer": "none", "tgt_tokenizer": "none"},
    "lm": {"order": 4},
    "search": {"pop_limit": 100},
    "tune": {"runs": 1, "rounds": 5, "nbest": 50, "restarts": 5},
}


def demonstrate(
    folder: str | os.PathLike[str],
    *,
    pairs: Sequence[str] | None = None,
    size: int = 2000,
    seed: int = 1,
    texts: int = 3,
    processes: int = 1,
) -> Iterator[str]:
    """Train and compare the settings on each toy pair, and yield the lines of the report.

    ``texts`` corpora of ``size`` sentence pairs are made for each language pair, with the seeds
    from ``seed`` on. Several ``processes`` work on several corpora at a time; the report is the
    same but for measured times. A script that asks for more than one needs the usual guard
    ``if __name__ == "__main__"``.
    """
    check_range("texts", texts, 1)
    check_range("processes", processes, 1)
    folder = Path(folder)
    pairs = pairs or toy.pairs()
    corpora = [ToyCorpus(folder, pair, seed + at) for pair in pairs for at in range(texts)]
    with _mapped(partial(_compare_settings, size=size), corpora, processes) as results:
        rows = {}
        for pair in pairs:
            yield f"## {_language(pair)}: {texts} toy corpora of {size} sentence pairs\n"
            examples = filter(_is_reordered, toy.generate(pair, size, seed=seed))
            yield from (f"{describe(example)}\n" for example in islice(examples, EXAMPLES))
            rows[pair] = _by_setting(islice(results, texts))
    yield from _report(rows, corpora[0], texts)
    yield "\n## One derivation: phrases in source order, numbered in the order of translation\n"
    yield from _derivation(corpora[-1])
    yield f"\nAll files are in {folder}. Translate and look at derivations in a browser"
    yield "(needs wayword[serve]):"
    systems = [str(corpus.system(PRUNED)) for corpus in corpora if corpus.seed == seed]
    yield f"    {shlex.join(['wayword', 'serve', *systems])}"


@dataclass(frozen=True)
class ToyCorpus:
    """The text of a toy language pair, made with a seed, and the systems trained on it."""

    parent: Path
    pair: str
    seed: int

    @property
    def folder(self) -> Path:
        """The folder of the text, the tagger and the systems."""
        return self.parent / f"{self.pair}-{self.seed}"

    def system(self, setting: str) -> Path:
        """Return the folder of the system trained with a setting."""
        return self.folder / "systems" / experiment.folder_name(setting)

    def write(self, size: int) -> None:
        """Write ``size`` sentence pairs, and a tagger trained on their gold tags."""
        toy.write(self.pair, size, self.folder, seed=self.seed)
        treebank = read_treebank(self.folder / f"train.factored.{self.pair[:2]}")
        Tagger.fit(treebank[:TAGGER_SENTENCES], epochs=4).save(self.folder / "tagger")

    def experiment(
        self,
        variants: Mapping[str, Mapping[str, Any]] = VARIANTS,
        *,
        base: Mapping[str, Any] | None = None,
    ) -> Experiment:
        """Return the experiment that trains, tunes and tests every variant on this corpus.

        The first variant is the baseline; ``base`` are sections of settings for all variants.
        """
        src, tgt = self.pair.split("-")
        train, dev, test = (
            [f"{part}.{side}" for side in (src, tgt)] for part in ("train", "dev", "test")
        )
        corpus = {"name": self.folder.name, "src": train[0], "tgt": train[1], "dev": dev}
        gold = {"test_links": ["test.links"], "test_tags": f"test.factored.{src}"}
        tagger = {"annotator": str(self.folder / "tagger")}
        return Experiment.from_dict(
            {
                "name": "wayword demo",
                "baseline": next(iter(variants)),
                "metrics": list(METRIC_NAMES),
                "rounds": 1000,
                "base": {**BASE, **(base or {}), "seed": self.seed, "annotate": tagger},
                "corpus": [{**corpus, "test": test, **gold}],
                "variant": [{"name": name, **choices} for name, choices in variants.items()],
            },
            self.folder,
        )


def _compare_settings(corpus: ToyCorpus, *, size: int) -> tuple[Row, ...]:
    """Make the corpus, train all settings on it, and return their rows."""
    corpus.write(size)
    return experiment.run(corpus.experiment(), corpus.folder).rows


@contextmanager
def _mapped(
    function: Callable[[ToyCorpus], tuple[Row, ...]], corpora: Sequence[ToyCorpus], processes: int
) -> Iterator[Iterator[tuple[Row, ...]]]:
    """Apply the function to each corpus, in order, with several processes if asked for."""
    if processes == 1:
        yield map(function, corpora)
        return
    context = get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(corpora)), mp_context=context) as pool:
        yield pool.map(function, corpora)


def _by_setting(results: Iterable[Sequence[Row]]) -> dict[str, list[Row]]:
    """Return the rows of several texts by setting, one row per text."""
    rows: dict[str, list[Row]] = {name: [] for name in VARIANTS}
    for row in chain.from_iterable(results):
        rows[row.variant].append(row)
    return rows


def _report(
    rows: Mapping[str, Mapping[str, Sequence[Row]]], first: ToyCorpus, texts: int
) -> Iterator[str]:
    """Yield the table, the effect of each factor, and the command for the best setting."""
    yield "## Three factors: distortion limit, word-after-word (WaW) feature, pruning"
    yield "dl:K: a jump spans at most K words. waw: a model that scores which source word is"
    yield "translated next, as a feature. pruned: long jumps only to words that it finds likely."
    yield f"Each row has its own tuning. Mean of {texts} texts, lowest to highest in brackets."
    yield ""
    header = ["language", "setting", *(METRICS[name].name for name in METRIC_NAMES), "CPU ms/word"]
    yield Table(header, [cell for pair in rows for cell in _table_rows(pair, rows[pair])]).text()
    yield "\n## The effect of each factor"
    for pair in rows:
        yield f"{_language(pair)}:"
        yield from (f"  {effect.describe()}" for effect in factor_effects(rows[pair]))
    if texts == 1:
        yield "Results on one text may be chance; --texts 3 compares on three."
    best = _best_setting(rows.values())
    yield f"\nBest mean BLEU over all texts: {best}. To train it on text of your own:"
    yield f"    {training_command(best)}"
    if "model" in VARIANTS[best]:
        yield "The demo's WaW model reads part-of-speech tags of a tagger, which adds"
        yield f"    annotate.annotator={first.folder / 'tagger'}"
        yield "to that command; without a tagger the model reads word classes, which are learned."


@dataclass(frozen=True)
class FactorEffect:
    """The change that one factor makes, everything else equal, on each text.

    >>> FactorEffect("pruning by WaW", (1.0, 3.0), 0.8).describe()
    'pruning by WaW raises BLEU by 2.0 (+1.0 to +3.0); decoding takes 0.80 times the CPU time'
    """

    factor: str
    #: change of BLEU, one value per text
    gains: tuple[float, ...]
    #: CPU time of decoding with the factor divided by CPU time without it
    time_ratio: float

    def describe(self) -> str:
        """Return the effect in one line; a change whose sign varies is called inconsistent."""
        mean, low, high = fmean(self.gains), min(self.gains), max(self.gains)
        spread = f" ({low:+.1f} to {high:+.1f})" if len(self.gains) > 1 else ""
        if low > 0 or high < 0:
            change = f"{'raises' if low > 0 else 'lowers'} BLEU by {abs(mean):.1f}{spread}"
        else:
            change = f"has no consistent effect on BLEU: {mean:+.1f}{spread}"
        return f"{self.factor} {change}; decoding takes {self.time_ratio:.2f} times the CPU time"


def factor_effects(rows: Mapping[str, Sequence[Row]]) -> list[FactorEffect]:
    """Return the effect of each contrast, from the rows of each setting (one row per text)."""
    effects = []
    for factor, (before, after) in CONTRASTS.items():
        old, new = rows[before], rows[after]
        gains = tuple(_bleu(b) - _bleu(a) for a, b in zip(old, new, strict=True))
        time_ratio = sum(row.ms for row in new) / sum(row.ms for row in old)
        effects.append(FactorEffect(factor, gains, time_ratio))
    return effects


def training_command(setting: str, *, src: str = "my.de", tgt: str = "my.en") -> str:
    """Return the command that trains a setting of the demo on two text files.

    >>> training_command("dl:18")
    'wayword train my.de my.en -o system --set search.space=dl:18'
    """
    choices = [
        f"{section}.{key}={_toml_value(value)}"
        for section, values in VARIANTS[setting].items()
        for key, value in values.items()
    ]
    changed = ["--set", *choices] if choices else []
    return shlex.join(["wayword", "train", src, tgt, "-o", "system", *changed])


def _toml_value(value: str | Sequence[str]) -> str:
    if isinstance(value, str):
        return value
    return "[" + ", ".join(f'"{item}"' for item in value) + "]"


def _table_rows(pair: str, rows: Mapping[str, Sequence[Row]]) -> Iterator[list[str]]:
    for name, of_texts in rows.items():
        scores = [_mean_and_range(_scores(of_texts, metric)) for metric in METRIC_NAMES]
        yield [_language(pair), name, *scores, f"{fmean(row.ms for row in of_texts):.3f}"]


def _mean_and_range(values: Sequence[float]) -> str:
    spread = f" ({min(values):.1f}–{max(values):.1f})" if len(values) > 1 else ""
    return f"{fmean(values):.1f}{spread}"


def _scores(rows: Iterable[Row], metric: str) -> list[float]:
    return [row.scores[metric][0] or 0.0 for row in rows]


def _bleu(row: Row) -> float:
    return row.scores["bleu"][0] or 0.0


def _best_setting(pairs: Iterable[Mapping[str, Sequence[Row]]]) -> str:
    """Return the setting with the highest BLEU, averaged over all texts of all pairs."""
    all_rows = list(pairs)
    return max(
        VARIANTS, key=lambda name: fmean(_bleu(row) for rows in all_rows for row in rows[name])
    )


def _language(pair: str) -> str:
    return LANGUAGES.get(pair[:2], pair)


def _derivation(corpus: ToyCorpus) -> Iterator[str]:
    """Draw the correct translation of a short test sentence with the most reordering."""
    system = System.open(corpus.system(PRUNED))
    src, refs = (corpus.folder / f"test.{side}" for side in corpus.pair.split("-"))
    short = [
        (line, ref)
        for line, ref in zip(open_text(src), open_text(refs), strict=True)
        if len(line.split()) < SHORT
    ]
    sources = system.sources([line for line, _ in short], prepared=True)
    translated = list(zip(system.translate(sources), sources, strict=True))
    correct = [
        (translation, source)
        for (translation, source), (_, ref) in zip(translated, short, strict=True)
        if translation.text.lower() == ref.lower()
    ]
    best, source = max(correct or translated, key=lambda pair: _reordering(pair[0]))
    yield best.draw()
    yield "\n## Scores of the word-after-word model for this sentence"
    yield "Row: the last translated word; column: the next word. ● the step taken, × pruned.\n"
    part = system.part("waw")
    assert isinstance(part, WawPart)
    matrix = part.model.matrix(source.sentence)
    yield heat.draw(source.words, matrix, order=best.order, space=PRUNED_SPACE)


def _reordering(translation: Translation) -> float:
    order = translation.order
    return kendall_distance(range(len(order)), order) if order else 0.0


def _is_reordered(pair: toy.ToyPair) -> bool:
    """Return whether a pair is short enough to read and its words are reordered."""
    return len(pair.src) <= 14 and kendall_distance(range(len(pair.order)), pair.order) > 0.15
