"""What holds for every aligner, whatever its model."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword import Bitext, align
from wayword.align import MODELS, SYMMETRISATIONS
from wayword.corpus import toy
from wayword.errors import ArgumentError, FormatError

SIZE = 2000


def toy_bitext(pair: str = "de-en", size: int = SIZE, seed: int = 1) -> Bitext:
    sentences = toy.generate(pair, size, seed=seed)
    return Bitext.from_pairs((" ".join(s.src), " ".join(s.tgt)) for s in sentences)


@pytest.fixture(scope="module")
def bitext() -> Bitext:
    return toy_bitext()


@pytest.fixture(scope="module", params=MODELS)
def aligner(request: pytest.FixtureRequest, bitext: Bitext) -> align.Aligner:
    return align.fit(bitext, model=request.param, threads=1)


@pytest.mark.parametrize("how", SYMMETRISATIONS)
def test_links_stay_inside_the_sentence(how: str, aligner: align.Aligner, bitext: Bitext) -> None:
    links = aligner.align(bitext, symmetrise=how)
    assert len(links) == len(bitext)
    for of_pair, pair in zip(links, bitext, strict=True):
        assert all(i < len(pair.src) and j < len(pair.tgt) for i, j in of_pair)


@pytest.mark.parametrize("model", MODELS)
def test_threads_change_no_link_and_no_posterior(model: str, bitext: Bitext) -> None:
    aligned = [
        align.fit(bitext, model=model, threads=threads).align_with_posteriors(
            bitext, threads=threads
        )
        for threads in (1, 2, 3)
    ]
    for links, posteriors in aligned[1:]:
        assert links == aligned[0][0]
        assert np.array_equal(posteriors, aligned[0][1])


def test_a_saved_aligner_gives_the_links_of_its_training(
    aligner: align.Aligner, bitext: Bitext, tmp_path: Path
) -> None:
    expected = aligner.align(bitext)
    aligner.save(tmp_path / "kept")
    assert align.Aligner.load(tmp_path / "kept").align(bitext) == expected
    assert pickle.loads(pickle.dumps(aligner)).align(bitext) == expected


def test_one_pair_is_aligned_as_in_a_text(aligner: align.Aligner, bitext: Bitext) -> None:
    links = aligner.align(bitext)
    for number in range(20):
        src, tgt = bitext[number]
        assert aligner.align_pair(src, tgt) == [tuple(row) for row in links[number].tolist()]


def test_posteriors_are_probabilities(aligner: align.Aligner, bitext: Bitext) -> None:
    links, posteriors = aligner.align_with_posteriors(bitext, threshold=0.3)
    assert len(posteriors) == len(links.flat)
    assert ((posteriors >= 0.3) & (posteriors <= 1)).all()
    fewer, _ = aligner.align_with_posteriors(bitext, threshold=0.9)
    assert len(fewer.flat) < len(links.flat)


def test_unknown_words_do_no_harm(aligner: align.Aligner) -> None:
    links = aligner.align_pair("völlig unbekannte Wörter", "wholly unknown words")
    assert all(i < 3 and j < 3 for i, j in links)


@pytest.mark.parametrize("model", MODELS)
def test_blank_single_and_endless_lines_are_handled_and_said(model: str) -> None:
    pairs = [("", ""), ("ein", ""), ("", "a"), ("ein", "a"), ("ein " * 1001, "a"), ("ein", "a")]
    bitext = Bitext.from_pairs(pairs)
    aligner = align.fit(bitext, model=model)
    assert aligner.summary is not None
    assert aligner.summary.note() == (
        "no links for pairs: 3 with a blank side, 1 with a side over 1000 words"
    )
    links = aligner.align(bitext)
    assert [len(of_pair) for of_pair in links][:3] == [0, 0, 0]
    assert [len(of_pair) for of_pair in links][4] == 0


@pytest.mark.parametrize("model", MODELS)
def test_an_empty_text_is_no_trouble(model: str) -> None:
    bitext = Bitext.from_pairs([])
    assert len(align.fit(bitext, model=model).align(bitext)) == 0


WORD = st.sampled_from(["a", "b", "c", "d"])
PAIRS = st.lists(
    st.tuples(st.lists(WORD, max_size=5).map(" ".join), st.lists(WORD, max_size=5).map(" ".join)),
    max_size=6,
)


@given(PAIRS, st.sampled_from(MODELS))
@settings(max_examples=60)
def test_any_small_text_gives_finite_posteriors(pairs: list[tuple[str, str]], model: str) -> None:
    bitext = Bitext.from_pairs(pairs)
    _, posteriors = align.fit(bitext, model=model, threads=1).align_with_posteriors(
        bitext, threshold=0.01
    )
    assert np.isfinite(posteriors).all()


@pytest.mark.parametrize("pair", toy.pairs())
def test_toy_links_are_found(pair: str) -> None:
    sentences = list(toy.generate(pair, 10_000))
    bitext = Bitext.from_pairs((" ".join(s.src), " ".join(s.tgt)) for s in sentences)
    links = align.fit(bitext).align(bitext)
    gold = [align.score.Gold(frozenset(s.links), frozenset(s.links)) for s in sentences]
    assert align.score_links(links, gold).f1 > 0.9


def test_a_damaged_file_is_refused(aligner: align.Aligner, tmp_path: Path) -> None:
    path = tmp_path / "kept"
    aligner.save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    for _ in range(200):
        at = int(rng.integers(len(whole)))
        damaged = bytearray(whole)
        damaged[at] ^= int(rng.integers(1, 256))
        path.write_bytes(damaged)
        with pytest.raises(FormatError, match="kept: "):
            align.Aligner.load(path)
    for cut in (0, 1, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(FormatError):
            align.Aligner.load(path)


def test_useless_options_are_refused(bitext: Bitext, aligner: align.Aligner) -> None:
    with pytest.raises(ArgumentError, match="model: found `ibm9`; expected"):
        align.fit(bitext, model="ibm9")
    with pytest.raises(ArgumentError, match="symmetrise: found `shrink`; expected"):
        aligner.align(bitext, symmetrise="shrink")
    with pytest.raises(ArgumentError, match=r"threshold: found 1\.5; expected"):
        aligner.align(bitext, threshold=1.5)


def test_an_aligner_without_a_file_cannot_be_pickled() -> None:
    fresh = align.fit(Bitext.from_pairs([("a", "b")]))
    with pytest.raises(ArgumentError, match="call `save` first"):
        pickle.dumps(fresh)


FORWARD = [(0, 0), (1, 2), (3, 3), (4, 1)]
REVERSE = [(0, 0), (2, 1), (2, 2), (3, 3), (4, 4)]


@pytest.mark.parametrize(
    ("heuristic", "expected"),
    [
        ("intersect", "0-0 3-3"),
        ("union", "0-0 1-2 2-1 2-2 3-3 4-1 4-4"),
        ("grow", "0-0 3-3"),
        ("grow-diag", "0-0 1-2 2-1 2-2 3-3 4-4"),
        ("grow-diag-final", "0-0 1-2 2-1 2-2 3-3 4-4"),
        ("grow-diag-final-and", "0-0 1-2 2-1 2-2 3-3 4-4"),
    ],
)
def test_worked_example_of_symmetrisation(heuristic: str, expected: str) -> None:
    bitext = Bitext.from_pairs([("a b c d e", "v w x y z")])
    forward, reverse = align.Links.from_lists([FORWARD]), align.Links.from_lists([REVERSE])
    joined = align.symmetrise(forward, reverse, bitext, heuristic)
    assert list(joined.lines()) == [expected]
