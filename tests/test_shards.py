"""Stages cut into shards give the same bytes, however many these are."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from wayword.corpus import doctor, toy
from wayword.corpus.annotate import Tagger, read_factored
from wayword.corpus.collection import Collection, Corpus, find_pieces
from wayword.corpus.pieces import bounds, copy_piece, cut, lines_of
from wayword.errors import MismatchError
from wayword.pipeline import Plan, assemble, plan
from wayword.shards import spread_clean
from wayword.stage import File, Stage, Work
from wayword.stages import clean_stage
from wayword.store import Store

LANGS = ("de", "en")
QUICK: dict[str, Any] = {"lm": {"order": 3}, "tune": {"runs": 1, "rounds": 2}}


def contents(system: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in system.iterdir() if path.is_file()}


def trained(out: Path, width: int, planned: Plan) -> dict[str, bytes]:
    with Store(out / "work", threads=1, width=width) as store:
        assemble(out, planned, store)
    assert not list((out / "work").glob(".*"))
    return contents(out)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toy")
    toy.write("de-en", 900, folder, seed=1)
    return folder


def test_the_number_of_shards_changes_no_byte(text: Path, tmp_path: Path) -> None:
    planned = plan(text / "train.de", text / "train.en", QUICK)
    whole = trained(tmp_path / "whole", 1, planned)
    for width in (2, 7):
        assert trained(tmp_path / str(width), width, planned) == whole, width


@pytest.mark.parametrize("kind", ["pieces", "tags"])
def test_other_ways_to_cut_change_no_byte(kind: str, text: Path, tmp_path: Path) -> None:
    """Corpora with weights; and either subwords and a test of pairs, or our own tagger.

    The language model has further text in one of them.
    """
    lines = [(text / f"train.{lang}").read_text().splitlines(keepends=True) for lang in LANGS]
    for name, part in (("a", slice(0, 250)), ("b", slice(250, 800))):
        for lang, side in zip(LANGS, lines, strict=True):
            (tmp_path / f"{name}.{lang}").write_text("".join(side[part]))
    corpora = tuple(
        Corpus(name, find_pieces([tmp_path / f"{name}.{lang}" for lang in LANGS]), weight)
        for name, weight in (("a", 3), ("b", 1))
    )
    if kind == "pieces":
        pytest.importorskip("sentencepiece", reason="no subwords: pip install 'wayword[subwords]'")
        chosen = {
            "subwords": {"kind": "bpe", "vocabulary": 300},
            "extract": {"significance": "a-e"},
        }
    else:
        Tagger.fit(read_factored(text / "train.factored.de")).save(tmp_path / "tagger")
        chosen = {
            "model": {"features": ["waw"]},
            "annotate": {"annotator": str(tmp_path / "tagger")},
            "lm": {"order": 4, "prune": [0, 0, 1], "text": [str(text / "train.en")]},
        }
    planned = plan(Collection(corpora), None, {**QUICK, **chosen})
    whole = trained(tmp_path / "whole", 1, planned)
    assert trained(tmp_path / "four", 4, planned) == whole


#: Two sides with repeated pairs, marks, other writing, and what is no text.
ODD = [
    (f"eins {number % 70} zwei \u200e drei".encode(), f"one {number % 70} two three".encode())
    for number in range(400)
]
ODD[::37] = [(b"\xff nichts", b"nothing")] * len(ODD[::37])
ODD[5], ODD[250] = ((b"\xef\xbb\xbf" + src, tgt + b"\r") for src, tgt in (ODD[5], ODD[250]))
ODD[301] = (b"", "\u0436\u0436\u0436".encode())


def examined(folder: Path, sides: list[bytes], width: int, suffix: str = "") -> dict[str, Any]:
    """Facts and files of the doctor's stage; made in shards or not."""
    folder.mkdir()
    paths = [folder / f"{lang}{suffix}" for lang in LANGS]
    for path, data in zip(paths, sides, strict=True):
        path.write_bytes(gzip.compress(data) if suffix else data)
    stage = clean_stage(paths[0], paths[1], doctor.Options(max_ratio=4.0))
    with Store(folder / "work", width=width) as store:
        [result] = store.run([stage])
    assert not list((folder / "work").glob(".*"))
    files = {path.name: path.read_bytes() for path in (result / "clean").iterdir()}
    return {"facts": result.facts, **files}


def test_the_doctor_takes_out_the_same_lines_in_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def counted(work: Work, *given: Any) -> doctor.Report:
        calls.append(work.width)
        return spread_clean(work, *given)

    monkeypatch.setattr("wayword.stages.spread_clean", counted)
    sides = [b"\xef\xbb\xbf" + b"\n".join(side) for side in zip(*ODD, strict=True)]
    whole = examined(tmp_path / "whole", sides, 1)
    assert whole["facts"]["problems"]["duplicate"] > 300 - 20
    assert whole["facts"]["problems"]["encoding"] == 11
    for width in (2, 3, 4):
        assert examined(tmp_path / str(width), sides, width) == whole
    assert calls == [2, 3, 4]
    # What cannot be cut at the same lines is examined in one go.
    assert examined(tmp_path / "gz", sides, 4, ".gz") == whole
    longer = [sides[0], sides[1] + b"\nno partner\n"]
    assert examined(tmp_path / "longer", longer, 4)["facts"]["problems"]["unpaired"] == 1
    assert calls == [2, 3, 4]


def test_reports_of_pieces_add_up_to_that_of_the_text(tmp_path: Path) -> None:
    paths = tmp_path / "de", tmp_path / "en"
    for path, side in zip(paths, zip(*ODD, strict=True), strict=True):
        path.write_bytes(b"".join(line + b"\n" for line in side))
    whole = doctor.examine(*paths, tmp_path / "whole", max_ratio=4.0, examples=3)
    starts = bounds(len(ODD), 3)
    pieces = [
        doctor.Piece(src, tgt, before)
        for (src, tgt), before in zip(cut(paths, starts), starts, strict=False)
    ]
    prints, repeated = ([tmp_path / f"{name}{n}" for n in range(3)] for name in ("print", "line"))
    for piece, out in zip(pieces, prints, strict=True):
        doctor.write_fingerprints(paths, piece, out)
    doctor.find_repeated(prints, repeated)
    reports = [
        doctor.examine_piece(
            paths,
            piece,
            tmp_path / f"out{piece.before}",
            scripts=doctor.scripts(*paths),
            repeated=lines,
            max_ratio=4.0,
            examples=3,
        )
        for piece, lines in zip(pieces, repeated, strict=True)
    ]
    assert doctor.joined(reports, examples=3) == whole


def test_pieces_put_together_are_the_text(tmp_path: Path) -> None:
    path, copy = tmp_path / "text", tmp_path / "copy"
    words = ["", "eins", "\ufeffzwei", "drei\r", "", "vier"] * 30_000  # more than a block
    path.write_bytes("".join(f"{word}\n" for word in words).encode())
    for count in (1, 2, 7):
        pieces = [piece for [piece] in cut([path], bounds(len(words), count))]
        assert [line for piece in pieces for line in lines_of(path, piece)] == words
        parts = b""
        for piece in pieces:
            copy_piece(path, piece, copy)
            parts += copy.read_bytes()
        assert parts == path.read_bytes()
    assert cut([path], [0, 0, 2]) == [[(0, 0)], [(0, 6)]]
    copy.write_bytes(b"eins\nzwei")  # the last line has no end
    assert cut([copy], [0, 1, 2, 2]) == [[(0, 5)], [(5, 9)], [(9, 9)]]
    with pytest.raises(MismatchError, match="found 180000 lines; expected 180001"):
        cut([path], [0, 180_001])
    with pytest.raises(MismatchError, match="was it changed"):
        list(lines_of(path, (0, path.stat().st_size + 1)))


def make_number(work: Work) -> dict[str, Any]:
    with (work.inputs["text"].parent / "calls").open("a") as calls:
        print(work.options["number"], file=calls)
    (work.out / "number").write_text(str(work.options["number"]))
    return {"number": work.options["number"]}


def test_shards_that_were_made_are_found_after_an_interruption(tmp_path: Path) -> None:
    """The second call makes only what is missing, and nothing is left when the stage is done."""
    (tmp_path / "text").write_text("text")
    seen: list[list[str]] = []

    def make_sum(work: Work) -> dict[str, Any]:
        assert work.spread is not None
        inputs = {"text": File(work.inputs["text"])}
        shards = [Stage("number", make_number, {"number": n}, inputs) for n in range(3)]
        with work.spread(shards[: 2 if not seen else 3]) as results:
            seen.append([result.path.name for result in results])
            if len(seen) == 1:
                raise KeyboardInterrupt
            return {"sum": sum(int((result / "number").read_text()) for result in results)}

    stage = Stage("sum", make_sum, inputs={"text": File(tmp_path / "text")})
    with Store(tmp_path / "work", width=3) as store, pytest.raises(KeyboardInterrupt):
        store.run([stage])
    [kept] = (tmp_path / "work").glob(".sum-*.shards")
    assert len(list(kept.glob("number-*"))) == 2
    with Store(tmp_path / "work", width=3) as store:
        [result] = store.run([stage])
    assert result.facts == {"sum": 3}
    assert (tmp_path / "calls").read_text().split() == ["0", "1", "2"]
    assert not kept.exists()
    assert "files" in json.loads((result / "stage.json").read_text())
