"""The phrase table and language models as parts of a system, and the stages that make them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wayword import extract, lm
from wayword.corpus import Bitext
from wayword.corpus.files import count_lines, new_file, open_text
from wayword.corpus.text import Preparation
from wayword.options import check_choice
from wayword.parts.part import Part, entry
from wayword.shards import spread_lm, spread_table
from wayword.stage import File, Result, Stage, Work

if TYPE_CHECKING:
    from wayword.stages import Text

__all__ = ["LmOptions", "LmPart", "PhraseTablePart", "lm_stages", "table_stage"]

MIXES = ("one", "each", "linear")


class PhraseTablePart(Part):
    """Phrase pairs with their scores; its entry may name an ``orientation`` model of theirs."""

    kind = "phrase-table"
    is_sealed = True

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
    is_sealed = True

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
    # Memory changes no result: the key is that of the default.
    chosen = replace(options, memory=extract.Options.memory)
    return Stage("extract", make_table, chosen, inputs, version=1, memory=options.memory)


def make_table(work: Work) -> dict[str, Any]:
    """Write the table of a prepared bitext and its links."""
    work = replace(work, options=replace(work.options, memory=work.memory))
    lines = count_lines(work.inputs["text"] / "train.src")
    if work.shards(lines) > 1:
        summary = spread_table(work, _corpora(work) or [(lines, 1)], work.options)
    else:
        summary = _weighted_table(work) if "weighted" in work.inputs else _plain_table(work)
    return {
        "part": entry("phrase-table", "phrase-table", file="phrase-table"),
        "pairs": summary.pairs,
        "occurrences": summary.occurrences,
        "bytes": summary.bytes,
    }


def _corpora(work: Work) -> list[tuple[int, int]]:
    """How many pairs each corpus has, and how often they count; empty when all count once."""
    known = work.inputs["weighted"].facts["corpora"] if "weighted" in work.inputs else ()
    return [(corpus["pairs"], corpus["weight"]) for corpus in known]


def _plain_table(work: Work) -> extract.Summary:
    text, linked = work.inputs["text"], work.inputs["links"]
    return extract.extract(
        (text / "train.src", text / "train.tgt"),
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
    room: dict[str, Any] = {"threads": work.threads, "progress": work.progress}
    room["temp_dir"] = work.out
    for number, corpus in enumerate(work.inputs["weighted"].facts["corpora"]):
        names = [work.out / f"{number}.{part}" for part in ("src", "tgt", "links")]
        with ExitStack() as opened:
            out = [opened.enter_context(new_file(name)) for name in names]
            for row in islice(lines, corpus["pairs"]):
                for file, line in zip(out, row, strict=True):
                    print(line, file=file)
        bitext = (names[0], names[1])
        counts = work.out / f"{number}.counts"
        extract.count(bitext, names[2], counts, **room, **vars(work.options))
        shards += [counts] * corpus["weight"]
    whole = Bitext.read(*files[:2]) if work.options.significance else None
    options = {**room, **vars(work.options)}
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
    #: ``one`` model of all text; ``each`` of these files in a model that tuning weighs; or a
    #: ``linear`` mixture of such models that predicts the dev set best
    mix: str = "one"

    def __post_init__(self) -> None:
        """Refuse what makes no sense, before any counting."""
        super().__post_init__()
        check_choice("mix", self.mix, MIXES)


def lm_stages(text: Stage, options: LmOptions, preparation: "Text", dev: Stage) -> list[Stage]:
    """Estimate the language models: of the training text, and of further raw text.

    That goes into the same model or, with ``mix = "each"``, each file into one of its own; with
    ``mix = "linear"`` these are then mixed into one.
    """
    chosen = {name: value for name, value in vars(options).items() if name not in {"text", "mix"}}
    # Memory changes no result: the keys are those of the default.
    chosen["memory"] = LmOptions.memory
    # What is in the files counts, not their names.
    more = [File(path) for path in options.text]
    if not more or options.mix == "one":
        return [_lm_stage("lm", chosen, preparation, more, {"text": text}, memory=options.memory)]
    name = "lm-0" if options.mix == "linear" else "lm"
    models = [
        _lm_stage(name, chosen, preparation, [], {"text": text}, memory=options.memory),
        *(
            _lm_stage(
                f"lm-{number}",
                chosen,
                preparation,
                [file],
                {"prepared": text},
                memory=options.memory,
            )
            for number, file in enumerate(more, 1)
        ),
    ]
    if options.mix == "each":
        return models
    inputs: dict[str, Any] = {"models": models, "dev": dev}
    known = {"memory": LmOptions.memory}
    return [Stage("lm", mix_lm, known, inputs, version=1, memory=options.memory)]


def _lm_stage(
    name: str,
    chosen: Mapping[str, Any],
    preparation: "Text",
    more: list[File],
    inputs: Any,
    *,
    memory: str,
) -> Stage:
    options = dict(chosen) if name == "lm" else {**chosen, "name": name}
    if more:
        inputs = {**inputs, "more": more}
        options["preparation"] = preparation
    return Stage(name, make_lm, options, inputs, version=1, memory=memory)


def make_lm(work: Work) -> dict[str, Any]:
    """Estimate and write the model."""
    from wayword.stages import load_preparation

    options = {**work.options, "memory": work.memory}
    preparation, name = options.pop("preparation", None), options.pop("name", "lm")
    text, further = work.inputs.get("text"), None
    if preparation is not None:
        learned = load_preparation(text or work.inputs["prepared"], "tgt", preparation)
        further = _prepared(learned, work.inputs["more"])
    lines = _count_sentences(text) if text is not None else 0
    if work.shards(lines) > 1:
        summary = spread_lm(work, lines, further or (), options, work.out / name).summary
    else:
        source = _lm_text(text, further)
        room: dict[str, Any] = {"threads": work.threads, "progress": work.progress}
        summary = lm.train(source, work.out / name, temp_dir=work.out, **room, **options).summary
    assert summary is not None
    return {
        "part": entry("lm", name, file=name),
        "sentences": summary.sentences,
        "ngrams": list(summary.counts),
    }


def mix_lm(work: Work) -> dict[str, Any]:
    """Mix models by the weights that suit the references of the dev set best."""
    parts = [result.facts["part"] for result in work.inputs["models"]]
    models = [
        lm.LanguageModel.load(result / part["file"])
        for result, part in zip(work.inputs["models"], parts, strict=True)
    ]
    refs = sorted(work.inputs["dev"].path.glob("dev.ref*[0-9]"))
    mixture = lm.mixture_of(models, chain.from_iterable(map(open_text, refs)))
    options: dict[str, Any] = {
        "memory": work.memory,
        "temp_dir": work.out,
        "progress": work.progress,
    }
    mixed = lm.mix(models, mixture.weights, work.out / "lm", **options)
    return {
        "part": entry("lm", "lm", file="lm"),
        "sentences": sum(result.facts["sentences"] for result in work.inputs["models"]),
        "ngrams": list(mixed.counts),
        "weights": [round(weight, 4) for weight in mixture.weights],
        "perplexity": round(mixture.perplexity, 4),
    }


def _count_sentences(text: Result) -> int:
    """Lines of the training text; terms of a glossary, at its end, are no sentences."""
    return text.facts["pairs"] if text.facts.get("glossary") else count_lines(text / "train.tgt")


def _lm_text(text: Result | None, further: Iterator[str] | None) -> "Path | Iterator[str]":
    """What a model is made of: the target side of the training text, further lines, or both."""
    if text is None:
        return further or iter(())
    path = text / "train.tgt"
    is_whole = not text.facts.get("glossary")
    if is_whole and further is None:
        return path
    lines = open_text(path) if is_whole else islice(open_text(path), text.facts["pairs"])
    return chain(lines, further or ())


def _prepared(preparation: Preparation, paths: Sequence[Path]) -> Iterator[str]:
    """Raw text of files in any format, prepared as the target side was."""
    from wayword.corpus.collection import read_side
    from wayword.corpus.formats import format_of

    for path in paths:
        column = "tgt" if format_of(path) in {"tsv", "po"} else preparation.lang
        for line in read_side(path, column):
            yield " ".join(preparation.prepare(line))
