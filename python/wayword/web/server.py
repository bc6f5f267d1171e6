"""Starts a server, and ends it well.

How: SIGTERM and Ctrl-C stop it gracefully: no new connection, all requests answered. SIGHUP opens
the systems again; requests under way end with the old ones. A second signal ends it at once.
"""

import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn

from wayword.errors import ArgumentError, WaywordError
from wayword.web.app import App
from wayword.web.gate import Listener, gate
from wayword.web.options import Options
from wayword.web.service import Loaded, Service

__all__ = ["Running", "serve"]

LOG = logging.getLogger(__name__)
#: Connections that wait to be taken.
BACKLOG = 2048
#: Seconds after which a thread that computes in Python lets another have its turn. The usual ones
#: keep whoever reads requests waiting behind those that prepare text.
TURN = 0.0005


class _Server(uvicorn.Server):
    """Uvicorn's server with signals of ours."""

    def __init__(self, config: uvicorn.Config, reload: Callable[[], None]) -> None:
        super().__init__(config)
        self._reload = reload

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGINT and SIGTERM, reload on SIGHUP; what was before comes back."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {
            number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)
        }
        if hasattr(signal, "SIGHUP"):
            before[signal.SIGHUP] = signal.signal(signal.SIGHUP, self._hang_up)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True

    def _hang_up(self, _number: int, _frame: FrameType | None) -> None:
        threading.Thread(target=self._reload, name="reload", daemon=True).start()


class Running:
    """A server that is set up: its address is known, ``run`` answers until it is stopped."""

    def __init__(self, systems: Sequence[Loaded], options: Options, *, trust: bool = False) -> None:
        if not systems:
            raise ArgumentError("serve: found no system; expected at least one")
        self.options = options
        self.service = Service(systems, trust=trust)
        self._socket = _listen(options)
        self.app = App(self.service, options)
        self._socket.door = self.app.door
        config = uvicorn.Config(
            self.app.asgi,
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=True,
            lifespan="off",
            backlog=BACKLOG,
            limit_concurrency=BACKLOG,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=int(options.time_limit) + 5,
            ws="none",
            http=gate(self.app.door),
            h11_max_incomplete_event_size=1 << 16,
        )
        self._server = _Server(config, self.reload)

    @property
    def address(self) -> str:
        """Where it answers."""
        host, port = self._socket.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    def run(self) -> None:
        """Answer until a signal or ``stop``; all requests that were taken are answered."""
        before = sys.getswitchinterval()
        sys.setswitchinterval(TURN)
        try:
            self._server.run(sockets=[self._socket])
        finally:
            sys.setswitchinterval(before)
            self.app.pool.stop()
            self._socket.close()

    def stop(self) -> None:
        """Have ``run`` end."""
        self._server.should_exit = True

    def reload(self) -> None:
        """Open the systems again; when one cannot be opened, the old ones stay."""
        try:
            self.service.reload()
        except (WaywordError, OSError) as error:
            LOG.error("reload: the old systems stay: %s", error)
            return
        self.app.metrics.add("reloads")
        LOG.warning("reload: %d systems are opened again", len(self.service.systems))


def _listen(options: Options) -> Listener:
    """The socket, bound before anything is promised."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    # By its protocol the event loop knows it as TCP, and sends small answers without delay.
    opened = Listener(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    # On Windows the same option would let two servers have one port.
    reuse = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
    opened.setsockopt(socket.SOL_SOCKET, reuse, 1)
    try:
        opened.bind((options.host, options.port))
        opened.listen(BACKLOG)
    except OSError as error:
        opened.close()
        where = f"{options.host}:{options.port}"
        advice = "choose another with --port, or --host"
        raise ArgumentError(f"{where}: cannot listen there ({error.strerror}); {advice}") from None
    return opened


def serve(
    specs: Sequence[str],
    options: Options,
    *,
    journals: str | None = None,
    trust: bool = False,
    ready: Callable[[Running], Any] = lambda _running: None,
) -> None:
    """Open systems and answer; ``ready`` is told once the address is known."""
    systems = [Loaded.open(spec, journals=journals, trust=trust) for spec in specs]
    for loaded in systems:
        loaded.warm_up()
    running = Running(systems, options, trust=trust)
    ready(running)
    running.run()
