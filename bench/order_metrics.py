"""Calibration of the metrics of word order: outputs whose true order is known, links that are not.

In: links made by people for four language pairs. Six outputs are made of each reference, so that
nobody can dispute which is better: its own words in the right order, with one jump undone, in the
order of the source, with verbs at the end, shuffled a little, and shuffled. Links of outputs and
references are thinned at random, each side by itself, or made by our aligner for both, or for the
reference alone, as when an output's links are its decoder's. In one setting half of the words of
all outputs are other words, for metrics that compare text.
Out: for each pair, kind of links and metric its value for every output, and how often it ranks two
outputs rightly when sentences are drawn with replacement; then, by metric, all of that together.
"""

import lzma
import random
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import SHARED
from wayword import Bitext, align
from wayword.corpus import annotate
from wayword.evaluate import Gold, Output, make_metric

#: Pair → the treebank of its source language, which tells verbs.
PAIRS = {
    "de-en": "German-mixed",
    "ja-en": "Japanese-GSD",
    "zh-en": "Chinese-GSD-simplified",
    "hi-en": "Hindi-HDTB",
}
METRICS = (
    *("krs-linked", "krs-v-linked", "reversals", "reversals-v"),
    *("krs", "krs-v", "ribes"),
)
THINNED = (0, 10, 30, 50)
SENTENCES, TRAINED, DRAWS = 400, 20_000, 1000
OTHER = 0.5  # words of an output that the reference does not have
VERBS = ("VERB", "AUX")
#: The first of each is better, beyond dispute.
BETTER = (
    ("right", "mono"),
    ("right", "jump"),
    ("jump", "mono"),
    ("right", "verbs"),
    ("right", "local"),
    ("mono", "shuffled"),
    ("verbs", "shuffled"),
    ("local", "shuffled"),
)
#: Verbs at the end are as wrong as can be, so metrics of verbs are not asked for this one.
NOT_OF_VERBS = ("verbs", "shuffled")

Links = list[tuple[int, int]]
#: Places of the reference's words, in the order of the output.
Order = list[int]


def rows() -> list[dict[str, Any]]:
    """All rows of all pairs, after those of the summary."""
    measured = [row for pair in PAIRS for row in _pair_rows(pair)]
    return [*_summary(measured), *measured]


def _pair_rows(pair: str) -> list[dict[str, Any]]:
    text = Text.read(pair)
    measured = []
    for percent in THINNED:
        thin = partial(thinned, random.Random(percent), percent / 100)
        links = {name: thin(text.links_of(orders)) for name, orders in text.orders.items()}
        measured += _rows(pair, f"{percent} % dropped", text, links, thin(text.links))
    known = {name: text.links_of(orders) for name, orders in text.orders.items()}
    measured += _rows(pair, f"all, {OTHER:.0%} other words", text, known, text.links, other=OTHER)
    aligner = align.fit(text.bitext, threads=2)
    made = {
        name: links_by(aligner, text.src, text.lines_of(of)) for name, of in text.orders.items()
    }
    ref_links = links_by(aligner, text.src, text.refs)
    measured += _rows(pair, "aligner's", text, made, ref_links)
    measured += _rows(pair, "output people's, reference aligner's", text, known, ref_links)
    return measured


def _rows(
    pair: str,
    kind: str,
    text: "Text",
    links: dict[str, list[Links]],
    ref_links: list[Links],
    *,
    other: float = 0.0,
) -> list[dict[str, Any]]:
    gold = Gold(refs=[text.refs], src=text.src, ref_links=[ref_links], weights=text.weights)
    outputs = [
        Output(name, text.lines_of(orders, other), links[name])
        for name, orders in text.orders.items()
    ]
    count = len(text.src)
    drawn = np.random.default_rng(1).multinomial(count, [1 / count] * count, size=DRAWS)
    measured = []
    for name in METRICS:
        metric = make_metric(name, gold)
        statistics = {output.name: metric.statistics(output) for output in outputs}
        values = {
            output: float(metric.score(matrix.sum(axis=0))) for output, matrix in statistics.items()
        }
        scores = {
            output: np.nan_to_num(metric.score(drawn @ matrix))
            for output, matrix in statistics.items()
        }
        asked = [two for two in BETTER if "weights" not in metric.needs or two != NOT_OF_VERBS]
        right = {(a, b): scores[a] > scores[b] for a, b in asked}
        judged = metric.details(statistics["right"].sum(axis=0))["judged"]
        measured.append(
            {
                "pair": pair,
                "links": kind,
                "metric": metric.name,
                "judged": round(judged, 1),
                **{output: round(value, 1) for output, value in values.items()},
                **{f"{a} > {b}": round(float(ok.mean()), 3) for (a, b), ok in right.items()},
                "all": round(float(np.all(list(right.values()), axis=0).mean()), 3),
                "is right": all(values[a] > values[b] for a, b in asked),
            }
        )
    return measured


def _summary(measured: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """By metric: how often two outputs, and all, are ranked rightly; in how many settings."""
    summary = []
    for name in dict.fromkeys(row["metric"] for row in measured):
        of_metric = [row for row in measured if row["metric"] == name]
        shares = [*(f"{a} > {b}" for a, b in BETTER), "all"]
        means = {
            share: round(float(np.mean([row[share] for row in of_metric])), 3)
            for share in shares
            if share in of_metric[0]
        }
        settings = f"{sum(row['is right'] for row in of_metric)} of {len(of_metric)}"
        summary.append(
            {"pair": "all", "links": "all", "metric": name, **means, "is right": settings}
        )
    return summary


# --- text ----------------------------------------------------------------------------------------


class Text:
    """The sentences of a pair with links by people, and what is made of them."""

    def __init__(self, bitext: Bitext, links: list[Links], treebank: Path) -> None:
        self.bitext, self.links = bitext, links
        self.src = [" ".join(bitext[number][0]) for number in range(len(links))]
        self.refs = [" ".join(bitext[number][1]) for number in range(len(links))]
        tagger = annotate.Tagger.fit(annotate.read_treebank(treebank), threads=2)
        tagged = tagger.annotate([line.split() for line in self.src])
        self.weights = [[float(tag in VERBS) for tag in sentence.pos or ()] for sentence in tagged]
        draw = random.Random(1)
        makers: dict[str, Callable[[Sentence], Order]] = {
            "right": lambda sentence: list(range(sentence.length)),
            "jump": one_jump_undone,
            "mono": monotone,
            "verbs": verbs_last,
            "local": partial(shuffled, draw, 3.0),
            "shuffled": partial(shuffled, draw, 1e9),
        }
        sentences = [
            Sentence(len(ref.split()), of_pair, weights)
            for ref, of_pair, weights in zip(self.refs, links, self.weights, strict=True)
        ]
        self.orders = {name: list(map(make, sentences)) for name, make in makers.items()}

    @classmethod
    def read(cls, pair: str) -> "Text":
        """The first sentences, whose links are known, and more to learn an aligner from."""
        folder = SHARED / "data" / "align" / pair
        sides = [_lines(folder / f"bitext.{language}.xz", TRAINED) for language in pair.split("-")]
        gold = align.read_gold(folder / "gold.txt")[:SENTENCES]
        links = [sorted(of_pair.sure) for of_pair in gold]
        treebank = SHARED / "data" / "ud" / PAIRS[pair] / "train.conllu.xz"
        return cls(Bitext.from_pairs(zip(*sides, strict=True)), links, treebank)

    def lines_of(self, orders: Sequence[Order], other: float = 0.0) -> list[str]:
        """The words of the references in other orders; some share of them are other words."""
        draw = random.Random(1)
        split = [
            [f"{word}~" if draw.random() < other else word for word in ref.split()]
            for ref in self.refs
        ]
        return [
            " ".join(words[at] for at in order) for words, order in zip(split, orders, strict=True)
        ]

    def links_of(self, orders: Sequence[Order]) -> list[Links]:
        """The links to the words of the references in other orders."""
        moved = []
        for links, order in zip(self.links, orders, strict=True):
            place = {word: at for at, word in enumerate(order)}
            moved.append([(i, place[j]) for i, j in links])
        return moved


def _lines(path: Path, count: int) -> list[str]:
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return [line.rstrip("\n") for line in islice(file, count)]


def links_by(aligner: align.Aligner, src: list[str], tgt: list[str]) -> list[Links]:
    """An aligner's links of two texts."""
    links = aligner.align(Bitext.from_pairs(zip(src, tgt, strict=True)), threads=2)
    return [[(i, j) for i, j in of_pair.tolist()] for of_pair in links]


def thinned(draw: random.Random, share: float, links: list[Links]) -> list[Links]:
    """Without this share of the links."""
    return [[link for link in of_pair if draw.random() >= share] for of_pair in links]


# --- orders --------------------------------------------------------------------------------------


class Sentence:
    """How many words a reference has, and which source word each of them belongs to."""

    def __init__(self, length: int, links: Links, weights: list[float]) -> None:
        self.length = length
        self.verbs = {j for i, j in links if weights[i]}
        first = [min((i for i, j in links if j == at), default=None) for at in range(length)]
        #: the first source word of each word; without links, that of the word before
        self.src: list[int] = []
        for place in first:
            before = self.src[-1] if self.src else -1
            self.src.append(before if place is None else place)


def monotone(sentence: Sentence) -> Order:
    """The words as the source has them."""
    return sorted(range(sentence.length), key=sentence.src.__getitem__)


def one_jump_undone(sentence: Sentence) -> Order:
    """The word that is farthest from its place in the source's order goes there."""
    order = list(range(sentence.length))
    mono = monotone(sentence)
    if not order:
        return order
    word = max(order, key=lambda word: abs(mono.index(word) - word))
    order.remove(word)

    def crossings(gap: int) -> int:
        before = sum(sentence.src[other] > sentence.src[word] for other in order[:gap])
        return before + sum(sentence.src[other] < sentence.src[word] for other in order[gap:])

    gap = min(range(sentence.length), key=lambda gap: (crossings(gap), abs(gap - word)))
    order.insert(gap, word)
    return order


def verbs_last(sentence: Sentence) -> Order:
    """The words that translate verbs go to the end."""
    return sorted(range(sentence.length), key=sentence.verbs.__contains__)


def shuffled(draw: random.Random, reach: float, sentence: Sentence) -> Order:
    """Words change places with others that are less than ``reach`` away."""
    places = [at + draw.uniform(0, reach) for at in range(sentence.length)]
    return sorted(range(sentence.length), key=places.__getitem__)
