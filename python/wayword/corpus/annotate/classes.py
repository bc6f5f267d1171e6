r"""Word classes learned from plain text: parts of speech for languages that have no tagger.

In: text, one sentence a line. Out: ``Classes``, an annotator that gives every word the name of its
class, ``C0`` for that of the most frequent word.
How: exchange clustering of a class bigram model, in the core (Kneser and Ney, 1993). Rare words are
clustered by their looks (shape and last two letters), and so a new word has a class as well.
Cost: see the table in ``docs/annotate.md``; a look-up a word after.

>>> import tempfile
>>> folder = tempfile.TemporaryDirectory()
>>> path = Path(folder.name, "text")
>>> _ = path.write_text("a dog barks\na cat sleeps\nthe dog sleeps\nthe cat barks\n" * 5)
>>> classes, summary = Classes.fit(path, classes=3)
>>> next(classes.annotate(["the dog barks", "a cat sleeps"])).pos
('C0', 'C1', 'C2')
>>> summary.likelihood > summary.random
True
>>> folder.cleanup()
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayword import _core
from wayword.corpus.annotate.annotator import batches, file_manifest
from wayword.corpus.annotate.sentence import Sentence
from wayword.corpus.files import new_file, open_text
from wayword.errors import FormatError
from wayword.types import FilePath

__all__ = ["ClassSummary", "Classes"]

FIRST_LINE = "# wayword classes 1"
MAX_CLASS = 1 << 31


@dataclass(frozen=True)
class ClassSummary:
    """What clustering did; likelihoods are natural logarithms per word and sentence end."""

    words: int
    #: Different words, and looks of rare words.
    units: int
    #: How many of them moved in each round.
    moved: tuple[int, ...]
    likelihood: float
    #: Of classes by chance.
    random: float
    #: Of classes of words of like frequency.
    by_frequency: float

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain values, for JSON."""
        return dict(vars(self))


class Classes:
    """A class for every word. Threads may share it; it pickles."""

    def __init__(self, core: _core.WordClasses, path: Path | None = None) -> None:
        self._core = core
        self._path = path

    @classmethod
    def fit(
        cls,
        text: FilePath,
        *,
        classes: int = 100,
        min_count: int = 2,
        rounds: int = 20,
        seed: int = 1,
        threads: int = 0,
        progress: Callable[[int, int], object] | None = None,
    ) -> tuple["Classes", ClassSummary]:
        """Cluster the words of a file into ``classes`` classes.

        Words that occur less than ``min_count`` times are clustered by their looks. It ends when
        hardly a word moves any more, or after ``rounds``. The seed decides only the random
        classes that the summary compares with.
        """
        core, summary = _core.WordClasses.fit(
            text,
            classes=classes,
            min_count=min_count,
            rounds=rounds,
            seed=seed,
            threads=threads,
            progress=progress,
        )
        return cls(core), ClassSummary(**{**summary, "moved": tuple(summary["moved"])})

    @classmethod
    def load(cls, path: FilePath) -> "Classes":
        """Read a file that ``save`` wrote."""
        lines = enumerate(open_text(path), 1)
        if next(lines, (1, ""))[1] != FIRST_LINE:
            raise FormatError(f"{path}:1: not classes; expected `{FIRST_LINE}`; fit them again")
        entries: dict[str, int] = {}
        for number, line in lines:
            name, tab, digits = line.rpartition("\t")
            is_number = digits.isascii() and digits.isdecimal() and int(digits) < MAX_CLASS
            if not tab or not name or not is_number:
                found = f"{path}:{number}: `{line}`"
                raise FormatError(f"{found}; expected a word, a tab and a class; fit them again")
            if name in entries:
                raise FormatError(f"{path}:{number}: `{name}` again; expected every word once")
            entries[name] = int(digits)
        if not entries:
            raise FormatError(f"{path}: no words; expected a word a line; fit them again")
        return cls(_core.WordClasses.from_entries(list(entries.items())), Path(path))

    def save(self, path: FilePath) -> None:
        """Write words and classes, most frequent first; looks of words begin with a space."""
        with new_file(path) as file:
            print(FIRST_LINE, file=file)
            for name, number in self._core.entries():
                print(name, number, sep="\t", file=file)
        self._path = Path(path)

    def items(self) -> Iterator[tuple[str, int]]:
        """Words with their classes, most frequent first."""
        return (item for item in self._core.entries() if not item[0].startswith(" "))

    def annotate(
        self,
        sentences: Iterable[str | Sequence[str]],
        *,
        threads: int = 0,  # noqa: ARG002  a look-up a word is not worth a thread
    ) -> Iterator[Sentence]:
        """Give every word the name of its class as its tag."""
        for batch in batches(sentences):
            classified = self._core.classify(batch)
            for words, numbers in zip(batch, classified, strict=True):
                yield Sentence(tuple(words), tuple([f"C{number}" for number in numbers]))

    def to_manifest(self) -> dict[str, Any]:
        """Kind, file and checksum."""
        return file_manifest("classes", self._path)

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_entries, (self._core.entries(), self._path)

    def __repr__(self) -> str:
        numbers = {number for _, number in self._core.entries()}
        return f"Classes({len(self._core.entries())} words in {len(numbers)} classes)"


def _from_entries(entries: list[tuple[str, int]], path: Path | None) -> Classes:
    return Classes(_core.WordClasses.from_entries(entries), path)
