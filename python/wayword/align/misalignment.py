"""Tests whether line n of one file belongs to line n of another, and finds shifted lines.

In: two files of raw or prepared text in any two languages; for a small dev set, its training text
as well. Out: an ``AlignmentCheck``: the lines are parallel, shifted by up to ``MAX_SHIFT`` lines
from certain lines on, unrelated, or there is too little text for a test.
How: windows of ``WINDOW`` consecutive lines, spread over the file, are scored at all shifts
(``wayword.align.association``). The *gain* of a line at a shift is its score there less its mean
score with lines that are further away. Windows whose gain is clear at another shift than 0 are
learned from at that shift, so that a shifted file teaches its own words; where no shift stands out,
each is tried for all windows. The Viterbi algorithm finds the lines at which the shift changes;
between two windows of a long file, further windows are read until the line is found.
A shift is reported when its gain is ``CLEAR`` standard errors above zero and above that of shift 0.
Cost: up to ``SAMPLE`` lines, about 2 CPU seconds and 150 MB for files of any size, a pass over each
file to count its lines and one to read the windows; more passes where shifts are found. Nothing is
random.
Not: single bad pairs (``wayword.align.screen``), and shifts of under ``LEAST_SEGMENT`` lines or 3 %
of the file.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wayword.align.association import EncodedWindow, LineAssociation
from wayword.align.line_windows import MAX_SHIFT, LineWindow, read_windows
from wayword.corpus.files import count_lines
from wayword.types import FilePath

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Gains = npt.NDArray[np.float64]

__all__ = ["LEAST_LINES", "AlignmentCheck", "LineShift", "find_misalignment"]

#: Lines that are looked at, at most, and lines of a window.
SAMPLE, WINDOW = 3072, 64
#: Lines of a file that are needed for a test, alone and with other text to learn words from.
LEAST_LINES, LEAST_TAUGHT_LINES = 100, 40
#: Lines of a file alone that are needed to call it unrelated: of 120 lines, good text may look so.
LEAST_UNRELATED_LINES = 200
#: Distinct lines that are needed to call a file or a part unrelated, and known types of each.
LEAST_TESTABLE, TESTABLE_TYPES = 100, 3
#: Least lines of a reported shift, and of a reported part that fits at no shift.
LEAST_SEGMENT, LEAST_UNRELATED = 40, 128
#: Least shares of the sample for the same.
SEGMENT_SHARE, UNRELATED_SHARE = 0.025, 0.1
#: Standard errors of a clear gain, of a whole segment and of one window.
CLEAR, WINDOW_CLEAR = 5.0, 3.5
#: Cost of a change of the shift in nats, and limit of the evidence of a line.
CHANGE_COST, LINE_LIMIT = 12.0, 3.0
#: Rounds in which windows are learned from at their own shifts.
ROUNDS = 3
#: Windows for trying all shifts where none stands out.
SEARCH_WINDOWS = 16
#: Shifts named in a message.
SHOWN = 5

SHIFTS = range(-MAX_SHIFT, MAX_SHIFT + 1)


@dataclass(frozen=True)
class LineShift:
    """From ``line`` (from 1) on, line n of the source belongs to line n + ``shift`` of the target.

    A shift of None: the lines fit at no shift that was tested.
    """

    line: int
    shift: int | None

    def describe(self, src: str, tgt: str) -> str:
        """Say which lines belong together."""
        if self.shift is None:
            return f"lines from {self.line} on do not belong together at any shift up to ten"
        partner = f"line n{self.shift:+d}" if self.shift else "line n"
        first = max(self.line, 1 - self.shift)  # line 1 of the target is the first partner
        return f"from line {first} on, line n of {src} belongs to {partner} of {tgt}"


@dataclass(frozen=True)
class AlignmentCheck:
    """The result of a test: ``parallel``, ``shifted``, ``unrelated`` or ``untested``."""

    status: str
    #: lines of the shorter file, and lines looked at
    lines: int
    sampled: int
    #: where the shift changes, when it is not 0 everywhere
    shifts: tuple[LineShift, ...] = ()
    #: why no test was made
    reason: str = ""

    @property
    def is_misaligned(self) -> bool:
        """Whether the files should not be used as they are."""
        return self.status in ("shifted", "unrelated")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        shifts = [dict(vars(shift)) for shift in self.shifts]
        return {**vars(self), "shifts": shifts}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "AlignmentCheck":
        """Return the result that ``to_dict`` described."""
        shifts = tuple(LineShift(**shift) for shift in values["shifts"])
        return cls(**{**values, "shifts": shifts})

    def describe(self) -> str:
        """Return the result in a few words, of which the lines are the subject."""
        if self.status == "untested":
            return f"not tested whether they belong together: {self.reason}"
        if self.is_misaligned:
            return "do not belong together"
        return f"belong together ({self.sampled:,} of {self.lines:,} tested)"

    def message(self, src: FilePath, tgt: FilePath, way_on: str) -> str:
        """Return the sentence that stops a command; ``way_on`` is an option to go on anyway.

        >>> check = AlignmentCheck("shifted", 900, 900, (LineShift(412, -1),))
        >>> check.message("a.de", "a.en", "--allow misaligned").split("; ")[0].split(", ")[-1]
        'line n of a.de belongs to line n-1 of a.en'
        """
        is_one_file = Path(src) == Path(tgt)
        place = f"{src}" if is_one_file else f"{src}, {tgt}"
        names = ("the source", "the target") if is_one_file else (Path(src).name, Path(tgt).name)
        expected = f"expected line n of {names[0]} with its translation in line n of {names[1]}"
        way_on = f"or {way_on} to go on anyway"
        if self.status == "unrelated":
            found = "found lines that do not belong together at any shift up to ten"
            return f"{place}: {found}; {expected}; try the right pair of files, {way_on}"
        parts = [shift.describe(*names) for shift in self.shifts[:SHOWN]]
        if len(self.shifts) > SHOWN:
            parts.append(f"{len(self.shifts) - SHOWN} more changes")
        found = f"found shifted lines: {', then '.join(parts)}"
        advice = "try to insert or remove lines there until both files agree"
        return f"{place}: {found}; {expected}; {advice}, {way_on}"


def find_misalignment(
    src: FilePath, tgt: FilePath, *, teacher: tuple[FilePath, FilePath] | None = None
) -> AlignmentCheck:
    """Test whether the lines of two files belong together.

    ``teacher`` is parallel text from which words are learned too, for small files.
    """
    lines = min(count_lines(src), count_lines(tgt))
    least = LEAST_LINES if teacher is None else LEAST_TAUGHT_LINES
    if lines < least:
        reason = f"found {lines} lines, and a test needs {least}"
        return AlignmentCheck("untested", lines, 0, reason=reason)
    windows = read_windows(src, tgt, _spread(0, lines))
    taught: list[LineWindow] = []
    if teacher is not None:
        taught = read_windows(*teacher, _spread(0, min(map(count_lines, teacher))))
    test = _ShiftTest(windows, taught)
    sampled = sum(len(window.src) for window in windows)
    if not test.settle():
        if teacher is None and lines < LEAST_UNRELATED_LINES:
            reason = f"found {lines} lines without a clear result; {LEAST_UNRELATED_LINES} suffice"
            return AlignmentCheck("untested", lines, sampled, reason=reason)
        if not test.has_testable_lines():
            reason = "too few words occur in several lines, or too many lines are equal"
            return AlignmentCheck("untested", lines, sampled, reason=reason)
        return AlignmentCheck("unrelated", lines, sampled, (LineShift(1, None),))
    segments = test.segments()
    shifts = tuple(
        LineShift(test.locate((src, tgt), before, after) + 1, after.shift)
        for before, after in zip([_START, *segments], segments, strict=False)
        if before.shift != after.shift
    )
    return AlignmentCheck("shifted" if shifts else "parallel", lines, sampled, shifts)


def _spread(start: int, end: int) -> list[tuple[int, int]]:
    """Return up to ``SAMPLE`` lines between two lines as windows, at equal steps.

    >>> _spread(0, 150)
    [(0, 75), (75, 150)]
    >>> _spread(0, 1_000_000)[:2]
    [(0, 64), (21275, 21339)]
    """
    size = end - start
    if size <= SAMPLE:
        count = max(size // WINDOW, 1)
        bounds = [start + size * number // count for number in range(count + 1)]
        return list(pairwise(bounds))
    count = SAMPLE // WINDOW
    firsts = (start + (size - WINDOW) * number // (count - 1) for number in range(count))
    return [(first, first + WINDOW) for first in firsts]


@dataclass(frozen=True)
class _Segment:
    """Rows of the sample with one shift, from ``line`` (from 0) to the line before ``end``."""

    shift: int | None
    rows: slice
    line: int
    end: int

    @property
    def size(self) -> int:
        return int(self.rows.stop - self.rows.start)


_START = _Segment(0, slice(0, 0), 0, 0)


class _ShiftTest:
    """Gains of the lines of a sample at all shifts, and what follows from them."""

    def __init__(self, windows: Sequence[LineWindow], taught: Sequence[LineWindow]) -> None:
        import numpy as np

        self._association = LineAssociation([*windows, *taught])
        self._windows = [self._association.encode(window) for window in windows]
        self._taught = [self._association.encode(window) for window in taught]
        self._lines = np.concatenate([np.arange(w.start, w.start + len(w)) for w in self._windows])
        self._testable = [
            pair
            for window in self._windows
            for pair in self._association.testable_lines(window, TESTABLE_TYPES)
        ]
        self._shifts = [0] * len(windows)
        self._gains = [np.empty(0)] * len(windows)

    def has_testable_lines(self, rows: slice = slice(None)) -> bool:
        """Whether enough distinct lines of these rows have enough known types for a test."""
        pairs = [pair for pair in self._testable[rows] if pair is not None]
        sides = ({src for src, _ in pairs}, {tgt for _, tgt in pairs})
        return min(map(len, sides)) >= LEAST_TESTABLE

    def settle(self) -> bool:
        """Learn from each window at the shift that fits it; False when no shift fits any part."""
        self._learn([0] * len(self._windows))
        best = _better_shift(_joined(self._gains), 0)
        if best:
            self._learn([best] * len(self._windows))
        self._learn_by_window()
        if self._has_clear_gain():
            return True
        self._learn([self._search()] * len(self._windows))
        self._learn_by_window()
        return self._has_clear_gain()

    def _learn_by_window(self) -> None:
        for _ in range(ROUNDS):
            shifts = [
                _better_shift(gains, shift)
                for gains, shift in zip(self._gains, self._shifts, strict=True)
            ]
            if shifts == self._shifts:
                return
            self._learn(shifts)

    def _has_clear_gain(self) -> bool:
        """Whether the lines of one shift, taken together, fit clearly."""
        return any(
            _clearness(
                _joined(
                    window
                    for window, own in zip(self._gains, self._shifts, strict=True)
                    if own == shift
                ),
                shift,
            )
            >= CLEAR
            for shift in set(self._shifts)
        )

    def _search(self) -> int:
        """Return the shift that fits best when all windows are learned from at it."""
        few = self._windows[:: -(-len(self._windows) // SEARCH_WINDOWS)]

        def gain(shift: int) -> float:
            self._count(few, [shift] * len(few))
            return _clearness(_joined(self._gains_of(few, [shift] * len(few))), shift)

        return max(SHIFTS, key=gain)

    def _learn(self, shifts: list[int]) -> None:
        self._count(self._windows, shifts)
        self._gains = list(self._gains_of(self._windows, shifts))
        self._shifts = shifts

    def _count(self, windows: Sequence[EncodedWindow], shifts: Sequence[int]) -> None:
        known = [0] * len(self._taught)
        self._association.learn([*windows, *self._taught], [*shifts, *known])

    def _gains_of(
        self, windows: Sequence[EncodedWindow], shifts: Iterable[int | None]
    ) -> "Iterator[Gains]":
        for window, shift in zip(windows, shifts, strict=True):
            yield _gains(window, self._association.scores(window, shift))

    def _evidence(self, gains: "Gains") -> "Gains":
        """Return log-likelihood ratios of the shifts against lines that do not belong together.

        Gains are normal with the same variance, and the mean of windows at their shifts or zero.
        """
        import numpy as np

        fitting = _joined(
            [
                window[:, shift + MAX_SHIFT]
                for window, shift in zip(self._gains, self._shifts, strict=True)
            ]
        )
        mean = max(float(np.nanmean(fitting)), 1e-6)
        variance = (np.nanvar(fitting) + np.nanvar(_joined(self._gains))) / 2 + 1e-9
        ratios = (np.nan_to_num(gains, nan=mean / 2) * mean - mean * mean / 2) / variance
        return np.clip(ratios, -LINE_LIMIT, LINE_LIMIT)

    def segments(self) -> list[_Segment]:
        """Cut the sample where the shift changes; changes that are not clear are left out."""
        import numpy as np

        gains = _joined(self._gains)
        ratios = self._evidence(gains)
        states = _viterbi(np.hstack([ratios, np.zeros((len(ratios), 1))]))
        segments: list[_Segment] = []
        first = 0
        for state, rows in groupby(states):
            size = len(list(rows))
            shift = SHIFTS[state] if state < len(SHIFTS) else None
            part = slice(first, first + size)
            line, end = int(self._lines[first]), int(self._lines[part.stop - 1]) + 1
            first = part.stop
            segment = _Segment(shift, part, line, end)
            is_clear = _is_clear(segment, gains)
            if not is_clear or (shift is None and not self.has_testable_lines(part)):
                segment = replace(segment, shift=segments[-1].shift if segments else 0)
            if segments and segments[-1].shift == segment.shift:
                before = segments.pop()
                joined = slice(before.rows.start, part.stop)
                segment = replace(segment, rows=joined, line=before.line)
            segments.append(segment)
        return segments

    def locate(self, files: tuple[FilePath, FilePath], before: _Segment, after: _Segment) -> int:
        """Return the first line (from 0) of a segment, read from the lines that were left out."""
        import numpy as np

        start, end = before.end, after.line
        while start < end:
            windows = read_windows(*files, _spread(start, end))
            encoded = [self._association.encode(window) for window in windows]
            gains = self._gains_of(encoded, [None] * len(encoded))
            ratios = self._evidence(_joined(gains))
            change = _column(ratios, after.shift) - _column(ratios, before.shift)
            # The lines before the cut fit the shift before, the others that after.
            behind = np.concatenate([np.cumsum(change[::-1])[::-1], [0.0]])
            cut = int(np.argmax(behind))
            lines = [line for window in windows for line in range(window.start, window.end)]
            start = lines[cut - 1] + 1 if cut else start
            end = lines[cut] if cut < len(lines) else end
        return end


def _gains(window: EncodedWindow, scores: Any) -> "Gains":
    """Return the gain of each line at each shift; NaN where there is no line."""
    import numpy as np

    size, width = scores.shape
    has_words = window.tgt.sizes > 0
    at = np.arange(size)[:, None] + np.arange(len(SHIFTS))[None, :]
    is_far = np.repeat(has_words[None, :], size, axis=0)
    np.put_along_axis(is_far, at, False, axis=1)
    far = np.where(is_far, scores, 0).sum(axis=1) / np.maximum(is_far.sum(axis=1), 1)
    near = np.take_along_axis(scores, at, axis=1).astype(np.float64) - far[:, None]
    is_tested = (window.src.sizes > 0) & (is_far.sum(axis=1) > 0)
    is_there = has_words[at] & is_tested[:, None]
    assert width == size + 2 * MAX_SHIFT, "a window has lines on either side"
    gains: Gains = np.where(is_there, near, np.nan)
    return gains


def _joined(gains: "Iterable[Gains]") -> "Gains":
    import numpy as np

    return np.concatenate(list(gains))


def _column(gains: "Gains", shift: int | None) -> "Gains":
    import numpy as np

    return np.zeros(len(gains)) if shift is None else gains[:, shift + MAX_SHIFT]


def _clearness(gains: "Gains", shift: int) -> float:
    """Return the mean gain at a shift in standard errors; 0 for under ten lines."""
    return _standard_errors(_column(gains, shift))


def _standard_errors(values: "Gains") -> float:
    import numpy as np

    values = values[~np.isnan(values)]
    if len(values) < 10:
        return 0.0
    return float(values.mean() / (values.std() / np.sqrt(len(values)) + 1e-9))


def _better_shift(gains: "Gains", shift: int) -> int:
    """Return the shift of a window: another one only if its gain is clear and clearly larger."""
    best = max(SHIFTS, key=lambda other: _clearness(gains, other))
    if _clearness(gains, best) < WINDOW_CLEAR:
        return shift
    larger = _standard_errors(_column(gains, best) - _column(gains, shift))
    return best if larger >= WINDOW_CLEAR else shift


def _is_clear(segment: _Segment, gains: "Gains") -> bool:
    """Whether a segment is long enough and its shift stands out from shift 0."""
    part, total = gains[segment.rows], len(gains)
    if segment.shift is None:
        is_long = segment.size >= max(LEAST_UNRELATED, UNRELATED_SHARE * total)
        return is_long and max(_clearness(part, shift) for shift in SHIFTS) < CLEAR
    if segment.size < max(LEAST_SEGMENT, SEGMENT_SHARE * total):
        return False
    if segment.shift == 0:
        return True
    larger = _standard_errors(_column(part, segment.shift) - _column(part, 0))
    return min(_clearness(part, segment.shift), larger) >= CLEAR


def _viterbi(evidence: "Gains") -> list[int]:
    """Return the best state of each row, with a cost for each change; the first is shift 0.

    >>> import numpy as np
    >>> rows = np.zeros((60, len(SHIFTS)))
    >>> rows[:30, MAX_SHIFT] = rows[30:, 3] = 2.0
    >>> groups = [(state - MAX_SHIFT, len(list(rows))) for state, rows in groupby(_viterbi(rows))]
    >>> groups
    [(0, 30), (-7, 30)]
    """
    import numpy as np

    rows, states = evidence.shape
    total = np.full(states, -CHANGE_COST)
    total[MAX_SHIFT] = 0.0
    came_from = np.empty((rows, states), dtype=np.int64)
    every = np.arange(states)
    for row in range(rows):
        best = int(total.argmax())
        changes = total[best] - CHANGE_COST > total
        came_from[row] = np.where(changes, best, every)
        total = np.where(changes, total[best] - CHANGE_COST, total) + evidence[row]
    path = [int(total.argmax())]
    for row in range(rows - 1, 0, -1):
        path.append(int(came_from[row][path[-1]]))
    return path[::-1]
