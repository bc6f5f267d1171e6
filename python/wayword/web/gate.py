"""Sends requests away that find the queue full, before any work is done for them.

In: the bytes of connections. Out: a ready-made 503, or the bytes handed on to uvicorn.
How: a flood is refused by the same loop that serves, so a refusal has to cost next to nothing: the
method, the path and the size are looked for in the bytes, the answer was made before, and the body
is dropped as it comes. Requests that are let in count until they are answered, so that no more are
read and parsed than there is room for. Unless a queue was asked for, nobody waits while others are
sent away: a queue is for moments, and in a flood it would only make those wait who are served.
Whatever is not plain (a body in chunks, a page of another
origin, a head in pieces) goes the long way through the application, which refuses as well. Refusals
are counted one by one, and logged once a second together.
Cost: about 25 µs a refusal on a connection that stays open, 60 µs with one of its own.
"""

import asyncio
import json
import logging
import socket
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from wayword.web.guard import BUSY, LOG, POLICY, SAFE
from wayword.web.metrics import Metrics
from wayword.web.pool import Pool

__all__ = ["Door", "Listener", "gate"]

#: Fields that change how a request is read or answered; requests that have them go the long way.
SPECIAL = tuple(b"\r\n" + name for name in (b"transfer-encoding", b"expect", b"origin", b"upgrade"))
END, SIZE, CLOSE = b"\r\n\r\n", b"\r\ncontent-length", b"\r\nconnection: close"
#: Longest size of a body that is dropped; larger ones are told that they are too large.
DIGITS = 7
#: Connections sent away before the loop has its turn, and bytes of a request looked at meanwhile.
TURN, LONGEST = 64, 1 << 16
#: Seconds between two lines of the log about refusals, and that a flood lasts after the last one.
PERIOD = 1.0


class Request(NamedTuple):
    """What the gate knows of a request."""

    path: str
    #: bytes of its head and its body
    length: int
    #: whether the connection ends with it
    is_last: bool


def read(data: bytes, paths: Mapping[bytes, str]) -> Request | None:
    r"""The plain POST to one of some paths that these bytes begin with; None for all else.

    >>> head = b"POST /align HTTP/1.1\r\nHost: ::1\r\nContent-Length: 4\r\n\r\n"
    >>> read(head + b"q=", {b"/align": "/align"}), len(head)
    (Request(path='/align', length=58, is_last=False), 54)
    >>> read(head.replace(b"Host", b"Expect"), {b"/align": "/align"}) is None
    True
    """
    line = data.find(b" HTTP/1.1\r\n", 5)
    if line < 0 or data[:5] != b"POST " or (path := paths.get(data[5:line])) is None:
        return None
    end = data.find(END)
    head = data[:end].lower()
    if end < 0 or head.count(SIZE) != 1 or head.count(b"\n") != head.count(b"\r\n"):
        return None
    if any(name in head for name in SPECIAL):
        return None
    colon, size = head.partition(SIZE)[2].partition(b"\r\n")[0].partition(b":")[::2]
    size = size.strip()
    if colon or not size.isdigit() or len(size) > DIGITS:
        return None
    return Request(path, end + len(END) + int(size), CLOSE in head)


class Door:
    """What all connections of a server share: how many are inside, and who was sent away."""

    def __init__(
        self, pool: Pool, metrics: Metrics, paths: Iterable[str], *, keeps_queue: bool = False
    ) -> None:
        """``paths`` are those that are posted to; ``keeps_queue`` lets them wait in a flood too."""
        self.pool, self.metrics = pool, metrics
        self.paths = {path.encode(): path for path in paths}
        self.inside = 0
        self._room = pool.queue + pool.workers
        self._room_in_flood = self._room if keeps_queue else pool.workers
        self._flood_end = 0.0
        self._answers: dict[tuple[int, bool], bytes] = {}
        self._refused: Counter[str] = Counter()

    @property
    def is_full(self) -> bool:
        """Whether the next request is sent away."""
        is_flood = time.monotonic() < self._flood_end
        room = self._room_in_flood if is_flood else self._room
        return self.inside >= room or self.pool.is_full

    def refuse(self, path: str, *, is_last: bool) -> bytes:
        """The answer to a request that is sent away."""
        self._flood_end = time.monotonic() + PERIOD
        self.metrics.count(path, 503, 0.0)
        if LOG.isEnabledFor(logging.INFO):
            if not self._refused:
                asyncio.get_running_loop().call_later(PERIOD, self._log)
            self._refused[path] += 1
        key = self.pool.patience(), is_last
        if key not in self._answers:
            self._answers[key] = _answer(*key)
        return self._answers[key]

    def _log(self) -> None:
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        for path, number in self._refused.items():
            facts = {"time": moment, "method": "POST", "path": path, "status": 503}
            LOG.info("%s", json.dumps({**facts, "requests": number}))
        self._refused.clear()


def _answer(seconds: int, is_last: bool) -> bytes:
    body = json.dumps({"error": BUSY}).encode()
    fields = {
        "content-type": "application/json",
        "content-length": len(body),
        "retry-after": seconds,
        **SAFE,
        "content-security-policy": POLICY,
        **({"connection": "close"} if is_last else {}),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 503 Service Unavailable\r\n{head}\r\n".encode() + body


class Listener(socket.socket):
    """A listening socket that sends surplus requests away itself.

    To hand a connection on costs several times what the refusal does. Event loops that take
    connections without ``accept``, as that of Windows, hand all on, and their ``Gate`` refuses.
    """

    door: Door | None = None

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection that is not sent away."""
        for _ in range(TURN):
            connection, address = super().accept()
            if self.door is None or not self.door.is_full:
                return connection, address
            if not _refuses(self.door, connection):
                return connection, address
        raise BlockingIOError  # the loop goes on with its other work, and comes back


def _refuses(door: Door, connection: socket.socket) -> bool:
    """Whether a connection was answered and closed: only when its request is there as a whole."""
    connection.setblocking(False)
    try:
        data = connection.recv(LONGEST, socket.MSG_PEEK)
        request = read(data, door.paths)
        if request is None or request.length != len(data):
            return False
        connection.recv(len(data))  # to close with bytes unread would take the answer back
        connection.send(door.refuse(request.path, is_last=True))
    except OSError:  # nothing came yet, or the client is gone
        return False
    connection.close()
    return True


class Gate(H11Protocol):
    """A connection whose requests may be sent away before they are parsed."""

    door: Door

    def __init__(self, *values: Any, **named: Any) -> None:
        super().__init__(*values, **named)
        self._is_inside = self._is_last = False
        #: bytes of a refused request that are still to come
        self._rest = 0

    def data_received(self, data: bytes) -> None:
        """Drop what was refused, refuse what finds no room, and hand on the rest."""
        while data and not self.transport.is_closing():
            if self._rest:
                data = self._drop(data)
                continue
            request = read(data, self.door.paths) if self._is_idle() else None
            if request is None or not self.door.is_full:
                # One whose body is slow to come takes no place from others meanwhile.
                if request is not None and len(data) >= request.length:
                    self._enter()
                super().data_received(data)
                return
            self._unset_keepalive_if_required()
            self.transport.write(self.door.refuse(request.path, is_last=request.is_last))
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )
            self._rest, self._is_last = request.length, request.is_last
            data = self._drop(data)

    def _drop(self, data: bytes) -> bytes:
        """Skip bytes of a refused request; with the last byte of the last one the connection ends.

        To close earlier would take the answer back from a client that is still sending.
        """
        kept = data[self._rest :]
        self._rest -= len(data) - len(kept)
        if self._is_last and not self._rest:
            self.transport.close()
        return kept

    def _is_idle(self) -> bool:
        """Whether the next byte begins a request."""
        return self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]

    def on_response_complete(self) -> None:
        """Make room."""
        self._leave()
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room."""
        self._leave()
        super().connection_lost(exc)

    def _enter(self) -> None:
        self._is_inside = True
        self.door.inside += 1

    def _leave(self) -> None:
        if self._is_inside:
            self._is_inside = False
            self.door.inside -= 1


def gate(shared: Door) -> type[Gate]:
    """The protocol of a server with this door."""

    class Gated(Gate):
        door = shared

    return Gated
