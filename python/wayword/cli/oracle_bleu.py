"""`wayword oracle bleu`: the best BLEU that spaces make of monotone translations."""

import argparse
import sys

from wayword.cli.terminal import add_json, add_threads, bar, chosen, print_json

CANDIDATES = ("longest", "options_per_span", "mixture", "phrase_bonus", "paths", "keep")


def configure_bleu(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("system", metavar="SYSTEM", help="a system folder, or a phrase table")
    add("src", metavar="SRC", help="source text")
    add("refs", metavar="REF", nargs="+", help="one or more references")
    add("--prepared", action="store_true", help="the text is tokenised already")
    add("--space", nargs="+", metavar="SPACE", help="spaces to compare (those of the paper)")
    add("--bins", type=int, nargs="*", metavar="N", help="longest lengths of bins (5 10 … 40)")
    add("--max-words", type=int, default=40, metavar="N", help="longer sentences are left out (40)")
    add("--longest", type=int, default=3, metavar="N", help="source words of a phrase (3)")
    add("--options-per-span", type=int, default=20, metavar="N", help="translations tried (20)")
    add("--mixture", type=float, default=1.0, metavar="M", help="of p(e|f) and p(f|e) (1)")
    add("--phrase-bonus", type=float, default=0.75, metavar="B", help="added for a phrase (0.75)")
    add("--paths", type=int, default=1000, metavar="N", help="monotone translations (1000)")
    add("--keep", type=int, default=10, metavar="N", help="of them ordered (10)")
    add("--beam", type=float, default=0.0, metavar="P", help="0: exact (0; the paper has 1e-4)")
    add("-o", "--out", metavar="FOLDER", help="write tables, curves and the best strings")
    add_threads(parser)
    add_json(parser)
    parser.set_defaults(action=run_bleu)


def run_bleu(args: argparse.Namespace) -> None:
    """Find candidates, order them in each space, and print the table."""
    from wayword.corpus.files import new_file
    from wayword.oracle.bleu import BINS, SPACES, CandidateOptions, Candidates, bleu_oracle
    from wayword.oracle.space import Space
    from wayword.oracle.texts import read_texts
    from wayword.report.oracle import bleu_table

    options = CandidateOptions(**chosen(args, *CANDIDATES))
    spaces = [Space(space).name for space in args.space or SPACES]
    texts = read_texts(args.system, args.src, args.refs, args.prepared, args.max_words)
    with bar("candidates", " lines") as progress:
        candidates = Candidates.of_table(
            texts.table, texts.src, texts.refs, options, threads=args.threads, progress=progress
        )
    bins = BINS if args.bins is None else args.bins
    with bar("oracle bleu", " lines") as progress:
        result, best = bleu_oracle(
            candidates,
            texts.gold,
            spaces,
            lengths=texts.lengths,
            bins=bins,
            progress=progress,
            **chosen(args, "beam", "threads"),
        )
    if args.out:
        for path in result.write(args.out):
            print(f"wayword: {path}", file=sys.stderr)
        for space, of_space in best.items():
            with new_file(f"{args.out}/{space.replace(':', '-')}.txt") as file:
                file.writelines(f"{one.text}\n" for one in of_space)
    if args.json:
        print_json(result.to_dict())
        return
    print(bleu_table(result).text())
    print(f"\nBLEU (NIST) of {len(texts.src)} sentences; {texts.left_out} longer ones left out")
