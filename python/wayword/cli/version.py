"""What ``wayword --version`` prints: the release, the commit it was built from, what it reads.

In: the compiled core and `commit.txt` beside this file. Out: three lines. How: `git archive`
writes the commit into `commit.txt`, and `make wheel` builds from such an archive; in a checkout
the file holds a placeholder, and no commit is named. Cost: one small file.
"""

from pathlib import Path

__all__ = ["commit", "describe"]

#: Text that is read wherever a bitext is expected; see docs/corpus.md.
TEXTS = "lines, TSV, `src ||| tgt`, JSON lines, TMX, PO, Parquet; plain, gzip, xz, zstd"


RECORD = Path(__file__).with_name("commit.txt")


def commit(path: Path = RECORD) -> str:
    """The commit this copy was built from; empty in a checkout."""
    text = path.read_text(encoding="utf-8").strip()
    return "" if text.startswith("$Format") else text


def describe() -> str:
    """Version and commit, then the formats that are read."""
    from wayword._core import FORMATS, __version__

    built = f"commit {commit()}" if commit() else "from a checkout"
    models = ", ".join(f"{what} {version}" for what, version in FORMATS.items())
    return f"wayword {__version__} ({built})\nreads models: {models}\nreads text: {TEXTS}"
