"""Score the word order of any translation, from a person, a service or a language model.

    python examples/score_word_order.py

Raw text in, no system needed: an aligner is learned from a bitext of the two languages, and then
says where each source word went, in the reference and in every output. Two made-up systems stand
here for yours: one that never moves a verb, and one that is right half of the time.
"""

from tempfile import TemporaryDirectory

from wayword.corpus import toy
from wayword.evaluate.raw import Sides, compare_raw, learn_aligner
from wayword.report.evaluate import describe


def in_source_order(pair: toy.ToyPair) -> str:
    """The translation with its words where their source words stand."""
    places = {tgt: src for src, tgt in reversed(pair.links)}
    order = sorted(range(len(pair.tgt)), key=lambda at: (places.get(at, at), at))
    return " ".join(pair.tgt[at] for at in order)


def main() -> None:
    """Judge both, with intervals and significance."""
    with TemporaryDirectory() as folder:
        toy.write("de-en", 800, folder, seed=1)
        sides = Sides.of("de", "en")
        aligner = learn_aligner([f"{folder}/train.de", f"{folder}/train.en"], sides)
    test = list(toy.generate("de-en", 200, seed=2))
    refs = [" ".join(pair.tgt) for pair in test]
    still = [in_source_order(pair) for pair in test]
    mixed = [
        ref if at % 2 else other for at, (ref, other) in enumerate(zip(refs, still, strict=True))
    ]
    judged = compare_raw(
        [" ".join(pair.src) for pair in test],
        [refs],
        {"verbs stay": still, "half right": mixed},
        sides=sides,
        aligner=aligner,
        metrics=["bleu", "krs-linked", "reversals"],
        rounds=1000,
    )
    print(describe(judged.result))


if __name__ == "__main__":
    main()
