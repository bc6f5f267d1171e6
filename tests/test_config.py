"""Configurations: every bad value of every key is refused before any work, in one sentence."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wayword.cli import main
from wayword.config import Config, default_text, explain, merged
from wayword.corpus import toy
from wayword.errors import ArgumentError
from wayword.parts.part import FEATURES, kind_of
from wayword.pipeline import plan

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NAN, INFINITE = float("nan"), float("inf")
#: Of sections that say how a linear-ordering model is learned.
LEARNING: dict[str, list[Any]] = {
    "reference": ["middle"],
    "unlinked": [-1.0, NAN],
    "sentences": [-1],
    "passes": [-1],
    "stop": ["ta"],
    "patience": [0],
    "bits": [7, 29],
    "batch": [-1],
    "min_count": [0],
    "strictness": [-1.0, NAN],
    "rate": [-0.1, NAN],
    "prior": [-1.0],
    "choice": ["worst"],
}
#: For each key, values of the right kind that make no sense.
BAD: dict[str, list[Any]] = {
    "seed": [-1],
    "memory": ["1K", "much"],
    "text.src": ["x", "de!"],
    "text.tgt": ["1"],
    "text.src_tokenizer": ["mosses"],
    "text.tgt_tokenizer": [""],
    "text.case": ["title"],
    "text.nfc": [],
    "subwords.kind": ["pieces"],
    "subwords.vocabulary": [0, 99, 2_000_000],
    "subwords.joint": [],
    "subwords.sentences": [-1],
    "text.max_length": [0, -5],
    "text.dev_size": [-1],
    "doctor.max_length": [0],
    "doctor.max_ratio": [0.5, NAN, INFINITE],
    "doctor.allow": [["ratoi"]],
    "doctor.memory": ["1K", "much"],
    "align.model": ["hnm", ""],
    "align.symmetrise": ["grow-diag-finall"],
    "align.memory": ["much", "10"],
    "extract.max_length": [0, 101],
    "extract.strictness": ["lax"],
    "extract.models": [["hier"]],
    "extract.condition": ["ef"],
    "extract.smoothing": [-0.5, NAN],
    "extract.discount": ["good"],
    "extract.min_count": [0],
    "extract.top": [-1],
    "extract.significance": ["b+e", "-3", "nan"],
    "extract.packed": [],
    "extract.counts": [],
    "extract.memory": ["1K", "much"],
    "lm.order": [0, 9, 12],
    "lm.prune": [[1], [0, 2, 1], [0] * 6],
    "lm.memory": ["", "-1G"],
    "lm.text": [["missing.txt"]],
    "lm.mix": ["two"],
    "model.orientation": ["hier", "flat-msd-prev", "word-msd-bidirectional"],
    "model.features": [
        ["wow"],
        ["matrix:missing"],
        ["python:nowhere:none"],
        ["waw", "waw"],
        ["lm=waw"],
        ["work=waw"],
    ],
    "model.preorder": ["waw"],
    "model.lexicon": [True],
    "model.speller": [],
    "model.aligner": [],
    "speller.posterior": [-0.1, 1.5, NAN],
    "speller.nbest": [0, 101],
    "lexicon.min_count": [0],
    "lexicon.share": [-0.1, 1.5, NAN],
    "annotate.annotator": ["missing.tagger", "spcy:model"],
    "annotate.classes": [0],
    "annotate.sentences": [-1],
    "waw.templates": ["PW"],
    "waw.window": [0, -1, 1001],
    "waw.inclusive": [],
    "waw.between_anchor": ["ji"],
    "waw.min_count": [0],
    "waw.objective": ["all"],
    "waw.coverage": [],
    "waw.prior": [-1.0, NAN],
    "waw.optimiser": ["sgd"],
    "waw.iterations": [-1],
    "waw.tolerance": [-1e-5],
    "waw.memory": ["x"],
    "waw.sentences": [-1],
    "neural.coverage": [],
    "neural.tags": [],
    "neural.window": [0, 1001],
    "neural.epochs": [0],
    "neural.batch": [0],
    "neural.rate": [-1.0, NAN],
    "neural.dropout": [-0.1, 1.0, NAN],
    "neural.embedding": [0, 5000],
    "neural.hidden": [0, 5000],
    "neural.key": [0, 5000],
    "neural.min_count": [0],
    "neural.vocabulary": [0],
    "neural.seed": [-1],
    "neural.sentences": [-1],
    **{f"{section}.{key}": bad for section in ("preorder", "lop") for key, bad in LEARNING.items()},
    "lop.model": ["lob"],
    "preorder.posteriors": [],
    "preorder.realign": [],
    "preorder.orders": [0, 101],
    "preorder.order_weight": [-1.0, NAN],
    "search.space": [
        "dl",
        "dl:-2",
        "dl:x",
        "ibm",
        "mj3",
        "dl:18+waw(top=3)",
        "automatic",
        "auto:5",
    ],
    "search.search": ["beam"],
    "search.pop_limit": [-1],
    "search.stack_size": [-1],
    "search.threshold": [-0.1, 2.0, NAN],
    "search.options_per_span": [-1],
    "search.distortion": ["late"],
    "search.oov": ["guess"],
    "search.compat": ["joshua"],
    "tune.method": ["mrt"],
    "tune.metric": ["blue", "bleu=x", "krs-v"],
    "tune.runs": [0],
    "tune.rounds": [0],
    "tune.nbest": [0],
    "tune.distinct": [],
    "tune.restarts": [-1],
    "tune.keep": [1.0, -0.1, NAN],
    "tune.patience": [0],
    "tune.space": ["dl", "auto"],
    "tune.pop_limit": [-1],
    "card.title": ["one\ntwo"],
    "card.license": ["my own"],
}
#: A value of another kind than the default.
OTHER: dict[type, Any] = {str: 3, int: "three", float: "half", bool: 1, tuple: "word"}


def keys(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from keys(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def nested(key: str, value: Any) -> dict[str, Any]:
    section, dot, name = key.partition(".")
    return {section: {name: value}} if dot else {key: value}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    toy.write("de-en", 20, folder, seed=1)
    return folder


def test_every_key_is_tried() -> None:
    assert dict(keys(Config().to_dict())).keys() == BAD.keys()


@pytest.mark.parametrize("key", BAD)
def test_every_bad_value_is_refused_before_any_work(key: str, corpus: Path) -> None:
    default = dict(keys(Config().to_dict()))[key]
    values = [OTHER[type(default)], *BAD[key]]
    needed = {"model": {"features": ["waw"]}} if key.startswith("annotate") else {}
    for value in values:
        choices = merged(needed, nested(key, value))
        with pytest.raises((ArgumentError, FileNotFoundError)) as caught:
            plan(corpus / "train.de", corpus / "train.en", choices)
        message = str(caught.value)
        assert key.rpartition(".")[2] in message or "missing" in message, (value, message)
        assert "\n" not in message


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("search.space=dl", "search.space"),
        ("tune.runs=0", "--set: tune.runs: found 0; expected at least 1"),
        ("lm.order=12", "--set: lm.order: found 12; expected 1 to 8"),
        ("tune.method=mrt", "--set: tune.method: found `mrt`; expected one of mert, pro, mira"),
        ("model.orientation=word-msd-prev", "but `extract.models` has no word model"),
    ],
)
def test_the_command_writes_nothing(
    choice: str, message: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "system"
    command = ["train", f"{corpus}/train.de", f"{corpus}/train.en", "-o", str(out)]
    assert main([*command, "--set", choice]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert not out.exists()


def test_repeated_set_options_accumulate(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "system"
    command = ["train", f"{corpus}/train.de", f"{corpus}/train.en", "-o", str(out)]
    assert main([*command, "--set", "lm.order=12", "--set", "tune.runs=1"]) == 2
    assert "--set: lm.order: found 12" in capsys.readouterr().err


def test_sections_have_the_memory_of_the_whole_unless_they_name_their_own() -> None:
    chosen = {"model": {"features": ["waw", "near=waw"]}, "near": {"window": 4}}
    config = Config.from_dict({**chosen, "memory": "3G", "lm": {"memory": "64M"}})
    sizes = {name: size for name, size in keys(config.to_dict()) if name.endswith("memory")}
    assert {name for name in BAD if name.endswith("memory")} <= sizes.keys()
    assert {name for name, size in sizes.items() if size != "3G"} == {"lm.memory"}
    assert sizes["near.memory"] == "3G"
    assert Config.from_dict(config.to_dict()) == config
    named = Config.from_dict({**chosen, "memory": "3G", "waw": {"memory": "5G"}})
    assert (named.parts["waw"].memory, named.parts["near"].memory) == ("5G", "5G")


def test_less_memory_makes_nothing_again_but_links(corpus: Path) -> None:
    files = corpus / "train.de", corpus / "train.en"
    chosen: dict[str, Any] = {"model": {"features": ["waw"]}, "text": {"dev_size": 5}}
    whole = plan(*files, chosen).stages
    little = plan(*files, {**chosen, "memory": "64M", "align": {"memory": "2G"}}).stages
    assert [stage.key for stage in little] == [stage.key for stage in whole]
    kept = {stage.name: stage.memory for stage in little if stage.memory}
    assert kept == dict.fromkeys(("doctor", "prepare", "extract", "lm", "waw"), "64M")
    linked = plan(*files, {**chosen, "align": {"memory": "64M"}}).links
    assert linked.key != plan(*files, chosen).links.key  # rare pairs may find no room


def test_options_of_learned_parts_are_sections() -> None:
    learned = {kind for kind in FEATURES if kind_of(kind).Options is not None}
    assert learned == set(Config().parts)
    config = Config.from_dict(
        {
            "model": {"features": ["waw", "near=waw"]},
            "waw": {"prior": 3.0, "window": 10},
            "near": {"window": 4},
        }
    )
    assert (config.parts["waw"].window, config.parts["near"].window) == (10, 4)
    assert config.parts["near"].prior == 3.0  # of its kind's section
    assert Config.from_dict(config.to_dict()) == config


def test_every_key_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for key, _ in keys(Config().to_dict()):
        assert explain(key).startswith(f"{key} = ")
    for section in tomllib.loads(default_text()):
        assert explain(section)
    assert main(["config", "--explain", "lm.ordr"]) == 2
    assert "did you mean `lm.order`?" in capsys.readouterr().err


def test_the_printed_defaults_are_a_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config"]) == 0
    assert Config.from_dict(tomllib.loads(capsys.readouterr().out)) == Config()
