"""A slow, obvious twin of extraction: all spans tried, all counts in dictionaries."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import prod
from typing import Any

Links = Sequence[tuple[int, int]]
Sentence = tuple[list[str], list[str], Links]
Block = tuple[int, int, int, int]


def blocks(src: int, tgt: int, links: Links, max_length: int) -> list[Block]:
    """Source first and last, target first and last of every consistent block."""
    boxes = []
    for u in range(src):
        for v in range(u, min(src, u + max_length)):
            for s in range(tgt):
                for t in range(s, min(tgt, s + max_length)):
                    inside = [(u <= i <= v, s <= j <= t) for i, j in links]
                    if (True, True) in inside and all(a == b for a, b in inside):
                        boxes.append((u, v, s, t))
    return boxes


def orientation(
    block: Block, lengths: tuple[int, int], links: Links, others: list[Block] | None, prev: bool
) -> str:
    """The class of a block towards its neighbour; ``others`` None: the word model."""
    u, v, s, t = block
    src, tgt = lengths
    if s == 0 if prev else t == tgt - 1:
        return "M" if (u == 0 if prev else v == src - 1) else "DR"
    row = s - 1 if prev else t + 1
    if others is None:
        linked = {i for i, j in links if j == row}
        behind, before = v + 1 in linked, u - 1 in linked
        near, far = (before, behind) if prev else (behind, before)
        mono, swap = near and not far, far and not near
        right, left_of = any(i > v for i in linked), any(i < u for i in linked)
        left = (right and not left_of) if prev else (left_of and not right)
    else:
        own_blocks = [b for b in others if (b[3] if prev else b[2]) == row]
        behind = any(b[0] == v + 1 for b in own_blocks)
        before = any(b[1] == u - 1 for b in own_blocks)
        mono, swap = (before, behind) if prev else (behind, before)
        left = any(b[0] > v + 1 if prev else b[1] < u - 1 for b in own_blocks)
    return "M" if mono else "S" if swap else "DL" if left else "DR"


def table(corpus: Sequence[Sentence], max_length: int) -> dict[tuple[str, str], dict[str, Any]]:
    """Scores, links, counts and orientation counts by phrase pair."""
    pairs: Counter[tuple[str, str]] = Counter()
    patterns: dict[tuple[str, str], Counter[tuple[tuple[int, int], ...]]] = defaultdict(Counter)
    classes: dict[tuple[str, str], dict[tuple[str, str], Counter[str]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    words: Counter[tuple[str | None, str | None]] = Counter()
    for src, tgt, links in corpus:
        for i, j in set(links):
            words[src[i], tgt[j]] += 1
        for i, word in enumerate(src):
            if all(i != link[0] for link in links):
                words[word, None] += 1
        for j, word in enumerate(tgt):
            if all(j != link[1] for link in links):
                words[None, word] += 1
        small = blocks(len(src), len(tgt), links, max_length)
        every = blocks(len(src), len(tgt), links, 10**9)
        for block in small:
            u, v, s, t = block
            pair = (" ".join(src[u : v + 1]), " ".join(tgt[s : t + 1]))
            pairs[pair] += 1
            patterns[pair][tuple(sorted({(i - u, j - s) for i, j in links if u <= i <= v}))] += 1
            for model, others in (("word", None), ("phrase", small), ("hierarchical", every)):
                for direction in ("prev", "next"):
                    kind = orientation(
                        block, (len(src), len(tgt)), links, others, direction == "prev"
                    )
                    classes[pair][model, direction][kind] += 1
    src_counts: Counter[str] = Counter()
    tgt_counts: Counter[str] = Counter()
    for (f, e), count in pairs.items():
        src_counts[f] += count
        tgt_counts[e] += count
    given_src: Counter[str | None] = Counter()
    given_tgt: Counter[str | None] = Counter()
    for (f_word, e_word), count in words.items():
        given_src[f_word] += count
        given_tgt[e_word] += count
    result: dict[tuple[str, str], dict[str, Any]] = {}
    for (f, e), count in pairs.items():
        best = min(patterns[f, e].items(), key=lambda item: (-item[1], item[0]))[0]
        f_words, e_words = f.split(), e.split()

        def mean(
            linked: list[tuple[str | None, str | None]], totals: Counter[str | None], side: int
        ) -> float:
            return sum(words[pair] / totals[pair[side]] for pair in linked) / len(linked)

        lex_ef = prod(
            mean([(f_words[i], word) for i, b in best if b == j] or [(None, word)], given_src, 0)
            for j, word in enumerate(e_words)
        )
        lex_fe = prod(
            mean([(word, e_words[b]) for a, b in best if a == i] or [(word, None)], given_tgt, 1)
            for i, word in enumerate(f_words)
        )
        result[f, e] = {
            "scores": (count / tgt_counts[e], lex_fe, count / src_counts[f], lex_ef),
            "links": best,
            "counts": (count, src_counts[f], tgt_counts[e]),
            "classes": classes[f, e],
        }
    return result
