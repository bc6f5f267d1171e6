"""A whole run: from two text files to a system you can use.

In: a bitext of raw text, dev sets if there are any, a ``Config``. Out: a system folder.
How: read ``train`` from top to bottom; every line is a stage, and each is a module of that name.
Stages are remembered in ``work`` inside the system's folder (see ``wayword.store``): run again
after an interruption or a change, and only what is missing is done.
Cost: for 100,000 pairs some minutes, most of it alignment and tuning; docs/train.md has a table.

>>> from wayword.corpus import toy
>>> import tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> _ = toy.write("de-en", 300, folder.name, seed=1)
>>> quick = Config.from_dict({"lm": {"order": 3}, "tune": {"runs": 1, "rounds": 1}})
>>> src, tgt = (f"{folder.name}/train.{lang}" for lang in ("de", "en"))
>>> system = train(src, tgt, f"{folder.name}/system", config=quick)
>>> system.translate("").text
''
>>> folder.cleanup()
"""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from wayword import align, extract, lm, tune
from wayword.config import Config, Text
from wayword.corpus import Bitext, doctor
from wayword.corpus.annotate import (
    KINDS,
    Annotator,
    Classes,
    annotator_from_manifest,
    factored,
    open_annotator,
)
from wayword.corpus.files import COMPRESSION, FilePath, new_file, open_text, sha256
from wayword.corpus.source import Source
from wayword.corpus.text import Preparation
from wayword.corpus.truecase import Truecaser
from wayword.decode import Decoder
from wayword.errors import ArgumentError, MismatchError
from wayword.evaluate import METRICS, Gold
from wayword.evaluate.read import read_gold
from wayword.model import Recipe, System, write_manifest
from wayword.reorder import waw
from wayword.store import Stage, Store, link_or_copy
from wayword.tune.objective import parse_metric

__all__ = ["Models", "Run", "assemble", "check_files", "models", "prepared_text", "train", "tuned"]

Progress = Callable[[int, int], object]
BLOCK = 2000  # lines a process gets at a time
ALONE = 20_000  # lines that are not worth a second process
TAGS = "annotator"  # the file of what tags the source
DEV_SHARE, DEV_LEAST, DEV_MOST = 20, 50, 1000  # one line of so many is held out, within limits


def train(
    src: FilePath,
    tgt: FilePath,
    out: FilePath,
    *,
    dev: Sequence[FilePath] = (),
    config: Config | None = None,
    threads: int = 0,
    progress: Progress | None = None,
    watch: Callable[[str, Stage | None], object] | None = None,
) -> System:
    """Train a system from two line-aligned files of raw text.

    ``dev`` is a source file and one or more references; without it lines are held out. Languages
    are told by the ends of the file names unless the configuration names them.
    """
    config = with_languages(config or Config(), src, tgt)
    check_files([src, tgt, *dev, *files(config)])
    tunes_order(config)  # refuses a wrong metric before any long work
    with Store(Path(out) / "work", watch=watch) as store:
        run = Run(store, config, threads, progress)
        made = models(run, src, tgt, dev=dev)
        return assemble(out, made, tuned(run, made), config)


@dataclass(frozen=True)
class Run:
    """Where results are kept, what was chosen, and how the work is done."""

    store: Store
    config: Config
    threads: int = 0
    progress: Progress | None = None


@dataclass(frozen=True)
class Models:
    """Everything a decoder needs but its weights, and the text that was used."""

    text: Stage
    dev: Stage
    links: Stage
    table: Stage
    lm: Stage
    held_out: bool
    #: the tagged source and the model that was learned from it, if there are
    tagged: Stage | None = None
    waw: Stage | None = None

    @property
    def keys(self) -> list[str]:
        """The keys of all models of the decoder."""
        stages = (self.table, self.lm, self.tagged, self.waw)
        return [stage.key for stage in stages if stage is not None]

    def annotating(self) -> Callable[[Sequence[str]], list[Source]]:
        """What makes prepared lines such as the decoder wants: tags them, if a model needs it."""
        if self.tagged is None:
            return lambda lines: [Source.of(line) for line in lines]
        return partial(_tagged, _annotator(self.tagged))

    def decoder(self, config: Config, weights: Mapping[str, float] | None = None) -> Decoder:
        """A decoder over these models."""
        return Decoder(
            extract.PhraseTable.open(self.table / "phrase-table"),
            [lm.LanguageModel.load(self.lm / "lm")],
            orientation=config.model.orientation or None,
            features=[waw.WawModel.load(self.waw / "waw").feature()] if self.waw else [],
            weights=weights,
            settings=config.search,
        )

    def preparations(self, config: Config) -> tuple[Preparation, Preparation]:
        """How text is prepared on both sides."""
        src, tgt = (_load_preparation(self.text, side, config.text) for side in ("src", "tgt"))
        return src, tgt


def models(
    run: Run,
    src: FilePath,
    tgt: FilePath,
    *,
    dev: Sequence[FilePath] = (),
    links: FilePath | None = None,
) -> Models:
    """Run the stages up to the models of word order. Given ``links`` are taken as they are."""
    if len(dev) == 1:
        raise ArgumentError("dev: found one file; expected a source and one or more references")
    clean = _doctor(run, src, tgt)
    text = _prepare(run, clean, held_out=not dev)
    dev_stage = prepared_text(run, text, dev, "dev") if dev else text
    linked = _align(run, text, links)
    table = _extract(run, text, linked)
    model = _lm(run, text)
    made = Models(text, dev_stage, linked, table, model, held_out=not dev)
    if not run.config.model.waw:
        return made
    tagged = _annotate(run, text)
    return replace(made, tagged=tagged, waw=_waw(run, text, linked, tagged))


def files(config: Config) -> list[str]:
    """The files that a configuration names."""
    return [*config.lm.text, *(_annotator_file(config) if config.model.waw else [])]


def _annotator_file(config: Config) -> list[str]:
    """The file of the annotator, if it is named by a file alone."""
    named = config.annotate.annotator
    return [named] if named and named.partition(":")[0] not in KINDS else []


def check_files(paths: Iterable[FilePath]) -> None:
    """Complain about a file that cannot be read before any long work, and leave nothing behind."""
    for path in paths:
        with Path(path).open("rb"):
            pass


def with_languages(config: Config, src: FilePath, tgt: FilePath) -> Config:
    """The configuration with its languages, which the file names tell if it does not."""
    found = {"src": config.text.src, "tgt": config.text.tgt}
    for side, path in (("src", src), ("tgt", tgt)):
        if not found[side]:
            name = Path(path)
            name = name.with_suffix("") if name.suffix in COMPRESSION else name
            found[side] = name.suffix[1:]
        if not found[side]:
            advice = "name the file such as train.de, or set `text.src` and `text.tgt`"
            raise ArgumentError(f"{path}: which language is it? {advice}")
    return replace(config, text=replace(config.text, src=found["src"], tgt=found["tgt"]))


def _doctor(run: Run, src: FilePath, tgt: FilePath) -> Stage:
    """Take out the lines that would do harm."""
    config = run.config

    def make(out: Path) -> dict[str, Any]:
        copies = out / "in.src", out / "in.tgt"
        for copy, path in zip(copies, (src, tgt), strict=True):
            copy.symlink_to(Path(path).resolve())
        options: dict[str, Any] = asdict(config.doctor)
        report = doctor.examine(*copies, out=out / "clean", progress=run.progress, **options)
        for copy in copies:
            copy.unlink()
        if not report.clean:
            raise MismatchError(f"{src}: no line pair is clean; see `wayword doctor {src} {tgt}`")
        return {"lines": report.src_lines, "clean": report.clean, "problems": report.counts}

    inputs = [sha256(src), sha256(tgt)]
    return run.store.stage("doctor", make, settings=asdict(config.doctor), inputs=inputs)


def _prepare(run: Run, clean: Stage, *, held_out: bool) -> Stage:
    """Tokenise; hold out a dev set if none is given; drop pairs that are too long."""
    config = run.config

    def make(out: Path) -> dict[str, Any]:
        sides = []
        for side in ("src", "tgt"):
            raw = clean / "clean" / f"in.{side}"
            preparation = _preparation(config.text, side).fit(open_text(raw))
            if preparation.truecaser is not None:
                preparation.truecaser.save(out / f"truecaser.{side}")
            sides.append(_prepared(preparation, open_text(raw), run.threads))
        size = clean.facts["clean"]
        wanted = config.text.dev_size or min(DEV_MOST, max(DEV_LEAST, size // DEV_SHARE))
        if held_out and 2 * wanted > size:
            found = f"found {size} clean pairs; expected {2 * wanted} to hold out {wanted}"
            raise MismatchError(f"dev: {found}; give a dev set or a smaller `text.dev_size`")
        every = size // wanted if held_out else 0
        return _split(out, zip(*sides, strict=True), every, wanted, config.text.max_length)

    settings = {**asdict(config.text), "held_out": held_out}
    return run.store.stage("prepare", make, settings=settings, inputs=[clean.key])


def _split(
    out: Path, pairs: Iterable[tuple[str, str]], every: int, wanted: int, max_length: int
) -> dict[str, Any]:
    """Write each pair to the training text or, one of ``every``, to the dev set."""
    counts = {"pairs": 0, "dev": 0, "too_long": 0, "src_words": 0, "tgt_words": 0}
    with (
        new_file(out / "train.src") as src,
        new_file(out / "train.tgt") as tgt,
        new_file(out / "dev.src") as dev_src,
        new_file(out / "dev.ref0") as dev_ref,
    ):
        for number, (one, other) in enumerate(pairs):
            words = len(one.split()), len(other.split())
            if not 0 < min(words) <= max(words) <= max_length:
                counts["too_long"] += 1
            elif every and number % every == every - 1 and counts["dev"] < wanted:
                counts["dev"] += 1
                print(one, file=dev_src)
                print(other, file=dev_ref)
            else:
                counts["pairs"] += 1
                counts["src_words"] += words[0]
                counts["tgt_words"] += words[1]
                print(one, file=src)
                print(other, file=tgt)
    return counts


def _preparation(text: Text, side: str) -> Preparation:
    tokenizer = getattr(text, f"{side}_tokenizer")
    return Preparation(getattr(text, side), tokenizer=tokenizer, case=text.case, nfc=text.nfc)


def _load_preparation(stage: Stage, side: str, text: Text) -> Preparation:
    table = stage / f"truecaser.{side}"
    caser = Truecaser.load(table) if table.exists() else None
    return replace(_preparation(text, side), truecaser=caser)


def _prepared(preparation: Preparation, lines: Iterator[str], threads: int) -> Iterator[str]:
    """Lines of tokens, by several processes when there is much to do."""
    work = partial(_prepare_block, preparation)
    blocks = iter(lambda: list(islice(lines, BLOCK)), [])
    first = list(islice(blocks, ALONE // BLOCK))
    for block in first:
        yield from work(block)
    if len(first) < ALONE // BLOCK or threads == 1:
        for block in blocks:
            yield from work(block)
        return
    with ProcessPoolExecutor(threads or None, mp_context=get_context("spawn")) as pool:
        # A few blocks for each process at a time, so that memory does not grow with the text.
        while batch := list(islice(blocks, 16)):
            for done in pool.map(work, batch):
                yield from done


def _prepare_block(preparation: Preparation, lines: list[str]) -> list[str]:
    return [" ".join(preparation.prepare(line)) for line in lines]


def prepared_text(run: Run, text: Stage, files: Sequence[FilePath], name: str) -> Stage:
    """A source and its references, prepared like the training text."""
    config = run.config

    def make(out: Path) -> dict[str, Any]:
        names = [f"{name}.src", *(f"{name}.ref{number}" for number in range(len(files) - 1))]
        counts = []
        for path, target in zip(files, names, strict=True):
            side = "src" if target.endswith(".src") else "tgt"
            preparation = _load_preparation(text, side, config.text)
            lines = _prepare_block(preparation, list(open_text(path)))
            counts.append(len(lines))
            with new_file(out / target) as file:
                file.writelines(f"{line}\n" for line in lines)
        if len(set(counts)) > 1:
            found = " and ".join(f"{n} in {path}" for n, path in zip(counts, files, strict=True))
            raise MismatchError(f"{name}: found {found}; expected as many lines in each file")
        return {"lines": counts[0], "references": len(files) - 1}

    settings = {"text": asdict(config.text), "references": len(files) - 1}
    inputs = [text.key, *map(sha256, files)]
    return run.store.stage(name, make, settings=settings, inputs=inputs)


def _align(run: Run, text: Stage, given: FilePath | None) -> Stage:
    """Link the words, and keep the aligner for evaluation."""
    config = run.config

    def make(out: Path) -> dict[str, Any]:
        bitext = Bitext.read(text / "train.src", text / "train.tgt")
        model, threads = config.align.model, run.threads
        aligner = align.fit(bitext, model=model, threads=threads, progress=run.progress)
        aligner.save(out / "aligner")
        if given is None:
            how = config.align.symmetrise
            links = aligner.align(bitext, symmetrise=how, threads=threads, progress=run.progress)
        else:
            links = align.Links.read(given, bitext)
        links.write(out / "links")
        return {"links": len(links.flat)}

    inputs = [text.key] if given is None else [text.key, sha256(given)]
    return run.store.stage("align", make, settings=asdict(config.align), inputs=inputs)


def _extract(run: Run, text: Stage, linked: Stage) -> Stage:
    """Count and score the phrase pairs."""
    config = run.config
    options: dict[str, Any] = asdict(config.extract)
    options["top"] = options["top"] or None
    options["significance"] = options["significance"] or None

    def make(out: Path) -> dict[str, Any]:
        bitext = Bitext.read(text / "train.src", text / "train.tgt")
        links = linked / "links"
        room: dict[str, Any] = {"temp_dir": out, "threads": run.threads, "progress": run.progress}
        found = extract.extract(bitext, links, out / "phrase-table", **room, **options)
        return {"pairs": found.pairs, "occurrences": found.occurrences, "bytes": found.bytes}

    inputs = [text.key, linked.key]
    return run.store.stage("extract", make, settings=asdict(config.extract), inputs=inputs)


def _lm(run: Run, text: Stage) -> Stage:
    """Estimate the language model, from further text too if there is some."""
    config = run.config
    options: dict[str, Any] = asdict(config.lm)
    more = options.pop("text")

    def make(out: Path) -> dict[str, Any]:
        source: Any = text / "train.tgt"
        if more:
            preparation = _load_preparation(text, "tgt", config.text)
            lines = (" ".join(preparation.prepare(raw)) for path in more for raw in open_text(path))
            source = (line for part in (open_text(source), lines) for line in part)
        room: dict[str, Any] = {"temp_dir": out, "progress": run.progress}
        summary = lm.train(source, out / "lm", **room, **options).summary
        assert summary is not None
        return {"sentences": summary.sentences, "ngrams": list(summary.counts)}

    inputs = [text.key, *map(sha256, more)]
    return run.store.stage("lm", make, settings=options, inputs=inputs)


def _annotate(run: Run, text: Stage) -> Stage:
    """Tag the source, by word classes of its own when nothing else is named."""
    config = run.config.annotate

    def make(out: Path) -> dict[str, Any]:
        if config.annotator:
            annotator = open_annotator(config.annotator)
            manifest = annotator.to_manifest()
            if "file" in manifest:
                kind, _, path = config.annotator.partition(":")
                shutil.copyfile(path if kind in KINDS else config.annotator, out / TAGS)
                manifest["file"] = TAGS
        else:
            room: dict[str, Any] = {"threads": run.threads, "progress": run.progress}
            found, _ = Classes.fit(text / "train.src", classes=config.classes, **room)
            found.save(out / TAGS)
            annotator, manifest = found, found.to_manifest()
        with new_file(out / "train.src") as file:
            sentences = annotator.annotate(open_text(text / "train.src"), threads=run.threads)
            file.writelines(f"{factored(sentence)}\n" for sentence in sentences)
        return {"annotate": manifest}

    own = _annotator_file(run.config)
    named = {} if own else {"annotator": config.annotator}
    settings = named if config.annotator else {"classes": config.classes}
    inputs = [text.key, *map(sha256, own)]
    return run.store.stage("annotate", make, settings=settings, inputs=inputs)


def _annotator(tagged: Stage) -> Annotator:
    return annotator_from_manifest(tagged.facts["annotate"], tagged.path)


def _tagged(annotator: Annotator, lines: Sequence[str]) -> list[Source]:
    sentences = annotator.annotate(lines)
    return [Source(found, raw=line) for found, line in zip(sentences, lines, strict=True)]


def _waw(run: Run, text: Stage, linked: Stage, tagged: Stage) -> Stage:
    """Learn which word comes right after which."""
    options: dict[str, Any] = asdict(run.config.waw)
    options["templates"] = options["templates"] or None

    def make(out: Path) -> dict[str, Any]:
        corpus = waw.Corpus.read(tagged / "train.src", text / "train.tgt", linked / "links")
        room: dict[str, Any] = {"temp_dir": out, "threads": run.threads, "progress": run.progress}
        model = waw.train(corpus, **room, **options)
        model.save(out / "waw")
        assert model.summary is not None
        return model.summary.to_dict()

    inputs = [text.key, linked.key, tagged.key]
    # A file of an older form would be found and refused.
    settings = {**asdict(run.config.waw), "version": waw.WawModel.VERSION}
    return run.store.stage("waw", make, settings=settings, inputs=inputs)


def tuned(run: Run, made: Models, start: Stage | None = None) -> Stage:
    """Find weights on the dev set; its facts hold them.

    The search begins with all weights alike, or with those of another such stage: a feature that
    it did not have begins with weight 0.
    """
    config = run.config
    changed = {"space": config.tune.space, "pop_limit": config.tune.pop_limit}
    search = {name: value for name, value in changed.items() if value}
    plan: dict[str, Any] = {k: v for k, v in asdict(config.tune).items() if k not in changed}
    restarts = plan.pop("restarts")
    by_order = tunes_order(config)

    def make(out: Path) -> dict[str, Any]:
        decoder = made.decoder(config).with_settings(**search)
        if start is not None:
            known = start.facts["weights"]
            decoder = decoder.with_weights({name: known.get(name, 0) for name in decoder.weights})
        src = made.annotating()(list(open_text(made.dev / "dev.src")))
        method = plan["method"]
        if method == "mert":
            threads = run.threads or os.cpu_count() or 1
            method = tune.Mert(restarts=restarts, threads=threads)
        found = tune.tune(
            decoder,
            src,
            _dev_gold(made, by_order=by_order),
            threads=run.threads,
            folder=out / "rounds",
            start="flat" if start is None else "current",
            seed=config.seed,
            progress=run.progress,
            **{**plan, "method": method},
        )
        with new_file(out / "tuning.json") as file:
            json.dump(found.to_dict(), file, ensure_ascii=False)
        runs = [round(run.score, 4) for run in found.runs]
        return {
            "weights": found.weights,
            "dev": round(found.after, 4),
            "runs": runs,
            "spread": round(found.spread, 4),
            "signature": found.signature,
        }

    settings = {
        **plan,
        "restarts": restarts,
        "search": {**config.search.to_dict(), **search},
        "orientation": config.model.orientation,
        "seed": config.seed,
    }
    keys = [made.dev.key, *made.keys, *([made.links.key] if by_order else [])]
    keys += [start.key] if start is not None else []
    return run.store.stage("tune", make, settings=settings, inputs=keys)


def tunes_order(config: Config) -> bool:
    """Whether tuning looks at word order; refuses metrics that it cannot be done by."""
    needs: set[str] = set()
    for name in parse_metric(config.tune.metric):
        metric = METRICS.get(name.lower())
        if metric is None or "weights" in metric.needs:
            known = ", ".join(key for key, one in METRICS.items() if "weights" not in one.needs)
            raise ArgumentError(f"tune.metric: found `{name}`; expected some of {known}")
        needs.update(metric.needs)
    return "links" in needs


def _dev_gold(made: Models, *, by_order: bool) -> Gold:
    """References of the dev set; metrics of word order want links to them as well."""
    refs = sorted(made.dev.path.glob("dev.ref*"))
    if not by_order:
        return read_gold(refs)
    return read_gold(refs, made.dev / "dev.src", aligner=made.links / "aligner")


def assemble(out: FilePath, made: Models, weights: Stage, config: Config) -> System:
    """Put the models together as a system folder; the manifest comes last."""
    out = Path(out)
    link_or_copy(made.table / "phrase-table", out / "phrase-table")
    link_or_copy(made.lm / "lm", out / "lm")
    annotate = None
    if made.tagged is not None and made.waw is not None:
        link_or_copy(made.waw / "waw", out / "waw")
        annotate = made.tagged.facts["annotate"]
        if "file" in annotate:
            link_or_copy(made.tagged / TAGS, out / TAGS)
    stages = (made.text, made.links, made.table, made.lm, made.tagged, made.waw, weights)
    facts = {
        "corpus": {name: made.text.facts[name] for name in ("pairs", "src_words", "tgt_words")},
        "held_out": made.held_out,
        "phrase_pairs": made.table.facts["pairs"],
        "dev": {
            "metric": config.tune.metric,
            "score": weights.facts["dev"],
            "spread": weights.facts["spread"],
            "signature": weights.facts["signature"],
        },
        "stages": {stage.name: stage.key for stage in stages if stage is not None},
        "config": config.to_dict(),
    }
    write_manifest(
        out,
        Recipe(
            table="phrase-table",
            lms=("lm",),
            orientation=config.model.orientation or None,
            waw="waw" if made.waw is not None else None,
            annotate=annotate,
            settings=config.search,
            weights=weights.facts["weights"],
            text=made.preparations(config),
            made=facts,
        ),
    )
    return System.open(out)
