"""What a system learned after its training, and the aligner it learns with, as parts.

The part ``learned`` holds what ``wayword merge`` took from the journal: a file of lessons, a line
each (see ``wayword.learn``). The part ``aligner`` is the one that linked the training text:
it links the words of any pair, and those of a pair to be learned.
"""

from functools import cached_property

from wayword.align import Aligner
from wayword.learn import Lesson, read_lessons
from wayword.parts.part import Part

__all__ = ["AlignerPart", "LearnedPart"]


class LearnedPart(Part):
    """Pairs and terms that were learned and merged."""

    kind = "learned"
    is_sealed = True

    @cached_property
    def _lessons(self) -> tuple[Lesson, ...]:
        return tuple(read_lessons(self.path))

    def load(self) -> None:
        """Read the file."""
        _ = self._lessons

    def lessons(self) -> tuple[Lesson, ...]:
        """What was learned."""
        return self._lessons


class AlignerPart(Part):
    """The aligner of the training text; opened when it is first asked for."""

    kind = "aligner"
    is_sealed = True

    @cached_property
    def _aligner(self) -> Aligner:
        return Aligner.load(self.path)

    def aligner(self) -> Aligner:
        """The aligner."""
        return self._aligner
