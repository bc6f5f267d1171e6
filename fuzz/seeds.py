"""Makes the seeds of the fuzz targets: small whole files of every kind, made by the product.

In: a folder. Out: a folder for each target, with one or more files to begin with.
Cost: some seconds.
"""

import sys
from pathlib import Path

from wayword import _core, align, extract, lm
from wayword.align import parts
from wayword.corpus import Bitext, doctor, toy
from wayword.corpus.annotate import Tagger, read_treebank
from wayword.corpus.files import open_bytes, open_text, temp_folder
from wayword.reorder import lop, neural, waw

PAIRS = 16  # small files are changed in more of their places


def make_seeds(folder: Path) -> None:
    """Write the seeds of all targets."""
    with temp_folder() as work:
        toy.write("de-en", PAIRS, work, seed=1)
        src, tgt, links, tagged = (
            work / f"train.{end}" for end in ("de", "en", "links", "factored.de")
        )
        lines = zip(open_text(src), open_text(tgt), strict=True)
        _put(folder, "text", "\n".join(f"{a} ||| {b}" for a, b in lines).encode())
        _put(folder, "links", links.read_bytes())
        _put(folder, "factored", tagged.read_bytes())
        _put_aligned(folder, work, src, tgt)
        _put_examined(folder, src, tgt)
        _put_sampled(folder, work, waw.Corpus.read(tagged, tgt, links))
        bitext = Bitext.read(src, tgt)
        aligner = align.fit(bitext)
        aligner.save(_path(folder, "aligner"))
        extract.count(bitext, links, _path(folder, "counts"))
        extract.extract(bitext, links, _path(folder, "table"))
        extract.extract(bitext, links, _path(folder, "table", "packed"), packed=True)
        whole = extract.PhraseTable.open(folder / "table" / "whole")
        whole.export_moses(work / "moses", orientation=None)
        with open_bytes(work / "moses" / "phrase-table.gz") as file:
            _put(folder, "moses", file.read())
        lm.train(tgt, _path(folder, "lm"), order=3)
        lm.count(tgt, _path(folder, "ngrams"), order=3)
        lm.LanguageModel.load(folder / "lm" / "whole").write_arpa(_path(folder, "arpa"))
        Tagger.fit(read_treebank(tagged)).save(_path(folder, "tagger"))
        corpus = waw.Corpus.read(tagged, tgt, links)
        model = waw.train(corpus, templates="WP", optimiser="lbfgs")
        model.save(_path(folder, "waw"))
        model.write_text(_path(folder, "waw-text"))
        learned, dev = lop.Corpus.read(tagged, tgt, links).split(PAIRS - 4)
        lop.fit(learned, dev, passes=1, bits=10).save(_path(folder, "lop"))
        small = {"embedding": 4, "hidden": 4, "key": 4, "epochs": 1}
        neural.train(neural.Corpus.read(src, tgt, links), **small).save(_path(folder, "neural"))


def _put_aligned(folder: Path, work: Path, src: Path, tgt: Path) -> None:
    """Write what tasks that align tell each other."""
    text, recipe = [(src, tgt)], parts.Recipe()
    words, names, shard = _path(folder, "words"), work / "names", work / "shard"
    parts.count_words(text, words)
    _core.AlignTasks.number_words([words], names)
    parts.write_shard(text, names, recipe, shard)
    parts.count_pairs(shard, names, recipe, work / "pairs")
    _core.AlignTasks.start([work / "pairs"], names, recipe.core(), work / "state")
    _put_two(folder, "passes", shard, work / "state")


def _put_examined(folder: Path, src: Path, tgt: Path) -> None:
    """Write what tells repeated pairs of a text in one piece."""
    piece = doctor.Piece((0, src.stat().st_size), (0, tgt.stat().st_size), 0)
    doctor.write_fingerprints((src, tgt), piece, _path(folder, "fingerprints"))


def _put_sampled(folder: Path, work: Path, corpus: waw.Corpus) -> None:
    """Write what the only shard of a corpus found, and its samples."""
    found, samples = work / "found", work / "samples"
    waw.find_candidates(corpus, found, shards=1, templates="P", min_count=1)
    waw.write_samples(corpus, [found], samples, templates="P", min_count=1)
    _put_two(folder, "samples", found, samples)


def _put_two(folder: Path, target: str, first: Path, second: Path) -> None:
    """Write two files as one, after the length of the first."""
    data = first.read_bytes()
    _put(folder, target, len(data).to_bytes(4, "little") + data + second.read_bytes())


def _path(folder: Path, target: str, name: str = "whole") -> Path:
    path = folder / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _put(folder: Path, target: str, data: bytes) -> None:
    _path(folder, target).write_bytes(data)


if __name__ == "__main__":
    make_seeds(Path(sys.argv[1]))
