"""A page that shows systems side by side: scores, then sentences, those ordered most unlike first.

In: a ``Judged`` comparison. Out: one HTML file that needs nothing else: no network, no other file.
How: the table of scores is written here. The sentences stand in the page as JSON, with what
``evaluate.differ`` counted, in the order in which the first two systems differ most (a system alone
is compared with the reference); ``side_by_side.js`` sorts, filters and draws them, and puts text on
the page only as text. A policy in the page forbids every script and every address but its own.
With several references a sentence shows the one that all systems together come closest to.
Cost: O(n²) a sentence and pair of systems; 2.7 MB for 2,000 sentences of 22 words, three systems.
Not: words of other references, nor links that were not given; the page says what is missing.

>>> from wayword.evaluate import Gold, Output, compare
>>> gold = Gold(refs=[["the cat"]])
>>> outputs = (Output("base", ["cat the"]),)
>>> page = draw(Judged(compare(gold, outputs, ["bleu"], resamples=10), gold, outputs))
>>> page.startswith("<!doctype html>"), "links are missing" in page
(True, True)
"""

import hashlib
import json
import math
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from itertools import combinations
from typing import Any

from wayword.corpus.files import new_file
from wayword.evaluate import METRICS, Comparison, Gold, Output, Score
from wayword.evaluate.differ import DISTANCES, Difference, closest, difference, places, wrong_pairs
from wayword.evaluate.gold import Links, Ranks
from wayword.evaluate.raw import Judged
from wayword.types import FilePath

__all__ = ["draw", "sentences", "write"]

#: How words are marked, by the names of classes in the style sheet.
LEGEND = (
    ("all", "stands as in the reference to all other words"),
    ("most", "to at least three in four"),
    ("half", "to at least half of them"),
    ("few", "to fewer"),
    ("none", "not linked on both sides, so not judged"),
)
#: How to have links.
ADVICE = (
    "Give <code>--src</code> and <code>--aligner</code>, or <code>--links</code> and"
    " <code>--ref-links</code>; or raw text with <code>--langs</code> and <code>--align-on</code>."
)


def draw(judged: Judged) -> str:
    """The page."""
    css, js = (
        files("wayword.report").joinpath(f"side_by_side.{kind}").read_text(encoding="utf-8")
        for kind in ("css", "js")
    )
    rule = f"default-src 'none'; style-src '{_digest(css)}'; script-src '{_digest(js)}'"
    title = escape(" · ".join(judged.result.systems))
    body = "\n".join(
        [
            f"<header><h1>{title}</h1>",
            f"<p>{judged.result.sentences} sentences, side by side</p></header>",
            "<main>",
            _scores(judged.result),
            _missing(judged),
            _legend(judged),
            "<noscript><p>The sentences are shown by the script of this page.</p></noscript>",
            '<section id="texts" aria-label="sentences"></section>',
            "</main>",
            f'<script type="application/json" id="data">{_json(_data(judged))}</script>',
            f"<script>{js}</script>",
        ]
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{rule}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n<style>{css}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def write(judged: Judged, path: FilePath) -> None:
    """Write the page to a file."""
    with new_file(path) as file:
        file.write(draw(judged))


def _digest(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _json(value: Any) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


# --- scores --------------------------------------------------------------------------------------


def _scores(result: Comparison) -> str:
    metrics = [METRICS[name] for name in result.metrics]
    head = "".join(
        f'<th scope="col" title="{escape(metric.meaning)}">{escape(metric.name)}'
        f"{'' if metric.higher_is_better else ' ↓'}</th>"
        for metric in metrics
    )
    rows = [f'<thead><tr><th scope="col">system</th>{head}</tr></thead>', "<tbody>"]
    for system in result.systems:
        cells = "".join(_cell(result.score(system, metric)) for metric in result.metrics)
        rows.append(f'<tr><th scope="row">{escape(system)}</th>{cells}</tr>')
    legend = []
    if len(result.systems) > 1:
        legend.append(f"▲▼ better, worse than {result.systems[0]} at p ≤ .05; △▽ at p ≤ .10")
    if not all(metric.higher_is_better for metric in metrics):
        legend.append("↓ lower is better")
    notes = [f"<p>{escape(note)}</p>" for note in ("; ".join(legend), *result.notes) if note]
    recipe = "\n".join([*result.signatures.values(), result.recipe])
    return "\n".join(
        [
            '<section aria-labelledby="scores"><h2 id="scores">Scores</h2>',
            '<div class="wide" tabindex="0" role="region" aria-labelledby="scores"><table>',
            *rows,
            "</tbody></table></div>",
            *notes,
            f"<details><summary>how they were computed</summary><pre>{escape(recipe)}</pre>",
            "</details></section>",
        ]
    )


def _cell(score: Score) -> str:
    if not math.isfinite(score.value):
        return "<td>n/a</td>"
    half = (score.high - score.low) / 2
    chance = "" if score.p_value is None else f", p = {score.p_value:.4f}"
    title = f"95 % between {score.low:.2f} and {score.high:.2f}{chance}"
    mark = f'<span class="mark">{score.mark}</span>'
    return f'<td title="{title}">{score.value:.2f} <small>±{half:.2f}</small> {mark}</td>'


# --- what the page says about its text -----------------------------------------------------------


def _missing(judged: Judged) -> str:
    """What could not be shown, and how to have it."""
    gold = judged.gold
    without = [] if gold.ref_links is not None else ["the reference"]
    without += [output.name for output in judged.outputs if output.links is None]
    if gold.src is None:
        text = "The source and its links are missing, so word order is not shown."
    elif without:
        text = f"The links are missing between source and {', '.join(without)}: no order is shown."
    else:
        return ""
    return f'<p class="note" role="note">{escape(text)} {ADVICE}</p>'


def _legend(judged: Judged) -> str:
    if not _linked(judged):
        return ""
    items = "".join(f'<li><span class="w {name}">word</span> {text}</li>' for name, text in LEGEND)
    if judged.gold.weights is not None:
        items += '<li><span class="verb">word</span> a verb, or other word that has a weight</li>'
    return (
        '<section aria-labelledby="legend"><h2 id="legend">Words of the outputs</h2>'
        f'<ul class="legend">{items}</ul></section>'
    )


# --- the sentences -------------------------------------------------------------------------------


def _linked(judged: Judged) -> list[int]:
    """The systems whose order is known; none if that of the reference is not."""
    if judged.gold.ref_links is None:
        return []
    return [at for at, output in enumerate(judged.outputs) if output.links is not None]


def _couples(judged: Judged) -> list[tuple[int, int]]:
    """All that can be compared, the default first; the reference counts as one system more."""
    linked = _linked(judged)
    return list(combinations([*linked, len(judged.outputs)], 2)) if linked else []


def _data(judged: Judged) -> dict[str, Any]:
    """Everything that the script needs."""
    return {
        "systems": list(judged.result.systems),
        "couples": _couples(judged),
        "distances": DISTANCES,
        "refs": len(judged.gold.refs),
        "weights": judged.gold.weights is not None,
        "sentences": sentences(judged),
    }


def sentences(judged: Judged) -> list[dict[str, Any]]:
    """The sentences as the page holds them, those first in which the first two differ most.

    ``line`` from 1; ``src``, ``ref`` and ``hyps`` are text, ``verbs`` positions of weighted words.
    ``links`` are flat, of the outputs and last of the reference; ``wrong`` are the counts of
    ``wrong_pairs``; ``couples`` the fields of a ``Difference`` for each couple of the page. Equal
    differences are told apart by the number of pairs ordered in two ways, then by line.
    """
    every = [_sentence(judged, line) for line in range(len(judged.gold))]
    if _couples(judged):
        every.sort(key=_unlikeness)
    return every


def _unlikeness(sentence: dict[str, Any]) -> tuple[int, int]:
    first, second, _, apart, *_ = sentence["couples"][0]
    return -abs(first - second), -apart


def _sentence(judged: Judged, line: int) -> dict[str, Any]:
    gold, outputs = judged.gold, judged.outputs
    at, wheres = _places(judged, line)
    sentence: dict[str, Any] = {
        "line": line + 1,
        "ref": _spaced(gold.refs[at][line]),
        "which": at + 1,
        "hyps": [_spaced(output.lines[line]) for output in outputs],
    }
    if gold.src is not None:
        sentence["src"] = _spaced(gold.src[line])
    if gold.weights is not None:
        sentence["verbs"] = [place for place, weight in enumerate(gold.weights[line]) if weight]
    if wheres:
        weights = gold.weights[line] if gold.weights is not None else None
        sentence["links"] = [_flat(links) for links in _links(gold, outputs, line, at)]
        ref = wheres[len(outputs)]
        sentence["wrong"] = [
            wrong_pairs(ref, wheres[system]).tolist() if system in wheres else None
            for system in range(len(outputs))
        ]
        sentence["couples"] = [
            _fields(difference(ref, wheres[first], wheres[second], weights))
            for first, second in _couples(judged)
        ]
    return sentence


def _places(judged: Judged, line: int) -> tuple[int, dict[int, Ranks]]:
    """The reference that is shown, and where each system has each source word; the reference last.

    Without links there are no places.
    """
    gold, linked = judged.gold, _linked(judged)
    if not linked or gold.ref_links is None:
        return 0, {}
    length = gold.src_lengths[line]
    wheres = {at: places(length, (judged.outputs[at].links or ())[line]) for at in linked}
    refs = [places(length, links[line]) for links in gold.ref_links]
    chosen = closest(refs, list(wheres.values())) if len(refs) > 1 else 0
    return chosen, {**wheres, len(judged.outputs): refs[chosen]}


def _links(gold: Gold, outputs: Sequence[Output], line: int, ref: int) -> list[Links]:
    of_ref = gold.ref_links[ref][line] if gold.ref_links is not None else ()
    return [*(output.links[line] if output.links else () for output in outputs), of_ref]


def _flat(links: Iterable[tuple[int, int]]) -> list[int]:
    return [int(place) for link in sorted(links) for place in link]


def _fields(value: Difference) -> list[int]:
    return [value.first, value.second, value.pairs, value.apart, value.distances, value.weighted]


def _spaced(line: str) -> str:
    """Words with one space between, so that the script splits them as we do."""
    return " ".join(line.split())
