"""The word order of a language pair: what moves, how far, and which settings it asks for.

``measure`` a linked text becomes a ``Profile`` · ``orders`` jumps, reversals and limits of many
sentences at once · ``samples`` the commonest patterns, each with a telling sentence · ``advice``
which space, limit and models to take · ``many`` how far pairs are from each other · ``read`` text
of any kind, prepared and linked · ``stage`` the same in a training run.
"""

from wayword.profile.measure import profile
from wayword.report.profile import Profile

__all__ = ["Profile", "profile"]
