"""The toy world: parallel text with gold links, tags, chunks and word order.

In: a pair name, a number, a seed. Out: sentence pairs, as objects or as files.
How: one language-neutral clause tree is drawn and said in both languages; words are linked when
they say the same part of the tree.
Cost: about 10,000 pairs in a few seconds, in memory that does not grow.
Not: real text. The words are few and the sentences dull, but their word order is real.

>>> pair = next(generate("ja-en", 1))
>>> sorted(pair.order) == list(range(len(pair.src)))
True
"""

from wayword.corpus.toy.files import write
from wayword.corpus.toy.pair import ToyPair, pairs
from wayword.corpus.toy.stream import generate

__all__ = ["ToyPair", "generate", "pairs", "write"]
