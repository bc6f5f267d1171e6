"""The two ways of ``wayword evaluate``: text that is words already, and raw text."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wayword.errors import ArgumentError

if TYPE_CHECKING:
    from wayword.align import Aligner
    from wayword.evaluate import Options
    from wayword.evaluate.raw import Judged, Sides

#: Outputs: a name, or none for that of the file, and the file.
Hyps = list[tuple[str | None, str]]


def judge_words(
    args: argparse.Namespace,
    hyps: Hyps,
    refs: list[str],
    options: "Options",
    progress: Any,
) -> "Judged":
    """Text whose words are what white space separates."""
    from wayword.evaluate import compare, read
    from wayword.evaluate.raw import Judged
    from wayword.evaluate.tokenizer import settle_tokenizer

    for name in ("align_on", "tagger"):
        if getattr(args, name):
            option = f"--{name.replace('_', '-')}"
            raise ArgumentError(f"{option}: needs --langs, which says how text becomes words")
    gold = read.read_gold(
        refs,
        args.src,
        ref_links=args.ref_links,
        aligner=args.aligner,
        pos=args.pos,
        verbs=args.verbs.split(","),
        weights=args.weights,
        seen=args.seen,
    )
    outputs = read.read_outputs(hyps, gold, args.links, args.aligner)
    metrics = args.metrics and args.metrics.split(",")
    result = compare(gold, outputs, metrics, options=options, **_compared(args, progress))
    if gold.ref_links is not None and settle_tokenizer(options, gold, outputs)[1]:
        advice = "word order is judged on the words between spaces; --langs splits raw text first"
        result = replace(result, notes=(*result.notes, advice))
    return Judged(result, gold, tuple(outputs))


def judge_raw(
    args: argparse.Namespace,
    hyps: Hyps,
    refs: list[str],
    options: "Options",
    progress: Any,
) -> "Judged":
    """Raw text on all sides."""
    from wayword.align import Aligner
    from wayword.corpus.annotate import open_annotator
    from wayword.evaluate.raw import Sides, compare_raw, learn_aligner
    from wayword.evaluate.read import read_lines

    if args.src is None:
        raise ArgumentError("--src: missing; raw text is judged with its source")
    if args.seen:
        raise ArgumentError("--seen: found beside --langs or --like; expected text without them")
    sides, kept = _system(args) if args.like else (Sides.of(*args.langs), None)
    if args.align_on:
        aligner = learn_aligner(args.align_on, sides, progress=progress)
    elif args.aligner:
        aligner = Aligner.load(args.aligner)
    elif kept is not None:
        aligner = kept
    else:
        raise ArgumentError("--langs: no aligner; expected --align-on, --aligner or --like as well")
    named = {name or Path(file).name: read_lines(file) for name, file in hyps}
    if len(named) < len(hyps):
        raise ArgumentError("--hyp: two outputs of one name; expected --system NAME=FILE for them")
    return compare_raw(
        read_lines(args.src),
        [read_lines(file) for file in refs],
        named,
        sides=sides,
        aligner=aligner,
        annotator=open_annotator(args.tagger) if args.tagger else None,
        verbs=args.verbs.split(","),
        metrics=args.metrics and args.metrics.split(","),
        options=options,
        **_compared(args, progress),
    )


def _system(args: argparse.Namespace) -> "tuple[Sides, Aligner | None]":
    """Return the text preparation of a system, and its aligner unless another one is named."""
    from wayword.evaluate.raw import Sides
    from wayword.system import System

    system = System.open(args.like)
    if system.text is None:
        raise ArgumentError(f"--like: {args.like} takes tokenized text; expected one for raw text")
    if args.aligner or args.align_on:
        return Sides(*system.text), None
    if (aligner := system.aligner) is None:
        advice = "give --aligner or --align-on as well"
        raise ArgumentError(f"--like: {args.like} has no aligner; {advice}")
    return Sides(*system.text), aligner


def _compared(args: argparse.Namespace, progress: Any) -> dict[str, Any]:
    """How systems are compared."""
    from wayword.evaluate.read import read_numbers

    return {
        "test": args.test,
        "rounds": args.rounds,
        "resamples": args.resamples,
        "seed": args.seed,
        "bins": _lengths(args.bins),
        "lines": read_numbers(args.lines) if args.lines else None,
        "progress": progress,
    }


def _lengths(text: str) -> list[int]:
    try:
        return [int(edge) for edge in text.split(",") if edge]
    except ValueError:
        wanted = "numbers of words such as 10,20,30"
        raise ArgumentError(f"bins: found `{text}`; expected {wanted}") from None
