"""The grid of early pruning: every setting as if it were alone, and the cheapest good one."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests import systems

from wayword.align.score import parse_links
from wayword.cli import main
from wayword.errors import ArgumentError
from wayword.evaluate import Gold, Output, make_metric
from wayword.parts.waw import WawPart
from wayword.reorder import waw
from wayword.system import System
from wayword.tune.grid import Pruning, prune_grid, prunings, worth_decoding


@pytest.fixture(scope="module")
def system(toy_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> System:
    folder = tmp_path_factory.mktemp("grid") / "system"
    shutil.copytree(toy_folder / "system", folder)
    return systems.add_waw(folder, toy_folder / "corpus")


@pytest.fixture(scope="module")
def dev(toy_folder: Path) -> list[list[str]]:
    files = [toy_folder / "corpus" / f"dev.{lang}" for lang in ("de", "en")]
    return [path.read_text(encoding="utf-8").splitlines()[:40] for path in files]


GRID: dict[str, Any] = {"prunings": prunings((1, 3), (0.5, 0.1), (0, 4))}


def test_every_setting_scores_as_if_it_were_alone(system: System, dev: list[list[str]]) -> None:
    gold = Gold(refs=[dev[1]])
    grid = prune_grid(system, dev[0], gold, **GRID)
    assert len(grid.tried) == 9
    assert sum(tried.reused for tried in grid.tried) > 0
    for tried in grid.tried:
        alone = system.with_settings(space=tried.space).translate(dev[0], prepared=True)
        output = Output("alone", [" ".join(translation.tokens) for translation in alone])
        assert tried.score == pytest.approx(make_metric("bleu", gold).corpus_score(output))
        statistics = [translation.statistics for translation in alone]
        scored = sum(counts.scored for counts in statistics if counts is not None)
        assert tried.work == pytest.approx(scored / sum(len(line.split()) for line in dev[0]))


def test_with_links_every_setting_shows_its_word_order(
    system: System, dev: list[list[str]], toy_folder: Path
) -> None:
    lines = (toy_folder / "corpus" / "dev.links").read_text(encoding="utf-8").splitlines()[:40]
    links = [parse_links(line, "dev.links") for line in lines]
    gold = Gold(refs=[dev[1]], src=dev[0], ref_links=[links])
    for tried in prune_grid(system, dev[0], gold, prunings=[Pruning(1, 0.5, 0)]).tried:
        assert list(tried.order) == ["KRS-linked", "reversals"]
        assert 0 < tried.order["KRS-linked"] <= 100


def test_the_least_work_within_the_tolerance_is_chosen(
    system: System, dev: list[list[str]]
) -> None:
    gold = Gold(refs=[dev[1]])
    strict = prune_grid(system, dev[0], gold, tolerance=0.0, **GRID)
    best = max(tried.score for tried in strict.tried[:-1])
    chosen = next(tried for tried in strict.tried if tried.space == strict.chosen)
    assert chosen.score == best
    lax = prune_grid(system, dev[0], gold, tolerance=100.0, **GRID)
    work = {tried.space: tried.work for tried in lax.tried}
    assert work[lax.chosen] == min(work.values())
    assert work["dl:18"] == max(work.values())


def test_a_looser_setting_keeps_what_a_tighter_one_keeps() -> None:
    tight = Pruning(top=2, threshold=0.25, zone=3)
    assert tight.is_looser(tight)
    looser, other = (
        ((0, 0.25, 3), (3, 0.1, 3), (2, 0.25, 5)),
        ((1, 0.25, 3), (3, 0.5, 3), (0, 0, 2)),
    )
    assert all(Pruning(*values).is_looser(tight) for values in looser)
    assert not any(Pruning(*values).is_looser(tight) for values in other)
    assert not tight.is_looser(Pruning(0, 0.25, 3))


def test_bad_grids_are_refused(system: System, dev: list[list[str]]) -> None:
    gold = Gold(refs=[dev[1]])
    with pytest.raises(ArgumentError, match="found no values"):
        prunings((1,), (0.5,), ())
    with pytest.raises(ArgumentError, match="found no settings"):
        prune_grid(system, dev[0], gold, prunings=[])
    with pytest.raises(ArgumentError, match="same corpus"):
        prune_grid(system, dev[0][:3], gold, **GRID)
    with pytest.raises(ArgumentError, match="feature: found `wow`, which the system does not have"):
        worth_decoding(system, ["a", "b", "c"], GRID["prunings"], "wow")


def test_only_settings_that_no_other_beats_are_decoded(system: System, toy_folder: Path) -> None:
    corpus = toy_folder / "corpus"
    orders = [corpus / "dev.factored.de", corpus / "dev.en", corpus / "dev.links"]
    every = prunings((1, 2, 3), (0.5, 0.1), (-1, 0, 4))
    kept = worth_decoding(system, orders, every)
    assert 0 < len(kept) < len(every)
    part = next(part for part in system.parts if part.name == "waw")
    assert isinstance(part, WawPart)
    spaces = [pruning.space("dl:18") for pruning in every]
    rows = dict(zip(every, waw.reach(part.model, waw.Corpus.read(*orders), spaces), strict=True))
    for pruning in every:
        beats = [
            other
            for other in kept
            if rows[other].width <= rows[pruning].width and rows[other].right >= rows[pruning].right
        ]
        assert beats
        if pruning in kept:
            assert beats == [pruning]


def test_the_command_prints_a_table_and_json(
    system: System, toy_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dev = [str(toy_folder / "corpus" / f"dev.{lang}") for lang in ("de", "en")]
    command = ["waw", "grid", str(system.folder), "--dev", *dev, "--top", "1", "3", "--zone", "1"]
    assert main([*command, "--threshold", "0.1"]) == 0
    printed = capsys.readouterr().out
    assert "dl:18+waw(top=3,threshold=0.1,zone=1)" in printed
    assert "least work within 0.1 of it" in printed
    assert main([*command, "--threshold", "0.1", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["tried"]) == 3
    orders = [str(toy_folder / "corpus" / name) for name in ("dev.factored.de", "dev.en")]
    orders.append(str(toy_folder / "corpus" / "dev.links"))
    assert main([*command, "--threshold", "0.5", "0.1", "--orders", *orders, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["tried"]) <= 5
