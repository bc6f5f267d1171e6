"""Experiments: shared stages, one table, significance against a baseline."""

import csv
import json
from pathlib import Path

import pytest

import wayword
from wayword import experiment
from wayword.corpus import toy
from wayword.errors import ArgumentError
from wayword.experiment import Experiment
from wayword.report.experiment import Result as Table
from wayword.report.experiment import Row, load_result, plain
from wayword.report.experiment_page import page_of
from wayword.stage import Result, Stage

FILE = """\
name = "Limits"
baseline = "dl 6"
metrics = ["bleu", "krs-linked", "krs", "reversals"]
rounds = 100
[[corpus]]
name = "toy"
src = "train.de"
tgt = "train.en"
dev = ["dev.de", "dev.en"]
test = ["test.de", "test.en"]
[base]
lm.order = 3
search.pop_limit = 30
tune = { runs = 2, rounds = 2, nbest = 20 }
[[variant]]
name = "mono"
weights = "dl 6"
search.space = "mono"
[[variant]]
name = "dl 6"
[[variant]]
name = "no orientation"
model.orientation = ""
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("experiment")
    toy.write("de-en", 300, folder, seed=1)
    (folder / "limits.toml").write_text(FILE)
    return folder


def test_an_unknown_runner_is_refused_before_any_work(folder: Path) -> None:
    described = Experiment.read(folder / "limits.toml")
    with pytest.raises(ArgumentError, match="--runner: found `slurm`; expected local, ray or"):
        experiment.run(described, folder / "nowhere", runner="slurm")
    assert not (folder / "nowhere").exists()


def test_variants_share_stages_and_are_compared(folder: Path) -> None:
    seen: list[tuple[str, bool]] = []

    def watch(stage: Stage, result: Result | None) -> None:
        if result is not None:
            seen.append((stage.name, result.reused))

    result = experiment.run(Experiment.read(folder / "limits.toml"), folder / "out", watch=watch)
    made = [name for name, reused in seen if not reused]
    assert sorted(made) == sorted(
        ["doctor", "prepare", "dev", "align", "extract", "lm", "tune", "tune", "test", "decode"]
    )
    rows = {row.variant: row for row in result.rows}
    assert list(rows) == ["mono", "dl 6", "no orientation"]
    assert rows["mono"].dev == rows["dl 6"].dev
    assert rows["dl 6"].scores["bleu"][2] is None
    bleu = {name: row.scores["bleu"][0] or 0.0 for name, row in rows.items()}
    assert bleu["mono"] < bleu["dl 6"]
    _, _, p_value, mark = rows["mono"].scores["krs"]
    assert p_value is not None
    assert (mark in "▼▲" and mark != "") == (p_value <= 0.05)
    assert all(row.ms > 0 and len(row.runs) == 2 for row in result.rows)
    # the weights of one run have the score of the best run
    assert all(row.averaged == 2 or row.dev == max(row.runs) for row in result.rows)

    text = (folder / "out" / "table.md").read_text(encoding="utf-8")
    assert "| toy | dl 6 |" in text
    assert r"\begin{tabular}{llrrrrrrrrrr}" in (folder / "out" / "table.tex").read_text(
        encoding="utf-8"
    )
    with (folder / "out" / "table.csv").open(encoding="utf-8") as file:
        (first, *_) = csv.DictReader(file)
    assert float(first["bleu"]) == rows["mono"].scores["bleu"][0]
    assert float(first["reversals_recall"]) == rows["mono"].details["reversals"]["recall"]
    # a word order of the source reverses nothing, unless one word stands for several
    reversals = {name: row.scores["reversals"][0] or 0.0 for name, row in rows.items()}
    assert reversals["mono"] < reversals["dl 6"]
    assert " P / R |" in text
    assert " judged, % |" in text
    again = load_result(folder / "out" / "table.json")
    assert again.rows[0].scores["bleu"][0] == rows["mono"].scores["bleu"][0]

    assert "Differences from dl 6:" in text
    assert "may be chance" in text or "real: " in text
    best = experiment.keep_best(
        Experiment.read(folder / "limits.toml"), result, folder / "out", folder / "best"
    )
    assert bleu[best.variant] == max(bleu.values())
    chosen = wayword.load(folder / "best")
    assert chosen.made["chosen"]["among"] == 3
    assert chosen.made["test"]["variant"] == best.variant
    for name in ("mono", "dl-6", "no-orientation"):
        system = wayword.load(folder / "out" / "systems" / name)
        score = system.made["test"]["scores"]["bleu"]["score"]
        assert score == pytest.approx(bleu[name.replace("-", " ")], abs=1e-3)
        lines = (folder / "out" / "outputs" / f"{name}.txt").read_text(encoding="utf-8")
        source = (folder / "test.de").read_text(encoding="utf-8").splitlines()
        translations = [translation.text for translation in system.translate(source)]
        assert lines.splitlines() == translations
    assert wayword.load(folder / "out" / "systems" / "mono").settings.space == "mono"

    seen.clear()
    repeated = experiment.run(Experiment.read(folder / "limits.toml"), folder / "out", watch=watch)
    assert all(reused for _, reused in seen)
    assert repeated == result


def test_each_run_and_a_subset_are_scored_on_request(folder: Path) -> None:
    (folder / "some.txt").write_text("".join(f"{number}\n" for number in range(1, 11)))
    more = FILE.replace("rounds = 100", "rounds = 100\neach_run = true")
    more = more.replace("[base]", 'subset = "some.txt"\n[base]')
    (folder / "runs.toml").write_text(more)
    described = Experiment.read(folder / "runs.toml")
    result = experiment.run(described, folder / "out")
    rows = {row.variant: row for row in result.rows}
    for row in rows.values():
        scores, p_value = row.each["bleu"]
        assert len(scores) == 2
        assert (p_value is None) == (row.variant == "dl 6")
    assert rows["mono"].jumps == {"5": 0, "8": 0}
    assert rows["dl 6"].jumps["8"] == 0 <= rows["dl 6"].jumps["5"]
    # the subset has a score of its own, and the whole set the one it had
    assert rows["dl 6"].subset["bleu"][0] != rows["dl 6"].scores["bleu"][0]
    text = (folder / "out" / "table.md").read_text(encoding="utf-8")
    assert "On the subset of the test set:" in text
    assert "Tuning runs by themselves" in text
    assert load_result(folder / "out" / "table.json").rows[0].jumps == rows["mono"].jumps
    (folder / "runs.toml").write_text(more.replace("each_run = true", "each_run = 3"))
    with pytest.raises(ArgumentError, match="each_run: found `3`; expected true or false"):
        Experiment.read(folder / "runs.toml")


def test_tuning_can_start_from_another_variant_and_look_at_word_order(folder: Path) -> None:
    path = folder / "start.toml"
    path.write_text(
        FILE[: FILE.index("[[variant]]")]
        + """
[[variant]]
name = "dl 6"
[[variant]]
name = "by order"
start = "dl 6"
tune.metric = "bleu=0.5,KRS=0.5"
"""
    )
    result = experiment.run(Experiment.read(path), folder / "started")
    before, after = result.rows
    # A mix with KRS is far above BLEU alone.
    assert after.dev > before.dev + 5
    made = {}
    for stage in (folder / "started" / "work").glob("tune-*/stage.json"):
        done = json.loads(stage.read_text(encoding="utf-8"))
        made[done["options"]["tune"]["metric"]] = (done, stage.parent / "rounds" / "log.jsonl")
    first = made["bleu=0.5,KRS=0.5"][1].read_text(encoding="utf-8").splitlines()[0]
    weights = made["bleu"][0]["facts"]["weights"]
    assert json.loads(first)["weights"] == pytest.approx(weights)

    system = experiment.open_variant(Experiment.read(path), folder / "started", 0, "by order")
    assert system.weights == made["bleu=0.5,KRS=0.5"][0]["facts"]["weights"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('baseline = "dl 6"', 'baseline = "dl 7"', "found `dl 7`, which is no variant; expected"),
        ('name = "Limits"', 'nmae = "Limits"', "found `nmae`; did you mean `name`?"),
        ('name = "Limits"', "", "no `name`; expected name, corpus and variant"),
        ('tgt = "train.en"', "", "a corpus without `tgt`; expected it"),
        ('name = "mono"\n', "", "a variant without `name`; expected it"),
        ('name = "mono"', 'name = "dl 6"', "two variants of one name; expected each name once"),
        (
            'weights = "dl 6"',
            'start = "dl 6"',
            "start: found `dl 6` in `mono`; expected a tuned one before: none, as it is the first",
        ),
        (
            'weights = "dl 6"',
            'weights = "dl 6"\nstart = "dl 6"',
            "`mono` has both `weights` and `start`; expected one: with weights, none are tuned",
        ),
        ("runs = 2", 'metric = "blue"', "tune.metric: found `blue`; expected some of"),
        ("search.space", "search.spce", "found `search.spce`; did you mean `search.space`?"),
    ],
)
def test_a_wrong_file_is_refused_before_any_work(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in FILE
    path = tmp_path / "wrong.toml"
    path.write_text(FILE.replace(old, new, 1))
    with pytest.raises(ArgumentError) as caught:
        Experiment.read(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


def test_names_that_are_one_folder_are_refused(folder: Path) -> None:
    text = FILE.replace('name = "no orientation"', 'name = "dl, 6"')
    (folder / "same.toml").write_text(text)
    with pytest.raises(ArgumentError, match="`dl 6` and `dl, 6` would both be `dl-6` as a folder"):
        Experiment.read(folder / "same.toml")


def test_stages_are_called_by_the_variants_that_need_them(folder: Path) -> None:
    names = set(experiment.stage_names(Experiment.read(folder / "limits.toml")).values())
    assert {"align", "extract", "lm", "tune (dl 6)", "tune (no orientation)"} <= names


def test_a_table_tells_for_each_variant_which_weights_tuning_took(tmp_path: Path) -> None:
    runs = (30.0, 31.0, 29.0, 28.0)
    rows = [
        Row("toy", name, {"bleu": (30.0, 1.0, None, "")}, 0.1, 31.0, 0.2, runs, averaged)
        for name, averaged in (("single", 1), ("mean", 2), ("earlier", 0))
    ]
    table = Table("Weights", "single", ("bleu",), tuple(rows), {"bleu": "BLEU|"}, "seed:1")
    printed = plain(table)
    assert "mean weights" not in printed
    assert "1: the weights of the best run" in printed
    cells = {line.split()[1]: line for line in printed.splitlines() if line.startswith("toy ")}
    assert cells["single"].endswith("1 of 4")
    assert cells["mean"].endswith("2 of 4")
    assert cells["earlier"].endswith("–")  # an experiment of an earlier version
    page = page_of(table)
    assert "1 of 4" in page
    assert "2 of 4" in page
    table.write(tmp_path)
    assert load_result(tmp_path / "table.json").rows[1].averaged == 2
    with (tmp_path / "table.csv").open(encoding="utf-8") as file:
        shown = [(row["averaged"], row["runs"]) for row in csv.DictReader(file)]
    assert shown == [("1", "4"), ("2", "4"), ("", "4")]
