"""Types of the compiled core. Users import `wayword.<stage>`, never this."""

import builtins
import os
import pathlib
from collections.abc import Callable, Sequence
from typing import Any, final

__version__: str
FORMATS: dict[str, int]

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
class NewFile:
    def __new__(cls, path: _Path) -> NewFile: ...
    @property
    def temporary(self) -> pathlib.Path | None: ...
    def finish(self) -> None: ...
    def discard(self) -> None: ...

@final
class NewFolder:
    def __new__(cls, path: _Path) -> NewFolder: ...
    @property
    def temporary(self) -> pathlib.Path: ...
    def finish(self) -> None: ...
    def discard(self) -> None: ...

@final
class TempFolder:
    def __new__(cls) -> TempFolder: ...
    @property
    def path(self) -> pathlib.Path: ...
    def remove(self) -> None: ...

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
    memory: int,
    temp_dir: _Path | None,
    progress: _Progress,
) -> dict[str, Any]: ...
def doctor_fingerprints(
    src: _Path,
    tgt: _Path,
    out: _Path,
    *,
    piece: tuple[tuple[int, int], tuple[int, int], int],
    nfc: bool,
    allow: list[str],
) -> None: ...
def doctor_piece(
    src: _Path,
    tgt: _Path,
    out: tuple[_Path, _Path, _Path],
    *,
    piece: tuple[tuple[int, int], tuple[int, int], int],
    scripts: tuple[str | None, str | None],
    repeated: _Path | None,
    max_length: int,
    max_ratio: float,
    factors: int | None,
    nfc: bool,
    allow: list[str],
    examples: int,
) -> dict[str, Any]: ...
def doctor_problems() -> list[tuple[str, str]]: ...
def doctor_repeated(
    prints: Sequence[_Path], outs: Sequence[_Path], *, memory: int, temp_dir: _Path | None
) -> None: ...
def waw_candidates(
    corpus: LinkedText, options: dict[str, Any], shards: int, out: _Path, *, threads: int
) -> None: ...
def waw_write_samples(
    corpus: LinkedText,
    options: dict[str, Any],
    found: Sequence[_Path],
    out: _Path,
    *,
    room: tuple[int, _Path | None],
    threads: int,
) -> None: ...
def doctor_scripts(src: _Path, tgt: _Path) -> tuple[str | None, str | None]: ...
def without_marks(line: str) -> str: ...
def order_from_links(length: int, links: list[tuple[int, int]], heuristic: str) -> list[int]: ...
def orders_from_links(
    links: Links, lengths: list[int], heuristic: str, *, threads: int
) -> View: ...
def orientation_counts(
    bitext: Bitext,
    links: Links,
    *,
    max_length: int,
    strictness: str,
    threads: int,
    progress: _Progress,
) -> list[list[int]]: ...
def inverse(permutation: list[int]) -> list[int]: ...
def kendall_distance(first: list[int], second: list[int]) -> float: ...
def link_keys(links: Sequence[Sequence[tuple[int, int]]], lengths: list[int]) -> View: ...
def pair_counts(first: bytes, second: bytes, lengths: list[int], weights: bytes | None) -> View: ...
def ter_edits(texts: Sequence[str], refs: Sequence[Sequence[str]], threads: int) -> list[int]: ...
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

ALIGN_FEATURES: int
MAX_ALIGNED_WORDS: int
MAX_SENTENCE_WORDS: int

@final
class FitOptions:
    def __new__(
        cls,
        *,
        model: str,
        lexical_iterations: int | None,
        order_iterations: int | None,
        memory: int,
        temp_dir: _Path | None,
    ) -> FitOptions: ...

@final
class Aligner:
    @staticmethod
    def fit(
        bitext: Bitext, options: FitOptions, *, threads: int, progress: _Progress
    ) -> Aligner: ...
    @staticmethod
    def fit_files(
        files: Sequence[tuple[_Path, _Path]],
        options: FitOptions,
        *,
        threads: int,
        progress: _Progress,
    ) -> Aligner: ...
    @staticmethod
    def load(path: _Path) -> Aligner: ...
    def save(self, path: _Path) -> None: ...
    @property
    def summary(self) -> tuple[int, int, int, int, int] | None: ...
    def align(
        self,
        bitext: Bitext,
        *,
        symmetrise: str,
        threshold: float | None,
        features: bool,
        threads: int,
        progress: _Progress,
    ) -> tuple[Links, View, View]: ...
    @property
    def calibration(self) -> list[float]: ...
    def calibrated(self, calibration: Sequence[float]) -> Aligner: ...
    def link_rates(self, bitext: Bitext) -> tuple[View, View]: ...

@final
class AlignTasks:
    @staticmethod
    def count_words(files: Sequence[tuple[_Path, _Path]], out: _Path) -> None: ...
    @staticmethod
    def number_words(counts: Sequence[_Path], out: _Path) -> None: ...
    @staticmethod
    def write_shard(
        files: Sequence[tuple[_Path, _Path]], names: _Path, options: FitOptions, out: _Path
    ) -> None: ...
    @staticmethod
    def count_pairs(
        shard: _Path, names: _Path, options: FitOptions, out: _Path, threads: int
    ) -> None: ...
    @staticmethod
    def start(pairs: Sequence[_Path], names: _Path, options: FitOptions, out: _Path) -> None: ...
    @staticmethod
    def expect(
        shard: _Path, state: _Path, options: FitOptions, out: _Path, threads: int
    ) -> None: ...
    @staticmethod
    def update(state: _Path, counts: Sequence[_Path], options: FitOptions, out: _Path) -> bool: ...
    @staticmethod
    def finish(state: _Path, names: _Path, options: FitOptions) -> Aligner: ...

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
    def read(self, path: _Path, *, threads: int, progress: _Progress = None) -> None: ...
    def finish(
        self,
        *,
        order: int,
        prune: list[int],
        out: _Path | None,
        arpa: bool,
        threads: int,
        progress: _Progress,
    ) -> tuple[LanguageModel | None, dict[str, Any]]: ...
    def write_counts(self, path: _Path, order: int) -> int: ...

def estimate_language_model(
    counts: Sequence[_Path],
    *,
    prune: list[int],
    memory: int,
    out: _Path | None,
    threads: int,
    temp_dir: _Path | None = None,
    progress: _Progress = None,
) -> tuple[LanguageModel, dict[str, Any]]: ...
def mix_language_models(
    models: list[LanguageModel],
    weights: list[float],
    *,
    memory: int,
    out: _Path | None,
    arpa: bool,
    temp_dir: _Path | None = None,
    progress: _Progress = None,
) -> LanguageModel | None: ...

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
    def of_files(
        src: _Path,
        tgt: _Path,
        links: _Path,
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
        paths: list[_Path],
        *,
        memory: int,
        temp_dir: _Path | None,
        threads: int,
        progress: _Progress,
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
        memory: int,
        threads: int,
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

_Span = tuple[int, int]
_Chunks = tuple[list[str], list[int], list[int]]

@final
class Markup:
    def __new__(cls, line: str, mode: str, file: str, number: int) -> Markup: ...
    @property
    def words(self) -> list[str]: ...
    @property
    def is_empty(self) -> bool: ...
    def __len__(self) -> int: ...
    def __getnewargs__(self) -> tuple[str, str, str, int]: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Source:
    def __new__(
        cls,
        words: list[str],
        *,
        tags: list[str] | None,
        chunks: _Chunks | None,
        markup: Markup | None,
        matrices: list[tuple[str, bytes]],
    ) -> Source: ...

@final
class PathFeature:
    @staticmethod
    def waw(name: str, model: WawModel) -> PathFeature: ...
    @staticmethod
    def neural(name: str, model: NeuralModel) -> PathFeature: ...
    @staticmethod
    def lop(name: str, model: LopModel) -> PathFeature: ...
    @staticmethod
    def given(name: str) -> PathFeature: ...
    @property
    def name(self) -> str: ...

@final
class Step:
    @property
    def src(self) -> _Span: ...
    @property
    def tgt(self) -> _Span: ...

@final
class Translation:
    @property
    def words(self) -> list[str]: ...
    @property
    def text(self) -> str: ...
    @property
    def score(self) -> float: ...
    @property
    def features(self) -> list[float]: ...
    @property
    def steps(self) -> list[Step]: ...
    @property
    def links(self) -> list[tuple[int, int]]: ...
    @property
    def unknown(self) -> list[int]: ...

@final
class Statistics:
    @property
    def scored(self) -> int: ...
    @property
    def made(self) -> int: ...
    @property
    def recombined(self) -> int: ...
    @property
    def pruned(self) -> int: ...
    @property
    def narrowed(self) -> int: ...
    @property
    def jumps(self) -> list[int]: ...

@final
class Arc:
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def src(self) -> _Span: ...
    @property
    def words(self) -> list[str]: ...
    @property
    def score(self) -> float: ...

@final
class ShownHyp:
    @property
    def number(self) -> int: ...
    @property
    def back(self) -> int: ...
    @property
    def src(self) -> _Span: ...
    @property
    def words(self) -> list[str]: ...
    @property
    def covered(self) -> list[int]: ...
    @property
    def score(self) -> float: ...
    @property
    def total(self) -> float: ...
    @property
    def recombined(self) -> int: ...
    @property
    def is_alive(self) -> bool: ...

@final
class ShownStack:
    @property
    def kept(self) -> int: ...
    @property
    def recombined(self) -> int: ...
    @property
    def abandoned(self) -> int: ...
    @property
    def best(self) -> list[ShownHyp]: ...

@final
class Outcome:
    @property
    def best(self) -> list[Translation]: ...
    @property
    def statistics(self) -> Statistics: ...
    @property
    def graph(self) -> list[Arc]: ...
    @property
    def stacks(self) -> list[ShownStack]: ...

@final
class Decoder:
    def __new__(
        cls,
        table: PhraseTable,
        lms: list[LanguageModel],
        *,
        orientation: str | None,
        features: list[PathFeature],
        weights: list[tuple[str, float]],
        settings: dict[str, Any],
    ) -> Decoder: ...
    @staticmethod
    def check_settings(settings: dict[str, Any]) -> str | None: ...
    def changed(self, *, weights: list[tuple[str, float]], settings: dict[str, Any]) -> Decoder: ...
    def learned(
        self, pairs: list[tuple[list[str], list[str], list[tuple[int, int]]]]
    ) -> tuple[Decoder, int]: ...
    @property
    def weights(self) -> list[tuple[str, float]]: ...
    MAX_WEIGHT: float
    @property
    def nonnegative(self) -> list[str]: ...
    def translate(
        self,
        sources: list[Source],
        *,
        nbest: int,
        distinct: bool,
        graph: bool,
        stacks: int,
        threads: int,
        progress: _Progress,
    ) -> list[Outcome]: ...
    def nbest(
        self,
        sources: list[Source],
        *,
        size: int,
        distinct: bool,
        threads: int,
        progress: _Progress,
    ) -> tuple[list[list[str]], View]: ...
    def suggest(
        self, source: Source, typed: list[str], *, is_open: bool, progress: _Progress
    ) -> tuple[list[str], int, float, float] | None: ...
    def score(
        self, source: Source, phrases: list[tuple[int, int, list[str]]]
    ) -> Translation | None: ...

@final
class CandidatePool:
    def __new__(cls, width: int) -> CandidatePool: ...
    def add(self, features: bytes, counts: bytes) -> None: ...
    def column(self, feature: int) -> View: ...
    @property
    def offsets(self) -> View: ...
    def __len__(self) -> int: ...
    def point(self, weights: list[float]) -> WeightPoint: ...

@final
class WeightPoint:
    @property
    def weights(self) -> list[float]: ...
    def best(self) -> View: ...
    def step(self, direction: list[float], step: float) -> None: ...
    def search(
        self, direction: list[float], gap: float, statistics: CandidateStatistics
    ) -> tuple[View, View]: ...

@final
class CandidateStatistics:
    def __new__(cls, rows: bytes, size: int, width: int, places: bytes) -> CandidateStatistics: ...

_Layers = tuple[list[str], list[str] | None, _Chunks | None]
_WawKept = tuple[int, int]
_WawPlaces = tuple[int, int, int]
_WawRanked = tuple[_WawPlaces, int, _WawPlaces, _WawPlaces]

@final
class LinkedText:
    @staticmethod
    def read(src: _Path, tgt: _Path, links: _Path, *, progress: _Progress = None) -> LinkedText: ...
    @staticmethod
    def from_lists(
        sentences: list[tuple[_Layers, list[tuple[int, int]]]],
    ) -> LinkedText: ...
    def __len__(self) -> int: ...
    @property
    def words(self) -> int: ...
    @property
    def has_tags(self) -> bool: ...
    @property
    def has_chunks(self) -> bool: ...
    @property
    def lengths(self) -> list[int]: ...
    def part(self, start: int, end: int) -> LinkedText: ...
    def sentences(self) -> list[list[str]]: ...
    def ranks(self, reference: str) -> View: ...

@final
class LopTrainer:
    def __new__(
        cls,
        corpus: LinkedText,
        *,
        model: str,
        reference: str,
        unlinked: float,
        passes: int,
        bits: int,
        batch: int,
        min_count: int,
        strictness: float,
        rate: float,
        prior: float,
        network: tuple[float, int, int, int, int, int],
        seed: int,
        threads: int,
        progress: _Progress,
    ) -> LopTrainer: ...
    def train(self, number: int, *, threads: int, progress: _Progress) -> float: ...
    def model(self, passes: int) -> LopModel: ...

@final
class LopModel:
    VERSION: int
    @staticmethod
    def load(path: _Path) -> LopModel: ...
    @staticmethod
    def from_bytes(data: bytes) -> LopModel: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: _Path) -> None: ...
    @property
    def path(self) -> pathlib.Path | None: ...
    @property
    def digest(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def used(self) -> int: ...
    @property
    def needs_tags(self) -> bool: ...
    @property
    def recipe(self) -> dict[str, Any]: ...
    def orders(
        self, sentences: list[_Layers], *, choice: str, threads: int, progress: _Progress
    ) -> list[list[int]]: ...
    def text_orders(
        self, text: LinkedText, *, choice: str, threads: int, progress: _Progress
    ) -> View: ...
    def nbest(self, layers: _Layers, most: int) -> list[tuple[float, list[int]]]: ...
    def matrix(self, layers: _Layers) -> View: ...
    def explain(self, layers: _Layers, left: int, right: int) -> list[tuple[str, float]]: ...

def lop_features(layers: _Layers, left: int, right: int) -> list[str]: ...
def lop_step(
    cells: list[float], order: list[int], widest: int, climb: bool
) -> tuple[int, list[int]]: ...
def lop_exact(cells: list[float], length: int) -> list[int]: ...

@final
class WawTrainer:
    BLOCK: int
    def __new__(
        cls,
        corpus: LinkedText,
        options: dict[str, Any],
        *,
        room: tuple[int, _Path | None],
        threads: int,
        progress: _Progress,
    ) -> WawTrainer: ...
    @staticmethod
    def of_shards(
        corpus: LinkedText,
        options: dict[str, Any],
        found: Sequence[_Path],
        samples: Sequence[_Path],
        *,
        room: tuple[int, _Path | None],
    ) -> WawTrainer: ...
    @property
    def features(self) -> int: ...
    @property
    def samples(self) -> int: ...
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
    def matrix(self, layers: _Layers) -> View: ...
    def along(self, layers: _Layers, order: list[int], is_log: bool) -> View: ...

@final
class NeuralTrainer:
    def __new__(
        cls,
        corpus: LinkedText,
        *,
        epochs: int,
        batch: int,
        rate: float,
        dropout: float,
        embedding: int,
        hidden: int,
        key: int,
        window: int,
        coverage: bool,
        tags: bool,
        min_count: int,
        vocabulary: int,
        seed: int,
    ) -> NeuralTrainer: ...
    def train(self, number: int, *, threads: int, progress: _Progress) -> tuple[int, float]: ...
    def state(self) -> bytes: ...
    def restore(self, state: bytes) -> None: ...
    def model(self, passes: int) -> NeuralModel: ...

@final
class NeuralModel:
    VERSION: int
    @staticmethod
    def load(path: _Path) -> NeuralModel: ...
    @staticmethod
    def from_bytes(data: bytes) -> NeuralModel: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: _Path) -> None: ...
    @property
    def path(self) -> pathlib.Path | None: ...
    @property
    def digest(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def recipe(self) -> dict[str, Any]: ...
    @property
    def vocabulary(self) -> tuple[list[str], list[str] | None]: ...
    def parameters(self) -> list[tuple[str, int, int, View]]: ...
    def matrix(self, layers: _Layers) -> View: ...
    def along(self, layers: _Layers, order: list[int], is_log: bool) -> View: ...

def waw_evaluate(
    model: WawModel | NeuralModel,
    corpus: LinkedText,
    limits: list[int],
    *,
    threads: int,
    progress: _Progress,
) -> tuple[tuple[int, int, int, int], list[tuple[_WawRanked, _WawRanked, tuple[int, int]]]]: ...
def waw_features(layers: _Layers, from_: int, to: int, between_anchor: str) -> list[str]: ...
def waw_options(space: str, covered: list[bool], end: int, scores: list[float]) -> str: ...
def waw_reach(
    model: WawModel | NeuralModel,
    corpus: LinkedText,
    spaces: list[str],
    *,
    threads: int,
    progress: _Progress,
) -> list[tuple[_WawKept, int, _WawKept, _WawKept, int, int]]: ...
def waw_samples(order: list[int], window: int, inclusive: bool) -> list[tuple[int, int, bool]]: ...

_Texts = list[list[str]]
_PairLengths = list[tuple[int, int]]

def oracle_space(space: str) -> str: ...
def oracle_contains(space: str, order: list[int]) -> bool: ...
def oracle_lattice(
    space: str, length: int, most: int
) -> tuple[list[int], list[tuple[int, int, int]]]: ...
def oracle_nearest(
    space: str, orders: list[list[int]], *, most: int, threads: int, progress: _Progress
) -> list[list[int] | None]: ...
def oracle_distances(
    space: str,
    links: Links,
    lengths: list[int],
    heuristic: str,
    *,
    most: int,
    threads: int,
    progress: _Progress,
) -> View: ...
def oracle_lag(links: Links, lengths: _PairLengths, waits: list[int]) -> View: ...
def oracle_labels(links: Links, lengths: _PairLengths) -> list[str]: ...
def oracle_rewrites(
    links: Links,
    lengths: _PairLengths,
    lagging: float,
    *,
    most: int,
    threads: int,
    progress: _Progress,
) -> list[tuple[list[int], int, float, bool, bool]]: ...
def oracle_reach(
    decoder: Decoder,
    sources: list[Source],
    refs: list[_Texts],
    known: list[_Texts],
    space: str,
    *,
    pop_limit: int,
    options_per_span: int,
    nbest: int,
    threads: int,
    progress: _Progress,
) -> list[tuple[list[str], float]]: ...
def oracle_missing(
    table: PhraseTable, sources: _Texts, refs: list[_Texts]
) -> list[list[list[int]]]: ...

@final
class OracleProblems:
    @staticmethod
    def of_table(
        table: PhraseTable,
        sources: _Texts,
        refs: list[_Texts],
        *,
        longest: int,
        options_per_span: int,
        mixture: float,
        phrase_bonus: float,
        paths: int,
        keep: int,
        threads: int,
        progress: _Progress,
    ) -> OracleProblems: ...
    @staticmethod
    def of_lists(refs: list[_Texts], candidates: list[list[_Texts]]) -> OracleProblems: ...
    def __len__(self) -> int: ...
    def candidates(self, number: int) -> list[list[tuple[int, int, list[str]]]]: ...
    def best(
        self,
        space: str,
        *,
        beam: float,
        keep: int,
        most: int,
        threads: int,
        progress: _Progress,
    ) -> list[tuple[int, list[int], float, list[int], bool] | None]: ...
