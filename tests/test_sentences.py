"""Sentences: where text is split, and what a system makes of a line that holds several."""

import importlib
import itertools
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.slow_sentences import slow_boundaries

from wayword.cli import main
from wayword.corpus import sentences, toy
from wayword.corpus.files import open_text
from wayword.corpus.moses_rules import nonbreaking_prefixes
from wayword.corpus.sentences import split_at, split_lines, split_sentences
from wayword.corpus.source import Source
from wayword.corpus.text import Preparation
from wayword.decode import Translation
from wayword.decode.concatenate import best_combinations
from wayword.decode.markup import split_markup
from wayword.errors import ArgumentError, FormatError
from wayword.evaluate import Gold, Options, Output, compare
from wayword.overview import report
from wayword.system import System
from wayword.tune.dev import read_dev

HOUSE, TEA, BOOK = (
    "Das Haus ist klein.",
    "Ich habe den Tee getrunken.",
    "Der Mann hat das Buch gelesen.",
)
LINE = f"{HOUSE} {TEA} {BOOK}"

# --- where text is split -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lang", "expected"),
    [
        ("Er kam am 3. Mai. Wer? „Ich.“ Gut", "de", "Er kam am 3. Mai.|Wer?|„Ich.“|Gut"),
        ("Dr. Maus sah z. B. Katzen. Oh!", "de", "Dr. Maus sah z. B. Katzen.|Oh!"),
        ("The U.S. Army left. He said", "en", "The U.S. Army left.|He said"),
        ("See No. 5. No. He ran", "en", "See No. 5. No.|He ran"),
        ("Das ist bzw. War so", "xx", "Das ist bzw.|War so"),
        ("Er geht. und sie auch", "de", "Er geht. und sie auch"),
        ("Was?! (Ja.) «Nein…» 5 Katzen", "de", "Was?!|(Ja.)|«Nein…»|5 Katzen"),
        ("今日は。明日も。」私 も。“你", "ja", "今日は。|明日も。」|私 も。|“你"),
        ("यह है। वह", "hi", "यह है।|वह"),
        ("eins\nzwei\u2028drei", "de", "eins|zwei|drei"),
        ("nur eins", "de", "nur eins"),
        (" \n ", "de", ""),
        ("", "de", ""),
    ],
)
def test_sentences_end_at_marks_before_what_may_begin_one(
    text: str, lang: str, expected: str
) -> None:
    assert "|".join(split_sentences(text, lang).sentences) == expected


TEXT = st.text(alphabet='aBD1r .!?…\n\t\x85。！„“"」)(', max_size=40)


@given(TEXT)
def test_the_splitter_finds_the_boundaries_of_its_definition(text: str) -> None:
    abbreviations = nonbreaking_prefixes("de")[0]
    slow = slow_boundaries(text.lstrip(), abbreviations)
    assert split_sentences(text.lstrip(), "de") == split_at(text.lstrip(), slow)


@given(TEXT)
def test_sentences_and_gaps_are_the_text_again(text: str) -> None:
    split = split_sentences(text, "de")
    assert len(split.gaps) == len(split.sentences) + 1
    pairs = itertools.zip_longest(split.gaps, split.sentences, fillvalue="")
    assert "".join(gap + sentence for gap, sentence in pairs) == text
    for sentence, start in zip(split.sentences, split.starts, strict=True):
        assert text.startswith(sentence, start)
        assert sentence == sentence.strip() != ""
        assert split_sentences(sentence, "de").sentences == (sentence,)


def work(function: Callable[[str], object], text: str, file: str) -> int:
    """Lines of a module that run, and characters of all strings that its functions get or make."""
    total, known = 0, dict[FrameType, dict[str, Any]]()

    def trace(frame: FrameType, _event: str, _arg: object) -> Any:
        nonlocal total
        if frame.f_code.co_filename != file:
            return None
        strings = {name: each for name, each in frame.f_locals.items() if isinstance(each, str)}
        before = known.get(frame, {})
        total += 1 + sum(len(new) for name, new in strings.items() if before.get(name) is not new)
        known[frame] = strings
        return trace

    sys.settrace(trace)
    try:
        function(text)
    finally:
        sys.settrace(None)
    return total


UNITS = (
    *(
        ".",
        ". ",
        '."',
        ".\"'”)] ",
        "(",
        "((a. ",
        "a",
        "a.",
        "a.b. ",
        "Dr. ",
        "1. ",
        " ",
        "\n",
        ".\n",
    ),
    *("。", "a。", "。」", "。 ", "„A.“ ", "Ja. ", "…", "\u2028a"),
)


@pytest.mark.parametrize("unit", UNITS)
def test_splitting_takes_twice_the_work_for_twice_the_text(unit: str) -> None:
    def once(text: str) -> int:
        return work(lambda text: split_sentences(text, "de"), text, sentences.__file__)

    assert once(unit * 600) < 2.2 * once(unit * 300) + 100


def test_the_measure_of_work_tells_a_quadratic_splitter() -> None:
    file = slow_boundaries.__code__.co_filename

    def once(text: str) -> int:
        return work(lambda text: slow_boundaries(text, frozenset()), text, file)

    assert once("." * 600) > 3.5 * once("." * 300)


def test_no_pattern_of_the_splitter_can_backtrack() -> None:
    parser = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
    patterns = [each for each in vars(sentences).values() if isinstance(each, re.Pattern)]
    assert len(patterns) == 2
    for pattern in patterns:
        [(repeat, (_, _, repeated))] = parser.parse(pattern.pattern)
        [(inner, _)] = repeated
        assert (str(repeat), str(inner)) == ("MAX_REPEAT", "IN"), pattern.pattern


# --- how translations are joined ------------------------------------------------------------------


def test_line_breaks_stay_and_other_gaps_become_the_separator() -> None:
    split = split_sentences(" Eins.  Zwei.\t\n Drei.\tVier. \n", "de")
    assert split.join(["A.", "B.", "C.", "D."]) == " A. B.\t\n C. D. \n"
    assert split.join(["A.", "", "", "D."]) == " A. \t\n D. \n"


@pytest.mark.parametrize(
    ("src", "tgt", "text", "outputs", "expected"),
    [
        ("ja", "en", "今日は。明日も。", ["Today.", "Tomorrow."], "Today. Tomorrow."),
        ("en", "zh-CN", "Today. Tomorrow.", ["今天。", "明天。"], "今天。明天。"),
        ("en", "ja", "Today.\nTomorrow.", ["今日。", "明日。"], "今日。\n明日。"),
    ],
)
def test_the_language_of_the_translation_chooses_the_separator(
    src: str, tgt: str, text: str, outputs: list[str], expected: str
) -> None:
    separator = Preparation(tgt, tokenizer="unicode").sentence_separator
    split = Preparation(src, tokenizer="unicode").sentences(text, separator=separator)
    assert split.join(outputs) == expected
    assert Preparation(tgt, tokenizer="none").sentence_separator == " "


def test_tokenised_text_is_split_at_line_breaks_alone() -> None:
    assert split_lines(" a . B .\n\nc\x85").sentences == ("a . B .", "c")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ja so. <wall/> Nein", "Ja so.|<wall/> Nein"),
        ("<zone>Ja so. Nein.</zone> Oh.", "<zone>Ja so. Nein.</zone>|Oh."),
        ("<zone>Ja so.</zone> Nein", "<zone>Ja so.</zone>|Nein"),
        ("<n translation='Oh. Ah'>Ja so.</n>&quot; Nein", None),
        ("Ja so.&quot; <n translation='x'>Nein</n>", "Ja so.&quot;|<n translation='x'>Nein</n>"),
        ("Ja so. <wall/>\nNein", "Ja so. <wall/>|Nein"),
        ("Ja so. Nein. <zone>Oh", "Ja so. Nein. <zone>Oh"),
        ("Ja so. Nein.", "Ja so.|Nein."),
    ],
)
def test_marked_up_text_is_split_outside_elements(text: str, expected: str | None) -> None:
    found = "|".join(split_markup(text, split_sentences).sentences)
    assert found == (text.replace("&quot; ", "&quot;|") if expected is None else expected)


# --- n-best lists ---------------------------------------------------------------------------------


def simple(tokens: str, score: float) -> Translation:
    return Translation((), tuple(tokens.split()), tokens, score, {}, (), ())


LISTS = st.lists(
    st.lists(
        st.tuples(st.sampled_from(["a", "a a", "b", "b a", ""]), st.integers(-4, 0)),
        min_size=1,
        max_size=4,
        unique_by=lambda pair: pair[0],
    ),
    min_size=1,
    max_size=4,
)


@given(lists=LISTS, size=st.integers(1, 12), distinct=st.booleans())
def test_the_best_combinations_are_those_of_the_whole_product(
    lists: list[list[tuple[str, int]]], size: int, distinct: bool
) -> None:
    ranked = [[simple(*pair) for pair in sorted(each, key=lambda pair: -pair[1])] for each in lists]
    whole = sorted(
        ((sum(one.score for one in each), each) for each in itertools.product(*ranked)),
        key=lambda pair: -pair[0],
    )
    best: dict[Any, float] = {}
    for number, (score, parts) in enumerate(whole):
        tokens = tuple(token for part in parts for token in part.tokens)
        best.setdefault(tokens if distinct else number, score)
    found = best_combinations(ranked, size, distinct=distinct)
    scores = [sum(one.score for one in parts) for parts in found]
    assert scores == list(best.values())[:size]
    if distinct:
        texts = [tuple(token for part in parts for token in part.tokens) for parts in found]
        assert len(set(texts)) == len(texts)


def test_equal_combinations_of_many_sentences_are_not_listed_one_by_one() -> None:
    lists = [[simple("a", 0.0), simple("a a", -1.0)]] * 60  # 2^60 combinations, 61 texts
    found = best_combinations(lists, 100, distinct=True)
    assert [sum(len(part.tokens) for part in parts) for parts in found] == list(range(60, 121))


# --- a line of several sentences -----------------------------------------------------------------


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory, toy_folder: Path) -> System:
    """The toy system on raw text."""
    folder = tmp_path_factory.mktemp("raw") / "system"
    toy = System.open(toy_folder / "system")
    text = (Preparation("de", tokenizer="moses"), Preparation("en", tokenizer="moses"))
    made = System(toy.parts, weights=toy.weights, settings=toy.settings, text=text)
    return made.save(folder)


def test_a_line_is_the_translations_of_its_sentences(system: System) -> None:
    apart = [each.text for each in system.translate([HOUSE, TEA, BOOK])]
    assert system.translate(LINE).text == " ".join(apart)
    assert [each.text for each in system.translate(iter([LINE, "", HOUSE]))] == [
        " ".join(apart),
        "",
        apart[0],
    ]
    assert system.translate(f"  {HOUSE}\n\n\t{TEA}  {BOOK} \n").text == (
        f"{apart[0]}\n\n\t{apart[1]} {apart[2]}"
    )


def test_a_line_that_is_not_split_is_one_search(system: System) -> None:
    whole = system.translate(LINE, split=False)
    assert whole.segments == ()
    assert whole.score == system.translate(system.prepare(LINE), prepared=True).score
    assert whole.score != system.translate(LINE).score


def test_prepared_text_is_never_split(system: System) -> None:
    tokens = system.prepare(LINE)
    plain = System(system.parts, weights=system.weights, settings=system.settings)
    for whole in (
        system.translate(tokens, prepared=True),
        system.translate(Source.of(tokens)),
        plain.translate(tokens),
        plain.translate(tokens.replace(" . ", " .\n")),
    ):
        assert whole.segments == ()
        assert len(whole.source) == len(tokens.split())
    assert plain.sentences("Das . Der .\nDie .").sentences == ("Das . Der .", "Die .")


def test_positions_of_a_line_count_its_words_and_characters(system: System) -> None:
    found = system.translate(f" {LINE}")
    apart = system.translate([HOUSE, TEA, BOOK])
    assert " ".join(found.source) == system.prepare(LINE)
    assert found.raw == f" {LINE}"
    assert found.offsets is not None
    words = [found.raw[slice(*at)] if at else None for at in found.offsets]
    assert tuple(words) == found.source
    ends = list(itertools.accumulate((len(each.source) for each in apart), initial=0))
    tgt_ends = list(itertools.accumulate((len(each.tokens) for each in apart), initial=0))
    spans = zip(itertools.pairwise(ends), itertools.pairwise(tgt_ends), strict=True)
    assert found.segments == tuple(spans)
    assert found.score == pytest.approx(sum(each.score for each in apart))
    shown = sum(found.features[name] * weight for name, weight in system.weights.items())
    assert found.score == pytest.approx(shown, rel=1e-4)
    covered = sorted(place for phrase in found.phrases for place in phrase.covered)
    assert covered == list(range(len(found.source)))
    for phrase in found.phrases:
        assert " ".join(found.tokens[slice(*phrase.tgt)]) == phrase.target
        assert " ".join(found.source[slice(*phrase.src)]) == phrase.source


def test_unknown_words_of_a_line_are_named_by_their_place(system: System) -> None:
    found = system.translate("Das Haus xyzzy. Der Mann plugh.")
    assert [found.source[at] for at in found.unknown] == ["xyzzy", "plugh"]


@pytest.mark.parametrize("distinct", [False, True])
def test_the_list_of_a_line_holds_the_best_combinations(system: System, distinct: bool) -> None:
    options: dict[str, Any] = {"nbest": 6, "distinct": distinct}
    found = system.translate(LINE, **options)
    lists = [each.nbest for each in system.translate([HOUSE, TEA, BOOK], **options)]
    sums = sorted(-sum(one.score for one in parts) for parts in itertools.product(*lists))
    assert [-each.score for each in found.nbest] == pytest.approx(sums[:6])
    assert (found.nbest[0].text, found.nbest[0].segments) == (found.text, found.segments)
    texts = {" ".join(one.text for one in parts) for parts in itertools.product(*lists)}
    assert {each.text for each in found.nbest} <= texts
    assert len({each.text for each in found.nbest}) == 6 or not distinct


def best_path(found: Translation) -> float:
    """The score of the best way through a graph whose arcs lead to higher numbers."""
    best = {0: 0.0}
    for arc in sorted(found.graph, key=lambda arc: (arc.end, arc.start)):
        score = best[arc.start] + arc.score
        best[arc.end] = max(best.get(arc.end, score), score)
    return best[max(best)]


def test_the_graph_of_a_line_has_the_graphs_of_its_sentences_in_series(system: System) -> None:
    found = system.translate(LINE, graph=True)
    apart = system.translate([HOUSE, TEA, BOOK], graph=True)
    assert len(found.graph) == sum(len(each.graph) for each in apart)
    assert len({arc.end for arc in found.graph} - {arc.start for arc in found.graph}) == 1
    assert best_path(found) == pytest.approx(found.score, rel=1e-4)
    places = [arc.src for arc in found.graph]
    assert (min(places)[0], max(end for _, end in places)) == (0, len(found.source))
    assert found.stacks == ()


def test_the_statistics_of_a_line_add_up(system: System) -> None:
    found = system.translate(LINE).statistics
    apart = [each.statistics for each in system.translate([HOUSE, TEA, BOOK])]
    assert found is not None
    assert found.scored == sum(each.scored for each in apart if each is not None)
    assert sum(found.jumps) == sum(sum(each.jumps) for each in apart if each is not None)


def test_markup_holds_within_its_sentence(system: System) -> None:
    marked = f"{HOUSE} Ich habe <n translation='cups'>den Tee</n> getrunken. {BOOK}"
    found = system.translate(marked, markup=True)
    apart = system.translate([HOUSE, BOOK])
    assert len(found.segments) == 3
    assert "cups" in found.text
    assert found.text.startswith(apart[0].text)
    assert found.text.endswith(apart[1].text)
    assert found.offsets is not None
    assert [marked[slice(*at)] for at in found.offsets if at] == list(found.source)
    whole = system.translate(f"{HOUSE} <zone>{TEA} {BOOK}</zone>", markup=True)
    assert [src for src, _ in whole.segments] == [(0, 5), (5, 18)]


def test_a_message_about_markup_counts_the_characters_of_the_line(system: System) -> None:
    line = f"{HOUSE} {TEA} <zone> {BOOK}"
    unsplit = r"x:7: `<zone>` at character \d+ is never closed"
    with pytest.raises(FormatError, match=unsplit) as caught:
        system.translate(line, markup=True, origin=("x", 7))
    with pytest.raises(FormatError) as other:
        system.translate(line, markup=True, origin=("x", 7), split=False)
    assert str(caught.value) == str(other.value)


def test_a_long_sentence_in_pieces_has_a_list_and_a_graph(system: System) -> None:
    line = "das haus " * 1100
    fast: dict[str, Any] = {"space": "mono", "pop_limit": 3}
    found = system.translate(line, prepared=True, nbest=3, graph=True, **fast)
    assert [len(range(*src)) for src, _ in found.segments] == [2000, 200]
    assert len(found.nbest) == 3
    assert best_path(found) == pytest.approx(found.score, rel=1e-3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"x", "text: expected str, found bytes"),
        (5, "text: expected str, found int"),
        (None, "text: expected str, found NoneType"),
        (["x", None], r"text\[1\]: expected str, found NoneType"),
        ([b"x"], r"text\[0\]: expected str, found bytes"),
        ((n for n in (1, 2)), r"text\[0\]: expected str, found int"),
    ],
)
def test_text_of_another_type_is_refused_by_its_name(
    system: System, text: Any, message: str
) -> None:
    with pytest.raises(ArgumentError, match=f"^{message}$"):
        system.translate(text)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.learn(b"x", "y"), "source: expected str, found bytes"),
        (lambda s: s.learn("x", None), "translation: expected str, found NoneType"),
        (lambda s: s.glossary({"a": None}), "translation: expected str, found NoneType"),
        (lambda s: s.glossary("a=b"), "terms: expected a mapping of str to str, found str"),
        (lambda s: s.suggest("x", None), "typed: expected str, found NoneType"),
        (lambda s: s.prepare(b"x"), "line: expected str, found bytes"),
        (lambda s: s.sentences(b"x"), "text: expected str, found bytes"),
        (lambda s: s.translate("x", nbest="a"), "nbest: found 'a'; expected 1 or more"),
    ],
)
def test_wrong_types_get_one_sentence(
    system: System, call: Callable[[Any], object], message: str
) -> None:
    with pytest.raises(ArgumentError, match=f"^{message}$"):
        call(system)


# --- the command line ----------------------------------------------------------------------------


@pytest.fixture
def printed(
    system: System, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., list[str]]:
    """What ``wayword translate`` prints of a line."""
    file = tmp_path / "line.txt"
    file.write_text(f"{LINE}\n", encoding="utf-8")

    def run(*options: str) -> list[str]:
        assert main(["translate", str(system.folder), str(file), *options]) == 0
        return capsys.readouterr().out.splitlines()

    return run


def test_one_line_in_is_one_line_out(system: System, printed: Callable[..., list[str]]) -> None:
    assert printed() == [system.translate(LINE).text]
    assert printed("--no-split") == [system.translate(LINE, split=False).text]
    assert printed("--prepared") == [system.translate(LINE, prepared=True).text]


def test_the_output_of_a_split_line_has_the_form_of_any_other(
    system: System, printed: Callable[..., list[str]]
) -> None:
    found = system.translate(LINE, nbest=4, distinct=True)
    ranked = [f"0\t{each.score:.4f}\t{each.text}" for each in found.nbest]
    assert printed("--nbest", "4", "--distinct") == ranked
    moses = [each.moses_line(0) for each in found.nbest]
    assert printed("--nbest", "4", "--distinct", "--moses") == moses
    [traced] = printed("--trace")
    assert traced.split("\t")[:3] == [found.text, found.trace(), found.word_trace()]
    assert traced.split("\t")[3] == f"source: {system.prepare(LINE)}"
    [told] = map(json.loads, printed("--json", "--graph", "--stats"))
    assert told["text"] == found.text
    assert told["segments"] == [[*src, *tgt] for src, tgt in found.segments]
    assert len(told["graph"]) == len(system.translate(LINE, graph=True).graph)
    assert told["statistics"]["scored"] > 0
    [whole] = map(json.loads, printed("--json", "--no-split"))
    assert "segments" not in whole


# --- training, tuning and reports -----------------------------------------------------------------


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A system trained on raw text, and a test set of two sentences a line."""
    folder = tmp_path_factory.mktemp("trained")
    toy.write("de-en", 300, folder, seed=1)
    for lang in ("de", "en"):
        lines = (folder / f"test.{lang}").read_text(encoding="utf-8").splitlines()
        pairs = zip(lines[0:14:2], lines[1:14:2], strict=True)
        raw = [" ".join(pair).replace(" .", ".").replace(" ,", ",") for pair in pairs]
        (folder / f"two.{lang}").write_text("\n".join(raw) + "\n", encoding="utf-8")
    quick = ["lm.order=3", "tune.runs=1", "tune.rounds=1", "tune.nbest=20", "search.pop_limit=30"]
    files = [str(folder / name) for name in ("train.de", "train.en")]
    options = [option for value in quick for option in ("--set", value)]
    for name in ("dev", "two"):
        kind = "--test" if name == "two" else "--dev"
        options += [kind, str(folder / f"{name}.de"), str(folder / f"{name}.en")]
    assert main(["train", *files, "-o", str(folder / "system"), *options]) == 0
    return folder


def test_the_sentences_of_a_line_begin_with_capitals(trained: Path) -> None:
    system = System.open(trained / "system")
    for line in open_text(trained / "two.de"):
        found = system.translate(line)
        assert len(found.segments) == 2
        assert len(system.text[1].sentences(found.text).sentences) == 2  # type: ignore[index]


def test_the_test_set_of_training_is_translated_as_any_text(trained: Path) -> None:
    system = System.open(trained / "system")
    assert system.text is not None
    files = [trained / "two.de", trained / "two.en"]
    src, _ = read_dev(system, files)
    found = system.translate(open_text(files[0]))
    assert src == [" ".join(each.source) for each in found]
    split = [each.text for each in found]
    whole = [each.text for each in system.translate(open_text(files[0]), split=False)]
    gold = Gold(refs=[list(open_text(files[1]))])
    outputs = [Output("split", split), Output("whole", whole)]
    compared = compare(gold, outputs, ["bleu"], options=Options(tokenize="13a"))
    noted = system.made["test"]["scores"]["bleu"]["score"]
    assert noted == pytest.approx(compared.score("split", "bleu").value, abs=1e-3)
    assert noted != pytest.approx(compared.score("whole", "bleu").value, abs=1e-3)


def test_a_report_translates_as_any_text(trained: Path) -> None:
    files = [trained / "two.de", trained / "two.en"]
    told = report(trained / "system", test=files, oracle=0)
    found = System.open(trained / "system").translate(open_text(files[0]))
    assert told.test is not None
    assert list(told.test.systems[0].outputs) == [each.text for each in found]
    assert list(told.test.src) == [" ".join(each.source) for each in found]


def test_text_of_a_system_without_tokenizer_is_never_split() -> None:
    tokenized = Preparation("de", tokenizer="none", case="keep")
    text = "das Haus ist klein . der Tee ist kalt ."
    assert tokenized.sentences(text).sentences == (text,)
    assert tokenized.sentences(f"{text}\n{text}").sentences == (text, text)
    assert len(Preparation("de").sentences(text).sentences) == 1
    assert len(Preparation("de").sentences(text.replace("der", "Der")).sentences) == 2


def test_a_reference_of_several_sentences_is_prepared_sentence_by_sentence() -> None:
    english = Preparation("en", case="truecase").fit(["and the house", "but a man sees the tea"])
    line = "The house. The tea."
    assert english.prepare(line) == ["the", "house", ".", "The", "tea", "."]
    assert english.prepare_sentences(line) == [["the", "house", "."], ["the", "tea", "."]]
