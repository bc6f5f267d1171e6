"""The word-after-word model as a part of a system, and the stage that learns it."""

from dataclasses import replace
from functools import cached_property
from typing import Any

from wayword.parts.part import Ground, Part, Wanted, entry
from wayword.reorder import waw
from wayword.reorder.feature import Feature
from wayword.stage import Stage, Work

__all__ = ["WawPart"]


class WawPart(Part):
    """A word-after-word model; gives a path feature, which spaces may prune by."""

    kind = "waw"
    Options = waw.Options

    @cached_property
    def model(self) -> waw.WawModel:
        """The model, mapped."""
        return waw.WawModel.load(self.path)

    @classmethod
    def reads_tags(cls, options: Any) -> bool:  # noqa: ARG003
        """Always."""
        return True

    def load(self) -> None:
        """Map the model."""
        _ = self.model

    def feature(self) -> Feature:
        """Scores each jump by the model."""
        return self.model.feature(self.name)

    @classmethod
    def stage(cls, wanted: Wanted, ground: Ground, options: waw.Options) -> Stage:
        """Learn which word comes right after which."""
        assert ground.tagged is not None, "a part that reads tags gets them"
        inputs = {"text": ground.text, "links": ground.links, "tagged": ground.tagged}
        # Memory changes no result: the key is that of the default.
        chosen = {"name": wanted.name, "waw": replace(options, memory=waw.Options.memory)}
        version = waw.WawModel.VERSION
        return Stage("waw", make_waw, chosen, inputs, version=version, memory=options.memory)


def make_waw(work: Work) -> dict[str, Any]:
    """Learn and write the model."""
    text, linked, tagged = (work.inputs[name] for name in ("text", "links", "tagged"))
    corpus = waw.Corpus.read(tagged / "train.src", text / "train.tgt", linked / "links")
    room: dict[str, Any] = {"threads": work.threads, "progress": work.progress}
    room |= {"temp_dir": work.out, **vars(work.options["waw"]), "memory": work.memory}
    model = waw.train(corpus, **room)
    name = work.options["name"]
    model.save(work.out / name)
    assert model.summary is not None
    return {"part": entry("waw", name, file=name), **model.summary.to_dict()}
