"""Put source words in the order of their translation, in front of any other system.

    python examples/preorder_in_front.py

The model learns from links alone. What the other system returns about the reordered words (links,
traces) is led back to the words as the user wrote them.
"""

from wayword.corpus import toy
from wayword.corpus.annotate import Sentence
from wayword.reorder import lop
from wayword.reorder.preorder import restore_links


def tagged(pair: toy.ToyPair) -> Sentence:
    """The source words with their tags."""
    return Sentence(tuple(pair.src), tuple(pair.pos))


def main() -> None:
    """Learn from 600 pairs, and reorder three others."""
    *known, a, b, c = toy.generate("ja-en", 603, seed=1)
    corpus = lop.Corpus.from_sentences([tagged(p) for p in known], [p.links for p in known])
    train, dev = corpus.split(500)
    model = lop.fit(train, dev, passes=3, bits=18, rate=0.05, threads=1)
    for pair in (a, b, c):
        order = model.order(tagged(pair))
        print("source:   ", " ".join(pair.src))
        print("reordered:", " ".join(pair.src[place] for place in order))
        # A system that translated the reordered words one by one would return these links:
        found = " ".join(f"{at}-{at}" for at in range(len(order)))
        print("its links:", restore_links(found, order))
        print("reference:", " ".join(pair.tgt), end="\n\n")


if __name__ == "__main__":
    main()
