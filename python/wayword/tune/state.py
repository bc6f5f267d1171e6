"""What tuning has done so far, on disk: a file a round, each written whole and then renamed.

In: settings, then n-best lists and the record of each round. Out: the same again after any
interruption, so that a run goes on where it was and ends with the same weights.
How: ``settings.json`` says what is tuned and how; ``run-2/round-03.npz`` has the new n-best lists
and the record of a round; ``run-2/end.json`` where the run ended, with the records of its rounds,
whose lists are then of no more use and removed, but for the first, which all runs share;
``log.jsonl`` has the records of all rounds, one a line, and is made anew from them. A round that is
not there whole was never done.
"""

import io
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from wayword.corpus.files import FilePath, new_bytes, new_file
from wayword.errors import FormatError, MismatchError
from wayword.tune.pool import Candidates, Nbest

__all__ = ["Folder", "Record"]

#: A round, in plain values.
Record = dict[str, Any]

SETTINGS, LOG, END = "settings.json", "log.jsonl", "end.json"
#: Files that were begun and not finished.
UNFINISHED = ".*.part"
FORMAT = 2


class Folder:
    """The folder of one tuning; without a path nothing is kept."""

    def __init__(
        self,
        path: FilePath | None,
        settings: Mapping[str, Any],
        weights: Mapping[str, float],
        *,
        resume: bool,
    ) -> None:
        self.path = None if path is None else Path(path)
        #: the weights that tuning began with, however far it got since
        self.start: Mapping[str, float] = weights
        self._records: dict[tuple[int, int], Record] = {}
        if self.path is None:
            return
        settings = json.loads(json.dumps({"format": FORMAT, **settings}))
        known = self._known(resume)
        if known is not None:
            _compare(self.path, known["settings"], settings)
            self.start = known["weights"]
            for left_over in self.path.rglob(UNFINISHED):
                left_over.unlink()
            return
        for old in sorted(self.path.glob("run-*")) if self.path.is_dir() else ():
            shutil.rmtree(old)
        self.path.mkdir(parents=True, exist_ok=True)
        with new_file(self.path / SETTINGS) as file:
            json.dump({"settings": settings, "weights": dict(weights)}, file, indent=1)

    def _known(self, resume: bool) -> Any:
        """The settings of an earlier start that is to go on; None when there is none."""
        assert self.path is not None
        path = self.path / SETTINGS
        if not (resume and path.is_file()):
            return None
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            return {name: dict(known[name]) for name in ("settings", "weights")}
        except (ValueError, KeyError, TypeError) as wrong:
            what = "the settings of a tuning; start again without --resume"
            raise FormatError(f"{path}: damaged ({wrong}); expected {what}") from None

    def load(self, run: int, number: int) -> tuple[Record, list[Nbest]] | None:
        """A round that was done before, or None."""
        path = self._round(run, number)
        if path is None or not path.is_file():
            return None
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
                record: Record = json.loads(bytes(arrays["record"]).decode())
                lists = _unpacked({name: arrays[name] for name in arrays.files})
        except (ValueError, KeyError, EOFError, BadZipFile) as wrong:
            what = "a round of tuning; delete the file, and the round is done again"
            raise FormatError(f"{path}: damaged ({wrong}); expected {what}") from None
        self._note(record)
        return record, lists

    def save(self, record: Record, lists: Sequence[Nbest]) -> None:
        """Keep a round."""
        path = self._round(record["run"], record["round"])
        if path is not None:
            path.parent.mkdir(exist_ok=True)
            text = np.frombuffer(json.dumps(record).encode(), dtype=np.uint8)
            with new_bytes(path) as file:
                np.savez(file, record=text, **_packed(lists))
        self._note(record)

    def ended(self, run: int) -> tuple[Record, list[Record]] | None:
        """Where a run ended, and its rounds; None when it has not."""
        path = self._end(run)
        if path is None or not path.is_file():
            return None
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            end, records = dict(known["end"]), [dict(record) for record in known["rounds"]]
        except (ValueError, KeyError, TypeError) as wrong:
            what = "the end of a run; delete its folder, and the run is done again"
            raise FormatError(f"{path}: damaged ({wrong}); expected {what}") from None
        self._note(*records)
        return end, records

    def end(self, run: int, end: Record, records: Sequence[Record]) -> None:
        """Keep where a run ended; its n-best lists go, but for those that all runs begin with."""
        path = self._end(run)
        if path is None:
            return
        with new_file(path) as file:
            json.dump({"end": end, "rounds": list(records)}, file)
        for number in range(1 if run > 1 else 2, len(records) + 1):
            path.with_name(_round_name(number)).unlink(missing_ok=True)

    def _end(self, run: int) -> Path | None:
        return self.path / f"run-{run}" / END if self.path else None

    def _round(self, run: int, number: int) -> Path | None:
        return self.path / f"run-{run}" / _round_name(number) if self.path else None

    def _note(self, *records: Record) -> None:
        """Bring the log up to date; records come in order."""
        self._records.update({(record["run"], record["round"]): record for record in records})
        if self.path is not None:
            with new_file(self.path / LOG) as file:
                for noted in self._records.values():
                    print(json.dumps(noted, ensure_ascii=False), file=file)


def _round_name(number: int) -> str:
    return f"round-{number:02}.npz"


def _compare(path: Path, known: Any, settings: Mapping[str, Any]) -> None:
    names = [name for name in {**known, **settings} if known.get(name) != settings.get(name)]
    if names:
        found = f"{names[0]} was {known.get(names[0])!r} and is {settings.get(names[0])!r}"
        advice = "go on with the same, or start again without --resume"
        raise MismatchError(f"{path / SETTINGS}: {found}; {advice}")


def _packed(lists: Sequence[Nbest]) -> dict[str, Any]:
    """N-best lists as arrays; links and sparse features as JSON."""
    texts = "\n".join(text for nbest in lists for text in nbest.texts)
    more = {
        name: [getattr(nbest, name, None) for nbest in lists]
        for name in ("links", "sparse")
        if any(getattr(nbest, name, None) is not None for nbest in lists)
    }
    return {
        "counts": np.array([len(nbest.texts) for nbest in lists]),
        "texts": np.frombuffer(texts.encode(), dtype=np.uint8),
        "features": np.concatenate(
            [np.asarray(nbest.features, dtype=np.float32) for nbest in lists]
        ),
        "more": np.frombuffer(json.dumps(more, default=_plain).encode(), dtype=np.uint8),
    }


def _plain(value: Any) -> Any:
    """Numbers and mappings of other kinds, for JSON."""
    return dict(value) if isinstance(value, Mapping) else value.item()


def _unpacked(arrays: Mapping[str, Any]) -> list[Nbest]:
    ends = np.cumsum(arrays["counts"]).tolist()
    starts = [0, *ends[:-1]]
    texts = bytes(arrays["texts"]).decode().split("\n")
    more = json.loads(bytes(arrays["more"]).decode())
    lists: list[Nbest] = []
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        links = more["links"][number] if "links" in more else None
        sparse = more["sparse"][number] if "sparse" in more else None
        lists.append(
            Candidates(
                tuple(texts[start:end]),
                arrays["features"][start:end],
                None if links is None else tuple([(i, j) for i, j in of_text] for of_text in links),
                None if sparse is None else tuple(sparse),
            )
        )
    return lists
