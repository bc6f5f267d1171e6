"""Search: the best translation of a sentence under all models.

In: tokenised sentences, a phrase table, language models, weights and settings. Out: frozen
``Translation`` objects with score, features, phrases and links, and the n best on request.
How: phrases are put down from left to right in the target while a coverage keeps track of the
source (Koehn, Och and Marcu, 2003), by cube pruning (Huang and Chiang, 2007) or plain stacks,
within a reordering space; all of it in the core, with threads over sentences.
Cost: about ``pop_limit`` hypotheses a source word.
Not: raw text, which ``wayword.system.System`` takes.
"""

from wayword.decode.decoder import Decoder, NbestList, Suggestion
from wayword.decode.settings import Settings
from wayword.decode.translation import (
    Arc,
    Hypothesis,
    Phrase,
    Stack,
    Statistics,
    Translation,
)

__all__ = [
    "Arc",
    "Decoder",
    "Hypothesis",
    "NbestList",
    "Phrase",
    "Settings",
    "Stack",
    "Statistics",
    "Suggestion",
    "Translation",
]
