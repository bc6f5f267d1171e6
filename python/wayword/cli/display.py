"""What a long command is doing, on standard error: one line that moves, or one line a step.

In: what is being done, and how much of it; lines to say. Out: on a terminal one status line at the
bottom, with what was said above it; in a log the lines that were said, and after ten seconds
without one a line about what is being done, so that nothing is silent for longer.
How: a thread looks at the clock, so that a step which tells no progress is shown to be at work too.
Cost: a few lines a minute in a log; on a terminal four drawings a second.

>>> import io
>>> class Clock:
...     now = 0.0
>>> log = io.StringIO()
>>> display = Display("align", "pairs", stream=log, clock=lambda: Clock.now)
>>> display.progress(0, 4000)
>>> Clock.now = 12.0
>>> display.progress(3000, 4000)
>>> display.tick()
>>> display.say("align: 12 s")
>>> print(log.getvalue(), end="")
wayword: align: 3,000 of 4,000 pairs, 12 s so far, about 4 s left
wayword: align: 12 s
"""

import logging
import shutil
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TextIO

from wayword.report.table import width

if TYPE_CHECKING:
    from typing_extensions import Self

    from wayword.report.losses import Whole
    from wayword.stage import Result, Stage

__all__ = ["Display", "StageDisplay"]

SILENCE = 10.0  # seconds without a line in a log
FRAME = 0.25  # seconds between two drawings on a terminal
CLEAR = "\r\x1b[K"


class Display:
    """One thing that is being done; used in a ``with`` block."""

    def __init__(
        self,
        title: str = "",
        unit: str = "",
        *,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        self._is_terminal = self._stream.isatty()
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._is_drawn = False
        self._spoke = clock()
        self.begin(title, unit)

    def begin(self, title: str, unit: str = "") -> None:
        """From now on this is being done; nothing for an empty title."""
        with self._lock:
            self._title, self._unit = title, unit.strip()
            self._began = self._restarted = self._clock()
            self._done = self._total = 0

    def progress(self, done: int, total: int) -> None:
        """So much of it is done; a total of 0 is not known."""
        with self._lock:
            if done < self._done or total != self._total:  # another pass: its own pace
                self._restarted = self._clock()
            self._done, self._total = done, total

    @property
    def title(self) -> str:
        """What is being done."""
        return self._title

    def say(self, text: str) -> None:
        """Print lines that stay."""
        with self._lock:
            self._wipe()
            print(f"wayword: {text}", file=self._stream, flush=True)
            self._spoke = self._clock()

    def hand_out(self, text: str) -> None:
        """Print to standard output, whose terminal may be the same."""
        with self._lock:
            self._wipe()
            print(text, flush=True)

    def tick(self) -> None:
        """Draw, or say something if nothing was said for long."""
        with self._lock:
            if not self._title:
                return
            if self._is_terminal:
                self._draw()
            elif self._clock() - self._spoke >= SILENCE:
                self.say(self.status())

    def status(self) -> str:
        """What is being done, how much of it, for how long, and how long it may still take."""
        seconds = self._clock() - self._began
        parts = [*self._amount(), f"{_spoken(seconds)} so far"]
        pace = self._clock() - self._restarted
        if 0 < self._done < self._total and pace >= 1:
            left = pace * (self._total - self._done) / self._done
            parts.append(f"about {_spoken(left)} left")
        return f"{self._title}: {', '.join(parts)}"

    def _amount(self) -> list[str]:
        """How much is done; what is through may be followed by work that nobody counts."""
        unit = f" {self._unit}" if self._unit else ""
        if self._total == 0 and self._done:
            return [f"{self._done:,}{unit}"]
        if not 0 < self._done < self._total:
            return []
        if not self._unit:
            return [f"{100 * self._done // self._total} %"]
        return [f"{self._done:,} of {self._total:,}{unit}"]

    def _draw(self) -> None:
        columns = shutil.get_terminal_size().columns - 1
        text = f"wayword: {self.status()}"
        while width(text) > columns:
            text = text[:-1]
        self._stream.write(f"{CLEAR}{text}")
        self._stream.flush()
        self._is_drawn = True

    def _wipe(self) -> None:
        if self._is_drawn:
            self._stream.write(CLEAR)
            self._stream.flush()
            self._is_drawn = False

    def _watch_clock(self) -> None:
        while not self._stop.wait(FRAME):
            self.tick()

    def __enter__(self) -> "Self":
        self._ticker = threading.Thread(target=self._watch_clock, daemon=True)
        self._ticker.start()
        if self._is_terminal:
            self.tick()  # people see at once that the command is at work
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._ticker.join()
        with self._lock:
            self._wipe()


class StageDisplay(Display):
    """The stages of a run as they come: a line for each, for its losses and for tuning's rounds."""

    def __init__(self, *what: str, names: Mapping[str, str] | None = None, **options: Any) -> None:
        """``names`` are what stages are called here, by their keys."""
        super().__init__(*what, **options)
        self._names = names or {}
        self._rounds = _Rounds(self)
        self._whole: Whole | None = None
        self.results: list[Result] = []

    def watch(self, stage: "Stage", result: "Result | None") -> None:
        """A stage begins, or is there."""
        name = self._names.get(stage.key, stage.name)
        if result is None:
            self.begin(name)
            options = stage.options.get("tune") if isinstance(stage.options, dict) else None
            if options is not None:
                self.expect_rounds(options.runs, options.rounds)
            return
        self.begin("")
        self.expect_rounds(0, 0)
        self.results.append(result)
        took = "as before" if result.reused else _spoken(result.cost.seconds)
        self.say(f"{name}: {took}")
        self._tell_losses(stage, result, name)
        self._tell_untested(result, name)
        self._warn(stage, result)

    def expect_rounds(self, runs: int, rounds: int) -> None:
        """Tuning begins, with so many runs of at most so many rounds."""
        self._rounds.expect(runs, rounds)

    def _tell_losses(self, stage: "Stage", result: "Result", name: str) -> None:
        from wayword.report.losses import describe_gathered, losses_of

        if gathered := describe_gathered(result):
            self.say(f"{name}: {gathered}")
        losses = losses_of(stage, result)
        if losses is None or (stage.name != "doctor" and not losses.rows):
            return
        first, *table = losses.text().split("\n")
        quarantine = result.path / "clean" / "quarantine.tsv"
        if table and quarantine.exists():
            table.append(f"all of them, with reasons: {quarantine}")
        self.say("\n".join([f"{name}: {first}", *(f"  {line}" for line in table)]))

    def _tell_untested(self, result: "Result", name: str) -> None:
        """Say when a stage could not test whether lines belong together."""
        from wayword.align.misalignment import AlignmentCheck

        facts = result.facts.get("alignment", [])
        for values in facts if isinstance(facts, list) else [facts]:
            check = AlignmentCheck.from_dict(values)
            if check.status == "untested":
                self.say(f"{name}: lines: {check.describe()}")

    def _warn(self, stage: "Stage", result: "Result") -> None:
        """Say when much of the text is gone, all stages taken together."""
        from wayword.report.losses import Whole

        self._whole = self._whole or Whole()
        if warning := self._whole.warning(stage, result):
            self.say(f"warning: {warning}")

    def __enter__(self) -> "Self":
        self._rounds.attach()
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        self._rounds.detach()
        super().__exit__(*error)


class _Rounds(logging.Handler):
    """Passes on what tuning logs of each round, with the time that all rounds may still take."""

    def __init__(self, display: StageDisplay) -> None:
        super().__init__(logging.INFO)
        self._display = display
        self._logger = logging.getLogger("wayword.tune")
        self._level = self._logger.level
        self.expect(0, 0)

    def expect(self, runs: int, rounds: int) -> None:
        """Count rounds from here."""
        self._started, self._seen = time.monotonic(), 0
        self._runs, self._most = runs, rounds

    def emit(self, record: logging.LogRecord) -> None:
        """Say what was logged."""
        self._seen += 1
        title = self._display.title or "tune"
        self._display.say(f"{title}: {record.getMessage()}{self._left(record.args)}")

    def _left(self, args: Any) -> str:
        """How long it takes if every run has all its rounds; most end before."""
        if not (self._runs and isinstance(args, Mapping) and {"run", "round"} <= args.keys()):
            return ""
        rounds = (self._runs - args["run"]) * self._most + self._most - args["round"]
        pace = (time.monotonic() - self._started) / self._seen
        return f"; at most {_spoken(pace * rounds)} left"

    def attach(self) -> None:
        """Listen."""
        self._level = self._logger.level
        self._logger.setLevel(logging.INFO)
        self._logger.addHandler(self)

    def detach(self) -> None:
        """Listen no more."""
        self._logger.removeHandler(self)
        self._logger.setLevel(self._level)


def _spoken(seconds: float) -> str:
    """A time for people.

    >>> [_spoken(seconds) for seconds in (0.2, 59.6, 99, 1500, 3600)]
    ['0 s', '1 min 0 s', '1 min 39 s', '25 min', '1 h 0 min']
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 600:
        return f"{whole // 60} min {whole % 60} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
