"""What users see of the oracles, against brute force and against the decoder."""

import json
import random
from collections import Counter
from itertools import pairwise, permutations, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword import _core
from wayword.align import Links
from wayword.cli import main
from wayword.errors import ArgumentError, LimitError
from wayword.evaluate import Gold
from wayword.oracle import Space
from wayword.oracle.bleu import CandidateOptions, Candidates, bleu_oracle
from wayword.oracle.order import order_oracle
from wayword.oracle.phrase import phrase_oracle
from wayword.oracle.texts import read_texts
from wayword.papers.dreyer_et_al_2007 import EPSILON, sentence_bleu
from wayword.reorder.order import kendall_distance
from wayword.report.lattice import draw
from wayword.report.oracle import bleu_table, curves
from wayword.system import System

COUNTS = {
    "mono": [1] * 8,
    "mj1": [1, 2, 3, 5, 8, 13, 21, 34],
    "mj2": [1, 2, 6, 11, 23, 52, 108, 229],
    "ibm:2": [1, 2, 4, 8, 16, 32, 64, 128],
    "ibm:3": [1, 2, 6, 18, 54, 162, 486, 1458],
    "ibm:4": [1, 2, 6, 24, 96, 384, 1536, 6144],
    "itg": [1, 2, 6, 22, 90, 394, 1806, 8558],
    "dl:1": [1] * 8,
    "dl:2": [1, 2, 3, 5, 8, 13, 21, 34],
    "dl:3": [1, 2, 6, 12, 25, 53, 112, 239],
    "dl:4": [1, 2, 6, 24, 60, 150, 375, 989],
    "dl:5": [1, 2, 6, 24, 120, 360, 1050, 3024],
    "dl:6": [1, 2, 6, 24, 120, 720, 2520, 8400],
    "dl:-1": [1, 2, 6, 24, 120, 720, 5040, 40320],
}
SPACES = (*COUNTS, "itg:0", "itg:2", "itg:3", "itg:4", "itg:5")
#: Every space lies in the next.
CHAINS = (
    ("mono", "mj1", "mj2", "ibm:3", "ibm:4", "dl:-1"),
    ("mono", "itg:2", "itg:3", "itg:4", "itg:5", "itg", "dl:-1"),
    ("mj1", "ibm:2", "ibm:3"),
    ("ibm:2", "itg"),
    ("dl:2", "dl:3", "dl:4", "dl:5", "dl:6"),
)
REFERENCE = "if you could explain that to me"
PHRASES = ["if", "you", "to me", "that", "explain", "could"]


def orders(name: str, length: int) -> set[tuple[int, ...]]:
    return {tuple(order) for order in Space(name).orders(length)}


# --- spaces -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_those_of_the_definitions(name: str) -> None:
    assert [Space(name).count(n) for n in range(1, 9)] == COUNTS[name]


@pytest.mark.parametrize("name", SPACES)
def test_counting_listing_and_membership_agree(name: str) -> None:
    for n in range(7):
        members = {order for order in permutations(range(n)) if Space(name).contains(order)}
        listed = list(Space(name).orders(n))
        assert listed == sorted(listed)
        assert {tuple(order) for order in listed} == members
        assert Space(name).count(n) == len(listed) == len(members)


def test_bounded_trees_at_six_items() -> None:
    assert [Space(f"itg:{k}").count(6) for k in (0, 1, 2, 3, 4, 5, 6)] == [
        *(1, 1, 13, 52, 107, 197, 394)
    ]
    for n in range(1, 8):
        assert orders("itg:2", n) == orders("mj1", n)
        assert orders("itg:3", n) == orders("mj2", n)


def test_inclusions_at_six_items() -> None:
    sets = {name: orders(name, 6) for name in SPACES}
    for chain in CHAINS:
        for smaller, larger in pairwise(chain):
            assert sets[smaller] <= sets[larger], (smaller, larger)
    assert not sets["mj2"] <= sets["ibm:2"]
    assert not sets["ibm:3"] <= sets["itg"]
    assert not sets["itg"] <= sets["ibm:4"]
    for order in ([2, 0, 3, 1], [1, 3, 0, 2]):  # cadb, bdac
        inside = {name for name in COUNTS if Space(name).contains(order)}
        assert inside & {"mj1", "mj2", "ibm:2", "itg"} == set()
        assert {"ibm:3", "ibm:4"} <= inside


def test_lattices_have_the_papers_states_and_the_right_paths() -> None:
    states = {name: Space(name).lattice(6).states for name in ("mj1", "mj2", "ibm:2", "ibm:4")}
    assert states == {"mj1": 12, "mj2": 23, "ibm:2": 22, "ibm:4": 57}
    assert Space("dl:6").lattice(20).count == Space("dl:6").count(20)


@pytest.mark.parametrize("name", ["mj1", "mj2", "ibm:2", "itg", "itg:3", "dl:3"])
def test_every_order_is_drawn_equally_often(name: str) -> None:
    drawn = Counter(map(tuple, Space(name).sample(4, 4400, seed=7)))
    members = orders(name, 4)
    assert set(drawn) == members
    expected = 4400 / len(members)
    chi = sum((count - expected) ** 2 / expected for count in drawn.values())
    assert chi < 2.5 * len(members) + 12  # far beyond what chance gives
    assert Space(name).sample(9, 3, seed=2) == Space(name).sample(9, 3, seed=2)


def test_long_orders_are_drawn_and_are_in_the_space() -> None:
    for name in ("itg", "itg:10", "ibm:4", "mj2", "dl:6"):
        for order in Space(name).sample(60, 5, seed=3):
            assert Space(name).contains(order)


def test_large_counts_are_exact() -> None:
    assert Space("ibm:4").count(20) == 24 * 4**16
    assert Space("itg").count(60) == schroeder(60)
    assert Space("mj1").count(300) == fibonacci(300)


def schroeder(n: int) -> int:
    """By its own definition: an order is one item, or two parts straight or inverted."""
    counts = [1, 1, 2]  # by items; half of those of two or more are rows, half are inverted
    for items in range(3, n + 1):
        parts = sum(counts[m] // 2 * counts[items - m] for m in range(2, items))
        counts.append(2 * (counts[items - 1] + parts))
    return counts[n]


def fibonacci(n: int) -> int:
    first, second = 1, 1
    for _ in range(n):
        first, second = second, first + second
    return first


def test_wrong_spaces_and_orders_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"space: found `itg:x`; expected `mono`, `mj1`"):
        Space("itg:x")
    with pytest.raises(ArgumentError, match="3 numbers that are no permutation"):
        Space("itg").contains([0, 0, 1])
    with pytest.raises(ArgumentError, match="expected 0 items or more"):
        Space("itg").count(-1)
    with pytest.raises(LimitError, match="more than 2000000 states"):
        Space("dl:-1").lattice(30)


def test_a_picture_has_every_state_and_arc() -> None:
    lattice = Space("ibm:2").lattice(6)
    picture = draw(lattice.layers, lattice.arcs, PHRASES, title="ibm:2")
    assert picture.count("<circle") == 22
    assert picture.count("<path") == len(lattice.arcs)
    assert "to me" in picture


# --- nearest orders -----------------------------------------------------------------------------


@given(st.integers(2, 6).flatmap(lambda n: st.permutations(range(n))))
def test_nearest_orders_are_those_of_brute_force(gold: list[int]) -> None:
    for name in SPACES:
        found = Space(name).nearest(gold)
        assert Space(name).contains(found)
        least = min(kendall_distance(order, gold) for order in Space(name).orders(len(gold)))
        assert kendall_distance(found, gold) == least


def test_widening_never_moves_the_nearest_order_away() -> None:
    rng = random.Random(5)
    for _ in range(20):
        gold = list(range(14))
        rng.shuffle(gold)
        for chain in CHAINS:
            far = [kendall_distance(Space(name).nearest(gold), gold) for name in chain]
            assert far == sorted(far, reverse=True), chain


def test_the_order_oracle_needs_links_alone() -> None:
    links = Links.from_lists([[(0, 1), (1, 0)], [(0, 1), (1, 3), (2, 0), (3, 2)], []])
    rows = {row.space: row for row in order_oracle(links, ["mono", "mj1", "itg", "ibm:3"])}
    assert rows["mono"].reached == pytest.approx(1 / 3)  # the sentence without links
    assert rows["mono"].wrong == 4 / 7
    assert rows["itg"].reached == pytest.approx(2 / 3)  # 2 0 3 1 is no tree's
    assert rows["itg"].wrong == 1 / 7
    assert rows["ibm:3"].reached == 1
    assert rows["ibm:3"].kept == 1
    one, two = (order_oracle(links, ["itg"], threads=threads) for threads in (1, 3))
    assert one == two


def test_a_sentence_that_takes_too_long_is_counted_as_unsolved() -> None:
    rng = random.Random(1)
    gold = list(range(40))
    rng.shuffle(gold)
    links = Links.from_lists([list(enumerate(gold)), [(0, 0)]])
    [row] = order_oracle(links, ["dl:18"], most=100)
    assert (row.sentences, row.unsolved, row.reached) == (2, 1, 1.0)


# --- BLEU ---------------------------------------------------------------------------------------


def test_table_1_of_the_paper() -> None:
    candidates = Candidates.of_lists([[REFERENCE]], [[PHRASES]])
    spaces = ("mj1", "mj2", "ibm:2", "ibm:4", "itg", "itg:4", "itg:3", "itg:2", "itg:1")
    gold = Gold(refs=[[REFERENCE]])
    result, best = bleu_oracle(candidates, gold, spaces, lengths=[6], bins=())
    [row] = result.rows
    shown = [round(row.scores[space][0], 2) for space in spaces]
    assert shown == [0.0, 70.71, 0.0, 100.0, 100.0, 100.0, 70.71, 0.0, 0.0]
    assert best["mj1"][0].text == best["ibm:2"][0].text == "if you that to me could explain"
    assert best["mj1"][0].score == pytest.approx(0.0019108856, abs=1e-10)
    assert best["mj2"][0].text == "to me if you could explain that"
    assert best["itg"][0].text == REFERENCE
    assert all(one.exact for of_space in best.values() for one in of_space)


def random_problem(rng: random.Random) -> tuple[list[str], list[list[str]]]:
    words = list("abcdef")
    refs = [" ".join(rng.choices(words, k=rng.randint(1, 9))) for _ in range(rng.randint(1, 3))]

    def phrase() -> str:
        return " ".join(rng.choices([*words, "x"], k=rng.randint(1, 3)))

    return refs, [[phrase() for _ in range(rng.randint(1, 5))] for _ in range(2)]


def test_widening_never_lowers_the_bleu_oracle_and_threads_change_nothing() -> None:
    rng = random.Random(11)
    problems = [random_problem(rng) for _ in range(150)]
    refs, phrases = zip(*problems, strict=True)
    candidates = Candidates.of_lists(refs, phrases)

    def worth(space: str) -> list[float]:
        from wayword.evaluate.metric import brevity

        best = candidates.best(space)
        assert best == candidates.best(space, threads=3)
        lengths = [[len(ref.split()) for ref in of_sentence] for of_sentence in refs]
        closest = [
            min(of_sentence, key=lambda length: (abs(length - len(one.text.split())), length))
            for one, of_sentence in zip(best, lengths, strict=True)
        ]
        return [
            one.score * brevity(len(one.text.split()), length)
            for one, length in zip(best, closest, strict=True)
        ]

    found = {space: worth(space) for chain in CHAINS for space in chain}
    for chain in CHAINS:
        for smaller, larger in pairwise(chain):
            pairs = zip(found[smaller], found[larger], strict=True)
            assert all(less <= more + 1e-12 for less, more in pairs), (smaller, larger)


def test_a_beam_never_scores_above_the_exact_answer() -> None:
    rng = random.Random(3)
    problems = [random_problem(rng) for _ in range(60)]
    candidates = Candidates.of_lists(*zip(*problems, strict=True))
    exact = candidates.best("itg")
    for options in ({"beam": 1e-1}, {"beam": 1e-4}, {"keep": 1}):
        for best, narrow in zip(exact, candidates.best("itg", **options), strict=True):
            assert narrow.score <= best.score + 1e-12 or narrow.candidate != best.candidate


def test_candidates_of_a_table_are_monotone_and_whole(toy_folder: Path) -> None:
    corpus = toy_folder / "corpus"
    system = toy_folder / "system"
    texts = read_texts(system, corpus / "test.de", [corpus / "test.en"], prepared=True)
    candidates = Candidates.of_table(texts.table, texts.src[:40], texts.refs[:40])
    for number, line in enumerate(texts.src[:40]):
        every = candidates[number]
        assert 1 <= len(every) <= 10
        assert len({" ".join(phrase.target for phrase in one) for one in every}) == len(every)
        for one in every:
            covered = [place for phrase in one for place in range(*phrase.src)]
            assert covered == list(range(len(line.split())))
            assert all(phrase.src[1] - phrase.src[0] <= 3 for phrase in one)
    gold = Gold(refs=[ref[:40] for ref in texts.gold.refs])
    spaces = ("mono", "mj1", "ibm:4", "itg")
    result, _ = bleu_oracle(candidates, gold, spaces, lengths=texts.lengths[:40], bins=(5, 10))
    mono, mj1, ibm, itg = (result.rows[-1].scores[space][0] for space in spaces)
    assert mono < mj1 < itg
    assert ibm > mono
    assert "CPU s" in bleu_table(result).text()
    assert curves(result).count("<polyline") == 4


def test_wrong_options_of_the_bleu_oracle_are_refused() -> None:
    candidates = Candidates.of_lists([["a"]], [[["a"]]])
    with pytest.raises(ArgumentError, match="beam: found 2; expected a number from 0"):
        candidates.best("itg", beam=2.0)
    with pytest.raises(ArgumentError, match="keep: found 0; expected 1 or more"):
        CandidateOptions(keep=0)
    with pytest.raises(ArgumentError, match="mixture: found 2"):
        CandidateOptions(mixture=2)
    with pytest.raises(ArgumentError, match="as many of each"):
        Candidates.of_lists([["a"]], [])
    assert Candidates.of_lists([["a"]], [[]]).best("itg")[0].text == ""


# --- reach --------------------------------------------------------------------------------------


def test_no_oracle_is_below_the_systems_own_output(toy_folder: Path) -> None:
    corpus = toy_folder / "corpus"
    system = System.open(toy_folder / "system")
    src = (corpus / "test.de").read_text().splitlines()[:30]
    refs = (corpus / "test.en").read_text().splitlines()[:30]
    for space in ("mono", "dl:6", "itg"):
        reach = phrase_oracle(
            system, src, Gold(refs=[refs]), space=space, pop_limit=200, nbest=20, bins=()
        )
        [row] = reach.rows
        assert row.output <= row.reached + 1e-9 <= row.any_order + 2e-9
        assert row.by_model + row.by_space + row.by_table == pytest.approx(100 - row.output)
        for sentence, ref in zip(reach.sentences, refs, strict=True):
            if sentence.missing:
                assert not sentence.exact
                assert set(sentence.missing) <= set(ref.split())


def tiny_system(folder: Path, pairs: list[tuple[str, str]]) -> System:
    """A system of word pairs; each word pair is seen alone."""
    from tests.systems import WEIGHTS

    from wayword import extract, lm
    from wayword.corpus import Bitext
    from wayword.decode import Settings
    from wayword.parts.part import entry, open_part

    links = [[(at, at) for at in range(len(src.split()))] for src, _ in pairs]
    extract.extract(Bitext.from_pairs(pairs), links, folder / "phrase-table")
    (folder / "text").write_text("".join(f"{tgt}\n" for _, tgt in pairs))
    lm.train(folder / "text", folder / "lm", order=2)
    table = entry("phrase-table", "phrase-table", file="phrase-table")
    parts = [open_part(values, folder) for values in (table, entry("lm", "lm", file="lm"))]
    return System(parts, weights=WEIGHTS, settings=Settings())


def test_words_that_no_phrase_offers_are_named(tmp_path: Path) -> None:
    system = tiny_system(tmp_path, [("a", "x"), ("b", "y"), ("c", "z"), ("b c", "y z")])
    gold = Gold(refs=[["z x y q"]])
    reach = phrase_oracle(system, ["a b c"], gold, space="mono", pop_limit=0, bins=())
    [sentence] = reach.sentences
    assert (sentence.reached, sentence.any_order) == ("x y z", "z x y")
    assert sentence.missing == ("q",)


@pytest.mark.parametrize("space", ["mono", "mj1", "ibm:2", "itg", "dl:-1"])
def test_an_unpruned_search_is_brute_force(space: str, tmp_path: Path) -> None:
    options = {"a": ("x", "v"), "b": ("y", "x"), "c": ("z", "y"), "d": ("w", "z")}
    pairs = [(src, tgt) for src, targets in options.items() for tgt in targets]
    system = tiny_system(tmp_path, pairs)
    rng = random.Random(4)
    refs = [" ".join(rng.choices("xyzvw", k=rng.randint(2, 6))) for _ in range(12)]
    src = ["a b c d"] * len(refs)
    reach = phrase_oracle(
        system, src, Gold(refs=[refs]), space=space, pop_limit=0, nbest=1000, bins=()
    )
    words = [options[word] for word in "abcd"]
    for ref, sentence in zip(refs, reach.sentences, strict=True):
        most = max(
            sentence_bleu(" ".join(chosen[at] for at in order), [ref], EPSILON)
            for order in Space(space).orders(4)
            for chosen in product(*words)
        )
        assert sentence_bleu(sentence.reached, [ref], EPSILON) == pytest.approx(most, rel=1e-9)


# --- the command --------------------------------------------------------------------------------


def test_every_action_prints_json(toy_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, system = toy_folder / "corpus", toy_folder / "system"
    text = [str(corpus / "test.de"), str(corpus / "test.en")]
    linked = [*text, str(corpus / "test.links")]
    out = str(toy_folder / "oracle")
    for action in (
        ["count", "itg", "8"],
        ["order", *linked, "--space", "mono", "itg", "--bins", "5"],
        ["order", linked[2], "--space", "mj1"],
        ["bleu", str(system), *text, "--prepared", "--space", "mono", "itg", "-o", out],
        ["phrase", str(system), *text, "--prepared", "--pop-limit", "50", "--nbest", "5"],
    ):
        assert main(["oracle", *action, "--json"]) == 0, capsys.readouterr().err
        assert json.loads(capsys.readouterr().out)
    written = {path.name for path in Path(out).iterdir()}
    assert written == {
        *("table.md", "table.tex", "table.csv", "table.json", "curves.svg"),
        *("mono.txt", "itg.txt"),
    }


def test_the_core_refuses_text_that_does_not_fit() -> None:
    with pytest.raises(ArgumentError, match="as many of each"):
        _core.oracle_distances(
            "itg", Links.from_lists([[]])._core, [], "mean", most=1, threads=1, progress=None
        )
