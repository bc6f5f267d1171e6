"""A whole run: from two text files to a system you can use.

In: a bitext of raw text, dev sets if there are any, a ``Config``. Out: a system folder.
How: read ``plan`` from top to bottom; every line is a stage (``wayword.stage``). The list is what
runs, what resumes and what ``wayword train --plan`` prints. Results are kept in ``work`` inside the
system's folder (``wayword.store``): run again after an interruption or a change, and only what is
missing is done. When all is there but tuned weights, a system with default ones is written.
Cost: for 100,000 pairs some minutes, most of it alignment and tuning; docs/train.md has a table.

>>> from wayword.corpus import toy
>>> import tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> _ = toy.write("de-en", 300, folder.name, seed=1)
>>> quick = Config.from_dict({"lm": {"order": 3}, "tune": {"runs": 1, "rounds": 1}})
>>> src, tgt = (f"{folder.name}/train.{lang}" for lang in ("de", "en"))
>>> [stage.name for stage in plan(src, tgt, quick).stages]
['doctor', 'prepare', 'align', 'extract', 'lm', 'tune']
>>> system = train(src, tgt, f"{folder.name}/system", config=quick)
>>> str(system.translate(""))
''
>>> folder.cleanup()
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from wayword.cluster import open_runner
from wayword.config import Config
from wayword.corpus.collection import Collection
from wayword.corpus.files import open_text
from wayword.corpus.text import MEMORY
from wayword.errors import WaywordError
from wayword.evaluate import Gold, Options, Output, compare
from wayword.evaluate.metric import AUTO
from wayword.evaluate.read import read_gold
from wayword.evaluate.usability import UsabilityCheck
from wayword.gather import gather_stage, glossary_stage
from wayword.manifest import MANIFEST, read_manifest
from wayword.parts.annotator import annotate_stage
from wayword.parts.lexicon import lexicon_stage
from wayword.parts.models import lm_stages, table_stage
from wayword.parts.part import Ground, entry, open_part
from wayword.parts.preorder import preorder_stage, preorderer_stage, reordered_stage
from wayword.parts.speller import speller_stage
from wayword.profile.stage import profile_stage
from wayword.report.losses import Whole
from wayword.stage import Result, Runner, Stage, Watch, in_order, plain
from wayword.stages import (
    SIDES,
    align_stage,
    check_evaluation,
    clean_stage,
    evaluation_stage,
    load_preparation,
    read_evaluation,
    text_stage,
)
from wayword.store import locked
from wayword.system import System
from wayword.tune.dev import check_output
from wayword.tune.space import usual
from wayword.tune.stage import tune_stage
from wayword.types import FilePath, Progress

__all__ = ["Plan", "assemble", "check_files", "measure", "plan", "system_of", "train"]

log = logging.getLogger(__name__)
#: What is noted of the dev set, and the fact of tuning that it is.
DEV_FACTS = {
    **{"score": "dev", "spread": "spread", "signature": "signature"},
    "averaged": "averaged",
    "at_bound": "at_bound",
}

EXAMPLES = 3  # sentences in the model card
EXAMPLE = (4, 25)  # their words
TEST_METRICS = ("bleu", "chrf", "ter")


def train(
    src: FilePath | Collection,
    tgt: FilePath | None,
    out: FilePath,
    *,
    dev: Sequence[FilePath] = (),
    config: Config | Mapping[str, Any] | None = None,
    threads: int = 0,
    progress: Progress | None = None,
    watch: Watch | None = None,
    runner: str = "local",
    storage: str = "",
) -> System:
    """Train a system from two line-aligned files of raw text.

    ``tgt`` is None when ``src`` holds both sides: a file of another format, a folder, or a
    ``Collection`` of corpora with names and weights (``wayword.corpus.collection``).
    ``dev`` is a source file and one or more references, or one file that holds both sides; without
    it lines are held out. Languages are told by the ends of the file names unless the configuration
    names them. What was left out of the text is in ``made["corpus"]`` of the system; more than a
    tenth is a logged warning, and so is a system that hardly works (``made["usability"]``).
    Files whose lines do not belong together are refused (``MismatchError``), unless
    ``doctor.allow`` has ``misaligned``. ``runner`` is ``local``, or ``ray`` for a cluster, whose
    nodes share the folder or get at files through ``storage`` (``wayword.cluster``).
    """
    planned = plan(src, tgt, config, dev=dev)
    work = Path(out) / "work"
    room: dict[str, Any] = {"threads": threads, "progress": progress, "watch": watch}
    with open_runner(runner, work, storage=storage, **room) as store:
        system = assemble(out, planned, store)
        whole = Whole()
        for stage, result in zip(planned.stages, store.run(planned.stages), strict=True):
            if warning := whole.warning(stage, result):
                log.warning("%s", warning)
    if warning := UsabilityCheck.from_dict(system.made["usability"]).warning(out):
        log.warning("%s", warning)
    return system


@dataclass(frozen=True)
class Plan:
    """The stages of a training run, each with what goes into it; nothing has run yet."""

    config: Config
    text: Stage
    dev: Stage
    links: Stage
    #: those that make the parts of the system, in the order of its manifest
    parts: tuple[Stage, ...]
    #: the one whose facts hold the weights
    weights: Stage
    held_out: bool
    #: the one whose facts hold the space, when the configuration leaves it open
    profile: Stage | None = None

    @property
    def stages(self) -> list[Stage]:
        """All stages, in the order in which they run."""
        advised = [] if self.profile is None else [self.profile]
        return in_order([self.text, self.dev, self.links, *self.parts, *advised, self.weights])

    def test_stage(self, test: Sequence[FilePath]) -> Stage:
        """Return the stage that prepares and checks a test set: a source and its references."""
        allow = self.config.doctor.allow
        return evaluation_stage(self.text, test, "test", self.config.text, allow)


def plan(
    src: FilePath | Collection,
    tgt: FilePath | None = None,
    config: Config | Mapping[str, Any] | None = None,
    *,
    dev: Sequence[FilePath] = (),
    links: FilePath | None = None,
    start: Stage | None = None,
) -> Plan:
    """Every stage from raw text to weights. All values and files are checked here, before any runs.

    Given ``links`` are taken as they are; tuning may ``start`` from the weights of another plan.
    """
    config = config if isinstance(config, Config) else Config.from_dict(config or {})
    collection = Collection.of(src, tgt)
    config = config.with_languages(collection)
    check_evaluation(dev, "dev")
    check_files([links] if links else [])
    collection.check()
    config.check()
    text = _text(collection, config, held_out=not dev)
    allow = config.doctor.allow
    dev_text = evaluation_stage(text, dev, "dev", config.text, allow) if dev else text
    linked = align_stage(text, links, config.align)
    tagged = annotate_stage(text, config.annotate) if config.reads_tags else None
    ground = Ground(text, linked, tagged)
    preordered = _preordered(config, ground)
    if preordered is not None:
        ground = _reordered(config, ground, preordered)
    features = [
        wanted.part.stage(wanted, ground, config.parts.get(wanted.name))
        for wanted in config.model.wanted
    ]
    weighted = text if collection.is_weighted else None
    table = table_stage(ground.text, ground.links, config.extract, weighted=weighted)
    models = lm_stages(text, config.lm, config.text, dev_text)
    prepares = [tagged] if tagged is not None else []
    if preordered is not None:
        prepares.append(preorderer_stage(preordered, config.preorder))
    if config.model.lexicon:
        prepares.append(lexicon_stage(text, config.lexicon))
    if config.model.speller:
        prepares.append(speller_stage(text, linked, config.speller))
    parts = (table, *models, *prepares, *features)
    advised = None
    if config.search.is_open:
        kinds = [wanted.kind for wanted in config.model.wanted]
        advised = profile_stage(ground.text, ground.links, kinds)
    weights = tune_stage(
        *(parts, dev_text, linked, config.tune),
        search=config.search,
        orientation=config.model.orientation,
        seed=config.seed,
        start=start,
        in_pieces=bool(config.subwords.kind),
        profile=advised,
    )
    held_out = not dev
    return Plan(config, text, dev_text, linked, parts, weights, held_out, advised)


def _text(collection: Collection, config: Config, *, held_out: bool) -> Stage:
    """The stages from files to training text; two plain files need not be gathered."""
    learning: dict[str, Any] = {"held_out": held_out, "subwords": config.subwords}
    learning["memory"] = config.memory or MEMORY
    if collection.plain is not None:
        clean = clean_stage(*collection.plain, config.doctor)
        return text_stage(clean, config.text, **learning)
    langs = config.text.src, config.text.tgt
    gathered = gather_stage(collection, langs)
    return text_stage(
        clean_stage(gathered, None, config.doctor),
        config.text,
        gathered=gathered,
        glossary=glossary_stage(collection, langs),
        **learning,
    )


def _preordered(config: Config, ground: Ground) -> Stage | None:
    """The stage that learns to reorder the source, if that is wanted."""
    if not config.model.preorder:
        return None
    assert ground.tagged is not None, "a preorderer gets tags"
    given = (ground.text, ground.links, ground.tagged)
    return preorder_stage(*given, config.preorder, config.model.preorder)


def _reordered(config: Config, ground: Ground, preordered: Stage) -> Ground:
    """What models are learned from when the source is reordered."""
    linked = preordered
    if config.preorder.realign:
        linked = align_stage(preordered, None, config.align, name="realign")
    reading = any(
        wanted.part.reads_tags(config.parts.get(wanted.name)) for wanted in config.model.wanted
    )
    assert ground.tagged is not None, "a preorderer gets tags"
    tagged = reordered_stage(ground.tagged, preordered) if reading else None
    return Ground(preordered, linked, tagged)


def check_files(paths: Sequence[FilePath]) -> None:
    """Complain about a file that cannot be read before any long work, and leave nothing behind."""
    for path in paths:
        with Path(path).open("rb"):
            pass


def system_of(planned: Plan, runner: Runner, weights: Mapping[str, float] | None = None) -> System:
    """The system of a plan's parts, with weights that are not tuned unless they are given."""
    config = planned.config
    text, *parts = runner.run([planned.text, *planned.parts])
    src, tgt = (load_preparation(text, side, config.text) for side in SIDES)
    orientation = config.model.orientation
    settings = config.search
    if planned.profile is not None:
        [advised] = runner.run([planned.profile])
        settings = settings.settled(advised.facts["space"])
    return System.of_results(
        parts, orientation, weights=weights, settings=settings, text=(src, tgt)
    )


def _corpus_facts(doctor: Mapping[str, Any], text: Mapping[str, Any]) -> dict[str, Any]:
    """What was read, what went on, and what was taken out, by reason."""
    kept = {name: text[name] for name in ("pairs", "src_words", "tgt_words")}
    taken_out = {kind: count for kind, count in doctor["problems"].items() if count}
    taken_out |= {kind: text[kind] for kind in ("too_long", "no_words") if text[kind]}
    facts = {"read": doctor["lines"], **kept, "cleaned": doctor["cleaned"], "taken_out": taken_out}
    return {**facts, "corpora": text["corpora"]} if "corpora" in text else facts


def assemble(out: FilePath, planned: Plan, runner: Runner) -> System:
    """Run what is missing, and put the parts together as a system folder.

    A system with default weights is written before they are tuned: it can be used meanwhile.
    """
    Path(out).mkdir(parents=True, exist_ok=True)
    with locked(out):
        return _assembled(Path(out), planned, runner)


def _assembled(out: Path, planned: Plan, runner: Runner) -> System:
    *parts, last = planned.stages
    assert last is planned.weights, "weights are tuned when all else is there"
    results = {result.name: result for result in runner.run(parts)}
    facts = _facts(planned, results, None)
    made = _made(out)
    is_tuned = made.get("stages", {}).get(planned.weights.name) == planned.weights.key
    if not is_tuned and made != plain(facts):  # when it goes on, it is there already
        system = _kept(system_of(planned, runner), planned, results)
        system.with_weights(usual(system.weights)).describing(facts).save(out)
    [tuned] = runner.run([planned.weights])
    system = _kept(system_of(planned, runner, tuned.facts["weights"]), planned, results)
    [dev] = runner.run([planned.dev])
    check = check_output(
        system, list(open_text(dev / "dev.src")), read_gold(sorted(dev.path.glob("dev.ref*[0-9]")))
    )
    facts = {
        **_facts(planned, results, tuned),
        "usability": check.to_dict(),
        "examples": _examples(system, dev),
    }
    return system.describing(facts).save(out)


def _kept(system: System, planned: Plan, results: Mapping[str, Result]) -> System:
    """The system with the aligner of its training, if it is to keep it."""
    if not planned.config.model.aligner:
        return system
    folder = results[planned.links.name].path
    return system.with_part(open_part(entry("aligner", "aligner", file="aligner"), folder))


def _made(out: Path) -> Mapping[str, Any]:
    """Read how the system in a folder was made; empty without one, or if it must be written anew.

    A damaged system, or one changed by hand, is told in the log and written anew.
    """
    if not (out / MANIFEST).is_file():
        return {}
    try:
        return read_manifest(out).made
    except WaywordError as error:
        log.warning("%s; the system is written anew", error)
        return {}


def _facts(planned: Plan, results: Mapping[str, Result], tuned: Result | None) -> dict[str, Any]:
    """How a system was made; ``tuned`` is None while its weights are the default ones."""
    config = planned.config
    dev = {}
    if tuned is not None:
        scores = {name: tuned.facts[fact] for name, fact in DEV_FACTS.items()}
        dev = {"dev": {"metric": config.tune.metric, **scores, "runs": len(tuned.facts["runs"])}}
    stages = planned.stages if tuned is not None else planned.stages[:-1]
    advised = {}
    if planned.profile is not None:
        advised = {"advice": results[planned.profile.name].facts["advice"]}
    return {
        "tuned": tuned is not None,
        "corpus": _corpus_facts(results["doctor"].facts, results["prepare"].facts),
        "held_out": planned.held_out,
        "phrase_pairs": results["extract"].facts["pairs"],
        **dev,
        **advised,
        "stages": {stage.name: stage.key for stage in stages},
        "config": config.to_dict(),
    }


def _examples(system: System, dev: Result) -> list[dict[str, str]]:
    """What the system makes of some sentences of the dev set, neither short nor long."""
    assert system.text is not None, "trained from raw text"
    src, tgt = system.text
    pairs = zip(open_text(dev / "dev.src"), open_text(dev / "dev.ref0"), strict=True)
    fitting = (pair for pair in pairs if EXAMPLE[0] <= len(pair[0].split()) <= EXAMPLE[1])
    shown = []
    for source, reference in islice(fitting, EXAMPLES):
        raw = src.restore(source.split())
        output = system.translate(raw).text
        wanted = tgt.restore(reference.split())
        shown.append({"source": raw, "output": output, "reference": wanted})
    return shown


def measure(out: FilePath, planned: Plan, test: Sequence[FilePath]) -> System:
    """Translate a test set (a source and its references), and note the scores in the card.

    The output is compared with the references as plain text, like files by ``wayword evaluate``.
    """
    sources, *refs = read_evaluation(test, planned.config.text)
    system = System.open(out, trust=True)  # made by this run
    lines = [translation.text for translation in system.translate(sources)]
    options = Options(tokenize=AUTO)
    compared = compare(Gold(refs=refs), [Output("system", lines)], TEST_METRICS, options=options)
    scores = {
        metric: {
            "score": round(compared.score("system", metric).value, 4),
            "signature": compared.signatures[metric],
        }
        for metric in compared.metrics
    }
    return system.noting("test", {"lines": len(lines), "scores": scores}).save()
