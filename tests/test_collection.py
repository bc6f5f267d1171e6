"""Text of any kind trains a system: formats, several corpora, weights, glossaries."""

import json
from itertools import islice
from pathlib import Path

import pytest

from wayword import extract
from wayword.cli import main
from wayword.config import Config
from wayword.corpus import Bitext, toy
from wayword.corpus.collection import Collection, Corpus, Piece, find_pieces, read_bitext, read_side
from wayword.corpus.files import open_text
from wayword.errors import ArgumentError, FormatError, MismatchError
from wayword.pipeline import plan, train
from wayword.stage import Result
from wayword.store import Store

QUICK = {
    "text": {"src": "de", "tgt": "en"},
    "lm": {"order": 2},
    "tune": {"runs": 1, "rounds": 1, "nbest": 10},
    "search": {"pop_limit": 20},
}
TMX = '<tmx version="1.4"><header/><body>{}</body></tmx>'
UNIT = '<tu><tuv xml:lang="de-DE"><seg>{}</seg></tuv><tuv xml:lang="en"><seg>{}</seg></tuv></tu>'
ALONE = '<tu><tuv xml:lang="de"><seg>allein</seg></tuv></tu>'


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same 300 pairs as lines and, a hundred each, as TSV, JSON lines and TMX."""
    folder = tmp_path_factory.mktemp("corpus")
    toy.write("de-en", 300, folder, seed=1)
    pairs = iter(zip(*(open_text(folder / f"train.{lang}") for lang in ("de", "en")), strict=True))
    tsv, objects, units = (list(islice(pairs, 100)) for _ in range(3))
    (folder / "a.tsv").write_text("".join(f"{src}\t{tgt}\n" for src, tgt in tsv))
    lines = (json.dumps({"de": src, "en": tgt}) for src, tgt in objects)
    (folder / "b.jsonl").write_text("\n".join(lines))
    (folder / "c.tmx").write_text(TMX.format(ALONE + "".join(UNIT.format(*pair) for pair in units)))
    return folder


def pieces(corpus: Path, *names: str) -> tuple[Piece, ...]:
    return find_pieces([corpus / name for name in names], ("de", "en"))


def test_a_dev_set_may_be_one_file_with_both_sides(corpus: Path, tmp_path: Path) -> None:
    sides = [list(open_text(corpus / f"dev.{lang}")) for lang in ("de", "en")]
    text = "".join(f"{src}\t{tgt}\n" for src, tgt in zip(*sides, strict=True))
    (tmp_path / "dev.tsv").write_text(text)
    files = [[tmp_path / "dev.tsv"], [corpus / "dev.de", corpus / "dev.en"]]
    kept = []
    with Store(tmp_path / "work") as store:
        for dev in files:
            planned = plan(corpus / "train.de", corpus / "train.en", QUICK, dev=dev)
            [result] = store.run([planned.dev])
            kept.append([(result / name).read_bytes() for name in ("dev.src", "dev.ref0")])
    assert kept[0] == kept[1]


def run(collection: Collection, corpus: Path, work: Path) -> dict[str, Result]:
    """The stages up to the phrase table."""
    planned = plan(collection, config=QUICK, dev=[corpus / "dev.de", corpus / "dev.en"])
    with Store(work) as store:
        stages = [stage for stage in planned.stages if stage.name != "tune"]
        return {result.name: result for result in store.run(stages)}


def test_three_formats_train_the_system_of_two_files(corpus: Path, tmp_path: Path) -> None:
    many = Collection((Corpus("all", pieces(corpus, "a.tsv", "b.jsonl", "c.tmx")),))
    gathered = run(many, corpus, tmp_path / "many")
    plain = run(Collection.of(corpus / "train.de", corpus / "train.en"), corpus, tmp_path / "plain")
    assert "gather" not in plain
    assert gathered["gather"].facts["corpora"][0]["skipped"] == 1
    for name in ("phrase-table", "lm"):
        stage = "extract" if name == "phrase-table" else name
        assert (gathered[stage] / name).read_bytes() == (plain[stage] / name).read_bytes()


def test_a_weight_counts_phrases_as_if_the_lines_stood_there_so_often(
    corpus: Path, tmp_path: Path
) -> None:
    named = (Corpus("tsv", pieces(corpus, "a.tsv"), 3), Corpus("rest", pieces(corpus, "b.jsonl")))
    results = run(Collection(named), corpus, tmp_path / "work")
    text, links = results["prepare"], results["align"]
    assert [c["pairs"] for c in text.facts["corpora"]] == [100, 100]
    files = (text / "train.src", text / "train.tgt", links / "links")
    rows = list(zip(*(open_text(path) for path in files), strict=True))
    repeated = rows[:100] * 3 + rows[100:]
    for number, name in enumerate(("src", "tgt", "links")):
        (tmp_path / name).write_text("".join(row[number] + "\n" for row in repeated))
    bitext = Bitext.read(tmp_path / "src", tmp_path / "tgt")
    extract.extract(bitext, tmp_path / "links", tmp_path / "table")
    table = results["extract"] / "phrase-table"
    assert table.read_bytes() == (tmp_path / "table").read_bytes()
    assert [path.name for path in table.parent.iterdir()] != []
    assert sorted(path.name for path in table.parent.iterdir()) == ["phrase-table", "stage.json"]


def test_a_glossary_is_evidence_for_phrases_but_no_text(corpus: Path, tmp_path: Path) -> None:
    terms = tmp_path / "terms.tsv"
    terms.write_text("Quarkstrudel\tcurd strudel\nOslo\tOslo\n\tnothing\n")
    text = Corpus("text", pieces(corpus, "train.de", "train.en"))
    glossary = Corpus("glossary", find_pieces([terms]), 2)
    results = run(Collection((text,), glossary), corpus, tmp_path / "work")
    assert results["glossary"].facts["clean"] == 2
    assert results["prepare"].facts["glossary"] == 2
    table = extract.PhraseTable.open(results["extract"] / "phrase-table")
    [option] = table["Quarkstrudel"]
    assert option.tgt == "curd strudel"
    assert option.counts is not None
    assert option.counts.pair == 2
    assert results["lm"].facts["sentences"] == results["prepare"].facts["pairs"]


def test_a_corpus_is_told_from_its_neighbour_when_lines_are_taken_out(
    corpus: Path, tmp_path: Path
) -> None:
    (tmp_path / "x.tsv").write_text("eins zwei\tone two\n\tleer\nOslo\tOslo\ndrei\tthree\n")
    named = (Corpus("x", find_pieces([tmp_path / "x.tsv"])), Corpus("a", pieces(corpus, "a.tsv")))
    results = run(Collection(named), corpus, tmp_path / "work")
    shares = {c["name"]: (c["lines"], c["pairs"]) for c in results["prepare"].facts["corpora"]}
    assert shares == {"x": (4, 2), "a": (100, 100)}


def test_a_folder_gives_its_pairs_and_files_with_both_sides(tmp_path: Path) -> None:
    for name in ("b.de", "b.en", "a.tsv", "notes.md"):
        (tmp_path / name).write_text("ja\tyes\n" if name == "a.tsv" else "ja\n")
    found = find_pieces([tmp_path], ("de", "en"))
    assert [Path(piece.src).name for piece in found] == ["a.tsv", "b.de"]
    assert len(read_bitext(found, ("de", "en"))) == 2
    (tmp_path / "c.de").write_text("nein\n")
    with pytest.raises(ArgumentError, match=r"c\.de: no c\.en beside it; expected both sides"):
        find_pieces([tmp_path], ("de", "en"))
    (tmp_path / "none").mkdir()
    with pytest.raises(ArgumentError, match=r"none: no file with both sides; name the languages"):
        find_pieces([tmp_path / "none"])


@pytest.mark.parametrize(
    ("names", "langs", "message"),
    [
        (["a.txt", "b.txt"], {}, r"a\.txt: which language is it\? name the file such as train\.de, "
         r"or give --src-lang"),
        (["c.tmx"], {"src": "de", "tgt": "fr"}, r"c\.tmx: no unit in `fr`"),
        (["a.txt"], {"src": "de", "tgt": "en"}, r"a\.txt:1: no `\|\|\|`; expected it between "
         r"source and target; is the other side in a file of its own"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_told_why(
    names: list[str], langs: dict[str, str], message: str, corpus: Path, tmp_path: Path
) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("ein wort\n" * 3)
    paths = [(corpus if name == "c.tmx" else tmp_path) / name for name in names]
    collection = Collection((Corpus("text", find_pieces(paths, ("de", "en"))),))
    config = Config.from_dict({**QUICK, "text": langs})
    with pytest.raises((ArgumentError, FormatError), match=message):
        train(collection, None, tmp_path / "system", config=config)


def test_a_piece_of_two_lengths_stops_the_run(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "short.en").write_text("one\n")
    named = Corpus(
        "text", find_pieces([corpus / "a.tsv", corpus / "train.de", tmp_path / "short.en"])
    )
    with pytest.raises(MismatchError, match=r"train\.de has 300 lines, .*short\.en has 1 lines"):
        train(Collection((named,)), None, tmp_path / "system", config=QUICK)


def test_a_file_with_both_sides_tells_no_language(tmp_path: Path) -> None:
    (tmp_path / "news.de-en.tsv").write_text("ja\tyes\n")
    with pytest.raises(ArgumentError, match=r"news\.de-en\.tsv: which language is it\?"):
        plan(tmp_path / "news.de-en.tsv", None, {})


def test_languages_are_found_in_names_and_not_in_txt(tmp_path: Path) -> None:
    for name in ("train.de.txt", "train.en.txt"):
        (tmp_path / name).write_text("ein wort\n")
    planned = plan(tmp_path / "train.de.txt", tmp_path / "train.en.txt", {})
    assert (planned.config.text.src, planned.config.text.tgt) == ("de", "en")


def test_one_side_of_any_format_is_text(corpus: Path, tmp_path: Path) -> None:
    first = next(open_text(corpus / "train.en"))
    assert next(read_side(corpus / "a.tsv", "tgt")) == first
    assert len(list(read_side(corpus / "b.jsonl", "en"))) == 100
    assert len(list(read_side(corpus / "c.tmx", "en"))) == 100
    with pytest.raises(ArgumentError, match=r"a\.tsv: which column is the text\? give --column"):
        next(read_side(corpus / "a.tsv", ""))
    out = tmp_path / "en.lm"
    more = ["--column", "en", "--order", "2", "-o", str(out)]
    assert main(["lm", "train", str(corpus / "b.jsonl"), str(corpus / "c.tmx"), *more]) == 0
    assert out.exists()


def test_wrong_corpora_are_refused(corpus: Path) -> None:
    some = pieces(corpus, "a.tsv")
    with pytest.raises(ArgumentError, match="corpus x: weight: found 0; expected 1 to 100"):
        Corpus("x", some, 0)
    with pytest.raises(ArgumentError, match="corpus: found `x` twice; expected each name once"):
        Collection((Corpus("x", some), Corpus("x", some)))
    with pytest.raises(ArgumentError, match="text: found none; expected two files, or one"):
        Collection(())


def test_further_text_goes_into_one_language_model_or_into_models_of_their_own(
    corpus: Path, tmp_path: Path
) -> None:
    (tmp_path / "news.en").write_text("the news are good .\n" * 20)
    lm = {"order": 2, "text": [str(tmp_path / "news.en"), str(corpus / "c.tmx")]}
    src, tgt = corpus / "train.de", corpus / "train.en"
    dev = [corpus / "dev.de", corpus / "dev.en"]
    one = train(src, tgt, tmp_path / "one", dev=dev, config={**QUICK, "lm": lm})
    assert [model.counts[0] for model in one.lms] == [one.lms[0].counts[0]]
    assert "news" in one.lms[0]
    each = train(
        src, tgt, tmp_path / "each", dev=dev, config={**QUICK, "lm": {**lm, "mix": "each"}}
    )
    assert ["news" in model for model in each.lms] == [False, True, False]
    assert {"lm0", "lm1", "lm2"} <= set(each.weights)
    assert [part.name for part in each.parts] == ["phrase-table", "lm", "lm-1", "lm-2", "aligner"]
    each.verify()
    assert each.translate("Das ist gut .").text
    linear = train(
        src, tgt, tmp_path / "linear", dev=dev, config={**QUICK, "lm": {**lm, "mix": "linear"}}
    )
    assert [part.name for part in linear.parts] == ["phrase-table", "lm", "aligner"]
    assert all("news" in model for model in linear.lms)
    log = (tmp_path / "linear" / "work" / "log.jsonl").read_text(encoding="utf-8")
    notes = [json.loads(line) for line in log.splitlines()]
    [weights] = [note["facts"]["weights"] for note in notes if note["stage"] == "lm"]
    assert sum(weights) == pytest.approx(1, abs=1e-3)
    assert weights[0] > 0.5  # the training text is the likest to the dev set
