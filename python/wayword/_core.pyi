"""Types of the compiled core. Users import `wayword.<stage>`, never this."""

import builtins
import os
import pathlib
from collections.abc import Callable
from typing import Any, final

__version__: str

_Path = str | os.PathLike[str]
_Progress = Callable[[int, int], object] | None

@final
class View:
    def __len__(self) -> int: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

@final
class Bitext:
    @staticmethod
    def read_files(
        src: _Path, tgt: _Path, *, nfc: bool = False, progress: _Progress = None
    ) -> Bitext: ...
    @staticmethod
    def read_columns(
        path: _Path, separator: str, *, nfc: bool = False, progress: _Progress = None
    ) -> Bitext: ...
    def __len__(self) -> int: ...
    def src_words(self, number: int) -> list[str]: ...
    def tgt_words(self, number: int) -> list[str]: ...
    @property
    def src_ids(self) -> View: ...
    @property
    def tgt_ids(self) -> View: ...
    @property
    def src_offsets(self) -> View: ...
    @property
    def tgt_offsets(self) -> View: ...
    @property
    def vocab_size(self) -> int: ...
    def word(self, id: int) -> str: ...
    def id(self, word: str) -> int | None: ...

@final
class BitextBuilder:
    def __new__(cls, *, nfc: bool = False) -> BitextBuilder: ...
    def extend(self, pairs: list[tuple[str, str]]) -> None: ...
    def finish(self) -> Bitext: ...

@final
class Orientation:
    def __new__(cls, name: str) -> Orientation: ...
    def __eq__(self, other: object, /) -> bool: ...
    @property
    def stored(self) -> str: ...
    @property
    def moses(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def moses_weights(self) -> list[list[str]]: ...

@final
class Reader:
    def __new__(cls, path: _Path) -> Reader: ...
    def read(self, size: int) -> bytes: ...

def doctor(
    src: _Path,
    tgt: _Path,
    out: tuple[_Path, _Path, _Path] | None,
    *,
    max_length: int,
    max_ratio: float,
    factors: int | None,
    nfc: bool,
    allow: list[str],
    examples: int,
    progress: _Progress,
) -> dict[str, Any]: ...
def doctor_problems() -> list[tuple[str, str]]: ...
def order_from_links(length: int, links: list[tuple[int, int]], heuristic: str) -> list[int]: ...
def inverse(permutation: list[int]) -> list[int]: ...
def kendall_distance(first: list[int], second: list[int]) -> float: ...
def provoke_panic() -> None: ...

@final
class Links:
    @staticmethod
    def read(path: _Path, bitext: Bitext) -> Links: ...
    @staticmethod
    def from_lists(sentences: list[list[tuple[int, int]]]) -> Links: ...
    def __len__(self) -> int: ...
    @property
    def flat(self) -> View: ...
    @property
    def offsets(self) -> View: ...
    def lines(self, start: int, end: int) -> list[str]: ...

@final
class Tagger:
    @staticmethod
    def fit(
        sentences: list[tuple[list[str], list[str], list[str] | None]],
        *,
        epochs: int,
        parts: int,
        seed: int,
        threads: int,
        progress: _Progress,
    ) -> Tagger: ...
    @staticmethod
    def load(path: _Path) -> Tagger: ...
    @staticmethod
    def from_bytes(data: bytes) -> Tagger: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: _Path) -> None: ...
    @property
    def tags(self) -> list[str]: ...
    @property
    def chunks(self) -> list[str] | None: ...
    @property
    def features(self) -> int: ...
    def tag(
        self, sentences: list[list[str]], threads: int
    ) -> list[tuple[list[int], list[int] | None]]: ...

@final
class WordClasses:
    @staticmethod
    def fit(
        path: _Path,
        *,
        classes: int,
        min_count: int,
        rounds: int,
        seed: int,
        threads: int,
        progress: _Progress,
    ) -> tuple[WordClasses, dict[str, Any]]: ...
    @staticmethod
    def from_entries(entries: list[tuple[str, int]]) -> WordClasses: ...
    def entries(self) -> list[tuple[str, int]]: ...
    def classify(self, sentences: list[list[str]]) -> list[list[int]]: ...

MAX_ALIGNED_WORDS: int

@final
class Aligner:
    @staticmethod
    def fit(
        bitext: Bitext,
        *,
        model: str,
        lexical_iterations: int | None,
        order_iterations: int | None,
        threads: int,
        progress: _Progress,
    ) -> Aligner: ...
    @staticmethod
    def load(path: _Path) -> Aligner: ...
    def save(self, path: _Path) -> None: ...
    @property
    def summary(self) -> tuple[int, int, int, int] | None: ...
    def align(
        self,
        bitext: Bitext,
        *,
        symmetrise: str,
        threshold: float | None,
        threads: int,
        progress: _Progress,
    ) -> tuple[Links, View]: ...

def symmetrisations() -> list[str]: ...
def symmetrise(forward: Links, reverse: Links, bitext: Bitext, heuristic: str) -> Links: ...

@final
class LanguageModel:
    @staticmethod
    def load(
        path: _Path, *, verify: bool = False, in_memory: bool = False, progress: _Progress = None
    ) -> LanguageModel: ...
    @staticmethod
    def from_bytes(data: bytes) -> LanguageModel: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: _Path) -> None: ...
    def write_arpa(self, path: _Path, *, progress: _Progress = None) -> None: ...
    @property
    def path(self) -> pathlib.Path | None: ...
    @property
    def digest(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def counts(self) -> list[int]: ...
    def knows(self, word: str) -> bool: ...
    def score_line(self, line: str, bos: bool, eos: bool) -> tuple[float, float, int, int]: ...
    def word_scores(
        self, words: list[str], bos: bool, eos: bool
    ) -> list[tuple[float, int, bool]]: ...
    def score_lines(self, lines: list[str], bos: bool, eos: bool) -> View: ...
    def score_file(
        self, path: _Path, bos: bool, eos: bool, *, progress: _Progress = None
    ) -> View: ...

@final
class LanguageModelTrainer:
    def __new__(cls, *, memory: int, temp_dir: _Path | None = None) -> LanguageModelTrainer: ...
    def extend(self, lines: list[str]) -> None: ...
    def read(self, path: _Path, *, progress: _Progress = None) -> None: ...
    def finish(
        self,
        *,
        order: int,
        prune: list[int],
        out: _Path | None,
        arpa: bool,
        progress: _Progress,
    ) -> tuple[LanguageModel | None, dict[str, Any]]: ...

@final
class PhraseCounts:
    @staticmethod
    def of(
        bitext: Bitext,
        links: Links,
        *,
        max_length: int,
        strictness: str,
        memory: int,
        temp_dir: _Path | None,
        threads: int,
        progress: _Progress,
    ) -> PhraseCounts: ...
    @staticmethod
    def merge(
        paths: list[_Path], *, memory: int, temp_dir: _Path | None, progress: _Progress
    ) -> PhraseCounts: ...
    def save(self, path: _Path) -> None: ...
    @property
    def max_length(self) -> int: ...
    @property
    def strictness(self) -> str: ...
    @property
    def pairs(self) -> int: ...
    def build(
        self,
        out: _Path,
        corpus: Bitext | None,
        recipe: str,
        *,
        models: list[str],
        condition: str,
        smoothing: float,
        discount: str,
        min_count: int,
        top: int | None,
        significance: str | None,
        packed: bool,
        counts: bool,
        progress: _Progress,
    ) -> dict[str, Any]: ...

@final
class PhraseTable:
    @staticmethod
    def open(path: _Path) -> PhraseTable: ...
    def options(self, words: list[str]) -> tuple[int, list[Any]]: ...
    def phrases(self, skip: int, count: int) -> list[str]: ...
    def verify(self) -> None: ...
    def export(
        self,
        phrase_table: _Path,
        reordering: tuple[_Path, str] | None,
        *,
        progress: _Progress,
    ) -> int: ...
    @property
    def info(self) -> dict[str, Any]: ...

def import_text_table(
    phrase_table: _Path,
    reordering: tuple[_Path, str] | None,
    out: _Path,
    *,
    columns: list[str],
    packed: bool,
    progress: _Progress,
) -> tuple[int, int]: ...

_Translation = tuple[
    list[str], float, list[float], list[tuple[int, int, int, int]], list[tuple[int, int]]
]
_Arc = tuple[int, int, int, int, list[str], float]
_Outcome = tuple[list[_Translation], tuple[list[int], list[int]], list[_Arc]]

@final
class Decoder:
    def __new__(
        cls,
        table: PhraseTable,
        lms: list[LanguageModel],
        *,
        orientation: str | None,
        waw: WawModel | None,
        given_waw: bool,
        weights: list[tuple[str, float]],
        settings: dict[str, Any],
    ) -> Decoder: ...
    def changed(self, *, weights: list[tuple[str, float]], settings: dict[str, Any]) -> Decoder: ...
    @property
    def weights(self) -> list[tuple[str, float]]: ...
    @property
    def factored(self) -> bool: ...
    def translate(
        self,
        sentences: list[str],
        *,
        matrices: list[list[float]],
        nbest: int,
        distinct: bool,
        graph: bool,
        threads: int,
        progress: _Progress,
    ) -> list[_Outcome]: ...
    def translate_marked(
        self,
        sentences: list[MarkedSentence],
        *,
        matrices: list[list[float]],
        nbest: int,
        distinct: bool,
        graph: bool,
        threads: int,
        progress: _Progress,
    ) -> list[_Outcome]: ...
    def nbest(
        self,
        sentences: list[str],
        *,
        matrices: list[list[float]],
        size: int,
        distinct: bool,
        threads: int,
        progress: _Progress,
    ) -> tuple[list[list[str]], View]: ...
    def score(
        self,
        sentence: str,
        phrases: list[tuple[int, int, list[str]]],
        matrices: list[list[float]],
    ) -> _Translation | None: ...

@final
class MarkedSentence:
    def __new__(cls, line: str, *, mode: str, file: str, number: int) -> MarkedSentence: ...
    @property
    def words(self) -> list[str]: ...

@final
class CandidatePool:
    def __new__(
        cls, features: bytes, width: int, offsets: bytes, *, threads: int = 1
    ) -> CandidatePool: ...
    def __len__(self) -> int: ...
    def point(self, weights: list[float]) -> WeightPoint: ...

@final
class WeightPoint:
    @property
    def weights(self) -> list[float]: ...
    def best(self) -> View: ...
    def step(self, direction: list[float], step: float) -> None: ...
    def search(self, direction: list[float], gap: float) -> tuple[View, View, View, View]: ...

_WawChunks = tuple[list[str], list[int], list[int]]
_WawLayers = tuple[list[str], list[str] | None, _WawChunks | None]
_WawPlaces = tuple[int, int, int]
_WawRanked = tuple[_WawPlaces, int, _WawPlaces, _WawPlaces]

@final
class WawCorpus:
    @staticmethod
    def read(src: _Path, tgt: _Path, links: _Path, *, progress: _Progress = None) -> WawCorpus: ...
    @staticmethod
    def from_lists(
        sentences: list[tuple[_WawLayers, list[tuple[int, int]]]],
    ) -> WawCorpus: ...
    def __len__(self) -> int: ...
    @property
    def words(self) -> int: ...
    @property
    def has_tags(self) -> bool: ...
    @property
    def has_chunks(self) -> bool: ...

@final
class WawTrainer:
    def __new__(
        cls,
        corpus: WawCorpus,
        *,
        templates: str | None,
        window: int,
        inclusive: bool,
        between_anchor: str,
        min_count: int,
        memory: int,
        temp_dir: _Path | None,
        threads: int,
        progress: _Progress,
    ) -> WawTrainer: ...
    @property
    def features(self) -> int: ...
    @property
    def samples(self) -> int: ...
    @property
    def positives(self) -> int: ...
    @property
    def fired(self) -> int: ...
    @property
    def bytes(self) -> tuple[int, int]: ...
    def slope(
        self, weights: builtins.bytes, *, prior: float, threads: int
    ) -> tuple[float, View]: ...
    def adagrad(self, *, passes: int, rate: float, prior: float, progress: _Progress) -> View: ...
    def model(self, weights: builtins.bytes, *, prior: float) -> WawModel: ...

@final
class WawModel:
    VERSION: int
    @staticmethod
    def load(path: _Path) -> WawModel: ...
    @staticmethod
    def from_bytes(data: bytes) -> WawModel: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: _Path) -> None: ...
    @staticmethod
    def read_text(path: _Path) -> WawModel: ...
    def write_text(self, path: _Path) -> None: ...
    @property
    def path(self) -> pathlib.Path | None: ...
    @property
    def digest(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def features(self) -> int: ...
    @property
    def recipe(self) -> dict[str, Any]: ...
    @property
    def needs(self) -> tuple[bool, bool]: ...
    def matrix(self, layers: _WawLayers) -> View: ...

def waw_evaluate(
    model: WawModel,
    corpus: WawCorpus,
    limits: list[int],
    *,
    threads: int,
    progress: _Progress,
) -> tuple[tuple[int, int, int, int], list[tuple[_WawRanked, _WawRanked, tuple[int, int]]]]: ...
def waw_features(layers: _WawLayers, from_: int, to: int, between_anchor: str) -> list[str]: ...
def waw_options(space: str, covered: list[bool], end: int, scores: list[float]) -> str: ...
def waw_samples(order: list[int], window: int, inclusive: bool) -> list[tuple[int, int, bool]]: ...
