"""Learns word alignment from a bitext, keeps it, and uses it again on any text.

In: a ``Bitext``. Out: an ``Aligner``; ``aligner.align(bitext)`` gives ``Links``.
How: IBM Model 1 and then an HMM, both directions trained to agree with each other (Liang, Taskar
and Klein, 2006); or the quick model ``diagonal`` (IBM 2 with a prior for the diagonal, after Dyer,
Chahuneau and Smith, 2013). A link is kept when the two directions together find it likely enough
(``threshold``), or by one of the classic heuristics over the best links of each direction.
Cost: linear in the number of pairs; memory follows the number of distinct word pairs that occur
together, up to ``memory``. The number of threads changes no link.
Not: pairs with a side of over 1,000 words, which get no links and are counted in the summary.

>>> bitext = Bitext.from_pairs([("das haus", "the house"), ("das buch", "the book"),
...                             ("ein buch", "a book"), ("ein haus", "a house")] * 3)
>>> aligner = fit(bitext)
>>> list(aligner.align(bitext).lines())[:2]
['0-0 1-1', '0-0 1-1']
>>> aligner.align_pair("ein buch", "a book")
[(0, 0), (1, 1)]
"""

import logging
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from wayword import _core
from wayword.align import quality
from wayword.align.links import Links
from wayword.corpus import Bitext
from wayword.corpus.files import size_in_bytes
from wayword.errors import ArgumentError
from wayword.options import check_choice
from wayword.types import FilePath, Progress

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "MODELS",
    "SYMMETRISATIONS",
    "Aligned",
    "Aligner",
    "Options",
    "Summary",
    "fit",
    "fit_files",
    "symmetrise",
]

LOG = logging.getLogger(__name__)


#: The models that can be learned.
MODELS = ("hmm", "diagonal")

#: Ways to choose links from the two directions.
SYMMETRISATIONS = tuple(_core.symmetrisations())


@dataclass(frozen=True, kw_only=True)
class Options:
    """How words are linked."""

    #: ``hmm``, or ``diagonal``: quicker and coarser
    model: str = "hmm"
    #: how the two directions become one: ``threshold``, or a classic such as
    #: ``grow-diag-final-and``
    symmetrise: str = "threshold"
    #: what learning keeps to; rare pairs of words that find no room are left out
    memory: str = "2G"

    def __post_init__(self) -> None:
        """Refuse what makes no sense, before any learning."""
        check_choice("model", self.model, MODELS)
        check_choice("symmetrise", self.symmetrise, SYMMETRISATIONS)
        size_in_bytes(self.memory)


@dataclass(frozen=True)
class Summary:
    """What training saw: sentence pairs, those without a word on a side, those too long."""

    pairs: int
    blank: int
    too_long: int
    word_pairs: int
    #: pairs of words that occur together but found no room in ``memory``
    no_room: int = 0

    def note(self) -> str:
        """One line about what was left out; empty when nothing was."""
        left_out = [
            f"{count} {what}"
            for count, what in (
                (self.blank, "with a blank side"),
                (self.too_long, f"with a side over {_core.MAX_ALIGNED_WORDS} words"),
            )
            if count
        ]
        notes = [f"no links for pairs: {', '.join(left_out)}"] if left_out else []
        if self.no_room:
            notes.append(
                f"no room for {self.no_room:,} pairs of words that hardly ever occur together "
                "(see `memory`)"
            )
        return "; ".join(notes)


class Aligned(NamedTuple):
    """A text with its links."""

    links: Links
    #: of each row of ``links.flat``
    posteriors: "npt.NDArray[np.float32]"
    #: of each pair, how likely it is a translation, 0 to 1; None if it was not asked for
    scores: "npt.NDArray[np.float64] | None"


class Aligner:
    """A trained aligner; it never changes, and pickles by the path it was saved to."""

    def __init__(self, core: _core.Aligner, path: FilePath | None = None) -> None:
        self._core = core
        self.path = path

    @classmethod
    def load(cls, path: FilePath) -> "Aligner":
        """Open a saved aligner."""
        return cls(_core.Aligner.load(path), path)

    def save(self, path: FilePath) -> None:
        """Write the aligner to a file."""
        self._core.save(path)
        self.path = path

    @property
    def summary(self) -> Summary | None:
        """What training saw; None for an aligner that was loaded."""
        seen = self._core.summary
        return None if seen is None else Summary(*seen)

    def align(
        self,
        bitext: Bitext,
        *,
        symmetrise: str = Options.symmetrise,
        threshold: float | None = None,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> Links:
        """The links of every pair of a bitext."""
        return self.align_with_posteriors(
            bitext, symmetrise=symmetrise, threshold=threshold, threads=threads, progress=progress
        )[0]

    def align_with_posteriors(
        self,
        bitext: Bitext,
        *,
        symmetrise: str = Options.symmetrise,
        threshold: float | None = None,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> "tuple[Links, npt.NDArray[np.float32]]":
        """Links, and for each row of ``links.flat`` how likely the two directions find it."""
        aligned = self.align_scored(
            bitext,
            symmetrise=symmetrise,
            threshold=threshold,
            score=False,
            threads=threads,
            progress=progress,
        )
        return aligned.links, aligned.posteriors

    def align_scored(
        self,
        bitext: Bitext,
        *,
        symmetrise: str = Options.symmetrise,
        threshold: float | None = None,
        score: bool = True,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> "Aligned":
        """Links, their posteriors and, for each pair, how likely it is a translation.

        Scores need a calibration: see ``calibrate``.
        """
        import numpy as np

        if score and not self.is_calibrated:
            raise ArgumentError(
                "aligner: it was not calibrated, so it gives no scores; call `calibrate` with text "
                "that is mostly well translated"
            )
        links, posteriors, features = self._core.align(
            bitext._core,
            symmetrise=symmetrise,
            threshold=threshold,
            features=score,
            threads=threads,
            progress=progress,
        )
        scores = None
        if score:
            scores = quality.scores(np.asarray(features), self._core.calibration)
        return Aligned(Links(links), np.asarray(posteriors), scores)

    def score(self, bitext: Bitext, *, threads: int = 0) -> "npt.NDArray[np.float64]":
        """For each pair, how likely it is a translation: 0 to 1; see ``calibrate``."""
        scores = self.align_scored(bitext, threads=threads).scores
        assert scores is not None
        return scores

    @property
    def is_calibrated(self) -> bool:
        """Whether it can give scores."""
        return bool(self._core.calibration)

    def calibrate(
        self, pairs: Sequence[tuple[str, str]], *, seed: int = 1, threads: int = 0
    ) -> "Aligner":
        """The same aligner, able to score pairs; ``pairs`` are text that is mostly good.

        Up to ``quality.SAMPLE`` of them, drawn by ``seed``, are compared with bad pairs that are
        made of them; see ``wayword.align.quality``.
        """
        import numpy as np

        drawn = list(pairs)
        if len(drawn) > quality.SAMPLE:
            drawn = random.Random(seed).sample(drawn, quality.SAMPLE)
        rows = []
        for text in (drawn, list(quality.spoiled(drawn, seed)) if drawn else []):
            _, _, features = self._core.align(
                Bitext.from_pairs(text)._core,
                symmetrise=Options.symmetrise,
                threshold=None,
                features=True,
                threads=threads,
                progress=None,
            )
            rows.append(np.asarray(features).reshape(-1, _core.ALIGN_FEATURES))
        return Aligner(self._core.calibrated(quality.learn(*rows)))

    def link_rates(
        self, bitext: Bitext
    ) -> "tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]":
        """By word id of the bitext, how often training linked the word: as source, as target.

        A word that the aligner does not know has 0.
        """
        import numpy as np

        src, tgt = self._core.link_rates(bitext._core)
        return np.asarray(src), np.asarray(tgt)

    def align_pair(
        self,
        src: str | Sequence[str],
        tgt: str | Sequence[str],
        *,
        symmetrise: str = Options.symmetrise,
        threshold: float | None = None,
    ) -> list[tuple[int, int]]:
        """The links of one pair: text, which is split at whitespace, or lists of words."""
        pair = (" ".join(_words(src)), " ".join(_words(tgt)))
        links = self.align(
            Bitext.from_pairs([pair]), symmetrise=symmetrise, threshold=threshold, threads=1
        )
        return [(int(i), int(j)) for i, j in links[0]]

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as the path of the saved file."""
        if self.path is None:
            raise ArgumentError("aligner: it has no file to be pickled by; call `save` first")
        return Aligner.load, (self.path,)


def fit(
    bitext: Bitext,
    *,
    model: str = Options.model,
    lexical_iterations: int | None = None,
    order_iterations: int | None = None,
    memory: int | str = Options.memory,
    temp_dir: FilePath | None = None,
    threads: int = 0,
    progress: Progress | None = None,
) -> Aligner:
    """Learn an aligner from a bitext; iterations left out take the values of the docs page.

    Learning keeps to ``memory`` beside the bitext: pairs of words that hardly ever occur together
    are left out when there are too many, and text that finds no room goes to ``temp_dir``.
    """
    options = _options(model, lexical_iterations, order_iterations, memory, temp_dir)
    return _noted(_core.Aligner.fit(bitext._core, options, threads=threads, progress=progress))


def fit_files(
    files: Sequence[tuple[FilePath, FilePath]],
    *,
    model: str = Options.model,
    lexical_iterations: int | None = None,
    order_iterations: int | None = None,
    memory: int | str = Options.memory,
    temp_dir: FilePath | None = None,
    threads: int = 0,
    progress: Progress | None = None,
) -> Aligner:
    """Learn as ``fit`` does from pairs of files of lines, without holding their text.

    The result is that of ``fit`` on the same text, within ``memory`` for a text of any size.
    """
    options = _options(model, lexical_iterations, order_iterations, memory, temp_dir)
    core = _core.Aligner.fit_files(list(files), options, threads=threads, progress=progress)
    return _noted(core)


def _options(
    model: str,
    lexical_iterations: int | None,
    order_iterations: int | None,
    memory: int | str,
    temp_dir: FilePath | None,
) -> _core.FitOptions:
    return _core.FitOptions(
        model=model,
        lexical_iterations=lexical_iterations,
        order_iterations=order_iterations,
        memory=size_in_bytes(memory),
        temp_dir=temp_dir,
    )


def _noted(core: _core.Aligner) -> Aligner:
    aligner = Aligner(core)
    if aligner.summary and aligner.summary.note():
        LOG.info("%s", aligner.summary.note())
    return aligner


def symmetrise(forward: Links, reverse: Links, bitext: Bitext, heuristic: str) -> Links:
    """Join the links of two directions, each with the source position first.

    ``forward`` gives each source word at most one target word, ``reverse`` each target word at
    most one source word.
    """
    return Links(_core.symmetrise(forward._core, reverse._core, bitext._core, heuristic))


def _words(text: str | Sequence[str]) -> Sequence[str]:
    return text.split() if isinstance(text, str) else text
