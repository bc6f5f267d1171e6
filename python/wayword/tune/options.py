"""What a configuration chooses about tuning; the defaults are those of a ``Plan``."""

from dataclasses import dataclass
from typing import Any

from wayword.decode import Settings
from wayword.errors import ArgumentError
from wayword.evaluate import METRICS
from wayword.options import check_choice, check_range
from wayword.tune.mert import Mert
from wayword.tune.objective import parse_metric
from wayword.tune.run import METHODS, Plan

__all__ = ["Tune"]

#: Choices that are about the search while tuning, and about one method only.
SEARCH = ("space", "pop_limit")
MERT = ("restarts",)
#: What metrics may need beyond text.
TUNABLE = frozenset({"links"})


@dataclass(frozen=True, kw_only=True)
class Tune:
    """How weights are found."""

    #: ``mert``, ``pro`` or ``mira``
    method: str = "mert"
    #: a metric, or several with shares, such as ``bleu=0.7,krs=0.3``
    metric: str = "bleu"
    #: runs with different seeds; the weights are the best run's, or the mean of the best runs
    runs: int = Plan.runs
    #: most rounds of decoding in a run
    rounds: int = Plan.rounds
    #: translations a sentence and round
    nbest: int = Plan.nbest
    #: no text twice among them
    distinct: bool = Plan.distinct
    #: random starts of each round's search; MERT only
    restarts: int = Mert.restarts
    #: share of the best weights so far in those of the next round
    keep: float = Plan.keep
    #: rounds without a better dev score that end a run
    patience: int = Plan.patience
    #: another space while tuning; empty: that of the search
    space: str = ""
    #: another pop limit while tuning; 0: that of the search
    pop_limit: int = 0

    def __post_init__(self) -> None:
        """Refuse what makes no sense, before anything is trained."""
        check_choice("method", self.method, METHODS)
        check_range("pop_limit", self.pop_limit, 0)
        if self.space:
            Settings(space=self.space)
        _ = self.needs_links
        Mert(restarts=self.restarts)
        Plan(**self.plan)

    @property
    def plan(self) -> dict[str, Any]:
        """The options of a ``Plan``."""
        others = (*SEARCH, *MERT)
        return {name: value for name, value in vars(self).items() if name not in others}

    @property
    def search(self) -> dict[str, Any]:
        """The settings of the search that differ while tuning."""
        return {name: getattr(self, name) for name in SEARCH if getattr(self, name)}

    @property
    def needs_links(self) -> bool:
        """Whether it looks at word order; refuses metrics that tuning cannot be done by."""
        needs: set[str] = set()
        for name in parse_metric(self.metric):
            metric = METRICS.get(name.lower())
            if metric is None or not TUNABLE.issuperset(metric.needs):
                known = ", ".join(
                    key for key, kind in METRICS.items() if TUNABLE.issuperset(kind.needs)
                )
                raise ArgumentError(f"metric: found `{name}`; expected some of {known}")
            needs.update(metric.needs)
        return "links" in needs
