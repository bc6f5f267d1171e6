"""Sentence splitting by its definition: each place of the text is tested in its context."""

import re

ENDS, CLOSERS, OPENERS = ".!?…؟।۔。！？", "\"'”’»“)\\]」』）", "\"'„‚“‘«»‹›([¿¡"
TAIL = ENDS + "」』”’）"


def slow_boundaries(text: str, abbreviations: frozenset[str]) -> list[tuple[int, int]]:
    """Where each sentence ends and the next one starts."""
    found = []
    for at in range(1, len(text)):
        left, right = text[:at], text[at:]
        if left[-1].isspace() or not right.strip():
            continue
        gap = right[: len(right) - len(right.lstrip())]
        if gap:
            has_break = re.search(r"[\r\n\v\f\x85\u2028\u2029]", gap) is not None
            is_end = has_break or ends(left, right.lstrip()[0], abbreviations)
        else:
            is_wide = re.search(f"[。！？][{TAIL}]*$", left) is not None
            is_end = is_wide and right[0] not in TAIL
        if is_end:
            found.append((at, at + len(gap)))
    return found


def ends(left: str, following: str, abbreviations: frozenset[str]) -> bool:
    """Whether the last word of a text ends a sentence."""
    word = re.split(f"[{TAIL}]*[。！？][{TAIL}]*(?=[^{TAIL}])", left.rsplit(maxsplit=1)[-1])[-1]
    parts = re.fullmatch(f"(.*?)([{ENDS}]+)([{CLOSERS}]*)", word)
    if parts is None:
        return False
    body, marks, closers = parts.groups()
    if re.search("[。！？]", marks):
        return True
    if following.isalpha() and following != following.upper():
        return False
    if marks != "." or closers:
        return True
    body = body.lstrip(OPENERS)
    is_initials = re.fullmatch(r"[^\W\d_](\.[^\W\d_])*", body)
    return not (body in abbreviations or re.fullmatch(r"\d+", body) or is_initials)
