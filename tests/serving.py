"""A server for tests: in a thread of this process, on a port that is free."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wayword import align
from wayword.corpus import Bitext
from wayword.corpus.text import Preparation
from wayword.parts.part import entry, open_part
from wayword.system import System


def make_servable(folder: Path, corpus: Path) -> None:
    """Add an aligner to a toy system, and let it translate raw text."""
    aligner = align.fit(Bitext.read(corpus / "train.de", corpus / "train.en"))
    aligner.save(folder / "aligner")
    toy = System.open(folder)
    System(
        [*toy.parts, open_part(entry("aligner", "aligner", file="aligner"), folder)],
        settings=toy.settings,
        weights=toy.weights,
        text=(Preparation("de"), Preparation("en")),
        made=toy.made,
    ).save(folder)


@contextmanager
def served(*specs: str, **choices: Any) -> Iterator[Any]:
    """A running server; it is stopped at the end."""
    from wayword.web.options import Options
    from wayword.web.server import Running
    from wayword.web.service import Loaded

    options = Options(port=0, **{"threads": 2, **choices})
    running = Running([Loaded.open(spec) for spec in specs], options)
    thread = threading.Thread(target=running.run)
    thread.start()
    try:
        yield running
    finally:
        running.stop()
        thread.join()


def ask(
    running: Any,
    path: str,
    body: Any = None,
    *,
    headers: dict[str, str] | None = None,
    raw: bytes | None = None,
) -> tuple[int, Any, Any]:
    """Status, headers and value of an answer."""
    data = raw if raw is not None else None if body is None else json.dumps(body).encode()
    sent = {"content-type": "application/json", **(headers or {})}
    request = urllib.request.Request(running.address + path, data, sent)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.headers, _value(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers, _value(error.read())


def _value(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode()
