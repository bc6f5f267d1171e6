"""The gate of the server: surplus is sent away at once, whoever is let in is served."""

import json
import logging
import re
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.serving import ask, served

pytest.importorskip("starlette", reason="no server: pip install 'wayword[serve]'")
pytest.importorskip("uvicorn", reason="no server: pip install 'wayword[serve]'")

from wayword.web.gate import PERIOD, Door, Listener, read
from wayword.web.metrics import Metrics
from wayword.web.pool import Pool

LINE = "Ich habe gestern den Tee getrunken ."
BODY = json.dumps({"q": LINE, "source": "de", "target": "en"}).encode()
SIZE = b"content-length: %d\r\n" % len(BODY)
PATHS = {b"/translate": "/translate"}


def head(*fields: bytes, path: bytes = b"/translate") -> bytes:
    return b"POST " + path + b" HTTP/1.1\r\nhost: 127.0.0.1\r\n" + b"".join(fields) + b"\r\n"


@pytest.fixture(scope="module")
def folder(toy_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gate") / "system"
    shutil.copytree(toy_folder / "system", folder)
    return folder


@pytest.fixture(scope="module")
def running(folder: Path) -> Iterator[Any]:
    with served(str(folder), queue=1, threads=1) as running:
        yield running


@contextmanager
def full(running: Any) -> Iterator[None]:
    """A server whose places are all taken."""
    gate = threading.Event()

    def hold(items: Any, _threads: int, _progress: Any) -> Any:
        gate.wait(20)
        return items

    pool = running.app.pool
    wait_for(lambda: not pool.running)
    futures = [pool.submit(hold, [1], seconds=20)]
    wait_for(lambda: not pool.waiting)
    futures.append(pool.submit(hold, [1], seconds=20))
    try:
        yield
    finally:
        gate.set()
        for future in futures:
            future.result()


def wait_for(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.005)


class Line:
    """A connection, byte by byte."""

    def __init__(self, running: Any) -> None:
        where = urlsplit(running.address)
        self.sock = socket.create_connection((where.hostname, where.port), timeout=20)
        self.data = b""

    def __enter__(self) -> "Line":
        return self

    def __exit__(self, *_: object) -> None:
        self.sock.close()

    def send(self, data: bytes) -> None:
        """Send bytes."""
        self.sock.sendall(data)

    def answer(self) -> tuple[int, dict[str, str], Any]:
        """Status, fields and value of the next answer."""
        while b"\r\n\r\n" not in self.data:
            self._read()
        told, _, self.data = self.data.partition(b"\r\n\r\n")
        first, *lines = told.decode().split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in lines)
        size = int(fields["content-length"])
        while len(self.data) < size:
            self._read()
        body, self.data = self.data[:size], self.data[size:]
        return int(first.split()[1]), fields, json.loads(body)

    def is_closed(self) -> bool:
        """Whether the other side ends it, with nothing more to read."""
        return not self.data and self.sock.recv(1) == b""

    def _read(self) -> None:
        block = self.sock.recv(1 << 16)
        assert block, "the connection was closed"
        self.data += block


def check_refusal(answer: tuple[int, dict[str, str], Any]) -> None:
    status, fields, value = answer
    assert (status, set(value)) == (503, {"error"})
    assert int(fields["retry-after"]) >= 1
    assert fields["x-content-type-options"] == "nosniff"
    assert fields["content-type"] == "application/json"


def refusals(running: Any) -> int:
    text = ask(running, "/metrics")[2]
    return sum(map(int, re.findall(r'requests_total{path="/\w+",status="503"} (\d+)', text)))


@pytest.mark.parametrize(
    "kept", [True, False], ids=["connections kept", "connections of their own"]
)
def test_a_flood_is_refused_and_those_let_in_are_served(running: Any, kept: bool) -> None:
    expected = ask(running, "/translate", raw=BODY)[2]
    before, clients, each = refusals(running), 12, 25
    request = head(SIZE, b"" if kept else b"connection: close\r\n") + BODY

    def visit(_number: int) -> list[tuple[int, dict[str, str], Any]]:
        answers, line = [], Line(running)
        for _ in range(each):
            line.send(request)
            answers.append(line.answer())
            if answers[-1][1].get("connection") == "close":
                assert line.is_closed()
                line.sock.close()
                line = Line(running)
        line.sock.close()
        return answers

    with ThreadPoolExecutor(clients) as crowd:
        visits = crowd.map(visit, range(clients))
        assert ask(running, "/health")[0] == 200
        assert ask(running, "/metrics")[0] == 200
        answers = [answer for visit in visits for answer in visit]
    sent_away = [answer for answer in answers if answer[0] != 200]
    assert 0 < len(sent_away) < len(answers)
    for answer in sent_away:
        check_refusal(answer)
    assert all(answer[2] == expected for answer in answers if answer[0] == 200)
    assert refusals(running) == before + len(sent_away)
    wait_for(lambda: running.app.door.inside == 0)
    assert ask(running, "/translate", raw=BODY)[0] == 200


@pytest.mark.parametrize(("keeps_queue", "places"), [(False, 2), (True, 5)])
def test_nobody_waits_in_a_flood_unless_a_queue_was_asked_for(
    keeps_queue: bool, places: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    # Not that of all modules: the loop of the server that runs beside would sleep for hours.
    monkeypatch.setattr("wayword.web.gate.time", SimpleNamespace(monotonic=lambda: now))
    pool = Pool(workers=2, queue=3, batch=1)
    door = Door(pool, Metrics(), ["/translate"], keeps_queue=keeps_queue)
    door.inside = 4
    assert not door.is_full
    door.inside = 5
    assert door.is_full
    door.refuse("/translate", is_last=True)
    door.inside = places
    assert door.is_full
    door.inside = places - 1
    assert not door.is_full
    now += PERIOD
    door.inside = 4
    assert not door.is_full  # the flood is over
    pool.stop()


def test_a_refused_connection_goes_on(running: Any) -> None:
    with Line(running) as line:
        with full(running):
            line.send(head(SIZE))  # it is refused before its body is there
            check_refusal(line.answer())
            line.send(BODY[:5])
            line.send(BODY[5:] + head(SIZE) + BODY + head(SIZE) + BODY)  # the next two in one go
            check_refusal(line.answer())
            check_refusal(line.answer())
        line.send(head(SIZE) + BODY)
        assert line.answer()[0] == 200


def test_a_connection_that_is_to_end_ends_after_its_body(running: Any) -> None:
    with full(running), Line(running) as line:
        line.send(head(SIZE, b"Connection: close\r\n"))
        check_refusal(line.answer())
        line.send(BODY)
        assert line.is_closed()


@pytest.mark.parametrize(
    ("fields", "body", "status"),
    [
        ((b"transfer-encoding: chunked\r\n",), b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY), 503),
        ((SIZE, b"expect: 100-continue\r\n"), BODY, 503),
        ((SIZE, b"origin: https://evil.org\r\n"), BODY, 403),
        ((b"content-length: 99999999\r\n", b"connection: close\r\n"), b"", 413),
        ((SIZE, SIZE.replace(b"content", b"Content")), BODY, 503),
    ],
    ids=["chunks", "expects", "foreign page", "too large", "two sizes"],
)
def test_what_is_not_plain_goes_the_long_way(
    running: Any, fields: tuple[bytes, ...], body: bytes, status: int
) -> None:
    assert read(head(*fields) + body, PATHS) is None
    with full(running), Line(running) as line:
        line.send(head(*fields) + body)
        found, _, value = line.answer()
        assert (found, set(value)) == (status, {"error"})


@given(
    sent=st.binary(max_size=60),
    fields=st.lists(st.sampled_from((b"a: b\r\n", SIZE, b"Content-Length : 3\r\n", b"x: y\n"))),
)
def test_the_gate_reads_only_what_has_one_size(sent: bytes, fields: list[bytes]) -> None:
    assert read(sent, PATHS) is None
    found = read(head(*fields) + sent, PATHS)
    if set(fields) <= {SIZE, b"a: b\r\n"} and fields.count(SIZE) == 1:
        assert found == ("/translate", len(head(*fields)) + len(BODY), False)
    else:
        assert found is None


def test_a_body_that_is_slow_to_come_takes_no_place(running: Any) -> None:
    with Line(running) as slow, Line(running) as other, Line(running) as third:
        for line in (slow, other):
            line.send(head(SIZE) + BODY[:5])
        third.send(head(SIZE) + BODY)
        assert third.answer()[0] == 200
        slow.send(BODY[5:])
        assert slow.answer()[0] == 200


def test_a_client_that_is_gone_leaves_its_place(running: Any) -> None:
    for _ in range(5):
        with Line(running) as line:
            line.send(head(SIZE) + BODY)
    wait_for(lambda: running.app.door.inside == 0)
    wait_for(lambda: ask(running, "/translate", raw=BODY)[0] == 200)


def test_refusals_are_logged_together(running: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "wayword.web.requests"):
        with full(running), Line(running) as line:
            line.send(head(SIZE))
            check_refusal(line.answer())
            for _ in range(19):
                line.send(BODY + head(SIZE))
                check_refusal(line.answer())
        time.sleep(PERIOD)
        wait_for(lambda: any('"status": 503' in message for message in caplog.messages))
    logged = [json.loads(message) for message in caplog.messages]
    assert [entry["requests"] for entry in logged if entry["status"] == 503] == [20]


def test_a_listener_without_a_door_takes_all() -> None:
    with Listener() as opened:
        opened.bind(("127.0.0.1", 0))
        opened.listen()
        with socket.create_connection(opened.getsockname()) as client:
            connection, address = opened.accept()
            with connection:
                assert address == client.getsockname()
