"""What tuning has done so far, on disk: files that are written whole and then renamed.

In: settings, then what each round decoded and found. Out: the same again after any interruption, so
that a run goes on where it was and ends with the same weights.
How: ``settings.json`` says what is tuned and how. ``run-2/round-03.npz`` has what the n-best lists
of a round added to the pool, ``run-2/round-03.json`` the record of the round when its search is
done. Meanwhile finished blocks of decoding (``round-03.block-0128.npz``) and finished searches
(``round-03.notes``) are kept as well. ``run-2/end.json`` says where the run ended, with the records
of its rounds, whose files are then of no more use and removed, but for the first lists, which all
runs share; ``log.jsonl`` has the records of all rounds, one a line, and is made anew from them.
"""

import io
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from wayword.corpus.files import new_bytes, new_file
from wayword.errors import FormatError, MismatchError
from wayword.tune.notes import Notes
from wayword.tune.pool import Candidates, Fresh, Nbest
from wayword.types import FilePath

__all__ = ["Decoded", "Folder", "Record", "read_lists", "write_lists"]

#: A round, in plain values.
Record = dict[str, Any]

SETTINGS, LOG, END = "settings.json", "log.jsonl", "end.json"
#: Files that were begun and not finished.
UNFINISHED = ".*.part"
FORMAT = 4


@dataclass(frozen=True)
class Decoded:
    """What the decoding of a round brought."""

    #: the dev score of the best candidates, and how long it took
    score: float
    seconds: float
    fresh: Fresh


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

    def record(self, run: int, number: int) -> Record | None:
        """The record of a round that was done before, or None."""
        path = self._file(run, number, ".json")
        if path is None or not path.is_file():
            return None
        try:
            record: Record = dict(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError) as wrong:
            raise _damaged(path, wrong) from None
        self._note(record)
        return record

    def save(self, record: Record) -> None:
        """Keep the record of a round, whose steps need not be kept any longer."""
        run, number = record["run"], record["round"]
        path = self._file(run, number, ".json")
        if path is not None:
            path.parent.mkdir(exist_ok=True)
            with new_file(path) as file:
                json.dump(record, file)
            self.notes(run, number).clear()
        self._note(record)
        self.write_log()

    def decoded(self, run: int, number: int) -> Decoded | None:
        """What a round decoded before, or None; all runs begin with the same."""
        path = self._file(1 if number == 1 else run, number, ".npz")
        if path is None or not path.is_file():
            return None
        arrays = _read(path)
        try:
            facts = json.loads(bytes(arrays.pop("facts")).decode())
            sparse = facts["sparse"]
            fresh = Fresh(**arrays, sparse=None if sparse is None else tuple(sparse))
            return Decoded(facts["score"], facts["seconds"], fresh)
        except (ValueError, KeyError, TypeError) as wrong:
            raise _damaged(path, wrong) from None

    def keep(self, run: int, number: int, decoded: Decoded) -> None:
        """Keep what a round decoded, in place of its blocks."""
        path = self._file(run, number, ".npz")
        if path is None:
            return
        arrays = {name: value for name, value in vars(decoded.fresh).items() if name != "sparse"}
        facts = {"score": decoded.score, "seconds": decoded.seconds, "sparse": decoded.fresh.sparse}
        path.parent.mkdir(exist_ok=True)
        with new_bytes(path) as file:
            np.savez(file, facts=_bytes(facts), **arrays)
        for block in path.parent.glob(f"{path.stem}.block-*.npz"):
            block.unlink()

    def block(self, run: int, number: int, start: int) -> list[Nbest] | None:
        """N-best lists of the sentences from ``start`` on that were decoded before, or None."""
        path = self._file(run, number, f".block-{start:04}.npz")
        return None if path is None or not path.is_file() else read_lists(path)

    def keep_block(self, run: int, number: int, start: int, lists: Sequence[Nbest]) -> None:
        """Keep some n-best lists until those of the whole round are."""
        path = self._file(run, number, f".block-{start:04}.npz")
        if path is not None:
            path.parent.mkdir(exist_ok=True)
            write_lists(path, lists)

    def notes(self, run: int, number: int = 0) -> Notes:
        """What is done of a round, of the end of a run (round 0) or of the whole (run 0)."""
        return Notes(self._file(run, number, ".notes"))

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
        shared = self._file(1, 1, ".npz")
        for old in path.parent.glob("round-*"):
            if old != shared:
                old.unlink()

    def _end(self, run: int) -> Path | None:
        return self.path / f"run-{run}" / END if self.path else None

    def _file(self, run: int, number: int, ending: str) -> Path | None:
        return self.path / f"run-{run}" / f"round-{number:02}{ending}" if self.path else None

    def _note(self, *records: Record) -> None:
        """Remember records for the log; they come in order."""
        self._records.update({(record["run"], record["round"]): record for record in records})

    def write_log(self) -> None:
        """Bring the log up to date."""
        if self.path is not None:
            with new_file(self.path / LOG) as file:
                for noted in self._records.values():
                    print(json.dumps(noted, ensure_ascii=False), file=file)


def write_lists(path: Path, lists: Sequence[Nbest]) -> None:
    """Write n-best lists, features as the pool keeps them."""
    with new_bytes(path) as file:
        np.savez(file, **_packed(lists))


def read_lists(path: Path) -> list[Nbest]:
    """The lists that ``write_lists`` wrote."""
    arrays = _read(path)
    try:
        return _unpacked(arrays)
    except (ValueError, KeyError) as wrong:
        raise _damaged(path, wrong) from None


def _read(path: Path) -> dict[str, Any]:
    """The arrays of a file."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (ValueError, EOFError, BadZipFile) as wrong:
        raise _damaged(path, wrong) from None


def _damaged(path: Path, wrong: Exception) -> FormatError:
    what = "a round of tuning; delete the file, and the round is done again"
    return FormatError(f"{path}: damaged ({wrong}); expected {what}")


def _bytes(value: Any) -> Any:
    """A plain value as an array."""
    return np.frombuffer(json.dumps(value, default=_plain).encode(), dtype=np.uint8)


def _compare(path: Path, known: Any, settings: Mapping[str, Any]) -> None:
    names = [name for name in {**known, **settings} if known.get(name) != settings.get(name)]
    if names:
        found = f"{names[0]} was {known.get(names[0])!r} and is {settings.get(names[0])!r}"
        advice = "continue with the same, or start again without --resume"
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
        "more": _bytes(more),
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
