"""Numbers on an axis, and how much room words take.

>>> ticks(0, 23)
[0, 5, 10, 15, 20]
>>> ticks(0.2, 0.9)
[0.2, 0.4, 0.6, 0.8]
>>> label(0.25), label(1500), label(3.0)
('0.25', '1,500', '3')
>>> columns("Tee"), columns("お茶")
(3, 4)
"""

import math
from unicodedata import category, east_asian_width

__all__ = ["columns", "cut", "label", "ticks"]

#: Steps between ticks, times powers of ten.
STEPS = (1, 2, 2.5, 5, 10)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers from ``low`` to ``high``, no more than ``most`` of them."""
    if not high > low:
        return [low]
    rough = (high - low) / most
    power = 10 ** math.floor(math.log10(rough))
    step = next(step * power for step in STEPS if step * power >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(at * step, 10) for at in range(first, last + 1)]


def label(value: float) -> str:
    """A number for people: as few digits as it needs."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def columns(text: str) -> int:
    """Columns of a terminal: two for wide characters of East Asian scripts, none for marks."""
    wide = sum(1 + (east_asian_width(char) in "WF") for char in text)
    return wide - sum(category(char) in ("Mn", "Me", "Cf") for char in text)


def cut(text: str, most: int) -> str:
    """The text, or what fits of it with an ellipsis.

    >>> cut("reordering", 6)
    'reord…'
    """
    if columns(text) <= most:
        return text
    kept = ""
    for char in text:
        if columns(kept + char) > most - 1:
            break
        kept += char
    return f"{kept}…"
