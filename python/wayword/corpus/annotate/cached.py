"""Annotates a whole file once, and finds the result again.

In: a text file, an annotator, a folder. Out: a factored file in that folder, named after what is
in the text and what annotated it. How: the name holds a SHA-256 of the text, of the annotator's
manifest and of the number of factors, so nothing stale is ever found.
"""

import hashlib
import json
import logging
from pathlib import Path

from wayword.corpus.annotate.annotator import Annotator
from wayword.corpus.annotate.factored import factored
from wayword.corpus.files import new_file, open_text, sha256
from wayword.types import FilePath

__all__ = ["annotate_file"]

LOG = logging.getLogger(__name__)

DIGITS = 24  # of the checksum, in a name


def annotate_file(
    path: FilePath,
    annotator: Annotator,
    *,
    cache: FilePath,
    factors: int | None = None,
    threads: int = 0,
) -> Path:
    """Annotate the lines of a file into ``cache``, unless that was done before; the new file."""
    recipe = {"text": sha256(path), "by": annotator.to_manifest(), "factors": factors}
    text = json.dumps(recipe, sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()[:DIGITS]
    folder = Path(cache)
    folder.mkdir(parents=True, exist_ok=True)
    out = folder / f"annotate-{digest}.factored"
    if out.is_file():
        LOG.info("%s: annotated before, as %s", path, out)
    else:
        with new_file(out) as file:
            for sentence in annotator.annotate(open_text(path), threads=threads):
                print(factored(sentence, factors=factors) if sentence.words else "", file=file)
    return out
