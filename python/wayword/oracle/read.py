r"""Links for oracles, from files: with their text, or alone.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder, "links")
...     _ = path.write_text("0-0 1-1\n\n")
...     links, lengths = read_linked([path])
>>> len(links), lengths
(2, None)
"""

from collections.abc import Sequence
from pathlib import Path

from wayword.align import Links
from wayword.align.score import parse_links
from wayword.corpus import Bitext
from wayword.errors import ArgumentError
from wayword.evaluate.read import read_lines
from wayword.oracle.lengths import pair_lengths
from wayword.types import FilePath

__all__ = ["read_linked"]

WITH_TEXT = 3


def read_linked(files: Sequence[FilePath]) -> tuple[Links, list[tuple[int, int]] | None]:
    """Links, and the lengths of each pair; from source, target and links, or from links alone."""
    if len(files) == WITH_TEXT:
        bitext = Bitext.read(files[0], files[1])
        return Links.read(files[2], bitext), pair_lengths(bitext)
    if len(files) != 1:
        raise ArgumentError(f"files: found {len(files)}; expected LINKS, or SRC TGT LINKS")
    path = Path(files[0])
    lines = enumerate(read_lines(path), 1)
    return Links.from_lists(parse_links(line, f"{path}:{number}") for number, line in lines), None
