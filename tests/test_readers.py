"""Every reader in Python takes any file: it gives values or one sentence, and nothing else.

By default some examples each; with ``WAYWORD_FUZZ_SECONDS`` (``make fuzz``) as many as fit.
"""

import json
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayword.config import Config, read_toml
from wayword.corpus.annotate import open_annotator, read_conllu, read_factored, read_treebank
from wayword.corpus.files import open_text
from wayword.corpus.formats import read_pairs
from wayword.errors import WaywordError
from wayword.evaluate.read import read_gold
from wayword.experiment import Experiment
from wayword.manifest import MANIFEST, read_manifest
from wayword.moses import read_ini
from wayword.pack import unpack
from wayword.reorder.feature import read_matrices

SECONDS = float(os.environ.get("WAYWORD_FUZZ_SECONDS", "0"))

CONLLU = "1\tdas\tder\tDET\t_\t_\t2\tdet\t_\t_\n2\thaus\thaus\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
TMX = (
    '<?xml version="1.0"?><tmx version="1.4"><body><tu><tuv xml:lang="de"><seg>ja</seg></tuv>'
    '<tuv xml:lang="en"><seg>yes</seg></tuv></tu></body></tmx>'
)
PO = 'msgid "yes"\nmsgstr "ja"\n\nmsgid "a\\n"\n"b"\nmsgstr[0] "c"\n'
MOSES = "[input-factors]\n0\n[weight]\nLM0= 0.5\n[feature]\nKENLM name=LM0 order=3 path=lm\n"
EXPERIMENT = (
    'name = "x"\nbaseline = "a"\nmetrics = ["bleu"]\nrounds = 10\n[[corpus]]\nname = "c"\n'
    'src = "a.de"\ntgt = "a.en"\ndev = ["d.de", "d.en"]\ntest = ["t.de", "t.en"]\n'
    '[base.lm]\norder = 3\n[[variant]]\nname = "a"\n[[variant]]\nname = "b"\nweights = "a"\n'
)
SYSTEM = (
    'format = 2\nversion = "0.1"\n[settings]\nspace = "dl:6"\n[weights]\nlm = 0.5\n[[part]]\n'
    'kind = "lm"\nname = "lm"\nfile = "lm"\n[made]\n[file.lm]\nbytes = 3\nsha256 = "'
    + "0" * 64
    + '"\n'
)
MATRICES = json.dumps({"words": ["a", "b"], "matrix": [[0.5, 0.5], [0, 1], [1, 0]]}) + "\n"


def drained(values: Iterable[Any]) -> None:
    for _ in values:
        pass


def pairs(kind: str, *columns: str) -> Callable[[Path], None]:
    return lambda path: drained(read_pairs(path, kind, columns or ("src", "tgt")))  # type: ignore[arg-type]


def manifest(path: Path) -> None:
    path.rename(path.with_name(MANIFEST))
    read_manifest(path.parent)


#: Name, a whole file to begin with, and the reader.
READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "text": ("das haus\nein haus\n", lambda path: drained(open_text(path))),
    "tsv": ("de\ten\nja\tyes\n", pairs("tsv", "de", "en")),
    "jsonl": ('{"src": "ja", "tgt": "yes"}\n', pairs("jsonl")),
    "tmx": (TMX, pairs("tmx", "de", "en")),
    "po": (PO, pairs("po")),
    "conllu": (CONLLU, lambda path: drained(read_conllu(path))),
    "factored": ("das|DET|NP haus|NOUN|NP\n", lambda path: drained(read_factored(path))),
    "treebank": (CONLLU, lambda path: drained(read_treebank(path))),
    "classes": ("# wayword classes 2\nhaus\t1\n", open_annotator),
    "toml": ("[lm]\norder = 3\n", lambda path: Config.from_dict(read_toml(path))),
    "experiment": (EXPERIMENT, Experiment.read),
    "manifest": (SYSTEM, manifest),
    "moses": (MOSES, lambda path: read_ini(open_text(path))),
    "matrices": (MATRICES, read_matrices),
    "references": ("the house\n", lambda path: read_gold([path], path)),
    "pack": ("PK\x05\x06" + "\0" * 18, lambda path: unpack(path, path.with_name("out"))),
}


@st.composite
def changed(draw: st.DrawFn, whole: bytes) -> bytes:
    """A file with bytes changed, cut out, doubled or put in."""
    data = bytearray(whole)
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(data)))
        length = draw(st.integers(0, 12))
        match draw(st.integers(0, 4)):
            case 0:
                data[at : at + length] = draw(st.binary(max_size=12))
            case 1:
                del data[at : at + length]
            case 2:
                data[at:at] = data[at : at + length] * draw(st.integers(1, 40))
            case 3:
                data[at:at] = draw(st.text(max_size=6)).encode("utf-8", "surrogatepass")
            case _:
                sign = draw(st.sampled_from(['"', "[", "]", "{", "=", "-1", "1e999", "\n", "\t"]))
                data[at:at] = sign.encode()
    return bytes(data)


def hold(read: Callable[[Path], object], data: bytes, folder: Path) -> None:
    """A reader gives values, or an error for the user."""
    path = folder / "file"
    path.write_bytes(data)
    with suppress(WaywordError, FileNotFoundError):
        read(path)


@pytest.mark.parametrize("name", READERS)
def test_any_file_gives_values_or_a_sentence(name: str, tmp_path: Path) -> None:
    whole, read = READERS[name]
    end = time.monotonic() + SECONDS / len(READERS)

    @settings(max_examples=25, derandomize=not SECONDS, database=None)
    @given(data=st.one_of(changed(whole.encode()), st.binary(max_size=60)))
    def check(data: bytes) -> None:
        hold(read, data, tmp_path)

    check()
    while time.monotonic() < end:
        check()
