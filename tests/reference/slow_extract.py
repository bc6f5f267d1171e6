"""A slow, obvious twin of phrase scoring; orientations are those of ``wayword.papers``."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

from wayword.papers.galley_manning_2008 import (
    SentencePair,
    extract_blocks,
    neighbors,
    orientation,
)

Links = Sequence[tuple[int, int]]
MODELS = ("word", "phrase", "hierarchical")
Sentence = tuple[list[str], list[str], Links]


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
        sentence = SentencePair(src, tgt, links)
        known = {model: neighbors(sentence, model, max_length) for model in MODELS}
        for s, t, u, v in extract_blocks(sentence, max_length):
            pair = (" ".join(src[u : v + 1]), " ".join(tgt[s : t + 1]))
            pairs[pair] += 1
            patterns[pair][tuple(sorted({(i - u, j - s) for i, j in links if u <= i <= v}))] += 1
            for model, direction in product(MODELS, ("prev", "next")):
                kind = orientation((s, t, u, v), known[model], direction)
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
