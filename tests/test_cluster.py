"""A Ray cluster gives the bytes of one machine, whatever happens to its nodes."""

import logging
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from wayword import experiment
from wayword.cluster import RayRunner, open_runner
from wayword.cluster.objects import Objects
from wayword.cluster.place import Place
from wayword.cluster.runner import QUIET
from wayword.corpus import toy
from wayword.errors import ArgumentError, FormatError, MismatchError, WaywordError
from wayword.pipeline import assemble, plan
from wayword.stage import File, Stage, Work
from wayword.store import Store

QUICK: dict[str, Any] = {"lm": {"order": 3}, "tune": {"runs": 1, "rounds": 1}}
SMALL = {"object_store_memory": 80 << 20}
PATIENCE = 300  # seconds; a busy machine takes long to start processes


def contents(system: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in system.iterdir() if path.is_file()}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Three nodes with a CPU each beside a head without; this process is connected to it."""
    ray = pytest.importorskip("ray", reason="no cluster is tried: pip install 'wayword[cluster]'")
    from ray.cluster_utils import Cluster

    os.environ |= {**QUIET, "RAY_worker_niceness": "0"}
    head = {"num_cpus": 0, "include_dashboard": False, "include_log_monitor": False, **SMALL}
    nodes = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(3):
        nodes.add_node(num_cpus=1, **SMALL)
    ray.init(address=nodes.address, log_to_driver=False, logging_level="ERROR")
    yield nodes
    ray.shutdown()
    nodes.shutdown()


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toy")
    toy.write("de-en", 500, folder, seed=1)
    return folder


def make_words(work: Work) -> dict[str, Any]:
    words = work.inputs["text"].read_text().split()
    logging.getLogger("wayword.words").warning("%d words", len(words))
    (work.out / "words").write_text(" ".join(words))
    return {"words": len(words)}


def make_failure(work: Work) -> None:
    (work.out / "half").write_text("written")
    raise FormatError(f"{work.inputs['text']}:1: no luck")


def make_mistake(work: Work) -> None:
    raise ZeroDivisionError(str(work.options))


# Four more processes a node, beside other tests on two cores, and Ray ends processes that wait.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("storage", ["", "file"])
def test_a_cluster_gives_the_bytes_of_one_machine(
    storage: str, cluster: Any, text: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    del cluster
    planned = plan(text / "train.de", text / "train.en", QUICK)
    with Store(tmp_path / "local" / "work", threads=1) as store:
        assemble(tmp_path / "local", planned, store)
    url = f"file://{tmp_path}/storage" if storage else ""
    out = tmp_path / "cluster"
    told: list[tuple[str, bool]] = []
    with RayRunner(
        out / "work", storage=url, watch=lambda stage, result: told.append((stage.name, not result))
    ) as runner:
        assemble(out, planned, runner)
        source = text / "train.de"
        failing = Stage("failure", make_failure, inputs={"text": File(source)})
        with pytest.raises(FormatError, match=f"^{source}:1: no luck$"):
            runner.run([failing])
        with pytest.raises(ZeroDivisionError, match=r"\{'of': 1\}"):
            runner.run([Stage("mistake", make_mistake, {"of": 1})])
        [counted] = runner.run([Stage("words", make_words, inputs={"text": File(source)})])
    assert contents(out) == contents(tmp_path / "local")
    assert not list((out / "work").glob(".*"))
    assert not list((tmp_path / "storage").glob(".*"))
    assert not list(Path(tempfile.gettempdir()).glob(f"wayword-{runner._site.run}-*"))
    assert f"{counted.facts['words']} words" in caplog.messages
    assert (counted / "words").read_text().split() == source.read_text().split()
    begun = [name for name, begins in told if begins]
    assert {"doctor", "prepare", "align", "extract", "lm", "tune"} <= set(begun)
    with Store(out / "work") as store:  # the runners share what they made
        assert all(result.reused for result in store.run(planned.stages))


EXPERIMENT = """\
name = "Limits"
baseline = "dl 6"
metrics = ["bleu"]
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
tune = { runs = 1, rounds = 1, nbest = 20 }
[[variant]]
name = "mono"
search.space = "mono"
[[variant]]
name = "dl 6"
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_an_experiment_on_a_cluster_has_the_systems_of_one_machine(
    cluster: Any, tmp_path: Path
) -> None:
    del cluster
    toy.write("de-en", 300, tmp_path, seed=1)
    (tmp_path / "limits.toml").write_text(EXPERIMENT)
    described = experiment.Experiment.read(tmp_path / "limits.toml")
    tables = [
        experiment.run(described, tmp_path / runner, runner=runner, threads=1)
        for runner in ("local", "ray")
    ]
    local, on_cluster = ([(row.variant, row.scores, row.dev) for row in t.rows] for t in tables)
    assert local == on_cluster
    for variant in ("mono", "dl-6"):
        systems = [tmp_path / runner / "systems" / variant for runner in ("local", "ray")]
        assert contents(systems[0]) == contents(systems[1])


def make_slow(work: Work) -> dict[str, Any]:
    """Shards of which the third waits until its node, or that of the whole, is lost."""
    assert work.spread is not None
    notes = File(work.inputs["notes"])
    shards = [Stage("shard", make_shard, {"number": n}, {"notes": notes}) for n in range(6)]
    _note(work.inputs["notes"], "whole")
    with work.spread(shards) as results:
        return {"numbers": [result.facts["number"] for result in results]}


def make_shard(work: Work) -> dict[str, Any]:
    number = work.options["number"]
    notes = work.inputs["notes"]
    _note(notes, f"shard {number}")
    if number == 2:
        deadline = time.monotonic() + PATIENCE
        while not notes.with_name("go").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
    (work.out / "number").write_text(str(number))
    return {"number": number}


def _note(notes: Path, what: str) -> None:
    import ray

    node = ray.get_runtime_context().get_node_id()
    with notes.with_name("calls").open("a") as calls:
        print(f"{what}\t{node}", file=calls)


def wait_for(what: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE
    while not (value := what()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return value


def calls(folder: Path, what: str) -> list[str]:
    path = folder / "calls"
    lines = path.read_text().splitlines() if path.exists() else []
    return [line.partition("\t")[2] for line in lines if line.startswith(what)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("lost", ["whole", "shard 2"])
def test_a_lost_node_costs_its_tasks_alone(lost: str, cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("")
    stage = Stage("slow", make_slow, inputs={"notes": File(tmp_path / "notes")})
    results: list[Any] = []
    with RayRunner(tmp_path / "work", width=6) as runner:
        thread = threading.Thread(target=lambda: results.extend(runner.run([stage])))
        thread.start()
        done = "work/.slow-*.shards/shard-*/stage.json"
        wait_for(lambda: len(list(tmp_path.glob(done))) == 5)
        [node] = wait_for(lambda: calls(tmp_path, "shard 2") and calls(tmp_path, lost))
        [lose] = [one for one in cluster.worker_nodes if one.node_id == node]
        cluster.remove_node(lose, allow_graceful=False)
        cluster.add_node(num_cpus=1, **SMALL)
        (tmp_path / "go").touch()
        thread.join(PATIENCE)
    assert [result.facts for result in results] == [{"numbers": [0, 1, 2, 3, 4, 5]}]
    assert len(calls(tmp_path, lost)) == 2
    assert [len(calls(tmp_path, f"shard {number}")) for number in (0, 1, 3, 4, 5)] == [1] * 5
    assert not list((tmp_path / "work").glob(".*"))


def freeze(node: Any) -> None:
    """Stop all processes of a node: it is there, and does not answer."""
    raylet = node.all_processes["raylet"][0].process.pid
    parents = {
        int(place.name): int(place.joinpath("stat").read_text().rpartition(")")[2].split()[1])
        for place in Path("/proc").iterdir()
        if place.name.isdigit() and place.joinpath("stat").exists()
    }
    for process in (raylet, *(child for child, parent in parents.items() if parent == raylet)):
        os.kill(process, signal.SIGSTOP)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("frozen", ["whole", "shard 2"])
def test_what_a_frozen_node_has_is_made_by_another(
    frozen: str, cluster: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Ray finds such a node dead, but goes on waiting for what it has."""
    (tmp_path / "notes").write_text("")
    stage = Stage("slow", make_slow, inputs={"notes": File(tmp_path / "notes")})
    results: list[Any] = []
    with RayRunner(tmp_path / "work", width=6, patience=20.0) as runner:
        thread = threading.Thread(target=lambda: results.extend(runner.run([stage])))
        thread.start()
        done = "work/.slow-*.shards/shard-*/stage.json"
        wait_for(lambda: len(list(tmp_path.glob(done))) == 5)
        [node] = wait_for(lambda: calls(tmp_path, "shard 2") and calls(tmp_path, frozen))
        [lose] = [one for one in cluster.worker_nodes if one.node_id == node]
        freeze(lose)
        (tmp_path / "go").touch()
        thread.join(PATIENCE)
        is_done = not thread.is_alive()
        cluster.remove_node(lose, allow_graceful=False)
        cluster.add_node(num_cpus=1, **SMALL)
        thread.join(PATIENCE)
    assert is_done
    assert [result.facts for result in results] == [{"numbers": [0, 1, 2, 3, 4, 5]}]
    assert len(calls(tmp_path, frozen)) == 2
    expected = "slow: nothing was heard of it" if frozen == "whole" else "shard: a node did not"
    assert any(message.startswith(expected) for message in caplog.messages)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_nodes_that_cannot_take_part_are_refused_before_any_work(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del cluster
    with (
        pytest.raises(ArgumentError, match="--threads: found 9; expected at most 1, the CPUs"),
        RayRunner(tmp_path / "work", threads=9),
    ):
        pass
    monkeypatch.setattr("wayword.cluster.runner.__version__", "9.9")
    expected = r"^node [\d.]+: found wayword \d[^;]*; expected 9.9, as where the run began; install"
    with pytest.raises(MismatchError, match=expected), RayRunner(tmp_path / "work"):
        pass
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["lock"]


def test_runners_are_chosen_by_name(tmp_path: Path) -> None:
    assert type(open_runner("local", tmp_path)) is Store
    assert isinstance(open_runner("ray:10.0.0.1:6379", tmp_path), RayRunner)
    with pytest.raises(ArgumentError, match="found `ray:ray://head`; expected local, ray or"):
        open_runner("ray:ray://head", tmp_path)
    with pytest.raises(ArgumentError, match="--storage: found `s3://x`; expected --runner ray"):
        open_runner("local", tmp_path, storage="s3://x")


def test_an_address_without_a_cluster_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="no cluster is tried: pip install 'wayword[cluster]'")
    monkeypatch.setattr("ray.is_initialized", lambda: False)  # other tests may be connected
    expected = r"^--runner: no cluster at 127.0.0.1:1 \(.*refused.*\); start one with `ray start"
    with pytest.raises(WaywordError, match=expected), open_runner("ray:127.0.0.1:1", tmp_path):
        pass


def test_without_ray_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with (
        pytest.raises(WaywordError, match=r"found no Ray; install it with `pip install wayword\["),
        open_runner("ray", tmp_path / "work"),
    ):
        pass


@pytest.fixture
def finished(tmp_path: Path) -> tuple[Store, Any]:
    source = tmp_path / "source"
    source.write_text("eins zwei")
    with Store(tmp_path / "first") as store:
        [result] = store.run([Stage("words", make_words, inputs={"text": File(source)})])
    return store, result


@pytest.mark.parametrize("url", ["memory://place", "file"])
def test_what_is_sent_is_received_elsewhere(url: str, finished: Any, tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="no storage is tried: pip install 'wayword[cluster]'")
    store, result = finished
    there = Objects(f"file://{tmp_path}/storage" if url == "file" else f"{url}/{tmp_path.name}")
    sender, receiver = Place(store.folder, there), Place(tmp_path / "second", there)
    sent = sender.send({"one": result, "two": [File(tmp_path / "source")]}, {})
    received = receiver.receive(sent)
    assert (received["one"] / "words").read_text() == "eins zwei"
    assert received["two"][0].name == "source"
    assert received["two"][0].read_text() == "eins zwei"
    place = received["two"][0]
    assert receiver.named(f"{place}:1: wrong") == f"{tmp_path / 'source'}:1: wrong"
    receiver.remove(received["one"].path)
    assert not received["one"].path.exists()
    assert not there.has_stage(result.path.name)


def test_damaged_storage_is_noticed_and_leaves_nothing(finished: Any, tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="no storage is tried: pip install 'wayword[cluster]'")
    store, result = finished
    there = Objects(f"file://{tmp_path}/storage")
    Place(store.folder, there).send_result(result)
    (tmp_path / "storage" / result.path.name / "words").write_text("eins drei")
    second = Place(tmp_path / "second", there)
    with pytest.raises(FormatError, match="found other bytes than were stored"):
        second.fetch_stage(second.root / result.path.name)
    assert not list((tmp_path / "second").iterdir())
    there.remove(f"{result.path.name}/stage.json")  # as if the upload had been cut off
    second.fetch_stage(second.root / result.path.name)
    assert not list((tmp_path / "second").iterdir())


def test_wrong_urls_are_refused_in_one_sentence() -> None:
    pytest.importorskip("fsspec", reason="no storage is tried: pip install 'wayword[cluster]'")
    with pytest.raises(ArgumentError, match="--storage: found `nowhere://x`"):
        Objects("nowhere://x")
