"""Bench of the server, on loopback: load, overload, memory, suggestions, kills.

A toy system answers in a process of its own, clients ask from this one over kept connections.
*Load*: so many clients, each with its next request as soon as the last is answered, and a queue
that takes all. *Overload*: ten times the requests a second that it served, whether it answers or
not, by ``bench/flood.py``, with the queue it has by default; what is refused with 503 counts as
refused, and those served must be so within three times what one sees that asks alone. Both are
measured in turns, two seconds each, so that other work of the machine meets both. *Memory*:
resident size while requests go on. *Kills*: a server is killed in the middle of learning, fifty
times; no pair that it said it had learned may be missing, none half there. The clients share the
cores with the server. A second of requests before each row wakes it up, and is not counted.

    python bench/run.py serve
    python bench/serve.py --requests 100000      # the long run for memory
    python bench/serve.py --overload 4           # the overload alone, four times
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench.measure import PYTHON, show, write_result
from wayword.corpus import toy
from wayword.learn import JOURNAL, Journal
from wayword.pipeline import train
from wayword.system import System
from wayword.web.options import Options

PAIRS, SEED = 2000, 1
WARM = 1.0
CLIENTS = (1, 8, 64, 256)
SECONDS = 6.0
#: Seconds of a block of the overload, and blocks of each kind, in turns.
BLOCK, BLOCKS = 2.0, 5
#: Asks at a rate; requests a second that leave no pause; requests of a crowd at a time.
FLOOD, EAGER, CROWD = Path(__file__).with_name("flood.py"), 1000.0, 400
#: Sentences of a request in the overload, and how many times what it can do is asked.
PARAGRAPH, TIMES = 5, 10
#: Times the unloaded p99 that a served request may take under overload.
PROMISED = 3.0
#: Requests that a server takes at a time.
PLACES = Options().workers + Options().waiting
KILLS = 50
QUICK: dict[str, Any] = {
    "lm": {"order": 4},
    "tune": {"runs": 1, "rounds": 2, "nbest": 50},
    "search": {"pop_limit": 200},
}
Row = dict[str, Any]


def rows(requests: int = 5000) -> list[Row]:
    """All of it."""
    with trained() as (folder, lines):
        measured = []
        with started(folder / "system", "--queue", "1000") as (port, child):
            measured += [asyncio.run(load(port, lines, clients)) for clients in CLIENTS]
            measured.append(asyncio.run(memory(port, lines, child.pid, requests)))
        with started(folder / "system") as (port, child):
            for is_kept in (True, False):
                measured += overload(port, lines, child.pid, is_kept=is_kept)
        measured += [suggestions(folder / "system", lines), kills(folder / "system", lines)]
        return measured


def overloads(times: int) -> list[Row]:
    """The overload alone, several times: on a machine with other work one time says little."""
    measured: list[Row] = []
    with trained() as (folder, lines):
        for number in range(1, times + 1):
            for is_kept in (True, False):
                with started(folder / "system") as (port, child):
                    rows_of_run = overload(port, lines, child.pid, is_kept=is_kept)
                measured += [{"run": number, **row} for row in rows_of_run]
    return measured


@contextmanager
def trained() -> Iterator[tuple[Path, list[str]]]:
    """A folder with a toy system, and the sentences of its test set."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        toy.write("de-en", PAIRS, folder, seed=SEED)
        train(folder / "train.de", folder / "train.en", folder / "system", config=QUICK)
        yield folder, (folder / "test.de").read_text(encoding="utf-8").splitlines()


@contextmanager
def started(system: Path, *options: str) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """A server on a port of its own."""
    command = [PYTHON, "-m", "wayword", "serve", str(system), "--port", "0", "--quiet", *options]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    port = int(child.stdout.readline().split()[3].rpartition(":")[2])
    try:
        yield port, child
    finally:
        child.terminate()
        child.wait()
        child.stdout.close()


class Client:
    """One kept connection."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def ask(self, path: str, body: Any) -> tuple[int, float]:
        """The status of an answer, and the seconds it took."""
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        assert self.reader is not None
        data = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        start = time.monotonic()
        self.writer.write(f"{head}content-length: {len(data)}\r\n\r\n".encode() + data)
        answered = await self.reader.readuntil(b"\r\n\r\n")
        status = int(answered.split(b" ", 2)[1])
        fields = dict(
            line.lower().split(b": ", 1) for line in answered.split(b"\r\n")[1:] if b": " in line
        )
        await self.reader.readexactly(int(fields[b"content-length"]))
        if fields.get(b"connection") == b"close":
            self.close()
        return status, time.monotonic() - start

    def close(self) -> None:
        """End the connection."""
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


def question(text: str) -> Row:
    """The body of a request."""
    return {"q": text, "source": "de", "target": "en"}


async def load(port: int, lines: list[str], clients: int, seconds: float = SECONDS) -> Row:
    """So many clients for so many seconds."""
    start = time.monotonic() + WARM
    end = start + seconds
    times: list[float] = []

    async def visit(number: int) -> None:
        client, choice = Client(port), random.Random(number)
        while time.monotonic() < end:
            status, took = await client.ask("/translate", question(choice.choice(lines)))
            assert status == 200, status
            if time.monotonic() - took > start:
                times.append(took)
        client.close()

    await asyncio.gather(*(visit(number) for number in range(clients)))
    return {"what": f"load, {clients} clients, a sentence each", **figures(times, seconds)}


def figures(times: list[float], seconds: float) -> Row:
    """Requests a second, and how long half and nearly all of them took at most."""
    cuts = statistics.quantiles(times, n=100)
    return {
        "requests/s": round(len(times) / seconds, 1),
        "p50 ms": round(1000 * cuts[49], 1),
        "p99 ms": round(1000 * cuts[98], 1),
    }


def overload(port: int, lines: list[str], process: int, *, is_kept: bool) -> list[Row]:
    """One request after the other, as many as it can serve, and ten times that."""
    busy_before = busy(process)
    texts = [" ".join(lines[at : at + PARAGRAPH]) for at in range(0, 100, PARAGRAPH)]
    bodies = json.dumps([question(text) for text in texts])

    def ask(rate: float, most: int) -> Row:
        options = ["--most", str(most), *(["--kept"] if is_kept else [])]
        command = [PYTHON, str(FLOOD), str(port), str(rate), str(BLOCK), *options]
        done = subprocess.run(command, input=bodies, capture_output=True, text=True, check=True)
        outcome: Row = json.loads(done.stdout)
        assert not outcome["lost"], outcome["lost"]
        return outcome

    # In turns: whatever else the machine does meets all three.
    alone_parts, able_parts, parts, visits = [], [], [], []
    for _ in range(BLOCKS):
        alone_parts.append(ask(EAGER, 1))
        able_parts.append(ask(EAGER, PLACES))
        with visited(port) as seconds:
            parts.append(ask(TIMES * len(able_parts[-1]["times"]) / BLOCK, CROWD))
        visits += seconds
    spent, others = (
        after - before for after, before in zip(busy(process), busy_before, strict=True)
    )
    total = BLOCK * BLOCKS
    alone, able, served = (
        figures([took for part in group for took in part["times"]], total)
        for group in (alone_parts, able_parts, parts)
    )
    outcome = {name: sum(part[name] for part in parts) for name in ("sent", "refused", "cpu")}
    ratio = served["p99 ms"] / alone["p99 ms"]
    if ratio > PROMISED:
        print(f"serve: p99 {ratio:.2f} times that of one client; {PROMISED} was promised")
    what = f"{PARAGRAPH} sentences each, connections {'kept' if is_kept else 'of their own'}"
    return [
        {"what": f"one at a time, {what}", **alone},
        {"what": f"{PLACES} at a time, {what}", **able},
        {
            "what": f"{TIMES} times that, {what}",
            **served,
            "asked/s": round(outcome["sent"] / total, 1),
            "503": outcome["refused"],
            "p99 / alone": round(ratio, 2),
            "health ms": round(1000 * max(visits), 1),
            "generator, % of a core": round(100 * outcome["cpu"] / total, 1),
            "other work, % of the busy time": round(100 * others / (spent + others)),
        },
    ]


def busy(process: int) -> tuple[float, float]:
    """CPU seconds of a server, this process and what it ran, and those of everybody else."""
    tick = os.sysconf("SC_CLK_TCK")
    values = [int(text) for text in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    used = (sum(values[:3]) + sum(values[5:8])) / tick
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    of_server = (int(fields[11]) + int(fields[12])) / tick
    mine = sum(os.times()[:4]) + of_server
    return mine, used - mine


@contextmanager
def visited(port: int) -> Iterator[list[float]]:
    """Somebody asks a server five times a second how it is: the seconds of each answer."""
    seconds: list[float] = []
    stopped = threading.Event()

    def visit() -> None:
        while not stopped.wait(0.2):
            start = time.monotonic()
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=10) as answer:
                answer.read()
            seconds.append(time.monotonic() - start)

    thread = threading.Thread(target=visit)
    thread.start()
    try:
        yield seconds
    finally:
        stopped.set()
        thread.join()


async def memory(port: int, lines: list[str], process: int, requests: int) -> Row:
    """Resident size after the first tenth of the requests, and after all."""
    client, sizes = [Client(port) for _ in range(8)], []
    for part in range(10):
        each = requests // 10 // len(client)

        async def some(one: Client, each: int = each, part: int = part) -> None:
            for number in range(each):
                line = lines[(part * each + number) % len(lines)]
                status, _ = await one.ask("/translate", question(line))
                assert status == 200, status

        await asyncio.gather(*map(some, client))
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        sizes.append(round(pages * 4096 / 1e6, 1))
    for one in client:
        one.close()
    return {
        "what": f"memory, {requests} requests",
        "MB after a tenth": sizes[0],
        "MB at the end": sizes[-1],
    }


def suggestions(system: Path, lines: list[str]) -> Row:
    """Seconds to complete a prefix of a sentence of thirty words."""
    opened = System.open(system)
    words = " ".join(line.removesuffix(" .") for line in lines).split()
    times = []
    for at in range(0, 300, 30):
        line = " ".join(words[at : at + 30])
        text = opened.translate(line).text
        for end in range(0, len(text), 20):
            start = time.monotonic()
            opened.suggest(line, text[:end])
            times.append(time.monotonic() - start)
    cuts = statistics.quantiles(times, n=100)
    what = f"suggest, 30 words, pop limit {opened.settings.pop_limit}"
    return {"what": what, "p50 ms": round(1000 * cuts[49], 1), "p99 ms": round(1000 * cuts[98], 1)}


def kills(system: Path, lines: list[str]) -> Row:
    """A server killed while it learns, again and again."""
    moments, told = random.Random(SEED), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "system"
        shutil.copytree(system, folder, ignore=shutil.ignore_patterns("work"))
        for kill in range(KILLS):
            with started(folder) as (port, child):
                number = 0
                killer = threading.Timer(moments.uniform(0.05, 0.5), child.kill)
                while teach(port, f"w{kill}x{number}", lines[number % len(lines)]):
                    told.append(f"w{kill}x{number}")
                    number += 1
                    if number == 1:
                        killer.start()
                killer.join()
        lessons = Journal(folder / JOURNAL).read()
        known = {lesson.src[0] for lesson in lessons}
        lost = [word for word in told if word not in known and word.lower() not in known]
        System.open(folder)
        assert not lost, lost
        return {
            "what": f"{KILLS} kills while learning",
            "told learned": len(told),
            "kept": len(lessons),
            "lost": len(lost),
        }


def teach(port: int, word: str, line: str) -> bool:
    """Whether a server said that it learned a pair."""
    body = {**question(f"{word} {line}"), "translation": f"{word} {line}"}
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/learn",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return bool(json.load(answer)["success"])
    except (OSError, ValueError):
        return False


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=5000, help="requests for the memory row")
    parser.add_argument("--overload", type=int, metavar="N", help="the overload alone, N times")
    chosen = parser.parse_args()
    found = overloads(chosen.overload) if chosen.overload else rows(chosen.requests)
    show(found)
    print(write_result("serve-overload" if chosen.overload else "serve", found))
