"""Links and how they are read, written and scored."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayword import Bitext
from wayword.align import (
    EXTERNAL,
    Links,
    read_gold,
    read_links,
    run_external,
    score_links,
    symmetrise,
)
from wayword.align.score import Gold
from wayword.errors import ArgumentError, FormatError, MismatchError, WaywordError

LINK_LISTS = st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=8))


@given(LINK_LISTS)
def test_links_are_sorted_unique_and_come_back(sentences: list[list[tuple[int, int]]]) -> None:
    links = Links.from_lists(sentences)
    assert [[tuple(row) for row in of_pair.tolist()] for of_pair in links] == [
        sorted(set(of_pair)) for of_pair in sentences
    ]
    assert [line.split() for line in links.lines()] == [
        [f"{i}-{j}" for i, j in sorted(set(of_pair))] for of_pair in sentences
    ]


def test_links_are_seen_by_numpy_without_a_copy() -> None:
    links = Links.from_lists([[(0, 1)], [(2, 3), (4, 5)]])
    assert links.flat.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert links.flat.dtype == np.uint32
    assert links.offsets.tolist() == [0, 1, 3]
    assert not links.flat.flags.writeable
    assert np.shares_memory(links.flat, links[1])


@pytest.fixture
def bitext() -> Bitext:
    return Bitext.from_pairs([("a b", "x y z"), ("", "")])


def read(text: bytes, bitext: Bitext, tmp_path: Path) -> Links:
    path = tmp_path / "train.links"
    path.write_bytes(text)
    return Links.read(path, bitext)


def test_pharaoh_lines_are_read_and_written(bitext: Bitext, tmp_path: Path) -> None:
    links = read(b"1-2 0-0\n\n", bitext, tmp_path)
    links.write(tmp_path / "out.gz")
    assert Links.read(tmp_path / "out.gz", bitext) == links
    assert read_links(tmp_path / "out.gz") == [[(0, 0), (1, 2)], []]


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        (
            b"2-0\n\n",
            MismatchError,
            "train.links:1: link 2-0 is outside the sentence (source has 2 words); "
            "do both files come from the same corpus?",
        ),
        (
            b"0-3\n\n",
            MismatchError,
            "train.links:1: link 0-3 is outside the sentence (target has 3 words); "
            "do both files come from the same corpus?",
        ),
        (
            b"0-0\n\n\n",
            MismatchError,
            "train.links: more lines than the text, which has 2; "
            "do both files come from the same corpus?",
        ),
        (
            b"0-0\n",
            MismatchError,
            "train.links: only 1 lines, but the text has 2; "
            "do both files come from the same corpus?",
        ),
        (
            b"0-0 1_1\n\n",
            FormatError,
            "train.links:1: `1_1`; expected links such as `0-0 1-2`; "
            "positions count from 0, the source comes first",
        ),
    ],
)
def test_bad_link_files_are_refused_with_a_sentence(
    text: bytes, kind: type[Exception], message: str, bitext: Bitext, tmp_path: Path
) -> None:
    with pytest.raises(kind) as error:
        read(text, bitext, tmp_path)
    assert str(error.value).replace(f"{tmp_path}/", "") == message


@given(st.binary(max_size=60))
def test_any_bytes_are_links_or_a_typed_error(data: bytes) -> None:
    import tempfile

    bitext = Bitext.from_pairs([("a b", "x y z")])
    with tempfile.TemporaryDirectory() as folder:
        try:
            links = read(data, bitext, Path(folder))
        except (FormatError, MismatchError):
            return
        assert len(links) == 1
        assert all(i < 2 and j < 3 for i, j in links[0])


def test_gold_links_are_sure_or_possible(tmp_path: Path) -> None:
    path = tmp_path / "gold.txt"
    path.write_text("0-0 1?2\n\n")
    assert read_gold(path) == [
        Gold(frozenset({(0, 0)}), frozenset({(0, 0), (1, 2)})),
        Gold(frozenset(), frozenset()),
    ]


def test_score_by_hand() -> None:
    gold = [
        Gold(frozenset({(0, 0), (1, 1)}), frozenset({(0, 0), (1, 1), (2, 1)})),
        Gold(frozenset({(0, 0)}), frozenset({(0, 0)})),
    ]
    score = score_links([[(0, 0), (2, 1), (3, 3)], [(0, 0)], [(9, 9)]], gold)
    assert score.precision == pytest.approx(3 / 4)  # 0-0, 2-1 and the second 0-0 of four
    assert score.recall == pytest.approx(2 / 3)  # 1-1 is missing
    assert score.aer == pytest.approx(1 - (2 + 3) / (4 + 3))
    assert score.sentences == 2


def test_too_few_link_lines_are_refused() -> None:
    gold = [Gold(frozenset(), frozenset())] * 2
    with pytest.raises(MismatchError, match="links: only 1 lines; expected one for each gold"):
        score_links([[]], gold)


def test_no_gold_word_is_taken_for_a_link(tmp_path: Path) -> None:
    path = tmp_path / "gold.txt"
    path.write_text("0-0\n1?x\n")
    with pytest.raises(FormatError) as error:
        read_gold(path)
    assert str(error.value).startswith(f"{path}:2: `1?x`; expected links such as `0?0 1?2`")


FAKE_EFLOMAL = """#!/bin/sh
# Stands in for eflomal-align: links word i to word i in both directions.
while [ $# -gt 0 ]; do
  case "$1" in -s) src=$2;; -f) fwd=$2;; -r) rev=$2;; esac
  shift 2
done
sed 's/.*/0-0/' "$src" > "$fwd"
sed 's/.*/0-0 1-1/' "$src" > "$rev"
"""

FAKE_FAST_ALIGN = """#!/bin/sh
for last; do :; done
if [ "$last" = -r ]; then echo '0-0 1-1'; else echo '0-0'; fi
"""


@pytest.mark.parametrize(
    ("name", "script"), [("eflomal", FAKE_EFLOMAL), ("fast_align", FAKE_FAST_ALIGN)]
)
def test_aligners_of_others_are_called_when_installed(
    name: str,
    script: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "wayword")
    program = tmp_path / EXTERNAL[name]
    program.write_text(script)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    bitext = Bitext.from_pairs([("a b", "x y")])
    forward, reverse = run_external(name, bitext)
    assert list(forward.lines()) == ["0-0"]
    assert list(reverse.lines()) == ["0-0 1-1"]
    joined = symmetrise(forward, reverse, bitext, "grow-diag-final-and")
    assert list(joined.lines()) == ["0-0 1-1"]
    assert caplog.messages[0].startswith(f"running {program} ")


def test_an_aligner_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ArgumentError) as error:
        run_external("eflomal", Bitext.from_pairs([("a", "b")]))
    assert str(error.value) == (
        "model: found `eflomal`, but its command `eflomal-align` is not on the path; "
        "expected it to be installed; try the built-in model `hmm`"
    )


def test_what_an_outside_aligner_says_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "fast_align"
    program.write_text("#!/bin/sh\necho 'no memory' >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(WaywordError, match=r"^fast_align: left with 3, saying: no memory$"):
        run_external("fast_align", Bitext.from_pairs([("a", "b")]))
