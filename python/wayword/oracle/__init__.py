"""How good the order could be: the best that a space of orders allows, whatever the models say.

``space`` sets of orders: count, list, draw at random, nearest · ``lattice`` their automata ·
``order`` how near a space comes to the orders of a text, from links alone · ``bleu`` the best BLEU
that a space makes of monotone translations · ``phrase`` the best that a system could reach, and
what is lost where.

>>> Space("itg").count(6), Space("ibm:4").count(6)
(394, 384)
"""

from wayword.oracle.space import Space

__all__ = ["Space"]
