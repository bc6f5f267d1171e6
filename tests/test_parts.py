"""Any model of word order can be named: it is trained, saved, tuned and used like any other."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import nearness

import wayword
from wayword import experiment
from wayword.cli import main
from wayword.config import Config
from wayword.corpus import toy
from wayword.corpus.files import open_text
from wayword.corpus.source import Source
from wayword.errors import ArgumentError
from wayword.experiment import Experiment

QUICK = ["lm.order=3", "tune.runs=1", "tune.rounds=2", "tune.nbest=20", "search.pop_limit=30"]
TOKENISED = ["text.src_tokenizer=none", "text.tgt_tokenizer=none", "text.case=keep"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    toy.write("de-en", 200, folder, seed=1)
    return folder


def forward(source: Source) -> Any:
    """A scorer that likes the next word best."""
    length = len(source.words)
    matrix = np.full((length + 1, length), 0.1)
    matrix[np.arange(length), np.arange(length)] = 0.9
    return matrix


def matrices(corpus: Path, path: Path) -> Path:
    """A file with the same numbers for the dev and the test set."""
    with path.open("w", encoding="utf-8") as file:
        for part in ("dev", "test"):
            for line in open_text(corpus / f"{part}.de"):
                source = Source.of(line)
                row = {"words": source.words, "matrix": forward(source).tolist()}
                print(json.dumps(row, ensure_ascii=False), file=file)
    return path


def train(corpus: Path, out: Path, *choices: str) -> wayword.System:
    files = [str(corpus / f"{part}.{lang}") for part in ("train", "dev") for lang in ("de", "en")]
    command = ["train", *files[:2], "--dev", *files[2:], "-o", str(out), "--set", *QUICK, *choices]
    assert main(command) == 0
    return wayword.load(out)


def test_a_part_of_ones_own_is_trained_saved_tuned_and_used_by_naming_it(
    corpus: Path, tmp_path: Path
) -> None:
    named = f'model.features=["near={nearness.KIND}"]'
    system = train(corpus, tmp_path / "system", named, "near.furthest=3")
    part = system.part("near")
    assert isinstance(part, nearness.Nearness)
    assert set(part.shares) <= set(range(-3, 4))
    assert part.shares[1] > part.shares[-1]  # most words are translated after the one before
    assert system.weights["near"] != 0
    system.verify()
    line = next(open_text(corpus / "test.de"))
    translation = system.translate(line)
    assert translation.features["near"] < 0
    # ln of the share of every step, by hand
    order = [-1, *translation.order]
    steps = (int(np.clip(b - a, -3, 3)) for a, b in pairwise(order))
    by_hand = sum(np.log(max(part.shares.get(step, 0), 1e-4)) for step in steps)
    if all(len(range(*phrase.src)) == 1 for phrase in translation.phrases):
        assert translation.features["near"] == pytest.approx(by_hand, rel=1e-5)
    pruned = system.translate(line, space="dl:18+near(top=1,threshold=0,zone=0)")
    assert pruned.statistics is not None
    assert pruned.statistics.narrowed > 0


def test_options_of_ones_own_part_are_checked() -> None:
    choices = {"model": {"features": [f"near={nearness.KIND}"]}}
    assert Config.from_dict({**choices, "near": {"furthest": 2}}).parts["near"].furthest == 2
    with pytest.raises(ArgumentError, match=r"near\.furthest: found 0; expected 1 or more"):
        Config.from_dict({**choices, "near": {"furthest": 0}})
    with pytest.raises(ArgumentError, match=r"did you mean `near\.furthest`"):
        Config.from_dict({**choices, "near": {"furthst": 2}})
    with pytest.raises(ArgumentError, match="found `near`"):
        Config.from_dict({"near": {"furthest": 2}})


def test_a_function_and_a_file_are_features_like_a_model(corpus: Path, tmp_path: Path) -> None:
    path = matrices(corpus, tmp_path / "matrices.jsonl")
    by_function = train(
        corpus, tmp_path / "a", f'model.features=["x=python:{__name__}:forward"]', *TOKENISED
    )
    by_file = train(corpus, tmp_path / "b", f'model.features=["x=matrix:{path}"]', *TOKENISED)
    path.unlink()  # the system has a copy
    assert by_function.weights == by_file.weights
    lines = list(open_text(corpus / "test.de"))
    again = wayword.load(tmp_path / "b")
    assert again.translate(lines) == by_function.translate(lines)
    assert any(translation.features["x"] < 0 for translation in by_function.translate(lines))


def test_experiments_compare_models_of_any_kind(corpus: Path, tmp_path: Path) -> None:
    path = matrices(corpus, tmp_path / "matrices.jsonl")
    files = {part: [str(corpus / f"{part}.{lang}") for lang in ("de", "en")] for part in PARTS}
    values = {
        "name": "Kinds of features",
        "rounds": 50,
        "metrics": ["bleu"],
        "base": {
            "lm": {"order": 3},
            "text": {"src_tokenizer": "none", "tgt_tokenizer": "none", "case": "keep"},
            "tune": {"runs": 1, "rounds": 1, "nbest": 10},
            "search": {"pop_limit": 30},
            "waw": {"min_count": 5},
        },
        "corpus": [
            {
                "name": "toy",
                "src": files["train"][0],
                "tgt": files["train"][1],
                "dev": files["dev"],
                "test": files["test"],
            }
        ],
        "variant": [
            {"name": "none"},
            {"name": "model", "model": {"features": ["waw"]}},
            {"name": "function", "model": {"features": [f"x=python:{__name__}:forward"]}},
            {"name": "file", "model": {"features": [f"x=matrix:{path}"]}},
            {"name": "own", "model": {"features": [f"near={nearness.KIND}", "waw"]}},
        ],
    }
    described = Experiment.from_dict(values, tmp_path)
    result = experiment.run(described, tmp_path / "out")
    scores = {row.variant: row.scores["bleu"][0] for row in result.rows}
    assert list(scores) == ["none", "model", "function", "file", "own"]
    assert scores["function"] == scores["file"]
    opened = experiment.open_variant(described, tmp_path / "out", 0, "own")
    assert {"near", "waw"} <= opened.weights.keys()


PARTS = ("train", "dev", "test")
