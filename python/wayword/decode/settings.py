"""What the user chooses about the search.

>>> Settings(space="dl:12", pop_limit=400).search
'cube'
>>> Settings.from_dict({"space": "itg", "pop_limt": 5})
Traceback (most recent call last):
...
wayword.errors.ArgumentError: settings: found `pop_limt`; did you mean `pop_limit`?
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

from wayword import _core
from wayword.errors import ArgumentError

__all__ = ["OPEN", "Settings"]

#: The space that a training run chooses by itself; no decoder has it.
OPEN = "auto"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything about a search but the models and their weights."""

    #: which orders of phrases are tried: mono, dl:K, ibm:K, mj1, mj2, itg; with a word-after-word
    #: model also dl:K+waw(top=3,threshold=0.1,zone=5); auto, which training settles
    space: str = "dl:6"
    #: how hypotheses are made: cube or stack
    search: str = "cube"
    #: hypotheses made for each number of translated words in cube pruning; 0 for all
    pop_limit: int = 1000
    #: hypotheses kept for each number of translated words in stack search; 0 for all
    stack_size: int = 200
    #: a hypothesis so many times less likely than the best of its stack is dropped; 0 for none
    threshold: float = 1e-5
    #: translations tried for each source phrase; 0 for all
    options_per_span: int = 20
    #: when a jump is charged: distance (as it is made), early (as soon as it is certain) or
    #: foreseen (as it is made, while the future cost counts what is certain to come)
    distortion: str = "early"
    #: what becomes of a word without a translation: copy (it stays as it is) or drop
    oov: str = "copy"
    #: moses for Moses' ways where they differ from ours, such as no jump to the sentence's end
    compat: str = "none"

    def __post_init__(self) -> None:
        """Refuse values of another kind, names that are not known and numbers that are no use."""
        for field in fields(self):
            value, kind = getattr(self, field.name), field.type
            good = isinstance(value, kind) if isinstance(kind, type) else True
            if field.name == "threshold" and isinstance(value, int):
                object.__setattr__(self, "threshold", float(value))
            elif not good or isinstance(value, bool):
                raise ArgumentError(f"{field.name}: found `{value}`; expected {_kind(kind)}")
            elif isinstance(value, int) and value < 0:
                raise ArgumentError(f"{field.name}: found {value}; expected 0 (no limit) or more")
        _ = self.pruned_by

    @property
    def pruned_by(self) -> str | None:
        """The path feature that the space prunes by, if it does.

        >>> Settings(space="dl:18+waw(top=3,threshold=0.1,zone=5)").pruned_by
        'waw'
        """
        known = {"space": "mono"} if self.is_open else {}
        return _core.Decoder.check_settings(self.to_dict() | known)

    @property
    def is_open(self) -> bool:
        """Whether the space is still to be chosen, by the profile of the training text."""
        return self.space == OPEN

    def settled(self, space: str) -> "Settings":
        """The same with this space, if it was left open.

        >>> [Settings(space=space).settled("dl:8").space for space in ("auto", "mono")]
        ['dl:8', 'mono']
        """
        return replace(self, space=space) if self.is_open else self

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> "Settings":
        """The settings that ``to_dict`` described; what is missing has its default."""
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                near = get_close_matches(name, known, 1)
                advice = f"did you mean `{near[0]}`?" if near else f"expected {', '.join(known)}"
                raise ArgumentError(f"settings: found `{name}`; {advice}")
        return cls(**options)


def _kind(kind: object) -> str:
    return {str: "a name", int: "a whole number", float: "a number"}.get(kind, "a value")  # type: ignore[call-overload,no-any-return]
