"""Words that were never seen: their spelling is guessed, from words that spell each other."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wayword
from wayword.align.transliteration import linked_words, spelling_posteriors
from wayword.cli import main
from wayword.config import Config
from wayword.corpus import toy
from wayword.corpus.annotate import Sentence
from wayword.corpus.source import Source
from wayword.corpus.toy.entries import names
from wayword.decode.markup import demands, read_markup
from wayword.errors import ArgumentError, MismatchError
from wayword.pipeline import train
from wayword.system import System

QUICK: dict[str, Any] = {
    "text": {"src_tokenizer": "none", "tgt_tokenizer": "none", "case": "keep"},
    "lm": {"order": 3},
    "search": {"pop_limit": 50},
    "tune": {"runs": 1, "rounds": 1, "nbest": 10},
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unseen")
    toy.write("ur-en", 1000, folder, seed=1)
    return folder


@pytest.fixture(scope="module")
def system(corpus: Path) -> System:
    config = Config.from_dict({**QUICK, "model": {"speller": True}})
    dev = (corpus / "dev.ur", corpus / "dev.en")
    return train(corpus / "train.ur", corpus / "train.en", corpus / "out", dev=dev, config=config)


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def mined(corpus: Path) -> dict[tuple[str, str], float]:
    files = [lines(corpus / f"train.{end}") for end in ("ur", "en", "links")]
    pairs = sorted(linked_words(zip(*files, strict=True)))
    return dict(zip(pairs, spelling_posteriors(pairs).tolist(), strict=True))


# --- the toy corpus -------------------------------------------------------------------------------


def test_most_names_of_a_test_set_were_never_seen(corpus: Path) -> None:
    known = {word for line in lines(corpus / "train.ur") for word in line.split()}
    unseen = [w for line in lines(corpus / "test.ur") for w in line.split() if w not in known]
    assert len(unseen) > 0.3 * len(lines(corpus / "test.ur"))
    assert all(len(line.split()) for line in lines(corpus / "train.ur"))


# --- which words spell each other -----------------------------------------------------------------


def test_names_are_found_and_translations_are_not(corpus: Path) -> None:
    posteriors = mined(corpus)
    world = {name.en for name in names()}
    is_name = {pair: pair[1][0].isupper() and pair[1] not in world for pair in posteriors}
    lower = [share for pair, share in posteriors.items() if pair[1].islower() and len(pair[1]) > 2]
    named = [share for pair, share in posteriors.items() if is_name[pair] and share >= 0.9]
    assert len(named) > 200
    assert np.mean(np.array(lower) >= 0.9) < 0.1


def test_posteriors_do_not_depend_on_the_order_of_the_pairs(corpus: Path) -> None:
    pairs = list(mined(corpus))[:300]
    there = spelling_posteriors(pairs)
    back = spelling_posteriors(pairs[::-1])[::-1]
    assert there == pytest.approx(back, abs=1e-6)
    assert spelling_posteriors([]).tolist() == []


def test_only_links_of_one_word_to_one_word_count() -> None:
    sentences = [("a b c", "x y", "0-0 1-1 2-1"), ("a", "x", "0-0")]
    assert linked_words(sentences) == {("a", "x"): 2}


# --- a system -------------------------------------------------------------------------------------


def test_unknown_names_come_out_right_more_often_than_by_copying(
    corpus: Path, system: System
) -> None:
    src, ref = lines(corpus / "test.ur"), lines(corpus / "test.en")
    plain = System([part for part in system.parts if part.kind != "speller"],
                   weights=system.weights, settings=system.settings, text=system.text)  # fmt: skip
    copied = plain.translate(src)
    spelled = system.translate(src)
    assert sum(len(one.unknown) for one in copied) > 10
    assert not any(one.spelled for one in copied)
    wanted = [line.split() for line in ref]
    assert not any(
        one.source[at] in words
        for one, words in zip(copied, wanted, strict=True)
        for at in one.unknown
    )
    guesses = right = 0
    for one, words in zip(spelled, wanted, strict=True):
        for phrase in one.phrases:
            if phrase.src[0] in one.spelled:
                guesses += 1
                right += phrase.target in words
                assert phrase.src[1] - phrase.src[0] == 1
    assert guesses > 10
    assert right > 0.15 * guesses
    assert sum(len(one.unknown) for one in spelled) < sum(len(one.unknown) for one in copied)


def test_known_words_numbers_and_words_of_the_other_side_are_left_alone(system: System) -> None:
    source = system.sources([f"{system.table._core.phrases(0, 1)[0].split()[0]} 1987 Vaki ۱۲ !"])[0]
    assert source.spellings == {}
    translation = system.translate("Vaki 1987")
    assert translation.text == "Vaki 1987"
    assert translation.spelled == ()


def test_guesses_are_marked_wherever_a_translation_is_shown(
    system: System, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    translation = system.translate("کرمیناو")
    assert (translation.spelled, translation.unknown) == ((0,), ())
    assert translation.to_dict()["spelled"] == [0]
    assert f"\nspelled کرمیناو={translation.text}\n" in translation.draw()
    assert "spelled" not in system.translate("Vaki").to_dict()
    (tmp_path / "in").write_text("کرمیناو\n")
    assert system.folder is not None
    assert main(["translate", str(system.folder), str(tmp_path / "in"), "--trace"]) == 0
    assert capsys.readouterr().out.endswith("\tspelled: 0\n")


def test_shares_of_spellings_add_up_and_the_best_comes_first(system: System) -> None:
    part: Any = system.part("speller")
    spellings = part.spell(["کرمیناو"])["کرمیناو"]
    shares = [share for _, share in spellings]
    assert 1 < len(spellings) <= 10
    assert sum(shares) == pytest.approx(1)
    assert shares == sorted(shares, reverse=True)


def test_a_saved_system_spells_and_its_card_says_so(system: System) -> None:
    assert system.folder is not None
    again = wayword.load(system.folder)
    again.verify()
    assert again.translate("کرمیناو").text == system.translate("کرمیناو").text
    assert pickle.loads(pickle.dumps(again)).translate("کرمیناو").spelled == (0,)
    card = (system.folder / "README.md").read_text(encoding="utf-8")
    assert "The spelling of words that were never seen is guessed, as " in card
    assert "Words that cannot be spelled so are copied as they are." in card
    pairs = next((system.folder / "work").glob("speller-*")) / "pairs.tsv"
    assert len(lines(pairs)) == system.part("speller").entry["pairs"]


def test_tags_of_the_user_and_guesses_go_together(system: System) -> None:
    line = "<n translation='tea'>کرمیناو</n> <zone> کرمیناو </zone>"
    for mode in ("exclusive", "inclusive"):
        translation = system.translate(line, markup=mode, space="mono")
        assert translation.tokens[0] == "tea"
        assert translation.spelled == (1,)
    ignored = system.translate(line, markup="ignore", space="mono")
    assert ignored.spelled == (0, 1)


def test_words_that_bring_their_tags_are_spelled(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(system.decoder), "layers", frozenset({"pos"}))
    [source] = system.sources(["کرمیناو|PROPN"], prepared=True)
    assert source.sentence.pos == ("PROPN",)
    assert source.spellings.keys() == {0}


# --- values ---------------------------------------------------------------------------------------


def test_guesses_move_with_their_words() -> None:
    source = Source(Sentence(("a", "b", "c")), spellings={1: (("x", 1.0),)})
    assert source.reordered([1, 2, 0]).spellings == {0: (("x", 1.0),)}
    with pytest.raises(ArgumentError) as caught:
        Source(Sentence(("a",)), spellings={1: ()})
    assert str(caught.value) == "spellings: found place 1; expected 0 to 0"


@pytest.mark.parametrize("guess", ["a|b", "a||b", "a'b\"c", "<a>", "a&amp;b"])
def test_signs_of_markup_in_a_guess_are_text(guess: str) -> None:
    markup = demands(Source(Sentence(("<x>", "&")), spellings={0: ((guess, 0.5), ("y", 1e-40))}))
    assert markup is not None
    assert markup.words == ["<x>", "&"]
    assert not markup.is_empty


def test_without_guesses_the_markup_is_that_of_the_user() -> None:
    source = read_markup("a <wall/> b")
    assert demands(source) is source.markup
    assert demands(Source.of("a b")) is None


# --- what is refused ------------------------------------------------------------------------------


def test_a_speller_needs_words() -> None:
    values = {"text": {"src_tokenizer": "characters", "case": "keep"}, "model": {"speller": True}}
    with pytest.raises(ArgumentError) as caught:
        Config.from_dict(values)
    assert str(caught.value) == (
        "config: model.speller: text is split into characters, which has no unknown words; "
        "choose another tokenizer, or no speller"
    )


def test_a_text_whose_words_do_not_spell_each_other_is_refused(tmp_path: Path) -> None:
    pairs = [("你 好", "good day"), ("水", "water"), ("火", "fire")] * 40
    for side, lang in enumerate(("zh", "en")):
        text = "".join(f"{pair[side]}\n" for pair in pairs)
        (tmp_path / f"train.{lang}").write_text(text)
    values = {**QUICK, "model": {"speller": True}, "doctor": {"allow": ["duplicate"]}}
    config = Config.from_dict(values)
    with pytest.raises(MismatchError) as caught:
        train(tmp_path / "train.zh", tmp_path / "train.en", tmp_path / "out", config=config)
    assert str(caught.value) == (
        "speller: 0 of 0 linked word pairs spell each other; expected 50 or more; "
        "train with more text, or without `model.speller`"
    )
