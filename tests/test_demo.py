"""The demo shows what the product promises: long jumps that help, without losing the way."""

from pathlib import Path

from wayword import demo
from wayword.report.experiment import load_result
from wayword.system import System


def test_pruned_long_jumps_order_words_best(tmp_path: Path) -> None:
    text = "\n".join(demo.demonstrate(tmp_path, pairs=["ar-en"]))
    rows = {row.variant: row for row in load_result(tmp_path / "systems" / "table.json").rows}
    assert list(rows) == ["mono", demo.BASELINE, demo.LONG, demo.PRUNED]
    for metric in ("bleu", "krs-linked"):
        scores = {name: row.scores[metric][0] or 0.0 for name, row in rows.items()}
        assert scores[demo.PRUNED] > max(scores[demo.BASELINE], scores[demo.LONG]) > scores["mono"]
    for name in rows:
        assert f"ar-en   {name} " in text
    command, places = text.splitlines()[-1].split()[:2], text.splitlines()[-1].split()[2:]
    assert command == ["wayword", "serve"]
    assert [System.open(place).text is not None for place in places] == [True]
    picture = text[text.index("## What the word-after-word model says") :]
    assert picture.count("●") >= 3
