"""Many systems side by side on the same text, with honest statistics.

In: a TOML file with corpora, choices that all systems share, and variants. Out: a table with the
scores of each variant on the test set, marks for significance against a named baseline, and
milliseconds of CPU a source word, as Markdown, LaTeX, CSV and JSON.
How: stages are shared through one store (see ``wayword.store``), so variants that differ in the
decoder alone share everything else, and an interrupted experiment goes on. Every variant is tuned
as its configuration says, or takes the weights of another (``weights``); its weights are the
average of its tuning runs. All variants are timed one after the other with one thread.
Cost: that of its stages; the table tells.

The file looks like this; ``configs/default.toml`` has all keys of ``base`` and variants::

    name = "Distortion limits"
    baseline = "dl 6"
    metrics = ["bleu", "krs"]

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

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from wayword import pipeline
from wayword.config import Config, merged, read_toml
from wayword.corpus.files import FilePath, new_file, open_text
from wayword.decode import Decoder
from wayword.errors import ArgumentError
from wayword.evaluate import Comparison, Output, compare
from wayword.evaluate.read import read_gold
from wayword.report.experiment import Result, Row
from wayword.store import Stage, Store

__all__ = ["Corpus", "Experiment", "Result", "Row", "Variant", "open_variant", "run"]

Progress = Callable[[int, int], object]


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Text to train on, to tune on and to test on.

    ``links`` of the training text may be given; ``test_links`` are those of the test set and each
    reference, by default the trained aligner's; ``test_tags`` its POS tags, for KRS-V.
    """

    name: str
    src: str
    tgt: str
    dev: tuple[str, ...]
    test: tuple[str, ...]
    links: str = ""
    test_links: tuple[str, ...] = ()
    test_tags: str = ""
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
    metrics: tuple[str, ...] = ("bleu", "krs")
    base: Mapping[str, Any] = field(default_factory=dict)
    #: randomisations of the significance test
    rounds: int = 10_000
    seed: int = 1

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
        known = ("name", "baseline", "metrics", "rounds", "seed", "corpus", "base", "variant")
        _check_keys(values, known, "")
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
        if len(set(names)) < len(names):
            raise ArgumentError("experiment: two variants of one name; expected each name once")
        made = cls(
            name=values["name"],
            corpora=tuple(_corpus(one, folder) for one in values["corpus"]),
            variants=variants,
            baseline=baseline,
            metrics=tuple(values.get("metrics", ("bleu", "krs"))),
            base=values.get("base", {}),
            rounds=values.get("rounds", 10_000),
            seed=values.get("seed", 1),
        )
        for corpus in made.corpora:
            for variant in made.variants:
                # Refuses unknown keys and metrics before any long work.
                pipeline.tunes_order(made.config(corpus, variant))
        return made

    def config(self, corpus: Corpus, variant: Variant) -> Config:
        """The configuration of a variant on a corpus."""
        values = merged(merged(self.base, corpus.base), variant.choices)
        config = Config.from_dict(values)
        return pipeline.with_languages(config, corpus.src, corpus.tgt)


def _check_keys(values: Mapping[str, Any], known: Sequence[str], prefix: str) -> None:
    for name in values:
        if name not in known:
            near = get_close_matches(name, known, 1)
            advice = f"did you mean `{near[0]}`?" if near else f"expected {', '.join(known)}"
            raise ArgumentError(f"experiment: found `{prefix}{name}`; {advice}")


def _corpus(values: Mapping[str, Any], folder: Path) -> Corpus:
    names = [own.name for own in fields(Corpus)]
    _check_keys(values, names, "corpus.")
    for needed in ("name", "src", "tgt", "dev", "test"):
        if needed not in values:
            raise ArgumentError(f"experiment: a corpus without `{needed}`; expected it")
    found: dict[str, Any] = {"name": values["name"], "base": values.get("base", {})}
    for part in ("src", "tgt", "links", "test_tags"):
        found[part] = str(folder / values[part]) if values.get(part) else ""
    for part in ("dev", "test", "test_links"):
        found[part] = tuple(str(folder / one) for one in values.get(part, ()))
    return Corpus(**found)


def _variant(values: Mapping[str, Any]) -> Variant:
    if "name" not in values:
        raise ArgumentError("experiment: a variant without `name`; expected it")
    own = ("name", "weights", "start")
    choices = {name: value for name, value in values.items() if name not in own}
    return Variant(**{name: values[name] for name in own if name in values}, choices=choices)


def run(
    experiment: Experiment,
    out: FilePath,
    *,
    threads: int = 0,
    progress: Progress | None = None,
    watch: Callable[[str, Stage | None], object] | None = None,
) -> Result:
    """Run what is missing of an experiment, and write its table to the folder."""
    out = Path(out)
    rows: list[Row] = []
    found: Comparison | None = None
    for one in experiment.corpora:
        given = [path for path in (one.links, one.test_tags) if path]
        for variant in experiment.variants:
            given += pipeline.files(experiment.config(one, variant))
        pipeline.check_files([one.src, one.tgt, *one.dev, *one.test, *one.test_links, *given])
    with Store(out / "work", watch=watch) as store:
        for corpus in experiment.corpora:
            part, found = _run_corpus(experiment, corpus, store, threads, progress)
            rows += part
    assert found is not None
    result = Result(
        name=experiment.name,
        baseline=experiment.baseline,
        metrics=tuple(found.metrics),
        rows=tuple(rows),
        signatures=found.signatures,
        recipe=found.recipe,
    )
    result.write(out)
    return result


def _run_corpus(
    experiment: Experiment,
    corpus: Corpus,
    store: Store,
    threads: int,
    progress: Progress | None,
) -> tuple[list[Row], Comparison]:
    """Train, tune and test all variants on a corpus."""
    made: dict[str, pipeline.Models] = {}
    tuned: dict[str, Stage] = {}
    configs = {one.name: experiment.config(corpus, one) for one in experiment.variants}
    for variant in experiment.variants:
        work = pipeline.Run(store, configs[variant.name], threads, progress)
        made[variant.name] = pipeline.models(
            work, corpus.src, corpus.tgt, dev=corpus.dev, links=corpus.links or None
        )
        if not variant.weights:
            start = tuned.get(variant.start)
            tuned[variant.name] = pipeline.tuned(work, made[variant.name], start)
    weights = {one.name: tuned[one.weights or one.name] for one in experiment.variants}
    base = made[experiment.baseline]
    work = pipeline.Run(store, configs[experiment.baseline], threads, progress)
    test = pipeline.prepared_text(work, base.text, corpus.test, "test")
    decoded = _decode(experiment, store, configs, made, weights, test)
    gold = read_gold(
        sorted(test.path.glob("test.ref*")),
        test / "test.src",
        aligner=base.links / "aligner",
        ref_links=corpus.test_links,
        pos=corpus.test_tags or None,
    )
    outputs = [_output(decoded, number, one.name) for number, one in enumerate(experiment.variants)]
    outputs.sort(key=lambda output: output.name != experiment.baseline)
    compared = compare(
        gold, outputs, experiment.metrics, rounds=experiment.rounds, seed=experiment.seed
    )
    rows = [
        Row(
            corpus=corpus.name,
            variant=variant.name,
            scores={metric: _cell(compared, variant.name, metric) for metric in compared.metrics},
            ms=decoded.facts["ms"][variant.name],
            dev=weights[variant.name].facts["dev"],
            spread=weights[variant.name].facts["spread"],
            runs=tuple(weights[variant.name].facts["runs"]),
        )
        for variant in experiment.variants
    ]
    return rows, compared


def _cell(
    compared: Comparison, variant: str, metric: str
) -> tuple[float, float, float | None, str]:
    score = compared.score(variant, metric)
    return score.value, (score.high - score.low) / 2, score.p_value, score.mark


def _decode(  # noqa: PLR0917
    experiment: Experiment,
    store: Store,
    configs: Mapping[str, Config],
    made: Mapping[str, pipeline.Models],
    weights: Mapping[str, Stage],
    test: Stage,
) -> Stage:
    """Translate the test set with every variant, one after the other, and time each."""
    names = [variant.name for variant in experiment.variants]

    def make(out: Path) -> dict[str, Any]:
        lines = list(open_text(test / "test.src"))
        words = max(1, sum(len(line.split()) for line in lines))
        ms = {}
        for number, name in enumerate(names):
            decoder = made[name].decoder(configs[name], weights[name].facts["weights"])
            annotate = made[name].annotating()
            # Pages of the models are in memory after that.
            decoder.translate(annotate(lines[:20]), threads=1)
            start = time.process_time()
            found = decoder.translate(annotate(lines), threads=1)
            ms[name] = round(1000 * (time.process_time() - start) / words, 4)
            with (
                new_file(out / f"{number}.txt") as text,
                new_file(out / f"{number}.links") as trace,
            ):
                for translation in found:
                    print(" ".join(translation.tokens), file=text)
                    print(translation.word_trace(), file=trace)
        return {"ms": ms, "words": words}

    settings = {name: configs[name].search.to_dict() for name in names}
    keys = [weights[name].key for name in names]
    keys += [key for name in names for key in made[name].keys]
    return store.stage("decode", make, settings=settings, inputs=[test.key, *keys])


def _output(decoded: Stage, number: int, name: str) -> Output:
    lines = list(open_text(decoded / f"{number}.txt"))
    links = [_links(line) for line in open_text(decoded / f"{number}.links")]
    return Output(name, lines, links)


def _links(line: str) -> list[tuple[int, int]]:
    pairs = (link.split("-") for link in line.split())
    return [(int(src), int(tgt)) for src, tgt in pairs]


def open_variant(
    experiment: Experiment, out: FilePath, corpus: int, variant: str
) -> tuple[pipeline.Models, Decoder]:
    """Models and decoder of a variant on a corpus, from the folder of a finished experiment."""
    text = experiment.corpora[corpus]
    named = {one.name: one for one in experiment.variants}
    options: dict[str, Any] = {"dev": text.dev, "links": text.links or None}
    with Store(Path(out) / "work") as store:

        def models(name: str) -> tuple[pipeline.Run, pipeline.Models]:
            work = pipeline.Run(store, experiment.config(text, named[name]))
            return work, pipeline.models(work, text.src, text.tgt, **options)

        def tuned(name: str) -> Stage:
            start = named[name].start
            return pipeline.tuned(*models(name), tuned(start) if start else None)

        work, made = models(variant)
        weights = tuned(named[variant].weights or variant).facts["weights"]
    return made, made.decoder(work.config, weights)
