"""Pictures of docs/papers/bisazza-federico-2013.md; the module of the paper computes all values."""

from collections.abc import Iterable
from itertools import pairwise
from math import exp

from wayword.corpus import toy
from wayword.papers.bisazza_federico_2013 import (
    TEMPLATE_SETS,
    LogProbs,
    early_reordering_pruning,
    log_probs,
    permutation,
    train,
)
from wayword.papers.phrase_decoder import (
    Hypothesis,
    TranslationOption,
    admissible_options,
    distance,
)
from wayword.picture.chart import svg
from wayword.picture.element import Markup, element

#: The first sentence of Figure 3: transliterated words with their glosses.
ARABIC = (
    ("ywASl", "continues"),
    ("sfyr", "ambassador"),
    ("Almmlkp", "Kingdom"),
    ("AlErbyp", "Arabian"),
    ("AlsEwdyp", "Saudi"),
    ("ldY", "to"),
    ("lbnAn", "Lebanon"),
    ("EbdAlEzyz", "Abdulaziz"),
    ("xwjp", "Khawja"),
    ("tHrk", "move"),
    ("-h", "his"),
    ("fy", "in"),
    ("AtjAh", "direction"),
)
#: The constituents by their first and last words.
PARTS = {"verb": (0, 0), "subject": (1, 8), "object": (9, 10), "complement": (11, 12)}
LAST = 8
REACHES = {
    "reached with DL = 8": 8,
    "reached with DL = 18": 18,
    "non-prunable zone, ϑ = 5": 5,
}
#: The settings of the worked sentence on the page.
TRAINED, CHOSEN, MIN_COUNT = 60, 157, 5
LIMIT, HISTOGRAM, THRESHOLD, ZONE = 18, 2, 0.1, 0
STYLE = """
text{font:15px sans-serif;fill:#222}.small{font-size:13px;fill:#57606a}.part{font-weight:bold}
.back{fill:#fff}.word{fill:#e7ebef;stroke:#8b949e;rx:4px}.verb{fill:#fdba74;stroke:#c2410c;rx:4px}
.jump{fill:none;stroke:#c2410c;stroke-width:2.2}.tip{fill:#c2410c}.length{fill:#c2410c}
.reach{stroke:#57606a;stroke-width:2.5}.cell{fill:none;stroke:#d0d7de}.heat{fill:#2f81f7}
.done{fill:#d0d7de}.step{fill:none;stroke:#c2410c;stroke-width:3}
.pruned{stroke:#57606a;stroke-width:1.2}
@media (prefers-color-scheme:dark){text{fill:#eee}.small{fill:#a8b1bb}.back{fill:#1b1f24}
.word{fill:#343b43;stroke:#8b949e}.verb{fill:#7c3f10;stroke:#ff922b}.jump{stroke:#ff922b}
.tip,.length{fill:#ff922b}.reach{stroke:#a8b1bb}.cell{stroke:#3d444d}.done{fill:#3d444d}
.step{stroke:#ff922b}.pruned{stroke:#a8b1bb}}
"""


def jump_picture() -> str:
    """Draw the two long jumps of the Arabic sentence, and what distortion limits permit."""
    widths = [max(7.6 * len(gloss), 8.6 * len(word)) + 8 for word, gloss in ARABIC]
    edges = [12.0]
    for width in widths:
        edges.append(edges[-1] + width + 4)
    middles = [(left + right) / 2 - 2 for left, right in pairwise(edges)]
    top = 92
    shapes = []
    for k, (word, gloss) in enumerate(ARABIC):
        look = "verb" if k == 0 else "word"
        shapes += [
            element("rect", x=edges[k], y=top, width=widths[k], height=28, class_=look),
            _label(middles[k], top + 19, word),
            _label(middles[k], top + 46, gloss, "small"),
        ]
    for name, (first, last) in PARTS.items():
        middle = (edges[first] + edges[last + 1]) / 2 - 2
        shapes.append(_label(middle, top + 70, name, "part"))
    back, forward = (LAST, 0), (0, LAST + 1)
    shapes += [
        *_arc(middles[back[0]], middles[back[1]], top - 4, 66, f"back, D = {distance(*back)}"),
        *_arc(
            middles[0] + 12, middles[LAST + 1], top - 4, 30, f"forward, D = {distance(*forward)}"
        ),
    ]
    y = top + 100
    for name, limit in REACHES.items():
        within = [k for k in range(len(ARABIC)) if distance(LAST, k) <= limit]
        ends = (edges[within[0]], edges[within[-1] + 1] - 4)
        shapes.append(element("line", x1=ends[0], x2=ends[1], y1=y, y2=y, class_="reach"))
        for x in ends:
            shapes.append(element("line", x1=x, x2=x, y1=y - 5, y2=y + 5, class_="reach"))
        shapes.append(_label((ends[0] + ends[1]) / 2, y + 18, f"{name}, after Khawja", "small"))
        y += 40
    title = (
        "Arabic sentence with the verb first: translating the verb after the subject takes a jump "
        "back with D = 9 and a jump forward with D = 8. A distortion limit of 8 excludes the first"
    )
    return _picture(edges[-1] + 8, y - 8, title, shapes)


def _arc(start: float, end: float, y: float, height: float, text: str) -> Iterable[Markup]:
    """Draw a jump as an arc with an arrowhead and a text on top."""
    peak = y - height
    yield element(
        "path",
        d=f"M{start:g} {y:g} C{start:g} {peak:g} {end:g} {peak:g} {end:g} {y:g}",
        class_="jump",
    )
    yield element(
        "path", d=f"M{end - 5:g} {y - 9:g} L{end:g} {y:g} L{end + 5:g} {y - 9:g} Z", class_="tip"
    )
    yield _label((start + end) / 2, y - 0.75 * height - 6, text, "length")


def matrix_picture() -> str:
    """Draw P of the next word along the order of a toy sentence, with the jumps pruned early."""
    items = [item for item in toy.generate("de-en", 400, seed=1) if len(item.src) <= 12]
    corpus = [({"w": item.src, "p": item.pos}, item.links) for item in items]
    templates = TEMPLATE_SETS["P"]
    sentence, links = corpus[CHOSEN]
    words = [str(word) for word in sentence["w"]]
    table = log_probs(sentence, train(corpus[:TRAINED], templates, min_count=MIN_COUNT), templates)
    sigma = permutation(range(len(words)), links)
    left, top, width, height = 92, 56, 66, 30
    shapes = [_label(left + width * (k + 0.5), top - 8, word) for k, word in enumerate(words)]
    shapes += [
        element("text", "last word", x=8, y=20, class_="small"),
        _label(left + width * len(words) / 2, 20, "next word", "small"),
    ]
    for t, kept in enumerate(_expansions(table, sigma)):
        y = top + height * t
        last = sigma[t - 1] if t else -1
        name = words[last] if t else "start"
        shapes.append(element("text", name, x=left - 8, y=y + 20, text_anchor="end"))
        for k in range(len(words)):
            x = left + width * k
            box = {"x": x, "y": y, "width": width, "height": height}
            if k in sigma[:t]:
                shapes.append(element("rect", **box, class_="done", opacity=0.5))
                continue
            value = exp(table[last, k])
            shapes.append(element("rect", **box, class_="heat", opacity=round(0.75 * value, 1)))
            shapes.append(_label(x + width / 2, y + 20, f"{value:.2f}"))
            if k not in kept:
                ends = {"x1": x + 10, "x2": x + width - 10, "y1": y + height / 2}
                shapes.append(element("line", **ends, y2=y + height / 2, class_="pruned"))
        shapes += [
            element("rect", x=left + width * k, y=y, width=width, height=height, class_="cell")
            for k in range(len(words))
        ]
    for t, j in enumerate(sigma):
        box = {"x": left + width * j + 2, "y": top + height * t + 2}
        shapes.append(element("rect", **box, width=width - 4, height=height - 4, class_="step"))
    title = (
        "Probability of each next word, one row per step of translating Am Freitag hat dieses Kind "
        "jenen Lehrer hier gesucht. The correct word is never pruned, and one to three words remain"
    )
    bottom = top + height * len(words) + 12
    return _picture(left + width * len(words) + 12, bottom, title, shapes)


def _expansions(table: LogProbs, sigma: list[int]) -> Iterable[set[int]]:
    """Return the words that early reordering pruning keeps at each step along ``sigma``."""
    prune = early_reordering_pruning(table, HISTOGRAM, THRESHOLD, ZONE)
    options = [TranslationOption(k, k, ()) for k in range(len(sigma))]
    hyp = Hypothesis()
    for j in sigma:
        yield {option.start for option in prune(hyp, admissible_options(hyp, options, LIMIT))}
        hyp = Hypothesis(hyp.coverage | {j}, options[j], hyp)


def _label(x: float, y: float, text: str, look: str | None = None) -> Markup:
    return element("text", text, x=x, y=y, text_anchor="middle", class_=look)


def _picture(width: float, height: float, title: str, shapes: Iterable[Markup]) -> str:
    back = element("rect", x=0, y=0, width=width, height=height, class_="back")
    return svg(width, height, title, element("style", Markup(STYLE)), back, *shapes)


def pictures() -> dict[str, str]:
    """Return every picture by the name of its file."""
    return {
        "paper-bisazza-federico-2013-jumps.svg": jump_picture(),
        "paper-bisazza-federico-2013-matrix.svg": matrix_picture(),
    }
