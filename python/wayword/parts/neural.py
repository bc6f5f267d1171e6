"""A network of word order as a part of a system, and the stage that learns it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wayword.corpus.annotate.factored import escape
from wayword.corpus.files import new_file, open_text
from wayword.corpus.pieces import drawn
from wayword.errors import FormatError, MismatchError
from wayword.options import check_range
from wayword.parts.part import SENTENCES, Ground, Part, Wanted, entry
from wayword.reorder import neural
from wayword.reorder.feature import Feature
from wayword.stage import Stage, Work

__all__ = ["NeuralOptions", "NeuralPart"]


@dataclass(frozen=True, kw_only=True)
class NeuralOptions(neural.Options):
    """The network of word order of a system."""

    #: most sentences that it learns from, taken at equal steps; 0 for all
    sentences: int = SENTENCES

    def __post_init__(self) -> None:
        """Refuse what makes no sense, before any learning."""
        super().__post_init__()
        check_range("sentences", self.sentences, 0)


class NeuralPart(Part):
    """A network that says which word comes next; gives a path feature to prune by."""

    kind = "neural"
    is_sealed = True
    Options = NeuralOptions

    @cached_property
    def model(self) -> neural.NeuralModel:
        """The model, read."""
        return neural.NeuralModel.load(self.path)

    @classmethod
    def reads_tags(cls, options: NeuralOptions) -> bool:
        """Only when it is told to."""
        return options.tags

    def load(self) -> None:
        """Read the model."""
        _ = self.model

    def feature(self) -> Feature:
        """Scores each jump by the network."""
        return self.model.feature(self.name)

    @classmethod
    def stage(cls, wanted: Wanted, ground: Ground, options: NeuralOptions) -> Stage:
        """Learn which word comes right after which."""
        inputs = {"text": ground.text, "links": ground.links}
        if options.tags:
            assert ground.tagged is not None, "a part that reads tags gets them"
            inputs["tagged"] = ground.tagged
        chosen = {"name": wanted.name, "neural": options}
        version = neural.NeuralModel.VERSION
        return Stage("neural", make_neural, chosen, inputs, version=version, resumes=True)


def _corpus(work: Work, sentences: int) -> neural.Corpus:
    """The text and links that the network learns from."""
    text = work.inputs["text"]
    tagged = work.inputs.get("tagged", text) / "train.src"
    files = tagged, text / "train.tgt", work.inputs["links"] / "links"
    with (
        drawn(files, sentences, work.out, what="neural") as (drawn_source, tgt, links),
        TemporaryDirectory(dir=work.out) as folder,
    ):
        source = drawn_source
        if "tagged" not in work.inputs:
            # A bar in a plain word must not look like a tag.
            source = Path(folder) / "train.src"
            with new_file(source) as file:
                file.writelines(f"{escape(line)}\n" for line in open_text(drawn_source))
        return neural.Corpus.read(source, tgt, links)


def make_neural(work: Work) -> dict[str, Any]:
    """Learn and write the model; every pass is kept, so an interrupted call goes on."""
    options = dict(vars(work.options["neural"]))
    corpus = _corpus(work, options.pop("sentences"))
    room: dict[str, Any] = {"threads": work.threads, "progress": work.progress}
    room |= {"state": work.out / "state", **options}
    try:
        model = neural.train(corpus, **room)
    except (FormatError, MismatchError):  # the state is damaged
        room["state"].unlink()
        model = neural.train(corpus, **room)
    name = work.options["name"]
    model.save(work.out / name)
    room["state"].unlink(missing_ok=True)
    assert model.summary is not None
    return {"part": entry("neural", name, file=name), **model.summary.to_dict()}
