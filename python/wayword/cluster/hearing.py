"""What stages under way tell the driver: how far they are, and what they log.

In: the small files that tasks leave (``wayword.cluster.task``). Out: progress of the stage that is
shown, and log records as if they had been written here, each once.
"""

import json
import logging
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wayword.cluster.place import Place
from wayword.stage import Stage
from wayword.types import Progress

if TYPE_CHECKING:
    from wayword.cluster.task import Report

__all__ = ["Hearing", "Told", "retell", "told_name"]

#: A log record, in plain values.
Told = Mapping[str, Any]

PACE = 1.0  # seconds between two looks


def told_name(stage: Stage) -> str:
    """The file in which a stage tells how far it is; it is swept with others of this ending."""
    return f".{stage.name}-{stage.key}.told.part"


def retell(told: Sequence[Told]) -> None:
    """Log here what was logged elsewhere."""
    for one in told:
        logger = logging.getLogger(one["name"])
        if logger.isEnabledFor(one["level"]):
            message = {"msg": one["text"], "args": one["args"], "name": one["name"]}
            level = {"levelno": one["level"], "levelname": logging.getLevelName(one["level"])}
            logger.handle(logging.makeLogRecord({**message, **level}))


class Hearing:
    """What was heard of stages so far; ``shown`` is the one whose progress is passed on."""

    def __init__(self, place: Place, progress: Progress | None) -> None:
        self._place, self._progress = place, progress
        self._heard: dict[tuple[str, str], int] = {}  # records, by stage and attempt
        self._looked = 0.0
        self._last: dict[str, tuple[Any, float]] = {}  # what a stage told last, and when
        self.shown: Stage | None = None

    def listen(self, stages: Sequence[Stage]) -> None:
        """Pass on what is new."""
        if time.monotonic() - self._looked < PACE:
            return
        self._looked = time.monotonic()
        for stage in stages:
            state = self._state(stage)
            if state is None:
                continue
            if stage.key not in self._last or self._last[stage.key][0] != state:
                self._last[stage.key] = state, self._looked
            self._retell(stage, state["attempt"], state["told"])
            if stage is self.shown and self._progress is not None and "progress" in state:
                self._progress(*state["progress"])

    def silence(self, stage: Stage) -> float:
        """Seconds since a stage told anything; 0 for one that has not begun."""
        told = self._last.get(stage.key)
        return 0.0 if told is None else time.monotonic() - told[1]

    def forget(self, stage: Stage) -> None:
        """Wait for a word of a stage anew."""
        self._last.pop(stage.key, None)
        self._place.remove(self._place.root / told_name(stage))

    def _state(self, stage: Stage) -> Any:
        """What a stage told last; None when it has not, or is just writing it."""
        data = self._place.read(told_name(stage))
        try:
            return None if data is None else json.loads(data)
        except ValueError:
            return None

    def end(self, stage: Stage, report: "Report") -> None:
        """Pass on the rest of what a stage told."""
        self._retell(stage, report.attempt, report.told)
        self.forget(stage)
        if stage is self.shown:
            self.shown = None

    def _retell(self, stage: Stage, attempt: str, told: Sequence[Told]) -> None:
        place = stage.key, attempt
        retell(told[self._heard.get(place, 0) :])
        self._heard[place] = len(told)
