"""Learning in parts gives the aligner that learning from the whole text gives."""

import pickle
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from wayword import _core, align
from wayword.align import parts
from wayword.corpus import toy
from wayword.errors import ArgumentError, FormatError

PAIRS = [(" ".join(pair.src), " ".join(pair.tgt)) for pair in toy.generate("ja-en", 700, seed=2)]
PAIRS += [("", "x"), ("y " * 1001, "z"), ("1", "2")]


def write(folder: Path, pairs: list[tuple[str, str]], name: str) -> tuple[Path, Path]:
    files = folder / f"{name}.src", folder / f"{name}.tgt"
    for side, path in enumerate(files):
        path.write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    return files


def cut(folder: Path, count: int) -> list[list[tuple[Path, Path]]]:
    """The text in parts of different sizes, in order."""
    places = sorted(random.Random(count).sample(range(1, len(PAIRS)), count - 1))
    ends = zip([0, *places], [*places, len(PAIRS)], strict=True)
    return [
        [write(folder, PAIRS[start:end], f"{count}.{number}")]
        for number, (start, end) in enumerate(ends)
    ]


def in_disorder(function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Run tasks last first, each twice: as if a machine had been lost."""
    return [function(*given) or function(*given) for given in reversed(arguments)][::-1]


@pytest.mark.parametrize("model", align.MODELS)
def test_parts_teach_what_the_whole_text_teaches(model: str, tmp_path: Path) -> None:
    whole = align.fit_files([write(tmp_path, PAIRS, "whole")], model=model, threads=2)
    whole.save(tmp_path / "whole")
    for count in (1, 3, 7):
        recipe = parts.Recipe(model=model, threads=1 + count % 2)
        learned = parts.fit_parts(cut(tmp_path, count), tmp_path / "work", recipe, run=in_disorder)
        learned.save(tmp_path / "parts")
        assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()
        assert learned.summary == whole.summary


def test_parts_leave_out_what_the_whole_text_leaves_out(tmp_path: Path) -> None:
    draw = random.Random(5)
    words = [f"w{n}" for n in range(30_000)]
    text = [
        (" ".join(draw.choices(words, k=30)), " ".join(draw.choices(words, k=30)))
        for _ in range(2500)
    ]
    files = [write(tmp_path, text[at::3], str(at)) for at in range(3)]
    short: dict[str, Any] = {"memory": "90M", "lexical_iterations": 1, "order_iterations": 1}
    whole = align.fit_files(files, **short, threads=1)
    learned = parts.fit_parts([[pair] for pair in files], tmp_path / "work", parts.Recipe(**short))
    assert whole.summary is not None
    assert whole.summary.no_room > 0
    assert learned.summary == whole.summary
    for name, aligner in (("whole", whole), ("parts", learned)):
        aligner.save(tmp_path / name)
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("after", [1, 4, 9, 20, 30])
def test_an_interrupted_call_is_gone_on_with(after: int, tmp_path: Path) -> None:
    text, recipe, calls = cut(tmp_path, 3), parts.Recipe(), [0]

    def interrupted(
        function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
    ) -> list[Any]:
        for given in arguments:
            calls[0] += 1
            if calls[0] == after:
                raise KeyboardInterrupt
            function(*given)
        return []

    with pytest.raises(KeyboardInterrupt):
        parts.fit_parts(text, tmp_path / "work", recipe, run=interrupted)
    parts.fit_parts(text, tmp_path / "work", recipe, run=interrupted).save(tmp_path / "late")
    # Nine tasks come before the first pass, and a pass has three.
    assert calls[0] <= 39 + max(after if after <= 9 else 0, 3)
    align.fit_files([write(tmp_path, PAIRS, "whole")]).save(tmp_path / "whole")
    assert (tmp_path / "late").read_bytes() == (tmp_path / "whole").read_bytes()


def in_processes(function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        return list(pool.map(function, *zip(*arguments, strict=True)))


def test_tasks_run_in_other_processes(tmp_path: Path) -> None:
    recipe = parts.Recipe(lexical_iterations=1, order_iterations=1)
    assert pickle.loads(pickle.dumps(recipe)) == recipe
    here = parts.fit_parts(cut(tmp_path, 2), tmp_path / "here", recipe)
    there = parts.fit_parts(cut(tmp_path, 2), tmp_path / "there", recipe, run=in_processes)
    for name, aligner in (("a", here), ("b", there)):
        aligner.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_files_of_other_tasks_and_cut_files_are_refused(tmp_path: Path) -> None:
    [text] = cut(tmp_path, 1)
    words, names, shard = (tmp_path / name for name in ("words", "names", "shard"))
    recipe = parts.Recipe()
    parts.count_words(text, words)
    _core.AlignTasks.number_words([words], names)
    parts.write_shard(text, names, recipe, shard)
    with pytest.raises(FormatError, match="names: another file; expected what an earlier task"):
        parts.count_pairs(names, names, recipe, tmp_path / "pairs")
    shard.write_bytes(shard.read_bytes()[:-9])
    with pytest.raises(FormatError, match="shard: bytes that end too soon; expected what an earli"):
        parts.count_pairs(shard, names, recipe, tmp_path / "pairs")
    with pytest.raises(ArgumentError, match="parts: found none; expected one or more"):
        parts.fit_parts([], tmp_path / "work")


def test_a_part_in_the_numbers_of_another_text_is_refused(tmp_path: Path) -> None:
    """A fuzzer found that such words were looked up outside of the table."""
    recipe = parts.Recipe()
    for name, pairs in (("large", PAIRS), ("small", PAIRS[:2])):
        text = [write(tmp_path, pairs, name)]
        parts.count_words(text, tmp_path / f"{name}.words")
        names = tmp_path / f"{name}.names"
        _core.AlignTasks.number_words([tmp_path / f"{name}.words"], names)
        parts.write_shard(text, names, recipe, tmp_path / f"{name}.shard")
    with pytest.raises(FormatError, match="words of another text"):
        parts.count_pairs(
            tmp_path / "large.shard", tmp_path / "small.names", recipe, tmp_path / "pairs"
        )
    assert not (tmp_path / "pairs").exists()
