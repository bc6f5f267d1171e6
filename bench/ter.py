"""TER beside sacrebleu's, on 20,000 made-up pairs: the same edits, and how much faster.

Pairs are references with blocks moved and words put in, of up to 5, 15, 30 or 60 words out of 2 to
60 different ones. Raises when any count differs.

    python bench/run.py ter
"""

import random
import time
from typing import Any

from wayword.evaluate import Gold, Output, make_metric

BATCH = 500
ROUNDS = 10
LENGTHS = (5, 15, 30, 60)
WORDS = (2, 5, 12, 60)


def rows() -> list[dict[str, Any]]:
    """CPU time of both by the length of the references."""
    from sacrebleu.metrics.ter import TER

    draw = random.Random(7)
    result = []
    for longest in LENGTHS:
        times = [0.0, 0.0]
        for number in range(ROUNDS):
            pairs = [made(draw, longest, WORDS[number % len(WORDS)]) for _ in range(BATCH)]
            texts, refs = [text for text, _ in pairs], [ref for _, ref in pairs]
            theirs, ours = TER(references=[refs]), make_metric("ter", Gold(refs=[refs]))
            start = time.process_time()
            wanted = theirs._extract_corpus_statistics(texts, None)
            middle = time.process_time()
            counted = ours.statistics(Output("x", texts)).tolist()
            times[0] += middle - start
            times[1] += time.process_time() - middle
            if counted != wanted:
                raise SystemExit(f"bench: TER differs from sacrebleu's at {longest} words")
        result.append(
            {
                "case": f"references of up to {longest} words",
                "pairs": BATCH * ROUNDS,
                "CPU s, sacrebleu": round(times[0], 2),
                "CPU s, wayword": round(times[1], 3),
                "times as fast": round(times[0] / times[1], 1),
            }
        )
    return result


def made(draw: random.Random, longest: int, words: int) -> tuple[str, str]:
    """A reference, and a text with blocks moved and words put in."""
    ref = [f"w{draw.randrange(words)}" for _ in range(draw.randrange(longest + 1))]
    text = list(ref)
    for _ in range(draw.randrange(5)):
        if text:
            start = draw.randrange(len(text))
            end = start + draw.randrange(1, 6)
            block = text[start:end]
            del text[start:end]
            place = draw.randrange(len(text) + 1)
            text[place:place] = block
        if draw.random() < 0.4:
            text.insert(draw.randrange(len(text) + 1), f"w{draw.randrange(words)}")
    return " ".join(text), " ".join(ref)
