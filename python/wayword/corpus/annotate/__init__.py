"""Sentences with part-of-speech tags, chunks and heads: their files, and what annotates them.

In: plain sentences, treebanks, factored text. Out: ``Sentence``, frozen, positions from 0.
How: one interface, ``Annotator``, over a tagger learned from any treebank, word classes learned
from plain text, gold annotation, and spaCy, Stanza or UDPipe where they are installed.
Cost: linear, a batch of sentences in memory.
Not: tokenisation, morphology, parsing of our own; enhanced graphs of CoNLL-U.

>>> words, tags = ("die", "kleine", "Katze", "schläft"), ("DET", "ADJ", "NOUN", "VERB")
>>> sentence = Sentence(words, tags, (Chunk("NP", 0, 2),))
>>> sentence.chunk_types(), sentence.chunk_heads()
(('NP', 'NP', 'NP', 'O'), (2, 2, 2, 3))
>>> factored(sentence)
'die|DET|B-NP kleine|ADJ|I-NP Katze|NOUN|I-NP schläft|VERB|O'
"""

from wayword.corpus.annotate.annotator import (
    KINDS,
    Annotator,
    annotator_from_manifest,
    open_annotator,
)
from wayword.corpus.annotate.cached import annotate_file
from wayword.corpus.annotate.chunks import derive_chunks
from wayword.corpus.annotate.classes import Classes, ClassSummary
from wayword.corpus.annotate.conllu import conllu_lines, read_conllu, write_conllu
from wayword.corpus.annotate.external import Spacy, Stanza, Udpipe
from wayword.corpus.annotate.factored import (
    factored,
    parse_factored,
    read_factored,
    write_factored,
)
from wayword.corpus.annotate.gold import Gold
from wayword.corpus.annotate.mismatch import Mismatch, compare_tokens
from wayword.corpus.annotate.score import Score, score
from wayword.corpus.annotate.sentence import OUTSIDE, ROOT, Chunk, Sentence
from wayword.corpus.annotate.tagger import Tagger
from wayword.corpus.annotate.treebank import read_annotated, read_treebank

__all__ = [
    "KINDS",
    "OUTSIDE",
    "ROOT",
    "Annotator",
    "Chunk",
    "ClassSummary",
    "Classes",
    "Gold",
    "Mismatch",
    "Score",
    "Sentence",
    "Spacy",
    "Stanza",
    "Tagger",
    "Udpipe",
    "annotate_file",
    "annotator_from_manifest",
    "compare_tokens",
    "conllu_lines",
    "derive_chunks",
    "factored",
    "open_annotator",
    "parse_factored",
    "read_annotated",
    "read_conllu",
    "read_factored",
    "read_treebank",
    "score",
    "write_conllu",
    "write_factored",
]
