"""A preorderer as a part of a system, and the stages that learn and apply it.

In: tagged text and its links. Out: a part that puts the words of a sentence in the order of their
translation before it is translated; the training text in that order, with its tags and links.
How: a linear-ordering model (``wayword.reorder.lop``) is learned from the links of the text as it
is. Everything after it, phrases, orientations and models of word order, is learned from the
reordered text, which is aligned anew or keeps its links. Translations speak of the words that
the user wrote, because a ``Source`` remembers where each word stood.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from wayword.corpus.annotate import factored, parse_factored
from wayword.corpus.files import count_lines, new_file, open_text
from wayword.corpus.source import Source
from wayword.options import check_number, check_range
from wayword.parts.lop import VERSION, learn
from wayword.parts.part import SENTENCES, Part, entry
from wayword.reorder import lop
from wayword.reorder.order import rank_of
from wayword.stage import Result, Stage, Work
from wayword.store import copy_file

__all__ = ["Preorder", "PreorderPart", "preorder_stage", "preorderer_stage", "reordered_stage"]

NAME = "preorder"
BLOCK = 20_000  # sentences that are put in order at a time


@dataclass(frozen=True, kw_only=True)
class Preorder(lop.Learning):
    """How the source is put in the order of its translation."""

    #: most sentences that it learns from, taken at equal steps; 0 for all
    sentences: int = SENTENCES
    #: learn from links that count as much as the aligner is sure of them (``joint``)
    posteriors: bool = False
    #: align the reordered text anew; false: the links move with their words
    realign: bool = True
    #: orders of a sentence that are translated; the best translation is kept
    orders: int = 1
    #: what the score of an order counts beside that of its translation
    order_weight: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        super().__post_init__()
        check_range("orders", self.orders, 1, 100)
        check_number("order_weight", self.order_weight)

    @property
    def learning(self) -> dict[str, Any]:
        """The options of the model."""
        return {name: getattr(self, name) for name in lop.Learning.__dataclass_fields__}


class PreorderPart(Part):
    """Puts sentences in the order of their translation."""

    kind = NAME
    is_sealed = True

    @cached_property
    def model(self) -> lop.LopModel:
        """The model, mapped."""
        return lop.LopModel.load(self.path)

    @property
    def choice(self) -> str:
        """How the model chooses an order."""
        return str(self.entry.get("choice", lop.Options.choice))

    @classmethod
    def reads_tags(cls, options: Any) -> bool:  # noqa: ARG003
        """Always."""
        return True

    def load(self) -> None:
        """Map the model, and check what its entry says."""
        check_range("orders", self.entry.get("orders", 1), 1, 100)
        check_number("order_weight", self.entry.get("order_weight", 0.0))
        _ = self.model

    def prepare(self, sources: Sequence[Source]) -> list[Source]:
        """Reorder those sentences that are in the user's order and may be reordered."""
        moved = [number for number, source in enumerate(sources) if _is_free(source)]
        free = [sources[number].sentence for number in moved]
        orders = self.model.orders(free, choice=self.choice)
        prepared = list(sources)
        for number, order in zip(moved, orders, strict=True):
            prepared[number] = sources[number].reordered(order)
        return prepared

    def alternatives(self, source: Source) -> list[tuple[Source, float]]:
        """The best orders of a sentence that this part has reordered, and what they add."""
        most = int(self.entry.get("orders", 1))
        if most == 1 or source.order is None:
            return [(source, 0.0)]
        written = replace(source.reordered(rank_of(source.order)), order=None)
        if tuple(self._order(written)) != source.order:
            return [(source, 0.0)]  # somebody else's order
        best = self.model.nbest(written.sentence, most)
        weight = float(self.entry.get("order_weight", 0.0))
        others = [
            (written.reordered(order), weight * (score - best[0][0]))
            for score, order in best
            if tuple(order) != source.order
        ]
        return [(source, 0.0), *others[: most - 1]]

    def _order(self, source: Source) -> list[int]:
        return self.model.order(source.sentence, choice=self.choice)


def _is_free(source: Source) -> bool:
    """Whether a preorderer may move its words; walls and given translations hold them."""
    is_plain = source.markup is None or source.markup.is_empty
    return source.order is None and is_plain


def preorder_stage(
    text: Stage, links: Stage, tagged: Stage, options: Preorder, model: str
) -> Stage:
    """Learn to reorder, and write the training text reordered; links move with their words."""
    inputs = {"text": text, "links": links, "tagged": tagged}
    chosen = {"model": model, **options.learning}
    if options.posteriors:
        chosen["posteriors"] = True
    return Stage(NAME, make_preordered, chosen, inputs, version=VERSION)


def preorderer_stage(preordered: Stage, options: Preorder) -> Stage:
    """The part of a system that does the same to sentences."""
    chosen = {
        "choice": options.choice,
        "orders": options.orders,
        "order_weight": options.order_weight,
    }
    return Stage("preorderer", make_preorderer, chosen, {"preordered": preordered}, version=1)


def make_preorderer(work: Work) -> dict[str, Any]:
    """The model, and what is done with it."""
    copy_file(work.inputs["preordered"] / NAME, work.out / NAME)
    return {"part": entry(NAME, NAME, file=NAME, **work.options)}


def make_preordered(work: Work) -> dict[str, Any]:
    """Write the model, the reordered text, its links, and the orders."""
    options = dict(work.options)
    posteriors = options.pop("posteriors", False)
    model = learn(work, options, posteriors=posteriors, what=NAME)
    model.save(work.out / NAME)
    text, linked, tagged = (work.inputs[name] for name in ("text", "links", "tagged"))
    lines = zip(open_text(text / "train.src"), open_text(linked / "links"), strict=True)
    with ExitStack() as opened:
        names = ("train.src", "links", "orders")
        files = [opened.enter_context(new_file(work.out / name)) for name in names]
        orders = _orders(work, model, tagged / "train.src", options["choice"])
        for (line, links), order in zip(lines, orders, strict=True):
            moved = (_moved(line.split(), order), _moved_links(links, order))
            for file, words in zip(files, (*moved, " ".join(map(str, order))), strict=True):
                print(words, file=file)
    copy_file(text / "train.tgt", work.out / "train.tgt")
    # Evaluation links the words that the user wrote.
    copy_file(linked / "aligner", work.out / "aligner")
    assert model.summary is not None
    return model.summary.to_dict()


def _orders(work: Work, model: lop.LopModel, path: Path, choice: str) -> Iterator[Sequence[int]]:
    """The orders of all sentences of a tagged text, found block by block."""
    sentences = map(parse_factored, open_text(path))
    done, size = 0, count_lines(path)
    while block := list(islice(sentences, BLOCK)):
        yield from model.orders(block, choice=choice, threads=work.threads)
        done += len(block)
        if work.progress is not None:
            work.progress(done, size)


def _moved(words: Sequence[str], order: Sequence[int]) -> str:
    return " ".join([words[place] for place in order])


def _moved_links(line: str, order: Sequence[int]) -> str:
    """The links of a sentence after its words have moved.

    >>> _moved_links("0-0 1-2 2-1", [0, 2, 1])
    '0-0 2-2 1-1'
    """
    rank = rank_of(order)
    pairs = (link.split("-") for link in line.split())
    return " ".join(f"{rank[int(src)]}-{tgt}" for src, tgt in pairs)


def reordered_stage(tagged: Stage, preordered: Stage) -> Stage:
    """The tagged text in its new order, for models that look at tags."""
    inputs = {"tagged": tagged, "preordered": preordered}
    return Stage("reordered", make_reordered, {}, inputs, version=1)


def make_reordered(work: Work) -> dict[str, Any]:
    """Write it as ``train.src``."""
    with new_file(work.out / "train.src") as file:
        file.writelines(f"{line}\n" for line in _reordered(work.inputs))
    return {}


def _reordered(inputs: Mapping[str, Result]) -> Iterator[str]:
    lines: Iterable[str] = open_text(inputs["tagged"] / "train.src")
    orders = open_text(inputs["preordered"] / "orders")
    for line, order in zip(lines, orders, strict=True):
        source = Source(parse_factored(line)).reordered([int(place) for place in order.split()])
        yield factored(source.sentence)
