"""A system folder and the files of its dev set: read, tune, write the weights back.

In: a ``System``, files. Out: the system's manifest with new weights and a note of how they came
about; the rounds beside it (``state``), a log and a picture.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from wayword.corpus.files import new_file
from wayword.errors import ArgumentError
from wayword.evaluate import Gold
from wayword.evaluate.read import read_gold, read_lines
from wayword.evaluate.usability import UsabilityCheck, check_usability
from wayword.report.tuning import to_svg
from wayword.store import locked
from wayword.system import System
from wayword.tune.run import Tuning, tune
from wayword.tune.words import Words, words_of
from wayword.types import FilePath

__all__ = ["check_output", "read_dev", "tune_system"]


def read_dev(
    system: System,
    files: Sequence[FilePath],
    *,
    prepared: bool = False,
    ref_links: Sequence[FilePath] = (),
    aligner: FilePath | None = None,
    pos: FilePath | None = None,
) -> tuple[list[str], Gold]:
    """The source and its references as the decoder and the metric want them: tokenised.

    Raw text is prepared sentence by sentence, as ``System.translate`` does; a line stays one unit,
    because it has one reference. Links and tags refer to tokenised text, so with them the text has
    to be ``prepared``.
    """
    if len(files) < 2:
        raise ArgumentError(f"dev: found {len(files)} file; expected the source and a reference")
    is_prepared = prepared or system.text is None
    if not is_prepared and (ref_links or aligner or pos):
        raise ArgumentError("dev: found links or tags beside raw text; expected prepared text")
    gold = read_gold(files[1:], files[0], ref_links=ref_links, aligner=aligner, pos=pos)
    src = read_lines(files[0])
    if is_prepared:
        return src, gold
    assert system.text is not None
    target = system.text[1]
    refs = [
        [" ".join(chain.from_iterable(target.prepare_sentences(line))) for line in ref]
        for ref in gold.refs
    ]
    return [system.prepare(line) for line in src], Gold(refs=refs)


def tune_system(
    system: System,
    src: Sequence[str],
    gold: Gold,
    *,
    folder: FilePath | None = None,
    write: bool = True,
    **options: Any,
) -> Tuning:
    """Tune a system and write its weights; for the options see ``tune`` and ``Plan``.

    Meanwhile no other process may train or tune it.
    """
    with locked(system.folder) if system.folder is not None else nullcontext():
        return _tuned(system, src, gold, folder=folder, write=write, **options)


def _tuned(
    system: System,
    src: Sequence[str],
    gold: Gold,
    *,
    folder: FilePath | None,
    write: bool,
    **options: Any,
) -> Tuning:
    is_split = system.text is not None and system.text[1].subwords is not None
    if is_split and gold.ref_links is None:
        tuning = tune(Words(system), src, words_of(gold), folder=folder, **options)
    else:
        tuning = tune(system, src, gold, folder=folder, **options)
    if folder is not None:
        with new_file(Path(folder) / "rounds.svg") as file:
            print(to_svg(tuning.rounds), file=file)
    tuned = system.with_weights(tuning.weights)
    check = check_output(tuned, src, gold)
    if write:
        noted = {
            **system.made,
            "tuned": True,
            "tune": _note(tuning, len(src)),
            "usability": check.to_dict(),
        }
        tuned.describing(noted).save()
    return replace(tuning, usability=check)


def _note(tuning: Tuning, sentences: int) -> dict[str, Any]:
    """What the model card says."""
    return {
        "method": tuning.settings["method"]["name"],
        "sentences": sentences,
        "runs": len(tuning.runs),
        "averaged": tuning.averaged,
        "seed": tuning.settings["seed"],
        "before": round(tuning.before, 2),
        "after": round(tuning.after, 2),
        "metric": tuning.signature,
        "at_bound": list(tuning.at_bound),
    }


def check_output(system: System, src: Sequence[str], gold: Gold) -> UsabilityCheck:
    """Translate some prepared sentences of a dev set, and tell whether the output is usable."""

    def translate(lines: Sequence[str]) -> list[tuple[str, ...]]:
        return [each.tokens for each in system.translate(list(lines), prepared=True)]

    has_subwords = system.text is not None and system.text[1].subwords is not None
    return check_usability(translate, src, gold, has_subwords=has_subwords)
