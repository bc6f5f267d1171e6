"""A phrase table and the text to be ordered, from files.

In: a system folder or a phrase table, source and references. Out: the table, and sentences that are
not too long, tokenised as the system has it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wayword.errors import ArgumentError
from wayword.evaluate import Gold
from wayword.evaluate.read import read_gold, read_lines
from wayword.extract import PhraseTable
from wayword.system import System
from wayword.tune.dev import read_dev
from wayword.types import FilePath

__all__ = ["Texts", "read_texts"]


@dataclass(frozen=True)
class Texts:
    """What the BLEU oracle needs."""

    table: PhraseTable
    src: list[str]
    gold: Gold
    #: sentences that are longer than wanted
    left_out: int

    @property
    def refs(self) -> list[tuple[str, ...]]:
        """The references of each sentence."""
        return list(zip(*self.gold.refs, strict=True))

    @property
    def lengths(self) -> list[int]:
        """Source words of each sentence."""
        return [len(line.split()) for line in self.src]


def read_texts(
    system: FilePath,
    src: FilePath,
    refs: Sequence[FilePath],
    prepared: bool = False,
    max_words: int = 40,
) -> Texts:
    """Read a table and a text; ``prepared`` text is tokenised, and so is one for a table."""
    if Path(system).is_dir():
        opened = System.open(system)
        table = opened.table
        lines, gold = read_dev(opened, [src, *refs], prepared=prepared)
    else:
        table = PhraseTable.open(system)
        lines, gold = read_lines(src), read_gold(refs, src)
    short = [at for at, line in enumerate(lines) if 0 < len(line.split()) <= max_words]
    if not short:
        found = f"found no sentence of 1 to {max_words} words"
        raise ArgumentError(f"{src}: {found}; expected some; try a larger --max-words")
    kept = Gold(refs=[[ref[at] for at in short] for ref in gold.refs])
    return Texts(table, [lines[at] for at in short], kept, len(lines) - len(short))
