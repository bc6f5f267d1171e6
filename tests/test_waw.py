"""What users see of the word-after-word model."""

import json
import math
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
from wayword.corpus.annotate import Chunk, Sentence
from wayword.corpus.source import Source
from wayword.decode import Decoder, Settings
from wayword.errors import ArgumentError, FormatError, MismatchError
from wayword.parts.part import entry, open_part
from wayword.reorder import waw
from wayword.reorder.feature import Given, Scorer, read_matrices
from wayword.reorder.order import order_from_links
from wayword.report import heat
from wayword.system import System

Floats = npt.NDArray[np.float64]

EXAMPLE = Sentence(
    ("ywASl", "sfyr", "lbnAn", "tHrk", "-h"),
    ("V", "N", "NP", "N", "PRP"),
    (Chunk("VP", 0, 0), Chunk("NP", 1, 2, head=1), Chunk("NP", 3, 4, head=3)),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The German toy language, which has gold links, tags and chunks."""
    folder = tmp_path_factory.mktemp("waw")
    toy.write("de-en", 1500, folder, seed=1)
    return folder


@pytest.fixture(scope="module")
def corpus(folder: Path) -> waw.Corpus:
    return waw.Corpus.read(*files(folder, "train"))


@pytest.fixture(scope="module")
def model(corpus: waw.Corpus) -> waw.WawModel:
    return waw.train(corpus)


def files(folder: Path, part: str) -> tuple[Path, Path, Path]:
    return folder / f"{part}.factored.de", folder / f"{part}.en", folder / f"{part}.links"


# --- definitions b ------------------------------------------------------------------------------


def test_features_are_those_of_the_specification() -> None:
    assert len(waw.features(EXAMPLE, 1, 4)) == 23
    back = waw.features(EXAMPLE, 3, 1)
    assert len(back) == 21
    assert {"05|lbnAn|tHrk|<s>|ywASl", "06|B|sfyr|<s>|ywASl", "15|B|N|<s>|V", "21|0"} <= set(back)
    assert {"20|<s>|sfyr", "03|<s>|<s>|<s>|sfyr"} <= set(waw.features(EXAMPLE, 0, 2))
    assert "06|B|lbnAn|sfyr|ywASl" in waw.features(EXAMPLE, 3, 1, between_anchor="ij")
    assert waw.features(EXAMPLE, 2, 3)[-1] == "21|1"


def test_samples_are_those_of_the_specification() -> None:
    order = [1, 2, 0, 3, 5, 4]
    for window, wrong in ((2, 5), (3, 9), (10, 15)):
        found = [is_next for _, _, is_next in waw.samples(order, window=window, inclusive=False)]
        assert (sum(found), len(found) - sum(found)) == (6, wrong)
    assert len(waw.samples(list(range(31)), window=10, inclusive=False)) == 10 * 31 - 45


@given(st.permutations(range(9)))
def test_every_word_is_a_right_answer_once(order: list[int]) -> None:
    right = [to for _, to, is_next in waw.samples(order) if is_next]
    assert [to - 1 for to in right] == order


def test_the_optimum_of_one_feature_is_that_of_the_definition() -> None:
    # One word, then another: the jump from the start to `a` is right each time, that to `b` wrong.
    corpus = waw.Corpus.from_sentences([["a", "b"]] * 8, [[(0, 0), (1, 1)]] * 8)
    model = waw.train(corpus, templates="W", min_count=1, tolerance=0.0, iterations=300)
    assert model.summary is not None
    assert model.summary.samples == 8 * 3
    # At the optimum the gradient is 0, so every weight w is the sum of what its samples miss.
    start = model.matrix(["a", "b"])
    missing = 8 * (1 - start[0, 0]) - 8 * start[0, 1] + 8 * (1 - start[1, 1])
    assert missing == pytest.approx(model.recipe["bias"], abs=1e-3)


def test_all_optimisers_agree(corpus: waw.Corpus) -> None:
    options = (("lbfgs", 100), ("cg", 60), ("adagrad", 10))
    found = [
        waw.train(corpus, templates="P", optimiser=name, iterations=most).summary
        for name, most in options
    ]
    assert len({one.features for one in found if one}) == 1
    values = [one.likelihood for one in found if one]
    assert values == pytest.approx([values[0]] * 3, abs=0.02)


def test_threads_and_disk_change_no_byte(corpus: waw.Corpus, tmp_path: Path) -> None:
    runs = [
        waw.train(corpus, iterations=5, threads=threads, memory=memory, temp_dir=tmp_path)
        for threads, memory in ((1, "1G"), (2, "1M"), (3, "1M"))
    ]
    assert runs[1].summary is not None
    assert runs[1].summary.bytes_on_disk > 0
    assert len({run._core.to_bytes() for run in runs}) == 1
    del runs
    assert not list(tmp_path.iterdir())


# --- models ---------------------------------------------------------------------------------------


def test_a_model_comes_back_from_its_file_its_text_and_a_pickle(
    model: waw.WawModel, tmp_path: Path
) -> None:
    model.save(tmp_path / "model")
    model.write_text(tmp_path / "text")
    data = model._core.to_bytes()
    loaded = waw.WawModel.load(tmp_path / "model")
    assert loaded._core.to_bytes() == data
    assert waw.WawModel.read_text(tmp_path / "text")._core.to_bytes() == data
    assert pickle.loads(pickle.dumps(loaded))._core.digest == model._core.digest
    assert pickle.loads(pickle.dumps(model))._core.to_bytes() == data
    kept = pickle.dumps(loaded)
    waw.WawModel.read_text(_changed(tmp_path / "text")).save(tmp_path / "model")
    with pytest.raises(MismatchError, match="not the file it was when pickled"):
        pickle.loads(kept)


def _changed(path: Path) -> Path:
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines[:-1], "21|0\t0.125"]) + "\n", encoding="utf-8")
    return path


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_with_a_sentence(data: bytes) -> None:
    with pytest.raises(FormatError, match="expected a word-after-word model in version 3"):
        _core.WawModel.from_bytes(data)


def test_the_matrix_has_a_row_for_the_start(model: waw.WawModel) -> None:
    sentence = Sentence(("er", "schläft"), ("PRON", "VERB"), ())
    matrix = model.matrix(sentence)
    assert matrix.shape == (3, 2)
    assert matrix[1, 0] == matrix[2, 1] == 0.0
    assert np.all((matrix[0] > 0) & (matrix[0] < 1))
    with pytest.raises(ArgumentError, match="too few layers for the model"):
        model.matrix(["er", "schläft"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"templates": "X"}, "templates: found `X`; expected one of W, P, WP, WPC"),
        ({"window": 0}, "window: found 0; expected 1 to 1000"),
        ({"window": 2000}, "window: found 2000; expected 1 to 1000"),
        ({"min_count": 0}, "min_count: found 0; expected 1 or more"),
        ({"prior": -1.0}, "prior: found -1.0; expected 0 or more"),
        ({"optimiser": "sgd"}, "optimiser: found `sgd`; expected one of adagrad, lbfgs, cg"),
        ({"iterations": -1}, "iterations: found -1; expected 0 or more"),
        ({"objective": "all"}, "objective: found `all`; expected one of each, choice"),
        ({"between_anchor": "i"}, "between_anchor: found `i`; expected one of j, ij"),
    ],
)
def test_bad_options_are_told(corpus: waw.Corpus, options: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        waw.train(corpus, **options)  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_templates_need_their_layers() -> None:
    corpus = waw.Corpus.from_sentences([["a", "b"]], [[(0, 0)]])
    with pytest.raises(ArgumentError) as caught:
        waw.train(corpus, templates="P")
    assert str(caught.value) == (
        "templates: found `P`, but the text has no tags; "
        "expected text with them, or fewer templates"
    )
    with pytest.raises(ArgumentError, match="corpus: found no words"):
        waw.train(waw.Corpus.from_sentences([], []))


def test_bad_files_are_told_with_their_line(tmp_path: Path) -> None:
    src, tgt, links = tmp_path / "src", tmp_path / "tgt", tmp_path / "links"

    def told(src_text: str, tgt_text: str, links_text: str) -> str:
        for path, text in ((src, src_text), (tgt, tgt_text), (links, links_text)):
            path.write_text(text, encoding="utf-8")
        with pytest.raises((FormatError, MismatchError)) as caught:
            waw.Corpus.read(src, tgt, links)
        return str(caught.value).replace(f"{tmp_path}/", "")

    assert told("a|X\n", "x\ny\n", "0-0\n") == (
        "tgt:2: src has only 1 lines; do all files come from the same corpus?"
    )
    assert told("a|X b\n", "x\n", "0-0\n") == (
        "src:1: token 2 (`b`): 1 factors; expected 2 as in the first token; "
        "write a `|` inside a word as `&#124;`"
    )
    assert told("a b\n", "x\n", "0-0 2-0\n") == (
        "links:1: link 2-0 is outside the sentence (source has 2 words); "
        "do both files come from the same corpus?"
    )
    assert told("a b\n", "x\n", "0-0 x\n") == (
        "links:1: `x`; expected links such as `0-0 1-2`; "
        "positions count from 0, the source comes first"
    )


# --- evaluation -----------------------------------------------------------------------------------


def slow_ranking(
    sentences: list[Sentence],
    links: list[list[tuple[int, int]]],
    limit: int,
    model: waw.WawModel | None,
) -> tuple[int, ...]:
    """Decisions, beyond the limit, first, among three; the same of long jumps within the limit."""
    decisions = beyond = first = three = 0
    long = {"back": [0, 0], "forward": [0, 0]}
    for sentence, own in zip(sentences, links, strict=True):
        order = order_from_links(len(sentence), own)
        rows = model.along(sentence, order, logs=False) if model else None
        free, last = set(range(1, len(sentence) + 1)), 0
        for step, next_ in enumerate(at + 1 for at in order):
            near = [u for u in free if abs(u - last - 1) <= limit]
            scores = {u: float(rows[step][u - 1]) if rows is not None else 0.0 for u in near}
            ranked = sorted(near, key=lambda u: (-scores[u], abs(u - last - 1), u <= last, u))
            decisions += 1
            beyond += next_ not in near
            first += ranked[:1] == [next_]
            three += next_ in ranked[:3]
            # The decoder must be able to come back to the first word that is left.
            reached = [u for u in ranked if u == min(free) or abs(u + 1 - min(free)) <= limit]
            jump = abs(next_ - last - 1)
            way = "back" if next_ <= last else "forward"
            if (7 if way == "back" else 6) < jump <= limit:
                long[way][0] += 1
                long[way][1] += next_ in reached[:3]
            free.remove(next_)
            last = next_
    return decisions, beyond, first, three, *long["back"], *long["forward"]


def test_rankings_equal_a_slow_twin(folder: Path, model: waw.WawModel) -> None:
    from wayword.corpus.annotate import read_factored

    src, _, link_file = files(folder, "test")
    sentences = list(read_factored(src))[:60]
    lines = link_file.read_text(encoding="utf-8").splitlines()[:60]
    links = [
        [(int(i), int(j)) for i, j in (link.split("-") for link in line.split())] for line in lines
    ]
    corpus = waw.Corpus.from_sentences(sentences, links)
    both = waw.train(corpus, objective="choice", coverage=True, min_count=2)
    for judge in (model, both):
        found = waw.evaluate(judge, corpus, limits=(3, 8, 18))
        for row, plain in zip(found.ranking, found.distance, strict=True):
            for ranking, own in ((row, judge), (plain, None)):
                expected = slow_ranking(sentences, links, ranking.limit, own)
                assert (
                    *(ranking.decisions, ranking.beyond, ranking.first, ranking.among_three),
                    *(ranking.long_back, ranking.long_back_among_three),
                    *(ranking.long_forward, ranking.long_forward_among_three),
                ) == expected


def test_what_spaces_leave_is_what_a_walk_finds(folder: Path, model: waw.WawModel) -> None:
    from wayword.corpus.annotate import read_factored

    src, _, link_file = files(folder, "test")
    sentences = list(read_factored(src))[:40]
    lines = link_file.read_text(encoding="utf-8").splitlines()[:40]
    links = [
        [(int(i), int(j)) for i, j in (link.split("-") for link in line.split())] for line in lines
    ]
    corpus = waw.Corpus.from_sentences(sentences, links)
    spaces = ["dl:5", "dl:18+waw(top=2,threshold=0.25,zone=1)", "dl:18+waw(top=1,zone=-1)"]
    for space, found in zip(spaces, waw.reach(model, corpus, spaces), strict=True):
        steps = kept = candidates = whole = 0
        for sentence, own in zip(sentences, links, strict=True):
            order = order_from_links(len(sentence), own)
            rows = np.nan_to_num(model.along(sentence, order, logs=False), nan=-99.0)
            covered, end, lost = [False] * len(order), 0, 0
            for step, next_ in enumerate(order):
                shown = _core.waw_options(space, covered, end, rows[step].tolist())
                candidates += shown.count("o")
                lost += shown[next_] != "o"
                covered[next_], end = True, next_ + 1
            steps, kept, whole = steps + len(order), kept + len(order) - lost, whole + (not lost)
        counts = (found.steps, found.kept, found.candidates, found.sentences, found.whole)
        assert counts == (steps, kept, candidates, 40, whole)
        assert found.to_dict()["right"] == pytest.approx(kept / steps)
    with pytest.raises(ArgumentError, match="space: found `itg`; expected `mono`"):
        waw.reach(model, corpus, ["itg"])


# --- definitions b.7 ------------------------------------------------------------------------------


def test_a_choice_shares_one_probability_among_the_words_left(corpus: waw.Corpus) -> None:
    model = waw.train(corpus, objective="choice", iterations=2)
    assert model.summary is not None
    assert model.summary.likelihood > model.summary.likelihood_before
    sentence = Sentence(EXAMPLE.words, ("PRON", "NOUN", "VERB", "NOUN", "PRON"), ())
    order = [2, 0, 1, 4, 3]
    for row in np.exp(model.along(sentence, order)):
        assert np.nansum(row) == pytest.approx(1)
    scores, logs = (model.along(sentence, order, logs=is_log) for is_log in (False, True))
    np.testing.assert_allclose(
        logs, scores - np.log(np.nansum(np.exp(scores), axis=1))[:, None], atol=1e-5
    )


def test_both_objectives_agree_where_there_is_one_rival(tmp_path: Path) -> None:
    # Two words, four times `a b` and once `b a`, and one feature for each jump: the share of a
    # choice is the logistic function of a difference, so without a prior both come to 4/5.
    links = [[(0, 0), (1, 1)]] * 40 + [[(0, 1), (1, 0)]] * 10
    corpus = waw.Corpus.from_sentences([["a", "b"]] * 50, links)
    options: dict[str, Any] = {"templates": "W", "min_count": 1, "prior": 0.0}
    for objective in ("each", "choice"):
        model = waw.train(
            corpus,
            objective=objective,
            tolerance=1e-12,
            iterations=500,
            optimiser="lbfgs",
            **options,
        )
        assert model.along(["a", "b"], [0, 1])[0][0] == pytest.approx(math.log(0.8), abs=0.01)
        model.write_text(tmp_path / "text")
        again = waw.WawModel.read_text(tmp_path / "text")
        assert again.recipe["objective"] == objective
        assert again._core.to_bytes() == model._core.to_bytes()


def test_what_is_translated_around_a_word_makes_features(
    corpus: waw.Corpus, tmp_path: Path
) -> None:
    model = waw.train(corpus, coverage=True, iterations=2, min_count=5)
    model.write_text(tmp_path / "text")
    text = (tmp_path / "text").read_text(encoding="utf-8")
    assert "coverage=true" in text.splitlines()[0]
    names = [line.split("\t")[0] for line in text.splitlines()]
    assert {"22|1", "22|8", "23|4|VERB"} <= set(names)
    assert any(name.startswith("24|") for name in names)
    weights = {
        name: float(weight) for name, weight in (line.split("\t") for line in text.splitlines()[1:])
    }
    sentence = Sentence(("er", "schläft", "heute"), ("PRON", "VERB", "ADV"), ())
    # First the second word; then around the first word: nothing before it (1), the word after it
    # is translated (2), both (3), it is the first that is left (4).
    margins = [weights["**BIAS**"]]
    margins += [weights.get(name, 0.0) for name in waw.features(sentence, 2, 1)]
    for bit in (1, 2, 3, 4):
        margins += [
            weights.get(name, 0.0) for name in (f"22|{bit}", f"23|{bit}|PRON", f"24|{bit}|er")
        ]
    expected = -math.log1p(math.exp(-sum(margins)))
    assert model.along(sentence, [1, 0, 2])[1][0] == pytest.approx(expected, abs=1e-5)


def test_a_gain_has_the_interval_of_its_sentences(folder: Path, model: waw.WawModel) -> None:
    import numpy as np

    from wayword.corpus.annotate import read_factored

    src, _, link_file = files(folder, "test")
    sentences = list(read_factored(src))[:40]
    lines = link_file.read_text(encoding="utf-8").splitlines()
    links = [
        [(int(i), int(j)) for i, j in (link.split("-") for link in line.split())] for line in lines
    ]
    single = [
        waw.evaluate(model, waw.Corpus.from_sentences([one], [own]), limits=(18,))
        for one, own in zip(sentences, links, strict=False)
    ]
    (gain,) = waw.evaluate(
        model, waw.Corpus.from_sentences(sentences, links[:40]), limits=(18,)
    ).gains
    decisions = sum(one.ranking[0].decisions for one in single)
    for share, margin, count in (
        (gain.top1, gain.top1_margin, "first"),
        (gain.top3, gain.top3_margin, "among_three"),
    ):
        more = [getattr(one.ranking[0], count) - getattr(one.distance[0], count) for one in single]
        assert share == pytest.approx(sum(more) / decisions)
        spread = np.std(more, ddof=1) * len(more) ** 0.5
        assert margin == pytest.approx(1.96 * spread / decisions)
    assert math.isnan(single[0].gains[0].top1_margin)


def test_the_model_beats_distance_on_sentences_it_has_not_seen(
    folder: Path, model: waw.WawModel
) -> None:
    found = waw.evaluate(model, waw.Corpus.read(*files(folder, "test")))
    assert found.classification.f1 > 0.8
    for row, plain, gain in zip(found.ranking, found.distance, found.gains, strict=True):
        assert row.top1 > plain.top1 + 0.05
        assert row.top3 > plain.top3
        assert gain.top1 - gain.top1_margin > 0.04
    assert math.isnan(waw.Classification(0, 0, 0, 5).precision)


# --- decoding -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def system(toy_folder: Path) -> System:
    return System.open(toy_folder / "system")


def with_waw(
    system: System, scorer: "waw.WawModel | Scorer", space: str = "dl:18", **weights: float
) -> Decoder:
    return Decoder(
        system.table,
        system.lms,
        orientation=system.orientation,
        features=[scorer.feature() if isinstance(scorer, waw.WawModel) else Given("waw", scorer)],
        weights={**system.weights, **weights},
        settings=Settings(pop_limit=100, space=space),
    )


def uniform(source: Source) -> Floats:
    return np.full((len(source) + 1, len(source)), 0.5)


def uneven(words: Source) -> npt.NDArray[np.float64]:
    """Another number for every step, so that pruning has something to choose from."""
    size = len(words)
    return np.random.default_rng(size).uniform(0.05, 0.95, (size + 1, size))


def test_a_callable_may_score_jumps(system: System) -> None:
    sentence = "ich habe gestern den Tee getrunken"
    decoder = with_waw(system, uniform, waw=1.0)
    (found,) = decoder.translate([sentence])
    assert found.features["waw"] == pytest.approx(6 * math.log(0.5), abs=1e-5)
    nbest = decoder.nbest([sentence], size=5)[0]
    assert nbest.features.shape[1] == len(decoder.weights)
    phrases = [(*phrase.src, phrase.target) for phrase in found.phrases]
    assert decoder.score(sentence, phrases).score == pytest.approx(found.score)


def test_the_feature_guides_the_order(system: System) -> None:
    words = ("ein", "alter", "Mann", "schläft")

    def backward(given: Source) -> Floats:
        size = len(given)
        matrix = np.full((size + 1, size), 0.01)
        matrix[0, size - 1] = 0.9
        for at in range(1, size):
            matrix[at + 1, at - 1] = 0.9
        return matrix

    decoder = with_waw(system, backward, waw=50.0)
    (found,) = decoder.translate([" ".join(words)])
    assert found.order[0] > found.order[-1]


def test_pruning_tries_less_and_uses_no_weight(system: System, toy_folder: Path) -> None:
    lines = (toy_folder / "corpus" / "dev.de").read_text(encoding="utf-8").splitlines()[:20]
    plain = with_waw(system, uniform).translate(lines)
    pruned = with_waw(system, uniform, "dl:18+waw(top=1,threshold=0,zone=0)").translate(lines)
    for one, other in zip(plain, pruned, strict=True):
        assert sorted(other.order) == list(range(len(other.source)))
        if one.statistics and other.statistics and len(one.source) > 6:
            assert other.statistics.scored < one.statistics.scored


def test_pruning_that_is_switched_off_changes_no_translation(
    system: System, toy_folder: Path
) -> None:
    lines = (toy_folder / "corpus" / "dev.de").read_text(encoding="utf-8").splitlines()[:20]

    def results(space: str, weight: float) -> list[tuple[float, tuple[int, ...], str]]:
        translations = with_waw(system, uneven, space, waw=weight).translate(lines)
        return [(result.score, result.order, result.text) for result in translations]

    for weight in (0.0, 0.7):
        plain = results("dl:18", weight)
        assert results("dl:18+waw(top=0,threshold=0,zone=-1)", weight) == plain
        assert results("dl:18+waw(top=1,threshold=0,zone=0)", weight) != plain  # it could have


def test_pruning_without_a_model_is_refused(system: System) -> None:
    with pytest.raises(ArgumentError) as caught:
        system.with_settings(space="dl:18+waw")
    assert str(caught.value) == (
        "space: found `dl:18+waw(top=3,threshold=0.1,zone=5)`, but no feature `waw` that rates "
        "words; expected a system with one, or `dl:18`"
    )
    with pytest.raises(ArgumentError) as caught:
        with_waw(system, uniform, "itg+lop")
    assert str(caught.value) == (
        "space: found `itg+lop(top=3,threshold=0.1,zone=5)`, but no feature `lop` that rates "
        "words; expected one of waw, or `itg`"
    )


def test_matrices_are_checked(system: System, tmp_path: Path) -> None:
    with pytest.raises(MismatchError, match="2×2 numbers for 2 words; expected 3×2"):
        with_waw(system, lambda _: np.ones((2, 2))).translate(["a b"])
    with pytest.raises(MismatchError, match="a number outside 0 to 1"):
        with_waw(system, lambda _: np.full((3, 2), 7.0)).translate(["a b"])
    path = tmp_path / "matrices.jsonl"
    row = {"words": ["a", "b"], "matrix": [[0.5, 0.5], [0, 0.5], [0.5, 0]]}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    decoder = with_waw(system, read_matrices(path), waw=1.0)
    assert decoder.translate(["a b"])[0].features["waw"] == pytest.approx(2 * math.log(0.5))
    with pytest.raises(MismatchError, match="matrix: none for `b a`"):
        decoder.translate(["b a"])
    path.write_text("{}\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"matrices.jsonl:1: no matrix; expected"):
        read_matrices(path)


def test_a_model_with_tags_reads_annotated_sentences(
    system: System, model: waw.WawModel, folder: Path
) -> None:
    decoder = with_waw(system, model, "dl:18+waw(top=3,threshold=0.1,zone=2)", waw=0.3)
    assert decoder.layers == {"pos", "chunks"}
    lines = files(folder, "test")[0].read_text(encoding="utf-8").splitlines()[:10]
    sources = [Source.of(line).with_factors() for line in lines]
    for source, found in zip(sources, decoder.translate(sources), strict=True):
        assert found.source == source.words
        assert found.features["waw"] < 0
    advice = "annotate the text as the training text was"
    for text, layer in (("das Haus", "tags"), ("das|DET Haus|NOUN", "chunks")):
        with pytest.raises(FormatError) as caught:
            decoder.translate([sources[0], Source.of(text).with_factors()])
        assert str(caught.value) == (
            f"sentence:2: words without {layer}; expected {layer}, which the model of feature "
            f"`waw` looks at; {advice}"
        )


def test_a_system_keeps_its_model(system: System, model: waw.WawModel, tmp_path: Path) -> None:
    model.save(tmp_path / "waw")
    settings = Settings(space="dl:18+waw(top=3,threshold=0.1,zone=5)", pop_limit=50)
    part = open_part(entry("waw", "waw", file="waw"), tmp_path)
    System([*system.parts, part], settings=settings).save(tmp_path / "system")
    again = System.open(tmp_path / "system")
    again.verify()
    assert "waw" in again.weights
    assert again.settings.space == settings.space
    (found,) = again.translate(["er|PRON|B-NP schläft|VERB|B-VP"], prepared=True)
    assert found.source == ("er", "schläft")


# --- pictures and commands ------------------------------------------------------------------------


def test_the_heat_map_marks_steps_and_pruned_cells() -> None:
    matrix = np.full((4, 3), 0.02)
    matrix[0, 2] = matrix[3, 0] = matrix[1, 1] = 0.9
    words = ("a", "b", "<c>")
    shown = heat.draw(words, matrix, order=(2, 0, 1), space="dl:6+waw(top=1,threshold=0,zone=-1)")
    assert shown.count("●") == 3
    assert shown.count("×") == 3  # `a` and `b` at the start, `b` after `<c>`
    html = heat.draw(words, matrix, order=(2, 0, 1), html=True)
    assert html.count("●") == 3
    assert "&lt;c&gt;" in html
    assert "<c>" not in html
    assert "●" not in heat.draw(words, matrix)


def test_the_command_trains_evaluates_and_draws(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "de.waw"
    train = ["waw", "train", *map(str, files(folder, "train")), "-o", str(out)]
    assert main([*train, "--templates", "P", "--iterations", "10", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["templates"] == "P"
    assert summary["likelihood"] > summary["likelihood_before"]
    test = ["waw", "evaluate", str(out), *map(str, files(folder, "test"))]
    assert main(test) == 0
    shown = capsys.readouterr().out
    assert "Top-3-long back" in shown
    assert shown.count("\ndistance") == 2
    assert "gain in Top-1" in shown
    assert main([*test, "--json", "--dl", "8"]) == 0
    found = json.loads(capsys.readouterr().out)[str(out)]
    assert found["ranking"][0]["limit"] == 8
    assert found["ranking"][0]["top1"] > found["distance"][0]["top1"]
    one = [tmp_path / path.name for path in files(folder, "test")]
    for path, whole in zip(one, files(folder, "test"), strict=True):
        path.write_text(whole.read_text(encoding="utf-8").split("\n")[0] + "\n", encoding="utf-8")
    alone = ["waw", "evaluate", str(out), *map(str, one)]
    assert main([*alone, "--json"]) == 0
    shown = capsys.readouterr().out
    assert "NaN" not in shown
    assert json.loads(shown)[str(out)]["gains"][0]["top1_margin"] is None
    assert main(alone) == 0
    assert "nan" not in capsys.readouterr().out
    sentence = "er|PRON schläft|VERB"
    assert main(["waw", "show", str(out), sentence, "--order", "0 1"]) == 0
    assert "schläft" in capsys.readouterr().out
    assert main(["waw", "show", str(out), sentence, "--order", "0 0"]) == 2
    assert "order: found `0 0`" in capsys.readouterr().err
    text = tmp_path / "text"
    assert main(["waw", "text", str(out), "-o", str(text)]) == 0
    assert text.read_text(encoding="utf-8").startswith("# wayword waw templates=P delta=18")
