"""Gold standards and outputs from files.

In: text, one sentence a line; links in Pharaoh's form (``0-0 1-2``, source first), or a saved
aligner that makes them; POS tags (``word|POS…`` or tags alone) or weights, a number a word.
Out: ``Gold`` and ``Output``. The first line that does not fit stops everything, with its place.
``.gz``, ``.xz`` and ``.zst`` are read as they are; ``-`` is standard input.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from wayword.align import Aligner
from wayword.align.score import parse_links
from wayword.corpus import Bitext
from wayword.corpus.annotate import read_factored
from wayword.corpus.files import open_text, spooled
from wayword.errors import ArgumentError, FormatError, MismatchError
from wayword.evaluate.gold import Gold, Links, Output, check_count, check_links, word_counts
from wayword.types import FilePath

__all__ = [
    "VERBS",
    "align",
    "read_gold",
    "read_lines",
    "read_links",
    "read_numbers",
    "read_output",
    "read_outputs",
    "read_pos",
    "read_weights",
    "tag_weights",
]


#: Universal POS tags of verbs. ``V*`` in a list stands for all tags that begin so.
VERBS = ("VERB", "AUX")


def read_gold(
    refs: Sequence[FilePath],
    src: FilePath | None = None,
    *,
    ref_links: Sequence[FilePath] = (),
    aligner: FilePath | None = None,
    pos: FilePath | None = None,
    verbs: Sequence[str] = VERBS,
    weights: FilePath | None = None,
    seen: FilePath | None = None,
) -> Gold:
    """Read references, and the layers for metrics of word order that are given.

    Links to the references come from files, one for each, or are made by a saved aligner. ``seen``
    is the source side of the training text, for the metric of words that it does not have.
    """
    texts = [read_lines(ref) for ref in refs]
    for path, text in zip(refs[1:], texts[1:], strict=True):
        check_count(f"{path}", len(text), len(texts[0]), f"{refs[0]}")
    if src is None:
        needing = {"ref_links": ref_links, "pos": pos, "weights": weights, "seen": seen}
        for name, value in needing.items():
            if value:
                raise ArgumentError(f"{name}: found without src; expected the source text too")
        return Gold(refs=texts)
    src_lines = read_lines(src)
    check_count(f"{src}", len(src_lines), len(texts[0]), f"{refs[0]}")
    if pos and weights:
        raise ArgumentError("weights: found beside pos; expected one of the two")
    own_weights = read_pos(pos, src_lines, verbs) if pos else None
    if weights:
        own_weights = read_weights(weights, src_lines)
    links = [read_links(*pair, src_lines) for pair in _ref_links(refs, ref_links, texts)]
    if aligner and not links:
        links = [align(aligner, src_lines, text) for text in texts]
    known = frozenset(word for line in open_text(seen) for word in line.split()) if seen else None
    return Gold(texts, src_lines, ref_links=links or None, weights=own_weights, known=known)


def _ref_links(
    refs: Sequence[FilePath], paths: Sequence[FilePath], texts: Sequence[list[str]]
) -> Iterator[tuple[FilePath, list[str]]]:
    if paths and len(paths) != len(refs):
        found = f"found {len(paths)} file(s) for {len(refs)} reference(s)"
        raise ArgumentError(f"ref_links: {found}; expected one for each reference, in their order")
    return zip(paths, texts[: len(paths)], strict=True)


def read_output(
    path: FilePath,
    gold: Gold,
    *,
    name: str | None = None,
    links: FilePath | None = None,
    aligner: FilePath | None = None,
) -> Output:
    """Read what a system made of the source; links from a file or by a saved aligner."""
    lines = read_lines(path)
    check_count(f"{path}", len(lines), len(gold), "the reference")
    if gold.src is None or not (links or aligner):
        if links:
            raise ArgumentError("links: found without src; expected the source text too")
        return Output(name or Path(path).name, lines)
    pair_links = (
        read_links(links, lines, gold.src) if links else align(aligner or "", gold.src, lines)
    )
    return Output(name or Path(path).name, lines, pair_links)


def read_outputs(
    systems: Sequence[tuple[str | None, FilePath]],
    gold: Gold,
    links: Sequence[FilePath] = (),
    aligner: FilePath | None = None,
) -> list[Output]:
    """Read the outputs of systems, given as names and files; links for all of them or for none."""
    if links and len(links) != len(systems):
        found = f"found {len(links)} file(s) for {len(systems)} system(s)"
        raise ArgumentError(f"links: {found}; expected one for each system, in their order")
    return [
        read_output(path, gold, name=name, links=links[at] if links else None, aligner=aligner)
        for at, (name, path) in enumerate(systems)
    ]


def read_lines(path: FilePath) -> list[str]:
    """The lines of a text; at least one."""
    with spooled(path) as file:
        lines = list(open_text(file))
    if not lines:
        raise FormatError(f"{path}: no line; expected one sentence a line; is it the right file?")
    return lines


def read_links(path: FilePath, tgt: Sequence[str], src: Sequence[str]) -> list[Links]:
    """The links of all sentence pairs of two texts."""
    lines = read_lines(path)
    check_count(f"{path}", len(lines), len(src), "the source")
    links: list[Links] = []
    pairs = zip(lines, word_counts(src), word_counts(tgt), strict=True)
    for number, (line, src_length, tgt_length) in enumerate(pairs, 1):
        links.append(parse_links(line, f"{path}:{number}"))
        check_links(links[-1], src_length, tgt_length, f"{path}:{number}")
    return links


def align(aligner: FilePath | Aligner, src: Sequence[str], tgt: Sequence[str]) -> list[Links]:
    """Link the words of two texts by an aligner, or by a file of ``wayword align --save``."""
    model = aligner if isinstance(aligner, Aligner) else Aligner.load(aligner)
    links = model.align(Bitext.from_pairs(zip(src, tgt, strict=True)))
    return [[(i, j) for i, j in of_pair.tolist()] for of_pair in links]


def read_weights(path: FilePath, src: Sequence[str]) -> list[list[float]]:
    """The weight of each source word."""
    lines = read_lines(path)
    check_count(f"{path}", len(lines), len(src), "the source")
    weights = []
    for number, (line, length) in enumerate(zip(lines, word_counts(src), strict=True), 1):
        place = f"{path}:{number}"
        weights.append([_weight(word, place) for word in line.split()])
        if len(weights[-1]) != length:
            counts = f"{len(weights[-1])} weights for {length} source words"
            raise MismatchError(f"{place}: {counts}; expected one a word")
    return weights


def _weight(word: str, place: str) -> float:
    try:
        weight = float(word)
    except ValueError:
        weight = math.nan
    if not 0 <= weight < math.inf:
        raise FormatError(f"{place}: `{word[:40]}`; expected numbers from 0 up, one a source word")
    return weight


def read_numbers(path: FilePath) -> list[int]:
    """Numbers of sentences, one a line; the file counts from 1, what is returned from 0."""
    numbers = []
    for at, line in enumerate(read_lines(path), 1):
        if not (line.strip().isascii() and line.strip().isdigit() and int(line)):
            found = f"found `{line[:40]}`; expected the number of a sentence, from 1 up"
            raise FormatError(f"{path}, line {at}: {found}")
        numbers.append(int(line) - 1)
    return numbers


def read_pos(path: FilePath, src: Sequence[str], verbs: Sequence[str] = VERBS) -> list[list[float]]:
    """Weight 1 for source words with a tag of ``verbs``, from ``word|POS…`` or tags alone."""
    sentences = list(read_factored(path))
    check_count(f"{path}", len(sentences), len(src), "the source")
    layers = [sentence.words if sentence.pos is None else sentence.pos for sentence in sentences]
    for number, (tags, length) in enumerate(zip(layers, word_counts(src), strict=True), 1):
        if len(tags) != length:
            counts = f"{len(tags)} tags for {length} source words"
            raise MismatchError(f"{path}:{number}: {counts}; expected one a word")
    return tag_weights(layers, verbs, f"{path}")


def tag_weights(
    layers: Sequence[Sequence[str]], verbs: Sequence[str], name: str
) -> list[list[float]]:
    """Weight 1 for words with a tag of ``verbs``; ``name`` is that of the text, for complaints."""
    weights = [[float(_is_one_of(tag, verbs)) for tag in tags] for tags in layers]
    if not any(map(any, weights)):
        seen = Counter(tag for tags in layers for tag in tags)
        common = ", ".join(f"`{tag}`" for tag, _ in seen.most_common(8))
        wanted = " ".join(f"`{tag}`" for tag in verbs)
        raise ArgumentError(f"verbs: no word of {name} is {wanted}; expected tags of it: {common}")
    return weights


def _is_one_of(tag: str, patterns: Sequence[str]) -> bool:
    return any(
        tag.startswith(pattern[:-1]) if pattern.endswith("*") else tag == pattern
        for pattern in patterns
    )
