"""The profile as a stage of a training run: what it advises is what the run takes.

In: the training text and its links, or ``SENTENCES`` of it at equal steps, which tell as much.
Out: a folder with ``profile.json``, ``profile.html`` and, in its facts, the advised space.
How: ``search.space = "auto"`` puts this stage between the links and the weights. The keys of later
stages depend on it, not on the space that it will find, so they are known before anything runs.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from wayword.align import Links
from wayword.corpus import Bitext
from wayword.corpus.files import new_file
from wayword.corpus.pieces import drawn
from wayword.profile.advice import advised_space
from wayword.profile.measure import profile
from wayword.stage import Stage, Work

__all__ = ["profile_stage"]

#: The most that are looked at.
SENTENCES = 200_000


def profile_stage(text: Stage, links: Stage, features: Sequence[str]) -> Stage:
    """Measure the word order of the training text; ``features`` are kinds of path features."""
    inputs = {"text": text, "links": links}
    options = {"features": list(features), "sentences": SENTENCES}
    return Stage("profile", make_profile, options, inputs, version=2)


def make_profile(work: Work) -> dict[str, Any]:
    """Write the profile; the facts hold its advice."""
    text = work.inputs["text"]
    files = text / "train.src", text / "train.tgt", work.inputs["links"] / "links"
    with drawn(files, work.options["sentences"], work.out, what="profile") as (src, tgt, path):
        bitext = Bitext.read(src, tgt)
        links = Links.read(path, bitext)
    card = profile(
        bitext,
        links,
        name="training text",
        features=work.options["features"],
        threads=work.threads,
        progress=work.progress,
    )
    with new_file(work.out / "profile.json") as file:
        json.dump(card.to_dict(), file, ensure_ascii=False)
    with new_file(work.out / "profile.html") as file:
        file.write(card.to_html())
    return {"space": advised_space(card.advice), "advice": [asdict(one) for one in card.advice]}
