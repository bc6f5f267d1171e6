"""The embedded default: what wayword does, shown on text it makes itself.

In: nothing but a folder. Out: for each toy pair a corpus and trained systems in the folder, and
lines for people: a few sentences with their word order, then a table of the same test set
translated in source order, with short and with long jumps allowed, and one derivation.
Cost: less than a minute of CPU in all.
"""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from wayword import experiment
from wayword.corpus import toy
from wayword.corpus.files import open_text
from wayword.decode import Translation
from wayword.experiment import Experiment
from wayword.reorder.order import kendall_distance
from wayword.report.experiment import plain

__all__ = ["demonstrate", "describe"]

SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
SHOWN = 2
SHORT = 12  # words
BASELINE = "dl:6"
#: Small text needs little: a short n-gram model, a narrow search, one short tuning run.
CHOICES = {
    "text": {"src_tokenizer": "none", "tgt_tokenizer": "none"},
    "lm": {"order": 4},
    "search": {"pop_limit": 200},
    "tune": {"runs": 1, "rounds": 6, "nbest": 50},
}


def demonstrate(
    folder: str | os.PathLike[str], *, size: int = 2000, seed: int = 1
) -> Iterator[str]:
    """Make every toy corpus, train and compare systems, and tell about it as it happens."""
    folder = Path(folder)
    for name in toy.pairs():
        toy.write(name, size, folder / name, seed=seed)
        yield f"## {name}: a toy corpus of {size} pairs in {folder / name} (seed {seed})"
        for pair in islice(filter(_is_reordered, toy.generate(name, size, seed=seed)), SHOWN):
            yield f"\n{describe(pair)}"
        yield ""
    yield "## The same test sets in three reordering spaces"
    yield "mono: in source order; dl:K: jumps of up to K words. Weights are tuned at dl:6.\n"
    described = _experiment(folder, seed)
    result = experiment.run(described, folder / "systems")
    yield plain(result)
    yield "\n## One derivation: phrases with the number of their turn, and the jumps between them\n"
    yield _drawn(described, folder)
    yield f"\nAll files are in {folder}; try `wayword train` on text of your own."


def _experiment(folder: Path, seed: int) -> Experiment:
    """All toy pairs, monotone and with two distortion limits."""
    corpora = []
    for name in toy.pairs():
        src, tgt = name.split("-")
        files = {part: [f"{part}.{src}", f"{part}.{tgt}"] for part in ("train", "dev", "test")}
        near = {part: [str(Path(name) / one) for one in own] for part, own in files.items()}
        corpus = {"src": near["train"][0], "tgt": near["train"][1], "dev": near["dev"]}
        gold = {"test_links": [f"{name}/test.links"], "test_tags": f"{name}/test.factored.{src}"}
        corpora.append({"name": name, **corpus, "test": near["test"], **gold})
    variants = [
        {"name": "mono", "weights": BASELINE, "search": {"space": "mono"}},
        {"name": BASELINE},
        {"name": "dl:18", "weights": BASELINE, "search": {"space": "dl:18"}},
    ]
    return Experiment.from_dict(
        {
            "name": "wayword demo",
            "baseline": BASELINE,
            "metrics": ["bleu", "krs", "krs-v"],
            "rounds": 1000,
            "base": {**CHOICES, "seed": seed},
            "corpus": corpora,
            "variant": variants,
        },
        folder,
    )


def _drawn(described: Experiment, folder: Path) -> str:
    """The short test sentence of the last pair that jumps most on its way to the reference."""
    last = len(described.corpora) - 1
    decoder = experiment.open_decoder(described, folder / "systems", last, "dl:18")
    src, refs = (list(open_text(path)) for path in described.corpora[last].test)
    short = [(line, ref) for line, ref in zip(src, refs, strict=True) if len(line.split()) < SHORT]
    found = decoder.translate([line for line, _ in short])
    pairs = zip(found, (ref for _, ref in short), strict=True)
    right = [one for one, ref in pairs if one.text.lower() == ref.lower()]
    return max(right or found, key=_jumps).draw()


def _jumps(translation: Translation) -> float:
    order = translation.order
    return kendall_distance(range(len(order)), order) if order else 0.0


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
