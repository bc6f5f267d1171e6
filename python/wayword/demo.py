"""The embedded default: what wayword does, shown on text it makes itself.

In: nothing but a folder. Out: for each toy pair a corpus and trained systems in the folder, and
lines for people: a few sentences with their word order, then a table of the same test set
translated in source order, with short and with long jumps allowed, and with long ones where the
word-after-word model finds them likely; then one derivation, and what that model says of it.
Cost: less than a minute of CPU in all.
"""

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from wayword import experiment
from wayword.corpus import toy
from wayword.corpus.annotate import Tagger, read_treebank
from wayword.corpus.files import open_text
from wayword.decode import Translation
from wayword.experiment import Experiment
from wayword.parts.waw import WawPart
from wayword.reorder.order import kendall_distance
from wayword.report import heat
from wayword.report.experiment import plain
from wayword.report.pair import describe

__all__ = ["demonstrate"]

SHOWN = 2
TAGGED = 1000  # sentences the tagger learns from
SHORT = 12  # words
BASELINE, LONG, PRUNED = "dl:6", "dl:18", "dl:18 + waw pruning"
SPACE = "dl:18+waw(top=3,threshold=0.1,zone=5)"
#: Small text needs little: a short n-gram model, a narrow search, short tuning runs.
CHOICES = {
    "text": {"src_tokenizer": "none", "tgt_tokenizer": "none"},
    "lm": {"order": 4},
    "search": {"pop_limit": 200},
    "tune": {"runs": 2, "rounds": 5, "nbest": 50, "restarts": 5},
}


def demonstrate(
    folder: str | os.PathLike[str],
    *,
    pairs: Sequence[str] | None = None,
    size: int = 2000,
    seed: int = 1,
) -> Iterator[str]:
    """Make every toy corpus, train and compare systems, and tell about it as it happens."""
    folder = Path(folder)
    pairs = pairs or toy.pairs()
    for name in pairs:
        toy.write(name, size, folder / name, seed=seed)
        treebank = read_treebank(folder / name / f"train.factored.{name[:2]}")
        Tagger.fit(treebank[:TAGGED], epochs=4).save(folder / name / "tagger")
        yield f"## {name}: a toy corpus of {size} pairs in {folder / name} (seed {seed})"
        for pair in islice(filter(_is_reordered, toy.generate(name, size, seed=seed)), SHOWN):
            yield f"\n{describe(pair)}"
        yield ""
    yield "## The same test sets in four reordering spaces"
    yield "mono: in source order; dl:K: jumps of up to K words; waw pruning: long jumps only to"
    yield "words that the word-after-word model finds likely. Tuned at dl:6, or with pruning."
    yield ""
    described = _experiment(folder, pairs, seed)
    result = experiment.run(described, folder / "systems")
    yield plain(result)
    yield "\n## One derivation: phrases with the number of their turn, and the jumps between them\n"
    yield from _drawn(described, folder)
    yield f"\nAll files are in {folder}; try `wayword train` on text of your own."
    yield "See these systems at work, and teach them, on a page (it needs wayword[serve]):"
    yield f"    wayword serve {' '.join(map(str, _places(folder, pairs)))}"


def _experiment(folder: Path, pairs: Sequence[str], seed: int) -> Experiment:
    """The toy pairs, monotone, with two distortion limits, and with pruning."""
    corpora = []
    for name in pairs:
        src, tgt = name.split("-")
        files = {part: [f"{part}.{src}", f"{part}.{tgt}"] for part in ("train", "dev", "test")}
        near = {part: [str(Path(name) / file) for file in names] for part, names in files.items()}
        corpus = {"src": near["train"][0], "tgt": near["train"][1], "dev": near["dev"]}
        gold = {"test_links": [f"{name}/test.links"], "test_tags": f"{name}/test.factored.{src}"}
        base = {"annotate": {"annotator": str(folder / name / "tagger")}}
        corpora.append({"name": name, **corpus, "test": near["test"], **gold, "base": base})
    variants = [
        {"name": "mono", "weights": BASELINE, "search": {"space": "mono"}},
        {"name": BASELINE},
        {"name": LONG, "weights": BASELINE, "search": {"space": LONG}},
        {"name": PRUNED, "search": {"space": SPACE}, "model": {"features": ["waw"]}},
    ]
    return Experiment.from_dict(
        {
            "name": "wayword demo",
            "baseline": BASELINE,
            "metrics": ["bleu", "krs-linked", "reversals"],
            "rounds": 1000,
            "base": {**CHOICES, "seed": seed},
            "corpus": corpora,
            "variant": variants,
        },
        folder,
    )


def _places(folder: Path, pairs: Sequence[str]) -> list[Path]:
    """Where the pruned systems of all pairs are; one pair alone has no folder of its name."""
    systems = folder / "systems" / "systems"
    inner = [systems / name for name in pairs] if len(pairs) > 1 else [systems]
    return [place / experiment.folder_name(PRUNED) for place in inner]


def _drawn(described: Experiment, folder: Path) -> Iterator[str]:
    """The short test sentence of the last pair that jumps most on its way to the reference."""
    last = len(described.corpora) - 1
    system = experiment.open_variant(described, folder / "systems", last, PRUNED)
    src, refs = described.corpora[last].test
    short = [
        (line, ref)
        for line, ref in zip(open_text(src), open_text(refs), strict=True)
        if len(line.split()) < SHORT
    ]
    sources = system.sources([line for line, _ in short], prepared=True)
    translated = list(zip(system.translate(sources), sources, strict=True))
    right = [
        (translation, source)
        for (translation, source), (_, ref) in zip(translated, short, strict=True)
        if translation.text.lower() == ref.lower()
    ]
    best, source = max(right or translated, key=lambda pair: _jumps(pair[0]))
    yield best.draw()
    yield "\n## What the word-after-word model says of it"
    yield "Row: the word translated last; column: the next one. ● the step taken, × pruned.\n"
    part = system.part("waw")
    assert isinstance(part, WawPart)
    matrix = part.model.matrix(source.sentence)
    yield heat.draw(source.words, matrix, order=best.order, space=SPACE)


def _jumps(translation: Translation) -> float:
    order = translation.order
    return kendall_distance(range(len(order)), order) if order else 0.0


def _is_reordered(pair: toy.ToyPair) -> bool:
    """Short enough to read, and with something to see."""
    return len(pair.src) <= 14 and kendall_distance(range(len(pair.order)), pair.order) > 0.15
