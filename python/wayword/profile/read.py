"""Text for a profile: of any format, prepared and linked on the way.

In: files of a bitext, perhaps with its links, languages, and what tags the source. Out: a bitext of
tokens, its links, and tags of its source words.
How: text that comes with links is tokenised already; other text is prepared as for training, in
lower case, and linked by the aligner of ``wayword.align`` unless it is said to be prepared.
Cost: that of tokenisation and alignment, where they are needed.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from wayword import align
from wayword.align import Links
from wayword.corpus import Bitext
from wayword.corpus.annotate import open_annotator, read_factored
from wayword.corpus.collection import find_pieces, language_of, read_bitext
from wayword.corpus.text import Preparation
from wayword.errors import ArgumentError, MismatchError
from wayword.types import FilePath, Progress

__all__ = ["Linked", "read_text", "tags_of"]


WITH_LINKS = 3


class Linked(NamedTuple):
    """A bitext with its links, and what it is called."""

    bitext: Bitext
    links: Links
    name: str


def read_text(
    files: Sequence[FilePath],
    langs: tuple[str, str] = ("", ""),
    *,
    prepared: bool = False,
    columns: Sequence[str] = (),
    threads: int = 0,
    progress: Progress | None = None,
) -> Linked:
    """Read source, target and perhaps links; or any files that ``train`` reads."""
    paths = [str(path) for path in files]
    if len(paths) == WITH_LINKS and not prepared:
        bitext = Bitext.read(paths[0], paths[1])
        return Linked(bitext, Links.read(paths[2], bitext), _name(paths, langs))
    pieces = find_pieces(paths, langs)
    bitext = read_bitext(pieces, langs, columns)
    if not prepared:
        bitext = _prepared(bitext, _languages(pieces[0].files, langs))
    room: dict[str, Any] = {"threads": threads, "progress": progress}
    return Linked(bitext, align.fit(bitext, **room).align(bitext, **room), _name(paths, langs))


def _languages(files: Sequence[str], langs: tuple[str, str]) -> tuple[str, str]:
    src, tgt = (
        lang or language_of(path) for lang, path in zip(langs, (files[0], files[-1]), strict=True)
    )
    for lang, path in ((src, files[0]), (tgt, files[-1])):
        if not lang:
            advice = "give --src-lang and --tgt-lang, or --prepared if it is tokenised"
            raise ArgumentError(f"{path}: which language is it? {advice}")
    return src, tgt


def _prepared(bitext: Bitext, langs: tuple[str, str]) -> Bitext:
    """The same text in tokens and lower case."""
    sides = [
        (" ".join(tokens) for tokens in Preparation(lang, case="lower").prepare_all(lines))
        for lang, lines in zip(langs, (_lines(bitext.src), _lines(bitext.tgt)), strict=True)
    ]
    return Bitext.from_pairs(zip(*sides, strict=True))


def _lines(side: Any) -> list[str]:
    return [" ".join(words) for words in side]


def _name(files: Sequence[str], langs: tuple[str, str]) -> str:
    src, tgt = (
        lang or language_of(path)
        for lang, path in zip(langs, (files[0], files[1 % len(files)]), strict=True)
    )
    return f"{src}–{tgt}" if src and tgt else "source–target"


def tags_of(bitext: Bitext, tagger: str = "", pos: FilePath = "") -> list[tuple[str, ...]] | None:
    """Tags of the source words, by an annotator or from a file; None where there is neither."""
    if tagger and pos:
        raise ArgumentError("--pos: found beside --tagger; expected one of the two")
    if tagger:
        annotator = open_annotator(tagger)
        return [sentence.pos or () for sentence in annotator.annotate(_lines(bitext.src))]
    if not pos:
        return None
    tags = [
        sentence.words if sentence.pos is None else sentence.pos for sentence in read_factored(pos)
    ]
    lengths = [len(words) for words in bitext.src]
    if len(tags) != len(lengths):
        found = f"found {len(tags)} lines of tags and {len(lengths)} sentences"
        raise MismatchError(f"{pos}: {found}; do both come from the same corpus?")
    for line, (of_line, length) in enumerate(zip(tags, lengths, strict=True), 1):
        if len(of_line) != length:
            found = f"found {len(of_line)} tags for {length} words"
            raise MismatchError(f"{pos}:{line}: {found}; expected one for each")
    return [tuple(of_line) for of_line in tags]
