"""What can go wrong, one class per kind of cause.

Every message is one line that says where, what was found, what was expected and what to try;
lower case, no full stop. A file that is missing or may not be read stays Python's own
``FileNotFoundError`` or ``PermissionError``. The library raises; ``wayword.cli`` alone prints.

>>> try:
...     raise FormatError("train.de:812: 3 columns; expected 2")
... except WaywordError as error:
...     print(error)
train.de:812: 3 columns; expected 2
"""

__all__ = [
    "ArgumentError",
    "FormatError",
    "InternalError",
    "LimitError",
    "MismatchError",
    "WaywordError",
]


class WaywordError(Exception):
    """Anything wayword could not do, for a reason the user can act on."""


class FormatError(WaywordError, ValueError):
    """A file does not hold what its format asks for."""


class ArgumentError(WaywordError, ValueError):
    """An option or argument has a value that cannot be used."""


class MismatchError(WaywordError, ValueError):
    """Two inputs that belong together do not fit each other."""


class LimitError(WaywordError):
    """Something is larger than wayword takes."""


class InternalError(WaywordError):
    """A mistake of ours: please report it with the message."""
