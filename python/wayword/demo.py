"""The embedded default: what wayword does, shown on text it makes itself.

In: nothing but a folder. Out: for each toy pair a corpus and its models in the folder, and lines
for people: what the doctor says, a few sentences with their links and their word order, how many
of the gold links are found, how well English is foreseen, and the options of a phrase.
Cost: some seconds a pair.
"""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from wayword import align, extract, lm
from wayword.corpus import Bitext, doctor, toy
from wayword.reorder.order import kendall_distance

__all__ = ["demonstrate", "describe"]

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
SHOWN = 2


def demonstrate(
    folder: str | os.PathLike[str], *, size: int = 2000, seed: int = 1
) -> Iterator[str]:
    """Make every toy corpus, learn from it, and tell about it line by line as it happens."""
    for name in toy.pairs():
        where = Path(folder) / name
        toy.write(name, size, where, seed=seed)
        yield f"## {name}: a toy corpus of {size} pairs in {where} (seed {seed})"
        for pair in islice(filter(_is_reordered, toy.generate(name, size, seed=seed)), SHOWN):
            yield f"\n{describe(pair)}"
        yield ""
        yield from _learn(name, where)
        yield ""
    yield "What follows in later versions: translation, and models of word order."


def _learn(name: str, where: Path) -> Iterator[str]:
    """Run the stages on a corpus; one line each."""
    src, tgt = (where / f"train.{lang}" for lang in name.split("-"))
    report = doctor.examine(src, tgt)
    yield f"doctor   {report.clean} of {report.src_lines} pairs are clean"
    bitext = Bitext.read(src, tgt)
    links = align.fit(bitext).align(bitext)
    links.write(where / "train.found.links")
    score = align.score_links(links, align.read_gold(where / "train.links"))
    yield f"align    precision {score.precision:.3f}, recall {score.recall:.3f} against gold links"
    summary = extract.extract(bitext, links, where / "table")
    yield f"extract  {summary.pairs} phrase pairs in {where / 'table'}"
    model = lm.train(tgt, where / "lm", order=3)
    found = model.perplexity(where / f"dev.{tgt.suffix[1:]}")
    yield f"lm       perplexity {found.with_unknown:.1f} on dev ({found.unknown} unknown words)"


def _is_reordered(pair: toy.ToyPair) -> bool:
    """Short enough to read, and with something to see."""
    return len(pair.src) <= 14 and kendall_distance(range(len(pair.order)), pair.order) > 0.15


def describe(pair: toy.ToyPair) -> str:
    """A sentence pair for people: source, source in target order, target, links, distance.

    >>> print(describe(toy.ToyPair(("ich", "Tee", "trinke"), ("I", "drink", "tea"),
    ...     links=((0, 0), (1, 2), (2, 1)), order=(0, 2, 1),
    ...     pos=("PRON", "NOUN", "VERB"), chunks=("B-NP", "B-NP", "B-VP"))))
    source   ich₀ Tee₁ trinke₂
    ordered  ich₀ trinke₂ Tee₁
    target   I₀ drink₁ tea₂
    links    0-0 1-2 2-1
    Kendall  0.33 (share of word pairs whose order changes)
    """
    distance = kendall_distance(range(len(pair.order)), pair.order)
    rows = {
        "source": _numbered(pair.src, range(len(pair.src))),
        "ordered": _numbered(pair.src, pair.order),
        "target": _numbered(pair.tgt, range(len(pair.tgt))),
        "links": " ".join(f"{src}-{tgt}" for src, tgt in pair.links),
        "Kendall": f"{distance:.2f} (share of word pairs whose order changes)",
    }
    return "\n".join(f"{name:<8} {text}" for name, text in rows.items())


def _numbered(words: tuple[str, ...], positions: tuple[int, ...] | range) -> str:
    return " ".join(words[at] + str(at).translate(SUBSCRIPTS) for at in positions)
