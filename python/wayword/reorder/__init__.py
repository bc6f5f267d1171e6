"""Word order: permutations of the source words, and models of them.

``order`` from links to orders and ranks, and the distance of two orders.
"""
