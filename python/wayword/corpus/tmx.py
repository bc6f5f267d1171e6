"""Reads translation memories (TMX 1.4), unit by unit.

In: a file, plain or compressed, and two languages. Out: pairs of text; None for a unit without
one of the languages.
How: expat, which never sees more than a block, so that a memory of any size needs little memory
of ours. A file that declares entities of its own is refused: such files are attacks.
Not: attributes, notes and the contents of formatting codes.
"""

from collections.abc import Iterator
from xml.parsers import expat

from wayword.corpus.files import BLOCK, open_bytes
from wayword.errors import FormatError
from wayword.types import FilePath

__all__ = ["tmx_units"]

Pair = tuple[str, str]

NATIVE = frozenset({"bpt", "ept", "it", "ph", "ut"})  # formatting codes, not words
FLOWING = frozenset({"hi", "sub"})  # words, also inside a formatting code


def tmx_units(path: FilePath, langs: Pair) -> Iterator[Pair | None]:
    """The units of a translation memory in two languages; None for a unit that lacks one."""
    units = _TmxUnits(path, langs)
    with open_bytes(path) as file:
        while block := file.read(BLOCK):
            units.feed(block)
            yield from units.take()
    units.feed(b"", last=True)
    yield from units.take()
    units.check_languages()


class _TmxUnits:
    """Takes XML in blocks and collects the units that have ended."""

    def __init__(self, path: FilePath, langs: Pair) -> None:
        self._path = path
        self._langs = langs
        self._wanted = [lang.lower().replace("_", "-") for lang in langs]
        self._seen: dict[str, None] = {}  # languages of the file, in order
        self._done: list[Pair | None] = []
        self._sides: list[str | None] = [None, None]
        self._lang = ""
        self._pieces: list[str] = []
        self._keeps: list[bool] = []  # inside <seg>: whether the text of each open element counts
        self._rooted = False
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.EntityDeclHandler = self._entity
        self._parser.SkippedEntityHandler = self._skipped_entity

    def feed(self, block: bytes, *, last: bool = False) -> None:
        try:
            self._parser.Parse(block, last)
        except expat.ExpatError as wrong:
            why = expat.errors.messages.get(wrong.code, "unknown encoding")
            found = f"broken XML ({why})"
            raise self._error(found, "a TMX file", "export it again", wrong.lineno) from None
        except (ValueError, LookupError) as wrong:  # an encoding that Python does not have
            if isinstance(wrong, FormatError):
                raise
            found = "an encoding that cannot be read"
            raise self._error(found, "UTF-8 or UTF-16", "export it again", 1) from None

    def take(self) -> list[Pair | None]:
        done, self._done = self._done, []
        return done

    def check_languages(self) -> None:
        """Complain when the file has units but never one of the two languages."""
        for lang, wanted in zip(self._langs, self._wanted, strict=True):
            if self._seen and not any(_is_language(seen, wanted) for seen in self._seen):
                known = ", ".join(f"`{seen}`" for seen in self._seen)
                found = f"{self._path}: no unit in `{lang}`"
                raise FormatError(f"{found}; expected a language of the file: {known}; name two")

    def _error(self, found: str, expected: str, advice: str, line: int = 0) -> FormatError:
        place = f"{self._path}:{line or self._parser.CurrentLineNumber}"
        return FormatError(f"{place}: {found}; expected {expected}; {advice}")

    def _entity(self, name: str, *_rest: object) -> None:
        # Such files are attacks far more often than memories.
        advice = "export it again, or write the text itself"
        raise self._error(f"entity `{name}` is declared", "no entities of its own", advice)

    def _skipped_entity(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            raise self._error(f"unknown entity `{name}`", "plain characters", "export it again")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._rooted and name != "tmx":
            advice = "is this another kind of XML?"
            raise self._error(f"root element `{name}`", "`tmx`", advice)
        self._rooted = True
        if self._keeps:
            inside = self._keeps[-1]
            self._keeps.append(name not in NATIVE and (inside or name in FLOWING))
        elif name == "seg":
            self._keeps, self._pieces = [True], []
        elif name == "tuv":
            lang = attributes.get("xml:lang") or attributes.get("lang") or ""
            self._lang = lang.lower().replace("_", "-")
            self._seen[self._lang] = None
        elif name == "tu":
            self._sides = [None, None]

    def _text(self, data: str) -> None:
        if self._keeps and self._keeps[-1]:
            self._pieces.append(data)

    def _end(self, name: str) -> None:
        if self._keeps:
            self._keeps.pop()
            if not self._keeps:
                self._end_segment()
        elif name == "tu":
            src, tgt = self._sides
            self._done.append(None if src is None or tgt is None else (src, tgt))

    def _end_segment(self) -> None:
        for side, wanted in enumerate(self._wanted):
            if self._sides[side] is None and _is_language(self._lang, wanted):
                self._sides[side] = "".join(self._pieces)


def _is_language(lang: str, wanted: str) -> bool:
    return lang == wanted or lang.startswith(wanted + "-")
