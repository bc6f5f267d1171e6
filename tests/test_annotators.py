"""What annotates sentences: taggers, classes, gold and outside programs, and the command."""

import io
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from wayword.cli import main
from wayword.corpus import toy
from wayword.corpus.annotate import (
    Chunk,
    Classes,
    Gold,
    Sentence,
    Spacy,
    Stanza,
    Tagger,
    Udpipe,
    annotator_from_manifest,
    compare_tokens,
    derive_chunks,
    factored,
    open_annotator,
    read_conllu,
    read_factored,
    read_treebank,
    score,
    write_conllu,
    write_factored,
)
from wayword.errors import ArgumentError, FormatError, MismatchError, WaywordError


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy corpus, whose tags and chunks are known."""
    folder = tmp_path_factory.mktemp("toy")
    toy.write("de-en", 400, folder)
    return folder


@pytest.fixture(scope="module")
def tagger(toys: Path) -> Tagger:
    tagger = Tagger.fit(read_treebank(toys / "train.factored.de"))
    tagger.save(toys / "de.tagger")
    return tagger


@pytest.fixture(scope="module")
def classes(toys: Path) -> Classes:
    classes, _ = Classes.fit(toys / "train.de", classes=12)
    classes.save(toys / "de.classes")
    return classes


# --- names ---


def test_unknown_kinds_and_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="annotate: found kind `best`; expected one of tagger,"):
        annotator_from_manifest({"kind": "best"})
    (tmp_path / "text").write_text("nothing of ours")
    with pytest.raises(FormatError, match="neither a tagger nor classes; expected a file that"):
        open_annotator(tmp_path / "text")
    with pytest.raises(FileNotFoundError):
        open_annotator(tmp_path / "missing")


# --- our tagger ---


def test_toy_tags_and_chunks_are_learned(tagger: Tagger, toys: Path) -> None:
    gold = read_treebank(toys / "test.factored.de")
    scored = score(tagger.annotate(sentence.words for sentence in gold), gold)
    assert scored.accuracy > 0.95
    assert scored.f1 > 0.9
    assert tagger.chunk_types is not None


def test_the_same_treebank_gives_the_same_bytes(tagger: Tagger, toys: Path, tmp_path: Path) -> None:
    assert tagger.tags
    again = Tagger.fit(read_treebank(toys / "train.factored.de"), threads=1)
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (toys / "de.tagger").read_bytes()


def test_a_tagger_that_was_never_saved_has_no_manifest() -> None:
    tagger = Tagger.fit([Sentence(("a",), ("X",))] * 5)
    with pytest.raises(ArgumentError) as caught:
        tagger.to_manifest()
    assert str(caught.value) == (
        "tagger: was never saved; expected a file to name in a manifest; save it first"
    )


@pytest.mark.parametrize(
    ("treebank", "message"),
    [
        ([Sentence(("a",))], "sentence 1: no tags; a tagger learns from tagged sentences"),
        (
            [Sentence(("a",), ("X",)), Sentence(("a",), ("X",), ())],
            "treebank: chunks in some sentences only; expected all or none",
        ),
        (
            [Sentence(("a",), ("X",), (Chunk("NP*", 0, 0),))],
            "sentence 1: chunk type `NP*`; expected none that ends in `*`; rename it",
        ),
        ([], "sentences: found 0; expected at least 5"),
    ],
)
def test_what_cannot_be_learned_from_is_refused(treebank: list[Sentence], message: str) -> None:
    with pytest.raises(WaywordError) as caught:
        Tagger.fit(treebank)
    assert str(caught.value) == message


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Arabic-PADT", "Japanese-GSD", "Hindi-HDTB"])
def test_real_treebanks_are_tagged_well(shared: Path, name: str) -> None:
    folder = shared / "data" / "ud" / name
    tagger = Tagger.fit(read_treebank(folder / "train.conllu.xz"))
    gold = read_treebank(folder / "test.conllu.xz")
    scored = score(tagger.annotate(sentence.words for sentence in gold), gold)
    assert scored.accuracy > 0.92
    assert scored.f1 > 0.88
    assert scored.head_accuracy > 0.98


# --- chunks from trees ---


def tree(*rows: str) -> Sentence:
    words, tags, heads, relations = zip(*(row.split() for row in rows), strict=True)
    return Sentence(words, tags, None, tuple(int(head) - 1 for head in heads), relations)


def spans(sentence: Sentence) -> list[str]:
    chunks = derive_chunks(sentence).chunks or ()
    return [
        f"{c.type} {' '.join(sentence.words[c.start : c.end + 1])} / {sentence.words[c.head or 0]}"
        for c in chunks
    ]


def test_function_words_join_their_noun_or_verb() -> None:
    sentence = tree(
        "The DET 3 det",
        "old ADJ 3 amod",
        "house NOUN 6 nsubj:pass",
        "has AUX 6 aux",
        "been AUX 6 aux:pass",
        "sold VERB 0 root",
        "to ADP 9 case",
        "my PRON 9 nmod:poss",
        "friend NOUN 6 obl",
        ". PUNCT 6 punct",
    )
    assert spans(sentence) == [
        "NP The old house / house",
        "VP has been sold / sold",
        "PP to / to",
        "NP my friend / friend",
    ]


def test_a_bare_noun_joins_the_noun_it_modifies_and_a_marked_one_does_not() -> None:
    bare = tree("sfyr NOUN 0 root", "lbnAn PROPN 1 nmod")
    assert spans(bare) == ["NP sfyr lbnAn / sfyr"]
    marked = tree("Haus NOUN 0 root", "des DET 3 det", "Mannes NOUN 1 nmod")
    assert spans(marked) == ["NP Haus / Haus", "NP des Mannes / Mannes"]


def test_what_is_parted_from_its_head_stands_alone() -> None:
    sentence = tree(
        "Er PRON 4 nsubj",
        "hat AUX 4 aux",
        "Brot NOUN 4 obj",
        "gekauft VERB 0 root",
        "und CCONJ 6 cc",
        "gegessen VERB 4 conj",
    )
    assert spans(sentence) == [
        "NP Er / Er",
        "VP hat / hat",
        "NP Brot / Brot",
        "VP gekauft / gekauft",
        "VP gegessen / gegessen",
    ]


def test_punctuation_inside_a_chunk_is_part_of_it() -> None:
    sentence = tree(
        "wheel NOUN 3 compound", "- PUNCT 3 punct", "chair NOUN 0 root", "! PUNCT 3 punct"
    )
    assert spans(sentence) == ["NP wheel - chair / chair"]


def test_a_sentence_of_one_word_needs_no_relations() -> None:
    sentence = Sentence(("Ja",), ("INTJ",), None, (-1,))
    assert derive_chunks(sentence).chunks == ()


def test_chunks_need_a_tree() -> None:
    with pytest.raises(ArgumentError, match="no tags or no tree; expected both to derive chunks"):
        derive_chunks(Sentence(("a",), ("X",)))


def test_a_treebank_gives_its_own_chunks_before_those_of_trees(tmp_path: Path) -> None:
    sentence = tree("a DET 2 det", "b NOUN 0 root")
    write_conllu(tmp_path / "tree.conllu", [sentence])
    chunked = Sentence(sentence.words, sentence.pos, (Chunk("X", 0, 0),), sentence.heads)
    write_conllu(tmp_path / "own.conllu", [chunked])
    assert read_treebank(tmp_path / "tree.conllu")[0].chunks == (Chunk("NP", 0, 1, 1),)
    assert read_treebank(tmp_path / "own.conllu")[0].chunks == (Chunk("X", 0, 0),)
    assert read_treebank(tmp_path / "tree.conllu", chunks="none")[0].chunks is None
    with pytest.raises(ArgumentError, match="chunks: found `all`; expected one of auto, column"):
        read_treebank(tmp_path / "tree.conllu", chunks="all")


def test_words_are_respelled_for_text_that_is_written_so(tmp_path: Path) -> None:
    write_conllu(tmp_path / "a.conllu", [Sentence(("Das", "كَتَبَ", "َ"), ("A", "B", "C"))])
    assert read_treebank(tmp_path / "a.conllu", spelling="lower")[0].words[0] == "das"
    assert read_treebank(tmp_path / "a.conllu", spelling="unmarked")[0].words[1:] == ("كتب", "َ")
    with pytest.raises(ArgumentError) as caught:
        read_treebank(tmp_path / "a.conllu", spelling="upper")
    assert str(caught.value) == "spelling: found `upper`; expected one of kept, lower, unmarked"


def test_fine_tags_go_with_chunks_of_trees(tmp_path: Path) -> None:
    path = tmp_path / "fine.conllu"
    rows = ["1 a _ DET ART _ 2 det _ _", "2 b _ NOUN NN _ 0 root _ _"]
    path.write_text("".join("\t".join(row.split()) + "\n" for row in rows) + "\n")
    first = read_treebank(path, tags="xpos")[0]
    assert (first.pos, first.chunks) == (("ART", "NN"), (Chunk("NP", 0, 1, 1),))


# --- scores and the fourth factor ---


def test_a_chunk_is_right_when_type_and_ends_are() -> None:
    words, tags = ("a", "b", "c", "d"), ("X", "X", "Y", "Y")
    gold = Sentence(words, tags, (Chunk("NP", 0, 1, 1), Chunk("VP", 2, 3, 3)))
    annotated = Sentence(words, ("X", "Y", "Y", "Y"), (Chunk("NP", 0, 1, 0), Chunk("NP", 2, 3, 3)))
    result = score([annotated], [gold])
    assert (result.accuracy, result.f1, result.head_accuracy) == (0.75, 0.5, 0.0)
    with pytest.raises(MismatchError, match="sentence 2: not the words of the gold sentence"):
        score([annotated], [gold, gold])


def test_heads_are_the_fourth_factor(tmp_path: Path) -> None:
    sentence = Sentence(("a", "b", "c"), ("X", "Y", "Z"), (Chunk("NP", 0, 1, 0),))
    assert factored(sentence, factors=4) == "a|X|B-NP|0 b|Y|I-NP|0 c|Z|O|2"
    write_factored(tmp_path / "text", [sentence], factors=4)
    assert list(read_factored(tmp_path / "text")) == [sentence]
    assert factored(sentence, factors=2) == "a|X b|Y c|Z"
    with pytest.raises(ArgumentError) as caught:
        factored(Sentence(("a",), ("X",)), factors=3)
    assert str(caught.value) == "factors: found 3; expected 1 to 2, as the sentence has word, pos"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("a|X|B-NP|1 b|Y|I-NP|0", "token 2 (`b|Y|I-NP|0`): head `0`; expected 1"),
        ("a|X|B-NP|2 b|Y|I-NP|2", "token 1 (`a|X|B-NP|2`): head `2`; expected 0 or 1"),
        ("a|X|O|1", "token 1 (`a|X|O|1`): head `1`; expected 0"),
        ("a|X|O|x", "token 1 (`a|X|O|x`): head `x`; expected 0"),
    ],
)
def test_a_wrong_head_is_named(tmp_path: Path, line: str, wanted: str) -> None:
    (tmp_path / "text").write_text(line + "\n")
    with pytest.raises(FormatError) as caught:
        list(read_factored(tmp_path / "text"))
    advice = "name one word of the chunk in all its words, and outside the word itself"
    assert str(caught.value) == f"{tmp_path / 'text'}:1: {wanted}; {advice}"


# --- word classes ---


def test_classes_beat_chance_and_frequency(toys: Path) -> None:
    _, summary = Classes.fit(toys / "train.de", classes=12)
    assert summary.likelihood > max(summary.random, summary.by_frequency)
    assert summary.moved[-1] <= summary.moved[0]


def test_classes_are_read_as_they_were_written(classes: Classes, toys: Path) -> None:
    lines = [*(toys / "test.de").read_text(encoding="utf-8").splitlines(), "Qualle 17 x.y"]
    expected = list(classes.annotate(lines))
    assert list(Classes.load(toys / "de.classes").annotate(lines)) == expected
    assert list(pickle.loads(pickle.dumps(classes)).annotate(lines)) == expected
    known = dict(classes.items())
    for sentence in expected[:-1]:
        for word, tag in zip(sentence.words, sentence.pos or (), strict=True):
            assert word not in known or tag == f"C{known[word]}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: not classes; expected `# wayword classes 1`; fit them again"),
        (
            "# wayword classes 1\na 1\n",
            ":2: `a 1`; expected a word, a tab and a class; fit them again",
        ),
        ("# wayword classes 1\na\t1\na\t2\n", ":3: `a` again; expected every word once"),
        ("# wayword classes 1\n", ": no words; expected a word a line; fit them again"),
    ],
)
def test_classes_that_cannot_be_read_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "classes"
    path.write_text(text)
    with pytest.raises(FormatError) as caught:
        Classes.load(path)
    assert str(caught.value) == f"{path}{message}"


# --- gold ---


def test_gold_refuses_what_it_does_not_know() -> None:
    gold = Gold([Sentence(("a", "b"), ("X", "Y"))])
    with pytest.raises(MismatchError) as caught:
        list(gold.annotate(["a b", "b a"]))
    assert str(caught.value) == (
        "sentence 2 (`b a` …): not among the gold sentences; is this the text they were made for?"
    )


# --- programs of others, played by stand-ins ---


def install(monkeypatch: pytest.MonkeyPatch, **modules: Any) -> None:
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name.replace("__", "."), module)


def test_spacy_is_asked_for_words_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    class Pipeline:
        def __init__(self) -> None:
            self.vocab, self.meta = "vocab", {"version": "3.7"}

        def pipe(self, docs: list[Any], n_process: int) -> Iterator[list[Any]]:
            assert n_process == 1
            for doc in docs:
                tokens = [
                    SimpleNamespace(
                        i=at, pos_=("DET", "NOUN")[at % 2], dep_=("det", "ROOT")[at % 2]
                    )
                    for at in range(len(doc))
                ]
                for token in tokens:
                    token.head = tokens[1]
                yield tokens

    def doc(vocab: str, words: list[str]) -> list[str]:
        assert vocab == "vocab"
        return words

    spacy = SimpleNamespace(load=lambda _: Pipeline())
    install(monkeypatch, spacy=spacy, spacy__tokens=SimpleNamespace(Doc=doc))
    annotator = open_annotator("spacy:de_small")
    annotated = list(annotator.annotate(["die Katze", ""]))
    assert annotated[0].pos == ("DET", "NOUN")
    assert annotated[0].chunks == (Chunk("NP", 0, 1, 1),)
    assert annotated[1] == Sentence((), (), (), (), ())
    assert annotator.to_manifest() == {"kind": "spacy", "model": "de_small", "version": "3.7"}


def test_stanza_never_downloads(monkeypatch: pytest.MonkeyPatch) -> None:
    def pipeline(lang: str, **settings: Any) -> Any:
        assert settings["download_method"] is None
        assert settings["tokenize_pretokenized"] is True
        if lang != "de":
            raise FileNotFoundError("no resources.json")

        def run(batch: list[list[str]]) -> Any:
            word = SimpleNamespace(upos="VERB", head=0, deprel="root")
            return SimpleNamespace(sentences=[SimpleNamespace(words=[word]) for _ in batch])

        return run

    install(monkeypatch, stanza=SimpleNamespace(Pipeline=pipeline))
    annotator = Stanza.load("de")
    assert next(annotator.annotate(["komm"])).chunks == (Chunk("VP", 0, 0, 0),)
    assert annotator.to_manifest() == {"kind": "stanza", "model": "de"}
    with pytest.raises(ArgumentError, match="Stanza has no models for `xx`"):
        Stanza.load("xx")
    with pytest.raises(WaywordError, match="stanza: 1 words came back for 2"):
        list(annotator.annotate(["komm her"]))


def test_udpipe_tags_and_parses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Tree:
        def __init__(self) -> None:
            self.words = [SimpleNamespace()]

        def addWord(self, form: str) -> None:  # noqa: N802  the name is theirs
            assert form == "komm"
            self.words.append(SimpleNamespace(upostag="VERB", head=0, deprel="root"))

    model = SimpleNamespace(DEFAULT="", tag=lambda *_: None, parse=lambda *_: None)
    path = tmp_path / "de.udpipe"
    path.write_bytes(b"model")
    loader = SimpleNamespace(load=lambda name: model if name.endswith(".udpipe") else None)
    module = SimpleNamespace(Model=loader, Sentence=Tree)
    install(monkeypatch, ufal=SimpleNamespace(udpipe=module), ufal__udpipe=module)
    annotator = Udpipe.load(str(path))
    assert next(annotator.annotate(["komm"])).chunks == (Chunk("VP", 0, 0, 0),)
    assert annotator.to_manifest()["file"] == "de.udpipe"
    (tmp_path / "other").write_bytes(b"")
    with pytest.raises(ArgumentError, match="is no UDPipe model; expected one for UDPipe 1"):
        Udpipe.load(str(tmp_path / "other"))


@pytest.mark.parametrize(
    ("kind", "module", "package"),
    [
        (Spacy, "spacy", "spacy"),
        (Stanza, "stanza", "stanza"),
        (Udpipe, "ufal.udpipe", "ufal.udpipe"),
    ],
)
def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, kind: Any, module: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ArgumentError) as caught:
        kind.load("model")
    assert str(caught.value) == (
        f"annotator: the package `{package}` is not installed; expected it for this kind; "
        "install it, or fit a tagger of our own with `wayword annotate fit`"
    )


# --- tokens of treebank and text ---


def test_a_different_tokenisation_is_explained(tmp_path: Path) -> None:
    treebank = tmp_path / "de.conllu"
    rows = ["1-2 zum", "1 zu", "2 dem", "3 Haus", "4 mit", "5 do", "6 do", "7 n't", "8 مَن"]
    lines = ["\t".join([*row.split(), *"_" * 8]) + "\n" for row in rows]
    treebank.write_text("".join(lines) + "\n", encoding="utf-8")
    text = tmp_path / "text"
    text.write_text("zum Haus Haus, don't MIT من &apos; Maus\n" * 2, encoding="utf-8")
    mismatch = compare_tokens(treebank, text)
    assert (mismatch.words, mismatch.unknown) == (16, 14)
    assert {reason: count for reason, (count, _) in mismatch.reasons.items()} == {
        "multiword": 2,
        "escape": 2,
        "joined": 2,
        "pieces": 2,
        "case": 2,
        "marks": 2,
    }
    assert mismatch.reasons["multiword"][1] == ("zum",)
    assert mismatch.explained == 12 / 16
    assert mismatch.expected == 6 / 8  # all but `do`, which occurs twice


# --- the command ---


def run(*args: str | Path) -> int:
    return main(["annotate", *map(str, args)])


def test_the_command_fits_annotates_and_scores(
    toys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "de.tagger"
    held_out = toys / "dev.factored.de"
    assert run("fit", toys / "train.factored.de", "-o", out, "--dev", held_out, "--json") == 0
    assert json.loads(capsys.readouterr().out)["dev"]["accuracy"] > 0.9
    assert run(toys / "dev.de", "--with", out, "--threads", "2") == 0
    text = capsys.readouterr().out
    (tmp_path / "factored").write_text(text, encoding="utf-8", newline="\n")
    assert list(read_factored(tmp_path / "factored"))
    assert run("--with", out, "--threads", "1", toys / "dev.de") == 0
    assert capsys.readouterr().out == text
    assert run("file", toys / "dev.de", "--with", out, "--conllu") == 0
    (tmp_path / "tree.conllu").write_text(capsys.readouterr().out, encoding="utf-8", newline="\n")
    sentences = list(read_conllu(tmp_path / "tree.conllu"))
    assert len(sentences) == len(text.splitlines())
    assert run("score", out, held_out) == 0
    assert capsys.readouterr().out.startswith("words ")


def test_the_command_makes_classes_and_reads_stdin(
    toys: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "classes"
    assert run("classes", toys / "train.de", "-o", out, "--classes", "8") == 0
    assert "log likelihood a word" in capsys.readouterr().out
    line = (toys / "train.de").read_text(encoding="utf-8").splitlines()[0]
    stdin = io.TextIOWrapper(io.BytesIO(f"{line}\n\n".encode()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", stdin)
    assert run("--with", out) == 0
    first, second = capsys.readouterr().out.split("\n")[:2]
    assert first.startswith(f"{line.split()[0]}|C")
    assert second == ""


def test_the_command_checks_tokens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_conllu(tmp_path / "a.conllu", [tree("Haus NOUN 0 root")])
    (tmp_path / "text").write_text("Haus haus\n")
    assert run("check", tmp_path / "a.conllu", tmp_path / "text") == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[0] == (
        "2 words, 50.0% unknown to the treebank (100.0% expected for text like the treebank's)"
    )
    assert told.err == (
        "wayword: 50.0% of the words are split or spelled otherwise; write the text as the "
        "treebank is, or fit the tagger with another --spelling\n"
    )
    lower = run("check", tmp_path / "a.conllu", tmp_path / "text", "--spelling", "lower")
    assert lower == 0
    assert capsys.readouterr().out.startswith("2 words, 50.0% unknown")  # now it is `Haus`


def test_an_option_that_cannot_be_used_leaves_with_2(
    toys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("classes", toys / "train.de", "-o", tmp_path / "x", "--classes", "1") == 2
    assert capsys.readouterr().err == "wayword: classes: found 1; expected 2 to 10000\n"
    assert not (tmp_path / "x").exists()
    with pytest.raises(SystemExit) as caught:
        run(toys / "train.de")
    assert caught.value.code == 2


def test_a_pipe_is_annotated_as_it_comes(toys: Path, classes: Classes) -> None:
    assert classes is not None
    line = (toys / "train.de").read_text(encoding="utf-8").splitlines()[0]
    command = [sys.executable, "-m", "wayword", "annotate", "--with", str(toys / "de.classes")]
    done = subprocess.run(
        command,
        input=f"{line}\n" * 2500,
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    )
    assert len(set(done.stdout.splitlines())) == 1
    assert done.stdout.count("\n") == 2500
