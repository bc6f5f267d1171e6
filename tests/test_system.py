"""System folders: written whole, checked on opening, safe with damage."""

import pickle
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import systems

import wayword
from wayword.corpus.annotate import Tagger, factored
from wayword.corpus.files import open_text
from wayword.corpus.source import Source
from wayword.errors import FormatError, MismatchError, WaywordError
from wayword.manifest import MANIFEST
from wayword.parts.part import entry, open_part
from wayword.system import System


@pytest.fixture
def folder(toy_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(toy_folder / "system", tmp_path / "system"))


def test_a_saved_system_is_the_same_system(folder: Path) -> None:
    system = wayword.load(folder).with_weights({"lm": 0.75}).with_settings(space="dl:9")
    system.save()
    again = wayword.load(folder)
    assert again.weights == system.weights
    assert again.settings == system.settings
    assert again.text == system.text
    again.verify()
    assert repr(again).endswith("dl:9, 17 features)")


def test_saving_twice_writes_the_same_bytes(folder: Path) -> None:
    System.open(folder).save()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    System.open(folder).save()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_changing_a_system_leaves_its_folder_alone(folder: Path) -> None:
    before = (folder / MANIFEST).read_bytes()
    system = System.open(folder)
    changed = system.with_weights({"lm": 9.0})
    assert (system.weights["lm"], changed.weights["lm"]) == (0.5, 9.0)
    assert (folder / MANIFEST).read_bytes() == before


def test_a_missing_model_file_is_named(folder: Path) -> None:
    (folder / "lm").unlink()
    with pytest.raises(FileNotFoundError, match="missing, but the manifest names it"):
        System.open(folder)


def test_a_shortened_model_file_is_noticed_on_opening(folder: Path) -> None:
    data = (folder / "lm").read_bytes()
    (folder / "lm").write_bytes(data[:-8])
    with pytest.raises(MismatchError, match=r"lm: \d+ bytes; the manifest says \d+; copy or train"):
        System.open(folder)


def test_a_damaged_model_file_is_noticed_by_verify(folder: Path) -> None:
    data = bytearray((folder / "phrase-table").read_bytes())
    data[len(data) // 2] ^= 0xFF
    (folder / "phrase-table").write_bytes(data)
    with pytest.raises(MismatchError, match="phrase-table: another SHA-256 than noted"):
        System.open(folder).verify()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "format = 2",
            "format = 1",
            "format 1; expected 2; made by another version: train it again",
        ),
        ("format = 2", "", "no `format`; expected a system's manifest"),
        ("format = 2", "format = ", "damaged (Invalid value"),
        ("lm = 0.5", 'lm = "much"', "weight lm is 'much'; expected a number"),
        ("lm = 0.5", "lm = nan", "weight lm is nan; expected a number from -1e30 to 1e30"),
        ("lm = 0.5", "lm = inf", "weight lm is inf; expected a number from -1e30 to 1e30"),
        ("lm = 0.5", "lm = 1e308", "weight lm is 1e+308; expected a number from -1e30 to 1e30"),
        ("lm = 0.5", "lmm = 0.5", "weight: found `lmm`; expected one of lm, wp"),
        ("pop_limit = ", "pop_limt = ", "did you mean `pop_limit`?"),
        ('kind = "lm"', 'kind = "llm"', "system.toml: part: found kind `llm`; expected one of"),
        ("hier-mslr", "tree-mslr", "orientation: found `tree-mslr-bidirectional`"),
        ("[file.lm]", '[file."../lm"]', "file `../lm`; expected a name without folders"),
    ],
)
def test_a_wrong_manifest_is_refused(folder: Path, old: str, new: str, message: str) -> None:
    systems.edit_manifest(folder, old, new)
    with pytest.raises(WaywordError) as caught:
        System.open(folder)
    assert message in str(caught.value)


@given(st.binary(max_size=300))
def test_any_bytes_as_a_manifest_give_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    folder = tmp_path_factory.mktemp("system")
    (folder / MANIFEST).write_bytes(data)
    with pytest.raises(FormatError, match="expected a system's manifest"):
        System.open(folder)


def test_raw_text_is_prepared_and_restored(folder: Path) -> None:
    for lang in ("de", "en"):
        none = f'lang = "{lang}"\ntokenizer = "none"'
        systems.edit_manifest(folder, none, none.replace("none", "moses"))
    system = System.open(folder)
    found = system.translate("xyzzy, plugh.", nbest=2)
    assert found.source == ("xyzzy", ",", "plugh", ".")
    assert found.tokens == ("xyzzy", ",", "plugh", ".")
    assert found.text == "xyzzy, plugh."  # no space before comma and full stop
    assert found.nbest[0].text == found.text
    assert system.translate("xyzzy, plugh.", prepared=True).source == ("xyzzy,", "plugh.")


def test_a_system_with_a_tagger_tags_raw_text_as_its_model_was_trained(
    toy_folder: Path, folder: Path
) -> None:
    corpus = toy_folder / "corpus"
    system = systems.add_waw(folder, corpus)
    lines = list(open_text(corpus / "test.de"))[:20]
    with_tags = [Source(sentence) for sentence in Tagger.load(folder / "tagger").annotate(lines)]
    translations = system.translate(lines)
    assert [other.score for other in system.decoder.translate(with_tags)] == [
        translation.score for translation in translations
    ]
    for translation, line in zip(translations, lines, strict=True):
        assert translation.source == tuple(line.split())
    assert any(translation.features["waw"] < 0 for translation in translations)
    assert system.translate(lines, markup=True) == translations
    # The same text with its tags, to a system that has nothing to tag it with.
    bare = System([part for part in system.parts if part.kind != "annotator"])
    tagged = [factored(source.sentence) for source in with_tags]
    scored = bare.with_weights(system.weights).translate(
        tagged, prepared=True, **system.settings.to_dict()
    )
    assert [other.score for other in scored] == [translation.score for translation in translations]
    (folder / "tagger").write_bytes(b"something else")
    with pytest.raises(MismatchError, match="tagger"):
        System.open(folder)


def test_a_system_pickles_with_weights_and_settings(folder: Path) -> None:
    system = System.open(folder).with_weights({"lm": 0.7}).with_settings(space="dl:3")
    again = pickle.loads(pickle.dumps(system))
    line = "das kleine Haus"
    assert (again.weights, again.settings, again.text) == (
        system.weights,
        system.settings,
        system.text,
    )
    assert again.translate(line) == system.translate(line)
    translation = system.translate(line, nbest=3)
    assert pickle.loads(pickle.dumps(translation)) == translation


def test_settings_of_one_call_are_those_of_that_call(folder: Path) -> None:
    system = System.open(folder)
    line = "ich habe gestern den Tee getrunken"
    mono = system.translate(line, space="mono", nbest=2)
    assert mono == system.with_settings(space="mono").translate(line, nbest=2)
    assert mono.order == tuple(range(6))
    assert system.settings.space == "dl:6"
    with pytest.raises(WaywordError, match="space: found `mno`"):
        system.translate(line, space="mno")


def test_text_and_shape_of_a_translation(folder: Path) -> None:
    translation = System.open(folder).translate("ich xyzzy")
    assert str(translation) == translation.text
    assert len(repr(translation)) < 80
    assert translation.unknown == (1,)
    assert translation.to_dict()["unknown"] == [1]


def test_a_system_without_a_folder_can_be_saved(folder: Path, tmp_path: Path) -> None:
    system = System.open(folder)
    loose = System(system.parts, weights=system.weights, settings=system.settings)
    with pytest.raises(WaywordError, match="never saved"):
        loose.save()
    saved = loose.save(tmp_path / "other")
    assert saved.translate("das Haus") == loose.translate("das Haus")
    assert System.open(tmp_path / "other").weights == system.weights


def test_two_models_of_a_kind_have_names_of_their_own(toy_folder: Path, folder: Path) -> None:
    system = systems.add_waw(folder, toy_folder / "corpus")
    shutil.copy(folder / "waw", folder / "near")
    other = open_part(entry("waw", "near", file="near"), folder)
    both = System([*system.parts, other]).with_weights({**system.weights, "near": 0.3, "waw": 0.0})
    one = system.translate("ich habe den Tee getrunken")
    two = both.translate("ich habe den Tee getrunken", **system.settings.to_dict())
    assert two.features["near"] == two.features["waw"] == one.features["waw"]
    assert two.score == pytest.approx(one.score)
    pruned = both.translate("ich habe den Tee getrunken", space="dl:18+near(top=1,zone=0)")
    assert pruned.statistics is not None
    assert pruned.statistics.narrowed > 0
    with pytest.raises(WaywordError, match="far"):
        both.translate("ich", space="dl:18+far(top=1)")
