"""Many systems side by side on the same text, with honest statistics.

In: a TOML file with corpora, choices that all systems share, and variants. Out: a table with the
scores of each variant on the test set, marks for significance against a named baseline, and
milliseconds of CPU a source word, as Markdown, LaTeX, CSV and JSON; of each variant a system folder
and its output, under the variant's name; on request a copy of the best system.
How: stages are shared through one store (see ``wayword.store``), so variants that differ in the
decoder alone share everything else, and an interrupted experiment goes on. Every variant is tuned
as its configuration says, or takes the weights of another (``weights``); its weights are
those of its best tuning run, or the mean of the best. All variants are timed one after the other
with one thread.
Cost: that of its stages; the table tells.

The file looks like this; ``wayword config`` prints all keys of ``base`` and variants::

    name = "Distortion limits"
    baseline = "dl 6"
    metrics = ["bleu", "krs-linked", "reversals"]

    [[corpus]]
    name = "toy"
    src = "train.de"
    tgt = "train.en"
    dev = ["dev.de", "dev.en"]
    test = ["test.de", "test.en"]

    [base]
    tune.runs = 4

    [[variant]]
    name = "dl 6"

    [[variant]]
    name = "dl 12"
    weights = "dl 6"
    search.space = "dl:12"
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from wayword import pipeline
from wayword.cluster import open_runner
from wayword.config import Config, merged, read_toml
from wayword.corpus.collection import Collection
from wayword.corpus.files import new_file
from wayword.corpus.text import Preparation
from wayword.errors import ArgumentError
from wayword.evaluate import METRICS, ORDER, Comparison, Gold, Options, Output, compare
from wayword.evaluate.metric import AUTO
from wayword.evaluate.read import read_gold, read_numbers
from wayword.evaluate.runs import RunScores, compare_runs
from wayword.evaluate.tokenizer import settle_tokenizer
from wayword.options import check_keys, check_range, check_shapes
from wayword.outputs import outputs_stage, read_output, read_runs
from wayword.report.experiment import SHOWN, Cell, Result, Row
from wayword.stage import Stage, Watch
from wayword.stages import load_preparation, read_evaluation
from wayword.store import Store
from wayword.system import System
from wayword.types import FilePath, Progress

#: What an experiment file and each of its corpora hold; a list of a kind is written as one.
SHAPES = {
    **dict.fromkeys(("name", "baseline"), str),
    **{"metrics": [str], "rounds": int, "seed": int, "each_run": bool},
    **{"corpus": [dict], "base": dict, "variant": [dict]},
}
CORPUS_SHAPES = {
    **dict.fromkeys(("name", "src", "tgt", "links", "test_tags", "subset"), str),
    **{"dev": [str], "test": [str], "test_links": [str], "base": dict},
}

__all__ = [
    "Corpus",
    "Experiment",
    "Result",
    "Row",
    "Variant",
    "best_of",
    "keep_best",
    "open_variant",
    "run",
    "stage_names",
]


#: Randomisations over tuning runs; each deals out all translations of all runs.
MOST_DEALS = 2_000


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Text to train on, to tune on and to test on.

    ``links`` of the training text may be given; ``test_links`` are those of the test set and each
    reference, by default the trained aligner's; ``test_tags`` its POS tags, for metrics of verbs;
    ``subset`` a file with the numbers of sentences that are scored by themselves as well.
    """

    name: str
    src: str
    tgt: str
    dev: tuple[str, ...]
    test: tuple[str, ...]
    links: str = ""
    test_links: tuple[str, ...] = ()
    test_tags: str = ""
    subset: str = ""
    base: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A name, whose weights it takes (its own when empty), and its choices.

    ``start`` is a variant before it whose weights its tuning begins with; without one, all weights
    are alike to begin with.
    """

    name: str
    weights: str = ""
    start: str = ""
    choices: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What an experiment file says."""

    name: str
    corpora: tuple[Corpus, ...]
    variants: tuple[Variant, ...]
    baseline: str
    metrics: tuple[str, ...] = ("bleu", *ORDER)
    base: Mapping[str, Any] = field(default_factory=dict)
    #: randomisations of the significance test
    rounds: int = 10_000
    seed: int = 1
    #: whether the test set is also translated with the weights of every tuning run
    each_run: bool = False

    @classmethod
    def read(cls, path: FilePath) -> "Experiment":
        """Read and check a file; its paths may be relative to it."""
        try:
            return cls.from_dict(read_toml(path), Path(path).parent)
        except ArgumentError as error:
            raise ArgumentError(f"{path}: {error}") from None

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], folder: Path) -> "Experiment":
        """The experiment of plain values."""
        _check_keys(values, list(SHAPES), "")
        check_shapes(values, SHAPES, "experiment: ")
        for needed in ("name", "corpus", "variant"):
            if not values.get(needed):
                raise ArgumentError(f"experiment: no `{needed}`; expected name, corpus and variant")
        variants = tuple(_variant(one) for one in values["variant"])
        names = [variant.name for variant in variants]
        baseline = values.get("baseline", names[0])
        for name in (baseline, *(variant.weights or baseline for variant in variants)):
            if name not in names:
                found = f"found `{name}`, which is no variant"
                raise ArgumentError(f"experiment: {found}; expected one of {', '.join(names)}")
        _check_weights(variants)
        for at, variant in enumerate(variants):
            tuned = [one.name for one in variants[:at] if not one.weights]
            if variant.start and variant.weights:
                found = f"`{variant.name}` has both `weights` and `start`"
                raise ArgumentError(
                    f"experiment: {found}; expected one: with weights, none are tuned"
                )
            if variant.start and variant.start not in tuned:
                expected = ", ".join(tuned) or "none, as it is the first"
                found = f"start: found `{variant.start}` in `{variant.name}`"
                raise ArgumentError(f"experiment: {found}; expected a tuned one before: {expected}")
        _check_names(names)
        described = cls(
            name=values["name"],
            corpora=tuple(_corpus(one, folder) for one in values["corpus"]),
            variants=variants,
            baseline=baseline,
            metrics=tuple(values.get("metrics", cls.metrics)),
            base=values.get("base", {}),
            rounds=values.get("rounds", 10_000),
            seed=values.get("seed", 1),
            each_run=values.get("each_run", False),
        )
        check_range("experiment: rounds", described.rounds, 1, 10_000_000)
        check_range("experiment: seed", described.seed, 0, 2**32 - 1)
        for corpus in described.corpora:
            for variant in described.variants:
                described.config(corpus, variant)  # refuses wrong values before any long work
        return described

    def config(self, corpus: Corpus, variant: Variant) -> Config:
        """The configuration of a variant on a corpus."""
        values = merged(merged(self.base, corpus.base), variant.choices)
        text = Collection.of(corpus.src, corpus.tgt)
        return Config.from_dict(values).with_languages(text)

    def plans(self, corpus: Corpus) -> dict[str, pipeline.Plan]:
        """The training of each variant on a corpus, by name; stages that agree are shared."""
        plans: dict[str, pipeline.Plan] = {}
        for variant in self.variants:
            plans[variant.name] = pipeline.plan(
                corpus.src,
                corpus.tgt,
                self.config(corpus, variant),
                dev=corpus.dev,
                links=corpus.links or None,
                start=plans[variant.start].weights if variant.start else None,
            )
        return plans

    def weights(self, plans: Mapping[str, pipeline.Plan]) -> dict[str, Stage]:
        """The stage that each variant has its weights from."""
        return {
            variant.name: plans[variant.weights or variant.name].weights
            for variant in self.variants
        }


def stage_names(experiment: Experiment) -> dict[str, str]:
    """What to call each stage of an experiment, by its key: with the variants that need it.

    A stage that all variants share needs no name of theirs; several corpora are told apart.
    """
    users: dict[str, list[str]] = {}
    shown: dict[str, str] = {}
    for corpus in experiment.corpora:
        prefix = f"{corpus.name}: " if len(experiment.corpora) > 1 else ""
        for variant, planned in experiment.plans(corpus).items():
            for stage in planned.stages:
                users.setdefault(stage.key, []).append(variant)
                shown[stage.key] = f"{prefix}{stage.name}"
    everybody = len(experiment.variants)
    return {
        key: name if len(users[key]) == everybody else f"{name} ({', '.join(users[key])})"
        for key, name in shown.items()
    }


def _check_keys(values: Mapping[str, Any], known: Sequence[str], prefix: str) -> None:
    try:
        check_keys(values, known, prefix)
    except ArgumentError as error:
        raise ArgumentError(f"experiment: {error}") from None


def _check_weights(variants: Sequence[Variant]) -> None:
    """Weights are those of a variant that is tuned."""
    tuned = [variant.name for variant in variants if variant.weights in {"", variant.name}]
    for variant in variants:
        if variant.weights and variant.weights not in tuned:
            found = f"weights: found `{variant.weights}` in `{variant.name}`"
            expected = f"a tuned variant: {', '.join(tuned) or 'there is none'}"
            raise ArgumentError(f"experiment: {found}; expected {expected}")


def _check_names(names: Sequence[str]) -> None:
    """Each variant has a name of its own, as the name of a folder too."""
    if len(set(names)) < len(names):
        raise ArgumentError("experiment: two variants of one name; expected each name once")
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(folder_name(name), name)
        if other != name:
            found = f"`{other}` and `{name}` would both be `{folder_name(name)}` as a folder"
            raise ArgumentError(f"experiment: {found}; expected names that differ by more")


def folder_name(name: str) -> str:
    """Return the folder name of a variant or corpus: letters, digits, dots and hyphens.

    >>> folder_name("dl:18 + waw, pruned"), folder_name("../x")
    ('dl-18-waw-pruned', 'x')
    """
    return re.sub(r"[^\w.]+", "-", name).strip("-.") or "unnamed"


def _corpus(values: Mapping[str, Any], folder: Path) -> Corpus:
    check_shapes(values, CORPUS_SHAPES, "experiment: corpus.")
    _check_keys(values, list(CORPUS_SHAPES), "corpus.")
    for needed in ("name", "src", "tgt", "dev", "test"):
        if needed not in values:
            raise ArgumentError(f"experiment: a corpus without `{needed}`; expected it")
    found: dict[str, Any] = {"name": values["name"], "base": values.get("base", {})}
    for part in ("src", "tgt", "links", "test_tags", "subset"):
        found[part] = str(folder / values[part]) if values.get(part) else ""
    for part in ("dev", "test", "test_links"):
        found[part] = tuple(str(folder / one) for one in values.get(part, ()))
    return Corpus(**found)


def _variant(values: Mapping[str, Any]) -> Variant:
    check_shapes(values, dict.fromkeys(("name", "weights", "start"), str), "experiment: variant.")
    if "name" not in values:
        raise ArgumentError("experiment: a variant without `name`; expected it")
    own = ("name", "weights", "start")
    choices = {name: value for name, value in values.items() if name not in own}
    return Variant(**{name: values[name] for name in own if name in values}, choices=choices)


def run(
    experiment: Experiment,
    out: FilePath,
    *,
    runner: str = "local",
    storage: str = "",
    threads: int = 0,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Result:
    """Run what is missing of an experiment, and write its table to the folder.

    Systems are left in ``systems`` and their output in ``outputs``, by the names of the variants.
    ``runner`` and ``storage`` are those of ``wayword.train``.
    """
    out = Path(out)
    rows: list[Row] = []
    notes: list[str] = []
    every: dict[str, Comparison] = {}
    tests = [_test(experiment, corpus) for corpus in experiment.corpora]
    room: dict[str, Any] = {"threads": threads, "progress": progress, "watch": watch}
    with open_runner(runner, out / "work", storage=storage, **room) as store:
        for test in tests:
            every[test.corpus.name] = compared = _compare(experiment, test, store)
            rows += _rows(experiment, test, compared, store)
            _leave(experiment, test, compared, store, out)
            notes += [f"{test.corpus.name}: {note}" for note in compared.notes]
    result = Result(
        name=experiment.name,
        baseline=experiment.baseline,
        metrics=tuple(compared.metrics),
        rows=tuple(rows),
        signatures=_signatures(every),
        recipe=compared.recipe,
        notes=tuple(notes),
    )
    result.write(out)
    return result


def _signatures(every: Mapping[str, Comparison]) -> dict[str, str]:
    """Return the signatures of all corpora, by metric; by corpus and metric if they differ."""
    first, *others = (compared.signatures for compared in every.values())
    if all(signatures == first for signatures in others):
        return first
    return {
        f"{corpus}: {metric}": f"{corpus}: {signature}"
        for corpus, compared in every.items()
        for metric, signature in compared.signatures.items()
    }


@dataclass(frozen=True)
class _Test:
    """Everything that is to be run on one corpus."""

    corpus: Corpus
    plans: Mapping[str, pipeline.Plan]
    #: where each variant has its weights from
    weights: Mapping[str, Stage]
    #: the test set, prepared
    text: Stage
    #: the test set, translated by every variant
    outputs: Stage
    #: sentences that are scored by themselves as well
    lines: Sequence[int]


def _test(experiment: Experiment, corpus: Corpus) -> _Test:
    given = [path for path in (corpus.links, corpus.test_tags, corpus.subset) if path]
    pipeline.check_files([*corpus.test, *corpus.test_links, *given])
    plans = experiment.plans(corpus)
    base = plans[experiment.baseline]
    for name, planned in plans.items():
        if planned.config.subwords.kind:
            found = f"variant `{name}` splits words into subwords, and all are measured on one text"
            advice = "compare such systems with `wayword evaluate`"
            raise ArgumentError(f"experiment: {found}; {advice}")
    text = base.test_stage(corpus.test)
    weights = experiment.weights(plans)
    outputs = outputs_stage(plans, weights, text, each_run=experiment.each_run)
    lines = read_numbers(corpus.subset) if corpus.subset else ()
    return _Test(corpus, plans, weights, text, outputs, lines)


def _compare(
    experiment: Experiment, test: _Test, store: Store, lines: Sequence[int] | None = None
) -> Comparison:
    """Train, tune and test all variants on a corpus, or on some sentences of its test set."""
    gold, outputs = _gold(experiment, test, store), _outputs(test, store)
    shown = sorted(outputs.values(), key=lambda output: output.name != experiment.baseline)
    return compare(
        gold,
        shown,
        experiment.metrics,
        options=Options(tokenize=AUTO),
        rounds=experiment.rounds,
        seed=experiment.seed,
        lines=lines,
    )


def _compare_runs(
    experiment: Experiment, test: _Test, store: Store
) -> dict[str, dict[str, RunScores]]:
    """All tuning runs of all variants; the baseline's first."""
    gold, outputs = _gold(experiment, test, store), list(_outputs(test, store).values())
    options, _ = settle_tokenizer(Options(tokenize=AUTO), gold, outputs)
    [translated] = store.run([test.outputs])
    runs = {}
    for number, (name, planned) in enumerate(test.plans.items()):
        runs[name] = read_runs(translated, number, name, _target(planned, store))
    runs = {experiment.baseline: runs[experiment.baseline], **runs}
    rounds, seed = min(experiment.rounds, MOST_DEALS), experiment.seed
    return compare_runs(gold, runs, experiment.metrics, options=options, rounds=rounds, seed=seed)


def _outputs(test: _Test, store: Store) -> dict[str, Output]:
    """Return the translations of each variant, in tokens and as plain text."""
    [translated] = store.run([test.outputs])
    return {
        name: read_output(translated, number, name, _target(planned, store))
        for number, (name, planned) in enumerate(test.plans.items())
    }


def _target(planned: pipeline.Plan, store: Store) -> Preparation:
    [text] = store.run([planned.text])
    return load_preparation(text, "tgt", planned.config.text)


def _gold(experiment: Experiment, test: _Test, store: Store) -> Gold:
    """Return the references of the test set, in tokens with links and as plain text."""
    base = test.plans[experiment.baseline]
    text, linked = store.run([test.text, base.links])
    gold = read_gold(
        sorted(text.path.glob("test.ref*[0-9]")),
        text / "test.src",
        aligner=linked / "aligner",
        ref_links=test.corpus.test_links,
        pos=test.corpus.test_tags or None,
    )
    _, *refs = read_evaluation(test.corpus.test, base.config.text)
    return replace(gold, texts=refs)


def _rows(experiment: Experiment, test: _Test, compared: Comparison, store: Store) -> Iterator[Row]:
    subset = _compare(experiment, test, store, test.lines) if test.lines else None
    each = _compare_runs(experiment, test, store) if experiment.each_run else {}
    [outputs] = store.run([test.outputs])
    for variant in experiment.variants:
        [tuned] = store.run([test.weights[variant.name]])
        yield Row(
            corpus=test.corpus.name,
            variant=variant.name,
            scores=_cells(compared, variant.name),
            details={
                metric: _details(compared, variant.name, metric) for metric in compared.metrics
            },
            ms=outputs.facts["ms"][variant.name],
            dev=tuned.facts["dev"],
            spread=tuned.facts["spread"],
            runs=tuple(tuned.facts["runs"]),
            averaged=tuned.facts["averaged"],
            jumps=outputs.facts["jumps"][variant.name],
            subset={} if subset is None else _cells(subset, variant.name),
            each={
                metric: (tried.scores, tried.p_value)
                for metric, tried in each.get(variant.name, {}).items()
            },
        )


def _places(experiment: Experiment, corpus: Corpus, out: Path) -> tuple[Path, Path]:
    """Where systems and outputs go; several corpora have a folder each."""
    inner = [folder_name(corpus.name)] if len(experiment.corpora) > 1 else []
    return out.joinpath("systems", *inner), out.joinpath("outputs", *inner)


def _leave(
    experiment: Experiment, test: _Test, compared: Comparison, store: Store, out: Path
) -> None:
    """Leave each variant's system and what it made of the test set, for people to use."""
    systems, texts = _places(experiment, test.corpus, out)
    texts.mkdir(parents=True, exist_ok=True)
    outputs = _outputs(test, store)
    for name, planned in test.plans.items():
        chosen = replace(planned, weights=test.weights[name])
        system = pipeline.assemble(systems / folder_name(name), chosen, store)
        values = {metric: compared.score(name, metric).value for metric in compared.metrics}
        scores = {
            metric: {"score": round(value, 4), "signature": compared.signatures[metric]}
            for metric, value in values.items()
            if not math.isnan(value)
        }
        system.noting("test", {"variant": name, "scores": scores}).save()
        with new_file(texts / f"{folder_name(name)}.txt") as file:
            file.writelines(f"{line}\n" for line in outputs[name].plain.lines)


def best_of(experiment: Experiment, result: Result) -> Row:
    """The row with the best value of the first metric; of equal ones the first."""
    if len(experiment.corpora) > 1:
        found = f"found {len(experiment.corpora)} corpora"
        raise ArgumentError(f"best: {found}; expected one; choose from `systems` in the folder")
    metric = result.metrics[0]
    sign = 1 if METRICS[metric].higher_is_better else -1
    known = [row for row in result.rows if row.scores[metric][0] is not None]
    if not known:
        raise ArgumentError(f"best: {metric} judged no variant; put another metric first")
    return max(known, key=lambda row: sign * (row.scores[metric][0] or 0.0))


def keep_best(experiment: Experiment, result: Result, out: FilePath, folder: FilePath) -> Row:
    """Copy the system of the best variant of a finished experiment; which one it is."""
    row = best_of(experiment, result)
    systems, _ = _places(experiment, experiment.corpora[0], Path(out))
    system = System.open(systems / folder_name(row.variant), trust=True)
    note = {"experiment": experiment.name, "variant": row.variant, "metric": result.metrics[0]}
    system.noting("chosen", {**note, "among": len(result.rows)}).save(folder)
    return row


def _cells(compared: Comparison, variant: str) -> dict[str, Cell]:
    cells = {}
    for metric in compared.metrics:
        score = compared.score(variant, metric)
        half = (score.high - score.low) / 2
        cells[metric] = (_known(score.value), _known(half), score.p_value, score.mark)
    return cells


def _details(compared: Comparison, variant: str, metric: str) -> dict[str, float | None]:
    details = compared.score(variant, metric).details
    return {name: _known(details[name]) for name in SHOWN if name in details}


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def open_variant(experiment: Experiment, out: FilePath, corpus: int, variant: str) -> System:
    """The system of a variant on a corpus, from the folder of a finished experiment."""
    plans = experiment.plans(experiment.corpora[corpus])
    with Store(Path(out) / "work") as store:
        [tuned] = store.run([experiment.weights(plans)[variant]])
        return pipeline.system_of(plans[variant], store, tuned.facts["weights"])
