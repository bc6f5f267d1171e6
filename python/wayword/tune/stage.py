"""The stage of a training run that finds weights on the dev set."""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from wayword.corpus.files import new_file, open_text
from wayword.decode import Settings
from wayword.evaluate import Gold
from wayword.evaluate.read import read_gold
from wayword.stage import Result, Stage, Work
from wayword.system import System
from wayword.tune.mert import Mert
from wayword.tune.options import Tune
from wayword.tune.pool import Decodes
from wayword.tune.run import tune
from wayword.tune.spread import SpreadSystem
from wayword.tune.words import Words, words_of

__all__ = ["tune_stage"]


def tune_stage(
    parts: Sequence[Stage],
    dev: Stage,
    links: Stage,
    options: Tune,
    *,
    search: Settings,
    orientation: str,
    seed: int,
    start: Stage | None = None,
    in_pieces: bool = False,
    profile: Stage | None = None,
) -> Stage:
    """Find weights on the dev set; the facts of its result hold them.

    The search begins with all weights alike, or with those of another such stage: a feature that
    it did not have begins with weight 0. Text ``in_pieces`` is measured as words; ``profile``
    settles a space that ``search`` leaves open.
    """
    inputs: dict[str, Any] = {"parts": list(parts), "dev": dev}
    if options.needs_links:
        inputs["links"] = links
    if start is not None:
        inputs["start"] = start
    if profile is not None:
        inputs["profile"] = profile
    chosen = {"tune": options, "search": search, "orientation": orientation, "seed": seed}
    if in_pieces:
        chosen["in_pieces"] = True
    return Stage("tune", make_weights, chosen, inputs, version=3, resumes=True)


def make_weights(work: Work) -> dict[str, Any]:
    """Tune a system of the parts; every round is kept, so an interrupted call goes on."""
    options, dev = work.options["tune"], work.inputs["dev"]
    advised: Result | None = work.inputs.get("profile")
    chosen: Settings = work.options["search"]
    if advised is not None:
        chosen = chosen.settled(advised.facts["space"])
    settings = replace(chosen, **options.search)
    orientation = work.options["orientation"]
    system = System.of_results(work.inputs["parts"], orientation, settings=settings)
    start: Result | None = work.inputs.get("start")
    if start is not None:
        known = start.facts["weights"]
        system = system.with_weights({name: known.get(name, 0) for name in system.weights})
    threads = work.threads or os.cpu_count() or 1
    plan = options.plan
    if options.method == "mert":
        plan["method"] = Mert(restarts=options.restarts, threads=threads)
    gold = _gold(dev, work.inputs.get("links"))
    in_words = work.options.get("in_pieces", False) and not options.needs_links
    sources = system.sources(list(open_text(dev / "dev.src")), prepared=True)
    tuned: Decodes = system
    if work.spread is not None and work.width > 1:
        tuned = SpreadSystem(system, work, sources, orientation)
    tuning = tune(
        Words(tuned) if in_words else tuned,
        sources,
        words_of(gold) if in_words else gold,
        threads=work.threads,
        folder=work.out / "rounds",
        resume=True,
        start="flat" if start is None else "current",
        seed=work.options["seed"],
        progress=work.progress,
        **plan,
    )
    with new_file(work.out / "tuning.json") as file:
        json.dump(tuning.to_dict(), file, ensure_ascii=False)
    return {
        "weights": tuning.weights,
        "dev": round(tuning.after, 4),
        "runs": [round(run.score, 4) for run in tuning.runs],
        "spread": round(tuning.spread, 4),
        "averaged": tuning.averaged,
        "signature": tuning.signature,
        "at_bound": list(tuning.at_bound),
    }


def _gold(dev: Result, links: Result | None) -> Gold:
    """References of the dev set; metrics of word order want links to them as well."""
    refs = sorted(dev.path.glob("dev.ref*[0-9]"))
    if links is None:
        return read_gold(refs)
    return read_gold(refs, dev / "dev.src", aligner=links / "aligner")
