"""Every mistake of a user is one sentence with the right exit code, whatever was mistaken."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests import systems

import wayword
from wayword.cli import main
from wayword.errors import ArgumentError, FormatError, WaywordError
from wayword.experiment import Experiment
from wayword.moses import import_moses

EXPERIMENT: dict[str, Any] = {
    "name": "x",
    "corpus": [
        {"name": "c", "src": "a.de", "tgt": "a.en", "dev": ["d.de", "d.en"], "test": ["t", "u"]}
    ],
    "variant": [{"name": "a"}, {"name": "b", "weights": "a"}],
}


def changed(**values: Any) -> dict[str, Any]:
    return {**EXPERIMENT, **values}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (changed(variant=3), "experiment: variant: found `3`; expected a list of table of keys"),
        (changed(variant=[3]), "experiment: variant: found `[3]`; expected a list of table"),
        (changed(corpus={"name": "c"}), "experiment: corpus: found"),
        (changed(name=7), "experiment: name: found `7`; expected text"),
        (changed(metrics="bleu"), 'experiment: metrics: found `"bleu"`; expected a list of text'),
        (changed(rounds="many"), 'experiment: rounds: found `"many"`; expected a whole number'),
        (changed(rounds=-1), "experiment: rounds: found -1; expected 1 to 10000000"),
        (changed(rounds=True), "experiment: rounds: found `true`; expected a whole number"),
        (changed(seed=10**30), "experiment: seed: found"),
        (changed(base=[1]), "experiment: base: found `[1]`; expected a table of keys"),
        (changed(baseline=["a"]), "experiment: baseline: found"),
        (changed(variant=[{"name": 3}]), "experiment: variant.name: found `3`; expected text"),
        (
            changed(corpus=[{**EXPERIMENT["corpus"][0], "dev": "d.de"}]),
            'experiment: corpus.dev: found `"d.de"`; expected a list of text',
        ),
        (
            changed(
                variant=[
                    {"name": "a"},
                    {"name": "b", "weights": "a"},
                    {"name": "c", "weights": "b"},
                ]
            ),
            "experiment: weights: found `b` in `c`; expected a tuned variant: a",
        ),
    ],
)
def test_experiments_of_wrong_shapes(values: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=re.escape(message)):
        Experiment.from_dict(values, tmp_path)


INI = """
[distortion-limit]
6
[feature]
PhraseDictionaryMemory name=TM0 num-features=4 path=table
KENLM name=LM0 path=lm
[weight]
TM0= 0.2 0.2 0.2 0.2
LM0= 0.5
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("6\n", "six\n", "[distortion-limit] `six`; expected a number"),
        ("6\n", f"{10**30}\n", "expected a number"),
        ("path=table", "path=table table-limit=x", "table-limit `x`; expected a number"),
        (
            "[weight]",
            "[beam-threshold]\nlow\n[weight]",
            "[beam-threshold] `low`; expected a number",
        ),
        ("[weight]", "[stack]\n-5\n[weight]", "stack_size"),
        ("[weight]", "[stack]\n1.5\n[weight]", "[stack] `1.5`; expected a number"),
        ("LM0= 0.5", "LM0= nan", "weight `LM0= nan`"),
        ("LM0= 0.5", "LM0= inf", "weight `LM0= inf`"),
        ("num-features=4", "num-features=٤", "num-features=٤; expected a number"),
    ],
)
def test_moses_ini_with_values_that_are_no_numbers(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    (tmp_path / "table").write_text("das ||| the ||| 0.5 0.5 0.5 0.5 ||| 0-0\n", encoding="utf-8")
    arpa = "\\data\\\nngram 1=4\n\n\\1-grams:\n-1\t<unk>\n-1\t<s>\n-1\t</s>\n-1\tthe\n\n\\end\\\n"
    (tmp_path / "lm").write_text(arpa, encoding="utf-8")
    ini = tmp_path / "moses.ini"
    ini.write_text(INI.replace(old, new), encoding="utf-8")
    before = {path.name for path in tmp_path.iterdir()}
    with pytest.raises(FormatError, match=re.escape(message)):
        import_moses(ini, tmp_path / "deep" / "system")
    assert {path.name for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "lm"', "kind = 3", "no `kind`; expected a kind and a name"),
        ('file = "lm"', 'file = "../lm"', "file `../lm`; expected a name without folders"),
        ('file = "lm"', 'file = ".."', "file `..`; expected a name without folders"),
        ('file = "lm"', 'file = "other"', "no digest of its file `other`"),
        ("[file.lm]", '[file."../lm"]', "file `../lm`; expected a name without folders"),
        ("[weights]", "[weights]\nodd = true", "weight odd is True; expected a number"),
        ("[weights]", "[weights]\nodd = 'x'", "weight odd is 'x'; expected a number"),
    ],
)
def test_manifests_with_wrong_values(
    toy_folder: Path, tmp_path: Path, old: str, new: str, message: str
) -> None:
    folder = tmp_path / "system"
    shutil.copytree(toy_folder / "system", folder)
    systems.edit_manifest(folder, old, new)
    with pytest.raises(FormatError, match=re.escape(message)):
        wayword.load(folder)


def test_an_annotator_of_others_needs_consent(
    toy_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "system"
    shutil.copytree(toy_folder / "system", folder)
    part = '[[part]]\nkind = "annotator"\nname = "annotator"\n'
    part += 'annotator = { kind = "spacy", model = "/tmp/evil" }\n\n[made'
    systems.edit_manifest(folder, "[made", part)
    with pytest.raises(ArgumentError, match=r"part annotator runs spacy:/tmp/evil of this machine"):
        wayword.load(folder)
    assert wayword.load(folder, trust=True).part("annotator").name == "annotator"
    monkeypatch.setenv("WAYWORD_TRUST", "1")
    wayword.load(folder)


@pytest.mark.parametrize(
    "kind", ['kind = "python:planted:Evil"', 'kind = "python"\nobject = "planted:evil"']
)
def test_a_module_that_a_manifest_names_needs_consent(
    toy_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    folder = tmp_path / "system"
    shutil.copytree(toy_folder / "system", folder)
    (tmp_path / "planted.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w').close()\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    systems.edit_manifest(folder, "[made", f'[[part]]\n{kind}\nname = "near"\n\n[made')
    with pytest.raises(ArgumentError, match=r"part near runs the Python module planted of this"):
        wayword.load(folder)
    assert not (tmp_path / "ran").exists()
    with pytest.raises(WaywordError, match="planted"):  # trusted, it runs; but it has no such part
        wayword.load(folder, trust=True)
    assert (tmp_path / "ran").exists()
    sys.modules.pop("planted")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_crash(toy_folder: Path, tmp_path: Path, closed: str) -> None:
    (tmp_path / "text").write_text("das haus\n" * 3, encoding="utf-8")
    command = f"{sys.executable} -m wayword lm train {tmp_path}/text -o {tmp_path}/lm --order 2"
    done = subprocess.run(["sh", "-c", f"{command} {closed}"], check=False, capture_output=True)
    assert done.returncode in {0, 1}
    assert b"internal error" not in done.stderr + done.stdout
    assert (tmp_path / "lm").read_bytes()[:2] == b"ww"
    translate = f"{sys.executable} -m wayword translate {toy_folder}/system {closed}"
    done = subprocess.run(["sh", "-c", translate], check=False, capture_output=True, input=b"das\n")
    expected = {0} if closed == "2>&-" else {1}
    assert done.returncode in expected, done
    assert b"internal error" not in done.stderr + done.stdout


def test_ctrl_c_is_obeyed_in_a_search_without_limits(toy_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("das alte haus ist klein und neu " * 8 + "\n", encoding="utf-8")
    words = ["translate", str(toy_folder / "system"), str(tmp_path / "text"), "--prepared"]
    endless = ["--space", "dl:-1", "--pop-limit", "0", "--options-per-span", "0"]
    command = [sys.executable, "-m", "wayword", *words, *endless]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # What runs in the background of a shell does not hear Ctrl-C, nor do its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    ) as search:
        time.sleep(8)
        assert search.poll() is None, search.stderr
        begun = time.monotonic()
        os.kill(search.pid, 2)
        _, said = search.communicate(timeout=60)
    assert (search.returncode, said.splitlines()[-1]) == (130, b"wayword: stopped")
    assert time.monotonic() - begun < 10  # a second, on a machine that does nothing else


def test_a_missing_command_is_wrong_usage() -> None:
    with pytest.raises(SystemExit) as left:
        main(["no-such-command"])
    assert left.value.code == 2


def test_what_is_shown_is_escaped() -> None:
    from wayword.report.table import Table

    table = Table(["a|b", "<b>"], [["x\ny", "50 % & \\ ~ ^ {_} [l](u)"]])
    assert table.markdown().splitlines()[0] == r"| a\|b | &lt;b> |"
    assert table.markdown().splitlines()[2] == r"| x y | 50 % & \ ~ ^ {_} \[l](u) |"
    shown = r"x y & 50 \% \& \textbackslash{} \textasciitilde{} \textasciicircum{} \{\_\} [l](u) \\"
    assert shown in table.latex()
