r"""How words are written, counted in a text of any size.

In: the forms of words, and how many different ones may be in memory. Out: for each word, whatever
its case, the form it has most often; a table of them on disk that is read where it is asked.
How: forms are counted in memory; when there are too many they go to a file, sorted, and counting
begins anew. All files are merged at the end, those of several texts too, and the result is that of
counting in memory.
Cost: about ``FORM_BYTES`` a form while counting; every form is written and read once or twice. A
table on disk takes an entry in memory for each ``STEP`` forms.

>>> from wayword.corpus.files import temp_folder
>>> with temp_folder() as folder:
...     runs = Runs(folder)
...     runs.add({"Die": 1, "die": 2, "Katze": 1})
...     runs.add({"KATZE": 1, "Katze": 1, "Die": 2})
...     [(form.word, form.seen, form.total) for form in runs.usual()]
[('Die', 3, 5), ('Katze', 2, 3)]
"""

import heapq
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from wayword.corpus.files import memory_left
from wayword.errors import FormatError
from wayword.types import FilePath

__all__ = ["Form", "FormFile", "Runs", "forms_within", "lower", "parse_form", "usual_form"]

DOTTED = frozenset({"tr", "az"})  # languages where I is the capital of ı, and İ of i
FORM_BYTES = 400  # of a form in a dictionary, and in the list that sorts it
LEAST = 50_000  # forms that are counted in memory, however little there is
MOST_RUNS = 64  # files that are open at a time
STEP = 32  # forms of a table between two that are in memory
REMEMBERED = 1 << 16  # words whose forms are kept when they were looked up


class Form(NamedTuple):
    """The case a word has most often: ``seen`` times of ``total``."""

    word: str
    seen: int
    total: int


def lower(text: str, lang: str = "") -> str:
    """Lower-case text as its language does it."""
    if lang in DOTTED:
        text = text.replace("İ", "i").replace("I", "ı")
    return text.lower()


def usual_form(counts: Mapping[str, int]) -> Form:
    """The commonest form; ties go to fewer capitals, then to the smaller one by code points."""

    def rank(word: str) -> tuple[int, int, str]:
        return (-counts[word], sum(map(str.isupper, word)), word)

    word = min(counts, key=rank)
    return Form(word, counts[word], sum(counts.values()))


def forms_within(memory: int) -> int:
    """How many different forms may be counted at a time in a process that keeps to ``memory``."""
    return max(LEAST, memory_left(memory) // FORM_BYTES)


class Runs:
    """Files of counted forms in a folder, each sorted by the lower-cased word."""

    def __init__(self, folder: Path, *, lang: str = "", paths: Sequence[Path] = ()) -> None:
        self._folder, self._lang = folder, lang
        self._paths = list(paths)
        self._count = 0

    def add(self, counts: Mapping[str, int]) -> None:
        """Write counted forms as one more file."""
        self._write(sorted((lower(form, self._lang), form, counts[form]) for form in counts))
        if len(self._paths) >= MOST_RUNS:
            old, self._paths = self._paths, []
            self._write(_merged(old, self._lang))
            for path in old:
                path.unlink()

    def usual(self) -> Iterator[Form]:
        """The usual form of each word, by the lower-cased word."""
        for _, rows in groupby(_merged(self._paths, self._lang), itemgetter(0)):
            yield usual_form({form: count for _, form, count in rows})

    def save(self, path: FilePath) -> None:
        """Write all counts as one file, which others may be given as one of their ``paths``."""
        _write_run(Path(path), _merged(self._paths, self._lang))

    def _write(self, rows: Iterable[tuple[str, str, int]]) -> None:
        path = self._folder / f"forms-{self._count}"
        self._count += 1
        _write_run(path, rows)
        self._paths.append(path)


def _write_run(path: Path, rows: Iterable[tuple[str, str, int]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{form}\t{count}\n" for _, form, count in rows)


def _rows(path: Path, lang: str) -> Iterator[tuple[str, str, int]]:
    with path.open(encoding="utf-8", newline="\n") as file:
        for line in file:
            form, _, count = line.rstrip("\n").rpartition("\t")
            yield lower(form, lang), form, int(count)


def _merged(paths: Sequence[Path], lang: str) -> Iterator[tuple[str, str, int]]:
    """The rows of all files, sorted, each form once."""
    rows = heapq.merge(*(_rows(path, lang) for path in paths))
    for (key, form), same in groupby(rows, itemgetter(0, 1)):
        yield key, form, sum(count for _, _, count in same)


def parse_form(line: str, place: str) -> Form:
    """A line of a saved table: word, seen and total."""
    columns = line.split("\t")
    if len(columns) != 3 or not columns[0]:
        found = f"{len(columns)} columns"
        raise FormatError(f"{place}: {found}; expected word, seen and total; fit it again")
    counts = [int(text) if text.isdecimal() and len(text) < 19 else 0 for text in columns[1:]]
    if not 0 < counts[0] <= counts[1]:
        found = f"counts `{columns[1]}` and `{columns[2]}`"
        raise FormatError(f"{place}: {found}; expected 0 < seen <= total; fit it again")
    return Form(columns[0], counts[0], counts[1])


class FormFile(Mapping[str, Form]):
    """A saved table of forms by lower-cased words, of which some lines are in memory.

    Its first line is skipped; the others must be sorted by the lower-cased word.
    """

    def __init__(self, path: FilePath, *, lang: str = "") -> None:
        self._path, self._lang = Path(path), lang
        self._keys: list[str] = []
        self._starts: list[int] = []
        self._size = 0
        self._known: dict[str, Form | None] = {}
        self._index()

    def _index(self) -> None:
        before = None
        with self._path.open("rb") as file:
            at = len(file.readline())
            for number, line in enumerate(file, 2):
                key = self._parse(line, number)[0]
                if before is not None and key <= before:
                    found = f"`{key}` after `{before}`"
                    raise FormatError(f"{self._path}:{number}: {found}; fit the truecaser again")
                if self._size % STEP == 0:
                    self._keys.append(key)
                    self._starts.append(at)
                before, at, self._size = key, at + len(line), self._size + 1
        self._starts.append(at)

    def _parse(self, line: bytes, number: int = 0) -> tuple[str, Form]:
        form = parse_form(line.decode("utf-8").rstrip("\n"), f"{self._path}:{number}")
        return lower(form.word, self._lang), form

    def __getitem__(self, key: str) -> Form:
        if key not in self._known:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[key] = self._found(key)
        form = self._known[key]
        if form is None:
            raise KeyError(key)
        return form

    def _found(self, key: str) -> Form | None:
        block = bisect_right(self._keys, key) - 1
        if block < 0:
            return None
        start, end = self._starts[block : block + 2]
        with self._path.open("rb") as file:
            file.seek(start)
            lines = file.read(end - start).splitlines(keepends=True)
        return dict(map(self._parse, lines)).get(key)

    def __iter__(self) -> Iterator[str]:
        with self._path.open("rb") as file:
            file.readline()
            for line in file:
                yield self._parse(line)[0]

    def __len__(self) -> int:
        return self._size
