"""Types that several stages share.

>>> def show(done: int, total: int) -> None:
...     print(f"{done} of {total}")
>>> report: Progress = show
>>> report(3, 10)
3 of 10
"""

import os
from collections.abc import Callable

__all__ = ["FilePath", "Progress", "Span"]

FilePath = str | os.PathLike[str]
#: Called with the number of units done and the total; 0 if the total is unknown.
Progress = Callable[[int, int], object]
#: Start and end of a range; the end is not included.
Span = tuple[int, int]
