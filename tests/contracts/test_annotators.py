"""What every annotator promises, whatever it knows about words."""

import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wayword.corpus import toy
from wayword.corpus.annotate import (
    KINDS,
    Annotator,
    Classes,
    Tagger,
    annotate_file,
    annotator_from_manifest,
    open_annotator,
    read_factored,
    read_treebank,
)
from wayword.errors import MismatchError, WaywordError

#: Kinds that need packages of others; test_annotators puts stand-ins in their place.
OUTSIDE = {"spacy", "stanza", "udpipe"}

#: Kinds whose files have a checksum inside.
SEALED = {"tagger"}


def make_tagger(folder: Path, file: Path) -> None:
    Tagger.fit(read_treebank(folder / "train.factored.de")).save(file)


def make_classes(folder: Path, file: Path) -> None:
    Classes.fit(folder / "train.de", classes=12)[0].save(file)


def make_gold(folder: Path, file: Path) -> None:
    file.write_bytes((folder / "train.factored.de").read_bytes())


#: How the file of each kind is made from a toy corpus.
MAKERS: dict[str, Callable[[Path, Path], None]] = {
    "tagger": make_tagger,
    "classes": make_classes,
    "gold": make_gold,
}


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toy corpus, and a file of each kind made from it."""
    folder = tmp_path_factory.mktemp("toy")
    toy.write("de-en", 400, folder)
    for kind, make in MAKERS.items():
        make(folder, folder / kind)
    return folder


@pytest.fixture(scope="module")
def lines(toys: Path) -> list[str]:
    return (toys / "train.de").read_text(encoding="utf-8").splitlines()


@pytest.fixture(params=MAKERS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def annotator(kind: str, toys: Path) -> Annotator:
    return open_annotator(f"{kind}:{toys / kind}")


def test_every_kind_is_here_or_needs_an_outside_package() -> None:
    assert set(KINDS) == {*MAKERS, *OUTSIDE}


def test_words_come_back_in_order_with_a_tag_each(annotator: Annotator, lines: list[str]) -> None:
    annotated = list(annotator.annotate(lines))
    assert [" ".join(sentence.words) for sentence in annotated] == lines
    assert all(sentence.pos is not None for sentence in annotated)


def test_batches_and_threads_change_nothing(annotator: Annotator, lines: list[str]) -> None:
    many = lines[:300] * 4  # more than one batch
    alone = list(annotator.annotate(many, threads=1))
    assert list(annotator.annotate((line.split() for line in many), threads=3)) == alone
    assert list(annotator.annotate(many, threads=0)) == alone
    assert [next(annotator.annotate([line])) for line in lines[:20]] == alone[:20]


def test_an_empty_line_stays_empty(annotator: Annotator, lines: list[str]) -> None:
    lengths = [len(sentence) for sentence in annotator.annotate(["", lines[0], ""])]
    assert lengths == [0, len(lines[0].split()), 0]
    assert list(annotator.annotate([])) == []


def test_annotation_is_lazy(annotator: Annotator, lines: list[str]) -> None:
    def endless() -> Iterator[str]:
        while True:
            yield lines[0]

    assert len(next(annotator.annotate(endless()))) == len(lines[0].split())


def test_a_file_is_known_by_its_beginning(kind: str, toys: Path, lines: list[str]) -> None:
    if KINDS[kind][2] is None:
        with pytest.raises(WaywordError, match="neither a tagger nor classes"):
            open_annotator(toys / kind)
        return
    by_name = open_annotator(f"{kind}:{toys / kind}")
    by_file = open_annotator(toys / kind)
    assert list(by_file.annotate(lines[:20])) == list(by_name.annotate(lines[:20]))


def test_a_manifest_gives_the_same_annotator_again(
    annotator: Annotator, kind: str, toys: Path, lines: list[str]
) -> None:
    manifest = annotator.to_manifest()
    assert set(manifest) == {"kind", "file", "sha256"}
    assert manifest["kind"] == kind
    assert json.loads(json.dumps(manifest)) == manifest
    again = annotator_from_manifest(manifest, toys)
    assert list(again.annotate(lines[:50])) == list(annotator.annotate(lines[:50]))
    assert again.to_manifest() == manifest


def test_a_pickled_annotator_is_the_same(annotator: Annotator, lines: list[str]) -> None:
    again = pickle.loads(pickle.dumps(annotator))
    assert list(again.annotate(lines[:50])) == list(annotator.annotate(lines[:50]))
    assert again.to_manifest() == annotator.to_manifest()


def test_a_missing_file_is_pythons_own_error(
    annotator: Annotator, kind: str, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError):
        open_annotator(f"{kind}:{tmp_path / 'missing'}")
    with pytest.raises(FileNotFoundError):
        annotator_from_manifest(annotator.to_manifest(), tmp_path)


def test_another_file_than_the_manifests_is_refused(
    annotator: Annotator, kind: str, toys: Path, tmp_path: Path
) -> None:
    manifest = annotator.to_manifest()
    (tmp_path / kind).write_bytes((toys / kind).read_bytes()[:-1])
    with pytest.raises(MismatchError, match="not the file the manifest was made with"):
        annotator_from_manifest(manifest, tmp_path)


def refusal(kind: str, path: Path) -> str:
    """What is said of a file that cannot be opened; nothing when it can."""
    try:
        open_annotator(f"{kind}:{path}")
    except WaywordError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("damage", ["cut", "flipped", "garbage"])
def test_a_damaged_file_is_refused_by_name_or_still_reads(
    kind: str, damage: str, toys: Path, tmp_path: Path
) -> None:
    data, path = (toys / kind).read_bytes(), tmp_path / "damaged"
    refusals = []
    for place in range(1, len(data), max(1, len(data) // 40)):
        damaged = {
            "cut": data[:place],
            "flipped": data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :],
            "garbage": bytes((7 * at + place) % 256 for at in range(200)),
        }
        path.write_bytes(damaged[damage])
        refusals.append(refusal(kind, path))
    assert all(str(path) in message for message in refusals if message)
    # Text that is cut between two lines is text; what has a checksum shows every damage.
    if damage != "cut" or kind in SEALED:
        assert all(refusals)


def test_a_file_is_annotated_once(
    annotator: Annotator, toys: Path, lines: list[str], tmp_path: Path
) -> None:
    first = annotate_file(toys / "train.de", annotator, cache=tmp_path / "cache")
    stamp = first.stat().st_mtime_ns
    assert annotate_file(toys / "train.de", annotator, cache=tmp_path / "cache") == first
    assert first.stat().st_mtime_ns == stamp
    assert [" ".join(sentence.words) for sentence in read_factored(first)] == lines
    other = annotate_file(toys / "train.de", annotator, cache=tmp_path / "cache", factors=1)
    assert other != first
