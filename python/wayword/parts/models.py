"""The phrase table and language models as parts of a system, and the stages that make them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from wayword import extract, lm
from wayword.corpus import Bitext
from wayword.corpus.files import open_text
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


def table_stage(text: Stage, links: Stage, options: extract.Options) -> Stage:
    """Count and score the phrase pairs."""
    return Stage("extract", make_table, options, {"text": text, "links": links}, version=1)


def make_table(work: Work) -> dict[str, Any]:
    """Write the table of a prepared bitext and its links."""
    text, linked = work.inputs["text"], work.inputs["links"]
    bitext = Bitext.read(text / "train.src", text / "train.tgt")
    summary = extract.extract(
        bitext,
        linked / "links",
        work.out / "phrase-table",
        temp_dir=work.out,
        threads=work.threads,
        progress=work.progress,
        **vars(work.options),
    )
    return {
        "part": entry("phrase-table", "phrase-table", file="phrase-table"),
        "pairs": summary.pairs,
        "occurrences": summary.occurrences,
        "bytes": summary.bytes,
    }


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
    if "preparation" in options:
        preparation = load_preparation(text, "tgt", options.pop("preparation"))
        raw = (line for path in work.inputs["more"] for line in open_text(path))
        prepared = (" ".join(preparation.prepare(line)) for line in raw)
        source = (line for part in (open_text(source), prepared) for line in part)
    summary = lm.train(
        source, work.out / "lm", temp_dir=work.out, progress=work.progress, **options
    ).summary
    assert summary is not None
    return {
        "part": entry("lm", "lm", file="lm"),
        "sentences": summary.sentences,
        "ngrams": list(summary.counts),
    }
