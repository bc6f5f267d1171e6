"""Extract phrase pairs and make their table; merge shards; show or export a table.

example: wayword extract train.de train.en train.links -o table
  shards: wayword extract part1.de part1.en part1.links --counts part1
          wayword extract merge part1 part2 -o table
  a look: wayword extract table --show "das haus"
  Moses:  wayword extract table --moses exported/
"""

import argparse

from wayword.cli.terminal import add_json, bar, print_json

USAGE = """wayword extract SRC TGT LINKS (-o TABLE | --counts FILE) [options]
       wayword extract merge COUNTS... -o TABLE [--corpus SRC TGT] [options]
       wayword extract TABLE (--show PHRASE | --moses DIR)"""
FORMS = "`SRC TGT LINKS -o TABLE`, `merge COUNTS... -o TABLE` or `TABLE --show PHRASE`"
COUNTING = ("max_length", "strictness", "memory", "temp_dir", "threads")
MERGING = ("memory", "temp_dir", "threads")
SCORING = ("models", "condition", "smoothing", "discount", "min_count", "top", "significance")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.usage = USAGE
    add = parser.add_argument
    add("inputs", nargs="+", metavar="INPUT", help="two texts and links; merge and counts; a table")
    add("-o", "--out", metavar="TABLE", help="write the table here")
    add("--counts", metavar="FILE", help="write the counts of one shard, for `merge`")
    add("--show", metavar="PHRASE", help="print the options of a source phrase")
    add("--moses", metavar="DIR", help="write phrase-table.gz and reordering-table.gz")
    add("--orientation", metavar="TYPE", help="for --moses (default hier-mslr-bidirectional-fe)")
    add("--corpus", nargs=2, metavar=("SRC", "TGT"), help="for `merge` with --significance")
    add("--max-length", type=int, metavar="N", help="longest phrase in words (default 7)")
    add("--strictness", metavar="WAY", help="strict, or moses for Moses' own results")
    add(
        "--models",
        type=_names,
        metavar="LIST",
        help="of word,phrase,hierarchical (default the last)",
    )
    add("--condition", metavar="ON", help="orientation given fe (pair, default) or f (source)")
    add("--smoothing", type=float, metavar="K", help="added to orientation counts (default 0.5)")
    add("--discount", metavar="WAY", help="none (default), good-turing or kneser-ney")
    add("--min-count", type=int, metavar="N", help="least count of a pair (default 1)")
    add("--top", type=int, metavar="N", help="most pairs of a source phrase (default all)")
    add("--significance", metavar="T", help="least significance: a+e, a-e or a number")
    add("--packed", action="store_true", help="scores of 16 bits")
    add("--memory", metavar="SIZE", help="memory to keep to, such as 500M (default 1G)")
    add("--temp-dir", metavar="DIR", help="where more goes")
    add("--threads", type=int, metavar="N", help="threads (default 0: all)")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Do what the inputs ask for, and print."""
    from wayword.corpus import Bitext
    from wayword.errors import ArgumentError
    from wayword.extract import ORIENTATION, PhraseTable, count, extract, merge
    from wayword.report.extract import describe, describe_options

    given = {name: value for name, value in vars(args).items() if value is not None}
    counting = {name: given[name] for name in COUNTING if name in given}
    scoring = {name: given[name] for name in SCORING if name in given} | {"packed": args.packed}
    summary = None
    with bar("extract", " units") as progress:
        match args.inputs:
            case ["merge", *shards] if args.out and shards:
                corpus = Bitext.read(*args.corpus) if args.corpus else None
                room = {name: counting[name] for name in MERGING if name in given}
                summary = merge(
                    shards, args.out, corpus=corpus, progress=progress, **room, **scoring
                )
            case [src, tgt, links] if args.counts and not args.out:
                count((src, tgt), links, args.counts, progress=progress, **counting)
            case [src, tgt, links] if args.out and not args.counts:
                summary = extract(
                    (src, tgt), links, args.out, progress=progress, **counting, **scoring
                )
            case [table] if not args.out and (args.show is not None or args.moses):
                args.out = table
            case _:
                raise ArgumentError(f"extract: found {' '.join(args.inputs)}; expected {FORMS}")
        if args.moses:
            orientation = args.orientation or ORIENTATION
            table = PhraseTable.open(args.out)
            table.export_moses(args.moses, orientation=orientation, progress=progress)
    if args.show is not None:
        table = PhraseTable.open(args.out)
        options = [option.to_dict() for option in table.options(args.show)]
        print_json(options) if args.json else print(describe_options(table, args.show))
    elif summary is not None:
        print_json(summary.to_dict()) if args.json else print(describe(summary))


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]
