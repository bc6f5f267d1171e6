"""Score translations, and their word order, with intervals and significance.

Raw text: give the source, outputs, references and languages (--langs); everything is split into
words the same way, linked by an aligner (--aligner, one learned --align-on a bitext, or the one of
a trained system, --like), and tagged if there is a --tagger. The first output is the baseline.

Text that is tokenised already: HYP REF... alone. BLEU, chrF, TER, NIST, METEOR and RIBES need text
alone; metrics of word order need the source and its links with each output (--links) and each
reference (--ref-links), or a saved aligner that makes them (--aligner).

example: wayword evaluate --src test.de --hyp mine.en theirs.en --ref test.en --langs de en
             --align-on train.de train.en --tagger de.tagger
         wayword evaluate out.en ref.en
         wayword evaluate base.en ref1.en ref2.en --system new=new.en --metrics bleu,chrf
         wayword evaluate out.en ref.en --src test.de --links out.links --ref-links ref.links
             --pos test.pos --worst 5
"""

import argparse
import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wayword.cli.terminal import add_json, add_seed, bar, print_json
from wayword.errors import ArgumentError

if TYPE_CHECKING:
    from wayword.evaluate.raw import Judged

HELP = "score translations and their word order, with significance"
OPTIONS = ("lowercase", "smooth", "refchoice", "norm", "alpha", "threads")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("given", metavar="FILE", nargs="*", help="HYP REF…: an output and its references")
    add("--hyp", nargs="+", default=[], metavar="FILE", help="outputs, the first the baseline")
    add("--ref", nargs="+", default=[], metavar="FILE", help="references, line by line")
    add("--system", metavar="NAME=FILE", action="append", default=[], help="another output")
    add("--name", metavar="NAME", help="what to call the first output (default: its file's name)")
    add("--metrics", metavar="LIST", help="such as bleu,krs,ribes (default: all the usual ones)")
    add("--src", metavar="FILE", help="source text; word order needs it")
    add("--langs", nargs=2, metavar="LANG", help="all text is raw, in these languages: de en")
    add("--like", metavar="SYSTEM", help="text is raw; words and aligner are those of a system")
    add("--align-on", nargs=2, metavar="FILE", help="learn an aligner from this raw bitext")
    add("--aligner", metavar="PATH", help="a saved aligner makes the links that are not given")
    add("--tagger", metavar="NAME", help="tags the source, for metrics of verbs; as in annotate")
    add("--links", metavar="FILE", action="append", default=[], help="source-output, per output")
    add(
        "--ref-links", metavar="FILE", action="append", default=[], help="source-reference, per REF"
    )
    add("--pos", metavar="FILE", help="source tags for KRS-V: word|POS, or tags alone")
    add(
        "--verbs", metavar="LIST", default="VERB,AUX", help="tags that count (default VERB,AUX; V*)"
    )
    add("--weights", metavar="FILE", help="instead of tags, a number for each source word")
    add("--tokenize", metavar="NAME", default="auto", help="of sacrebleu, or none (auto)")
    add("--lowercase", action="store_true", help="ignore case in BLEU, chrF and NIST too")
    add("--smooth", metavar="NAME", default="exp", help="of BLEU: none, floor, add-k, exp (exp)")
    add("--refchoice", metavar="HOW", default="closest", help="of KRS: closest, average (closest)")
    add("--norm", metavar="HOW", default="weights", help="of KRS-V: weights, literal (weights)")
    add("--alpha", type=float, default=0.5, metavar="A", help="share of KRS in LRscore (0.5)")
    add("--test", metavar="NAME", default="randomization", help="or bootstrap (randomization)")
    add("--rounds", type=int, default=10_000, metavar="N", help="of the test (10000)")
    add("--resamples", type=int, default=1000, metavar="N", help="for intervals (1000)")
    add("--bins", metavar="LIST", default="10,20,30,40", help="ends of length bins (10,20,30,40)")
    add("--worst", type=int, default=0, metavar="N", help="draw the N sentences ordered worst")
    add("--threads", type=int, default=os.cpu_count() or 1, metavar="N", help="processes for TER")
    add_seed(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Measure and print."""
    from wayword.evaluate import Options, drill
    from wayword.report.case import draw
    from wayword.report.evaluate import describe

    options = Options(**{name: getattr(args, name) for name in OPTIONS})
    hyps, refs = _texts(args)
    judge = _judge_raw if args.langs or args.like else _judge_words
    with bar("evaluate", " scores") as progress:
        judged = judge(args, hyps, refs, options, progress)
    cases = {
        output.name: drill.worst(judged.gold, output, args.worst, options)
        for output in judged.outputs
        if args.worst
    }
    if args.json:
        worst = {name: list(map(asdict, of_system)) for name, of_system in cases.items()}
        print_json({**judged.result.to_dict(), "worst": worst})
        return
    print(describe(judged.result))
    for name, of_system in cases.items():
        print(f"\n{name}: ordered worst", *map(draw, of_system), sep="\n\n")


def _texts(args: argparse.Namespace) -> tuple[list[tuple[str | None, str]], list[str]]:
    """Outputs with their names, and references."""
    first = args.given[:1]
    hyps: list[tuple[str | None, str]] = [(None, path) for path in (*first, *args.hyp)]
    refs = [*args.given[1:], *args.ref]
    if not hyps or not refs:
        found = f"found {len(hyps)} outputs and {len(refs)} references"
        raise ArgumentError(f"evaluate: {found}; expected HYP REF…, or --hyp and --ref")
    if args.name:
        hyps[0] = (args.name, hyps[0][1])
    return [*hyps, *map(_named, args.system)], refs


def _compared(args: argparse.Namespace, progress: Any) -> dict[str, Any]:
    """How systems are compared."""
    return {
        "test": args.test,
        "rounds": args.rounds,
        "resamples": args.resamples,
        "seed": args.seed,
        "bins": _lengths(args.bins),
        "progress": progress,
    }


def _judge_words(
    args: argparse.Namespace,
    hyps: list[tuple[str | None, str]],
    refs: list[str],
    options: Any,
    progress: Any,
) -> "Judged":
    """Text whose words are what white space separates."""
    from wayword.evaluate import compare, read
    from wayword.evaluate.raw import Judged, tokeniser_for

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
    )
    outputs = read.read_outputs(hyps, gold, args.links, args.aligner)
    tokenize, note = args.tokenize, ""
    if tokenize == "auto":
        texts = {output.name: output.lines for output in outputs}
        texts |= {Path(path).name: ref for path, ref in zip(refs, gold.refs, strict=True)}
        tokenize, note = tokeniser_for(texts)
        if note and gold.ref_links is not None:
            note += "; give --langs to have word order judged on such words too"
    metrics = args.metrics and args.metrics.split(",")
    options = replace(options, tokenize=tokenize)
    result = compare(gold, outputs, metrics, options=options, **_compared(args, progress))
    notes = (*result.notes, *([note] if note else []))
    return Judged(replace(result, notes=notes), gold, tuple(outputs))


def _judge_raw(
    args: argparse.Namespace,
    hyps: list[tuple[str | None, str]],
    refs: list[str],
    options: Any,
    progress: Any,
) -> "Judged":
    """Raw text on all sides."""
    from wayword.align import Aligner
    from wayword.corpus.annotate import open_annotator
    from wayword.evaluate.raw import Sides, compare_raw, learn_aligner
    from wayword.evaluate.read import read_lines

    if args.src is None:
        raise ArgumentError("--src: missing; raw text is judged with its source")
    sides, path = _system(args) if args.like else (Sides.of(*args.langs), args.aligner)
    tokenize = "none" if args.tokenize == "auto" else args.tokenize
    if args.align_on:
        aligner = learn_aligner(args.align_on, sides, progress=progress)
    elif path:
        aligner = Aligner.load(path)
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
        options=replace(options, tokenize=tokenize),
        **_compared(args, progress),
    )


def _system(args: argparse.Namespace) -> tuple[Any, Any]:
    """How a system makes words of text, and the aligner of its training."""
    from wayword.evaluate.raw import Sides
    from wayword.system import System

    system = System.open(args.like)
    if system.text is None:
        raise ArgumentError(f"--like: {args.like} takes tokenised text; expected one for raw text")
    key = system.made.get("stages", {}).get("align", "")
    path = Path(args.like, "work", f"align-{key}", "aligner")
    if not path.is_file() and not (args.aligner or args.align_on):
        advice = "give --aligner or --align-on as well"
        raise ArgumentError(
            f"--like: {args.like} has no `work` with its aligner any more; {advice}"
        )
    return Sides(*system.text), args.aligner or path


def _named(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise ArgumentError(f"system: found `{text}`; expected NAME=FILE")
    return name, path


def _lengths(text: str) -> list[int]:
    try:
        return [int(edge) for edge in text.split(",") if edge]
    except ValueError:
        wanted = "numbers of words such as 10,20,30"
        raise ArgumentError(f"bins: found `{text}`; expected {wanted}") from None
