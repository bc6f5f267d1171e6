"""Evaluation: definitions j, agreement with sacrebleu, chance, files, the command, drawings."""

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from wayword import Bitext, align
from wayword.cli import main
from wayword.errors import ArgumentError, FormatError, MismatchError, WaywordError
from wayword.evaluate import (
    METRICS,
    Comparison,
    Gold,
    Options,
    Output,
    compare,
    drill,
    make_metric,
    read,
    significance,
)
from wayword.evaluate.compare import default_metrics
from wayword.evaluate.meteor import match
from wayword.evaluate.metric import brevity
from wayword.evaluate.order import krs, krs_v, ribes
from wayword.reorder.order import order_from_links, rank_of
from wayword.report.case import draw
from wayword.report.evaluate import describe

CAT = "the cat sat on mat"
MAT = "the cat sat on the mat"


def score(name: str, hyps: list[str], *refs: list[str], **options: Any) -> float:
    metric = make_metric(name, Gold(refs=list(refs)), Options(**options))
    return metric.corpus_score(Output("hyp", hyps))


# --- definitions j.1 -----------------------------------------------------------------------------


def test_bleu_of_two_sentences_and_references() -> None:
    gold = Gold(refs=[[MAT, "a b c d f"], ["the cat is on the mat", "a b x d e"]])
    metric, output = make_metric("bleu", gold), Output("hyp", [CAT, "a b c d e"])
    assert metric.corpus_score(output) == pytest.approx(66.49549929951772, abs=1e-12)
    # lengths 10 and 11, matches, totals; exp(1 - 11/10) = 0.9048374180
    expected = [10, 11, 10, 7, 4, 2, 10, 8, 6, 4]
    assert metric.statistics(output).sum(axis=0).tolist() == expected


def test_bleu_of_a_moved_phrase() -> None:
    hyp, ref = "to me if you could explain that", "if you could explain that to me"
    assert score("bleu", [hyp], [ref]) == pytest.approx(70.71067811865478, abs=1e-10)


def test_bleu_can_keep_zero_at_zero() -> None:
    assert score("bleu", ["a b c d"], ["a x c y"], smooth="none") == 0
    assert score("bleu", ["a b c d"], ["a x c y"]) > 0


@pytest.mark.parametrize(("hyp", "ref"), [(CAT, MAT), ("d e f a b c", "a b c d e f")])
def test_ter_counts_one_edit_of_six_words(hyp: str, ref: str) -> None:
    assert score("ter", [hyp], [ref]) == pytest.approx(100 / 6)


def test_nist_of_the_cat() -> None:
    assert score("nist", [CAT], [MAT]) == pytest.approx(2.2903817134, abs=1e-10)
    length_penalty = math.exp(math.log(0.5) / math.log(1.5) ** 2 * math.log(5 / 6) ** 2)
    assert 2.6349625007 * length_penalty == pytest.approx(2.2903817134, abs=1e-9)


def test_meteor_of_the_cat() -> None:
    # P = 1, R = 5/6: F = 10 · 5/6 / (5/6 + 9); 2 chunks of 5: penalty 0.5 (2/5)³ = 0.032
    expected = 100 * 0.8474576 * (1 - 0.032)
    assert score("meteor", [CAT], [MAT]) == pytest.approx(82.03390, abs=1e-5)
    assert expected == pytest.approx(82.03390, abs=1e-5)


def test_meteor_matches_stems_after_equal_words() -> None:
    assert match(["cats", "cat"], ["cat", "dogs"]) == [(1, 0)]
    assert match(["cats", "cat"], ["cat", "cat"]) == [(0, 1), (1, 0)]


def test_meteor_takes_the_best_reference_of_each_sentence() -> None:
    two = score("meteor", [CAT, MAT], [MAT, CAT], [CAT, MAT])
    assert two == pytest.approx(score("meteor", [CAT, MAT], [CAT, MAT]))


def test_a_sentence_of_one_word_a_thousand_times_is_matched_in_time() -> None:
    assert len(match(["a"] * 300, ["a"] * 200)) == 200
    mixed = [*"abc"] * 30
    assert len(match(mixed, mixed[:40])) == 40


# --- definitions j.2 and j.3 ---------------------------------------------------------------------

IDENTITY = [0, 1, 2, 3, 4, 5]


def test_ranks_from_links_of_seven_words() -> None:
    links = [(1, 6), (1, 7), (2, 1), (4, 4), (5, 3), (5, 4)]
    assert rank_of(order_from_links(7, links, "attach")) == [0, 6, 1, 2, 5, 3, 4]


def test_krs_of_three_discordant_pairs() -> None:
    value = krs(IDENTITY, [2, 0, 1, 3, 5, 4])
    assert value == pytest.approx(0.5527864045, abs=1e-10)  # 1 - √(3 / 15)
    assert brevity(6, 8) == pytest.approx(0.7165313106, abs=1e-10)
    assert value * brevity(6, 8) == pytest.approx(0.3960887669, abs=1e-10)


def test_krs_v_of_a_verb_that_moved() -> None:
    vso, first, two = [3, 0, 1, 2, 4, 5], [1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 1, 0]
    assert krs(IDENTITY, vso) == pytest.approx(0.5527864045, abs=1e-10)
    assert krs_v(IDENTITY, vso, first) == pytest.approx(0.2254033308, abs=1e-10)
    assert krs_v(IDENTITY, vso, first, "literal") == pytest.approx(0.5527864045, abs=1e-10)
    assert krs_v(IDENTITY, vso, two) == pytest.approx(0.4522774425, abs=1e-10)  # 1 - √(3 / 10)
    assert krs_v(IDENTITY, vso, two, "literal") == pytest.approx(0.5527864045, abs=1e-10)


def test_literal_krs_v_of_a_reversal_falls_below_zero() -> None:
    value = krs_v(IDENTITY, IDENTITY[::-1], [1] * 6, "literal")
    assert value == pytest.approx(1 - math.sqrt(2))


def links_of(rank: list[int]) -> list[tuple[int, int]]:
    return list(enumerate(rank))


def order_gold(refs: int = 1, **layers: Any) -> Gold:
    """Six source words; the references have them in order, then rotated."""
    ranks = [IDENTITY, [2, 0, 1, 3, 5, 4]][:refs]
    lengths = [6, 8][:refs]
    return Gold(
        refs=[[" ".join("x" * length)] for length in lengths],
        src=["a b c d e f"],
        ref_links=[[links_of(rank)] for rank in ranks],
        **layers,
    )


def test_krs_of_a_text_has_the_brevity_penalty_of_each_sentence() -> None:
    output = Output("hyp", ["x x x x x x"], [links_of(IDENTITY)])
    gold = Gold(
        refs=[[" ".join("x" * 8)]],
        src=["a b c d e f"],
        ref_links=[[links_of([2, 0, 1, 3, 5, 4])]],
    )
    assert make_metric("krs", gold).corpus_score(output) == pytest.approx(39.60887669, abs=1e-8)


def test_the_closest_reference_counts_unless_the_average_is_asked_for() -> None:
    output = Output("hyp", ["x x x x x x"], [links_of(IDENTITY)])
    gold = order_gold(2)
    assert make_metric("krs", gold).corpus_score(output) == pytest.approx(100)
    average = make_metric("krs", gold, Options(refchoice="average")).corpus_score(output)
    assert average == pytest.approx((100 + 39.60887669) / 2, abs=1e-7)


def test_sentences_without_verbs_are_left_out_or_count_as_brevity() -> None:
    gold = Gold(
        refs=[["x x", "x x", "x x x x"]],
        src=["a b", "a b", "a b"],
        ref_links=[[[(0, 0), (1, 1)]] * 3],
        weights=[[1, 0], [0, 0], [0, 0]],
    )
    output = Output("hyp", ["x x"] * 3, [[(0, 1), (1, 0)], [(0, 1), (1, 0)], [(0, 0)]])
    assert make_metric("krs-v", gold).corpus_score(output) == 0  # the first alone
    literal = make_metric("krs-v", gold, Options(norm="literal")).corpus_score(output)
    assert literal == pytest.approx(100 * (0 + 1 + math.exp(1 - 4 / 2)) / 3)


def test_an_empty_hypothesis_has_no_order() -> None:
    output = Output("hyp", [""], [[]])
    assert make_metric("krs", order_gold()).corpus_score(output) == 0


def test_ribes_of_clauses_that_changed_places() -> None:
    bob, john = (f"{name} yesterday".split() for name in ("bob hit john", "john hit bob"))
    assert ribes(bob, john) == 0.5  # 3 of 6 pairs rise: each word with yesterday
    ref = words_of("we stayed home because it rained")
    hyp = words_of("it rained because we stayed home")
    assert ribes(hyp, ref) == pytest.approx(4 / 15)  # places 4 5 3 0 1 2


def test_ribes_tells_repeated_words_by_what_stands_before_them() -> None:
    ref = words_of("he was interested in world history because he read the book")
    hyp = words_of("he read the book because he was interested in world history")
    # both *he* are taken for the second, by *he read* and by *because he*: places
    # 7 8 9 10 6 7 1 2 3 4 5, of which 6 + 1 + 10 pairs rise
    assert ribes(hyp, ref) == pytest.approx(17 / 55)


def words_of(text: str) -> list[str]:
    return text.split()


def test_ribes_of_edges() -> None:
    assert ribes(["a"], ["a"]) == 1
    assert ribes(["a"], ["a", "b"]) == 0
    assert ribes([], ["a"]) == ribes(["a"], []) == ribes([], []) == 0
    # two words of three found, one too short: (2/3)^0.25 · exp(1 - 4/3)^0.1
    expected = (2 / 3) ** 0.25 * math.exp(1 - 4 / 3) ** 0.1
    assert ribes(["a", "x", "b"], ["a", "b", "c", "d"]) == pytest.approx(expected)


# --- definitions j.5 and j.6 ---------------------------------------------------------------------

TEA_LINKS = [[(0, 0), (1, 1), (4, 2), (2, 3), (3, 4)]]
TEA = Gold(
    refs=[["he has drunk the tea"]],
    src=["er hat den Tee getrunken"],
    ref_links=[TEA_LINKS],
    weights=[[0, 1, 0, 0, 1]],
)
STRAIGHT = Output("straight", ["he has the tea drunk"], [links_of([0, 1, 2, 3, 4])])
SHORT = Output("short", ["he has drunk tea"], [[(0, 0), (1, 1), (4, 2), (3, 3)]])
ORDER_NAMES = ("krs-linked", "krs-v-linked", "reversals", "reversals-v")


def details(name: str, output: Output, gold: Gold = TEA) -> dict[str, float]:
    metric = make_metric(name, gold)
    return metric.details(metric.statistics(output).sum(axis=0))


def test_an_output_that_reverses_nothing_has_recall_0_and_no_precision() -> None:
    # the reference reverses (2,4) and (3,4): distances 2 and 1
    sums = make_metric("reversals", TEA).statistics(STRAIGHT).sum(axis=0)
    assert sums[:5].tolist() == [0, 0, 2, 5, 5]
    told = details("reversals", STRAIGHT)
    assert math.isnan(told["precision"])
    assert told["recall"] == 0
    assert told["pairs 1-2"] == 2
    assert told["recall 1-2"] == 0
    assert math.isnan(told["recall 3-5"])
    assert make_metric("reversals", TEA).corpus_score(STRAIGHT) == 0  # 2 · 0 / (0 + 2)


def test_reversals_of_linked_words_alone() -> None:
    # U = {0, 1, 3, 4}: (3,4) is reversed on both sides
    sums = make_metric("reversals", TEA).statistics(SHORT).sum(axis=0)
    assert sums[:5].tolist() == [1, 1, 1, 4, 5]
    told = details("reversals", SHORT)
    assert (told["precision"], told["recall"], told["judged"]) == (100, 100, 100 * 4 / 5)


def test_reversals_of_verbs_are_those_of_pairs_with_one() -> None:
    nouns = Gold(TEA.refs, TEA.src, TEA.ref_links, weights=[[0, 0, 1, 0, 0]])  # den
    assert details("reversals-v", STRAIGHT)["pairs"] == 2
    assert details("reversals-v", STRAIGHT, nouns)["pairs"] == 1
    assert details("reversals-v", SHORT, nouns)["pairs"] == 0  # den is not linked
    assert math.isnan(make_metric("reversals-v", nouns).corpus_score(SHORT))


def test_krs_over_linked_words_of_a_short_output() -> None:
    bp = math.exp(1 - 5 / 4)  # 0.7788007831
    linked = make_metric("krs-linked", TEA).corpus_score(SHORT)
    assert linked == pytest.approx(77.88007831, abs=1e-8)
    assert linked == pytest.approx(100 * bp)  # K = 0
    printed = make_metric("krs", TEA).corpus_score(SHORT)
    assert printed == pytest.approx(53.25223513, abs=1e-8)
    assert printed == pytest.approx(100 * (1 - math.sqrt(0.1)) * bp)  # den takes the place of hat


def test_krs_v_over_linked_words_weighs_pairs_of_linked_words() -> None:
    # straight: (2,4) and (3,4) wrong, weight 2 of (5 - 1) · 2
    value = make_metric("krs-v-linked", TEA).corpus_score(STRAIGHT)
    assert value == pytest.approx(100 * (1 - math.sqrt(2 / 8)))
    literal = make_metric("krs-v-linked", TEA, Options(norm="literal")).corpus_score(STRAIGHT)
    assert literal == pytest.approx(100 * (1 - math.sqrt(2 / 10)))
    # without the link of getrunken nothing is wrong, hat still counts
    output = Output("x", ["he has the tea drunk"], [links_of([0, 1, 2, 3])])
    assert make_metric("krs-v-linked", TEA).corpus_score(output) == 100
    # with er alone no verb is linked: n/a, but literal counts its brevity
    output = Output("x", ["he"], [[(0, 0)]])
    assert math.isnan(make_metric("krs-v-linked", TEA).corpus_score(output))
    literal = make_metric("krs-v-linked", TEA, Options(norm="literal")).corpus_score(output)
    assert literal == pytest.approx(100 * math.exp(1 - 5))


def test_reversals_are_counted_against_the_reference_of_the_highest_krs() -> None:
    other = ["he has the tea drunk quickly"]
    links = [TEA_LINKS, [links_of([0, 1, 2, 3, 4])]]
    both = Gold(refs=[*TEA.refs, other], src=TEA.src, ref_links=links)
    # straight: 1 - √0.2 against the first, exp(1 - 6/5) = 0.82 against the second
    assert make_metric("reversals", both).statistics(STRAIGHT)[0, :3].tolist() == [0, 0, 0]
    assert make_metric("krs-linked", both).corpus_score(STRAIGHT) == pytest.approx(81.8730753)
    # a reference without links never counts
    bare = Gold(refs=[other, *TEA.refs], src=TEA.src, ref_links=[[[]], TEA_LINKS])
    assert make_metric("reversals", bare).statistics(SHORT)[0, :3].tolist() == [1, 1, 1]
    assert make_metric("krs-linked", bare).corpus_score(SHORT) == pytest.approx(77.88007831)
    mean = make_metric("krs-linked", bare, Options(refchoice="average")).corpus_score(SHORT)
    assert mean == pytest.approx(77.88007831)
    # ties: the first
    twice = Gold(refs=[*TEA.refs, *TEA.refs], src=TEA.src, ref_links=links[:1] * 2)
    assert make_metric("reversals", twice).sentences(SHORT).refs.tolist() == [0]  # type: ignore[attr-defined]


def test_what_cannot_be_judged_is_a_dash_and_null() -> None:
    unlinked = Output("unlinked", ["he has drunk the tea"], [[]])
    result = compare(TEA, [STRAIGHT, unlinked], ORDER_NAMES, rounds=20, resamples=20)
    for name in ORDER_NAMES:
        score = result.score("unlinked", name)
        assert math.isnan(score.value)
        assert score.p_value is None
        assert score.mark == ""
    shown = describe(result)
    assert "unlinked  –" in shown
    assert "nan" not in shown
    warning = (
        "unlinked: only 0 % of the words are judged by KRS-linked, KRS-V-linked, reversals, "
        "reversals-V; below 60 % scores say little of the order"
    )
    assert result.notes == (warning,)


def test_both_tests_leave_out_draws_that_cannot_be_judged() -> None:
    gold = Gold(refs=[["a b"] * 6], src=["x y"] * 6, ref_links=[[[(0, 0), (1, 1)]] * 6])
    same = Output("same", ["a b"] * 6, [links_of([0, 1])] * 6)
    turned = Output("one", ["a b"] * 6, [links_of([1, 0]), *[links_of([0, 1])] * 5])
    for test in significance.TESTS:
        result = compare(gold, [turned, same], ["reversals"], test=test, rounds=50, resamples=50)
        one = result.score("one", "reversals")
        assert (one.value, one.low, one.high) == (0, 0, 0)  # one reversal, a wrong one
        assert math.isnan(result.score("same", "reversals").value)
        assert result.score("same", "reversals").p_value is None


@pytest.mark.parametrize("name", [*ORDER_NAMES, "krs", "krs-v"])
def test_worst_sentences_by_any_metric_of_order(name: str) -> None:
    if name.startswith("reversals"):
        expected = 0.0
    else:
        expected = 50.0 if "-v" in name else 100 * (1 - math.sqrt(0.2))
    [case] = drill.worst(TEA, STRAIGHT, 3, metric=name)
    assert case.score == pytest.approx(expected)
    assert case.arcs == (drill.Arc(4, 2),)
    assert drill.worst(TEA, Output("right", TEA.refs[0], TEA_LINKS), 3, metric=name) == []


def test_drawings_show_words_that_are_not_judged() -> None:
    output = Output("x", ["he has the tea drunk"], [[(0, 0), (1, 1), (3, 3), (4, 4)]])
    drawn = draw(drill.worst(TEA, output, 1, metric="reversals")[0])
    assert drawn.splitlines()[-1] == " er [hat] (den) Tee [getrunken]"
    assert drawn.splitlines()[0] == "line 1: reversals 0.0"


PERMUTED = st.integers(2, 9).flatmap(lambda n: st.permutations(range(n)))


@given(
    st.lists(PERMUTED, min_size=20, max_size=40),
    st.floats(0, 0.6),
    st.integers(0, 1000),
)
@settings(max_examples=25)
def test_thinned_links_never_let_monotone_order_win(
    ranks: list[list[int]], share: float, seed: int
) -> None:
    draw_link = np.random.default_rng(seed)

    def thinned(links: list[tuple[int, int]]) -> list[tuple[int, int]]:
        return [link for link in links if draw_link.random() >= share]

    # every third word has a second link, so that thinning moves some words
    right = [
        [(i, j) for i, rank in enumerate(of) for j in {rank, (rank + i % 3 // 2) % len(of)}]
        for of in ranks
    ]
    lines = [" ".join("x" * len(of)) for of in ranks]
    gold = Gold(refs=[lines], src=lines, ref_links=[list(map(thinned, right))])
    mono = Output("mono", lines, [thinned(links_of(list(range(len(of))))) for of in ranks])
    good = Output("right", lines, list(map(thinned, right)))
    names = [name for name in default_metrics(gold) if "links" in METRICS[name].needs]
    assert names == ["krs-linked", "reversals"]
    result = compare(gold, [good, mono], names, rounds=200, resamples=1)
    for name in names:
        assert result.score("mono", name).mark not in ("▲", "△")


# --- agreement with others -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def moses(fixtures: Path) -> tuple[list[str], list[str], list[str]]:
    """Two outputs of moses2 for 40 toy sentences, and the reference."""
    outs = [fixtures / "moses2" / f"{case}.cube1000.txt" for case in SACREBLEU_CASES]
    hyps, others = map(read.read_lines, outs)
    return hyps, others, read.read_lines(fixtures / "toy" / "test.en")


SACREBLEU_CASES = ("hier-mslr.dl6", "wbe-msd.dl12")


@pytest.mark.parametrize("case", [0, 1], ids=SACREBLEU_CASES)
@pytest.mark.parametrize(
    ("name", "key", "tokenize"),
    [
        ("bleu", "bleu-none", "none"),
        ("bleu", "bleu-13a", "13a"),
        ("chrf", "chrf", "none"),
        ("ter", "ter", "none"),
    ],
)
def test_scores_and_signatures_equal_the_recorded_ones_of_sacrebleu(  # noqa: PLR0917
    fixtures: Path,
    moses: tuple[list[str], list[str], list[str]],
    case: int,
    name: str,
    key: str,
    tokenize: str,
) -> None:
    scores = json.loads((fixtures / "sacrebleu.json").read_text())
    expected = scores[SACREBLEU_CASES[case]][key]
    metric = make_metric(name, Gold(refs=[moses[2]]), Options(tokenize=tokenize))
    output = Output("moses2", moses[case])
    assert metric.corpus_score(output) == pytest.approx(expected["score"], abs=1e-9)
    settings, _, _version = expected["signature"].partition("|version:")
    assert metric.signature().partition("|version:")[0].endswith(settings)
    if name != "bleu":  # sacrebleu smooths BLEU of a sentence in another way
        of_sentences = metric.score(metric.statistics(output))
        assert of_sentences == pytest.approx(expected["sentences"], abs=1e-6)


def test_scores_equal_those_of_sacrebleus_command(
    moses: tuple[list[str], list[str], list[str]], tmp_path: Path
) -> None:
    hyps, _, refs = moses
    for name, lines in (("hyp", hyps), ("ref", refs)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "sacrebleu",
        tmp_path / "ref",
        "-i",
        tmp_path / "hyp",
    ]
    command += ["-m", "bleu", "chrf", "ter", "--tokenize", "none", "-w", "6", "--force"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    theirs = {row["name"]: row["score"] for row in json.loads(done.stdout)}
    ours = {name: score(name, hyps, refs) for name in ("bleu", "chrf", "ter")}
    assert ours["bleu"] == pytest.approx(theirs["BLEU"], abs=1e-6)
    assert ours["chrf"] == pytest.approx(theirs["chrF2"], abs=1e-6)
    assert ours["ter"] == pytest.approx(theirs["TER"], abs=1e-6)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("cube1000.dl12", 80.93946677897341), ("stack.dl12", 81.21407831163661)],
)
def test_ribes_of_real_output_is_that_of_another_implementation(
    shared: Path, name: str, expected: float
) -> None:
    # compare-mt 0.2.10, whose scores are those of the first RIBES script
    folder = shared / "reference" / "ja-en"
    lines = read.read_lines(folder / "out" / f"moses2.{name}.txt")
    hyps = [line.partition(" ")[2] for line in lines]
    assert score("ribes", hyps, read.read_lines(folder / "test.en")) == pytest.approx(
        expected, abs=1e-9
    )


def test_p_values_are_near_those_of_sacrebleu(
    moses: tuple[list[str], list[str], list[str]],
) -> None:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.significance import PairedTest

    first, second, refs = moses
    for test, theirs in (("randomization", "ar"), ("bootstrap", "bs")):
        result = compare(
            Gold(refs=[refs]), [Output("a", first), Output("b", second)], ["bleu"], test=test
        )
        named: Any = [("Baseline: a", first), ("b", second)]
        metrics = {"BLEU": BLEU(tokenize="none", references=[refs], force=True)}
        paired = PairedTest(named, metrics, references=None, test_type=theirs, n_samples=2000)
        result_of_b: Any = paired()[1]["BLEU"][1]
        assert result.score("b", "bleu").p_value == pytest.approx(result_of_b.p_value, abs=0.06)


LINES = st.lists(
    st.lists(st.sampled_from("ab ."), max_size=8).map(" ".join), min_size=2, max_size=3
)


@given(LINES, LINES, LINES)
@settings(max_examples=40)
def test_statistics_of_sentences_give_sacrebleus_public_score(
    hyps: list[str], first: list[str], second: list[str]
) -> None:
    count = min(len(hyps), len(first), len(second))
    hyps, refs = hyps[:count], [first[:count], second[:count]]
    for name in ("bleu", "chrf", "ter"):
        metric: Any = make_metric(name, Gold(refs=refs))
        expected = metric.make(None).corpus_score(hyps, refs).score
        assert metric.corpus_score(Output("hyp", hyps)) == pytest.approx(expected)


# --- chance --------------------------------------------------------------------------------------


def mean(sums: Any) -> Any:
    return sums[..., 0] / sums[..., 1]


def column(values: list[float]) -> Any:
    return np.array([values, [1.0] * len(values)]).T


@pytest.mark.parametrize("test", significance.TESTS)
def test_a_system_does_not_differ_from_itself(test: str) -> None:
    statistics = [column([0.1, 0.5, 0.9, 0.3])]
    sides = (statistics, statistics)
    assert significance.p_values(test, [mean], *sides, scales=[1.0], rounds=200) == [1.0]


@pytest.mark.parametrize("test", significance.TESTS)
def test_tests_depend_on_the_seed_alone(test: str) -> None:
    random = np.random.default_rng(3)
    first, second = (column(list(random.random(50) + shift)) for shift in (0, 0.05))

    def p_value(seed: int, metrics: int = 1) -> list[float]:
        sides = [[first] * metrics, [second] * metrics]
        return significance.p_values(
            test, [mean] * metrics, *sides, scales=[1.0] * metrics, rounds=1200, seed=seed
        )

    assert p_value(5) == p_value(5)
    assert p_value(5) != p_value(6)
    assert p_value(5, metrics=3) == p_value(5) * 3  # metrics together see the same draws


def test_p_values_are_small_for_large_differences_and_never_0() -> None:
    random = np.random.default_rng(1)
    first = column(list(random.random(200)))
    second = column(list(random.random(200) + 0.5))
    for test in significance.TESTS:
        sides = [first], [second]
        (p_value,) = significance.p_values(test, [mean], *sides, scales=[1.0], rounds=999)
        assert p_value == 1 / 1000


def test_p_values_of_alike_systems_are_even() -> None:
    random, p_values = np.random.default_rng(2), []
    for seed in range(100):
        first, second = (column(list(random.random(60))) for _ in range(2))
        sides = [first], [second]
        p_values += significance.p_values(
            "randomization", [mean], *sides, scales=[1.0], rounds=400, seed=seed
        )
    assert 0.35 < float(np.mean(p_values)) < 0.65
    assert 0.02 <= float(np.mean(np.array(p_values) <= 0.10)) <= 0.2


def test_intervals_hold_the_score_and_shrink_with_more_sentences() -> None:
    random = np.random.default_rng(4)
    values = list(random.random(1600))
    widths = []
    for count in (100, 1600):
        ((low, high),) = significance.bootstrap([mean], [column(values[:count])], seed=9)
        assert low < np.mean(values[:count]) < high
        widths.append(high - low)
    assert widths[0] / widths[1] == pytest.approx(4, rel=0.25)  # √16
    # 1.96 standard errors on either side; a uniform variable's deviation is √(1/12)
    assert widths[1] == pytest.approx(2 * 1.96 * math.sqrt(1 / 12 / 1600), rel=0.15)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rounds": 0}, "rounds: found 0; expected at least 1"),
        ({"seed": -1}, "seed: found -1; expected 0 or more"),
    ],
)
def test_tests_refuse_what_they_cannot_do(options: dict[str, int], message: str) -> None:
    side = [column([0.1, 0.2])]
    with pytest.raises(ArgumentError) as error:
        significance.p_values("randomization", [mean], side, side, scales=[1.0], **options)
    assert str(error.value) == message


def test_systems_of_different_length_cannot_be_compared() -> None:
    with pytest.raises(MismatchError) as error:
        significance.p_values(
            "bootstrap", [mean], [column([1.0])], [column([1.0, 2.0])], scales=[1.0], rounds=10
        )
    assert str(error.value) == (
        "statistics: 1 sentences in one system, 2 in the other; do both translate the same text?"
    )


# --- systems side by side ------------------------------------------------------------------------


def three_systems() -> Comparison:
    refs = [f"line {number} has these words in it" for number in range(40)]
    worse = [" ".join(reversed(line.split())) for line in refs]
    same = [*refs[:38], *worse[38:]]
    outputs = [Output("base", same), Output("worse", worse), Output("right", refs)]
    return compare(Gold(refs=[refs]), outputs, ["bleu", "ter"], rounds=500, bins=[5, 10])


def test_marks_point_up_for_better_also_for_error_rates() -> None:
    result = three_systems()
    assert result.score("base", "bleu").mark == ""
    assert result.score("base", "bleu").p_value is None
    assert {result.score("worse", metric).mark for metric in ("bleu", "ter")} == {"▼"}
    assert result.score("right", "ter").is_better
    assert result.score("right", "ter").mark == ""  # two of 40 lines: p is about a half


def test_hollow_marks_are_for_p_up_to_a_tenth() -> None:
    score = three_systems().score("worse", "bleu")
    fields = {**vars(score), "p_value": 0.07}
    assert type(score)(**fields).mark == "▽"
    assert type(score)(**{**fields, "is_better": True}).mark == "△"
    assert type(score)(**{**fields, "p_value": 0.11}).mark == ""


def test_bins_hold_every_sentence_once_and_name_their_lengths() -> None:
    lines = ["a", "a b", "a b c", "", "a b c d e f"]
    result = compare(Gold(refs=[lines]), [Output("x", lines)], ["bleu"], bins=[2, 4])
    assert [(b.name, b.sentences) for b in result.bins] == [("1-2", 3), ("3-4", 1), ("5+", 1)]


def test_tables_show_scores_marks_p_values_bins_and_signatures() -> None:
    text = describe(three_systems())
    lines = text.splitlines()
    assert lines[0].split() == ["system", "BLEU", "TER"]
    assert lines[2].startswith("worse")
    assert lines[2].count("▼") == 2
    assert "▲▼ better, worse than base at p ≤ .05; △▽ at p ≤ .10" in lines
    assert any(line.startswith("TER|nrefs:1|case:lc|") for line in lines)
    assert lines[-1] == "interval:95%|resamples:1000|seed:1|test:randomization|rounds:500"


def test_empty_lines_are_counted_and_noted() -> None:
    result = compare(Gold(refs=[["a", "b", "c"]]), [Output("x", ["a", "", " "])], ["bleu"])
    assert result.notes == ("x: 2 of 3 lines are empty, the first is line 2; they count as wrong",)


@st.composite
def ter_pairs(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """A text and its references, of few different words, so that there is much to shift."""
    words = st.sampled_from("abcdefgh"[: draw(st.integers(1, 8))])
    line = st.lists(words, max_size=draw(st.sampled_from([4, 12, 40]))).map(" ".join)
    refs = [line] * draw(st.integers(1, 3))
    pairs = draw(st.lists(st.tuples(line, st.tuples(*refs)), min_size=1, max_size=8))
    texts, by_text = zip(*pairs, strict=True)
    return list(texts), [list(ref) for ref in zip(*by_text, strict=True)]


@given(ter_pairs())
@settings(max_examples=60, deadline=None)
def test_ter_is_that_of_sacrebleu(pairs: tuple[list[str], list[list[str]]]) -> None:
    from sacrebleu.metrics.ter import TER

    texts, refs = pairs
    theirs = TER(references=refs)._extract_corpus_statistics(texts, None)
    ours = make_metric("ter", Gold(refs=refs)).statistics(Output("x", texts))
    assert ours.tolist() == theirs


def test_ter_of_lines_of_very_different_length() -> None:
    from sacrebleu.metrics.ter import TER

    texts = ["a", "", "a b " * 60, "b a c", "a " * 300, "x"]
    refs = [["b a " * 90, "a", "", "a c b " * 70, "b a", "x y " * 120]]
    theirs = TER(references=refs)._extract_corpus_statistics(texts, None)
    assert make_metric("ter", Gold(refs=refs)).statistics(Output("x", texts)).tolist() == theirs


def test_more_threads_give_the_same_ter() -> None:
    refs = [f"a b c d {number} e f g" for number in range(200)]
    hyps = [f"e f {number} a b c h" for number in range(200)]
    alone = make_metric("ter", Gold(refs=[refs])).statistics(Output("x", hyps))
    two = make_metric("ter", Gold(refs=[refs]), Options(threads=2)).statistics(Output("x", hyps))
    assert (alone == two).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: compare(Gold(refs=[["a"]]), [Output("x", ["a", "b"])]),
            "x: 2 lines, but the reference has 1; do both come from the same corpus?",
        ),
        (
            lambda: Gold(refs=[["a"], ["a", "b"]]),
            "refs[1]: 2 lines, but refs[0] has 1; do both come from the same corpus?",
        ),
        (
            lambda: Gold(refs=[]),
            "refs: found none; expected at least one reference with a sentence",
        ),
        (
            lambda: Gold(refs=[["a"], ["b"]], src=["c"], ref_links=[[[]]]),
            "ref_links: found links for 1 of 2 references; expected them for each",
        ),
        (
            lambda: Gold(refs=[["a b"]], src=["c"], ref_links=[[[(1, 0)]]]),
            "ref_links[0], sentence 1: link 1-0 is outside the sentence (source has 1 words); "
            "do both come from the same corpus?",
        ),
        (
            lambda: Gold(refs=[["a"]], src=["c d"], weights=[[1]]),
            "weights, sentence 1: 1 weights for 2 words; expected one a word",
        ),
        (
            lambda: Gold(refs=[["a"]], src=["c"], weights=[[0]]),
            "weights: found only zeros; expected a word that counts",
        ),
        (
            lambda: Gold(refs=[["a"]], src=["c"], weights=[[math.nan]]),
            "weights, sentence 1: a negative or endless weight; expected numbers from 0 up",
        ),
        (
            lambda: compare(Gold(refs=[["a"]]), [Output("x", ["a"])], ["krs"]),
            "metrics: krs without links of source and references; expected the source (--src) and "
            "links (--ref-links), or --aligner, which makes them",
        ),
        (
            lambda: compare(order_gold(), [Output("x", ["a"])], ["krs"]),
            "links: found none for x; expected links of source and output",
        ),
        (
            lambda: compare(order_gold(), [Output("x", ["a"], [[(0, 1)]])], ["krs"]),
            "links of x, sentence 1: link 0-1 is outside the sentence (target has 1 words); "
            "do both come from the same corpus?",
        ),
        (
            lambda: compare(order_gold(), [Output("x", ["a"], [[]])], ["krs-v"]),
            "metrics: krs-v without weights; expected POS tags or weights",
        ),
        (
            lambda: compare(Gold(refs=[["a"]]), [Output("x", ["a"])] * 2),
            "outputs: two systems are called x; expected other names",
        ),
        (
            lambda: compare(Gold(refs=[["a"]]), [Output("x", ["a"])], bins=[5, 3]),
            "bins: found [5, 3]; expected rising lengths from 1 up",
        ),
        (
            lambda: Options(norm="none"),
            "norm: found `none`; expected `weights`, `literal`",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(call: Any, message: str) -> None:
    with pytest.raises(WaywordError) as error:
        call()
    assert str(error.value) == message


def test_unknown_metrics_and_tokenisers_are_told_the_known_ones() -> None:
    with pytest.raises(
        ArgumentError, match=r"^metrics: found `blue`; expected some of bleu, chrf,"
    ):
        make_metric("blue", Gold(refs=[["a"]]))
    with pytest.raises(
        ArgumentError, match=r"^tokenize: found `x`; expected one of none, zh, 13a,"
    ):
        make_metric("bleu", Gold(refs=[["a"]]), Options(tokenize="x"))


def test_tokenisers_serve_all_metrics_of_words() -> None:
    for name in ("bleu", "nist", "meteor", "ribes"):
        split = score(name, ["Well, no."], ["Well , no ."], tokenize="13a")
        assert split == pytest.approx(score(name, ["Well , no ."], ["Well , no ."]))
        assert (
            "tok:13a" in make_metric(name, Gold(refs=[["a"]]), Options(tokenize="13a")).signature()
        )


# --- files ---------------------------------------------------------------------------------------


def write(folder: Path, **texts: str) -> dict[str, str]:
    """Files of these names and texts."""
    for name, text in texts.items():
        (folder / name).write_text(text)
    return {name: str(folder / name) for name in texts}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    return write(
        tmp_path,
        src="er hat das buch gelesen\nja\n",
        hyp="he has the book read\nyes\n",
        new="he has read the book\nyes\n",
        ref="he has read the book\nyes\n",
        hyp_links="0-0 1-1 2-2 3-3 4-4\n0-0\n",
        new_links="0-0 1-1 2-3 3-4 4-2\n0-0\n",
        ref_links="0-0 1-1 2-3 3-4 4-2\n0-0\n",
        weights="0 1 0 0 1\n0\n",
        tags="PRON AUX DET NOUN VERB\nINTJ\n",
        factored="er|PRON hat|AUX das|DET buch|NOUN gelesen|VERB\nja|INTJ\n",
    )


def layers(files: dict[str, str], **more: str) -> list[str]:
    given = {"src": files["src"], "links": files["hyp_links"], "ref-links": files["ref_links"]}
    given.update({name.replace("_", "-"): path for name, path in more.items()})
    return [part for name, path in given.items() for part in (f"--{name}", path)]


def test_files_give_gold_and_output(files: dict[str, str]) -> None:
    gold = read.read_gold(
        [files["ref"]], files["src"], ref_links=[files["ref_links"]], weights=files["weights"]
    )
    output = read.read_output(files["hyp"], gold, links=files["hyp_links"])
    assert output.name == "hyp"
    # gelesen stands behind two words that it should precede; verbs weigh 2 · 4 pairs
    assert make_metric("krs-v", gold).corpus_score(output) == pytest.approx(50)


@pytest.mark.parametrize("file", ["tags", "factored"])
def test_verbs_come_from_tags(files: dict[str, str], file: str) -> None:
    src = read.read_lines(files["src"])
    assert read.read_pos(files[file], src) == [[0, 1, 0, 0, 1], [0]]
    assert read.read_pos(files[file], src, ["N*", "INTJ"]) == [[0, 0, 0, 1, 0], [1]]
    with pytest.raises(
        ArgumentError, match=r"^verbs: no word of .* is `V`; expected tags of it: `"
    ):
        read.read_pos(files[file], src, ["V"])


def test_tags_and_words_must_be_as_many(files: dict[str, str], tmp_path: Path) -> None:
    bad = write(tmp_path, short="PRON AUX\nINTJ\n")["short"]
    with pytest.raises(MismatchError) as error:
        read.read_pos(bad, read.read_lines(files["src"]))
    assert str(error.value) == f"{bad}:1: 2 tags for 5 source words; expected one a word"


def test_a_saved_aligner_makes_links(files: dict[str, str], tmp_path: Path) -> None:
    src, ref = read.read_lines(files["src"]), read.read_lines(files["ref"])
    aligner = align.fit(Bitext.from_pairs(zip(src, ref, strict=True)))
    aligner.save(tmp_path / "saved")
    gold = read.read_gold([files["ref"]], files["src"], aligner=tmp_path / "saved")
    output = read.read_output(files["ref"], gold, aligner=tmp_path / "saved")
    assert output.links == [aligner.align_pair(*pair) for pair in zip(src, ref, strict=True)]
    assert make_metric("krs", gold).corpus_score(output) == 100  # the reference against itself


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("hyp_links", "0-0 9-1\n0-0\n", "{path}:1: link 9-1 is outside the sentence (source has 5 "
         "words); do both come from the same corpus?"),
        ("hyp_links", "0-0\n0-1\n", "{path}:2: link 0-1 is outside the sentence (target has 1 "
         "words); do both come from the same corpus?"),
        ("hyp_links", "0-0\n0:0\n", "{path}:2: `0:0`; expected links such as `0-0 1-2`; positions "
         "count from 0, the source comes first"),
        ("hyp_links", "0-0\n", "{path}: 1 lines, but the source has 2; do both come from the same "
         "corpus?"),
        ("hyp", "one\n", "{path}: 1 lines, but the reference has 2; do both come from the same "
         "corpus?"),
        ("hyp", "", "{path}: no line; expected one sentence a line; is it the right file?"),
        ("src", "one\n", "{path}: 1 lines, but {ref} has 2; do both come from the same corpus?"),
        ("weights", "0 1 0 0 1\nx\n", "{path}:2: `x`; expected numbers from 0 up, one a source "
         "word"),
        ("weights", "0 1 0 0 1\n-1\n", "{path}:2: `-1`; expected numbers from 0 up, one a source "
         "word"),
        ("weights", "0 1\n0\n", "{path}:1: 2 weights for 5 source words; expected one a word"),
    ],
)  # fmt: skip
def test_bad_files_are_one_line_with_their_place(
    files: dict[str, str], capsys: pytest.CaptureFixture[str], name: str, text: str, message: str
) -> None:
    Path(files[name]).write_text(text)
    arguments = ["evaluate", files["hyp"], files["ref"], *layers(files, weights=files["weights"])]
    assert main(arguments) == 1
    expected = message.format(path=files[name], ref=files["ref"])
    assert capsys.readouterr().err == f"wayword: {expected}\n"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--ref-links", "x", "--src", "{src}"], "ref_links: found 1 file(s) for 2 reference(s); "
         "expected one for each reference, in their order"),
        (["--links", "x"], "links: found without src; expected the source text too"),
        (["--weights", "x"], "weights: found without src; expected the source text too"),
        (["--system", "new"], "system: found `new`; expected NAME=FILE"),
        (["--src", "{src}", "--links", "{hyp_links}", "--system", "new={new}"],
         "links: found 1 file(s) for 2 system(s); expected one for each system, in their order"),
        (["--bins", "1,x"], "bins: found `1,x`; expected numbers of words such as 10,20,30"),
        (["--test", "t"], "test: found `t`; expected 'randomization' or 'bootstrap'"),
        (["--worst", "3"], "metrics: krs-linked without links of source and references; expected "
         "the source (--src) and links (--ref-links), or --aligner, which makes them"),
        (["--src", "{src}", "--links", "{hyp_links}", "--ref-links", "{ref_links}", "--ref-links",
          "{ref_links}", "--worst", "3", "--worst-by", "bleu"], "worst_by: found `bleu`; expected "
         "one of krs-linked, krs-v-linked, reversals, reversals-v, krs, krs-v"),
        (["--threads", "0"], "threads: found 0; expected at least 1"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line_and_2(
    files: dict[str, str], capsys: pytest.CaptureFixture[str], more: list[str], message: str
) -> None:
    arguments = ["evaluate", files["hyp"], files["ref"], files["ref"]]
    assert main([*arguments, *(part.format(**files) for part in more)]) == 2
    assert capsys.readouterr().err == f"wayword: {message}\n"


def test_a_missing_reference_is_named(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", files["hyp"], "nowhere.en"]) == 1
    assert capsys.readouterr().err == "wayword: nowhere.en: No such file or directory\n"
    assert main(["evaluate", files["hyp"]]) == 2
    assert "found 1 outputs and 0 references; expected HYP REF" in capsys.readouterr().err


@given(st.binary(max_size=80))
@settings(max_examples=150)
def test_any_bytes_are_lines_and_links_or_a_typed_error(data: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bytes")
        path.write_bytes(data)
        try:
            lines = read.read_lines(path)
            read.read_links(path, lines, lines)
        except (WaywordError, OSError):
            return
        assert len(lines) >= 1


def test_byte_order_marks_and_carriage_returns_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "dos"
    path.write_bytes(b"\xef\xbb\xbfeins\r\nzwei")
    assert read.read_lines(path) == ["eins", "zwei"]
    path.write_bytes(b"gut\nschl\xff\n")
    with pytest.raises(FormatError) as error:
        read.read_lines(path)
    assert str(error.value) == (
        f"{path}:2: byte 5 (0xff) is not UTF-8; expected UTF-8 text; "
        "convert the file with iconv, or let `wayword doctor` take such lines out"
    )


# --- the command ---------------------------------------------------------------------------------


def test_the_command_compares_systems(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--system", f"new={files['new']}", "--links", files["new_links"], "--rounds", "50"]
    arguments = ["evaluate", files["hyp"], files["ref"], *layers(files, weights=files["weights"])]
    assert main([*arguments, *more, "--metrics", "bleu,krs,krs-v", "--name", "base"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].split() == ["system", "BLEU", "KRS", "KRS-V"]
    assert out.splitlines()[2].startswith("new     100.00")
    assert "KRS-V|nrefs:1|refs:closest|null:attach|bp:sentence|norm:weights|sentences:1|" in out


def test_the_command_gives_json(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["evaluate", files["hyp"], files["ref"], *layers(files, weights=files["weights"])]
    assert main([*arguments, "--json", "--worst", "1"]) == 0
    printed = json.loads(capsys.readouterr().out)
    order = ["krs-linked", "reversals", "krs-v-linked", "reversals-v"]
    assert printed["metrics"] == ["bleu", "chrf", "ter", "nist", "meteor", *order]
    values = {score["metric"]: score["value"] for score in printed["scores"]}
    assert values["krs-v-linked"] == pytest.approx(50)  # the second line has no verb
    assert values["reversals"] == 0
    assert printed["scores"][6]["details"]["precision"] is None
    assert printed["worst"]["hyp"][0]["arcs"] == [{"word": 4, "gap": 2}]
    assert set(printed["signatures"]) == set(printed["metrics"])


# --- drawings ------------------------------------------------------------------------------------


def test_the_command_draws_the_worst_sentences(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["evaluate", files["hyp"], files["ref"], *layers(files, weights=files["weights"])]
    assert main([*arguments, "--metrics", "krs-v", "--worst", "5"]) == 0
    assert capsys.readouterr().out.endswith(
        """
hyp: ordered worst

line 1: KRS-V-linked 50.0
source: er hat das buch gelesen
output: he has the book read
reference: he has read the book
         ╭─────────────╮
         ▼             │
 er [hat] das buch [gelesen]
"""
    )


def test_wide_and_combining_characters_keep_their_columns() -> None:
    gold = Gold(
        refs=[["I drink tea"]],
        src=["私は お茶を 飲む"],
        ref_links=[[[(0, 0), (1, 2), (2, 1)]]],
        weights=[[0, 0, 1]],
    )
    output = Output("x", ["I tea drink"], [[(0, 0), (1, 1), (2, 2)]])
    lines = draw(drill.worst(gold, output, 3)[0]).splitlines()
    # 私は and お茶を take 4 and 6 columns, so the gap is column 5 and [飲む] stands around 16
    assert lines[-2] == " " * 5 + "▼" + " " * 10 + "│"


def test_sentences_in_order_are_not_among_the_worst() -> None:
    output = Output("x", ["x x x x x x"], [links_of(IDENTITY)])
    assert drill.worst(order_gold(2), output, 5) == []


RANKS = st.permutations(range(6))


@given(RANKS, st.lists(st.integers(0, 1), min_size=6, max_size=6))
@settings(max_examples=60)
def test_every_drawing_has_arcs_and_every_arc_mends_something(
    rank: list[int], weights: list[int]
) -> None:
    assume(any(weights))
    gold = order_gold(1, weights=[weights])
    for case in drill.worst(gold, Output("x", ["x x x x x x"], [links_of(rank)]), 1):
        words = [ord(word) - ord("a") for word in case.words]
        assert case.arcs
        for arc in case.arcs:
            moved = words[: arc.word] + words[arc.word + 1 :]
            moved.insert(arc.gap - (arc.gap > arc.word), words[arc.word])
            before, after = (
                krs_v(
                    list(np.argsort(order)),
                    IDENTITY,
                    [float(w == words[arc.word]) for w in IDENTITY],
                )
                for order in (words, moved)
            )
            assert after > before
        *_, feet, line = draw(case).splitlines()
        assert feet.count("▼") <= len(case.arcs)
        assert len(feet) <= len(line) + 1
