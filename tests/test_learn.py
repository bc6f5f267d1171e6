"""What a system learns after training: used at once, kept through kills, merged, packed."""

import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from wayword import align
from wayword.corpus import Bitext
from wayword.corpus.source import Source
from wayword.decode.markup import read_markup
from wayword.errors import ArgumentError, FormatError
from wayword.learn import JOURNAL, Journal, Lesson, mark_terms
from wayword.pack import pack
from wayword.parts.part import entry, open_part
from wayword.system import System

LINE = "Ich habe gestern den Tee getrunken ."
WANTED = "the tea was had by me yesterday ."


@pytest.fixture
def folder(toy_folder: Path, tmp_path: Path) -> Path:
    """The toy system with an aligner."""
    folder = tmp_path / "system"
    shutil.copytree(toy_folder / "system", folder)
    corpus = toy_folder / "corpus"
    aligner = align.fit(Bitext.read(corpus / "train.de", corpus / "train.en"))
    aligner.save(tmp_path / "aligner")
    part = open_part(entry("aligner", "aligner", file="aligner"), tmp_path)
    System.open(folder).with_part(part).save()
    return folder


def test_a_corrected_pair_counts_from_the_next_sentence_on(folder: Path) -> None:
    system = System.open(folder)
    before = system.translate(LINE)
    taught = system.learn(LINE, WANTED)
    assert taught.translate(LINE).text == WANTED != before.text
    assert system.translate(LINE) == before  # the old one never changes
    assert taught.decoder.learned_phrases > 5
    changed = taught.with_settings(space="mono").with_weights({"lm": 0.6})
    assert changed.translate(LINE).text == WANTED


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_learning_writes_nothing_unless_it_is_told_to_save(folder: Path) -> None:
    before = contents(folder)
    taught = System.open(folder).learn(LINE, WANTED).glossary({"Kaffee": "mocha"})
    assert contents(folder) == before
    assert len(pickle.loads(pickle.dumps(taught)).learned.lessons) == 2
    assert System.open(folder).learned.lessons == ()
    taught.glossary({"Saft": "nectar"}, save=True)  # and the earlier lessons, which it builds on
    assert [lesson.kind for lesson in System.open(folder).learned.lessons] == [
        "pair",
        "term",
        "term",
    ]


def test_saving_and_merging_keep_lessons_that_are_in_memory(folder: Path) -> None:
    saved = System.open(folder).learn(LINE, WANTED).save()
    assert len(System.open(folder).learned.fresh) == 1
    saved.save()
    assert len(System.open(folder).learned.fresh) == 1  # each lesson is written once
    merged = System.open(folder).glossary({"Kaffee": "mocha"}).merge()
    assert len(merged.learned.merged) == len(System.open(folder).learned.merged) == 2


def test_a_journal_that_is_named_later_keeps_lessons_in_memory(
    folder: Path, tmp_path: Path
) -> None:
    taught = System.open(folder).glossary({"Kaffee": "mocha"}).with_journal(tmp_path / "journal")
    assert len(taught.learned.lessons) == 1
    taught.glossary({"Saft": "nectar"}, save=True)
    assert len(Journal(tmp_path / "journal").read()) == 2


def test_a_system_in_no_folder_learns_but_has_no_place_to_save(folder: Path) -> None:
    system = System(System.open(folder).parts)
    assert system.glossary({"Kaffee": "mocha"}).learned.terms == {("Kaffee",): ("mocha",)}
    with pytest.raises(ArgumentError, match="the system is in no folder; name a journal"):
        system.glossary({"Kaffee": "mocha"}, save=True)


def test_scores_of_what_was_learned_add_up(folder: Path) -> None:
    taught = System.open(folder).learn(LINE, WANTED).learn("Er trinkt Kaffee .", "he sips coffee .")
    for line in (LINE, "Gestern habe ich den Kaffee getrunken .", "Er trinkt den Tee ."):
        for translation in taught.translate(line, nbest=20).nbest:
            total = sum(
                value * taught.weights[name] for name, value in translation.features.items()
            )
            assert translation.score == pytest.approx(total)
            phrases = [(*phrase.src, phrase.target) for phrase in translation.phrases]
            again = taught.decoder.score(line, phrases)
            assert again.score == pytest.approx(translation.score, abs=1e-4)


def test_new_words_of_both_sides_are_learned(folder: Path) -> None:
    taught = System.open(folder).learn("Der Quarkus schläft .", "the quarkus sleeps .")
    translation = taught.translate("Der Quarkus schläft .")
    assert translation.text == "the quarkus sleeps ."
    assert translation.unknown == ()


def test_what_was_learned_is_there_when_the_system_is_opened_again(folder: Path) -> None:
    taught = System.open(folder).learn(LINE, WANTED, save=True)
    taught = taught.glossary({"Kaffee": "mocha"}, save=True)
    for again in (System.open(folder), pickle.loads(pickle.dumps(taught))):
        assert again.translate(LINE).text == WANTED
        assert "mocha" in again.translate("Er hat den Kaffee getrunken .").text
    assert len(Journal(folder / JOURNAL).read()) == 2


def test_merging_changes_no_translation_and_empties_the_journal(folder: Path) -> None:
    lines = [LINE, "Er hat den Kaffee getrunken .", "Heute trinkt sie Tee ."]
    taught = System.open(folder).learn(LINE, WANTED).glossary({"Kaffee": "mocha"})
    expected = [one.text for one in taught.translate(lines)]
    merged = taught.merge()
    assert Journal(folder / JOURNAL).read() == []
    again = System.open(folder).learn("ja", "yes", save=True).merge()
    for system in (merged, System.open(folder), again):
        assert [one.text for one in system.translate(lines)] == expected
        system.verify()
    assert len(list(folder.glob("learned-*"))) == 1  # older ones are gone


def test_a_merge_that_was_killed_before_it_emptied_the_journal_counts_nothing_twice(
    folder: Path,
) -> None:
    taught = System.open(folder).learn(LINE, WANTED, save=True)
    journal = (folder / JOURNAL).read_bytes()
    taught.merge()
    (folder / JOURNAL).write_bytes(journal)
    again = System.open(folder)
    assert len(again.learned.lessons) == 1
    assert again.translate(LINE) == taught.translate(LINE)


def test_a_copy_takes_along_what_was_learned(folder: Path, tmp_path: Path) -> None:
    taught = System.open(folder).learn(LINE, WANTED, save=True)
    copy = taught.save(tmp_path / "copy")
    assert System.open(tmp_path / "copy").translate(LINE).text == WANTED
    assert copy.learn("ja doch", "oh yes", save=True).translate(LINE).text == WANTED
    assert len(System.open(folder).learned.lessons) == 1  # the copy has a journal of its own
    assert len(System.open(tmp_path / "copy").learned.lessons) == 2
    with pytest.raises(ArgumentError, match=r"learned\.jsonl: found what was learned since"):
        pack(folder, tmp_path / "system.wayword")
    taught.merge()
    pack(folder, tmp_path / "system.wayword")
    packed = System.open(tmp_path / "system.wayword")
    assert packed.translate(LINE).text == WANTED
    with pytest.raises(ArgumentError, match="a packed system does not change; name a journal"):
        packed.learn("ja doch", "oh yes", save=True)
    assert packed.learn("ja doch", "oh yes").translate("ja doch").text == "oh yes"
    kept = packed.with_journal(tmp_path / "journal").learn("ja doch", "oh yes", save=True)
    assert len(Journal(tmp_path / "journal").read()) == 1
    assert kept.translate("ja doch").text == "oh yes"


def test_a_system_without_an_aligner_takes_links(toy_folder: Path, tmp_path: Path) -> None:
    system = System.open(toy_folder / "system").with_journal(tmp_path / "journal")
    with pytest.raises(ArgumentError, match="learn: the system has no aligner; give links"):
        system.learn("ja doch", "oh yes")
    assert system.learn("ja doch", "oh yes", links=[(1, 0)]).translate("ja doch").text == "oh yes"
    with pytest.raises(ArgumentError, match="found link 2-0; expected places inside 2 and 2"):
        system.learn("ja doch", "oh yes", links=[(2, 0)])
    with pytest.raises(ArgumentError, match="target: no words"):
        system.learn("ja doch", " ", links=[])


def test_terms_hold_beside_other_demands() -> None:
    terms = {("Haus",): ("dwelling",), ("altes", "Haus"): ("old", "home"), ("a|b",): ("c|d",)}
    marked = mark_terms(Source.of("Haus und altes Haus a|b"), terms)
    assert marked.markup is not None
    assert marked.markup.__getnewargs__()[0] == (
        '<term translation="dwelling">Haus</term> und '
        '<term translation="old home">altes Haus</term> <term translation="c&#124;d">a|b</term>'
    )
    given = read_markup("<n translation='x'>Haus</n> <wall/> Haus", "exclusive")
    shown = mark_terms(given, terms).markup
    assert shown is not None
    assert shown.__getnewargs__()[0].count("term") == 2  # a tag and its end
    assert mark_terms(Source.of("haus"), terms).markup is not None  # the first word, in any case
    assert mark_terms(Source.of("ein haus"), terms).markup is None
    ignored = mark_terms(read_markup("Haus", "ignore"), terms).markup
    assert ignored is not None
    assert ignored.is_empty


def test_terms_are_kept_to(folder: Path) -> None:
    system = System.open(folder)
    assert "rooibos" in system.glossary({"Tee": "rooibos"}).translate(LINE).text
    with pytest.raises(ArgumentError, match="term: no words"):
        system.glossary({" ": "x"})


def test_a_damaged_journal_is_told_and_a_half_line_is_not_missed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    lessons = [Lesson.term([f"w{number}"], ["x"]) for number in range(3)]
    journal.append(lessons[:2])
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole + lessons[2].to_line().encode()[:30])
    assert journal.read() == lessons[:2]
    journal.append(lessons[2:])
    assert journal.read() == lessons
    journal.path.write_bytes(whole.replace(b'"w0"', b'"w9"'))
    with pytest.raises(FormatError, match=r"journal:1: no lesson \(another checksum than noted\)"):
        journal.read()
    journal.path.write_bytes(whole[:-1] + b"\x0b")  # the last line end, a bit flipped
    with pytest.raises(FormatError, match="journal:2: no lesson"):
        journal.read()
    journal.path.write_bytes(b"\xff\xfe\n" + whole)
    with pytest.raises(FormatError, match="journal:1: no lesson"):
        journal.read()


KILLED = """
import os, random, signal, sys, time
from wayword.learn import Journal, JOURNAL
from wayword.system import System
folder, kills = sys.argv[1], int(sys.argv[2])
moments, told = random.Random(1), []
for kill in range(kills):
    system = System.open(folder)
    known = {lesson.src[1] for lesson in system.learned.lessons}
    assert set(told) <= known, set(told) - known  # nothing that was told is lost
    out, into = os.pipe()
    child = os.fork()
    if not child:
        os.close(out)
        number = 0
        while True:
            word = f"w{kill}x{number}"
            links = [(0, 0), (1, 1), (2, 2)]
            system = system.learn(f"das {word} .", f"the {word} .", links=links, save=True)
            os.write(into, f"{word}\\n".encode())
            number += 1
    os.close(into)
    time.sleep(moments.uniform(0.0, 0.1))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(out) as lines:
        told += lines.read().split()
journal = Journal(f"{folder}/{JOURNAL}").read()
lost = set(told) - {lesson.src[1] for lesson in journal}
print(len(told), len(lost), all(len(lesson.links) == 3 for lesson in journal))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
def test_no_lesson_is_lost_or_half_there_after_fifty_kills(folder: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(folder), "50"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told, lost, are_whole = done.stdout.split()
    assert int(told) >= 20
    assert (lost, are_whole) == ("0", "True")


def test_suggestions_go_on_from_what_was_typed(folder: Path) -> None:
    system = System.open(folder)
    whole = system.translate(LINE).text
    for end in range(len(whole) + 1):
        following, found = system.suggest(LINE, whole[:end])
        assert whole[:end] + following == whole, end
        assert found.edits == 0


def test_suggestions_bear_with_typing_errors_and_other_words(folder: Path) -> None:
    system = System.open(folder)
    for typed in ("yestrday I drnk ", "Yesterday, i ", "wholly other words "):
        following, found = system.suggest(LINE, typed)
        assert found.edits > 0
        assert following.endswith(".")
    following, _ = system.suggest(LINE, "i drank the t")
    assert following.startswith("ea")
    assert system.suggest("", "x") == ("", system.decoder.suggest("", ["x"]))


def test_stacks_tell_what_the_search_kept(folder: Path) -> None:
    system = System.open(folder)
    shown = system.translate(LINE, stacks=4).stacks
    assert len(shown) == len(LINE.split()) + 1
    assert (shown[0].kept, shown[-1].kept) == (1, 1)
    for covered, stack in enumerate(shown):
        assert 0 < len(stack.best) <= 4
        assert all(len(hyp.covered) == covered for hyp in stack.best)
        totals = [hyp.total for hyp in stack.best]
        assert totals == sorted(totals, reverse=True)
    assert shown[-1].best[0].score == pytest.approx(system.translate(LINE).score, abs=1e-3)
    assert system.translate(LINE, stacks=4).text == system.translate(LINE).text
