"""Base chunks of a dependency tree, with their heads.

In: a ``Sentence`` with tags, heads and relations, as a treebank has them. Out: the same sentence
with chunks of type NP, VP, PP, ADJP and ADVP. How: rules over Universal Dependencies, versions 1
and 2, written down in ``docs/annotate.md``: function words and close modifiers join the word they
belong to as long as they stand beside it, and the word the others hang from is the head.
Cost: linear.
Not: clauses, conjuncts, or modifiers that are phrases of their own; each has its own chunk.

>>> sentence = Sentence(
...     ("the", "old", "house", "has", "been", "sold", "to", "them"),
...     ("DET", "ADJ", "NOUN", "AUX", "AUX", "VERB", "ADP", "PRON"),
...     heads=(2, 2, 5, 5, 5, -1, 7, 5),
...     relations=("det", "amod", "nsubj:pass", "aux", "aux:pass", "root", "case", "obl"),
... )
>>> for chunk in derive_chunks(sentence).chunks or ():
...     print(chunk.type, chunk.start, chunk.end, chunk.head)
NP 0 2 2
VP 3 5 5
PP 6 6 6
NP 7 7 7
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from wayword.corpus.annotate.sentence import ROOT, Chunk, Sentence
from wayword.errors import ArgumentError

__all__ = ["derive_chunks"]

#: What type of chunk a word of this tag heads; other words stay outside.
TYPES = {
    "NOUN": "NP",
    "PROPN": "NP",
    "PRON": "NP",
    "NUM": "NP",
    "SYM": "NP",
    "X": "NP",
    "DET": "NP",
    "VERB": "VP",
    "AUX": "VP",
    "ADP": "PP",
    "ADJ": "ADJP",
    "ADV": "ADVP",
}
#: Which dependents join the chunk of the word they hang from, by its type: relation, own tag.
#: A relation counts without its subtype, and None stands for any tag.
JOINS: dict[str, dict[str, frozenset[str] | None]] = {
    "NP": {
        "det": None,
        "nummod": None,
        "amod": frozenset({"ADJ", "VERB", "NUM", "DET", "ADV"}),
        "compound": None,
        "flat": None,
        "name": None,
        "goeswith": None,
        "fixed": None,
        "mwe": None,
        "clf": None,
        "neg": None,
        "nmod": frozenset({"PRON", "DET"}),
    },
    "VP": {
        "aux": None,
        "auxpass": None,
        "cop": None,
        "neg": None,
        "compound": frozenset({"ADP", "ADV", "PART", "VERB", "AUX"}),
        "mark": frozenset({"PART"}),
        "advmod": frozenset({"PART"}),
        "fixed": None,
        "mwe": None,
        "goeswith": None,
    },
    "PP": {"fixed": None, "mwe": None, "goeswith": None, "advmod": None, "compound": None},
    "ADJP": {
        "advmod": None,
        "fixed": None,
        "mwe": None,
        "goeswith": None,
        "flat": None,
        "compound": None,
        "neg": None,
    },
}
JOINS["ADVP"] = JOINS["ADJP"]
#: Particles that stand after a verb as its endings do (Japanese, Chinese).
CLITICS = frozenset({"PART", "AUX", "SCONJ"})
#: Nouns that join another as its modifier, unless a word of these relations marks them.
NOUNS = frozenset({"NOUN", "PROPN", "X", "SYM"})
MARKERS = frozenset({"case", "det"})
#: Parts of Chinese words that some treebanks split off.
AFFIXES = frozenset({"case:suff", "case:pref"})


def derive_chunks(sentence: Sentence) -> Sentence:
    """The sentence with the base chunks of its tree; tags have to be universal ones."""
    if sentence.pos is None or sentence.heads is None:
        raise ArgumentError(
            "sentence: no tags or no tree; expected both to derive chunks; read a treebank in "
            "CoNLL-U"
        )
    if sentence.relations is None:  # a sentence of one word says no more than `root`
        plain = tuple("root" if head == ROOT else "dep" for head in sentence.heads)
        return replace(derive_chunks(replace(sentence, relations=plain)), relations=None)
    tops = _tops(sentence)
    chunks: list[Chunk] = []
    for at, top in enumerate(tops):
        kind = TYPES.get(sentence.pos[top])
        if kind is None:
            continue
        last = chunks[-1] if chunks else None
        if last is not None and last.end == at - 1 and tops[at - 1] == top:
            chunks[-1] = replace(last, end=at)
        else:
            chunks.append(Chunk(kind, at, at))
    return replace(sentence, chunks=tuple(_with_heads(chunk, tops) for chunk in chunks))


def _with_heads(chunk: Chunk, tops: Sequence[int]) -> Chunk:
    """The word the others hang from, where it is in the chunk; else the last word."""
    top = tops[chunk.start]
    return replace(chunk, head=top if chunk.start <= top <= chunk.end else chunk.end)


def _tops(sentence: Sentence) -> list[int]:
    """For each word, the word whose chunk it is in; what is parted from it stands alone."""
    assert sentence.heads is not None
    above = [
        head if head != ROOT and _joins(sentence, at, head) else at
        for at, head in enumerate(sentence.heads)
    ]
    tops = _with_punctuation(sentence, [_climb(at, above) for at in range(len(above))])
    return [
        top if all(between == top for between in tops[min(at, top) : max(at, top)]) else at
        for at, top in enumerate(tops)
    ]


def _climb(at: int, above: Sequence[int]) -> int:
    for _ in above:  # a tree that is none, with a circle, ends as well
        if above[at] == at:
            return at
        at = above[at]
    return at


def _with_punctuation(sentence: Sentence, tops: list[int]) -> list[int]:
    """Give punctuation between two words of one chunk to that chunk."""
    assert sentence.pos is not None
    wider = list(tops)
    words = [at for at, tag in enumerate(sentence.pos) if tag != "PUNCT"]
    for before, after in pairwise(words):
        if tops[before] == tops[after]:
            wider[before + 1 : after] = [tops[before]] * (after - before - 1)
    return wider


def _joins(sentence: Sentence, at: int, head: int) -> bool:
    """Whether a word belongs to the chunk of the word it hangs from."""
    assert sentence.pos is not None
    assert sentence.relations is not None
    tag, relation = sentence.pos[at], sentence.relations[at].partition(":")[0]
    kind = TYPES.get(sentence.pos[head])
    if kind is None or tag == "PUNCT":
        return False
    if kind == "VP" and relation in {"mark", "case"} and at > head:
        return tag in CLITICS
    if kind == "NP" and sentence.relations[at] in AFFIXES:
        return True
    if kind == "NP" and relation == "nmod" and tag in NOUNS:
        return not _has_own_marker(sentence, at)
    tags = JOINS[kind].get(relation, frozenset())
    return tags is None or tag in tags


def _has_own_marker(sentence: Sentence, at: int) -> bool:
    """Whether a noun has an adposition or a determiner, and so is a phrase of its own."""
    assert sentence.heads is not None
    assert sentence.relations is not None
    dependents = zip(sentence.heads, sentence.relations, strict=True)
    return any(
        head == at and relation.partition(":")[0] in MARKERS for head, relation in dependents
    )
