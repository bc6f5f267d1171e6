"""A sentence is a value: its parts fit each other, and lead back to what the user wrote."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.corpus.annotate import Chunk, Sentence
from wayword.corpus.source import Source
from wayword.decode import Translation
from wayword.decode.markup import read_markup
from wayword.errors import ArgumentError, FormatError
from wayword.system import System

SENTENCE = Sentence(
    ("er", "hat", "den", "Tee", "getrunken"),
    ("PRON", "AUX", "DET", "NOUN", "VERB"),
    (Chunk("NP", 0, 0), Chunk("NP", 2, 3)),
    (4, 4, 3, 4, -1),
    ("nsubj", "aux", "det", "obj", "root"),
)


@pytest.fixture(scope="module")
def system(toy_folder: Path) -> System:
    return System.open(toy_folder / "system")


def test_text_is_words_with_spaces_or_a_list() -> None:
    assert Source.of(" a  b\n").words == Source.of(["a", "b"]).words == ("a", "b")
    assert Source.of("").words == ()
    with pytest.raises(ArgumentError, match="words: `a b` at position 0"):
        Source.of(["a b"])


def test_parts_must_fit_the_words() -> None:
    source = Source.of("a b")
    with pytest.raises(ArgumentError, match="sentence: found `a c` for `a b`; expected the same"):
        source.with_sentence(Sentence(("a", "c")))
    with pytest.raises(ArgumentError, match="order: found 0 0; expected each of 2 places once"):
        source.reordered([0, 0])
    with pytest.raises(ArgumentError, match="offsets: 1 for 2 words"):
        Source(source.sentence, offsets=((0, 1),))
    with pytest.raises(ArgumentError, match="markup: tags around 1 words for 2; expected the same"):
        Source(source.sentence, markup=read_markup("<zone>a</zone>").markup)


def test_layers_move_with_the_words() -> None:
    moved = Source(SENTENCE).reordered([0, 1, 4, 2, 3]).sentence
    assert moved.words == ("er", "hat", "getrunken", "den", "Tee")
    assert moved.pos == ("PRON", "AUX", "VERB", "DET", "NOUN")
    assert moved.heads == (2, 2, -1, 4, 2)
    assert moved.chunk_types() == ("NP", "O", "O", "NP", "NP")
    assert moved.chunk_heads() == (0, 1, 2, 4, 4)
    torn = Source(SENTENCE).reordered([3, 0, 1, 2, 4]).sentence
    assert torn.chunks == (Chunk("NP", 0, 0, 0), Chunk("NP", 1, 1, 1), Chunk("NP", 3, 3))


@given(st.permutations(range(5)), st.permutations(range(5)))
def test_orders_compose_and_lead_back(first: list[int], second: list[int]) -> None:
    matrix = np.arange(30.0).reshape(6, 5)
    source = Source(SENTENCE).with_matrix("x", matrix)
    twice = source.reordered(first).reordered(second)
    at_once = source.reordered([first[place] for place in second])
    assert twice.order == at_once.order
    assert twice.words == at_once.words
    assert twice.sentence.heads == at_once.sentence.heads
    assert twice.written == source.words
    assert twice.order is not None
    for at, place in enumerate(twice.order):
        assert twice.words[at] == source.words[place]
        for other, there in enumerate(twice.order):
            assert twice.matrices["x"][at + 1, other] == matrix[place + 1, there]
        assert twice.matrices["x"][0, at] == matrix[0, place]


def test_tags_in_the_text_do_not_mix_with_another_order() -> None:
    with pytest.raises(ArgumentError, match="order: a sentence with given translations or walls"):
        read_markup("a <wall/> b").reordered([1, 0])
    assert read_markup("a b").reordered([1, 0]).words == ("b", "a")


def test_sources_pickle() -> None:
    source = read_markup("a <n translation='x'>b</n>", "inclusive", ("f", 7)).with_matrix(
        "x", np.ones((3, 2))
    )
    again = pickle.loads(pickle.dumps(source))
    assert again == source
    assert again.matrices["x"].tolist() == source.matrices["x"].tolist()
    assert again.markup != read_markup("a <n translation='y'>b</n>").markup


# --- what translations say of it -----------------------------------------------------------------


def test_links_and_traces_speak_of_the_words_the_user_wrote(system: System) -> None:
    words = ["xyzzy", "plugh", "er", "schläft", "heute"]
    source = Source.of(words).reordered([2, 4, 3, 0, 1])
    [best] = system.decoder.translate([source], nbest=5, graph=True, space="mono")
    assert best.source == tuple(words)
    assert best.unknown == (0, 1)
    for found in best.nbest:
        assert sorted(found.order) == [0, 1, 2, 3, 4]
        for phrase in found.phrases:
            assert phrase.source == " ".join(words[at] for at in phrase.covered)
            assert phrase.src == (min(phrase.covered), max(phrase.covered) + 1)
        for src, tgt in found.links:
            [phrase] = [one for one in found.phrases if src in one.covered]
            assert phrase.tgt[0] <= tgt < phrase.tgt[1]
        found.draw()
        found._repr_html_()
    # The decoder got the words 2 4 3 0 1.
    again = system.decoder.score(
        source, [(0, 1, "he"), (1, 2, "today"), (2, 3, "sleeps"), (3, 4, "xyzzy"), (4, 5, "plugh")]
    )
    assert again.trace() == "2=0 4=1 3=2 0=3 1=4"
    assert again.order == (2, 4, 3, 0, 1)
    shown = best.to_dict()
    assert shown["source_tokens"] == words
    assert {arc.src for arc in best.graph} <= {(a, b) for b in range(6) for a in range(b)}


def test_words_that_were_apart_are_told_in_runs() -> None:
    from wayword.decode import Phrase

    apart = Phrase((0, 5), (2, 3), "a b e", "x", (4, 0, 1))
    whole = Phrase((2, 4), (0, 2), "c d", "y z")
    translation = Translation(
        tuple("abcde"), ("y", "z", "x"), "y z x", -1.0, {}, (whole, apart), ()
    )
    assert translation.trace() == "2-3=0-1 0-1,4=2"
    assert translation.order == (2, 3, 4, 0, 1)
    assert translation.to_dict()["positions"] == [[2, 3], [4, 0, 1]]


def test_a_translation_is_its_text_and_pickles(system: System) -> None:
    found = system.translate("er schläft xyzzy", nbest=3, graph=True)
    assert str(found) == found.text
    count = len(found.phrases)
    assert repr(found) == f"Translation({found.text!r}, score={found.score:.4g}, {count} phrases)"
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert again.to_dict() == found.to_dict()
    with pytest.raises(TypeError):
        again.features["lm"] = 0.0


def test_unknown_words_are_marked(system: System) -> None:
    found = system.translate("er xyzzy schläft plugh")
    assert found.unknown == (1, 3)
    assert found.to_dict()["unknown"] == [1, 3]
    given = system.translate("er <n translation='x'>xyzzy</n> schläft plugh", markup=True)
    assert given.unknown == (3,)
    assert system.translate("er xyzzy", oov="drop").unknown == (1,)


def test_settings_for_one_call_change_nothing_else(system: System) -> None:
    line = "gestern hat der Mann das Buch gelesen"
    mono = system.translate(line, space="mono", nbest=2)
    assert mono.trace() == system.with_settings(space="mono").translate(line).trace()
    assert list(mono.order) == sorted(mono.order)
    assert system.settings.space != "mono"


def test_factors_are_taken_apart_on_request() -> None:
    source = Source.of("der|DET Tee|NOUN").with_factors()
    assert (source.words, source.sentence.pos) == (("der", "Tee"), ("DET", "NOUN"))
    assert Source.of("der|DET").words == ("der|DET",)
    with pytest.raises(FormatError, match="token 2"):
        Source.of("der|DET Tee").with_factors()
