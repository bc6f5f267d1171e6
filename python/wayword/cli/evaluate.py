"""Score translations, and their word order, with intervals and significance.

Raw text: give the source, outputs, references and languages (--langs); everything is split into
words the same way, linked by an aligner (--aligner, one learned --align-on a bitext, or the one of
a trained system, --like), and tagged if there is a --tagger. The first output is the baseline.

Text that is tokenized already: HYP REF... alone. BLEU, chrF, TER, NIST, METEOR and RIBES need text
alone; metrics of word order need the source and its links with each output (--links) and each
reference (--ref-links), or a saved aligner that makes them (--aligner).

example: wayword evaluate --src test.de --hyp mine.en theirs.en --ref test.en --langs de en
             --align-on train.de train.en --tagger de.tagger
         wayword evaluate out.en ref.en
         wayword evaluate base.en ref1.en ref2.en --system new=new.en --metrics bleu,chrf
         wayword evaluate out.en ref.en --src test.de --links out.links --ref-links ref.links
             --pos test.pos --worst 5
         wayword evaluate out.de ref.de --metrics words,unseen,cer --src test.old --seen train.old
"""

import argparse
import os
import sys
from dataclasses import asdict, replace
from pathlib import Path

from wayword.cli.terminal import add_json, add_seed, bar, print_json
from wayword.errors import ArgumentError

OPTIONS = ("tokenize", "lowercase", "smooth", "refchoice", "norm", "threads")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("given", metavar="FILE", nargs="*", help="HYP REF…: an output and its references")
    add("--hyp", nargs="+", default=[], metavar="FILE", help="outputs, the first the baseline")
    add("--ref", nargs="+", default=[], metavar="FILE", help="references, line by line")
    add("--system", metavar="NAME=FILE", action="append", default=[], help="another output")
    add("--name", metavar="NAME", help="what to call the first output (default: its file's name)")
    add("--metrics", metavar="LIST", help="such as bleu,reversals (default: the usual ones)")
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
    add("--pos", metavar="FILE", help="source tags, for verbs: word|POS, or tags alone")
    add(
        "--verbs", metavar="LIST", default="VERB,AUX", help="tags that count (default VERB,AUX; V*)"
    )
    add("--weights", metavar="FILE", help="instead of tags, a number for each source word")
    add("--seen", metavar="FILE", help="source text of training, for the metric `unseen`")
    add("--tokenize", metavar="NAME", default="auto", help="of sacrebleu, or none (auto)")
    add("--lowercase", action="store_true", help="ignore case in BLEU, chrF and NIST too")
    add("--smooth", metavar="NAME", default="exp", help="of BLEU: none, floor, add-k, exp (exp)")
    add("--refchoice", metavar="HOW", default="closest", help="of KRS: closest, average (closest)")
    add("--norm", metavar="HOW", default="weights", help="of KRS-V: weights, literal (weights)")
    add(
        "--test",
        metavar="NAME",
        default="randomization",
        help="randomization (default) or bootstrap",
    )
    add("--rounds", type=int, default=10_000, metavar="N", help="rounds of that test (10000)")
    add("--resamples", type=int, default=1000, metavar="N", help="resamples for intervals (1000)")
    add("--bins", metavar="LIST", default="10,20,30,40", help="ends of length bins (10,20,30,40)")
    add("--lines", metavar="FILE", help="score only the sentences with these numbers")
    add("--worst", type=int, default=0, metavar="N", help="draw the N sentences ordered worst")
    add("--html", metavar="FILE", help="also write a page that shows the outputs side by side")
    add("--worst-by", metavar="NAME", help="a metric (krs-v-linked; without tags krs-linked)")
    add("--threads", type=int, default=os.cpu_count() or 1, metavar="N", help="processes for TER")
    add_seed(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Measure and print."""
    from wayword.cli.evaluate_text import judge_raw, judge_words
    from wayword.evaluate import Options, drill
    from wayword.report import side_by_side
    from wayword.report.case import draw
    from wayword.report.evaluate import describe

    options = Options(**{name: getattr(args, name) for name in OPTIONS})
    if args.html and not Path(args.html).absolute().parent.is_dir():
        folder = Path(args.html).parent
        raise ArgumentError(f"--html: {folder} is no folder; expected one to write to")
    hyps, refs = _texts(args)
    judge = judge_raw if args.langs or args.like else judge_words
    with bar("evaluate", " scores") as progress:
        judged = judge(args, hyps, refs, options, progress)
    of_words = replace(options, tokenize="none")
    cases = {
        output.name: drill.worst(judged.gold, output, args.worst, of_words, args.worst_by)
        for output in judged.outputs
        if args.worst
    }
    if args.html:
        side_by_side.write(judged, args.html)
        print(f"wayword: side by side: {args.html}", file=sys.stderr)
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


def _named(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise ArgumentError(f"system: found `{text}`; expected NAME=FILE")
    return name, path
