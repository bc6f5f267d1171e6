"""Gathers what pages tell: of a system, and of an experiment.

``system`` what a system is made of, how it does and where it fails · ``experiment`` the sentences
behind the numbers of an experiment.
"""

from wayword.overview.system import report

__all__ = ["report"]
