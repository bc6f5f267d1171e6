"""The HTTP side: routes, limits, keys, headers; errors as ``{"error": …}``.

In: a ``Service`` and a ``Pool``. Out: an ASGI application.
How: a guard looks at every request before its body is read: whom it is meant for, where it comes
from, and whether there is room. Then the body is read up to its limit and checked, and the search
waits its turn in the pool. Answers carry headers that keep browsers from guessing and framing.
Cost: a refusal costs a fraction of a millisecond.
"""

import asyncio
import hmac
import json
import logging
import math
from collections.abc import Awaitable, Callable, Mapping
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from wayword import __version__
from wayword.errors import ArgumentError, LimitError, WaywordError
from wayword.web.asked import Asked, number, read_body, text_of
from wayword.web.explain import explain, word_graph
from wayword.web.gate import Door
from wayword.web.guard import BUSY, Guard
from wayword.web.languages import name_of
from wayword.web.metrics import Metrics
from wayword.web.openapi import document, page
from wayword.web.options import Options
from wayword.web.pool import Busy, Pool, TimeUp
from wayword.web.service import Service

__all__ = ["App", "answer_json"]

LOG = logging.getLogger(__name__)

#: Files of the page, and what they are.
FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    **{
        f"/{name}.js": (f"{name}.js", "text/javascript; charset=utf-8")
        for name in ("draw", "state", "words", "page")
    },
}
#: Characters of a sentence that is explained, or has demands in it: both cost more.
LONGEST = 4000
#: Characters of text that is split into sentences at once; longer text when its turn comes.
SHORT = 2000
Answer = Callable[[Request, dict[str, Any]], Awaitable[Any]]


class Refused(Exception):  # noqa: N818
    """Why a request is not answered, and with which status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class App:
    """The application of a server; ``asgi`` is what uvicorn runs."""

    def __init__(self, service: Service, options: Options) -> None:
        self.service, self.options = service, options
        self.pool = Pool(workers=options.workers, queue=options.waiting, batch=options.batch)
        self.metrics = Metrics()
        self._files = {path: _page_file(name) for path, (name, _) in FILES.items()}
        posts: dict[str, Answer] = {
            "/translate": self.translate,
            "/detect": self.detect,
            "/align": self.align,
            "/explain": self.explain,
            "/word-graph": self.word_graph,
            "/suggest": self.suggest,
            "/learn": self.learn,
        }
        gets: dict[str, Callable[[Request], Response]] = {
            "/languages": lambda _: answer_json(self.service.languages()),
            "/health": lambda _: answer_json({"status": "ok", "version": __version__}),
            "/frontend/settings": lambda _: answer_json(self.settings()),
            "/metrics": self.told_metrics,
            "/openapi.json": lambda _: answer_json(document()),
            "/spec": lambda _: answer_json(document()),
            "/docs": lambda _: Response(page(), media_type="text/html; charset=utf-8"),
            **dict.fromkeys(FILES, self.file),
        }
        routes = [Route(path, self._got(answer), methods=["GET"]) for path, answer in gets.items()]
        routes += [
            Route(path, self._posted(answer), methods=["POST"]) for path, answer in posts.items()
        ]
        inner = Starlette(routes=routes, exception_handlers={404: _missing, 405: _missing})
        paths = frozenset(gets), frozenset(posts)
        self.asgi: ASGIApp = Guard(inner, options, self.pool, self.metrics, paths)
        self.door = Door(self.pool, self.metrics, posts, keeps_queue=options.queue > 0)

    # --- what is asked --------------------------------------------------------------------------

    async def translate(self, request: Request, body: dict[str, Any]) -> Any:
        """Translate texts."""
        asked = self._asked(body)
        plan, most = self.service.translate, self.options.max_sentences
        if asked.characters <= SHORT and asked.format == "text" and asked.source != "auto":
            job = plan(asked, most)
            request.state.sentences = len(job.lines)
            translations = await self._search(job.run, job.lines, key=job.key) if job.lines else []
            return job.answer(translations)

        def run(_items: Any, threads: int, progress: Any) -> list[bytes]:
            job = plan(asked, most)
            request.state.sentences = len(job.lines)
            return [as_json(job.answer(job.run(job.lines, threads, progress)))]

        return (await self._search(run, [None]))[0]

    async def detect(self, _request: Request, body: dict[str, Any]) -> Any:
        """Which language a text is in."""
        asked = self._asked(body)
        return await self._turn(self.service.detect, " ".join(asked.texts))

    async def align(self, _request: Request, body: dict[str, Any]) -> Any:
        """Link the words of a pair."""
        asked, translation = self._pair(body)
        return await self._turn(self.service.align, asked, translation)

    async def explain(self, request: Request, body: dict[str, Any]) -> Any:
        """All about the translation of each sentence of a text."""
        asked = self._short(body)
        nbest, stacks = number(body, "nbest", 10, 100), number(body, "stacks", 8, 100)
        loaded, _ = self.service.find(asked)
        system = self.service.variant(loaded.system, asked)
        lines = list(system.sentences(asked.texts[0], markup=asked.markup).sentences)
        request.state.sentences = len(lines)

        def run(lines: Any, _threads: int, progress: Any) -> list[bytes]:
            shown = [
                explain(
                    system,
                    line,
                    aligner=loaded.aligner,
                    markup=asked.markup,
                    nbest=max(nbest, 1),
                    stacks=stacks,
                    progress=progress,
                )
                for line in lines
            ]
            told = {"system": loaded.name, "weights": system.weights, "sentences": shown}
            return [as_json(told)] * len(lines)

        if not lines:
            return {"system": loaded.name, "weights": system.weights, "sentences": []}
        return (await self._search(run, lines))[0]

    async def word_graph(self, _request: Request, body: dict[str, Any]) -> Any:
        """The search graph of a sentence."""
        asked = self._short(body)
        loaded, _ = self.service.find(asked)
        system = self.service.variant(loaded.system, asked)

        def run(lines: Any, _threads: int, progress: Any) -> list[bytes]:
            return [
                as_json(word_graph(system, line, markup=asked.markup, progress=progress))
                for line in lines
            ]

        return (await self._search(run, [" ".join(asked.texts[0].split())]))[0]

    async def suggest(self, request: Request, body: dict[str, Any]) -> Any:
        """Complete a translation that was begun; with ``s`` it is a better one, to learn from."""
        if "s" in body and "prefix" not in body:
            return await self.learn(request, {**body, "translation": body["s"]})
        asked, typed = self._short(body), text_of(body, "prefix", "")
        self._check_length("prefix", typed)

        def run(_items: Any, _threads: int, progress: Any) -> list[dict[str, Any]]:
            return [self.service.suggest(asked, typed, progress)]

        return (await self._search(run, [None]))[0]

    async def learn(self, _request: Request, body: dict[str, Any]) -> Any:
        """Take in a corrected pair, or terms."""
        if not self.options.learns:
            raise Refused(403, "this server does not learn")
        if body.get("glossary") is not None and "translation" not in body:
            asked = self._asked({"q": "", **body})
            taught = await self._turn(self.service.teach_terms, asked)
            self.metrics.add("lessons", len(asked.glossary))
        else:
            asked, translation = self._pair(body)
            taught = await self._turn(self.service.learn, asked, translation)
            self.metrics.add("lessons")
        return taught

    def settings(self) -> dict[str, Any]:
        """What pages and clients want to know of the server."""
        first = self.service.systems[0]
        language = {
            side: {"code": code, "name": name_of(code)}
            for side, code in (("source", first.source), ("target", first.target))
        }
        return {
            "apiKeys": bool(self.options.keys),
            "keyRequired": bool(self.options.keys),
            "charLimit": self.options.max_characters,
            "frontendTimeout": 500,
            "filesTranslation": False,
            "supportedFilesFormat": [],
            "suggestions": self.options.learns,
            "language": language,
            "systems": self.service.described(),
        }

    def told_metrics(self, request: Request) -> Response:
        """Counts for Prometheus."""
        self._check_key(request, {})
        gauges = {
            "queue_waiting": self.pool.waiting,
            "queue_limit": self.pool.queue,
            "searches_running": self.pool.running,
            "systems": len(self.service.systems),
        }
        return Response(self.metrics.text(gauges), media_type="text/plain; version=0.0.4")

    def file(self, request: Request) -> Response:
        """A file of the page."""
        return Response(self._files[request.url.path], media_type=FILES[request.url.path][1])

    # --- how it is answered -----------------------------------------------------------------------

    def _asked(self, body: Mapping[str, Any]) -> Asked:
        asked = Asked.read(body)
        asked.check_limits(self.options.max_characters)
        if asked.markup:
            self._check_length("q", max(asked.texts, key=len, default=""))
        return asked

    def _short(self, body: Mapping[str, Any]) -> Asked:
        """A question about one text that is not long."""
        asked = self._asked(body)
        if asked.is_list:
            raise ArgumentError("q: found a list; expected text")
        self._check_length("q", asked.texts[0])
        return asked

    def _pair(self, body: Mapping[str, Any]) -> tuple[Asked, str]:
        asked, translation = self._short(body), text_of(body, "translation")
        self._check_length("translation", translation)
        return asked, translation

    def _check_length(self, name: str, text: str) -> None:
        if len(text) > LONGEST:
            found = f"{name}: found {len(text)} characters"
            raise LimitError(f"{found}; the limit is {LONGEST} for this; ask for less at a time")

    async def _turn(self, function: Callable[..., Any], *values: Any) -> Any:
        """Run something when its turn comes."""
        run = lambda _items, _threads, _progress: [function(*values)]  # noqa: E731
        return (await self._search(run, [None]))[0]

    async def _search(self, run: Any, items: list[Any], *, key: Any = None) -> Any:
        seconds = self.options.time_limit
        return await asyncio.wrap_future(self.pool.submit(run, items, seconds=seconds, key=key))

    def _got(self, answer: Callable[[Request], Response]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            try:
                return answer(request)
            except Exception as error:
                return self._failed(error)

        return endpoint

    def _posted(self, answer: Answer) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            try:
                raw = await asyncio.wait_for(self._body(request), self.options.time_limit)
                kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
                body = read_body(raw, kind)
                self._check_key(request, body)
                if self.options.logs_text:
                    request.state.text = body.get("q")
                return answer_json(await answer(request, body))
            except Exception as error:
                return self._failed(error)

        return endpoint

    async def _body(self, request: Request) -> bytes:
        """The body, up to its limit."""
        limit = self.options.max_body
        blocks, size = [], 0
        async for block in request.stream():
            size += len(block)
            if size > limit:
                raise Refused(413, f"body: found more than {limit} bytes; ask for less at a time")
            blocks.append(block)
        return b"".join(blocks)

    def _check_key(self, request: Request, body: Mapping[str, Any]) -> None:
        if not self.options.keys:
            return
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        bearer = token if scheme.lower() == "bearer" else ""
        given = body.get("api_key") or request.headers.get("x-api-key") or bearer
        data = given.encode("utf-8", "replace") if isinstance(given, str) else b""
        known = [hmac.compare_digest(data, key.encode()) for key in self.options.keys]
        if not any(known):
            raise Refused(
                403, "api_key: found none that is known; expected one of the server's keys"
            )

    def _failed(self, error: Exception) -> Response:
        """What is told of an error: what the user can act on, and no place of this machine."""
        headers = {}
        if isinstance(error, Refused):
            status, message = error.status, str(error)
        elif isinstance(error, Busy):
            status, message = 503, BUSY
            headers = {"Retry-After": str(error.seconds)}
        elif isinstance(error, TimeUp | asyncio.TimeoutError):
            limit = f"{self.options.time_limit:g} seconds"
            status, message = 504, f"it took longer than {limit}; ask for less, or a smaller space"
        elif isinstance(error, ClientDisconnect):
            status, message = 400, "the request ended in the middle"
        elif isinstance(error, LimitError):
            status, message = 413, str(error)
        elif isinstance(error, WaywordError):
            status, message = 400, str(error)
        else:
            LOG.error("%s in %s", type(error).__name__, _where(error))
            status, message = 500, "internal error; the log of the server has more"
        shown = self.service.without_paths(message)
        return answer_json({"error": shown}, status, headers)


def _where(error: BaseException) -> str:
    """The last line of ours that an error went through: it names no text of users."""
    trace, place = error.__traceback__, "?"
    while trace is not None:
        code = trace.tb_frame.f_code
        name = code.co_filename.replace("\\", "/").rpartition("wayword/")[2]
        place = f"{name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


async def _missing(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    what = "nothing is there" if status == 404 else f"it does not take {request.method}"
    return answer_json({"error": f"{request.url.path[:80]}: {what}; see /docs"}, status)


def _page_file(name: str) -> bytes:
    data = files("wayword.web").joinpath("page", name).read_bytes()
    if name.endswith(".css"):  # the look of all pages first
        return files("wayword.picture").joinpath("page.css").read_bytes() + b"\n" + data
    return data


def as_json(value: Any) -> bytes:
    """A value as JSON; numbers that JSON does not have become null."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: _finite(part) for key, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list | tuple) else value


def answer_json(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """An answer in JSON; bytes are JSON already."""
    data = value if isinstance(value, bytes) else as_json(value)
    return Response(data, status, headers=dict(headers or {}), media_type="application/json")
