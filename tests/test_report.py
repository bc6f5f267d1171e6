"""Pages of systems and experiments, and what a notebook shows."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wayword import experiment
from wayword.align import Links
from wayword.cli import main
from wayword.corpus import toy
from wayword.errors import ArgumentError
from wayword.overview import report
from wayword.overview.experiment import texts_of
from wayword.pack import pack
from wayword.pipeline import train
from wayword.reorder.matrix import OrderMatrix
from wayword.report.experiment_page import page_of
from wayword.report.system import Report
from wayword.report.tuning import weights_taken
from wayword.system import System

QUICK: dict[str, Any] = {
    "lm": {"order": 3},
    "tune": {"runs": 2, "rounds": 1, "nbest": 20},
    "search": {"pop_limit": 50, "space": "dl:4"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus, a system of it, and one with a model of word order."""
    folder = tmp_path_factory.mktemp("report")
    toy.write("de-en", 300, folder, seed=1)
    text = folder / "train.de", folder / "train.en"
    dev = [folder / "dev.de", folder / "dev.en"]
    train(*text, folder / "system", dev=dev, config=QUICK)
    knowing = {**QUICK, "model": {"features": ["waw"]}, "waw": {"min_count": 5}}
    train(*text, folder / "other", dev=dev, config=knowing)
    return folder


@pytest.fixture(scope="module")
def both(folder: Path) -> Report:
    """The two systems side by side on their test set."""
    files = [folder / "test.de", folder / "test.en"]
    return report(folder / "system", folder / "other", test=files, oracle=3)


def test_a_report_tells_what_the_system_is_made_of(both: Report) -> None:
    first, second = both.systems
    assert (first.name, second.name) == ("system", "other")
    assert first.langs == ("de", "en")
    assert len(first.grids) == 6
    assert all(0.1 <= p <= 1 for grid in first.grids for _, _, p in grid.links)
    assert first.tuning is not None
    assert {record["run"] for record in first.tuning["rounds"]} == {1, 2}
    assert first.matrices == ()
    assert [cells.model for cells in second.matrices] == ["waw", "waw"]
    assert sum(first.phrase_lengths.values()) == pytest.approx(100)
    assert "waw" in second.weights


def test_the_weights_chart_shows_signs_and_weights_at_their_bound(both: Report) -> None:
    system = both.systems[0]
    weights = {"lm": 0.5, "wp": -0.4, "d": 0.0, "tm3": 0.0, "tm0": 0.1, "oov": 100.0}
    bounded = replace(system, weights=weights, at_bound=("d",))
    text = Report((bounded,)).to_html()
    assert "−0.400" in text
    assert text.count(", at its bound") == 2  # beside the bar and in its tooltip
    assert "d: 0.000, at its bound" in text
    assert "tm3: 0.000" not in text
    assert "at its bound" not in Report((system,)).to_html()
    assert "without their signs" not in text


@pytest.mark.parametrize(
    ("averaged", "taken"),
    [(1, "those of the best of 2 tuning runs"), (2, "the mean of 2 tuning runs")],
)
def test_a_page_tells_which_weights_tuning_took(both: Report, averaged: int, taken: str) -> None:
    [first, _] = both.systems
    assert first.tuning is not None
    tuned = replace(first, tuning={**first.tuning, "averaged": averaged})
    page = replace(both, systems=(tuned,), test=None).to_html()
    assert f"They are {taken}" in page
    assert "mean weights" not in page


def test_the_weights_of_a_system_are_those_that_its_card_names(both: Report, folder: Path) -> None:
    tuning = both.systems[0].tuning
    assert tuning is not None
    best = sorted(tuning["runs"], key=lambda run: -run["score"])[: tuning["averaged"]]
    weights = System.open(folder / "system").weights
    free = [name for name in weights if name != "oov"]
    mean = {name: sum(run["weights"][name] for run in best) for name in free}
    size = sum(map(abs, mean.values()))
    assert [weights[name] for name in free] == pytest.approx([mean[name] / size for name in free])
    card = (folder / "system" / "README.md").read_text(encoding="utf-8")
    assert f"The weights are {weights_taken(tuning['averaged'], 2)}." in card


def test_a_report_tells_how_the_system_does(both: Report, folder: Path) -> None:
    assert both.test is not None
    tested = both.test.systems[0]
    system = System.open(folder / "system")
    source = (folder / "test.de").read_text(encoding="utf-8").splitlines()
    assert list(tested.outputs) == [one.text for one in system.translate(source)]
    assert tested.scores[tested.best[0]] == max(
        score
        for line, score in zip(both.test.src, tested.scores, strict=True)
        if len(line.split()) >= 4
    )
    assert set(tested.derivations) == {*tested.best, *tested.worst}
    assert (tested.asked, tested.reach[-1]["lengths"]) == (3, "all")
    assert [row[0] for row in tested.reversals] == ["1-2", "3-5", "6-10", ">10"]
    assert both.test.compared.metrics == ("bleu", "chrf", "ter", "krs-linked", "reversals")
    assert json.loads(json.dumps(both.to_dict(), default=str))["test"]["compared"]["systems"]


def test_the_page_holds_every_sentence_and_leads_to_them(both: Report) -> None:
    page = both.to_html()
    assert both.test is not None
    assert page.count("data-words=") == len(both.test.src)
    assert 'data-set="unknown=yes"' in page
    lengths = set(re.findall(r'data-set="length=([^"]+)"', page))
    assert lengths <= set(re.findall(r'data-length="([^"]+)"', page))
    assert page.count('class="box') > 50  # phrases of derivations
    assert len(page.encode()) < 1_000_000
    assert "BLEU" in both._repr_html_()
    assert "phrase table" in str(both)


def test_a_thousand_sentences_stay_under_a_megabyte(both: Report) -> None:
    from dataclasses import replace

    assert both.test is not None
    times = 1200 // len(both.test.src) + 1
    one = both.test.systems[0]
    many = replace(
        one,
        outputs=one.outputs * times,
        scores=one.scores * times,
        unknown=one.unknown * times,
    )
    test = replace(both.test, src=both.test.src * times, ref=both.test.ref * times, systems=(many,))
    page = replace(both, systems=both.systems[:1], test=test).to_html()
    assert page.count("data-words=") == 1000
    assert f"first 1,000 of {len(test.src):,} sentences" in page
    assert len(page.encode()) < 1_000_000


def test_a_system_without_its_work_says_what_is_missing(folder: Path, tmp_path: Path) -> None:
    system = System.open(folder / "system")
    parts = [part for part in system.parts if part.kind != "aligner"]
    bare = System(parts, weights=system.weights, settings=system.settings, text=system.text)
    bare.save(tmp_path / "bare")
    told = report(tmp_path / "bare", test=[folder / "test.de", folder / "test.en"], oracle=0)
    assert told.systems[0].grids == ()
    page = told.to_html()
    assert "No alignment samples: the system has no aligner" in page
    assert "Word order is not judged: the system has no aligner" in page
    assert "no `work` folder with its tuning" in page


def test_a_report_of_a_packed_system_has_alignment_samples_and_metrics_of_word_order(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAYWORD_CACHE", str(tmp_path / "cache"))
    pack(folder / "system", tmp_path / "x.wayword")
    files = [folder / "test.de", folder / "test.en"]
    told = report(tmp_path / "x.wayword", test=files, oracle=0)
    assert len(told.systems[0].grids) == 6
    assert told.test is not None
    assert told.test.compared.metrics == ("bleu", "chrf", "ter", "krs-linked", "reversals")
    page = told.to_html()
    assert "Words of the test set, linked by the aligner" in page
    assert "No alignment samples" not in page
    alone = report(tmp_path / "x.wayword")
    assert alone.systems[0].grids
    assert "Words of the model card, linked by the aligner" in alone.to_html()


def test_systems_that_split_text_differently_are_refused(folder: Path, tmp_path: Path) -> None:
    system = System.open(folder / "system")
    assert system.text is not None
    from dataclasses import replace

    src, tgt = (replace(side, tokenizer="none") for side in system.text)
    changed = system._changed(text=(src, tgt))
    changed.save(tmp_path / "plain")
    with pytest.raises(ArgumentError, match="split text in different ways"):
        report(folder / "system", tmp_path / "plain", test=[folder / "test.de", folder / "test.en"])


def test_the_command_writes_a_page(folder: Path, tmp_path: Path, capsys: Any) -> None:
    page = tmp_path / "page.html"
    assert main(["report", str(folder / "system"), "--html", str(page)]) == 0
    assert "is written" in capsys.readouterr().err
    assert page.read_text().startswith("<!doctype html>")
    assert main(["report", str(folder / "system"), "--test", str(folder / "test.de")]) == 2
    assert "expected a source and one or more references" in capsys.readouterr().err


# --- experiments ---------------------------------------------------------------------------------


def test_an_experiment_is_a_page_too(folder: Path, tmp_path: Path) -> None:
    described = experiment.Experiment.from_dict(
        {
            "name": "limits & <more>",
            "corpus": [
                {
                    "name": "toy",
                    "src": "train.de",
                    "tgt": "train.en",
                    "dev": ["dev.de", "dev.en"],
                    "test": ["test.de", "test.en"],
                }
            ],
            "base": QUICK,
            "rounds": 100,
            "variant": [
                {"name": "dl 4"},
                {"name": "mono", "weights": "dl 4", "search": {"space": "mono"}},
                {"name": "auto", "weights": "dl 4", "search": {"space": "auto"}},
            ],
        },
        folder,
    )
    result = experiment.run(described, tmp_path / "out")
    texts = texts_of(described, tmp_path / "out", most=10)
    assert len(texts[0].lines) == 10
    apart = [max(scores) - min(scores) for scores in zip(*texts[0].scores.values(), strict=True)]
    assert apart == sorted(apart, reverse=True)
    page = page_of(result, texts)
    assert "limits &amp; &lt;more&gt;" in page
    assert page.count("<circle") == 3 * len(result.metrics)
    assert 'href="#sentences" data-set="sort=-gain1"' in page
    assert "BLEU" in result._repr_html_()
    advised = System.open(tmp_path / "out" / "systems" / "auto").settings.space
    assert advised.startswith("dl:")


# --- notebooks -----------------------------------------------------------------------------------


def test_what_a_notebook_shows(folder: Path) -> None:
    system = System.open(folder / "system")
    shown = system.translate("Ich habe gestern den Tee getrunken .")._repr_html_()
    assert 'class="wayword"' in shown
    assert shown.count('class="box') >= 4
    links = Links.from_lists([[(0, 0), (2, 1)], []])
    assert links._repr_html_().count('class="heat"') == 2
    tuning = report(folder / "system").systems[0].tuning
    assert tuning is not None


def test_a_matrix_is_an_array_that_shows_itself() -> None:
    matrix = OrderMatrix.of([[0.1, 0.9], [np.nan, 0.5], [0.2, 0.3]], ("<a>", "b"))
    shown = matrix._repr_html_()
    assert shown is not None
    assert "&lt;a&gt;" in shown
    assert shown.count('class="heat"') == 5
    assert matrix.sum(axis=0).words == ()
    assert matrix.T._repr_html_() is None
    assert float(matrix[0, 1]) == 0.9
    import pickle

    assert np.array_equal(pickle.loads(pickle.dumps(matrix)), matrix, equal_nan=True)
