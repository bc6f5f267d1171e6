"""Learned linear ordering: models, the preorderer in front of a system, the command."""

import itertools
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword import _core, pipeline
from wayword.cli import main
from wayword.corpus import toy
from wayword.corpus.annotate import Sentence, read_factored
from wayword.corpus.files import sha256
from wayword.corpus.source import Source
from wayword.decode.markup import read_markup
from wayword.errors import ArgumentError, FormatError, WaywordError
from wayword.evaluate.orders import evaluate_orders, evaluate_preorder
from wayword.parts.part import entry, open_part
from wayword.parts.preorder import PreorderPart
from wayword.reorder import lop, neural
from wayword.reorder.order import rank_of
from wayword.stage import in_order
from wayword.store import Store
from wayword.system import System

CAT = Sentence(
    ("die", "Katze", "hat", "die", "Frau", "gekauft"),
    ("ART", "NN", "VAFIN", "ART", "NN", "VVPP"),
)
#: The matrix of definitions h.4; words count from 1 there.
CELLS = "12:2 13:-2 14:-1 15:-1 16:-1 23:-2 24:-1 25:-3 26:-1 34:-1 35:-2 36:1 45:2 46:1 56:1"


def example() -> Any:
    matrix = np.zeros((6, 6))
    for cell in CELLS.split():
        pair, worth = cell.split(":")
        matrix[int(pair[0]) - 1, int(pair[1]) - 1] = float(worth)
    return matrix


def score(matrix: Any, order: Any) -> float:
    return float(sum(matrix[a, b] for a, b in itertools.combinations(order, 2)))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("japanese")
    toy.write("ja-en", 700, folder, seed=1)
    return folder


def read(corpus: Path, part: str) -> lop.Corpus:
    names = (f"{part}.factored.ja", f"{part}.en", f"{part}.links")
    return lop.Corpus.read(*(corpus / name for name in names))


@pytest.fixture(scope="module")
def models(corpus: Path) -> dict[str, lop.LopModel]:
    learned, dev = read(corpus, "train"), read(corpus, "dev")
    return {
        "joint": lop.fit(learned, dev, passes=4, bits=18, rate=0.05),
        "lop": lop.fit(learned, dev, model="lop", passes=4, bits=18),
        "log-odds": lop.fit(learned, dev, model="lop", passes=0, bits=18),
        "neural": lop.fit(learned, dev, model="neural"),
    }


# --- search --------------------------------------------------------------------------------------


def test_the_worked_example() -> None:
    matrix, gold = example(), [3, 4, 2, 5, 0, 1]
    assert score(matrix, range(6)) == -8
    assert lop.step(matrix, range(6)) == gold
    assert lop.best_order(matrix) == lop.best_order(matrix, solver="ilp") == gold
    assert score(matrix, gold) == 7
    # Two words at most change places: only neighbours do.
    assert all(
        abs(place - word) < 2 for place, word in enumerate(lop.step(matrix, range(6), widest=2))
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 6), st.integers(0, 1 << 30))
def test_exact_solvers_agree_with_all_permutations(length: int, seed: int) -> None:
    matrix = np.triu(np.random.default_rng(seed).normal(size=(length, length)), 1)
    best = max(score(matrix, order) for order in itertools.permutations(range(length)))
    for solver in ("sets", "ilp"):
        order = lop.best_order(matrix, solver=solver)
        assert score(matrix, order) == pytest.approx(best, abs=1e-6)
    climbed = lop.step(matrix, range(length), climb=True)
    assert score(matrix, lop.step(matrix, range(length))) <= score(matrix, climbed) + 1e-6
    assert score(matrix, climbed) <= best + 1e-6


def test_local_search_finds_random_optima_as_often_as_defined() -> None:
    """Definitions h.4: 152 of 200 by climbing, 9 by one step; other draws, so roughly."""
    random = np.random.default_rng(7)
    climbed = stepped = 0
    for _ in range(200):
        matrix = np.triu(random.normal(size=(10, 10)), 1)
        best = score(matrix, lop.best_order(matrix))
        climbed += score(matrix, lop.step(matrix, range(10), climb=True)) > best - 1e-6
        stepped += score(matrix, lop.step(matrix, range(10))) > best - 1e-6
    assert 130 <= climbed <= 175
    assert stepped <= 25


def test_bad_matrices_are_refused() -> None:
    with pytest.raises(ArgumentError, match="expected a square matrix"):
        lop.step([[0.0, 1.0]], [0, 1])
    with pytest.raises(ArgumentError, match="not a permutation"):
        lop.step(np.zeros((2, 2)), [0, 0])
    with pytest.raises(ArgumentError, match="as many rows as columns"):
        lop.best_order(np.zeros((2, 3)))
    with pytest.raises(ArgumentError, match="at most 20"):
        lop.best_order(np.zeros((21, 21)))
    with pytest.raises(ArgumentError, match="solver: found `x`"):
        lop.best_order(np.zeros((2, 2)), solver="x")
    assert lop.step(np.full((2, 2), np.nan), [0, 1]) == [0, 1]


# --- models --------------------------------------------------------------------------------------


def test_features_are_those_of_the_definitions() -> None:
    found = lop.features(CAT, 0, 5)
    assert len(found) == 34
    assert {"01|die|ART|gekauft|VVPP", "09|ART|VAFIN|VVPP", "07|die|VVPP|d=5"} <= set(found)
    near = lop.features(CAT, 1, 2)
    assert len(near) == 28
    assert "10|NN|VAFIN|NN|VAFIN" in near
    with pytest.raises(ArgumentError, match="expected two positions"):
        lop.features(CAT, 3, 3)


def test_models_come_nearer_to_the_links(corpus: Path, models: dict[str, lop.LopModel]) -> None:
    test = read(corpus, "test")
    orders = {name: model.corpus_orders(test) for name, model in models.items()}
    scores = evaluate_preorder(test, orders)
    source, joint = scores["source order"].orders, scores["joint"].orders
    assert joint.tau > source.tau + 15
    assert joint.frs > source.frs + 15
    assert joint.exact > source.exact + 20
    assert scores["lop"].orders.tau > scores["log-odds"].orders.tau
    assert joint.f1 > 70 > source.f1 == 0
    low, high = joint.intervals["tau"]
    assert low <= joint.tau <= high


def test_either_choice_of_a_joint_model_is_a_permutation(
    corpus: Path, models: dict[str, lop.LopModel]
) -> None:
    sentences = list(read_factored(corpus / "test.factored.ja"))[:20]
    for choice in lop.CHOICES:
        for order, sentence in zip(
            models["joint"].orders(sentences, choice=choice), sentences, strict=True
        ):
            assert sorted(order) == list(range(len(sentence)))
    with pytest.raises(ArgumentError, match="choice"):
        models["joint"].orders(sentences, choice="worst")


@pytest.mark.parametrize("name", ["joint", "lop", "neural"])
def test_nbest_orders_begin_with_the_best_and_differ(
    name: str, corpus: Path, models: dict[str, lop.LopModel]
) -> None:
    model = models[name]
    for sentence in list(read_factored(corpus / "test.factored.ja"))[:10]:
        best = model.nbest(sentence, 8)
        scores = [score for score, _ in best]
        assert scores == sorted(scores, reverse=True)
        assert len({tuple(order) for _, order in best}) == len(best)
        assert best[0][1] == model.order(sentence, choice="best")


def test_nbest_of_a_pair_model_is_that_of_all_separable_orders(
    models: dict[str, lop.LopModel],
) -> None:
    short = Sentence(("彼", "は", "お茶", "を"), ("PRON", "ADP", "NOUN", "ADP"))
    matrix = models["lop"].matrix(short)
    separable = [
        p for p in itertools.permutations(range(4)) if p not in {(1, 3, 0, 2), (2, 0, 3, 1)}
    ]
    gains = sorted(score(matrix, order) - score(matrix, range(4)) for order in separable)[::-1]
    found = [score for score, _ in models["lop"].nbest(short, 30)]
    assert found == pytest.approx(gains, abs=1e-6)


def test_threads_and_seed_decide_nothing_they_should_not(corpus: Path) -> None:
    learned, dev = read(corpus, "dev"), read(corpus, "test")
    options: dict[str, Any] = {"passes": 2, "bits": 12}
    for model in lop.MODELS:
        made = [
            lop.fit(learned, dev, model=model, batch=4, threads=threads, **options)._core.to_bytes()
            for threads in (1, 3)
        ]
        assert made[0] == made[1]


def test_a_model_is_saved_loaded_and_pickled(
    models: dict[str, lop.LopModel], tmp_path: Path
) -> None:
    model = models["joint"]
    model.save(tmp_path / "model")
    sentence = Sentence(("彼", "は", "来"), ("PRON", "ADP", "VERB"))
    loaded = lop.LopModel.load(tmp_path / "model")
    for other in (loaded, pickle.loads(pickle.dumps(loaded)), pickle.loads(pickle.dumps(model))):
        assert other.recipe == model.recipe
        assert other.order(sentence) == model.order(sentence)
    data = (tmp_path / "model").read_bytes()
    for damaged in (b"", data[:20], data[:-1], data[:-1] + b"x", b"\xff" * len(data)):
        (tmp_path / "model").write_bytes(damaged)
        with pytest.raises(FormatError, match="make it again with `wayword preorder fit`"):
            lop.LopModel.load(tmp_path / "model")


def test_a_network_orders_pairs_and_has_no_features_to_explain(
    corpus: Path, models: dict[str, lop.LopModel], tmp_path: Path
) -> None:
    model = models["neural"]
    assert model.recipe["model"] == "neural"
    test = read(corpus, "test")
    scores = evaluate_preorder(test, {"neural": model.corpus_orders(test)})
    assert scores["neural"].orders.tau > scores["source order"].orders.tau + 10
    sentence = Sentence(("彼", "は", "来"), ("PRON", "ADP", "VERB"))
    matrix = model.matrix(sentence)
    assert np.array_equal(matrix, np.triu(matrix, 1))
    assert model.order(sentence) == lop.step(matrix, [0, 1, 2])
    with pytest.raises(ArgumentError, match="a network, which has no features with names"):
        model.explain(sentence, 0, 1)
    model.save(tmp_path / "model")
    assert lop.LopModel.load(tmp_path / "model").order(sentence) == model.order(sentence)
    with pytest.raises(FormatError, match="a network that orders pairs, for `preorder`"):
        neural.NeuralModel.load(tmp_path / "model")


def test_plain_words_are_enough() -> None:
    words = ["er", "hat", "Tee", "getrunken"]
    corpus = lop.Corpus.from_sentences([words] * 4, [[(0, 0), (1, 1), (2, 3), (3, 2)]] * 4)
    many = lop.Corpus.from_sentences([words] * 2000, [[(0, 0), (1, 1), (2, 3), (3, 2)]] * 2000)
    for model in lop.MODELS:
        # few steps are enough for weights of features, not for a network
        sentences = corpus if model != "neural" else many
        learned = lop.fit(sentences, corpus, model=model, bits=12)
        assert learned.layers == frozenset()
        assert learned.order(words) == [0, 1, 3, 2]
        assert learned.order([]) == []
        assert learned.order(["neu"]) == [0]


def test_a_very_long_sentence_is_ordered_in_pieces(models: dict[str, lop.LopModel]) -> None:
    long = Sentence(("彼", "は", "来") * 100, ("PRON", "ADP", "VERB") * 100)
    order = models["joint"].order(long)
    assert sorted(order) == list(range(300))
    assert models["joint"].matrix(long).shape == (300, 300)


def test_wrong_input_is_told(models: dict[str, lop.LopModel]) -> None:
    with pytest.raises(ArgumentError, match="words without tags"):
        models["joint"].order(["彼", "は"])
    empty = lop.Corpus.from_sentences([], [])
    with pytest.raises(ArgumentError, match="corpus: found no words"):
        lop.fit(empty, empty)
    plain = lop.Corpus.from_sentences([["a", "b"]], [[(0, 0)]])
    tagged = lop.Corpus.from_sentences([Sentence(("a",), ("X",))], [[]])
    with pytest.raises(ArgumentError, match="dev: found layers WP"):
        lop.fit(plain, tagged)
    with pytest.raises(ArgumentError, match="bits: found 40"):
        lop.fit(plain, plain, bits=40)


def test_explanations_add_up_to_the_matrix(models: dict[str, lop.LopModel]) -> None:
    sentence = Sentence(("彼", "は", "お茶", "を"), ("PRON", "ADP", "NOUN", "ADP"))
    matrix = models["lop"].matrix(sentence)
    for left, right in itertools.combinations(range(4), 2):
        reasons = models["lop"].explain(sentence, left, right)
        assert sum(weight for _, weight in reasons) == pytest.approx(matrix[left, right], abs=1e-4)
        names = [name for name, _ in reasons]
        assert sorted(names) == sorted(lop.features(sentence, left, right))


# --- measures ------------------------------------------------------------------------------------


def test_measures_of_orders() -> None:
    ranks = [np.array([2, -1, 0, 1], dtype=np.int32)]
    source = evaluate_orders([[0, 1, 2, 3]], ranks)
    # Linked words come as 2 0 1: two of three pairs are out of order; of the four steps from the
    # start to the end one is right.
    assert source.tau == pytest.approx(100 / 3)
    assert source.frs == pytest.approx(25)
    assert (source.exact, source.recall) == (0, 0)
    right = evaluate_orders([[2, 3, 1, 0]], ranks)
    assert (right.tau, right.frs, right.exact, right.f1) == (100, 100, 100, 100)
    half = evaluate_orders([[2, 0, 3, 1]], ranks)
    assert (half.precision, half.recall) == (100, 50)


# --- in a system ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> System:
    out = tmp_path_factory.mktemp("preordered") / "system"
    config = {
        "lm": {"order": 3},
        "text": {"src_tokenizer": "none", "case": "keep"},
        "model": {"preorder": "joint", "features": ["lop"]},
        "annotate": {"classes": 30},
        "preorder": {"passes": 2, "bits": 16},
        "lop": {"passes": 1, "bits": 14},
        "search": {"space": "dl:4+lop(top=3)", "pop_limit": 100},
        "tune": {"runs": 1, "rounds": 2, "restarts": 2},
    }
    return pipeline.train(corpus / "train.ja", corpus / "train.en", out, config=config)


def test_a_preordered_system_speaks_of_the_words_the_user_wrote(
    trained: System, corpus: Path
) -> None:
    lines = (corpus / "test.ja").read_text(encoding="utf-8").splitlines()[:20]
    moved = 0
    for line, translation in zip(lines, trained.translate(lines), strict=True):
        words = line.split()
        [source] = trained.sources([line])
        assert source.order is not None
        assert sorted(source.order) == list(range(len(words)))
        assert [source.words[place] for place in rank_of(source.order)] == words
        moved += list(source.order) != sorted(source.order)
        assert all(src < len(words) for src, _ in translation.links)
    assert moved > 10


def test_a_saved_preordered_system_translates_alike(trained: System, corpus: Path) -> None:
    line = (corpus / "test.ja").read_text(encoding="utf-8").splitlines()[0]
    assert trained.folder is not None
    again = System.open(trained.folder)
    again.verify()
    assert str(again.translate(line)) == str(trained.translate(line))
    assert "preorder" in (trained.folder / "system.toml").read_text(encoding="utf-8")


def test_links_that_move_with_their_words_are_a_choice(corpus: Path) -> None:
    files = (corpus / "train.ja", corpus / "train.en")
    config: dict[str, Any] = {"model": {"preorder": "lop"}}
    names = [stage.name for stage in pipeline.plan(*files, config).stages]
    assert names[:6] == ["doctor", "prepare", "align", "annotate", "preorder", "realign"]
    config["preorder"] = {"realign": False}
    assert "realign" not in [stage.name for stage in pipeline.plan(*files, config).stages]


def test_links_count_as_much_as_they_are_sure(tmp_path: Path) -> None:
    """Half of the links say one thing and half another; the surer ones win."""
    (tmp_path / "src").write_text("a b\n" * 40, encoding="utf-8")
    (tmp_path / "tgt").write_text("x y\n" * 40, encoding="utf-8")
    for sure, order in (("0-0:0.9 1-1:0.9\n0-1:0.2 1-0:0.2\n", [0, 1]),
                        ("0-0:0.2 1-1:0.2\n0-1:0.9 1-0:0.9\n", [1, 0])):  # fmt: skip
        (tmp_path / "links").write_text(sure * 20, encoding="utf-8")
        corpus = lop.Corpus.read(tmp_path / "src", tmp_path / "tgt", tmp_path / "links")
        model = lop.fit(corpus, corpus, bits=10, rate=0.1, passes=2)
        assert model.order(["a", "b"]) == order


@pytest.mark.parametrize("word", ["0-0:1.5", "0-0:-0.1", "0-0:nan", "0-0:", "0-0:x", "0:1-0"])
def test_a_posterior_is_a_number_from_0_to_1(tmp_path: Path, word: str) -> None:
    for name, text in (("src", "a"), ("tgt", "x"), ("links", word)):
        (tmp_path / name).write_text(f"{text}\n", encoding="utf-8")
    with pytest.raises(FormatError, match="links:1"):
        lop.Corpus.read(tmp_path / "src", tmp_path / "tgt", tmp_path / "links")


def test_posteriors_are_a_choice_of_training(corpus: Path, tmp_path: Path) -> None:
    """They change what is learned, and leave no file of their own behind."""
    files = (corpus / "train.ja", corpus / "train.en")
    digests = []
    for posteriors in (False, True):
        config: dict[str, Any] = {
            "model": {"preorder": "joint"},
            "annotate": {"classes": 20},
            "preorder": {"passes": 1, "bits": 14, "posteriors": posteriors},
        }
        plan = pipeline.plan(*files, config)
        [stage] = [stage for stage in plan.stages if stage.name == "preorder"]
        with Store(tmp_path) as store:
            *_, result = store.run(in_order([stage]))
        digests.append(sha256(result / "preorder"))
        assert not (result / "links.scored").exists()
    assert digests[0] != digests[1]


def test_the_best_of_several_orders_is_kept(trained: System, corpus: Path) -> None:
    lines = (corpus / "test.ja").read_text(encoding="utf-8").splitlines()[:15]
    parts = [
        open_part({**part.entry, "orders": 5}, part.folder)
        if isinstance(part, PreorderPart)
        else part
        for part in trained.parts
    ]
    many = System(parts, weights=trained.weights, settings=trained.settings, text=trained.text)
    for one, best in zip(trained.translate(lines), many.translate(lines), strict=True):
        assert best.score >= one.score
    [source] = many.sources(lines[:1])
    part = next(part for part in many.parts if isinstance(part, PreorderPart))
    forms = part.alternatives(source)
    assert len(forms) > 1
    assert len({form.order for form, _ in forms}) == len(forms)


def test_marked_sentences_keep_their_order(models: dict[str, lop.LopModel], tmp_path: Path) -> None:
    models["joint"].save(tmp_path / "preorder")
    part = open_part(entry("preorder", "preorder", file="preorder"), tmp_path)
    marked = read_markup("彼 は <zone> お茶 を </zone> 飲ん だ", "exclusive", ("text", 1), None)
    [same] = part.prepare([marked])
    assert same.order is None
    moved = Source(Sentence(("彼", "は"), ("PRON", "ADP"))).reordered([1, 0])
    assert part.prepare([moved]) == [moved]


# --- the command ---------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *args: object) -> str:
    assert main(["preorder", *map(str, args)]) == 0
    return capsys.readouterr().out


def test_apply_and_restore_are_a_round_trip(
    corpus: Path,
    models: dict[str, lop.LopModel],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    models["joint"].save(tmp_path / "model")
    text, orders = corpus / "test.factored.ja", tmp_path / "orders"
    reordered = run(capsys, "apply", tmp_path / "model", text, "--orders", orders)
    plain = [[token.split("|")[0] for token in line.split()] for line in reordered.splitlines()]
    (tmp_path / "reordered").write_text("".join(f"{' '.join(line)}\n" for line in plain))
    tokens = run(capsys, "restore", orders, tmp_path / "reordered", "--what", "tokens")
    assert tokens == (corpus / "test.ja").read_text(encoding="utf-8")
    places = [[int(place) for place in line.split()] for line in orders.read_text().splitlines()]
    links = "".join(f"{' '.join(f'{at}-{at}' for at in range(len(line)))}\n" for line in places)
    (tmp_path / "links").write_text(links)
    restored = run(capsys, "restore", orders, tmp_path / "links").splitlines()
    for line, order in zip(restored, places, strict=True):
        assert line.split() == [f"{place}-{at}" for at, place in enumerate(order)]


def test_fit_evaluate_and_explain(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [corpus / f"dev.{end}" for end in ("factored.ja", "en", "links")]
    model = tmp_path / "model"
    told = json.loads(
        run(capsys, "fit", *files, "-o", model, "--passes", 1, "--bits", 14, "--json")
    )
    assert (told["model"], told["best"]) == ("joint", 1)
    scores = json.loads(run(capsys, "evaluate", model, *files, "--json"))
    assert scores["source order"]["tau"] < scores[str(model)]["tau"]
    assert "±" in run(capsys, "evaluate", model, *files)
    line = files[0].read_text(encoding="utf-8").splitlines()[0]
    shown = run(capsys, "explain", model, line)
    assert "reversed; worth" in shown
    assert run(capsys, "explain", model, line, "--html").startswith("<table")
    best = run(capsys, "apply", model, files[0], "--nbest", 2).splitlines()
    assert [line.split(" ||| ")[0] for line in best[:3]] == ["0", "0", "1"]


@pytest.mark.parametrize(
    ("orders", "lines", "what", "message"),
    [
        ("0 1\n", "0-0 5-1\n", "links", "lines:1: `0-0 5-1` does not fit an order of 2 words"),
        ("0 0\n", "0-0\n", "links", "orders:1: found `0 0`; expected each place"),
        ("0 1\n", "", "links", "has only 0 lines; do both come from the same text?"),
        ("0 1\n", "a\n", "tokens", "lines:1: `a` does not fit an order of 2 words"),
        ("0 1\n", "0=1\n", "traces", "expected traces of that text"),
        ("x\n", "0-0\n", "links", "orders:1: found `x`"),
    ],
)
def test_what_cannot_be_restored_is_told(  # noqa: PLR0917
    orders: str,
    lines: str,
    what: str,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "orders").write_text(orders)
    (tmp_path / "lines").write_text(lines)
    files = [str(tmp_path / name) for name in ("orders", "lines")]
    assert main(["preorder", "restore", *files, "--what", what]) == 1
    assert message in capsys.readouterr().err


def test_text_without_tags_is_refused(
    models: dict[str, lop.LopModel], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models["joint"].save(tmp_path / "model")
    (tmp_path / "text").write_text("a b\n")
    assert main(["preorder", "apply", str(tmp_path / "model"), str(tmp_path / "text")]) == 1
    assert "text:1: words without tags; expected word|POS" in capsys.readouterr().err


@given(st.binary(max_size=200))
@settings(max_examples=50, deadline=None)
def test_any_bytes_are_a_model_or_a_sentence(data: bytes) -> None:
    with pytest.raises(WaywordError):
        _core.LopModel.from_bytes(data)
