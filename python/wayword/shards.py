"""The shards of stages: pieces of text that are cleaned, prepared, linked, counted by themselves.

In: a stage being done (``Work``) whose runner has room for several shards. Out: what the stage
would have made in one go, byte for byte, whatever the number of shards.
How: a shard is itself a small stage, whose input is a piece of line-aligned files; what comes out
is put together in the order of the text (tokens, links, tags, samples) or added up (forms, phrase
pairs, n-grams).
Cost: a pass over the files to cut them; phrase pairs and n-grams are written, read and merged once
more.
Not: what has to see all text at once: subwords.
"""

import shutil
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, islice, pairwise
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from wayword import align, extract, lm
from wayword.align import parts as align_parts
from wayword.align.parts import Recipe, fit_parts
from wayword.corpus import Bitext, doctor
from wayword.corpus.annotate import annotator_from_manifest, factored
from wayword.corpus.files import count_lines, new_bytes, new_file, size_in_bytes
from wayword.corpus.pieces import bounds, copy_piece, cut, lines_of
from wayword.corpus.subwords import Subwords
from wayword.corpus.text import Preparation
from wayword.corpus.truecase import Truecaser
from wayword.stage import File, Input, Result, Stage, Work
from wayword.store import alias

if TYPE_CHECKING:
    from wayword.reorder import waw

__all__ = [
    "BLOCK",
    "prepared",
    "spread_aligner",
    "spread_clean",
    "spread_fit",
    "spread_links",
    "spread_lm",
    "spread_samples",
    "spread_table",
    "spread_tags",
    "spread_text",
]

CLEAN = ("in.src", "in.tgt")  # what the doctor calls its files
BLOCK = 2000  # lines a process gets at a time
ALONE = 20_000  # lines that are not worth a second process


def spread_clean(
    work: Work, files: Sequence[Path], lines: int, options: Mapping[str, Any]
) -> doctor.Report:
    """Write the clean pair and what was taken out, to the folder ``clean``, examined in shards.

    The two files are not compressed, and have as many lines.
    """
    assert work.spread is not None, "asked for shards"
    starts = bounds(lines, work.shards(lines))
    pieces = [
        {"src": list(src), "tgt": list(tgt), "before": before}
        for (src, tgt), before in zip(cut(files, starts), starts, strict=False)
    ]
    inputs: dict[str, Input] = {"files": [File(path) for path in files]}
    repeated = _repeated(work, pieces, inputs, options)
    chosen = {**options, "scripts": doctor.scripts(*files)}
    shards = [
        Stage("clean", make_piece_clean, {**chosen, "piece": piece}, {**inputs, **lines_of_piece})
        for piece, lines_of_piece in zip(pieces, repeated, strict=True)
    ]
    out = work.out / "clean"
    out.mkdir()
    with work.spread(shards) as results:
        for name in (*CLEAN, "quarantine.tsv"):
            _join([result / "clean" / name for result in results], out / name)
        return doctor.joined([_report_of(result.facts) for result in results])


def _repeated(
    work: Work,
    pieces: Sequence[Mapping[str, Any]],
    inputs: Mapping[str, Input],
    options: Mapping[str, Any],
) -> list[dict[str, Input]]:
    """For each piece a file with its lines that repeat an earlier one; none if that is allowed."""
    assert work.spread is not None, "asked for shards"
    assert work.aside is not None, "asked for shards"
    if "duplicate" in options["allow"]:
        return [{} for _ in pieces]
    chosen = {"allow": options["allow"]}
    shards = [Stage("prints", make_prints, {**chosen, "piece": piece}, inputs) for piece in pieces]
    work.aside.mkdir(parents=True, exist_ok=True)
    outs = [work.aside / f"repeated.{number:05}" for number in range(len(pieces))]
    with work.spread(shards) as results:
        prints = [result / "prints" for result in results]
        doctor.find_repeated(prints, outs, memory=work.memory, temp_dir=work.out)
    return [{"repeated": File(path)} for path in outs]


def make_prints(work: Work) -> None:
    """Write what tells repeated pairs of a piece."""
    src, tgt = work.inputs["files"]
    allow = work.options["allow"]
    doctor.write_fingerprints((src, tgt), _doctors_piece(work), work.out / "prints", allow=allow)


def make_piece_clean(work: Work) -> dict[str, Any]:
    """Examine a piece of raw text."""
    names = work.out / CLEAN[0], work.out / CLEAN[1]
    for name, path in zip(names, work.inputs["files"], strict=True):
        alias(path.resolve(), name)
    chosen = {name: value for name, value in work.options.items() if name != "piece"}
    report = doctor.examine_piece(
        names,
        _doctors_piece(work),
        work.out / "clean",
        repeated=work.inputs.get("repeated"),
        **chosen,
    )
    for name in names:
        name.unlink()
    return report.to_dict()


def _doctors_piece(work: Work) -> doctor.Piece:
    piece = work.options["piece"]
    return doctor.Piece(tuple(piece["src"]), tuple(piece["tgt"]), piece["before"])


def _report_of(facts: Mapping[str, Any]) -> doctor.Report:
    examples = tuple(doctor.Finding(**finding) for finding in facts["examples"])
    return doctor.Report(**{**facts, "examples": examples})


def spread_fit(
    work: Work, text: Result, name: str, preparation: Preparation, table: Path
) -> Preparation:
    """How a text of this name is prepared, with the forms of its words counted in shards.

    The truecaser is written to the file ``table``.
    """
    assert work.spread is not None, "asked for shards"
    if preparation.case != "truecase":
        return preparation
    chosen = {"name": name, "preparation": preparation.to_dict()}
    forms = Stage("forms", make_forms, chosen, version=2, memory=work.memory)
    with work.spread(_line_shards(work, forms, text, is_added_up=True)) as results:
        paths = [result / "forms" for result in results]
        return preparation.learned(preparation.runs(work.out, paths), table)


def make_forms(work: Work) -> None:
    """Count the forms of words in a piece of raw text."""
    preparation = Preparation.from_dict(work.options["preparation"])
    with TemporaryDirectory(dir=work.out) as folder:
        room = size_in_bytes(work.memory)
        preparation.count_runs(_piece_of(work), Path(folder), room).save(work.out / "forms")


@contextmanager
def spread_text(
    work: Work, text: Result, name: str, preparation: Preparation, learned: Mapping[str, Path]
) -> Iterator[Iterator[str]]:
    """Lines of tokens, prepared in shards; ``learned`` are the files of truecaser and subwords."""
    assert work.spread is not None, "asked for shards"
    tokens = Stage("tokens", make_tokens, {"name": name, "preparation": preparation.to_dict()})
    more = {kind: File(path) for kind, path in learned.items()}
    with work.spread(_line_shards(work, tokens, text, more)) as results:
        paths = [result / "tokens" for result in results]
        yield chain.from_iterable(lines_of(path, (0, path.stat().st_size)) for path in paths)


def prepared(preparation: Preparation, lines: Iterator[str], threads: int) -> Iterator[str]:
    """Lines of tokens, by several processes when there is much to do."""
    prepare = partial(_prepared_block, preparation)
    blocks = iter(lambda: list(islice(lines, BLOCK)), [])
    first = list(islice(blocks, ALONE // BLOCK))
    for block in first:
        yield from prepare(block)
    if len(first) < ALONE // BLOCK or threads == 1:
        for block in blocks:
            yield from prepare(block)
        return
    begin, spawn = partial(_begin, preparation), get_context("spawn")
    with ProcessPoolExecutor(threads or None, spawn, begin) as pool:
        try:
            # A few blocks for each process at a time, so that memory does not grow with the text.
            while batch := list(islice(blocks, 16)):
                for done in pool.map(_prepare_block, batch):
                    yield from done
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # what was asked for is not wanted
            raise


#: How a process prepares its blocks; it is told once, as what was learned may be large.
_preparations: list[Preparation] = []


def _begin(preparation: Preparation) -> None:
    """Ctrl-C goes to all processes of a terminal: the first one stops the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _preparations[:] = [preparation]


def _prepare_block(lines: list[str]) -> list[str]:
    return _prepared_block(_preparations[0], lines)


def _prepared_block(preparation: Preparation, lines: list[str]) -> list[str]:
    return [" ".join(preparation.prepare(line)) for line in lines]


def make_tokens(work: Work) -> None:
    """Prepare a piece of raw text."""
    with new_file(work.out / "tokens") as file:
        tokens = prepared(_fitted(work), _piece_of(work), work.threads or 1)
        file.writelines(f"{line}\n" for line in tokens)


#: What this process prepared text by last, and what it was made of.
_last: list[tuple[Any, Preparation]] = []


def _fitted(work: Work) -> Preparation:
    """The preparation with what was learned, read once for all shards of a text."""
    inputs = {name: path for name, path in work.inputs.items() if name != "text"}
    files = [(path, path.stat().st_size, path.stat().st_mtime_ns) for path in inputs.values()]
    key = work.options["preparation"], files
    if not _last or _last[0][0] != key:
        preparation = Preparation.from_dict(work.options["preparation"])
        if "truecaser" in inputs:
            preparation = replace(preparation, truecaser=Truecaser.open(inputs["truecaser"]))
        if "subwords" in inputs:
            preparation = replace(preparation, subwords=Subwords.load(inputs["subwords"]))
        _last[:] = [(key, preparation)]
    return _last[0][1]


def _line_shards(
    work: Work,
    stage: Stage,
    text: Result,
    more: Mapping[str, Input] | None = None,
    lines: int | None = None,
    *,
    is_added_up: bool = False,
) -> list[Stage]:
    """A stage like this one for each piece of the file of a result that its options name.

    ``lines`` are those that count, from the first; None for all. What ``is_added_up`` has many
    entries that several pieces share, so that fewer pieces cost less.
    """
    path = text / stage.options["name"]
    lines = count_lines(path) if lines is None else lines
    count = work.shards(lines)
    pieces = cut([path], bounds(lines, _half(count) if is_added_up else count))
    inputs: dict[str, Input] = {"text": text, **(more or {})}
    return [
        replace(stage, options={**stage.options, "piece": list(piece)}, inputs=inputs)
        for [piece] in pieces
    ]


def _half(count: int) -> int:
    """Half as many shards: one for each task that can run at a time."""
    return -(-count // 2)


def _piece_of(work: Work) -> Iterator[str]:
    return lines_of(work.inputs["text"] / work.options["name"], work.options["piece"])


def spread_aligner(work: Work, options: align.Options) -> align.Aligner:
    """Learn an aligner from a prepared text in parts; a lost process costs one pass over it."""
    assert work.aside is not None, "asked for shards"
    text = work.inputs["text"]
    files = [text / "train.src", text / "train.tgt"]
    lines = count_lines(files[0])
    # Every part counts into a lexicon of its own: half as many as there are shards are enough.
    count = _half(work.shards(lines))
    folder = work.aside / f"learn-{count}"
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for number, pieces in enumerate(cut(files, bounds(lines, count))):
        copies = folder / f"src.{number:05}", folder / f"tgt.{number:05}"
        for path, piece, copy in zip(files, pieces, copies, strict=True):
            copy_piece(path, piece, copy)
        parts.append([copies])
    recipe = Recipe(model=options.model, memory=options.memory)
    return fit_parts(parts, folder, recipe, run=_Tasks(work))


class _Tasks:
    """Runs the tasks of ``wayword.align.parts`` as shards of a stage."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._files: dict[Any, File] = {}  # whose digests are taken once

    def __call__(
        self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
    ) -> list[None]:
        """Have each task write its file, which is then put where it is wanted."""
        assert self._work.spread is not None, "asked for shards"
        shards = [self._shard(function, given) for given in arguments]
        with self._work.spread(shards) as results:
            for result, given in zip(results, arguments, strict=True):
                (result / "out").replace(given[-1])
        return [None] * len(arguments)

    def _shard(self, function: Callable[..., Any], given: Sequence[Any]) -> Stage:
        recipes = [vars(part) for part in given if isinstance(part, Recipe)]
        options = {"function": function.__name__, "recipes": recipes}
        files = [self._file(part) for part in given[:-1] if not isinstance(part, Recipe)]
        return Stage(function.__name__, make_part, options, {"given": files})

    def _file(self, given: Any) -> Input:
        if isinstance(given, Path):
            return self._files.setdefault(given, File(given))
        return [self._file(part) for part in given]


def make_part(work: Work) -> None:
    """Do a task of learning an aligner in parts."""
    room = {"temp_dir": str(work.out), "threads": work.threads or 1}
    recipes = [Recipe(**{**recipe, **room}) for recipe in work.options["recipes"]]
    function = getattr(align_parts, work.options["function"])
    given = [
        [tuple(pair) for pair in part] if isinstance(part, list) else part
        for part in work.inputs["given"]
    ]
    function(*given, *recipes, work.out / "out")


def spread_links(work: Work, aligner: Path, symmetrise: str) -> int:
    """Write the links of a prepared text, found in shards; how many there are."""
    assert work.spread is not None, "asked for shards"
    text = work.inputs["text"]
    pieces = _bitext_pieces(work, text)
    inputs: dict[str, Input] = {"text": text, "aligner": File(aligner)}
    shards = [
        Stage("links", make_piece_links, {"symmetrise": symmetrise, "pieces": piece}, inputs)
        for piece in pieces
    ]
    with work.spread(shards) as results:
        _join([result / "links" for result in results], work.out / "links")
        return sum(result.facts["links"] for result in results)


def make_piece_links(work: Work) -> dict[str, Any]:
    """Link the words of a piece of a bitext."""
    aligner = align.Aligner.load(work.inputs["aligner"])
    bitext = _bitext_of(work, work.options["pieces"])
    links = aligner.align(bitext, symmetrise=work.options["symmetrise"], threads=work.threads)
    links.write(work.out / "links")
    return {"links": len(links.flat)}


def _bitext_pieces(work: Work, text: Result) -> list[list[tuple[int, int]]]:
    files = [text / "train.src", text / "train.tgt"]
    lines = count_lines(files[0])
    return cut(files, bounds(lines, work.shards(lines)))


def _bitext_of(work: Work, pieces: Sequence[Sequence[int]]) -> Bitext:
    """The sentence pairs of pieces of ``train.src`` and ``train.tgt``."""
    text = work.inputs["text"]
    names = ("train.src", "train.tgt")
    sides = [lines_of(text / name, piece) for name, piece in zip(names, pieces, strict=True)]
    return Bitext.from_pairs(zip(*sides, strict=True))


def spread_table(
    work: Work, corpora: Iterable[tuple[int, int]], options: extract.Options
) -> extract.Summary:
    """Write the table of a bitext and its links, counted in shards.

    ``corpora`` tells of the corpora that the text is made of how many pairs each has, and how often
    each of them counts.
    """
    assert work.spread is not None, "asked for shards"
    text, linked = work.inputs["text"], work.inputs["links"]
    files = [text / "train.src", text / "train.tgt", linked / "links"]
    weights, ends = [], [0]
    for pairs, weight in corpora:
        ends.append(ends[-1] + pairs)
        weights.append(weight)
    # No shard has pairs of two corpora.
    lines = sorted({*bounds(ends[-1], work.shards(ends[-1])), *ends})
    chosen = {"extract": vars(options)}
    inputs: dict[str, Input] = {"text": text, "links": linked}
    shards = [
        Stage("counts", make_counts, {**chosen, "pieces": piece}, inputs)
        for piece in cut(files, lines)
    ]
    times = [
        next(weight for end, weight in zip(ends[1:], weights, strict=True) if start < end)
        for start, _ in pairwise(lines)
    ]
    with work.spread(shards) as results:
        counts = [
            result / "counts"
            for result, weight in zip(results, times, strict=True)
            for _ in range(weight)
        ]
        whole = Bitext.read(*files[:2]) if options.significance else None
        room: dict[str, Any] = {"threads": work.threads, "progress": work.progress}
        room["temp_dir"] = work.out
        return extract.merge(
            counts, work.out / "phrase-table", corpus=whole, **room, **vars(options)
        )


def make_counts(work: Work) -> dict[str, Any]:
    """Count the phrase pairs of a piece of a bitext."""
    *pieces, linked = work.options["pieces"]
    bitext = _bitext_of(work, pieces)
    links = work.out / "links"
    copy_piece(work.inputs["links"] / "links", linked, links)
    room: dict[str, Any] = {"temp_dir": work.out, "threads": work.threads}
    pairs = extract.count(bitext, links, work.out / "counts", **room, **work.options["extract"])
    links.unlink()
    return {"pairs": pairs}


def spread_lm(
    work: Work, lines: int, further: Iterable[str], options: Mapping[str, Any], out: Path
) -> lm.LanguageModel:
    """Write the language model of the target side, counted in shards, and of further lines.

    ``lines`` are those of the target side that count, from the first.
    """
    assert work.spread is not None, "asked for shards"
    counted = {"order": options["order"], "memory": options["memory"]}
    ngrams = Stage("ngrams", make_ngrams, {"name": "train.tgt", **counted})
    shards = _line_shards(work, ngrams, work.inputs["text"], lines=lines, is_added_up=True)
    with work.spread(shards) as results:
        counts = [result / "ngrams" for result in results]
        rest = work.out / "further"
        if lm.count(further, rest, temp_dir=work.out, **counted):
            counts.append(rest)
        room: dict[str, Any] = {"threads": work.threads, "progress": work.progress}
        chosen = {"prune": options["prune"], "memory": options["memory"]}
        model = lm.merge(counts, out, temp_dir=work.out, **room, **chosen)
    rest.unlink()
    return model


def make_ngrams(work: Work) -> dict[str, Any]:
    """Count the n-grams of a piece of prepared text."""
    room = {"order": work.options["order"], "memory": work.options["memory"]}
    sentences = lm.count(_piece_of(work), work.out / "ngrams", temp_dir=work.out, **room)
    return {"sentences": sentences}


def spread_tags(work: Work, described: Mapping[str, Any], file: Path) -> None:
    """Write the tagged source, tagged in shards by the annotator that is described."""
    assert work.spread is not None, "asked for shards"
    tags = Stage("tags", make_piece_tags, {"name": "train.src", "annotator": dict(described)})
    shards = _line_shards(work, tags, work.inputs["text"], {"annotator": File(file)})
    with work.spread(shards) as results:
        _join([result / "tags" for result in results], work.out / "train.src")


def make_piece_tags(work: Work) -> None:
    """Tag a piece of the source."""
    path = work.inputs["annotator"]
    described = {**work.options["annotator"], "file": path.name}
    annotator = annotator_from_manifest(described, path.parent)
    with new_file(work.out / "tags") as file:
        sentences = annotator.annotate(_piece_of(work), threads=work.threads)
        file.writelines(f"{factored(sentence)}\n" for sentence in sentences)


@contextmanager
def spread_samples(
    work: Work, files: Sequence[Path], sentences: int, count: int, options: Mapping[str, Any]
) -> "Iterator[waw.Shards]":
    """The samples of a word-after-word model, written in ``count`` shards of its files.

    The files hold tagged source, target and links of so many sentences.
    """
    from wayword.reorder import waw

    assert work.spread is not None, "asked for shards"
    blocks = bounds(-(-sentences // waw.BLOCK), count)
    pieces = cut(files, [min(block * waw.BLOCK, sentences) for block in blocks])
    inputs: dict[str, Input] = {"files": [File(path) for path in files]}
    chosen = {"waw": {name: value for name, value in options.items() if name != "memory"}}
    memory = str(options["memory"])
    candidates = [
        Stage("candidates", make_candidates, {**chosen, "pieces": piece, "shards": count}, inputs)
        for piece in pieces
    ]
    with work.spread(candidates) as found:
        given: dict[str, Input] = {**inputs, "found": found}
        samples = [
            Stage("samples", make_samples, {**chosen, "pieces": piece}, given, memory=memory)
            for piece in pieces
        ]
        with work.spread(samples) as written:
            prints = [result / "candidates" for result in found]
            yield waw.Shards(prints, [result / "samples" for result in written])


def make_candidates(work: Work) -> None:
    """Find the features of a piece that may be kept."""
    from wayword.reorder import waw

    room: dict[str, Any] = {"shards": work.options["shards"], "threads": work.threads}
    out = work.out / "candidates"
    waw.find_candidates(_linked_piece(work), out, **room, **work.options["waw"])


def make_samples(work: Work) -> None:
    """Write the samples of a piece."""
    from wayword.reorder import waw

    found = [result / "candidates" for result in work.inputs["found"]]
    room: dict[str, Any] = {"temp_dir": work.out, "threads": work.threads, "memory": work.memory}
    out = work.out / "samples"
    waw.write_samples(_linked_piece(work), found, out, **room, **work.options["waw"])


def _linked_piece(work: Work) -> "waw.Corpus":
    """The sentences of pieces of tagged source, target and links."""
    from wayword.reorder import waw

    with TemporaryDirectory(dir=work.out) as name:
        copies = [Path(name, str(number)) for number in range(3)]
        for path, piece, copy in zip(
            work.inputs["files"], work.options["pieces"], copies, strict=True
        ):
            copy_piece(path, piece, copy)
        return waw.Corpus.read(*copies)


def _join(parts: Sequence[Path], out: Path) -> None:
    """Write files one after the other."""
    with new_bytes(out) as whole:
        for path in parts:
            with path.open("rb") as part:
                shutil.copyfileobj(part, whole, 1 << 20)
