"""A linear-ordering model as a path feature of a system, and the stage that learns it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from wayword import align
from wayword.corpus import Bitext
from wayword.corpus.files import new_file
from wayword.corpus.pieces import drawn
from wayword.parts.part import SENTENCES, Ground, Part, Wanted, entry
from wayword.reorder import lop
from wayword.reorder.feature import Feature
from wayword.reorder.preorder import held_out
from wayword.stage import Stage, Work

__all__ = ["VERSION", "LopOptions", "LopPart", "learn"]

#: Of what is learned: the model's, and one for text that is taken at equal steps.
VERSION = lop.LopModel.VERSION + 1


@dataclass(frozen=True, kw_only=True)
class LopOptions(lop.Options):
    """The linear-ordering model of a system."""

    #: most sentences that it learns from, taken at equal steps; 0 for all
    sentences: int = SENTENCES


class LopPart(Part):
    """A linear-ordering model; gives a path feature, which spaces may prune by."""

    kind = "lop"
    is_sealed = True
    Options = LopOptions

    @cached_property
    def model(self) -> lop.LopModel:
        """The model, mapped."""
        return lop.LopModel.load(self.path)

    @classmethod
    def reads_tags(cls, options: Any) -> bool:  # noqa: ARG003
        """Always."""
        return True

    def load(self) -> None:
        """Map the model."""
        _ = self.model

    def feature(self) -> Feature:
        """Scores each pair of words that a translation turns round."""
        return self.model.feature(self.name)

    @classmethod
    def stage(cls, wanted: Wanted, ground: Ground, options: LopOptions) -> Stage:
        """Learn which of two words comes first."""
        assert ground.tagged is not None, "a part that reads tags gets them"
        inputs = {"text": ground.text, "links": ground.links, "tagged": ground.tagged}
        chosen = {"name": wanted.name, "lop": options}
        return Stage("lop", make_lop, chosen, inputs, version=VERSION)


def make_lop(work: Work) -> dict[str, Any]:
    """Learn and write the model."""
    model = learn(work, vars(work.options["lop"]))
    name = work.options["name"]
    model.save(work.out / name)
    assert model.summary is not None
    return {"part": entry("lop", name, file=name), **model.summary.to_dict()}


def learn(
    work: Work, options: dict[str, Any], *, posteriors: bool = False, what: str = "lop"
) -> lop.LopModel:
    """A model of a stage's tagged text and links; the last sentences are its dev set.

    With ``posteriors`` each link counts as much as the aligner is sure of it. ``what`` tells the
    log which stage it is.
    """
    text, linked, tagged = (work.inputs[name] for name in ("text", "links", "tagged"))
    files = (tagged / "train.src", text / "train.tgt", linked / "links", text / "train.src")
    with drawn(files, options["sentences"], work.out, what=what) as (source, tgt, links, plain):
        scored = work.out / "links.scored"
        if posteriors:
            _write_scored(work, (plain, tgt), scored)
        corpus = lop.Corpus.read(source, tgt, scored if posteriors else links)
    scored.unlink(missing_ok=True)
    learned, dev = corpus.split(len(corpus) - held_out(len(corpus)))
    options = {**options, "sentences": 0}
    return lop.fit(learned, dev, threads=work.threads, progress=work.progress, **options)


def _write_scored(work: Work, files: tuple[Path, Path], path: Path) -> None:
    """The links of a text with their posteriors, by the aligner that linked it."""
    bitext = Bitext.read(*files)
    aligner = align.Aligner.load(work.inputs["links"] / "aligner")
    links, posteriors = aligner.align_with_posteriors(bitext, threads=work.threads)
    with new_file(path) as file:
        file.writelines(f"{line}\n" for line in links.lines(posteriors))
