"""What the keeper of a server chooses: where it listens, and how much it takes.

>>> Options(batch=0)
Traceback (most recent call last):
...
wayword.errors.ArgumentError: batch: found 0; expected 1 or more
"""

import ipaddress
import os
from dataclasses import dataclass

from wayword.errors import ArgumentError
from wayword.options import check_number, check_range

__all__ = ["Options"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a server behaves towards those who ask it."""

    #: the address it listens on; others than this machine's own are for trusted networks
    host: str = "127.0.0.1"
    port: int = 5000
    #: searches at the same time; 0 for as many as there are cores
    threads: int = 0
    #: requests that may wait; further ones are sent away with 503. 0 for half as many as are
    #: searched, and none while others are sent away: however many ask, those served are so at once
    queue: int = 0
    #: seconds a request may take, waiting included
    time_limit: float = 20.0
    #: most bytes of a request, characters of its text, and sentences
    max_body: int = 1 << 20
    max_characters: int = 20_000
    max_sentences: int = 500
    #: most sentences of several requests that are searched together
    batch: int = 64
    #: keys of which a request must have one; none: everybody is served
    keys: frozenset[str] = frozenset()
    #: origins of other pages that may ask, such as ``https://example.org``; ``*`` for all
    origins: tuple[str, ...] = ()
    #: names by which it is asked besides its address, such as ``translate.example.org``
    names: tuple[str, ...] = ()
    #: whether it takes corrections and terms
    learns: bool = True
    #: whether the text of requests is logged
    logs_text: bool = False

    def __post_init__(self) -> None:
        """Refuse what makes no sense, before a port is opened."""
        check_range("port", self.port, 0, 65535)
        check_range("threads", self.threads, 0, 1024)
        check_range("queue", self.queue, 0)
        for name in ("max_body", "max_characters", "max_sentences", "batch"):
            check_range(name, getattr(self, name), 1)
        check_number("time_limit", self.time_limit, 0.001)
        for origin in self.origins:
            if origin != "*" and "://" not in origin:
                expected = "expected such as https://example.org, or *"
                raise ArgumentError(f"origins: found `{origin}`; {expected}")

    @property
    def workers(self) -> int:
        """Threads that search."""
        return self.threads or os.cpu_count() or 1

    @property
    def waiting(self) -> int:
        """Requests that may wait."""
        return self.queue or max(1, self.workers // 2)

    @property
    def is_local(self) -> bool:
        """Whether only this machine can ask."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False
