"""Train a system from two text files, translate, and see how the words moved.

    python examples/train_and_translate.py                     # on text that it makes itself
    python examples/train_and_translate.py train.de train.en   # on yours

The system is left in the folder `example-system`; `wayword translate example-system` uses it.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import wayword
from wayword.corpus import toy

QUICK = {"tune": {"runs": 1, "rounds": 3}}  # leave it out for a system you mean to keep


def main() -> None:
    """Train, then translate the last line of the text."""
    with TemporaryDirectory() as folder:
        if sys.argv[1:]:
            src, tgt = map(Path, sys.argv[1:3])
        else:
            toy.write("de-en", 500, folder, seed=1)
            src, tgt = Path(folder, "train.de"), Path(folder, "train.en")
        system = wayword.train(src, tgt, "example-system", config=QUICK)
        last = src.read_text(encoding="utf-8").splitlines()[-1]
    translation = system.translate(last)
    print(translation.text)
    print(translation.draw())


if __name__ == "__main__":
    main()
