"""The word order of a pair: what is counted, what is advised, how pairs compare."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.align import Links
from wayword.cli import main
from wayword.corpus import Bitext, toy
from wayword.errors import ArgumentError, FormatError, MismatchError
from wayword.oracle import Space
from wayword.pipeline import plan, train
from wayword.profile import profile
from wayword.profile.advice import Figures, advise, advised_space
from wayword.profile.many import compare, distance
from wayword.profile.orders import JUMP, Orders, reversals
from wayword.profile.samples import patterns, telling
from wayword.reorder.order import order_from_links
from wayword.report.profile import Profile, load_profile


def toy_text(
    name: str, size: int = 300, seed: int = 1
) -> tuple[Bitext, Links, list[tuple[str, ...]]]:
    pairs = list(toy.generate(name, size, seed=seed))
    bitext = Bitext.from_pairs((" ".join(pair.src), " ".join(pair.tgt)) for pair in pairs)
    return bitext, Links.from_lists(pair.links for pair in pairs), [pair.pos for pair in pairs]


def card_of(name: str, size: int = 300, seed: int = 1, **options: Any) -> Profile:
    bitext, links, tags = toy_text(name, size, seed)
    return profile(bitext, links, name=name, tags=tags, **options)


LINKS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=9)


# --- what is counted -----------------------------------------------------------------------------


@given(st.lists(LINKS, min_size=1, max_size=4))
def test_orders_limits_and_jumps_are_those_of_a_loop(
    sentences: list[list[tuple[int, int]]],
) -> None:
    links = Links.from_lists(sentences)
    found = Orders.of(links, [7] * len(sentences))
    jumps = np.zeros(2 * JUMP + 1, dtype=int)
    for number, of_sentence in enumerate(sentences):
        order = order_from_links(7, sorted(set(of_sentence)))
        assert found.order(number).tolist() == order
        limit = next(k for k in range(8) if Space(f"dl:{k}").contains(order))
        assert max(int(found.limits[number]), 0) == (0 if order == list(range(7)) else limit)
        before = -1
        for word in order:
            jumps[word - before - 1 + JUMP] += 1
            before = word
    assert found.jumps.sum(axis=0).tolist() == jumps.tolist()


@given(st.lists(LINKS, min_size=1, max_size=4))
def test_reversals_are_those_of_a_loop_over_pairs(sentences: list[list[tuple[int, int]]]) -> None:
    found = reversals(Links.from_lists(sentences), [7] * len(sentences))
    pairs, turned, right, left = 0, 0, [0] * 7 * len(sentences), [0] * 7 * len(sentences)
    for number, of_sentence in enumerate(sentences):
        keys = {i: min(tgt for src, tgt in of_sentence if src == i) for i, _ in of_sentence}
        for i, j in combinations(sorted(keys), 2):
            pairs += 1
            if keys[i] > keys[j]:
                turned += 1
                right[7 * number + i] += 1
                left[7 * number + j] += 1
    assert (found.pairs.sum(), found.reversed.sum()) == (pairs, turned)
    assert (found.rightward.tolist(), found.leftward.tolist()) == (right, left)
    assert found.of_sentences.sum(axis=0).tolist() == [pairs, turned]


def test_the_shares_of_a_limit_are_those_of_the_oracle() -> None:
    card = card_of("de-en", oracle=0)
    for row in card.spaces:
        if row["space"].startswith("dl:"):
            assert card.reached[int(row["space"][3:])] == pytest.approx(row["reached"])
    assert card.monotone == pytest.approx(card.spaces[0]["reached"])


def test_spaces_may_be_measured_on_some_sentences() -> None:
    card = card_of("de-en", oracle=40)
    assert card.asked == 40
    assert {row["sentences"] for row in card.spaces} == {40}


def test_orientation_is_that_of_a_table(tmp_path: Path) -> None:
    from wayword.extract import MODELS, extract

    bitext, links, _ = toy_text("ja-en", 100)
    summary = extract(bitext, links, tmp_path / "table", models=MODELS)
    card = profile(bitext, links)
    for model in MODELS:
        assert card.orientation[model] == pytest.approx(summary.shares(model))


def test_verbs_move_left_from_a_language_with_the_verb_last() -> None:
    by_tag = {mover.name: mover for mover in card_of("ja-en").movers}
    assert by_tag["VERB"].left > 0.5 > by_tag["VERB"].right
    assert by_tag["ADP"].turned > 0.4  # postpositions
    assert {mover.name: mover for mover in card_of("de-en").movers}["ADP"].turned < 0.4


def test_words_are_told_of_where_there_are_no_tags() -> None:
    bitext, links, _ = toy_text("de-en")
    card = profile(bitext, links)
    assert (card.movers_are, len(card.movers) > 20) == ("word", True)
    assert card.movers[0].passed >= card.movers[1].passed


def test_patterns_and_telling_sentences() -> None:
    orders = [[0, 1, 4, 2, 3], [0, 1, 2, 3, 4], [1, 2, 3, 4, 0]]
    flat = np.array([word for order in orders for word in order], dtype=np.uint32)
    lengths = np.array([5, 5, 5])
    found = patterns(flat, lengths)
    assert [(one.blocks, one.sentences) for one in found] == [((1, 3, 2), (0,)), ((2, 1), (2,))]
    # a sentence with too few links is not telling
    assert telling(found, lengths, np.array([1.0, 1.0, 0.5]), 10) == [(found[0], 0)]


def test_a_text_without_words_is_measured_too() -> None:
    card = profile(Bitext.from_pairs([("", "")]), Links.from_lists([[]]))
    assert (card.reversed, card.links) == (0, 0)
    assert "<main" in card.to_html()
    assert str(card)


def test_a_profile_is_the_same_for_any_number_of_threads() -> None:
    assert card_of("ar-en", threads=1) == card_of("ar-en", threads=3)


def test_links_and_tags_of_another_text_are_refused() -> None:
    bitext, links, tags = toy_text("de-en", 20)
    with pytest.raises(MismatchError, match="found links of 1 sentences, and 20 sentence pairs"):
        profile(bitext, Links.from_lists([[]]))
    with pytest.raises(MismatchError, match="expected one for each word"):
        profile(bitext, links, tags=tags[:-1])


# --- what is advised -----------------------------------------------------------------------------

STRAIGHT = dict.fromkeys((4, 6, 8, 10, 18), 0.0)
FIGURES = Figures(
    reversed=0.1,
    beyond={4: 0.08, 6: 0.05, 8: 0.03, 10: 0.02, 18: 0.005},
    far=0.0,
    phrase_d=0.5,
    hierarchical_d=0.3,
)


def test_advice_follows_the_figures() -> None:
    assert advised_space(advise(FIGURES)) == "dl:10"
    near = Figures(**{**vars(FIGURES), "beyond": {**FIGURES.beyond, 6: 0.01}})
    assert advised_space(advise(near)) == "dl:6"
    # nothing beyond what a decoder can use alone, and all that a model of order can tell
    far = Figures(**{**vars(FIGURES), "beyond": dict.fromkeys(FIGURES.beyond, 0.2)})
    assert advised_space(advise(far)) == "dl:10"
    assert advised_space(advise(far, ["lop"])) == "dl:18"
    pruned = advised_space(advise(far, ["waw", "neural"]))
    assert pruned == "dl:18+neural(top=8,threshold=0.02,zone=0)"
    named = [next(one.value for one in advise(f) if "features" in one.key) for f in (far, near)]
    assert named == ['["neural"]', '["neural"]']
    straight = Figures(0.0, STRAIGHT, 0.0, 0.1, 0.1)
    assert [one.value for one in advise(straight)] == ["mono", "[]", "", ""]


def test_advice_is_in_words_of_the_configuration() -> None:
    from wayword.config import explain

    for one in (*advise(FIGURES), *advise(Figures(0.2, FIGURES.beyond, 0.2, 0.5, 0.5))):
        assert explain(one.key)
        assert one.why


def test_training_takes_the_advised_space(tmp_path: Path, capsys: Any) -> None:
    toy.write("de-en", 300, tmp_path, seed=1)
    src, tgt = tmp_path / "train.de", tmp_path / "train.en"
    quick = {"lm": {"order": 3}, "tune": {"runs": 1, "rounds": 1}, "search": {"space": "auto"}}
    names = [stage.name for stage in plan(src, tgt, quick).stages]
    assert names == ["doctor", "prepare", "align", "extract", "lm", "profile", "tune"]
    system = train(src, tgt, tmp_path / "system", config=quick)
    [advice, *_] = system.made["advice"]
    assert (advice["key"], advice["value"]) == ("search.space", system.settings.space)
    assert system.settings.space.startswith("dl:")
    choices = ["lm.order=3", "tune.runs=1", "tune.rounds=1", "search.space=auto"]
    command = ["train", str(src), str(tgt), "-o", str(tmp_path / "system"), "--set", *choices]
    assert main(command) == 0
    assert f"search.space {system.settings.space}, as advised" in capsys.readouterr().out


def test_a_space_that_is_open_is_settled_by_training_alone() -> None:
    from wayword.config import Config

    with pytest.raises(ArgumentError, match=r"tune\.space: found `auto`; expected a space"):
        Config.from_dict({"tune": {"space": "auto"}})


# --- many pairs ----------------------------------------------------------------------------------


def test_distances_of_pairs() -> None:
    cards = [card_of("de-en"), card_of("ja-en"), card_of("ja-en", seed=2)]
    many = compare(cards, resamples=50)
    assert many.names == ("de-en", "ja-en 1", "ja-en 2")
    assert many.distances[1][2] < many.distances[0][1]
    for i, j in combinations(range(3), 2):
        assert many.low[i][j] <= many.distances[i][j] * 1.1
        assert many.low[i][j] < many.high[i][j]
        assert many.distances[i][j] == many.distances[j][i]
    assert {many.joins[0].first, many.joins[0].second} == {1, 2}
    assert many.joins[-1].support == 1
    late = {row.name: (row.verbs or 0, row.adpositions or 0) for row in many.rows}
    assert late["ja-en 1"] > (0.4, 0.4)
    assert compare(cards, resamples=50) == many


def test_a_distance_is_that_of_its_formula() -> None:
    p, q = np.array([3.0, 1.0]), np.array([1.0, 1.0])
    mean = (p / 4 + q / 2) / 2
    parts = [side @ np.log2(side / mean) for side in (p / 4, q / 2)]
    assert distance(p, q) == pytest.approx(np.sqrt(sum(parts) / 2))


def test_profiles_are_read_again(tmp_path: Path) -> None:
    card = card_of("de-en", 60)
    path = tmp_path / "de-en.json"
    path.write_text(json.dumps(card.to_dict()), encoding="utf-8")
    assert json.loads(json.dumps(load_profile(path).to_dict())) == json.loads(path.read_text())
    for text in ("{}", "[]", "no", '{"format": "wayword-profile-2"}'):
        path.write_text(text)
        with pytest.raises(FormatError, match="expected what `wayword profile --json` prints"):
            load_profile(path)


def test_one_profile_cannot_be_compared() -> None:
    with pytest.raises(ArgumentError, match="found 1 profile; expected two or more"):
        compare([card_of("de-en", 20)])


# --- pages and commands --------------------------------------------------------------------------


def test_pages_hold_what_is_told() -> None:
    card = card_of("de-en")
    page = card.to_html()
    assert len(page.encode()) < 300_000
    assert page.count('class="link') > 20
    assert all(f"line {sample.line} " in page for sample in card.samples)
    assert "search.space" in card._repr_html_()


def test_raw_text_is_prepared_and_linked_on_the_way(tmp_path: Path, capsys: Any) -> None:
    toy.write("ja-en", 100, tmp_path, seed=1)
    text = [str(tmp_path / "train.ja"), str(tmp_path / "train.en")]
    assert main(["profile", *text, "--json", "--html", str(tmp_path / "page.html")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["name"], told["sentences"]) == ("ja–en", 100)
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    assert main(["profile", *text, "--prepared", "--src-lang", "x", "--tgt-lang", "y"]) == 0
    assert "x–y" in capsys.readouterr().out
