"""The word-order report card as a page.

In: a ``Profile``. Out: one HTML file, or its first figures for a notebook.
How: advice first, then what it stands on: orientation, jumps and limits, reversals, what moves,
spaces, patterns, sentences with arcs. Every picture has its numbers in a table under it.
Cost: some 60 KB.
"""

from itertools import pairwise

from wayword.picture import chart
from wayword.picture.element import Markup, element, joined
from wayword.picture.page import (
    figure,
    fragment,
    listed,
    listing,
    note,
    page,
    section,
    table,
)
from wayword.picture.sentence import jumps, linked
from wayword.report.profile import (
    Profile,
    Sample,
    distance_table,
    figures,
    limit_table,
    mover_table,
    orientation_table,
    pattern_table,
    percent,
)
from wayword.report.table import Table

__all__ = ["fragment_of", "page_of", "table_of"]

#: Jumps further than this are shown together.
FURTHEST = 12
SHOWN_MOVERS = 12
CLASSES = {"M": "M, follows", "S": "S, swaps", "D": "D, elsewhere"}


def page_of(profile: Profile) -> str:
    """The whole page."""
    sections = [
        section("Advice", _advice(profile)),
        section("In figures", listing(figures(profile)), *map(note, profile.notes)),
        section("Orientation", *_orientation(profile)),
        section("Jumps and limits", *_jumps(profile)),
        section("Reversals", *_reversals(profile)),
        section("What moves", *_movers(profile)),
        section("Spaces", *_spaces(profile)),
        section("Patterns", *_patterns(profile)),
        section("Sentences", *_samples(profile)),
    ]
    words = f"{profile.src_words:,} source and {profile.tgt_words:,} target words"
    lead = f"The word order of {profile.sentences:,} sentence pairs, {words}."
    return page(f"{profile.name}: word order", sections, lead=lead, foot=profile.recipe)


def fragment_of(profile: Profile) -> str:
    """The first figures, for a notebook."""
    return fragment(
        element("h3", f"{profile.name}: word order of {profile.sentences:,} sentence pairs"),
        _advice(profile),
        listing(figures(profile)),
        *_jumps(profile)[1:],
    )


def table_of(shown: Table, name: str, *, sortable: bool = False) -> Markup:
    """A table of a terminal as one of a page."""
    rows = [[_plain(cell) for cell in row] for row in shown.rows]
    return table(shown.header, rows, name=name, sortable=sortable)


def _plain(cell: object) -> object:
    return cell if isinstance(cell, int | float) else str(cell)


def _pictures(*made: Markup) -> Markup:
    return element("div", *made, class_="pictures")


def _advice(profile: Profile) -> Markup:
    parts = []
    for one in profile.advice:
        said = one.setting if one.value else f'{one.key}=""'
        parts += [element("dt", element("code", said)), element("dd", one.why)]
    how = joined(
        "With ", element("code", "--set search.space=auto"), " training takes this space by itself."
    )
    return joined(element("dl", *parts, class_="advice"), element("p", element("small", how)))


def _orientation(profile: Profile) -> list[Markup]:
    told = (
        "How a phrase stands to the one translated before it: right behind it (M), right before it "
        "(S) or anywhere else (D). The word model looks at single links, the phrase model at "
        "phrases of up to seven words, the hierarchical model at blocks of any size: the more it "
        "sees, the less stays undecided."
    )
    rows = [
        (model, {CLASSES[name]: share for name, share in shares.items()})
        for model, shares in profile.orientation.items()
    ]
    drawn = chart.shares(rows, title="orientation of phrases by model, in percent")
    numbers = table_of(orientation_table(profile), "orientation by model")
    return [element("p", told), _pictures(figure(drawn, "Percent of phrases", numbers=numbers))]


def _jumps(profile: Profile) -> list[Markup]:
    sums = [sum(column) for column in zip(*profile.jumps, strict=True)]
    middle, total = len(sums) // 2, max(sum(sums), 1)
    rows = [(f"≤−{FURTHEST}", sum(sums[: middle - FURTHEST + 1]))]
    rows += [
        (str(step).replace("-", "−"), sums[middle + step])
        for step in range(1 - FURTHEST, FURTHEST)
        if step
    ]
    rows.append((f"≥{FURTHEST}", sum(sums[middle + FURTHEST :])))
    shares = [(name, 100 * count / total) for name, count in rows]
    steps = percent(sums[middle] / total)
    told = (
        f"From one word to the next of the translation: {steps} of the words follow the one "
        "before; the others are reached by a jump, to the right (+) or left (−). A distortion "
        "limit forbids jumps over more words than it says, and leaving a gap further behind."
    )
    most = [limit for limit in profile.beyond if 1 <= limit <= 20]
    curve = chart.curves(
        {
            "jumps within": [chart.Point(k, 100 * (1 - profile.beyond[k])) for k in most],
            "sentences in reach": [chart.Point(k, 100 * profile.reached[k]) for k in most],
        },
        title="share of jumps within a limit, and of sentences that it allows, in percent",
        x="distortion limit, words",
        y="%",
    )
    lengths = chart.histogram(
        shares, title="words by the jump that reaches them, in percent", x="words jumped over"
    )
    return [
        element("p", told),
        _pictures(
            figure(lengths, "Words reached by a jump, percent of all words", numbers=_two(shares)),
            figure(
                curve,
                "What a distortion limit lets through",
                numbers=table_of(limit_table(profile), "limits"),
            ),
        ),
    ]


def _two(rows: list[tuple[str, float]]) -> Markup:
    shown = [(name, round(value, 3)) for name, value in rows]
    return table(["jump", "percent"], shown, name="jumps in numbers")


def _reversals(profile: Profile) -> list[Markup]:
    told = (
        f"{percent(profile.reversed)} of all pairs of linked source words stand the other way "
        "round in the translation. A short distance can be left to phrases; a long one has to be "
        "jumped."
    )
    rows = [(distance.words, 100 * distance.share) for distance in profile.distances]
    total = max(sum(distance.reversed for distance in profile.distances), 1)
    parts = [(distance.words, 100 * distance.reversed / total) for distance in profile.distances]
    return [
        element("p", told),
        _pictures(
            figure(
                chart.bars(rows, title="reversed pairs by distance, in percent", unit="%"),
                "Pairs of words so far apart that are reversed",
                numbers=table_of(distance_table(profile), "reversed pairs by distance"),
            ),
            figure(
                chart.bars(parts, title="all reversed pairs by distance, in percent", unit="%"),
                "Where all the reversed pairs are",
            ),
        ),
    ]


def _movers(profile: Profile) -> list[Markup]:
    what = f"{profile.movers_are}s"
    told = (
        f"Which {what} move, where to, and over how many words; those first that account for most "
        "of the reordering."
    )
    if profile.movers_are == "word":
        told += " The text has no tags; with --tagger or --pos parts of speech are told of."
    shown = profile.movers[:SHOWN_MOVERS]
    left = chart.bars(
        [(mover.name, 100 * mover.left) for mover in shown],
        title=f"{what} that move to the left, in percent",
        unit="%",
        most=100,
    )
    right = chart.bars(
        [(mover.name, 100 * mover.right) for mover in shown],
        title=f"{what} that move to the right, in percent",
        unit="%",
        most=100,
    )
    return [
        element("p", told),
        _pictures(
            figure(left, "Move to the left"),
            figure(right, "Move to the right"),
        ),
        element("h3", f"All {what}"),
        table_of(mover_table(profile, 60), f"{what} that move", sortable=True),
    ]


def _spaces(profile: Profile) -> list[Markup]:
    told = (
        "What each space of orders could do at best, whatever the models say: sentences whose "
        "order is in it, and reversals that its nearest order keeps. Exact, over "
        f"{profile.asked:,} sentences."
    )
    rows = [row for row in profile.spaces if row["lengths"] == "all"]
    reached = chart.bars(
        [(row["space"], 100 * row["reached"]) for row in rows],
        title="sentences whose order is in the space, in percent",
        unit="%",
        most=100,
    )
    kept = chart.bars(
        [
            (row["space"], 100 * (row["kept"] if row["kept"] is not None else float("nan")))
            for row in rows
        ],
        title="reversals that the nearest order of the space keeps, in percent",
        unit="%",
        most=100,
    )
    header = ["space", "in the space", "pairs wrong", "reversals kept"]
    numbers = [
        [
            row["space"],
            *(
                percent(float("nan") if row[name] is None else row[name])
                for name in ("reached", "wrong", "kept")
            ),
        ]
        for row in rows
    ]
    return [
        element("p", told),
        _pictures(
            figure(
                reached,
                "Sentences in the space",
                numbers=table(header, numbers, name="spaces in numbers"),
            ),
            figure(kept, "Reversals kept"),
        ),
    ]


def _patterns(profile: Profile) -> list[Markup]:
    told = (
        "Neighbours that stay neighbours are one block. A pattern is the order of the blocks: "
        f"1 3 2 exchanges the last two. {percent(profile.monotone)} of the sentences are one block."
    )
    rows = [(pattern.name, 100 * pattern.share) for pattern in profile.patterns]
    drawn = chart.bars(rows, title="sentences by pattern of blocks, in percent", unit="%")
    numbers = table_of(pattern_table(profile), "patterns")
    return [element("p", told), _pictures(figure(drawn, "Commonest patterns", numbers=numbers))]


def _samples(profile: Profile) -> list[Markup]:
    if not profile.samples:
        return [element("p", "No sentence of five to sixteen words with enough links was found.")]
    told = (
        "A telling sentence for each of the commonest patterns. Links that cross others stand out."
    )
    items = []
    for sample in profile.samples:
        data: dict[str, str | float] = {
            "line": sample.line,
            "length": len(sample.src),
            "pattern": sample.pattern,
        }
        items.append((_sample(sample), data))
    kinds = list(dict.fromkeys(sample.pattern for sample in profile.samples))
    sorts = {"": "share of pattern", "length": "length", "line": "line"}
    return [
        element("p", told),
        listed(items, name="sentences", sorts=sorts, chooses={"pattern": kinds}),
    ]


def _sample(sample: Sample) -> Markup:
    count = sum(after != before + 1 for before, after in pairwise((-1, *sample.order)))
    plural = "" if count == 1 else "s"
    return joined(
        element(
            "div",
            f"line {sample.line} · pattern {sample.pattern} · {count} jump{plural}",
            class_="head",
        ),
        figure(linked(sample.src, sample.tgt, sample.links), "links"),
        figure(jumps(sample.src, sample.order), "jumps in the order of the translation"),
    )
