"""Accept changes that were made to a system folder by hand.

In: a system folder whose manifest (weights, settings, text preparation) or files without a checksum
inside (a lexicon, truecasers, matrices) were edited. Out: the same folder, with the SHA-256 of each
file and the seal of the manifest written anew, and the names of the changed files.
How: the system is opened, so that a mistake in an edited file is an error before anything is
written. Models that hold a checksum are compared with their digests, and a change in them is an
error: those are damaged.
Cost: one read of every file.
Not: comments in ``system.toml``; the manifest is written anew.
"""

from pathlib import Path

from wayword.corpus.files import sha256
from wayword.errors import MismatchError
from wayword.manifest import MANIFEST, is_changed, read_manifest
from wayword.system import System
from wayword.types import FilePath

__all__ = ["seal"]


def seal(folder: FilePath, *, trust: bool = False) -> list[str]:
    """Write the digests of a system folder anew and return the names of the changed files."""
    system = System.open(folder, trust=trust, accept=True)
    folder = system.folder or Path(folder)
    noted = read_manifest(folder, accept=True).files
    changed = [name for name, (_, digest) in noted.items() if sha256(folder / name) != digest]
    sealed = {name for part in system.parts if part.is_sealed for name in part.files}
    for name in changed:
        if name in sealed:
            advice = "a model cannot be edited; copy or train the system again"
            raise MismatchError(f"{folder / name}: another SHA-256 than noted; {advice}")
    if is_changed(folder):
        changed.insert(0, MANIFEST)
    system.save()
    return changed
