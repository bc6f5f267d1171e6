"""Annotated sentences: what the layers mean, and that files bring them back."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.corpus.annotate import (
    ROOT,
    Chunk,
    Sentence,
    factored,
    read_conllu,
    read_factored,
    write_conllu,
    write_factored,
)
from wayword.errors import ArgumentError, FormatError

WORDS = st.one_of(
    st.sampled_from(["a", "|", "&#124;", "&amp;#124;", "|||", "_", "#", "日本", "&amp;", "B-NP"]),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6),
).filter(lambda text: text.split() == [text] and "\n" not in text)
TAGS = WORDS.filter(lambda tag: tag not in {"_", "O"})


@st.composite
def sentences(draw: st.DrawFn, *, with_heads: bool) -> Sentence:
    words = tuple(draw(st.lists(WORDS, min_size=1, max_size=6)))
    length = len(words)
    pos = tuple(draw(st.lists(TAGS, min_size=length, max_size=length)))
    chunks = []
    start = draw(st.integers(0, 2))
    while start < length:
        end = draw(st.integers(start, length - 1))
        head = draw(st.none() | st.integers(start, end)) if with_heads else None
        chunks.append(Chunk(draw(TAGS), start, end, head))
        start = end + 1 + draw(st.integers(0, 2))
    heads = tuple(
        draw(st.sampled_from([ROOT, *(at for at in range(length) if at != word)]))
        for word in range(length)
    )
    return Sentence(words, pos, tuple(chunks), heads if with_heads else None)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def refusal(read: Callable[[Path], Iterator[Sentence]], path: Path) -> str:
    """What is said about a file that cannot be read, without its name."""
    with pytest.raises(FormatError) as caught:
        list(read(path))
    return str(caught.value).removeprefix(str(path))


# --- what the layers mean ---


def test_types_and_heads_are_those_of_the_worked_example() -> None:
    sentence = Sentence(
        ("ywASl", "sfyr", "lbnAn", "tHrk", "-h"),
        ("V", "N", "NP", "N", "PRP"),
        (Chunk("VP", 0, 0), Chunk("NP", 1, 2, head=1), Chunk("NP", 3, 4)),
    )
    assert sentence.chunk_types() == ("VP", "NP", "NP", "NP", "NP")
    assert [sentence.words[head] for head in sentence.chunk_heads()] == [
        "ywASl",
        "sfyr",
        "sfyr",  # given: the last noun would be lbnAn
        "tHrk",
        "tHrk",
    ]
    assert sentence.chunk_numbers() == (0, 1, 1, 2, 2)


def test_a_word_outside_has_type_o_and_heads_itself() -> None:
    sentence = Sentence(("ja", ",", "klar"), None, (Chunk("NP", 2, 2),))
    assert sentence.chunk_types() == ("O", "O", "NP")
    assert sentence.chunk_heads() == (0, 1, 2)
    assert sentence.chunk_numbers() == (None, None, 0)


@pytest.mark.parametrize(
    ("kind", "tags", "head"),
    [
        ("NP", ("DET", "NOUN", "ADJ"), 1),
        ("NP", ("NN", "NNS", "CD"), 1),
        ("NP", ("PROPN", "PROPN", "NUM"), 1),  # NUM begins like a noun and is none
        ("NP", ("DET", "ADJ", "ADJ"), 2),
        ("VP", ("AUX", "VERB", "PART"), 1),
        ("VP", ("VMFIN", "VVINF", "PTKVZ"), 1),
        ("PP", ("NOUN", "VERB", "ADP"), 2),
    ],
)
def test_the_last_noun_or_verb_heads_its_phrase(
    kind: str, tags: tuple[str, ...], head: int
) -> None:
    assert Sentence(("a", "b", "c"), tags, (Chunk(kind, 0, 2),)).chunk_heads() == (head,) * 3


def test_without_tags_the_last_word_heads_the_chunk() -> None:
    assert Sentence(("a", "b"), None, (Chunk("NP", 0, 1),)).chunk_heads() == (1, 1)


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        (
            {"words": ("a b",)},
            "words: `a b` at position 0; expected text that is not empty and has no whitespace",
        ),
        ({"words": ("a",), "pos": ()}, "pos: 0 for 1 words; expected one a word"),
        (
            {"words": ("a",), "heads": (0,)},
            "heads: 0 at position 0 of 1; expected another word, or -1 for the root",
        ),
        (
            {"words": ("a",), "chunks": (Chunk("NP", 0, 1),)},
            "chunks: NP from 0 to 1 of 1 words; expected chunks inside the sentence, in order "
            "and apart",
        ),
        (
            {"words": ("a", "b"), "chunks": (Chunk("NP", 0, 0, head=1),)},
            "chunks: head 1 of NP from 0 to 0; expected a word of the chunk",
        ),
    ],
)
def test_layers_that_do_not_fit_are_refused(layers: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        Sentence(**layers)  # type: ignore[arg-type]
    assert str(caught.value) == message


# --- factored text ---


@settings(max_examples=50)
@given(st.lists(sentences(with_heads=False), max_size=3))
def test_factored_text_brings_any_sentence_back(
    tmp_path_factory: pytest.TempPathFactory, text: list[Sentence]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.factored"
    write_factored(path, text)
    assert list(read_factored(path)) == text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a b\n", Sentence(("a", "b"))),
        ("a|X b|Y\n", Sentence(("a", "b"), ("X", "Y"))),
        ("a|X|O b|Y|B-NP\n", Sentence(("a", "b"), ("X", "Y"), (Chunk("NP", 1, 1),))),
        ("&#124;|X AT&amp;T|Y\n", Sentence(("|", "AT&amp;T"), ("X", "Y"))),
        ("&amp;#124;\n", Sentence(("&#124;",))),
    ],
)
def test_one_to_three_factors_are_read(tmp_path: Path, text: str, sentence: Sentence) -> None:
    assert list(read_factored(write(tmp_path / "text", text))) == [sentence]


def test_empty_lines_are_sentences_without_words(tmp_path: Path) -> None:
    path = write(tmp_path / "text", "\n\na|X\n\n")
    empty = Sentence((), ())
    assert list(read_factored(path)) == [empty, empty, Sentence(("a",), ("X",)), empty]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a|X\nb|Y c|Z|d\n",
            ":2: token 2 (`c|Z|d`): 3 factors; expected 2 as in the first token; "
            "write a `|` inside a word as `&#124;`",
        ),
        (
            "a|b|c|d|e\n",
            ":1: token 1 (`a|b|c|d|e`): 5 factors; expected 1 to 4; "
            "write a `|` inside a word as `&#124;`",
        ),
        (
            "a|X |Y\n",
            ":1: token 2 (`|Y`): an empty factor; expected text on both sides of `|`; "
            "write a `|` inside a word as `&#124;`",
        ),
        (
            "a|X|B-NP b|X|I-VP\n",
            ":1: token 2 (`b|X|I-VP`): chunk tag `I-VP` continues nothing; "
            "expected `B-VP` to open a chunk; use IOB2 tags",
        ),
        (
            "a|X|B-NP b|X|O c|X|I-NP\n",
            ":1: token 3 (`c|X|I-NP`): chunk tag `I-NP` continues nothing; "
            "expected `B-NP` to open a chunk; use IOB2 tags",
        ),
        (
            "a|X|NP\n",
            ":1: token 1 (`a|X|NP`): chunk tag `NP`; expected `O`, `B-NP` or `I-NP`; fix it",
        ),
    ],
)
def test_a_bad_token_is_named(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(read_factored, write(tmp_path / "text", text)) == message


def test_chunks_without_tags_have_no_factored_form() -> None:
    with pytest.raises(ArgumentError, match="pos: none, but chunks; expected tags too"):
        factored(Sentence(("a",), None, ()))


def test_sentences_with_other_layers_leave_no_file(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError) as caught:
        write_factored(tmp_path / "text", [Sentence(("a",)), Sentence(("a",), ("X",))])
    assert str(caught.value) == "sentences: number 2 has other layers; expected those of the first"
    assert list(tmp_path.iterdir()) == []


# --- CoNLL-U ---


def conllu(*rows: str) -> str:
    return "".join("\t".join(row.split()) + "\n" for row in rows) + "\n"


@settings(max_examples=50)
@given(st.lists(sentences(with_heads=True), max_size=3))
def test_conllu_brings_any_sentence_back(
    tmp_path_factory: pytest.TempPathFactory, text: list[Sentence]
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.conllu"
    write_conllu(path, text)
    assert list(read_conllu(path)) == text


def test_layers_that_are_missing_stay_missing(tmp_path: Path) -> None:
    text = [Sentence(("a", "b")), Sentence(("a",), ("X",)), Sentence(("a",), None, ())]
    write_conllu(tmp_path / "text", text)
    assert list(read_conllu(tmp_path / "text")) == text


def test_syntactic_words_stand_for_multiword_tokens(tmp_path: Path) -> None:
    text = "# text = zum Haus\n" + conllu(
        "1-2 zum _ _ _ _ _ _ _ _",
        "1 zu _ ADP APPR _ 3 case _ _",
        "2 dem _ DET ART _ 3 det _ _",
        "2.1 leer _ X _ _ _ _ _ _",
        "3 Haus _ NOUN NN _ 0 root _ SpaceAfter=No",
    )
    path = write(tmp_path / "text", text.rstrip("\n"))  # no blank line at the end either
    words, tags, tree = ("zu", "dem", "Haus"), ("ADP", "DET", "NOUN"), (2, 2, ROOT)
    relations = ("case", "det", "root")
    assert list(read_conllu(path)) == [Sentence(words, tags, None, tree, relations)]
    assert next(read_conllu(path, tags="xpos")).pos == ("APPR", "ART", "NN")


def test_a_space_inside_a_word_becomes_an_underscore(tmp_path: Path) -> None:
    path = write(tmp_path / "text", "1\t10 000\t_\tNUM\t_\t_\t_\t_\t_\t_\n")
    assert next(read_conllu(path)).words == ("10_000",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\ta\n", ":1: 2 columns; expected 10 with tabs between them; is this CoNLL-U?"),
        (
            conllu("1 a _ X _ _ _ _ _ _", "3 b _ X _ _ _ _ _ _"),
            ":2: word number `3`; expected 2; number the words of a sentence from 1",
        ),
        (
            conllu("1 a _ X _ _ 2 dep _ _"),
            ":1: head `2`; expected 0 or another word up to 1; give all heads or none",
        ),
        (
            conllu("1 a _ X _ _ 0 root _ _", "2 b _ X _ _ _ _ _ _"),
            ":2: head `_`; expected 0 or another word up to 2; give all heads or none",
        ),
        (
            conllu("1 a _ X _ _ _ _ _ Chunk=I-NP"),
            ":1: chunk tag `I-NP` continues nothing; "
            "expected `B-NP` to open a chunk; use IOB2 tags",
        ),
        (
            "1\t\t_\t_\t_\t_\t_\t_\t_\t_\n",
            ":1: no word; expected text in column 2; write `_` for none",
        ),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(read_conllu, write(tmp_path / "text", text)) == message


def test_a_sentence_without_words_has_no_conllu(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError) as caught:
        write_conllu(tmp_path / "text", [Sentence(())])
    assert str(caught.value) == (
        "sentences: number 1 has no words; expected one or more, as CoNLL-U has no empty ones"
    )


def test_an_unknown_kind_of_tags_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"^tags: found `pos`; expected one of upos, xpos$"):
        next(read_conllu(tmp_path / "text", tags="pos"))


# --- any bytes ---

SCRAPS = st.sampled_from(
    b"a,|,B-NP,I-NP,O, ,_,1,0,1-2,1.1,Chunk=,#,&#124;,"
    b"\n,\t,\r,\x1c,\xff,\xc2\xa0,\xe2\x80,\x1f\x8b".split(b",")
)


def gives_sentences_or_says_why(read: Callable[[Path], Iterator[Sentence]], path: Path) -> bool:
    try:
        return all(isinstance(sentence, Sentence) for sentence in read(path))
    except FormatError as error:
        return str(path) in str(error) and "\n" not in str(error)


@settings(max_examples=50)
@given(st.binary(max_size=60) | st.lists(SCRAPS, max_size=40).map(b"".join))
def test_any_bytes_give_sentences_or_a_format_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes"
    path.write_bytes(data)
    assert gives_sentences_or_says_why(read_factored, path)
    assert gives_sentences_or_says_why(read_conllu, path)


@settings(max_examples=50)
@given(st.lists(st.lists(SCRAPS, min_size=10, max_size=10), max_size=4))
def test_any_columns_give_sentences_or_a_format_error(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[bytes]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "columns"
    path.write_bytes(b"".join(b"\t".join(row) + b"\n" for row in rows))
    assert gives_sentences_or_says_why(read_conllu, path)
