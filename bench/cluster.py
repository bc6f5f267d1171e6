"""Bench of the cluster runner: one training here and on three nodes, and what each process took.

    python bench/run.py cluster                     100,000 pairs
    PAIRS="10000 30000" DEV=300 TUNING="2 3" python bench/run.py cluster

The text is the first lines of German-English in ../shared/data. The training runs once by the local
runner with one thread, and once on a Ray cluster of three nodes with a CPU each beside a head node
without; with "losses" among `RUNNERS` once more while in each stage the node that works on it is
killed and another one joins (`bench/cluster_losses.py`). All must end in the same bytes, else this
fails.
CPU time is that of all processes, Ray's own too, from the start of the cluster to its end, looked
up ten times a second; the rows also say what the stages themselves took, and which processes took
the rest. `ROOM` is where the folders go.
"""

import hashlib
import json
import lzma
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, ROOT, SHARED

NODES = 3
SMALL = {"object_store_memory": 80 << 20}
LANGS = ("de", "en")
#: Stages in each of which a node is lost.
LOSING = ("doctor", "prepare", "align", "extract", "lm", "annotate", "waw", "tune")
MARK = "WAYWORD_BENCH_CLUSTER"
#: What commands of processes have, and what these are; the first that fits.
KINDS = (
    ("raylet/raylet", "raylets"),
    ("gcs_server", "head"),
    ("log_monitor", "log monitors"),
    ("dashboard", "agents"),
    ("runtime_env", "agents"),
    ("ray::DashboardAgent", "agents"),
    ("ray::RuntimeEnvAgent", "agents"),
    ("monitor.py", "head"),
    ("default_worker.py", "workers"),
    ("ray::", "workers"),
    ("bench.cluster", "driver"),
)


def rows() -> list[dict[str, Any]]:
    """Measure what the environment asks for."""
    result = []
    for pairs in os.environ.get("PAIRS", "100000").split():
        result += compared(
            pairs=int(pairs),
            dev=int(os.environ.get("DEV", "300")),
            tuning=os.environ.get("TUNING", "2 3"),
            runners=os.environ.get("RUNNERS", "local cluster").split(),
        )
    return result


def compared(
    *, pairs: int, dev: int, tuning: str, runners: Sequence[str], features: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """A row for each runner; the first is what the others are compared with.

    ``tuning`` are its runs and rounds, ``features`` further models of the system.
    """
    runs, rounds = map(int, tuning.split())
    choices: dict[str, Any] = {"tune": {"runs": runs, "rounds": rounds}}
    if features:
        choices["model"] = {"features": list(features)}
    result: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("ROOM")) as name:
        folder = Path(name)
        write_text(folder, pairs, dev)
        (folder / "choices.json").write_text(json.dumps(choices))
        for runner in runners:
            row = {"runner": runner, "pairs": pairs, **measured(folder, runner)}
            if result:
                if contents(folder / runner) != contents(folder / runners[0]):
                    raise SystemExit(f"bench: {runner} and {runners[0]} differ: {folder}")
                row["same bytes"] = True
                for cost in ("CPU s", "CPU s of stages"):
                    row[f"{cost}, % over {runners[0]}"] = round(
                        100 * (row[cost] / result[0][cost] - 1), 1
                    )
            print(row, flush=True)
            result.append(row)
    return result


def write_text(folder: Path, pairs: int, dev: int) -> None:
    """The first lines of the pack."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in (("train", pairs), ("dev", dev)):
        for lang in LANGS:
            packed = SHARED / "data" / "de-en" / f"{name}.{lang}.xz"
            with lzma.open(packed, "rt", encoding="utf-8") as text:
                (folder / f"{name}.{lang}").write_text("".join(islice(text, lines)))


def contents(system: Path) -> dict[str, str]:
    """Digests of every file of a system but its work."""
    files = [path for path in system.iterdir() if path.is_file()]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def measured(folder: Path, runner: str) -> dict[str, Any]:
    """One training, in a process of its own, with the CPU time of all that it started."""
    command = [PYTHON, "-m", "bench.cluster", str(folder), runner]
    mark = f"{os.getpid()}-{runner}"
    start = time.monotonic()
    process = subprocess.Popen(command, env={**os.environ, MARK: mark}, stdout=sys.stderr, cwd=ROOT)
    ledger = Ledger(f"{MARK}={mark}".encode())
    while process.poll() is None:
        ledger.look()
        time.sleep(0.1)
    if process.returncode:
        raise SystemExit(f"bench: the {runner} run left with {process.returncode}")
    log = (folder / runner / "work" / "log.jsonl").read_text().splitlines()
    stages = [stage for stage in map(json.loads, log) if not stage["reused"]]
    facts = json.loads((folder / f"{runner}.json").read_text())
    return {
        "CPU s": round(sum(ledger.cpu.values()), 1),
        "CPU s of stages": round(sum(stage["cpu"] for stage in stages), 1),
        "wall s": round(time.monotonic() - start, 1),
        "processes": len(ledger.cpu),
        "of them workers": ledger.workers,
        **{f"CPU s, {stage['stage']}": stage["cpu"] for stage in stages},
        **{f"CPU s in {kind}": cpu for kind, cpu in ledger.by_kind().items()},
        **facts,
    }


class Ledger:
    """CPU seconds of all processes whose environment has a mark."""

    def __init__(self, mark: bytes) -> None:
        self._mark = mark
        self._other: set[str] = set()
        self._kinds: dict[str, str] = {}
        self.cpu: dict[str, float] = {}

    def look(self) -> None:
        """Note what every process has used so far."""
        for place in Path("/proc").iterdir():
            if place.name.isdigit():
                self._look_at(place)

    def _look_at(self, place: Path) -> None:
        try:
            fields = _stat(place)
            name = f"{place.name} {fields[19]}"  # numbers are given again, not with this start
            if name in self._other:
                return
            if name not in self.cpu and self._mark not in (place / "environ").read_bytes():
                self._other.add(name)
                return
            ticks = int(fields[11]) + int(fields[12])
            command = (place / "cmdline").read_text()
        except (OSError, IndexError):
            return
        self.cpu[name] = ticks / os.sysconf("SC_CLK_TCK")
        if command:
            # A process begins as a copy of the one that started it.
            self._kinds[name] = next((kind for sign, kind in KINDS if sign in command), command)

    @property
    def workers(self) -> int:
        """How many processes were workers of Ray."""
        return list(self._kinds.values()).count("workers")

    def by_kind(self) -> dict[str, float]:
        """What processes of each kind took together, the most first."""
        sums: defaultdict[str, float] = defaultdict(float)
        for name, cpu in self.cpu.items():
            sums[self._kinds.get(name, "others")] += cpu
        ordered = sorted(sums.items(), key=lambda item: -item[1])
        return {kind: round(cpu, 1) for kind, cpu in ordered}


def child(folder: Path, kind: str) -> None:
    """One training; what is to be told of it goes to a file."""
    from wayword.cluster import RayRunner
    from wayword.pipeline import assemble, plan
    from wayword.store import Store

    out = folder / kind
    train, dev = ([folder / f"{name}.{lang}" for lang in LANGS] for name in ("train", "dev"))
    choices = json.loads((folder / "choices.json").read_text())
    planned = plan(train[0], train[1], choices, dev=dev)
    facts: dict[str, Any] = {}
    if kind == "local":
        with Store(out / "work", threads=1) as store:
            assemble(out, planned, store)
    else:
        with cluster() as nodes, RayRunner(out / "work", address=nodes.address) as runner:
            losses = Losses(nodes, out / "work", LOSING if kind == "losses" else ())
            with ThreadPoolExecutor(2) as others:  # nodes are started by the main thread alone
                training = others.submit(assemble, out, planned, runner)
                watch = others.submit(losses.watch, training.done)
                while not training.done():
                    losses.kill()
                    wait([training], timeout=0.02 if losses.waiting else 0.5)
                training.result()
                watch.result()
            if losses.waiting:
                raise SystemExit(
                    f"bench: no node was lost in {losses.waiting}; they were too quick"
                )
            facts = {"lost": losses.lost} if losses.lost else {}
    (folder / f"{kind}.json").write_text(json.dumps(facts))


@contextmanager
def cluster() -> Iterator[Any]:
    """A head without a CPU, and nodes with one each."""
    from ray.cluster_utils import Cluster

    from wayword.cluster.runner import QUIET

    os.environ |= {**QUIET, "RAY_worker_niceness": "0"}
    head = {"num_cpus": 0, "include_dashboard": False, "include_log_monitor": False, **SMALL}
    nodes = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(NODES):
        nodes.add_node(num_cpus=1, **SMALL)
    try:
        yield nodes
    finally:
        nodes.shutdown()


class Losses:
    """Kills the node that works on a stage, once for each of these stages.

    A second thread looks for them all the time, and stops the processes of a node as soon as it is
    to be lost: killing it, and starting another one, takes longer than some stages.
    """

    def __init__(self, nodes: Any, work: Path, stages: tuple[str, ...]) -> None:
        self._nodes, self._work, self.waiting = nodes, work, list(stages)
        self._due: list[tuple[Any, list[int]]] = []
        self._stopped: set[str] = set()
        self.lost: list[str] = []

    def watch(self, is_over: Callable[[], bool]) -> None:
        """Stop the nodes of these stages until all is over."""
        while self.waiting and not is_over():
            for stage in list(self.waiting):
                self._look_for(stage)
            time.sleep(0.005)

    def _look_for(self, stage: str) -> None:
        for path in self._work.glob(f".{stage}-*.told.part"):
            try:
                node = json.loads(path.read_text())["node"]
            except (OSError, ValueError):
                continue
            if stage == "tune" and not list(self._work.glob(".tune-*.begun/rounds/run-1/*.json")):
                continue  # in the middle of it, after the first round
            for known in list(self._nodes.worker_nodes):
                if known.node_id == node and node not in self._stopped:
                    processes = _children_of(known.all_processes["raylet"][0].process.pid)
                    _send(signal.SIGSTOP, processes)
                    self._stopped.add(node)
                    self._due.append((known, processes))
            if node in self._stopped and path.exists():  # the stage was not done before
                self.lost.append(stage)
                self.waiting.remove(stage)
                return

    def kill(self) -> None:
        """Kill the nodes that are to be lost; others join."""
        while self._due:
            node, processes = self._due.pop()
            self._nodes.remove_node(node, allow_graceful=False)
            _send(signal.SIGKILL, processes)
            self._nodes.add_node(num_cpus=1, **SMALL)


def _send(sent: signal.Signals, processes: Sequence[int]) -> None:
    """Send a signal to processes that are still there."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, sent)


def _children_of(parent: int) -> list[int]:
    """The processes that this one started."""
    children = []
    for place in Path("/proc").iterdir():
        with suppress(OSError):
            if place.name.isdigit() and int(_stat(place)[1]) == parent:
                children.append(int(place.name))
    return children


def _stat(place: Path) -> list[str]:
    """What the system tells of a process, from its state on."""
    return (place / "stat").read_text().rpartition(")")[2].split()


if __name__ == "__main__":
    child(Path(sys.argv[1]), *sys.argv[2:])
