"""The first stages of a training run: clean text, prepared text, links.

In: two files of raw text, perhaps a dev set and links. Out: stages (see ``wayword.stage``) whose
folders hold ``train.src``, ``train.tgt``, ``dev.src``, ``dev.ref0`` …, ``links``, ``aligner``.
How: each stage is a function that describes it and a function ``make_…`` that does it.
Not: the models of a system; the parts say how they are made (``wayword.parts``).
"""

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import chain, product, repeat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from wayword import align
from wayword.align.misalignment import AlignmentCheck, find_misalignment
from wayword.align.stream import align_pairs
from wayword.corpus import Bitext, doctor
from wayword.corpus.files import check_line_counts, count_lines, is_compressed, new_file, open_text
from wayword.corpus.formats import columns_of, format_of, read_pairs
from wayword.corpus.pieces import evenly
from wayword.corpus.subwords import Options as SubwordOptions
from wayword.corpus.subwords import Subwords
from wayword.corpus.text import MEMORY, Preparation
from wayword.corpus.truecase import Truecaser
from wayword.errors import ArgumentError, MismatchError
from wayword.gather import corpus_of_lines
from wayword.options import check_range
from wayword.shards import (
    BLOCK,
    CLEAN,
    prepared,
    spread_aligner,
    spread_clean,
    spread_fit,
    spread_links,
    spread_text,
)
from wayword.stage import File, Input, Result, Stage, Work
from wayword.store import alias
from wayword.types import FilePath, Progress

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "SIDES",
    "Text",
    "align_stage",
    "check_evaluation",
    "clean_stage",
    "evaluation_stage",
    "load_preparation",
    "text_stage",
]

log = logging.getLogger(__name__)
SIDES = ("src", "tgt")
DEV_SHARE, DEV_LEAST, DEV_MOST = 20, 50, 1000  # one line of so many is held out, within limits


@dataclass(frozen=True, kw_only=True)
class Text:
    """How raw text becomes tokens."""

    #: the languages, such as ``de``; empty: from the names of the files
    src: str = ""
    tgt: str = ""
    #: see ``wayword.corpus.tokenizer``; ``none`` when the text is tokenised already
    src_tokenizer: str = "auto"
    tgt_tokenizer: str = "auto"
    #: ``truecase``, ``lower`` or ``keep``
    case: str = "truecase"
    #: compose Unicode characters
    nfc: bool = True
    #: pairs with a longer side, in tokens, are left out
    max_length: int = 80
    #: pairs held out when no dev set is given; 0: a twentieth, 50 to 1000
    dev_size: int = 0

    def __post_init__(self) -> None:
        """Refuse what makes no sense; tokenizers are chosen when the languages are known."""
        check_range("max_length", self.max_length, 1)
        check_range("dev_size", self.dev_size, 0)
        for side in SIDES:
            self._check(side)

    def _check(self, side: str) -> None:
        """Refuse a wrong language, and a wrong tokenizer even when the language is not known."""
        try:
            self.preparation(side, self.language(side) or "en")
        except ArgumentError as error:
            key, _, rest = str(error).partition(":")
            name = {"lang": side, "tokenizer": f"{side}_tokenizer"}.get(key, key)
            raise ArgumentError(f"{name}:{rest}") from None

    def language(self, side: str) -> str:
        """The language of a side."""
        return str(getattr(self, side))

    def preparation(self, side: str, lang: str = "") -> Preparation:
        """How text of a side is prepared; truecaser and subwords are still to be learned."""
        tokenizer = getattr(self, f"{side}_tokenizer")
        lang = lang or self.language(side)
        return Preparation(lang, tokenizer=tokenizer, case=self.case, nfc=self.nfc)


def load_preparation(
    text: Result,
    side: str,
    options: Text,
    *,
    read: Callable[[Path], Truecaser] = Truecaser.load,
) -> Preparation:
    """How a finished text stage prepared a side.

    With ``Truecaser.open`` to ``read`` it takes little memory, and the files must stay.
    """
    table, pieces = text / f"truecaser.{side}", text / f"subwords.{side}"
    return replace(
        options.preparation(side),
        truecaser=read(table) if table.exists() else None,
        subwords=Subwords.load(pieces) if pieces.exists() else None,
    )


def clean_stage(src: FilePath | Stage, tgt: FilePath | None, options: doctor.Options) -> Stage:
    """Take out the lines that would do harm, of two files or of gathered text."""
    inputs: dict[str, Input]
    if isinstance(src, Stage):
        inputs = {"gathered": src}
    else:
        assert tgt is not None, "two files"
        inputs = {"src": File(src), "tgt": File(tgt)}
    chosen = {name: value for name, value in vars(options).items() if name != "memory"}
    return Stage("doctor", make_clean, chosen, inputs, version=3, memory=options.memory)


def make_clean(work: Work) -> dict[str, Any]:
    """Write the clean pair, and what was taken out."""
    gathered = work.inputs.get("gathered")
    sides = [work.inputs[side] if gathered is None else gathered / f"in.{side}" for side in SIDES]
    check = _check_alignment((sides[0], sides[1]), work.options["allow"])
    lines = _lines_to_cut(sides)
    if work.shards(lines) > 1:
        report = spread_clean(work, sides, lines, work.options)
    else:
        report = _examined(work, sides)
    if not report.clean:
        shown = " ".join(map(str, sides))
        raise MismatchError(f"{sides[0]}: no line pair is clean; see `wayword doctor {shown}`")
    facts = {"lines": report.src_lines, "clean": report.clean, "cleaned": report.cleaned}
    return {**facts, "problems": report.counts, "alignment": check.to_dict()}


def _check_alignment(
    files: tuple[Path, Path],
    allow: Sequence[str],
    *,
    names: tuple[Path, Path] | None = None,
    teacher: tuple[Path, Path] | None = None,
) -> AlignmentCheck:
    """Refuse two files whose lines do not belong together, unless that is allowed.

    ``names`` are the files to name in the message; ``teacher`` is parallel text, for small files.
    """
    kind = doctor.MISALIGNED[0]
    if kind in allow:
        return AlignmentCheck("untested", 0, 0, reason=f"`doctor.allow` has `{kind}`")
    check = find_misalignment(*files, teacher=teacher)
    if check.is_misaligned:
        kinds = json.dumps([*allow, kind], separators=(",", ":"))
        raise MismatchError(check.message(*(names or files), f"--set 'doctor.allow={kinds}'"))
    return check


def _lines_to_cut(sides: Sequence[Path]) -> int:
    """How many lines both files have; 0 when they cannot be cut at the same lines."""
    if any(map(is_compressed, sides)):
        return 0
    src, tgt = map(count_lines, sides)
    return src if src == tgt else 0


def _examined(work: Work, sides: Sequence[Path]) -> doctor.Report:
    """Write the clean pair and what was taken out, in one go."""
    copies = work.out / CLEAN[0], work.out / CLEAN[1]
    for copy, path in zip(copies, sides, strict=True):
        alias(path.resolve(), copy)
    options = {**work.options, "memory": work.memory, "temp_dir": work.out}
    report = doctor.examine(*copies, out=work.out / "clean", progress=work.progress, **options)
    for copy in copies:
        copy.unlink()
    return report


def text_stage(
    clean: Stage,
    options: Text,
    *,
    held_out: bool,
    subwords: SubwordOptions | None = None,
    gathered: Stage | None = None,
    glossary: Stage | None = None,
    memory: str = MEMORY,
) -> Stage:
    """Tokenise; hold out a dev set if none is given; drop pairs that are too long.

    Pairs of a glossary come after the others: links and phrases are learned from them too.
    """
    chosen: dict[str, Any] = {"text": options, "held_out": held_out}
    if subwords is not None and subwords.kind:
        chosen["subwords"] = subwords
    inputs: dict[str, Input] = {"clean": clean}
    inputs |= {"gathered": gathered} if gathered is not None else {}
    inputs |= {"glossary": glossary} if glossary is not None else {}
    return Stage("prepare", make_text, chosen, inputs, version=2, memory=memory)


def make_text(work: Work) -> dict[str, Any]:
    """Write the training text, and the dev set if it is held out."""
    options, held_out = work.options["text"], work.options["held_out"]
    clean, glossary = work.inputs["clean"], work.inputs.get("glossary")
    size = clean.facts["clean"]
    wanted = options.dev_size or min(DEV_MOST, max(DEV_LEAST, size // DEV_SHARE))
    if held_out and 2 * wanted > size:
        found = f"found {size} clean pairs; expected {2 * wanted} to hold out {wanted}"
        raise MismatchError(f"dev: {found}; give a dev set or a smaller `text.dev_size`")
    every = size // wanted if held_out else 0
    with ExitStack() as shards, _Split(work.out, options.max_length) as split:
        sides, terms = [], []
        for side, preparation in _learned(work).items():
            sides.append(_side(work, side, preparation, shards))
            if glossary is not None:
                terms.append(prepared(preparation, open_text(glossary / f"in.{side}"), 1))
        pairs = _counted(zip(*sides, strict=True), size, work.progress)
        for number, (pair, corpus) in enumerate(zip(pairs, _corpora(work), strict=True)):
            is_dev = every and number % every == every - 1 and split.counts["dev"] < wanted
            split.put(pair, "dev" if is_dev else "pairs", corpus)
        for pair in zip(*terms, strict=True):
            split.put(pair, "glossary")
    return {**split.counts, **_shares(work, split)}


def _learned(work: Work) -> dict[str, Preparation]:
    """How each side is prepared, as its text teaches; what was learned is written."""
    options, chosen = work.options["text"], work.options.get("subwords")
    raw = {side: work.inputs["clean"] / "clean" / f"in.{side}" for side in SIDES}
    learned = {side: _fitted(work, side, options.preparation(side)) for side in SIDES}
    if chosen is None:
        return learned
    size = work.inputs["clean"].facts["clean"]
    if 0 < chosen.sentences < size:
        taken = f"{chosen.sentences} of {size} pairs, at equal steps (`sentences`)"
        log.info("subwords: takes %s", taken)
    lines = {side: evenly(open_text(raw[side]), size, chosen.sentences) for side in SIDES}
    words = {side: map(learned[side].words, lines[side]) for side in SIDES}
    if chosen.joint:
        pieces = dict.fromkeys(SIDES, Subwords.fit(chain(*words.values()), chosen))
    else:
        pieces = {side: Subwords.fit(words[side], chosen) for side in SIDES}
    for side in SIDES:
        pieces[side].save(work.out / f"subwords.{side}")
    return {side: replace(learned[side], subwords=pieces[side]) for side in SIDES}


def _fitted(work: Work, side: str, preparation: Preparation) -> Preparation:
    """How a side is prepared, with the case of its words learned and written."""
    clean, table = work.inputs["clean"], work.out / f"truecaser.{side}"
    if work.shards(clean.facts["clean"]) > 1:
        return spread_fit(work, clean, f"clean/in.{side}", preparation, table)
    lines = open_text(clean / "clean" / f"in.{side}")
    return preparation.learn(lines, table, memory=work.memory, temp_dir=work.out)


def _side(work: Work, side: str, preparation: Preparation, shards: ExitStack) -> Iterator[str]:
    """The tokens of a side, line by line; shards are kept until ``shards`` is closed."""
    clean = work.inputs["clean"]
    if work.shards(clean.facts["clean"]) == 1:
        return prepared(preparation, open_text(clean / "clean" / f"in.{side}"), work.threads)
    files = {kind: work.out / f"{kind}.{side}" for kind in ("truecaser", "subwords")}
    learned = {kind: path for kind, path in files.items() if path.exists()}
    spread = spread_text(work, clean, f"clean/in.{side}", preparation, learned)
    return shards.enter_context(spread)


def _corpora(work: Work) -> Iterator[int]:
    """The number of each clean line's corpus."""
    clean, gathered = work.inputs["clean"], work.inputs.get("gathered")
    if gathered is None:
        return repeat(0, clean.facts["clean"])
    taken = open_text(clean / "clean" / "quarantine.tsv")
    numbers = (int(line.partition("\t")[0]) for line in taken)
    return corpus_of_lines(gathered.facts["corpora"], numbers)


def _shares(work: Work, split: "_Split") -> dict[str, Any]:
    """How many training pairs each corpus gave, and how much each counts."""
    gathered, glossary = work.inputs.get("gathered"), work.inputs.get("glossary")
    if gathered is None:
        return {}
    corpora = [
        {**corpus, "pairs": split.by_corpus[number]}
        for number, corpus in enumerate(gathered.facts["corpora"])
    ]
    if glossary is not None:
        known = {name: glossary.facts[name] for name in ("name", "weight", "lines", "skipped")}
        corpora.append({**known, "pairs": split.counts["glossary"]})
    return {"corpora": corpora}


def _counted(
    pairs: Iterable[tuple[str, str]], size: int, progress: Progress | None
) -> Iterator[tuple[str, str]]:
    """The same pairs, telling from time to time how many went by."""
    for number, pair in enumerate(pairs):
        if progress is not None and number % BLOCK == 0:
            progress(number, size)
        yield pair


class _Split:
    """The training text and the dev set in the making; pairs that are too long go nowhere."""

    def __init__(self, out: Path, max_length: int) -> None:
        names = ("pairs", "dev", "too_long", "no_words", "src_words", "tgt_words", "glossary")
        self.counts = dict.fromkeys(names, 0)
        self.by_corpus: Counter[int] = Counter()
        self._max_length = max_length
        self._files = ExitStack()
        self._train, self._dev = (
            [self._files.enter_context(new_file(out / name)) for name in names]
            for names in (("train.src", "train.tgt"), ("dev.src", "dev.ref0"))
        )

    def put(self, pair: tuple[str, str], where: str, corpus: int = 0) -> None:
        """Write a pair to the ``dev`` set, or to the training text as ``pairs`` or ``glossary``."""
        words = [len(line.split()) for line in pair]
        if max(words) > self._max_length:
            self.counts["too_long"] += 1
            return
        if min(words) == 0:
            self.counts["no_words"] += 1
            return
        self.counts[where] += 1
        if where == "pairs":
            self.by_corpus[corpus] += 1
            self.counts["src_words"] += words[0]
            self.counts["tgt_words"] += words[1]
        files = self._dev if where == "dev" else self._train
        for file, line in zip(files, pair, strict=True):
            print(line, file=file)

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *error: Any) -> None:
        self._files.__exit__(*error)


def evaluation_stage(
    text: Stage, files: Sequence[FilePath], name: str, options: Text, allow: Sequence[str] = ()
) -> Stage:
    """A source and its references (``dev`` or ``test``), prepared sentence by sentence.

    One file may hold both sides; see ``wayword.corpus.formats``. Sets whose lines do not belong
    together are refused unless ``allow`` has ``misaligned``.
    """
    inputs: dict[str, Input] = {
        "text": text,
        "clean": text.inputs["clean"],
        "files": [File(path) for path in files],
    }
    chosen = {"name": name, "text": options, "allow": list(allow)}
    return Stage(name, make_evaluation, chosen, inputs, version=3)


def make_evaluation(work: Work) -> dict[str, Any]:
    """Write the source as ``NAME.src``, the references as ``NAME.ref0`` and so on.

    ``NAME.src.lengths`` has the number of tokens of each sentence of each line; likewise for the
    references.
    """
    name, files = work.options["name"], work.inputs["files"]
    texts = read_evaluation(files, work.options["text"])
    counts = [len(lines) for lines in texts]
    if len(set(counts)) > 1:
        found = " and ".join(f"{n} in {path}" for n, path in zip(counts, files, strict=True))
        raise MismatchError(f"{name}: found {found}; expected as many lines in each file")
    checks = _check_references(work, texts)
    names = [f"{name}.src", *(f"{name}.ref{number}" for number in range(len(texts) - 1))]
    for raw, target in zip(texts, names, strict=True):
        side = "src" if target.endswith(".src") else "tgt"
        text, options = work.inputs["text"], work.options["text"]
        preparation = load_preparation(text, side, options, read=Truecaser.open)
        with (
            new_file(work.out / target) as file,
            new_file(work.out / f"{target}.lengths") as lengths,
        ):
            for line in raw:
                sentences = preparation.prepare_sentences(line)
                print(*chain.from_iterable(sentences), file=file)
                print(*map(len, sentences), file=lengths)
    alignment = [check.to_dict() for check in checks]
    return {"lines": counts[0], "references": len(texts) - 1, "alignment": alignment}


def _check_references(work: Work, texts: Sequence[Sequence[str]]) -> list[AlignmentCheck]:
    """Refuse references whose lines do not belong to those of the source.

    Raw text is compared, since prepared text may consist of characters.
    """
    files, clean = work.inputs["files"], work.inputs["clean"] / "clean"
    teacher = clean / CLEAN[0], clean / CLEAN[1]
    checks = []
    with TemporaryDirectory(dir=work.out) as folder:
        copies = [Path(folder, str(number)) for number in range(len(texts))]
        for copy, lines in zip(copies, texts, strict=True):
            with new_file(copy) as file:
                file.writelines(f"{line}\n" for line in lines)
        for number, copy in enumerate(copies[1:], 1):
            named = files[0], files[number % len(files)]
            pair = copies[0], copy
            allow = work.options["allow"]
            checks.append(_check_alignment(pair, allow, names=named, teacher=teacher))
    return checks


def check_evaluation(files: Sequence[FilePath], name: str) -> None:
    """Refuse a dev or test set that is not whole, before any work."""
    for path in files:
        with Path(path).open("rb"):
            pass
    if len(files) == 1 and format_of(files[0]) == "pipes":
        expected = "a source and one or more references, or one file that holds both sides"
        raise ArgumentError(f"{name}: found one file; expected {expected}")
    check_line_counts(files)


def read_evaluation(files: Sequence[FilePath], options: Text) -> list[list[str]]:
    """Read the plain text of a dev or test set: the source, then its references."""
    if len(files) > 1:
        return [list(open_text(path)) for path in files]
    path = Path(files[0])
    kind = format_of(path)
    pairs = list(read_pairs(path, kind, columns_of(path, kind, (options.src, options.tgt))))
    return [[pair[side] for pair in pairs] for side in (0, 1)]


def align_stage(
    text: Stage, links: FilePath | None, options: align.Options, *, name: str = "align"
) -> Stage:
    """Link the words, and keep the aligner for evaluation; given links are taken as they are."""
    given = {} if links is None else {"links": File(links)}
    return Stage(name, make_links, options, {"text": text, **given}, version=3)


def make_links(work: Work) -> dict[str, Any]:
    """Write ``aligner`` and ``links``."""
    text, given = work.inputs["text"], work.inputs.get("links")
    files = text / "train.src", text / "train.tgt"
    options: align.Options = work.options
    room: dict[str, Any] = {"threads": work.threads, "progress": work.progress}
    is_cut = work.shards(count_lines(files[0])) > 1
    if is_cut:
        aligner = spread_aligner(work, options)
    else:
        aligner = align.fit_files(
            [files], model=options.model, memory=options.memory, temp_dir=work.out, **room
        )
    aligner.save(work.out / "aligner")
    if given is not None:
        links = align.Links.read(given, Bitext.read(*files))
        links.write(work.out / "links")
        count = len(links.flat)
    elif is_cut:
        count = spread_links(work, work.out / "aligner", options.symmetrise)
    else:
        count = _stream_links(aligner, files, work.out / "links", options.symmetrise, room)
    if text.facts.get("glossary"):
        _link_terms(work.out / "links", files, text.facts["glossary"])
    return {"links": count}


def _stream_links(
    aligner: align.Aligner,
    files: tuple[Path, Path],
    out: Path,
    symmetrise: str,
    room: dict[str, Any],
) -> int:
    """Write the links of a text that need not fit into memory; how many there are."""
    pairs = zip(*map(open_text, files), strict=True)
    count = 0
    with new_file(out) as file:
        for aligned in align_pairs(aligner, pairs, symmetrise=symmetrise, **room):
            file.writelines(f"{line}\n" for line in aligned.links.lines())
            count += len(aligned.links.flat)
    return count


def _link_terms(path: Path, files: tuple[Path, Path], terms: int) -> None:
    """Link all words of a term to the one word on the other side, which they translate together.

    The terms are the last pairs; where both sides have several words, the aligner knows better.
    """
    first = count_lines(path) - terms
    with new_file(path.with_name("links.whole")) as file:
        lines = zip(open_text(path), *map(open_text, files), strict=True)
        for number, (line, *sides) in enumerate(lines):
            lengths = [len(side.split()) for side in sides] if number >= first else [0]
            every = product(*map(range, lengths)) if min(lengths) == 1 else None
            print(line if every is None else " ".join(f"{s}-{t}" for s, t in every), file=file)
    path.with_name("links.whole").replace(path)
