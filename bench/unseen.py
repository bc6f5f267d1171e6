"""Bench of words that were never seen: copied, split into subwords, or spelled by guess.

Hindi and Arabic to English. A thousand lines of the training text are held out as a test set of the
same kind; the pack's own test set is of another kind. All systems have default weights; with
``--tuned``, those with whole words and with subwords are tuned alike, on the pack's dev set, and
the speller has the weights of the first. ``shuffled`` is a control: the output of the speller with
its guesses given to the wrong words. Letters of the right script alone make chrF rise; what the
speller has beyond the control is what its guesses are worth. An unknown word is a word of the
source that the phrase table of whole words does not know. It comes out right when the references
have a word that is linked to it in the output, and that is none of the ``FREQUENT`` most frequent
ones.

    python bench/run.py unseen
    python bench/unseen.py FOLDER --only hi-en     # in a folder that stays: goes on where it ended
"""

import argparse
import lzma
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from bench.measure import SHARED, show, write_result
from wayword.decode import Translation
from wayword.evaluate import Gold, Options, Output, compare
from wayword.pipeline import assemble, plan, system_of
from wayword.store import Store
from wayword.system import System
from wayword.tune.space import usual

PAIRS = {"hi-en": ("en", "en1", "en2", "en3"), "ar-en": ("en",)}
HELD_OUT, DEV, TEST, FREQUENT = 1000, 400, 500, 100
QUICK: dict[str, Any] = {"tune": {"runs": 1, "rounds": 8}, "search": {"pop_limit": 200}}
VARIANTS: dict[str, dict[str, Any]] = {
    "copied": {},
    "speller": {"model": {"speller": True}},
    "subwords": {"subwords": {"kind": "bpe"}},
}
METRICS = ("bleu", "chrf")
WORD = "▁"


def rows(
    folder: Path | None = None, only: Sequence[str] = (), *, tuned: bool = False
) -> list[dict[str, Any]]:
    """Every way, on both test sets of both pairs."""
    if folder is not None:
        chosen = only or list(PAIRS)
        return [row for pair in chosen for row in of_pair(pair, folder / pair, tuned=tuned)]
    with tempfile.TemporaryDirectory() as name:
        return rows(Path(name), only, tuned=tuned)


def of_pair(pair: str, folder: Path, *, tuned: bool) -> list[dict[str, Any]]:
    """The rows of a language pair."""
    split(pair, folder)
    systems = {name: trained(pair, folder, name, tuned=tuned) for name in VARIANTS}
    frequent = usual_words(folder / "train.en", systems["copied"])
    measured = []
    for test, endings in (("held", ("en",)), ("test", PAIRS[pair])):
        src = lines(folder / f"{test}.{pair[:2]}")[:TEST]
        refs = [lines(folder / f"{test}.{ending}")[:TEST] for ending in endings]
        outputs = {name: system.translate(src, threads=2) for name, system in systems.items()}
        outputs["shuffled"] = shuffled(outputs["speller"], systems["speller"])
        texts = [Output(name, [one.text for one in found]) for name, found in outputs.items()]
        compared = compare(
            Gold(refs=refs), texts, METRICS, options=Options(tokenize="13a"), rounds=2000
        )
        unknown = [word_places(one, one.unknown) for one in outputs["copied"]]
        prepare = systems["copied"].text[1].prepare  # type: ignore[index]
        wanted = [{w for ref in line for w in prepare(ref)} for line in zip(*refs, strict=True)]
        for name, found in outputs.items():
            right = sum(
                bool((produced(one, place) - frequent) & words)
                for one, places, words in zip(found, unknown, wanted, strict=True)
                for place in places
            )
            measured.append(
                {
                    "pair": pair,
                    "test": "same text" if test == "held" else "other text",
                    "words": name,
                    "unknown": sum(map(len, unknown)),
                    "share": f"{100 * sum(map(len, unknown)) / source_words(outputs):.1f} %",
                    "right": right,
                    **{metric: cell(compared, name, metric) for metric in METRICS},
                }
            )
    return measured


def shuffled(spelled: Sequence[Translation], system: System) -> list[Translation]:
    """The same translations, each guess in the place of one that is half of the guesses away."""
    assert system.text is not None
    places = [
        (number, phrase.tgt[0])
        for number, one in enumerate(spelled)
        for phrase in one.phrases
        if phrase.src[0] in one.spelled
    ]
    guesses = [spelled[number].tokens[at] for number, at in places]
    turned = guesses[len(guesses) // 2 :] + guesses[: len(guesses) // 2]
    tokens = [list(one.tokens) for one in spelled]
    for (number, at), guess in zip(places, turned, strict=True):
        tokens[number][at] = guess
    changed = [replace(one, tokens=tuple(new)) for one, new in zip(spelled, tokens, strict=True)]
    return [one.restored(system.text[1].restore) for one in changed]


def cell(compared: Any, name: str, metric: str) -> str:
    """A score, its mark and its p-value."""
    score = compared.score(name, metric)
    p_value = "" if score.p_value is None else f" (p {score.p_value:.3f})"
    return f"{score.value:.2f}{score.mark}{p_value}"


def source_words(outputs: dict[str, list[Translation]]) -> int:
    """Words of the source, as the plain system sees them."""
    return sum(len(one.source) for one in outputs["copied"])


def word_places(one: Translation, places: Sequence[int]) -> set[int]:
    """The numbers of the words that tokens belong to."""
    return {number_of_word(one.source, place) for place in places}


def number_of_word(tokens: Sequence[str], place: int) -> int:
    """Which word a token belongs to; a word that was split begins with its mark."""
    if not any(token.startswith(WORD) for token in tokens):
        return place
    return sum(token.startswith(WORD) for token in tokens[: place + 1]) - 1


def produced(one: Translation, word: int) -> set[str]:
    """The target words that are linked to a source word."""
    linked = {tgt for src, tgt in one.links if number_of_word(one.source, src) == word}
    words = whole_words(one.tokens)
    return {words[number_of_word(one.tokens, tgt)] for tgt in linked}


def whole_words(tokens: Sequence[str]) -> list[str]:
    """Tokens, with the pieces of a word put together."""
    if not any(token.startswith(WORD) for token in tokens):
        return list(tokens)
    words: list[str] = []
    for token in tokens:
        if token.startswith(WORD) or not words:
            words.append(token.removeprefix(WORD))
        else:
            words[-1] += token
    return words


def usual_words(path: Path, system: System) -> set[str]:
    """The words that come so often that finding one says nothing."""
    assert system.text is not None
    counts = Counter(word for line in lines(path) for word in system.text[1].prepare(line))
    return {word for word, _ in counts.most_common(FREQUENT)}


def trained(pair: str, folder: Path, name: str, *, tuned: bool) -> System:
    """The system of a variant; stages that variants share are made once."""
    langs = pair.split("-")
    files = {part: [folder / f"{part}.{lang}" for lang in langs] for part in ("train", "dev")}
    src, tgt = files["train"]
    planned = plan(src, tgt, {**QUICK, **VARIANTS[name]}, dev=files["dev"])
    with Store(folder / "work", threads=2) as store:
        if not tuned:
            system = system_of(planned, store)
            return system.with_weights(usual(system.weights))
        if name != "speller":
            return assemble(folder / name, planned, store)
        return system_of(planned, store, System.open(folder / "copied").weights)


def split(pair: str, folder: Path) -> None:
    """Write the text to train on, the lines held out of it, and the sets of the pack."""
    folder.mkdir(parents=True, exist_ok=True)
    src, tgt = pair.split("-")
    for lang in (src, tgt):
        text = packed(pair, f"train.{lang}")
        step = len(text) // HELD_OUT
        is_held = [n % step == step - 1 and n // step < HELD_OUT for n in range(len(text))]
        kept = [line for line, held in zip(text, is_held, strict=True) if not held]
        write(folder / f"train.{lang}", kept)
        write(folder / f"held.{lang}", [t for t, held in zip(text, is_held, strict=True) if held])
        write(folder / f"dev.{lang}", packed(pair, f"dev.{lang}")[:DEV])
    for lang in (src, *PAIRS[pair]):
        write(folder / f"test.{lang}", packed(pair, f"test.{lang}"))


def packed(pair: str, name: str) -> list[str]:
    """The lines of a file of the pack."""
    with lzma.open(SHARED / "data" / pair / f"{name}.xz", "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line in islice(file, None)]


def lines(path: Path) -> list[str]:
    """The lines of a file."""
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def write(path: Path, text: Sequence[str]) -> None:
    """Write lines."""
    path.write_text("".join(f"{line}\n" for line in text), encoding="utf-8")


def main() -> None:
    """Measure in a folder that stays, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", default=[], choices=PAIRS)
    parser.add_argument("--tuned", action="store_true")
    args = parser.parse_args()
    if not SHARED.is_dir():
        parser.exit(1, "the real data folder ../shared is not there\n")
    measured = rows(args.folder, args.only, tuned=args.tuned)
    show(measured)
    if not args.only and not args.tuned:
        print(f"written to {write_result('unseen', measured)}")


if __name__ == "__main__":
    main()
