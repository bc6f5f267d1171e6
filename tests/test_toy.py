"""The toy world: what its sentences, links, orders and files promise."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from wayword.corpus.toy import ToyPair, entries, generate, pairs, write
from wayword.corpus.toy.arabic_forms import (
    BE,
    Agreement,
    VerbForms,
    attached,
    indefinite,
    owned,
    past,
    present,
    verb_with,
)
from wayword.corpus.toy.files import part_of
from wayword.corpus.toy.german_forms import genitive, weak_3sg, weak_participle
from wayword.errors import ArgumentError

ALL_PAIRS = ("de-en", "ar-en", "ja-en")
SAMPLE = 5000
UPOS = frozenset(
    {"ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "NOUN", "NUM", "PART", "PRON", "PROPN"}
    | {"PUNCT", "SCONJ", "VERB"}
)


@cache
def sample(pair: str) -> tuple[ToyPair, ...]:
    return tuple(generate(pair, SAMPLE, seed=11))


def mean_order(length: int, links: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Slow twin of the `mean` heuristic for sentences in which every word is aligned."""
    keys = []
    for at in range(length):
        places = [there for here, there in links if here == at]
        keys.append(Fraction(sum(places), len(places)))
    return tuple(sorted(range(length), key=lambda at: (keys[at], at)))


def is_aligned_throughout(item: ToyPair) -> bool:
    return {at for at, _ in item.links} == set(range(len(item.src)))


def test_the_pairs_are_named() -> None:
    assert pairs() == ALL_PAIRS


@pytest.mark.parametrize("pair", ALL_PAIRS)
def test_links_stay_inside_the_sentence_sorted_and_unique(pair: str) -> None:
    for item in sample(pair):
        assert list(item.links) == sorted(set(item.links))
        assert all(at < len(item.src) and there < len(item.tgt) for at, there in item.links)
        assert all(at >= 0 and there >= 0 for at, there in item.links)


@pytest.mark.parametrize("pair", ALL_PAIRS)
def test_every_order_is_a_permutation(pair: str) -> None:
    for item in sample(pair):
        assert sorted(item.order) == list(range(len(item.src)))


@pytest.mark.parametrize("pair", ALL_PAIRS)
def test_aligned_words_follow_the_mean_of_their_links(pair: str) -> None:
    for item in sample(pair):
        places = defaultdict(list)
        for at, there in item.links:
            places[at].append(there)
        aligned = [at for at in item.order if at in places]
        keys = [(Fraction(sum(places[at]), len(places[at])), at) for at in aligned]
        assert keys == sorted(keys)


@pytest.mark.parametrize("pair", ALL_PAIRS)
def test_gold_order_is_the_mean_order_where_every_word_is_aligned(pair: str) -> None:
    whole = [item for item in sample(pair) if is_aligned_throughout(item)]
    assert len(whole) >= 5
    for item in whole:
        assert item.order == mean_order(len(item.src), item.links)


@pytest.mark.parametrize("pair", ALL_PAIRS)
def test_tags_and_chunks_fit_the_words(pair: str) -> None:
    for item in sample(pair):
        assert len(item.pos) == len(item.chunks) == len(item.src)
        assert set(item.pos) <= UPOS
        before = "O"
        for chunk in item.chunks:
            kind = chunk.partition("-")[2]
            assert not chunk.startswith("I-") or before.partition("-")[2] == kind
            before = chunk


@pytest.mark.parametrize("pair", ALL_PAIRS)
def test_words_are_clean_tokens(pair: str) -> None:
    for item in sample(pair):
        for word in item.src + item.tgt:
            assert word == "".join(word.split())
            assert word not in ("", "!", ".!")


@pytest.mark.parametrize("pair", ALL_PAIRS)
def test_same_seed_same_pairs_and_a_shorter_run_is_a_prefix(pair: str) -> None:
    first = list(generate(pair, 100, seed=7))
    assert first == list(generate(pair, 100, seed=7))
    assert first[:10] == list(generate(pair, 10, seed=7))
    assert first != list(generate(pair, 100, seed=8))


@pytest.mark.parametrize("pair", ALL_PAIRS)
def test_lengths_run_from_4_to_40_with_a_long_tail(pair: str) -> None:
    lengths = [len(item.src) for item in sample(pair)]
    assert min(lengths) >= 4
    assert max(lengths) <= 40
    assert sum(length > 25 for length in lengths) >= 10
    assert sum(length <= 20 for length in lengths) > 0.7 * SAMPLE


@pytest.mark.parametrize("pair", ALL_PAIRS)
def test_sentences_seldom_repeat(pair: str) -> None:
    assert len({item.src for item in sample(pair)}) > 0.9 * SAMPLE


def test_the_lexicon_has_400_content_words_on_every_side() -> None:
    rows = [
        (table, row)
        for table in ("nouns", "verbs", "adjectives", "adverbs", "names")
        for row in entries.read_rows(table)
    ]
    for language in ("en", "de", "ar", "ja"):
        assert len({(table, row[language]) for table, row in rows}) >= 400


def test_the_lexicon_is_well_formed() -> None:
    classes = set().union(*(noun.classes for noun in entries.nouns()))
    for noun in entries.nouns():
        assert noun.de_gender in "mfn"
        assert noun.ar_gender in "mf"
        assert noun.de[0].form[0].isupper()
    for verb in entries.verbs():
        assert verb.frame in {"tr", "in", "st", "go", "fly", "di", "say", "ask", "inf"}
        assert verb.subjects <= classes
        assert verb.ja_group in {"1", "5", "5k", "s", "k"}
        assert verb.ar_present[0] == "ي"
        if verb.frame in ("tr", "di"):
            assert verb.objects & classes
    for adjective in entries.adjectives():
        assert adjective.classes & classes
        assert adjective.ja_type in {"i", "na", "no", "ta"}
        assert adjective.ja_type != "i" or adjective.ja[-1].endswith("い")


def test_every_lexicon_row_has_all_its_cells() -> None:
    for table in ("nouns", "verbs", "adjectives", "adverbs", "names"):
        for row in entries.read_rows(table):
            assert all(cell.strip() == cell and cell for cell in row.values()), row


@pytest.mark.parametrize("pair", ALL_PAIRS)
def test_frequent_words_are_much_more_frequent_than_rare_ones(pair: str) -> None:
    counts = Counter(
        word for item in sample(pair) for word, pos in zip(item.src, item.pos, strict=True)
        if pos == "NOUN"
    )  # fmt: skip
    ranked = [count for _, count in counts.most_common()]
    assert ranked[0] > 8 * ranked[len(ranked) // 2]


@pytest.mark.parametrize(
    ("pair", "word", "senses"),
    [
        ("de-en", "Bank", {"bank", "bench"}),
        ("de-en", "Schloss", {"castle", "lock"}),
        ("ar-en", "المكتب", {"office", "desk"}),
        ("ar-en", "الساعة", {"watch", "clock"}),
        ("ja-en", "時計", {"watch", "clock"}),
        ("ja-en", "高い", {"expensive", "high"}),
    ],
)
def test_some_words_have_two_senses(pair: str, word: str, senses: set[str]) -> None:
    translations = {
        item.tgt[there] for item in sample(pair) for at, there in item.links if item.src[at] == word
    }
    assert senses <= translations


@pytest.mark.parametrize("pair", ALL_PAIRS)
def test_links_are_one_to_many_many_to_one_and_some_words_have_none(pair: str) -> None:
    from_one, to_one, loose = 0, 0, [0, 0]
    for item in sample(pair):
        sources = Counter(at for at, _ in item.links)
        targets = Counter(there for _, there in item.links)
        from_one += max(sources.values()) > 1
        to_one += max(targets.values()) > 1
        loose[0] += len(item.src) - len(sources)
        loose[1] += len(item.tgt) - len(targets)
    assert from_one > 100
    assert to_one > 100
    assert min(loose) > 100


def test_german_compounds_are_linked_to_both_english_words() -> None:
    for item in sample("de-en"):
        if "Bahnhof" in item.src:
            at = item.src.index("Bahnhof")
            linked = [item.tgt[there] for here, there in item.links if here == at]
            assert linked == ["train", "station"]
            return
    pytest.fail("no Bahnhof in the sample")


def test_german_subordinate_clauses_end_in_their_finite_verb() -> None:
    seen = 0
    for item in sample("de-en"):
        for word in ("dass", "weil", "obwohl", "ob", "nachdem"):
            if word not in item.src:
                continue
            start = item.src.index(word)
            marks = [at for at in range(start, len(item.src)) if item.pos[at] == "PUNCT"]
            inner = item.pos[start + 1 : marks[0]]
            after = item.pos[marks[0] + 1 : marks[0] + 3]
            if "PRON" in after or "CCONJ" in inner:
                continue  # a relative clause opens, or a main clause follows
            assert inner[-1] in ("VERB", "AUX"), " ".join(item.src)
            seen += 1
    assert seen > 300


def test_german_main_clauses_have_their_verb_second() -> None:
    inverted = 0
    for item in sample("de-en"):
        if item.src[-1] != "." or item.pos[0] == "SCONJ":
            continue
        first = 1
        while item.chunks[first].startswith("I-"):
            first += 1
        if item.chunks[0] == "B-ADVP":
            assert item.chunks[first] == "B-VP", " ".join(item.src)
            inverted += 1
        elif item.pos[0] == "PRON":
            assert item.chunks[1] == "B-VP", " ".join(item.src)
    assert inverted > 100


def test_german_separable_prefixes_stand_apart_and_joined() -> None:
    words = [item.src for item in sample("de-en")]
    assert any("ruft" in src and "an" in src[src.index("ruft") :] for src in words)
    assert any("angerufen" in src for src in words)
    assert any(word.startswith("anzu") for src in words for word in src)


def test_arabic_has_verb_first_and_subject_first_sentences() -> None:
    starts = Counter(item.pos[0] for item in sample("ar-en") if item.src[-1] == ".")
    assert starts["VERB"] > 500
    assert starts["NOUN"] + starts["PROPN"] > 300


def test_arabic_attaches_pronouns_and_prepositions() -> None:
    attached = set()
    for item in sample("ar-en"):
        for at, word in enumerate(item.src):
            linked = {item.tgt[there] for here, there in item.links if here == at}
            if "his" in linked and word.endswith("ه"):
                attached.add("owner")
            if "him" in linked and item.pos[at] == "VERB":
                attached.add("object")
            if "to" in linked and word.startswith("لل"):
                attached.add("lil")
            if "and" in linked and word.startswith("و"):
                attached.add("wa")
    assert attached == {"owner", "object", "lil", "wa"}


def test_japanese_sentences_end_with_a_verb_or_auxiliary() -> None:
    for item in sample("ja-en"):
        last = [at for at, pos in enumerate(item.pos) if pos not in ("PUNCT", "PART")][-1]
        assert item.pos[last] in ("AUX", "VERB"), " ".join(item.src)


def test_japanese_objects_stand_before_their_verb() -> None:
    for item in sample("ja-en"):
        if "を" in item.src:
            at = len(item.src) - 1 - item.src[::-1].index("を")
            assert any(pos in ("VERB", "AUX") for pos in item.pos[at:])


def test_particles_stay_behind_their_noun_in_gold_order() -> None:
    for item in sample("ja-en"):
        at = {here: when for when, here in enumerate(item.order)}
        for here, word in enumerate(item.src):
            noun = item.src[here - 1]
            if word == "を" and item.pos[here - 1] == "NOUN" and noun not in ("こと", "の", "代金"):
                assert at[here] > at[here - 1]


def test_japanese_links_what_english_says_with_a_word_and_leaves_bare_endings() -> None:
    linked: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for item in sample("ja-en"):
        for at, there in item.links:
            linked[item.src[at]][item.tgt[there]] += 1
    assert not {"た", "まし", "は"} & linked.keys()
    assert linked["でしょう"].most_common(1)[0][0] == "will"
    assert linked["も"].keys() == {"also"}
    assert linked["か"]["?"] > 100


def test_japanese_ends_in_plain_and_in_polite_style() -> None:
    endings = Counter(item.src[-2] for item in sample("ja-en"))
    assert endings["ます"] > 100
    assert endings["だろう"] > 100


def test_past_endings_stay_behind_the_word_they_inflect() -> None:
    for item in sample("ja-en"):
        at = {here: when for when, here in enumerate(item.order)}
        for here, word in enumerate(item.src):
            if word == "た" and item.pos[here] == "AUX":
                assert at[here] == at[here - 1] + 1, " ".join(item.src)


def test_also_joins_the_subject() -> None:
    for pair, word in (("de-en", "auch"), ("ar-en", "أيضا")):
        linked = {
            item.tgt[there]
            for item in sample(pair)
            for at, there in item.links
            if item.src[at].lower() == word
        }
        assert linked == {"also"}


@pytest.mark.parametrize("pair", ALL_PAIRS)
def test_most_links_are_one_to_one_and_no_english_word_is_everywhere(pair: str) -> None:
    single = total = 0
    counts = Counter(word.lower() for item in sample(pair) for word in item.tgt)
    for item in sample(pair):
        sources = Counter(at for at, _ in item.links)
        targets = Counter(there for _, there in item.links)
        single += sum(sources[at] == targets[there] == 1 for at, there in item.links)
        total += len(item.links)
    assert single > 0.55 * total
    assert counts["the"] + counts["a"] < 0.06 * counts.total()


@pytest.mark.parametrize(
    ("verb", "who", "expected"),
    [
        (BE, Agreement(1, "s", "m"), "كنت أكون أكن"),
        (VerbForms("مشى", "يمشي", "يمش", "مشي"), Agreement(3, "p", "m"), "مشوا يمشون يمشوا"),
        (VerbForms("قرأ", "يقرأ", "يقرأ", "قرأ"), Agreement(3, "p", "m"), "قرؤوا يقرؤون يقرؤوا"),
        (VerbForms("أحب", "يحب", "يحب", "أحبب"), Agreement(3, "p", "f"), "أحببن يحببن يحببن"),
        (VerbForms("أكل", "يأكل", "يأكل", "أكل"), Agreement(1, "s", "m"), "أكلت آكل آكل"),
        (VerbForms("نسي", "ينسى", "ينس", "نسي"), Agreement(3, "d", "f"), "نسيتا تنسيان تنسيا"),
    ],
)
def test_arabic_verbs(verb: VerbForms, who: Agreement, expected: str) -> None:
    forms = (past(verb, who), present(verb, who), present(verb, who, "jus"))
    assert " ".join(forms) == expected


def test_arabic_spelling_rules() -> None:
    him = Agreement(3, "s", "m")
    assert attached("ل", "المدرسة") == "للمدرسة"
    assert attached("ل", "اللص") == "للص"
    assert verb_with("رأى", him, is_indicative=False) == "رآه"
    assert verb_with("كتبوا", him, is_indicative=False) == "كتبوه"
    assert owned("سيارة", "acc", False, him) == "سيارته"
    assert owned("أصدقاء", "gen", True, him) == "أصدقائه"
    assert indefinite("كتاب", "acc", False) == "كتابا"
    assert indefinite("مدارس", "acc", True) == "مدارس"


def test_german_word_forms() -> None:
    assert weak_3sg("arbeiten") == "arbeitet"
    assert weak_3sg("zeichnen") == "zeichnet"
    assert weak_participle("ein", "schalten") == "eingeschaltet"
    assert weak_participle("", "reparieren") == "repariert"
    assert genitive("Mann") == "Mannes"
    assert genitive("Lehrer") == "Lehrers"


def test_written_parts_are_disjoint_and_consistent_line_by_line(tmp_path: Path) -> None:
    paths = write("de-en", 400, tmp_path, seed=3)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in paths)
    sources = {}
    for part, size in (("train", 400), ("dev", 20), ("test", 20)):
        columns = [
            (tmp_path / f"{part}.{ending}").read_text(encoding="utf-8").splitlines()
            for ending in ("de", "en", "links", "order", "factored.de")
        ]
        assert {len(lines) for lines in columns} == {size}
        sources[part] = set(columns[0])
        for src, tgt, links, order, factored in zip(*columns, strict=True):
            words, others = src.split(), tgt.split()
            assert part_of(tuple(words)) == part
            numbers = [tuple(map(int, link.split("-"))) for link in links.split()]
            assert all(at < len(words) and there < len(others) for at, there in numbers)
            assert sorted(map(int, order.split())) == list(range(len(words)))
            fields = [word.split("|") for word in factored.split()]
            assert [field[0] for field in fields] == words
            assert {len(field) for field in fields} == {3}
    assert not sources["train"] & (sources["dev"] | sources["test"])
    assert not sources["dev"] & sources["test"]


def test_writing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    first = write("ar-en", 50, tmp_path / "a", seed=9)
    second = write("ar-en", 50, tmp_path / "b", seed=9)
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_a_failed_write_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("wayword.corpus.toy.files._write_lines", fail)
    with pytest.raises(OSError, match="disk full"):
        write("ja-en", 20, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("call", [generate, lambda pair, n: write(pair, n, "nowhere")])
def test_an_unknown_pair_is_refused_with_the_known_ones(call) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ArgumentError) as error:
        call("fr-en", 1)
    known = "de-en, ar-en, ja-en, old-de, ur-en"
    assert str(error.value) == f"unknown toy pair 'fr-en'; the known pairs are {known}"


def test_a_negative_number_is_refused() -> None:
    with pytest.raises(ArgumentError, match="n is -1; the number of pairs cannot be negative"):
        generate("de-en", -1)
