"""Bench of the cluster runner: one training here, on three nodes, and with nodes lost.

    python -m bench.cluster FOLDER --pairs 100000

The text is the first lines of German-English in ../shared/data; without that folder it says so. The
training runs once by the local runner with one thread; once on a Ray cluster of three nodes with a
CPU each beside a head node without; and once more while in each stage the node that works on it is
killed and another one joins. All must end in the same bytes.
CPU time is that of all processes, Ray's own too, looked up ten times a second; the rows also say
what the stages themselves took.
"""

import argparse
import hashlib
import json
import lzma
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, SHARED, show, write_result

NODES = 3
SMALL = {"object_store_memory": 80 << 20}
LANGS = ("de", "en")
#: Stages in each of which a node is lost.
LOSING = ("doctor", "prepare", "align", "extract", "lm", "tune")
MARK = "WAYWORD_BENCH_CLUSTER"


def main() -> None:
    """Measure, and write the result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--dev", type=int, default=300)
    parser.add_argument("--tuning", type=int, nargs=2, default=(2, 4), metavar=("RUNS", "ROUNDS"))
    parser.add_argument("--name", default="cluster", help="of the result")
    parser.add_argument("--child", choices=("local", "cluster", "losses"))
    args = parser.parse_args()
    if args.child:
        child(args)
        return
    if not (SHARED / "data" / "de-en").is_dir():
        raise SystemExit("bench: the real data folder ../shared is not there")
    write_text(args.folder, args.pairs, args.dev)
    rows = [measured(args, kind) for kind in ("local", "cluster", "losses")]
    rows[0]["same bytes"] = ""
    calm = rows[0]["CPU s"]
    for row, kind in zip(rows[1:], ("cluster", "losses"), strict=True):
        row["same bytes"] = contents(args.folder / kind) == contents(args.folder / "local")
        row["over local, %"] = round(100 * (row["CPU s"] / calm - 1), 1)
    show(rows)
    print(write_result(args.name, rows))


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


def measured(args: argparse.Namespace, kind: str) -> dict[str, Any]:
    """One training, in a process of its own, with the CPU time of all that it started."""
    shutil.rmtree(args.folder / kind, ignore_errors=True)
    tuning = map(str, args.tuning)
    options = ["--pairs", str(args.pairs), "--dev", str(args.dev), "--tuning", *tuning]
    command = [PYTHON, "-m", "bench.cluster", str(args.folder), *options, "--child", kind]
    mark = f"{os.getpid()}-{kind}"
    start = time.monotonic()
    process = subprocess.Popen(command, env={**os.environ, MARK: mark}, stdout=sys.stderr)
    ledger = Ledger(f"{MARK}={mark}".encode())
    while process.poll() is None:
        ledger.look()
        time.sleep(0.1)
    if process.returncode:
        raise SystemExit(f"bench: the {kind} run left with {process.returncode}")
    log = (args.folder / kind / "work" / "log.jsonl").read_text().splitlines()
    stages = [stage for stage in map(json.loads, log) if not stage["reused"]]
    facts = json.loads((args.folder / f"{kind}.json").read_text())
    return {
        "runner": kind,
        "pairs": args.pairs,
        "CPU s": round(ledger.cpu, 1),
        "of stages": round(sum(stage["cpu"] for stage in stages), 1),
        "wall s": round(time.monotonic() - start, 1),
        "processes": len(ledger.seen),
        **{f"CPU s, {stage['stage']}": stage["cpu"] for stage in stages},
        **facts,
    }


class Ledger:
    """CPU seconds of all processes whose environment has a mark."""

    def __init__(self, mark: bytes) -> None:
        self._mark = mark
        self._other: set[str] = set()
        self.seen: dict[str, float] = {}

    def look(self) -> None:
        """Note what every process has used so far."""
        for place in Path("/proc").iterdir():
            if place.name.isdigit():
                self._look_at(place)

    def _look_at(self, place: Path) -> None:
        try:
            fields = (place / "stat").read_text().rpartition(")")[2].split()
            name = f"{place.name} {fields[19]}"  # numbers are given again, not with this start
            if name in self._other:
                return
            if name not in self.seen and self._mark not in (place / "environ").read_bytes():
                self._other.add(name)
                return
            ticks = int(fields[11]) + int(fields[12])
        except (OSError, IndexError):
            return
        self.seen[name] = ticks / os.sysconf("SC_CLK_TCK")

    @property
    def cpu(self) -> float:
        """The sum."""
        return sum(self.seen.values())


def child(args: argparse.Namespace) -> None:
    """One training; what is to be told of it goes to a file."""
    from wayword.cluster import RayRunner
    from wayword.pipeline import assemble, plan
    from wayword.store import Store

    runs, rounds = args.tuning
    folder, out = args.folder, args.folder / args.child
    train, dev = ([folder / f"{name}.{lang}" for lang in LANGS] for name in ("train", "dev"))
    config = {"tune": {"runs": runs, "rounds": rounds}}
    planned = plan(train[0], train[1], config, dev=dev)
    facts: dict[str, Any] = {}
    if args.child == "local":
        with Store(out / "work", threads=1) as store:
            assemble(out, planned, store)
    else:
        with cluster() as nodes, RayRunner(out / "work", address=nodes.address) as runner:
            losses = Losses(nodes, out / "work", LOSING if args.child == "losses" else ())
            with ThreadPoolExecutor(1) as other:  # nodes are started by the main thread alone
                training = other.submit(assemble, out, planned, runner)
                while not training.done():
                    losses.look()
                    time.sleep(0.02)
                training.result()
            facts = {"lost": losses.lost} if losses.lost else {}
    (folder / f"{args.child}.json").write_text(json.dumps(facts))


@contextmanager
def cluster() -> Iterator[Any]:
    """A head without a CPU, and nodes with one each."""
    from ray.cluster_utils import Cluster

    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    head = {"num_cpus": 0, "include_dashboard": False, **SMALL}
    nodes = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(NODES):
        nodes.add_node(num_cpus=1, **SMALL)
    try:
        yield nodes
    finally:
        nodes.shutdown()


class Losses:
    """Kills the node that works on a stage, once for each of these stages."""

    def __init__(self, nodes: Any, work: Path, stages: tuple[str, ...]) -> None:
        self._nodes, self._work, self._waiting = nodes, work, list(stages)
        self.lost: list[str] = []

    def look(self) -> None:
        """Look at what stages tell of their node."""
        for stage in list(self._waiting):
            self._look_for(stage)

    def _look_for(self, stage: str) -> None:
        for path in self._work.glob(f".{stage}-*.told.part"):
            try:
                node = json.loads(path.read_text())["node"]
            except (OSError, ValueError):
                continue
            if stage == "tune" and not list(self._work.glob(".tune-*.begun/rounds/run-1/*.json")):
                continue  # in the middle of it, after the first round
            for known in list(self._nodes.worker_nodes):
                if known.node_id == node:
                    self._nodes.remove_node(known, allow_graceful=False)
                    self.lost.append(stage)
                    self._waiting.remove(stage)
                    self._nodes.add_node(num_cpus=1, **SMALL)
                    return


if __name__ == "__main__":
    main()
