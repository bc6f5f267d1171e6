"""Results of small steps, kept one by one while a longer step is under way.

In: a name and a plain value, as soon as a step is done. Out: the same again after any interruption.
How: a line of JSON each, at the end of a file. The last line may be cut off where the process was
killed; it is dropped then, and its step done again.
Not: a place for results that have to stay; the file goes when the longer step is done.

>>> import tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> path = Path(folder.name, "notes")
>>> Notes(path).put("first", 0.1)
>>> _ = path.write_text(path.read_text() + '["second", 0.')
>>> notes = Notes(path)
>>> notes.get("first"), notes.get("second")
(0.1, None)
>>> folder.cleanup()
"""

import json
import threading
from pathlib import Path
from typing import Any

__all__ = ["Notes"]


class Notes:
    """What is done so far; without a path it is kept nowhere. Threads may share it."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._values: dict[str, Any] = {}
        if path is not None and path.is_file():
            self._read(path)

    def _read(self, path: Path) -> None:
        """Read the whole lines, and cut off what follows them."""
        end = 0
        with path.open("rb+") as file:
            for line in file:
                try:
                    name, value = json.loads(line)
                except ValueError:
                    break
                if not line.endswith(b"\n"):
                    break
                self._values[name] = value
                end += len(line)
            file.truncate(end)

    def get(self, name: str) -> Any:
        """The value of a step that was done, or None."""
        return self._values.get(name)

    def put(self, name: str, value: Any) -> None:
        """Keep the value of a step that is done."""
        with self._lock:
            self._values[name] = value
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([name, value]) + "\n")

    def clear(self) -> None:
        """The longer step is done."""
        self._values.clear()
        if self._path is not None:
            self._path.unlink(missing_ok=True)
