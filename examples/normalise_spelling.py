"""Teach a system today's spelling of old text, and measure how many words come out right.

    python examples/normalise_spelling.py

Four hundred lines of made-up old German are enough here. With text of your own: two files, old
and new, line by line.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import wayword
from wayword.config import Config, merged, preset
from wayword.corpus import toy
from wayword.evaluate import Gold, Output, compare

QUICK = {"tune": {"runs": 1, "rounds": 2}}  # leave it out for a system you mean to keep


def main() -> None:
    """Train with the preset, then compare with leaving every word as it is."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        toy.write("old-de", 400, folder, seed=1)
        old, new = (
            (folder / f"test.{side}").read_text(encoding="utf-8").splitlines()
            for side in ("old", "de")
        )
        config = Config.from_dict(merged(preset("normalise"), QUICK))
        files = (folder / "train.old", folder / "train.de")
        system = wayword.train(*files, folder / "normaliser", config=config)
        normalised = [translation.text for translation in system.translate(old)]
    for before, after in list(zip(old, normalised, strict=True))[:3]:
        print(f"{before}\n  {after}")
    outputs = [Output("as it is", old), Output("normalised", normalised)]
    result = compare(Gold(refs=[new]), outputs, ["words"], rounds=1000)
    for output in outputs:
        print(f"{output.name}: {result.score(output.name, 'words').value:.1f} % of words right")


if __name__ == "__main__":
    main()
