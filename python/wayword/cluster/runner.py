"""Executes stages on a Ray cluster; the folder of results is that of the local runner.

In: stages (``wayword.stage``), a cluster. Out: the same results as ``wayword.store`` gives.
How: see ``wayword.cluster``. This process holds the lock of the folder, compares what is there,
sends what is missing as soon as its inputs are there, and tells how far a stage under way is.
Cost: Ray's processes; a worker process takes about a second to start.
Not: surviving the loss of this process, or of Ray's head node: run the same command again, and what
was finished, shards too, is found.
"""

import logging
import os
import secrets
import signal
import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wayword import __version__
from wayword.cluster.crew import Crew, outcome
from wayword.cluster.hearing import Hearing, told_name
from wayword.cluster.place import Place, Site
from wayword.cluster.task import Order
from wayword.errors import ArgumentError, WaywordError
from wayword.stage import Result, Stage, Watch, in_order
from wayword.store import LOCK, Store
from wayword.types import FilePath, Progress

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["RayRunner", "open_runner"]

log = logging.getLogger(__name__)

SHARDS = 2  # for each task that can run at a time, so that a slow or lost one costs little
REACHING = 10.0  # seconds that a head node gets to answer
TIDYING = 30.0  # seconds that nodes get to remove their copies
PATIENCE = 300.0  # seconds
OBJECT_STORE = 80 << 20  # bytes; Ray takes no less, and we need less
#: What Ray's processes need not do for us: count and report what they do, also to its makers.
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_enable_metrics_collection": "0",
    "RAY_event_stats": "0",
    "RAY_task_events_report_interval_ms": "0",
}


def open_runner(
    name: str,
    folder: FilePath,
    *,
    storage: str = "",
    threads: int = 0,
    progress: Progress | None = None,
    watch: Watch | None = None,
) -> Store:
    """The runner of this name: ``local``, ``ray`` or ``ray:ADDRESS``; used in a ``with`` block.

    >>> open_runner("slurm", "work")
    Traceback (most recent call last):
    ...
    wayword.errors.ArgumentError: --runner: found `slurm`; expected local, ray or ray:ADDRESS
    """
    kind, _, address = name.partition(":")
    room: dict[str, Any] = {"threads": threads, "progress": progress, "watch": watch}
    if name == "local":
        if storage:
            expected = "--runner ray beside it; the local runner keeps all in one folder"
            raise ArgumentError(f"--storage: found `{storage}`; expected {expected}")
        return Store(folder, **room)
    if kind != "ray" or address.startswith("ray:"):
        expected = "local, ray or ray:ADDRESS"
        raise ArgumentError(f"--runner: found `{name}`; expected {expected}")
    return RayRunner(folder, address=address, storage=storage, **room)


class RayRunner(Store):
    """A folder of finished stages that nodes of a cluster fill."""

    def __init__(
        self,
        folder: FilePath,
        *,
        address: str = "",
        storage: str = "",
        threads: int = 0,
        progress: Progress | None = None,
        watch: Watch | None = None,
        width: int = 0,
        patience: float = PATIENCE,
    ) -> None:
        """``address`` is that of the head node, such as ``10.0.0.1:6379``.

        Empty: the cluster that runs on this machine, or else ``local``: one of this machine alone,
        for this run.
        ``threads`` are the CPUs of a task (0: those of the smallest node), ``width`` the shards of
        a stage (0: two for each task that can run at a time). Without ``storage`` the folder, and
        files that go into stages, must be seen under the same path on all nodes. A task of which
        nothing is heard for ``patience`` seconds is given to another node.
        """
        path = Path(folder).resolve()
        super().__init__(path, threads=threads, progress=progress, watch=watch, width=width)
        self._address, self._storage, self._patience = address, storage, patience
        self._is_connected_here = False
        self._joined: Site | None = None

    @property
    def _site(self) -> Site:
        assert self._joined is not None, "used in a with block"
        return self._joined

    def __enter__(self) -> "RayRunner":
        super().__enter__()
        try:
            self._connect()
            self._joined = self._surveyed()
            self._place = Place.of_driver(self._site)
            if self._place.objects is not None:
                self._place.objects.write(LOCK, b"")
            self._check_nodes()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: "TracebackType | None",
    ) -> None:
        try:
            self._leave()
        finally:
            super().__exit__(kind, error, trace)

    def _leave(self) -> None:
        """Take what this run left from the nodes, and let the cluster go."""
        if self._joined is None and not self._is_connected_here:
            return
        import ray

        if self._storage and self._joined is not None and ray.is_initialized():
            refs = [ref for _, ref in self._on_each_node("tidy")]
            ray.wait(refs, num_returns=len(refs), timeout=TIDYING)
        if self._is_connected_here:
            ray.shutdown()
            self._is_connected_here = False

    def _connect(self) -> None:
        """Connect to the cluster, unless this process is connected already."""
        try:
            import ray
        except ImportError:
            advice = "install it with `pip install wayword[cluster]`"
            raise WaywordError(f"--runner: found no Ray; {advice}") from None
        if ray.is_initialized():
            return
        in_main = threading.current_thread() is threading.main_thread()
        kept = signal.getsignal(signal.SIGTERM) if in_main else None
        try:
            _check_reached(self._address)
            self._init(self._address or "auto")
        except (OSError, RuntimeError, ValueError) as error:
            if self._address:
                found = str(error).strip().splitlines()[0]
                advice = "start one with `ray start --head`, or leave the address out"
                raise WaywordError(
                    f"--runner: no cluster at {self._address} ({found}); {advice}"
                ) from None
            self._init("local")
        finally:
            if in_main:
                signal.signal(signal.SIGTERM, kept)  # Ray sets one of its own
        self._is_connected_here = True

    @staticmethod
    def _init(address: str) -> None:
        """Have Ray connect, or start on this machine alone for an address of ``local``."""
        import ray

        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if address == "local":
            for name, value in QUIET.items():
                os.environ.setdefault(name, value)
            quiet |= {"include_dashboard": False, "object_store_memory": OBJECT_STORE}
        ray.init(address=address, **quiet)

    def _surveyed(self) -> Site:
        """What all tasks of this run have in common, by the nodes that are there."""
        usable = [int(node["Resources"]["CPU"]) for node in self._working_nodes()]
        if not usable:
            raise WaywordError("--runner: found no node with a CPU; look at `ray status`")
        threads = self.threads or min(usable)
        if threads > max(usable):
            expected = f"at most {max(usable)}, the CPUs of the largest node"
            raise ArgumentError(f"--threads: found {threads}; expected {expected}")
        slots = sum(count // threads for count in usable)
        width = self.width or SHARDS * slots
        run = secrets.token_hex(6)
        room = (threads, slots, width, self._patience)
        return Site(str(self.folder), self._storage, run, __version__, *room)

    def _working_nodes(self) -> list[Any]:
        """Nodes with a CPU; a process that is started on another one would only cost."""
        import ray

        alive = [node for node in ray.nodes() if node["Alive"]]
        return [node for node in alive if node["Resources"].get("CPU", 0) >= 1]

    def _on_each_node(self, name: str) -> list[tuple[str, Any]]:
        """Call a function of ``task`` on every node that works; their addresses, and the tasks."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        from wayword.cluster import task

        refs = []
        for node in self._working_nodes():
            here = NodeAffinitySchedulingStrategy(node["NodeID"], soft=True)
            remote = ray.remote(getattr(task, name)).options(num_cpus=0, scheduling_strategy=here)
            refs.append((node["NodeManagerAddress"], remote.remote(self._site)))
        return refs

    def _check_nodes(self) -> None:
        """Refuse nodes of another version, or that do not see the files, before any work."""
        for address, ref in self._on_each_node("look"):
            if not _answer(address, ref, "look"):
                found = f"node {address}: found no {self._storage or self.folder}"
                advice = "share the folder under the same path, or give --storage URL"
                raise WaywordError(f"{found}; expected one that all nodes see; {advice}")

    def run(self, stages: Sequence[Stage]) -> list[Result]:
        """The results of these stages; those that do not need each other run side by side."""
        waiting = [stage for stage in in_order(stages) if stage.key not in self._results]
        known = {stage.key: stage for stage in waiting}
        with Crew(self._site, self._place) as crew:
            hearing = Hearing(self._place, self.progress)
            while True:
                self._send_ready(waiting, crew, hearing)
                if not crew.orders:
                    break
                hearing.listen([order.stage for order in crew.orders])
                self._send_again(crew, hearing)
                for key, report in crew.done():
                    hearing.end(known[key], report)
                    self._finish(known[key], self._place.receive(report.result))
                    if hearing.shown is None and crew.orders:
                        self._show(crew.orders[0].stage, hearing)
        return [self._results[stage.key] for stage in stages]

    def _send_ready(self, waiting: list[Stage], crew: Crew, hearing: Hearing) -> None:
        """Send the stages whose inputs are there; what was made before is done with at once."""
        while ready := [stage for stage in waiting if self._is_ready(stage)]:
            for stage in ready:
                waiting.remove(stage)
                self._show(stage, hearing)
                self._place.fetch_stage(self._path(stage))
                result = self.kept(stage)
                if result is not None:
                    hearing.shown = None
                    self._finish(stage, result)
                    continue
                self._place.remove(self._path(stage))  # what is damaged
                self._place.remove(self.folder / told_name(stage))
                log.info("%s: begins", stage.name)
                inputs = self._place.send(stage.inputs, self._results)
                crew.send(Order(self._site, stage, inputs, is_heard=True))

    def _send_again(self, crew: Crew, hearing: Hearing) -> None:
        """Have stages of which nothing is heard made elsewhere: a node may be frozen."""
        for order in crew.orders:
            if hearing.silence(order.stage) > self._site.patience:
                told = "%s: nothing was heard of it for %.0f s; it is given to another node"
                log.warning(told, order.stage.name, hearing.silence(order.stage))
                hearing.forget(order.stage)
                crew.drop(order.stage.key)  # if its node wakes up, it shall not go on
                crew.send(order)

    def _is_ready(self, stage: Stage) -> bool:
        return all(needed.key in self._results for needed in stage.needs)

    def _show(self, stage: Stage, hearing: Hearing) -> None:
        """Tell that a stage is being done; of several that are, the last one told is shown."""
        hearing.shown = stage
        self._watch(stage, None)

    def _finish(self, stage: Stage, result: Result) -> None:
        if not result.reused:
            log.info("%s: %.1f s", stage.name, result.cost.seconds)
        self._results[stage.key] = result
        self._note(result)
        self._watch(stage, result)


def _check_reached(address: str) -> None:
    """Fail soon when nobody listens there; Ray would wait for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdecimal():
        with socket.create_connection((host, int(port)), timeout=REACHING):
            pass


def _answer(address: str, ref: Any, name: str) -> Any:
    """What a node answered; without wayword it cannot."""
    try:
        return outcome(ref, name)
    except (ImportError, RuntimeError) as error:
        found = f"found no wayword that works ({str(error).strip().splitlines()[-1]})"
        expected = f"expected wayword {__version__}; install it on all nodes"
        raise WaywordError(f"node {address}: {found}; {expected}") from None
