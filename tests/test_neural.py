"""What users see of the network that says which word comes next."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword import _core
from wayword.cli import main
from wayword.corpus import toy
from wayword.corpus.annotate import Sentence, read_factored
from wayword.errors import ArgumentError, FormatError, MismatchError
from wayword.reorder import neural, waw
from wayword.reorder.judge import load_judge

Floats = npt.NDArray[np.float64]
#: Small enough for a test, and long enough to learn something.
QUICK: dict[str, Any] = {
    "epochs": 4,
    "batch": 16,
    "rate": 0.01,
    "embedding": 16,
    "hidden": 16,
    "key": 16,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The German toy language, which has gold links and tags."""
    folder = tmp_path_factory.mktemp("neural")
    toy.write("de-en", 1000, folder, seed=1)
    return folder


def files(folder: Path, part: str) -> tuple[Path, Path, Path]:
    return folder / f"{part}.factored.de", folder / f"{part}.en", folder / f"{part}.links"


@pytest.fixture(scope="module")
def corpus(folder: Path) -> neural.Corpus:
    return neural.Corpus.read(*files(folder, "train"))


@pytest.fixture(scope="module")
def model(corpus: neural.Corpus) -> neural.NeuralModel:
    return neural.train(corpus, tags=True, **QUICK)


# --- definitions b.8 ------------------------------------------------------------------------------


def sigmoid(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def encoded(parameters: dict[str, Floats], words: Floats, way: str) -> Floats:
    """What one direction remembers after each word."""
    hidden = parameters["forth_inner_bias"].shape[1]
    memory, outputs = np.zeros(hidden), []
    for word in words if way == "forth" else words[::-1]:
        gates = word @ parameters[f"{way}_input"] + parameters[f"{way}_bias"][0]
        inner = memory @ parameters[f"{way}_recurrent"]
        update = sigmoid(gates[:hidden] + inner[:hidden])
        reset = sigmoid(gates[hidden : 2 * hidden] + inner[hidden : 2 * hidden])
        kept = reset * (inner[2 * hidden :] + parameters[f"{way}_inner_bias"][0])
        memory = (1 - update) * np.tanh(gates[2 * hidden :] + kept) + update * memory
        outputs.append(memory)
    return np.array(outputs if way == "forth" else outputs[::-1])


def bits(covered: npt.NDArray[np.bool_], word: int) -> Floats:
    """What is translated around a word, from 0."""
    before = word == 0 or bool(covered[word - 1])
    after = word + 1 < len(covered) and bool(covered[word + 1])
    left = int((~covered[:word]).sum())
    last = bool(covered[word + 1 :].all())
    places = (1 <= left <= 2, 3 <= left <= 6, left > 6)
    return np.array([before, after, before and after, left == 0, last, *places], dtype=float)


def slow_scores(model: neural.NeuralModel, sentence: Sentence, order: list[int]) -> Floats:
    """What words are ranked by at each step of an order, in plain numpy."""
    parameters = {name: value.astype(np.float64) for name, value in model.parameters().items()}
    words, tags = model.vocabulary
    assert tags is not None
    assert sentence.pos is not None
    rows = [words.index(word) + 1 if word in words else 0 for word in sentence.words]
    unknown = len(words) + 1
    tagged = [tags.index(tag) + unknown + 1 if tag in tags else unknown for tag in sentence.pos]
    inputs = parameters["embedding"][rows] + parameters["embedding"][tagged]
    context = np.hstack([encoded(parameters, inputs, way) for way in ("forth", "back")])
    query = context @ parameters["query"] + parameters["query_bias"]
    query = np.vstack([parameters["start"], query])
    key = context @ parameters["key"] + parameters["key_bias"]
    around = context @ parameters["around"] + parameters["around_bias"]
    last, covered, scores = 0, np.zeros(len(rows), dtype=bool), []
    for taken in order:
        row = np.full(len(rows), np.nan)
        for word in np.flatnonzero(~covered):
            far = int(np.clip(word + 1 - last, -19, 19)) + 19
            row[word] = (
                query[last] @ key[word] / np.sqrt(key.shape[1])
                + query[last] @ parameters["far_query"][far]
                + key[word] @ parameters["far_key"][far]
                + parameters["far_bias"][0, far]
                + around[word] @ bits(covered, int(word))
            )
        scores.append(row)
        covered[taken] = True
        last = taken + 1
    return np.array(scores)


def test_scores_are_those_of_the_definition(model: neural.NeuralModel, folder: Path) -> None:
    sentences = list(read_factored(files(folder, "test")[0]))[:8]
    sentences.append(Sentence(("never", "seen", "Haus") * 8, ("X", "Y", "NOUN") * 8))
    random = np.random.default_rng(1)
    for sentence in sentences:
        order = [int(at) for at in random.permutation(len(sentence))]
        expected = slow_scores(model, sentence, order)
        found = model.along(sentence, order, logs=False)
        np.testing.assert_allclose(found, expected, atol=1e-4)
        # Shares of the words in the window, or beyond it of one word more.
        last, logs = 0, model.along(sentence, order)
        for step, taken in enumerate(order):
            free = np.flatnonzero(~np.isnan(expected[step]))
            near = {int(word) for word in free if abs(word - last) <= model.recipe["window"]}
            for word in free:
                rivals = expected[step][sorted(near | {int(word)})]
                share = expected[step][word] - np.log(np.exp(rivals).sum())
                assert logs[step][word] == pytest.approx(share, abs=1e-4)
            last = taken + 1


def test_the_matrix_is_what_is_said_when_nothing_is_translated(model: neural.NeuralModel) -> None:
    sentence = Sentence(("er", "schläft", "heute"), ("PRON", "VERB", "ADV"))
    matrix = model.matrix(sentence)
    assert matrix.shape == (4, 3)
    assert matrix[0].sum() == pytest.approx(1)
    np.testing.assert_allclose(matrix[0], np.exp(model.along(sentence, [0, 1, 2])[0]))


# --- training -------------------------------------------------------------------------------------


def test_it_ranks_better_than_distance_and_coverage_helps(
    model: neural.NeuralModel, corpus: neural.Corpus, folder: Path
) -> None:
    test = neural.Corpus.read(*files(folder, "test"))
    (row,) = waw.evaluate(model, test, limits=[18]).ranking
    (plain,) = waw.evaluate(model, test, limits=[18]).distance
    assert row.top1 > plain.top1 + 0.1
    assert row.top3 > plain.top3
    blind = neural.train(corpus, tags=True, coverage=False, **QUICK)
    assert blind.parameters()["around"].size == 0
    assert row.top1 > waw.evaluate(blind, test, limits=[18]).ranking[0].top1
    assert model.summary is not None
    assert model.summary.likelihoods[-1] > model.summary.likelihoods[0]


def test_training_goes_on_from_its_last_pass(corpus: neural.Corpus, tmp_path: Path) -> None:
    options: dict[str, Any] = {"hidden": 4, "key": 4, "embedding": 4, "epochs": 3}
    state = tmp_path / "state"
    whole = neural.train(corpus, **options)
    calls = []

    def stop_in_the_second_pass(done: int, all_: int) -> None:
        calls.append((done, all_))
        if done > all_ // 3 + 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        neural.train(corpus, **options, state=state, progress=stop_in_the_second_pass)
    kept = state.read_bytes()
    went_on: list[int] = []
    again = neural.train(
        corpus, **options, state=state, progress=lambda done, _: went_on.append(done)
    )
    assert again._core.to_bytes() == whole._core.to_bytes()
    assert again.summary == whole.summary
    assert min(went_on) >= len(corpus)  # the first pass was not made again
    for damaged in (b"", kept[:-1], b"{}\n", b"x" + kept):
        state.write_bytes(damaged)
        with pytest.raises(FormatError, match="no whole state of a training"):
            neural.train(corpus, **options, state=state)
    state.write_bytes(kept)
    with pytest.raises(MismatchError, match="the state of another training"):
        neural.train(corpus, **{**options, "seed": 2}, state=state)


def test_threads_change_no_byte_and_the_seed_does(corpus: neural.Corpus) -> None:
    small, _ = corpus.split(150)
    options = {**QUICK, "epochs": 1}
    one, two, other = (
        neural.train(small, threads=threads, seed=seed, **options)._core.to_bytes()
        for threads, seed in ((1, 1), (2, 1), (1, 2))
    )
    assert one == two
    assert one != other


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 0}, "epochs: found 0; expected 1 to 10000"),
        ({"window": 0}, "window: found 0; expected 1 to 1000"),
        ({"hidden": 5000}, "hidden: found 5000; expected 1 to 4096"),
        ({"dropout": 1.0}, "dropout: found 1.0; expected 0 up to but not 1"),
        ({"rate": -1.0}, "rate: found -1.0; expected 0 or more"),
        ({"min_count": 0}, "min_count: found 0; expected 1 or more"),
    ],
)
def test_bad_options_are_told(corpus: neural.Corpus, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        neural.train(corpus, **options)
    assert str(caught.value) == message


def test_text_without_tags_or_words_is_refused() -> None:
    plain = neural.Corpus.from_sentences([["a", "b"]], [[(0, 0)]])
    with pytest.raises(ArgumentError) as caught:
        neural.train(plain, tags=True)
    assert str(caught.value) == (
        "tags: found true, but the text has none; expected text with tags, or false"
    )
    with pytest.raises(ArgumentError, match="corpus: found no words"):
        neural.train(neural.Corpus.from_sentences([], []))


def test_sentences_of_any_length_are_taken() -> None:
    lengths = (0, 1, 2, 300)
    sentences = [[f"w{at % 7}" for at in range(length)] for length in lengths]
    links = [[(at, length - 1 - at) for at in range(length)] for length in lengths]
    corpus = neural.Corpus.from_sentences(sentences, links)
    model = neural.train(corpus, **{**QUICK, "epochs": 1})
    for sentence in sentences:
        found = model.along(sentence, list(range(len(sentence))))
        assert not np.isnan(np.triu(found)).any() or len(sentence) == 0


# --- files ----------------------------------------------------------------------------------------


def test_a_model_comes_back_from_its_file_and_a_pickle(
    model: neural.NeuralModel, tmp_path: Path
) -> None:
    model.save(tmp_path / "model")
    loaded = load_judge(tmp_path / "model")
    assert isinstance(loaded, neural.NeuralModel)
    assert loaded._core.to_bytes() == model._core.to_bytes()
    assert loaded.recipe == model.recipe
    assert pickle.loads(pickle.dumps(loaded))._core.digest == model._core.digest
    assert pickle.loads(pickle.dumps(model))._core.to_bytes() == model._core.to_bytes()
    assert loaded.layers == {"pos"}
    assert repr(loaded) == repr(model)


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_with_a_sentence(data: bytes) -> None:
    with pytest.raises(FormatError, match="expected a network of word order in version 1"):
        _core.NeuralModel.from_bytes(data)


# --- commands -------------------------------------------------------------------------------------


def test_the_command_trains_and_waw_compares(
    folder: Path, corpus: neural.Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, other = tmp_path / "de.neural", tmp_path / "de.waw"
    train = ["neural", "train", *map(str, files(folder, "train")), "-o", str(out)]
    sizes = ["--epochs", "1", "--hidden", "8", "--embedding", "8", "--key", "8"]
    assert main([*train, *sizes, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["bytes"] == out.stat().st_size
    assert len(summary["likelihoods"]) == 1
    assert main([*train, *sizes, "--no-coverage"]) == 0
    assert "likelihoods" in capsys.readouterr().out
    waw.train(corpus, templates="P", iterations=2).save(other)
    test = ["waw", "evaluate", str(out), str(other), *map(str, files(folder, "test"))]
    spaces = ["--space", "dl:8", "dl:18+x(top=3,threshold=0.1,zone=0)"]
    assert main([*test, *spaces]) == 0
    shown = capsys.readouterr().out
    assert "network" in shown
    assert shown.count("dl:8") == 2
    assert "whole orders" in shown
    assert main(["waw", "show", str(out), "er schläft", "--order", "0 1"]) == 0
    assert "schläft" in capsys.readouterr().out
    assert main([*train, "--epochs", "0"]) == 2
    assert "epochs: found 0" in capsys.readouterr().err
