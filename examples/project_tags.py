"""Link two texts word by word, and carry tags from one language to the other.

    python examples/project_tags.py

English words get the parts of speech of the German words they are linked to: the usual way to a
first tagger for a language that has none. Toy text knows the right tags, so they can be counted.
"""

from collections import Counter

from wayword import Bitext, align
from wayword.corpus import toy


def main() -> None:
    """Align, project, and print some sentences."""
    pairs = list(toy.generate("de-en", 500, seed=1))
    bitext = Bitext.from_pairs((" ".join(pair.src), " ".join(pair.tgt)) for pair in pairs)
    links = align.fit(bitext, threads=1).align(bitext, threads=1)
    seen: dict[str, Counter[str]] = {}
    for pair, of_pair in zip(pairs, links, strict=True):
        for src, tgt in of_pair:
            seen.setdefault(pair.tgt[tgt], Counter())[pair.pos[src]] += 1
    for word, tags in sorted(seen.items(), key=lambda entry: -entry[1].total())[:20]:
        tag, count = tags.most_common(1)[0]
        print(f"{word:12} {tag:6} {count / tags.total():.0%} of {tags.total()}")


if __name__ == "__main__":
    main()
