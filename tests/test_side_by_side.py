"""The side-by-side page: what it counts, how it sorts, and that text stays text."""

import json
import random
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword.cli import main
from wayword.evaluate import Gold, Output, compare
from wayword.evaluate.differ import Difference, closest, difference, places, wrong_pairs
from wayword.evaluate.raw import Judged
from wayword.report.side_by_side import draw, sentences

STRAIGHT = [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]
VERB_EARLY = [(0, 0), (1, 1), (4, 2), (2, 3), (3, 4)]


def judge(gold: Gold, *outputs: Output, metrics: Sequence[str] = ("bleu",)) -> Judged:
    result = compare(gold, outputs, metrics, rounds=20, resamples=20)
    return Judged(result, gold, outputs)


def tea(*, weights: bool = True) -> Judged:
    """Line 1: both alike. Line 2: `late` has the verb last. Line 3: `late` lacks a word."""
    gold = Gold(
        refs=[["yes", "he has drunk the tea", "he has drunk the tea"]],
        src=["ja", "er hat den Tee getrunken", "er hat den Tee getrunken"],
        ref_links=[[[(0, 0)], VERB_EARLY, VERB_EARLY]],
        weights=[[0], [0, 1, 0, 0, 1], [0, 1, 0, 0, 1]] if weights else None,
    )
    early = Output("early", gold.refs[0], [[(0, 0)], VERB_EARLY, VERB_EARLY])
    late_lines = ["yes", "he has the tea drunk", "he has drunk tea"]
    late = Output("late", late_lines, [[(0, 0)], STRAIGHT, [(0, 0), (1, 1), (4, 2), (3, 3)]])
    return judge(gold, early, late)


class Tags(HTMLParser):
    """Elements of a page, and whether those that must be closed are."""

    VOID = ("meta", "input", "br")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep it."""
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Check that the innermost one ends."""
        assert self.open.pop() == tag

    def count(self, tag: str) -> int:
        """How many there are."""
        return sum(name == tag for name, _ in self.seen)


def data_of(page: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert match
    data: dict[str, Any] = json.loads(match[1])
    return data


# --- what is counted -----------------------------------------------------------------------------


def test_words_without_links_are_never_mistakes() -> None:
    ref = places(5, VERB_EARLY)
    # `den` has no link: of the 6 pairs of the other four all stand as in the reference.
    assert wrong_pairs(ref, places(5, [(0, 0), (1, 1), (4, 2), (3, 3)])).tolist() == [
        0,
        0,
        -1,
        0,
        0,
    ]
    assert wrong_pairs(ref, places(5, [])).tolist() == [-1] * 5
    assert wrong_pairs(places(0, []), places(0, [])).tolist() == []


def test_two_systems_are_compared_over_the_words_that_both_have() -> None:
    ref, last = places(5, VERB_EARLY), places(5, STRAIGHT)
    short = places(5, [(0, 0), (1, 1), (4, 2), (3, 3)])
    # 10 pairs; (2, 4) and (3, 4) are wrong in `last`, 2 and 1 words apart; 4 is a verb
    assert difference(ref, ref, last, [0, 1, 0, 0, 1]) == Difference(10, 8, 10, 2, 0b1, 0b1)
    assert difference(ref, ref, last, [1, 0, 0, 0, 0]) == Difference(10, 8, 10, 2, 0b1, 0)
    # without `den` 6 pairs are left, of which (3, 4) is wrong in `last`
    assert difference(ref, short, last) == Difference(6, 5, 6, 1, 0b1, 0)


def test_distances_fall_into_their_bins() -> None:
    straight = np.arange(12)
    for distance, bit in ((1, 0), (2, 0), (3, 1), (5, 1), (6, 2), (10, 2), (11, 3)):
        ref, hyp = (np.full(12, -1) for _ in range(2))
        ref[[0, distance]], hyp[[0, distance]] = (1, 0), (0, 1)
        found = difference(ref, hyp, ref)
        assert (found.apart, found.distances) == (1, 1 << bit)
    assert difference(straight, straight, straight).distances == 0


@given(st.permutations(range(7)), st.permutations(range(7)), st.sets(st.integers(0, 6)))
def test_counts_are_those_of_a_loop_over_pairs(
    ref: list[int], hyp: list[int], unlinked: set[int]
) -> None:
    sides = [np.array([-1 if at in unlinked else x for at, x in enumerate(r)]) for r in (ref, hyp)]
    words = [at for at in range(7) if at not in unlinked]
    wrong = [
        (i, j) for i in words for j in words if i < j and (ref[i] > ref[j]) != (hyp[i] > hyp[j])
    ]
    found = difference(sides[0], sides[1], sides[0])
    pairs = len(words) * (len(words) - 1) // 2
    assert (found.first, found.second, found.pairs) == (pairs - len(wrong), pairs, pairs)
    expected = [sum(at in pair for pair in wrong) if at in words else -1 for at in range(7)]
    assert wrong_pairs(*sides).tolist() == expected


def test_the_closest_reference_is_shown() -> None:
    assert closest([places(5, STRAIGHT), places(5, VERB_EARLY)], [places(5, VERB_EARLY)]) == 1
    assert closest([places(5, STRAIGHT), places(5, VERB_EARLY)], [places(5, [])]) == 0
    gold = Gold(
        refs=[["he has the tea drunk"], ["he has drunk the tea"]],
        src=["er hat den Tee getrunken"],
        ref_links=[[STRAIGHT], [VERB_EARLY]],
    )
    [sentence] = sentences(judge(gold, Output("a", ["he has drunk the tea"], [VERB_EARLY])))
    assert (sentence["which"], sentence["ref"]) == (2, "he has drunk the tea")
    assert sentence["couples"] == [[10, 10, 10, 0, 0, 0]]


# --- the page ------------------------------------------------------------------------------------


def test_sentences_that_differ_most_come_first() -> None:
    judged = tea()
    listed = sentences(judged)
    # line 2: 10 and 8 of 10 pairs; line 3: 6 and 6 of the 6 pairs without `den`; line 1: no pair
    assert [sentence["line"] for sentence in listed] == [2, 1, 3]
    assert listed[0]["couples"] == [
        [10, 8, 10, 2, 1, 1],  # early and late
        [10, 10, 10, 0, 0, 0],  # early and the reference
        [8, 10, 10, 2, 1, 1],  # late and the reference
    ]
    assert listed[0]["wrong"] == [[0, 0, 0, 0, 0], [0, 0, 1, 1, 2]]
    assert listed[2]["wrong"][1] == [0, 0, -1, 0, 0]
    assert listed[0]["verbs"] == [1, 4]
    data = data_of(draw(judged))
    assert data["couples"] == [[0, 1], [0, 2], [1, 2]]
    assert data["sentences"] == listed


def test_a_system_alone_is_compared_with_the_reference() -> None:
    both = tea(weights=False)
    alone = judge(both.gold, both.outputs[1])
    listed = sentences(alone)
    assert [sentence["line"] for sentence in listed] == [2, 1, 3]
    assert listed[0]["couples"] == [[8, 10, 10, 2, 1, 0]]
    assert "verbs" not in listed[0]
    assert data_of(draw(alone))["couples"] == [[0, 1]]


def test_the_page_needs_nothing_but_itself() -> None:
    page = draw(tea())
    tags = Tags(page)
    assert tags.open == []
    assert tags.count("script") == 2
    assert tags.count("link") == tags.count("img") == tags.count("iframe") == 0
    for name, attributes in tags.seen:
        assert not {"src", "href", "style"} & set(attributes), name
        assert not any(key.startswith("on") for key in attributes), name
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    assert "default-src 'none'; style-src 'sha256-" in page
    assert tags.seen[0] == ("html", {"lang": "en"})


def test_scores_have_intervals_and_marks() -> None:
    rng = random.Random(1)
    lines = [" ".join(rng.choices("abcdefgh", k=8)) for _ in range(40)]
    gold = Gold(refs=[lines])
    worse = [" ".join(reversed(line.split())) for line in lines]
    outputs = (Output("base", worse), Output("new", lines))
    judged = Judged(compare(gold, outputs, ["bleu", "ter"], rounds=99), gold, outputs)
    page = draw(judged)
    new = judged.result.score("new", "bleu")
    assert (
        f'{new.value:.2f} <small>±{(new.high - new.low) / 2:.2f}</small> <span class="mark">▲'
        in page
    )
    assert f"95 % between {new.low:.2f} and {new.high:.2f}, p = {new.p_value:.4f}" in page
    assert "TER ↓" in page
    assert "▲▼ better, worse than base at p ≤ .05; △▽ at p ≤ .10; ↓ lower is better" in page
    assert judged.result.recipe in page


def test_text_of_anybody_stays_text() -> None:
    evil = "</script><script>alert(1)</script> <!-- &lt; \u2028 \"'"
    gold = Gold(refs=[[evil]], src=[evil], ref_links=[[[(0, 0)]]])
    judged = judge(gold, Output("<img src=x onerror=alert(1)>", [evil], [[(0, 0)]]))
    page = draw(judged)
    tags = Tags(page)
    assert tags.count("script") == 2
    assert tags.count("img") == 0
    assert "alert(1)</script>" not in page
    assert "<!--" not in page
    data = data_of(page)
    assert data["systems"] == ["<img src=x onerror=alert(1)>"]
    assert data["sentences"][0]["src"] == " ".join(evil.split())
    script = page.rpartition("<script>")[2]
    assert "innerHTML" not in script
    assert "insertAdjacentHTML" not in script


def test_the_same_input_gives_the_same_bytes() -> None:
    assert draw(tea()) == draw(tea())


def test_what_is_missing_is_said() -> None:
    plain = judge(Gold(refs=[["a b"]]), Output("x", ["b a"]))
    page = draw(plain)
    assert "The source and its links are missing, so word order is not shown." in page
    assert "--align-on" in page
    assert 'class="legend"' not in page
    assert data_of(page)["couples"] == []
    assert data_of(page)["sentences"] == [{"line": 1, "ref": "a b", "which": 1, "hyps": ["b a"]}]
    without = judge(Gold(refs=[["a b"]], src=["c d"]), Output("x", ["b a"]))
    assert "between source and the reference, x: no order is shown" in draw(without)
    assert data_of(draw(without))["sentences"][0]["src"] == "c d"
    # One of two systems has links: it is compared with the reference.
    gold = Gold(refs=[["a b"]], src=["c d"], ref_links=[[[(0, 0), (1, 1)]]])
    half = judge(gold, Output("x", ["b a"]), Output("y", ["b a"], [[(0, 1), (1, 0)]]))
    assert "between source and x: no order is shown" in draw(half)
    assert data_of(draw(half))["couples"] == [[1, 2]]
    [sentence] = sentences(half)
    assert sentence["wrong"] == [None, [1, 1]]
    assert sentence["couples"] == [[0, 1, 1, 1, 1, 0]]
    assert "is missing" not in draw(tea())


def test_lines_may_be_empty() -> None:
    gold = Gold(refs=[["", "a"]], src=["", "b"], ref_links=[[[], [(0, 0)]]])
    [first, second] = sentences(judge(gold, Output("x", ["", "  a "], [[], [(0, 0)]])))
    assert (first["hyps"], first["wrong"], first["couples"]) == ([""], [[]], [[0, 0, 0, 0, 0, 0]])
    assert second["hyps"] == ["a"]


def test_the_page_stays_small() -> None:
    rng = random.Random(2)
    count, length = 100, 25
    lines = [" ".join(rng.choices(["lorem", "ipsum", "dolor"], k=length)) for _ in range(count)]

    def shuffled() -> list[list[tuple[int, int]]]:
        return [list(enumerate(rng.sample(range(length), length))) for _ in range(count)]

    gold = Gold(refs=[lines], src=lines, ref_links=[shuffled()])
    page = draw(judge(gold, *(Output(name, lines, shuffled()) for name in "abc")))
    assert len(page.encode()) < 40_000 + 2_000 * count  # 4 MB for 2,000 sentences


def test_the_command_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"src": "das haus", "out": "house the", "ref": "the house", "links": "0-1 1-0"}
    for name, text in {**files, "ref-links": "0-0 1-1"}.items():
        (tmp_path / name).write_text(text + "\n")
    command = ["evaluate", f"{tmp_path}/out", f"{tmp_path}/ref", "--src", f"{tmp_path}/src"]
    command += ["--links", f"{tmp_path}/links", "--ref-links", f"{tmp_path}/ref-links"]
    page = tmp_path / "page.html"
    assert main([*command, "--metrics", "krs", "--html", str(page), "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["systems"] == ["out"]
    assert captured.err == f"wayword: side by side: {page}\n"
    data = data_of(page.read_text(encoding="utf-8"))
    assert data["sentences"][0]["couples"] == [[0, 1, 1, 1, 1, 0]]
    assert main([*command, "--html", f"{tmp_path}/none/page.html"]) == 2
    assert f"--html: {tmp_path}/none is no folder" in capsys.readouterr().err
