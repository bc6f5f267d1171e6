"""Moses' systems become ours with the same scores, and back."""

import lzma
from math import log
from pathlib import Path

import pytest

from wayword.errors import ArgumentError, FormatError
from wayword.moses import export_moses, import_moses
from wayword.system import System

ARPA = """\\data\\
ngram 1=5
ngram 2=2

\\1-grams:
-1.0\t<unk>
-99\t<s>\t-0.3
-0.7\t</s>
-0.5\ta\t-0.2
-0.6\tb\t-0.1

\\2-grams:
-0.2\ta b
-0.3\tb </s>

\\end\\
"""
TABLE = """\
x y ||| a b ||| 0.25 0.5 0.5 0.5 ||| 0-0 1-1 ||| 1 1 1 ||| |||
x ||| a ||| 0.5 0.4 0.3 0.2 ||| 0-0 ||| 2 2 1 ||| |||
y ||| b ||| 0.5 0.5 0.5 0.5 ||| 0-0 ||| 1 1 1 ||| |||
"""
INI = """\
# a comment
[input-factors]
0
[mapping]
0 T 0
[distortion-limit]
4
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TM num-features=4 path=table.txt input-factor=0 output-factor=0
LexicalReordering name=LR num-features={count} type={kind} path=reordering.txt
Distortion
KENLM name=LM0 factor=0 path=lm.arpa order=2
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -0.5
PhrasePenalty0= 0.25
TM= 0.1 0.2 0.3 0.4
LR= {weights}
Distortion0= 0.3
LM0= 0.5
"""


def write(folder: Path, kind: str, rows: str, weights: str) -> Path:
    """A Moses model whose three pairs all have these orientation scores."""
    (folder / "lm.arpa").write_text(ARPA)
    (folder / "table.txt").write_text(TABLE)
    pairs = [line.split(" ||| ")[:2] for line in TABLE.splitlines()]
    (folder / "reordering.txt").write_text(
        "".join(f"{src} ||| {tgt} ||| {rows}\n" for src, tgt in pairs)
    )
    ini = folder / "moses.ini"
    ini.write_text(INI.format(kind=kind, weights=weights, count=len(rows.split())))
    return ini


@pytest.mark.parametrize(
    ("kind", "rows", "weights", "name", "expected"),
    [
        # x y as b, then a: first DR or D, then S; next of b is S.
        ("hier-mslr-bidirectional-fe-allff", ".1 .2 .3 .4 .5 .2 .2 .1", "1 2 3 4 5 6 7 8",
         "hier-mslr-bidirectional", {"lr.prev.dr": .4, "lr.prev.s": .2, "lr.next.s": .2}),
        ("wbe-msd-bidirectional-fe-allff", ".1 .2 .7 .5 .2 .3", "1 2 3 4 5 6",
         "word-msd-bidirectional", {"lr.prev.d": .7, "lr.prev.s": .2, "lr.next.s": .2}),
        ("phrase-msd-backward-fe", ".1 .2 .7", "1 2 3",
         "phrase-msd-prev", {"lr.prev.d": .7, "lr.prev.s": .2}),
        ("phrase-leftright-backward-fe", ".6 .4", "1 2",
         "phrase-mslr-prev", {"lr.prev.dr": .6, "lr.prev.s": .4}),
        ("monotonicity-forward-fe", ".9 .1", "1 2",
         "word-msd-next", {"lr.next.s": .1}),
        ("hier-mslr-backward-fe-collapseff", ".1 .2 .3 .4", "3",
         "hier-mslr-prev", {"lr.prev.dr": .4, "lr.prev.s": .2}),
    ],
)  # fmt: skip
def test_orientation_of_every_kind_goes_over(  # noqa: PLR0917
    tmp_path: Path, kind: str, rows: str, weights: str, name: str, expected: dict[str, float]
) -> None:
    system = import_moses(write(tmp_path, kind, rows, weights), tmp_path / "system")
    assert system.orientation == name
    derivation = system.decoder.score("x y", [(1, 2, "b"), (0, 1, "a")])
    features = {
        key: value for key, value in derivation.features.items() if key.startswith("lr") and value
    }
    assert features == pytest.approx({key: log(p) for key, p in expected.items()}, abs=1e-5)
    given = [float(weight) for weight in weights.split()]
    assert all(system.weights[key] in given for key in expected)


def test_weights_and_limits_go_over(tmp_path: Path) -> None:
    rows, weights = ".1 .2 .3 .4 .5 .2 .2 .1", "1 2 3 4 5 6 7 8"
    ini = write(tmp_path, "hier-mslr-bidirectional-fe-allff", rows, weights)
    ini.write_text(
        ini.read_text() + "[search-algorithm]\n0\n[stack]\n50\n[beam-threshold]\n0.001\n"
        "[early-distortion-cost]\ntrue\n[ttable-limit]\n7\n"
    )
    system = import_moses(ini, tmp_path / "system")
    chosen = system.settings
    assert (chosen.space, chosen.search, chosen.stack_size) == ("dl:4", "stack", 50)
    assert (chosen.threshold, chosen.distortion, chosen.options_per_span) == (0.001, "early", 7)
    assert chosen.compat == "moses"
    expected = {"lm": 0.5, "wp": -0.5, "pp": 0.25, "tm0": 0.1, "tm3": 0.4, "d": 0.3, "oov": 100.0}
    assert {name: system.weights[name] for name in expected} == expected
    assert [v for k, v in system.weights.items() if k.startswith("lr")] == list(
        map(float, range(1, 9))
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[mapping]\n0 T 0", "[mapping]\n0,1 T 0", "found mapping `0,1 T 0`; expected `0 T 0`"),
        ("UnknownWordPenalty\n", "OpSequenceModel\n", "found feature OpSequenceModel; expected"),
        ("PhraseDictionaryMemory", "PhraseDictionaryCompact", "found a binary phrase table"),
        ("num-features=4", "num-features=7", "found 7 scores in TM; expected 4"),
        ("type=hier", "type=tree", "type `tree-mslr-bidirectional-fe-allff`; expected such"),
        ("fe-allff", "f-allff", "given the phrase pair (`fe`), not the source alone (`f`)"),
        ("LM0= 0.5", "LM0= a lot", "found weight `LM0= a lot`; expected `Name= number …`"),
        ("LM0= 0.5", "LM0= 1 2", "found 2 weights for LM0; expected 1; correct [weight]"),
        ("LM0= 0.5", "", "found no weight for LM0; expected 1; correct [weight]"),
        ("[distortion-limit]\n4", "[distortion-limit]\nfar", "[distortion-limit] `far`; expected"),
        ("# a comment", "[link-param-count]\n3", "found section [link-param-count]; expected what"),
        ("# a comment", "4", "line 1: `4`; expected a [section] of Moses first"),
        ("[feature]", "[ttable-file]\n0 0 5 t\n[feature]", "found an old configuration"),
        ("[stack]", "[stack]", ""),
    ],
)  # fmt: skip
def test_what_has_no_counterpart_is_refused(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    rows, weights = ".1 .2 .3 .4 .5 .2 .2 .1", "1 2 3 4 5 6 7 8"
    ini = write(tmp_path, "hier-mslr-bidirectional-fe-allff", rows, weights)
    if not message:
        ini.write_text(ini.read_text() + "[search-algorithm]\n3\n")
        message = "found search algorithm 3; expected 0 (stack) or 1 (cube)"
    else:
        assert old in ini.read_text()
        ini.write_text(ini.read_text().replace(old, new, 1))
    with pytest.raises(FormatError) as caught:
        import_moses(ini, tmp_path / "system")
    assert message in str(caught.value)
    assert str(ini) in str(caught.value)
    assert not (tmp_path / "system").exists()
    assert not list(tmp_path.glob(".system*"))


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    ini = write(tmp_path, "wbe-msd-backward-fe", ".1 .2 .7", "1 2 3")
    (tmp_path / "table.txt").unlink()
    with pytest.raises(FileNotFoundError, match="the file of TM is missing"):
        import_moses(ini, tmp_path / "system")


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    ini = write(tmp_path, "wbe-msd-backward-fe", ".1 .2 .7", "1 2 3")
    (tmp_path / "system").mkdir()
    with pytest.raises(ArgumentError, match="is there already; choose another name or remove it"):
        import_moses(ini, tmp_path / "system")


def test_a_system_survives_the_way_to_moses_and_back(toy_folder: Path, tmp_path: Path) -> None:
    system = System.open(toy_folder / "system").with_settings(compat="moses")
    back = import_moses(export_moses(system, tmp_path / "moses"), tmp_path / "system")
    lines = (toy_folder / "corpus" / "dev.de").read_text(encoding="utf-8").splitlines()[:50]
    assert back.weights == pytest.approx(system.weights)
    assert back.settings == system.settings
    pairs = zip(back.translate(lines), system.translate(lines), strict=True)
    scores = [(before.score, after.score) for before, after in pairs]
    # Text tables hold six digits.
    assert [before for before, _ in scores] == pytest.approx(
        [after for _, after in scores], abs=1e-3
    )


def test_spaces_moses_does_not_know_are_refused(toy_folder: Path, tmp_path: Path) -> None:
    system = System.open(toy_folder / "system").with_settings(space="itg")
    with pytest.raises(ArgumentError, match=r"^space: found `itg`; expected mono or dl:K; export"):
        export_moses(system, tmp_path / "moses")


@pytest.mark.parametrize(("pair", "ini"), [("de-en", "dl6"), ("ja-en", "dl12")])
def test_derivations_of_moses_get_the_values_of_moses(
    shared: Path, tmp_path: Path, pair: str, ini: str
) -> None:
    folder = shared / "reference" / pair
    system = import_moses(folder / f"moses.hier.{ini}.ini", tmp_path / "system")
    names = {"LM0": "lm", "WordPenalty0": "wp", "PhrasePenalty0": "pp", "Distortion0": "d"}
    names |= {"TranslationModel0": "tm", "LexicalReordering0": "lr."}
    src = (folder / f"test.{pair[:2]}").read_text(encoding="utf-8").splitlines()
    compared = 0
    (lists,) = folder.glob("*nbest20*.xz")
    with lzma.open(lists, "rt", encoding="utf-8") as file:
        for line in file:
            number, text, features, total, phrases, *_ = line.split("|||")
            words, given = text.split(), []
            for phrase in phrases.split():
                (u, v), (s, t) = (_span(side) for side in phrase.split("="))
                given.append((u, v, " ".join(words[s:t])))
            derivation = system.decoder.score(src[int(number)], given)
            assert derivation.score == pytest.approx(float(total), abs=2e-3)
            for name, values in _groups(features).items():
                ours = [v for k, v in derivation.features.items() if k.startswith(names[name])]
                assert ours == pytest.approx(values, abs=1e-3), (number, name)
            compared += 1
    assert compared == 2000


def _span(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    return int(first), int(last or first) + 1


def _groups(features: str) -> dict[str, list[float]]:
    groups: dict[str, list[float]] = {}
    for word in features.split():
        if word.endswith("="):
            groups[word[:-1]] = []
        else:
            next(reversed(groups.values())).append(float(word))
    return groups
