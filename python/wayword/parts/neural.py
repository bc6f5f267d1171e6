"""A network of word order as a part of a system, and the stage that learns it."""

from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wayword.corpus.annotate.factored import escape
from wayword.corpus.files import new_file, open_text
from wayword.errors import FormatError, MismatchError
from wayword.parts.part import Ground, Part, Wanted, entry
from wayword.reorder import neural
from wayword.reorder.feature import Feature
from wayword.stage import Stage, Work

__all__ = ["NeuralPart"]


class NeuralPart(Part):
    """A network that says which word comes next; gives a path feature to prune by."""

    kind = "neural"
    Options = neural.Options

    @cached_property
    def model(self) -> neural.NeuralModel:
        """The model, read."""
        return neural.NeuralModel.load(self.path)

    @classmethod
    def reads_tags(cls, options: neural.Options) -> bool:
        """Only when it is told to."""
        return options.tags

    def load(self) -> None:
        """Read the model."""
        _ = self.model

    def feature(self) -> Feature:
        """Scores each jump by the network."""
        return self.model.feature(self.name)

    @classmethod
    def stage(cls, wanted: Wanted, ground: Ground, options: neural.Options) -> Stage:
        """Learn which word comes right after which."""
        inputs = {"text": ground.text, "links": ground.links}
        if options.tags:
            assert ground.tagged is not None, "a part that reads tags gets them"
            inputs["tagged"] = ground.tagged
        chosen = {"name": wanted.name, "neural": options}
        version = neural.NeuralModel.VERSION
        return Stage("neural", make_neural, chosen, inputs, version=version, resumes=True)


def make_neural(work: Work) -> dict[str, Any]:
    """Learn and write the model; every pass is kept, so an interrupted call goes on."""
    text, linked = work.inputs["text"], work.inputs["links"]
    with TemporaryDirectory(dir=work.out) as folder:
        source = Path(folder) / "train.src"
        if "tagged" in work.inputs:
            source = work.inputs["tagged"] / "train.src"
        else:
            # A bar in a plain word must not look like a tag.
            with new_file(source) as file:
                file.writelines(f"{escape(line)}\n" for line in open_text(text / "train.src"))
        corpus = neural.Corpus.read(source, text / "train.tgt", linked / "links")
    room: dict[str, Any] = {"threads": work.threads, "progress": work.progress}
    room |= {"state": work.out / "state", **vars(work.options["neural"])}
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
