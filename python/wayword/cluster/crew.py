"""Tasks under way on a Ray cluster: sent, waited for, taken back when they are not wanted any more.

In: orders (``wayword.cluster.task``). Out: their reports as they come, or the error of a task as if
it had been raised here.
How: a task is tried again by Ray when its node or its process is lost, but not when it fails, nor
when its node is there and does not answer: such a task is dropped, and sent or made again.
Ray takes its CPUs from a task that waits for others, and starts one more process on its node to use
them; so who waits for a moment only does it in a second thread, where Ray takes nothing.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from wayword.cluster.hearing import told_name
from wayword.cluster.place import Place, Site
from wayword.cluster.task import RETRIES, WAIT, Order, Report, perform
from wayword.errors import LimitError, WaywordError

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Crew", "outcome"]

LAST_WORDS = 10.0  # seconds that tasks get to end when they are not wanted any more


class Crew:
    """Some tasks; used in a ``with`` block, at whose end none is left."""

    def __init__(self, site: Site, place: Place) -> None:
        import ray

        self._place = place
        self._orders: dict[Any, Order] = {}
        self._sent: dict[Any, float] = {}  # when
        self._remote = ray.remote(perform).options(
            num_cpus=site.threads, max_retries=RETRIES, scheduling_strategy="SPREAD"
        )

    def __enter__(self) -> "Crew":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: "TracebackType | None",
    ) -> None:
        import ray

        if not self._orders:
            return
        refs = list(self._orders)
        for ref in refs:
            ray.cancel(ref, recursive=True)
        _, left = ray.wait(refs, num_returns=len(refs), timeout=LAST_WORDS)
        for ref in left:
            ray.cancel(ref, force=True, recursive=True)
        self._drop_told()

    def _drop_told(self) -> None:
        """Forget tasks that were taken back, and what they told."""
        for order in self._orders.values():
            if order.is_heard:
                self._place.remove(self._place.root / told_name(order.stage))
        self._orders.clear()

    def send(self, order: Order) -> None:
        """Have a stage made."""
        ref = self._remote.remote(order)
        self._orders[ref], self._sent[ref] = order, time.monotonic()

    def overdue(self, seconds: float) -> Order | None:
        """What was sent first of all that is under way for longer than this; None for nothing."""
        for ref, order in self._orders.items():
            if time.monotonic() - self._sent[ref] > seconds:
                return order
        return None

    def drop(self, key: str) -> None:
        """Give up the task that makes the stage of this key, which somebody else makes."""
        import ray

        for ref in [ref for ref, order in self._orders.items() if order.stage.key == key]:
            ray.cancel(ref, force=True, recursive=True)
            self._orders.pop(ref)

    @property
    def orders(self) -> list[Order]:
        """What is under way, first sent first."""
        return list(self._orders.values())

    def done(self, *, wait: bool = True, hold: bool = False) -> Iterator[tuple[str, Report]]:
        """The keys and reports of tasks that are done; returns after a moment if none is.

        A task that is to ``hold`` its CPUs does so meanwhile.
        """
        refs = list(self._orders)
        ready = _ready(refs, 1 if wait else len(refs), WAIT if wait else 0, hold)
        for ref in ready:
            report = outcome(ref, self._orders[ref].stage.name)
            yield self._orders.pop(ref).stage.key, report


def _ready(refs: list[Any], count: int, timeout: float, hold: bool) -> list[Any]:
    import ray

    def wait() -> list[Any]:
        ready: list[Any] = ray.wait(refs, num_returns=count, timeout=timeout)[0]
        return ready

    if not hold:
        return wait()
    with ThreadPoolExecutor(1) as second:
        return second.submit(wait).result()


def outcome(ref: Any, name: str) -> Any:
    """What a task gave back; its error is raised as it was."""
    import ray
    from ray import exceptions

    try:
        return ray.get(ref)
    except exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, WaywordError | OSError):
            raise cause from None
        if isinstance(cause, BaseException):
            raise cause from error
        raise
    except exceptions.TaskCancelledError:
        raise KeyboardInterrupt from None
    except exceptions.OutOfMemoryError:
        advice = "give it a larger node, or fewer --threads and a smaller `memory`"
        raise LimitError(f"{name}: found no memory left on a node; {advice}") from None
    except exceptions.RayError as error:
        first = str(error).strip().splitlines()[0]
        found = f"its nodes or processes were lost {RETRIES} times or cannot start ({first})"
        raise WaywordError(f"{name}: {found}; look at the cluster with `ray status`") from None
