"""Which space, limit, pruning and models a pair asks for, with the evidence.

In: the figures of a profile, and the path features that the system will have. Out: ``Advice``,
each a key of the configuration, a value and why.
How: thresholds that hold for the pairs we have measured (docs/profile.md): the limit is the least
one beyond which few jumps go, but not above what a decoder can use without a model that knows which
long jumps are right.
Not: a guarantee. It looks at the order of linked words, not at how well a model will learn it.

>>> figures = Figures(reversed=0.05, beyond={4: 0.05, 6: 0.03, 8: 0.02, 10: 0.012, 18: 0.002},
...     far=0.01, phrase_d=0.3, hierarchical_d=0.2)
>>> for advice in advise(figures):
...     print(advice.key, advice.value or "-")
search.space dl:8
model.features ["neural"]
model.orientation hier-mslr-bidirectional
model.preorder -
>>> advise(figures, ["waw"])[0].value
'dl:18+waw(top=8,threshold=0.02,zone=0)'
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wayword.report.profile import Advice

__all__ = ["Figures", "advise", "advised_space"]

#: Limits that may be advised, and up to which one without a model of word order.
LIMITS = (4, 6, 8, 10, 18)
ALONE = 10
#: The largest share of words that may be reached by a longer jump.
BEYOND = 0.02
#: Below this share of reversed pairs the order hardly changes.
STRAIGHT = 0.002
#: Reversed pairs of words this far apart are far; from this share of all pairs on they matter.
FAR_WORDS = 10
FAR = 0.03
#: How much less often hierarchical orientation must be undecided to be worth its time.
GAIN = 0.03
#: Path features that know which long jumps are right.
KNOWING = ("neural", "waw", "lop")
#: Those that also prune well, and how loosely: on five pairs such a search was better than dl:8.
PRUNING = ("neural", "waw")
LOOSE = "top=8,threshold=0.02,zone=0"
#: Beyond this limit jumps need a model; from this share of them on it is worth having one.
LONG = 8
MANY = 0.02


@dataclass(frozen=True)
class Figures:
    """What advice is drawn from; shares from 0 to 1."""

    #: of pairs of linked words
    reversed: float
    #: by limit, of words that are reached by a longer jump
    beyond: Mapping[int, float]
    #: reversed pairs of words more than ten apart, of all pairs
    far: float
    #: discontinuous phrases, by model
    phrase_d: float
    hierarchical_d: float


def advise(figures: Figures, features: Sequence[str] = ()) -> list[Advice]:
    """What to choose, and why; ``features`` are the kinds of path features that there will be."""
    if figures.reversed < STRAIGHT:
        why = f"{_percent(figures.reversed)} of the pairs of linked words change places"
        return [
            Advice("search.space", "mono", f"{why}: there is nothing to reorder"),
            Advice("model.features", "[]", "there are no long jumps to judge"),
            Advice("model.orientation", "", "no jump will be made that it could judge"),
            Advice("model.preorder", "", "the source stands in the order of its translation"),
        ]
    return [
        _space(figures, features),
        _features(figures),
        _orientation(figures),
        _preorder(figures),
    ]


def advised_space(advice: Sequence[Advice]) -> str:
    """The space of an advice."""
    return next(one.value for one in advice if one.key == "search.space")


def _space(figures: Figures, features: Sequence[str]) -> Advice:
    knowing = [name for name in KNOWING if name in features]
    limits = [limit for limit in LIMITS if knowing or limit <= ALONE]
    enough = [limit for limit in limits if figures.beyond[limit] <= BEYOND]
    limit = limits[-1] if knowing else (enough or limits)[-1 if not enough else 0]
    why = f"{_percent(figures.beyond[limit])} of the words are reached by a jump over more words"
    if knowing and knowing[0] in PRUNING:
        why += f"; {knowing[0]} knows which of the long jumps are right and leaves out the others"
        return Advice("search.space", f"dl:{limit}+{knowing[0]}({LOOSE})", why)
    if knowing:
        why += f"; {knowing[0]} knows which of the long jumps are right, so the limit may be wide"
    elif not enough:
        why += "; further jumps are more often wrong than right without a model such as neural"
    else:
        why += f", at most {_percent(BEYOND)} is asked"
    return Advice("search.space", f"dl:{limit}", why)


def _features(figures: Figures) -> Advice:
    told = f"{_percent(figures.beyond[LONG])} of the words are reached by a jump over {LONG} words"
    if figures.beyond[LONG] < MANY:
        return Advice("model.features", "[]", f"{told}: a limit does for them")
    why = f"{told}, further than a limit alone can be; a model of the next word can tell which"
    return Advice("model.features", '["neural"]', why)


def _orientation(figures: Figures) -> Advice:
    gain = figures.phrase_d - figures.hierarchical_d
    told = (
        f"blocks of any size decide all but {_percent(figures.hierarchical_d)} of the phrases, "
        f"phrases all but {_percent(figures.phrase_d)}"
    )
    if gain >= GAIN:
        return Advice("model.orientation", "hier-mslr-bidirectional", told)
    why = f'{told}: hierarchical orientation adds little (extract.models=["phrase"] counts it)'
    return Advice("model.orientation", "phrase-mslr-bidirectional", why)


def _preorder(figures: Figures) -> Advice:
    told = f"{_percent(figures.far)} of the pairs are reversed and over {FAR_WORDS} words apart"
    if figures.far >= FAR:
        why = f"{told}: out of reach of any limit, so the source should be put in order first"
        return Advice("model.preorder", "joint", why)
    return Advice("model.preorder", "", f"{told}: the decoder can do it")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
