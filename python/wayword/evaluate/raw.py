"""Scores for anybody's output: raw text in, one call, tokenised the same way on all sides.

In: raw source, references and outputs; how to split both languages into words; an aligner, or a
bitext to learn one from. Out: a ``Comparison`` with metrics of text and of word order, and the gold
standard and outputs as words, for a drill-down.
How: metrics of text see the raw lines and split them with sacrebleu's own tokeniser, so that BLEU
is the number that sacrebleu prints. Metrics of word order see words that one ``Preparation`` made
on all sides, linked by one aligner.
Cost: that of aligning; learning an aligner from 100,000 pairs takes a minute or two.

>>> is_tokenised(["Das ist gut .", "Ja !"]), is_tokenised(["Das ist gut.", "Ja!"])
(True, False)
>>> is_tokenised(["no sign at the end"]) is None
True
>>> tokeniser_for({"out.en": ["It is good."], "ref.en": ["It is good ."]}, "en")
('13a', 'out.en is raw and ref.en is tokenised: compared after tokenising all by `13a`')
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wayword.align import Aligner, fit
from wayword.corpus import Bitext
from wayword.corpus.annotate import Annotator
from wayword.corpus.files import FilePath, open_text
from wayword.corpus.text import Preparation
from wayword.errors import ArgumentError
from wayword.evaluate.compare import METRICS, Comparison, compare, default_metrics
from wayword.evaluate.gold import Gold, Links, Output, check_count
from wayword.evaluate.metric import Options
from wayword.evaluate.read import VERBS, tag_weights

__all__ = ["Judged", "Sides", "compare_raw", "is_tokenised", "learn_aligner", "tokeniser_for"]

#: sacrebleu's tokenisers by target language; all others have the international default.
TOKENISERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}
DEFAULT = "13a"
#: A text is tokenised when this share of the signs at the ends of its lines stand apart.
APART = 0.5


def is_tokenised(lines: Sequence[str]) -> bool | None:
    """Whether punctuation stands apart from words; None when there is none to tell it by."""
    apart = signs = 0
    for line in lines:
        text = line.rstrip()
        if len(text) > 1 and unicodedata.category(text[-1]).startswith("P"):
            signs += 1
            apart += text[-2].isspace()
    return apart > APART * signs if signs else None


def tokeniser_for(texts: Mapping[str, Sequence[str]], lang: str = "") -> tuple[str, str]:
    """The tokeniser that makes these texts comparable, and a word about why; ``none`` for none.

    Texts go by their names. Text that is tokenised on all sides stays as it is.
    """
    kinds = {name: is_tokenised(lines) for name, lines in texts.items()}
    raw = [name for name, kind in kinds.items() if kind is False]
    apart = [name for name, kind in kinds.items() if kind]
    if not raw:
        return "none", ""
    name = TOKENISERS.get(lang.partition("-")[0], DEFAULT)
    if not apart:
        return name, f"text is raw: it is tokenised by `{name}`"
    shown = f"{_are(raw)} raw and {_are(apart)} tokenised"
    return name, f"{shown}: compared after tokenising all by `{name}`"


def _are(names: Sequence[str]) -> str:
    return f"{', '.join(names)} {'are' if len(names) > 1 else 'is'}"


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

    ``options.tokenize`` is for metrics of text; ``none`` there means that it is chosen. For other
    options see ``compare``.
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
    names = list(metrics or default_metrics(gold))
    for name in names:
        if name.lower() not in METRICS:
            raise ArgumentError(f"metrics: found `{name}`; expected some of {', '.join(METRICS)}")
    of_text = [name for name in names if not METRICS[name.lower()].needs]
    of_order = [name for name in names if METRICS[name.lower()].needs]
    options, note = _chosen(options or Options(), refs, hyps, sides.tgt.lang)
    results = []
    if of_text:
        raw = [Output(name, list(lines)) for name, lines in hyps.items()]
        # The words of the source are what sentences of a length are told by.
        text = Gold(refs=refs, src=gold.src)
        results.append(compare(text, raw, of_text, options=options, **room))
    if of_order:
        plain = replace(options, tokenize="none")
        results.append(compare(gold, outputs, of_order, options=plain, **room))
    return Judged(_joined(results, note), gold, tuple(outputs))


def _chosen(
    options: Options,
    refs: Sequence[Sequence[str]],
    hyps: Mapping[str, Sequence[str]],
    lang: str,
) -> tuple[Options, str]:
    if options.tokenize != "none":
        return options, ""
    texts = {f"reference {number + 1}": ref for number, ref in enumerate(refs)}
    name, note = tokeniser_for({**hyps, **texts}, lang)
    return replace(options, tokenize=name), note


def _as_words(
    src: Sequence[str],
    refs: Sequence[Sequence[str]],
    hyps: Mapping[str, Sequence[str]],
    sides: Sides,
    aligner: Aligner,
) -> tuple[Gold, list[Output]]:
    """The same text as words, with links."""
    source = _words(sides.src, src)

    def linked(lines: Sequence[str]) -> list[Links]:
        links = aligner.align(Bitext.from_pairs(zip(source, lines, strict=True)))
        return [[(i, j) for i, j in of_pair.tolist()] for of_pair in links]

    targets = [_words(sides.tgt, ref) for ref in refs]
    gold = Gold(refs=targets, src=source, ref_links=[linked(ref) for ref in targets])
    outputs = []
    for name, lines in hyps.items():
        prepared = _words(sides.tgt, lines)
        outputs.append(Output(name, prepared, linked(prepared)))
    return gold, outputs


def _joined(results: Sequence[Comparison], note: str) -> Comparison:
    """Comparisons of the same systems by different metrics as one."""
    first = results[0]
    bins = []
    for same in zip(*(result.bins for result in results), strict=True):
        scores = {
            system: {name: value for part in same for name, value in part.scores[system].items()}
            for system in first.systems
        }
        bins.append(replace(same[0], scores=scores))
    notes = [text for result in results for text in result.notes]
    return replace(
        first,
        metrics=tuple(metric for result in results for metric in result.metrics),
        scores=tuple(score for result in results for score in result.scores),
        bins=tuple(bins),
        signatures={name: text for result in results for name, text in result.signatures.items()},
        notes=tuple(dict.fromkeys([*notes, *([note] if note else [])])),
    )
