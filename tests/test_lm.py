"""Language models: definitions l, agreement with lmplz and KenLM, and bad files."""

import gzip
import json
import lzma
import math
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference.kneser_ney import Gram, KneserNey, backed_off, estimate_discounts

from wayword.cli import main
from wayword.corpus.files import size_in_bytes, temp_folder
from wayword.errors import ArgumentError, FormatError, LimitError, MismatchError, WaywordError
from wayword.lm import LanguageModel, count, merge, mix, mixture_of, train, train_arpa

LN_10 = math.log(10)

TOY = [
    "a b c a b",
    "a b d",
    "c a b c",
    "b a",
    "d d a b c",
    "a c b d",
    "b c a",
    "e a b",
    "f",
]

#: A whole ARPA file that others are made from.
ARPA = r"""\data\
ngram 1=4
ngram 2=3

\1-grams:
-1.5	<unk>
0	<s>	-0.25
-0.5	</s>
-0.75	a	-0.125

\2-grams:
-0.5	<s> a
-0.25	a a
-0.625	a </s>

\end\
"""

LINES = st.lists(
    st.lists(st.sampled_from("abcdefg"), max_size=7).map(" ".join), min_size=1, max_size=12
)


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read_grams(path: Path) -> dict[Gram, tuple[float, float]]:
    """The n-grams of an ARPA file with their base-10 logarithms."""
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    fields = [line.split("\t") for line in data.decode().split("\n")]
    return {
        tuple(row[1].split(" ")): (float(row[0]), float(row[2]) if len(row) > 2 else 0.0)
        for row in fields
        if len(row) > 1
    }


# Estimation


def test_the_toy_numbers_of_the_specification() -> None:
    lm = train(TOY, order=3)
    assert lm.summary is not None
    assert lm.summary.counts == (9, 21, 22)
    assert lm.summary.discounts[0] == (0.5, 1, 1.5)
    assert lm.summary.discounts[1] == pytest.approx((0.583333, 1.65, 0.666667), abs=1e-6)
    assert lm.summary.discounts[2] == pytest.approx((0.555556, 1.722222, 3), abs=1e-6)
    assert [word.score / LN_10 for word in lm.word_scores("a b c")] == pytest.approx(
        [-0.4300280, -0.3075698, -0.8820092, -0.5362807], abs=1e-6
    )
    assert [word.score / LN_10 for word in lm.word_scores("b x a")] == pytest.approx(
        [-0.9916787, -1.6793306, -0.6630164, -0.8538456], abs=1e-6
    )
    assert lm.score("a b c") / LN_10 == pytest.approx(-2.1558875, abs=1e-6)
    assert lm.score(["b", "x", "a"]) / LN_10 == pytest.approx(-4.1878713, abs=1e-6)


def test_the_toy_arpa_file_has_the_specified_entries(tmp_path: Path) -> None:
    train(TOY, order=3).write_arpa(tmp_path / "toy.arpa")
    grams = read_grams(tmp_path / "toy.arpa")
    expected = {
        ("<unk>",): (-1.2958903, 0),
        ("a",): (-0.6630164, -0.3827000),
        ("a", "b"): (-0.2784011, -0.0557002),
        ("<s>",): (0, -0.2867895),
    }
    for gram, scores in expected.items():
        assert grams[gram] == pytest.approx(scores, abs=1e-6), gram
    assert grams["<s>", "a", "b"][0] == pytest.approx(-0.3075698, abs=1e-6)
    assert grams["a", "b", "c"][0] == pytest.approx(-0.8820092, abs=1e-6)


THRESHOLDS = st.sampled_from([(), (0, 1), (0, 0, 1), (0, 1, 2), (0, 0, 0, 3)])


@given(LINES, st.integers(1, 8), THRESHOLDS, st.lists(st.sampled_from("abcdx"), max_size=9))
def test_scores_equal_the_slow_twin(
    lines: list[str], order: int, prune: tuple[int, ...], words: list[str]
) -> None:
    prune = prune[:order]
    lm, twin = train(lines, order=order, prune=prune), KneserNey(lines, order, prune)
    assert lm.score(words) == pytest.approx(twin.score(" ".join(words)), abs=2e-5)
    assert lm.score(lines[0]) == pytest.approx(twin.score(lines[0]), abs=2e-5)


@given(
    LINES,
    st.integers(1, 6),
    THRESHOLDS,
    st.lists(st.sampled_from("abcdefgx"), max_size=6),
    st.booleans(),
)
def test_every_distribution_sums_to_one(
    lines: list[str], order: int, prune: tuple[int, ...], context: list[str], bos: bool
) -> None:
    lm = train(lines, order=order, prune=prune[:order])
    vocab = [word for word in "abcdefg" if word in lm]
    total = sum(
        math.exp(lm.word_scores([*context, word], bos=bos, eos=False)[-1].score)
        for word in [*vocab, "unknown"]
    )
    total += math.exp(lm.word_scores(context, bos=bos)[-1].score)
    assert total == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("lines", "order"),
    [
        (["word"], 5),
        ([""], 5),
        (["word word word word word word"] * 50, 5),
        ([" ".join("ein kleines haus am see")] * 10, 7),
        ([f"wort{number}" for number in range(10)], 3),
    ],
)
def test_the_smallest_texts_give_proper_models(lines: list[str], order: int) -> None:
    lm, twin = train(lines, order=order), KneserNey(lines, order)
    for line in [lines[0], "", "never seen", f"{lines[0]} x"]:
        assert math.isfinite(lm.score(line))
        assert lm.score(line) == pytest.approx(twin.score(line), abs=2e-5)


def test_notes_say_what_could_not_be_estimated_and_why() -> None:
    summary = train(["ja", "nein"], order=5).summary
    assert summary is not None
    assert summary.order == 3
    assert summary.notes == (
        "order 1: discounts cannot be estimated (no n-gram has the count 3); used 0.5 1 1.5 "
        "instead, as is usual for small texts and for characters",
        "order 2: discounts cannot be estimated (no n-gram has the count 2); used 0.5 1 1.5 "
        "instead, as is usual for small texts and for characters",
        "order 3: discounts cannot be estimated (no n-gram has the count 2); used 0.5 1 1.5 "
        "instead, as is usual for small texts and for characters",
        "order 3 instead of 5: no sentence is long enough for more",
    )
    pruned = train(TOY, order=3, prune=(0, 0, 9)).summary
    assert pruned is not None
    assert pruned.notes[-1] == "order 2 instead of 3: pruning leaves no longer n-gram"


def random_text(words: int) -> list[str]:
    """Lines whose words are distributed about as in a language."""
    source = random.Random(7)
    weights = [1 / rank for rank in range(1, 2000)]
    drawn = source.choices([f"w{rank}" for rank in range(1, 2000)], weights, k=words)
    return [" ".join(drawn[at : at + 12]) for at in range(0, words, 12)]


def test_little_memory_gives_the_same_bytes_and_leaves_no_files(tmp_path: Path) -> None:
    text = random_text(60_000)
    temp = tmp_path / "temp"
    ample = train(text, tmp_path / "a.lm", order=5)
    train(text, tmp_path / "b.lm", order=5, memory="1M", temp_dir=temp)
    assert temp.exists()
    assert list(temp.iterdir()) == []
    assert (tmp_path / "a.lm").read_bytes() == (tmp_path / "b.lm").read_bytes()
    assert ample.score(text[0]) == LanguageModel.load(tmp_path / "b.lm").score(text[0])


@given(lines=LINES, cuts=st.lists(st.integers(0, 12), max_size=3), order=st.integers(1, 5))
@settings(max_examples=30, deadline=None)
def test_parts_of_a_text_give_the_bytes_of_the_whole(
    lines: list[str], cuts: list[int], order: int
) -> None:
    ends = sorted({0, len(lines), *(min(cut, len(lines)) for cut in cuts)})
    with temp_folder() as folder:
        parts = [folder / str(number) for number in range(len(ends) - 1)]
        for path, (start, end) in zip(parts, pairwise(ends), strict=True):
            assert count(lines[start:end], path, order=order) == end - start
        merged = merge(parts, folder / "merged", threads=2)
        whole = train(lines, folder / "whole", order=order)
        assert (folder / "merged").read_bytes() == (folder / "whole").read_bytes()
        assert merged.summary == whole.summary


def test_counts_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    count(TOY, first, order=3)
    count(TOY, second, order=2)
    expected = f"^{second}: order 2, but {first} has 3; count all parts of a text with the same"
    with pytest.raises(MismatchError, match=expected):
        merge([first, second])
    data = bytearray(first.read_bytes())
    data[-3] ^= 1
    first.write_bytes(data)
    with pytest.raises(FormatError, match="bytes that do not fit their checksum; expected a file"):
        merge([first])
    with pytest.raises(FormatError, match="no sentence; expected at least one line"):
        merge([])
    with pytest.raises(ArgumentError, match="prune: found 0 2 1"):
        merge([second], prune=[0, 2, 1])


def test_text_comes_from_files_lines_and_lists_of_words(tmp_path: Path) -> None:
    path = write(tmp_path / "toy.gz", gzip.compress("\n".join(TOY).encode()))
    models = [train(source, order=3) for source in (path, TOY, iter(TOY), [x.split() for x in TOY])]
    assert len({pickle.dumps(model) for model in models}) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 0}, "order: found 0; expected a number from 1 to 8"),
        ({"order": 9}, "order: found 9; expected a number from 1 to 8"),
        (
            {"prune": (1, 1)},
            "prune: found 1 1; expected at most one number per order, the first 0, none below "
            "the one before",
        ),
        (
            {"prune": (0, 2, 1)},
            "prune: found 0 2 1; expected at most one number per order, the first 0, none below "
            "the one before",
        ),
        ({"memory": "12"}, "memory: found 12; expected at least 1M, such as 512M or 2G"),
        ({"memory": "much"}, "memory: found much; expected at least 1M, such as 512M or 2G"),
    ],
)
def test_useless_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        train(TOY, **options)
    assert str(error.value) == message


def test_no_text_and_reserved_words_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as error:
        train([])
    assert str(error.value) == (
        "text: no sentence; expected at least one line; is this the right file?"
    )
    path = write(tmp_path / "train.en", "good line\n<s> bad line </s>\n")
    with pytest.raises(FormatError) as error:
        train(path)
    assert str(error.value) == (
        f"{path}:2: the word `<s>`; expected text without the model's own marks; sentence marks "
        "are added by themselves; take them out or spell them otherwise"
    )


def test_sizes_are_read_with_their_units() -> None:
    assert [size_in_bytes(size) for size in ("1M", "2g", "3MB", 1 << 21)] == [
        1 << 20,
        2 << 30,
        3 << 20,
        1 << 21,
    ]


# Agreement with lmplz and KenLM


def assert_equal_models(ours: Path, theirs: Path) -> None:
    """Compare the n-grams, probabilities and back-off weights of two ARPA files."""
    grams, expected = read_grams(ours), read_grams(theirs)
    assert grams.keys() == expected.keys()
    scores = [np.array([rows[gram] for gram in grams]) for rows in (grams, expected)]
    assert np.abs(scores[0] - scores[1]).max() < 2e-6


@pytest.mark.parametrize(("order", "grams"), [(3, 7_607), (5, 15_259)])
def test_the_arpa_file_of_a_toy_text_equals_that_of_lmplz(
    fixtures: Path, tmp_path: Path, order: int, grams: int
) -> None:
    summary = train_arpa(fixtures / "toy" / "train.en", tmp_path / "own.arpa", order=order)
    assert sum(summary.counts) == grams
    assert_equal_models(tmp_path / "own.arpa", fixtures / "lmplz" / f"order{order}.arpa.gz")


@pytest.mark.parametrize("order", [3, 5])
def test_discounts_equal_those_behind_the_backoffs_of_lmplz(fixtures: Path, order: int) -> None:
    text = fixtures / "toy" / "train.en"
    summary = train(text, order=order).summary
    assert summary is not None
    twin = KneserNey(text.read_text(encoding="utf-8").splitlines(), order)
    grams = read_grams(fixtures / "lmplz" / f"order{order}.arpa.gz")
    expected = np.array(estimate_discounts(grams, twin))
    assert np.array(summary.discounts) == pytest.approx(expected, abs=1e-4)
    fallbacks = [note.split(":")[0] for note in summary.notes]
    assert fallbacks == (["order 4"] if order == 5 else [])
    assert order == 3 or summary.discounts[3] == (0.5, 1.0, 1.5)


@pytest.mark.parametrize("order", [3, 5])
def test_totals_of_lines_equal_those_of_kenlm(fixtures: Path, tmp_path: Path, order: int) -> None:
    lines = (fixtures / "toy" / "test.en").read_text(encoding="utf-8").splitlines()
    rows = (fixtures / "lmplz" / f"order{order}.scores.tsv").read_text().splitlines()
    query, python, words, unknown = zip(*(map(float, row.split()) for row in rows[1:]), strict=True)
    own = train(fixtures / "toy" / "train.en", tmp_path / "own.lm", order=order)
    read = LanguageModel.load(fixtures / "lmplz" / f"order{order}.arpa.gz")
    for lm in (own, read):
        totals = lm.score_lines(lines) / LN_10
        assert totals == pytest.approx(query, abs=2e-5)
        assert totals == pytest.approx(python, abs=2e-5)
        perplexity = lm.perplexity(lines)
        assert (perplexity.tokens, perplexity.unknown) == (sum(words) + len(lines), sum(unknown))


def assert_kenlm_agrees(lm: LanguageModel, lines: list[str], arpa: Path) -> None:
    """Compare the totals and unknown words of lines with those of KenLM, which reads our file."""
    kenlm = pytest.importorskip("kenlm", reason="kenlm: not installed; pip install kenlm")
    lm.write_arpa(arpa)
    theirs = kenlm.Model(str(arpa))
    totals = [theirs.score(line) for line in lines]
    assert lm.score_lines(lines) / LN_10 == pytest.approx(totals, abs=1e-4)
    unknown = sum(word[2] for line in lines for word in theirs.full_scores(line))
    assert lm.perplexity(lines).unknown == unknown


@pytest.mark.parametrize("order", [3, 5])
def test_kenlm_reads_our_model_of_a_toy_text(fixtures: Path, tmp_path: Path, order: int) -> None:
    lines = (fixtures / "toy" / "test.en").read_text(encoding="utf-8").splitlines()
    own = train(fixtures / "toy" / "train.en", order=order)
    assert_kenlm_agrees(own, lines, tmp_path / "own.arpa")


@pytest.mark.parametrize("pair", [pytest.param("de-en", marks=pytest.mark.slow), "ja-en"])
def test_the_estimate_of_a_real_text_is_that_of_lmplz(
    shared: Path, pair: str, tmp_path: Path
) -> None:
    folder = shared / "reference" / pair
    train_arpa(folder / "train.en.xz", tmp_path / "own.arpa", order=5)
    assert_equal_models(tmp_path / "own.arpa", folder / "lm.arpa.gz")


@pytest.mark.parametrize("pair", ["de-en", "ja-en"])
def test_kenlm_reads_our_model_of_a_real_text(shared: Path, pair: str, tmp_path: Path) -> None:
    folder = shared / "reference" / pair
    lines = (folder / "test.en").read_text(encoding="utf-8").splitlines()
    own = train(folder / "train.en.xz", order=5)
    assert_kenlm_agrees(own, lines, tmp_path / "own.arpa")
    read = LanguageModel.load(folder / "lm.arpa.gz")
    assert own.score_lines(lines) == pytest.approx(read.score_lines(lines), abs=2e-4)


@pytest.mark.slow
def test_kenlm_agrees_on_a_large_text(shared: Path, tmp_path: Path) -> None:
    folder = shared / "data" / "align" / "de-en"
    lines = lzma.decompress((folder / "test.en.xz").read_bytes()).decode().splitlines()
    own = train(folder / "bitext.en.xz", order=5, memory="64M")
    assert_kenlm_agrees(own, lines, tmp_path / "own.arpa")


# ARPA files


def test_an_arpa_file_is_read_and_written_the_same(tmp_path: Path) -> None:
    for order in range(1, 6):
        lm = train(TOY, order=order)
        lm.write_arpa(tmp_path / "a.arpa")
        again = LanguageModel.load(tmp_path / "a.arpa")
        again.write_arpa(tmp_path / "b.arpa")
        assert (tmp_path / "a.arpa").read_bytes() == (tmp_path / "b.arpa").read_bytes()
        assert again.counts == lm.counts
        for line in TOY:
            assert again.score(line) == pytest.approx(lm.score(line), abs=1e-6)


def test_a_small_arpa_file_gives_its_own_numbers(tmp_path: Path) -> None:
    lm = LanguageModel.load(write(tmp_path / "small.arpa", ARPA))
    words = lm.word_scores("a x a a")
    assert [word.score / LN_10 for word in words] == pytest.approx(
        [
            -0.5,  # <s> a
            -1.5 - 0.125,  # <unk> after backing off from a
            -0.75,  # nothing is known after <unk>
            -0.25,  # a a
            -0.625,  # a </s>
        ],
        abs=1e-6,
    )
    assert [word.order for word in words] == [2, 1, 1, 2, 2]
    assert [word.is_unknown for word in words] == [False, True, False, False, False]


def test_a_file_without_unk_gives_unknown_words_minus_100(tmp_path: Path) -> None:
    text = ARPA.replace("-1.5\t<unk>\n", "").replace("ngram 1=4", "ngram 1=3")
    lm = LanguageModel.load(write(tmp_path / "small.arpa", text))
    assert lm.score("x", bos=False, eos=False) / LN_10 == pytest.approx(-100)


def sparse_models() -> st.SearchStrategy[dict[Gram, tuple[float, float]]]:
    """ARPA models with holes: n-grams whose beginnings or endings are missing."""
    scores = st.tuples(st.integers(-800, 0), st.integers(-300, 0)).map(
        lambda pair: (pair[0] / 100, pair[1] / 100)
    )
    words = st.sampled_from(["<s>", "a", "b", "c", "<unk>", "</s>"])
    grams = st.lists(words, min_size=2, max_size=4).map(tuple)
    unigrams = dict.fromkeys(["<s>", "</s>", "<unk>", "a", "b", "c"], scores)
    return st.tuples(
        st.fixed_dictionaries(unigrams).map(lambda values: {(w,): s for w, s in values.items()}),
        st.dictionaries(grams, scores, max_size=25),
    ).map(lambda parts: {**parts[0], **parts[1]})


def write_model(path: Path, grams: dict[Gram, tuple[float, float]]) -> None:
    order = max(map(len, grams))
    sections = [[g for g in grams if len(g) == k] for k in range(1, order + 1)]
    lines = ["\\data\\", *(f"ngram {k}={len(s)}" for k, s in enumerate(sections, start=1)), ""]
    for k, section in enumerate(sections, start=1):
        lines.append(f"\\{k}-grams:")
        lines += [f"{grams[g][0]}\t{' '.join(g)}\t{grams[g][1]}" for g in section]
    path.write_text("\n".join([*lines, "\\end\\", ""]), encoding="utf-8")


@given(sparse_models(), st.lists(st.sampled_from(["a", "b", "c", "x"]), max_size=8))
def test_holes_in_an_arpa_file_change_no_score(
    tmp_path: Path, grams: dict[Gram, tuple[float, float]], words: list[str]
) -> None:
    write_model(tmp_path / "holes.arpa", grams)
    order = max(map(len, grams))
    lm = LanguageModel.load(tmp_path / "holes.arpa")
    known = ["<s>", *(word if word != "x" else "<unk>" for word in words), "</s>"]
    # The longest n-grams are no context, whatever the file says.
    clean = {g: (p, b if len(g) < order else 0.0) for g, (p, b) in grams.items()}
    expected = [
        backed_off(clean, tuple(known[max(0, at + 1 - order) : at + 1]))
        for at in range(1, len(known))
    ]
    scores = [word.score / LN_10 for word in lm.word_scores(words)]
    assert scores == pytest.approx(expected, abs=1e-4)


ADVICE = "; is the file whole, and is it an ARPA language model?"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\\data\\", "data", r":1: `data`; expected `\data\`"),
        ("ngram 2=3", "ngram 3=3", ":3: `ngram 3=3`; expected `ngram 2=` and a number"),
        ("ngram 2=3", "ngram 2=x", ":3: `ngram 2=x`; expected `ngram 2=` and a number"),
        ("ngram 2=3", "ngram 2=4", ":16: 3 2-grams; expected the 4 that the header says"),
        ("ngram 2=3", "ngram 2=2", r":14: more than 2 2-grams; expected `\end\`"),
        ("-0.25\ta a", "0.25\ta a", ":13: the log probability 0.25; expected a number that is "),
        ("-0.25\ta a", "nan\ta a", ":13: `nan`; expected a finite number"),
        ("-0.25\ta a", "-inf\ta a", ":13: `-inf`; expected a finite number"),
        ("-0.25\ta a", "-1e300\ta a", ":13: `-1e300`; expected a finite number"),
        ("-0.25\ta a", "x\ta a", ":13: `x`; expected a finite number"),
        ("-0.25\ta a", "-0.25\ta b", ":13: the word `b`; expected words that are among the"),
        ("-0.25\ta a", "-0.25\ta", ":13: `-0.25\ta`; expected a log probability, 2 words and"),
        ("-0.25\ta a", "-0.25\ta a 0 1", ":13: `-0.25\ta a 0 1`; expected a log probability, 2"),
        ("-0.25\ta a", "-0.25\t<s> a", ":13: `<s> a` a second time; expected new n-grams"),
        ("-0.75\ta\t", "-0.75\t</s>\t", ":9: `</s>` a second time; expected new words"),
        ("\\2-grams:", "\\3-grams:", r":11: `\3-grams:`; expected `\2-grams:`"),
        ("0\t<s>\t-0.25", "0\t<x>", ":11: 1-grams without `<s>`; expected both sentence marks"),
        ("-0.5\t</s>", "-0.5\t<x>", ":11: 1-grams without `</s>`; expected both sentence marks"),
        ("\\end\\\n", "", r":16: the end of the file; expected `\end\`"),
        ("\\end\\\n", "\\end\\\nmore\n", r":17: `more`; expected nothing after `\end\`"),
    ],
)
def test_bad_arpa_files_name_the_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in ARPA
    path = write(tmp_path / "bad.arpa", ARPA.replace(old, new, 1))
    with pytest.raises(FormatError) as error:
        LanguageModel.load(path)
    assert str(error.value).startswith(f"{path}{message}")
    assert str(error.value).endswith(ADVICE)


def test_a_missing_section_is_named(tmp_path: Path) -> None:
    start = ARPA.index("\\2-grams:")
    path = write(tmp_path / "bad.arpa", ARPA[:start] + "\\end\\\n")
    with pytest.raises(FormatError, match=r":11: `\\end\\`; expected `\\2-grams:`"):
        LanguageModel.load(path)


def test_a_damaged_archive_and_an_endless_line_are_errors(tmp_path: Path) -> None:
    data = gzip.compress(ARPA.encode())
    with pytest.raises(FormatError, match="the compressed data is damaged or cut short"):
        LanguageModel.load(write(tmp_path / "cut.arpa.gz", data[:-12]))
    endless = tmp_path / "endless.arpa"
    with endless.open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(LimitError, match=r":1: a line that does not end; the limit is"):
        LanguageModel.load(endless)
    counts = "".join(f"ngram {k}=1\n" for k in range(1, 10))
    long = write(tmp_path / "long.arpa", "\\data\\\n" + counts)
    with pytest.raises(LimitError, match=":10: a model of order 9 or more; the limit is order 8"):
        LanguageModel.load(long)


def test_a_binary_of_kenlm_is_told_to_come_as_arpa(tmp_path: Path) -> None:
    start = b"mmap lm http://kheafield.com/code format version 5\n\0"
    path = write(tmp_path / "model.bin", start + b"\0" * 200)
    with pytest.raises(FormatError) as error:
        LanguageModel.load(path)
    assert str(error.value) == (
        f"{path}: a binary file of KenLM; expected an ARPA file or a model of wayword; such "
        "files depend on KenLM's version; give the ARPA file it was made from, which wayword "
        "reads as it is"
    )


PIECES = st.sampled_from(
    [*(line + "\n" for line in ARPA.splitlines()), "\t", " ", "-", "nan", "\n", "\\", "9" * 30]
)
BYTES = st.one_of(
    st.binary(max_size=80),
    st.lists(PIECES, max_size=30).map(lambda parts: "".join(parts).encode()),
    st.tuples(st.integers(0, len(ARPA)), st.binary(max_size=3)).map(
        lambda cut: ARPA.encode()[: cut[0]] + cut[1] + ARPA.encode()[cut[0] + 1 :]
    ),
)


@given(BYTES)
@settings(max_examples=400)
def test_any_bytes_are_a_model_or_a_typed_error(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path / "any", data)
    try:
        lm = LanguageModel.load(path)
    except WaywordError as error:
        assert "internal" not in str(error)  # noqa: PT017 - most bytes are an error, some are not
    else:
        assert math.isfinite(lm.score("a a x"))


# The mapped file


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("lm") / "toy.lm"
    train(TOY, path, order=4)
    return path.read_bytes()


def test_a_saved_model_scores_the_same(tmp_path: Path) -> None:
    lm = train(TOY, order=4)
    lm.save(tmp_path / "toy.lm")
    for verify, in_memory in [(False, False), (True, False), (False, True)]:
        again = LanguageModel.load(tmp_path / "toy.lm", verify=verify, in_memory=in_memory)
        assert [again.score(line) for line in TOY] == [lm.score(line) for line in TOY]
        assert again.counts == lm.counts
        again.write_arpa(tmp_path / "again.arpa")
        lm.write_arpa(tmp_path / "toy.arpa")
        assert (tmp_path / "again.arpa").read_bytes() == (tmp_path / "toy.arpa").read_bytes()


def test_every_flipped_byte_of_the_header_is_an_error(tmp_path: Path, image: bytes) -> None:
    for at in range(128):
        for bit in (1, 0x80):
            damaged = bytearray(image)
            damaged[at] ^= bit
            with pytest.raises(FormatError):
                LanguageModel.load(write(tmp_path / "damaged.lm", bytes(damaged)))


def test_every_truncation_is_an_error(tmp_path: Path, image: bytes) -> None:
    for length in [*range(16, len(image), 97), len(image) - 1]:
        with pytest.raises(FormatError, match="expected a language model in version"):
            LanguageModel.load(write(tmp_path / "cut.lm", image[:length]))
    with pytest.raises(FormatError, match=f"{len(image) - 127} bytes of {len(image) - 128} after"):
        LanguageModel.load(write(tmp_path / "long.lm", image + b"\0"))


def test_verification_finds_every_flipped_byte(tmp_path: Path, image: bytes) -> None:
    for at in range(128, len(image), 61):
        damaged = bytearray(image)
        damaged[at] ^= 4
        with pytest.raises(FormatError, match="bytes that do not fit their checksum"):
            LanguageModel.load(write(tmp_path / "damaged.lm", bytes(damaged)), verify=True)


@given(st.integers(0, 2**32), st.integers(1, 400))
def test_look_ups_in_damaged_tables_do_not_crash(
    tmp_path: Path, image: bytes, seed: int, count: int
) -> None:
    source = random.Random(seed)
    damaged = bytearray(image)
    for _ in range(count):
        damaged[source.randrange(128, len(image))] = source.choice([0, 0xFF, source.randrange(256)])
    lm = LanguageModel.load(write(tmp_path / "damaged.lm", bytes(damaged)))
    told = (
        "bytes that do not fit their checksum",
        "a list of n-grams that does not fit the tables",
    )
    try:
        for line in TOY:
            assert isinstance(lm.score(line), float)
        lm.write_arpa(tmp_path / "damaged.arpa")
    except FormatError as error:
        assert any(text in str(error) for text in told)  # noqa: PT017


def test_a_missing_file_stays_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        LanguageModel.load(tmp_path / "none.lm")
    with pytest.raises(FileNotFoundError):
        train(tmp_path / "none.en")


# Scores


def test_perplexity_counts_sentence_ends_and_tells_unknown_words_apart() -> None:
    lm = train(TOY, order=3)
    perplexity = lm.perplexity(["a b c", "b x a"])
    assert (perplexity.sentences, perplexity.tokens, perplexity.unknown) == (2, 8, 1)
    total, of_unknown = -2.1558875 - 4.1878713, -1.6793306
    assert perplexity.with_unknown == pytest.approx(10 ** (-total / 8), rel=1e-5)
    assert perplexity.without_unknown == pytest.approx(10 ** (-(total - of_unknown) / 7), rel=1e-5)
    assert math.isnan(lm.perplexity([]).with_unknown)


def test_scores_of_lines_files_and_words_agree(tmp_path: Path) -> None:
    lm = train(TOY, order=3)
    path = write(tmp_path / "text", "\n".join(TOY))
    one_by_one = [lm.score(line) for line in TOY]
    assert lm.score_lines(TOY).tolist() == one_by_one
    assert lm.score_lines(path).tolist() == one_by_one
    assert lm.perplexity(path) == lm.perplexity(TOY)
    assert [sum(word.score for word in lm.word_scores(line)) for line in TOY] == one_by_one
    assert lm.score_lines([]).tolist() == []


@given(LINES, st.integers(1, 6), st.lists(st.sampled_from("abcx"), max_size=40))
def test_a_sentence_scores_the_same_in_parts(
    lines: list[str], order: int, words: list[str]
) -> None:
    """Whatever is loaded ahead, the score is that of each word after all words before it."""
    lm = train(lines, order=order)
    whole = lm.word_scores(words)
    for at in range(len(words)):
        assert lm.word_scores(words[: at + 1], eos=False)[-1] == whole[at]


def test_marks_in_a_text_are_unknown_words() -> None:
    lm = train(TOY, order=3)
    assert lm.score("a <s> b") == lm.score("a x b")
    assert lm.score("a </s> b") == lm.score("a <unk> b")
    assert ("<s>" in lm, "a" in lm, "x" in lm) == (False, True, False)


def test_a_model_can_be_sent_to_another_process(tmp_path: Path) -> None:
    lm = train(TOY, order=3)
    again = pickle.loads(pickle.dumps(lm))
    assert again.score("a b c") == lm.score("a b c")
    assert again.summary == lm.summary
    lm.save(tmp_path / "toy.lm")
    data = pickle.dumps(LanguageModel.load(tmp_path / "toy.lm"))
    assert len(data) < 1000
    assert pickle.loads(data).score("a b c") == lm.score("a b c")
    train(TOY[1:], tmp_path / "toy.lm", order=3)
    with pytest.raises(MismatchError, match="not the file it was when pickled"):
        pickle.loads(data)


def test_threads_share_a_model() -> None:
    lm = train(TOY, order=3)
    with ThreadPoolExecutor(4) as pool:
        scores = list(pool.map(lm.score, TOY * 50))
    assert scores == [lm.score(line) for line in TOY] * 50


# The command


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main([str(word) for word in words])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_the_command_trains_and_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, model = write(tmp_path / "toy.txt", "\n".join(TOY)), tmp_path / "toy.lm"
    code, out, err = run(capsys, "lm", "train", text, "-o", model, "--order", 3)
    assert (code, out.splitlines()) == (
        0,
        [
            "9 sentences, 30 words",
            "order  n-grams  pruned  discounts",
            "    1        9       0  0.5000 1.0000 1.5000",
            "    2       21       0  0.5833 1.6500 0.6667",
            "    3       22       0  0.5556 1.7222 3.0000",
        ],
    )
    assert err == (
        "wayword: order 1: discounts cannot be estimated (no n-gram has the count 2); used 0.5 "
        "1 1.5 instead, as is usual for small texts and for characters\n"
    )
    test = write(tmp_path / "test.txt", "a b c\nb x a\n")
    code, out, err = run(capsys, "lm", "score", model, test)
    assert (code, err) == (0, "")
    assert out == (
        "sentences                   2\n"
        "words and sentence ends     8\n"
        "unknown words               1\n"
        "perplexity                  6.2083\n"
        "perplexity without unknown  4.6382\n"
    )
    _, out, _ = run(capsys, "lm", "score", model, test, "--json")
    assert json.loads(out)["tokens"] == 8
    _, out, _ = run(capsys, "lm", "score", model, test, "--lines")
    assert [float(line) / LN_10 for line in out.splitlines()] == pytest.approx(
        [-2.1558875, -4.1878713], abs=1e-5
    )


def test_the_command_writes_arpa_and_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = write(tmp_path / "toy.txt", "\n".join(TOY))
    out_file = tmp_path / "toy.arpa"
    words = ("lm", "train", text, "-o", out_file, "--order", 3, "--arpa", "--json")
    code, out, _ = run(capsys, *words, "--prune", 0, 0, 1)
    assert code == 0
    summary = json.loads(out)
    assert summary["counts"] == [9, 21, 7]
    assert summary["pruned"] == [0, 0, 15]
    assert LanguageModel.load(out_file).counts == (9, 21, 7)


def test_the_command_converts_both_ways(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train(TOY, tmp_path / "toy.lm", order=3)
    paths = [tmp_path / name for name in ("toy.lm", "toy.arpa", "again.lm", "again.arpa")]
    assert run(capsys, "lm", "convert", paths[0], "-o", paths[1], "--arpa") == (0, "", "")
    assert run(capsys, "lm", "convert", paths[1], "-o", paths[2]) == (0, "", "")
    assert run(capsys, "lm", "convert", paths[2], "-o", paths[3], "--arpa") == (0, "", "")
    assert paths[1].read_bytes() == paths[3].read_bytes()
    cut = write(tmp_path / "cut.lm", paths[0].read_bytes()[:-1])
    code, _, err = run(capsys, "lm", "convert", cut, "-o", tmp_path / "none")
    assert code == 1
    assert err.endswith("copy the file again, or make it again from text or ARPA\n")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--order", "99"], "order: found 99; expected a number from 1 to 8"),
        (["--memory", "x"], "memory: found x; expected at least 1M"),
        (["--prune", "3"], "prune: found 3; expected at most one number"),
    ],
)
def test_the_command_refuses_useless_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    text = write(tmp_path / "toy.txt", "\n".join(TOY))
    code, _, err = run(capsys, "lm", "train", text, "-o", tmp_path / "x.lm", *options)
    assert code == 2
    assert err.startswith(f"wayword: {message}")
    assert [path.name for path in tmp_path.iterdir()] == ["toy.txt"]


# --- several models as one -----------------------------------------------------------------------


def probability(model: LanguageModel, history: list[str], word: str) -> float:
    """The probability of a word after others from the start of a line; 0 when it is unknown."""
    is_end = word == "</s>"
    scores = model.word_scores(history if is_end else [*history, word], eos=is_end)
    return 0.0 if scores[-1].is_unknown else math.exp(scores[-1].score)


@given(LINES, LINES, st.floats(0.05, 0.95), st.integers(1, 4), st.integers(1, 4))
@settings(max_examples=25)
def test_a_mixture_gives_known_ngrams_the_weighted_sum_and_sums_to_one(
    first: list[str], second: list[str], weight: float, order: int, other_order: int
) -> None:
    models = train(first, order=order), train([*second, "z z a"], order=other_order)
    both = mix(models, [weight, 1 - weight])
    assert both.order == max(model.order for model in models)
    words = sorted({word for line in (*first, *second, "z z a") for word in line.split()})
    for line in (*first[:3], *second[:3]):
        tokens = line.split()
        for at in range(len(tokens) + 1):
            history = tokens[:at]
            sums = [probability(both, history, word) for word in (*words, "</s>")]
            unknown = math.exp(both.word_scores([*history, "unknown"], eos=False)[-1].score)
            assert sum(sums) + unknown == pytest.approx(1, abs=1e-4)
            word = tokens[at] if at < len(tokens) else "</s>"
            whole = both.word_scores(history if word == "</s>" else [*history, word])
            if whole[at].order == min(both.order, at + 2):  # an n-gram of one of the models
                parts = [probability(model, history, word) for model in models]
                wanted = weight * parts[0] + (1 - weight) * parts[1]
                assert probability(both, history, word) == pytest.approx(wanted, rel=1e-4)


def test_weights_of_a_mixture_are_the_best_of_a_grid() -> None:
    models = [train(TOY, order=3), train(["x y a", "y y b a", "x c"], order=2)]
    dev = ["a b c", "x y b", "c a", "unknown y"]
    mixture = mixture_of(models, dev)
    assert sum(mixture.weights) == pytest.approx(1)
    assert mixture.unknown == 1

    def perplexity(weight: float) -> float:
        logs = []
        for line in dev:
            for of_word in zip(*(model.word_scores(line) for model in models), strict=True):
                parts = [0 if word.is_unknown else math.exp(word.score) for word in of_word]
                if any(parts):
                    logs.append(math.log(weight * parts[0] + (1 - weight) * parts[1]))
        return math.exp(-sum(logs) / len(logs))

    grid = [step / 1000 for step in range(1, 1000)]
    best = min(grid, key=perplexity)
    assert mixture.weights[0] == pytest.approx(best, abs=1e-3)
    assert mixture.perplexity == pytest.approx(perplexity(mixture.weights[0]))
    assert mixture.perplexity <= perplexity(best) + 1e-9


def test_a_mixture_that_cannot_be_made_is_refused() -> None:
    model = train(TOY, order=2)
    with pytest.raises(ArgumentError, match="weights: found 1 for 2 models; expected a weight for"):
        mix([model, model], [1.0])
    with pytest.raises(ArgumentError, match=r"weights: found 0.5 0.6; expected shares that sum"):
        mix([model, model], [0.5, 0.6])
    with pytest.raises(ArgumentError, match="dev: found 0 words that no model knows; expected"):
        mixture_of([model, model], [])


def test_mixing_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, lines in (("one", TOY), ("two", ["x y a", "y y b a", "x c"])):
        train(lines, tmp_path / f"{name}.lm", order=3)
    (tmp_path / "dev").write_text("a b c\nx y b\n")
    models = [str(tmp_path / "one.lm"), str(tmp_path / "two.lm")]
    dev = ["--dev", str(tmp_path / "dev")]
    assert main(["lm", "mix", *models, *dev, "-o", str(tmp_path / "both.arpa"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert main(["lm", "mix", *models, *dev, "-o", str(tmp_path / "both.lm")]) == 0
    said = capsys.readouterr().out
    assert f"perplexity of the mixture {told['perplexity']:.4f}" in said
    mapped, text = (LanguageModel.load(tmp_path / f"both.{end}") for end in ("lm", "arpa"))
    assert mapped.score("a b y c") == pytest.approx(text.score("a b y c"), abs=1e-5)
    assert mapped.perplexity(["a b c", "x y b"]).with_unknown == pytest.approx(
        told["perplexity"], rel=0.2
    )
