"""What every runner of stages promises: results in order, each once, whole or not at all."""

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from wayword.cluster import RayRunner
from wayword.errors import WaywordError
from wayword.stage import File, Result, Runner, Stage, Work, in_order
from wayword.store import Store


class EachInAProcess:
    """A second runner: every stage is sent to a process of its own, as a cluster would do it.

    Nothing but the pickled stage, the folder and the number of threads crosses over.
    """

    CODE = (
        "import pickle, sys; from wayword.store import Store;"
        "stage, folder, threads = pickle.load(sys.stdin.buffer);"
        "store = Store(folder, threads=threads).__enter__(); result = store.run([stage]);"
        "sys.stdout.buffer.write(pickle.dumps(result))"
    )

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> "EachInAProcess":
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing to leave."""

    def run(self, stages: Sequence[Stage]) -> list[Result]:
        """The results of these stages."""
        results = {stage.key: self._one(stage) for stage in in_order(stages)}
        return [results[stage.key] for stage in stages]

    def _one(self, stage: Stage) -> Result:
        sent = pickle.dumps((stage, self.folder, 1))
        command = [sys.executable, "-c", self.CODE]
        done = subprocess.run(command, input=sent, capture_output=True, check=False)
        if done.returncode:
            raise WaywordError(done.stderr.decode().splitlines()[-1])
        [result] = pickle.loads(done.stdout)
        assert isinstance(result, Result)
        return result


Open = Callable[[Path], AbstractContextManager[Runner]]
RUNNERS: dict[str, Open] = {"store": Store, "process": EachInAProcess}


@pytest.fixture(params=[*RUNNERS, pytest.param("ray", marks=pytest.mark.slow)])
def runner(request: pytest.FixtureRequest) -> Open:
    if request.param == "ray":
        opened: Open = request.getfixturevalue("ray_runner")
        return opened
    return RUNNERS[request.param]


@pytest.fixture(scope="module")
def ray_runner() -> Iterator[Open]:
    """The cluster's runner, on a cluster of this machine alone."""
    ray = pytest.importorskip("ray", reason="no cluster is tried: pip install 'wayword[cluster]'")
    room = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}
    ray.init(address="local", log_to_driver=False, logging_level="ERROR", **room)
    yield RayRunner
    ray.shutdown()


def write_words(work: Work) -> dict[str, Any]:
    words = work.inputs["text"].read_text().split()
    (work.out / "words").write_text("\n".join(words[: work.options["most"]]))
    with (work.inputs["text"].parent / "calls").open("a") as calls:
        print("words", file=calls)
    return {"words": len(words)}


def join_words(work: Work) -> dict[str, Any]:
    parts = [(result / "words").read_text() for result in work.inputs["parts"]]
    (work.out / "all").write_text("+".join(parts))
    return {"words": sum(result.facts["words"] for result in work.inputs["parts"])}


def fail(work: Work) -> None:
    (work.out / "half").write_text("written")
    raise WaywordError("no luck")


def stages(folder: Path, most: int = 2) -> tuple[Stage, Stage, Stage]:
    text = folder / "text"
    if not text.exists():
        text.write_text("a b c")
    first = Stage("words", write_words, {"most": most}, {"text": File(text)})
    other = Stage("words", write_words, {"most": 1}, {"text": File(text)})
    return first, other, Stage("join", join_words, inputs={"parts": [first, other]})


def calls(folder: Path) -> int:
    return len((folder / "calls").read_text().splitlines())


def test_results_come_in_the_order_asked_for(runner: Open, tmp_path: Path) -> None:
    first, other, joined = stages(tmp_path)
    with runner(tmp_path / "work") as running:
        results = running.run([joined, other, first])
    assert [result.key for result in results] == [joined.key, other.key, first.key]
    assert (results[0] / "all").read_text() == "a\nb+a"
    assert results[0].facts == {"words": 6}


def test_what_was_made_is_not_made_again(runner: Open, tmp_path: Path) -> None:
    for _ in range(2):
        with runner(tmp_path / "work") as running:
            running.run([stages(tmp_path)[2]])
    assert calls(tmp_path) == 2
    with runner(tmp_path / "work") as running:
        running.run([stages(tmp_path, most=3)[2]])
    assert calls(tmp_path) == 3  # the other one is kept


def test_other_input_and_other_code_are_other_stages(runner: Open, tmp_path: Path) -> None:
    first, _, _ = stages(tmp_path)
    with runner(tmp_path / "work") as running:
        running.run([first])
    (tmp_path / "text").write_text("d e f")
    changed = stages(tmp_path)[0]
    newer = Stage("words", write_words, {"most": 2}, changed.inputs, version=2)
    assert len({first.key, changed.key, newer.key}) == 3
    with runner(tmp_path / "work") as running:
        [result] = running.run([changed])
        running.run([newer])
    assert (result / "words").read_text() == "d\ne"
    assert calls(tmp_path) == 3


def test_a_stage_that_fails_leaves_nothing_behind(runner: Open, tmp_path: Path) -> None:
    unlucky = Stage("unlucky", fail)
    with runner(tmp_path / "work") as running, pytest.raises(WaywordError, match="no luck"):
        running.run([unlucky])
    with runner(tmp_path / "work") as running:
        running.run([stages(tmp_path)[0]])
    assert not list((tmp_path / "work").glob("*unlucky*"))
    assert not list((tmp_path / "work").glob(".*"))


def test_runners_share_what_they_made(tmp_path: Path) -> None:
    first, other, joined = stages(tmp_path)
    with EachInAProcess(tmp_path / "work") as running:
        running.run([first, other])
    with Store(tmp_path / "work") as store:
        [result] = store.run([joined])
    assert calls(tmp_path) == 2
    assert not result.reused


def test_a_plan_tells_what_would_run_and_why(tmp_path: Path) -> None:
    store = Store(tmp_path / "work")
    _, _, joined = stages(tmp_path)
    assert [(step.is_kept, step.why) for step in store.plan([joined])] == [
        (False, "never made")
    ] * 3
    assert not (tmp_path / "work").exists()
    with Store(tmp_path / "work") as running:
        running.run([joined])
    assert all(step.is_kept for step in store.plan([joined]))
    _, _, changed = stages(tmp_path, most=3)
    assert [(step.stage.name, step.is_kept, step.why) for step in store.plan([changed])] == [
        ("words", False, "most: 2 before, now 3"),
        ("words", True, "made before"),
        ("join", False, "words will be made anew"),
    ]
    newer = Stage("join", join_words, inputs=joined.inputs, version=2)
    assert store.plan([newer])[-1].why == "its code is of version 2, before 1"
