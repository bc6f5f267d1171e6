"""Runs searches: a bounded queue, requests that are alike together, and a time limit for each.

In: tasks, from any thread. Out: futures. How: threads take the oldest task and, with it, waiting
ones that may share a search, so that many small requests keep all cores busy. A task that does not
fit the queue is refused at once. The core asks twenty times a second whether to go on: when the
time of a task is up its search is stopped, and others that ran with it start again without it.
Cost: a lock a task.

>>> pool = Pool(workers=1, queue=2, batch=8)
>>> def double(numbers, threads, progress):
...     return [2 * number for number in numbers]
>>> pool.submit(double, [1, 2], seconds=5.0).result()
[2, 4]
>>> pool.stop()
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from wayword.types import Progress

__all__ = ["Busy", "Pool", "TimeUp"]

#: Items, threads that may be used, what tells that time is up; an answer for each item.
Run = Callable[[Sequence[Any], int, Progress], Sequence[Any]]
#: How much the newest task counts in the mean time of a task.
NEWS = 0.1


class Busy(Exception):  # noqa: N818 - it is no error of anybody
    """The queue is full; try again after so many seconds."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class TimeUp(Exception):  # noqa: N818
    """The time of a task is up."""


@dataclass(eq=False)
class _Task:
    run: Run
    items: Sequence[Any]
    deadline: float
    #: tasks of equal keys may run together; None: alone
    key: Hashable | None
    future: "Future[Sequence[Any]]" = field(default_factory=Future)


class Pool:
    """Threads at work on a bounded queue."""

    def __init__(self, *, workers: int, queue: int, batch: int) -> None:
        self.workers, self.queue, self.batch = workers, queue, batch
        self._tasks: deque[_Task] = deque()
        self._change = threading.Condition()
        self._busy = self._taken = 0
        self._is_stopping = False
        #: seconds that a task took of late, one with another
        self.seconds = 0.05
        self._threads = [
            threading.Thread(target=self._work, name=f"search-{number}", daemon=True)
            for number in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def waiting(self) -> int:
        """Tasks in the queue."""
        return len(self._tasks)

    @property
    def running(self) -> int:
        """Threads at work."""
        return self._busy

    @property
    def is_full(self) -> bool:
        """Whether the next task would be refused.

        Of tasks that run together all but one count as waiting: each has to wait for the others.
        """
        return len(self._tasks) + self._taken >= self.queue + self.workers

    def patience(self) -> int:
        """Whole seconds after which it makes sense to try again."""
        return max(1, round(len(self._tasks) * self.seconds / self.workers))

    def submit(
        self, run: Run, items: Sequence[Any], *, seconds: float, key: Hashable | None = None
    ) -> "Future[Sequence[Any]]":
        """Queue a task; raises ``Busy`` when there is no room."""
        task = _Task(run, items, time.monotonic() + seconds, key)
        with self._change:
            if self._is_stopping or self.is_full:
                raise Busy(self.patience())
            self._tasks.append(task)
            self._change.notify()
        return task.future

    def stop(self) -> None:
        """Finish what is queued, take nothing more, and wait for the threads."""
        with self._change:
            self._is_stopping = True
            self._change.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (tasks := self._take()) is not None:
            start = time.monotonic()
            try:
                self._run(tasks)
            finally:
                with self._change:
                    self._busy -= 1
                    each = (time.monotonic() - start) / max(len(tasks), 1)
                    self.seconds += NEWS * (each - self.seconds)

    def _take(self) -> list[_Task] | None:
        """The oldest task and those that may run with it; None when there will be no more."""
        with self._change:
            while not self._tasks:
                if self._is_stopping:
                    return None
                self._change.wait()
            first = self._tasks.popleft()
            tasks, size = [first], len(first.items)
            if first.key is not None:
                # The others are left to threads that are free: a share for each.
                share = -(-len(self._tasks) // self.workers)
                for task in list(self._tasks):
                    if len(tasks) > share or size + len(task.items) > self.batch:
                        break
                    if task.key == first.key:
                        tasks.append(task)
                        size += len(task.items)
                        self._tasks.remove(task)
            self._busy += 1
            # From here on nobody can cancel them.
            tasks = [task for task in tasks if task.future.set_running_or_notify_cancel()]
            self._taken += len(tasks)
            return tasks

    def _run(self, tasks: list[_Task]) -> None:
        while tasks := [task for task in tasks if self._is_alive(task)]:
            soonest = min(task.deadline for task in tasks)

            def listen(_done: int, _total: int, soonest: float = soonest) -> None:
                if time.monotonic() > soonest:
                    raise TimeUp

            items = [item for task in tasks for item in task.items]
            threads = max(1, self.workers // max(self._busy, 1))
            try:
                answers = tasks[0].run(items, threads, listen)
            except TimeUp:
                continue  # without those whose time is up
            except BaseException as error:
                if len(tasks) > 1:  # it may be the fault of one of them
                    for task in tasks:
                        self._run([task])
                else:
                    self._leave()
                    tasks[0].future.set_exception(error)
                return
            start = 0
            for task in tasks:
                self._leave()
                task.future.set_result(answers[start : start + len(task.items)])
                start += len(task.items)
            return

    def _leave(self) -> None:
        """Make room for a task before whoever waits for this one can send the next."""
        with self._change:
            self._taken -= 1

    def _is_alive(self, task: _Task) -> bool:
        """Whether it still has time."""
        if time.monotonic() > task.deadline:
            self._leave()
            task.future.set_exception(TimeUp())
            return False
        return True
