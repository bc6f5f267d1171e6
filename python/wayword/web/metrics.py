"""Counts what a server does, and tells it in the form that Prometheus reads.

>>> metrics = Metrics()
>>> metrics.count("/translate", 200, 0.02, sentences=2)
>>> [line for line in metrics.text({}).splitlines() if "sentences" in line][-1]
'wayword_sentences_total 2'
"""

import mmap
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

__all__ = ["Metrics"]

#: Upper ends of the classes of seconds.
CLASSES = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Requests by path and status, their seconds, sentences and lessons."""

    def __init__(self) -> None:
        self.start = time.time()
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._classes: Counter[float] = Counter()
        self._seconds = 0.0
        self._counts: Counter[str] = Counter()

    def count(self, path: str, status: int, seconds: float, *, sentences: int = 0) -> None:
        """Note an answer."""
        with self._lock:
            self._requests[path, status] += 1
            self._seconds += seconds
            self._classes[next((end for end in CLASSES if seconds <= end), float("inf"))] += 1
            self._counts["sentences"] += sentences

    def add(self, name: str, number: int = 1) -> None:
        """Note that something happened: ``lessons``, ``reloads``."""
        with self._lock:
            self._counts[name] += number

    def text(self, gauges: Mapping[str, float]) -> str:
        """All of it, and what is true at the moment."""
        with self._lock:
            lines = ["# TYPE wayword_requests_total counter"]
            lines += [
                f'wayword_requests_total{{path="{path}",status="{status}"}} {count}'
                for (path, status), count in sorted(self._requests.items())
            ]
            lines.append("# TYPE wayword_request_seconds histogram")
            total = 0
            for end in CLASSES:
                total += self._classes[end]
                lines.append(f'wayword_request_seconds_bucket{{le="{end:g}"}} {total}')
            total += self._classes[float("inf")]
            lines.append(f'wayword_request_seconds_bucket{{le="+Inf"}} {total}')
            lines.append(f"wayword_request_seconds_sum {self._seconds:.6f}")
            lines.append(f"wayword_request_seconds_count {total}")
            for name in ("sentences", "lessons", "reloads"):
                lines.append(f"# TYPE wayword_{name}_total counter")
                lines.append(f"wayword_{name}_total {self._counts[name]}")
        moment = {**gauges, "start_time_seconds": self.start, "resident_bytes": _resident()}
        for name, value in moment.items():
            lines += [f"# TYPE wayword_{name} gauge", f"wayword_{name} {value:.15g}"]
        return "\n".join(lines) + "\n"


def _resident() -> int:
    """Bytes of memory in use; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * mmap.PAGESIZE
