"""The manifest and the model card of a system folder: what it holds, in plain values.

In and out: ``system.toml`` — a seal, format, settings, weights, one ``[[part]]`` for each part,
text preparation, how it was made, and size and SHA-256 of each file — and ``README.md``.
How: everything is checked as it is read; the manifest is written last and whole. Files are in the
folder itself, and all of them are listed with their digests. The seal is the SHA-256 of the lines
below its own. Truecasers, subword models and other files without a checksum inside are compared
with their digests when they are read. ``wayword.seal`` accepts changes made by hand.
Cost: one read of the truecasers and subword models, beside the one that parses them.
Not: a seal in manifests of 0.2.0 and earlier; those are read as they are.
"""

import errno
import hashlib
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomli_w

from wayword import __version__, _core
from wayword.corpus.files import is_plain_name, new_file, sha256
from wayword.corpus.subwords import Subwords
from wayword.corpus.text import LEARNED, Preparation
from wayword.corpus.truecase import Truecaser
from wayword.decode import Settings
from wayword.errors import FormatError, MismatchError, WaywordError
from wayword.report.card import Card

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "CARD",
    "MANIFEST",
    "Manifest",
    "check_sizes",
    "read_manifest",
    "write_manifest",
]

MANIFEST = "system.toml"
CARD = "README.md"
FORMAT = 2
SIDES = ("src", "tgt")
SEAL = re.compile(rb'seal = "([0-9a-f]{64})"\n')
#: Keys of a manifest.
KEYS = ("seal", "format", "version", "settings", "weights", "part", "text", "made", "file")
#: Size and SHA-256 of files by name.
Sums = Mapping[str, tuple[int, str]]


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a system folder is made of."""

    #: an entry for each part
    parts: Sequence[Mapping[str, Any]]
    settings: Settings
    weights: Mapping[str, float]
    #: how text is prepared on each side; None for tokenised text
    text: tuple[Preparation, Preparation] | None = None
    #: how it was made, in plain values: stages, corpus sizes, scores
    made: Mapping[str, Any] = field(default_factory=dict)
    #: the files of the parts, to be written about
    names: Sequence[str] = ()
    #: size and SHA-256 of each file, as read
    files: Sums = field(default_factory=dict)


def write_manifest(folder: Path, manifest: Manifest, *, known: Sums | None = None) -> None:
    """Write the manifest and the model card of a folder that holds all the files named.

    Truecasers and models of subwords are written beside them. ``known`` are sums of files that did
    not change since, so that they need not be read again.
    """
    known = known or {}
    names = list(manifest.names)
    values: dict[str, Any] = {
        "format": FORMAT,
        "version": __version__,
        "settings": manifest.settings.to_dict(),
        "weights": dict(manifest.weights),
        "part": [dict(entry) for entry in manifest.parts],
    }
    if manifest.text:
        values["text"] = {}
        for side, preparation in zip(SIDES, manifest.text, strict=True):
            values["text"][side] = preparation.to_dict()
            for name in LEARNED:
                if (learned := getattr(preparation, name)) is not None:
                    learned.save(folder / f"{name}.{side}")
                    names.append(f"{name}.{side}")
    values["made"] = dict(manifest.made)
    values["file"] = {name: _sums(folder, name, known.get(name)) for name in names}
    with new_file(folder / CARD) as file:
        file.write(_card(manifest, values["file"]))
    text = tomli_w.dumps(values)
    with new_file(folder / MANIFEST) as file:
        file.write(f'seal = "{_digest(text.encode())}"\n{text}')


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _sums(folder: Path, name: str, known: tuple[int, str] | None) -> dict[str, Any]:
    size = (folder / name).stat().st_size
    same = known is not None and known[0] == size
    return {"bytes": size, "sha256": known[1] if known and same else sha256(folder / name)}


def read_manifest(folder: Path, *, accept: bool = False) -> Manifest:
    """Read and check the manifest of a folder, and the files of its text preparation.

    With ``accept``, changes since they were written are no error.
    """
    path = folder / MANIFEST
    if not path.is_file():
        expected = f"no system there; expected a folder with {MANIFEST}"
        raise FileNotFoundError(errno.ENOENT, expected, str(folder))
    try:
        data = path.read_bytes()
        values = tomllib.loads(data.decode("utf-8"))
        if values["format"] != FORMAT:
            found = f"format {values['format']!r}; expected {FORMAT}"
            raise FormatError(f"{path}: {found}; made by another version: train it again")
        for key in values:
            if key not in KEYS:
                raise FormatError(f"{path}: found `{key}`; expected one of {', '.join(KEYS)}")
        if "seal" in values and not accept and not _is_sealed(data):
            raise _changed(path)
        return _manifest(folder, values, accept=accept)
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        if isinstance(error, WaywordError):
            raise
        found = f"no `{error.args[0]}`" if isinstance(error, KeyError) else f"damaged ({error})"
        raise FormatError(f"{path}: {found}; expected a system's manifest") from None


def is_changed(folder: Path) -> bool:
    """Return whether the manifest of a folder does not fit its seal, or has none."""
    return not _is_sealed((folder / MANIFEST).read_bytes())


def _is_sealed(data: bytes) -> bool:
    seal = SEAL.match(data)
    return seal is not None and _digest(data[seal.end() :]) == seal[1].decode()


def check_digest(path: Path, digest: str) -> None:
    """Refuse a file with another SHA-256 than noted; reads it whole."""
    if sha256(path) != digest:
        raise _changed(path)


def _changed(path: Path) -> MismatchError:
    advice = f"`wayword seal {path.parent}` accepts a change of yours; else copy the system again"
    return MismatchError(f"{path}: another SHA-256 than noted; {advice}")


def _manifest(folder: Path, values: Mapping[str, Any], *, accept: bool) -> Manifest:
    path = folder / MANIFEST
    for name, weight in values["weights"].items():
        if type(weight) not in {int, float} or not abs(weight) <= _core.Decoder.MAX_WEIGHT:
            most = f"{_core.Decoder.MAX_WEIGHT:.0e}".replace("+", "")
            wanted = f"a number from -{most} to {most}; correct the line, or train again"
            raise FormatError(f"{path}: weight {name} is {weight!r}; expected {wanted}")
    for table in ("settings", "file", *(["text"] if "text" in values else [])):
        if not isinstance(values[table], Mapping):
            raise FormatError(f"{path}: `{table}` is {values[table]!r}; expected a table")
    made = values.get("made", {})
    if not isinstance(made, Mapping) or not isinstance(made.get("stages", {}), Mapping):
        raise FormatError(f"{path}: `made` has no table; expected how the system was made")
    files = {name: _read_sums(path, name, sums) for name, sums in values["file"].items()}
    text = None
    if "text" in values:
        digests = None if accept else {name: digest for name, (_, digest) in files.items()}
        src, tgt = (_preparation(folder, values, side, digests) for side in SIDES)
        text = src, tgt
    return Manifest(
        parts=[dict(entry) for entry in values["part"]],
        settings=Settings.from_dict(values["settings"]),
        weights={name: float(weight) for name, weight in values["weights"].items()},
        text=text,
        made=made,
        files=files,
    )


def _read_sums(path: Path, name: str, sums: Any) -> tuple[int, str]:
    """Size and digest of a file as the manifest has them."""
    if not is_plain_name(name):
        raise FormatError(f"{path}: file `{name}`; expected a name without folders")
    size, digest = sums["bytes"], sums["sha256"]
    if type(size) is not int or size < 0 or not re.fullmatch("[0-9a-f]{64}", digest):
        found = f"file `{name}` has {size!r} bytes and SHA-256 {digest!r}"
        raise FormatError(f"{path}: {found}; expected a size and 64 hex digits")
    return size, digest


def _preparation(
    folder: Path, values: Mapping[str, Any], side: str, digests: Mapping[str, str] | None
) -> Preparation:
    """Read the preparation of a side; its files are compared with the ``digests``, if given."""
    caser, pieces = (f"{name}.{side}" for name in LEARNED)
    files = values["file"]
    for name in (caser, pieces):
        if digests is not None and name in files:
            check_digest(folder / name, digests[name])
    return Preparation.from_dict(
        dict(values["text"][side]),
        truecaser=Truecaser.load(folder / caser) if caser in files else None,
        subwords=Subwords.load(folder / pieces) if pieces in files else None,
    )


def check_sizes(folder: Path, files: Sums) -> None:
    """Refuse files that are missing or of another size than noted."""
    for name, (size, _) in files.items():
        path = folder / name
        if not path.is_file():
            expected = "missing, but the manifest names it"
            raise FileNotFoundError(errno.ENOENT, expected, str(path))
        if path.stat().st_size != size:
            found = f"{path.stat().st_size} bytes; the manifest says {size}"
            advice = f"`wayword seal {folder}` accepts a text file that you changed"
            raise MismatchError(f"{path}: {found}; copy or train the system again; {advice}")


def _card(manifest: Manifest, files: Mapping[str, Mapping[str, Any]]) -> str:
    """The model card: what this is, how it was made, how to use it."""
    text = manifest.text
    return Card(
        langs=(text[0].lang, text[1].lang) if text else None,
        files={name: int(sums["bytes"]) for name, sums in files.items()},
        parts=manifest.parts,
        settings=manifest.settings.to_dict(),
        made=manifest.made,
        version=__version__,
    ).text()
