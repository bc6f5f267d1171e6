"""The phrase table and language models as parts of a system, and the stages that make them."""

from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any

from wayword import extract, lm
from wayword.corpus import Bitext
from wayword.corpus.files import new_file, open_text
from wayword.parts.part import Part, entry
from wayword.stage import File, Stage, Work
from wayword.stages import Text, load_preparation

__all__ = ["LmOptions", "LmPart", "PhraseTablePart", "lm_stage", "table_stage"]


class PhraseTablePart(Part):
    """Phrase pairs with their scores; its entry may name an ``orientation`` model of theirs."""

    kind = "phrase-table"

    @cached_property
    def table(self) -> extract.PhraseTable:
        """The table, mapped."""
        return extract.PhraseTable.open(self.path)

    def load(self) -> None:
        """Map the table."""
        _ = self.table

    def phrases(self) -> tuple[extract.PhraseTable, str | None]:
        """The table, and the orientation model that is used."""
        return self.table, self.entry.get("orientation")


class LmPart(Part):
    """A language model."""

    kind = "lm"

    @cached_property
    def model(self) -> lm.LanguageModel:
        """The model, mapped."""
        return lm.LanguageModel.load(self.path)

    def load(self) -> None:
        """Map the model."""
        _ = self.model

    def language_model(self) -> lm.LanguageModel:
        """The model."""
        return self.model


def table_stage(
    text: Stage, links: Stage, options: extract.Options, *, weighted: Stage | None = None
) -> Stage:
    """Count and score the phrase pairs; ``weighted`` knows how often each corpus counts."""
    inputs = {"text": text, "links": links}
    if weighted is not None:
        inputs["weighted"] = weighted
    return Stage("extract", make_table, options, inputs, version=1)


def make_table(work: Work) -> dict[str, Any]:
    """Write the table of a prepared bitext and its links."""
    summary = _weighted_table(work) if "weighted" in work.inputs else _plain_table(work)
    return {
        "part": entry("phrase-table", "phrase-table", file="phrase-table"),
        "pairs": summary.pairs,
        "occurrences": summary.occurrences,
        "bytes": summary.bytes,
    }


def _plain_table(work: Work) -> extract.Summary:
    text, linked = work.inputs["text"], work.inputs["links"]
    return extract.extract(
        Bitext.read(text / "train.src", text / "train.tgt"),
        linked / "links",
        work.out / "phrase-table",
        temp_dir=work.out,
        threads=work.threads,
        progress=work.progress,
        **vars(work.options),
    )


def _weighted_table(work: Work) -> extract.Summary:
    """The table when each line of a corpus stands for as many as its weight says.

    Each corpus is counted by itself; merging the same counts several times adds them as often.
    """
    text, linked = work.inputs["text"], work.inputs["links"]
    files = (text / "train.src", text / "train.tgt", linked / "links")
    lines = zip(*map(open_text, files), strict=True)
    shards: list[Path] = []
    for number, corpus in enumerate(work.inputs["weighted"].facts["corpora"]):
        names = [work.out / f"{number}.{part}" for part in ("src", "tgt", "links")]
        with ExitStack() as opened:
            out = [opened.enter_context(new_file(name)) for name in names]
            for row in islice(lines, corpus["pairs"]):
                for file, line in zip(out, row, strict=True):
                    print(line, file=file)
        bitext = Bitext.read(names[0], names[1])
        counts = work.out / f"{number}.counts"
        room: dict[str, Any] = {"temp_dir": work.out, "progress": work.progress}
        extract.count(bitext, names[2], counts, threads=work.threads, **room, **vars(work.options))
        shards += [counts] * corpus["weight"]
    whole = Bitext.read(*files[:2]) if work.options.significance else None
    options = {"temp_dir": work.out, "progress": work.progress, **vars(work.options)}
    summary = extract.merge(shards, work.out / "phrase-table", corpus=whole, **options)
    for leftover in work.out.iterdir():
        if leftover.name != "phrase-table":
            leftover.unlink()
    return summary


@dataclass(frozen=True, kw_only=True)
class LmOptions(lm.Options):
    """The language model of a system."""

    #: further files of raw target text
    text: tuple[str, ...] = ()


def lm_stage(text: Stage, options: LmOptions, preparation: Text) -> Stage:
    """Estimate the language model, from further raw text too if there is some."""
    chosen = {**vars(options)}
    inputs: dict[str, Any] = {"text": text}
    if more := chosen.pop("text"):
        # What is in the files counts, not their names.
        inputs["more"] = [File(path) for path in more]
        chosen["preparation"] = preparation
    return Stage("lm", make_lm, chosen, inputs, version=1)


def make_lm(work: Work) -> dict[str, Any]:
    """Estimate and write the model."""
    text, options = work.inputs["text"], dict(work.options)
    source: Any = text / "train.tgt"
    if text.facts.get("glossary"):  # the terms at the end are no sentences
        source = islice(open_text(source), text.facts["pairs"])
    if "preparation" in options:
        preparation = load_preparation(text, "tgt", options.pop("preparation"))
        raw = (line for path in work.inputs["more"] for line in open_text(path))
        prepared = (" ".join(preparation.prepare(line)) for line in raw)
        sentences = open_text(source) if isinstance(source, Path) else source
        source = chain(sentences, prepared)
    summary = lm.train(
        source, work.out / "lm", temp_dir=work.out, progress=work.progress, **options
    ).summary
    assert summary is not None
    return {
        "part": entry("lm", "lm", file="lm"),
        "sentences": summary.sentences,
        "ngrams": list(summary.counts),
    }
