"""The text that `wayword train` is given: files, corpora with names and weights, a glossary."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wayword.config import Config
    from wayword.corpus.collection import Collection


def with_languages(config: "Config", args: argparse.Namespace) -> "Config":
    """The configuration with the languages that options name."""
    from dataclasses import replace

    given = {"src": args.src_lang, "tgt": args.tgt_lang}
    known = {side: lang for side, lang in given.items() if lang}
    return replace(config, text=replace(config.text, **known)) if known else config


def collection_of(args: argparse.Namespace, config: "Config") -> "Collection":
    """The text that was named: as it stands, and under names of its own."""
    from wayword.corpus.collection import Collection, Corpus, find_pieces

    langs = config.text.src, config.text.tgt
    corpora = [Corpus("text", find_pieces(args.text, langs))] if args.text else []
    for name, *paths in args.corpus:
        title, weight = _weighted(name)
        corpora.append(Corpus(title, find_pieces(paths, langs), weight))
    glossary = None
    if args.glossary:
        pieces = find_pieces(args.glossary, langs)
        glossary = Corpus("glossary", pieces, args.glossary_weight)
    return Collection(tuple(corpora), glossary, tuple(args.columns))


def _weighted(name: str) -> tuple[str, int]:
    from wayword.errors import ArgumentError

    title, colon, weight = name.partition(":")
    if not title or (colon and not weight.isdecimal()):
        expected = "a name, or a name and a whole number, such as news:3"
        raise ArgumentError(f"--corpus: found `{name}`; expected {expected}")
    return title, int(weight or 1)
