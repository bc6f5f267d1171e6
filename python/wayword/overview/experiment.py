"""The sentences behind the numbers of an experiment.

In: an experiment that has run, and its folder. Out: for each corpus the test sentences on which the
variants differ most, with what each made of them.
How: raw text of the test set and of the outputs; chrF of each sentence, which needs no tokens,
tells how far the variants are apart.
Cost: chrF of every output.
"""

from pathlib import Path

import numpy as np

from wayword.evaluate import Gold, Output, make_metric
from wayword.evaluate.read import read_lines
from wayword.experiment import Corpus, Experiment, folder_name
from wayword.report.experiment_page import Texts
from wayword.stages import read_evaluation
from wayword.types import FilePath

__all__ = ["SENTENCES", "texts_of"]

#: Sentences of each corpus that a page shows.
SENTENCES = 200


def texts_of(described: Experiment, out: FilePath, *, most: int = SENTENCES) -> list[Texts]:
    """The sentences of each corpus on which the variants differ most, those first."""
    return [_texts(described, corpus, Path(out), most) for corpus in described.corpora]


def _texts(described: Experiment, corpus: Corpus, out: Path, most: int) -> Texts:
    src, ref = _test_set(described, corpus)
    inner = [folder_name(corpus.name)] if len(described.corpora) > 1 else []
    folder = out.joinpath("outputs", *inner)
    names = [variant.name for variant in described.variants]
    outputs = {name: read_lines(folder / f"{folder_name(name)}.txt") for name in names}
    metric = make_metric("chrf", Gold(refs=[ref]))
    scores = {
        name: np.asarray(metric.sentence_score(metric.statistics(Output(name, lines))))
        for name, lines in outputs.items()
    }
    apart = np.ptp(np.stack(list(scores.values())), axis=0)
    chosen = np.argsort(-apart, kind="stable")[:most].tolist()
    return Texts(
        corpus=corpus.name,
        total=len(src),
        lines=tuple(number + 1 for number in chosen),
        src=tuple(src[number] for number in chosen),
        ref=tuple(ref[number] for number in chosen),
        outputs={name: tuple(lines[n] for n in chosen) for name, lines in outputs.items()},
        scores={
            name: tuple(round(float(values[n]), 1) for n in chosen)
            for name, values in scores.items()
        },
    )


def _test_set(described: Experiment, corpus: Corpus) -> tuple[list[str], list[str]]:
    """Return the source and the first reference of the test set as plain text."""
    text = described.config(corpus, described.variants[0]).text
    src, ref, *_ = read_evaluation(corpus.test, text)
    return src, ref
