"""Bench of the oracles on real text: what each space could bring, and what asking costs.

Tables are made of the first 100,000 pairs of each pack (Hindi has 24,000), tokenised and
lower-cased; the test sets are the packs' own, up to 40 words: all of German, the first 300 of the
others; Table 3 has the long sentences among the first 300 of German, and pruning is measured on
the first 300 short ones. Times are CPU seconds of both threads. The order oracle gets the links of
the training text. ``python -m bench.oracle FOLDER`` keeps what it makes in a folder and starts from
there again; with a further word ``growth`` only growth with length is measured.
"""

import json
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from bench.measure import PYTHON, SHARED, measure, show, write_result
from wayword import align, extract
from wayword.corpus import Bitext
from wayword.corpus.files import new_file, open_text
from wayword.corpus.text import Preparation
from wayword.evaluate import Gold
from wayword.oracle.bleu import Candidates, bleu_oracle
from wayword.oracle.order import order_oracle
from wayword.oracle.read import read_linked
from wayword.oracle.texts import Texts, read_texts
from wayword.report.oracle import BleuResult, LengthRow

PAIRS = ("de-en", "ja-en", "hi-en")
MOST = 100_000
#: Test sentences of other pairs than German, of Table 3 and of pruning.
SOME = 300
#: The spaces of Table 2, the span bounds of Table 3, and those of the order oracle.
SPACES = ("itg", "ibm:4", "ibm:2", "mj2", "mj1", "mono")
BOUNDS = ("itg:0", "itg:5", "itg:10", "itg:20", "itg:30", "itg:40")
ORDERS = ("mono", "mj1", "mj2", "ibm:2", "ibm:4", "dl:6", "itg:5", "itg:10", "itg")
BINS, LONG = (5, 10, 15, 20, 25, 30, 35, 40), (30, 35)
#: The beam of the paper, and the longest sentences that pruning is measured on.
BEAM, SHORT = 1e-4, 15
#: Sentences of each length that are timed.
GROWTH = 40
#: Sentences and minutes of two cores that ITG and ``ibm:4`` may take.
PROMISED, MINUTES = 2500, 5


def rows(folder: Path | None = None) -> list[dict[str, Any]]:
    """Tables 2 and 3 for German, the three pairs side by side, and what it costs."""
    with tempfile.TemporaryDirectory() as name:
        where = folder or Path(name)
        for pair in PAIRS:
            prepare(pair, where / pair)
        return [
            *(row for pair in PAIRS for row in oracles(pair, where / pair)),
            *growth(where / "de-en"),
            *pruned(where / "de-en"),
            *(row for pair in PAIRS for row in orders(pair, where / pair)),
            memory(where / "de-en"),
        ]


def prepare(pair: str, folder: Path) -> None:
    """Text, links and table of a pair, where they are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    src, tgt = pair.split("-")
    for name in [f"train.{src}", f"train.{tgt}", f"test.{src}", *references(pair)]:
        if not (folder / name).exists():
            with new_file(folder / name) as file:
                file.writelines(f"{line}\n" for line in tokens(pair, name))
    if (folder / "table").exists():
        return
    bitext = Bitext.read(folder / f"train.{src}", folder / f"train.{tgt}")
    links = align.fit(bitext, threads=2).align(bitext)
    links.write(folder / "links")
    extract.extract(bitext, links, folder / "table", max_length=5)


def references(pair: str) -> list[str]:
    """The references of the test set; Hindi has four."""
    more = ("", "1", "2", "3") if pair == "hi-en" else ("",)
    return [f"test.{pair.split('-')[1]}{number}" for number in more]


def tokens(pair: str, name: str) -> Iterator[str]:
    """The lines of a file of a pack, tokenised and lower-cased."""
    lang = name.split(".")[1].rstrip("123")
    preparation = Preparation(lang, case="lower")
    for line in islice(open_text(SHARED / "data" / pair / f"{name}.xz"), MOST):
        yield " ".join(preparation.prepare(line))


def read(pair: str, folder: Path) -> Texts:
    """Table and test set of a pair."""
    refs = [folder / name for name in references(pair)]
    texts = read_texts(folder / "table", folder / f"test.{pair[:2]}", refs)
    return texts if pair == "de-en" else some(texts, range(min(SOME, len(texts.src))))


def some(texts: Texts, numbers: Iterable[int]) -> Texts:
    """These sentences of a text."""
    chosen = list(numbers)
    gold = Gold(refs=[[ref[at] for at in chosen] for ref in texts.gold.refs])
    return Texts(texts.table, [texts.src[at] for at in chosen], gold, 0)


def oracles(pair: str, folder: Path) -> Iterator[dict[str, Any]]:
    """BLEU and NIST by length and space, in the shape of Tables 2 and 3, and curves."""
    texts = read(pair, folder)
    result = kept(folder / "report" / "table.json")
    if result is None:
        start = time.process_time()
        candidates = Candidates.of_table(texts.table, texts.src, texts.refs)
        cpu = time.process_time() - start
        phrases = sum(len(candidates[number][0]) for number in range(len(candidates)))
        per_phrase = f"{sum(texts.lengths) / phrases:.2f}"
        yield {"pair": pair, "row": "candidates", "words a phrase": per_phrase, "cpu s": cpu}
        result, _ = bleu_oracle(candidates, texts.gold, SPACES, lengths=texts.lengths, bins=BINS)
        result.write(folder / "report")
    yield from lines(pair, "Table 2", result)
    check(pair, result)
    if pair == "de-en":
        long = some(texts, (at for at in range(SOME) if texts.lengths[at] > LONG[0] - 5))
        candidates = Candidates.of_table(long.table, long.src, long.refs)
        bounded, _ = bleu_oracle(candidates, long.gold, BOUNDS, lengths=long.lengths, bins=LONG)
        yield from lines(pair, "Table 3", bounded)


def kept(path: Path) -> BleuResult | None:
    """The table of an earlier run, if the folder has it."""
    if not path.exists():
        return None
    values = json.loads(path.read_text())
    return BleuResult(**{**values, "rows": tuple(LengthRow(**row) for row in values["rows"])})


def lines(pair: str, table: str, result: BleuResult) -> Iterator[dict[str, Any]]:
    """The rows of a table, and the seconds of each space."""
    for row in result.rows:
        scores = {space: f"{bleu:.2f} ({nist:.2f})" for space, (bleu, nist) in row.scores.items()}
        yield {"pair": pair, "row": f"{table} {row.lengths}", "n": row.sentences, **scores}
    seconds = {space: f"{seconds:.1f}" for space, seconds in result.seconds.items()}
    yield {"pair": pair, "row": f"{table} CPU s", "n": result.rows[-1].sentences, **seconds}
    exact = {space: f"{share:.3f}" for space, share in result.exact.items()}
    yield {"pair": pair, "row": f"{table} exact", **exact}


def check(pair: str, result: BleuResult) -> None:
    """Refuse a run that is wrong or slower than promised."""
    last = result.rows[-1]
    scores = [last.scores[space][0] for space in SPACES]
    assert scores[0] > scores[2] > scores[4] > scores[5], f"{pair}: {scores}"
    for space in ("itg", "ibm:4"):
        per_sentence = result.seconds[space] / last.sentences
        assert per_sentence * PROMISED < 2 * 60 * MINUTES, f"{pair}: {space} is too slow"


def growth(folder: Path) -> Iterator[dict[str, Any]]:
    """Milliseconds a sentence, one thread, by its length."""
    texts = read("de-en", folder)
    for least in range(6, max(BINS), BINS[0]):
        most = least + BINS[0] - 1
        right = (at for at, words in enumerate(texts.lengths) if least <= words <= most)
        few = some(texts, islice(right, GROWTH))
        candidates = Candidates.of_table(few.table, few.src, few.refs, threads=1)
        row: dict[str, Any] = {"pair": "de-en", "row": f"ms, {least}-{most} words", "n": GROWTH}
        for space in ("itg", "ibm:4"):
            start = time.process_time()
            candidates.best(space, threads=1)
            row[space] = round(1000 * (time.process_time() - start) / GROWTH, 1)
        yield row


def pruned(folder: Path) -> Iterator[dict[str, Any]]:
    """What the paper's beam, and few strings a span, lose on short sentences."""
    texts = read("de-en", folder)
    short = (at for at, length in enumerate(texts.lengths) if length <= SHORT)
    texts = some(texts, islice(short, SOME))
    candidates = Candidates.of_table(texts.table, texts.src, texts.refs)
    for space in ("itg", "ibm:4"):
        exact = candidates.best(space)
        for name, options in (("beam 1e-4", {"beam": BEAM}), ("keep 1", {"keep": 1})):
            narrow = candidates.best(space, **options)
            pairs = list(zip(exact, narrow, strict=True))
            missed = sum(wide.score > near.score + 1e-9 for wide, near in pairs)
            lost = sum(wide.score - near.score for wide, near in pairs) / len(pairs)
            row = {"pair": "de-en", "row": f"{space}, {name}, to {SHORT} words", "n": len(pairs)}
            yield {**row, "sentences missed": missed, "mean score lost": f"{lost:.6f}"}


def orders(pair: str, folder: Path) -> Iterator[dict[str, Any]]:
    """The order oracle on the training text, a space at a time."""
    src, tgt = (folder / f"train.{lang}" for lang in pair.split("-"))
    links, lengths = read_linked([src, tgt, folder / "links"])
    assert lengths is not None
    for space in ORDERS:
        start, wall = time.process_time(), time.monotonic()
        [row] = order_oracle(links, [space], lengths=[words for words, _ in lengths])
        cpu, seconds = time.process_time() - start, time.monotonic() - wall
        shares = {name: f"{100 * getattr(row, name):.1f}" for name in ("reached", "wrong", "kept")}
        cost = {"cpu s": round(cpu, 1), "wall s": round(seconds, 1)}
        told = {"pair": pair, "row": f"order, {space}", "n": row.sentences}
        yield {**told, **shares, "unsolved": row.unsolved, **cost}


def memory(folder: Path) -> dict[str, Any]:
    """The peak of a whole run of the command on 200 sentences."""
    text = []
    for name in ("test.de", "test.en"):
        text.append(folder / f"{name}.head")
        with new_file(text[-1]) as file:
            file.writelines(f"{line}\n" for line in islice(open_text(folder / name), 200))
    spaces = ["--space", "itg", "ibm:4"]
    cost = measure([PYTHON, "-m", "wayword", "oracle", "bleu", folder / "table", *text, *spaces])
    told = {"pair": "de-en", "row": "the command, 200 sentences", "cpu s": cost.cpu_seconds}
    return {**told, "wall s": cost.wall_seconds, "peak MB": cost.peak_mb}


if __name__ == "__main__":
    work = Path(sys.argv[1])
    only_growth = sys.argv[2:] == ["growth"]
    measured = list(growth(work / "de-en")) if only_growth else rows(work)
    show(measured)
    print(write_result("oracle-growth" if only_growth else "oracle", measured))
