"""What tags the source, as a part of a system, and the stage that learns or copies it."""

import errno
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from wayword.corpus.annotate import (
    KINDS,
    Annotator,
    Classes,
    annotator_from_manifest,
    factored,
    open_annotator,
)
from wayword.corpus.files import count_lines, new_file, open_text
from wayword.corpus.pieces import drawn
from wayword.corpus.source import Source
from wayword.errors import ArgumentError
from wayword.options import check_range
from wayword.parts.part import SENTENCES, Part, entry
from wayword.shards import spread_tags
from wayword.stage import File, Stage, Work

__all__ = ["Annotate", "AnnotatorPart", "annotate_stage"]

FILE = "annotator"
#: Kinds that are read by our own code, from a file of the system.
OURS = ("tagger", "classes", "gold")


@dataclass(frozen=True, kw_only=True)
class Annotate:
    """What tags the source for models that look at tags."""

    #: a file of ``wayword annotate``, or such as ``spacy:MODEL``; empty: word classes of the text
    annotator: str = ""
    #: how many word classes, when no annotator is named
    classes: int = 100
    #: most sentences that word classes are learned from, taken at equal steps; 0 for all
    sentences: int = SENTENCES

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        check_range("classes", self.classes, 1)
        check_range("sentences", self.sentences, 0)

    @property
    def file(self) -> str:
        """The file of the annotator, if it is named by a file alone."""
        is_kind = self.annotator.partition(":")[0] in KINDS
        return "" if is_kind else self.annotator

    def check(self) -> None:
        """Refuse an annotator that is not there or not one; loads it."""
        if self.file and not Path(self.file).is_file():
            kinds = ", ".join(f"{kind}:" for kind in KINDS)
            expected = f"annotate.annotator: no such file; expected one, or a name after {kinds}"
            raise FileNotFoundError(errno.ENOENT, expected, self.file)
        if self.annotator:
            open_annotator(self.annotator)


class AnnotatorPart(Part):
    """Tags sentences; ``annotator`` in its entry says how."""

    kind = "annotator"
    is_sealed = True  # the entry holds the digest

    @cached_property
    def annotator(self) -> Annotator:
        """What does the tagging."""
        return annotator_from_manifest(self.entry["annotator"], self.folder)

    @property
    def files(self) -> list[str]:
        """The annotator's file, if it is one."""
        known = self.entry["annotator"]
        return [str(known["file"])] if "file" in known else []

    @property
    def runs(self) -> str:
        """The library of others that annotates, and its model."""
        known = self.entry["annotator"]
        is_ours = "file" in known and known.get("kind") in OURS
        return "" if is_ours else f"{known.get('kind')}:{known.get('model', known.get('file', ''))}"

    def load(self) -> None:
        """Refuse what is no manifest of an annotator; it is opened when it is needed."""
        if not isinstance(self.entry["annotator"], Mapping):
            found = f"found {self.entry['annotator']!r}"
            raise ArgumentError(f"part {self.name}: annotator: {found}; expected a table")

    def prepare(self, sources: Sequence[Source]) -> list[Source]:
        """Tag those sentences that are not tagged yet."""
        plain = [source.words for source in sources if source.sentence.pos is None]
        tagged = iter(self.annotator.annotate(plain)) if plain else iter(())
        return [
            source if source.sentence.pos is not None else source.with_sentence(next(tagged))
            for source in sources
        ]


def annotate_stage(text: Stage, options: Annotate) -> Stage:
    """Tag the source, by word classes of its own when nothing else is named."""
    inputs: dict[str, Any] = {"text": text}
    chosen: dict[str, Any] = {}
    if options.file:
        inputs["annotator"] = File(options.file)  # what is in it counts, not its name
    else:
        chosen = {name: getattr(options, name) for name in ("annotator", "classes", "sentences")}
    return Stage("annotate", make_tagged, chosen, inputs, version=1)


def make_tagged(work: Work) -> dict[str, Any]:
    """Write the tagged source as ``train.src``, and the annotator if it is a file."""
    plain = work.inputs["text"] / "train.src"
    annotator, described = _annotator(work, plain)
    # Only our tagger is worth it, and gives the same for a sentence whatever stands beside it.
    if described["kind"] == "tagger" and work.shards(count_lines(plain)) > 1:
        spread_tags(work, described, work.out / FILE)
    else:
        with new_file(work.out / "train.src") as file:
            sentences = annotator.annotate(open_text(plain), threads=work.threads)
            file.writelines(f"{factored(sentence)}\n" for sentence in sentences)
    return {"part": entry("annotator", "annotator", annotator=described)}


def _annotator(work: Work, text: Path) -> tuple[Annotator, dict[str, Any]]:
    """The annotator, and its manifest with its file in this stage's folder."""
    name = work.inputs.get("annotator") or work.options["annotator"]
    if not name:
        room: dict[str, Any] = {"threads": work.threads, "progress": work.progress}
        with drawn([text], work.options["sentences"], work.out, what="annotate") as [part]:
            classes, _ = Classes.fit(part, classes=work.options["classes"], **room)
        classes.save(work.out / FILE)
        return classes, classes.to_manifest()
    annotator = open_annotator(name)
    described = annotator.to_manifest()
    if "file" in described:
        kind, _, path = str(name).partition(":")
        shutil.copyfile(path if kind in KINDS else name, work.out / FILE)
        described["file"] = FILE
    return annotator, described
