"""All that can be told of a translation: derivation, features, matrices, stacks, alternatives.

In: a system and a sentence. Out: plain values, ready for JSON and for the page.
Cost: a search that keeps its arcs, and one alignment.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from wayword.align import Aligner
from wayword.corpus.source import Source
from wayword.decode import Stack, Translation
from wayword.system import System
from wayword.teach import link
from wayword.types import Progress

__all__ = ["explain", "word_graph"]

#: Least posterior of a link that is told, and the largest matrix.
POSTERIOR, LARGEST = 0.02, 60


def explain(
    system: System,
    line: str,
    *,
    aligner: Aligner | None,
    markup: bool = False,
    nbest: int = 10,
    stacks: int = 8,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Everything about the translation of one sentence."""
    options: dict[str, Any] = {"nbest": nbest, "distinct": True, "stacks": stacks, "threads": 1}
    done = system.translate(line, split=False, markup=markup, progress=progress, **options)
    [source] = system.sources([line], markup=markup)
    return {
        **_told(done, system),
        "source": list(done.source),
        "offsets": [None if at is None else list(at) for at in done.offsets or ()],
        "nbest": [_told(other, system) for other in done.nbest],
        "posteriors": _posteriors(aligner, done),
        "steps": _steps(done),
        "stacks": [_stack(stack) for stack in done.stacks],
        "statistics": None if done.statistics is None else _counts(done),
        "matrices": _matrices(system, source),
        "settings": system.settings.to_dict(),
    }


def word_graph(
    system: System, line: str, *, markup: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """The search graph: arcs from node to node, 0 the start, with source span, words and score."""
    done = system.translate(line, markup=markup, graph=True, threads=1, progress=progress)
    ends = {arc.end for arc in done.graph} - {arc.start for arc in done.graph}
    return {
        "source": list(done.source),
        "start": 0,
        "ends": sorted(ends),
        "arcs": [
            [arc.start, arc.end, *arc.src, arc.target, round(arc.score, 6)] for arc in done.graph
        ],
    }


def _told(translation: Translation, system: System) -> dict[str, Any]:
    weights = system.weights
    return {
        "text": translation.text,
        "tokens": list(translation.tokens),
        "score": translation.score,
        "features": [
            [name, round(value, 6), round(weights[name], 6)]
            for name, value in translation.features.items()
        ],
        "phrases": [
            {"src": list(phrase.covered), "tgt": list(phrase.tgt)} for phrase in translation.phrases
        ],
        "links": [list(pair) for pair in translation.links],
        "unknown": list(translation.unknown),
        "spelled": list(translation.spelled),
    }


def _posteriors(aligner: Aligner | None, done: Translation) -> list[list[float]] | None:
    """How likely each two words translate each other; None without an aligner."""
    if aligner is None or not done.source or not done.tokens:
        return None
    links, posteriors = link(aligner, done.source, done.tokens, least=POSTERIOR)
    return [[i, j, p] for (i, j), p in zip(links, posteriors, strict=True)]


def _steps(done: Translation) -> list[dict[str, Any]]:
    """The derivation phrase by phrase: what is covered after each, and how far it jumped."""
    steps: list[dict[str, Any]] = []
    covered: list[int] = []
    end = 0
    for phrase in done.phrases:
        covered += phrase.covered
        steps.append(
            {
                "src": list(phrase.covered),
                "source": phrase.source,
                "target": phrase.target,
                "jump": phrase.src[0] - end,
                "covered": sorted(covered),
            }
        )
        end = phrase.src[1]
    return steps


def _stack(stack: Stack) -> dict[str, Any]:
    return {
        "kept": stack.kept,
        "recombined": stack.recombined,
        "abandoned": stack.abandoned,
        "best": [
            {
                "number": hyp.number,
                "back": hyp.back,
                "src": list(hyp.src),
                "target": hyp.target,
                "covered": list(hyp.covered),
                "score": round(hyp.score, 4),
                "total": round(hyp.total, 4),
                "recombined": hyp.recombined,
                "isAlive": hyp.is_alive,
            }
            for hyp in stack.best
        ],
    }


def _counts(done: Translation) -> dict[str, Any]:
    assert done.statistics is not None
    return {**vars(done.statistics), "jumps": list(done.statistics.jumps)}


def _matrices(system: System, source: Source) -> list[dict[str, Any]]:
    """What each model of word order says of the sentence."""
    words: Sequence[str] = source.words
    shown = []
    for part in system.parts:
        model: Any = getattr(part, "model", None)
        if not hasattr(model, "matrix") or not 0 < len(words) <= LARGEST:
            continue
        values = np.asarray(model.matrix(source.sentence), dtype=np.float64)
        is_step = values.shape[0] == len(words) + 1
        shown.append(
            {
                "name": part.name,
                "told": "how likely each word is translated right after each other"
                if is_step
                else "how much two words want to keep their order, or to change places",
                "rows": ["<s>", *words] if is_step else list(words),
                "columns": list(words),
                "cells": [[round(float(value), 4) for value in row] for row in values],
            }
        )
    return shown
