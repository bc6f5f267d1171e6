"""Measuring translations: words, word order, and whether a difference is more than chance.

``gold`` what is measured against what · ``read`` both from files · ``metric`` what a metric is ·
``ngram`` BLEU, chrF, TER, NIST · ``meteor`` METEOR · ``pairs`` pairs of words and their order ·
``order`` KRS, KRS-V, RIBES · ``linked`` reversals and KRS over linked words ·
``significance`` intervals and p-values · ``tokenizer`` how text is split into words · ``compare``
systems side by side · ``differ`` where two order words differently · ``drill`` sentences whose
words are ordered worst.

>>> gold = Gold(refs=[["the cat sat on the mat"]])
>>> result = compare(gold, [Output("base", ["the cat sat on mat"])], ["bleu", "meteor"])
>>> print(f"{result.score('base', 'meteor').value:.2f}")
82.03
"""

from wayword.evaluate.compare import METRICS, ORDER, Comparison, Score, compare, make_metric
from wayword.evaluate.gold import Gold, Output
from wayword.evaluate.metric import Metric, Options

__all__ = [
    "METRICS",
    "ORDER",
    "Comparison",
    "Gold",
    "Metric",
    "Options",
    "Output",
    "Score",
    "compare",
    "make_metric",
]
