"""What every request passes first: whom it is meant for, where it comes from, if there is room.

How: browsers send ``Host`` and ``Origin``. A server that listens on this machine alone answers to
its own names only, so that no foreign page can reach it under a name of its own; pages of other
origins may ask only where they are allowed to. A request that would find the queue full is answered
before its body is read. Each answer is counted and logged, without the text it is about.
"""

import asyncio
import json
import logging
import time
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wayword.web.metrics import Metrics
from wayword.web.options import Options
from wayword.web.pool import Pool

__all__ = ["Guard"]

LOG = logging.getLogger("wayword.web.requests")

SAFE = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
#: What the page may do: nothing but ask its own server.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
#: A page that has a policy of its own.
OWN_POLICY = "/docs"
TOO_LARGE = 413
BUSY = "too many requests at the moment; try again later"
#: Bodies up to so many times the limit are read to their end, for so many seconds.
TAKEN, PATIENCE = 16, 5
LOCAL_NAMES = frozenset(("localhost", "127.0.0.1", "::1"))


class Guard:
    """Refuses, counts and logs around an application."""

    def __init__(
        self,
        app: ASGIApp,
        options: Options,
        pool: Pool,
        metrics: Metrics,
        paths: tuple[frozenset[str], frozenset[str]],
    ) -> None:
        """``paths`` are those that are got, and those that are posted to and wait in the queue."""
        self.app, self.options, self.pool, self.metrics = app, options, pool, metrics
        self.queued = paths[1]
        self.known = paths[0] | paths[1]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status = time.monotonic(), 500
        headers = Headers(scope=scope)
        allowed = self._allowed_origin(headers)
        scope.setdefault("state", {})

        async def guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._add_headers(MutableHeaders(scope=message), scope["path"], allowed)
            await send(message)

        refusal = self._refusal(scope, headers, allowed)
        try:
            if refusal is not None:
                if refusal.status_code == TOO_LARGE:
                    await self._taken(headers, receive)
                await refusal(scope, receive, guarded)
            else:
                await self.app(scope, receive, guarded)
        finally:
            self._note(scope, status, time.monotonic() - start)

    async def _taken(self, headers: Headers, receive: Receive) -> None:
        """Read a body that is somewhat too large, and forget it.

        A client that is still sending when the connection closes never sees the answer. What is
        much too large, or comes slowly, is not waited for.
        """
        if int(headers["content-length"]) > TAKEN * self.options.max_body:
            return

        async def read() -> None:
            while (await receive()).get("more_body", False):
                pass

        with suppress(TimeoutError, asyncio.TimeoutError):
            await asyncio.wait_for(read(), PATIENCE)

    def _refusal(self, scope: Scope, headers: Headers, allowed: str) -> Response | None:
        """Why a request is not even looked at; None when it is."""
        if not self._is_meant(headers):
            return _error(421, "host: this server does not go by that name; see --name")
        is_preflight = scope["method"] == "OPTIONS"
        if "origin" in headers and not allowed and (scope["method"] == "POST" or is_preflight):
            return _error(403, "origin: pages of other origins may not ask; see --allow-origin")
        if is_preflight and allowed:
            return Response(status_code=204)
        size = headers.get("content-length", "0")
        if size.isdigit() and int(size) > self.options.max_body:
            limit = f"body: found {size} bytes; the limit is {self.options.max_body}"
            return _error(TOO_LARGE, f"{limit}; ask for less at a time")
        if self.pool.is_full and scope["path"] in self.queued:
            answer = _error(503, BUSY)
            answer.headers["retry-after"] = str(self.pool.patience())
            return answer
        return None

    def _is_meant(self, headers: Headers) -> bool:
        """Whether the name it was asked by is its own; behind an open address any name is."""
        if not (self.options.is_local or self.options.names):
            return True
        host = urlsplit(f"//{headers.get('host', '')}").hostname or ""
        return host in LOCAL_NAMES or host == self.options.host or host in self.options.names

    def _allowed_origin(self, headers: Headers) -> str:
        """The origin that may read the answer: the server's own, or one of those allowed."""
        origin = headers.get("origin", "")
        if not origin:
            return ""
        if urlsplit(origin).netloc == headers.get("host"):
            return origin
        is_allowed = "*" in self.options.origins or origin in self.options.origins
        return origin if is_allowed else ""

    def _add_headers(self, headers: MutableHeaders, path: str, allowed: str) -> None:
        for name, value in SAFE.items():
            headers.setdefault(name, value)
        if path != OWN_POLICY:
            headers.setdefault("content-security-policy", POLICY)
        if allowed and self.options.origins:
            headers["access-control-allow-origin"] = allowed
            headers["access-control-allow-headers"] = "content-type, authorization, x-api-key"
            headers["access-control-allow-methods"] = "GET, POST"
            headers["vary"] = "origin"

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        state: dict[str, Any] = scope.get("state", {})
        shown = scope["path"] if scope["path"] in self.known else "other"
        sentences = int(state.get("sentences", 0))
        self.metrics.count(shown, status, seconds, sentences=sentences)
        if LOG.isEnabledFor(logging.INFO):
            facts: dict[str, Any] = {
                "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "method": scope["method"],
                "path": shown,
                "status": status,
                "ms": round(1000 * seconds, 1),
                "sentences": sentences,
            }
            if "text" in state:
                facts["text"] = state["text"]
            LOG.info("%s", json.dumps(facts, ensure_ascii=False))


def _error(status: int, message: str) -> Response:
    data = json.dumps({"error": message}).encode()
    return Response(data, status, media_type="application/json")
