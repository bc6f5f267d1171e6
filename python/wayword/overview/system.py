"""Gathers all that can be told of a system, or of two side by side.

In: system folders (or files of ``wayword pack``), perhaps a test set. Out: a ``Report``
(``wayword.report.system``), which tells itself as text, JSON or a page.
How: what a system holds is read from its manifest and models. Tuning curves come from its ``work``
folder, and alignment samples from the training text there; without that folder, as in a packed
system, the samples are from the test set or the model card. A test set is translated by each
system as ``wayword translate`` does, its words are linked by the first system's aligner, and the
phrase oracle is asked about some of it.
Cost: that of translating the test set, and of the phrase oracle (0.4 CPU s a sentence and system).
Not: other outputs than those of systems; ``wayword evaluate --html`` compares any.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from wayword import __version__
from wayword.corpus import Bitext
from wayword.corpus.files import open_text
from wayword.decode import Translation
from wayword.errors import ArgumentError
from wayword.evaluate import Gold, Metric, Options, Output, compare, make_metric
from wayword.evaluate.compare import statistics_of
from wayword.evaluate.metric import AUTO
from wayword.evaluate.pairs import BINS
from wayword.evaluate.read import align, read_lines
from wayword.evaluate.tokenizer import settle_tokenizer
from wayword.manifest import read_manifest
from wayword.oracle.phrase import phrase_oracle
from wayword.report.system import Cells, Derivation, Grid, Overview, Report, Tested, TestSet
from wayword.system import System
from wayword.tune.dev import read_dev
from wayword.types import FilePath, Progress

__all__ = ["ORACLE", "inspect", "report"]


#: Sentences that the phrase oracle is asked about unless told otherwise.
ORACLE = 100
#: Sentence pairs whose links are shown, their words, and from how many they are taken.
GRIDS, GRID_WORDS, GRID_LINES = 6, (4, 11), 2000
#: The least posterior of a link that is shown.
POSTERIOR = 0.1
#: Source phrases that are looked at to tell of the table.
PHRASES = 5000
#: Sentences whose matrices are shown, and their words.
MATRICES, MATRIX_WORDS = 2, (4, 12)
#: Best and worst sentences with derivations, and the least words of one.
EXTREMES, LEAST = 5, 4
METRICS = ("bleu", "chrf", "ter")
ORDER = ("krs-linked", "reversals")


def report(
    folder: FilePath,
    other: FilePath | None = None,
    *,
    test: Sequence[FilePath] = (),
    prepared: bool = False,
    oracle: int = ORACLE,
    threads: int = 0,
    progress: Progress | None = None,
) -> Report:
    """Tell of a system, and of another beside it; ``test`` is a source and its references.

    ``oracle`` is how many sentences the phrase oracle is asked about, 0 for none.
    """
    folders = [folder] if other is None else [folder, other]
    systems = [System.open(path) for path in folders]
    names = _names(folders)
    files = [read_manifest(_home(system)).files for system in systems]
    tested, pairs = None, []
    if test:
        texts = _text(systems, test, prepared=prepared)
        tested = _tested(systems, names, texts, oracle, threads, progress)
        pairs = list(zip(texts.src, texts.gold.refs[0], strict=True))
    shown = tuple(
        inspect(
            system, name=name, files={part: size for part, (size, _) in sums.items()}, test=pairs
        )
        for system, name, sums in zip(systems, names, files, strict=True)
    )
    return Report(shown, tested, recipe=f"wayword {__version__}")


def _home(system: System) -> Path:
    assert system.folder is not None, "opened from a folder"
    return system.folder


def _names(folders: Sequence[FilePath]) -> list[str]:
    """The last part of each path that tells them apart."""
    paths = [Path(folder).resolve() for folder in folders]
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        names = [f"{path.parent.name}/{path.name}" for path in paths]
    if len(set(names)) < len(names):
        names = [f"{name} ({at})" for at, name in enumerate(names, 1)]
    return names


# --- what a system is made of --------------------------------------------------------------------


def inspect(
    system: System, *, name: str, files: dict[str, int], test: Sequence[tuple[str, str]] = ()
) -> Overview:
    """Gather all that a system and its ``work`` folder tell; ``test`` are pairs of a test set."""
    lengths, translations = _phrases(system)
    notes = []
    text, pairs = _sample(system, test)
    grids = _grids(system, pairs)
    if not grids:
        missing = "aligner" if system.aligner is None else "sentence pairs"
        notes.append(f"No alignment samples: the system has no {missing}.")
    tuning = _work_file(system, "tune", "tuning.json")
    if tuning is None:
        notes.append("No tuning curves: the system has no `work` folder with its tuning.")
    tuned = system.made.get("tune") or system.made.get("dev") or {}
    return Overview(
        name=name,
        langs=None if system.text is None else (system.text[0].lang, system.text[1].lang),
        made=system.made,
        settings=system.settings.to_dict(),
        weights=system.weights,
        files=files,
        table=system.table.info,
        phrase_lengths=lengths,
        translations=translations,
        lms=tuple(_lm(part) for part in system.parts if part.language_model() is not None),
        grids=grids,
        linked_text=text,
        tuning=None if tuning is None else json.loads(tuning.read_text(encoding="utf-8")),
        at_bound=tuple(tuned.get("at_bound", ())),
        matrices=_matrices(system),
        notes=tuple(notes),
    )


def _work_file(system: System, stage: str, name: str) -> Path | None:
    """A file of a finished stage of the system's training, if it is still there."""
    key = system.made.get("stages", {}).get(stage, "")
    path = _home(system) / "work" / f"{stage}-{key}" / name
    return path if path.is_file() else None


def _lm(part: Any) -> dict[str, Any]:
    model = part.language_model()
    return {"name": part.name, "counts": list(model.counts), "bytes": model.size}


def _phrases(system: System) -> tuple[dict[int, float], dict[int, float]]:
    """Source phrases by length, in percent, and their mean number of translations; of a sample."""
    table = system.table
    size, blocks = len(table), 20
    step = max(PHRASES // blocks, 1)
    phrases: dict[str, None] = {}
    for block in range(blocks):
        phrases |= dict.fromkeys(table._core.phrases(block * size // blocks, step))
    lengths: dict[int, list[int]] = {}
    for phrase in phrases:
        lengths.setdefault(len(phrase.split()), []).append(len(table.options(phrase)))
    total = max(len(phrases), 1)
    known = sorted(lengths.items())
    return (
        {words: 100 * len(counts) / total for words, counts in known},
        {words: sum(counts) / len(counts) for words, counts in known},
    )


def _sample(
    system: System, test: Sequence[tuple[str, str]]
) -> tuple[str, Iterable[tuple[str, str]]]:
    """Return the name of the first text that is there, and its sentence pairs in tokens.

    The texts are the training text in the ``work`` folder, the test set, and the examples of the
    model card.
    """
    src, tgt = (_work_file(system, "prepare", f"train.{side}") for side in ("src", "tgt"))
    if src is not None and tgt is not None:
        return "the training text", zip(open_text(src), open_text(tgt), strict=True)
    if test:
        return "the test set", test
    examples = [
        system.tokens(example["source"], example["reference"])
        for example in system.made.get("examples", ())
    ]
    return "the model card", [(" ".join(src), " ".join(tgt)) for src, tgt in examples]


def _grids(system: System, pairs: Iterable[tuple[str, str]]) -> tuple[Grid, ...]:
    """Link pairs at equal steps, with all links that the aligner finds likely."""
    aligner = system.aligner
    if aligner is None:
        return ()
    low, high = GRID_WORDS
    fitting = [
        pair
        for pair in islice(pairs, GRID_LINES)
        if all(low <= len(line.split()) <= high for line in pair)
    ]
    chosen = fitting[:: max(len(fitting) // GRIDS, 1)][:GRIDS]
    if not chosen:
        return ()
    bitext = Bitext.from_pairs(chosen)
    links, posteriors = aligner.align_with_posteriors(bitext, threshold=POSTERIOR)
    grids = []
    for number, (start, end) in enumerate(zip(links.offsets[:-1], links.offsets[1:], strict=True)):
        of_pair = slice(int(start), int(end))
        rows = zip(links.flat[of_pair].tolist(), posteriors[of_pair].tolist(), strict=True)
        src, tgt = bitext[number]
        found = tuple((i, j, round(float(p), 3)) for (i, j), p in rows)
        grids.append(Grid(tuple(src), tuple(tgt), found))
    return tuple(grids)


def _matrices(system: System) -> tuple[Cells, ...]:
    """What each model of word order says of some sentences of the dev set."""
    models = [part for part in system.parts if hasattr(getattr(part, "model", None), "matrix")]
    dev = _work_file(system, "dev", "dev.src") or _work_file(system, "prepare", "dev.src")
    if not models or dev is None:
        return ()
    low, high = MATRIX_WORDS
    lines = (line for line in open_text(dev) if low <= len(line.split()) <= high)
    sources = system.sources(list(islice(lines, MATRICES)), prepared=True)
    made = []
    for part in models:
        for source in sources:
            values = part.model.matrix(source.sentence)  # type: ignore[attr-defined]
            is_step = values.shape[0] == len(source.words) + 1
            told = (
                "how likely each word comes right after each other"
                if is_step
                else ("how much two words want to keep their order, or to change places")
            )
            rows = ("<s>", *source.words) if is_step else source.words
            cells = tuple(tuple(round(float(v), 4) for v in row) for row in np.asarray(values))
            made.append(Cells(part.name, rows, source.words, cells, told))
    return tuple(made)


# --- how it does on a test set -------------------------------------------------------------------


@dataclass(frozen=True)
class _TestText:
    """A test set: the source as given and in tokens, and the references in both forms."""

    given: list[str]
    is_prepared: bool
    src: list[str]
    gold: Gold


def _text(systems: Sequence[System], files: Sequence[FilePath], *, prepared: bool) -> _TestText:
    """Read the test set, with links to its references where there is an aligner."""
    kinds = [
        None if system.text is None else tuple(side.to_dict() for side in system.text)
        for system in systems
    ]
    if any(kind != kinds[0] for kind in kinds) and not prepared:
        advice = "compare their outputs with `wayword evaluate --html`"
        raise ArgumentError(f"--other: the two systems split text in different ways; {advice}")
    src, gold = read_dev(systems[0], files, prepared=prepared)
    is_prepared = prepared or systems[0].text is None
    given, *texts = (src, *gold.refs) if is_prepared else map(read_lines, files)
    aligner = systems[0].aligner
    links = None if aligner is None else [align(aligner, src, ref) for ref in gold.refs]
    gold = Gold(refs=gold.refs, src=src, ref_links=links, texts=texts)
    return _TestText(list(given), is_prepared, src, gold)


def _tested(  # noqa: PLR0917
    systems: Sequence[System],
    names: Sequence[str],
    texts: _TestText,
    oracle: int,
    threads: int,
    progress: Progress | None,
) -> TestSet:
    gold = texts.gold
    room: dict[str, Any] = {"threads": threads, "progress": progress}
    results = [
        system.translate(texts.given, prepared=texts.is_prepared, **room) for system in systems
    ]
    outputs = [
        Output(
            name,
            [" ".join(one.tokens) for one in of_system],
            [list(one.links) for one in of_system],
            text=[one.text for one in of_system],
        )
        for name, of_system in zip(names, results, strict=True)
    ]
    has_links = gold.ref_links is not None
    options, note = settle_tokenizer(Options(tokenize=AUTO), gold, outputs)
    compared = compare(gold, outputs, [*METRICS, *(ORDER if has_links else ())], options=options)
    metric = make_metric("bleu", gold, options)
    tested = [
        _one(system, output, translations, texts, metric, oracle, room)
        for system, output, translations in zip(systems, outputs, results, strict=True)
    ]
    notes = [*compared.notes, *([note] if note else [])]
    if not has_links:
        notes.append("Word order is not judged: the system has no aligner.")
    ref = tuple(gold.plain.refs[0])
    return TestSet(tuple(texts.src), ref, compared, tuple(tested), tuple(notes))


def _one(  # noqa: PLR0917
    system: System,
    output: Output,
    translations: Sequence[Translation],
    texts: _TestText,
    metric: Metric,
    oracle: int,
    room: Mapping[str, Any],
) -> Tested:
    src, gold = texts.src, texts.gold
    rows = statistics_of(metric, output)
    scores = np.asarray(metric.sentence_score(rows), dtype=np.float64)
    ranked = [
        number
        for number in np.argsort(scores, kind="stable").tolist()
        if len(src[number].split()) >= LEAST
    ]
    worst, best = ranked[:EXTREMES], ranked[::-1][:EXTREMES]
    reach: tuple[dict[str, Any], ...] = ()
    asked = 0
    if oracle:
        asked = min(oracle, len(src))
        few = Gold(refs=[ref[:asked] for ref in gold.refs])
        found = phrase_oracle(system, src[:asked], few, **room)
        reach = tuple(row.to_dict() for row in found.rows)
    return Tested(
        name=output.name,
        outputs=tuple(output.plain.lines),
        scores=tuple(round(float(score), 2) for score in scores),
        unknown=tuple(tuple(one.source[at] for at in one.unknown) for one in translations),
        best=tuple(best),
        worst=tuple(worst),
        derivations={number: _derivation(translations[number]) for number in {*best, *worst}},
        reach=reach,
        asked=asked,
        reversals=_reversals(gold, output),
    )


def _derivation(one: Translation) -> Derivation:
    return Derivation(one.source, one.tokens, one.text, one.score, one.phrases, one.spelled)


def _reversals(gold: Gold, output: Output) -> tuple[tuple[str, float, float, float], ...]:
    """Reversed pairs by distance: those of the reference, precision and recall."""
    if gold.ref_links is None:
        return ()
    metric = make_metric("reversals", gold)
    told = metric.details(metric.statistics(output).sum(axis=0))
    return tuple(
        (name, told[f"pairs {name}"], told[f"precision {name}"], told[f"recall {name}"])
        for name in BINS
    )
