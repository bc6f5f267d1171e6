"""A preorderer as a filter in front of any translation system, and the way back.

In: lines of text, words or ``word|POS|chunk``. Out: the same lines reordered, with where each word
came from; and links, traces or tokens of reordered text in terms of the words as they were.
How: a line of an order file has the old place of each word, from 0: ``0 1 3 2``.
Cost: that of the model; lines are answered as they arrive.

>>> restore_links("0-0 2-1", [0, 2, 1])
'0-0 1-1'
>>> restore_trace("0-1=0-0 2-2=1-2", [0, 2, 1])
'0,2=0-0 1=1-2'
>>> restore_tokens("er getrunken Tee", [0, 2, 1])
'er Tee getrunken'
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, zip_longest

from wayword.corpus.annotate import Sentence, factored, parse_factored
from wayword.corpus.files import batches, open_text
from wayword.corpus.source import Source
from wayword.errors import FormatError, MismatchError
from wayword.reorder.lop import LopModel, Options
from wayword.types import FilePath

__all__ = [
    "held_out",
    "nbest_lines",
    "reordered_lines",
    "restore_links",
    "restore_tokens",
    "restore_trace",
    "restored_lines",
]

#: One sentence of so many is held out to stop training by, within limits.
DEV_SHARE, DEV_LEAST, DEV_MOST = 20, 20, 1000


def held_out(sentences: int) -> int:
    """How many sentences of a text are kept to stop training by.

    >>> held_out(100_000), held_out(1000), held_out(30)
    (1000, 50, 15)
    """
    wanted = min(DEV_MOST, max(DEV_LEAST, sentences // DEV_SHARE))
    return min(wanted, sentences // 2)


def reordered_lines(
    model: LopModel, path: FilePath, *, choice: str = Options.choice, threads: int = 0
) -> Iterator[tuple[str, list[int]]]:
    """Each line reordered with its layers, and its order."""
    for batch in _batches(model, path):
        orders = model.orders(batch, choice=choice, threads=threads)
        for sentence, order in zip(batch, orders, strict=True):
            yield _reordered(sentence, order), order


def nbest_lines(model: LopModel, path: FilePath, size: int) -> Iterator[str]:
    """The best orders of each line: number, text, score over source order, order."""
    for number, sentence in enumerate(chain.from_iterable(_batches(model, path))):
        for score, order in model.nbest(sentence, size):
            places = " ".join(map(str, order))
            yield f"{number} ||| {_reordered(sentence, order)} ||| {score:.4f} ||| {places}"


def _batches(model: LopModel, path: FilePath) -> Iterator[list[Sentence]]:
    """Sentences as they arrive."""
    place = "stdin" if str(path) == "-" else path
    number = 0
    for lines in batches(path):
        batch = []
        for line in lines:
            number += 1
            sentence = parse_factored(line)
            if model.layers and sentence.words and sentence.pos is None:
                found = f"{place}:{number}: words without tags"
                advice = "annotate the text as the training text was"
                raise FormatError(f"{found}; expected word|POS, which the model looks at; {advice}")
            batch.append(sentence)
        yield batch


def _reordered(sentence: Sentence, order: Sequence[int]) -> str:
    return factored(Source(sentence).reordered(order).sentence)


def restored_lines(orders: FilePath, path: FilePath, what: str) -> Iterator[str]:
    """Lines of reordered text's links, traces or tokens, restored."""
    restore = RESTORERS[what]
    pairs = zip_longest(open_text(orders), chain.from_iterable(batches(path)))
    for number, (places, line) in enumerate(pairs, 1):
        if places is None or line is None:
            shorter, longer = (orders, path) if places is None else (path, orders)
            found = f"{longer}:{number}: {shorter} has only {number - 1} lines"
            raise MismatchError(f"{found}; do both come from the same text?")
        order = _order(places, f"{orders}:{number}")
        try:
            yield restore(line, order)
        except (ValueError, IndexError):
            found = f"{path}:{number}: `{line[:60]}` does not fit an order of {len(order)} words"
            raise MismatchError(f"{found}; expected {what} of that text") from None


def _order(places: str, where: str) -> list[int]:
    fields = places.split()
    order = [int(place) for place in fields if place.isdecimal()]
    if len(order) != len(fields) or sorted(order) != list(range(len(order))):
        found = f"{where}: found `{places[:60]}`"
        raise FormatError(f"{found}; expected each place of a sentence once, from 0")
    return order


def restore_links(line: str, order: Sequence[int]) -> str:
    """Links ``i-j`` with the old places of source words."""
    pairs = (link.split("-") for link in line.split())
    return " ".join(f"{order[_place(src)]}-{_place(tgt)}" for src, tgt in pairs)


def restore_trace(line: str, order: Sequence[int]) -> str:
    """A phrase trace ``u-v=s-t`` with the old places of source words, which may be scattered."""
    phrases = []
    for phrase in line.split():
        span, target = phrase.split("=")
        start, end = map(_place, span.split("-"))
        places = sorted(order[at] for at in range(start, end + 1))
        phrases.append(f"{','.join(map(str, places))}={target}")
    return " ".join(phrases)


def restore_tokens(line: str, order: Sequence[int]) -> str:
    """Tokens in their old order."""
    tokens = line.split()
    if len(tokens) != len(order):
        raise ValueError("another number of tokens")
    restored = [""] * len(order)
    for place, token in zip(order, tokens, strict=True):
        restored[place] = token
    return " ".join(restored)


def _place(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(text)
    return int(text)


#: What can be restored, by the name of the option.
RESTORERS: dict[str, Callable[[str, Sequence[int]], str]] = {
    "links": restore_links,
    "traces": restore_trace,
    "tokens": restore_tokens,
}
