"""The word-after-word model as a part of a system, and the stage that learns it."""

from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from wayword.corpus.pieces import drawn
from wayword.options import check_range
from wayword.parts.part import SENTENCES, Ground, Part, Wanted, entry
from wayword.reorder import waw
from wayword.reorder.feature import Feature
from wayword.shards import spread_samples
from wayword.stage import Stage, Work

__all__ = ["WawOptions", "WawPart"]


@dataclass(frozen=True, kw_only=True)
class WawOptions(waw.Options):
    """The word-after-word model of a system."""

    #: most sentences that it learns from, taken at equal steps; 0 for all
    sentences: int = SENTENCES

    def __post_init__(self) -> None:
        """Refuse what makes no sense, before any counting."""
        super().__post_init__()
        check_range("sentences", self.sentences, 0)


class WawPart(Part):
    """A word-after-word model; gives a path feature, which spaces may prune by."""

    kind = "waw"
    is_sealed = True
    Options = WawOptions

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
    def stage(cls, wanted: Wanted, ground: Ground, options: WawOptions) -> Stage:
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
    options = dict(vars(work.options["waw"]))
    files = tagged / "train.src", text / "train.tgt", linked / "links"
    sentences = options.pop("sentences")
    with ExitStack() as stack:
        parts = stack.enter_context(drawn(files, sentences, work.out, what="waw"))
        corpus = waw.Corpus.read(*parts)
        options |= {"templates": options["templates"] or corpus.layers, "memory": work.memory}
        most = min(work.shards(len(corpus)), waw.most_shards(waw.Options(**options)))
        shards = None
        if most > 1:
            shards = stack.enter_context(spread_samples(work, parts, len(corpus), most, options))
        room: dict[str, Any] = {"threads": work.threads, "progress": work.progress}
        model = waw.train(corpus, shards=shards, temp_dir=work.out, **room, **options)
    name = work.options["name"]
    model.save(work.out / name)
    assert model.summary is not None
    return {"part": entry("waw", name, file=name), **model.summary.to_dict()}
