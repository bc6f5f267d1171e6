"""What long commands say: one line that moves on a terminal, one line a step in a log."""

import io
from pathlib import Path

import pytest

from wayword.cli.display import Display, StageDisplay
from wayword.stage import Cost, Result, Stage
from wayword.stages import Text
from wayword.tune import run
from wayword.tune.options import Tune


class Terminal(io.StringIO):
    """Something that looks like a terminal."""

    def isatty(self) -> bool:
        """It is one."""
        return True


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def result_of(stage: Stage, seconds: float = 12.0, **facts: object) -> Result:
    return Result(stage.name, stage.key, Path(), facts, Cost(seconds, 1, 1), reused=False)


def test_a_log_is_never_silent_for_more_than_ten_seconds() -> None:
    log, clock = io.StringIO(), Clock()
    display = Display("prepare", stream=log, clock=clock)
    for second in range(61):
        clock.now = float(second)
        display.tick()
    assert log.getvalue().splitlines() == [
        f"wayword: prepare: {seconds} so far"
        for seconds in ("10 s", "20 s", "30 s", "40 s", "50 s", "1 min 0 s")
    ]


def test_short_work_says_nothing_in_a_log() -> None:
    log, clock = io.StringIO(), Clock()
    with Display("lm", "lines", stream=log, clock=clock) as display:
        display.progress(5, 10)
    assert log.getvalue() == ""


def test_a_terminal_has_one_line_that_is_wiped_for_what_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    screen, clock = Terminal(), Clock()
    display = Display("align", "pairs", stream=screen, clock=clock)
    display.progress(0, 1000)
    clock.now = 2.0
    display.progress(500, 1000)
    display.tick()
    drawn = screen.getvalue()
    assert drawn.startswith("\r\x1b[Kwayword: align: 500 of 1,000 pairs")
    assert len(drawn.removeprefix("\r\x1b[K")) == 39  # never more than a line
    display.say("align: 2 s")
    assert screen.getvalue().removeprefix(drawn) == "\r\x1b[Kwayword: align: 2 s\n"


def test_time_left_is_told_by_the_pace_of_this_pass() -> None:
    clock = Clock()
    display = Display("align", stream=io.StringIO(), clock=clock)
    display.progress(0, 100)
    clock.now = 60.0
    display.progress(100, 100)
    display.progress(0, 100)  # a second pass
    clock.now = 65.0
    display.progress(25, 100)
    assert display.status() == "align: 25 %, 1 min 5 s so far, about 15 s left"


def test_stages_are_told_by_name_with_their_losses() -> None:
    log = io.StringIO()
    stage = Stage("prepare", lambda _work: None, {"text": Text(max_length=80)})
    display = StageDisplay(names={stage.key: "prepare (long words)"}, stream=log)
    display.watch(stage, None)
    assert display.title == "prepare (long words)"
    facts = {"pairs": 80, "dev": 0, "too_long": 20, "no_words": 0}
    display.watch(stage, result_of(stage, **facts))
    said = log.getvalue().splitlines()
    assert said[:2] == [
        "wayword: prepare (long words): 12 s",
        "wayword: prepare (long words): 20 of 100 pairs taken out (20.0 %); 80 kept",
    ]
    assert said[-1].startswith("wayword: warning: 20.0 % of the text was taken out; to keep it,")


def test_rounds_of_tuning_are_told_with_the_most_time_left() -> None:
    log = io.StringIO()
    stage = Stage("tune", lambda _work: None, {"tune": Tune(runs=2, rounds=3)})
    with StageDisplay(stream=log) as display:
        display.watch(stage, None)
        record = {"run": 2, "round": 3, "score": 31.415}
        run.LOG.info("run %(run)d, round %(round)d: dev score %(score).2f", record)
    assert log.getvalue() == "wayword: tune: run 2, round 3: dev score 31.41; at most 0 s left\n"
    run.LOG.info("run %d", 3)
    assert "run 3" not in log.getvalue()
