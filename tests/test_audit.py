"""The audit: what it finds, what it never does, and how it complains."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.align import Aligner, fit
from wayword.audit import AuditText, audit, read_glossary
from wayword.audit.judge import find_candidates
from wayword.audit.numbers import read_numbers, unmatched
from wayword.audit.order import exchange
from wayword.audit.runs import best_runs
from wayword.cli import main
from wayword.corpus import toy
from wayword.errors import FormatError, MismatchError
from wayword.pack import pack
from wayword.parts.part import entry, open_part
from wayword.system import System


@pytest.fixture(scope="module")
def toy_text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    toy.write("de-en", 600, folder, seed=3)
    return folder


def words(path: Path, count: int | None = None) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines()][:count]


@pytest.fixture(scope="module")
def aligner(toy_text: Path) -> Aligner:
    sides = words(toy_text / "train.de"), words(toy_text / "train.en")
    text = AuditText.from_words(*sides, lowercase=True)
    aligner = fit(text.bitext, threads=1)
    aligner.save(toy_text / "aligner")
    return aligner


# --- detectors -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("src", "tgt", "langs"),
    [
        ("1.000,5 Euro", "1,000.5 euros", ("de", "en")),
        ("85 000 Arbeiter", "85,000 workers", ("de", "en")),
        ("3,5 Millionen", "3.5 million", ("de", "en")),
        ("10 万 人", "100,000 people", ("ja", "en")),
        ("１９１９ 年 ３ 月", "March 1919", ("ja", "en")),
        ("三百 人", "300 people", ("ja", "en")),
        ("26.1.2006", "26 January 2006", ("de", "en")),
        ("die 90er Jahre", "the 1990s", ("de", "en")),
        ("٢٠١٦", "2016", ("ar", "en")),
        ("1.000", "1,000", ("", "")),
        ("am 21. Mai", "on the twenty-first of May", ("de", "en")),
    ],
)
def test_numbers_of_one_value_match(src: str, tgt: str, langs: tuple[str, str]) -> None:
    assert unmatched(src.split(), tgt.split(), langs) == ([], [])


@pytest.mark.parametrize(
    ("src", "tgt"), [("1.000", "1.0"), ("1998", "1989"), ("3 Millionen", "4 million"), ("5", "15")]
)
def test_numbers_of_another_value_do_not_match(src: str, tgt: str) -> None:
    src_left, tgt_left = unmatched(src.split(), tgt.split(), ("de", "en"))
    assert len(src_left) == len(tgt_left) == 1


def test_number_words_are_never_asked_for() -> None:
    assert unmatched(["zwei", "Jahre"], ["a", "while"], ("de", "en")) == ([], [])


def test_the_best_run_is_the_one_with_the_highest_sum() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        ratios = rng.normal(0, 2, 9)
        runs = best_runs(ratios)
        sums = [ratios[i:j].sum() for i in range(9) for j in range(i + 1, 10)]
        assert not runs or runs[0][2] == pytest.approx(max(sums), abs=1e-5)
        assert runs or max(sums) < 1


def test_the_exchange_is_the_one_of_all_cuts_with_the_most_reversed_pairs() -> None:
    rng = np.random.default_rng(2)
    for _ in range(100):
        order = rng.permutation(8)
        gains = [
            sum(int(np.sign(x - y)) for x in order[a:b] for y in order[b:c])
            for a in range(8)
            for b in range(a + 1, 8)
            for c in range(b + 1, 9)
        ]
        assert exchange(order).gain == max(0, *gains)


# --- the whole -----------------------------------------------------------------------------------


def test_a_changed_number_and_a_missing_clause_are_found(aligner: Aligner, toy_text: Path) -> None:
    src, tgt = words(toy_text / "test.de", 40), words(toy_text / "test.en", 40)
    src[3] = [*src[3], *src[4], *src[5]]  # the translation has only the first of three sentences
    src[8], tgt[8] = [*src[8], "1998"], [*tgt[8], "1989"]
    text = AuditText.from_words(src, tgt, ("de", "en"), lowercase=True)
    places = {(f.line, f.kind) for f in audit(text, aligner, threshold=0.5).findings}
    assert {(4, "left-out"), (9, "number")} <= places


def test_scores_are_probabilities_and_a_higher_threshold_keeps_fewer(
    aligner: Aligner, toy_text: Path
) -> None:
    src, tgt = words(toy_text / "test.de", 60), words(toy_text / "test.en", 60)
    text = AuditText.from_words(src, tgt[1:] + tgt[:1], ("de", "en"), lowercase=True)
    everything = audit(text, aligner, threshold=0)
    assert all(0 <= finding.score <= 1 for finding in everything.findings)
    some = audit(text, aligner, threshold=0.6)
    assert set(some.findings) == {f for f in everything.findings if f.score >= 0.6}
    assert some.flagged <= everything.flagged


def test_threads_change_nothing(aligner: Aligner, toy_text: Path) -> None:
    src, tgt = words(toy_text / "test.de", 60), words(toy_text / "test.en", 60)
    text = AuditText.from_words(src, tgt[1:] + tgt[:1], lowercase=True)
    one, two = (find_candidates(text, aligner, threads=threads) for threads in (1, 2))
    assert one == two


line = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs", "Z", "Cc"]), min_size=1, max_size=8),
        st.sampled_from(["1.000", "3", "万", "三百", "NATO", "Haus", "house", ",", "½", "²", "٣"]),
    ),
    max_size=12,
).map(lambda parts: " ".join(parts).split())


@settings(max_examples=60)
@given(st.lists(st.tuples(line, line), max_size=6), st.sampled_from(["", "de", "ja", "tr"]))
def test_any_text_gives_findings_or_none(
    aligner: Aligner, pairs: list[tuple[list[str], list[str]]], lang: str
) -> None:
    text = AuditText.from_words(
        [src for src, _ in pairs], [tgt for _, tgt in pairs], (lang, "en"), lowercase=True
    )
    for finding in audit(text, aligner, threshold=0, threads=1).findings:
        assert 1 <= finding.line <= len(pairs)
        assert 0 <= finding.score <= 1
        src, tgt = pairs[finding.line - 1]
        assert finding.src_words == tuple(src[at - 1] for at in finding.src)
        assert finding.tgt_words == tuple(tgt[at - 1] for at in finding.tgt)


@given(st.text(max_size=30))
def test_any_word_reads_as_numbers_or_none(text: str) -> None:
    for number in read_numbers(text.split(), "de"):
        assert number.values


# --- glossary, command and complaints ------------------------------------------------------------


def test_a_glossary_that_is_not_followed_is_a_certain_finding(
    tmp_path: Path, aligner: Aligner
) -> None:
    (tmp_path / "terms.tsv").write_text(
        "# of the house\nTee\ttea|infusion\nrote Farbe\tred paint\n"
    )
    terms = read_glossary(tmp_path / "terms.tsv")
    src = [["Tee", "!"], ["Tee", "!"], ["die", "rote", "Farbe"]]
    tgt = [["teas", "!"], ["coffee", "!"], ["the", "red", "colour"]]
    text = AuditText.from_words(src, tgt, lowercase=True)
    shown = [f for f in audit(text, aligner, glossary=terms).findings if f.kind == "glossary"]
    assert [(f.line, f.src_words, f.score, f.note) for f in shown] == [
        (2, ("Tee",), 1.0, "expected tea or infusion"),
        (3, ("rote", "Farbe"), 1.0, "expected red paint"),
    ]


def test_a_glossary_line_without_a_tab_is_refused(tmp_path: Path) -> None:
    (tmp_path / "terms.tsv").write_text("Haus house\n")
    with pytest.raises(FormatError, match=r"terms.tsv:1: found `Haus house`; expected a term"):
        read_glossary(tmp_path / "terms.tsv")


def test_texts_of_different_length_are_refused() -> None:
    with pytest.raises(MismatchError, match="found 1 lines of source and 0 of target"):
        AuditText.from_words([["a"]], [])


def test_the_command_prints_a_table_json_and_a_page(
    aligner: Aligner, toy_text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert aligner.path
    (tmp_path / "a.de").write_text("Ich trinke 12 Tee .\n")
    (tmp_path / "a.en").write_text("I drink 13 <b>tea</b> .\n")
    command = ["audit", str(tmp_path / "a.de"), str(tmp_path / "a.en"), "--langs", "de", "en"]
    command += ["--aligner", str(toy_text / "aligner"), "--threshold", "0.3"]
    page = tmp_path / "page.html"
    assert main([*command, "--html", str(page)]) == 0
    assert "1 of 1 lines flagged" in capsys.readouterr().out
    html = page.read_text()
    assert "<b>" not in html
    assert "&lt;" in html
    assert "http" not in html, "nothing is loaded from outside"
    assert main([*command, "--json"]) == 0
    findings = [json.loads(row) for row in capsys.readouterr().out.splitlines()]
    number = next(finding for finding in findings if finding["kind"] == "number")
    assert (number["line"], number["src_words"], number["tgt_words"]) == (1, ["12"], ["13"])


def test_a_system_brings_its_own_aligner(
    toy_folder: Path,
    tmp_path: Path,
    aligner: Aligner,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system = tmp_path / "system"
    shutil.copytree(toy_folder / "system", system)
    texts = [str(toy_folder / "corpus" / f"test.{lang}") for lang in ("de", "en")]
    assert main(["audit", *texts, str(system)]) == 2
    assert "the system has no aligner; expected a system made by" in capsys.readouterr().err
    System.open(system).describing({"stages": {"align": "1"}}).save()
    (system / "work" / "align-1").mkdir(parents=True)
    aligner.save(system / "work" / "align-1" / "aligner")
    assert main(["audit", *texts, str(system)]) == 0
    told = capsys.readouterr().out
    assert "lines flagged" in told
    (system / "work" / "align-1" / "aligner").rename(system / "aligner")
    kept = open_part(entry("aligner", "aligner", file="aligner"), system)
    System.open(system).with_part(kept).save()
    assert main(["audit", *texts, str(system)]) == 0
    assert capsys.readouterr().out == told
    monkeypatch.setenv("WAYWORD_CACHE", str(tmp_path / "cache"))
    pack(system, tmp_path / "x.wayword")
    assert main(["audit", *texts, str(tmp_path / "x.wayword")]) == 0
    assert capsys.readouterr().out == told


def test_an_aligner_can_be_learned_on_the_way(
    toy_text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, bitext = (
        [str(toy_text / f"{part}.{lang}") for lang in ("de", "en")] for part in ("test", "train")
    )
    assert main(["audit", *texts, "--prepared", "--align-on", *bitext]) == 0
    assert "lines flagged" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ([], "aligner: expected one of SYSTEM, --aligner FILE, --align-on SRC TGT"),
        (["--aligner", "x"], "langs: expected either --langs SRC TGT for raw text, or --prepared"),
    ],
)
def test_missing_tools_are_said(
    options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "a", "b", *options]) == 2
    assert complaint in capsys.readouterr().err
