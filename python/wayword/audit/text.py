"""The two texts of an audit, as people read them and as the aligner knows them.

In: raw lines and how each side is prepared, or lines of tokens. Out: ``AuditText``: words as they
stand, for names, numbers and reports, and a ``Bitext`` of the same words in the aligner's case.
Cost: that of the tokenizers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from wayword.corpus import Bitext
from wayword.corpus.files import open_text
from wayword.corpus.forms import lower
from wayword.corpus.text import Preparation
from wayword.errors import MismatchError
from wayword.types import FilePath

__all__ = ["AuditText", "read_text"]

Words = Sequence[Sequence[str]]


@dataclass(frozen=True)
class AuditText:
    """Words of both sides, line by line, and the same as a bitext for the aligner."""

    src: Words
    tgt: Words
    bitext: Bitext
    #: the languages, empty when not known
    langs: tuple[str, str] = ("", "")

    @classmethod
    def from_words(
        cls,
        src: Words,
        tgt: Words,
        langs: tuple[str, str] = ("", ""),
        *,
        lowercase: bool = False,
        preparations: Sequence[Preparation] | None = None,
    ) -> "AuditText":
        """Take words as they are; the aligner sees them lower-cased, truecased or the same."""
        if len(src) != len(tgt):
            found = f"found {len(src)} lines of source and {len(tgt)} of target"
            raise MismatchError(f"{found}; expected a translation for each line")
        sides = [
            [_cased(words, lang, lowercase, preparation) for words in side]
            for side, lang, preparation in zip(
                (src, tgt), langs, preparations or (None, None), strict=True
            )
        ]
        return cls(src, tgt, Bitext.from_pairs(zip(*sides, strict=True)), langs)

    def __len__(self) -> int:
        return len(self.src)


def read_text(
    src: FilePath,
    tgt: FilePath,
    preparations: Sequence[Preparation] | None = None,
    *,
    lowercase: bool = False,
) -> AuditText:
    """Read two files: raw text, or without ``preparations`` tokens with spaces between them."""
    sides = []
    for path, preparation in zip((src, tgt), preparations or (None, None), strict=True):
        # Case carries names; the aligner's own case is set afterwards, word by word.
        as_it_stands = preparation and replace(preparation, case="keep", truecaser=None)
        sides.append([_split(line, as_it_stands) for line in open_text(path)])
    if len(sides[0]) != len(sides[1]):
        found = f"{len(sides[0])} lines, but {tgt} has {len(sides[1])}"
        raise MismatchError(f"{src}: {found}; expected a translation for each line")
    langs = (preparations[0].lang, preparations[1].lang) if preparations else ("", "")
    return AuditText.from_words(
        sides[0], sides[1], langs, lowercase=lowercase, preparations=preparations
    )


def _split(line: str, preparation: Preparation | None) -> list[str]:
    return line.split() if preparation is None else preparation.prepare(line)


def _cased(
    words: Iterable[str], lang: str, lowercase: bool, preparation: Preparation | None
) -> str:
    if preparation and preparation.truecaser is not None:
        words = preparation.truecaser.apply(list(words))
    elif lowercase or (preparation and preparation.case == "lower"):
        words = [lower(word, lang) for word in words]
    return " ".join(words)
