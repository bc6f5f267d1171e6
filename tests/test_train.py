"""From two text files to a system: stages are kept, reused and never half-written."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import wayword
from wayword.config import Config, default_text, merged
from wayword.corpus import toy
from wayword.corpus.annotate import Tagger, read_treebank
from wayword.errors import ArgumentError, FormatError, MismatchError, WaywordError
from wayword.pipeline import plan, train
from wayword.report.losses import Whole
from wayword.stage import Cost, Result, Stage, Work
from wayword.store import Store

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

QUICK = {
    "lm": {"order": 3},
    "tune": {"runs": 2, "rounds": 2, "nbest": 20},
    "search": {"pop_limit": 30},
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    toy.write("de-en", 300, folder, seed=1)
    return folder


def files(corpus: Path, part: str) -> tuple[Path, Path]:
    return corpus / f"{part}.de", corpus / f"{part}.en"


def contents(system: Path) -> dict[str, bytes]:
    """Every file of a system but its work."""
    return {path.name: path.read_bytes() for path in system.iterdir() if path.is_file()}


def stages(system: Path) -> list[tuple[str, bool]]:
    lines = (system / "work" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    return [(line["stage"], line["reused"]) for line in map(json.loads, lines)]


def test_the_documented_defaults_are_the_defaults() -> None:
    documented = tomllib.loads(default_text())
    assert Config.from_dict(documented) == Config()
    for section, values in Config().to_dict().items():
        if isinstance(values, dict):
            assert list(documented[section]) == list(values), section


def test_a_system_is_trained_and_translates(corpus: Path, tmp_path: Path) -> None:
    config = Config.from_dict(QUICK)
    dev = files(corpus, "dev")
    system = train(*files(corpus, "train"), tmp_path / "system", dev=dev, config=config)
    text = files(corpus, "test")[0].read_text(encoding="utf-8").splitlines()[0]
    assert system.translate(text).text
    assert wayword.load(tmp_path / "system").weights == system.weights
    system.verify()
    assert system.made["held_out"] is False
    assert sum(map(abs, (w for n, w in system.weights.items() if n != "oov"))) == pytest.approx(1)


def test_running_again_does_nothing_again_and_a_change_only_what_depends_on_it(
    corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "system"
    options = {"dev": files(corpus, "dev"), "config": Config.from_dict(QUICK)}
    train(*files(corpus, "train"), out, **options)  # type: ignore[arg-type]
    first, before = stages(out), contents(out)
    assert [name for name, _ in first] == [
        "doctor", "prepare", "dev", "align", "extract", "lm", "tune",
    ]  # fmt: skip
    assert not any(reused for _, reused in first)
    train(*files(corpus, "train"), out, **options)  # type: ignore[arg-type]
    assert all(reused for _, reused in stages(out)[len(first) :])
    assert contents(out) == before
    changed = Config.from_dict(merged(QUICK, {"lm": {"order": 2}}))
    train(*files(corpus, "train"), out, dev=files(corpus, "dev"), config=changed)
    made = [name for name, reused in stages(out)[2 * len(first) :] if not reused]
    assert made == ["lm", "tune"]


PRUNED = {
    "model": {"features": ["waw"]},
    "search": {"space": "dl:18+waw(top=3,threshold=0.1,zone=5)"},
}


@pytest.mark.parametrize("tags", ["classes", "tagger"])
def test_a_system_can_prune_by_a_model_of_its_own(corpus: Path, tmp_path: Path, tags: str) -> None:
    values = merged(QUICK, PRUNED)
    if tags == "tagger":
        tagger = Tagger.fit(read_treebank(corpus / "train.factored.de"))
        tagger.save(tmp_path / "de.tagger")
        values = merged(values, {"annotate": {"annotator": str(tmp_path / "de.tagger")}})
    config = Config.from_dict(values)
    for threads in (1, 2):
        out = tmp_path / str(threads)
        train(
            *files(corpus, "train"), out, dev=files(corpus, "dev"), config=config, threads=threads
        )
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    assert [name for name, _ in stages(tmp_path / "1")][-3:] == ["annotate", "waw", "tune"]
    system = wayword.load(tmp_path / "1")
    system.verify()
    assert system.weights["waw"] != 0
    text = files(corpus, "test")[0].read_text(encoding="utf-8").splitlines()
    # It tags by itself, and the same way as in training.
    found = system.translate(text)
    assert all(one.features["waw"] < 0 for one, line in zip(found, text, strict=True) if line)
    other = Config.from_dict(merged(values, {"waw": {"min_count": 5}}))
    train(*files(corpus, "train"), tmp_path / "1", dev=files(corpus, "dev"), config=other)
    made = [name for name, reused in stages(tmp_path / "1")[9:] if not reused]
    assert made == ["waw", "tune"]


def test_pruning_without_its_model_is_refused_before_any_work(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"add it, such as `model.features = \[\"waw\"\]`"):
        Config.from_dict({"search": PRUNED["search"]})
    values = {"model": {"features": ["waw"]}, "annotate": {"annotator": "missing.tagger"}}
    with pytest.raises(FileNotFoundError, match=r"missing\.tagger"):
        train(*files(corpus, "train"), tmp_path / "other", config=Config.from_dict(values))
    assert not (tmp_path / "other").exists()


def test_threads_do_not_change_a_system(corpus: Path, tmp_path: Path) -> None:
    config = Config.from_dict(QUICK)
    for threads in (1, 2):
        train(*files(corpus, "train"), tmp_path / str(threads), config=config, threads=threads)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def test_without_a_dev_set_lines_are_held_out(corpus: Path, tmp_path: Path) -> None:
    config = Config.from_dict(merged(QUICK, {"text": {"dev_size": 60}}))
    system = train(*files(corpus, "train"), tmp_path / "system", config=config)
    assert system.made["held_out"] is True
    (prepared,) = (tmp_path / "system" / "work").glob("prepare-*")
    dev = (prepared / "dev.src").read_text(encoding="utf-8").splitlines()
    kept = (prepared / "train.src").read_text(encoding="utf-8").splitlines()
    assert len(dev) == 60
    assert len(dev) + len(kept) <= 300


def command(corpus: Path, out: Path, *more: str) -> list[str]:
    choices = ["lm.order=3", "tune.runs=2", "tune.rounds=2", "tune.nbest=20", "search.pop_limit=30"]
    src, tgt = map(str, files(corpus, "train"))
    dev = map(str, files(corpus, "dev"))
    head = [sys.executable, "-m", "wayword", "train", src, tgt, "--dev", *dev, "-o", str(out)]
    return [*head, "--set", *choices, *more]


def kill_and_go_on(corpus: Path, folder: Path, moments: list[float]) -> None:
    """Kill a training so many seconds after each start; then let it end."""
    for moment in moments:
        running = subprocess.Popen(command(corpus, folder), stderr=subprocess.DEVNULL)
        time.sleep(moment)
        running.send_signal(signal.SIGKILL)
        running.wait()
    done = subprocess.run(command(corpus, folder), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_killed_training_goes_on_to_the_same_bytes(corpus: Path, tmp_path: Path) -> None:
    kill_and_go_on(corpus, tmp_path / "disturbed", [0.8, 1.5, 2.5])
    subprocess.run(command(corpus, tmp_path / "calm"), capture_output=True, check=True)
    assert contents(tmp_path / "disturbed") == contents(tmp_path / "calm")


def test_a_training_killed_while_it_tunes_can_translate_and_goes_on_with_the_next_round(
    corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "system"
    running = subprocess.Popen(command(corpus, out), stderr=subprocess.PIPE, text=True)
    rounds = "work/.tune-*.begun/rounds"
    while running.poll() is None and not list(out.glob(f"{rounds}/log.jsonl")):
        time.sleep(0.005)
    running.kill()
    note = f"wayword: {out} is there, untuned: it can be used while its weights are tuned"
    assert note in running.communicate()[1].splitlines()
    assert running.returncode == -signal.SIGKILL
    untuned = wayword.load(out)
    untuned.verify()
    assert untuned.made["tuned"] is False
    assert "dev" not in untuned.made
    assert "**Untuned**" in (out / "README.md").read_text(encoding="utf-8")
    assert untuned.translate("Das Haus .").text
    [log] = out.glob(f"{rounds}/log.jsonl")
    known = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    subprocess.run(command(corpus, out), capture_output=True, check=True)
    [tuning] = out.glob("work/tune-*/tuning.json")
    # What was done is not done again: its times are those of the first process.
    assert json.loads(tuning.read_text(encoding="utf-8"))["rounds"][: len(known)] == known
    assert not list(out.glob("work/.*"))
    tuned = wayword.load(out)
    assert tuned.made["tuned"] is True
    assert "Untuned" not in (out / "README.md").read_text(encoding="utf-8")
    subprocess.run(command(corpus, tmp_path / "calm"), capture_output=True, check=True)
    assert contents(out) == contents(tmp_path / "calm")
    again = subprocess.run(command(corpus, out), capture_output=True, check=True, text=True)
    assert "untuned" not in again.stderr


@pytest.mark.slow
def test_twenty_kills_at_random_moments_change_nothing(corpus: Path, tmp_path: Path) -> None:
    subprocess.run(command(corpus, tmp_path / "calm"), capture_output=True, check=True)
    draw = random.Random(1)
    for number in range(20):
        kill_and_go_on(corpus, tmp_path / str(number), [draw.uniform(0.2, 8.0)])
        assert contents(tmp_path / str(number)) == contents(tmp_path / "calm"), number


def test_two_processes_do_not_share_a_store(tmp_path: Path) -> None:
    with (
        Store(tmp_path),
        pytest.raises(WaywordError, match="another process works here"),
        Store(tmp_path),
    ):
        pass


def test_a_stage_that_resumes_finds_what_it_left(tmp_path: Path) -> None:
    def count(work: Work) -> dict[str, int]:
        number = len(list(work.out.iterdir())) + 1
        (work.out / str(number)).write_text("done")
        if number < 3:
            raise KeyboardInterrupt
        return {"number": number}

    stage = Stage("count", count, resumes=True)
    for _ in range(2):
        with Store(tmp_path) as store, pytest.raises(KeyboardInterrupt):
            store.run([stage])
    with Store(tmp_path) as store:
        [result] = store.run([stage])
    assert result.facts == {"number": 3}
    assert sorted(path.name for path in result.path.iterdir()) == ["1", "2", "3", "stage.json"]


def test_a_failed_stage_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail(work: Work) -> None:
        (work.out / "half").write_text("written")
        raise ValueError("no luck")

    with Store(tmp_path) as store, pytest.raises(ValueError, match="no luck"):
        store.run([Stage("unlucky", fail)])
    with Store(tmp_path):
        assert sorted(path.name for path in tmp_path.iterdir()) == ["lock"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"lm": {"ordr": 3}}, "config: found `lm.ordr`; did you mean `lm.order`?"),
        ({"lmm": {}}, "config: found `lmm`; did you mean `lm`?"),
        ({"lm": {"order": "five"}}, "config: found `lm.order = five`; expected a whole number"),
        (
            {"lm": {"prune": 3}},
            "config: found `lm.prune = 3`; expected a list; write `lm.prune=[3]`, on a command "
            "line in single quotes",
        ),
        ({"lm": 3}, "config: found `lm = 3`; expected a section of keys"),
        ({"text": {"nfc": 1}}, "config: found `text.nfc = 1`; expected true or false"),
    ],
)
def test_wrong_keys_are_told_the_nearest_known(values: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        Config.from_dict(values)
    assert str(caught.value) == message


def test_a_wrong_configuration_is_refused_before_any_work(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("lm = [")
    with pytest.raises(FormatError, match=r"bad.toml: .*; expected a TOML file"):
        Config.read(tmp_path / "bad.toml")
    with pytest.raises(ArgumentError, match="dev: found one file; expected a source and one or"):
        train(*files(corpus, "train"), tmp_path / "system", dev=[corpus / "dev.de"])
    with pytest.raises(ArgumentError, match="which language is it"):
        train(corpus / "train", corpus / "train.en", tmp_path / "system")
    short = tmp_path / "short.en"
    short.write_text("one line\n")
    dev = (corpus / "dev.de", short)
    with pytest.raises(
        MismatchError, match=r"dev.de has 15 lines, .*short.en has 1 lines; expected as many"
    ):
        train(*files(corpus, "train"), tmp_path / "system", dev=dev)


def test_a_tenth_is_judged_over_all_stages_together(corpus: Path, tmp_path: Path) -> None:
    planned = plan(*files(corpus, "train"), Config.from_dict(QUICK), dev=files(corpus, "dev"))
    doctor, prepare = planned.stages[:2]
    assert (doctor.name, prepare.name) == ("doctor", "prepare")

    def warning(out: int, long: int) -> str:
        """What is said when of 100 pairs so many are taken out by each of the two stages."""
        problems = {"duplicate": out}
        judged = {"lines": 100, "clean": 100 - out, "cleaned": 0, "problems": problems}
        left = {"pairs": 100 - out - long, "dev": 0, "too_long": long, "no_words": 0}
        whole, cost = Whole(), Cost(0, 0, 0)
        for stage, facts in ((doctor, judged), (prepare, left)):
            said = whole.warning(stage, Result(stage.name, stage.key, tmp_path, facts, cost, False))
            assert stage is prepare or not said
        return said

    assert not warning(7, 3)
    assert warning(6, 5) == (
        "11.0 % of the text was taken out; to keep it, train with --set "
        "'doctor.allow=[\"duplicate\"]' text.max_length=N"
    )


def test_text_of_two_lengths_is_refused_before_any_work(corpus: Path, tmp_path: Path) -> None:
    lines = (corpus / "train.en").read_bytes().splitlines(keepends=True)
    (tmp_path / "short.en").write_bytes(b"".join(lines[:-30]))
    with pytest.raises(MismatchError, match=r"train.de has 300 lines, .*short.en has 270 lines"):
        train(corpus / "train.de", tmp_path / "short.en", tmp_path / "system")
    assert not (tmp_path / "system").exists()


def test_what_was_taken_out_is_noted_and_much_of_it_is_a_warning(
    corpus: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for lang in ("de", "en"):
        text = (corpus / f"train.{lang}").read_bytes()
        (tmp_path / f"twice.{lang}").write_bytes(text + text)
    src, tgt = tmp_path / "twice.de", tmp_path / "twice.en"
    dev = files(corpus, "dev")
    system = train(src, tgt, tmp_path / "system", dev=dev, config=Config.from_dict(QUICK))
    assert system.made["corpus"]["read"] == 600
    assert system.made["corpus"]["taken_out"] == {"duplicate": 300}
    [warning] = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warning.startswith("50.0 % of the text was taken out; to keep it, train with")
    caplog.clear()
    kept = Config.from_dict(merged(QUICK, {"doctor": {"allow": ["duplicate"]}}))
    system = train(src, tgt, tmp_path / "system", dev=dev, config=kept)
    assert system.made["corpus"]["taken_out"] == {}
    assert not [record for record in caplog.records if record.levelname == "WARNING"]


def test_a_missing_dev_file_is_named_before_any_work(corpus: Path, tmp_path: Path) -> None:
    dev = (corpus / "dev.de", tmp_path / "none.en")
    with pytest.raises(FileNotFoundError, match=r"none\.en"):
        train(*files(corpus, "train"), tmp_path / "system", dev=dev)
    assert not (tmp_path / "system").exists()


def test_a_corpus_too_small_to_hold_out_from_is_told_so(tmp_path: Path) -> None:
    for lang in ("de", "en"):
        (tmp_path / f"tiny.{lang}").write_text("".join(f"{lang}a wort {n}\n" for n in range(30)))
    with pytest.raises(MismatchError, match="found 30 clean pairs; expected 100 to hold out 50"):
        train(tmp_path / "tiny.de", tmp_path / "tiny.en", tmp_path / "system")


def test_weights_are_tuned_on_the_references_of_the_dev_set_alone(
    corpus: Path, tmp_path: Path
) -> None:
    options = {"dev": files(corpus, "dev"), "config": Config.from_dict(QUICK)}
    system = train(*files(corpus, "train"), tmp_path, **options)  # type: ignore[arg-type]
    assert "nrefs:1|" in system.made["dev"]["signature"]
