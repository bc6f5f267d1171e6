"""An experiment as a page: tables with marks, quality against time, sentences behind the numbers.

In: a ``Result`` and the sentences on which variants differ. Out: one HTML file, or the table and
its plots for a notebook.
How: every score is a link that sorts the sentences by what its variant gains on the baseline.
Cost: some 150 bytes a sentence and variant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wayword.evaluate import METRICS
from wayword.picture import chart
from wayword.picture.element import Markup, element, joined
from wayword.picture.page import anchor, figure, fragment, listed, note, page, section, table
from wayword.report.experiment import TUNED, Result, Row, averaged_runs, verdicts

__all__ = ["Texts", "fragment_of", "page_of"]


@dataclass(frozen=True)
class Texts:
    """Test sentences of a corpus, and what each variant made of them."""

    corpus: str
    #: sentences of the whole test set
    total: int
    lines: tuple[int, ...]
    src: tuple[str, ...]
    ref: tuple[str, ...]
    #: by variant
    outputs: Mapping[str, tuple[str, ...]]
    #: chrF of each sentence
    scores: Mapping[str, tuple[float, ...]]


def page_of(result: Result, texts: Sequence[Texts] = ()) -> str:
    """The whole page."""
    known = {of_corpus.corpus: of_corpus for of_corpus in texts}
    corpora = list(dict.fromkeys(row.corpus for row in result.rows))
    parts = []
    for corpus in corpora:
        rows = [row for row in result.rows if row.corpus == corpus]
        parts.append(section(_title("Scores", corpus, corpora), *_scores(result, rows, known)))
        parts.append(section(_title("Quality and time", corpus, corpora), _plots(result, rows)))
    told = verdicts(result)
    if told:
        head, *lines = told.split("\n")
        items = [element("li", line) for line in lines]
        parts.append(section("Differences", element("p", head), element("ul", *items)))
    for corpus in corpora:
        if corpus in known:
            title = _title("Sentences", corpus, corpora)
            parts.append(section(title, *_sentences(result, known[corpus])))
    recipe = "\n".join([*result.signatures.values(), result.recipe])
    parts.append(section("How it was measured", element("pre", recipe)))
    lead = f"{len(result.rows)} results; the baseline is {result.baseline}."
    return page(result.name, parts, lead=lead)


def fragment_of(result: Result) -> str:
    """Table and plots, for a notebook."""
    parts: list[Markup] = []
    for corpus in dict.fromkeys(row.corpus for row in result.rows):
        rows = [row for row in result.rows if row.corpus == corpus]
        parts += [element("h3", f"{result.name}: {corpus}"), *_scores(result, rows, {})]
        parts.append(_plots(result, rows))
    return fragment(*parts)


def _title(name: str, corpus: str, corpora: Sequence[str]) -> str:
    return name if len(corpora) == 1 else f"{name}: {corpus}"


def _scores(result: Result, rows: Sequence[Row], known: Mapping[str, Texts]) -> list[Markup]:
    names = [METRICS[metric].name for metric in result.metrics]
    titles = {METRICS[metric].name: METRICS[metric].meaning for metric in result.metrics}
    cells = []
    for row in rows:
        shown = [_cell(row, metric, result, known.get(row.corpus)) for metric in result.metrics]
        times = [f"{row.ms:.3f}", f"{row.dev:.2f}", f"{row.spread:.2f}", averaged_runs(row)]
        name = element("b", row.variant) if row.variant == result.baseline else row.variant
        cells.append([name, *shown, *times])
    header = ["variant", *names, "CPU ms/word", "dev", "spread", "averaged"]
    told = (
        f"▲▼ better, worse than {result.baseline} at p ≤ .05; △▽ at p ≤ .10; ± is half of the 95 % "
        f"interval. {TUNED}"
    )
    if rows and rows[0].corpus in known:
        told += " A score leads to its sentences."
    return [
        table(header, cells, name="scores", titles=titles, sortable=True),
        element("p", element("small", told)),
        *(note(text) for text in result.notes),
    ]


def _cell(row: Row, metric: str, result: Result, texts: Texts | None) -> str | Markup:
    value, half, p_value, mark = row.scores[metric]
    if value is None:
        return "–"
    text = f"{value:.2f} ±{half or 0.0:.2f}{f' {mark}' if mark else ''}"
    chance = None if p_value is None else f"p = {p_value:.4f}"
    if texts is None:
        return element("span", text, title=chance)
    corpora = {one.corpus for one in result.rows}
    target = anchor(_title("Sentences", row.corpus, list(corpora)))
    at = list(texts.outputs).index(row.variant)
    way = "" if row.variant == result.baseline else f"-gain{at}"
    return element("a", text, href=f"#{target}", data_set=f"sort={way}", title=chance)


def _plots(result: Result, rows: Sequence[Row]) -> Markup:
    times = [row.ms for row in rows if row.ms > 0]
    by_log = bool(times) and max(times) > 4 * min(times)
    drawn = []
    for metric in result.metrics:
        series = {}
        for row in rows:
            value, half, *_ = row.scores[metric]
            if value is not None:
                low, high = value - (half or 0.0), value + (half or 0.0)
                series[row.variant] = [chart.Point(row.ms, value, low, high)]
        if not series:
            continue
        name = METRICS[metric].name
        picture = chart.curves(
            series,
            title=f"{name} against CPU time a word, with 95 % intervals",
            x="CPU ms a source word",
            y=name,
            joined=False,
            by_log=by_log,
        )
        drawn.append(figure(picture, f"{name} against time, with 95 % intervals"))
    return element("div", *drawn, class_="pictures")


def _sentences(result: Result, texts: Texts) -> list[Markup]:
    told = (
        f"{len(texts.lines)} of {texts.total:,} test sentences: those first on which the variants "
        "differ most, by chrF of the sentence."
    )
    names = list(texts.outputs)
    base = texts.scores[result.baseline]
    items = []
    for at, line in enumerate(texts.lines):
        shown = [_line("source", texts.src[at]), _line("reference", texts.ref[at])]
        data: dict[str, str | float] = {"line": line}
        for number, name in enumerate(names):
            score = texts.scores[name][at]
            shown.append(_line(f"{name} ({score:.1f})", texts.outputs[name][at]))
            data[f"gain{number}"] = round(score - base[at], 1)
        head = element("div", f"line {line}", class_="head")
        items.append((joined(head, *shown), data))
    sorts = {"": "difference of variants", "line": "line"}
    for number, name in enumerate(names):
        if name != result.baseline:
            sorts[f"-gain{number}"] = f"gain of {name}"
            sorts[f"gain{number}"] = f"loss of {name}"
    return [element("p", told), listed(items, name="sentences", sorts=sorts)]


def _line(name: str, text: str) -> Markup:
    return element("div", element("span", name), element("span", text, dir="auto"), class_="line")
