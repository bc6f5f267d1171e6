"""Score outputs of any system from raw text, split into words the same way on all sides.

In: raw source, references and outputs; how to split both languages into words; an aligner, or a
bitext to learn one from. Out: a ``Comparison`` with metrics of text and of word order, and the gold
standard and outputs as words, for a drill-down.
How: metrics of text compare the raw lines, split by sacrebleu's own tokenizers, so that their
scores are those of sacrebleu. Metrics of word order compare words that one ``Preparation`` made on
all sides, linked by one aligner.
Cost: that of aligning; learning an aligner from 100,000 pairs takes a minute or two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wayword.align import Aligner, fit
from wayword.corpus import Bitext
from wayword.corpus.annotate import Annotator
from wayword.corpus.files import open_text
from wayword.corpus.text import Preparation
from wayword.evaluate.compare import Comparison, compare
from wayword.evaluate.gold import Gold, Links, Output, check_count
from wayword.evaluate.metric import AUTO, Options
from wayword.evaluate.read import VERBS, tag_weights
from wayword.types import FilePath

__all__ = ["Judged", "Sides", "compare_raw", "learn_aligner"]


@dataclass(frozen=True)
class Sides:
    """How raw text becomes words on both sides."""

    src: Preparation
    tgt: Preparation

    @classmethod
    def of(cls, src: str, tgt: str, *, case: str = "lower") -> "Sides":
        """The usual way for two languages; case helps no aligner."""
        return cls(Preparation(src, case=case), Preparation(tgt, case=case))


@dataclass(frozen=True)
class Judged:
    """Scores, and what they were computed from: words, links and weights."""

    result: Comparison
    gold: Gold
    outputs: tuple[Output, ...]


def learn_aligner(
    files: Sequence[FilePath], sides: Sides, *, more: Sequence[tuple[str, str]] = (), **room: Any
) -> Aligner:
    """An aligner of a raw bitext; ``more`` prepared pairs are learned from too."""
    src, tgt = (list(open_text(path)) for path in files)
    check_count(f"{files[0]}", len(src), len(tgt), f"{files[1]}")
    pairs = zip(_words(sides.src, src), _words(sides.tgt, tgt), strict=True)
    return fit(Bitext.from_pairs([*pairs, *more]), **room)


def _words(preparation: Preparation, lines: Sequence[str]) -> list[str]:
    return [" ".join(tokens) for tokens in preparation.prepare_all(lines)]


def compare_raw(
    src: Sequence[str],
    refs: Sequence[Sequence[str]],
    hyps: Mapping[str, Sequence[str]],
    *,
    sides: Sides,
    aligner: Aligner,
    annotator: Annotator | None = None,
    verbs: Sequence[str] = VERBS,
    metrics: Sequence[str] | None = None,
    options: Options | None = None,
    **room: Any,
) -> Judged:
    """Score raw outputs against raw references; the first output is the baseline.

    ``options.tokenize`` is for metrics of text; without options it is ``auto``. For other options
    see ``compare``.
    """
    for number, ref in enumerate(refs):
        check_count(f"reference {number + 1}", len(ref), len(src), "the source")
    for name, lines in hyps.items():
        check_count(name, len(lines), len(src), "the source")
    gold, outputs = _as_words(src, refs, hyps, sides, aligner)
    if annotator is not None:
        tagged = list(annotator.annotate(line.split() for line in gold.src or ()))
        weights = tag_weights([sentence.pos or () for sentence in tagged], verbs, "the source")
        gold = replace(gold, weights=weights)
    options = options or Options(tokenize=AUTO)
    result = compare(gold, outputs, metrics, options=options, **room)
    return Judged(result, gold, tuple(outputs))


def _as_words(
    src: Sequence[str],
    refs: Sequence[Sequence[str]],
    hyps: Mapping[str, Sequence[str]],
    sides: Sides,
    aligner: Aligner,
) -> tuple[Gold, list[Output]]:
    """Return the same text as words, with links, and beside them the raw text."""
    source = _words(sides.src, src)

    def linked(lines: Sequence[str]) -> list[Links]:
        links = aligner.align(Bitext.from_pairs(zip(source, lines, strict=True)))
        return [[(i, j) for i, j in of_pair.tolist()] for of_pair in links]

    targets = [_words(sides.tgt, ref) for ref in refs]
    links = [linked(ref) for ref in targets]
    gold = Gold(refs=targets, src=source, ref_links=links, texts=refs)
    outputs = []
    for name, lines in hyps.items():
        prepared = _words(sides.tgt, lines)
        outputs.append(Output(name, prepared, linked(prepared), text=list(lines)))
    return gold, outputs
