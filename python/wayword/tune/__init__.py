"""Weights from data: what each model counts for, learned on a dev set.

``run`` rounds, runs and their average · ``mert`` ``pro`` ``mira`` three ways to better weights ·
``pool`` candidates of all rounds · ``objective`` the metric to improve · ``ngrams`` BLEU of many
candidates · ``space`` which weights may move · ``state`` what survives an interruption ·
``dev`` a system folder and its dev set · ``grid`` parameters of early pruning.
"""

from wayword.tune.mert import Mert
from wayword.tune.mira import Mira
from wayword.tune.objective import Objective
from wayword.tune.pool import Candidates, Decodes, Nbest, Pool
from wayword.tune.pro import Pro
from wayword.tune.run import METHODS, Plan, Run, Tuner, Tuning, make_tuner, tune

__all__ = [
    "METHODS",
    "Candidates",
    "Decodes",
    "Mert",
    "Mira",
    "Nbest",
    "Objective",
    "Plan",
    "Pool",
    "Pro",
    "Run",
    "Tuner",
    "Tuning",
    "make_tuner",
    "tune",
]
