"""Pictures of a tuning: how the dev score went from round to round.

In: a ``Tuning`` or its rounds. Out: text for a terminal, and an SVG for a page or a notebook.

>>> rounds = [{"run": 1, "round": k, "score": score} for k, score in enumerate([20, 29, 30], 1)]
>>> bars(rounds)
{1: '▁▇█'}
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Protocol

from wayword.picture import chart
from wayword.picture.element import Markup, element
from wayword.picture.page import figure, fragment

__all__ = ["bars", "curves", "describe", "to_html", "to_svg"]

LEVELS = "▁▂▃▄▅▆▇█"
WIDTH, HEIGHT, EDGE = 360, 160, 36
COLOURS = ("#1b6ca8", "#c0582b", "#3d8b52", "#7c4fa0")


class _Run(Protocol):
    """What is told of a run."""

    @property
    def score(self) -> float: ...
    @property
    def stop(self) -> str: ...


class _Tuning(Protocol):
    """What is told of a tuning; the tuner, which makes it, comes later."""

    @property
    def before(self) -> float: ...
    @property
    def after(self) -> float: ...
    @property
    def averaged(self) -> int: ...
    @property
    def spread(self) -> float: ...
    @property
    def runs(self) -> Sequence[_Run]: ...
    @property
    def rounds(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def at_bound(self) -> Sequence[str]: ...


def _by_run(rounds: Iterable[Mapping[str, Any]]) -> dict[int, list[float]]:
    scores: dict[int, list[float]] = {}
    for record in rounds:
        scores.setdefault(record["run"], []).append(float(record["score"]))
    return scores


def _range(scores: Mapping[int, list[float]]) -> tuple[float, float]:
    every = [score for of_run in scores.values() for score in of_run]
    low, high = min(every), max(every)
    return (low, high) if high > low else (low - 1, high)


def bars(rounds: Iterable[Mapping[str, Any]]) -> dict[int, str]:
    """For each run a bar a round, from the lowest score of all to the highest."""
    scores = _by_run(rounds)
    low, high = _range(scores)
    top = len(LEVELS) - 1
    return {
        run: "".join(LEVELS[round(top * (score - low) / (high - low))] for score in of_run)
        for run, of_run in scores.items()
    }


def weights_taken(averaged: int, runs: int) -> str:
    """Return which weights tuning took: the mean of the ``averaged`` best of all runs.

    >>> weights_taken(2, 4), weights_taken(4, 4)
    ('the mean of the 2 best of 4 tuning runs', 'the mean of 4 tuning runs')
    >>> weights_taken(1, 4), weights_taken(1, 1)
    ('those of the best of 4 tuning runs', 'those of the only tuning run')
    """
    if runs == 1:
        return "those of the only tuning run"
    if averaged == 1:
        return f"those of the best of {runs} tuning runs"
    best = "" if averaged == runs else f"the {averaged} best of "
    return f"the mean of {best}{runs} tuning runs"


def describe(tuning: _Tuning) -> str:
    """Runs, their rounds as bars, and the scores before and after."""
    drawn = bars(tuning.rounds)
    width = max(map(len, drawn.values()))
    lines = [f"dev score before  {tuning.before:.2f}"]
    for number, run in enumerate(tuning.runs, 1):
        plot = drawn[number].ljust(width)
        lines.append(f"run {number}  {plot}  {run.score:.2f}  ({run.stop})")
    if len(tuning.runs) > 1:
        taken = weights_taken(tuning.averaged, len(tuning.runs))
        lines.append(f"dev score after   {tuning.after:.2f}  (weights: {taken}; ")
        lines[-1] += f"the scores of all spread by ±{tuning.spread:.2f})"
    else:
        lines.append(f"dev score after   {tuning.after:.2f}")
    if tuning.at_bound:
        lines.append(f"at their bound    {', '.join(tuning.at_bound)}")
    return "\n".join(lines)


def to_svg(rounds: Iterable[Mapping[str, Any]]) -> str:
    """A line a run: the round to the right, the dev score up."""
    scores = _by_run(rounds)
    low, high = _range(scores)
    longest = max(map(len, scores.values()))

    def place(at: int, score: float) -> str:
        x = EDGE + (WIDTH - 2 * EDGE) * at / max(longest - 1, 1)
        y = HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (score - low) / (high - low)
        return f"{x:.1f},{y:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="11" role="img">',
        "<title>dev score by round</title>",
        f'<text x="{EDGE - 4}" y="{HEIGHT - EDGE}" text-anchor="end">{low:.1f}</text>',
        f'<text x="{EDGE - 4}" y="{EDGE}" text-anchor="end">{high:.1f}</text>',
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle">round 1 to {longest}</text>',
    ]
    for run, of_run in scores.items():
        colour = COLOURS[(run - 1) % len(COLOURS)]
        points = " ".join(place(at, score) for at, score in enumerate(of_run))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5">'
            f"<title>{escape(f'run {run}: {of_run[-1]:.2f}')}</title></polyline>"
        )
    return "\n".join([*parts, "</svg>"])


def curves(rounds: Iterable[Mapping[str, Any]]) -> Markup:
    """The same for a page: all runs, their rounds and scores."""
    series = {
        f"run {run}": [chart.Point(at, score) for at, score in enumerate(of_run, 1)]
        for run, of_run in _by_run(rounds).items()
    }
    return chart.curves(series, title="dev score by round of tuning", x="round", y="dev score")


def to_html(tuning: _Tuning) -> str:
    """Curves and the scores before and after, for a notebook."""
    taken = weights_taken(tuning.averaged, len(tuning.runs))
    told = f"dev score {tuning.before:.2f} before, {tuning.after:.2f} after tuning; "
    told += f"the weights are {taken}"
    runs = "; ".join(f"run {at} {run.score:.2f}" for at, run in enumerate(tuning.runs, 1))
    return fragment(figure(curves(tuning.rounds), told), element("p", element("small", runs)))
