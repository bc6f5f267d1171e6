"""The test set of an experiment, translated by all of its variants one after the other.

In: plans of the variants, the stages that their weights come from, the prepared test set. Out: for
each variant its translations and links, the milliseconds of CPU a source word, and how many jumps
it made beyond ``FAR`` words; on request also the translations with the weights of every tuning run,
which are not timed.
"""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from wayword.corpus.files import new_file, open_text
from wayword.decode import Translation
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
    return Stage("decode", make_outputs, options, inputs, version=2)


def make_outputs(work: Work) -> dict[str, Any]:
    """Translate with every variant, and time each; then with the weights of every run."""
    lines = list(open_text(work.inputs["test"] / "test.src"))
    words = max(1, sum(len(line.split()) for line in lines))
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
        system.translate(lines[:20], threads=1)
        start = time.process_time()
        translations = system.translate(lines, threads=1)
        ms[name] = round(1000 * (time.process_time() - start) / words, 4)
        jumps[name] = {str(far): _jumps_beyond(far, translations) for far in FAR}
        _write(work, f"{number}", translations)
        if work.options["each_run"]:
            for run, weights in enumerate(_weights_of_runs(work.inputs["weights"][number])):
                tuned = system.with_weights(weights)
                _write(work, f"{number}.{run}", tuned.translate(lines, threads=work.threads))
    return {"ms": ms, "words": words, "jumps": jumps}


def _jumps_beyond(far: int, translations: Iterable[Translation]) -> int:
    made = [one.statistics.jumps for one in translations if one.statistics is not None]
    return sum(sum(jumps[far + 1 :]) for jumps in made)


def _weights_of_runs(tuned: Result) -> list[dict[str, float]]:
    tuning = json.loads((tuned / "tuning.json").read_text(encoding="utf-8"))
    return [run["weights"] for run in tuning["runs"]]


def _write(work: Work, name: str, translations: Sequence[Translation]) -> None:
    with (
        new_file(work.out / f"{name}.txt") as text,
        new_file(work.out / f"{name}.links") as trace,
    ):
        for translation in translations:
            print(" ".join(translation.tokens), file=text)
            print(translation.word_trace(), file=trace)


def read_output(outputs: Result, number: int, name: str, run: int | None = None) -> Output:
    """What a variant made of the test set, with the weights of one run if it is named."""
    stem = str(number) if run is None else f"{number}.{run}"
    lines = list(open_text(outputs / f"{stem}.txt"))
    links = [_links(line) for line in open_text(outputs / f"{stem}.links")]
    return Output(name, lines, links)


def read_runs(outputs: Result, number: int, name: str) -> list[Output]:
    """What a variant made of the test set with the weights of each of its runs."""
    runs = len(list(outputs.path.glob(f"{number}.*.txt")))
    return [read_output(outputs, number, f"{name}, run {run + 1}", run) for run in range(runs)]


def _links(line: str) -> list[tuple[int, int]]:
    pairs = (link.split("-") for link in line.split())
    return [(int(src), int(tgt)) for src, tgt in pairs]
