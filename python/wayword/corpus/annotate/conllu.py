"""CoNLL-U, the format of treebanks: one word a line, ten columns.

In and out: ``Sentence``. How: tags from UPOS or XPOS, heads and relations from their columns,
chunks from MISC (``Chunk=B-NP``, and ``ChunkHead=Yes`` on a head that was given).
Cost: linear, one sentence in memory.
Not: lemmas, morphology, comments and enhanced graphs.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from wayword.corpus.annotate.factored import escape, unescape
from wayword.corpus.annotate.sentence import (
    OUTSIDE,
    ROOT,
    Sentence,
    chunks_from_tags,
)
from wayword.corpus.files import new_file, open_text
from wayword.errors import ArgumentError, FormatError
from wayword.types import FilePath

__all__ = ["conllu_lines", "read_conllu", "read_multiword", "write_conllu"]

COLUMNS = 10
ID, FORM, UPOS, XPOS, HEAD, DEPREL, MISC = 0, 1, 3, 4, 6, 7, 9
WORD_ID = re.compile(r"[1-9][0-9]{0,8}")
SKIPPED_ID = re.compile(r"[0-9]+[-.][0-9]+")  # a multiword token or an empty node
NONE = "_"
PLAIN_RELATIONS = {"root", "dep", NONE}  # what is written where only heads are known


def read_conllu(path: FilePath, *, tags: str = "upos") -> Iterator[Sentence]:
    """Read words, tags (``upos`` or ``xpos``), heads and chunks (``Chunk=B-NP`` in MISC).

    Words are the syntactic words: of *1-2 zum, 1 zu, 2 dem* they are *zu* and *dem*; empty nodes
    (*1.1*) and comments are left out. A space inside a word becomes ``_``.
    """
    columns = {"upos": UPOS, "xpos": XPOS}
    if tags not in columns:
        raise ArgumentError(f"tags: found `{tags}`; expected one of {', '.join(columns)}")
    rows: list[list[str]] = []
    places: list[str] = []
    for number, line in enumerate(open_text(path), 1):
        if line and not line.isspace():
            row = _conllu_row(line, f"{path}:{number}", len(rows) + 1)
            if row:
                rows.append(row)
                places.append(f"{path}:{number}")
        elif rows:
            yield _from_rows(rows, places, columns[tags])
            rows, places = [], []
    if rows:
        yield _from_rows(rows, places, columns[tags])


def _conllu_row(line: str, place: str, number: int) -> list[str]:
    """The columns of the word with this number; none for other lines."""
    if line.startswith("#"):
        return []
    row = line.split("\t")
    if len(row) != COLUMNS:
        found = f"{place}: {len(row)} columns"
        raise FormatError(f"{found}; expected {COLUMNS} with tabs between them; is this CoNLL-U?")
    if SKIPPED_ID.fullmatch(row[ID]):
        return []
    if row[ID] != str(number):
        found = f"{place}: word number `{row[ID]}`"
        raise FormatError(f"{found}; expected {number}; number the words of a sentence from 1")
    row[FORM] = NONE.join(row[FORM].split())
    if not row[FORM]:
        raise FormatError(f"{place}: no word; expected text in column 2; write `_` for none")
    return row


def _from_rows(rows: Sequence[list[str]], places: Sequence[str], column: int) -> Sentence:
    words = tuple(row[FORM] for row in rows)
    pos = [NONE.join(row[column].split()) or NONE for row in rows]
    misc = [_features(row[MISC]) for row in rows]
    chunks = None
    if any("Chunk" in features for features in misc):
        tags = [features.get("Chunk", OUTSIDE) for features in misc]
        chunks = chunks_from_tags(
            tags, places, [features.get("ChunkHead") == "Yes" for features in misc]
        )
    has_tags = any(tag != NONE for tag in pos)
    heads = _heads(rows, places)
    relations = tuple(NONE.join(row[DEPREL].split()) or NONE for row in rows)
    is_told = heads is not None and not PLAIN_RELATIONS.issuperset(relations)
    return Sentence(
        words, tuple(pos) if has_tags else None, chunks, heads, relations if is_told else None
    )


def _features(misc: str) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in misc.split("|"))
    return {name: unescape(value) for name, _, value in pairs}


def _heads(rows: Sequence[list[str]], places: Sequence[str]) -> tuple[int, ...] | None:
    numbers = [row[HEAD] for row in rows]
    if all(head == NONE for head in numbers):
        return None
    heads = []
    for at, (head, place) in enumerate(zip(numbers, places, strict=True), 1):
        number = int(head) if head == "0" or WORD_ID.fullmatch(head) else -1
        if not 0 <= number <= len(rows) or number == at:
            wanted = f"0 or another word up to {len(rows)}"
            raise FormatError(f"{place}: head `{head}`; expected {wanted}; give all heads or none")
        heads.append(number - 1)
    return tuple(heads)


def write_conllu(path: FilePath, sentences: Iterable[Sentence]) -> None:
    """Write every layer; where only heads are known, relations are ``root`` and ``dep``."""
    with new_file(path) as file:
        for number, sentence in enumerate(sentences, 1):
            if not sentence.words:
                found = f"sentences: number {number} has no words"
                raise ArgumentError(f"{found}; expected one or more, as CoNLL-U has no empty ones")
            for line in conllu_lines(sentence):
                print(line, file=file)


def conllu_lines(sentence: Sentence) -> Iterator[str]:
    """The lines of a sentence, with the empty one after it."""
    given = {chunk.head for chunk in sentence.chunks or ()}
    tags = sentence.chunk_tags() if sentence.chunks is not None else ()
    for at, word in enumerate(sentence.words):
        row = [str(at + 1), word] + [NONE] * (COLUMNS - 2)
        if sentence.pos is not None:
            row[UPOS] = sentence.pos[at]
        if sentence.heads is not None:
            head = sentence.heads[at]
            row[HEAD], row[DEPREL] = str(head + 1), "root" if head == ROOT else "dep"
        if sentence.relations is not None:
            row[DEPREL] = sentence.relations[at]
        if tags:
            row[MISC] = f"Chunk={escape(tags[at])}" + ("|ChunkHead=Yes" if at in given else "")
        yield "\t".join(row)
    yield ""


def read_multiword(path: FilePath) -> Iterator[str]:
    """The forms that a treebank splits into several words, such as *zum*, with repetitions."""
    for line in open_text(path):
        number, _, rest = line.partition("\t")
        if "-" in number and SKIPPED_ID.fullmatch(number):
            yield rest.partition("\t")[0]
