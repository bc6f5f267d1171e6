"""Bench of the audit: errors made in real translations, and how many of them it finds.

``python -m bench.audit fit`` learns the numbers of ``wayword/audit/calibration.py`` from training
text held out of the aligners' training, and prints them; ``python -m bench.run audit`` measures on
dev sets that the fit never saw, and the main kinds on test sets. Errors are made by
``bench.mistakes`` in one line of ten, in copies of the text until there are enough. An error is
found when a finding of a fitting kind touches the words concerned; precision counts every other
line that has such a finding as wrong. Beside it stands a filter that flags lines of odd length
ratio, 3 % of the held-out text.
"""

import lzma
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import SHARED
from bench.mistakes import MISTAKES, Mistake, make_mistakes
from wayword.align import Aligner, fit
from wayword.audit import AuditText, calibration, finding
from wayword.audit.evidence import gather
from wayword.audit.judge import find_candidates
from wayword.corpus import Bitext
from wayword.corpus.text import Preparation

PAIRS = ("de-en", "ja-en", "zh-en")
TRAIN, HELD_OUT = 40_000, 2_000  # lines
ERRORS, LEARNED = 1000, 600  # of each kind: measured, and learned from
COPIES = 8  # of a text, at most, to make so many errors
PRIOR = 0.1  # lines with an error of a kind
FLAGGED = 0.03  # untouched lines that may be flagged

#: Kinds of findings that count for a made error.
FITTING = {
    "clause dropped": ("left-out",),
    "word dropped": ("left-out", "term"),
    "word added": ("added",),
    "number changed": ("number",),
    "term exchanged": ("term", "left-out", "added"),
    "clauses exchanged": ("order",),
    "name misspelled": ("name",),
}
#: The made errors from which each model is learned.
LEARNED_FROM = {
    "left-out clause": "clause dropped",
    "left-out word": "word dropped",
    "added clause": "source clause dropped",
    "added word": "word added",
    "number": "number changed",
    "name": "name misspelled",
    "term": "term exchanged",
    "order": "clauses exchanged",
}


Words = Sequence[Sequence[str]]
Sides = tuple[list[list[str]], list[list[str]]]


@dataclass(frozen=True)
class Corpus:
    """An aligner, and words of both sides in two parts."""

    pair: str
    aligner: Aligner
    held_out: Sides
    dev: Sides


# --- text ----------------------------------------------------------------------------------------


def load(pair: str, work: Path) -> Corpus:
    """The text of a pair, prepared, and its aligner; kept in a folder for the next time."""
    langs = pair.split("-")
    train, dev = (
        [_prepared(pair, part, lang, work) for lang in langs] for part in ("train", "dev")
    )
    path = work / f"{pair}.aligner"
    if not path.exists():
        sides = ([" ".join(words).lower() for words in side[:TRAIN]] for side in train)
        fit(Bitext.from_pairs(zip(*sides, strict=True))).save(path)
    rest = [side[TRAIN : TRAIN + HELD_OUT] for side in train]
    return Corpus(pair, Aligner.load(path), (rest[0], rest[1]), (dev[0], dev[1]))


def _prepared(pair: str, part: str, lang: str, work: Path) -> list[list[str]]:
    path = work / f"{pair}.{part}.{lang}"
    if not path.exists():
        preparation = Preparation(lang)
        raw = SHARED / "data" / pair / f"{part}.{lang}.xz"
        with lzma.open(raw, "rt", encoding="utf-8", newline="\n") as file:
            lines = [" ".join(preparation.prepare(line)) for line in islice(file, TRAIN + HELD_OUT)]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return [line.split() for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def text_of(corpus: Corpus, words: Sides) -> AuditText:
    """The text as the audit takes it."""
    src, tgt = corpus.pair.split("-")
    return AuditText.from_words(words[0], words[1], (src, tgt), lowercase=True)


def spoiled(
    corpus: Corpus, words: Sides, kind: str, errors: int, seed: int
) -> list[tuple[AuditText, dict[int, Mistake]]]:
    """Copies of a text with errors of a kind in one line of ten, and the errors by line."""
    links = gather(text_of(corpus, words), corpus.aligner).links
    copies: list[tuple[AuditText, dict[int, Mistake]]] = []
    left = errors
    while left > 0 and len(copies) < COPIES:
        most = min(left, round(PRIOR * len(words[0])))
        rng = random.Random(f"{kind} {seed} {len(copies)}")
        mistakes = make_mistakes(kind, words, links, most, rng)
        src, tgt = list(words[0]), list(words[1])
        for line, mistake in mistakes.items():
            src[line], tgt[line] = mistake.src, mistake.tgt
        copies.append((text_of(corpus, (src, tgt)), mistakes))
        left -= max(len(mistakes), 1)
    return copies


def is_hit(candidate: finding.Candidate, mistake: Mistake) -> bool:
    """Whether a candidate touches the words that an error concerns."""
    return (
        candidate.kind == "order"
        or bool(mistake.src_places.intersection(candidate.src))
        or bool(mistake.tgt_places.intersection(candidate.tgt))
    )


# --- learning ------------------------------------------------------------------------------------


def learn(work: Path) -> None:
    """Learn everything from held-out text, and print it as it stands in the code."""
    corpora = [load(pair, work) for pair in PAIRS]
    made = {
        kind: [
            (corpus, text, mistakes)
            for corpus in corpora
            for text, mistakes in spoiled(corpus, corpus.held_out, kind, LEARNED, 7)
        ]
        for kind in MISTAKES
    }
    lost, kept = learn_shares(corpora, made)
    calibration.LOST[:], calibration.KEPT[:] = lost, kept
    for name, table in (("LOST", lost), ("KEPT", kept)):
        lines = ("[" + ", ".join(f"{v:.4f}" for v in row) + "]" for row in table)
        print(f"{name} = np.array([\n    " + ",\n    ".join(lines) + ",\n])")
    clean = {c.pair: find_candidates(text_of(c, c.held_out), c.aligner) for c in corpora}
    for model, error in LEARNED_FROM.items():
        weights = learn_model(model, made[error])
        calibration.WEIGHTS[model] = weights
        print(f'    "{model}": ({", ".join(f"{w:.3f}" for w in weights)}),', flush=True)
    worst = [threshold_for(clean[c.pair], len(c.held_out[0]), FLAGGED) for c in corpora]
    print("thresholds", dict(zip(PAIRS, worst, strict=True)))


def learn_shares(corpora: list[Corpus], made: dict[str, Any]) -> tuple[Any, Any]:
    """Shares of linked mass, by rate: of words that lost their partner, and of all words."""
    shape = calibration.LOST.shape
    lost, kept = np.ones(shape), np.ones(shape)

    def count(into: Any, side: Any, rows: Any) -> None:
        bins = calibration.rate_bin(side.rate[rows]), calibration.mass_bin(side.mass[rows])
        np.add.at(into, bins, 1)

    for corpus in corpora:
        evidence = gather(text_of(corpus, corpus.held_out), corpus.aligner)
        for side in (evidence.src, evidence.tgt):
            count(kept, side, slice(None))
    for kind in ("clause dropped", "word dropped", "source clause dropped", "word added"):
        for corpus, text, mistakes in made[kind]:
            evidence = gather(text, corpus.aligner)
            for line, mistake in mistakes.items():
                for side, places in (
                    (evidence.src, mistake.src_places),
                    (evidence.tgt, mistake.tgt_places),
                ):
                    count(lost, side, side.offsets[line] + np.array(sorted(places), dtype=np.int64))
    return tuple(
        np.maximum(np.round(counts / counts.sum(1, keepdims=True), 4), 1e-4)
        for counts in (lost, kept)
    )


def learn_model(model: str, made: list[Any]) -> tuple[float, ...]:
    """A logistic model: hits against what the untouched lines of the same texts give."""
    hits, misses = [], []
    errors = untouched = 0
    for corpus, text, mistakes in made:
        errors += len(mistakes)
        untouched += len(text) - len(mistakes)
        for c in find_candidates(text, corpus.aligner):
            if (c.model or c.kind) != model:
                continue
            if c.line not in mistakes:
                misses.append(c.features)
            elif is_hit(c, mistakes[c.line]):
                hits.append(c.features)
    labels = np.repeat([1.0, 0.0], [len(hits), len(misses)])
    shares = np.where(labels == 1, PRIOR / errors, (1 - PRIOR) / untouched)
    weights = logistic(np.array(hits + misses), labels, shares / shares.mean())
    return tuple(weights.tolist())


def logistic(features: Any, labels: Any, shares: Any, ridge: float = 1.0) -> Any:
    """Weights of a logistic model by Newton's method, the constant first."""
    x = np.column_stack([np.ones(len(features)), features])
    scale = np.maximum(x.std(0), 1e-6)
    scale[0] = 1.0
    x = x / scale
    weights = np.zeros(x.shape[1])
    penalty = np.full(x.shape[1], ridge)
    penalty[0] = 1e-6
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        slope = x.T @ (shares * (labels - p)) - penalty * weights
        curve = (x * (shares * p * (1 - p))[:, None]).T @ x + np.diag(penalty)
        weights = weights + np.linalg.solve(curve, slope)
    return weights / scale


def threshold_for(candidates: list[finding.Candidate], lines: int, share: float) -> float:
    """The lowest threshold at which no more than a share of lines is flagged."""
    best = np.zeros(lines)
    for candidate in candidates:
        best[candidate.line] = max(best[candidate.line], calibration.probability(candidate))
    return float(np.quantile(best, 1 - share))


# --- measuring -----------------------------------------------------------------------------------


def rows(work: Path | None = None) -> list[dict[str, Any]]:
    """All pairs and kinds of errors at the default threshold."""
    with tempfile.TemporaryDirectory() as name:
        folder = work or Path(name)
        corpora = [load(pair, folder) for pair in PAIRS]
        seen = [row for corpus in corpora for row in measure_pair(corpus)]
        return seen + [row for corpus in corpora for row in measure_fresh(corpus, folder)]


def measure_fresh(corpus: Corpus, work: Path) -> list[dict[str, Any]]:
    """The test set, which nobody looked at while the detectors were written."""
    src, tgt = (_prepared(corpus.pair, "test", lang, work) for lang in corpus.pair.split("-"))
    fresh = replace(corpus, dev=(src, tgt))
    candidates = find_candidates(text_of(fresh, fresh.dev), fresh.aligner)
    shown = {c.line for c in candidates if calibration.probability(c) >= calibration.THRESHOLD}
    flagged = {"pair": corpus.pair, "error": "none", "lines": len(src)}
    result: list[dict[str, Any]] = [{**flagged, "flagged": round(len(shown) / len(src), 4)}]
    limits = length_limits(corpus.held_out)
    result += [measure_kind(fresh, kind, limits) for kind in ("number changed", "clause dropped")]
    return [{"text": "test", **row} for row in result]


def measure_pair(corpus: Corpus) -> list[dict[str, Any]]:
    """One row for untouched text, one for each kind of error."""
    text, lines = text_of(corpus, corpus.dev), len(corpus.dev[0])
    start = time.process_time()
    candidates = find_candidates(text, corpus.aligner, threads=1)
    seconds = time.process_time() - start
    shown = [c for c in candidates if calibration.probability(c) >= calibration.THRESHOLD]
    limits = length_limits(corpus.held_out)
    odd = is_odd(corpus.dev, limits)
    flagged = {c.line for c in shown}
    result: list[dict[str, Any]] = [
        {
            "pair": corpus.pair,
            "error": "none",
            "lines": lines,
            "flagged": round(len(flagged) / lines, 4),
            "length filter flags": round(float(odd.mean()), 4),
            "CPU s": round(seconds, 2),
            "findings": dict(Counter(c.kind for c in shown)),
        }
    ]
    return result + [measure_kind(corpus, kind, limits) for kind in FITTING]


def measure_kind(corpus: Corpus, kind: str, limits: tuple[float, float]) -> dict[str, Any]:
    """Precision and recall of a kind of error, ours and those of the length filter."""
    errors = odd_right = odd_wrong = 0
    touched: set[int] = set()
    hits: list[float] = []  # best score of each error that has a candidate
    misses: list[float] = []  # best score of each other line that has one
    for text, mistakes in spoiled(corpus, corpus.dev, kind, ERRORS, 1):
        right, wrong = best_scores(find_candidates(text, corpus.aligner), kind, mistakes)
        hits += right
        misses += wrong
        errors += len(mistakes)
        touched |= mistakes.keys()
        odd = set(np.flatnonzero(is_odd((text.src, text.tgt), limits)).tolist())
        odd_right += len(odd & mistakes.keys())
        odd_wrong += len(odd - mistakes.keys())
    found, false = (sum(p >= calibration.THRESHOLD for p in scores) for scores in (hits, misses))
    return {
        "pair": corpus.pair,
        "error": kind,
        "errors": errors,
        "in lines": len(touched),
        "precision": _share(found, found + false),
        "recall": _share(found, errors),
        "precision at recall 0.7": precision_at(0.7, hits, misses, errors),
        "length precision": _share(odd_right, odd_right + odd_wrong),
        "length recall": _share(odd_right, errors),
    }


def best_scores(
    candidates: list[finding.Candidate], kind: str, mistakes: dict[int, Mistake]
) -> tuple[list[float], list[float]]:
    """By line, the best score of a candidate that hits the error; and of other lines, of any."""
    right: dict[int, float] = {}
    wrong: dict[int, float] = {}
    for c in candidates:
        if c.kind in FITTING[kind]:
            is_right = c.line in mistakes and is_hit(c, mistakes[c.line])
            scores = right if is_right else wrong
            scores[c.line] = max(scores.get(c.line, 0.0), calibration.probability(c))
    return list(right.values()), [p for line, p in wrong.items() if line not in right]


def precision_at(
    recall: float, hits: list[float], misses: list[float], errors: int
) -> float | None:
    """The precision at the threshold that finds this share of the errors; None out of reach."""
    wanted = int(np.ceil(recall * errors))
    if not 0 < wanted <= len(hits):
        return None
    threshold = sorted(hits, reverse=True)[wanted - 1]
    return _share(wanted, wanted + sum(p >= threshold for p in misses))


def length_limits(words: Sides) -> tuple[float, float]:
    """The log length ratios between which 97 % of held-out lines lie."""
    low, high = np.quantile(_log_ratios(words), [FLAGGED / 2, 1 - FLAGGED / 2])
    return float(low), float(high)


def is_odd(words: tuple[Words, Words], limits: tuple[float, float]) -> Any:
    """By line, whether its length ratio is outside the limits."""
    ratios = _log_ratios(words)
    return (ratios < limits[0]) | (ratios > limits[1])


def _log_ratios(words: tuple[Words, Words]) -> Any:
    lengths = [np.array([len(line) + 1 for line in side]) for side in words]
    return np.log(lengths[1] / lengths[0])


def _share(part: float, whole: float) -> float:
    return round(part / whole, 3) if whole else 0.0


if __name__ == "__main__":
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(tempfile.mkdtemp())
    if sys.argv[1:2] == ["fit"]:
        learn(folder)
    else:
        from bench.measure import show, write_result

        measured = rows(folder)
        show(measured)
        write_result("audit", measured)
