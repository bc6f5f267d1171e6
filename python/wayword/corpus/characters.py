r"""Splits text into characters, and puts it together again exactly as it was.

In: a line. Out: a token for each character; a space is ``▁``. White space of other kinds, signs
that cannot be seen and ``▁`` itself are ``▁`` and their number in hexadecimal.
How: no token holds white space, and each stands for one character, so nothing is lost.
Cost: linear.
Not: clusters of a letter and its marks; what the marks are is for the models to learn.

>>> split_characters("an  old\ttale", "en")
['a', 'n', '▁', '▁', 'o', 'l', 'd', '▁9', 't', 'a', 'l', 'e']
>>> join_characters(['a', '▁', '▁2581', '▁200d', 'b'], "en")
'a ▁\u200db'
"""

import unicodedata
from collections.abc import Sequence

__all__ = ["SPACE", "join_characters", "split_characters", "words_of"]

SPACE = "▁"
#: Unicode's categories of spaces, controls and signs that only act on others.
UNSEEN = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co", "Cn"})


def split_characters(line: str, _lang: str) -> list[str]:
    """A token for each character."""
    return [_token(char) for char in line]


def join_characters(tokens: Sequence[str], _lang: str) -> str:
    """The line that the tokens were made of."""
    return "".join(map(_character, tokens))


def words_of(tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Where the words of a line stand among its tokens: between spaces.

    >>> words_of(["a", "n", "▁", "▁", "o", "l", "d"])
    [(0, 2), (4, 7)]
    """
    ends = [at for at, token in enumerate(tokens) if token == SPACE]
    pieces = zip([0, *(end + 1 for end in ends)], [*ends, len(tokens)], strict=True)
    return [(start, end) for start, end in pieces if start < end]


def _token(char: str) -> str:
    if char == " ":
        return SPACE
    is_unseen = char == SPACE or char.isspace() or unicodedata.category(char) in UNSEEN
    return f"{SPACE}{ord(char):x}" if is_unseen else char


def _character(token: str) -> str:
    """The character of a token; a token that is none, such as a word left as it was, stays."""
    if token == SPACE:
        return " "
    if token.startswith(SPACE):
        try:
            return chr(int(token.removeprefix(SPACE), 16))
        except (ValueError, OverflowError):
            return token
    return token
