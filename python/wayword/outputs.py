"""The test set of an experiment, translated by all of its variants one after the other.

In: plans of the variants, the stages that their weights come from, the prepared test set. Out: for
each variant its translations and links, the milliseconds of CPU a source word, and how many jumps
it made beyond ``FAR`` words; on request also the translations with the weights of every tuning run,
which are not timed. The sentences of a line are translated one by one, like raw text by
``System.translate``.
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from wayword.corpus.files import new_file, open_text
from wayword.corpus.text import Preparation
from wayword.decode import Translation
from wayword.decode.concatenate import concatenate
from wayword.evaluate import Output
from wayword.pipeline import Plan
from wayword.stage import Result, Stage, Work
from wayword.system import System

__all__ = ["FAR", "outputs_stage", "read_output", "read_runs"]

#: Jumps over more words than that are counted.
FAR = (5, 8)


def outputs_stage(
    plans: Mapping[str, Plan], weights: Mapping[str, Stage], text: Stage, *, each_run: bool
) -> Stage:
    """Translate the test set with every variant."""
    options: dict[str, Any] = {
        "names": list(plans),
        "search": [plan.config.search for plan in plans.values()],
        "orientation": [plan.config.model.orientation for plan in plans.values()],
        "each_run": each_run,
    }
    inputs: dict[str, Any] = {
        "test": text,
        "weights": [weights[name] for name in plans],
        "parts": [list(plan.parts) for plan in plans.values()],
    }
    profiles = {name: plan.profile for name, plan in plans.items() if plan.profile is not None}
    if profiles:
        inputs["profiles"] = profiles
    return Stage("decode", make_outputs, options, inputs, version=3)


def make_outputs(work: Work) -> dict[str, Any]:
    """Translate with every variant, and time each; then with the weights of every run."""
    lines = [
        list(_sentences(line.split(), lengths))
        for line, lengths in _zip_lines(work.inputs["test"] / "test.src", "lengths")
    ]
    words = max(1, sum(len(sentence.split()) for line in lines for sentence in line))
    ms, jumps = {}, {}
    for number, name in enumerate(work.options["names"]):
        settings = work.options["search"][number]
        if settings.is_open:
            settings = settings.settled(work.inputs["profiles"][name].facts["space"])
        system = System.of_results(
            work.inputs["parts"][number],
            work.options["orientation"][number],
            weights=work.inputs["weights"][number].facts["weights"],
            settings=settings,
        )
        # Pages of the models are in memory after that.
        _translate(system, lines[:20])
        start = time.process_time()
        translations = _translate(system, lines)
        ms[name] = round(1000 * (time.process_time() - start) / words, 4)
        jumps[name] = {
            str(far): _jumps_beyond(far, chain.from_iterable(translations)) for far in FAR
        }
        _write(work, f"{number}", translations)
        if work.options["each_run"]:
            for run, weights in enumerate(_weights_of_runs(work.inputs["weights"][number])):
                tuned = system.with_weights(weights)
                _write(work, f"{number}.{run}", _translate(tuned, lines, work.threads))
    return {"ms": ms, "words": words, "jumps": jumps}


def _zip_lines(path: Path, suffix: str) -> Iterator[tuple[str, list[int]]]:
    """Yield each line of a file with the numbers in the same line of the file beside it."""
    numbers = open_text(path.with_name(f"{path.name}.{suffix}"))
    for line, of_line in zip(open_text(path), numbers, strict=True):
        yield line, [int(number) for number in of_line.split()]


def _sentences(tokens: Sequence[str], lengths: Sequence[int]) -> Iterator[str]:
    """Yield the sentences of a line, given their lengths; an empty line is an empty sentence."""
    start = 0
    for length in lengths or [0]:
        yield " ".join(tokens[start : start + length])
        start += length


def _translate(
    system: System, lines: Sequence[Sequence[str]], threads: int = 1
) -> list[list[Translation]]:
    """Translate the sentences of each line."""
    best = iter(system.translate(list(chain.from_iterable(lines)), threads=threads))
    return [list(islice(best, len(line))) for line in lines]


def _jumps_beyond(far: int, translations: Iterable[Translation]) -> int:
    made = [one.statistics.jumps for one in translations if one.statistics is not None]
    return sum(sum(jumps[far + 1 :]) for jumps in made)


def _weights_of_runs(tuned: Result) -> list[dict[str, float]]:
    tuning = json.loads((tuned / "tuning.json").read_text(encoding="utf-8"))
    return [run["weights"] for run in tuning["runs"]]


def _write(work: Work, name: str, lines: Sequence[Sequence[Translation]]) -> None:
    with (
        new_file(work.out / f"{name}.txt") as text,
        new_file(work.out / f"{name}.txt.lengths") as lengths,
        new_file(work.out / f"{name}.links") as trace,
    ):
        for sentences in lines:
            translation = concatenate(sentences)
            print(" ".join(translation.tokens), file=text)
            print(*(len(sentence.tokens) for sentence in sentences), file=lengths)
            print(translation.word_trace(), file=trace)


def read_output(
    outputs: Result, number: int, name: str, target: Preparation, run: int | None = None
) -> Output:
    """Return the test set translated by a variant, with the weights of one run if it is named.

    ``target`` makes plain text of the tokens.
    """
    stem = str(number) if run is None else f"{number}.{run}"
    lines, texts = [], []
    for line, lengths in _zip_lines(outputs / f"{stem}.txt", "lengths"):
        lines.append(line)
        sentences = (sentence.split() for sentence in _sentences(line.split(), lengths))
        texts.append(target.restore_sentences(sentences))
    links = [_links(line) for line in open_text(outputs / f"{stem}.links")]
    return Output(name, lines, links, text=texts)


def read_runs(outputs: Result, number: int, name: str, target: Preparation) -> list[Output]:
    """Return the test set translated by a variant with the weights of each of its runs."""
    runs = len(list(outputs.path.glob(f"{number}.*.txt")))
    return [
        read_output(outputs, number, f"{name}, run {run + 1}", target, run) for run in range(runs)
    ]


def _links(line: str) -> list[tuple[int, int]]:
    pairs = (link.split("-") for link in line.split())
    return [(int(src), int(tgt)) for src, tgt in pairs]
