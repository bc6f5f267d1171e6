"""What users see of the decoder."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.cli import main
from wayword.decode import Decoder, Settings, Translation
from wayword.decode.markup import read_markup
from wayword.errors import ArgumentError, FormatError, MismatchError
from wayword.system import System

SPACES = ("mono", "dl:0", "dl:3", "dl:6", "dl:-1", "ibm:3", "mj1", "mj2", "itg")


@pytest.fixture(scope="module")
def system(toy_folder: Path) -> System:
    return System.open(toy_folder / "system")


@pytest.fixture(scope="module")
def decoder(system: System) -> Decoder:
    return system.decoder


@pytest.fixture(scope="module")
def lines(toy_folder: Path) -> list[str]:
    return (toy_folder / "corpus" / "dev.de").read_text(encoding="utf-8").splitlines()[:40]


def total(translation: Translation, weights: dict[str, float]) -> float:
    return sum(weights[name] * value for name, value in translation.features.items())


def check(translation: Translation, weights: dict[str, float]) -> None:
    """A translation is whole and its numbers add up."""
    assert sorted(translation.order) == list(range(len(translation.source)))
    words = [word for phrase in translation.phrases for word in phrase.target.split()]
    assert tuple(words) == translation.tokens
    assert all(
        i < len(translation.source) and j < len(translation.tokens) for i, j in translation.links
    )
    assert total(translation, weights) == pytest.approx(translation.score, abs=1e-4)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("search", ["cube", "stack"])
def test_every_word_is_translated_once_in_every_space(
    decoder: Decoder, lines: list[str], space: str, search: str
) -> None:
    changed = decoder.with_settings(space=space, search=search, pop_limit=50, stack_size=20)
    for translation in changed.translate(lines[:10]):
        check(translation, changed.weights)
        if space in ("mono", "dl:0"):
            assert list(translation.order) == sorted(translation.order)


def test_nbest_lists_are_sorted_exact_and_begin_with_the_best(
    decoder: Decoder, lines: list[str]
) -> None:
    for best in decoder.translate(lines[:10], nbest=30):
        assert best.nbest[0].tokens == best.tokens
        scores = [one.score for one in best.nbest]
        assert scores == sorted(scores, reverse=True)
        for one in best.nbest:
            check(one, decoder.weights)
            again = decoder.score(" ".join(one.source), [(*p.src, p.target) for p in one.phrases])
            assert again.features == pytest.approx(dict(one.features))


def test_distinct_lists_hold_each_string_once(decoder: Decoder, lines: list[str]) -> None:
    for best in decoder.translate(lines[:10], nbest=20, distinct=True):
        texts = [one.text for one in best.nbest]
        assert len(set(texts)) == len(texts)


def test_nbest_arrays_are_the_nbest_lists(decoder: Decoder, lines: list[str]) -> None:
    arrays = decoder.nbest(lines[:5], size=10, distinct=False)
    lists = decoder.translate(lines[:5], nbest=10)
    for array, best in zip(arrays, lists, strict=True):
        assert array.texts == tuple(one.text for one in best.nbest)
        np.testing.assert_allclose(array.features, [list(o.features.values()) for o in best.nbest])
        np.testing.assert_allclose(array.scores, [one.score for one in best.nbest], atol=1e-4)


def test_the_number_of_threads_changes_nothing(system: System, lines: list[str]) -> None:
    one, two, four = (
        [t.to_dict() for t in system.translate(lines, threads=n, nbest=5, graph=True)]
        for n in (1, 2, 4)
    )
    assert one == two == four


def test_what_was_translated_before_changes_nothing(system: System, lines: list[str]) -> None:
    together = [t.to_dict() for t in system.translate(lines)]
    apart = [system.with_weights({}).translate(line).to_dict() for line in reversed(lines)]
    assert together == apart[::-1]


def test_the_graph_holds_the_best_path(decoder: Decoder, lines: list[str]) -> None:
    (best,) = decoder.translate([lines[0]], graph=True)
    scores = {0: 0.0}
    for arc in best.graph:  # ordered by where they lead
        scores[arc.end] = max(scores.get(arc.end, -np.inf), scores[arc.start] + arc.score)
    assert scores[max(scores)] == pytest.approx(best.score, abs=1e-4)


def test_statistics_tell_the_jumps_of_the_best(decoder: Decoder, lines: list[str]) -> None:
    for best in decoder.translate(lines[:10]):
        assert best.statistics is not None
        assert sum(best.statistics.jumps) == len(best.phrases)
        assert best.statistics.made >= len(best.phrases)


@pytest.mark.parametrize("line", ["", "   ", "\t\x1c\n", "xyzzy", "xyzzy plugh .", "a\0b \0"])
def test_odd_lines_are_translated(decoder: Decoder, line: str) -> None:
    (found,) = decoder.translate([line])
    check(found, decoder.weights)
    if not line.split():
        assert found.text == ""
    assert [word for word in line.split() if word not in found.tokens] == []


def test_unknown_words_cost_their_penalty(decoder: Decoder) -> None:
    (found,) = decoder.translate(["xyzzy plugh"])
    assert found.features["oov"] == -2
    assert found.text == "xyzzy plugh"


RUN = "xyzzy plugh foo bar baz qux quux corge"


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("jump", [-1.0, -0.018, 0.0, 0.1])
def test_unknown_words_stay_in_order_whatever_the_weight_of_distortion(
    decoder: Decoder, lines: list[str], space: str, jump: float
) -> None:
    changed = decoder.with_weights({"d": jump}).with_settings(space=space, pop_limit=100)
    (alone,) = changed.translate([RUN])
    assert alone.text == RUN
    (among,) = changed.translate([f"{lines[0]} {RUN} {lines[1]}"], nbest=20)
    for found in among.nbest:
        assert [word for word in found.tokens if word in RUN.split()] == RUN.split()


def test_the_largest_weights_that_are_taken_give_translations(
    decoder: Decoder, lines: list[str]
) -> None:
    largest = decoder.with_weights(dict.fromkeys(decoder.weights, 1e30))
    for found in largest.translate(lines[:10]):
        assert np.isfinite(found.score)
        assert found.tokens


@pytest.mark.parametrize("weight", ["1e308", "-1e31", "inf", "nan"])
def test_the_command_refuses_weights_that_would_overflow(
    toy_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], weight: str
) -> None:
    folder = tmp_path / "system"
    shutil.copytree(toy_folder / "system", folder)
    manifest = folder / "system.toml"
    text = re.sub(r"\Aseal = .*\n", "", manifest.read_text(encoding="utf-8"))
    text = re.sub(r"(?m)^lm = .*$", f"lm = {weight}", text)
    manifest.write_text(text, encoding="utf-8")
    (tmp_path / "in.de").write_text("das haus\n", encoding="utf-8")
    assert main(["translate", str(folder), str(tmp_path / "in.de")]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    found = f"weight lm is {float(weight)!r}; expected a number from -1e30 to 1e30"
    assert err == f"wayword: {manifest}: {found}; correct the line, or train again\n"


def test_features_say_which_weights_are_at_least_zero(decoder: Decoder) -> None:
    others = set(decoder.weights) - set(decoder.nonnegative)
    assert others == {"wp", "pp", "oov"}


def test_a_thousand_words_are_translated(decoder: Decoder, lines: list[str]) -> None:
    words = " ".join(lines).split()
    line = " ".join((words * (1 + 1000 // len(words)))[:1000])
    (found,) = decoder.with_settings(pop_limit=20).translate([line])
    check(found, decoder.weights)


@settings(max_examples=40)
@given(st.lists(st.text(max_size=30), max_size=4))
def test_any_text_is_translated(toy_folder: Path, lines: list[str]) -> None:
    decoder = System.open(toy_folder / "system").decoder
    for line, found in zip(lines, decoder.translate(lines, threads=1), strict=True):
        assert found.source == tuple(line.split())
        check(found, decoder.weights)


def test_wrong_weights_and_settings_are_told_what_is_known(decoder: Decoder) -> None:
    with pytest.raises(ArgumentError, match=r"^weight: found `lmm`; expected one of lm, wp, pp,"):
        decoder.with_weights({"lmm": 1.0})
    wanted = "expected a number from -1e30 to 1e30; try weights around 1"
    for value, told in (("nan", "NaN"), ("-inf", "-inf"), ("1e308", "1e308"), ("2e30", "2e30")):
        with pytest.raises(ArgumentError) as caught:
            decoder.with_weights({"lm": float(value)})
        assert str(caught.value) == f"weight lm: found {told}; {wanted}"
    with pytest.raises(ArgumentError, match="did you mean `pop_limit`"):
        decoder.with_settings(pop_limt=3)
    with pytest.raises(ArgumentError, match=r"^space: found `dl:x`; expected `mono`, `dl:K`"):
        decoder.with_settings(space="dl:x")
    with pytest.raises(ArgumentError, match=r"^search: found `beam`; expected `cube` or `stack`$"):
        decoder.with_settings(search="beam")
    with pytest.raises(ArgumentError, match=r"^compat: found `joshua`; expected `none` or"):
        decoder.with_settings(compat="joshua")
    with pytest.raises(ArgumentError, match=r"^pop_limit: found `7.5`; expected a whole number$"):
        decoder.with_settings(pop_limit=7.5)
    with pytest.raises(ArgumentError, match=r"^threshold: found 2; expected a number from 0"):
        decoder.with_settings(threshold=2)
    with pytest.raises(ArgumentError, match=r"^nbest: found 0; expected 1 or more$"):
        decoder.translate(["a"], nbest=0)
    with pytest.raises(ArgumentError, match=r"^threads: found -1; expected 0 or more$"):
        decoder.translate(["a"], threads=-1)
    assert Settings.from_dict(decoder.settings.to_dict()) == decoder.settings


def test_phrases_that_do_not_translate_the_sentence_are_refused(decoder: Decoder) -> None:
    with pytest.raises(MismatchError, match=r"^phrases: they do not translate `xyzzy plugh`"):
        decoder.score("xyzzy plugh", [(0, 1, "xyzzy")])
    with pytest.raises(ArgumentError, match=r"^phrases: found words 0 to 5; expected a span"):
        decoder.score("xyzzy plugh", [(0, 5, "xyzzy")])


def test_derivations_are_drawn(system: System, lines: list[str]) -> None:
    for translation in system.with_settings(space="dl:-1").translate([*lines[:10], "", "<&>"]):
        drawn = translation.draw()
        assert all(phrase.target in drawn for phrase in translation.phrases)
        ElementTree.fromstring(translation._repr_html_())


def translate(folder: Path, *options: str, text: bytes) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "wayword", "translate", str(folder / "system"), *options]
    return subprocess.run(command, input=text, capture_output=True, check=False)


def test_the_command_answers_before_the_input_ends(toy_folder: Path, lines: list[str]) -> None:
    command = [sys.executable, "-m", "wayword", "translate", str(toy_folder / "system")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for line in (lines[0], "", "xyzzy"):
            running.stdin.write(line.encode() + b"\n")
            running.stdin.flush()
            answer = running.stdout.readline()
            assert answer.endswith(b"\n")
        assert answer == b"xyzzy\n"
        running.stdin.close()
        assert running.wait() == 0


def test_the_command_keeps_blank_lines_and_the_last_line_without_an_end(toy_folder: Path) -> None:
    done = translate(toy_folder, text=b"xyzzy\r\n\n  \nplugh")
    assert (done.stdout, done.returncode) == (b"xyzzy\n\n\nplugh\n", 0)


def test_the_command_says_where_bytes_are_wrong(toy_folder: Path) -> None:
    done = translate(toy_folder, text=b"gut\nschl\xff\n")
    assert done.returncode == 1
    assert done.stderr.startswith(b"wayword: stdin:2: byte 5 (0xff) is not UTF-8; expected UTF-8")
    done = translate(toy_folder, text=b"\x1f\x8b\x08\0")
    assert done.stderr == (
        b"wayword: stdin: compressed; expected UTF-8 text; decompress it first\n"
    )


def test_given_translations_are_used(decoder: Decoder, lines: list[str]) -> None:
    first, *rest = lines[0].split()
    line = f"<n translation='one &lt;thing&gt;' prob='0.5'>{first}</n> {' '.join(rest)}"
    [found] = decoder.translate([read_markup(line)])
    check(found, decoder.weights)
    assert found.source == tuple(lines[0].split())
    [phrase] = [phrase for phrase in found.phrases if phrase.source == first]
    assert phrase.target == "one <thing>"
    [plain] = decoder.translate([read_markup(line, "ignore")])
    assert plain == decoder.translate([lines[0]])[0]


def test_inclusive_translations_compete(decoder: Decoder, lines: list[str]) -> None:
    first, *rest = lines[0].split()
    line = f"<n translation='{'x ' * 30}' prob='1e-30'>{first}</n> {' '.join(rest)}"
    [found] = decoder.translate([read_markup(line, "inclusive")])
    assert found.text == decoder.translate([lines[0]])[0].text


@pytest.mark.parametrize("space", SPACES)
def test_walls_and_zones_hold_in_every_space(
    decoder: Decoder, lines: list[str], space: str
) -> None:
    changed = decoder.with_settings(space=space, pop_limit=50)
    words = next(line.split() for line in lines if len(line.split()) > 6)
    middle = len(words) // 2
    walled = " ".join([*words[:middle], "<wall/>", *words[middle:]])
    [found] = changed.translate([read_markup(walled, "exclusive")])
    check(found, changed.weights)
    when = {at: time for time, phrase in enumerate(found.phrases) for at in range(*phrase.src)}
    assert max(when[at] for at in range(middle)) <= min(
        when[at] for at in range(middle, len(words))
    )
    zone = " ".join([*words[:2], "<zone>", *words[2:6], "</zone>", *words[6:]])
    [found] = changed.translate([read_markup(zone, "exclusive")])
    check(found, changed.weights)
    when = {at: time for time, phrase in enumerate(found.phrases) for at in range(*phrase.src)}
    times = {when[at] for at in range(2, 6)}
    assert times == set(range(min(times), max(times) + 1))


def test_tags_are_text_unless_markup_is_asked_for(decoder: Decoder) -> None:
    [found] = decoder.translate(["<wall/> <zone>"])
    assert sorted(found.tokens) == ["<wall/>", "<zone>"]


def test_broken_markup_says_where(system: System) -> None:
    with pytest.raises(FormatError, match=r"^text:2: `<zone>` at character 3 is never closed; "):
        system.translate(["fine", "a <zone> b"], markup=True)
    with pytest.raises(ArgumentError, match=r"^markup: found `constraint`; expected `exclusive`"):
        system.translate(["a"], markup="constraint")


@given(lines=st.lists(st.text(alphabet="<>/ab '\"=&;\x00 \t", max_size=30), max_size=3))
@settings(max_examples=50, deadline=None)
def test_any_text_with_markup_is_translated_or_told(toy_folder: Path, lines: list[str]) -> None:
    decoder = System.open(toy_folder / "system").decoder
    try:
        found = decoder.translate([read_markup(line) for line in lines], threads=1)
    except FormatError:
        return
    assert len(found) == len(lines)


def test_unknown_words_are_dropped_when_asked(decoder: Decoder) -> None:
    [found] = decoder.with_settings(oov="drop").translate(["Xyz Zyx"])
    assert (found.text, found.features["oov"], found.trace()) == ("", -2.0, "0=- 1=-")
    with pytest.raises(ArgumentError, match=r"^oov: found `keep`; expected `copy` or `drop`$"):
        decoder.with_settings(oov="keep")


def test_raw_text_with_markup_is_prepared_between_the_tags(system: System) -> None:
    found = system.translate("<zone> das </zone><n translation='A'>Haus</n>", markup=True)
    assert found.source == ("das", "Haus")
    assert "A" in found.tokens


def test_the_command_tells_the_line_of_broken_markup(toy_folder: Path) -> None:
    command = [sys.executable, "-m", "wayword", "translate", str(toy_folder / "system")]
    done = subprocess.run(
        [*command, "--markup", "exclusive"],
        input="das <n translation='x'>Haus</n>\n</n>\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == (
        "wayword: stdin:2: `</n>` at character 1 closes nothing; expected `<n>` before it; "
        "write &lt; where no tag is meant\n"
    )
