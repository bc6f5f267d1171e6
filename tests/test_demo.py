"""The demo is a controlled comparison: each row has its own tuning and varies one factor."""

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wayword import demo
from wayword.cli.parser import build_parser
from wayword.config import Config, chosen_config
from wayword.demo import ToyCorpus
from wayword.experiment import Row, folder_name
from wayword.system import System

FACTORS = ("limit", "feature", "pruning")


def factors(setting: str) -> tuple[str, bool, bool]:
    """The limit, whether the feature is used, and whether it prunes, from the configuration."""
    config = Config.from_dict(demo.VARIANTS[setting])
    limit, _, pruning = config.search.space.partition("+")
    return limit, config.model.features == ("waw",), bool(pruning)


def test_the_two_settings_of_each_contrast_differ_in_one_factor() -> None:
    varied = set()
    for before, after in demo.CONTRASTS.values():
        values = zip(FACTORS, factors(before), factors(after), strict=True)
        [factor] = [name for name, old, new in values if old != new]
        varied.add(factor)
    assert varied == set(FACTORS)


def test_every_setting_is_tuned_by_itself_in_the_same_way(tmp_path: Path) -> None:
    ToyCorpus(tmp_path, "de-en", 1).write(60)
    described = ToyCorpus(tmp_path, "de-en", 1).experiment()
    plans = described.plans(described.corpora[0])
    assert {variant.weights or variant.name for variant in described.variants} == set(plans)
    assert len({plan.config.tune for plan in plans.values()}) == 1
    assert len({plan.weights.key for plan in plans.values()}) == len(plans)


def test_folder_names_need_no_quotes_in_a_shell() -> None:
    names = [folder_name(name) for name in demo.VARIANTS]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[\w.-]+", name) for name in names)


@pytest.mark.parametrize("setting", demo.VARIANTS)
def test_the_printed_command_trains_the_setting(setting: str) -> None:
    args = build_parser("train").parse_args(shlex.split(demo.training_command(setting))[1:])
    assert chosen_config(args.config, args.set) == Config.from_dict(demo.VARIANTS[setting])


def row(variant: str, bleu: float, ms: float) -> Row:
    cell = (bleu, 0.0, None, "")
    return Row("xx-en-1", variant, {"bleu": cell}, ms, dev=0.0, spread=0.0, runs=(0.0,))


def test_an_effect_compares_two_settings_on_each_text() -> None:
    bleu = {
        demo.SHORT_LIMIT: (10.0, 20.0),
        demo.LONG_LIMIT: (12.0, 19.0),
        demo.SHORT_WAW: (14.0, 20.0),
        demo.LONG_WAW: (15.0, 20.5),
        demo.PRUNED: (14.0, 20.0),
    }
    rows = {name: [row(name, one, 2.0), row(name, two, 2.0)] for name, (one, two) in bleu.items()}
    rows[demo.PRUNED] = [replace(one, ms=1.0) for one in rows[demo.PRUNED]]
    limit, limit_with_feature, _, feature, pruning = demo.factor_effects(rows)
    assert limit.gains == (2.0, -1.0)
    assert limit_with_feature.gains == (1.0, 0.5)
    assert feature.gains == (3.0, 1.5)
    assert (pruning.gains, pruning.time_ratio) == ((-1.0, -0.5), 0.5)
    assert "has no consistent effect on BLEU: +0.5 (-1.0 to +2.0)" in limit.describe()
    assert "raises BLEU by 2.2 (+1.5 to +3.0)" in feature.describe()
    assert "lowers BLEU by 0.8 (-1.0 to -0.5)" in pruning.describe()


def test_the_report_shows_all_settings_with_their_spread(tmp_path: Path) -> None:
    options: dict[str, Any] = {"pairs": ["ar-en"], "size": 300, "texts": 2}
    text = "\n".join(demo.demonstrate(tmp_path / "one", **options))
    for name in demo.VARIANTS:
        assert re.search(rf"Arabic +{re.escape(name)} +[\d.]+ \([\d.]+–[\d.]+\) ", text)
    for factor in demo.CONTRASTS:
        assert f"  {factor} " in text
    command, *systems = shlex.split(text.splitlines()[-1])[1:]
    assert command == "serve"
    assert [System.open(path).text is not None for path in systems] == [True]
    assert text[text.index("## Scores of the word-after-word model") :].count("●") >= 3

    spawned = "\n".join(demo.demonstrate(tmp_path / "two", processes=2, **options))
    assert re.findall(r"\([\d.]+–[\d.]+\)", spawned) == re.findall(r"\([\d.]+–[\d.]+\)", text)


@pytest.mark.slow
def test_the_feature_helps_german_and_the_limit_helps_japanese(tmp_path: Path) -> None:
    """The factors that matter most by word order: verb clusters, and verb-final clauses."""
    effects = {}
    for pair in ("de-en", "ja-en"):
        corpora = [ToyCorpus(tmp_path, pair, seed) for seed in (1, 2, 3)]
        rows = demo._by_setting(demo._compare_settings(corpus, size=2000) for corpus in corpora)
        effects[pair] = {effect.factor: effect for effect in demo.factor_effects(rows)}
    assert min(effects["de-en"]["the WaW feature at a limit of 18"].gains) > 0
    limit = "a limit of 18 instead of 6, without the WaW feature"
    assert min(effects["ja-en"][limit].gains) > 0
