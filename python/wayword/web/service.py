"""Systems behind a server: which one is meant, and what each question is answered with.

In: questions (``Asked``), from any thread. Out: plain values, ready for JSON. It knows no HTTP.
How: a system never changes, so a question takes the one of the moment and keeps to it; learning and
reloading put another in its place. Settings, weights and terms of a question make a variant that
shares all models; the last few are kept.
Cost: that of the search, and of preparing text.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wayword.align import Aligner
from wayword.corpus.sentences import SplitText
from wayword.decode import Translation
from wayword.decode.concatenate import best_combinations
from wayword.errors import ArgumentError, LimitError
from wayword.pack import is_cached
from wayword.system import System
from wayword.teach import link
from wayword.types import FilePath, Progress
from wayword.web.asked import Asked
from wayword.web.languages import name_of, ranked
from wayword.web.tags import parse, place

__all__ = ["Job", "Loaded", "Service"]

#: A sentence, and words in it that stay as they are.
Line = tuple[str, tuple[str, ...]]
#: Variants of systems that are kept.
VARIANTS = 16
#: Least posterior of a link that is told.
POSTERIOR = 0.05


@dataclass
class Loaded:
    """A system and what it is called."""

    name: str
    source: str
    target: str
    path: Path
    system: System
    #: the file that keeps lessons, where it is not that of the system's folder
    journal: Path | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    _aligner: Aligner | None = None

    @classmethod
    def open(cls, spec: str, *, journals: FilePath | None = None, trust: bool = False) -> "Loaded":
        """Open ``SYSTEM`` or ``SRC-TGT=SYSTEM``; ``journals`` is the folder of its lessons.

        Without that folder, lessons go to the folder of the system; a packed system keeps none.
        """
        langs, equals, path = spec.rpartition("=")
        if equals and Path(spec).exists():
            langs, path = "", spec
        system = System.open(path, trust=trust)
        name = Path(path).resolve().name.removesuffix(".wayword")
        journal = None
        if journals is not None:
            Path(journals).mkdir(parents=True, exist_ok=True)
            journal = Path(journals) / f"{name}.jsonl"
            system = system.with_journal(journal)
        source, target = _languages(langs, system, path)
        return cls(name, source, target, Path(path), system, journal)

    def warm_up(self) -> None:
        """Load what the first request would wait for: tokenizers, the aligner."""
        self.system.translate("a b .", threads=1)
        if self.aligner is not None:
            link(self.aligner, ["a"], ["a"])

    def reopened(self, *, trust: bool) -> System:
        """The system as it is on the disk now."""
        system = System.open(self.path, trust=trust)
        return system if self.journal is None else system.with_journal(self.journal)

    @property
    def aligner(self) -> Aligner | None:
        """The system's aligner, opened once."""
        if self._aligner is None:
            self._aligner = self.system.aligner
        return self._aligner

    @property
    def can_learn(self) -> bool:
        """Whether it has an aligner to link corrections with, and a place to keep them."""
        has_place = self.journal is not None or not is_cached(self.system.folder)
        return has_place and self.aligner is not None

    def without_paths(self, message: str) -> str:
        """A message in which the system has its name, and no place on this machine."""
        for path in {str(self.path), str(self.path.resolve()), str(self.system.folder)}:
            message = message.replace(path, self.name)
        return message


def _languages(langs: str, system: System, path: str) -> tuple[str, str]:
    source, dash, target = langs.partition("-")
    if langs and not (source and dash and target):
        raise ArgumentError(f"{langs}={path}: expected languages such as de-en={path}")
    if langs:
        return source, target
    if system.text is None:
        advice = f"name them, such as de-en={path}"
        raise ArgumentError(f"{path}: the system does not know its languages; {advice}")
    return system.text[0].lang, system.text[1].lang


@dataclass(frozen=True)
class Job:
    """Sentences to search, and how their translations become an answer."""

    lines: list[Line]
    key: tuple[Any, ...]
    run: Callable[[Sequence[Line], int, Progress], Sequence[Translation]]
    answer: Callable[[Sequence[Translation]], dict[str, Any]]


class Service:
    """Systems, and what can be asked of them."""

    def __init__(self, systems: Sequence[Loaded], *, trust: bool = False) -> None:
        self.systems = list(systems)
        self.trust = trust
        names = [loaded.name for loaded in systems]
        for loaded in self.systems:
            if names.count(loaded.name) > 1:  # told apart by where they are
                loaded.name = f"{loaded.path.resolve().parent.name}/{loaded.name}"
        self._variants: OrderedDict[tuple[Any, ...], tuple[System, System]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, asked: Asked) -> tuple[Loaded, dict[str, object] | None]:
        """The system that is meant; with the language that was found where none was named."""
        found = None
        fitting = self.systems
        if asked.system:
            fitting = [loaded for loaded in fitting if loaded.name == asked.system]
            if not fitting:
                known = ", ".join(loaded.name for loaded in self.systems)
                raise ArgumentError(f"system: found `{asked.system[:60]}`; expected one of {known}")
        if asked.target:
            fitting = [loaded for loaded in fitting if loaded.target == asked.target]
        if asked.source == "auto" and fitting:
            found = self._source_of(asked, fitting)
            fitting = [loaded for loaded in fitting if loaded.source == found["language"]]
        elif asked.source:
            fitting = [loaded for loaded in fitting if loaded.source == asked.source]
        if not fitting:
            pairs = ", ".join(f"{each.source} to {each.target}" for each in self.systems)
            wanted = f"{asked.source[:20]} to {asked.target[:20] or 'anything'}"
            raise ArgumentError(f"source, target: found {wanted}; expected one of {pairs}")
        return fitting[0], found

    def _source_of(self, asked: Asked, fitting: Sequence[Loaded]) -> dict[str, object]:
        """The language that a text is in, among those that can be translated."""
        known = {loaded.source for loaded in fitting}
        for language in self.detect(" ".join(asked.texts)[:2000]):
            if language["language"] in known:
                return language
        return {"confidence": 0.0, "language": fitting[0].source}

    def languages(self) -> list[dict[str, Any]]:
        """The languages, each with those it can be translated into."""
        codes = dict.fromkeys(
            code for loaded in self.systems for code in (loaded.source, loaded.target)
        )
        targets = {
            code: sorted({each.target for each in self.systems if each.source == code})
            for code in codes
        }
        return [
            {"code": code, "name": name_of(code), "targets": targets[code] or [code]}
            for code in codes
        ]

    def described(self) -> list[dict[str, Any]]:
        """What the page needs to know of each system."""
        return [
            {
                "name": loaded.name,
                "source": loaded.source,
                "target": loaded.target,
                "settings": loaded.system.settings.to_dict(),
                "weights": loaded.system.weights,
                "learned": len(loaded.system.learned.lessons),
                "canLearn": loaded.can_learn,
                "canAlign": loaded.aligner is not None,
            }
            for loaded in self.systems
        ]

    def detect(self, text: str) -> list[dict[str, object]]:
        """Languages that a text may be in, the likeliest first."""
        shares = []
        for loaded in self.systems:
            src, tgt = loaded.system.tokens(text, text)
            table, models = loaded.system.table, loaded.system.lms
            known = sum(word in table for word in src)
            shares.append((loaded.source, known / max(len(src), 1)))
            if models:
                known = sum(word in models[0] for word in tgt)
                shares.append((loaded.target, known / max(len(tgt), 1)))
        return ranked(shares)

    def variant(self, system: System, asked: Asked) -> System:
        """The system with the settings, weights and terms of a question."""
        changes = (asked.settings, asked.weights, asked.glossary)
        if not any(changes):
            return system
        key = (id(system), *changes)
        with self._lock:
            if key in self._variants:
                self._variants.move_to_end(key)
                return self._variants[key][1]
        for name, _ in asked.weights:
            if name not in system.weights:
                known = ", ".join(system.weights)
                raise ArgumentError(f"weights: found `{name[:40]}`; expected one of {known}")
        changed = system.with_settings(**dict(asked.settings))
        if asked.weights:
            changed = changed.with_weights(dict(asked.weights))
        if asked.glossary:
            changed = changed.glossary(dict(asked.glossary))
        with self._lock:
            # The system of the key lives as long as the variant, so its id stays its own.
            self._variants[key] = system, changed
            while len(self._variants) > VARIANTS:
                self._variants.popitem(last=False)
        return changed

    def translate(self, asked: Asked, most_sentences: int) -> Job:
        """The sentences of a question, and how it is answered."""
        loaded, language = self.find(asked)
        system = self.variant(loaded.system, asked)
        layout = _Layout(asked, system, most_sentences)
        nbest = asked.alternatives + 1

        def run(lines: Sequence[Line], threads: int, progress: Progress) -> list[Translation]:
            options: dict[str, Any] = {"nbest": nbest, "distinct": nbest > 1, "split": False}
            options |= {"markup": asked.markup, "threads": threads, "progress": progress}
            plain = iter(system.translate([line for line, kept in lines if not kept], **options))
            return [
                _keeping(system, kept).translate(line, **options) if kept else next(plain)
                for line, kept in lines
            ]

        def answer(translations: Sequence[Translation]) -> dict[str, Any]:
            shown = layout.answer(translations)
            if language is not None:
                each = [language] * len(asked.texts)
                shown["detectedLanguage"] = each if asked.is_list else language
            return shown

        key = (id(system), nbest, asked.markup)
        return Job(layout.lines, key, run, answer)

    def align(self, asked: Asked, translation: str) -> dict[str, Any]:
        """The links of a pair, with how likely each is."""
        loaded, _ = self.find(asked)
        aligner = _needed(loaded)
        words = loaded.system.tokens(asked.texts[0], translation)
        links, posteriors = link(aligner, *words, least=POSTERIOR)
        chosen, _ = link(aligner, *words)
        return {
            "source": words[0],
            "target": words[1],
            "links": [[i, j, p] for (i, j), p in zip(links, posteriors, strict=True)],
            "chosen": [list(pair) for pair in chosen],
        }

    def suggest(self, asked: Asked, typed: str, progress: Progress) -> dict[str, Any]:
        """What may follow the beginning of a translation."""
        loaded, _ = self.find(asked)
        system = self.variant(loaded.system, asked)
        following, found = system.suggest(asked.texts[0], typed, progress=progress)
        return {
            "completion": following,
            "text": typed + following,
            "edits": round(found.edits, 3),
            "score": found.score,
        }

    def learn(self, asked: Asked, translation: str) -> dict[str, Any]:
        """Take in a corrected pair; it is kept when this returns."""
        loaded, _ = self.find(asked)
        _needed(loaded)
        with loaded.lock:
            loaded.system = loaded.system.learn(asked.texts[0], translation, save=True)
        return self._taught(loaded)

    def teach_terms(self, asked: Asked) -> dict[str, Any]:
        """Take in terms; they are kept when this returns."""
        loaded, _ = self.find(asked)
        with loaded.lock:
            loaded.system = loaded.system.glossary(dict(asked.glossary), save=True)
        return self._taught(loaded)

    def _taught(self, loaded: Loaded) -> dict[str, Any]:
        return {
            "success": True,
            "lessons": len(loaded.system.learned.lessons),
            "phrases": loaded.system.decoder.learned_phrases,
        }

    def reload(self) -> None:
        """Open every system again; questions under way keep to the old ones."""
        for loaded in self.systems:
            with loaded.lock:
                loaded.system = loaded.reopened(trust=self.trust)
                loaded._aligner = None

    def without_paths(self, message: str) -> str:
        """A message without places on this machine."""
        for loaded in self.systems:
            message = loaded.without_paths(message)
        return message


def _keeping(system: System, words: Sequence[str]) -> System:
    return system.glossary({word: word for word in words})


def _needed(loaded: Loaded) -> Aligner:
    if loaded.aligner is None:
        advice = "train it again, which keeps its aligner"
        raise ArgumentError(f"{loaded.name}: the system has no aligner; {advice}")
    return loaded.aligner


class _Layout:
    """The sentences of a question, and where their translations go."""

    def __init__(self, asked: Asked, system: System, most_sentences: int) -> None:
        self.asked = asked
        self.system = system
        self.most_sentences = most_sentences
        #: sentences, each with the words in it that stay as they are
        self.lines: list[Line] = []
        #: by text a function that puts it together from the translations of its sentences
        self._shapes: list[tuple[int, int, Callable[[Sequence[Translation]], str]]] = []
        add = {"text": self._add_text, "html": self._add_html}[asked.format]
        for text in asked.texts:
            start = len(self.lines)
            shape = add(text)
            self._shapes.append((start, len(self.lines), shape))

    def _split(self, texts: Sequence[str]) -> list[SplitText]:
        """Split texts, and refuse more sentences than the limit before any work on each."""
        splits = [self.system.sentences(text, markup=self.asked.markup) for text in texts]
        count = len(self.lines) + sum(len(split.sentences) for split in splits)
        if count > self.most_sentences:
            found = f"q: found at least {count} sentences"
            raise LimitError(f"{found}; the limit is {self.most_sentences}; ask for less at a time")
        return splits

    def _add_text(self, text: str) -> Callable[[Sequence[Translation]], str]:
        [split] = self._split([text])
        self.lines += [(sentence, ()) for sentence in split.sentences]
        return lambda translations: split.join([each.text for each in translations])

    def _add_html(self, text: str) -> Callable[[Sequence[Translation]], str]:
        document = parse(text)
        segments = []
        splits = self._split([segment.text for segment in document.segments])
        for segment, split in zip(document.segments, splits, strict=True):
            parts = []
            following = [*split.starts[1:], len(segment.text)]
            for sentence, at, after in zip(split.sentences, split.starts, following, strict=True):
                end = at + len(sentence)
                parts.append((sentence, segment.part(at, end, after)))
                kept = [words for place_, words in segment.kept if at <= place_ < end]
                self.lines.append((sentence, tuple(kept)))
            segments.append((split, parts))

        def shape(translations: Sequence[Translation]) -> str:
            rest = iter(translations)
            texts = [
                split.join([place(sentence, marks, next(rest)) for sentence, marks in parts])
                for split, parts in segments
            ]
            return document.filled(texts)

        return shape

    def answer(self, translations: Sequence[Translation]) -> dict[str, Any]:
        """The fields of an answer."""
        asked = self.asked
        best, others, traces = [], [], []
        for start, end, shape in self._shapes:
            mine = translations[start:end]
            best.append(shape(mine))
            others.append(self._alternatives(mine, shape, best[-1]))
            traces.append([translation.to_dict() for translation in mine])
        shown: dict[str, Any] = {"translatedText": best if asked.is_list else best[0]}
        if asked.alternatives:
            shown["alternatives"] = others if asked.is_list else others[0]
        if asked.trace:
            shown["trace"] = traces if asked.is_list else traces[0]
        return shown

    def _alternatives(
        self,
        translations: Sequence[Translation],
        shape: Callable[[Sequence[Translation]], str],
        best: str,
    ) -> list[str]:
        """Return the next best combinations of the translations of the sentences."""
        if not self.asked.alternatives:
            return []
        lists = [each.nbest or (each,) for each in translations]
        size = self.asked.alternatives + 1
        others = dict.fromkeys(map(shape, best_combinations(lists, size, distinct=True)))
        others.pop(best, None)
        return list(others)
