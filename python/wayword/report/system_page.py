"""A system, or two side by side, as a page.

In: a ``Report``. Out: one HTML file, or its first figures for a notebook.
How: what it is made of, how weights were found, how it does on the test set, where it fails, and
every sentence, to be searched, filtered and sorted; numbers of the tables lead to their sentences.
Cost: some 500 bytes a test sentence and system; the sentences beyond ``MOST`` are left out and
counted.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from wayword.evaluate import METRICS
from wayword.picture import chart
from wayword.picture.element import Markup, element, joined
from wayword.picture.matrix import grid, heat
from wayword.picture.page import figure, fragment, listed, listing, note, page, section, table, wide
from wayword.report.derivation import to_svg
from wayword.report.oracle import reach_table
from wayword.report.system import (
    Overview,
    Report,
    TestSet,
    figures,
    length_table,
    recipes,
    score_cell,
)
from wayword.report.tuning import curves, weights_taken

__all__ = ["fragment_of", "page_of"]

#: Sentences that a page holds at most.
MOST = 1000
#: Lengths by which sentences can be chosen; the last has no end.
LENGTHS = (10, 20, 30, 40)


def page_of(report: Report) -> str:
    """The whole page."""
    names = [overview.name for overview in report.systems]
    parts = [section("What it is", _side_by_side(report.systems, _facts))]
    parts.append(section("Training text", _side_by_side(report.systems, _corpus)))
    if report.test is not None:
        parts += [
            section("Scores", *_scores(report.test)),
            section("By length", *_lengths(report.test)),
            section("By jump", *_jumps(report.test)),
            section("Where it fails", *_failures(report.test)),
        ]
    parts += [
        section("Weights and tuning", _side_by_side(report.systems, _tuning)),
        section("Phrases and language model", _side_by_side(report.systems, _models)),
        section("Links", *_links(report.systems)),
    ]
    if any(overview.matrices for overview in report.systems):
        parts.append(section("Models of word order", *_matrices(report.systems)))
    if report.test is not None:
        parts.append(section("Best and worst", *_extremes(report.test)))
        parts.append(section("Sentences", *_sentences(report.test)))
    kind = "two systems side by side" if len(names) > 1 else "a translation system"
    return page(" and ".join(names), parts, lead=kind, foot=report.recipe)


def fragment_of(report: Report) -> str:
    """The first figures, for a notebook."""
    shown = [_side_by_side(report.systems, _facts)]
    if report.test is not None:
        shown += _scores(report.test)
    return fragment(*shown)


def _pictures(*made: Markup | None) -> Markup:
    return element("div", *made, class_="pictures")


def _side_by_side(systems: Sequence[Overview], tell: Any) -> Markup:
    """What ``tell`` says of each system, in columns when there are several."""
    if len(systems) == 1:
        return joined(*tell(systems[0]))
    return _pictures(*(element("div", element("h3", one.name), *tell(one)) for one in systems))


# --- what it is made of --------------------------------------------------------------------------


def _facts(overview: Overview) -> list[Markup]:
    parts = [listing(figures(overview))]
    advice = overview.made.get("advice", ())
    if advice:
        said = (
            f"{advice[0]['key']} = {advice[0]['value']}, as the profile advised: {advice[0]['why']}"
        )
        parts.append(element("p", element("small", said)))
    return parts


def _corpus(overview: Overview) -> list[Markup]:
    corpus: Mapping[str, Any] = overview.made.get("corpus", {})
    if "read" not in corpus:
        return [element("p", "The system does not tell what it was trained on.")]
    out = corpus.get("taken_out", {})
    rows = [("read", corpus["read"]), ("used for training", corpus["pairs"])]
    parts = [listing(rows)]
    if out:
        shown = sorted(out.items(), key=lambda pair: -pair[1])
        drawn = chart.bars(
            [(why.replace("_", " "), float(count)) for why, count in shown],
            title="pairs that were taken out, by reason",
            form=",.0f",
        )
        parts.append(figure(drawn, "Taken out, by reason (a pair may have several)"))
    corpora = corpus.get("corpora", ())
    if corpora:
        header = ["corpus", "read", "used", "weight"]
        cells = [[one["name"], one["lines"], one["pairs"], one["weight"]] for one in corpora]
        parts.append(table(header, cells, name="corpora"))
    return parts


def _tuning(overview: Overview) -> list[Markup]:
    parts = []
    tuning = overview.tuning
    if tuning and tuning["rounds"]:
        runs = ", ".join(f"{run['score']:.2f}" for run in tuning["runs"])
        told = f"Dev score by round; the runs end at {runs}, the weights of the system have "
        told += f"{tuning['after']:.2f}"
        if "averaged" in tuning:  # tunings of earlier versions do not say
            told += f". They are {weights_taken(tuning['averaged'], len(tuning['runs']))}"
        parts.append(figure(curves(tuning["rounds"]), told))
    ranked = sorted(overview.weights.items(), key=lambda pair: -abs(pair[1]))
    bounded = dict.fromkeys(overview.at_bound, "at its bound")
    # that of unknown words is not tuned, and so large that no other could be seen beside it
    shown = [pair for pair in ranked if pair[1] and pair[0] != "oov"][:16]
    shown += [pair for pair in ranked if pair[0] in bounded and pair not in shown]
    if shown:
        title = "the largest weights, and those at their bound" if bounded else "largest weights"
        drawn = chart.bars(shown, title=title, form=".3f", notes=bounded)
        numbers = table(
            ["feature", "weight", ""],
            [(n, f"{w:.4f}".replace("-", "−"), bounded.get(n, "")) for n, w in ranked],
            name="all weights",
        )
        told = "The largest weights"
        if bounded:
            told += "; tuning would have left the bound of those that are marked"
        parts.append(figure(drawn, told, numbers=numbers))
    parts += [element("p", element("small", text)) for text in overview.notes if "tuning" in text]
    return [_pictures(*parts)]


def _models(overview: Overview) -> list[Markup]:
    info = overview.table
    facts: list[tuple[str, object]] = [
        ("phrase pairs", info["pairs"]),
        ("source phrases", info["src_phrases"]),
        ("longest phrase", f"{info['max_length']} words"),
        ("orientation models", ", ".join(info["models"]) or "none"),
    ]
    lengths = chart.histogram(
        [(str(words), share) for words, share in overview.phrase_lengths.items()],
        title="source phrases by number of words, in percent",
        x="words of a source phrase",
    )
    options = chart.histogram(
        [(str(words), mean) for words, mean in overview.translations.items()],
        title="mean number of translations by number of words",
        x="words of a source phrase",
        unit="",
    )
    parts = [
        listing(facts),
        _pictures(
            figure(lengths, "Source phrases (of a sample), percent"),
            figure(options, "Translations of a source phrase, mean"),
        ),
    ]
    for lm in overview.lms:
        rows = [(f"{at}-grams", float(count)) for at, count in enumerate(lm["counts"], 1)]
        drawn = chart.bars(rows, title=f"n-grams of {lm['name']}", form=",.0f")
        caption = f"{lm['name']}: n-grams by order, {lm['bytes'] / 1e6:,.1f} MB"
        parts.append(_pictures(figure(drawn, caption)))
    return parts


def _links(systems: Sequence[Overview]) -> list[Markup]:
    texts = " and ".join(dict.fromkeys(one.linked_text for one in systems))
    told = f"Words of {texts}, linked by the aligner; the darker, the surer (posterior)."
    parts = [element("p", told)]
    shared = len(systems) == 1 or all(one.grids == systems[0].grids for one in systems)
    for overview in systems[:1] if shared else systems:
        if not shared:
            parts.append(element("h3", overview.name))
        parts += [note(text) for text in overview.notes if "alignment" in text]
        drawn = []
        for one in overview.grids:
            links = {(i, j): posterior for i, j, posterior in one.links}
            title = f"{' '.join(one.src)} – {' '.join(one.tgt)}"
            rows = [(one.src[i], one.tgt[j], f"{posterior:.2f}") for i, j, posterior in one.links]
            numbers = table(["source", "target", "posterior"], rows, name=f"links of {title}")
            drawn.append(figure(grid(one.src, one.tgt, links, title=title), title, numbers=numbers))
        parts.append(_pictures(*drawn))
    return parts


def _matrices(systems: Sequence[Overview]) -> list[Markup]:
    parts = []
    for overview in systems:
        drawn = []
        for one in overview.matrices:
            title = f"{one.model}: {' '.join(one.words)}"
            is_step = len(one.rows) > len(one.words)
            cells = [
                [None if _is_empty(row, at, is_step) else value for at, value in enumerate(values)]
                for row, values in enumerate(one.values)
            ]
            drawn.append(
                figure(heat(one.rows, one.words, cells, title=title), f"{one.model}: {one.told}")
            )
        if drawn:
            parts.append(element("h3", overview.name) if len(systems) > 1 else None)
            parts.append(_pictures(*drawn))
    return [part for part in parts if part is not None]


def _is_empty(row: int, column: int, is_step: bool) -> bool:
    """Whether a cell means nothing: a word after itself, or a pair that is told of elsewhere."""
    return row == column + 1 if is_step else column <= row


# --- how it does ---------------------------------------------------------------------------------


def _scores(test: TestSet) -> list[Markup]:
    compared = test.compared
    header = ["system", *(METRICS[metric].name for metric in compared.metrics)]
    titles = {METRICS[metric].name: METRICS[metric].meaning for metric in compared.metrics}
    rows = [
        [system, *(score_cell(compared, system, metric) for metric in compared.metrics)]
        for system in compared.systems
    ]
    told = f"{compared.sentences:,} sentences; ± is half of the 95 % interval."
    if len(compared.systems) > 1:
        told += f" ▲▼ better, worse than {compared.systems[0]} at p ≤ .05; △▽ at p ≤ .10."
    return [
        element("p", told),
        table(header, rows, name="scores", titles=titles),
        *(note(text) for text in test.notes),
        element(
            "details",
            element("summary", "how they were computed"),
            element("pre", recipes(compared)),
        ),
    ]


def _lengths(test: TestSet) -> list[Markup]:
    compared = test.compared
    drawn = []
    for metric in compared.metrics:
        series = {
            system: [
                chart.Point(at, part.scores[system][metric], name=f"{system}, {part.name} words")
                for at, part in enumerate(compared.bins, 1)
                if math.isfinite(part.scores[system][metric])
            ]
            for system in compared.systems
        }
        rows = [(part.name, part) for part in compared.bins]
        if len(compared.systems) == 1:
            system = compared.systems[0]
            values = [(name, part.scores[system][metric]) for name, part in rows]
            picture = chart.bars(values, title=f"{METRICS[metric].name} by length")
        else:
            picture = chart.curves(
                series,
                title=f"{METRICS[metric].name} by length",
                x="length: " + ", ".join(f"{at} = {n}" for at, (n, _) in enumerate(rows, 1)),
                y=METRICS[metric].name,
            )
        drawn.append(figure(picture, f"{METRICS[metric].name} by source words"))
    shown = length_table(compared)
    rows_of_table = []
    for row in shown.rows:
        link = element("a", str(row[0]), href="#sentences", data_set=f"length={row[0]}")
        rows_of_table.append([link, *row[1:]])
    return [
        _pictures(*drawn),
        element("p", element("small", "A length leads to its sentences.")),
        table(shown.header, rows_of_table, name="scores by length"),
    ]


def _jumps(test: TestSet) -> list[Markup]:
    if not any(tested.reversals for tested in test.systems):
        return [element("p", "Word order was not judged, as there are no links.")]
    told = (
        "Pairs of source words that the reference reverses, by their distance: how many of them "
        "the output reverses too (recall), and how many of its own are right (precision)."
    )
    drawn, rows = [], []
    for tested in test.systems:
        for name, at in (("recall", 3), ("precision", 2)):
            values = [(f"{row[0]} words", float(row[at])) for row in tested.reversals]
            picture = chart.bars(
                values, title=f"{name} of reversals by distance", unit="%", most=100
            )
            label = f"{tested.name}: {name}" if len(test.systems) > 1 else name.capitalize()
            drawn.append(figure(picture, label))
        rows += [
            [tested.name, row[0], int(row[1]), *(_known(value) for value in row[2:])]
            for row in tested.reversals
        ]
    header = ["system", "words apart", "pairs", "precision", "recall"]
    return [
        element("p", told),
        _pictures(*drawn),
        table(header, rows, name="reversals by distance"),
    ]


def _known(value: float) -> str:
    return f"{value:.1f}" if math.isfinite(value) else "n/a"


def _failures(test: TestSet) -> list[Markup]:
    parts: list[Markup] = []
    words = sum(len(line.split()) for line in test.src)
    for tested in test.systems:
        missing = [word for of_line in tested.unknown for word in of_line]
        share = 100 * len(missing) / max(words, 1)
        lines = sum(bool(of_line) for of_line in tested.unknown)
        link = element("a", f"{lines:,} sentences", href="#sentences", data_set="unknown=yes")
        head = element("h3", tested.name) if len(test.systems) > 1 else None
        parts += [part for part in (head,) if part is not None]
        parts.append(
            element(
                "p",
                f"Unknown words: {len(missing):,} ({share:.1f} % of the source), in ",
                link,
                ".",
            )
        )
        if tested.reach:
            last = tested.reach[-1]
            lost = [
                ("model", last["by_model"]),
                ("space", last["by_space"]),
                ("table", last["by_table"]),
            ]
            drawn = chart.bars(lost, title="BLEU lost by model, space and table", form=".2f")
            told = (
                "BLEU lost: the model prefers another string, the space lacks the order, the "
                f"table the phrases (first {tested.asked:,} sentences)"
            )
            shown = reach_table(tested.reach)
            numbers = table(shown.header, shown.rows, name="losses by length")
            parts.append(_pictures(figure(drawn, told, numbers=numbers)))
    return parts


# --- sentences -----------------------------------------------------------------------------------


def _line(name: str, *text: str | Markup) -> Markup:
    return element("div", element("span", name), element("span", *text, dir="auto"), class_="line")


def _extremes(test: TestSet) -> list[Markup]:
    parts = []
    for kind, pick in (("Worst", "worst"), ("Best", "best")):
        for tested in test.systems:
            name = f" of {tested.name}" if len(test.systems) > 1 else ""
            parts.append(element("h3", f"{kind}{name}, by BLEU of the sentence"))
            for number in getattr(tested, pick):
                told = f"line {number + 1} · BLEU {tested.scores[number]:.1f}"
                parts += [
                    element("div", told, class_="head"),
                    _line("reference", test.ref[number]),
                    wide(to_svg(tested.derivations[number]), f"derivation of line {number + 1}"),
                ]
    return parts


def _sentences(test: TestSet) -> list[Markup]:
    shown = min(len(test.src), MOST)
    items = [_item(test, number) for number in range(shown)]
    sorts = {"": "line"}
    for at, tested in enumerate(test.systems):
        sorts[f"score{at}"] = f"worst {tested.name} first"
        sorts[f"-score{at}"] = f"best {tested.name} first"
    if len(test.systems) == 2:
        first, second = (tested.name for tested in test.systems)
        sorts["-gain"] = f"{second} better than {first}"
        sorts["gain"] = f"{first} better than {second}"
    sorts["words"] = "length"
    chooses = {"length": _length_names(), "unknown": ["yes", "no"]}
    parts = [listed(items, name="sentences", sorts=sorts, chooses=chooses)]
    if shown < len(test.src):
        left = f"The page holds the first {shown:,} of {len(test.src):,} sentences."
        parts.insert(0, note(left))
    return parts


def _length_names() -> list[str]:
    lows = [1, *(end + 1 for end in LENGTHS)]
    return [*(f"{low}-{end}" for low, end in zip(lows, LENGTHS, strict=False)), f"{lows[-1]}+"]


def _length_name(words: int) -> str:
    return _length_names()[sum(words > end for end in LENGTHS)]


def _item(test: TestSet, number: int) -> tuple[Markup, dict[str, str | float]]:
    words = test.src[number].split()
    unknown = {word for tested in test.systems for word in tested.unknown[number]}
    source: list[str | Markup] = []
    for word in words:
        source += [element("span", word, class_="unknown") if word in unknown else word, " "]
    scores = " · ".join(f"{tested.name} {tested.scores[number]:.1f}" for tested in test.systems)
    head = element("div", f"line {number + 1} · {len(words)} words · {scores}", class_="head")
    lines = [_line("source", *source), _line("reference", test.ref[number])]
    lines += [_line(tested.name, tested.outputs[number]) for tested in test.systems]
    data: dict[str, str | float] = {
        "words": len(words),
        "length": _length_name(len(words)),
        "unknown": "yes" if unknown else "no",
    }
    for at, tested in enumerate(test.systems):
        data[f"score{at}"] = tested.scores[number]
    if len(test.systems) == 2:
        first, second = (tested.scores[number] for tested in test.systems)
        data["gain"] = second - first
    return joined(head, *lines), data
