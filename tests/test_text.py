"""Tokens and case: what comes out, and whether the text comes back."""

import importlib.util
import pickle
import random
import re
import sys
import tracemalloc
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.corpus.forms import Runs
from wayword.corpus.moses_rules import _class, _facts, moses_rules
from wayword.corpus.offsets import folded, locate
from wayword.corpus.text import CASES, Preparation, RoundTrip, round_trip
from wayword.corpus.tokenizer import MOSES, SEGMENTERS, TOKENIZERS
from wayword.corpus.truecase import Form, Truecaser, count_runs, write_forms
from wayword.errors import ArgumentError, FormatError
from wayword.stage import Cost, Result, Work
from wayword.stages import Text, make_evaluation

NAMES = {
    "moses": "en",
    "unicode": "de",
    "characters": "de",
    "none": "de",
    "jieba": "zh",
    "fugashi": "ja",
}

# Letters, signs and marks that joining could melt together or splitting could lose.
TROUBLE = st.lists(
    st.sampled_from(
        [
            *"ab1中あー.,:;!?'’·-–—/\"“”„«»()[]@#%$°_|&…。，「」 \t\n\r\x00\x85\xad",
            *"\u0301\u200d\u200c\u200b\ufeff\u3099\u3000\u2011é😀🇩🇪ﷺİ     ",
            *["http://", "www.", "a@b.de", "👍🏽", "e\u0301", "हि", "|||"],
        ]
    )
).map("".join)
ANY = st.text(max_size=40) | TROUBLE

ORDINARY = [
    ("de", 'Der Hund bellte: „Ja, z. B. heute um 10:30!“ – und dann "nichts" (leider)...'),
    ("de", "Vor- und Nachteile der EU-Politik kosten 3,5 % oder 1.000 Euro."),
    ("de", "»So nicht«, sagte er; siehe https://example.org/a_b?c=1."),
    ("en", "The dogs' owner didn't say \"why\": it's $3.50 (or 5%), isn't it?"),
    ("en", "We’ve read ‘this’ and “that” in the U.S.; write to me@example.org/you or AC/DC!"),
    ("fr", "L'eau de l'été n'est pas chère : « Vraiment ? », dit-elle ; 5 % d'espoir !"),
    ("ar", "مرحبا، كيف حالك؟ قال: «نعم»؛ ثم ذهب (إلى البيت)."),
    ("hi", "मेरा नाम राम है, और आप? हाँ! यह ३.५ किलो है।"),
    ("ja", "東京の「大学」へ、2019年（平成31年）に行った。Pythonは3.5倍速い！"),
    ("zh", "他说：“你好，世界！”2022年，GDP增长3.5%（约）。《红楼梦》很好——是吗？"),
    ("zh", "使用Hello World和iPhone 13。"),
]


def primary(tokenizer: str, case: str = "keep") -> Preparation:
    return Preparation(NAMES[tokenizer], tokenizer, case)


# --- splitting and joining ---


@pytest.mark.parametrize(("lang", "line"), ORDINARY)
@pytest.mark.parametrize("tokenizer", ["auto", "unicode"])
def test_ordinary_sentences_come_back_exactly(lang: str, line: str, tokenizer: str) -> None:
    preparation = Preparation(lang, tokenizer)
    assert preparation.restore(preparation.prepare(line)) == line


@pytest.mark.parametrize(
    ("line", "tokens"),
    [
        ("Ja, nein!?", "Ja , nein ! ?"),
        ("don't l’eau Col·legi", "don't l’eau Col·legi"),
        ("E-Mail- und -5 a--b - c", "E-Mail- und -5 a - - b - c"),
        ("1.000,50 3.5.1 5. 7,x", "1.000,50 3.5.1 5 . 7 , x"),
        ("z.B. U.S. a.b. x.yz", "z.B. U.S. a.b. x . yz"),
        ("日本語abc中国12", "日 本 語 abc 中 国 12"),
        ("http://a.de/b?c=1, (www.b.org)", "http://a.de/b?c=1 , ( www.b.org )"),
        ("हिन्दी क्‍ष می‌روم", "हिन्दी क्‍ष می‌روم"),
        ("a\u00adb\u200bc\ufeff\x00d", "ab c d"),
        ("👍🏽🇩🇪👨‍👩‍👧", "👍🏽 🇩🇪 👨‍👩‍👧"),
        ("|||", "| | |"),
        ("½ m² 5°C", "½ m² 5 ° C"),
    ],
)
def test_the_unicode_splitter_keeps_words_and_parts_signs(line: str, tokens: str) -> None:
    assert " ".join(Preparation("de", "unicode").prepare(line)) == tokens


@pytest.mark.parametrize(
    ("tokenizer", "line", "tokens"),
    [
        ("moses", "Mr. Smith can't, e.g. (&) a|b.", "Mr. Smith can 't , e.g. ( & ) a | b ."),
        ("none", " a|||b ||| c\u3000d ", "a|||b ||| c d"),
        ("jieba", "我来到北京清华大学，café 3.5%", "我 来到 北京 清华大学 ， café 3.5 %"),
        ("fugashi", "東京に行った。GPT-4は3.5倍", "東京 に 行っ た 。 GPT-4 は 3.5 倍"),
    ],
)
def test_each_tokenizer_splits_in_its_own_way(tokenizer: str, line: str, tokens: str) -> None:
    assert " ".join(primary(tokenizer).prepare(line)) == tokens


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@settings(max_examples=40, deadline=None)
@given(line=ANY)
def test_tokens_are_never_empty_and_hold_no_whitespace(tokenizer: str, line: str) -> None:
    for case in ("keep", "lower"):
        preparation = primary(tokenizer, case)
        tokens = preparation.prepare(line)
        assert all(token.split() == [token] for token in tokens)
        assert tokenizer == "none" or "|||" not in tokens
        restored = preparation.restore(tokens).split()
        assert restored == " ".join(restored).split(" ") or not restored
        assert bool(restored) == bool(tokens) or tokenizer == "characters"  # a blank is a token


@settings(max_examples=200, deadline=None)
@given(line=ANY)
def test_characters_come_back_exactly(line: str) -> None:
    preparation = Preparation("de", "characters", nfc=False)
    assert preparation.restore(preparation.prepare(line)) == line
    composed = Preparation("de", "characters")
    assert composed.restore(composed.prepare(line)) == unicodedata.normalize("NFC", line)


def test_characters_have_no_true_case() -> None:
    with pytest.raises(ArgumentError) as caught:
        Preparation("de", "characters", "truecase")
    assert str(caught.value) == (
        "case: found `truecase` for text of characters; expected keep or lower"
    )


@pytest.mark.parametrize("lang", ["de", "en", "fr", "zh", "ja", "ar"])
@settings(max_examples=60, deadline=None)
@given(line=ANY)
def test_restored_text_has_the_same_unicode_tokens(lang: str, line: str) -> None:
    for case in ("keep", "lower"):
        preparation = Preparation(lang, "unicode", case)
        tokens = preparation.prepare(line)
        assert preparation.prepare(preparation.restore(tokens)) == tokens


def test_long_lines_take_linear_time() -> None:
    for scrap in ("a", "a.", "'", "-", "a@", "http://", "中", "1,", "\u0301", ". "):
        line = scrap * (10_000 // len(scrap))
        for tokenizer in ("unicode", "moses"):
            assert primary(tokenizer).prepare(line)


def test_composed_and_decomposed_text_give_the_same_tokens() -> None:
    assert Preparation("de").prepare("Cafe\u0301") == ["Caf\u00e9"]
    assert Preparation("de", nfc=False).prepare("Cafe\u0301") != ["Caf\u00e9"]


def test_half_a_surrogate_pair_does_no_harm() -> None:
    for tokenizer in ("moses", "unicode", "jieba", "fugashi"):
        assert primary(tokenizer).prepare("a \ud83d b") == ["a", "\ufffd", "b"]


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_threads_do_not_disturb_each_other(tokenizer: str) -> None:
    preparation = primary(tokenizer)
    lines = [f"東京に{number}回行った。Yes, it's 我来到北京!" for number in range(200)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(preparation.prepare, lines)) == list(preparation.prepare_all(lines))


def test_many_lines_are_prepared_one_at_a_time() -> None:
    preparation = Preparation("en")
    lines = iter(["One, two.", "Three!"])
    sentences = preparation.prepare_all(lines)
    assert next(sentences) == ["One", ",", "two", "."]
    assert next(lines) == "Three!"
    assert list(preparation.restore_all([["Three", "!"]])) == ["Three!"]


# --- the measure ---


def test_the_round_trip_counts_and_shows_what_changed() -> None:
    lines = ["Gut, ja.", "Gut , ja.", ""]
    trip = round_trip(Preparation("de"), lines)
    assert trip == RoundTrip(3, 2, (("Gut , ja.", "Gut, ja."),))
    assert trip.share == 2 / 3
    assert round_trip(Preparation("de"), lines, examples=0).examples == ()
    assert round_trip(Preparation("de"), []).share == 1


# --- options ---


@pytest.mark.parametrize(
    ("lang", "tokenizer"),
    [
        ("de", "moses"),
        ("pt-BR", "moses"),
        ("ar", "unicode"),
        ("hi", "unicode"),
        ("ZH-Hans", "jieba"),
        ("ja", "fugashi"),
    ],
)
def test_auto_becomes_the_tokenizer_of_the_language(lang: str, tokenizer: str) -> None:
    assert Preparation(lang).tokenizer == tokenizer
    assert Preparation(lang).to_dict()["tokenizer"] == tokenizer


def test_options_survive_a_manifest_and_pickling() -> None:
    preparation = Preparation("pt-BR", "unicode", "lower", nfc=False)
    options = preparation.to_dict()
    assert options == {"lang": "pt-BR", "tokenizer": "unicode", "case": "lower", "nfc": False}
    assert Preparation.from_dict(options) == preparation
    preparation.prepare("x")
    assert pickle.loads(pickle.dumps(preparation)) == preparation


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lang": "deutsch!"}, "lang: found `deutsch!`; expected a code such as `de`, `pt-BR`"),
        ({"lang": "de", "case": "upper"}, "case: found `upper`; expected one of "
         "keep, lower, truecase"),
        ({"lang": "de", "tokenizer": "spacy"}, "tokenizer: found `spacy`; expected one of "
         "auto, moses, unicode, characters, none, jieba, fugashi"),
        ({"lang": "de", "nfc": "yes"}, "nfc: found `yes`; expected true or false"),
        ({"lang": "de", "casing": "keep"}, "preparation: found `casing`; expected one of "
         "lang, tokenizer, case, nfc"),
        ({}, "preparation: no `lang`; expected a code such as `de`"),
        ({"lang": "th"}, "tokenizer: no word splitter for `th`, which is written without spaces; "
         "split the words first and choose `none`"),
    ],
)  # fmt: skip
def test_bad_options_name_the_good_ones(options: dict[str, object], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        Preparation.from_dict(options)
    assert str(caught.value) == message


def test_moses_is_refused_for_languages_it_does_not_know() -> None:
    with pytest.raises(
        ArgumentError, match=r"^tokenizer: `moses` and `ar`; expected one of as, .*"
    ):
        Preparation("ar", "moses")


@pytest.mark.parametrize(
    ("lang", "name", "extra"), [("zh", "jieba", "zh"), ("ja", "fugashi", "ja")]
)
def test_a_missing_segmenter_names_its_extra(
    monkeypatch: pytest.MonkeyPatch, lang: str, name: str, extra: str
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ArgumentError) as caught:
        Preparation(lang)
    assert str(caught.value) == (
        f"tokenizer: `{name}` needs {name}, which is not installed; "
        f"run `pip install wayword[{extra}]`, "
        "or choose `unicode`, which splits CJK into single characters"
    )
    assert Preparation(lang, "unicode").tokenizer == "unicode"


# --- case ---


def test_lower_case_follows_the_language() -> None:
    assert set(CASES) == {"keep", "lower", "truecase"}
    assert Preparation("de", case="lower").prepare("Die KATZE") == ["die", "katze"]
    assert Preparation("tr", case="lower").prepare("IŞIK İyi") == ["ışık", "iyi"]


def words(text: str) -> list[str]:
    return text.split()


SENTENCES = [
    words("Die Katze ist da , und die Maus schläft ."),
    words("Heute ist die NATO da : Heute , „ Die Zeit “ . Ja"),
    words("WIR SIND DIE BESTEN"),
    words("Wir wissen , dass heute wenig Zeit ist"),
]


@pytest.fixture
def caser() -> Truecaser:
    return Truecaser.fit(SENTENCES)


def test_only_telling_positions_are_counted(caser: Truecaser) -> None:
    assert caser.form("DIE") == Form("die", 2, 2)  # not first, not after „, not in capitals
    assert caser.form("heute") == Form("heute", 1, 1)  # not after the colon
    assert caser.form("zeit") == Form("Zeit", 2, 2)
    assert caser.form("ja") is None  # after the full stop only
    assert caser.form(",") is None


def test_the_first_word_gets_its_usual_case_and_others_keep_theirs(caser: Truecaser) -> None:
    assert caser.apply(words("„ Die Zeit ist Da")) == words("„ die Zeit ist Da")
    assert caser.apply(words("Unbekannte NATO")) == words("Unbekannte NATO")
    assert caser.apply(words("3 Katze")) == words("3 Katze")
    assert caser.apply([]) == []


def test_a_sentence_in_capitals_is_corrected_throughout(caser: Truecaser) -> None:
    assert caser.apply(words("HEUTE IST DIE NATO DA !")) == words("heute ist die NATO da !")
    assert caser.apply(words("DIE")) == ["die"]  # one word is no sentence in capitals, but first


def test_restoring_gives_the_first_letter_its_capital(caser: Truecaser) -> None:
    assert caser.restore(words("„ die Zeit")) == words("„ Die Zeit")
    assert caser.restore(words("iPhone da")) == words("iPhone da")
    assert caser.restore(words("ßo")) == ["ßo"]  # no single capital letter
    assert caser.restore(words("… 3 tage")) == words("… 3 tage")
    assert Truecaser([], lang="tr").restore(["iyi"]) == ["İyi"]


def test_ties_go_to_fewer_capitals_then_to_the_smaller_form() -> None:
    caser = Truecaser.fit([["x", "AB", "ab", "Cd", "cD"], ["x", "ab", "AB", "cD", "Cd"]])
    assert caser.form("ab") == Form("ab", 2, 4)
    assert caser.form("cd") == Form("Cd", 2, 4)


def test_a_truecaser_comes_back_from_its_file(tmp_path: Path, caser: Truecaser) -> None:
    caser.save(tmp_path / "a.tsv")
    again = Truecaser.load(tmp_path / "a.tsv")
    again.save(tmp_path / "b.tsv")
    assert (tmp_path / "a.tsv").read_bytes() == (tmp_path / "b.tsv").read_bytes()
    assert len(again) == len(caser)
    lines = (tmp_path / "a.tsv").read_text(encoding="utf-8").split("\n")
    assert lines[0] == "wayword-truecaser\t1\t"
    assert "die\t2\t2" in lines


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: no truecaser; expected `wayword-truecaser 1`; fit the truecaser again"),
        ("wayword-truecaser\t1\t\ndie\t2\n", ":2: 2 columns; expected word, seen and total; "
         "fit it again"),
        ("wayword-truecaser\t1\t\ndie\t2\tx\n", ":2: counts `2` and `x`; "
         "expected 0 < seen <= total; fit it again"),
    ],
)  # fmt: skip
def test_a_bad_truecaser_file_is_placed(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        Truecaser.load(path)
    assert str(caught.value) == f"{path}{message}"


def test_a_preparation_learns_its_truecaser() -> None:
    preparation = Preparation("de", case="truecase").fit([" ".join(s) for s in SENTENCES])
    tokens = preparation.prepare("Die Katze schläft.")
    assert tokens == ["die", "Katze", "schläft", "."]
    assert preparation.restore(tokens) == "Die Katze schläft."
    again = Preparation.from_dict(preparation.to_dict(), truecaser=preparation.truecaser)
    assert again.prepare("Die Katze") == ["die", "Katze"]
    assert pickle.loads(pickle.dumps(preparation)).prepare("Die Zeit") == ["die", "Zeit"]


def test_truecasing_without_a_truecaser_is_refused() -> None:
    with pytest.raises(ArgumentError) as caught:
        Preparation("de", case="truecase").prepare("Ja")
    assert str(caught.value) == (
        "case: `truecase` without a truecaser; call `fit` with training text, or give `truecaser`"
    )


# --- where tokens stand in the line ---


@pytest.mark.parametrize(("lang", "line"), ORDINARY)
@pytest.mark.parametrize("tokenizer", ["auto", "unicode"])
@pytest.mark.parametrize("case", ["keep", "lower"])
def test_tokens_of_ordinary_sentences_are_all_found(
    lang: str, line: str, tokenizer: str, case: str
) -> None:
    tokens, offsets = Preparation(lang, tokenizer, case).prepare_with_offsets(line)
    places = [place for place in offsets if place is not None]
    assert len(places) == len(tokens)
    assert places == sorted(places)
    shown = [line[start:end] for start, end in places]
    assert [one.lower() for one in shown] == [token.lower() for token in tokens]


@pytest.mark.parametrize("tokenizer", NAMES)
@pytest.mark.parametrize("case", ["keep", "lower"])
@settings(max_examples=100)
@given(line=ANY)
def test_a_token_is_found_where_it_stands_or_not_at_all(
    tokenizer: str, case: str, line: str
) -> None:
    tokens, offsets = primary(tokenizer, case).prepare_with_offsets(line)
    assert len(tokens) == len(offsets)
    last = 0
    for token, place in zip(tokens, offsets, strict=True):
        if place is not None:
            assert folded(line[slice(*place)]) == folded(token)
            assert last <= place[0] < place[1] <= len(line)
            last = place[1]


@pytest.mark.parametrize(
    ("tokens", "line", "shown"),
    [
        (["é"], "e\u0301", ["e\u0301"]),
        (["ı", "i"], "I\u200b İ", ["I", "İ"]),
        (["straße"], "STRASSE", ["STRASSE"]),
        (["ạ́b"], "a\u0301\u0323b", ["a\u0301\u0323b"]),
        (["Haus", "tür"], "Haus\xadtür", ["Haus", "tür"]),
        (["Haustür"], "Haus\xadtür", ["Haus\xadtür"]),
        (["ab"], "a b", [None]),
        (["a", "&apos;", "s"], "a's", ["a", None, "s"]),
        (["x", "b"], "a b", [None, "b"]),
        (["", "a"], "a", [None, "a"]),
    ],
)
def test_tokens_are_found_in_other_spellings(
    tokens: list[str], line: str, shown: list[str | None]
) -> None:
    places = locate(tokens, line)
    assert [None if place is None else line[slice(*place)] for place in places] == shown


def test_the_languages_of_the_moses_tokenizer_are_those_it_has_rules_for() -> None:
    from sacremoses.corpus import NonbreakingPrefixes

    known = frozenset(NonbreakingPrefixes().available_langs.values())
    assert known - SEGMENTERS.keys() == MOSES


#: What the rules of Moses look at: words with and without stops, signs, digits, many scripts.
PIECES = (
    *("Haus", "a", "A", "Dr", "etc", "Nr", "z.B", "U.S", "i.e", "l'", "d'", "'s", "s", "5", "300"),
    *("3.5", ".", "..", "...", ",", "'", '"', "-", "--", "(", ")", "?", ":", ";", "&", "@", "€"),
    *("。", "日本", "क्", "é", "ß", "…", " ", "  ", "\t", "Я", "я", "٣", "Ⅷ", "½", "\u00a0", "`"),
)


@pytest.mark.parametrize("lang", sorted(MOSES))
def test_the_rules_of_moses_split_as_sacremoses_does(lang: str) -> None:
    import sacremoses

    known = sacremoses.MosesTokenizer(lang)
    words = [word.split()[0] for word in known.NONBREAKING_PREFIXES]
    dice = random.Random(1)
    for _ in range(60):
        parts = [
            dice.choice(PIECES if dice.random() < 0.8 else words)
            + dice.choice(["", " ", ".", ". "])
            for _ in range(dice.randint(1, 12))
        ]
        text = "".join(parts)
        assert moses_rules(lang).split(text) == known.tokenize(text, escape=False), text


def test_the_classes_of_moses_are_those_of_sacremoses() -> None:
    from sacremoses import MosesTokenizer

    for name in ("IsAlnum", "IsAlpha", "IsLower", "IsN"):
        ours = re.compile(f"[{_class(_facts()[name])}]")
        theirs = frozenset(getattr(MosesTokenizer, name))
        every = map(chr, range(sys.maxunicode + 1))
        assert {char for char in every if ours.match(char)} == theirs, name


def test_a_truecaser_is_the_same_however_few_forms_are_in_memory(tmp_path: Path) -> None:
    words = [f"{'Ab' if n % 3 else 'aB'}{n * n % 97}x{'Y' if n % 5 else 'y'}" for n in range(2000)]
    sentences = [["x", *words[at : at + 8]] for at in range(0, len(words), 8)] + SENTENCES
    whole = Truecaser.fit(sentences, lang="tr")
    whole.save(tmp_path / "whole")
    for most in (1, 7, 10_000):
        folder = tmp_path / str(most)
        folder.mkdir()
        runs = Runs(folder, lang="tr")
        count_runs(sentences, runs, most)
        write_forms(tmp_path / "bounded", runs.usual(), lang="tr")
        assert (tmp_path / "bounded").read_bytes() == (tmp_path / "whole").read_bytes()
        # What one counted goes into the counts of others.
        runs.save(tmp_path / "run")
        again = Runs(folder, lang="tr", paths=[tmp_path / "run"])
        assert list(again.usual()) == [whole.form(key) for key in sorted(whole._forms)]


def test_a_truecaser_on_disk_knows_the_words_of_one_in_memory(tmp_path: Path) -> None:
    words = [f"w{number:03}" for number in range(200)]
    whole = Truecaser.fit([["x", *words, "Die", "Katze"], *SENTENCES])
    whole.save(tmp_path / "table")
    opened = pickle.loads(pickle.dumps(Truecaser.open(tmp_path / "table")))
    assert len(opened) == len(whole)
    for word in [*words, "KATZE", "die", "zzz", "A", "w0991", ""]:
        assert opened.form(word) == whole.form(word)
    assert opened.apply(["Die", "katze"]) == whole.apply(["Die", "katze"])
    opened.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "table").read_bytes()


@pytest.mark.parametrize("text", ["", "wayword-truecaser\t1\t\ndie\t2\n"])
def test_a_bad_truecaser_on_disk_is_placed(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.tsv").write_text(text, encoding="utf-8")
    messages = []
    for read in (Truecaser.load, Truecaser.open):
        with pytest.raises(FormatError) as caught:
            read(tmp_path / "a.tsv")
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_a_dev_set_is_prepared_without_all_words_in_memory(tmp_path: Path) -> None:
    forms = [Form(f"wort{number:05}", 1, 1) for number in range(20_000)]
    for side in ("src", "tgt"):
        write_forms(tmp_path / f"truecaser.{side}", forms, lang="de")
    files = [tmp_path / "dev.de", tmp_path / "dev.en"]
    for path in files:
        path.write_text("Wort00007 ist da .\n", encoding="utf-8")
    text = Result("prepare", "", tmp_path, {}, Cost(0, 0, 0), reused=False)
    out = tmp_path / "out"
    out.mkdir()
    options = {"name": "dev", "text": Text(src="de", tgt="de"), "allow": ["misaligned"]}
    inputs = {"text": text, "clean": text, "files": files}
    Preparation("de").prepare("a")  # the rules of the tokenizer, which stay
    tracemalloc.start()
    make_evaluation(Work(options, inputs, out))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (out / "dev.src").read_text(encoding="utf-8") == "wort00007 ist da .\n"
    assert peak < 2_000_000, "all forms of one side take more"


def test_a_truecaser_on_disk_must_be_sorted(tmp_path: Path) -> None:
    table = "wayword-truecaser\t1\t\ndie\t2\t2\nb\t1\t1\n"
    (tmp_path / "a.tsv").write_text(table, encoding="utf-8")
    with pytest.raises(FormatError, match=r"a\.tsv:3: `b` after `die`; fit the truecaser again"):
        Truecaser.open(tmp_path / "a.tsv")


def test_a_preparation_learns_within_memory_what_it_learns_without(tmp_path: Path) -> None:
    lines = [" ".join(sentence) for sentence in SENTENCES]
    preparation = Preparation("de", case="truecase")
    learned = preparation.learn(lines, tmp_path / "table", memory="1M", temp_dir=tmp_path)
    fitted = preparation.fit(lines)
    assert learned.truecaser is not None
    assert fitted.truecaser is not None
    fitted.truecaser.save(tmp_path / "whole")
    assert (tmp_path / "table").read_bytes() == (tmp_path / "whole").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["table", "whole"]
    assert learned.prepare("Die Katze") == fitted.prepare("Die Katze")
    with pytest.raises(ArgumentError, match="memory: found 1K"):
        preparation.learn(lines, tmp_path / "table", memory="1K")
