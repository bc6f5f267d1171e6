"""Answer over HTTP as LibreTranslate does, and show a page to translate, look, steer and teach.

Needs `pip install wayword[serve]`. It listens on this machine alone unless --host says otherwise.
Ctrl-C and SIGTERM stop it when all requests are answered, SIGHUP opens the systems again.
Corrections go to the journal of the system's folder; see `wayword merge`.

example: wayword serve system
         wayword serve de-en=one.wayword ja-en=other --journals lessons --api-keys keys.txt
"""

import argparse
import logging
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wayword.web.server import Running


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("systems", nargs="+", metavar="SYSTEM", help="system folders or files; SRC-TGT=SYSTEM")
    add("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    add("--port", type=int, default=5000, metavar="N", help="port (5000; 0: any that is free)")
    add("--threads", type=int, default=0, metavar="N", help="searches at a time (0: a core each)")
    add(
        "--queue",
        type=int,
        default=0,
        metavar="N",
        help="requests that may wait (0: a few)",
    )
    add(
        "--time-limit",
        type=float,
        default=20.0,
        metavar="S",
        help="seconds a request may take (20)",
    )
    add("--max-body", type=int, default=1 << 20, metavar="N", help="most bytes of a request")
    add("--max-characters", type=int, default=20_000, metavar="N", help="most characters of text")
    add("--max-sentences", type=int, default=500, metavar="N", help="most sentences of a request")
    add("--api-keys", metavar="FILE", help="serve those who have a key: one a line")
    add(
        "--allow-origin", nargs="+", default=[], metavar="URL", help="pages that may ask; * for all"
    )
    add("--name", nargs="+", default=[], metavar="HOST", help="names the server goes by")
    add("--journals", metavar="DIR", help="keep what is learned there, a file a system")
    add("--no-learning", action="store_true", help="take no corrections and terms")
    add("--log-text", action="store_true", help="log the text of requests too")
    add("--quiet", action="store_true", help="log no requests")
    add("--trust", action="store_true", help="let systems run annotators of others, as spaCy")


def run(args: argparse.Namespace) -> None:
    """Open the systems and answer."""
    from wayword.errors import ArgumentError
    from wayword.web.options import Options

    try:
        from wayword.web.server import serve
    except ImportError as error:
        if error.name not in {"starlette", "uvicorn"}:
            raise
        advice = "pip install 'wayword[serve]'"
        raise ArgumentError(f"serve: {error.name} is not installed; {advice}") from None
    options = Options(
        host=args.host,
        port=args.port,
        threads=args.threads,
        queue=args.queue,
        time_limit=args.time_limit,
        max_body=args.max_body,
        max_characters=args.max_characters,
        max_sentences=args.max_sentences,
        keys=_keys(args.api_keys),
        origins=tuple(args.allow_origin),
        names=tuple(args.name),
        learns=not args.no_learning,
        logs_text=args.log_text,
    )
    _log(quiet=args.quiet)
    serve(args.systems, options, journals=args.journals, trust=args.trust, ready=_tell)


def _tell(running: "Running") -> None:
    for loaded in running.service.systems:
        print(f"{loaded.source} to {loaded.target}: {loaded.name}")
    print(f"wayword answers at {running.address} (page /, interface /docs)", flush=True)


def _keys(path: str | None) -> frozenset[str]:
    from wayword.corpus.files import open_text
    from wayword.errors import ArgumentError

    if path is None:
        return frozenset()
    keys = frozenset(line.strip() for line in open_text(path) if line.strip())
    if not keys:
        raise ArgumentError(f"{path}: found no key; expected one a line")
    return keys


def _log(*, quiet: bool) -> None:
    """Requests as JSON lines, and what goes wrong, on standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger = logging.getLogger("wayword.web")
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING if quiet else logging.INFO)
    logger.propagate = False
